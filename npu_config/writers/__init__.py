"""Writers: from a configuration to every output.

A writer is a module with a function ``render(config)`` and an entry in :data:`FORMATS`.
"""

import importlib
import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple, Union

from npu_config.core.arguments import path_name
from npu_config.core.files import PathLike

if TYPE_CHECKING:
    from npu_config.rules.value import ConfigValue
    from npu_config.writers.notes import Notes

__all__ = ["FORMATS", "WITHOUT_COMMENTS", "render", "render_for"]

FORMATS: Mapping[str, Tuple[str, ...]] = {
    "yaml": (".yaml", ".yml"),
    "toml": (".toml",),
    "json": (".json",),
    "pbtxt": (".pbtxt",),
    "pb": (".pb",),
    "python": (),
    "run-config": (),
    "env": (),
}
"""What can be written, and the suffixes that ask for it."""


WITHOUT_COMMENTS = ("json", "pb")
"""The formats that carry values alone."""


def render(
    config: "ConfigValue", to: str, notes: "Optional[Notes]" = None, proto: Any = None
) -> Union[str, bytes]:
    """The configuration in one of :data:`FORMATS`.

    Args:
        config: what to write.
        to: the format.
        notes: what to say beside the values; :data:`WITHOUT_COMMENTS` cannot.
        proto: the ConfigProto to write, in place of one that is made of the configuration.

    Raises:
        ValueError: ``to`` is none of them.
        NpuConfigError: the format cannot carry an option that is set.
    """
    if to not in FORMATS:
        raise ValueError('unknown format "{}"; legal: {}'.format(to, ", ".join(FORMATS)))
    module = importlib.import_module("npu_config.writers." + to.replace("-", "_"))
    given: Dict[str, Any] = {}
    if notes is not None and to not in WITHOUT_COMMENTS:
        given["notes"] = notes
    if proto is not None:
        given["proto"] = proto
    content: Union[str, bytes] = module.render(config, **given)
    return content


def render_for(config: "ConfigValue", path: PathLike) -> Union[str, bytes]:
    """The configuration in the format that the suffix of ``path`` asks for.

    Raises:
        ValueError: no format has this suffix.
        NpuConfigError: the format cannot carry an option that is set.
    """
    suffix = os.path.splitext(path_name(path))[1].lower()
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return render(config, name)
    legal = ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
    raise ValueError('no format has the suffix "{}"; legal: {}'.format(suffix, legal))
