"""The text form of a ConfigProto."""

from typing import Any

from npu_config.proto import to_text
from npu_config.rules.value import ConfigValue
from npu_config.writers.notes import NO_NOTES, Notes


def render(config: ConfigValue, notes: Notes = NO_NOTES, proto: Any = None) -> str:
    """The text that TensorFlow's own text format reads."""
    text = config.to_pbtxt() if proto is None else to_text(proto)
    return "".join(line + "\n" for line in notes.comments(config.options)) + text
