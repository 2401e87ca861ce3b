"""The modules that scripts import from the vendor, and what serves each of their names.

One table of module paths of ``npu_bridge`` and ``hccl``; whoever serves these modules without
the vendor's packages (``npu-config run``, ``install_npu_bridge``) takes every name from here.

Under each path, the sources of its names:

- a module of this package (``hooks``), for what it offers under the same name;
- ``npu_init: *``, for every name of ``npu_config.npu_init``;
- ``operators``, for the object with every operator of the adapter's library;
- ``device``, for what only the vendor's library can do: a function that raises when called;
- ``import``, for other modules of the vendor's;
- another path of the table, for what the vendor imports from there.

``name=other`` is a name that its source calls otherwise.

Source: facts modules.yaml, the module paths and names of npu_bridge 2021 to 2026 and hccl.
"""

import functools
import importlib
from typing import Any, Dict, List, Mapping, NamedTuple

from npu_config.tf1 import vendor


class Home(NamedTuple):
    """Where a name of a vendor's module comes from.

    Attributes:
        source: what the table says.
        name: its name there.
    """

    source: str
    name: str


_TABLE = """
npu_bridge
    helper: npu_bridge_handle __version__=version
    import: helper=npu_bridge.helper.helper npu_estimator=npu_bridge.estimator.npu.npu_estimator
        hccl_ops=npu_bridge.hccl.hccl_ops npu_decorator=npu_bridge.estimator.npu.npu_decorator
    npu_bridge.estimator.npu.npu_plugin: npu_close
npu_bridge._api
npu_bridge._api.experimental
npu_bridge.embedding
    npu_bridge.embedding.embedding_optimizer: EmbeddingAdamOptimizer=AdamOptimizer
        EmbeddingAdagradOptimizer=AdagradOptimizer EmbeddingAdamWOptimizer=AdamWOptimizer
        EmbeddingSgdOptimizer=SgdOptimizer EmbeddingRmspropOptimizer=RmspropOptimizer
    npu_bridge.embedding.embedding_service: EmbeddingService=ESWorker es_initializer
    npu_bridge.embedding.tf_path: path_on_tf
npu_bridge.embedding.embedding_optimizer
    device: AdamOptimizer AdagradOptimizer AdamWOptimizer SgdOptimizer RmspropOptimizer
        ExponentialDecayLR exponential_decay_lr
    npu_bridge.embedding.embedding_resource: NpuEmbeddingResource
    operators: gen_npu_cpu_ops
npu_bridge.embedding.embedding_resource
    device: NpuEmbeddingResource
    operators: gen_npu_cpu_ops
npu_bridge.embedding.embedding_service
    device: host_feature_mapping_export host_feature_mapping_import
        specified_ps_engine_scope EmbeddingVariableOption CounterFilter EsInitializer
        es_initializer check_common_init_params ESWorker Initializer
    import: embedding_optimizer=npu_bridge.embedding.embedding_optimizer
    operators: gen_npu_cpu_ops
    npu_bridge.embedding.embedding_resource: NpuEmbeddingResource
    npu_bridge.embedding.embedding_table_map_policy: NoneTableMapPolicy AutoMergeTableMapPolicy
npu_bridge.embedding.embedding_table_map_policy
    device: compare_initializer BaseTableMapPolicy NoneTableMapPolicy AutoMergeTableMapPolicy
npu_bridge.embedding.tf_path
    device: path_on_tf
    npu_bridge.embedding.embedding_resource: NpuEmbeddingResource
npu_bridge.estimator.npu.keras_to_npu
    keras_to_npu: model_to_npu_estimator
    device: check_keras_model_and_path get_keras_model get_warm_start_path
    npu_bridge.estimator.npu.npu_estimator: NPUEstimator NPUEstimatorSpec
    npu_bridge.estimator.npu.npu_config: NPURunConfig
npu_bridge.estimator.npu.mnist_softmax_npu
    device: FLAGS main
    import: npu_ops=npu_bridge.estimator.npu_ops
npu_bridge.estimator.npu.mnist_with_estimator
    device: FLAGS create_model cnn_model_fn train_input_fn eval_input_fn set_log main
    npu_bridge.estimator.npu.npu_config: NPURunConfig ProfilingConfig
    npu_bridge.estimator.npu.npu_estimator: NPUEstimator
    npu_bridge.estimator.npu.npu_optimizer: NPUDistributedOptimizer
npu_bridge.estimator.npu.npu_callbacks
    hooks: broadcast_global_variables
    device: BroadcastGlobalVariablesCallbackImpl
    keras: NPUBroadcastGlobalVariablesCallback
    import: hccl_ops=npu_bridge.hccl.hccl_ops util_lib=npu_bridge.estimator.npu.util
npu_bridge.estimator.npu.npu_common
    device: JobInfo JobConfig DeviceInfo NPUBasics
    import: util_lib=npu_bridge.estimator.npu.util
npu_bridge.estimator.npu.npu_config
    run_config: NPURunConfig
    run_config_parts: GraphMemoryOptimizeConfig ProfilingConfig MemoryConfig DumpConfig
        ExperimentalConfig DynamicInputConfig
    scopes: NpuExecutePlacement
    device: set_npu_default_config GraphParallelConfig
    session: decorator_tf_session
    import: util=npu_bridge.estimator.npu.util
npu_bridge.estimator.npu.npu_convert_dropout
    npu_convert_dropout: dropout_call
    import: npu_ops=npu_bridge.estimator.npu_ops
npu_bridge.estimator.npu.npu_decorator
    device: npu_keras_var_broadcast_decorator
    import: hccl_ops=npu_bridge.hccl.hccl_ops
npu_bridge.estimator.npu.npu_dynamic_rnn
    operators: gen_npu_ops
    npu_dynamic_rnn: DYNAMIC_RNN_UNIDIRECTION DYNAMIC_RNN_BIDIRECTION DYNAMIC_RNN_REDIRECTIONAL
        DynamicGRUV2 DynamicAUGRU DynamicRNN
    import: helper=npu_bridge.helper.helper
npu_bridge.estimator.npu.npu_estimator
    device: no_check_override
    estimator: NPUEstimatorSpec NPUEstimator
    import: util_lib=npu_bridge.estimator.npu.util util=npu_bridge.estimator.npu.util
        npu_ops=npu_bridge.estimator.npu_ops
    npu_bridge.estimator.npu.npu_config: NPURunConfig
    npu_bridge.estimator.npu.npu_hook: NPUBroadcastGlobalVariablesHook NPUCheckpointSaverHook
        SetIterationsVarHook NPULogOutfeedSessionHook NPUInfeedOutfeedSessionHook
    npu_bridge.estimator.npu.npu_common: NPUBasics
    npu_bridge.estimator.npu.npu_saver: NPUSaver
npu_bridge.estimator.npu.npu_hook
    device: NPUShutDownHook NPULogOutfeedSessionHook NPUInfeedOutfeedSessionHook
    hooks: NPUBroadcastGlobalVariablesHook NPUCheckpointSaverHook SetIterationsVarHook
        broadcast_global_variables NPUOutputTensorHook TellMeStepOrLossHook
    import: util_lib=npu_bridge.estimator.npu.util npu_ops=npu_bridge.estimator.npu_ops
        hccl_ops=npu_bridge.hccl.hccl_ops util=npu_bridge.estimator.npu.util
npu_bridge.estimator.npu.npu_loss_scale_manager
    loss_scale: FixedLossScaleManager ExponentialUpdateLossScaleManager
    device: LossScaleManager
npu_bridge.estimator.npu.npu_loss_scale_optimizer
    operators: gen_npu_ops
    loss_scale: NPULossScaleOptimizer
    import: hccl_ops=npu_bridge.hccl.hccl_ops helper=npu_bridge.helper.helper
        npu_plugin=npu_bridge.estimator.npu.npu_plugin npu_ops=npu_bridge.estimator.npu_ops
    npu_bridge.estimator.npu.npu_loss_scale_manager: FixedLossScaleManager
npu_bridge.estimator.npu.npu_optimizer
    operators: gen_npu_ops
    optimizers: allreduce reduce NPUOptimizer NPUDistributedOptimizer KerasDistributeOptimizer
        npu_distributed_optimizer_wrapper npu_allreduce
    import: util=npu_bridge.estimator.npu.util hccl_ops=npu_bridge.hccl.hccl_ops
        helper=npu_bridge.helper.helper npu_scope=npu_bridge.estimator.npu.npu_scope
        npu_ops=npu_bridge.estimator.npu_ops
    npu_bridge.estimator.npu.npu_common: NPUBasics
npu_bridge.estimator.npu.npu_plugin
    npu_plugin: npu_close
    device: init_op_compiler_cache_mode init_op_compiler_cache_dir init_debug_dir
        check_graph_run_mode npu_resource_init npu_resource_shutdown init_rdma_pool
        rdma_remote_register rdma_remote_init get_var_addr_and_size malloc_shared_memory
        get_rdma_cache set_device_sat_mode is_inf_nan_enabled npu_global_init npu_global_shutdown
    import: tf_adapter=npu_bridge.tf_adapter util=npu_bridge.estimator.npu.util
        npu_scope=npu_bridge.estimator.npu.npu_scope
    hccl.manage.api: get_local_rank_size get_rank_id
npu_bridge.estimator.npu.npu_rnn
    npu_rnn: npu_dynamic_rnn
npu_bridge.estimator.npu.npu_saver
    device: NPUBulkSaverBuilder
    hooks: NPUSaver
    import: util=npu_bridge.estimator.npu.util hccl_ops=npu_bridge.hccl.hccl_ops
npu_bridge.estimator.npu.npu_scope
    scopes: without_npu_compile_scope npu_variable_scope keep_dtype_scope npu_stage_scope
        npu_mem_type_scope npu_weight_prefetch_scope op_specified_engine_scope
        npu_qos_label_scope subgraph_multi_dims_scope npu_optimizer_scope npu_recompute_scope
        npu_graph_slice_scope disable_autofuse limit_core_num_scope
    import: util=npu_bridge.estimator.npu.util
    npu_bridge.estimator.npu.npu_config: NpuExecutePlacement
npu_bridge.estimator.npu.npu_strategy
    device: NPUExtended
    npu_strategy: NPUStrategy
    import: util_lib=npu_bridge.estimator.npu.util
    hccl.manage.api: get_rank_size get_rank_id
npu_bridge.estimator.npu.util
    util: check_not_none check_positive_integer check_nonnegative_integer check_bool_type
        convert_bool_to_int format_string check_profiling_options check_path check_aoe_mode
        create_or_get_var set_iteration_per_loop get_ranksize IterationPerLoop
        variable_initializer_in_host set_graph_exec_config npu_compile global_dict_init set_value
        get_value keep_tensors_dtypes set_op_tensor_max_range set_op_input_tensor_multi_dims
        set_op_tensor_max_size
    device: register_func fair_division GradDivisionItem add_grads_and_vars get_gid_by_grad
        get_gid_by_weight get_all_grad_item check_mstune_mode
    npu_bridge.estimator.npu.npu_config: GraphMemoryOptimizeConfig ExperimentalConfig
        GraphParallelConfig
npu_bridge.estimator.npu_aicore_ops
    operators: npu_aicore_ops
    npu_aicore_ops: fast_gelu_v2 centralization prelu dropout_v3 dropout_v4 nonzero layer_norm
    npu_ops: DEFAULT_GRAPH_SEED
    device: prelu_grad lru_cache_v2 nonzerowithvalue prod_env_mat_a prodvirialsea prodforcesea
        tabulatefusionsea tabulatefusionseagrad tabulatefusion tabulatefusiongrad get_seed
    import: helper=npu_bridge.helper.helper
    npu_bridge.estimator.npu.npu_common: NPUBasics
npu_bridge.estimator.npu_ops
    operators: gen_npu_ops
    npu_ops: DEFAULT_GRAPH_SEED NPUInit NPUShutdown initialize_system shutdown_system LARS LARSV2
        dropout basic_lstm_cell adam_apply_one_assign adam_apply_one_with_decay_assign
        scatter_elements
    device: outfeed_dequeue_op outfeed_enqueue_op stop_outfeed_dequeue_op basic_lstm_cell_grad
        dynamic_gru_v2_grad dynamic_augru_grad dynamic_rnn_grad dynamic_rnn_v2_grad
        k_means_centroids npu_onnx_graph_op channel_get_next npu_test get_seed
    import: helper=npu_bridge.helper.helper
    npu_bridge.estimator.npu.npu_common: NPUBasics
npu_bridge.estimator.npu_unary_ops
    operators: npu_unary_ops
    import: helper=npu_bridge.helper.helper
npu_bridge.experimental.dataset_ops
    operators: gen_npu_cpu_ops
    device: NpuUnaryDataset MapDataset MapAndBatchDataset map map_and_batch
    import: helper=npu_bridge.helper.helper
npu_bridge.experimental.file_constant
    operators: gen_npu_cpu_ops
    device: file_constant
    import: helper=npu_bridge.helper.helper
npu_bridge.experimental.get_shape
    operators: npu_aicore_ops
    experimental: getshape
    import: helper=npu_bridge.helper.helper
npu_bridge.experimental.hccl
    device: hccl_graph_adp_ctypes c_str load_lib
    experimental: get_actual_rank_size get_user_rank_size get_user_rank_id
    import: util_lib=npu_bridge.estimator.npu.util
npu_bridge.experimental.image
    operators: gen_npu_cpu_ops
    experimental: decode_image
    import: helper=npu_bridge.helper.helper
npu_bridge.hccl.hccl_ops
    operators: gen_hccl_ops
    device: remote_read remote_ref_read remote_write remote_scatter_write gather_all_to_all_v
    hccl_ops: allreduce allgather broadcast reduce reduce_scatter send receive all_to_all_v
        all_to_all_v_c
    import: helper=npu_bridge.helper.helper
npu_bridge.helper.helper
    helper: npu_bridge_handle get_gen_ops version
    import: npu_bridge=npu_bridge
npu_bridge.image.image_ops
    operators: gen_npu_image_ops
    device: decode_and_resize_jpeg decode_and_crop_and_resize_jpeg
    import: helper=npu_bridge.helper.helper
npu_bridge.npu_cpu.lru_cache
    operators: gen_npu_cpu_ops
    device: LruCache
    import: helper=npu_bridge.helper.helper
npu_bridge.npu_cpu.npu_cpu_ops
    operators: gen_npu_cpu_ops
    device: embedding_hashtable_lookup_or_insert embeddingrankid embedding_local_index
        dense_image_warp stateless_dropout dense_image_warp_grad batch_enqueue
        ocr_recognition_pre_handle ocr_detection_pre_handle ocr_identify_pre_handle
        batch_dilate_polys ocr_find_contours dequeue ocr_detection_post_handle warp_affine_v2
        resize_v2 resize_and_clip_polys non_zero_with_value_shape non_zero_with_value_shape_v2
        host_feature_mapping device_feature_mapping init_embedding_hashmap_v2
        deinit_embedding_hashmap_v2 table_to_resource_v2 embedding_hashmap_table_size_v2
        embedding_hashmap_export_v2 embedding_hashmap_file_size_v2 embedding_hashmap_import_v2
        init_embedding_hashtable embedding_hash_table_import stateless_random_choice_with_mask
        embedding_hash_table_export embedding_hashtable_apply_adam_w
    experimental: randomchoicewithmask
    import: helper=npu_bridge.helper.helper
npu_bridge.npu_init
    npu_init: *
npu_bridge.profiler.profiler
    device: Profiler
    import: tf_adapter=npu_bridge.tf_adapter
npu_bridge.scoped_graph_manager.scoped_graph_manager
    scoped_graph_manager: ScopedGraphManager
    import: tf_adapter=npu_bridge.tf_adapter
npu_bridge.tbe.npu_cube_ops
    operators: gen_npu_ops
    device: deformable_conv2d deformable_offsets_grad
    import: helper=npu_bridge.helper.helper
npu_bridge.tbe.npu_vector_ops
    operators: gen_npu_ops
    npu_update_ops: lamb_apply_optimizer_assign lamb_apply_weight_assign
    device: PReLU
    import: helper=npu_bridge.helper.helper
    npu_bridge.estimator.npu_aicore_ops: prelu
npu_bridge.estimator
npu_bridge.estimator.npu
npu_bridge.hccl
npu_bridge.helper
npu_bridge.npu_cpu
npu_bridge.tbe
npu_bridge.profiler
npu_bridge.scoped_graph_manager
npu_bridge.image
npu_bridge.experimental
npu_bridge.tf_adapter
    tf_adapter: DT_FLOAT DT_FLOAT16 DT_INT8 DT_INT32 DT_UINT8 DT_INT16 DT_UINT16 DT_UINT32
        DT_INT64 DT_UINT64 DT_DOUBLE DT_BOOL DT_STRING DT_COMPLEX64 DT_COMPLEX128
    device: PluginInit PluginFinalize NpuClose InitRdmaPool RegistRdmaRemoteAddr
        RdmaInitAndRegister GetVarAddrAndSize MallocSharedMem SetDeviceSatMode GetDeviceSatMode
        ProfilerStart ProfilerStop EnableControl Clear OP_DEBUG_LEVEL
        OPTION_EXEC_ENABLE_SCOPE_FUSION_PASSES OPTION_EXEC_PROFILING_MODE
        OPTION_EXEC_PROFILING_OPTIONS OPTION_GRAPH_RUN_MODE OPTION_EXEC_HCCL_FLAG
hccl
    hccl: __version__
hccl.manage
hccl.manage.api
    hccl: get_rank_size get_rank_id get_local_rank_size get_local_rank_id create_group
        destroy_group get_world_rank_from_group_rank get_group_rank_from_world_rank check_group
        check_rank_num check_rank_id MAX_GROUP_NAME_LEN
    device: load_lib c_str c_array HCCL_LIB_CTYPES
hccl.split
hccl.split.api
    hccl: set_split_strategy_by_idx set_split_strategy_by_size MAX_GROUP_NAME_LEN
        MAX_VALUE_UINT32
"""


