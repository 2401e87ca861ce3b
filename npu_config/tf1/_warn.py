"""Warnings of the training side; they point at the line of the script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_config.core import findings
from npu_config.tf1._lazy import errors

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic


def warn(finding: Diagnostic) -> None:
    """Warn of a finding, at the innermost line that is not of a framework."""
    findings.warn(finding, errors.ConfigurationWarning)
