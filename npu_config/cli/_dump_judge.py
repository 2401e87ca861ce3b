"""``npu-config dump overflow`` and ``compare``: what went wrong, and where."""

import contextlib
from typing import Any, Callable, Optional, Tuple

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._dump_next import write_next
from npu_config.cli._dump_options import NO_NUMPY, graph_option, output_options, threshold_option
from npu_config.cli._output import Failure, say, write, write_mixlist
from npu_config.cli._paths import FILE
from npu_config.cli._progress import progress
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Report
from npu_config.core.message import localized


@click.command("overflow")
@click.argument("path", metavar="PATH", type=FILE)
@graph_option
@click.option(
    "--write-mixlist",
    "mixlist",
    metavar="FILE",
    help="Write the ops_info.json that keeps the operator types in float32.",
)
@output_options
def overflow_command(
    path: str,
    graph: Optional[str],
    mixlist: Optional[str],
    next_config: Optional[str],
    html_file: Optional[str],
    json_file: Optional[str],
    force: bool,
    format_: str,
) -> int:
    """Explain every overflow below PATH: which operator, why, and what follows.

    Exit code 0 when nothing overflowed, 1 when something did.
    """
    from npu_config.dumps import overflow as overflows
    from npu_config.dumps.html import overflow_page

    report = attempt(format_, lambda: overflows.explain_overflows(path, graph))
    content = {
        "overflows": [overflows.plain(each) for each in report.overflows],
        "strays": list(report.strays),
        "mixlist": list(report.mixlist),
    }
    findings = [overflows.finding(each) for each in report.overflows]
    as_json = text.document(content, [*report.diagnostics, *findings])
    if format_ == "json":
        say(as_json)
    else:
        say(_overflows(report))
        if report.diagnostics:
            print_findings(report.diagnostics)
    if json_file is not None:
        write(json_file, as_json, force)
    if html_file is not None:
        write(html_file, overflow_page(report, localized("Overflows in {}", path)), force)
    if mixlist is not None:
        write_mixlist(mixlist, report.mixlist, force)
    if next_config is not None:
        first = report.overflows[0] if report.overflows else None
        names = dict.fromkeys(each.op_name for each in report.overflows if each.op_name)
        write_next(
            next_config,
            path,
            list(names),
            None if first is None else first.step,
            black_list=report.mixlist,
            force=force,
        )
    return 1 if report.overflows or fails(Report(report.diagnostics), False) else 0


def _overflows(report: Any) -> str:
    parts = [text.overflow(number, each) for number, each in enumerate(report.overflows, 1)]
    count = len(report.overflows)
    if count:
        parts.append(
            localized(
                "{:,} overflow; start with the first\n"
                if count == 1
                else "{:,} overflows; start with the first\n",
                count,
            )
        )
    else:
        parts.append("no overflow was recorded\n")
        parts.append("(Ascend 950 writes no records; look at the values with dump show)\n")
    if report.strays:
        message = "records without a status, where nothing overflowed: {:,}\n"
        parts.append(localized(message, len(report.strays)))
    return "\n".join(parts) if count else "".join(parts)


class _Bar:
    """A bar on the terminal whose length is known when the work begins."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._advance: Optional[Callable[[int], None]] = None

    def advance(self, done: int, total: int) -> None:
        """One of ``total`` more is done."""
        if self._advance is None:
            self._advance = self._stack.enter_context(progress(total))
        self._advance(1)


def _attempt_values(format_: str, read: Callable[[], Any]) -> Any:
    """As :func:`attempt`; says what to install when numpy is missing."""
    try:
        return attempt(format_, read)
    except ImportError:
        raise Failure(NO_NUMPY) from None


@click.command("compare")
@click.argument("npu", metavar="NPU", type=FILE)
@click.argument("reference", metavar="REFERENCE", type=FILE)
@graph_option
@threshold_option
@click.option("--step", type=int, metavar="N", help="The step of the dump.")
@click.option("--reference-step", type=int, metavar="N", help="The run or step of REFERENCE.")
@click.option("--device", type=int, metavar="N", help="The device of the dump.")
@click.option(
    "--ignore", multiple=True, metavar="PATTERN", help="Operators that do not count (* and ?)."
)
@click.option("--all", "everything", is_flag=True, help="Print inputs that agree, too.")
@click.option(
    "--csv", "csv_file", metavar="FILE", help="Write the table in the columns of msaccucmp."
)
@output_options
def compare_command(
    npu: str,
    reference: str,
    graph: Optional[str],
    threshold: float,
    step: Optional[int],
    reference_step: Optional[int],
    device: Optional[int],
    ignore: Tuple[str, ...],
    everything: bool,
    csv_file: Optional[str],
    next_config: Optional[str],
    html_file: Optional[str],
    json_file: Optional[str],
    force: bool,
    format_: str,
) -> int:
    """Compare a dump with a reference, and find the first operator that diverges.

    REFERENCE is a folder of .npy files (OPERATOR.OUTPUT.TIME.npy, of tfdbg-export or dump
    export), or another dump. Without --graph inputs are not compared.

    Exit code 0 when everything that was compared agrees, 1 when something diverges.
    """
    from npu_config.dumps import result
    from npu_config.dumps.compare import compare_dumps
    from npu_config.dumps.html import comparison_page

    with contextlib.ExitStack() as stack:
        found = _attempt_values(
            format_,
            lambda: compare_dumps(
                npu,
                reference,
                graph,
                threshold,
                step=step,
                reference_step=reference_step,
                device=device,
                ignore=ignore,
                progress=_Bar(stack).advance,
            ),
        )
    as_json = text.document(result.plain(found), [*found.diagnostics, *result.finding(found)])
    if format_ == "json":
        say(as_json)
    else:
        say(text.comparison(found, everything))
        if found.diagnostics:
            print_findings(found.diagnostics)
    if csv_file is not None:
        write(csv_file, result.result_csv(found), force)
    if json_file is not None:
        write(json_file, as_json, force)
    if html_file is not None:
        write(html_file, comparison_page(found, localized("{} against {}", npu, reference)), force)
    if next_config is not None:
        first = found.first_diverging
        layers = [first] if first is not None else list(found.diverging)
        write_next(next_config, npu, layers, found.step, found.passes, force=force)
    return 0 if found.ok and not fails(Report(found.diagnostics), False) else 1