def _parse(table: str) -> Dict[str, Dict[str, Home]]:
    modules: Dict[str, Dict[str, Home]] = {}
    names: Dict[str, Home] = {}
    source = ""
    for line in table.strip().splitlines():
        if not line.startswith(" "):
            names = modules.setdefault(line, {})
            continue
        head, colon, rest = line.rpartition(": ")
        source = head.strip() if colon else source
        for word in rest.split():
            name, _, there = word.partition("=")
            names[name] = Home(source, there or name)
    return modules


MODULES: Mapping[str, Mapping[str, Home]] = _parse(_TABLE)
"""Path of a vendor's module to its names and their homes."""


def is_package(path: str) -> bool:
    """True for a path that has other paths of the table below it."""
    return any(other.startswith(path + ".") for other in MODULES)


def names_of(path: str) -> List[str]:
    """The names of a vendor's module, without those of modules below it.

    Args:
        path: a path of :data:`MODULES`.
    """
    names = list(MODULES[path])
    return list(_module("npu_init").__all__) if names == ["*"] else names


def resolve(path: str, name: str) -> Any:
    """What serves a name of a vendor's module.

    Nothing of the vendor's is imported, and TensorFlow only where the name needs it.

    Args:
        path: a path of :data:`MODULES`.
        name: a name of that module.

    Raises:
        AttributeError: the module has no such name.
    """
    homes = MODULES[path]
    home = Home("npu_init", name) if "*" in homes else homes.get(name)
    if home is None:
        raise AttributeError("module {!r} has no attribute {!r}".format(path, name))
    if home.source == "device":
        return vendor.late(path.partition(".")[2], name)
    if home.source == "operators":
        return _module("npu_unary_ops")
    if home.source == "import":
        return importlib.import_module(home.name)
    if "." in home.source:
        return resolve(home.source, home.name)
    return getattr(_module(home.source), home.name)


@functools.lru_cache(maxsize=None)
def _module(name: str) -> Any:
    """A module of ours by the name that the table gives it."""
    package = "npu_config" if name == "npu_init" else "npu_config.tf1"
    return importlib.import_module("{}.{}".format(package, name))
