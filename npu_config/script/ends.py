"""Where expressions end, for Python 3.7, whose syntax tree does not say.

The statement is split into tokens again, from the first token of the expression to its last.
"""

import ast
import itertools
import re
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

Span = Tuple[int, int, int, int]

_LONGEST = 400
_LONG_QUOTE = re.compile(r"""[bBrRuUfF]{0,2}(?:\"{3}|'{3})""")
_QUOTE = re.compile(r"""[bBrRuUfF]{0,2}["']""")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SKIPPED = frozenset(" \t\f#")
_TOKEN = re.compile(
    r"""[ \t\f]+|\#[^\n]*|\\?\n
    |[bBrRuUfF]{0,2}(?:
        \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}
        |'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}
        |"[^\n"\\]*(?:\\.[^\n"\\]*)*"
        |'[^\n'\\]*(?:\\.[^\n'\\]*)*'
    )
    |(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?\w*
    |\w+|\.{3}|\S""",
    re.S | re.X,
)
_TEXTS = ("Str", "Bytes", "JoinedStr")
_BRACKETED = ("List", "Dict", "Set", "ListComp", "SetComp", "DictComp")
_COMPREHENSIONS = ("ListComp", "SetComp", "DictComp")
_LAST_PART: Dict[str, Callable[[Any], Any]] = {
    "BinOp": lambda node: node.right,
    "UnaryOp": lambda node: node.operand,
    "Compare": lambda node: node.comparators[-1],
    "BoolOp": lambda node: node.values[-1],
    "IfExp": lambda node: node.orelse,
    "Lambda": lambda node: node.body,
    "Starred": lambda node: node.value,
    "Await": lambda node: node.value,
    "Tuple": lambda node: node.elts[-1] if node.elts else None,
}


def span(lines: Sequence[str], node: ast.expr) -> Span:
    """First line and column, last line and the column after the end; columns count from 1.

    Args:
        lines: the lines of the script, without their ends.
        node: the expression.
    """
    if node.col_offset < 0:
        return _span_of_long_text(lines, node)
    column = _characters(lines, node)
    tokens = _Tokens(lines, node.lineno, column, _is_inside(lines, node, column))
    last = tokens.last_of(node)
    start, end = tokens.starts[0], tokens.ends[last]
    for _ in range(tokens.unopened(last)):
        start = _bracket_before(lines, start)
    return start[0], start[1] + 1, end[0], end[1] + 1


def _bracket_before(lines: Sequence[str], place: Tuple[int, int]) -> Tuple[int, int]:
    """Where the bracket opens before a place."""
    line, column = place
    before = lines[line - 1][:column]
    while "(" not in before and line > 1:
        line -= 1
        before = lines[line - 1]
    return line, max(before.rfind("("), 0)


def _is_inside(lines: Sequence[str], node: ast.expr, column: int) -> bool:
    """True when a node is in brackets that begin before it, as far as that matters."""
    before = lines[node.lineno - 1][:column].rstrip()
    if before.endswith(("(", "[", "{", ",")) or (not before and node.lineno > 1):
        return True
    last = max(getattr(part, "lineno", 0) for part in ast.walk(node))
    return last > node.lineno


def _characters(lines: Sequence[str], node: ast.expr) -> int:
    """The column of a node in characters; the tree counts bytes, and comprehensions inside."""
    line = lines[node.lineno - 1]
    column = node.col_offset
    if not line.isascii():
        column = len(line.encode("utf-8")[:column].decode("utf-8", "ignore"))
    if type(node).__name__ in _COMPREHENSIONS and lines[node.lineno - 1][column] not in "[{":
        before = lines[node.lineno - 1][:column]
        column = max(before.rfind("["), before.rfind("{"), 0)
    return column


def _span_of_long_text(lines: Sequence[str], node: ast.expr) -> Span:
    """A text of several lines: Python 3.7 gives its last line, and no column."""
    last = node.lineno
    first = last
    while first > 1 and lines[first - 2].endswith("\\"):
        first -= 1
    quotes = [(first, match.start()) for match in _QUOTE.finditer(lines[first - 1])]
    for line in range(last, max(0, last - _LONGEST), -1):
        quotes += [(line, match.start()) for match in _LONG_QUOTE.finditer(lines[line - 1])]
    for line, column in quotes:
        tokens = _Tokens(lines, line, column)
        if tokens.has(0) and tokens.is_text(0) and line < tokens.ends[0][0] == last:
            end = tokens.ends[tokens.last_of(node)]
            return line, column + 1, end[0], end[1] + 1
    return last, 1, last, len(lines[last - 1]) + 1


