"""Situations of shapes, compilation, and what every step pays for."""

from npu_config.core.diagnostics import Severity
from npu_config.situations import (
    ADAPTER,
    ARTICLE,
    FAQ,
    GRAPH,
    MIGRATION,
    RUN,
    TEXT,
    TFADAPTER,
    situation,
)

_CONTROL = "docs/en/tfa_env/ENABLE_FORCE_V2_CONTROL.md"
_DYNAMIC = TFADAPTER + "apiref/session_config/dynamic_shape.md"
_DEVICES = FAQ + "multi-device_model_error.md"


@situation(
    "NPU482",
    Severity.ERROR,
    RUN,
    GRAPH,
    facts=("dynamic-shape-v1-control-flow", "variable-placement-v1-control-flow"),
    source=(_CONTROL, FAQ + "dynamic_shape_v1_control_unsupported_error.md", "article:000"),
    situation="v1-control-flow-with-changing-shapes",
    help="call tf.enable_control_flow_v2() and tf.enable_resource_variables() after the "
    "import of TensorFlow, or set ENABLE_FORCE_V2_CONTROL=1, or use the same shape in "
    "every step",
)
def v1_control_flow_dynamic() -> None:
    """A graph with dynamic shapes contains v1 control flow.

    `tf.while_loop`, `tf.cond`, `tf.case` and `tf.nn.dynamic_rnn` of TensorFlow 1 consist of
    Switch, Merge, Enter, Exit and NextIteration, which the graph engine does not support in a
    graph with dynamic shapes.

    Wrong: `tf.while_loop` over a `tf.placeholder(tf.float32, [None, 4])`

    Right: `tf.enable_control_flow_v2()` and `tf.enable_resource_variables()` before the graph is
    built; or the environment variable `ENABLE_FORCE_V2_CONTROL=1`, which cannot convert reference
    variables and raw_ops and may reduce the speed; or static shapes (`batch(...,
    drop_remainder=True)`).
    """


@situation("NPU5002", Severity.INFO, RUN, GRAPH, source=(FAQ + "v1_control_ops_out_of_memory.md",))
def v1_control_flow_many_branches() -> None:
    """A graph has very many branches of v1 control flow.

    The branches of Switch and Merge do not share memory: a network with many branches fails with a
    message about more than 31 GB. The documentation gives no number; 100 branches are reported
    (gradients double the count).

    Wrong: a `tf.cond` in each of 60 layers that are unrolled in Python

    Right: `tf.enable_control_flow_v2()` and `tf.enable_resource_variables()` before the graph
    is built, or `ENABLE_FORCE_V2_CONTROL=1`.
    """


@situation(
    "NPU5003",
    Severity.WARNING,
    RUN,
    facts=(
        "shape-generalization-needs-jit",
        "jit-compile-allowed",
        "dynamic-input-options-inert",
    ),
    source=(
        ADAPTER + "/kernels/geop_npu.cc",
        _DYNAMIC,
        MIGRATION + "script_migration/single_service_single_device_porting.md",
        ARTICLE,
    ),
    also=("jit_compile", "compile_dynamic_mode"),
    help="pad to one shape or a few shapes (drop_remainder=True for datasets); "
    "compile_dynamic_mode True from the start avoids the second compilation",
)
def feed_shapes_change() -> None:
    """The same ``session.run`` is called with new input shapes again and again.

    If `jit_compile` is true, each new shape compiles the graph again, which takes minutes. If it
    is auto or false, the second shape compiles the graph once more, for unknown dimensions:
    operators are slower, and the limits of dynamic graphs apply.

    Wrong: `session.run(train_op, {x: batch})`, where the length of `batch` is the length of its
    longest sentence

    Right: batches that are padded to one length, or to a few.
    """


@situation(
    "NPU5004",
    Severity.WARNING,
    TEXT,
    RUN,
    facts=("models-equal-on-devices",),
    source=(_DEVICES,),
    help=(
        "create the operators before the loop; after tf.get_default_graph().finalize(), a line "
        "that creates an operator raises an exception"
    ),
)
def graph_grows_between_runs() -> None:
    """Operators are added to the graph between training steps.

    At each step, TensorFlow finds no executor for the changed graph and creates a new one, and the
    NPU compiles again. With several ranks, the numbers of the collective operations differ between
    the ranks, and the job hangs.

    Wrong:

        v = tf.Variable(0.0)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(10):
                sess.run(tf.assign_add(v, 1.0))

    Right:

        v = tf.Variable(0.0)
        grow = tf.assign_add(v, 1.0)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(10):
                sess.run(grow)
    """


