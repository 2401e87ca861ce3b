"""``npu-config dump show``."""

import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._dump_options import NO_NUMPY, format_option
from npu_config.cli._output import Failure, say
from npu_config.cli._paths import FILE
from npu_config.cli._report import attempt, print_findings
from npu_config.core.files import reading
from npu_config.core.message import localized, phrase


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
    from npu_config.dumps.selection import select
    from npu_config.dumps.tree import find_dumps
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
    from npu_config.dumps.container import open_dump
    from npu_config.dumps.overflow_record import is_overflow
    from npu_config.dumps.stats_csv import read_statistics

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
    from npu_config.dumps.overflow_record import read_overflow, units

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
