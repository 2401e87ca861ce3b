"""Names: one spelling for each thing of TensorFlow, Keras and Horovod, however it is imported."""

import functools
from typing import Dict, FrozenSet, Tuple

__all__ = [
    "INTERESTING",
    "PACKAGES",
    "STAR_NAMES",
    "TEXT_WORDS",
    "canonical",
    "interesting",
    "is_ours",
]

PACKAGES = ("tensorflow", "keras", "horovod", "tf_slim", "tensorflow_estimator", "tensorflow_core")
"""Top packages without which nothing in a script concerns a migration."""

_EXPERIMENTAL = "tensorflow.python.training.experimental."
_SAME: Tuple[Tuple[str, str], ...] = (
    ("tensorflow_core", "tensorflow"),
    ("tensorflow_estimator.python.estimator.estimator", "tensorflow.estimator"),
    ("tensorflow_estimator.python.estimator.run_config", "tensorflow.estimator"),
    ("tensorflow_estimator.estimator", "tensorflow.estimator"),
    ("tensorflow_estimator", "tensorflow.estimator"),
    ("tf_slim", "tensorflow.contrib.slim"),
    ("tensorflow.compat.v1", "tensorflow"),
    ("tensorflow.compat.v2.compat.v1", "tensorflow"),
    ("tensorflow._api.v1", "tensorflow"),
    ("tensorflow.python.client.client_lib", "tensorflow"),
    ("tensorflow.python.client.session", "tensorflow"),
    ("tensorflow.python.InteractiveSession", "tensorflow.InteractiveSession"),
    ("tensorflow.python.Session", "tensorflow.Session"),
    ("tensorflow.python.training.monitored_session", "tensorflow.train"),
    ("tensorflow.python.training.supervisor", "tensorflow.train"),
    ("tensorflow.python.training.session_manager", "tensorflow.train"),
    ("tensorflow.python.training.sync_replicas_optimizer", "tensorflow.train"),
    ("tensorflow.python.training.training", "tensorflow.train"),
    ("tensorflow.python.training.input", "tensorflow.train"),
    ("tensorflow.python.ops.rnn_cell_impl", "tensorflow.nn.rnn_cell"),
    ("tensorflow.python.ops.rnn_cell", "tensorflow.nn.rnn_cell"),
    ("tensorflow.python.ops.rnn", "tensorflow.nn"),
    ("tensorflow.python.ops.nn_ops", "tensorflow.nn"),
    ("tensorflow.python.ops.nn", "tensorflow.nn"),
    ("tensorflow.python.ops.control_flow_ops", "tensorflow"),
    ("tensorflow.python.ops.functional_ops", "tensorflow"),
    ("tensorflow.python.ops.script_ops", "tensorflow"),
    ("tensorflow.python.data.ops.dataset_ops", "tensorflow.data"),
    ("tensorflow.python.platform.app", "tensorflow.app"),
    ("tensorflow.python.keras", "tensorflow.keras"),
    ("tensorflow.contrib.keras", "tensorflow.keras"),
    ("tensorflow.python.estimator.estimator", "tensorflow.estimator"),
    ("tensorflow.python.estimator.run_config", "tensorflow.estimator"),
    ("tensorflow.python.distribute.mirrored_strategy", "tensorflow.distribute"),
    ("tensorflow.python.distribute.parameter_server_strategy", "tensorflow.distribute"),
    ("tensorflow.python.distribute.collective_all_reduce_strategy", "tensorflow.distribute"),
    ("tensorflow.python.distribute.one_device_strategy", "tensorflow.distribute"),
    ("tensorflow.python.distribute", "tensorflow.distribute"),
    ("tensorflow.contrib.distribute.python.mirrored_strategy", "tensorflow.distribute"),
    ("tensorflow.core.protobuf.config_pb2", "tensorflow"),
    ("tensorflow.contrib.rnn", "tensorflow.nn.rnn_cell"),
    ("tensorflow.contrib.tpu.python.tpu.tpu_estimator", "tensorflow.contrib.tpu"),
    ("tensorflow.contrib.tpu.python.tpu.tpu_config", "tensorflow.contrib.tpu"),
    ("tensorflow.contrib.tpu.python.tpu.tpu_optimizer", "tensorflow.contrib.tpu"),
    ("tensorflow.estimator.tpu", "tensorflow.contrib.tpu"),
    ("tensorflow.tpu", "tensorflow.contrib.tpu"),
    ("tensorflow.contrib.data", "tensorflow.data.experimental"),
    ("tensorflow.contrib.estimator", "tensorflow.estimator"),
    ("tensorflow.contrib.cudnn_rnn.python.layers.cudnn_rnn", "tensorflow.contrib.cudnn_rnn"),
    ("tensorflow.python.ops.nccl_ops", "tensorflow.contrib.nccl"),
    (
        "tensorflow.contrib.mixed_precision.python.loss_scale_manager",
        "tensorflow.contrib.mixed_precision",
    ),
    (
        "tensorflow.contrib.mixed_precision.python.loss_scale_optimizer",
        "tensorflow.contrib.mixed_precision",
    ),
    (_EXPERIMENTAL + "loss_scale_optimizer", "tensorflow.train.experimental"),
    (_EXPERIMENTAL + "loss_scale", "tensorflow.train.experimental"),
    (_EXPERIMENTAL + "mixed_precision", "tensorflow.train.experimental"),
    ("tensorflow.train.queue_runner", "tensorflow.train"),
    ("tensorflow.queue", "tensorflow"),
    ("tensorflow.contrib.distribute", "tensorflow.distribute"),
    ("tensorflow.contrib.slim.python.slim", "tensorflow.contrib.slim"),
    ("tensorflow.contrib.framework.python.ops.arg_scope", "tensorflow.contrib.framework"),
    ("tensorflow.distribute.experimental", "tensorflow.distribute"),
    ("tensorflow.contrib.eager.py_func", "tensorflow.py_function"),
    ("tensorflow.train.Server.create_local_server", "tensorflow.train.Server"),
    ("tensorflow.math.is_finite", "tensorflow.is_finite"),
    ("tensorflow.debugging.is_finite", "tensorflow.is_finite"),
    ("tensorflow.initializers.tables_initializer", "tensorflow.tables_initializer"),
    ("horovod.tensorflow.keras", "horovod"),
    ("horovod.keras", "horovod"),
    ("horovod.tensorflow.compression", "horovod"),
    ("horovod.tensorflow", "horovod"),
    ("absl.app", "tensorflow.app"),
)


