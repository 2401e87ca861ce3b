"""What the vendor's training API offers to scripts, as data: one table for all who need it.

Parameters of constructors and functions in order, the class of each configuration object among
the arguments of NPURunConfig, the option that an argument carries, and the module that a name is
imported from.  ``script`` reads it to follow calls, ``tf1`` to offer the same calls.

Source: the public signatures of npu_bridge.
"""

from typing import Any, Container, Dict, FrozenSet, List, Mapping, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.core.versions import Versions, spans


def table(text: str) -> Dict[str, Tuple[str, ...]]:
    """The lines ``Name: one two`` and their indented continuations, by name."""
    found: Dict[str, Tuple[str, ...]] = {}
    name = ""
    for line in text.splitlines():
        head, colon, rest = line.rpartition(":")
        name = head.strip() if colon else name
        found[name] = (*found.get(name, ()), *rest.split())
    return found


PARAMETERS: Mapping[str, Tuple[str, ...]] = table("""\
NPURunConfig:
    iterations_per_loop profiling_config model_dir tf_random_seed save_summary_steps
    save_checkpoints_steps save_checkpoints_secs session_config keep_checkpoint_max
    keep_checkpoint_every_n_hours log_step_count_steps distribute enable_data_pre_proc
    precision_mode enable_reduce_precision variable_format_optimize mix_compile_mode
    hcom_parallel graph_memory_max_size variable_memory_max_size dump_config
    stream_max_parallel_num is_tailing_optimization horovod_mode graph_run_mode op_debug_level
    enable_scope_fusion_passes enable_exception_dump op_select_implmode optypelist_for_implmode
    dynamic_input_config aoe_mode work_path buffer_optimize enable_small_channel
    fusion_switch_file enable_compress_weight compress_weight_conf op_compiler_cache_mode
    op_compiler_cache_dir debug_dir hcom_multi_mode dynamic_input dynamic_graph_execute_mode
    dynamic_inputs_shape_range train_distribute eval_distribute local_rank_id local_device_list
    session_device_id distribute_config modify_mixlist op_precision_mode device_type soc_config
    hccl_timeout op_wait_timeout op_execute_timeout HCCL_algorithm customize_dtypes
    op_debug_config memory_config experimental_config topo_sorting_mode aoe_config_file
    insert_op_file stream_sync_timeout event_sync_timeout external_weight deterministic
    frozen_variable variable_placement jit_compile precision_mode_v2 ac_parallel_enable
    quant_dumpable input_fusion_size compile_dynamic_mode graph_max_parallel_model_num
    export_compile_stat aicore_num oo_constant_folding input_batch_cpy
    shape_generalization_mode all_tensor_not_empty auto_multistream_parallel_mode oo_level
    optimization_switch
NPUEstimator: model_fn model_dir config params job_start_file warm_start_from
ProfilingConfig: enable_profiling profiling_options
MemoryConfig:
    atomic_clean_policy static_memory_policy memory_optimization_policy
    variable_use_1g_huge_page
DumpConfig:
    enable_dump dump_path dump_step dump_mode enable_dump_debug dump_debug_mode dump_data
    dump_layer
GraphMemoryOptimizeConfig: recompute graph_slice
ExperimentalConfig:
    logical_device_cluster_deploy_mode logical_device_id model_deploy_mode
    model_deploy_devicelist graph_memory_optimize_config enable_graph_parallel
    graph_parallel_option_path graph_compiler_cache_dir resource_config_path
    accelerate_train_mode
DynamicInputConfig: input_shape dynamic_dims dynamic_node_type compile_hybrid_mode
NPUOptimizer: opt loss_scale_manager is_distributed is_loss_scale is_tailing_optimization name
NPULossScaleOptimizer: opt loss_scale_manager is_distributed
FixedLossScaleManager: loss_scale enable_overflow_check
NPUOutputTensorHook: tensors dependencies output_fn output_every_n_steps
TellMeStepOrLossHook: step total_step loss final_loss
SetIterationsVarHook: iterations_per_loop
set_iteration_per_loop: sess train_op iterations_per_loop
load_iteration_per_loop_var: sess iterations_per_loop
create_iteration_per_loop_var: train_op
limit_core_num_scope: op_aicore_num op_vectorore_num
keep_tensors_dtypes: graph input_tensors
""")
"""The parameters, in order, of constructors and functions."""

