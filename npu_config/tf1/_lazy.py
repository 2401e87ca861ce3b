"""Modules that are needed only when something is wrong, imported then.

Diagnostics and rules cost several milliseconds to import, and a script in which nothing is
wrong never asks for them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npu_config.tf1 import errors, loop_rules, rules
else:

    class _Late:
        """A module that is imported when an attribute is asked for; the import system locks."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            return getattr(importlib.import_module(self._name), attribute)

    errors = _Late("npu_config.tf1.errors")
    loop_rules = _Late("npu_config.tf1.loop_rules")
    rules = _Late("npu_config.tf1.rules")

__all__ = ["errors", "loop_rules", "rules"]
