"""``npu_config.check``: every finding about a configuration, whatever form it comes in."""

import os
from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Union

from npu_config.diagnostics import Diagnostic, Report
from npu_config.files import PathLike
from npu_config.judge import judge
from npu_config.settings import Settings
from npu_config.target import Target

if TYPE_CHECKING:
    from npu_config.config import NpuConfig
    from npu_config.readers import Reading

__all__ = ["check", "judge_all", "judge_reading"]


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

    if isinstance(source, NpuConfig):
        return check(Settings.of(source.options), target or source.target, on_host)
    if isinstance(source, Mapping):
        return check(Settings.of(source), target, on_host)
    if isinstance(source, Settings):
        return Report(judge_all([source], target, on_host))
    if isinstance(source, (str, os.PathLike)):
        from npu_config.readers import read

        return Report(judge_reading(read(source), target, on_host))
    if hasattr(source, "DESCRIPTOR") and source.DESCRIPTOR.name == "ConfigProto":
        from npu_config.proto import decode

        return Report(judge_all([decode(source)], target, on_host))
    raise TypeError(
        "check takes a NpuConfig, a mapping, a ConfigProto or a path, got {}".format(
            type(source).__name__
        )
    )


def judge_reading(
    reading: "Reading", target: Optional[Target] = None, on_host: bool = False
) -> List[Diagnostic]:
    """What the reader found, and what the rules find in the settings it read."""
    found = judge_all(reading.settings, target or reading.target, on_host)
    return [*reading.diagnostics, *found]


def judge_all(
    settings: Iterable[Settings], target: Optional[Target] = None, on_host: bool = False
) -> List[Diagnostic]:
    """What the rules find in each of several settings."""
    environ = os.environ if on_host else None
    return [diagnostic for one in settings for diagnostic in judge(one, target, environ, on_host)]
