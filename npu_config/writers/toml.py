"""TOML: one table for each group."""

from typing import Any, List

from npu_config.rules.value import ConfigValue
from npu_config.writers._tree import tree
from npu_config.writers.escape import quoted, refuse_bytes


def render(config: ConfigValue) -> str:
    """The text of a TOML configuration file."""
    refuse_bytes(config, "TOML")
    lines: List[str] = []
    for key, value in tree(config).items():
        if isinstance(value, dict):
            lines.extend(("", "[{}]".format(key)))
            lines.extend("{} = {}".format(name, _scalar(item)) for name, item in value.items())
        else:
            lines.append("{} = {}".format(key, _scalar(value)))
    return "\n".join(lines) + "\n"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else quoted(value)
