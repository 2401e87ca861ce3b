"""A script beside which a module lies that has the name of this package.

Under ``python`` such a script imports its own ``npu_config``.  While it runs here, the name stands
for both: what this package has under a name, and else what the script's module has.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, Callable, Optional

_NAME = "npu_config"


def share(folder: str) -> Callable[[], None]:
    """Let the name of this package stand for the script's module, too, if there is one.

    The script's module runs when a name of it is asked for first.

    Args:
        folder: the folder of the script.

    Returns:
        A function that undoes it.
    """
    ours = sys.modules[_NAME]
    spec = importlib.machinery.PathFinder.find_spec(_NAME, [folder])
    if spec is None or spec.loader is None or _same(spec.origin, ours.__file__):
        return lambda: None
    both = ModuleType(_NAME)
    theirs: Optional[ModuleType] = None

    def look_up(name: str) -> Any:
        nonlocal theirs
        if name != "__all__" and hasattr(ours, name):
            return getattr(ours, name)
        if theirs is None:
            theirs = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(theirs)  # type: ignore[union-attr]
        if name == "__all__":
            return getattr(theirs, name, [each for each in vars(theirs) if each[:1] != "_"])
        return getattr(theirs, name)

    def undo() -> None:
        for name, value in vars(both).items():
            if isinstance(value, ModuleType) and value.__name__ == "{}.{}".format(_NAME, name):
                setattr(ours, name, value)
        sys.modules[_NAME] = ours

    both.__dict__.update(
        __path__=ours.__path__,
        __file__=ours.__file__,
        __spec__=ours.__spec__,
        __package__=ours.__package__,
        __getattr__=look_up,
    )
    sys.modules[_NAME] = both
    return undo


def _same(one: Optional[str], other: Optional[str]) -> bool:
    return bool(one and other and os.path.realpath(one) == os.path.realpath(other))
