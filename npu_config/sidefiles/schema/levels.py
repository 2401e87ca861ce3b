"""The objects of one level of a document, taken from all over it, as columns.

A rank table nests lists in objects in lists.  :class:`Level` flattens one level of them, keeps
who belongs to whom, and reads each key as a :class:`Column`: a correct table is judged by a
few operations on whole columns, and only where one fails is each value looked at.
"""

from bisect import bisect_right
from itertools import accumulate, chain
from operator import itemgetter
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import attr

Path = Tuple[Union[str, int], ...]

_AT_ONCE = 512
"""Objects whose keys are read one after the other, few enough to stay in the processor's cache."""

HOLE: Dict[str, Any] = {}
"""In the place of something else where an object should be; reported once, then passed over."""


class Column(NamedTuple):
    """The values of one key: ``values[i]`` belongs to the object number ``owners[i]``.

    ``at_once``: all were read at once by their kind, so that each is plain.
    """

    owners: Sequence[int]
    values: Sequence[Any]
    at_once: bool = False

    def over(self, count: int) -> Sequence[Any]:
        """The value of each of ``count`` objects, None for those that have none."""
        if len(self.values) == count:
            return self.values
        values: List[Any] = [None] * count
        for owner, value in zip(self.owners, self.values):
            values[owner] = value
        return values


NO_COLUMN = Column((), ())


class Level:
    """All objects of one level, in document order.

    Attributes:
        items: the objects.
        starts: the number of the first object of each parent, and the end of the last.
    """

    __slots__ = ("_key", "_parent", "_single", "items", "starts")

    def __init__(
        self,
        items: List[Dict[str, Any]],
        key: str = "",
        parent: Optional["Level"] = None,
        starts: Sequence[int] = (0, 1),
        single: bool = False,
    ) -> None:
        self.items = items
        self.starts = starts
        self._key = key
        self._parent = parent
        self._single = single

    @classmethod
    def root(cls, document: Dict[str, Any]) -> "Level":
        """The level of the document itself."""
        return cls([document])

    def __len__(self) -> int:
        return len(self.items)

    def path(self, index: int) -> Path:
        """Where the object number ``index`` is in the document."""
        if self._parent is None:
            return ()
        owner = self.owner(index)
        path = (*self._parent.path(owner), self._key)
        return path if self._single else (*path, index - self.starts[owner])

    def owner(self, index: int) -> int:
        """The number of the parent that holds the object number ``index``."""
        return bisect_right(self.starts, index) - 1

    def owners(self) -> List[int]:
        """The number of the parent of each object."""
        return [owner for owner, size in enumerate(self.sizes()) for _ in range(size)]

    def spans(self) -> Iterator[Tuple[int, int]]:
        """First number and end of the objects of each parent."""
        return zip(self.starts, self.starts[1:])

    def sizes(self) -> List[int]:
        """How many objects each parent has."""
        return [end - start for start, end in self.spans()]

    def split(self, values: Sequence[Any]) -> List[Tuple[Any, ...]]:
        """A value of each object, those of each parent together."""
        every = tuple(values)
        return [every[start:end] for start, end in self.spans()]

    def uniform_columns(self) -> Optional[Dict[str, Column]]:
        """The columns, when the items are objects that all have the same keys; else None."""
        items = self.items
        if not items:
            return {}
        if type(items[0]) is not dict:
            return None
        try:
            values: Dict[str, List[Any]] = {name: [] for name in items[0]}
            for start in range(0, len(items), _AT_ONCE):
                part = items[start : start + _AT_ONCE]
                for name, column in values.items():
                    column.extend(map(itemgetter(name), part))
                if sum(map(len, part)) != len(values) * len(part):
                    return None
            return {name: Column(range(len(items)), column) for name, column in values.items()}
        except (KeyError, TypeError):
            return None

    def columns(self) -> Dict[str, Column]:
        """The columns of every key that occurs in items that are all objects."""
        columns = {}
        for name in dict.fromkeys(chain.from_iterable(self.items)):
            owners = [index for index, item in enumerate(self.items) if name in item]
            columns[name] = Column(owners, [self.items[index][name] for index in owners])
        return columns

    def children(self, key: str, column: Column, single: bool = False) -> "Level":
        """The objects under a key: one each (``single``), or those of its arrays."""
        if not column.values:
            return Level([], key, self, (0,) * (len(self.items) + 1), single)
        lists = [[value] for value in column.values] if single else column.values
        sizes = list(map(len, lists))
        if len(sizes) != len(self.items):
            known = dict(zip(column.owners, sizes))
            sizes = [known.get(owner, 0) for owner in range(len(self.items))]
        items = list(chain.from_iterable(lists))
        return Level(items, key, self, (0, *accumulate(sizes)), single)


@attr.s(frozen=True, slots=True, auto_attribs=True, eq=False)
class Node:
    """What was read of one level.

    ``columns`` holds the plain values that are right, in canonical form; ``nodes`` the objects
    below, by key.
    """

    level: Level
    columns: Dict[str, Column]
    nodes: Dict[str, "Node"]

    def __getitem__(self, key: str) -> Column:
        """The values of a key that are right; none where there is none."""
        return self.columns.get(key, NO_COLUMN)

    def under(self, *keys: str) -> "Node":
        """The objects below, by the keys that lead there; an empty level where there are none."""
        node = self
        for key in keys:
            below = node.nodes.get(key)
            if below is None:
                below = Node(node.level.children(key, NO_COLUMN), {}, {})
            node = below
        return node
