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

    The functions of tf.data run on the host, but the variable is initialised on the device: the
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

    Datasets are created on the host, but the variable is initialised on the device: the iterator
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

    The table is initialised on the device, but the preprocessing of tf.data runs on the host,
    where the table is not initialised: the job fails. In mixed computing both are on the host.

    Wrong: `dataset.map(table.lookup)` without `mix_compile_mode`

    Right: the same with `mix_compile_mode: true` (which requires `iterations_per_loop` 1), or a
    lookup after `iterator.get_next()`.
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

    The call creates a variable, not a tensor. The input pipeline runs on the host, where nothing
    initialises this variable: the job fails with an uninitialised variable. ``ones`` and
    ``variable`` do the same.

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

    If a graph creates an iterator, the adapter offloads nothing of this graph to the device: the
    initial values stay on the host, and the variables on the device stay 0. Training runs but does
    not converge, without any message.

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

    The forward pass starts immediately and waits for the first element, which arrives only when
    the buffer is full: the wait times out (0x91, E30008) and the process aborts. This depends on
    the time that the buffer needs to fill; buffers of 10000 elements or more are reported.

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

    The first dimension is unknown, or differs in the last batch: the graph is compiled for dynamic
    shapes, which is slower, and some operators and v1 control flow are not supported.

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

    On the NPU, data is read with datasets or placeholders. Queues are not supported, and a device
    loop cannot be used with them.

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

    A script that keeps tf.train.batch must use one thread on the NPU.

    Wrong:

        images = tf.train.batch([image], 32, num_threads=4)

    Right:

        images = tf.train.batch([image], 32, num_threads=1)
    """
