"""``npu-config dump``: what dump and overflow settings left on disk."""

import contextlib
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._dump_faults import overflow_command, scan_command
from npu_config.cli._dump_search import search_command
from npu_config.cli._dump_shared import (
    LINES,
    NO_NUMPY,
    Bar,
    Outputs,
    attempt_values,
    device_option,
    files_of,
    format_option,
    graph_option,
    output_options,
    print_result,
    selection_options,
    write_next,
)
from npu_config.cli._language import CommandGroup
from npu_config.cli._options import FILE, together
from npu_config.cli._output import Failure, Unproducible, progress, say, unwritable, write
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Report
from npu_config.core.message import localized, phrase
from npu_config.text.source import reading

bounds_options = together(
    click.option(
        "--threshold",
        type=click.FloatRange(-1, 1),
        help="A tensor agrees when its cosine similarity is above it (0.98).",
    ),
    click.option(
        "--max-abs",
        "max_abs",
        type=click.FloatRange(min=0),
        metavar="X",
        help="How much one element may be off; else by data type and kind of tensor.",
    ),
    click.option(
        "--max-rel",
        "max_rel",
        type=click.FloatRange(min=0),
        metavar="X",
        help="The largest relative distance; else by data type and kind of tensor.",
    ),
)
"""Limits that replace the defaults."""


@click.command("compare")
@click.argument("npu", metavar="NPU", type=FILE)
@click.argument("reference", metavar="[REFERENCE]", type=FILE, required=False)
@graph_option
@bounds_options
@click.option(
    "--step", type=click.IntRange(min=0), metavar="N", help="Only this step of the dump."
)
@click.option(
    "--reference-step",
    type=click.IntRange(min=0),
    metavar="N",
    help="The run or step of REFERENCE.",
)
@click.option(
    "--device", type=click.IntRange(min=0), metavar="N", help="Only this device of the dump."
)
@click.option("--run", metavar="TIME", help="The run of the dump; else the newest of each device.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="PATTERN",
    help="Leave these operators out (* and ? match any text).",
)
@click.option("--all", "everything", is_flag=True, help="Print inputs that agree, too.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=LINES,
    show_default=True,
    help="How many rows; 0: all.",
)
@click.option(
    "--csv", "csv_file", metavar="FILE", help="Write the table in the columns of msaccucmp."
)
@output_options
def compare_command(
    npu: str,
    reference: Optional[str],
    graph: Optional[str],
    everything: bool,
    limit: int,
    csv_file: Optional[str],
    outputs: Outputs,
    **chosen: Any,
) -> int:
    """Compare a dump with a reference, and find the first operator that diverges.

    REFERENCE is a folder of .npy files (OPERATOR.OUTPUT.TIME.npy, of tfdbg-export or dump
    export), or another dump. Every step, device and model that both sides have is compared.
    Without --graph inputs are not compared. Two single files (dumps or .npy) are compared by
    themselves. Without REFERENCE the devices of the dump are compared with each other: weights
    and summed gradients have to be equal bit for bit.

    Exit code 0 when what was compared agrees and speaks for the whole network, 1 when something
    diverges or too much was not compared.
    """
    from npu_config.dumps import result
    from npu_config.dumps.comparison_page import comparison_page

    with contextlib.ExitStack() as stack:
        compared = _comparison(npu, reference, graph, chosen, Bar(stack).advance)
        found = attempt_values(outputs.format_, compared)
    title = (
        localized("the ranks of {}", npu)
        if reference is None
        else localized("{} against {}", npu, reference)
    )
    outputs.deliver(
        lambda: result.plain(found),
        found.diagnostics,
        result.finding(found),
        lambda: text.comparison(found, everything, limit),
        lambda: comparison_page(found, title),
    )
    if csv_file is not None:
        write(csv_file, result.result_csv(found), outputs.force)
    if outputs.next_config is not None and found.inputs_differ:
        message = "the inputs differ; no operator is to blame, and {} is not written"
        raise Unproducible(message, outputs.next_config)
    first = found.first_diverging
    layers = [first] if first is not None else list(found.diverging)
    if found.passes:  # without them there is no such operator, but those that it stands for
        parts = (row.stands_for for row in found.rows if row.op_name == first)
        layers = list(next(parts, ())) or layers
    write_next(outputs, npu, layers, found.step, found.passes)
    return 0 if found.ok and not fails(Report(found.diagnostics), False) else 1


