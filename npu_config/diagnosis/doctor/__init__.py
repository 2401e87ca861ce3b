"""The checks that the documentation asks for before accuracy or performance is tuned.

Each check ends as passed, failed, or cannot be checked here, with the reason.  What is
looked at: the options of a configuration or script, what stands around them in the session,
the environment, the machine.
"""

import os
from typing import Any, Mapping, Optional

from npu_config.core.target import Target
from npu_config.diagnosis.doctor import _host, _options
from npu_config.diagnosis.doctor._facts import Facts, facts_of
from npu_config.diagnosis.doctor._model import Check, Checkup, Outcome

__all__ = ["Check", "Checkup", "Outcome", "examine"]


def examine(
    source: Any = None,
    target: Optional[Target] = None,
    environ: Optional[Mapping[str, str]] = None,
    on_host: Optional[bool] = None,
) -> Checkup:
    """Go through the checks.

    Args:
        source: a path (configuration file, ConfigProto text or bytes, training script), an
            NpuConfig, a mapping of options or a ConfigProto; None: only the machine.
        target: product and mode; None: what the source says.
        environ: the environment of the job; None: that of this process.
        on_host: this is the training host, so that a path that is missing here is a fault;
            None: it is one when an NPU or the vendor's software is found.

    Returns:
        Every check with its outcome, in the order of the documentation.

    Raises:
        TypeError: the source is of none of these types.
    """
    facts: Facts = facts_of(
        source,
        target,
        os.environ if environ is None else environ,
        _host.is_host(os.environ if environ is None else environ) if on_host is None else on_host,
    )
    checks = [make(facts) for make in (*_options.CHECKS, *_host.CHECKS)]
    return Checkup(tuple(checks))
