"""What the commands of ``npu-config dump`` print: tables and sentences of what was found."""

import itertools
import json
import math
import textwrap
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import (
    fitted,
    join,
    localized,
    padded,
    phrase,
    printable,
    screen,
    width,
)
from npu_config.dumps.tree import place

BAR = 40
WIDEST = 72
"""Longer cells are cut; JSON has them whole."""


def document(content: Mapping[str, Any], found: Iterable[Diagnostic] = ()) -> str:
    """One JSON object with the version of its contract; numbers that are not finite are null.

    Of a long list each item has a line: thousands are written faster so than with indents.
    """
    whole = {
        "version": 1,
        **content,
        "diagnostics": [diagnostic.to_dict() for diagnostic in found],
    }
    parts = ["  {}: {}".format(json.dumps(str(key)), _value(item)) for key, item in whole.items()]
    return "{{\n{}\n}}\n".format(",\n".join(parts))


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)) and value:
        return "[\n    {}\n  ]".format(",\n    ".join(map(_encoded, value)))
    return _encoded(value)


def _encoded(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False, default=_default)
    except ValueError:
        return json.dumps(_finite(value), default=str)


def _default(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def pieces(content: Mapping[str, Any], found: Iterable[Diagnostic] = ()) -> Iterator[str]:
    """The same piece by piece: a list that is an iterator is written last, an entry a line."""
    lists = [name for name, value in content.items() if isinstance(value, Iterator)]
    rest = {name: value for name, value in content.items() if name not in lists}
    text = document(rest, found)
    if not lists:
        yield text
        return
    yield text[: text.rindex("\n}")]
    for name in lists:
        yield ',\n  "{}": ['.format(name)
        comma = ""
        for entry in content[name]:
            yield "{}\n    {}".format(comma, json.dumps(_finite(entry), default=str))
            comma = ","
        yield "\n  ]"
    yield "\n}\n"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], notes: Iterable[str] = ()) -> str:
    """Columns as wide as they need to be and the terminal is; numbers to the right.

    Args:
        head: the names of the columns.
        rows: their cells.
        notes: what is said below each row; "" for nothing.
    """
    heads = [localized(cell) for cell in head]
    lines = [[fitted(printable(str(cell)), WIDEST) for cell in row] for row in (heads, *rows)]
    widths = [max(map(width, column)) for column in zip(*lines)]
    right = [
        len(lines) > 1 and all(_is_number(line[index]) for line in lines[1:])
        for index in range(len(head))
    ]
    columns = screen()
    if columns is not None:
        _narrow(widths, columns, [index for index, number in enumerate(right) if not number])
    texts = []
    for line, note in itertools.zip_longest(lines, ["", *notes][: len(lines)], fillvalue=""):
        cells = [
            padded(fitted(cell, size), size, to_right)
            for cell, size, to_right in zip(line, widths, right)
        ]
        texts.append(_GAP.join(cells).rstrip() + "\n")
        if note:
            texts.append(_below(printable(note), columns))
    return "".join(texts)


_GAP = "  "
_NARROWEST = 10


