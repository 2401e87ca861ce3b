"""A text: its places, the log of what is wrong with it, and the edits of a fix applied.

Nothing here knows a format.  Lines end at ``\\n``; a column counts characters.  The log has one
limit, one way to stop, one way to make a fix.
"""

import enum
from bisect import bisect_right
from itertools import accumulate
from typing import Dict, Iterable, Iterator, List, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import NOWHERE, Diagnostic, Edit, Fix, Place
from npu_config.core.message import phrase
from npu_config.core.rule import Rule
from npu_config.text.rules import unparsable_file

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


def both_places(first: Place, second: Place) -> str:
    """Where two things stand, in words: ``lines 3 and 7``."""
    if first.line == second.line:
        return phrase("line {} (columns {} and {})", first.line, first.column, second.column)
    return phrase("lines {} and {}", first.line, second.line)


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

MAX_FAULTS = 1000
"""After so many findings the rest of a text is not read."""


class Broken(enum.Enum):
    """The type of :data:`BROKEN`."""

    BROKEN = "broken"

    def __repr__(self) -> str:
        return "BROKEN"


BROKEN = Broken.BROKEN
"""What stands in a value for a part of the text that could not be read."""


class StopReading(Exception):  # noqa: N818 - it is no error of the caller's
    """The rest of the text is not read; the reason is reported."""


class FaultLog:
    """The findings of one reader about one text.

    Args:
        source: the text.
        rule: says that the rest is not read, and is the rule of :meth:`fault`.

    Attributes:
        diagnostics: the findings, in the order in which they were made.
        complete: False when a part of the text was not understood, so that what seems to be
            missing may be there.
    """

    def __init__(self, source: Source, rule: Rule = unparsable_file) -> None:
        self.source = source
        self.rule = rule
        self.diagnostics: List[Diagnostic] = []
        self.complete = True

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a finding.

        Raises:
            StopReading: it was the last one that is taken.
        """
        self.diagnostics.append(diagnostic)
        if len(self.diagnostics) == MAX_FAULTS:
            self.complete = False
            message = phrase("{:,} findings; the rest of the text is not read", MAX_FAULTS)
            self.diagnostics.append(self.rule.diagnostic(message, diagnostic.place))
            raise StopReading

    def add_all(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add findings, as many as are taken."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    def report(
        self,
        rule: Rule,
        start: int,
        end: int,
        message: str,
        help: Optional[str] = None,
        title: str = "",
        replacement: Optional[str] = None,
        meant: Optional[str] = None,
    ) -> None:
        """Report ``text[start:end]``; ``replacement`` with a title makes it a fix.

        Raises:
            StopReading: it was the last finding that is taken.
        """
        fix = None
        if replacement is not None:
            fix = Fix(title, (self.source.edit(start, end, replacement),))
        place = self.source.place(start, end)
        self.add(rule.diagnostic(message, place, help=help, fix=fix, meant=meant))

    def fault(self, start: int, end: int, message: str, help: Optional[str] = None) -> None:
        """Report ``text[start:end]`` under the rule of the log.

        Raises:
            StopReading: it was the last finding that is taken.
        """
        self.report(self.rule, start, end, message, help)
