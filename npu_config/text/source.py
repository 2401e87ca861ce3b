"""Places in a text: offsets to lines and columns, and the edits of a fix applied.

Nothing here knows a format.  Lines end at ``\\n``; a column counts characters.
"""

from bisect import bisect_right
from itertools import accumulate
from typing import Dict, Iterable, List, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import NOWHERE, Edit, Place

Path = Tuple[Union[str, int], ...]


@attr.s(slots=True, auto_attribs=True, eq=False, repr=False)
class Source:
    """A text and the file it came from.

    Args:
        text: the text.
        path: the file, for the places.
    """

    text: str
    path: Optional[str] = None
    _starts: Optional[List[int]] = attr.ib(default=None, init=False)

    def _line_starts(self) -> List[int]:
        if self._starts is None:
            lines = self.text.split("\n")[:-1]
            self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        return self._starts

    def position(self, offset: int) -> Tuple[int, int]:
        """Line and column of the character at ``offset``."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, offset: int) -> int:
        """The line of the character at ``offset``."""
        return bisect_right(self._line_starts(), offset)

    def place(self, start: int, end: int) -> Place:
        """The place of ``text[start:end]``."""
        return Place(self.path, *self.position(start), *self.position(end))

    def edit(self, start: int, end: int, text: str) -> Edit:
        """The edit that puts ``text`` in the place of ``text[start:end]``."""
        return Edit(*self.position(start), *self.position(end), text)

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column; what lies outside the text is brought to its end."""
        starts = self._line_starts()
        if line > len(starts):
            return len(self.text)
        return min(starts[line - 1] + column - 1, len(self.text))


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with every edit done; of two edits that overlap the first is done.

    Args:
        text: the text that the edits were made for.
        edits: in any order.
    """
    source = Source(text)
    spans = sorted(
        (
            source.offset(edit.line, edit.column),
            source.offset(edit.end_line, edit.end_column),
            edit.text,
        )
        for edit in edits
    )
    parts: List[str] = []
    done = 0
    for start, end, replacement in spans:
        if start < done:
            continue
        parts.append(text[done:start])
        parts.append(replacement)
        done = end
    parts.append(text[done:])
    return "".join(parts)


class Places:
    """Where the parts of a value stand, by their path; here: nowhere.

    A path names a part as one would index it: ``("Switch", "GraphFusion", "ALL")``.
    """

    __slots__ = ()

    def place(self, path: Sequence[Union[str, int]] = ()) -> Place:
        """The place of the value at ``path``, or of the nearest part around it that is there."""
        return NOWHERE

    def key_place(self, path: Sequence[Union[str, int]]) -> Place:
        """The place of the key that ends ``path``; of the value where there is no key."""
        return NOWHERE


@attr.s(slots=True, auto_attribs=True, eq=False)
class PlaceTable(Places):
    """Places of a line format: one pair (key, value) for each path."""

    _whole: Place
    _table: Dict[Path, Tuple[Place, Place]] = attr.ib(factory=dict, init=False)

    def put(self, path: Path, key: Place, value: Place) -> None:
        """Remember where the key and the value of ``path`` stand; the first entry stays."""
        self._table.setdefault(path, (key, value))

    def _find(self, path: Sequence[Union[str, int]]) -> Optional[Tuple[Place, Place]]:
        for size in range(len(path), 0, -1):
            found = self._table.get(tuple(path[:size]))
            if found is not None:
                return found
        return None

    def place(self, path: Sequence[Union[str, int]] = ()) -> Place:
        """Where the value at ``path`` is."""
        found = self._find(path)
        return self._whole if found is None else found[1]

    def key_place(self, path: Sequence[Union[str, int]]) -> Place:
        """Where the key that ends ``path`` is."""
        found = self._find(path)
        return self._whole if found is None else found[0]


ANYWHERE = Places()
