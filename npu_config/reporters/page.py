"""What reports as one page share: a page needs nothing else.

Everything that comes from files is escaped; the page loads nothing.
"""

import html
from typing import Iterable, Sequence, Tuple

from npu_config.core.message import language

_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:110em;padding:0 1em;
color:#1b1f24;background:#fff}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}
table{border-collapse:collapse;font-size:12px}
th,td{padding:.25em .6em;border-bottom:1px solid #d8dee4;text-align:left;white-space:nowrap}
th{background:#f6f8fa}
.sort th{cursor:pointer}
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
_SORTING = """
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


def escaped(value: object) -> str:
    """Anything as text of a page."""
    return html.escape(str(value), quote=True)


def page(title: str, parts: Sequence[str], style: str = "", script: str = _SORTING) -> str:
    """A whole page.

    Args:
        title: of it.
        parts: of its body.
        style: more rules of its look.
        script: in place of the one that sorts tables; "": none.
    """
    spoken = "zh" if language() == "zh" else "en"
    return (
        '<!DOCTYPE html>\n<html lang="{}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        "<title>{}</title><style>{}</style></head><body>\n{}\n{}</body></html>\n"
    ).format(
        spoken,
        escaped(title),
        _STYLE + style,
        "\n".join(parts),
        script and "<script>{}</script>".format(script),
    )


_FOLDED = "<details{}><summary>{}</summary>{}</details>"


def folded(head: str, body: str, is_open: bool) -> str:
    """A part of a page that can be folded up.

    Args:
        head: its text.
        body: markup.
        is_open: at first.
    """
    return _FOLDED.format(" open" if is_open else "", escaped(head), body)


def sortable(head: Sequence[str], rows: Iterable[Tuple[str, Sequence[str]]]) -> str:
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
