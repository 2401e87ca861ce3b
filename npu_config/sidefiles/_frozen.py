"""An immutable, hashable mapping for the fields of models, and the converters of fields.

What is no list or mapping stays as it is for the judgement.
"""

from typing import Any, Dict, Iterable, Iterator, Mapping, Tuple, TypeVar, Union

K = TypeVar("K")
V = TypeVar("V")


class Table(Mapping[K, V]):
    """A mapping that keeps its order and never changes; equal to any mapping with its items."""

    __slots__ = ("_items",)

    def __init__(self, items: Union[Mapping[K, V], Iterable[Tuple[K, V]]] = ()) -> None:
        self._items: Dict[K, V] = dict(items)

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return "Table({!r})".format(self._items)

    def __reduce__(self) -> Tuple[object, ...]:
        return (type(self), (self._items,))


def texts(value: Iterable[str]) -> Tuple[str, ...]:
    """A sequence as a tuple."""
    given: Any = value
    sequence = isinstance(given, Iterable) and not isinstance(given, str)
    found: Tuple[str, ...] = tuple(given) if sequence else given
    return found


def text_table(value: Mapping[str, str]) -> Mapping[str, str]:
    """A mapping as a frozen one."""
    return Table(value) if isinstance(value, Mapping) else value
