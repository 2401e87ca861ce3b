"""What can be done about a finding: its fix, and the comment that silences it."""

import io
import re
import tokenize
from dataclasses import replace
from typing import Any, Iterator, List, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Edit, Fix
from npu_config.core.message import phrase
from npu_config.judging.comments import COMMENT, Suppressions
from npu_config.readers import read
from npu_config.sidefiles import FORMATS
from npu_config.text.source import apply_edits

__all__ = ["ignoring"]

_COMMENTED = ("yaml", "toml", "pbtxt", "script", "shell")
_COMMENTED_SIDE_FILES = ("op_precision", "insert_op", "op_cache", "op_debug")
"""The kinds of files in which ``#`` begins a comment, if only on a line of its own."""


def ignoring(kind: Optional[str], text: str, found: Diagnostic) -> Optional[Fix]:
    """The comment that silences a finding, and changes nothing else; None where there is none.

    Args:
        kind: the kind of the file.
        text: the text of the file.
        found: the finding.
    """
    if kind not in (*_COMMENTED, *_COMMENTED_SIDE_FILES) or found.line is None:
        return None
    is_script = kind == "script"
    lines = text.split("\n")
    before = _meaning(kind, text)
    for edit in _comments(kind, lines, found):
        after = apply_edits(text, [edit])
        moved = edit.line if edit.text.endswith("\n") else 0
        shifted = replace(
            found,
            line=found.line + (0 < moved <= found.line),
            end_line=found.end_line and found.end_line + (0 < moved <= found.end_line),
        )
        silenced = not Suppressions(after, None, is_script).apply([shifted])
        if silenced and _meaning(kind, after) == before:
            return Fix(phrase("ignore {} here", found.rule), (edit,))
    return None


def _comments(kind: str, lines: List[str], found: Diagnostic) -> Iterator[Edit]:
    """Where the comment may stand: in one that is there, at an end of a line, on a line before."""
    first, last = found.line or 1, found.end_line or found.line or 1
    ends = list(dict.fromkeys((first, last, _end_of_statement(lines, first))))
    for number in ends:
        content = _line(lines, number)
        for match in COMMENT.finditer(content):
            if match.group("rules") and match.group("word") == "ignore":
                yield Edit(number, match.end(), number, match.end(), ", " + found.rule)
    comment = "# npu: ignore[" + found.rule + "]"
    for number in ends:
        content = _line(lines, number)
        column = len(content.rstrip()) + 1
        if not content.rstrip().endswith("\\"):
            yield Edit(number, column, number, column, "  " + comment)
    for number in range(first, 0, -1):
        if number == 1 or not _line(lines, number - 1).rstrip().endswith("\\"):
            indent = re.match(r"[ \t]*", _line(lines, number))
            blanks = "" if indent is None else indent.group()
            yield Edit(number, 1, number, 1, blanks + comment + "\n")
            return


def _line(lines: List[str], number: int) -> str:
    return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


def _end_of_statement(lines: List[str], first: int) -> int:
    """The last line of the statement of Python that a line is in; the line where none is found."""
    text = "\n".join(lines) + "\n"
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE and token.start[0] >= first:
                return token.start[0]
    except Exception:  # not Python, or broken
        pass
    return first


def _meaning(kind: str, text: str) -> Any:
    """What a text says to npu_config: a comment must not change it."""
    if kind == "script":
        return _tokens(text)
    if kind == "shell":
        return None
    if kind in _COMMENTED_SIDE_FILES:
        parsed = FORMATS[kind].parse(text)
        return parsed.model, [(each.rule, each.message) for each in parsed.diagnostics]
    reading = read("x", kind, text)
    return [
        {name: (entry.value, entry.wire) for name, entry in each.entries.items()}
        for each in reading.settings
    ]


def _tokens(text: str) -> List[Tuple[int, str]]:
    """The tokens of a script that are neither comments nor blank lines."""
    left_out = (tokenize.COMMENT, tokenize.NL)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except Exception:  # not Python, or broken
        return []
    return [(each.type, each.string) for each in tokens if each.type not in left_out]
