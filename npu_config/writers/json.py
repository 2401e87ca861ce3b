"""JSON: one object for each group."""

import json

from npu_config.rules.value import ConfigValue
from npu_config.writers._tree import tree
from npu_config.writers.escape import refuse_bytes


def render(config: ConfigValue) -> str:
    """The text of a JSON configuration file."""
    refuse_bytes(config, "JSON")
    return json.dumps(tree(config), indent=2, ensure_ascii=False) + "\n"
