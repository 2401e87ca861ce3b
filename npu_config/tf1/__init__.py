"""The training side, on TensorFlow 1.15 or the graph mode of 2.x.

Loops, hooks, sessions, the Estimator, loss scaling and the rest of what training scripts for
Ascend take from ``npu_bridge``; ``npu_config.npu_init`` puts it under the vendor's names.
Importing this package imports no TensorFlow; the first name that is used does.
"""

import importlib
from typing import TYPE_CHECKING, Any, Dict, List

if TYPE_CHECKING:
    from npu_config.tf1.config_proto import (
        npu_config_proto,
        npu_graph_options,
        npu_optimizer_options,
        npu_run_config_init,
        session_config,
    )
    from npu_config.tf1.errors import (
        ArgumentError,
        ConfigurationWarning,
        StateError,
        StoreError,
        VendorError,
    )
    from npu_config.tf1.estimator import (
        NPUEstimator,
        NPUEstimatorSpec,
    )
    from npu_config.tf1.hooks import (
        NPUBroadcastGlobalVariablesHook,
        NPUCheckpointSaverHook,
        NpuEmptyHook,
        NPUOutputTensorHook,
        NPUStopAtStepHook,
        SetIterationsVarHook,
        TellMeStepOrLossHook,
        npu_hooks_append,
    )
    from npu_config.tf1.keras import (
        NPUBroadcastGlobalVariablesCallback,
        npu_callbacks_append,
        npu_clear_session,
        set_keras_session_npu_config,
    )
    from npu_config.tf1.loop_runs import (
        set_loops,
    )
    from npu_config.tf1.loops import (
        IterationPerLoop,
        set_iteration_per_loop,
    )
    from npu_config.tf1.loss_scale import (
        ExponentialUpdateLossScaleManager,
        FixedLossScaleManager,
        NPULossScaleOptimizer,
    )
    from npu_config.tf1.optimizers import (
        KerasDistributeOptimizer,
        NPUDistributedOptimizer,
        NPUOptimizer,
        npu_allreduce,
        npu_distributed_optimizer_wrapper,
        npu_keras_optimizer,
        npu_tf_optimizer,
    )
    from npu_config.tf1.plan import (
        LoopPlan,
        plan_loops,
    )
    from npu_config.tf1.resources import (
        get_npu_local_rank_id,
        get_npu_local_rank_size,
        get_npu_rank_id,
        get_npu_rank_size,
        init_resource,
        npu_resources,
        shutdown_resource,
    )
    from npu_config.tf1.run_config import (
        NPURunConfig,
    )
    from npu_config.tf1.run_config_parts import (
        DumpConfig,
        DynamicInputConfig,
        ExperimentalConfig,
        GraphMemoryOptimizeConfig,
        MemoryConfig,
        ProfilingConfig,
    )
    from npu_config.tf1.scopes import (
        NpuExecutePlacement,
    )
    from npu_config.tf1.session import (
        close_session,
        npu_session,
        patch_sessions,
        unpatch_sessions,
    )

__all__ = [
    "ArgumentError",
    "ConfigurationWarning",
    "DumpConfig",
    "DynamicInputConfig",
    "ExperimentalConfig",
    "ExponentialUpdateLossScaleManager",
    "FixedLossScaleManager",
    "GraphMemoryOptimizeConfig",
    "IterationPerLoop",
    "KerasDistributeOptimizer",
    "LoopPlan",
    "MemoryConfig",
    "NPUBroadcastGlobalVariablesCallback",
    "NPUBroadcastGlobalVariablesHook",
    "NPUCheckpointSaverHook",
    "NPUDistributedOptimizer",
    "NPUEstimator",
    "NPUEstimatorSpec",
    "NPULossScaleOptimizer",
    "NPUOptimizer",
    "NPUOutputTensorHook",
    "NPURunConfig",
    "NPUStopAtStepHook",
    "NpuEmptyHook",
    "NpuExecutePlacement",
    "ProfilingConfig",
    "SetIterationsVarHook",
    "StateError",
    "StoreError",
    "TellMeStepOrLossHook",
    "VendorError",
    "close_session",
    "get_npu_local_rank_id",
    "get_npu_local_rank_size",
    "get_npu_rank_id",
    "get_npu_rank_size",
    "init_resource",
    "npu_allreduce",
    "npu_callbacks_append",
    "npu_clear_session",
    "npu_config_proto",
    "npu_distributed_optimizer_wrapper",
    "npu_graph_options",
    "npu_hooks_append",
    "npu_keras_optimizer",
    "npu_optimizer_options",
    "npu_resources",
    "npu_run_config_init",
    "npu_session",
    "npu_tf_optimizer",
    "patch_sessions",
    "plan_loops",
    "session_config",
    "set_iteration_per_loop",
    "set_keras_session_npu_config",
    "set_loops",
    "shutdown_resource",
    "unpatch_sessions",
]

_HOMES: Dict[str, str] = {
    "ArgumentError": "errors",
    "ConfigurationWarning": "errors",
    "DumpConfig": "run_config_parts",
    "DynamicInputConfig": "run_config_parts",
    "ExperimentalConfig": "run_config_parts",
    "ExponentialUpdateLossScaleManager": "loss_scale",
    "FixedLossScaleManager": "loss_scale",
    "GraphMemoryOptimizeConfig": "run_config_parts",
    "IterationPerLoop": "loops",
    "KerasDistributeOptimizer": "optimizers",
    "LoopPlan": "plan",
    "MemoryConfig": "run_config_parts",
    "NPUBroadcastGlobalVariablesCallback": "keras",
    "NPUBroadcastGlobalVariablesHook": "hooks",
    "NPUCheckpointSaverHook": "hooks",
    "NPUDistributedOptimizer": "optimizers",
    "NPUEstimator": "estimator",
    "NPUEstimatorSpec": "estimator",
    "NPULossScaleOptimizer": "loss_scale",
    "NPUOptimizer": "optimizers",
    "NPUOutputTensorHook": "hooks",
    "NPURunConfig": "run_config",
    "NPUStopAtStepHook": "hooks",
    "NpuEmptyHook": "hooks",
    "NpuExecutePlacement": "scopes",
    "ProfilingConfig": "run_config_parts",
    "SetIterationsVarHook": "hooks",
    "StateError": "errors",
    "StoreError": "errors",
    "TellMeStepOrLossHook": "hooks",
    "VendorError": "errors",
    "close_session": "session",
    "get_npu_local_rank_id": "resources",
    "get_npu_local_rank_size": "resources",
    "get_npu_rank_id": "resources",
    "get_npu_rank_size": "resources",
    "init_resource": "resources",
    "npu_allreduce": "optimizers",
    "npu_callbacks_append": "keras",
    "npu_clear_session": "keras",
    "npu_config_proto": "config_proto",
    "npu_distributed_optimizer_wrapper": "optimizers",
    "npu_graph_options": "config_proto",
    "npu_hooks_append": "hooks",
    "npu_keras_optimizer": "optimizers",
    "npu_optimizer_options": "config_proto",
    "npu_resources": "resources",
    "npu_run_config_init": "config_proto",
    "npu_session": "session",
    "npu_tf_optimizer": "optimizers",
    "patch_sessions": "session",
    "plan_loops": "plan",
    "session_config": "config_proto",
    "set_iteration_per_loop": "loops",
    "set_keras_session_npu_config": "keras",
    "set_loops": "loop_runs",
    "shutdown_resource": "resources",
    "unpatch_sessions": "session",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
    value = getattr(importlib.import_module("{}.{}".format(__name__, home)), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(__all__))