@functools.lru_cache(maxsize=4096)
def canonical(dotted: str) -> str:
    """The public TensorFlow 1.15 name of what a dotted name means; others stay as they are.

    Horovod's interfaces for TensorFlow and for Keras are both ``horovod``; absl's ``app`` is
    TensorFlow's.
    """
    for _ in range(4):
        for prefix, plain in _SAME:
            if dotted.startswith(prefix) and dotted[len(prefix) : len(prefix) + 1] in ("", "."):
                dotted = plain + dotted[len(prefix) :]
                break
        else:
            break
    return dotted


def is_ours(dotted: str) -> bool:
    """True for a name of a package that already makes a script one for the NPU."""
    return dotted.split(".")[0] in ("npu_bridge", "npu_config", "npu_device")


def _words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


STAR_NAMES: FrozenSet[str] = _words(
    """DumpConfig DynamicInputConfig MemoryConfig NPUEstimator NPUEstimatorSpec NPURunConfig
    ProfilingConfig experimental_options npu_config_proto npu_graph_options npu_optimizer_options
    npu_run_config_init NPUBroadcastGlobalVariablesCallback NPUBroadcastGlobalVariablesHook
    NPUCheckpointSaverHook NPUOutputTensorHook NpuEmptyHook SetIterationsVarHook
    TellMeStepOrLossHook npu_callbacks_append npu_hooks_append ExponentialUpdateLossScaleManager
    FixedLossScaleManager KerasDistributeOptimizer NPUDistributedOptimizer NPULossScaleOptimizer
    NPUOptimizer npu_allreduce npu_distributed_optimizer_wrapper npu_keras_optimizer
    npu_tf_optimizer close_session decorator_tf_session get_npu_local_rank_id
    get_npu_local_rank_size get_npu_rank_id get_npu_rank_size init_resource npu_clear_session
    npu_close
    npu_resources npu_session set_keras_session_npu_config shutdown_resource unpatch_sessions
    create_group destroy_group get_group_rank_from_world_rank get_local_rank_id
    get_local_rank_size get_rank_id get_rank_size get_world_rank_from_group_rank
    set_split_strategy_by_idx set_split_strategy_by_size hccl_ops keras_to_npu npu_cpu_ops
    npu_ops npu_plugin npu_rnn npu_scope npu_strategy npu_unary_ops os profiler
    scoped_graph_manager util RewriterConfig backend config_pb2 rewriter_config_pb2 session
    session_run_hook tf"""
)
"""What ``from npu_config.npu_init import *`` binds (a test compares it with the module)."""

TEXT_WORDS: FrozenSet[str] = _words(
    """CUDA_VISIBLE_DEVICES TF_XLA_FLAGS TF_ENABLE_AUTO_MIXED_PRECISION
    TF_ENABLE_AUTO_MIXED_PRECISION_GRAPH_REWRITE TF_ENABLE_AUTO_MIXED_PRECISION_LOSS_SCALING nvidia
    mpirun mpiexec horovodrun NpuOptimizer"""
)
"""The words that matter in texts, and as keywords."""

