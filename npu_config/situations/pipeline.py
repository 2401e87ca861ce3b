"""Situations of the input pipeline: what runs on the host and what it needs of the device."""

from npu_config.core.diagnostics import Severity
from npu_config.situations import (
    FAQ,
    GRAPH,
    INTRODUCTION,
    MIGRATION,
    RUN,
    TEXT,
    situation,
)


@situation(
    "NPU481",
    Severity.ERROR,
    TEXT,
    RUN,
    GRAPH,
    facts=("preprocess-tf-variable",),
    source=(FAQ + "tf-variable_preprocess_error.md", "article:000"),
    situation="dataset-function-captures-variable",
    help="use a Python number, a constant, or a placeholder that is fed when the iterator is "
    "initialised; or compute with the variable after get_next()",
)
def variable_in_preprocessing() -> None:
    """A variable is used in the data preprocessing.

    The functions of tf.data run on the host, the variable is initialised on the device: the
    first batch fails with FailedPrecondition, resource not found.

    Wrong:

        offset = tf.Variable(1.0)
        dataset = tf.data.Dataset.range(8).map(lambda x: tf.cast(x, tf.float32) + offset)

    Right:

        offset = 1.0
        dataset = tf.data.Dataset.range(8).map(lambda x: tf.cast(x, tf.float32) + offset)
    """


@situation(
    "NPU8101",
    Severity.ERROR,
    TEXT,
    RUN,
    GRAPH,
    facts=("preprocess-tf-variable",),
    source=(FAQ + "tf-variable_preprocess_error.md", "article:000"),
    help="use a Python number, or a placeholder that is fed when the iterator is initialised",
)
def dataset_argument_from_variable() -> None:
    """A dataset gets a variable as batch size, count, seed or buffer size.

    Datasets are made on the host, the variable is initialised on the device: the iterator
    cannot be initialised.

    Wrong:

        size = tf.Variable(32, dtype=tf.int64)
        dataset = tf.data.Dataset.range(64).batch(size, drop_remainder=True)

    Right:

        size = tf.placeholder(tf.int64, [])
        dataset = tf.data.Dataset.range(64).batch(size, drop_remainder=True)
    """


@situation(
    "NPU480",
    Severity.ERROR,
    TEXT,
    RUN,
    GRAPH,
    facts=("mix-compile-resource-tables",),
    source=(FAQ + "resource_operator_preprocess_fix.md", "article:000"),
    situation="dataset-function-uses-table",
    help=(
        "set mix_compile_mode to True (iterations_per_loop must be 1 then), or look the "
        "table up after get_next()"
    ),
)
def table_in_preprocessing() -> None:
    """A lookup table is used in the data preprocessing.

    The table is initialised on the device, the preprocessing of tf.data runs on the host and
    finds it not initialised: the job fails. In mixed computing both are on the host.

    Wrong: `dataset.map(table.lookup)` without `mix_compile_mode`

    Right: the same with `mix_compile_mode: true` (which requires `iterations_per_loop` 1), or
    the lookup behind `iterator.get_next()`.
    """


@situation(
    "NPU8102",
    Severity.ERROR,
    TEXT,
    RUN,
    GRAPH,
    facts=("keras-backend-zeros",),
    source=(FAQ + "tf_keras_backend_zeros_uninitialized_variable.md",),
    help="use tf.zeros, tf.ones or tf.constant",
)
def keras_backend_variable_in_input() -> None:
    """``keras.backend.zeros`` creates a variable in the input pipeline.

    The call makes a variable, not a tensor. Nothing initialises it on the host, where the
    pipeline runs: uninitialised variable. ``ones`` and ``variable`` are alike.

    Wrong:

        dataset = tf.data.Dataset.range(8).map(lambda x: tf.keras.backend.zeros([4]))

    Right:

        dataset = tf.data.Dataset.range(8).map(lambda x: tf.zeros([4]))
    """


