"""``npu_config.check``: every finding about a configuration, whatever form it comes in."""

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from npu_config.core.diagnostics import Report
from npu_config.core.files import PathLike
from npu_config.core.message import phrase
from npu_config.core.settings import Settings
from npu_config.core.target import Target
from npu_config.rules.engine import judge

if TYPE_CHECKING:
    from npu_config.config import NpuConfig

__all__ = ["check"]


def check(
    source: Union["NpuConfig", Mapping[str, Any], PathLike, Settings, Any],
    target: Optional[Target] = None,
    on_host: bool = False,
) -> Report:
    """Find everything that is wrong.

    Args:
        source: a NpuConfig, a mapping of option name to value, a ConfigProto (TensorFlow's or
            the stub's), or the path of a file of any kind that ``npu-config check`` takes.
        target: where it shall run; None: what the source says, else any target.
        on_host: this is the training host: look at its environment, and at the paths that
            options point to.

    Returns:
        The findings, in order; ``report.ok`` when none is an error.

    Raises:
        TypeError: ``source`` is none of these.
    """
    from npu_config.config import NpuConfig

    environ = os.environ if on_host else None
    if isinstance(source, NpuConfig):
        settings, target = Settings.of(source.options), target or source.target
    elif isinstance(source, Mapping):
        settings = Settings.of(source)
    elif isinstance(source, Settings):
        settings = source
    elif isinstance(source, (str, os.PathLike)):
        from npu_config.readers import read

        return Report(read(source).judge(target, environ, on_host))
    elif getattr(getattr(source, "DESCRIPTOR", None), "name", None) == "ConfigProto":
        from npu_config.proto import decode

        settings = decode(source)
    else:
        raise TypeError(
            phrase(
                "check takes a NpuConfig, a mapping, a ConfigProto or a path, got {}",
                type(source).__name__,
            )
        )
    return Report(judge(settings, target, environ, on_host))
