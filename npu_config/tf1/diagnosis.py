"""The hook that diagnoses a graph before it is trained."""

from __future__ import annotations

import logging
from typing import Any, Set

from npu_config.core.diagnostics import Diagnostic, NpuConfigError
from npu_config.core.findings import tell
from npu_config.diagnosis.graph import Diagnosis, diagnose
from npu_config.tf1._bases import SessionRunHook
from npu_config.tf1.tensorflow import tf

_LOG = logging.getLogger("npu_config")


class DiagnosisHook(SessionRunHook):
    """Looks for what will fail on the NPU before the first run, and says it there and then.

    With a configuration, the input pipeline and the control flow are looked at before the
    session is created (its initialisation would already fail); everything once the session
    is there and the graph is complete.

    Args:
        config: an NpuConfig, a mapping of options or a ConfigProto; None: that of the session.
        raise_on_error: raise when a finding is an error; else findings are only logged.

    Attributes:
        diagnosis: the findings, once the session is there.

    Raises:
        NpuConfigError: from ``begin`` or ``after_create_session``, with every finding.
    """

    def __init__(self, config: Any = None, raise_on_error: bool = True) -> None:
        self._config = config
        self._raise = raise_on_error
        self._said: Set[Diagnostic] = set()
        self.diagnosis = Diagnosis()

    def begin(self) -> None:
        """Diagnose the model; hooks may still add to the graph."""
        if self._config is not None:
            found = diagnose(tf.get_default_graph(), self._config)
            self._say(Diagnosis(each for each in found.findings if each.case is not None))

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Diagnose the complete graph."""
        self.diagnosis = diagnose(session, self._config)
        self._say(self.diagnosis)

    def _say(self, found: Diagnosis) -> None:
        if self._raise and not found.ok:
            raise NpuConfigError(found)
        for diagnostic in found:
            if diagnostic not in self._said:
                tell(diagnostic)
                self._said.add(diagnostic)
                level = logging.INFO if diagnostic in found.infos else logging.WARNING
                _LOG.log(level, "%s", diagnostic)
