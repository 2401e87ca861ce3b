"""Places of a text as editors count them: lines from 0, characters in units of UTF-16."""

from bisect import bisect_right
from typing import List, Optional, Tuple

import attr

from npu_config.core.diagnostics import Place
from npu_config.core.lazy import lazy_pattern
from npu_config.text.source import Source

_LINE_END = lazy_pattern(r"\r\n|\n|\r")
_UNIT = 0xFFFF

Position = Tuple[int, int]
Span = Tuple[Position, Position]


def units(text: str) -> int:
    """How many units of UTF-16 a text has; half a surrogate is one."""
    return len(text) if text.isascii() else sum(1 + (ord(c) > _UNIT) for c in text)


@attr.s(slots=True, auto_attribs=True, eq=False, repr=False)
class Lines:
    """A text, and where its lines begin."""

    text: str
    _starts: Optional[List[int]] = attr.ib(default=None, init=False)
    _source: Optional[Source] = attr.ib(default=None, init=False)

    @property
    def starts(self) -> List[int]:
        """The offsets of the lines."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        return self._starts

    def line(self, number: int) -> str:
        """The text of a line without its end; nothing where there is no such line."""
        if not 0 <= number < len(self.starts):
            return ""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[number] : end].rstrip("\r\n")

    def offset(self, line: int, character: int) -> int:
        """The offset of a position; what lies outside is brought to the end of its line."""
        if line >= len(self.starts):
            return len(self.text)
        content = self.line(line)
        if content.isascii():
            return self.starts[line] + min(character, len(content))
        offset = self.starts[line]
        for sign in content:
            character -= 1 + (ord(sign) > _UNIT)
            if character < 0:
                break
            offset += 1
        return offset

    def position(self, offset: int) -> Position:
        """The position of an offset."""
        line = bisect_right(self.starts, offset) - 1
        return line, units(self.text[self.starts[line] : offset])

    def span(self, start: int, end: int) -> Span:
        """The positions of ``text[start:end]``."""
        return self.position(start), self.position(end)

    def of_place(self, place: Place) -> Span:
        """The positions of a place; its line where only that is known, else the beginning."""
        if place.line is None:
            return (0, 0), (0, 0)
        if self._source is None:
            self._source = Source(self.text)
        start = self._source.offset(place.line, place.column or 1)
        if place.end_line is None:
            line, character = self.position(start)
            return (line, character), (line, units(self.line(line)))
        return self.span(start, self._source.offset(place.end_line, place.end_column or 1))
