"""``npu-config dump overflow``, ``scan``, ``compare``, ``result``: faults and where they began."""

import contextlib
import math
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import click

from npu_config.cli._dump_shared import (
    Bar,
    Columns,
    Outputs,
    attempt_values,
    device_option,
    document,
    format_option,
    graph_option,
    left_out,
    limit_option,
    lines_of,
    number,
    number_option,
    or_unknown,
    output_options,
    print_result,
    selection_options,
    shape,
    table,
    write_next,
)
from npu_config.cli._options import FILE, together
from npu_config.cli._output import Failure, Unproducible, say, write, write_mixlist
from npu_config.cli._report import attempt, fails, print_findings
from npu_config.core.diagnostics import Report, Severity
from npu_config.core.message import listed, localized, phrase, printable, screen
from npu_config.dumps.tree import place

run_option = click.option(
    "--run",
    metavar="RUN",
    help="The run to examine (YYYYMMDDHHMMSS); default: the newest of each device.",
)


@click.command("overflow")
@click.argument("path", metavar="PATH", type=FILE)
@graph_option
@run_option
@device_option
@click.option(
    "--before",
    metavar="RUN|PATH",
    help=(
        "Compare with an earlier run: show which operators no longer overflow, still "
        "overflow or newly overflow."
    ),
)
@click.option(
    "--write-mixlist",
    "mixlist",
    metavar="FILE",
    help="Write an ops_info.json that keeps the found operator types in float32.",
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
    """Explain every overflow below PATH: the operator, the cause, and what to do.

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
                "--before must name an earlier run, not the run that is examined: {}",
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
    message = "incomplete result: files that could not be read: {:,}; the first is {}"
    return printable(localized(message, len(paths), paths[0])) + "\n"


def _overflows(report: Any, compared: Any, path: str) -> str:
    from npu_config.dumps import overflow_report as groups

    parts = [_unread(report), _looked_at(report)]
    found = groups.grouped(report.overflows)
    parts += [_shown_overflow(number, each) + "\n" for number, each in enumerate(found, 1)]
    parts += [printable(line) + "\n" for line in groups.outcome(report, path)]
    if compared is not None:
        parts.append(_compared(compared))
    return "".join(parts)


def _compared(compared: Any) -> str:
    """What became of the overflows of an earlier run."""
    from npu_config.dumps.overflow_report import name_of, verdict_on

    lines = [""]
    for words, members in (
        (phrase("no longer overflowing"), compared.gone),
        (phrase("still overflowing"), compared.left),
        (phrase("newly overflowing"), compared.new),
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
@limit_option("Number of rows to print; 0: all.")
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

    Tensors are listed in the order of execution: by the graph with --graph, otherwise by
    time. Tables of statistics are read as well.

    Exit code 0 when every tensor is clean, 1 when a tensor is not clean or could not be examined.
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
    as_json = document(content, [*found.diagnostics, *results])
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

    parts = []
    if found.unread:
        message = "tensors that could not be examined: {:,}; the first is {}: {}\n"
        first = found.unread[0]
        parts.append(localized(message, len(found.unread), first.tensor, first.reason))
    if found.tensors:
        parts.append(table(_TENSORS, found.tensors, limit))
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
                or_unknown(each.step),
                or_unknown(each.device),
                counts,
                localized(each.origin),
            )
        )
    return "".join(parts)


def _at_limit(each: Any) -> str:
    values = each.statistics
    return ("{:,}+" if each.is_table and values.at_limit else "{:,}").format(values.at_limit)


_TENSORS: Columns = {
    phrase("step"): lambda each: or_unknown(each.step),
    phrase("device"): lambda each: or_unknown(each.device),
    phrase("tensor"): lambda each: "{}:{}:{}".format(each.op_name, each.side, each.index),
    phrase("type"): lambda each: each.op_type,
    phrase("data type"): lambda each: each.data_type,
    "NaN": lambda each: "{:,}".format(each.statistics.nan),
    phrase("infinite"): lambda each: "{:,}".format(each.statistics.infinite),
    phrase("at the limit"): _at_limit,
    phrase("origin"): lambda each: localized(each.origin) if each.side == "output" else "",
}


def _shown_overflow(index: int, group: Any) -> str:
    """Equal overflows with their reason and what follows."""
    from npu_config.dumps.overflow_report import name_of, origin_of

    each = group.first
    times = len(group.members)
    lines = [
        localized(
            "{}. {} ({}), step {}, device {}",
            index,
            name_of(group),
            each.op_type or localized("unknown type"),
            _numbers(group.steps),
            _numbers(group.devices),
        )
    ]
    if times > 1:
        lines.append(localized("   number of overflows of this kind: {:,}; the first one:", times))
    for unit in each.units:
        for text, documented in unit.words:
            remark = "" if documented else localized(" (uncertain)")
            lines.append("   {}: {}{}".format(unit.unit, localized(text), remark))
    for tensor in each.tensors:
        lines.append("   {}".format(_tensor(tensor)))
    lines.append("   {}".format(origin_of(each)))
    if each.passes:
        lines.append(localized("   created by the fusion passes {}", ", ".join(each.passes)))
    lines += ["   -> {}".format(localized(text)) for text in each.advice]
    return "\n".join(map(printable, lines)) + "\n"


def _numbers(numbers: Sequence[int]) -> str:
    """Steps or devices; of many the first and the last."""
    texts = [str(number) for number in numbers]
    if len(texts) > 8:
        texts = [*texts[:4], "...", *texts[-3:]]
    return ", ".join(texts) or "?"


def _tensor(tensor: Any) -> str:
    head = "{} {} {} {}: ".format(
        localized(tensor.side), tensor.number, tensor.data_type, shape(tensor.shape)
    )
    values = tensor.statistics
    if values is None:
        return head + localized(tensor.reason)
    numbers = (values.minimum, values.maximum, values.mean)
    text = localized("min {} max {} mean {}", *map(number, numbers))
    if values.elements and math.isnan(values.mean):
        text = localized("no finite value")
    for count, what in (
        (values.nan, "NaN"),
        (values.infinite, phrase("infinite")),
        (values.at_limit, phrase("at the type's limit")),
    ):
        if count:
            text += localized(", {:,} {}", count, what)
    return head + text


# two dumps, or a dump and a reference


bounds_options = together(
    click.option(
        "--threshold",
        type=click.FloatRange(-1, 1),
        help="A tensor matches the reference when its cosine similarity is above this value "
        "(0.98).",
    ),
    click.option(
        "--max-abs",
        "max_abs",
        type=click.FloatRange(min=0),
        metavar="X",
        help="Largest difference allowed for an element; default: by data type and kind of "
        "tensor.",
    ),
    click.option(
        "--max-rel",
        "max_rel",
        type=click.FloatRange(min=0),
        metavar="X",
        help="Largest relative distance allowed; default: by data type and kind of tensor.",
    ),
)
"""Limits that replace the defaults."""


@click.command("compare")
@click.argument("npu", metavar="NPU", type=FILE)
@click.argument("reference", metavar="[REFERENCE]", type=FILE, required=False)
@graph_option
@bounds_options
@number_option("Only this step of the dump.")
@number_option("The run or step of REFERENCE.", "--reference-step")
@number_option("Only this device of the dump.", "--device")
@click.option(
    "--run", metavar="TIME", help=("The run of the dump; default: the newest of each device.")
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="PATTERN",
    help="Leave these operators out (* and ? match any text).",
)
@click.option(
    "--all", "everything", is_flag=True, help="Also print the inputs that match the reference."
)
@limit_option("Number of rows to print; 0: all.")
@click.option(
    "--csv", "csv_file", metavar="FILE", help="Write the table with the columns of msaccucmp."
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
    export), or another dump. Each step, device and model that exists in both is compared.
    Without --graph inputs are not compared. Two single files (dumps or .npy) can be
    compared, too. Without REFERENCE the devices of the dump are compared with each other: weights
    and summed gradients have to be equal bit for bit.

    Exit code 0 when all compared tensors match and enough of the network was compared,
    otherwise 1.
    """
    from npu_config.dumps import result
    from npu_config.dumps.comparison_page import comparison_page

    with contextlib.ExitStack() as stack:
        compared = _comparison(npu, reference, graph, chosen, Bar(stack).advance)
        found = attempt_values(outputs.format_, compared)
    title = (
        localized("the ranks of {}", npu)
        if reference is None
        else localized("{} compared with {}", npu, reference)
    )
    outputs.deliver(
        lambda: result.plain(found),
        found.diagnostics,
        result.finding(found),
        lambda: _shown_comparison(found, everything, limit),
        lambda: comparison_page(found, title),
    )
    if csv_file is not None:
        write(csv_file, result.result_csv(found), outputs.force)
    if outputs.next_config is not None and found.inputs_differ:
        message = "the inputs differ, so no operator is the cause; {} is not written"
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
        from npu_config.dumps.compare import compare_ranks

        for name in ("reference_step", "device"):
            if chosen.pop(name) is not None:
                raise click.UsageError(localized("--{} needs REFERENCE", name.replace("_", "-")))
        if any(value is not None for value in bounds.values()):
            message = (
                "options for limits require REFERENCE: without REFERENCE, the ranks must be "
                "equal bit for bit"
            )
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
    help="A tensor matches the reference when its cosine similarity is above this value.",
)