PARTS: Mapping[str, str] = {
    "profiling_config": "ProfilingConfig",
    "memory_config": "MemoryConfig",
    "dump_config": "DumpConfig",
    "experimental_config": "ExperimentalConfig",
    "experimental_config.graph_memory_optimize_config": "GraphMemoryOptimizeConfig",
    "dynamic_input_config": "DynamicInputConfig",
}
"""The arguments of NPURunConfig that are configuration objects, by dotted name: their class."""

KEPT: Mapping[str, FrozenSet[str]] = {
    name: frozenset(names)
    for name, names in table("""\
NPURunConfig:
    iterations_per_loop mix_compile_mode enable_data_pre_proc is_tailing_optimization
    variable_format_optimize horovod_mode graph_run_mode op_debug_level
    enable_scope_fusion_passes enable_exception_dump topo_sorting_mode aoe_config_file
    insert_op_file stream_sync_timeout event_sync_timeout
DumpConfig: dump_data dump_layer
""").items()
}
"""The arguments that an object keeps under their own names; others have an underscore before."""

READ_ONLY: FrozenSet[str] = frozenset(
    (
        *("model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps"),
        *("save_checkpoints_secs", "session_config", "keep_checkpoint_max", "train_distribute"),
        *("keep_checkpoint_every_n_hours", "log_step_count_steps", "eval_distribute"),
    )
)
"""The properties of tf.estimator.RunConfig, which cannot be assigned."""

CLASSES: FrozenSet[str] = frozenset(("NPURunConfig", "NPUEstimator", *PARTS.values()))
"""Those that raise TypeError for an argument that is not a parameter."""

OPTION_OF: Mapping[str, str] = {
    option.run_config: name for name, option in OPTIONS.items() if option.run_config is not None
}
"""The option that an argument of NPURunConfig carries (``dump_config.dump_step``)."""


def changed_by_defaults(given: Container[str]) -> List[Tuple[str, Any, Any]]:
    """Options that are not given and that NPURunConfig sets to another value than the default.

    Returns:
        For each its name, the default of a session, and the default of NPURunConfig.
    """
    return [
        (name, option.default, option.run_config_default)
        for name, option in OPTIONS.items()
        if name not in given
        and option.is_read
        and None not in (option.default, option.run_config_default)
        and option.default != option.run_config_default
    ]


WRITTEN_WITHOUT_PART: FrozenSet[str] = frozenset(
    ("enable_dump", "enable_dump_debug", "experimental_logical_device_cluster_deploy_mode")
)
"""The options of configuration objects that NPUEstimator writes where the object is not given."""

WRITTEN_AS_TEXT: FrozenSet[str] = frozenset(("graph_memory_max_size", "variable_memory_max_size"))
"""The options that NPUEstimator turns from a number into text."""

NPU_INIT = "npu_bridge.npu_init"

MODULES: Mapping[str, str] = {
    name: module
    for module, names in table("""\
npu_bridge.npu_init:
    NPURunConfig ProfilingConfig MemoryConfig DumpConfig DynamicInputConfig NPUEstimator
    NPUEstimatorSpec NPUCheckpointSaverHook NPUOutputTensorHook NPUBroadcastGlobalVariablesHook
    SetIterationsVarHook TellMeStepOrLossHook NPUDistributedOptimizer KerasDistributeOptimizer
    npu_distributed_optimizer_wrapper NPUOptimizer npu_allreduce NPULossScaleOptimizer
    FixedLossScaleManager ExponentialUpdateLossScaleManager NPUBroadcastGlobalVariablesCallback
    npu_ops npu_rnn npu_scope keras_to_npu npu_strategy npu_plugin npu_unary_ops hccl_ops
    npu_cpu_ops scoped_graph_manager npu_hooks_append npu_callbacks_append npu_config_proto
    npu_graph_options npu_optimizer_options npu_run_config_init set_keras_session_npu_config
    init_resource shutdown_resource close_session get_npu_rank_id get_npu_local_rank_id
    get_npu_rank_size get_npu_local_rank_size NpuEmptyHook npu_keras_optimizer npu_tf_optimizer
    npu_clear_session
tensorflow.core.protobuf.rewriter_config_pb2: RewriterConfig
npu_bridge.estimator.npu.npu_config:
    ExperimentalConfig GraphMemoryOptimizeConfig NpuExecutePlacement
npu_bridge.estimator.npu.util: set_iteration_per_loop IterationPerLoop
""").items()
    for name in names
}
"""The names of the API (and RewriterConfig), with the module to import each from."""


