"""YAML: the options by group, text in quotes where a parser might read something else."""

from typing import Any

from npu_config.rules.value import ConfigValue
from npu_config.text.plain_text import is_plain_yaml
from npu_config.writers._tree import tree
from npu_config.writers.escape import quoted, refuse_bytes
from npu_config.writers.notes import NO_NOTES, Notes


def render(config: ConfigValue, notes: Notes = NO_NOTES) -> str:
    """The text of a YAML configuration file."""
    refuse_bytes(config, "YAML")
    lines = notes.head()
    for key, value in tree(config).items():
        if isinstance(value, dict):
            lines.extend(("", "{}:".format(key)))
            for name, item in value.items():
                lines.extend("  " + line for line in notes.beside(name))
                lines.append("  {}: {}".format(name, scalar(item)))
        else:
            lines.extend(notes.beside(key))
            lines.append("{}: {}".format(key, scalar(value)))
    return "\n".join([*lines, *notes.rest(config.options)]) + "\n"


def scalar(value: Any) -> str:
    """A value as YAML 1.1 and 1.2 both read it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return str(value) if is_plain_yaml(value) else quoted(value)
