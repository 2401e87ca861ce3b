"""The page of the overflows of a job: equal ones together, their trend, and an earlier run.

What it says is what the terminal says, in the reader's language.
"""

from typing import List, Optional, Sequence

from npu_config.core.message import localized, phrase
from npu_config.dumps.html import escaped, folded, page, sortable
from npu_config.dumps.overflow import OverflowReport
from npu_config.dumps.overflow_groups import (
    OverflowGroup,
    RunsCompared,
    by_step,
    grouped,
    looked_at,
    name_of,
    origin_of,
    outcome,
    verdict_on,
)

_SHOWN = ("minimum", "maximum", "mean", "zeros", "nan", "infinite", "at_limit")
_STYLE = """
h2 code,td{overflow-wrap:anywhere}
.first p,.fine p{margin:.2em 0}
ul{margin:.3em 0}details{margin:1em 0}
.bars td{padding:.1em .5em}.bars i{display:inline-block;height:.8em;background:#cf222e}
"""
_BAR, _MOST = 200, 30
_TABLE = '<table class="bars"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>'
_ROW = '<tr><td class="n">{}</td><td class="n">{:,}</td><td><i style="width:{}px"></i></td></tr>'


def overflow_page(
    report: OverflowReport, title: str, path: str, compared: Optional[RunsCompared] = None
) -> str:
    """The page of the overflows of a job.

    Args:
        report: what was found.
        title: where.
        path: of the dump.
        compared: what became of the overflows of an earlier run.
    """
    groups = grouped(report.overflows)
    lines = "".join("<p>{}</p>".format(escaped(line)) for line in outcome(report, path))
    parts = [
        "<h1>{}</h1>".format(escaped(title)),
        '<div class="{}">{}</div>'.format("first" if groups else "", lines),
        _items(looked_at(report)),
        _earlier(compared),
        _steps(report),
        _summary(groups),
    ]
    parts += [_group(number, group) for number, group in enumerate(groups, 1)]
    if report.mixlist:
        head = localized("Operator types to keep in float32")
        types = escaped(", ".join(report.mixlist))
        parts.append("<h2>{}</h2><p>{}</p>".format(escaped(head), types))
    notes = [localized(diagnostic.message) for diagnostic in report.diagnostics]
    if notes:
        parts.append("<h2>{}</h2>{}".format(escaped(localized("Remarks")), _items(notes)))
    return page(title, parts, _STYLE)


def _items(texts: Sequence[str]) -> str:
    items = "".join("<li>{}</li>".format(escaped(text)) for text in texts)
    return "<ul>{}</ul>".format(items) if items else ""


def _earlier(compared: Optional[RunsCompared]) -> str:
    if compared is None:
        return ""
    rows = [
        ("diverges" if members is not compared.gone else "", [localized(words), name_of(group)])
        for words, members in (
            (phrase("left"), compared.left),
            (phrase("new"), compared.new),
            (phrase("gone"), compared.gone),
        )
        for group in members
    ]
    return "<h2>{}</h2><p>{}</p>{}".format(
        escaped(localized("Against the earlier run")),
        escaped(verdict_on(compared)),
        sortable([localized("state"), localized("operator")], rows) if rows else "",
    )


def _steps(report: OverflowReport) -> str:
    counts = by_step(report.overflows)
    if len(counts) < 2:
        return ""
    most = max(counts.values())
    rows = "".join(
        _ROW.format(step, count, max(1, _BAR * count // most)) for step, count in counts.items()
    )
    heads = "".join(
        "<th>{}</th>".format(escaped(localized(name)))
        for name in (phrase("step"), phrase("overflows"), "")
    )
    body = _TABLE.format(heads, rows)
    return folded(localized("Overflows by step"), body, len(counts) <= _MOST)


def _summary(groups: Sequence[OverflowGroup]) -> str:
    if len(groups) < 2:
        return ""
    rows = [
        (
            "",
            [
                str(number),
                name_of(group),
                group.first.op_type or "?",
                str(len(group.members)),
                _few(group.steps),
                _few(group.devices),
                origin_of(group.first),
            ],
        )
        for number, group in enumerate(groups, 1)
    ]
    heads = (
        "#",
        phrase("operator"),
        phrase("type"),
        phrase("overflows"),
        phrase("step"),
        phrase("device"),
        phrase("origin"),
    )
    return sortable([localized(head) for head in heads], rows)


def _few(numbers: Sequence[int]) -> str:
    texts = [str(number) for number in numbers]
    return ", ".join([*texts[:4], "...", *texts[-3:]] if len(texts) > 8 else texts) or "?"


def _group(number: int, group: OverflowGroup) -> str:
    each = group.first
    lines: List[str] = [
        "{}: {}{}".format(unit.unit, localized(text), "" if sure else localized(" (uncertain)"))
        for unit in each.units
        for text, sure in unit.words
    ]
    if len(group.members) > 1:
        lines.insert(0, localized("{:,} equal overflows; the first:", len(group.members)))
    if each.stands_for:
        lines.append(localized("is in the network as {}", ", ".join(each.stands_for)))
    if each.passes:
        lines.append(localized("made by the fusion passes {}", ", ".join(each.passes)))
    rows = []
    for tensor in each.tensors:
        numbers = tensor.statistics
        values = [""] * len(_SHOWN)
        if numbers is not None:
            values = ["{:g}".format(getattr(numbers, name)) for name in _SHOWN[:3]]
            values += [str(getattr(numbers, name)) for name in _SHOWN[3:]]
        name = "{} {}".format(localized(tensor.side), tensor.number)
        shape = "x".join(map(str, tensor.shape))
        row = [name, tensor.data_type, shape, *values, localized(tensor.reason)]
        rows.append(("" if numbers is None or numbers.is_clean else "diverges", row))
    heads = [
        localized(head)
        for head in (
            phrase("tensor"),
            phrase("data type"),
            phrase("shape"),
            phrase("minimum"),
            phrase("maximum"),
            phrase("mean"),
            phrase("zeros"),
            "NaN",
            phrase("infinite"),
            phrase("at the limit"),
            phrase("remark"),
        )
    ]
    where = localized(
        "{}, step {}, device {}: {}",
        each.op_type or localized("unknown type"),
        _few(group.steps),
        _few(group.devices),
        origin_of(each),
    )
    return '<h2 id="o{0}">{0}. <code>{1}</code></h2><p>{2}</p>{3}{4}<p>{5}</p>{6}'.format(
        number,
        escaped(name_of(group)),
        escaped(where),
        _items(lines),
        sortable(heads, rows) if rows else "",
        escaped(localized("What follows:")),
        _items([localized(text) for text in each.advice]),
    )
