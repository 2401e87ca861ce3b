"""What the commands of ``npu-config dump`` print: tables and sentences of what was found."""

import json
import math
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import join, localized, phrase
from npu_config.core.terminal import padded, printable, width

BAR = 40
WIDEST = 72
"""Longer cells are cut; JSON has them whole."""


def document(content: Mapping[str, Any], found: Iterable[Diagnostic] = ()) -> str:
    """One JSON object with the version of its contract; numbers that are not finite are null."""
    whole = {
        "version": 1,
        **content,
        "diagnostics": [diagnostic.to_dict() for diagnostic in found],
    }
    return json.dumps(_finite(whole), indent=2, ensure_ascii=True, default=str) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns as wide as they need to be; numbers to the right."""
    heads = [localized(cell) for cell in head]
    lines = [[_cut(printable(str(cell))) for cell in row] for row in (heads, *rows)]
    widths = [max(map(width, column)) for column in zip(*lines)]
    right = [
        len(lines) > 1 and all(_is_number(line[index]) for line in lines[1:])
        for index in range(len(head))
    ]
    return "".join(
        "  ".join(
            padded(cell, columns, to_right) for cell, columns, to_right in zip(line, widths, right)
        ).rstrip()
        + "\n"
        for line in lines
    )


def _cut(cell: str) -> str:
    """The end of a long name says more than its beginning."""
    return cell if len(cell) <= WIDEST else "..." + cell[3 - WIDEST :]


def _is_number(text: str) -> bool:
    return bool(text) and not text.strip("0123456789.,+-e%") and text[0] not in "e%,"


def size(count: int) -> str:
    """Bytes in the unit that reads best."""
    amount, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    return "{:,.0f} {}".format(amount, unit) if unit == "B" else "{:,.1f} {}".format(amount, unit)


def shape(sizes: Sequence[int]) -> str:
    """``2x3x4``; a scalar has no sizes."""
    return "x".join(map(str, sizes)) or "scalar"


def number(value: float) -> str:
    """Six significant digits; ``NaN`` for what is not defined."""
    return "NaN" if math.isnan(value) else "{:.6g}".format(value)


def or_unknown(value: Optional[Any]) -> str:
    """What is not known is a question mark."""
    return "?" if value is None else str(value)


def statistics(values: Any) -> str:
    """The statistics of a tensor in a few lines, with a small histogram."""
    if not values.elements:
        return "    no elements\n"
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
            localized("    first NaN, infinite or limit values at {} (flat index)", places)
        )
    if values.padded:
        lines.append("    the padding of the device's layout is counted, too")
    most = max(values.histogram, default=0)
    step = (values.maximum - values.minimum) / max(len(values.histogram), 1)
    for index, count in enumerate(values.histogram):
        bar = "#" * (-(-count * BAR // most) if most else 0)
        start = values.minimum + index * step
        lines.append("    {:>12} {:<{}} {:,}".format(number(start), bar, BAR, count))
    return "\n".join(lines) + "\n"


def operator(each: Any) -> str:
    """The operator that overflowed, or the task where its dump is not there."""
    return each.op_name or localized("task {} of stream {}", each.task, each.stream)


def overflow(index: int, group: Any) -> str:
    """Equal overflows with their reason and what follows."""
    each = group.first
    times = len(group.members)
    lines = [
        localized(
            "{}. {} ({}), step {}, device {}",
            index,
            operator(each),
            each.op_type or localized("unknown type"),
            _numbers(group.steps),
            _numbers(group.devices),
        )
    ]
    if times > 1:
        lines.append(localized("   {:,} equal overflows; the first:", times))
    for unit in each.units:
        for text, documented in unit.words:
            remark = "" if documented else " (uncertain)"
            lines.append("   {}: {}{}".format(unit.unit, localized(text), remark))
    for tensor in each.tensors:
        lines.append("   {}".format(_tensor(tensor)))
    origin = localized(each.origin)
    if each.came_in_with:
        origin += localized(" with input {}", ", ".join(map(str, each.came_in_with)))
    lines.append("   {}".format(origin))
    if each.passes:
        lines.append(localized("   made by the fusion passes {}", ", ".join(each.passes)))
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
        tensor.side, tensor.number, tensor.data_type, shape(tensor.shape)
    )
    values = tensor.statistics
    if values is None:
        return head + str(tensor.reason)
    text = localized(
        "min {} max {} mean {}", *map(number, (values.minimum, values.maximum, values.mean))
    )
    for count, what in (
        (values.nan, "NaN"),
        (values.infinite, "infinite"),
        (values.at_limit, "at the type's limit"),
    ):
        if count:
            text += ", {:,} {}".format(count, what)
    return head + text


def comparison(result: Any, everything: bool) -> str:
    """The table of a comparison, and what it comes to."""
    rows = [
        row
        for row in result.rows
        if everything or row.side == "output" or row.verdict == "diverges"
    ]
    head = (
        "#",
        phrase("tensor"),
        phrase("type"),
        phrase("reference"),
        phrase("cosine"),
        phrase("max abs"),
        phrase("max rel"),
        "RMSE",
        phrase("verdict"),
    )
    text: str = table(head, (_comparison_row(row) for row in rows))
    hidden = len(result.rows) - len(rows)
    if hidden:
        text += localized("not shown, as they agree or were not compared: {:,} (--all)\n", hidden)
    counts = [
        (sum(row.verdict == verdict for row in result.rows), verdict)
        for verdict in ("agrees", "diverges", "not compared", "ignored")
    ]
    text += "\n{}\n".format(
        ", ".join("{:,} {}".format(count, verdict) for count, verdict in counts if count)
    )
    text += first(result.first_diverging, result.path_to_it)
    if result.passes:
        text += localized("made by the fusion passes {}\n", printable(", ".join(result.passes)))
    return text


def first(name: Optional[str], path: Sequence[str] = ()) -> str:
    """The sentence on the first operator that diverges."""
    if name is None:
        return "no operator has inputs that agree and outputs that do not\n"
    text = localized("first operator whose inputs agree and whose outputs do not: {}\n", name)
    if len(path) > 1:
        text += localized("the way to it: {}\n", " -> ".join(path))
    return "\n".join(map(printable, text.split("\n")))


def _comparison_row(row: Any) -> Tuple[str, ...]:
    numbers: List[str] = [""] * 4
    if row.metrics is not None:
        numbers = [
            _six(row.metrics.cosine),
            *map(
                number,
                (
                    row.metrics.max_absolute,
                    row.metrics.max_relative,
                    row.metrics.root_mean_square,
                ),
            ),
        ]
    verdict = row.verdict
    if row.reason:
        verdict += ": {}".format(row.reason)
    return (str(row.index), row.tensor_index, row.op_type, row.reference, *numbers, verdict)


def _six(value: float) -> str:
    return "NaN" if math.isnan(value) else "{:.6f}".format(value)


def groups(files: Any) -> str:
    """One line for each run, device, model and step."""
    grouped: Dict[Tuple[Any, ...], List[Any]] = {}
    for file in files:
        where = file.folder
        key = (where.run, where.device, where.model, where.model_id, where.step)
        grouped.setdefault(key, []).append(file)
    return table(
        ("run", "device", "model", "id", "step", "operators", "files", "size"),
        (
            (
                *map(or_unknown, key),
                len({file.op_name for file in members}),
                len(members),
                size(sum(file.size for file in members)),
            )
            for key, members in grouped.items()
        ),
    )


def listed(entries: Sequence[Dict[str, Any]], limit: int) -> str:
    shown = entries if limit <= 0 else entries[:limit]
    result = table(
        ("device", "step", "operator", "type", "in", "out", "size", "remark"),
        (
            (
                or_unknown(entry["device"]),
                or_unknown(entry["step"]),
                entry["op_name"],
                entry["op_type"],
                or_unknown(entry["inputs"]),
                or_unknown(entry["outputs"]),
                size(entry["bytes"]),
                _remark(entry),
            )
            for entry in shown
        ),
    )
    return result + left_out(len(entries) - len(shown))


def left_out(count: int) -> str:
    """How much of a table is not shown."""
    return localized("and {:,} more (--limit 0 shows all)\n", count) if count else ""


def _remark(entry: Dict[str, Any]) -> str:
    remarks = [] if entry["kind"] == "tensor" else [entry["kind"]]
    if entry["hashed"]:
        remarks.append("named by hash")
    if entry["thread"] is not None:
        remarks.append(localized("thread {}", entry["thread"]))
    if not entry["whole"]:
        remarks.append("not whole")
    return join(", ", remarks)


def others(files: Any) -> str:
    """Files that are not dumps, and dumps that are named and not there."""
    lines = ["{}: {}".format(stray.path, stray.reason) for stray in files.strays[:5]]
    if len(files.strays) > 5:
        lines.append(localized("and {:,} more that are no dumps", len(files.strays) - 5))
    lines += [localized("{}: in mapping.csv, and not there", each) for each in files.missing[:5]]
    if len(files.missing) > 5:
        lines.append(localized("and {:,} more that are not there", len(files.missing) - 5))
    return "".join("{}\n".format(line) for line in ["", *lines]) if lines else ""


def results(result: Any, threshold: float, limit: int) -> str:
    bad = result.diverging
    rows = [
        (
            row.line,
            row.op_name,
            row.ground_truth,
            "{} {}".format(row.side, row.number) if row.side else "",
            row.cosine,
        )
        for row in (bad if limit <= 0 else bad[:limit])
    ]
    heads = ("line", "operator", "ground truth", "tensor", "cosine")
    count = localized(
        "rows with a cosine similarity of {2:g} or less: {0:,} of {1:,}\n",
        len(bad),
        len(result.rows),
        threshold,
    )
    shown = (table(heads, rows) if bad else "") + left_out(len(bad) - len(rows))
    return shown + count + first(result.first_diverging)
