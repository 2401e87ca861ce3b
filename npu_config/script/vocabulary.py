"""The names of npu_bridge and TensorFlow that the reader of scripts knows.

Source: the public signatures of npu_bridge.
"""

import re
from typing import Dict, FrozenSet, Iterator, Tuple

OPTIMIZER = "NpuOptimizer"

SIGNATURES: Dict[str, Tuple[str, ...]] = {
    "NPURunConfig": (
        "iterations_per_loop",
        "profiling_config",
        "model_dir",
        "tf_random_seed",
        "save_summary_steps",
        "save_checkpoints_steps",
        "save_checkpoints_secs",
        "session_config",
        "keep_checkpoint_max",
        "keep_checkpoint_every_n_hours",
        "log_step_count_steps",
        "distribute",
        "enable_data_pre_proc",
        "precision_mode",
        "enable_reduce_precision",
        "variable_format_optimize",
        "mix_compile_mode",
        "hcom_parallel",
        "graph_memory_max_size",
        "variable_memory_max_size",
        "dump_config",
        "stream_max_parallel_num",
        "is_tailing_optimization",
        "horovod_mode",
        "graph_run_mode",
        "op_debug_level",
        "enable_scope_fusion_passes",
        "enable_exception_dump",
        "op_select_implmode",
        "optypelist_for_implmode",
        "dynamic_input_config",
        "aoe_mode",
        "work_path",
        "buffer_optimize",
        "enable_small_channel",
        "fusion_switch_file",
        "enable_compress_weight",
        "compress_weight_conf",
        "op_compiler_cache_mode",
        "op_compiler_cache_dir",
        "debug_dir",
        "hcom_multi_mode",
        "dynamic_input",
        "dynamic_graph_execute_mode",
        "dynamic_inputs_shape_range",
        "train_distribute",
        "eval_distribute",
        "local_rank_id",
        "local_device_list",
        "session_device_id",
        "distribute_config",
        "modify_mixlist",
        "op_precision_mode",
        "device_type",
        "soc_config",
        "hccl_timeout",
        "op_wait_timeout",
        "op_execute_timeout",
        "HCCL_algorithm",
        "customize_dtypes",
        "op_debug_config",
        "memory_config",
        "experimental_config",
        "topo_sorting_mode",
        "aoe_config_file",
        "insert_op_file",
        "stream_sync_timeout",
        "event_sync_timeout",
        "external_weight",
        "deterministic",
        "frozen_variable",
        "variable_placement",
        "jit_compile",
        "precision_mode_v2",
        "ac_parallel_enable",
        "quant_dumpable",
        "input_fusion_size",
        "compile_dynamic_mode",
        "graph_max_parallel_model_num",
        "export_compile_stat",
        "aicore_num",
        "oo_constant_folding",
        "input_batch_cpy",
        "shape_generalization_mode",
        "all_tensor_not_empty",
        "auto_multistream_parallel_mode",
        "oo_level",
        "optimization_switch",
    ),
    "NPUEstimator": (
        "model_fn",
        "model_dir",
        "config",
        "params",
        "job_start_file",
        "warm_start_from",
    ),
    "ProfilingConfig": ("enable_profiling", "profiling_options"),
    "MemoryConfig": (
        "atomic_clean_policy",
        "static_memory_policy",
        "memory_optimization_policy",
        "variable_use_1g_huge_page",
    ),
    "DumpConfig": (
        "enable_dump",
        "dump_path",
        "dump_step",
        "dump_mode",
        "enable_dump_debug",
        "dump_debug_mode",
        "dump_data",
        "dump_layer",
    ),
    "GraphMemoryOptimizeConfig": ("recompute", "graph_slice"),
    "ExperimentalConfig": (
        "logical_device_cluster_deploy_mode",
        "logical_device_id",
        "model_deploy_mode",
        "model_deploy_devicelist",
        "graph_memory_optimize_config",
        "enable_graph_parallel",
        "graph_parallel_option_path",
        "graph_compiler_cache_dir",
        "resource_config_path",
        "accelerate_train_mode",
    ),
    "DynamicInputConfig": (
        "input_shape",
        "dynamic_dims",
        "dynamic_node_type",
        "compile_hybrid_mode",
    ),
    "Target": ("product", "mode", "cann"),
    "NPUOptimizer": (
        "opt",
        "loss_scale_manager",
        "is_distributed",
        "is_loss_scale",
        "is_tailing_optimization",
        "name",
    ),
    "NPULossScaleOptimizer": ("opt", "loss_scale_manager", "is_distributed"),
    "FixedLossScaleManager": ("loss_scale", "enable_overflow_check"),
    "NPUOutputTensorHook": ("tensors", "dependencies", "output_fn", "output_every_n_steps"),
    "TellMeStepOrLossHook": ("step", "total_step", "loss", "final_loss"),
    "SetIterationsVarHook": ("iterations_per_loop",),
    "set_iteration_per_loop": ("sess", "train_op", "iterations_per_loop"),
    "load_iteration_per_loop_var": ("sess", "iterations_per_loop"),
    "create_iteration_per_loop_var": ("train_op",),
    "limit_core_num_scope": ("op_aicore_num", "op_vectorore_num"),
    "keep_tensors_dtypes": ("graph", "input_tensors"),
}
"""Parameters, in order, of the constructors and functions that are followed."""

