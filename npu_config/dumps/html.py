"""Reports as one page that needs nothing else, and what such pages share.

Everything that comes from files is escaped; the page loads nothing.
"""

import html
from typing import Iterable, Sequence, Tuple

from npu_config.core.message import language
from npu_config.dumps.overflow import Overflow, OverflowReport

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
_SHOWN = ("minimum", "maximum", "mean", "zeros", "nan", "infinite", "at_limit")


def overflow_page(report: OverflowReport, title: str) -> str:
    """The page of the overflows of a job.

    Args:
        report: what was found.
        title: where.
    """
    parts = ["<h1>{}</h1>".format(escaped(title))]
    if not report.overflows:
        parts.append('<p class="fine">No overflow was recorded.</p>')
    for number, overflow in enumerate(report.overflows, 1):
        parts.append(_overflow(number, overflow))
    if report.mixlist:
        parts.append(
            "<h2>Operator types to keep in float32</h2><p>{}</p>".format(
                escaped(", ".join(report.mixlist))
            )
        )
    parts.append(_notes([diagnostic.message for diagnostic in report.diagnostics]))
    return page(title, parts)


def escaped(value: object) -> str:
    """Anything as text of a page."""
    return html.escape(str(value), quote=True)


def page(title: str, parts: Sequence[str], style: str = "", script: str = "") -> str:
    """A whole page.

    Args:
        title: of it.
        parts: of its body.
        style: more rules of its look.
        script: in place of the one that sorts tables.
    """
    spoken = "zh" if language() == "zh" else "en"
    return (
        '<!DOCTYPE html>\n<html lang="{}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        "<title>{}</title><style>{}</style></head><body>\n{}\n<script>{}</script>"
        "</body></html>\n"
    ).format(spoken, escaped(title), _STYLE + style, "\n".join(parts), script or _SCRIPT)


def _table(head: Sequence[str], rows: Iterable[Tuple[str, Sequence[str]]]) -> str:
    """A table of rows with a class; cells that are numbers are set to the right."""
    lines = ['<div class="wide"><table class="sort"><thead><tr>']
    lines += ["<th>{}</th>".format(escaped(name)) for name in head]
    lines.append("</tr></thead><tbody>")
    for kind, row in rows:
        lines.append('<tr class="{}">'.format(kind) if kind else "<tr>")
        lines += [
            "<td{}>{}</td>".format(' class="n"' if _is_number(cell) else "", escaped(cell))
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


def _overflow(number: int, overflow: Overflow) -> str:
    name = overflow.op_name or "task {} of stream {}".format(overflow.task, overflow.stream)
    words = "".join(
        "<li>{}: {}{}</li>".format(
            escaped(unit.unit), escaped(text), "" if sure else " <em>(uncertain)</em>"
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
        escaped(name),
        escaped(overflow.op_type or "unknown type"),
        escaped("?" if overflow.step is None else overflow.step),
        escaped("?" if overflow.device is None else overflow.device),
        escaped(origin),
        words,
        _table(head.split(","), rows) if rows else "",
        "".join("<li>{}</li>".format(escaped(text)) for text in overflow.advice),
    )


def _notes(texts: Sequence[str]) -> str:
    if not texts:
        return ""
    items = "".join("<li>{}</li>".format(escaped(text)) for text in texts)
    return "<h2>Remarks</h2><ul>{}</ul>".format(items)
