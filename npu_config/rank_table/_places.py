"""Where the parts of a strict JSON text stand, for a few parts of a large text.

The reader of :mod:`npu_config.text.json` keeps the place of everything, which for a
table of 32,768 devices takes several times the memory of the table.  Here the standard
library's scanner passes over all that nobody asked for, so that the places of some
findings cost about one more reading and next to no memory.
"""

import json
import re
from typing import Any, Dict, Iterable, NamedTuple, Sequence, Union

from npu_config.core.diagnostics import Place
from npu_config.text.source import Path, Places, Source

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()

Wanted = Dict[Union[str, int], Any]


class Span(NamedTuple):
    """The offsets of a key (of the value itself in an array) and of its value."""

    key: int
    key_end: int
    start: int
    end: int


class SomePlaces(Places):
    """The places of some parts of a text that is strict JSON.

    Args:
        source: the text.
        paths: what will be asked for; a part that is not there has the place of the part
            around it.
    """

    __slots__ = ("_source", "_spans", "_text")

    def __init__(self, source: Source, paths: Iterable[Path]) -> None:
        self._source = source
        self._text = source.text
        self._spans: Dict[Path, Span] = {}
        wanted: Wanted = {}
        for path in paths:
            branch = wanted
            for step in path:
                branch = branch.setdefault(step, {})
        start = self._blank(0)
        end = self._visit(start, wanted, ())
        self._spans[()] = Span(start, end, start, end)

    def _blank(self, position: int) -> int:
        match = _BLANK.match(self._text, position)
        assert match is not None
        return match.end()

    def _visit(self, start: int, wanted: Wanted, path: Path) -> int:
        """Note the wanted parts of the value at ``start``; the offset after it."""
        text = self._text
        if not wanted or text[start] not in "{[":
            return _DECODER.raw_decode(text, start)[1]
        step: Union[str, int] = -1
        position = self._blank(start + 1)
        while text[position] not in "}]":
            key = position
            if text[start] == "{":
                step, key_end = _DECODER.raw_decode(text, key)
                value = self._blank(self._blank(key_end) + 1)
            else:
                assert isinstance(step, int)
                step, value, key_end = step + 1, key, 0
            branch = wanted.get(step)
            end = self._visit(value, branch or {}, (*path, step))
            if branch is not None:
                self._spans[(*path, step)] = Span(key, key_end or end, value, end)
            position = self._blank(end)
            if text[position] == ",":
                position = self._blank(position + 1)
        return position + 1

    def _find(self, path: Sequence[Union[str, int]]) -> Span:
        for size in range(len(path), 0, -1):
            span = self._spans.get(tuple(path[:size]))
            if span is not None:
                return span
        return self._spans[()]

    def place(self, path: Sequence[Union[str, int]] = ()) -> Place:
        """The place of the value at ``path``."""
        span = self._find(path)
        return self._source.place(span.start, span.end)

    def key_place(self, path: Sequence[Union[str, int]]) -> Place:
        """The place of the key that ends ``path``."""
        span = self._find(path)
        return self._source.place(span.key, span.key_end)
