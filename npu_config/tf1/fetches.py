"""What fetches mean in a session, remembered: training runs the same ones again and again."""

from __future__ import annotations

import functools
import re
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from npu_config.tf1.tensorflow import internal, tf

_ON_HOST = re.compile(r"PyFunc|EagerPyFunc|Queue|Reader|LookupTable")
_MEMORY = "_npu_config_fetches"
_MOST = 256


class Fetched(NamedTuple):
    """The meaning of fetches.

    Attributes:
        given: operations, tensors and names as they were given; kept, so that their ids stay.
        operations: the operations that are fetched, or make what is fetched.
        inside: what a round of a loop before the last one runs: what the host makes (text,
            summaries, Python functions, elements of queues) is made once.
        facts: what was found out about the operations, with the version of the graph.
    """

    given: List[Any]
    operations: List[Any]
    inside: List[Any]
    facts: Dict[Any, Tuple[int, Any]]

    def fact(self, find_out: Callable[[List[Any]], Any]) -> Any:
        """What a function says of the operations; asked again when the graph has grown."""
        if not self.operations:
            return find_out(self.operations)
        version = self.operations[0].graph.version
        known = self.facts.get(find_out)
        if known is None or known[0] != version:
            known = self.facts[find_out] = version, find_out(self.operations)
        return known[1]


def fetched(session: Any, fetches: Any) -> Fetched:
    """The meaning of fetches in a real session; of nothing where TensorFlow refuses them."""
    memory = vars(session).setdefault(_MEMORY, {})
    given: List[Any] = []
    if not _add_leaves(fetches, given):  # of a kind that may change its meaning
        return _look_up(session, fetches, given, memory)
    key = tuple([each if type(each) is str else id(each) for each in given])
    known = memory.get(key)
    if known is None:
        known = _look_up(session, fetches, given, memory)
        if len(memory) > _MOST:
            memory.clear()
        if known.operations:  # what is refused now may be in the graph later
            memory[key] = known
    return known  # type: ignore[no-any-return]


def _look_up(session: Any, fetches: Any, given: List[Any], memory: Dict[Any, Any]) -> Fetched:
    try:
        handler = internal("client.session")._FetchHandler(session.graph, fetches, {})
    except (TypeError, ValueError, KeyError):
        return Fetched(given, [], [], {})
    targets, tensors = handler.targets(), handler.fetches()
    inside = [
        tensor
        for tensor in tensors
        if tensor.dtype.base_dtype != tf.string and not _ON_HOST.match(tensor.op.type)
    ]
    operations = [*targets, *(tensor.op for tensor in tensors)]
    facts = memory.setdefault(frozenset(operations), {})
    return Fetched(given, operations, [*targets, *inside], facts)


def _add_leaves(fetches: Any, leaves: List[Any]) -> bool:
    """Collect what fetches are made of; False where one is of a kind that is not known."""
    kind = type(fetches)
    if kind is list or kind is tuple:
        return all(_add_leaves(each, leaves) for each in fetches)
    if kind is dict:
        return all(_add_leaves(each, leaves) for each in fetches.values())
    leaves.append(fetches)
    return kind is str or isinstance(fetches, _nodes())


@functools.lru_cache(maxsize=None)
def _nodes() -> Tuple[type, type]:
    return tf.Operation, tf.Tensor
