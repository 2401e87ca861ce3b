"""The cyclic garbage collector, held off where it would find nothing."""

import contextlib
import gc
from typing import Iterator


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
