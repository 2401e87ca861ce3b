"""The page of a comparison: one file that loads nothing, with tables of any length.

What is said first (verdict, counts, what was compared, the matrix) is in the page as text.  The
rows are data, each text once; ``comparison.js`` draws those that are seen.  Everything that
comes from files is escaped.
"""

import json
import math
import pkgutil
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from npu_config.core.message import listed, localized, phrase
from npu_config.core.version import __version__
from npu_config.dumps.compare import Comparison, Part, Row
from npu_config.dumps.result import METRIC_FIELDS, gaps, outcome
from npu_config.dumps.tree import Folder, place
from npu_config.dumps.verdicts import AGREES, DIVERGES, IGNORED, NOT_COMPARED, place_of
from npu_config.reporters.page import escaped, folded, page

_VERDICTS = (AGREES, DIVERGES, NOT_COMPARED, IGNORED)
_BOX = (
    '<div id="box" tabindex="0"><table id="table"><colgroup id="widths"></colgroup>'
    '<thead><tr id="head"></tr></thead><tbody id="rows"></tbody></table></div>'
    '<div id="detail"></div>'
)
_STYLE = """
body{margin:1em auto}
#box{height:60vh;overflow:auto;border:1px solid #d8dee4;position:relative}
#box table{table-layout:fixed;border-collapse:separate;border-spacing:0}
#box td,#box th{overflow:hidden;text-overflow:ellipsis;height:24px;padding:0 .5em;
box-sizing:border-box;line-height:23px}
#box td.name{direction:rtl;text-align:left}
#box th{position:sticky;top:0;z-index:1;cursor:pointer}
#box th:after{content:attr(data-way);margin-left:.4em}
#box tr.blank td{border:0}
#box tbody tr{cursor:pointer}
#box tr.selected td{background:#cfe4ff}
.bar{display:flex;flex-wrap:wrap;gap:.4em .8em;align-items:center;margin:.6em 0}
.bar select,.bar input{max-width:100%}
.bar #part{max-width:24em}
.first p,.fine p{margin:.2em 0;overflow-wrap:anywhere}
.matrix{overflow-x:auto;max-height:40vh;overflow-y:auto}
.matrix button{font:inherit;padding:0;border:0;background:none;color:inherit;cursor:pointer;
text-decoration:underline}
.matrix .diverges{background:#ffebe9}
#chart{display:block;width:100%;height:110px;font:11px sans-serif}
#chart circle{cursor:pointer}
#detail{position:sticky;bottom:0;z-index:2;max-height:45vh;overflow:auto;background:#fff;
border-top:2px solid #0969da;padding:.2em .5em;font-size:12px}
#detail:empty{display:none}
#detail h2{margin:.3em 0;font-size:1.1em;overflow-wrap:anywhere}#detail h3{margin:.6em 0 0}
#detail button{float:right}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(20em,1fr));gap:0 1em;margin:.3em 0}
dt,dd{display:inline;margin:0}dt{color:#6e7781}dd{overflow-wrap:anywhere;margin-left:.5em}
svg text{fill:#6e7781}
@media (prefers-color-scheme:dark){#box{border-color:#30363d}.matrix .diverges{background:#3c1618}
#detail{background:#0d1117}#box tr.selected td{background:#1f3a5f}
input,select{color:inherit;background:#161b22}}
"""


def comparison_page(comparison: Comparison, title: str) -> str:
    """The page of a comparison.

    Args:
        comparison: the result.
        title: what was compared.
    """
    script = (pkgutil.get_data(__name__, "comparison.js") or b"").decode("utf-8")
    data = json.dumps(_data(comparison), separators=(",", ":"))
    parts = [
        "<h1>{}</h1>".format(escaped(title)),
        _outcome(comparison),
        _facts(comparison),
        _matrix(comparison),
        _list(localized("Not compared"), comparison.left_out),
        _controls(comparison),
        '<svg id="chart" role="img" aria-label="{}"><polyline points="" fill="none"></polyline>'
        "</svg>".format(escaped(localized("chart"))),
        _BOX,
        _list(localized("Remarks"), [found.message for found in comparison.diagnostics]),
        "<noscript><p>{}</p></noscript>".format(
            escaped(localized("the table needs JavaScript; --csv and --json contain every row"))
        ),
        '<script id="data" type="application/json">{}</script>'.format(_harmless(data)),
    ]
    return page(title, parts, _STYLE, script)


