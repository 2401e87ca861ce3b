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
    edits = tuple(_removal(log.source, start, end) for start, end in comments)
    yield rules.COMMENT.diagnostic(
        message,
        log.source.place(*comments[0]),
        help=phrase(
            'remove them; "--fix" or "npu-config format" does it'
            if many
            else 'remove it; "--fix" or "npu-config format" does it'
        ),
        fix=Fix("remove the comments" if many else "remove the comment", edits),
    )


def _removal(source: Source, start: int, end: int) -> Edit:
    """Remove a comment; two words that it kept apart stay apart."""
    around = source.text[max(start - 1, 0) : start] + "|" + source.text[end : end + 1]
    apart = re.match(r"[\w.+\-]\|[\w.+\-]", around) is not None
    return source.edit(start, end, " " if apart else "")
