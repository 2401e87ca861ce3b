"""The content of a configuration file as plain values, in the order in which it is written."""

from typing import Any, Dict

from npu_config.catalogue import REMOVED
from npu_config.catalogue.layout import VERSION, grouped
from npu_config.rules.value import ConfigValue


def tree(config: ConfigValue) -> Dict[str, Any]:
    """Version, options without a group (a table of TOML would take them), target, and groups."""
    values = config.to_dict()
    root: Dict[str, Any] = {"version": VERSION}
    root.update((name, value) for name, value in values.items() if name in REMOVED)
    target = config.target
    known = {
        "product": None if target.product is None else target.product.value,
        "mode": target.mode,
        "cann": target.cann,
        "adapter": target.adapter,
    }
    if any(known.values()):
        root["target"] = {key: value for key, value in known.items() if value is not None}
    for group, names in grouped(tuple(values)):
        root[group.key] = {name: values[name] for name in names}
    return root
