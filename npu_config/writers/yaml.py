"""YAML: the options by group, text in quotes where a parser might read something else."""

import re
from typing import Any, List

from npu_config.rules.value import ConfigValue
from npu_config.writers._tree import tree
from npu_config.writers.escape import quoted, refuse_bytes

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*\Z|\.{1,2}/[A-Za-z0-9_./-]*\Z")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))


def render(config: ConfigValue) -> str:
    """The text of a YAML configuration file."""
    refuse_bytes(config, "YAML")
    lines: List[str] = []
    for key, value in tree(config).items():
        if isinstance(value, dict):
            lines.extend(("", "{}:".format(key)))
            lines.extend("  {}: {}".format(name, scalar(item)) for name, item in value.items())
        else:
            lines.append("{}: {}".format(key, scalar(value)))
    return "\n".join(lines) + "\n"


def scalar(value: Any) -> str:
    """A value as YAML 1.1 and 1.2 both read it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if _PLAIN.match(value) and value.lower() not in _WORDS:
        return str(value)
    return quoted(value)
