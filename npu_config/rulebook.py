"""Every rule there is: those about options, and those that parsers and tools declare."""

import importlib
from typing import TYPE_CHECKING, Any, Tuple

from npu_config.core.diagnostics import REGISTRY, Rule
from npu_config.core.message import phrase

ROOMS = (
    "npu_config.launch",
    "npu_config.rank_table",
    "npu_config.diagnosis",
    "npu_config.dumps",
    "npu_config.judging",
    "npu_config.lint",
    "npu_config.migration.rules",
    "npu_config.precision_tool",
    "npu_config.presets",
    "npu_config.readers",
    "npu_config.rules",
    "npu_config.script",
    "npu_config.sidefiles",
    "npu_config.situations",
    "npu_config.text",
    "npu_config.tf1.rules",
    "npu_config.writers",
)
"""The parts of the package whose modules declare rules."""


def load_all() -> Tuple[Rule, ...]:
    """Every rule there is, in order of id."""
    import pkgutil

    for name in ROOMS:
        room = importlib.import_module(name)
        for found in pkgutil.walk_packages(getattr(room, "__path__", []), name + "."):
            importlib.import_module(found.name)
    return tuple(sorted(REGISTRY.values(), key=lambda rule: rule.id))


if TYPE_CHECKING:
    RULES: Tuple[Rule, ...]
    """Every rule: its id, its name, its severity, its page."""
else:

    def __getattr__(name: str) -> Any:
        if name == "RULES":
            return load_all()
        raise AttributeError(phrase("module {!r} has no attribute {!r}", __name__, name))
