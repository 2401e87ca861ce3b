"""What the actions of precision_tool write into a parameter_map: one table for all who need it.

``script`` reads it to follow calls, ``precision_tool`` to do the same.

Source: facts api.md, section 11 (observed behaviour of precision_tool).
"""

from typing import List, Mapping, Union

ROOT = "precision_data"
NPU_DIRECTORY = ROOT + "/npu/debug_0"
DUMP_DIRECTORY = NPU_DIRECTORY + "/dump"
OVERFLOW_DIRECTORY = ROOT + "/overflow/dump"
DUMP_STEP = "0"

Value = Union[bool, int, str, None]

ACTIONS: Mapping[str, Mapping[str, Value]] = {
    "overflow": {
        "enable_dump_debug": True,
        "dump_debug_mode": "all",
        "dump_path": OVERFLOW_DIRECTORY,
        "op_debug_level": 4,
    },
    "dump": {
        "enable_dump": True,
        "dump_mode": "all",
        "dump_path": DUMP_DIRECTORY,
        "op_debug_level": 4,
        "dump_step": DUMP_STEP,
    },
    "fusion_off": {"fusion_switch_file": None},
    "fusion_switch": {"fusion_switch_file": None},
    "prof": {"profiling_mode": True, "profiling_options": None},
}
"""Action to options; None for a value that depends on where the tool is."""

ALWAYS: Mapping[str, Value] = {"debug_dir": NPU_DIRECTORY}
"""The options that every call sets."""

_ONE_OF = (("overflow", "dump"), ("fusion_off", "fusion_switch"), ("prof",))


def named_in(text: str) -> List[str]:
    """The actions that the original tool finds in a text, in the order of its preference."""
    found = ([name for name in names if name in text][:1] for names in _ONE_OF)
    return [name for first in found for name in first]
