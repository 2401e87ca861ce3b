"""Comments that silence findings: ``# npu: ignore[NPU104]``.

A comment at the end of a line silences the findings that stand on that line; a comment on a
line of its own those on the next line with code.  ``# npu: ignore`` without brackets silences
all of them, ``# npu: ignore-file[...]`` the whole file.  In the brackets stand ids, beginnings
of ids (``NPU3``) or names of rules, joined by commas.
"""

import io
import re
import tokenize
from typing import Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.diagnostics import Diagnostic, Place, Severity
from npu_config.rulebook import declare

__all__ = ["Suppressions", "suppress"]

IGNORE_COMMENT = declare(
    "NPU832",
    "ignore-comment",
    Severity.WARNING,
    """
    A ``# npu: ignore`` comment names no rule, or silences nothing (information).

    A comment that has outlived its finding hides the next one.

    Wrong:

        custom_op.parameter_map["hcom_parallel"].b = True  # npu: ignore[NPU999]

    Right:

        custom_op.parameter_map["hcom_parallel"].b = True
    """,
    source=("npu_config",),
)

_COMMENT = re.compile(
    r"#\s*npu:\s*(?P<word>ignore-file|ignore)(?![\w-])[ \t]*(?P<rules>\[[^\]\n]*\])?"
)
_ID = re.compile(r"NPU\d{0,3}\Z", re.I)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")


class _Comment(NamedTuple):
    """One comment: the lines it speaks of (None: all), and what it names (empty: every rule)."""

    place: Place
    lines: Optional[Tuple[int, ...]]
    words: Tuple[str, ...]

    def names(self, diagnostic: Diagnostic) -> bool:
        """True when the comment is about the rule of a finding."""
        return not self.words or any(
            diagnostic.name == word or diagnostic.rule.startswith(word.upper())
            for word in self.words
        )

    def covers(self, diagnostic: Diagnostic) -> bool:
        """True when the comment silences a finding."""
        if not self.names(diagnostic):
            return False
        if self.lines is None:
            return True
        first = diagnostic.line
        if first is None:
            return False
        last = diagnostic.end_line or first
        return any(first <= line <= last for line in self.lines)


class Suppressions:
    """The ignore comments of one file.

    Args:
        text: the content of the file.
        path: the file, for the places.
        is_script: it is Python, where ``#`` may also stand in a text.
    """

    def __init__(self, text: str, path: Optional[str] = None, is_script: bool = True) -> None:
        self._path = path
        self._comments: List[_Comment] = []
        if _COMMENT.search(text) is not None:
            lines = re.split(r"\r\n|\r|\n", text)
            for line, column, content in _comments(text, lines, is_script):
                self._read(lines, line, column, content)

    def __bool__(self) -> bool:
        return bool(self._comments)

    def apply(
        self, diagnostics: Iterable[Diagnostic], known: Sequence[Tuple[str, str]] = ()
    ) -> List[Diagnostic]:
        """The findings that are left, and what is wrong with the comments themselves.

        Args:
            diagnostics: the findings in the file.
            known: id and name of every rule; empty: comments are not judged.
        """
        left: List[Diagnostic] = []
        used: Set[int] = set()
        for diagnostic in diagnostics:
            covering = [i for i, c in enumerate(self._comments) if c.covers(diagnostic)]
            used.update(covering)
            if not covering:
                left.append(diagnostic)
        if known:
            for index, comment in enumerate(self._comments):
                left.extend(_faults(comment, index in used, known))
        return left

    def _read(self, lines: Sequence[str], line: int, column: int, content: str) -> None:
        for match in _COMMENT.finditer(content):
            listed = match.group("rules")
            words = tuple(word.strip() for word in (listed or "")[1:-1].split(",") if word.strip())
            start = column + match.start() + 1
            place = Place(self._path, line, start, line, start + len(match.group().rstrip()))
            about: Optional[Tuple[int, ...]] = None
            if match.group("word") == "ignore":
                alone = not lines[line - 1][:column].strip()
                about = (_next_code(lines, line),) if alone else (line,)
            self._comments.append(_Comment(place, about, words))


def suppress(
    diagnostics: Iterable[Diagnostic],
    text: str,
    path: Optional[str] = None,
    is_script: bool = True,
    known: Sequence[Tuple[str, str]] = (),
) -> List[Diagnostic]:
    """The findings that no ignore comment of the file silences.

    Args:
        diagnostics: the findings in the file.
        text: its content.
        path: the file, for the places.
        is_script: it is Python.
        known: id and name of every rule, to judge the comments with; empty: they are not.
    """
    suppressions = Suppressions(text, path, is_script)
    return suppressions.apply(diagnostics, known) if suppressions else list(diagnostics)


def _comments(text: str, lines: Sequence[str], is_script: bool) -> Iterator[Tuple[int, int, str]]:
    """Line, column from 0, and text of every comment that may be meant."""
    if is_script:
        found: Dict[int, Tuple[int, int, str]] = {}
        try:
            for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
                if token.type == tokenize.COMMENT:
                    found[token.start[0]] = (token.start[0], token.start[1], token.string)
        except (tokenize.TokenError, SyntaxError):
            pass
        yield from found.values()
        return
    for number, content in enumerate(lines, 1):
        match = _COMMENT.search(content)
        if match:
            yield number, match.start(), content[match.start() :]


def _next_code(lines: Sequence[str], line: int) -> int:
    """The next line that holds more than a comment."""
    for number in range(line + 1, len(lines) + 1):
        content = lines[number - 1].strip()
        if content and not content.startswith("#"):
            return number
    return line


def _faults(
    comment: _Comment, used: bool, known: Sequence[Tuple[str, str]]
) -> Iterator[Diagnostic]:
    ids = [id for id, _ in known]
    names = [name for _, name in known]
    unknown = [
        word
        for word in comment.words
        if not (_ID.match(word) and any(id.startswith(word.upper()) for id in ids))
        and word not in names
    ]
    for word in unknown:
        yield IGNORE_COMMENT.diagnostic(
            'the comment names "{}", which is no rule'.format(word[:40]),
            comment.place,
            help="name rules by id (NPU104), beginning of an id (NPU1) or name",
        )
    if not used and len(unknown) < max(1, len(comment.words)):
        yield IGNORE_COMMENT.diagnostic(
            "the comment silences nothing",
            comment.place,
            help="remove it",
            severity=Severity.INFO,
        )
