"""The modules that scripts import from the vendor, and what serves each of their names.

Whoever serves these modules without the vendor's packages (``npu-config run``,
``install_npu_bridge``) takes every name from here.
"""

import functools
import importlib
from typing import Any, List

from npu_config.tf1 import vendor
from npu_config.tf1.vendor import MODULES, Home, is_package


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


__all__ = ["MODULES", "is_package", "names_of", "resolve"]