def _harmless(data: str) -> str:
    """JSON that no browser takes for markup."""
    return data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _outcome(comparison: Comparison) -> str:
    """What it comes to, as text."""
    kind = "fine" if comparison.ok else "first"
    lines = [*outcome(comparison), *map(localized, gaps(comparison))]
    return '<div class="{}">{}</div>'.format(
        kind, "".join("<p>{}</p>".format(escaped(line)) for line in lines)
    )


def _facts(comparison: Comparison) -> str:
    """Counts, what was compared, limits and version."""
    rows = comparison.rows
    counts = [(sum(row.verdict == name for row in rows), name) for name in _VERDICTS]
    bounds = comparison.bounds
    distance = phrase(
        "largest relative difference: depends on the data type and the kind of tensor"
    )
    if bounds.relative is not None:
        distance = phrase("largest relative difference: {:g}", bounds.relative)
    limits = [phrase("limits: cosine {:g}", comparison.threshold), distance]
    if bounds.absolute is not None:
        limits.append(phrase("max abs {:g}", bounds.absolute))
    lines = [
        localized(listed(phrase("{:,} {}", n, phrase(name)) for n, name in counts if n)),
        _what(comparison.parts),
        localized(listed(limits)),
        " ".join(("npu_config", __version__)),
    ]
    return "<ul>{}</ul>".format(
        "".join("<li>{}</li>".format(escaped(line)) for line in lines if line)
    )


def _what(parts: Sequence[Part]) -> str:
    """Every step, device, model and run that was compared."""
    found = [
        phrase(words, _few(getattr(part.where, name) for part in parts))
        for words, name in (
            (phrase("step {}"), "step"),
            (phrase("device {}"), "device"),
            (phrase("model {}"), "model"),
            (phrase("run {}"), "run"),
        )
        if any(getattr(part.where, name) is not None for part in parts)
    ]
    return localized(phrase("compared: {}", listed(found))) if found else ""


def _few(values: Iterable[object]) -> str:
    """Each once; of many the first and the last."""
    texts = [str(value) for value in dict.fromkeys(values) if value is not None]
    if len(texts) > _MOST:
        texts = [*texts[: _MOST - 3], "...", *texts[-2:]]
    return ", ".join(texts)


_MOST = 12


def _matrix(comparison: Comparison) -> str:
    """A line for each step and model, a column for each device; a click chooses one."""
    devices = list(dict.fromkeys(part.where.device for part in comparison.parts))
    lines: Dict[Tuple[Any, Any], Dict[Any, Tuple[int, Part]]] = {}
    for number, part in enumerate(comparison.parts):
        key = (part.where.step, part.where.model)
        lines.setdefault(key, {})[part.where.device] = (number, part)
    models = len({model for _, model in lines}) > 1
    html = ['<div class="matrix"><table><thead><tr>']
    heads = [localized("step"), *([localized("model")] if models else [])]
    heads += [localized("device {}", _or_dash(device)) for device in devices]
    html += ["<th>{}</th>".format(escaped(head)) for head in heads]
    html.append("</tr></thead><tbody>")
    for (step, model), found in lines.items():
        heads_of = (step, model) if models else (step,)
        html.append("<tr>")
        html += ["<td>{}</td>".format(escaped(_or_dash(each))) for each in heads_of]
        html += [_cell(found.get(device)) for device in devices]
        html.append("</tr>")
    html.append("</tbody></table></div>")
    return "".join(html)


def _or_dash(value: Optional[object]) -> str:
    return "-" if value is None else str(value)


def _cell(found: Optional[Tuple[int, Part]]) -> str:
    if found is None:
        return "<td>-</td>"
    number, part = found
    words, count = localized(part.verdict), part.counts.get(DIVERGES, 0)
    if part.inputs_differ:
        words = localized("inputs differ")
    elif count:
        words = localized("diverges ({:,})", count)
    return '<td class="{}"><button data-part="{}">{}</button></td>'.format(
        "diverges" if count else "", number, escaped(words)
    )


