"""The vendor's modules, served by this package under their own names.

Nothing is installed: a finder stands first in ``sys.meta_path`` as long as it is wanted.  Names
are looked up when they are used, so that importing a module costs what it needs.
"""

import importlib
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any, Callable, List, Optional, Sequence, Tuple

from npu_config.tf1 import vendor
from npu_config.tf1.modules import MODULES, is_package, names_of, resolve

SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shim")
"""A folder for ``PYTHONPATH``: processes that a script starts find the served modules there."""


_PACKAGES = frozenset(path for path in MODULES if "." not in path)


class Finder:
    """Finds the modules of the table :data:`~npu_config.tf1.modules.MODULES`."""

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """The specification of a served module; None for any other."""
        if name not in MODULES:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, origin=vendor.SERVED)  # type: ignore[arg-type]
        if is_package(name):
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
    module.__doc__ = "``{}``, served by npu_config.".format(path)
    module.__all__ = names_of(path)  # type: ignore[attr-defined]

    def look_up(name: str) -> Any:
        value = resolve(path, name)
        setattr(module, name, value)
        return value

    module.__getattr__ = look_up  # type: ignore[method-assign]


def installed() -> Optional[Finder]:
    """The finder that serves now, if there is one."""
    return next((each for each in sys.meta_path if isinstance(each, Finder)), None)


def served() -> Tuple[str, ...]:
    """The served modules that are imported now, in the order of their names."""
    return tuple(sorted(name for name in _names() if name in MODULES))


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
            from npu_config.core.diagnostics import NpuConfigError
            from npu_config.runner.rules import vendor_package_present

            message = "{} is installed here; its modules are not replaced".format(vendor.PACKAGE)
            help = "run the script with python, or force the stand-ins"
            raise NpuConfigError([vendor_package_present.diagnostic(message, help=help)])
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
        module = sys.modules.get(name)
        spec = getattr(module, "__spec__", None)
        if module is not None and getattr(spec, "origin", None) in (
            None,
            "namespace",
            vendor.SERVED,
        ):
            del sys.modules[name]


def _names() -> List[str]:
    return [name for name in sys.modules if name.split(".", 1)[0] in _PACKAGES]
