"""``npu-config dump scan`` and ``overflow``: NaN, infinities, overflows, and where they began."""

import contextlib
import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._dump_shared import (
    LINES,
    Bar,
    Outputs,
    attempt_values,
    device_option,
    format_option,
    graph_option,
    output_options,
    selection_options,
    write_next,
)
from npu_config.cli._options import FILE
from npu_config.cli._output import Failure, say, write, write_mixlist
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Report, Severity
from npu_config.core.message import listed, localized, phrase, printable

run_option = click.option(
    "--run",
    metavar="RUN",
    help="The run to look at (YYYYMMDDHHMMSS); default: the newest of each device.",
)


@click.command("overflow")
@click.argument("path", metavar="PATH", type=FILE)
@graph_option
@run_option
@device_option
@click.option(
    "--before",
    metavar="RUN|PATH",
    help="Compare with an earlier run: which overflows are gone, left and new.",
)
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
    run: Optional[str],
    device: Optional[int],
    before: Optional[str],
    mixlist: Optional[str],
    outputs: Outputs,
) -> int:
    """Explain every overflow below PATH: which operator, why, and what follows.

    Exit code 0 when nothing overflowed, 1 when something did or a file could not be read.
    """
    from npu_config.dumps import overflow as overflows
    from npu_config.dumps import overflow_report as groups
    from npu_config.dumps.overflow_report import overflow_page

    report = attempt(
        outputs.format_, lambda: overflows.explain_overflows(path, graph, run, device)
    )
    compared = None
    if before is not None:
        earlier = _earlier(path, before, graph, device, outputs.format_)
        if set(earlier.runs) == set(report.runs):
            raise Failure(
                "--before names the run that is looked at; there are the runs {}",
                ", ".join(sorted({run for _, run in (*report.runs, *report.older) if run}))
                or localized("(none)"),
            )
        compared = groups.compare_runs(earlier.overflows, report.overflows)
    steps = groups.by_step(report.overflows)
    content: Dict[str, Any] = {
        "runs": _runs(report, True),
        "older_runs": _runs(report, False),
        "overflows": [overflows.plain(each) for each in report.overflows],
        "groups": [groups.plain_group(each) for each in groups.grouped(report.overflows)],
        "steps": [{"step": step, "overflows": count} for step, count in steps.items()],
        "trend": groups.trend(steps),
        "compared": None
        if compared is None
        else {
            name: [groups.plain_group(each) for each in members]
            for name, members in compared._asdict().items()
        },
        "strays": list(report.strays),
        "suspicious": list(report.suspicious),
        "mixlist": list(report.mixlist),
    }
    outputs.deliver(
        lambda: content,
        report.diagnostics,
        [overflows.finding(each) for each in report.overflows],
        lambda: _overflows(report, compared, path),
        lambda: overflow_page(report, localized("Overflows in {}", path), path, compared),
    )
    if mixlist is not None:
        write_mixlist(mixlist, report.mixlist, outputs.force)
    step = report.overflows[0].step if report.overflows else None
    names = dict.fromkeys(each.op_name for each in report.overflows if each.op_name)
    write_next(outputs, path, list(names), step, black_list=report.mixlist)
    bad = report.overflows or report.suspicious
    return 1 if bad or fails(Report(report.diagnostics), False) else 0


def _earlier(
    path: str, before: str, graph: Optional[str], device: Optional[int], format_: str
) -> Any:
    """The report of an earlier run, of the same dump or of another."""
    from npu_config.dumps.overflow import explain_overflows

    if os.path.lexists(before):
        return attempt(format_, lambda: explain_overflows(before, graph, device=device))
    if not before.isdecimal():
        raise Failure("--before: {} is neither a run nor a path", before)
    return attempt(format_, lambda: explain_overflows(path, graph, before, device))


def _runs(report: Any, chosen: bool) -> List[Dict[str, Any]]:
    pairs = report.runs if chosen else report.older
    return [{"device": device, "run": run} for device, run in pairs]


def _looked_at(report: Any) -> str:
    """Which runs the result is of, and which were left out."""
    from npu_config.dumps.overflow_report import looked_at

    return "".join(line + "\n" for line in looked_at(report))


def _unread(report: Any) -> str:
    """Said before everything else: what is not known."""
    bad = [each for each in report.diagnostics if each.severity is Severity.ERROR]
    paths = list(dict.fromkeys(each.place.path for each in bad if each.place is not None))
    if not paths:
        return ""
    message = "no all-clear: files that could not be read: {:,}; the first is {}"
    return printable(localized(message, len(paths), paths[0])) + "\n"