@situation(
    "NPU8103",
    Severity.ERROR,
    TEXT,
    RUN,
    facts=("init-runs-separate",),
    source=(FAQ + "variable_preprocess_init_subgraph_error_fix.md",),
    help="initialise the variables and the iterator in two separate session.run calls",
)
def variables_and_iterator_in_one_run() -> None:
    """Variables and an iterator are initialised by one ``session.run``.

    The adapter takes nothing of a graph to the device that makes an iterator: the initial values
    stay on the host and the variables on the device stay 0. Training runs, does not converge, and
    nothing says why.

    Wrong:

        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(8))
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), iterator.initializer])

    Right:

        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(8))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(iterator.initializer)
    """


@situation(
    "NPU8104",
    Severity.WARNING,
    TEXT,
    RUN,
    GRAPH,
    facts=("getnext-shuffle-buffer", "getnext-timeout"),
    source=(FAQ + "shuffle_buffer_timeout_fix.md", FAQ + "getnext_timeout_e30008_error.md"),
    also=("enable_data_pre_proc", "op_execute_timeout"),
    help=(
        "use a smaller buffer, set enable_data_pre_proc to False, or increase op_execute_timeout"
    ),
)
def shuffle_buffer_with_getnext_offload() -> None:
    """A dataset has a large shuffle buffer while GetNext is offloaded to the device.

    The forward pass starts at once and waits for the first element, which comes when the buffer
    is full: the wait times out (0x91, E30008) and the process aborts. How long filling takes
    decides; from 10000 elements on it is reported.

    Wrong:

        custom_op.parameter_map["enable_data_pre_proc"].b = True
        dataset = tf.data.TFRecordDataset(["train.tfrecord"]).shuffle(20000)

    Right:

        custom_op.parameter_map["enable_data_pre_proc"].b = True
        dataset = tf.data.TFRecordDataset(["train.tfrecord"]).shuffle(5000)
    """


@situation(
    "NPU5001",
    Severity.WARNING,
    TEXT,
    RUN,
    GRAPH,
    facts=("drop-remainder",),
    source=(MIGRATION + "script_migration/single_service_single_device_porting.md",),
    help="set drop_remainder=True; in prediction, where no record may be lost, pad the last "
    "batch instead",
)
def batch_without_drop_remainder() -> None:
    """The last batch of a dataset may be shorter than the others.

    The first dimension is unknown, or changes at the end of the data: the graph is compiled for
    dynamic shapes, which is slower, and some operators and v1 control flow are refused.

    Wrong:

        dataset = tf.data.Dataset.range(100).batch(32)

    Right:

        dataset = tf.data.Dataset.range(100).batch(32, drop_remainder=True)
    """


@situation(
    "NPU8105",
    Severity.WARNING,
    TEXT,
    RUN,
    GRAPH,
    source=(INTRODUCTION,),
    help="read the data with tf.data",
)
def queue_input() -> None:
    """The input pipeline uses TensorFlow queues.

    Datasets and placeholders are the ways to read data that the NPU supports. Queues are none,
    and a device loop cannot be had with them.

    Wrong:

        names = tf.train.string_input_producer(["train.csv"])
        _, line = tf.TextLineReader().read(names)

    Right:

        line = tf.data.TextLineDataset("train.csv").make_one_shot_iterator().get_next()
    """


@situation(
    "NPU8106",
    Severity.WARNING,
    TEXT,
    source=(MIGRATION + "script_migration/single_service_single_device_porting.md",),
    help="set num_threads=1, or better, read the data with tf.data",
)
def train_batch_with_many_threads() -> None:
    """``tf.train.batch`` is called with more than one thread.

    Who stays with tf.train.batch must use one thread on the NPU.

    Wrong:

        images = tf.train.batch([image], 32, num_threads=4)

    Right:

        images = tf.train.batch([image], 32, num_threads=1)
    """