def _versions(text: str) -> Dict[str, Versions]:
    """The lines ``first..last: names`` by name; an end that is left out is open."""
    found = {}
    for words, names in table(text).items():
        pairs = [span.partition("..") for span in words.split()]
        versions = spans(*((first or None, last or None) for first, _, last in pairs))
        found.update(dict.fromkeys(names, versions))
    return found


ARGUMENT_VERSIONS: Mapping[str, Versions] = _versions("""\
r1.8.0..: HCCL_algorithm soc_config
r1.15.0..: ac_parallel_enable
v0.0.48..: aicore_num all_tensor_not_empty auto_multistream_parallel_mode compile_dynamic_mode
    export_compile_stat graph_max_parallel_model_num input_batch_cpy input_fusion_size
    oo_constant_folding oo_level optimization_switch quant_dumpable shape_generalization_mode
r1.11.0..: aoe_config_file external_weight insert_op_file
r1.5.0..: aoe_mode modify_mixlist op_precision_mode
..r1.10.0: auto_tune_mode
r1.2.0..: buffer_optimize compress_weight_conf debug_dir dynamic_input_config
    enable_compress_weight enable_small_channel fusion_switch_file op_compiler_cache_dir
    op_compiler_cache_mode work_path
r1.9.0..: customize_dtypes experimental_config memory_config op_debug_config
v0.0.3..: deterministic event_sync_timeout frozen_variable stream_sync_timeout
    variable_placement
r1.7.0..: device_type hccl_timeout op_execute_timeout op_wait_timeout
r1.3.0..: distribute_config dynamic_graph_execute_mode dynamic_input
    dynamic_inputs_shape_range eval_distribute hcom_multi_mode local_device_list local_rank_id
    session_device_id train_distribute
v0.0.3..v0.0.3 v0.0.4..v0.0.20: es_cluster_config
v0.0.9..v0.0.9: graph_compiler_cache_dir
r1.10.0..r1.11.0 v0.0.4..: jit_compile
r1.2.0..r1.3.0: mstune_mode
r1.3.0..r1.3.0: op_tune_mode
v0.0.9..: precision_mode_v2
r1.10.0..: topo_sorting_mode
""")
"""The versions of the adapter whose NPURunConfig has an argument, where that is not every one."""

EXPORT_VERSIONS: Mapping[str, Versions] = _versions("""\
r1.2.0..: DynamicInputConfig NPUEstimatorSpec
r1.3.0..: KerasDistributeOptimizer NPUBroadcastGlobalVariablesHook NpuEmptyHook close_session
    config_pb2 get_npu_local_rank_id get_npu_rank_id get_npu_rank_size init_resource
    npu_config_proto npu_graph_options npu_hooks_append npu_keras_optimizer
    npu_optimizer_options npu_run_config_init npu_strategy npu_tf_optimizer session
    session_run_hook set_keras_session_npu_config shutdown_resource
r1.9.0..: MemoryConfig decorator_tf_session
r1.6.0..: NPUBroadcastGlobalVariablesCallback npu_allreduce npu_callbacks_append
    npu_clear_session npu_distributed_optimizer_wrapper
r1.10.0..: SetIterationsVarHook
v0.0.16..: TellMeStepOrLossHook
r1.8.0..: backend get_npu_local_rank_size
r1.3.0..r1.3.0: npu_close
v0.0.48..: npu_cpu_ops profiler scoped_graph_manager
v0.0.3..v0.0.3 v0.0.4..v0.0.20: npu_embedding
r1.13.0..: npu_plugin
""")
"""The versions whose npu_init has a name, where that is not every one.

What its star imports bring is not in it.
"""
