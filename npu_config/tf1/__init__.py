"""The training side, on TensorFlow 1.15 or the graph mode of 2.x.

Loops, hooks, sessions, the Estimator, loss scaling and the rest of what training scripts for
Ascend take from ``npu_bridge``; ``npu_config.npu_init`` puts it under the vendor's names.
Importing this package imports no TensorFlow; the first name that is used does.
"""

# mypy: implicit-reexport
# ruff: noqa: F401

from typing import TYPE_CHECKING, Dict

from npu_config.core.lazy import lazy

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
    from npu_config.tf1.estimator import NPUEstimator, NPUEstimatorSpec
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
    from npu_config.tf1.loop_runs import set_loops
    from npu_config.tf1.loops import IterationPerLoop, set_iteration_per_loop
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
    from npu_config.tf1.plan import LoopPlan, plan_loops
    from npu_config.tf1.records import ConfigRecordHook
    from npu_config.tf1.run_config import NPURunConfig
    from npu_config.tf1.run_config_parts import (
        DumpConfig,
        DynamicInputConfig,
        ExperimentalConfig,
        GraphMemoryOptimizeConfig,
        MemoryConfig,
        ProfilingConfig,
    )
    from npu_config.tf1.scopes import NpuExecutePlacement
    from npu_config.tf1.session import (
        close_session,
        get_npu_local_rank_id,
        get_npu_local_rank_size,
        get_npu_rank_id,
        get_npu_rank_size,
        init_resource,
        npu_resources,
        npu_session,
        patch_sessions,
        shutdown_resource,
        unpatch_sessions,
    )

_HOMES: Dict[str, str] = {}
for _line in (
    """
config_proto: npu_config_proto npu_graph_options npu_optimizer_options npu_run_config_init
    session_config
errors: ArgumentError ConfigurationWarning StateError StoreError VendorError
estimator: NPUEstimator NPUEstimatorSpec
hooks: NPUBroadcastGlobalVariablesHook NPUCheckpointSaverHook NPUOutputTensorHook
    NPUStopAtStepHook NpuEmptyHook SetIterationsVarHook TellMeStepOrLossHook npu_hooks_append
keras: NPUBroadcastGlobalVariablesCallback npu_callbacks_append npu_clear_session
    set_keras_session_npu_config
loop_runs: set_loops
loops: IterationPerLoop set_iteration_per_loop
loss_scale: ExponentialUpdateLossScaleManager FixedLossScaleManager NPULossScaleOptimizer
optimizers: KerasDistributeOptimizer NPUDistributedOptimizer NPUOptimizer npu_allreduce
    npu_distributed_optimizer_wrapper npu_keras_optimizer npu_tf_optimizer
plan: LoopPlan plan_loops
records: ConfigRecordHook
run_config: NPURunConfig
run_config_parts: DumpConfig DynamicInputConfig ExperimentalConfig GraphMemoryOptimizeConfig
    MemoryConfig ProfilingConfig
scopes: NpuExecutePlacement
session: close_session get_npu_local_rank_id get_npu_local_rank_size get_npu_rank_id
    get_npu_rank_size init_resource npu_resources npu_session patch_sessions shutdown_resource
    unpatch_sessions
""".replace("\n    ", " ")
    .strip()
    .splitlines()
):
    _home, _, _names = _line.partition(": ")
    _HOMES.update(dict.fromkeys(_names.split(), _home))

__all__ = sorted(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__, _HOMES)
