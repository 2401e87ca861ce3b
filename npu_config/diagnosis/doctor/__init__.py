"""The checks that the documentation asks for before accuracy or performance is tuned.

Each check ends as passed, failed, or cannot be checked here, with the reason.  What is
looked at: the options of a configuration or script, what stands around them in the session,
the environment, the machine.
"""

import os
from typing import Any, Mapping, Optional

import attr

from npu_config.core.target import Target
from npu_config.diagnosis.doctor import _checks
from npu_config.diagnosis.doctor._facts import CheckOutcome, Checkup, DoctorCheck, facts_of
from npu_config.judging import ALONE, Around, KnownRules, judge

__all__ = ["DoctorCheck", "Checkup", "CheckOutcome", "examine"]


def examine(
    source: Any = None,
    target: Optional[Target] = None,
    environ: Optional[Mapping[str, str]] = None,
    on_host: Optional[bool] = None,
    around: Around = ALONE,
    known_rules: Optional[KnownRules] = None,
    content: Optional[bytes] = None,
) -> Checkup:
    """Go through the checks.

    Args:
        source: a path (configuration file, ConfigProto text or bytes, training script), an
            NpuConfig, a mapping of options or a ConfigProto; None: only the machine.
        target: product, mode and version; what it leaves open is as the source says.
        environ: the environment of the job; None: that of this process.
        on_host: this is the training host: the source is judged with its paths and its
            environment, and what is missing here is a fault.  None: the source is judged without
            them, and what is missing is a fault when an NPU or the vendor's software is found.
        around: what is known besides, such as the target of the project.
        known_rules: as :func:`npu_config.judging.judge`.
        content: the content of the file, where it is not to be read from ``source``.

    Returns:
        Every check with its outcome, in the order of the documentation.

    Raises:
        TypeError: the source is of none of these types.
    """
    variables = os.environ if environ is None else environ
    around = attr.evolve(
        around,
        target=target,
        environ=variables if on_host else None,
        on_host=bool(on_host),
    )
    judged = None
    if source is not None:
        judged = judge(source, around, content=content, known_rules=known_rules)
    is_host = _checks.is_host(variables) if on_host is None else on_host
    facts = facts_of(judged, around, variables, is_host)
    checks = [make(facts) for make in _checks.CHECKS]
    return Checkup(tuple(checks), judged)
