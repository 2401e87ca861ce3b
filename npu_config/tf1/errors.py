"""The exceptions of the training side.

All are :class:`~npu_config.core.diagnostics.NpuConfigError` (and so ``ValueError``), carry
diagnostics, and are also the built-in exception that the vendor's function raises in the
same place, so that code that catches it goes on working.

    NpuConfigError(ValueError)
    ├── ArgumentError(TypeError)      an argument has the wrong type
    ├── StateError(RuntimeError)      the graph or the session is not in the state needed
    ├── StoreError(NameError)         a value is asked of the store before it exists
    └── VendorError(RuntimeError)     the vendor's library is needed and cannot be used
"""

from __future__ import annotations

from typing import Iterable

from npu_config.core import diagnostics, findings


class NpuConfigError(diagnostics.NpuConfigError):
    """A call of the training side is refused; who keeps the findings of a run is told."""

    def __init__(self, found: Iterable[diagnostics.Diagnostic]) -> None:
        super().__init__(found)
        findings.tell(*self.diagnostics)


class ArgumentError(NpuConfigError, TypeError):
    """An argument has the wrong type."""


class StateError(NpuConfigError, RuntimeError):
    """The graph or the session is not in the state that the call needs."""


class StoreError(NpuConfigError, NameError):
    """A value is asked of the process-wide store before it was created."""


class VendorError(NpuConfigError, RuntimeError):
    """The vendor's library is needed and cannot be used; the text names what is missing."""


class ConfigurationWarning(UserWarning):
    """Something about the configuration of a session or of a training loop needs attention.

    Turn it into an error with ``warnings.simplefilter("error", ConfigurationWarning)``.
    """