def _controls(comparison: Comparison) -> str:
    """Search, filters, and the metric of the chart."""
    options = "".join(
        '<option value="{}">{}</option>'.format(number, escaped(place(part.where)))
        for number, part in enumerate(comparison.parts)
    )
    metrics = "".join(
        '<option value="{}"{}>{}</option>'.format(
            number, " selected" if name == _CHARTED else "", name
        )
        for number, name in enumerate(_NUMBERS)
    )
    keys = localized(
        "keys: / search; d only diverging rows; n, p next and previous diverging row; "
        "arrow keys next and previous row"
    )
    return (
        '<div class="bar"><input id="search" type="search" placeholder="{}"/>'
        '<label><input id="only" type="checkbox"/> {}</label>'
        '<select id="part"><option value="">{}</option>{}</select>'
        '<label>{} <select id="metric">{}</select></label>'
        '<span id="count"></span></div><p><small>{}</small></p>'
    ).format(
        escaped(localized("search")),
        escaped(localized("diverging only")),
        escaped(localized("every step and device")),
        options,
        escaped(localized("chart")),
        metrics,
        escaped(keys),
    )


def _list(head: str, lines: Any) -> str:
    if not lines:
        return ""
    items = "".join("<li>{}</li>".format(escaped(localized(line))) for line in lines)
    title = "{}: {:,}".format(head, len(lines))
    return folded(title, "<ul>{}</ul>".format(items), len(lines) <= _OPEN)


_OPEN = 5
_NUMBERS = {name: field for name, field in METRIC_FIELDS.items() if field}
_CHARTED = "RelativeEuclideanDistance"
_LEADING = ("CosineSimilarity", _CHARTED, "MaxAbsoluteError")
"""What is seen first of the numbers, as in the terminal."""


class _Strings:
    """Each text once, and its number."""

    def __init__(self) -> None:
        self._numbers: Dict[str, int] = {}

    def number(self, content: str) -> int:
        """Of a text."""
        return self._numbers.setdefault(content, len(self._numbers))

    def all(self) -> List[str]:
        """In the order of their numbers."""
        return list(self._numbers)


def _data(comparison: Comparison) -> Dict[str, Any]:
    strings = _Strings()
    parts = {part.where: number for number, part in enumerate(comparison.parts)}
    rows = [_row(row, parts.get(row.where, 0), strings) for row in comparison.rows]
    models = len({part.where.model for part in comparison.parts}) > 1
    words = {
        "where": " / ".join(
            map(str, map(localized, ("step", "device", "model") if models else ("step", "device")))
        ),
        "tensor": localized("tensor"),
        "type": localized("type"),
        "data": localized("data type"),
        "reference": localized("reference"),
        "shape": localized("shape"),
        "verdict": localized("verdict"),
        "reason": localized("reason"),
        "worst": localized("worst elements"),
        "place": localized("place"),
        "device": localized("device"),
        "close": localized("close"),
        "count": localized("rows: {0} of {1}"),
        "verdicts": [localized(name) for name in _VERDICTS],
    }
    return {
        "words": words,
        "parts": [_short(part.where, models) for part in comparison.parts] or [""],
        "metrics": list(_NUMBERS),
        "leading": _LEADING,
        "strings": strings.all(),
        "rows": rows,
    }


def _short(where: Folder, models: bool) -> str:
    values = (where.step, where.device, *([where.model] if models else []))
    return " / ".join(map(_or_dash, values))


def _row(row: Row, part: int, strings: _Strings) -> List[Any]:
    worst: List[List[str]] = []
    numbers: List[Union[float, str, None]] = [None] * len(_NUMBERS)
    if row.metrics is not None:
        numbers = [_number(getattr(row.metrics, field)) for field in _NUMBERS.values()]
        worst = [
            [
                str(place_of(each.place, row.metrics.elements, row.shape)),
                "{:.7g}".format(each.device),
                "{:.7g}".format(each.reference),
            ]
            for each in row.metrics.worst
        ]
    words = (
        row.tensor_index,
        row.op_type,
        row.data_type,
        row.reference,
        row.reference_type,
        "x".join(map(str, row.shape)),
    )
    return [
        part,
        row.index,
        *(strings.number(word) for word in words),
        _VERDICTS.index(row.verdict),
        strings.number(str(localized(row.reason))),
        worst,
        *numbers,
    ]


def _number(value: float) -> Union[float, str]:
    """Six digits; JSON has no NaN."""
    return float("{:.6g}".format(value)) if math.isfinite(value) else _NAN.get(value, "NaN")


_NAN = {math.inf: "inf", -math.inf: "-inf"}