class _Tokens:
    """The tokens of a statement from a place on, found as far as somebody asks for them."""

    def __init__(
        self, lines: Sequence[str], line: int, column: int, is_inside: bool = False
    ) -> None:
        self._lines = lines
        self.texts: List[str] = []
        self.starts: List[Tuple[int, int]] = []
        self.ends: List[Tuple[int, int]] = []
        text = "\n".join([lines[line - 1][column:], *lines[line : line + _LONGEST]])
        self._more = self._scan(text, line, column, int(is_inside))

    def _scan(self, text: str, line: int, column: int, depth: int) -> Iterator[None]:
        """Find one token after the other, up to the end of the statement."""
        offset = -column
        for match in _TOKEN.finditer(text):
            token = match.group()
            if token == "\n":
                if depth <= 0:
                    return
                line, offset = line + 1, match.end()
            elif token == "\\\n":
                line, offset = line + 1, match.end()
            elif token[0] not in _SKIPPED:
                depth += (token in _CLOSING) - (token in _CLOSING.values())
                start = (line, match.start() - offset)
                if "\n" in token:
                    line += token.count("\n")
                    offset = match.start() + token.rindex("\n") + 1
                self.texts.append(token)
                self.starts.append(start)
                self.ends.append((line, match.end() - offset))
                yield

    def has(self, index: int) -> bool:
        """True when there is a token with this index."""
        while len(self.texts) <= index:
            if next(self._more, self) is self:
                return False
        return True

    def is_text(self, index: int) -> bool:
        """True for a string literal."""
        return _QUOTE.match(self.texts[index]) is not None

    def last_of(self, node: ast.expr) -> int:
        """The index of the last token of an expression that begins among these."""
        last = self._last(node)
        return last if self.has(last) else len(self.texts) - 1

    def unopened(self, last: int) -> int:
        """How many brackets close up to a token that were opened before the first one.

        Python 3.7 lets ``(a + b).c`` begin at ``a``.
        """
        depth = lowest = 0
        for text in self.texts[: last + 1]:
            depth += (text in _CLOSING) - (text in _CLOSING.values())
            lowest = min(lowest, depth)
        return -lowest

    def _last(self, node: ast.expr) -> int:
        kind = type(node).__name__
        first = self._first(node)
        if kind in _TEXTS or isinstance(getattr(node, "value", None), (str, bytes)):
            while self.has(first + 1) and self.is_text(first + 1):
                first += 1
            return first
        if kind in _BRACKETED:
            return self._match(first)
        if isinstance(node, ast.Attribute):
            return self._after(self._last(node.value), ".") + 1
        if isinstance(node, ast.Call):
            return self._match(self._after(self._last(node.func), "("))
        if isinstance(node, ast.Subscript):
            return self._match(self._after(self._last(node.value), "["))
        part = _LAST_PART.get(kind)
        inner = None if part is None else part(node)
        return first if inner is None else self._close(first, self._last(inner))

    def _first(self, node: ast.expr) -> int:
        """The index of the first token of an expression."""
        place = (node.lineno, _characters(self._lines, node)) if node.col_offset >= 0 else None
        for index in itertools.takewhile(self.has, itertools.count()):
            if place is None:
                if self.is_text(index) and self.ends[index][0] == node.lineno:
                    return index
            elif self.starts[index] >= place:
                return index
        return 0

    def _after(self, index: int, text: str) -> int:
        """The index of the next token with this text."""
        for following in itertools.takewhile(self.has, itertools.count(index + 1)):
            if self.texts[following] == text:
                return following
        return index

    def _match(self, index: int) -> int:
        """The index of the bracket that closes the one at ``index``."""
        return self._close(index, index)

    def _close(self, first: int, last: int) -> int:
        """``last``, or what closes the last bracket that is open there since ``first``."""
        depth = 0
        for index in itertools.takewhile(self.has, itertools.count(first)):
            if self.texts[index] in _CLOSING:
                depth += 1
            elif self.texts[index] in _CLOSING.values():
                depth -= 1
            if index >= last and depth <= 0:
                return index
        return len(self.texts) - 1