INTERESTING: FrozenSet[str] = TEXT_WORDS | _words(
    """Session InteractiveSession MonitoredTrainingSession ChiefSessionCreator WorkerSessionCreator
    SingularMonitoredSession MonitoredSession managed_session prepare_or_wait_for_session
    prepare_session recover_session wait_for_session Supervisor finalize test_session
    cached_session session evaluate_once evaluation_loop evaluate_repeatedly train remapping
    memory_optimization auto_mixed_precision global_jit_level set_jit jit_scope
    experimental_jit_scope compile set_experimental_options gpu_options GPUOptions
    set_memory_growth ConfigProto RewriterConfig OptimizerOptions device_count RunConfig
    TPUEstimator TPUConfig TPUClusterResolver CrossShardOptimizer rewrite shard TrainSpec
    model_to_estimator load_model model_from_json clone_model applications set_session
    clear_session fit fit_generator train_on_batch Sequential Model multi_gpu_model
    LossScaleOptimizer zeros MirroredStrategy CollectiveAllReduceStrategy
    MultiWorkerMirroredStrategy ParameterServerStrategy CentralStorageStrategy OneDeviceStrategy
    TPUStrategy ClusterSpec Server replica_device_setter SyncReplicasOptimizer gradients device
    dropout Dropout gelu BasicLSTMCell LSTMCell LSTMBlockCell LayerNormBasicLSTMCell GRUCell
    LSTMBlockFusedCell BasicRNNCell dynamic_rnn bidirectional_dynamic_rnn raw_rnn while_loop
    cond case map_fn scan foldl foldr is_finite is_gpu_available gpu_device_name
    is_built_with_cuda list_local_devices list_physical_devices list_logical_devices
    create_local_server CuDNNLSTM CuDNNGRU CudnnLSTM
    CudnnGRU CudnnRNNTanh CudnnRNNRelu CudnnCompatibleLSTMCell nccl all_sum load_op_library
    load_library py_func py_function numpy_function enable_eager_execution enable_v2_behavior
    batch padded_batch map_and_batch prefetch_to_device copy_to_device make_one_shot_iterator
    shuffle_batch maybe_batch maybe_shuffle_batch start_queue_runners FIFOQueue
    RandomShuffleQueue PaddingFIFOQueue PriorityQueue QueueRunner shuffle shuffle_and_repeat
    placeholder placeholder_with_default Variable get_variable HashTable StaticHashTable
    MutableHashTable MutableDenseHashTable DenseHashTable StaticVocabularyTable
    IdTableWithHashBuckets index_table_from_file index_table_from_tensor
    index_to_string_table_from_file index_to_string_table_from_tensor
    string_to_index_table_from_file string_to_index_table_from_tensor
    enable_mixed_precision_graph_rewrite MixedPrecisionLossScaleOptimizer FixedLossScaleManager
    ExponentialUpdateLossScaleManager minimize compute_gradients apply_gradients
    LoggingTensorHook scalar histogram image audio text run GPUtil pynvml map flat_map filter
    interleave parallel_interleave from_generator group_by_window map_with_legacy_function
    custom_optimizers function GradientTape set_seed create_file_writer AdamOptimizer
    MomentumOptimizer GradientDescentOptimizer RMSPropOptimizer AdagradOptimizer
    AdadeltaOptimizer FtrlOptimizer AdamWOptimizer LAMBOptimizer LazyAdamOptimizer Adam SGD
    RMSprop Adagrad Adadelta Adamax Nadam set_policy Estimator BaselineClassifier BaselineEstimator
    BaselineRegressor BoostedTreesClassifier BoostedTreesEstimator BoostedTreesRegressor
    DNNClassifier DNNEstimator DNNLinearCombinedClassifier DNNLinearCombinedEstimator
    DNNLinearCombinedRegressor DNNRegressor LinearClassifier LinearEstimator LinearRegressor
    """
)
"""The words without which a line of a script is not looked at."""

_BESIDE = """
zeros: backend
compile: xla
rewrite: tpu
train: learning training
session test_session cached_session: TestCase
fit fit_generator train_on_batch: keras
scalar histogram image audio text: minimize apply_gradients RunConfig
Variable get_variable: Dataset data float16 half
placeholder placeholder_with_default: while_loop cond case map_fn scan foldl foldr dynamic_rnn \
bidirectional_dynamic_rnn raw_rnn
AdamOptimizer MomentumOptimizer GradientDescentOptimizer RMSPropOptimizer AdagradOptimizer \
AdadeltaOptimizer FtrlOptimizer AdamWOptimizer LAMBOptimizer LazyAdamOptimizer Adam SGD RMSprop \
Adagrad Adadelta Adamax Nadam: MirroredStrategy CollectiveAllReduceStrategy \
MultiWorkerMirroredStrategy ParameterServerStrategy CentralStorageStrategy OneDeviceStrategy \
TPUStrategy
"""
"""Common words, and those beside which they matter."""
_NEEDED: Dict[str, FrozenSet[str]] = {
    word: _words(others)
    for some, _, others in (line.partition(":") for line in _BESIDE.strip().splitlines())
    for word in some.split()
}


def interesting(words: FrozenSet[str]) -> FrozenSet[str]:
    """The words of a script that matter; common ones only beside one that makes them matter."""
    return frozenset(
        word
        for word in words & INTERESTING
        if word not in _NEEDED or not words.isdisjoint(_NEEDED[word])
    )
