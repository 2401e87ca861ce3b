"""Comments that silence findings: ``# npu: ignore[NPU104]``.

A comment at the end of a line silences the findings that stand on that line; a comment on a
line of its own those on the next line with code.  In a script a comment on the first or the last
line of a statement, or on a line of its own before it, is about all lines of the statement.
``# npu: ignore`` without brackets silences all findings, ``# npu: ignore-file[...]`` those of the
whole file.  In the brackets stand ids, beginnings of ids (``NPU3``) or names of rules, joined by
commas.
"""

import bisect
import io
import itertools
import re
import tokenize
from typing import Callable, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Diagnostic, Place, Severity, declare, selects
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import phrase

__all__ = ["COMMENT", "Suppressions", "open_list"]


@declare("NPU832", Severity.WARNING, source=("npu_config",))
def ignore_comment() -> None:
    """A ``# npu: ignore`` comment names no known rule, or suppresses no finding (severity info).

    Write the ids or names of the rules in brackets: a comment that names rules without
    brackets is ignored.

    A comment whose finding no longer exists would hide a later finding in the same line.

    Wrong:

        custom_op.parameter_map["hcom_parallel"].b = True  # npu: ignore[NPU999]

    Right:

        custom_op.parameter_map["hcom_parallel"].b = True
    """


COMMENT = lazy_pattern(
    r"#\s{0,40}npu:\s{0,40}(?P<word>ignore-file|ignore)(?![\w-])"
    r"[ \t]{0,40}(?P<rules>\[[^\]\n]{0,500}\])?"
)
"""An ignore comment: ``rules`` is its brackets and what is in them, None where none are closed."""

_ID = lazy_pattern(r"NPU\d{0,4}\Z", re.I)
_OUTSIDE = lazy_pattern(r"[\s:=(]*NPU\d|[\s:=(]*\[", re.I)
_OTHER_TOKENS = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)

Lines = Tuple[int, int]
"""First and last line of a statement, or of what a comment speaks of."""


class _Comment(NamedTuple):
    """One comment: the lines it speaks of (None: all), and what it names (empty: every rule).

    ``is_void`` is True for one that cannot be understood.
    """

    place: Place
    lines: Optional[Lines]
    words: Tuple[str, ...]
    is_void: bool = False

    def names(self, diagnostic: Diagnostic) -> bool:
        """True when the comment is about the rule of a finding."""
        return not self.words or any(
            diagnostic.name == word or selects(word.upper(), diagnostic.rule)
            for word in self.words
        )

    def covers(self, diagnostic: Diagnostic) -> bool:
        """True when the comment silences a finding."""
        if self.lines is not None:
            if diagnostic.line is None:
                return False
            first, last = self.lines
            if diagnostic.line > last or first > (diagnostic.end_line or diagnostic.line):
                return False
        return not self.is_void and self.names(diagnostic)


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
        if COMMENT.search(text) is not None:
            rows = re.split(r"\r\n|\r|\n", text)
            statements: List[Lines] = []
            found = _in_script(text, statements) if is_script else _in_text(rows)
            for line, column, content in list(found):
                self._read(rows, statements, line, column, content)

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
        candidates = self._candidates()
        for diagnostic in diagnostics:
            covering = [i for i in candidates(diagnostic) if self._comments[i].covers(diagnostic)]
            used.update(covering)
            if not covering:
                left.append(diagnostic)
        if known:
            for index, comment in enumerate(self._comments):
                left.extend(_faults(comment, index in used, known))
        return left

    def _candidates(self) -> Callable[[Diagnostic], Iterator[int]]:
        """What gives the numbers of the comments that may be about the lines of a finding."""
        whole = [number for number, each in enumerate(self._comments) if each.lines is None]
        local = sorted((*each.lines, i) for i, each in enumerate(self._comments) if each.lines)
        firsts = [first for first, _, _ in local]
        reach = list(itertools.accumulate((last for _, last, _ in local), max))

        def candidates(diagnostic: Diagnostic) -> Iterator[int]:
            yield from whole
            line = diagnostic.line or 0
            index = bisect.bisect_right(firsts, diagnostic.end_line or line)
            while index and reach[index - 1] >= line:
                index -= 1
                yield local[index][2]

        return candidates

    def _read(
        self,
        rows: Sequence[str],
        statements: Sequence[Lines],
        line: int,
        column: int,
        content: str,
    ) -> None:
        alone = not rows[line - 1][:column].strip()
        for match in COMMENT.finditer(content):
            listed = match.group("rules")
            words = tuple(word.strip() for word in (listed or "")[1:-1].split(",") if word.strip())
            outside = listed is None and _OUTSIDE.match(content, match.end())
            start = column + match.start() + 1
            place = Place(self._path, line, start, line, start + len(match.group().rstrip()))
            about: Optional[Lines] = None
            if match.group("word") == "ignore":
                about = _about(rows, statements, line, alone)
            void = bool(outside) or (listed is not None and not words)
            self._comments.append(_Comment(place, about, words, void))


