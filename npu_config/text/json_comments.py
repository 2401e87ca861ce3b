"""Comments in JSON, which the runtime refuses: one finding for all of a text, and its fix."""

import re
from typing import Iterator, List, Tuple

from npu_config.core.diagnostics import Diagnostic, Edit, Fix
from npu_config.core.message import phrase
from npu_config.text import json_rules as rules
from npu_config.text.json_lexer import Log
from npu_config.text.source import Source
from npu_config.text.words import joined

MAX_COMMENTS = 10000
"""So many comments of one text are reported."""

Span = Tuple[int, int]

_BLANKS = re.compile(r"[ \t]*")
_REST = re.compile(r"(?P<blanks>[ \t]*)(?:\r\n|\n|\r|\Z)")


def report_comments(log: Log, comments: List[Span]) -> Iterator[Diagnostic]:
    """The finding about the comments between these offsets, where there are any."""
    if not comments:
        return
    lines = sorted({log.line(start) for start, _ in comments})
    shown = [str(line) for line in lines[:10]]
    if len(lines) > 10:
        shown.append(phrase("{} more", len(lines) - 10))
    many = len(comments) > 1
    message = phrase(
        "a comment on line {}: the runtime refuses comments in JSON"
        if not many
        else "comments on line {}: the runtime refuses comments in JSON"
        if len(lines) == 1
        else "comments on lines {}: the runtime refuses comments in JSON",
        joined(shown),
    )
    edits = tuple(_removal(log.source, *span) for span in _joined(log.source.text, comments))
    yield rules.json_comment.diagnostic(
        message,
        log.source.place(*comments[0]),
        help=phrase(
            'remove them; "--fix" or "npu-config format" does it'
            if many
            else 'remove it; "--fix" or "npu-config format" does it'
        ),
        fix=Fix("remove the comments" if many else "remove the comment", edits),
    )


def _joined(text: str, comments: List[Span]) -> Iterator[Span]:
    """The spans of comments; those with nothing but blanks between them are one."""
    first, last = comments[0]
    for start, end in comments[1:]:
        if _BLANKS.fullmatch(text, last, start):
            last = end
        else:
            yield first, last
            first, last = start, end
    yield first, last


def _removal(source: Source, start: int, end: int) -> Edit:
    """Remove comments with the blanks that they would leave at the end of a line.

    A line that holds nothing else goes as a whole; two words that a comment kept apart stay
    apart.
    """
    text = source.text
    rest = _REST.match(text, end)
    before = start
    while text[before - 1 : before] in (" ", "\t"):
        before -= 1
    if rest is not None:
        begins = text[before - 1 : before] in ("", "\n", "\r", "\ufeff")
        return source.edit(before, rest.end() if begins else rest.end("blanks"), "")
    around = text[max(start - 1, 0) : start] + "|" + text[end : end + 1]
    apart = re.match(r"[\w.+\-]\|[\w.+\-]", around) is not None
    return source.edit(start, end, " " if apart else "")
