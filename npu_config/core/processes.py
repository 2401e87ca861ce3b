"""What costs time: work that several processes share, and the garbage collector held off."""

import contextlib
import gc
from typing import Callable, Iterable, Iterator, Sequence, TypeVar

__all__ = ["in_processes"]

_Work = TypeVar("_Work")
_Result = TypeVar("_Result")


def in_processes(
    function: Callable[[_Work], _Result],
    works: Sequence[_Work],
    processes: int,
    apart: Callable[[_Work], Iterable[_Result]],
) -> Iterator[_Result]:
    """The results of a function, in order; where no process can be had, from this one.

    Args:
        function: one of a module, which other processes can import.
        works: its arguments.
        processes: how many processes share them.
        apart: the results of a piece of work when a process has ended, for it and all behind it.
    """
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    done = 0
    try:
        with ProcessPoolExecutor(processes) as pool:
            for result in pool.map(function, works):
                done += 1
                yield result
    except BrokenProcessPool:
        for work in works[done:]:
            yield from apart(work)
    except (OSError, NotImplementedError):
        yield from map(function, works[done:])


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Hold the collector off, as a context or a decorator.

    Where many objects are made that have no circles, such as JSON values and the nodes of a
    syntax tree, it would walk them again and again, a quarter of the whole time.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
