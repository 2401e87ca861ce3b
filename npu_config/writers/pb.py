"""The binary form of a ConfigProto."""

from typing import Any

from npu_config.proto import to_bytes
from npu_config.rules.value import ConfigValue


def render(config: ConfigValue, proto: Any = None) -> bytes:
    """The bytes that ``tf.ConfigProto.FromString`` reads."""
    return config.to_bytes() if proto is None else to_bytes(proto)