@click.command("result")
@click.argument("path", metavar="FILE.csv", type=FILE)
@threshold_option
@limit_option("Number of rows to print; 0: all.")
@format_option
def result_command(path: str, threshold: float, limit: int, format_: str) -> int:
    """Read a result table of msaccucmp, old or new, and find the tensors that diverge.

    Exit code 0 when every cosine similarity is above the threshold, otherwise 1.
    """
    from npu_config.dumps.result import read_result

    found = attempt(format_, lambda: read_result(path, threshold))
    content = {
        "generation": found.generation,
        "threshold": threshold,
        "first_diverging": found.first_diverging,
        "rows": [
            {"line": row.line, "verdict": row.verdict, **dict(row.cells)} for row in found.rows
        ],
    }
    print_result(format_, content, (), lambda: _shown_results(found, threshold, limit), 1)
    return 1 if found.diverging or not found.judged else 0


def _shown_comparison(result: Any, everything: bool, limit: int = 0) -> str:
    """What was compared, the table of where it goes wrong, and what it comes to."""
    from npu_config.dumps.result import gaps, outcome

    here = [row for row in result.rows if row.where == result.where]
    rows = [row for row in here if everything or row.side == "output" or row.verdict == "diverges"]
    shown = rows
    if 0 < limit < len(rows):
        diverging = [row for row in rows if row.verdict == "diverges"]
        shown = (diverging or rows)[:limit]
    not_seen = gaps(result)
    warning = (
        []
        if result.covered
        else [localized("incomplete comparison:"), *map(localized, not_seen), ""]
    )
    texts = [lines_of(warning), _sides(result)]
    is_wide = (screen() or _WIDE) >= _WIDE
    columns = {name: cell for name, cell in _COMPARED.items() if is_wide or name != _TYPE}
    texts.append(table(columns, shown, notes=[localized(row.reason) for row in shown]))
    texts.append(left_out(len(rows) - len(shown)))
    hidden = len(here) - len(rows)
    if hidden:
        message = "not shown, because they match or were not compared: {:,} (--all shows them)\n"
        texts.append(localized(message, hidden))
    texts.append("\n")
    texts.append(_counts(result.rows))
    texts.append(lines_of(outcome(result)))
    texts.append(lines_of(map(localized, not_seen if result.covered else ())))
    return "".join(texts)


