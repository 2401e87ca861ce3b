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
    DumpConfig,
    DynamicInputConfig,
    ExperimentalConfig,
    ExponentialUpdateLossScaleManager,
    FixedLossScaleManager,
    GraphMemoryOptimizeConfig,
    KerasDistributeOptimizer,
    MemoryConfig,
    NPUBroadcastGlobalVariablesCallback,
    NPUBroadcastGlobalVariablesHook,
    NPUCheckpointSaverHook,
    NPUDistributedOptimizer,
    NpuEmptyHook,
    NPUEstimator,
    NPUEstimatorSpec,
    NpuExecutePlacement,
    NPULossScaleOptimizer,
    NPUOptimizer,
    NPUOutputTensorHook,
    NPURunConfig,
    ProfilingConfig,
    SetIterationsVarHook,
    TellMeStepOrLossHook,
    close_session,
    get_npu_local_rank_id,
    get_npu_local_rank_size,
    get_npu_rank_id,
    get_npu_rank_size,
    hccl_ops,
    init_resource,
    keras_to_npu,
    npu_allreduce,
    npu_callbacks_append,
    npu_clear_session,
    npu_config_proto,
    npu_cpu_ops,
    npu_distributed_optimizer_wrapper,
    npu_graph_options,
    npu_hooks_append,
    npu_keras_optimizer,
    npu_ops,
    npu_optimizer_options,
    npu_plugin,
    npu_resources,
    npu_rnn,
    npu_run_config_init,
    npu_session,
    npu_strategy,
    npu_tf_optimizer,
    npu_unary_ops,
    profiler,
    scoped_graph_manager,
    set_keras_session_npu_config,
    shutdown_resource,
    unpatch_sessions,
    util,
)
from npu_config.tf1 import scopes as npu_scope
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
from npu_config.tf1.loops import register_collections as _register_collections
from npu_config.tf1.npu_plugin import npu_close
from npu_config.tf1.session import decorator_tf_session
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
