"""``npu-config dump``: what dump and overflow settings left on disk."""

import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import click

from npu_config.cli._dump_faults import (
    compare_command,
    overflow_command,
    result_command,
    scan_command,
)
from npu_config.cli._dump_search import search_command
from npu_config.cli._dump_shared import (
    NO_NUMPY,
    Columns,
    device_option,
    document,
    files_of,
    format_option,
    limit_option,
    number,
    number_option,
    or_unknown,
    print_result,
    selection_options,
    shape,
    size,
    table,
)
from npu_config.cli._language import CommandGroup
from npu_config.cli._options import FILE
from npu_config.cli._output import Failure, progress, say, unwritable
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Report
from npu_config.core.message import join, localized, phrase
from npu_config.core.paths import reading


@click.command("show")
@click.argument("what", metavar="FILE|OPERATOR")
@click.option(
    "--in",
    "path",
    metavar="PATH",
    type=FILE,
    default=".",
    show_default=True,
    help="The folder in which OPERATOR is searched for.",
)
@number_option("Only this step.")
@click.option(
    "--bins",
    type=click.IntRange(min=0),
    default=8,
    show_default=True,
    help="Number of lines in the histogram; 0: none.",
)
@format_option
def show_command(what: str, path: str, step: Optional[int], bins: int, format_: str) -> int:
    """Show the header of a dump and statistics of its values.

    FILE is a dump or a statistics .csv; OPERATOR a name or pattern, searched for in --in PATH.
    """
    files = [what] if os.path.lexists(what) else _named(what, path, step, format_)
    shown: List[Dict[str, Any]] = []
    found: List[Any] = []
    parts: List[str] = []
    for each in files:
        entry, part = _shown(each, max(0, bins), found, format_ == "text")
        shown.append(entry)
        parts.append(part)
    print_result(
        format_, {"files": shown}, found, lambda: "\n".join(filter(None, parts)), len(files)
    )
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
        "  {}: {}{}\n".format(
            unit.unit, localized(words), "" if documented else localized(" (uncertain)")
        )
        for unit in units(record)
        for words, documented in unit.words
    ]
    nothing = "  {}\n".format(localized("no status bit is set: nothing overflowed"))
    return dict(record), "".join(lines) or nothing


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
        localized(side), index, tensor.data_type, tensor.format, shape(tensor.shape)
    )
    if tensor.original_shape and tensor.original_shape != tensor.shape:
        head += localized(", in the network {}", shape(tensor.original_shape))
    head += ", {}\n".format(size(tensor.size))
    try:
        values = statistics_of(tensor, bins=bins)
    except NpuConfigError as error:
        facts["reason"] = error.diagnostics[0].message
        return facts, head + "    {}\n".format(localized(facts["reason"])) + _raw(tensor)
    except ImportError:
        facts["reason"] = NO_NUMPY
        return facts, head + "    {}\n".format(localized(NO_NUMPY))
    facts["statistics"] = attr.asdict(values)
    return facts, head + _statistics(values)


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

    columns: Dict[str, Callable[[Any], Any]] = {
        phrase("tensor"): lambda row: "{} {}".format(row.side, row.index),
        phrase("data type"): lambda row: row.data_type,
        phrase("format"): lambda row: row.format,
        phrase("shape"): lambda row: "-" if row.shape is None else shape(row.shape),
    }
    columns.update((name, _number_of(name)) for row in rows for name in row.numbers)
    part = "{}\n".format(path) + table(columns, rows)
    return {"path": path, "statistics": [attr.asdict(row) for row in rows]}, part


def _number_of(name: str) -> Callable[[Any], str]:
    return lambda row: or_unknown(row.numbers.get(name))


@click.group("dump", cls=CommandGroup)
def command() -> None:
    """List, show, export, explain and compare the files that dump settings wrote.

    The vendor's software is not needed. Tensor values require numpy:
    pip install "npu_config[compare]"
    """


@click.command("list")
@click.argument("path", metavar="PATH", type=FILE)
@selection_options
@limit_option("Number of operators to print; 0: all.")
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
    """List devices, models, steps and operators below PATH, and incomplete files."""
    files = files_of(path, format_, step, ops, types, device)
    entries: List[Dict[str, Any]] = []
    found = list(files.diagnostics)
    with progress(len(files)) as done:
        for file in files:
            opened = file.open() if file.kind != "statistics" else None
            found.extend(opened.diagnostics if opened is not None else ())
            entries.append(_entry(file, opened))
            done(1)
    strays = [stray._asdict() for stray in files.strays]
    content = {"files": entries, "strays": strays, "missing": list(files.missing)}

    def shown() -> str:
        return _groups(files) + "\n" + table(_LISTED, entries, limit) + _others(files)

    print_result(format_, content, found, shown, len(files))
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


