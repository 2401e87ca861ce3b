"""The training side, on TensorFlow 1.15 or the graph mode of 2.x.

Loops, hooks, sessions, the Estimator, loss scaling and the rest of what training scripts for
Ascend take from ``npu_bridge``; ``npu_config.npu_init`` puts it under the vendor's names.
Importing this package imports no TensorFlow; the first name that is used does.
"""

import importlib
from typing import Any, Dict, List

_HOMES: Dict[str, List[str]] = {
    "config_proto": [
        "npu_config_proto",
        "npu_graph_options",
        "npu_optimizer_options",
        "npu_run_config_init",
        "session_config",
    ],
    "errors": [
        "ArgumentError",
        "ConfigurationWarning",
        "StateError",
        "StoreError",
        "VendorError",
    ],
    "estimator": ["NPUEstimator", "NPUEstimatorSpec"],
    "hooks": [
        "NPUBroadcastGlobalVariablesHook",
        "NPUCheckpointSaverHook",
        "NPUOutputTensorHook",
        "NPUStopAtStepHook",
        "NpuEmptyHook",
        "SetIterationsVarHook",
        "TellMeStepOrLossHook",
        "npu_hooks_append",
    ],
    "keras": [
        "NPUBroadcastGlobalVariablesCallback",
        "npu_callbacks_append",
        "npu_clear_session",
        "set_keras_session_npu_config",
    ],
    "loops": ["IterationPerLoop", "set_iteration_per_loop"],
    "loss_scale": [
        "ExponentialUpdateLossScaleManager",
        "FixedLossScaleManager",
        "NPULossScaleOptimizer",
    ],
    "optimizers": [
        "KerasDistributeOptimizer",
        "NPUDistributedOptimizer",
        "NPUOptimizer",
        "npu_allreduce",
        "npu_distributed_optimizer_wrapper",
        "npu_keras_optimizer",
        "npu_tf_optimizer",
    ],
    "plan": ["LoopPlan", "plan_loops"],
    "resources": [
        "get_npu_local_rank_id",
        "get_npu_local_rank_size",
        "get_npu_rank_id",
        "get_npu_rank_size",
        "init_resource",
        "npu_resources",
        "shutdown_resource",
    ],
    "run_config": ["NPURunConfig"],
    "run_config_parts": [
        "DumpConfig",
        "DynamicInputConfig",
        "ExperimentalConfig",
        "GraphMemoryOptimizeConfig",
        "MemoryConfig",
        "ProfilingConfig",
    ],
    "scopes": ["NpuExecutePlacement"],
    "session": ["close_session", "npu_session", "patch_sessions", "unpatch_sessions"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
    value = getattr(importlib.import_module("{}.{}".format(__name__, home)), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__))
