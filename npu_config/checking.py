"""``npu_config.check``: every finding about a configuration, whatever form it comes in."""

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Union

from npu_config.core.calls import explained
from npu_config.core.diagnostics import Report
from npu_config.core.paths import PathLike
from npu_config.core.settings import Settings
from npu_config.core.target import Target
from npu_config.judging import Around, judge
from npu_config.rulebook import load_all
from npu_config.rules.own_names import help_for_keyword

if TYPE_CHECKING:
    from npu_config.config import NpuConfig

__all__ = ["check"]


@explained(help_for_keyword)
def check(
    source: Union["NpuConfig", Mapping[str, Any], PathLike, Settings, Any],
    target: Optional[Target] = None,
    on_host: bool = False,
) -> Report:
    """Find everything that is wrong.

    Args:
        source: a NpuConfig, a mapping of option name to value, a ConfigProto (TensorFlow's or
            the stub's), or the path of a file of any kind that ``npu-config check`` takes.
        target: where it shall run; what it leaves open is as the source says, else, for a file,
            as ``[tool.npu-config]`` of its project says, else any.
        on_host: this is the training host: look at its environment, and at the paths that
            options point to.

    Returns:
        The findings, in order; ``report.ok`` when none is an error.

    Raises:
        TypeError: ``source`` is none of these.
    """
    environ = os.environ if on_host else None
    around = Around(target, None, environ, on_host)
    if isinstance(source, (str, os.PathLike)):
        from npu_config.lint.project import in_project

        around = in_project(around, source, load_all)
    return Report(judge(source, around, known_rules=load_all).found)