@click.command("export")
@click.argument("path", metavar="PATH", type=FILE)
@click.argument("out", metavar="OUT")
@click.option(
    "--layout",
    type=click.Choice(["original", "device"]),
    default="original",
    show_default=True,
    help="Export each tensor in its original format (e.g. NCHW) where known, or in the "
    "device format.",
)
@click.option(
    "--select", "ops", multiple=True, metavar="PATTERN", help="Only these operators (* and ?)."
)
@number_option("Only this step.")
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

    OUT is a new or empty directory, or the directory of an interrupted export, which continues.
    """
    from npu_config.dumps.export import export_dumps
    from npu_config.text.tables import INDEX

    files = files_of(path, format_, step, ops, (), device)
    try:
        with progress(len(files)) as done:
            lines, found = export_dumps(files, out, layout, done)
    except FileExistsError as error:
        raise Failure("{}; pass another directory", error) from None
    except ImportError:
        raise Failure(NO_NUMPY) from None
    except OSError as error:
        raise Failure(unwritable(out, error)) from None
    written = [line for line in lines if line.file]
    if format_ == "json":
        content = {"tensors": [line._asdict() for line in lines]}
        say(document(content, [*files.diagnostics, *found]))
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


_BAR = 40


def _statistics(values: Any) -> str:
    """The statistics of a tensor in a few lines, with a small histogram."""
    if not values.elements:
        return "    {}\n".format(localized("no elements"))
    lines = [
        localized(
            "    min {}  max {}  mean {}  std {}",
            *map(number, (values.minimum, values.maximum, values.mean, values.deviation)),
        ),
        localized(
            "    zeros {:.1%}  NaN {:,}  infinite {:,}  at the type's limit {:,}",
            values.zeros / values.elements,
            values.nan,
            values.infinite,
            values.at_limit,
        ),
    ]
    if values.odd_positions:
        places = ", ".join(map(str, values.odd_positions))
        lines.append(
            localized(
                "    the first values that are NaN, infinite or at the limit have the flat "
                "indices {}",
                places,
            )
        )
    if values.padded:
        message = "the padding of the device layout is included"
        lines.append("    {}".format(localized(message)))
    most = max(values.histogram, default=0)
    step = (values.maximum - values.minimum) / max(len(values.histogram), 1)
    for index, count in enumerate(values.histogram):
        bar = "#" * (-(-count * _BAR // most) if most else 0)
        start = values.minimum + index * step
        lines.append("    {:>12} {:<{}} {:,}".format(number(start), bar, _BAR, count))
    return "\n".join(lines) + "\n"


def _groups(files: Any) -> str:
    """One line for each run, device, model and step."""
    grouped: Dict[Tuple[Any, ...], List[Any]] = {}
    for file in files:
        where = file.folder
        key = (where.run, where.device, where.model, where.model_id, where.step)
        grouped.setdefault(key, []).append(file)
    return table(_GROUPS, grouped.items())


_GROUPS: Columns = {
    phrase("run"): lambda group: or_unknown(group[0][0]),
    phrase("device"): lambda group: or_unknown(group[0][1]),
    phrase("model"): lambda group: or_unknown(group[0][2]),
    phrase("id"): lambda group: or_unknown(group[0][3]),
    phrase("step"): lambda group: or_unknown(group[0][4]),
    phrase("operators"): lambda group: len({file.op_name for file in group[1]}),
    phrase("files"): lambda group: len(group[1]),
    phrase("size"): lambda group: size(sum(file.size for file in group[1])),
}
_KINDS = {"statistics": phrase("statistics"), "overflow": phrase("overflow")}


def _remark(entry: Dict[str, Any]) -> str:
    kind = _KINDS.get(entry["kind"], entry["kind"])
    remarks = [] if entry["kind"] == "tensor" else [localized(kind)]
    if entry["hashed"]:
        remarks.append(localized(phrase("the file name is a hash")))
    if entry["thread"] is not None:
        remarks.append(localized("thread {}", entry["thread"]))
    if not entry["whole"]:
        remarks.append(localized(phrase("incomplete")))
    return join(", ", remarks)


_LISTED: Columns = {
    phrase("device"): lambda entry: or_unknown(entry["device"]),
    phrase("step"): lambda entry: or_unknown(entry["step"]),
    phrase("operator"): lambda entry: entry["op_name"],
    phrase("type"): lambda entry: entry["op_type"],
    phrase("inputs"): lambda entry: or_unknown(entry["inputs"]),
    phrase("outputs"): lambda entry: or_unknown(entry["outputs"]),
    phrase("size"): lambda entry: size(entry["bytes"]),
    phrase("remark"): _remark,
}


def _others(files: Any) -> str:
    """Files that are not dumps, and dumps that are named and not there."""
    lines = ["{}: {}".format(stray.path, stray.reason) for stray in files.strays[:5]]
    if len(files.strays) > 5:
        lines.append(localized("and {:,} more that are not dumps", len(files.strays) - 5))
    lines += [
        localized("{}: listed in mapping.csv, but the file does not exist", each)
        for each in files.missing[:5]
    ]
    if len(files.missing) > 5:
        lines.append(localized("and {:,} more that do not exist", len(files.missing) - 5))
    return "".join("{}\n".format(line) for line in ["", *lines]) if lines else ""


for each in (
    list_command,
    show_command,
    export_command,
    overflow_command,
    scan_command,
    compare_command,
    search_command,
    result_command,
):
    command.add_command(each)
