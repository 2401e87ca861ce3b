"""Packages whose names are loaded when they are first used."""

import importlib
import sys
from typing import Any, Callable, List, Mapping, Tuple


def lazy(
    package: str, homes: Mapping[str, str]
) -> Tuple[Callable[[str], Any], Callable[[], List[str]]]:
    """``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: its name.
        homes: public name to the module of the package that has it; a module of its own name is
            the name itself.
    """

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError("module {!r} has no attribute {!r}".format(package, name))
        module = importlib.import_module("{}.{}".format(package, homes[name]))
        value = module if homes[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> List[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, names