def open_list(line: str) -> Optional[str]:
    """The names so far in the brackets of an ignore comment; None: none is being written.

    Args:
        line: a line up to where its reader or writer is.
    """
    head, bracket, rules = line.rpartition("[")
    if not bracket or "]" in rules:
        return None
    return rules if any(each.end() == len(head) for each in COMMENT.finditer(head)) else None


def _in_script(text: str, statements: List[Lines]) -> Iterator[Tuple[int, int, str]]:
    """Line, column from 0, and text of every comment; enters the lines of every statement.

    Of a text that is not Python those up to its fault.
    """
    first: Optional[int] = None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline=None).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.start[1], token.string
            if token.type == tokenize.NEWLINE:
                statements.append((first or token.start[0], token.start[0]))
                first = None
            elif first is None and token.type not in _OTHER_TOKENS:
                first = token.start[0]
    except Exception:  # of a text with NUL, Python 3.12 and 3.13 raise SystemError
        return


def _in_text(rows: Sequence[str]) -> Iterator[Tuple[int, int, str]]:
    """Line, column from 0, and text of every comment that may be meant."""
    for number, content in enumerate(rows, 1):
        match = COMMENT.search(content)
        if match:
            yield number, match.start(), content[match.start() :]


def _about(rows: Sequence[str], statements: Sequence[Lines], line: int, alone: bool) -> Lines:
    """The lines that a comment speaks of."""
    at = bisect.bisect_left([last for _, last in statements], line)
    first, last = statements[at] if at < len(statements) else (line, line)
    if alone:
        number = _next_code(rows, line)
        return (first, last) if first > line else (number, number)
    return (first, last) if line in (first, last) else (line, line)


def _next_code(rows: Sequence[str], line: int) -> int:
    """The next line that holds more than a comment."""
    for number in range(line + 1, len(rows) + 1):
        content = rows[number - 1].strip()
        if content and not content.startswith("#"):
            return number
    return line


def _faults(
    comment: _Comment, used: bool, known: Sequence[Tuple[str, str]]
) -> Iterator[Diagnostic]:
    if comment.is_void:
        yield ignore_comment.diagnostic(
            "the comment names no rule in brackets, and suppresses nothing",
            comment.place,
            help="write # npu: ignore[NPU104], or # npu: ignore alone for every rule",
        )
        return
    ids = [id for id, _ in known]
    names = [name for _, name in known]
    unknown = [
        word
        for word in comment.words
        if not (_ID.match(word) and any(selects(word.upper(), id) for id in ids))
        and word not in names
    ]
    for word in unknown:
        yield ignore_comment.diagnostic(
            phrase('the comment names "{}", which is not a rule', word[:40]),
            comment.place,
            help="specify rules by id (NPU104), by the beginning of an id (NPU1) or by name",
        )
    if not used and len(unknown) < max(1, len(comment.words)):
        yield ignore_comment.diagnostic(
            "the comment suppresses nothing",
            comment.place,
            help="remove the comment",
            severity=Severity.INFO,
        )
