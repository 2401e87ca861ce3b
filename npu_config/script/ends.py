"""Where expressions end, for Python 3.7, whose syntax tree does not say.

The text is read again, from where an expression begins to where it ends.
"""

import ast
import bisect
import re
from typing import Any, Callable, Dict, Iterator, Sequence, Tuple

Span = Tuple[int, int, int, int]

_LONGEST = 400
_LONG_QUOTE = re.compile(r"""[bBrRuUfF]{0,2}(?:\"{3}|'{3})""")
_QUOTE = re.compile(r"""[bBrRuUfF]{0,2}["']""")
_STRING = r"""[bBrRuUfF]{0,2}(?:
        \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*\"{3}
        |'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3}
        |"[^\n"\\]*(?:\\(?:\r\n|.)[^\n"\\]*)*"
        |'[^\n'\\]*(?:\\(?:\r\n|.)[^\n'\\]*)*'
    )"""
_TOKEN = re.compile(
    r"(?:[\s\\]|\#[^\r\n]*)*("
    + _STRING
    + r"|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?\w*|\w+|\.{3}|\S|\Z)",
    re.S | re.X,
)
_LINE_END = re.compile(r"(?<!\\)(?<!\\\r)\n")
_PIECE = re.compile(_STRING + r"|\#[^\r\n]*|[()\[\]{}]", re.S | re.X)
_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
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


def span(text: str, starts: Sequence[int], node: ast.expr) -> Span:
    """First line and column, last line and the column after the end; columns count from 1.

    Args:
        text: the script.
        starts: the offset at which each line begins.
        node: the expression.
    """
    reader = _Reader(text, starts)
    is_long = node.col_offset < 0
    start = reader.first = reader.long_text(node.lineno) if is_long else reader.start(node)
    reader.may_be_inside = not is_long
    end = reader.end(node)
    depth = lowest = 0
    for piece in _PIECE.finditer(text, start, end):
        depth += _DEPTH.get(piece.group(), 0)
        lowest = min(lowest, depth)
    for _ in range(-lowest):  # Python 3.7 lets ``(a + b).c`` begin at ``a``
        start = max(text.rfind("(", 0, start), 0)
    return (*reader.position(start), *reader.position(end))


class _Reader:
    """Reads the expression of a text that begins at the offset ``first``."""

    def __init__(self, text: str, starts: Sequence[int]) -> None:
        self.text = text
        self.starts = starts
        self.first = 0
        self.may_be_inside = True

    def position(self, offset: int) -> Tuple[int, int]:
        """Line and column of an offset."""
        line = bisect.bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def _line(self, number: int) -> str:
        """A line with its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end]

    def start(self, node: ast.expr) -> int:
        """Where a node begins; the tree counts bytes, and comprehensions inside."""
        if node.col_offset < 0:
            return self._text_up_to(node.lineno)
        line, column = self._line(node.lineno), node.col_offset
        if not line.isascii():
            column = len(line.encode("utf-8")[:column].decode("utf-8", "ignore"))
        start = self.starts[node.lineno - 1] + column
        if type(node).__name__ in _COMPREHENSIONS and self.text[start] not in "[{":
            start = max(self.text.rfind("[", 0, start), self.text.rfind("{", 0, start), 0)
        return start

    def _texts(self, offset: int) -> Iterator[Tuple[int, int]]:
        """Where a text begins, and the line it ends in, for every one from an offset on."""
        for piece in _PIECE.finditer(self.text, offset):
            if _QUOTE.match(piece.group()):
                yield piece.start(), self.position(piece.end())[0]

    def _text_up_to(self, last: int) -> int:
        """The first text that ends in a line: of one of several lines Python 3.7 says no more."""
        return next((start for start, line in self._texts(self.first) if line == last), self.first)

    def long_text(self, last: int) -> int:
        """The text of several lines that ends in a line."""
        first = last
        while first > 1 and self._line(first - 1).rstrip("\r\n").endswith("\\"):
            first -= 1
        quotes = [(first, match.start()) for match in _QUOTE.finditer(self._line(first))]
        for line in range(last, max(0, last - _LONGEST), -1):
            quotes += [(line, match.start()) for match in _LONG_QUOTE.finditer(self._line(line))]
        for line, column in quotes:
            start = self.starts[line - 1] + column
            if line < last and next(self._texts(start), None) == (start, last):
                return start
        return self.starts[last - 1]

    def end(self, node: ast.expr) -> int:
        """Where a node ends that is, or is in, the expression."""
        if isinstance(node, ast.Attribute):
            return self._token(self._after(self.end(node.value), "."))[1]
        if isinstance(node, ast.Call):
            return self._closing(self._after(self.end(node.func), "(") - 1)
        if isinstance(node, ast.Subscript):
            return self._closing(self._after(self.end(node.value), "[") - 1)
        kind = type(node).__name__
        start = self.start(node)
        if kind in _TEXTS or isinstance(getattr(node, "value", None), (str, bytes)):
            return self._end_of_texts(start)
        if kind in _BRACKETED:
            return self._closing(start)
        part = _LAST_PART.get(kind)
        inner = None if part is None else part(node)
        return self._token(start)[1] if inner is None else self._closed(start, self.end(inner))

    def _token(self, offset: int) -> Tuple[str, int]:
        """The next token, and where it ends."""
        match = _TOKEN.match(self.text, offset)
        return ("", len(self.text)) if match is None else (match.group(1), match.end())

    def _after(self, offset: int, wanted: str) -> int:
        """Where the next token ends that is this one."""
        token, end = self._token(offset)
        while token and token != wanted:
            token, end = self._token(end)
        return end

    def _end_of_texts(self, start: int) -> int:
        """Where a text ends that may be written as several ones."""
        inside = self.may_be_inside and self._is_inside(start)
        end = start
        while True:
            match = _TOKEN.match(self.text, end)
            if match is None or not _QUOTE.match(match.group(1)):
                return end
            if not inside and _LINE_END.search(self.text, end, match.start(1)):
                return end
            end = match.end()

    def _is_inside(self, offset: int) -> bool:
        """True for what is in brackets, as far as the lines of the expression say so."""
        line, column = self.position(self.first)
        before = self._line(line)[: column - 1].rstrip()
        return (
            before.endswith(("(", "[", "{", ","))
            or (not before and line > 1)
            or self.position(offset)[0] > line
        )

    def _closed(self, start: int, end: int) -> int:
        """``end``, or what closes the last bracket that is open there since ``start``."""
        depth = 0
        for piece in _PIECE.finditer(self.text, start):
            if piece.start() >= end and depth <= 0:
                break
            depth += _DEPTH.get(piece.group(), 0)
            if piece.end() >= end and depth <= 0:
                return piece.end()
        return end

    def _closing(self, offset: int) -> int:
        """Where the brackets end that open at an offset."""
        return self._closed(offset, offset + 1)