STRICT_SIGNATURES: FrozenSet[str] = frozenset(
    (
        "NPURunConfig",
        "NPUEstimator",
        "ProfilingConfig",
        "MemoryConfig",
        "DumpConfig",
        "GraphMemoryOptimizeConfig",
        "ExperimentalConfig",
        "DynamicInputConfig",
    )
)
"""Those of which an argument that is no parameter is reported."""

MESSAGES: Dict[str, Dict[str, str]] = {
    "ConfigProto": {"graph_options": "GraphOptions"},
    "GraphOptions": {
        "rewrite_options": "RewriterConfig",
        "optimizer_options": "OptimizerOptions",
    },
    "RewriterConfig": {},
    "OptimizerOptions": {},
}
"""The messages that are followed, with their fields that are messages themselves."""

SESSIONS: Dict[str, int] = {
    "Session": 2,
    "InteractiveSession": 2,
    "MonitoredTrainingSession": 99,
    "prepare_or_wait_for_session": 4,
    "managed_session": 1,
    "prepare_session": 99,
    "PrecisionTfSession": 2,
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

SEEDS = (
    "custom_optimizers",
    "parameter_map",
    OPTIMIZER,
    "NPURunConfig",
    "NPUEstimator",
    "NpuConfigBuilder",
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
)
"""What makes a line of a script worth looking at."""

_HINTS = (b"npu", b"NPU", b"Npu", b"parameter_map", b"custom_op", b"dump_config")
NEEDLES = tuple(
    word.encode()
    for word in SEEDS
    if word not in ("npu_config_proto", "FixedLossScaleManager", "npu_run_config_init")
)

NPU_INIT = "npu_bridge.npu_init"

EXPORTS: Dict[str, str] = dict.fromkeys(
    (
        "NPURunConfig",
        "ProfilingConfig",
        "MemoryConfig",
        "DumpConfig",
        "DynamicInputConfig",
        "NPUEstimator",
        "NPUEstimatorSpec",
        "NPUCheckpointSaverHook",
        "NPUOutputTensorHook",
        "NPUBroadcastGlobalVariablesHook",
        "SetIterationsVarHook",
        "TellMeStepOrLossHook",
        "NPUDistributedOptimizer",
        "KerasDistributeOptimizer",
        "npu_distributed_optimizer_wrapper",
        "NPUOptimizer",
        "npu_allreduce",
        "NPULossScaleOptimizer",
        "FixedLossScaleManager",
        "ExponentialUpdateLossScaleManager",
        "NPUBroadcastGlobalVariablesCallback",
        "npu_ops",
        "npu_rnn",
        "npu_scope",
        "keras_to_npu",
        "npu_strategy",
        "npu_plugin",
        "npu_unary_ops",
        "hccl_ops",
        "npu_cpu_ops",
        "scoped_graph_manager",
        "npu_hooks_append",
        "npu_callbacks_append",
        "npu_config_proto",
        "npu_graph_options",
        "npu_optimizer_options",
        "npu_run_config_init",
        "set_keras_session_npu_config",
        "init_resource",
        "shutdown_resource",
        "close_session",
        "get_npu_rank_id",
        "get_npu_local_rank_id",
        "get_npu_rank_size",
        "get_npu_local_rank_size",
        "NpuEmptyHook",
        "npu_keras_optimizer",
        "npu_tf_optimizer",
        "npu_clear_session",
    ),
    NPU_INIT,
)
"""The names that npu_init exports and nothing else does, with the module to import them from."""
EXPORTS.update(
    RewriterConfig="tensorflow.core.protobuf.rewriter_config_pb2",
    ExperimentalConfig="npu_bridge.estimator.npu.npu_config",
    GraphMemoryOptimizeConfig="npu_bridge.estimator.npu.npu_config",
    NpuExecutePlacement="npu_bridge.estimator.npu.npu_config",
    set_iteration_per_loop="npu_bridge.estimator.npu.util",
    IterationPerLoop="npu_bridge.estimator.npu.util",
)

_OURS = (b"npu_", b"NPU", b"_npu")
_APPENDING = re.compile(rb"npu_(?:hooks|callbacks)_append\b.*")
_WORD = re.compile(rb"\w+")
_EXPORTED = tuple(name.encode() for name in EXPORTS)


def may_matter(data: bytes) -> bool:
    """False for a file that is certainly no script with options in it.

    A script that imports everything from some module may have every name from there.
    """
    if not any(hint in data for hint in _HINTS):
        return False
    if any(needle in data for needle in NEEDLES):
        return True
    if not any(word in data for word in _OURS):
        return False
    if b"s_append" in data and b"[-1]" in data and _takes_last(data):
        return True
    imported = b"\n".join(_imported(data))
    return b"*" not in imported and any(
        name in data and name not in imported for name in _EXPORTED
    )


def _takes_last(data: bytes) -> bool:
    """True when the last item of a list that npu_hooks_append extends may be taken."""
    for found in _APPENDING.finditer(data):
        line = data[data.rfind(b"\n", 0, found.start()) + 1 : found.end()]
        if any(word + b"[-1]" in data for word in _WORD.findall(line)):
            return True
    return False


def _imported(data: bytes) -> Iterator[bytes]:
    """What stands behind ``import``, line by line, comments left out."""
    start = data.find(b"import ")
    while start >= 0:
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        if b"#" not in data[data.rfind(b"\n", 0, start) + 1 : start]:
            yield data[start:end].partition(b"#")[0]
        start = data.find(b"import ", end)
