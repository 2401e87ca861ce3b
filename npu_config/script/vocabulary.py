"""The names of npu_bridge and TensorFlow that the reader of scripts knows, and what a script is by
its text alone: one with options in it, or one that nobody has written for the NPU yet.

Source: the public signatures of npu_bridge.
"""

import functools
import re
from shlex import quote
from typing import Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from npu_config.catalogue.api import MODULES
from npu_config.core.message import phrase
from npu_config.core.names import ITERATION_OP, NPU_OPTIMIZER
from npu_config.python_flow.source import OURS, TENSORFLOW, of_modules
from npu_config.script.neighbours import any_file_has, modules_in, says

KIND_OF: Dict[str, str] = {
    "graph_options": "GraphOptions",
    "rewrite_options": "RewriterConfig",
    "optimizer_options": "OptimizerOptions",
}
"""The fields of a ConfigProto that are messages which are followed, with their kinds."""

OWNER_OF: Dict[str, str] = {
    "graph_options": "ConfigProto",
    "rewrite_options": "GraphOptions",
    "optimizer_options": "GraphOptions",
    "custom_optimizers": "RewriterConfig",
}
"""What a value must be that has one of these fields."""

ENUMS = ("RewriterConfig", "OptimizerOptions", "Toggle", "MemOptType", "GlobalJitLevel")
"""What the enumerated values of these messages are members of."""

TABLES = (
    *("HashTable", "StaticHashTable", "MutableHashTable", "MutableDenseHashTable"),
    *("DenseHashTable", "StaticVocabularyTable", "IdTableWithHashBuckets"),
    *("index_table_from_file", "index_table_from_tensor", "index_to_string_table_from_file"),
    *("index_to_string_table_from_tensor", "string_to_index_table_from_file"),
    "string_to_index_table_from_tensor",
)
"""What makes a lookup table."""

SESSIONS: Dict[str, int] = {
    "Session": 2,
    "InteractiveSession": 2,
    "MonitoredTrainingSession": 9,
    "prepare_or_wait_for_session": 1,
    "managed_session": 1,
    "prepare_session": 7,
    "recover_session": 6,
    "wait_for_session": 1,
    "PrecisionTfSession": 2,
    "ChiefSessionCreator": 2,
    "WorkerSessionCreator": 2,
    "SingularMonitoredSession": 3,
}
"""Calls that open a session with a ConfigProto, and the position of that argument."""

RUN_CONFIGS: FrozenSet[str] = frozenset(("RunConfig", "NPURunConfig"))

HOLDERS: Dict[str, Tuple[str, int]] = {
    "npu_config_proto": ("config_proto", 0),
    "set_keras_session_npu_config": ("config", 0),
    "npu_clear_session": ("config", 0),
    "init_resource": ("config", 0),
    "session_dump_config": ("session_config", 0),
}
"""Helpers of npu_bridge and precision_tool that take a ConfigProto: its parameter."""

PICKLES = ("pickle", "cPickle", "cloudpickle", "dill", "joblib", "runpy")
LOADING = ("load", "loads", "run_path", "run_module")
"""Modules that load any object, and how."""

SEEDS = (
    "custom_optimizers",
    "parameter_map",
    NPU_OPTIMIZER,
    "NPURunConfig",
    "NPUEstimator",
    "NpuConfigBuilder",
    "NpuConfig",
    "npu_config_proto",
    "npu_run_config_init",
    "set_keras_session_npu_config",
    "init_resource",
    "shutdown_resource",
    "session_dump_config",
    "update_custom_op",
    "set_iteration_per_loop",
    "iteration_per_loop_var",
    "SetIterationsVarHook",
    ITERATION_OP,
    "ProfilingConfig",
    "MemoryConfig",
    "DumpConfig",
    "GraphMemoryOptimizeConfig",
    "ExperimentalConfig",
    "DynamicInputConfig",
    "NPUOptimizer",
    "FixedLossScaleManager",
    "NPUOutputTensorHook",
    "TellMeStepOrLossHook",
    "limit_core_num_scope",
    "keep_tensors_dtypes",
    "text_format",
)
"""What makes a line of a script worth looking at."""

_COMMON = ("npu_config_proto", "FixedLossScaleManager", "npu_run_config_init", "text_format")
"""Those of them that stand in scripts without options, too."""
_HINTS = (b"npu", b"NPU", b"Npu", b"parameter_map", b"custom_op", b"dump_config")
NEEDLES = (
    b"from npu_config import",
    b"import npu_config as",
    b"import npu_config\n",
    b"import npu_device",
    b"from npu_device",
    *(word.encode() for word in SEEDS if word not in _COMMON),
)

_SHARED = (b"import npu_", b"from npu_", b"Config", b"NPU", b"teration", b"_resource", b"_system")
"""What several of these words have in common, so that one search does for all of them."""


def _grouped(words: Iterable[bytes]) -> List[Tuple[bytes, List[bytes]]]:
    """Words behind what they have in common; those that hold another one are left out."""
    words = list(words)
    groups: Dict[bytes, List[bytes]] = {}
    for word in words:
        if not any(other in word for other in words if other != word):
            shared = next((part for part in _SHARED if part in word), word)
            groups.setdefault(shared, []).append(word)
    return list(groups.items())


_NEEDLES = _grouped(NEEDLES)

_OURS = (b"npu_", b"NPU", b"_npu")
_EXPORTED = tuple(name.encode() for name in MODULES)


@functools.lru_cache(maxsize=1)
def may_matter(data: bytes) -> bool:
    """False for a file that is certainly no script with options in it.

    A script that imports everything from some module may have every name from there.
    """
    if not any(hint in data for hint in _HINTS):
        return False
    if _holds(data, _NEEDLES):
        return True
    if not any(word in data for word in _OURS):
        return False
    if any(word in data for word in _ADAPTERS):
        return True  # troubles of training need no option
    imported = b""
    for names in _imported(data):
        if b"*" in names:
            return False
        imported += names + b"\n"
    return any(name in data and name not in imported for name in _EXPORTED)


def _holds(data: bytes, groups: List[Tuple[bytes, List[bytes]]]) -> bool:
    """True for a script with a word of one of the groups."""
    return any(shared in data and any(word in data for word in words) for shared, words in groups)


_ADAPTERS = (b"npu_bridge", b"npu_config.npu_init", b"npu_config.tf1")


def _imported(data: bytes) -> Iterator[bytes]:
    """What follows ``import``, line by line, comments left out."""
    start = data.find(b"import ")
    while start >= 0:
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if b"#" not in data[data.rfind(b"\n", 0, start) + 1 : start]:
            yield data[start:end].partition(b"#")[0]
        start = data.find(b"import ", end)


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
_CALLS = tuple(word + "(" for word in _WORK)
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
    works = any(call in text for call in _CALLS)
    trains = works and _is_program(text) and _WORKS.search(text)
    if not named and not trains:
        return None
    framework = of_modules(modules_in(data))
    if framework == TENSORFLOW:
        if not trains:
            return None
        if path is not None and any_file_has(path, _OF_NPU):
            return None
        return Unmigrated(
            "a TensorFlow script that is not written for the NPU",
            "not written for the NPU; npu-config migrate lists the changes that are needed",
            phrase("run: npu-config migrate {}", quote(path or "FILE")),
        )
    if not named or framework is None or framework in OURS:
        return None
    what = phrase("a script for {}", framework)
    return Unmigrated(
        what,
        what,
        "only scripts for TensorFlow 1.15 are checked: import npu_bridge or npu_config",
    )
