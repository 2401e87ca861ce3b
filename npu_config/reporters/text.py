"""Text for people: place, severity, message; the source line with the span underlined; help."""

from typing import Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.core.job_ends import ends_of
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import listed, localized, printable, width
from npu_config.reporters._summary import PLAIN, Style, Summary, notes

_NUMBER = lazy_pattern(r"\d+")
_CODE = lazy_pattern(r"\bE[A-Z0-9]\d{4}\b")

Group = Tuple[Diagnostic, List[Diagnostic]]


def grouped(diagnostics: Iterable[Diagnostic]) -> List[Group]:
    """Each kind of finding once, at its first place, with the others of its kind.

    Findings are of one kind when they are about the same file and option, by the same rule, and
    differ in their place, in numbers in the message, or in what a fix writes, only.
    """
    found: Dict[Tuple[object, ...], Group] = {}
    for diagnostic in diagnostics:
        first, others = found.setdefault(_kind(diagnostic), (diagnostic, []))
        if first is not diagnostic:
            others.append(diagnostic)
    return list(found.values())


def _kind(diagnostic: Diagnostic) -> Tuple[object, ...]:
    return (
        diagnostic.path,
        diagnostic.rule,
        diagnostic.severity,
        diagnostic.option,
        _NUMBER.sub("0", diagnostic.message),
        None if diagnostic.fix else diagnostic.help,
    )


MAX_WIDTH = 120
_FAR = 2 * MAX_WIDTH
_TAB = "    "
_MOST_LINES = 6
_STDIN = "<stdin>"
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
    style: Style = PLAIN,
) -> str:
    """The whole report: each finding, equal ones once, and the numbers at the end.

    Args:
        report: the findings.
        summary: the numbers of the last lines.
        sources: path to text, for the lines that are shown.
        style: see :class:`Style`.
    """
    lines_of: Dict[Optional[str], List[str]] = {}
    parts: List[str] = []
    shown_findings = [d for d in report if style.notes or d.severity is not Severity.INFO]
    for diagnostic, others in grouped(shown_findings):
        if diagnostic.path not in lines_of:
            text = (sources or {}).get(diagnostic.path)
            lines_of[diagnostic.path] = [] if text is None else text.split("\n")
        parts.append(finding(diagnostic, lines_of[diagnostic.path], style.color) + _others(others))
    parts.append("".join(line + "\n" for line in _end(report, summary, style)))
    return "\n".join(parts)


def _end(report: Report, summary: Summary, style: Style) -> Iterator[str]:
    """The last lines: numbers, and what to do next."""
    hidden = 0 if style.notes else summary.infos
    yield str(summary._replace(infos=summary.infos - hidden))
    yield from summary.reasons()
    if hidden:
        yield localized(
            "{}; --notes shows it" if hidden == 1 else "{}; --notes shows them",
            notes(hidden),
        )
    yield from ends(report)
    if not style.hints:
        return
    places = {
        (d.path, tuple(edit[:4] for edit in d.fix.edits))
        for d in report
        if d.fix is not None and d.fix.safe and d.path not in (None, _STDIN)
    }
    fixable = len(places)
    if fixable:
        yield localized("{} can be fixed with --fix", fixable)
    worst = next(iter(report.errors or report.warnings), None)
    if worst is not None:
        yield localized("npu-config explain {} says more", worst.rule)


def ends(findings: Iterable[Diagnostic]) -> Iterator[str]:
    """By which error codes a job with these findings ends, where no message says it."""
    untold = (each for each in findings if _CODE.search(each.message) is None)
    for code, rules in ends_of(untold):
        yield localized("the job ends with {} ({})", code, localized(listed(rules)))


def _others(others: Sequence[Diagnostic]) -> str:
    """The line about the findings that are equal to the one above."""
    if not others:
        return ""
    lines = list(dict.fromkeys(str(d.line) for d in others if d.line is not None))
    where = ", ".join(lines[:_MOST_LINES]) + (", ..." if len(lines) > _MOST_LINES else "")
    return localized(
        "    and {} more of this kind{}\n",
        len(others),
        localized(": line {}" if len(lines) == 1 else ": lines {}", where) if lines else "",
    )


def _paint(text: str, code: str, color: bool) -> str:
    return code + text + _RESET if color else text


def finding(diagnostic: Diagnostic, lines: Sequence[str] = (), color: bool = False) -> str:
    """One finding: its place, what is wrong, the line itself where ``lines`` hold it, help."""
    where = [diagnostic.path, diagnostic.line, diagnostic.column]
    head = ":".join(str(part) for part in where if part is not None)
    text = "{}{}{}{} {}\n".format(
        _paint(printable(head) + ": ", _BOLD, color) if head else "",
        _paint(localized(diagnostic.severity.value), _COLORS[diagnostic.severity], color),
        localized(": "),
        printable(diagnostic.message),
        _paint("[{} {}]".format(diagnostic.rule, diagnostic.name), _DIM, color),
    )
    line = diagnostic.line
    if line is not None and 0 < line <= len(lines):
        text += _excerpt(diagnostic, lines[line - 1], color)
    if diagnostic.help is not None:
        text += "    {}{}\n".format(
            _paint(localized("help: "), _GREEN, color), printable(diagnostic.help)
        )
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
