"""JSON: one object for each group."""

import json

from npu_config.config import NpuConfig
from npu_config.writers._text import refuse_bytes
from npu_config.writers._tree import tree


def render(config: NpuConfig) -> str:
    """The text of a JSON configuration file."""
    refuse_bytes(config, "JSON")
    return json.dumps(tree(config), indent=2, ensure_ascii=False) + "\n"
