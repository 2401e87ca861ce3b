"""``npu-config dump``: what dump and overflow settings left on disk."""

import os
from typing import Any, Dict, List, Optional, Sequence, Tuple

import click

from npu_config.cli import _dump_text as text
from npu_config.cli._dump_judge import compare_command, overflow_command
from npu_config.cli._dump_options import (
    LINES,
    NO_NUMPY,
    device_option,
    files_of,
    format_option,
    selection_options,
    threshold_option,
)
from npu_config.cli._dump_show import show_command
from npu_config.cli._group import Group
from npu_config.cli._output import Failure, say, unwritable
from npu_config.cli._paths import FILE
from npu_config.cli._progress import progress
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Report
from npu_config.core.message import join, localized


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