def _comparison(
    npu: str,
    reference: Optional[str],
    graph: Optional[str],
    chosen: Dict[str, Any],
    progress: Callable[[int, int], None],
) -> Callable[[], Any]:
    """What compares: two files, two folders, or the ranks of one dump."""
    bounds = {name: chosen.pop(name) for name in ("threshold", "max_abs", "max_rel")}
    if reference is None:
        from npu_config.dumps.ranks import compare_ranks

        for name in ("reference_step", "device"):
            if chosen.pop(name) is not None:
                raise click.UsageError(localized("--{} needs REFERENCE", name.replace("_", "-")))
        if any(value is not None for value in bounds.values()):
            message = "ranks are compared bit for bit; limits need REFERENCE"
            raise click.UsageError(localized(message))
        return lambda: compare_ranks(npu, graph, **chosen, progress=progress)
    if os.path.isfile(npu) and os.path.isfile(reference):
        from npu_config.dumps.single import compare_files

        return lambda: compare_files(npu, reference, **bounds)
    from npu_config.dumps.compare import compare_dumps

    return lambda: compare_dumps(npu, reference, graph, **bounds, **chosen, progress=progress)


threshold_option = click.option(
    "--threshold",
    type=click.FloatRange(-1, 1),
    default=0.98,
    show_default=True,
    help="A tensor agrees when its cosine similarity is above it.",
)


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
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Only this step.")
@click.option(
    "--bins",
    type=click.IntRange(min=0),
    default=8,
    show_default=True,
    help="Lines of the histogram; 0: none.",
)
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
    nothing = "  {}\n".format(localized("no status is set: nothing overflowed"))
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
        localized(side), index, tensor.data_type, tensor.format, text.shape(tensor.shape)
    )
    if tensor.original_shape and tensor.original_shape != tensor.shape:
        head += localized(", in the network {}", text.shape(tensor.original_shape))
    head += ", {}\n".format(text.size(tensor.size))
    try:
        values = statistics_of(tensor, bins=bins)
    except NpuConfigError as error:
        facts["reason"] = error.diagnostics[0].message
        return facts, head + "    {}\n".format(localized(facts["reason"])) + _raw(tensor)
    except ImportError:
        facts["reason"] = NO_NUMPY
        return facts, head + "    {}\n".format(localized(NO_NUMPY))
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
        (phrase("tensor"), phrase("data type"), phrase("format"), phrase("shape"), *columns),
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


@click.group("dump", cls=CommandGroup)
def command() -> None:
    """List, show, export, explain and compare what dump settings left on disk.

    Nothing of the vendor's is needed. Values need numpy: pip install "npu_config[compare]"
    """


@click.command("list")
@click.argument("path", metavar="PATH", type=FILE)
@selection_options
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=LINES,
    show_default=True,
    help="How many operators are printed; 0: all.",
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
        return text.groups(files) + "\n" + text.listed(entries, limit) + text.others(files)

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
    help="In the layout of the network where it is known, or as the device stores it.",
)
@click.option(
    "--select", "ops", multiple=True, metavar="PATTERN", help="Only these operators (* and ?)."
)
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Only this step.")
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
    from npu_config.dumps.export import export_dumps
    from npu_config.text.tables import INDEX

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
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=LINES,
    show_default=True,
    help="How many rows; 0: all.",
)
@format_option
def result_command(path: str, threshold: float, limit: int, format_: str) -> int:
    """Read a result table of msaccucmp, old or new, and find what diverges in it.

    Exit code 0 when every cosine similarity is above the threshold, 1 when one is not.
    """
    from npu_config.dumps.result import read_result

    table = attempt(format_, lambda: read_result(path, threshold))
    content = {
        "generation": table.generation,
        "threshold": threshold,
        "first_diverging": table.first_diverging,
        "rows": [
            {"line": row.line, "verdict": row.verdict, **dict(row.cells)} for row in table.rows
        ],
    }
    print_result(format_, content, (), lambda: text.results(table, threshold, limit), 1)
    return 1 if table.diverging or not table.judged else 0


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
