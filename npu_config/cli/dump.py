"""``npu-config dump``: what dump and overflow settings left on disk."""

import contextlib
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._language import Group
from npu_config.cli._options import FILE, form_option, together
from npu_config.cli._output import (
    Failure,
    Unproducible,
    progress,
    say,
    unwritable,
    write,
    write_mixlist,
)
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Report
from npu_config.core.files import reading
from npu_config.core.message import join, localized, phrase
from npu_config.dumps.tree import find_dumps

NO_NUMPY = 'values need numpy: pip install "npu_config[compare]"'


LINES = 50


format_option = form_option("How the result is printed.")
device_option = click.option("--device", type=int, metavar="N", help="Only this device.")
selection_options = together(
    click.option("--step", type=int, metavar="N", help="Only this step (data_index)."),
    click.option(
        "--op", "ops", multiple=True, metavar="PATTERN", help="Only these operators (* and ?)."
    ),
    click.option(
        "--type", "types", multiple=True, metavar="PATTERN", help="Only these operator types."
    ),
    device_option,
)
"""Which files."""
graph_option = click.option(
    "--graph",
    metavar="GE_GRAPH",
    type=FILE,
    help="ge_proto_*_Build.txt (DUMP_GE_GRAPH=2), or the folder with it.",
)
threshold_option = click.option(
    "--threshold",
    type=click.FloatRange(-1, 1),
    default=0.98,
    show_default=True,
    help="A tensor agrees when its cosine similarity is above it.",
)
output_options = together(
    click.option(
        "--next-config",
        "next_config",
        metavar="CONFIG",
        help="Write the configuration of the next run: .yaml .toml .json .pbtxt .pb",
    ),
    click.option("--json", "json_file", metavar="FILE", help="Write the result as JSON."),
    click.option(
        "--html",
        "html_file",
        metavar="FILE",
        help="Write a report as one page that needs nothing else.",
    ),
    click.option("--force", is_flag=True, help="Overwrite files that exist."),
    format_option,
)
"""What is written beside the result, and how that is printed."""


def files_of(
    path: str,
    format_: str,
    step: Optional[int] = None,
    ops: Sequence[str] = (),
    types: Sequence[str] = (),
    device: Optional[int] = None,
) -> Any:
    """The files that are asked for; without any the command ends with code 1."""
    from npu_config.dumps.tree import find_dumps, no_dump, select

    tree = attempt(format_, lambda: find_dumps(path))
    files = select(tree, step, ops, types, device)
    if not len(tree):
        print_findings([*tree.diagnostics, no_dump(tree, path)], format_)
        raise click.exceptions.Exit(1)
    if not len(files):
        raise Failure(
            "no dump fits; there are the steps {}, the devices {} and {:,} operators",
            ", ".join(map(str, tree.steps)) or localized("(none)"),
            ", ".join(map(str, tree.devices)) or localized("(none)"),
            len({file.op_name for file in tree}),
        )
    return files


