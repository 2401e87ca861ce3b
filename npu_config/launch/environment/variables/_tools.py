"""Variables of precision_tool, and those that only the adapter for TensorFlow 2 reads."""

from npu_config.catalogue.kinds import Choice
from npu_config.core.diagnostics import Severity
from npu_config.launch.environment.kinds import (
    Switch,
    Whole,
)
from npu_config.launch.environment.variables._variable import ADAPTER, Variable, family

_ENV = "docs/en/tfa_env/"
_BOOL = Choice(("1", "true", "0", "false"))
_WARNING = Severity.WARNING
_NO_EFFECT = "no effect with TensorFlow 1.15"
_EARLY = "set it before npu_device is imported"
_tf2 = family(_ENV, products=ADAPTER, read_by=("npu_device (TF2)",), severity=_WARNING)

TOOLS = (
    Variable(
        "PRECISION_TOOL_OVERFLOW",
        "precision_tool collects overflows when no action is given",
        Switch("True"),
        read_by=("precision_tool",),
        interactions=("looked at before PRECISION_TOOL_DUMP",),
        facts=("precision-tool-env-switch",),
        severity=_WARNING,
    ),
    Variable(
        "PRECISION_TOOL_DUMP",
        "precision_tool dumps data when no action is given",
        Switch("True"),
        read_by=("precision_tool",),
        facts=("precision-tool-env-switch",),
        severity=_WARNING,
    ),
)

TENSORFLOW_2 = (
    _tf2(
        "NPU_DUMP_GRAPH",
        "dump of graphs by the adapter for TensorFlow 2; precision_tool writes true",
        _BOOL,
        interactions=(_NO_EFFECT,),
    ),
    _tf2(
        "NPU_DEBUG",
        "debug log of the adapter for TensorFlow 2",
        _BOOL,
        interactions=(_EARLY, _NO_EFFECT),
    ),
    _tf2(
        "NPU_ENABLE_PERF",
        "times of graphs, by the adapter for TensorFlow 2",
        _BOOL,
        interactions=("needs NPU_DEBUG", _NO_EFFECT),
    ),
    _tf2(
        "NPU_LOOP_SIZE",
        "steps in one loop on the device, for TensorFlow 2; 1.15 has iterations_per_loop",
        Whole(1),
        interactions=(_EARLY, _NO_EFFECT),
    ),
)
