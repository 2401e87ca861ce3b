"""The names that ``from npu_bridge.npu_init import *`` brings into a training script.

    from npu_config.npu_init import *

Without a device the script runs on the CPU, and its configuration is checked on the way; on
the NPU host whatever needs the device is the vendor's own.  Importing this module imports
TensorFlow and lets every later ``tf.Session`` run on the NPU;
``npu_config.tf1.unpatch_sessions()`` undoes that.  Where names behave differently from the
vendor's, ``docs/drop-in.md`` says so and why.
"""

# What is imported here is what a star import brings.
# mypy: implicit-reexport
# ruff: noqa: F401

import os

from npu_config.tf1 import (
    hccl_ops,
    keras_to_npu,
    npu_cpu_ops,
    npu_ops,
    npu_plugin,
    npu_rnn,
    npu_strategy,
    npu_unary_ops,
    profiler,
    scoped_graph_manager,
    util,
)
from npu_config.tf1 import scopes as npu_scope
from npu_config.tf1.config_proto import (
    npu_config_proto,
    npu_graph_options,
    npu_optimizer_options,
    npu_run_config_init,
)
from npu_config.tf1.estimator import NPUEstimator, NPUEstimatorSpec
from npu_config.tf1.hccl import (
    create_group,
    destroy_group,
    get_group_rank_from_world_rank,
    get_local_rank_id,
    get_local_rank_size,
    get_rank_id,
    get_rank_size,
    get_world_rank_from_group_rank,
    set_split_strategy_by_idx,
    set_split_strategy_by_size,
)
from npu_config.tf1.hooks import (
    NPUBroadcastGlobalVariablesHook,
    NPUCheckpointSaverHook,
    NpuEmptyHook,
    NPUOutputTensorHook,
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
from npu_config.tf1.loops import register_collections as _register_collections
from npu_config.tf1.loss_scale import (
    ExponentialUpdateLossScaleManager,
    FixedLossScaleManager,
    NPULossScaleOptimizer,
)
from npu_config.tf1.npu_plugin import npu_close
from npu_config.tf1.optimizers import (
    KerasDistributeOptimizer,
    NPUDistributedOptimizer,
    NPUOptimizer,
    npu_allreduce,
    npu_distributed_optimizer_wrapper,
    npu_keras_optimizer,
    npu_tf_optimizer,
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
    decorator_tf_session,
    npu_session,
    unpatch_sessions,
)
from npu_config.tf1.session import patch_sessions as _patch_sessions
from npu_config.tf1.tensorflow import internal as _internal
from npu_config.tf1.tensorflow import is_version_1 as _is_version_1
from npu_config.tf1.tensorflow import load as _load
from npu_config.tf1.tensorflow import package as _package
from npu_config.tf1.tensorflow import protobuf as _protobuf

tf = _package() if _is_version_1() else _load()
session = _internal("client.session")
session_run_hook = _internal("training.session_run_hook")
config_pb2 = _protobuf("config_pb2")
rewriter_config_pb2 = _protobuf("rewriter_config_pb2")
RewriterConfig = rewriter_config_pb2.RewriterConfig
backend = _internal("keras.backend")

experimental_options = {
    "disable_model_pruning": False,
    "function_optimization": RewriterConfig.ON,
    "constant_folding": RewriterConfig.ON,
    "shape_optimization": RewriterConfig.ON,
    "arithmetic_optimization": RewriterConfig.ON,
    "loop_optimization": RewriterConfig.ON,
    "dependency_optimization": RewriterConfig.ON,
    "layout_optimizer": RewriterConfig.ON,
}

_register_collections()
_patch_sessions()

# Scripts import these from npu_config.py of the vendor, whose npu_init lacks them.
_NOT_STARRED = ("ExperimentalConfig", "GraphMemoryOptimizeConfig", "NpuExecutePlacement")

globals()["__all__"] = [  # type checkers take every public name instead
    name for name in globals() if name[0] != "_" and name not in _NOT_STARRED
]