@situation("NPU5005", Severity.INFO, RUN, source=(_DEVICES,))
def many_fetch_sets() -> None:
    """The fetches of the training run change from step to step.

    Each set of fetches and feeds is a separate graph, which is compiled and kept in memory.

    Wrong: `session.run([train_op] + metrics[: step % 5])`

    Right: `session.run([train_op] + metrics)` at each step; ignore the results that are not
    needed.
    """


@situation("NPU5006", Severity.INFO, RUN, GRAPH, source=(ARTICLE, _DYNAMIC))
def output_shape_depends_on_values() -> None:
    """The output shape of an operator depends on values.

    `tf.boolean_mask`, `tf.where` with one argument, `tf.unique` and similar operators make the
    rest of the graph dynamic: releases of 2020 and 2021 reject such a graph, later releases run it
    more slowly.

    Wrong: `tf.reduce_sum(tf.boolean_mask(loss, mask))`

    Right: `tf.reduce_sum(loss * tf.cast(mask, tf.float32))`
    """


@situation(
    "NPU5007",
    Severity.WARNING,
    RUN,
    GRAPH,
    source=(ARTICLE,),
    help="use a fixed k, or tf.sort with a mask",
)
def top_k_with_computed_k() -> None:
    """``tf.nn.top_k`` is called with a computed k.

    Releases of 2020 and 2021 reject a computed k as a dynamic shape; in later releases the graph
    becomes dynamic.

    Wrong: `tf.nn.top_k(scores, k=tf.reduce_sum(valid))`

    Right: `tf.nn.top_k(scores, k=100)`
    """


@situation(
    "NPU4001",
    Severity.WARNING,
    TEXT,
    RUN,
    GRAPH,
    facts=("mix-compile-unsupported-ops",),
    source=(MIGRATION + "others/mixed_computing.md", ARTICLE),
    also=("mix_compile_mode",),
    help="use TensorFlow operators, or move the function into the preprocessing; with "
    "mix_compile_mode True it runs on the host",
)
def host_function_on_hot_path() -> None:
    """The network runs a Python function as an operator (such as ``tf.py_func``).

    Python cannot run on the device: in full offload the operator is not supported. With
    `mix_compile_mode` the graph is split at this operator, and data is copied between host and
    device at each step (22 s per step in one report).

    Wrong:

        loss = tf.py_func(my_loss, [labels, logits], tf.float32)

    Right:

        loss = tf.reduce_mean(tf.square(labels - logits))
    """


@situation(
    "NPU8107",
    Severity.INFO,
    TEXT,
    RUN,
    GRAPH,
    source=(ARTICLE,),
    also=("iterations_per_loop", "enable_data_pre_proc"),
)
def slow_resize_bilinear() -> None:
    """The network resizes images by bilinear interpolation, which is slow on the device.

    In one report of 2021, this operator took most of the time of a step. Profile the step
    (`npu-config op-summary`); a device loop hides the time that is spent on the host.

    Wrong:

        logits = tf.image.resize_bilinear(logits, [512, 512])
        train_op = tf.train.AdamOptimizer().minimize(tf.reduce_mean(logits))

    Right:

        logits = tf.layers.conv2d_transpose(logits, 21, 4, strides=2, padding="same")
        train_op = tf.train.AdamOptimizer().minimize(tf.reduce_mean(logits))
    """


@situation("NPU8108", Severity.INFO, TEXT, RUN, GRAPH, source=(ARTICLE,))
def extract_image_patches() -> None:
    """The network uses ``extract_image_patches``, which older releases may not compile.

    Some sizes cannot be compiled by releases of 2020 and 2021. Try a newer release first; if that
    does not help, a convolution with a fixed kernel of ones and zeros gives the same result.

    Wrong:

        patches = tf.extract_image_patches(x, [1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME")

    Right:

        patches = tf.nn.conv2d(x, one_hot_kernel, strides=[1, 1, 1, 1], padding="SAME")
    """
