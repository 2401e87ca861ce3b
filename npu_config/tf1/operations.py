"""Walks over the operations of a graph."""

from typing import Any, Callable, Iterable, Iterator, Set

Follow = Callable[[Any], Iterable[Any]]


def reached(operations: Iterable[Any], follow: Follow) -> Iterator[Any]:
    """These operations and all that ``follow`` leads to from them, each once."""
    found: Set[Any] = set()
    waiting = list(operations)
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            yield each
            waiting += follow(each)


def needed(operations: Iterable[Any]) -> Iterator[Any]:
    """The operations that a run of these needs, themselves included."""
    return reached(operations, lambda each: [*each.control_inputs, *inputs(each)])


def inputs(operation: Any) -> Iterable[Any]:
    """The operations that make the inputs of one."""
    return [tensor.op for tensor in operation.inputs]
