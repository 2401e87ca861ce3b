"""The modules that scripts import from the vendor, and what serves each of their names.

One table, ``modules.txt``, of module paths of ``npu_bridge`` and ``hccl``; whoever serves these
modules without the vendor's packages (``npu-config run``, ``install_npu_bridge``) takes every
name from here.

Under each path, the sources of its names:

- a module of this package (``hooks``), for what it offers under the same name;
- ``npu_init: *``, for every name of ``npu_config.npu_init``;
- ``operators``, for the object with every operator of the adapter's library;
- ``device``, for what only the vendor's library can do: a function that raises when called;
- ``import``, for other modules of the vendor's;
- another path of the table, for what the vendor imports from there.

``name=other`` is a name that its source calls otherwise.

Source: facts modules.yaml, the module paths and names of npu_bridge 2021 to 2026 and hccl.
"""

import functools
import importlib
import os
from typing import Any, Dict, List, Mapping, NamedTuple

from npu_config.tf1 import vendor


class Home(NamedTuple):
    """Where a name of a vendor's module comes from.

    Attributes:
        source: what the table says.
        name: its name there.
    """

    source: str
    name: str


_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules.txt")


def _read(path: str) -> Dict[str, Dict[str, Home]]:
    modules: Dict[str, Dict[str, Home]] = {}
    names: Dict[str, Home] = {}
    source = ""
    with open(path, encoding="utf-8") as table:
        for line in table.read().splitlines():
            if not line.startswith(" "):
                names = modules.setdefault(line, {})
                continue
            head, colon, rest = line.rpartition(": ")
            source = head.strip() if colon else source
            for word in rest.split():
                name, _, there = word.partition("=")
                names[name] = Home(source, there or name)
    return modules


MODULES: Mapping[str, Mapping[str, Home]] = _read(_TABLE)
"""Path of a vendor's module to its names and their homes."""


def is_package(path: str) -> bool:
    """True for a path that has other paths of the table below it."""
    return any(other.startswith(path + ".") for other in MODULES)


def names_of(path: str) -> List[str]:
    """The names of a vendor's module, without those of modules below it.

    Args:
        path: a path of :data:`MODULES`.
    """
    names = list(MODULES[path])
    return list(_module("npu_init").__all__) if names == ["*"] else names


def resolve(path: str, name: str) -> Any:
    """What serves a name of a vendor's module.

    Nothing of the vendor's is imported, and TensorFlow only where the name needs it.

    Args:
        path: a path of :data:`MODULES`.
        name: a name of that module.

    Raises:
        AttributeError: the module has no such name.
    """
    homes = MODULES[path]
    home = Home("npu_init", name) if "*" in homes else homes.get(name)
    if home is None:
        raise AttributeError("module {!r} has no attribute {!r}".format(path, name))
    if home.source == "device":
        return vendor.late(path.partition(".")[2], name)
    if home.source == "operators":
        return _module("npu_unary_ops")
    if home.source == "import":
        return importlib.import_module(home.name)
    if "." in home.source:
        return resolve(home.source, home.name)
    return getattr(_module(home.source), home.name)


@functools.lru_cache(maxsize=None)
def _module(name: str) -> Any:
    """A module of ours by the name that the table gives it."""
    package = "npu_config" if name == "npu_init" else "npu_config.tf1"
    return importlib.import_module("{}.{}".format(package, name))