def _narrow(widths: List[int], columns: int, texts: Sequence[int]) -> None:
    """Take from the widest columns of text what is more than the terminal has."""
    surplus = sum(widths) + len(_GAP) * (len(widths) - 1) - columns
    while surplus > 0:
        widest = max(texts, key=lambda index: widths[index], default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            return
        others = [widths[index] for index in texts if index != widest]
        least = max(_NARROWEST, min(widths[widest] - 1, max(others, default=0)))
        taken = min(surplus, widths[widest] - least)
        widths[widest] -= taken
        surplus -= taken


def _below(note: str, columns: Optional[int]) -> str:
    """What is said of a row, set in and broken at the width of the terminal."""
    lines = textwrap.wrap(note, max(40, (columns or 100) - 6), break_long_words=False) or [note]
    return "".join("      {}\n".format(line) for line in lines)


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
            localized("    first NaN, infinite or limit values at {} (flat index)", places)
        )
    if values.padded:
        message = "the padding of the device's layout is counted, too"
        lines.append("    {}".format(localized(message)))
    most = max(values.histogram, default=0)
    step = (values.maximum - values.minimum) / max(len(values.histogram), 1)
    for index, count in enumerate(values.histogram):
        bar = "#" * (-(-count * BAR // most) if most else 0)
        start = values.minimum + index * step
        lines.append("    {:>12} {:<{}} {:,}".format(number(start), bar, BAR, count))
    return "\n".join(lines) + "\n"


def overflow(index: int, group: Any) -> str:
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
        lines.append(localized("   {:,} equal overflows; the first:", times))
    for unit in each.units:
        for text, documented in unit.words:
            remark = "" if documented else localized(" (uncertain)")
            lines.append("   {}: {}{}".format(unit.unit, localized(text), remark))
    for tensor in each.tensors:
        lines.append("   {}".format(_tensor(tensor)))
    lines.append("   {}".format(origin_of(each)))
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


def comparison(result: Any, everything: bool, limit: int = 0) -> str:
    """What was compared, the table of where it goes wrong, and what it comes to."""
    from npu_config.dumps.result import gaps, outcome

    here = [row for row in result.rows if row.where == result.where]
    rows = [row for row in here if everything or row.side == "output" or row.verdict == "diverges"]
    shown = rows
    if 0 < limit < len(rows):
        diverging = [row for row in rows if row.verdict == "diverges"]
        shown = (diverging or rows)[:limit]
    not_seen = gaps(result)
    warning = [] if result.covered else [localized("no all-clear:"), *map(localized, not_seen), ""]
    texts = [_lines(warning), _compared(result)]
    head = (
        "#",
        phrase("verdict"),
        phrase("tensor"),
        phrase("type"),
        phrase("reference"),
        phrase("cosine"),
        phrase("distance"),
        phrase("max abs"),
    )
    kept = [n for n in range(len(head)) if n != _TYPE or (screen() or _WIDE) >= _WIDE]
    cells = ([cell for n, cell in enumerate(_comparison_row(row)) if n in kept] for row in shown)
    texts.append(table([head[n] for n in kept], cells, [localized(row.reason) for row in shown]))
    texts.append(left_out(len(rows) - len(shown)))
    hidden = len(here) - len(rows)
    if hidden:
        message = "not shown, as they agree or were not compared: {:,} (--all)\n"
        texts.append(localized(message, hidden))
    texts.append("\n")
    texts.append(_counts(result.rows))
    texts.append(_lines(outcome(result)))
    texts.append(_lines(map(localized, not_seen if result.covered else ())))
    return "".join(texts)


_TYPE, _WIDE = 3, 100
"""The column that a narrow terminal does without."""


def verdict(name: str) -> str:
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
        ", ".join("{:,} {}".format(count, verdict(name)) for count, name in counts if count)
    )


def _compared(result: Any) -> str:
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
        lines += [*matrix(result).splitlines(), ""]
        lines.append(localized("below: {}", place(result.where)))
    lines += [localized("not compared: {}", text) for text in result.left_out]
    return "".join("{}\n".format(printable(line)) for line in lines) + ("\n" if lines else "")


def matrix(result: Any) -> str:
    """A line for each step and model, a column for each device."""
    devices = list(dict.fromkeys(part.where.device for part in result.parts))
    lines: Dict[Tuple[Any, Any], Dict[Any, Any]] = {}
    for part in result.parts:
        lines.setdefault((part.where.step, part.where.model), {})[part.where.device] = part
    models = len({model for _, model in lines}) > 1
    head = [phrase("step"), *([phrase("model")] if models else [])]
    head += [phrase("device {}", or_unknown(device)) for device in devices]
    return table(
        head,
        (
            [
                or_unknown(step),
                *([or_unknown(model)] if models else []),
                *(_cell(found.get(device)) for device in devices),
            ]
            for (step, model), found in lines.items()
        ),
    )


def _cell(part: Any) -> str:
    if part is None:
        return "-"
    if part.inputs_differ:
        return localized("inputs differ")
    count = part.counts.get("diverges", 0)
    return localized("diverges ({:,})", count) if count else verdict(part.verdict)


def _lines(texts: Iterable[str]) -> str:
    return "".join("{}\n".format(printable(text)) for text in texts)


def _comparison_row(row: Any) -> Tuple[str, ...]:
    numbers: List[str] = [""] * 3
    if row.metrics is not None:
        found = row.metrics
        numbers = [_six(found.cosine), "-", "-"]
        if not found.boolean:  # which are no numbers that have a distance
            small = map("{:.3g}".format, (found.relative_euclidean, found.max_absolute))
            numbers[1:] = ("NaN" if text == "nan" else text for text in small)
    return (
        str(row.index),
        verdict(row.verdict),
        row.tensor_index,
        row.op_type,
        row.reference,
        *numbers,
    )


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
        (
            phrase("run"),
            phrase("device"),
            phrase("model"),
            phrase("id"),
            phrase("step"),
            phrase("operators"),
            phrase("files"),
            phrase("size"),
        ),
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
        (
            phrase("device"),
            phrase("step"),
            phrase("operator"),
            phrase("type"),
            phrase("inputs"),
            phrase("outputs"),
            phrase("size"),
            phrase("remark"),
        ),
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


_KINDS = {"statistics": phrase("statistics"), "overflow": phrase("overflow")}


def _remark(entry: Dict[str, Any]) -> str:
    kind = _KINDS.get(entry["kind"], entry["kind"])
    remarks = [] if entry["kind"] == "tensor" else [localized(kind)]
    if entry["hashed"]:
        remarks.append(localized(phrase("named by hash")))
    if entry["thread"] is not None:
        remarks.append(localized("thread {}", entry["thread"]))
    if not entry["whole"]:
        remarks.append(localized(phrase("not whole")))
    return join(", ", remarks)


def others(files: Any) -> str:
    """Files that are not dumps, and dumps that are named and not there."""
    lines = ["{}: {}".format(stray.path, stray.reason) for stray in files.strays[:5]]
    if len(files.strays) > 5:
        lines.append(localized("and {:,} more that are no dumps", len(files.strays) - 5))
    lines += [
        localized("{}: listed in mapping.csv, but the file does not exist", each)
        for each in files.missing[:5]
    ]
    if len(files.missing) > 5:
        lines.append(localized("and {:,} more that do not exist", len(files.missing) - 5))
    return "".join("{}\n".format(line) for line in ["", *lines]) if lines else ""


def results(result: Any, threshold: float, limit: int) -> str:
    from npu_config.dumps.result import first_sentences

    if not result.judged:
        return "{}\n".format(localized("no row has a cosine similarity: nothing was compared"))
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
    heads = (
        phrase("line"),
        phrase("operator"),
        phrase("ground truth"),
        phrase("tensor"),
        phrase("cosine"),
    )
    count = localized(
        "rows with a cosine similarity of {2:g} or less: {0:,} of {1:,}\n",
        len(bad),
        len(result.rows),
        threshold,
    )
    shown = (table(heads, rows) if bad else "") + left_out(len(bad) - len(rows))
    return shown + count + _lines(first_sentences(result.first_diverging))
