"""Training scripts that nobody has written for the NPU yet: known by their text alone.

Nothing in them is an option, so nothing could be wrong with them; to say so would be an
all-clear that nobody meant.
"""

import re
from typing import NamedTuple, Optional

from npu_config.core.frameworks import OURS, TENSORFLOW, of_modules
from npu_config.core.message import phrase
from npu_config.script.neighbours import any_file_has, modules_in, says
from npu_config.script.vocabulary import RUN_CONFIGS, SESSIONS

__all__ = ["Unmigrated", "unmigrated"]

_OF_NPU = ("npu_bridge", "npu_config", "npu_device", "NpuOptimizer", "custom_optimizers")
"""One of them in a script, or in a file that it imports, and it is for the NPU."""
_WORK = (
    *SESSIONS,
    *RUN_CONFIGS,
    "Estimator",
    "DistributedOptimizer",
    "minimize",
    "apply_gradients",
    "train_and_evaluate",
    "fit",
    "fit_generator",
    "train_on_batch",
)
_WORKS = re.compile(
    r"^(?![ \t]*(?:#|def |class )).*\b(?:" + "|".join(_WORK) + r")\(", re.MULTILINE
)
_PROGRAM = re.compile(
    r"^(?:with\b.*[sS]ession\(|(?:\w+[ \t]*=[ \t]*)?[\w.]*\b(?:run|fit|train|main|"
    r"minimize|train_and_evaluate)\()",
    re.MULTILINE,
)


def _is_program(text: str) -> bool:
    return "__main__" in text or _PROGRAM.search(text) is not None


class Unmigrated(NamedTuple):
    """``what`` a script is, ``why`` that is not checked, and what to do."""

    what: str
    why: str
    help: str


def unmigrated(data: bytes, path: Optional[str], named: bool = True) -> Optional[Unmigrated]:
    """Why a script that names nothing of the NPU is not checked; None: nothing needs be said.

    It trains, or runs a graph, and neither it nor a file that it imports is for the NPU.  A
    module that others import is silent: they decide.

    Args:
        data: the script.
        path: its file; None where it is in none.
        named: the user named it; of scripts that were only found, those of other frameworks
            are nothing to speak of.
    """
    if not named and any(says(data, word.encode()) for word in _OF_NPU):
        return None
    text = data.decode("utf-8", "replace") if b"tensorflow" in data else ""
    trains = _is_program(text) and _WORKS.search(text)
    if not named and not trains:
        return None
    framework = of_modules(modules_in(data))
    if framework == TENSORFLOW:
        if not trains:
            return None
        if path is not None and any_file_has(path, _OF_NPU):
            return None
        return Unmigrated(
            "a script of TensorFlow that is not written for the NPU",
            "not written for the NPU; npu-config migrate says what to change",
            phrase("run: npu-config migrate {}", path or "FILE"),
        )
    if not named or framework is None or framework in OURS:
        return None
    what = phrase("a script for {}", framework)
    return Unmigrated(
        what,
        what,
        "what is checked is for TensorFlow 1.15: import npu_bridge or npu_config",
    )
