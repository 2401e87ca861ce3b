"""The binary form of a ConfigProto."""

from npu_config.rules.value import ConfigValue


def render(config: ConfigValue) -> bytes:
    """The bytes that ``tf.ConfigProto.FromString`` reads."""
    return config.to_bytes()