_TYPE, _WIDE = phrase("type"), 100
"""The column that a narrow terminal does without."""


def _verdict(name: str) -> str:
    """The word for a verdict in the reader's language."""
    return localized(_VERDICTS.get(name, name))


_VERDICTS = {
    "agrees": phrase("agrees"),
    "diverges": phrase("diverges"),
    "not compared": phrase("not compared"),
    "ignored": phrase("ignored"),
}


def _counts(rows: Sequence[Any]) -> str:
    counts = [(sum(row.verdict == name for row in rows), name) for name in _VERDICTS]
    return "{}\n".format(
        ", ".join("{:,} {}".format(count, _verdict(name)) for count, name in counts if count)
    )


def _sides(result: Any) -> str:
    """What was compared with what, and what was not."""
    lines = []
    parts = result.parts
    if len(parts) == 1:
        words = place(parts[0].where)
        if words:
            other = place(parts[0].other)
            lines.append(localized("compared: {}", words))
            if other and other != words:
                lines.append(localized("with: {}", other))
    elif parts:
        lines += [*_matrix(result).splitlines(), ""]
        lines.append(localized("below: {}", place(result.where)))
    lines += [localized("not compared: {}", text) for text in result.left_out]
    return "".join("{}\n".format(printable(line)) for line in lines) + ("\n" if lines else "")


