"""Modules that are needed only when something is wrong, loaded then.

Diagnostics and rules cost several milliseconds to import, and a script in which nothing is
wrong never asks for them.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from npu_config.tf1 import errors, rules
else:

    def _late(name: str) -> ModuleType:
        """A module that runs when its first attribute is asked for."""
        if name in sys.modules:
            return sys.modules[name]
        spec = importlib.util.find_spec(name)
        spec.loader = importlib.util.LazyLoader(spec.loader)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    errors = _late("npu_config.tf1.errors")
    rules = _late("npu_config.tf1.rules")

__all__ = ["errors", "rules"]
