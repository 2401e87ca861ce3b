"""The report as one page that needs nothing else: the cause, the ranks along a line of time."""

import html
from typing import Callable, List, Sequence

from npu_config.core.message import language, localized
from npu_config.logs.report import LogReport, RankState, shown_time
from npu_config.logs.text import PAGE_TITLE, TIMELINE_TITLE, text_report

__all__ = ["page"]

_STYLE = """
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;
color:#1b1f24;background:#fff}
h1{font-size:1.4em}h2{font-size:1.1em}
pre{background:#f6f8fa;padding:1em;overflow-x:auto;white-space:pre-wrap}
svg{width:100%;height:auto;font:12px system-ui,sans-serif}
svg text{fill:currentColor}
.axis{stroke:#8b949e}.row{stroke:#d0d7de;stroke-width:6}.other{fill:#bf8700}.own{fill:#cf222e}
.end{fill:#57606a}
@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}pre{background:#161b22}
.row{stroke:#30363d}}
"""
_PAGE = """<!DOCTYPE html>
<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>
<style>{style}</style></head><body>
<h1>{title}</h1>
{timeline}
<pre>{text}</pre>
</body></html>
"""
_ENDS = '<text x="{}" y="16">{}</text><text x="{}" y="16" text-anchor="end">{}</text>'
_AXIS = '<line class="axis" x1="{0}" y1="22" x2="{1}" y2="22"/>'
_NAME = '<text x="0" y="{}">{}</text>'
_LINE = '<line class="row" x1="{}" y1="{y}" x2="{:.1f}" y2="{y}"/>'
_DOT = '<circle class="{}" cx="{:.1f}" cy="{}" r="6"><title>{}</title></circle>'
_DRAWING = '<h2>{}</h2><svg viewBox="0 0 {} {}" role="img">{}</svg>'
_WIDTH, _LEFT, _ROW, _TOP = 1000, 150, 24, 30


def page(report: LogReport, text: Callable[[str], str] = str) -> str:
    """The page.

    Args:
        report: what was found.
        text: is applied to every text of the logs: it takes names out.
    """
    return _PAGE.format(
        language=language(),
        title=_escaped(localized(PAGE_TITLE)),
        style=_STYLE,
        timeline=_timeline(report.ranks, text),
        text=_escaped(text(text_report(report, everything=True))),
    )


def _escaped(text: str) -> str:
    return html.escape(text)


def _timeline(states: Sequence[RankState], text: Callable[[str], str]) -> str:
    times = [state.last_time for state in states if state.last_time is not None]
    times += [
        state.first_error.time
        for state in states
        if state.first_error is not None and state.first_error.time is not None
    ]
    if len(states) < 2 or not times:
        return ""
    start, end = min(times), max(times)
    span = max(end - start, 1.0)
    height = _TOP + _ROW * len(states) + 20

    def x(time: float) -> float:
        return _LEFT + (time - start) / span * (_WIDTH - _LEFT - 40)

    parts: List[str] = [
        _ENDS.format(_LEFT, shown_time(start), _WIDTH, shown_time(end)),
        _AXIS.format(_LEFT, _WIDTH - 40),
    ]
    earliest = min(
        (s.first_error.time for s in states if s.first_error and s.first_error.time), default=None
    )
    for number, state in enumerate(states):
        y = _TOP + _ROW * number + 10
        name = (
            localized("rank {}", state.rank) if state.rank is not None else text(state.file)[-24:]
        )
        parts.append(_NAME.format(y + 4, _escaped(name)))
        if state.last_time is not None:
            parts.append(_LINE.format(_LEFT, x(state.last_time), y=y))
        error = state.first_error
        if error is not None and error.time is not None:
            title = "{} {}".format(
                error.code or error.pattern or error.class_, shown_time(error.time)
            )
            kind = "own" if error.time == earliest else "other"
            parts.append(_DOT.format(kind, x(error.time), y, _escaped(title)))
    return _DRAWING.format(_escaped(localized(TIMELINE_TITLE)), _WIDTH, height, "".join(parts))
