"""Text for people: place, severity, message; the source line with the span underlined; help."""

import unicodedata
from typing import Dict, List, Mapping, Optional

from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.reporters._summary import Summary

MAX_WIDTH = 120
_FAR = 2 * MAX_WIDTH
_TAB = "    "
_COLORS = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.INFO: "\x1b[1;36m",
}
_BOLD, _DIM, _GREEN, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[0m"


def render(
    report: Report,
    summary: Summary,
    sources: Optional[Mapping[Optional[str], str]] = None,
    color: bool = False,
) -> str:
    """The whole report.

    Args:
        report: the findings.
        summary: the numbers of the last line.
        sources: path to text, for the lines that are shown.
        color: use the colours of a terminal.
    """
    lines_of: Dict[Optional[str], List[str]] = {}
    parts: List[str] = []
    for diagnostic in report:
        if diagnostic.path not in lines_of:
            text = (sources or {}).get(diagnostic.path)
            lines_of[diagnostic.path] = [] if text is None else text.split("\n")
        parts.append(_finding(diagnostic, lines_of[diagnostic.path], color))
    parts.append("{}\n".format(summary))
    return "\n".join(parts)


def _paint(text: str, code: str, color: bool) -> str:
    return code + text + _RESET if color else text


def _finding(diagnostic: Diagnostic, lines: List[str], color: bool) -> str:
    where = [diagnostic.path, diagnostic.line, diagnostic.column]
    head = ":".join(str(part) for part in where if part is not None)
    severity = _paint(diagnostic.severity.value, _COLORS[diagnostic.severity], color)
    text = "{}{}: {} {}\n".format(
        _paint(printable(head) + ": ", _BOLD, color) if head else "",
        severity,
        printable(diagnostic.message),
        _paint("[{} {}]".format(diagnostic.rule, diagnostic.name), _DIM, color),
    )
    line = diagnostic.line
    if line is not None and 0 < line <= len(lines):
        text += _excerpt(diagnostic, lines[line - 1], color)
    if diagnostic.help is not None:
        text += "    {} {}\n".format(_paint("help:", _GREEN, color), printable(diagnostic.help))
    return text


def _excerpt(diagnostic: Diagnostic, line: str, color: bool) -> str:
    """The line with its number, and a second one that underlines the span."""
    start = (diagnostic.column or 1) - 1
    end = len(line.rstrip("\r"))
    if diagnostic.end_line == diagnostic.line and diagnostic.end_column is not None:
        end = diagnostic.end_column - 1
    elif diagnostic.end_line is None:
        end = start + 1
    before = _cut_left(shown(line[max(start - _FAR, 0) : start]), MAX_WIDTH // 2)
    marked = _cut_right(shown(line[start : min(end, start + _FAR)]), MAX_WIDTH - width(before))
    room = max(MAX_WIDTH - width(before) - width(marked), 1)
    after = _cut_right(shown(line[end : end + _FAR].rstrip("\r")), room)
    number = str(diagnostic.line)
    gutter = " " * len(number)
    underline = " " * width(before) + "^" + "~" * (width(marked) - 1)
    bar = _paint("|", _DIM, color)
    return "    {} {} {}\n    {} {} {}\n".format(
        _paint(number, _DIM, color),
        bar,
        (before + marked + after).rstrip(),
        gutter,
        bar,
        _paint(underline, _COLORS[diagnostic.severity], color),
    )


def shown(text: str) -> str:
    """A piece of a line as it can be printed: tabs widened, control characters replaced."""
    text = text.replace("\t", _TAB).replace("\ufeff", "")
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def printable(text: str) -> str:
    """Text on one line, safe for any terminal."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode()
        for c in text
    )


def width(text: str) -> int:
    """The columns that a printable text takes on a terminal."""
    columns = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
            continue
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


def _cut_left(text: str, limit: int) -> str:
    if width(text) <= limit:
        return text
    kept = text[-limit:]
    while width(kept) > limit - 3:
        kept = kept[1:]
    return "..." + kept


def _cut_right(text: str, limit: int) -> str:
    if width(text) <= limit:
        return text
    kept = text[:limit]
    while kept and width(kept) > limit - 3:
        kept = kept[:-1]
    return kept + "..."
