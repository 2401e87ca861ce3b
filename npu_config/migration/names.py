"""Names: one spelling for each thing of TensorFlow, Keras and Horovod, however it is imported."""

import functools
import re
from typing import Dict, FrozenSet, Iterable, Mapping, Tuple

from npu_config.script.vocabulary import TABLES

__all__ = [
    "CONCERNING",
    "Interest",
    "MAKERS",
    "PACKAGES",
    "STAR_NAMES",
    "TEXT_WORDS",
    "canonical",
    "is_ours",
]

PACKAGES = ("tensorflow", "keras", "horovod", "tf_slim", "tensorflow_estimator", "tensorflow_core")
"""Top packages of TensorFlow, Keras and Horovod."""

MAKERS: Mapping[str, Tuple[str, ...]] = {
    "tensorpack": ("dataflow", "utils", "input_source"),
    "tensorflow_gan": ("features",),
    "tensor2tensor": ("data_generators", "layers", "utils.registry"),
    "baselines": ("logger", "bench"),
    "opennmt": ("layers", "tokenizers"),
    "magenta": ("music", "common"),
    "bert_serving": ("client",),
    **dict.fromkeys(
        (
            *("stable_baselines", "tflearn", "tensorlayer", "gpflow", "edward", "tensorforce"),
            *("garage", "rllab", "tf_agents", "dopamine", "texar", "rlgraph", "deepchem"),
            *("cleverhans", "lucid", "ludwig", "adanet", "tensorflow_ranking", "t5"),
            *("tensorflow_model_analysis", "deepctr", "ampligraph", "zhusuan", "niftynet"),
            *("mesh_tensorflow", "trax", "inferbeddings", "spinup", "openrec"),
        ),
        (),
    ),
}
"""Packages that make sessions or Estimators, with the parts of them that make none."""

CONCERNING = (*PACKAGES, *MAKERS)
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
    ("tensorpack.compat.tfv1", "tensorflow"),
    ("tensorpack.tfv1", "tensorflow"),
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

_ASKED_FOR: FrozenSet[str] = frozenset(TABLES) | _words(
    """CudnnCompatibleLSTMCell GPUtil GradientTape LoggingTensorHook QueueRunner apply_gradients
    auto_mixed_precision compute_gradients create_file_writer create_local_server
    custom_optimizers device_count enable_eager_execution enable_v2_behavior filter finalize
    flat_map from_generator function gelu global_jit_level gpu_options gradients
    group_by_window interleave managed_session map map_and_batch map_with_legacy_function
    memory_optimization minimize padded_batch parallel_interleave prepare_or_wait_for_session
    prepare_session pynvml recover_session remapping run set_seed set_session shuffle
    shuffle_and_repeat wait_for_session"""
)
"""The words that rules ask for, and that the name of no rule ends in."""

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


class Interest:
    """What makes a line of a script worth looking at.

    Args:
        rules: the canonical names for which there are rules.

    Attributes:
        known: these names and what they are in.
        words: what they end in, and the other words that rules ask for.
    """

    def __init__(self, rules: Iterable[str]) -> None:
        rules = frozenset(rules)
        dots = ((name, dot.start()) for name in rules for dot in re.finditer(r"\.|$", name))
        self.known = frozenset(name[:dot] for name, dot in dots)
        ends = {name.rpartition(".")[2] for name in rules}
        self.words = TEXT_WORDS | _ASKED_FOR | _NEEDED.keys() | ends

    def of(self, words: FrozenSet[str]) -> FrozenSet[str]:
        """The words of a script that matter; common ones only beside one that makes them so."""
        return frozenset(
            word
            for word in words & self.words
            if word not in _NEEDED or not words.isdisjoint(_NEEDED[word])
        )
