"""Situations of placement, processes, and slow forms that have faster ones."""

from npu_config.core.diagnostics import Severity
from npu_config.situations import (
    FAQ,
    GRAPH,
    INTRODUCTION,
    MIGRATION,
    RUN,
    TEXT,
    TFADAPTER,
    situation,
)

_AFFINITY = MIGRATION + "performance_tuning/affinity_interface_replacement.md"


@situation(
    "NPU8109",
    Severity.WARNING,
    TEXT,
    RUN,
    source=(INTRODUCTION,),
    help='call multiprocessing.set_start_method("forkserver") first in the main program, or use '
    'multiprocessing.get_context("forkserver")',
)
def forked_process_beside_session() -> None:
    """A program that creates sessions starts processes by fork.

    The child process inherits the locks of its parent in their current state: with Python 3.8 to
    3.11 the job may deadlock and hang.

    Wrong:

        import multiprocessing

        pool = multiprocessing.Pool(4)
        with tf.Session() as sess:
            sess.run(train_op)

    Right:

        import multiprocessing

        pool = multiprocessing.get_context("forkserver").Pool(4)
        with tf.Session() as sess:
            sess.run(train_op)
    """


@situation(
    "NPU8110",
    Severity.WARNING,
    TEXT,
    RUN,
    facts=("allow-soft-placement",),
    source=(MIGRATION + "script_migration/single_service_single_device_porting.md",),
    help="set allow_soft_placement=True, or remove tf.device",
)
def device_of_gpu_without_soft_placement() -> None:
    """``tf.device`` names a GPU, and the session has no soft placement.

    The NPU host has no GPU: without `allow_soft_placement` the operators cannot be placed. Newer
    adapters complete the configuration of the session automatically.

    Wrong:

        import tensorflow as tf
        from npu_bridge.npu_init import *

        with tf.device("/gpu:0"):
            y = tf.square(1.0)
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=False)) as sess:
            sess.run(y)

    Right:

        import tensorflow as tf
        from npu_bridge.npu_init import *

        with tf.device("/gpu:0"):
            y = tf.square(1.0)
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
            sess.run(y)
    """


@situation(
    "NPU4002",
    Severity.INFO,
    TEXT,
    RUN,
    GRAPH,
    source=(FAQ + "rca_operator_performance_tuning_fix.md",),
    also=("mix_compile_mode",),
)
def accumulators_on_device() -> None:
    """Conditional accumulators run on the device and are slow.

    On the device, ResourceConditionalAccumulator and similar operators
    (`tf.ConditionalAccumulator`, `tf.train.SyncReplicasOptimizer`) are slow. If `mix_compile_mode`
    is true and `iterations_per_loop` is 1, they stay on the host.

    Wrong:

        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])

    Right:

        custom_op.parameter_map["mix_compile_mode"].b = True
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
    """


@situation(
    "NPU4003",
    Severity.WARNING,
    RUN,
    GRAPH,
    facts=("mix-compile-batchnorm-v3",),
    source=(MIGRATION + "others/mixed_computing.md",),
    also=("mix_compile_mode",),
    help='create the layer inside "with tf.compat.forward_compatibility_horizon(2019, 5, 1)"',
)
def batch_normalisation_in_mixed_computing() -> None:
    """The network uses FusedBatchNormV3 in mixed computing.

    The fifth output of FusedBatchNormV3 is meant for CUDA and is not supported in mixed computing.

    Wrong: `tf.layers.batch_normalization(x)` with `mix_compile_mode: true`

    Right: the same call inside `with tf.compat.forward_compatibility_horizon(2019, 5, 1):`
    """


@situation("NPU8111", Severity.INFO, TEXT, RUN, source=(_AFFINITY,))
def slow_dropout() -> None:
    """The network uses TensorFlow's dropout.

    `npu_ops.dropout` is faster, but its random numbers are different. `npu-config migrate`
    replaces the call. For dropout layers, import `npu_convert_dropout`.

    Wrong:

        x = tf.nn.dropout(x, keep_prob=0.9)

    Right:

        from npu_bridge.estimator import npu_ops

        x = npu_ops.dropout(x, keep_prob=0.9)
    """


@situation("NPU8112", Severity.INFO, TEXT, RUN, GRAPH, source=(_AFFINITY,))
def slow_gelu() -> None:
    """The network computes gelu with several operators.

    `npu_unary_ops.gelu(x)` replaces about eight operators by one.

    Wrong:

        y = 0.5 * x * (1.0 + tf.tanh(0.79788456 * (x + 0.044715 * tf.pow(x, 3))))

    Right:

        from npu_bridge.estimator.npu_unary_ops import npu_unary_ops

        y = npu_unary_ops.gelu(x)
    """


@situation(
    "NPU8113",
    Severity.INFO,
    TEXT,
    RUN,
    GRAPH,
    source=(
        TFADAPTER + "apiref/npu_dynamic_rnn/DynamicRNN_constructor.md",
        TFADAPTER + "apiref/npu_rnn/npu_dynamic_rnn.md",
    ),
)
def slow_recurrent_layer() -> None:
    """``dynamic_rnn`` runs over an LSTM or GRU cell.

    `dynamic_rnn` is a loop of TensorFlow 1. `DynamicRNN` and `DynamicGRUV2` of npu_bridge run the
    layer as one operator. They need inputs with the time dimension first, run one layer, and store
    the weights in another layout: the model must be trained again.

    Wrong:

        cell = tf.nn.rnn_cell.BasicLSTMCell(64)
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)

    Right:

        from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN

        outputs = DynamicRNN(64, tf.float32)(x)
    """
