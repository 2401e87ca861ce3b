"""Values of the user's that are replaced by what a configuration needs."""

from __future__ import annotations

from typing import Any, Iterable, Tuple

from npu_config.catalogue import ALL_OPTIONS
from npu_config.core.calls import warn
from npu_config.core.diagnostics import Severity, declare
from npu_config.core.message import phrase


@declare("NPU8041", Severity.WARNING, source=("npu_config",), shows=("run",))
def value_overwritten() -> None:
    """A configuration or preset replaces an existing value.

    The existing value is in the ConfigProto to which the configuration is added, or in an
    environment variable that the preset sets for a block of code.  The value that was configured
    last is used.  The script sets both values, but only one of them can be intended.

    Wrong:

        custom_op.parameter_map["deterministic"].i = 0
        config = NpuConfigBuilder().deterministic().build().to_config_proto(config)

    Right:

        config = NpuConfigBuilder().deterministic().build().to_config_proto(config)
    """


class OverwrittenWarning(UserWarning):
    """A value that the user had put into a ConfigProto was replaced by the configuration's."""


def warn_overwritten(overwritten: Iterable[Tuple[str, Any, Any]]) -> None:
    """Warn of each value of a ConfigProto that was replaced.

    Args:
        overwritten: what, the old value, the new one.
    """
    for what, old, new in overwritten:
        warn_replaced(
            phrase(
                "{} was {!r} in the ConfigProto of the script; npu_config replaced this "
                "value with {!r}",
                what,
                old,
                new,
            ),
            what,
        )


def warn_replaced(message: str, what: str) -> None:
    """Warn of one value that was replaced.

    Args:
        message: what it was, and what it is now.
        what: the option, if it is one.
    """
    option = what if what in ALL_OPTIONS else None
    finding = value_overwritten.diagnostic(
        message, option=option, help="set the value in one place only"
    )
    warn(finding, OverwrittenWarning, message)
