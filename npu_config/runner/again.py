"""Runs that a session makes again: known by the objects that they are given, without a look.

Training runs the same fetches thousands of times, and nothing about them changes as long as the
graph does not.  What was found out is kept with the objects, so that none of their ids is used
for another.
"""

from operator import attrgetter, is_
from typing import Any, Dict, Iterator, Optional, Sequence, Tuple

from npu_config.runner.calls import LiveCall
from npu_config.tf1.purpose import Fetched, is_lasting

_MOST = 256
_FLAT, _NESTED = (list, tuple), (list, tuple, dict)

Key = Tuple[Tuple[int, ...], Tuple[int, ...]]


class KnownRun:
    """A run that was made before.

    Attributes:
        call: what is kept of it.
        fetches: what was fetched, without the structure around it.
        feeds: the keys of what was fed.
        version: of the graph at that time.
    """

    __slots__ = ("call", "feeds", "fetches", "version")

    def __init__(
        self, call: LiveCall, fetches: Sequence[Any], feeds: Sequence[Any], version: int
    ) -> None:
        self.call = call
        self.fetches = fetches
        self.feeds = feeds
        self.version = version


class RepeatedRuns:
    """The runs of one session that need no look when they are made again."""

    __slots__ = ("_graph", "_known", "_last", "_version_of")

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        version = "_version" if hasattr(graph, "_version") else "version"  # one of them has a lock
        self._version_of = attrgetter(version)
        self._known: Dict[Key, KnownRun] = {}
        self._last: Optional[KnownRun] = None

    def find(self, fetches: Any, feeds: Any) -> Optional[KnownRun]:
        """A run that was made before, of the same fetches and feeds of the same graph."""
        last = self._last
        if last is None or last.version != self._version_of(self._graph):
            return None
        given = fetches if type(fetches) in _FLAT else tuple(_leaves(fetches))
        if (  # as the last time: most steps cost no more than this
            len(given) == len(last.fetches)
            and len(feeds) == len(last.feeds)
            and all(map(is_, given, last.fetches))
            and all(map(is_, feeds, last.feeds))
        ):
            return last
        known = self._known.get(_key(tuple(_leaves(fetches)), feeds))
        if known is not None:
            self._last = known
        return known

    def keep(self, feeds: Any, found: Fetched, call: LiveCall) -> None:
        """Remember a run that was looked at, where its fetches always mean the same."""
        if not found.operations or not all(map(is_lasting, found.given)):
            return
        version = self._version_of(self._graph)
        last = self._last
        if (last is not None and last.version != version) or len(self._known) >= _MOST:
            self._known.clear()
        self._last = KnownRun(call, tuple(found.given), tuple(feeds), version)
        self._known[_key(found.given, feeds)] = self._last


def _key(fetches: Sequence[Any], feeds: Any) -> Key:
    return tuple(map(id, fetches)), tuple(map(id, feeds))


def _leaves(fetches: Any) -> Iterator[Any]:
    if type(fetches) not in _NESTED:
        yield fetches
        return
    for each in fetches.values() if type(fetches) is dict else fetches:
        yield from _leaves(each)
