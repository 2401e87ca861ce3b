"""The text form of a ConfigProto."""

from npu_config.rules.value import ConfigValue


def render(config: ConfigValue) -> str:
    """The text that TensorFlow's own text format reads."""
    return config.to_pbtxt()
