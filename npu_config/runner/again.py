"""Runs that a session makes again: known by the objects that they are given, without a look.

Training runs the same fetches thousands of times, and nothing about them changes as long as the
graph does not.  What was found out is kept with the objects, so that none of their ids is used
for another.
"""

from operator import attrgetter
from typing import Any, Dict, Iterator, Optional, Sequence, Tuple

from npu_config.runner.calls import LiveCall
from npu_config.tf1.purpose import Fetched, is_lasting

_MOST = 256
_NESTED = (list, tuple, dict)

Key = Tuple[Tuple[int, ...], Tuple[int, ...]]


class KnownRun:
    """A run that was made before.

    Attributes:
        call: what is kept of it.
        fetches: what was fetched, without the structure around it.
        feeds: the keys of what was fed.
        version: of the graph at that time.
        graph: the attributes of the graph.
    """

    __slots__ = ("call", "feeds", "fetches", "graph", "version")

    def __init__(
        self,
        call: LiveCall,
        fetches: Sequence[Any],
        feeds: Sequence[Any],
        version: int,
        graph: Any,
    ) -> None:
        self.call = call
        self.fetches = fetches
        self.feeds = feeds
        self.version = version
        self.graph: Dict[str, Any] = getattr(graph, "__dict__", {})  # none in TensorFlow 2

    @property
    def as_last(self) -> "Optional[KnownRun]":
        """Itself, where a run like it needs no look at anything else."""
        return self if self.call.is_plain and "_version" in self.graph else None


class RepeatedRuns:
    """The runs of one session that need no look when they are made again."""

    __slots__ = ("_graph", "_known", "_version", "_version_of")

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        version = "_version" if hasattr(graph, "_version") else "version"  # one of them has a lock
        self._version_of = attrgetter(version)
        self._known: Dict[Key, KnownRun] = {}
        self._version: Optional[int] = None

    def find(self, fetches: Any, feeds: Any) -> Optional[KnownRun]:
        """A run that was made before, of the same fetches and feeds of the same graph."""
        if self._version != self._version_of(self._graph):
            return None
        return self._known.get(_key(tuple(_leaves(fetches)), feeds))

    def keep(self, feeds: Any, found: Fetched, call: LiveCall) -> Optional[KnownRun]:
        """Remember a run that was looked at, where its fetches always mean the same."""
        if not found.operations or not all(map(is_lasting, found.given)):
            return None
        version = self._version_of(self._graph)
        if self._version != version or len(self._known) >= _MOST:
            self._known.clear()
        known = KnownRun(call, tuple(found.given), tuple(feeds), version, self._graph)
        self._known[_key(found.given, feeds)] = known
        self._version = version
        return known.as_last


def _key(fetches: Sequence[Any], feeds: Any) -> Key:
    return tuple(map(id, fetches)), tuple(map(id, feeds))


def _leaves(fetches: Any) -> Iterator[Any]:
    if type(fetches) not in _NESTED:
        yield fetches
        return
    for each in fetches.values() if type(fetches) is dict else fetches:
        yield from _leaves(each)
