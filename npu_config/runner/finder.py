"""The vendor's modules, served by this package under their own names, and what serves each name.

Nothing is installed: a finder stands first in ``sys.meta_path`` as long as it is wanted.  Names
are looked up when they are used, so that importing a module costs what it needs.
"""

import functools
import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, Callable, List, Optional, Sequence, Tuple

from npu_config.tf1 import vendor
from npu_config.tf1.vendor import MODULES, Home, is_package

SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")
"""A folder for ``PYTHONPATH``: processes that a script starts find the served modules there."""

_SHIM_OF_TOOL = os.path.join(SHIM, "precision_tool", "__init__.py")


PRECISION_TOOL = ("precision_tool", "precision_tool.tf_config")
"""The vendor's precision_tool, as far as scripts import it; a copy of it beside a script stays."""

_PACKAGES = frozenset(path for path in (*MODULES, *PRECISION_TOOL) if "." not in path)


class Finder:
    """Finds the modules of the table :data:`~npu_config.tf1.vendor.MODULES`, and of
    :data:`PRECISION_TOOL`."""

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """The specification of a served module; None for any other."""
        if name in PRECISION_TOOL:
            theirs = importlib.machinery.PathFinder.find_spec(PRECISION_TOOL[0])
            if theirs is not None and theirs.origin not in (None, "namespace", _SHIM_OF_TOOL):
                return None
        elif name not in MODULES:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, origin=vendor.SERVED)  # type: ignore[arg-type]
        if is_package(name) or name == PRECISION_TOOL[0]:
            spec.submodule_search_locations = []
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """The import system makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names."""
        fill(module)


def fill(module: ModuleType) -> None:
    """Give a served module its names; each is looked up when it is used first."""
    path = module.__name__
    if path in PRECISION_TOOL:
        ours: Any = importlib.import_module("npu_config." + path)
        module.__doc__ = ours.__doc__
        names = (name for name in vars(ours) if name[0] != "_" and path != PRECISION_TOOL[0])
        module.__dict__.update({name: getattr(ours, name) for name in names})
        return
    module.__doc__ = "``{}``, served by npu_config.".format(path)
    module.__all__ = names_of(path)  # type: ignore[attr-defined]

    def look_up(name: str) -> Any:
        value = resolve(path, name)
        setattr(module, name, value)
        return value

    module.__getattr__ = look_up  # type: ignore[method-assign]


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


def serve(name: str) -> None:
    """Serve the vendor's modules where one of them was found through ``PYTHONPATH``.

    Args:
        name: that of the module that was found.
    """
    if name in _PACKAGES:  # and not as a module of npu_config
        install_npu_bridge(force=True)
        fill(sys.modules[name])


def installed() -> Optional[Finder]:
    """The finder that serves now, if there is one."""
    return next((each for each in sys.meta_path if isinstance(each, Finder)), None)


def served() -> Tuple[str, ...]:
    """The served modules that are imported now, in the order of their names."""
    known = (*MODULES, *PRECISION_TOOL)
    return tuple(
        sorted(
            name
            for name in _names()
            if name in known
            and getattr(sys.modules[name].__spec__, "origin", vendor.SERVED) == vendor.SERVED
        )
    )


def install_npu_bridge(force: bool = False) -> Callable[[], None]:
    """Serve ``npu_bridge``, ``hccl`` and their modules from this package.

    For tests and notebooks; ``npu-config run`` does it for a script.  Repeating it changes
    nothing.

    Args:
        force: also where the vendor's package is installed.

    Returns:
        A function that undoes it: the finder and the served modules are gone afterwards.

    Raises:
        NpuConfigError: the vendor's package is installed, and ``force`` is False.
    """
    if installed() is None:
        if vendor.is_available() and not force:
            from npu_config.tf1.rules import vendor_package_present

            message = "{} is installed here; its modules are not replaced".format(vendor.PACKAGE)
            help = "run the script with python, or force the stand-ins"
            raise vendor_package_present.error(message, help=help)
        _forget()
        sys.meta_path.insert(0, Finder())
    return uninstall_npu_bridge


def uninstall_npu_bridge() -> None:
    """Stop serving the vendor's modules."""
    sys.meta_path[:] = [each for each in sys.meta_path if not isinstance(each, Finder)]
    _forget()


def _forget() -> None:
    """Take modules out of ``sys.modules`` that were served, or found in empty folders."""
    for name in _names():
        module = sys.modules[name]
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if module is not None and origin in (None, "namespace", vendor.SERVED):
            del sys.modules[name]


def _names() -> List[str]:
    return [name for name in sys.modules if name.split(".", 1)[0] in _PACKAGES]
