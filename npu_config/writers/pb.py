"""The binary form of a ConfigProto."""

from npu_config.config import NpuConfig


def render(config: NpuConfig) -> bytes:
    """The bytes that ``tf.ConfigProto.FromString`` reads."""
    return config.to_bytes()