def _overflows(report: Any, compared: Any, path: str) -> str:
    from npu_config.dumps import overflow_report as groups

    parts = [_unread(report), _looked_at(report)]
    found = groups.grouped(report.overflows)
    parts += [text.overflow(number, each) + "\n" for number, each in enumerate(found, 1)]
    parts += [printable(line) + "\n" for line in groups.outcome(report, path)]
    if compared is not None:
        parts.append(_compared(compared))
    return "".join(parts)


def _compared(compared: Any) -> str:
    """What became of the overflows of an earlier run."""
    from npu_config.dumps.overflow_report import name_of, verdict_on

    lines = [""]
    for words, members in (
        (phrase("gone"), compared.gone),
        (phrase("left"), compared.left),
        (phrase("new"), compared.new),
    ):
        names = [printable(name_of(each)) for each in members]
        shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        lines.append(localized("{}: {:,}{}", words, len(names), "; " + shown if shown else ""))
    return "\n".join([*lines, verdict_on(compared), ""])


@click.command("scan")
@click.argument("path", metavar="PATH", type=FILE)
@graph_option
@run_option
@selection_options
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=LINES,
    show_default=True,
    help="How many rows; 0: all.",
)
@click.option("--json", "json_file", metavar="FILE", help="Write the result as JSON.")
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@format_option
def scan_command(
    path: str,
    graph: Optional[str],
    run: Optional[str],
    step: Optional[int],
    ops: Tuple[str, ...],
    types: Tuple[str, ...],
    device: Optional[int],
    limit: int,
    json_file: Optional[str],
    force: bool,
    format_: str,
) -> int:
    """Find NaN, infinities and values at the limit of their type below PATH.

    In the order of execution: of the graph where it is given, else of time. Tables of statistics
    are read as well.

    Exit code 0 when every tensor is clean, 1 when one is not or could not be looked at.
    """
    from npu_config.dumps import scan as scanning
    from npu_config.dumps.tree import select

    with contextlib.ExitStack() as stack:
        found = attempt_values(
            format_,
            lambda: scanning.scan_dumps(
                path,
                graph,
                run,
                lambda tree: select(tree, step, ops, types, device),
                Bar(stack).advance,
            ),
        )
    content = {
        "tensors": [scanning.plain(each) for each in found.tensors],
        "first": None if found.first is None else scanning.plain(found.first),
        "looked_at": found.looked_at,
        "not_looked_at": [each._asdict() for each in found.unread],
        "runs": _runs(found, True),
        "older_runs": _runs(found, False),
        "order": "graph" if found.by_graph else "time",
    }
    results = [scanning.finding(each) for each in found.tensors]
    as_json = text.document(content, [*found.diagnostics, *results])
    if format_ == "json":
        say(as_json)
    else:
        say(_looked_at(found) + _scan(found, limit))
        if found.diagnostics:
            print_findings(found.diagnostics)
    if json_file is not None:
        write(json_file, as_json, force)
    bad = found.tensors or found.unread
    return 1 if bad or fails(Report(found.diagnostics), False) else 0


def _scan(found: Any, limit: int) -> str:
    from npu_config.dumps.scan import held

    rows = found.tensors if limit <= 0 else found.tensors[:limit]
    heads: Sequence[str] = (
        phrase("step"),
        phrase("device"),
        phrase("tensor"),
        phrase("type"),
        phrase("data type"),
        "NaN",
        phrase("infinite"),
        phrase("at the limit"),
        phrase("origin"),
    )
    parts = []
    if found.unread:
        message = "tensors that could not be looked at: {:,}; the first is {}: {}\n"
        first = found.unread[0]
        parts.append(localized(message, len(found.unread), first.tensor, first.reason))
    if rows:
        parts.append(
            text.table(heads, map(_row, rows)) + text.left_out(len(found.tensors) - len(rows))
        )
    parts.append(
        localized(
            "tensors with NaN, infinities or values at the limit: {:,} of {:,}\n",
            len(found.tensors),
            found.looked_at,
        )
    )
    if found.first is not None:
        each = found.first
        counts = listed(words for words, count in held(each) if count)
        parts.append(
            localized(
                "first{}: {}, step {}, device {}: {}; {}\n",
                localized(" in the order of the graph") if found.by_graph else "",
                printable("{} {} {}".format(each.op_name, each.side, each.index)),
                text.or_unknown(each.step),
                text.or_unknown(each.device),
                counts,
                localized(each.origin),
            )
        )
    return "".join(parts)


def _row(each: Any) -> Tuple[str, ...]:
    values = each.statistics
    at_limit = "{:,}+" if each.is_table and values.at_limit else "{:,}"
    return (
        text.or_unknown(each.step),
        text.or_unknown(each.device),
        "{}:{}:{}".format(each.op_name, each.side, each.index),
        each.op_type,
        each.data_type,
        "{:,}".format(values.nan),
        "{:,}".format(values.infinite),
        at_limit.format(values.at_limit),
        localized(each.origin) if each.side == "output" else "",
    )
