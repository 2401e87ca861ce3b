"""TOML: one table for each group."""

from typing import Any

from npu_config.rules.value import ConfigValue
from npu_config.writers._tree import tree
from npu_config.writers.escape import quoted, refuse_bytes
from npu_config.writers.notes import NO_NOTES, Notes


def render(config: ConfigValue, notes: Notes = NO_NOTES) -> str:
    """The text of a TOML configuration file."""
    refuse_bytes(config, "TOML")
    lines = notes.head()
    for key, value in tree(config).items():
        if isinstance(value, dict):
            lines.extend(("", "[{}]".format(key)))
            for name, item in value.items():
                lines.extend(notes.beside(name))
                lines.append("{} = {}".format(name, _scalar(item)))
        else:
            lines.extend(notes.beside(key))
            lines.append("{} = {}".format(key, _scalar(value)))
    return "\n".join([*lines, *notes.rest(config.options)]) + "\n"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else quoted(value)
