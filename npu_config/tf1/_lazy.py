"""What is needed only when something is wrong: modules that are imported then, and warnings.

Diagnostics and rules cost several milliseconds to import, and a script in which nothing is
wrong never asks for them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic
    from npu_config.tf1 import errors, rules
else:

    class _Late:
        """A module that is imported when an attribute is asked for; the import system locks."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> Any:
            return getattr(importlib.import_module(self._name), attribute)

    errors = _Late("npu_config.tf1.errors")
    rules = _Late("npu_config.tf1.rules")


def warn(finding: Diagnostic) -> None:
    """Warn of a finding, at the innermost line that is not of a framework."""
    from npu_config.core import calls

    calls.warn(finding, errors.ConfigurationWarning)


__all__ = ["errors", "rules", "warn"]
