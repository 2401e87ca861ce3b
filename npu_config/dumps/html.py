"""Reports as one page that needs nothing else: tables that sort, charts as inline SVG.

Everything that comes from files is escaped; the page loads nothing.
"""

import html
import math
from typing import Iterable, List, Sequence, Tuple

from npu_config.dumps.compare import Comparison, Row
from npu_config.dumps.overflow import Overflow, OverflowReport
from npu_config.dumps.result import METRICS, cells
from npu_config.dumps.verdicts import DIVERGES, IGNORED

_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:110em;padding:0 1em;
color:#1b1f24;background:#fff}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
table{border-collapse:collapse;font-size:12px}
th,td{padding:.25em .6em;border-bottom:1px solid #d8dee4;text-align:left;white-space:nowrap}
th{position:sticky;top:0;background:#f6f8fa;cursor:pointer}
td.n{text-align:right;font-variant-numeric:tabular-nums}
tr.diverges td{background:#ffebe9}tr.none td{color:#6e7781}
.first{padding:.6em 1em;background:#ffebe9;border-left:4px solid #cf222e}
.fine{padding:.6em 1em;background:#dafbe1;border-left:4px solid #1a7f37}
code{font-family:ui-monospace,monospace}
.wide{overflow-x:auto}
@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}
th{background:#161b22}th,td{border-color:#30363d}tr.diverges td,.first{background:#3c1618}
.fine{background:#12261e}tr.none td{color:#8b949e}}
"""
_SCRIPT = """
document.querySelectorAll("table.sort").forEach(function(table){
var body=table.tBodies[0],way=1;
Array.prototype.forEach.call(table.tHead.rows[0].cells,function(head,column){
head.onclick=function(){way=-way;
var rows=Array.prototype.slice.call(body.rows);
rows.sort(function(a,b){
var x=a.cells[column].textContent,y=b.cells[column].textContent,p=parseFloat(x),q=parseFloat(y);
if(isNaN(p)&&isNaN(q))return way*x.localeCompare(y);
if(isNaN(p))return 1;if(isNaN(q))return -1;return way*(p-q);});
rows.forEach(function(row){body.appendChild(row);});};});});
"""
_WIDTH, _HEIGHT = 1000, 220
_SHOWN = ("minimum", "maximum", "mean", "zeros", "nan", "infinite", "at_limit")


def comparison_page(comparison: Comparison, title: str) -> str:
    """The page of a comparison.

    Args:
        comparison: the result.
        title: what was compared.
    """
    first = comparison.first_diverging
    if first is not None:
        way = " &rarr; ".join("<code>{}</code>".format(_text(n)) for n in comparison.path_to_it)
        made = ""
        if comparison.passes:
            made = "<p>Made by the fusion passes {}.</p>".format(
                _text(", ".join(comparison.passes))
            )
        verdict = (
            '<div class="first"><p>First operator whose inputs agree and whose outputs do not: '
            "<strong><code>{}</code></strong></p><p>The way to it: {}</p>{}</div>"
        ).format(_text(first), way, made)
    elif comparison.ok:
        verdict = '<p class="fine">Everything that was compared agrees.</p>'
    else:
        verdict = (
            '<p class="first">No operator has inputs that agree and outputs that do not; '
            "what diverges is in the table.</p>"
        )
    head = ("#", "Tensor", "Type", "Data type", "Reference", "Shape", "Verdict", *METRICS)
    parts = [
        "<h1>{}</h1>".format(_text(title)),
        verdict,
        "<h2>Cosine similarity in the order of execution</h2>",
        _chart(comparison),
        "<h2>Every tensor</h2>",
        _table((*head, "Remark"), (_row(row) for row in comparison.rows)),
        _notes([diagnostic.message for diagnostic in comparison.diagnostics]),
    ]
    return _page(title, parts)


def overflow_page(report: OverflowReport, title: str) -> str:
    """The page of the overflows of a job.

    Args:
        report: what was found.
        title: where.
    """
    parts = ["<h1>{}</h1>".format(_text(title))]
    if not report.overflows:
        parts.append('<p class="fine">No overflow was recorded.</p>')
    for number, overflow in enumerate(report.overflows, 1):
        parts.append(_overflow(number, overflow))
    if report.mixlist:
        parts.append(
            "<h2>Operator types to keep in float32</h2><p>{}</p>".format(
                _text(", ".join(report.mixlist))
            )
        )
    parts.append(_notes([diagnostic.message for diagnostic in report.diagnostics]))
    return _page(title, parts)


def _text(value: object) -> str:
    return html.escape(str(value), quote=True)


def _page(title: str, parts: Sequence[str]) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        "<title>{}</title><style>{}</style></head><body>\n{}\n<script>{}</script>"
        "</body></html>\n"
    ).format(_text(title), _STYLE, "\n".join(parts), _SCRIPT)


def _table(head: Sequence[str], rows: Iterable[Tuple[str, Sequence[str]]]) -> str:
    """A table of rows with a class; cells that are numbers are set to the right."""
    lines = ['<div class="wide"><table class="sort"><thead><tr>']
    lines += ["<th>{}</th>".format(_text(name)) for name in head]
    lines.append("</tr></thead><tbody>")
    for kind, row in rows:
        lines.append('<tr class="{}">'.format(kind) if kind else "<tr>")
        lines += [
            "<td{}>{}</td>".format(' class="n"' if _is_number(cell) else "", _text(cell))
            for cell in row
        ]
        lines.append("</tr>")
    lines.append("</tbody></table></div>")
    return "".join(lines)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _row(row: Row) -> Tuple[str, Sequence[str]]:
    kind = "diverges" if row.verdict == DIVERGES else "none" if row.metrics is None else ""
    numbers = cells(row.metrics)
    return kind, (
        str(row.index),
        row.tensor_index,
        row.op_type,
        row.data_type,
        row.reference,
        "x".join(map(str, row.shape)),
        row.verdict,
        *(numbers[name] for name in METRICS),
        row.reason,
    )


def _chart(comparison: Comparison) -> str:
    """The cosine of every output as points; the threshold as a line."""
    points = [
        (row, row.metrics.cosine)
        for row in comparison.rows
        if row.side == "output" and row.metrics is not None and row.verdict != IGNORED
    ]
    points = [(row, cosine) for row, cosine in points if not math.isnan(cosine)]
    if not points:
        return "<p>No output has a cosine similarity.</p>"
    lowest = min(comparison.threshold, *(cosine for _, cosine in points))
    low = max(-1.0, lowest - 0.05 * (1 - lowest) - 1e-9)
    last = max(row.index for row, _ in points) or 1

    def across(index: int) -> float:
        return 50 + (_WIDTH - 70) * index / last

    def down(value: float) -> float:
        return 10 + (_HEIGHT - 40) * (1 - value) / (1 - low)

    lines: List[str] = [
        '<svg viewBox="0 0 {} {}" role="img" aria-label="cosine similarity" '
        'style="max-width:100%;font:11px sans-serif">'.format(_WIDTH, _HEIGHT)
    ]
    for value, name in ((1.0, "1"), (comparison.threshold, "{:g}".format(comparison.threshold))):
        lines.append(
            '<line x1="50" x2="{0}" y1="{1:.1f}" y2="{1:.1f}" stroke="#8b949e" '
            'stroke-dasharray="4 4"/><text x="44" y="{2:.1f}" text-anchor="end" '
            'fill="#8b949e">{3}</text>'.format(
                _WIDTH - 20, down(value), down(value) + 4, _text(name)
            )
        )
    line = " ".join(
        "{:.1f},{:.1f}".format(across(row.index), down(cosine)) for row, cosine in points
    )
    lines.append('<polyline points="{}" fill="none" stroke="#0969da"/>'.format(line))
    for row, cosine in points:
        color = "#cf222e" if row.verdict == DIVERGES else "#0969da"
        lines.append(
            '<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"><title>{}: {:.6f}</title>'
            "</circle>".format(
                across(row.index),
                down(cosine),
                5 if row.op_name == comparison.first_diverging else 2.5,
                color,
                _text(row.tensor_index),
                cosine,
            )
        )
    lines.append(
        '<text x="{}" y="{}" text-anchor="middle" fill="#8b949e">operators in the order of '
        "execution</text></svg>".format(_WIDTH // 2, _HEIGHT - 8)
    )
    return "".join(lines)


def _overflow(number: int, overflow: Overflow) -> str:
    name = overflow.op_name or "task {} of stream {}".format(overflow.task, overflow.stream)
    words = "".join(
        "<li>{}: {}{}</li>".format(
            _text(unit.unit), _text(text), "" if sure else " <em>(uncertain)</em>"
        )
        for unit in overflow.units
        for text, sure in unit.words
    )
    origin = overflow.origin
    if overflow.came_in_with:
        origin += " with input {}".format(", ".join(map(str, overflow.came_in_with)))
    rows = []
    for each in overflow.tensors:
        numbers = each.statistics
        values = [""] * len(_SHOWN)
        if numbers is not None:
            values = ["{:g}".format(getattr(numbers, name)) for name in _SHOWN[:3]]
            values += [str(getattr(numbers, name)) for name in _SHOWN[3:]]
        tensor = "{} {}".format(each.side, each.number)
        row = [tensor, each.data_type, "x".join(map(str, each.shape)), *values, each.reason]
        rows.append(("" if numbers is None or numbers.is_clean else "diverges", row))
    head = "Tensor,Data type,Shape,Minimum,Maximum,Mean,Zeros,NaN,Infinite,At the limit,Remark"
    return (
        "<h2>{}. <code>{}</code></h2><p>{}, step {}, device {}: {}</p><ul>{}</ul>{}"
        "<p>What follows:</p><ul>{}</ul>"
    ).format(
        number,
        _text(name),
        _text(overflow.op_type or "unknown type"),
        _text("?" if overflow.step is None else overflow.step),
        _text("?" if overflow.device is None else overflow.device),
        _text(origin),
        words,
        _table(head.split(","), rows) if rows else "",
        "".join("<li>{}</li>".format(_text(text)) for text in overflow.advice),
    )


def _notes(texts: Sequence[str]) -> str:
    if not texts:
        return ""
    items = "".join("<li>{}</li>".format(_text(text)) for text in texts)
    return "<h2>Remarks</h2><ul>{}</ul>".format(items)