def _matrix(result: Any) -> str:
    """A line for each step and model, a column for each device."""
    devices = list(dict.fromkeys(part.where.device for part in result.parts))
    lines: Dict[Tuple[Any, Any], Dict[Any, Any]] = {}
    for part in result.parts:
        lines.setdefault((part.where.step, part.where.model), {})[part.where.device] = part
    columns: Dict[str, Callable[[Any], Any]] = {
        phrase("step"): lambda line: or_unknown(line[0][0]),
    }
    if len({model for _, model in lines}) > 1:
        columns[phrase("model")] = lambda line: or_unknown(line[0][1])
    for device in devices:
        name = phrase("device {}", or_unknown(device))
        columns[name] = _of_device(device)
    return table(columns, lines.items())


def _of_device(device: Any) -> Callable[[Any], str]:
    return lambda line: _cell(line[1].get(device))


def _cell(part: Any) -> str:
    if part is None:
        return "-"
    if part.inputs_differ:
        return localized("inputs differ")
    count = part.counts.get("diverges", 0)
    return localized("diverges ({:,})", count) if count else _verdict(part.verdict)


def _distance(row: Any, name: str) -> str:
    """A distance between two tensors; truth values are no numbers that have one."""
    if row.metrics is None:
        return ""
    text = "-" if row.metrics.boolean else "{:.3g}".format(getattr(row.metrics, name))
    return "NaN" if text == "nan" else text


_COMPARED: Columns = {
    "#": lambda row: row.index,
    phrase("verdict"): lambda row: _verdict(row.verdict),
    phrase("tensor"): lambda row: row.tensor_index,
    _TYPE: lambda row: row.op_type,
    phrase("reference"): lambda row: row.reference,
    phrase("cosine"): lambda row: "" if row.metrics is None else _six(row.metrics.cosine),
    phrase("distance"): lambda row: _distance(row, "relative_euclidean"),
    phrase("max abs"): lambda row: _distance(row, "max_absolute"),
}


def _six(value: float) -> str:
    return "NaN" if math.isnan(value) else "{:.6f}".format(value)


def _shown_results(result: Any, threshold: float, limit: int) -> str:
    from npu_config.dumps.result import first_sentences

    if not result.judged:
        return "{}\n".format(localized("no row has a cosine similarity: nothing was compared"))
    bad = result.diverging
    count = localized(
        "rows with a cosine similarity of {2:g} or less: {0:,} of {1:,}\n",
        len(bad),
        len(result.rows),
        threshold,
    )
    shown = table(_RESULTS, bad, limit) if bad else ""
    return shown + count + lines_of(first_sentences(result.first_diverging))


_RESULTS: Columns = {
    phrase("line"): lambda row: row.line,
    phrase("operator"): lambda row: row.op_name,
    phrase("ground truth"): lambda row: row.ground_truth,
    phrase("tensor"): lambda row: "{} {}".format(row.side, row.number) if row.side else "",
    phrase("cosine"): lambda row: row.cosine,
}
