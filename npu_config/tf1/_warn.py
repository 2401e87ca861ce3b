"""Warnings of the training side; they point at the line of the script."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from npu_config.tf1._lazy import errors

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

_NOT_THE_USER = (
    "contextlib",
    "importlib",
    "keras",
    "six",
    "tensorflow",
    "tensorflow_core",
    "tensorflow_estimator",
)
"""Packages that make sessions and run them on behalf of a script."""


def warn(finding: Diagnostic) -> None:
    """Warn of a finding, at the innermost line that is not of a framework."""
    from npu_config.core.caller import caller_level

    warnings.warn(
        str(finding), errors.ConfigurationWarning, stacklevel=caller_level(*_NOT_THE_USER)
    )
