"""The text form of a ConfigProto."""

from npu_config.config import NpuConfig


def render(config: NpuConfig) -> str:
    """The text that TensorFlow's own text format reads."""
    return config.to_pbtxt()