def write_next(
    path: str,
    dump: str,
    layers: Sequence[str],
    step: Optional[int],
    passes: Sequence[str] = (),
    black_list: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write a configuration that dumps suspects alone, with what may cure them.

    Args:
        path: the file to write; side files are written beside it.
        dump: the dump that was looked at, which says where the next one goes.
        layers: operators to dump, with inputs and outputs.
        step: the step to dump.
        passes: fusion passes to switch off.
        black_list: operator types to keep in float32.
        force: overwrite files that exist.
    """
    from npu_config.builder import NpuConfigBuilder

    if not layers:
        raise Unproducible("nothing is suspected; {} is not written", path)
    folder = os.path.dirname(path) or "."

    def made() -> Any:
        builder = NpuConfigBuilder().data_dump(
            _dump_path(dump), None if step is None else [step], "all", layers=list(layers)
        )
        if passes:
            graph, ub = _by_kind(passes)
            builder.fusion_switch(graph, ub, os.path.join(folder, "fusion_switch.cfg"))
        if black_list:
            mixlist = os.path.join(folder, "ops_info.json")
            builder.mixed_precision(black_list=list(black_list), mixlist_path=mixlist)
        return builder.build()

    config = attempt("text", made)
    try:
        written = config.save_side_files(folder, overwrite=force) if config.side_files else config
        written.save(path, overwrite=force)
    except FileExistsError as error:
        raise Failure("{}; --force overwrites it", error) from None
    except ValueError as error:
        raise click.UsageError(localized("--next-config: {}", error)) from None
    except OSError as error:
        raise Failure(unwritable(path, error)) from None
    files = [path, *(file.path for file in written.side_files.values())]
    say(localized("written: {}\n", ", ".join(files)))


def _by_kind(passes: Sequence[str]) -> Tuple[Any, Any]:
    """Passes by the section of the switch file; those of the UB begin with ``Tbe``."""
    ub = {name: False for name in passes if name.startswith("Tbe")}
    graph = {name: False for name in passes if name not in ub}
    return graph or None, ub or None


def _dump_path(dump: str) -> str:
    """The ``dump_path`` of the job: what is above the folder of the run."""
    tree = find_dumps(dump)
    parts: List[str] = os.path.abspath(dump).split(os.sep)
    for file in tree:
        if file.run is not None:
            parts = os.path.abspath(file.path).split(os.sep)
            last = len(parts) - 1 - parts[::-1].index(file.run)
            return os.sep.join(parts[:last]) or os.sep
    return os.sep.join(parts)


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


@click.command("show")
@click.argument("what", metavar="FILE|OPERATOR")
@click.option(
    "--in",
    "path",
    metavar="PATH",
    type=FILE,
    default=".",
    show_default=True,
    help="Where an operator is looked for.",
)
@click.option("--step", type=int, metavar="N", help="Only this step.")
@click.option("--bins", default=8, show_default=True, help="Lines of the histogram; 0: none.")
@format_option
def show_command(what: str, path: str, step: Optional[int], bins: int, format_: str) -> int:
    """Show the header of a dump and what its values look like.

    FILE is a dump or a statistics .csv; OPERATOR a name or pattern, looked for in --in PATH.
    """
    files = [what] if os.path.lexists(what) else _named(what, path, step, format_)
    shown: List[Dict[str, Any]] = []
    found: List[Any] = []
    parts: List[str] = []
    for each in files:
        entry, part = _shown(each, max(0, bins), found, format_ == "text")
        shown.append(entry)
        parts.append(part)
    if format_ == "json":
        say(text.document({"files": shown}, found))
    else:
        say("\n".join(filter(None, parts)))
        if found:
            print_findings(found, files=len(files))
    return 1 if found else 0


def _named(name: str, path: str, step: Optional[int], format_: str) -> List[str]:
    """The files of an operator."""
    from npu_config.dumps.tree import find_dumps, select
    from npu_config.text.words import did_you_mean

    files = attempt(format_, lambda: find_dumps(path))
    chosen = select(files, step, [name])
    if not len(chosen):
        hint = did_you_mean(name, {file.op_name for file in files})
        raise Failure(
            "{} is not a file, and not an operator below {}{}",
            name,
            path,
            "; {}".format(hint) if hint else "",
        )
    return [file.path for file in chosen]


def _shown(path: str, bins: int, found: List[Any], as_text: bool) -> Tuple[Dict[str, Any], str]:
    """A file for JSON and as text; what is wrong is added to ``found``."""
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.dumps.dump import open_dump
    from npu_config.dumps.overflow import is_overflow
    from npu_config.dumps.statistics import read_statistics

    if path.endswith(".csv"):
        try:
            rows = read_statistics(path)
        except NpuConfigError as error:
            found.extend(error.diagnostics)
            return {"path": path}, ""
        return _shown_statistics(path, rows)
    opened = open_dump(path)
    found.extend(opened.diagnostics)
    dump = opened.dump
    if dump is None:
        return {"path": path}, ""
    entry: Dict[str, Any] = {
        "path": path,
        "op_name": dump.op_name,
        "version": dump.version,
        "dump_time": dump.dump_time,
        "original_op": None if dump.original_op is None else dump.original_op._asdict(),
        "tensors": [],
    }
    parts = [
        localized(
            "{}\n  file     {}\n  version  {}\n", dump.op_name or "?", path, dump.version or "?"
        )
    ]
    if dump.original_op is not None:
        parts.append(localized("  network  {0.name}:{0.output_index}\n", dump.original_op))
    if is_overflow(path):
        record, part = _record(path, found)
        entry["overflow"] = record
        parts.append(part)
    for side, index, tensor in dump.tensors():
        facts, part = _tensor(side, index, tensor, bins if as_text else 0)
        entry["tensors"].append(facts)
        parts.append(part)
    return entry, "".join(parts)


def _record(path: str, found: List[Any]) -> Tuple[Any, str]:
    """The record of an overflow, for JSON and as text."""
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.dumps.overflow import read_overflow, units

    try:
        record = read_overflow(path)
    except NpuConfigError as error:
        found.extend(error.diagnostics)
        return None, ""
    lines = [
        "  {}: {}{}\n".format(unit.unit, words, "" if documented else " (uncertain)")
        for unit in units(record)
        for words, documented in unit.words
    ]
    return dict(record), "".join(lines) or "  no status is set: nothing overflowed\n"


def _tensor(side: str, index: int, tensor: Any, bins: int) -> Tuple[Dict[str, Any], str]:
    import attr

    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.dumps.statistics import statistics_of

    facts: Dict[str, Any] = {
        "side": side,
        "index": index,
        "data_type": tensor.data_type,
        "format": tensor.format,
        "shape": list(tensor.shape),
        "original_shape": list(tensor.original_shape),
        "bytes": tensor.size,
        "statistics": None,
        "reason": "",
    }
    head = "  {} {}: {} {} {}".format(
        side, index, tensor.data_type, tensor.format, text.shape(tensor.shape)
    )
    if tensor.original_shape and tensor.original_shape != tensor.shape:
        head += localized(", in the network {}", text.shape(tensor.original_shape))
    head += ", {}\n".format(text.size(tensor.size))
    try:
        values = statistics_of(tensor, bins=bins)
    except NpuConfigError as error:
        facts["reason"] = error.diagnostics[0].message
        return facts, head + "    {}\n".format(facts["reason"]) + _raw(tensor)
    except ImportError:
        facts["reason"] = NO_NUMPY
        return facts, head + "    {}\n".format(NO_NUMPY)
    facts["statistics"] = attr.asdict(values)
    return facts, head + text.statistics(values)


def _raw(tensor: Any) -> str:
    """The first bytes of a tensor whose values cannot be decoded."""
    if tensor.offset is None or tensor.fault is not None:
        return ""
    with open(tensor.path, "rb", opener=reading) as stream:
        stream.seek(tensor.offset)
        data = stream.read(min(tensor.size, 16))
    return localized("    bytes {}\n", " ".join(map("{:02x}".format, data)))


def _shown_statistics(path: str, rows: Sequence[Any]) -> Tuple[Dict[str, Any], str]:
    import attr

    columns = list(dict.fromkeys(name for row in rows for name in row.numbers))
    part = "{}\n".format(path) + text.table(
        (phrase("tensor"), phrase("data type"), phrase("format"), "shape", *columns),
        (
            (
                "{} {}".format(row.side, row.index),
                row.data_type,
                row.format,
                "-" if row.shape is None else text.shape(row.shape),
                *(text.or_unknown(row.numbers.get(name)) for name in columns),
            )
            for row in rows
        ),
    )
    return {"path": path, "statistics": [attr.asdict(row) for row in rows]}, part


@click.group("dump", cls=Group)
def command() -> None:
    """List, show, export, explain and compare what dump settings left on disk.

    Nothing of the vendor's is needed. Values need numpy: pip install "npu_config[compare]"
    """


@click.command("list")
@click.argument("path", metavar="PATH", type=FILE)
@selection_options
@click.option(
    "--limit", default=LINES, show_default=True, help="How many operators are printed; 0: all."
)
@format_option
def list_command(
    path: str,
    step: Optional[int],
    ops: Tuple[str, ...],
    types: Tuple[str, ...],
    device: Optional[int],
    limit: int,
    format_: str,
) -> int:
    """List devices, models, steps and operators below PATH, and files that are not whole."""
    files = files_of(path, format_, step, ops, types, device)
    entries: List[Dict[str, Any]] = []
    found = list(files.diagnostics)
    with progress(len(files)) as done:
        for file in files:
            opened = file.open() if file.kind != "statistics" else None
            found.extend(opened.diagnostics if opened is not None else ())
            entries.append(_entry(file, opened))
            done(1)
    if format_ == "json":
        strays = [stray._asdict() for stray in files.strays]
        content = {"files": entries, "strays": strays, "missing": list(files.missing)}
        say(text.document(content, found))
    else:
        say(_groups(files) + "\n" + _listed(entries, limit) + _others(files))
        if found:
            print_findings(found, files=len(files))
    return 1 if fails(Report(found), False) else 0


def _entry(file: Any, opened: Any) -> Dict[str, Any]:
    dump = None if opened is None else opened.dump
    return {
        "path": file.path,
        "kind": file.kind,
        "run": file.run,
        "device": file.device,
        "model": file.model,
        "model_id": file.folder.model_id,
        "step": file.step,
        "op_type": file.op_type,
        "op_name": (dump.op_name if dump is not None else "") or file.op_name,
        "task": file.name.task,
        "stream": file.name.stream,
        "thread": file.name.thread,
        "time": file.name.time,
        "bytes": file.size,
        "hashed": file.hashed,
        "inputs": None if dump is None else len(dump.inputs),
        "outputs": None if dump is None else len(dump.outputs),
        "whole": opened is None or not opened.diagnostics,
    }


def _groups(files: Any) -> str:
    """One line for each run, device, model and step."""
    groups: Dict[Tuple[Any, ...], List[Any]] = {}
    for file in files:
        where = file.folder
        key = (where.run, where.device, where.model, where.model_id, where.step)
        groups.setdefault(key, []).append(file)
    return text.table(
        ("run", "device", "model", "id", "step", "operators", "files", "size"),
        (
            (
                *map(text.or_unknown, key),
                len({file.op_name for file in members}),
                len(members),
                text.size(sum(file.size for file in members)),
            )
            for key, members in groups.items()
        ),
    )


def _listed(entries: Sequence[Dict[str, Any]], limit: int) -> str:
    shown = entries if limit <= 0 else entries[:limit]
    result = text.table(
        ("device", "step", "operator", "type", "in", "out", "size", "remark"),
        (
            (
                text.or_unknown(entry["device"]),
                text.or_unknown(entry["step"]),
                entry["op_name"],
                entry["op_type"],
                text.or_unknown(entry["inputs"]),
                text.or_unknown(entry["outputs"]),
                text.size(entry["bytes"]),
                _remark(entry),
            )
            for entry in shown
        ),
    )
    more = len(entries) - len(shown)
    return result + (localized("and {:,} more (--limit 0 shows all)\n", more) if more else "")


def _remark(entry: Dict[str, Any]) -> str:
    remarks = [] if entry["kind"] == "tensor" else [entry["kind"]]
    if entry["hashed"]:
        remarks.append("named by hash")
    if entry["thread"] is not None:
        remarks.append(localized("thread {}", entry["thread"]))
    if not entry["whole"]:
        remarks.append("not whole")
    return join(", ", remarks)


def _others(files: Any) -> str:
    """Files that are not dumps, and dumps that are named and not there."""
    lines = []
    for stray in files.strays[:5]:
        lines.append("{}: {}".format(stray.path, stray.reason))
    if len(files.strays) > 5:
        lines.append(localized("and {:,} more that are no dumps", len(files.strays) - 5))
    for name in files.missing[:5]:
        lines.append(localized("{}: in mapping.csv, and not there", name))
    if len(files.missing) > 5:
        lines.append(localized("and {:,} more that are not there", len(files.missing) - 5))
    return "".join("{}\n".format(line) for line in ["", *lines]) if lines else ""


@click.command("export")
@click.argument("path", metavar="PATH", type=FILE)
@click.argument("out", metavar="OUT")
@click.option(
    "--layout",
    type=click.Choice(["original", "device"]),
    default="original",
    show_default=True,
    help="In the layout of the network where it is known, or as the device stores it.",
)
@click.option(
    "--select", "ops", multiple=True, metavar="PATTERN", help="Only these operators (* and ?)."
)
@click.option("--step", type=int, metavar="N", help="Only this step.")
@device_option
@format_option
def export_command(
    path: str,
    out: str,
    layout: str,
    ops: Tuple[str, ...],
    step: Optional[int],
    device: Optional[int],
    format_: str,
) -> int:
    """Export dumps as .npy files with an index.csv, as tfdbg-export does.

    OUT is a directory that is new, empty, or of an export that was interrupted, which goes on.
    """
    from npu_config.core.npy import INDEX
    from npu_config.dumps.export import export_dumps

    files = files_of(path, format_, step, ops, (), device)
    try:
        with progress(len(files)) as done:
            lines, found = export_dumps(files, out, layout, done)
    except FileExistsError as error:
        raise Failure("{}; name another directory", error) from None
    except ImportError:
        raise Failure(NO_NUMPY) from None
    except OSError as error:
        raise Failure(unwritable(out, error)) from None
    written = [line for line in lines if line.file]
    if format_ == "json":
        content = {"tensors": [line._asdict() for line in lines]}
        say(text.document(content, [*files.diagnostics, *found]))
    else:
        say(
            localized(
                "tensors exported: {:,}, not exported: {:,}; see {}\n",
                len(written),
                len(lines) - len(written),
                os.path.join(out, INDEX),
            )
        )
        odd = sorted({line.status for line in written} - {"ok"})
        say("".join(localized("note: {}\n", status) for status in odd))
        if found:
            print_findings([*files.diagnostics, *found], files=len(files))
    return 1 if fails(Report(found), False) else 0


@click.command("result")
@click.argument("path", metavar="FILE.csv", type=FILE)
@threshold_option
@click.option("--limit", default=LINES, show_default=True, help="How many rows; 0: all.")
@format_option
def result_command(path: str, threshold: float, limit: int, format_: str) -> int:
    """Read a result table of msaccucmp, old or new, and find what diverges in it.

    Exit code 0 when every cosine similarity is above the threshold, 1 when one is not.
    """
    from npu_config.dumps.result import read_result

    table = attempt(format_, lambda: read_result(path, threshold))
    bad = table.diverging
    if format_ == "json":
        rows = [
            {"line": row.line, "verdict": row.verdict, **dict(row.cells)} for row in table.rows
        ]
        content = {
            "generation": table.generation,
            "threshold": threshold,
            "first_diverging": table.first_diverging,
            "rows": rows,
        }
        say(text.document(content))
    else:
        shown = bad if limit <= 0 else bad[:limit]
        parts = []
        if bad:
            parts.append(
                text.table(
                    ("line", "operator", "ground truth", "tensor", "cosine"),
                    (
                        (
                            row.line,
                            row.op_name,
                            row.ground_truth,
                            "{} {}".format(row.side, row.number) if row.side else "",
                            row.cosine,
                        )
                        for row in shown
                    ),
                )
            )
        if len(bad) > len(shown):
            parts.append(localized("and {:,} more (--limit 0 shows all)\n", len(bad) - len(shown)))
        parts.append(
            localized(
                "rows with a cosine similarity of {2:g} or less: {0:,} of {1:,}\n",
                len(bad),
                len(table.rows),
                threshold,
            )
        )
        say("".join(parts) + text.first(table.first_diverging))
    return 1 if bad else 0


for each in (
    list_command,
    show_command,
    export_command,
    overflow_command,
    compare_command,
    result_command,
):
    command.add_command(each)
