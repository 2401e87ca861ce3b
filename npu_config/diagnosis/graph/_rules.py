"""The rules that the diagnosis of graphs applies."""

from npu_config.core.diagnostics import Severity, declare

_FAQ = "docs/en/tfadapter_1/migration/faq/"
_CONTROL = "docs/en/tfa_env/ENABLE_FORCE_V2_CONTROL.md"
_OFFLOAD = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"
_DEPRECATED = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"


@declare("NPU795", Severity.ERROR)
def graph_unreadable() -> None:
    """A file holds no graph that can be read.

    A graph is read from a GraphDef (text or binary), a MetaGraphDef (a checkpoint's `.meta`
    file) or a SavedModel. A file that is cut off is refused as a whole: what is missing
    may be what matters. So is a graph that lacks a node which another one reads, or that has
    two nodes of one name: TensorFlow imports neither.

    Wrong: `model.ckpt-100.data-00000-of-00001`, or a `graph.pbtxt` on a disk that was full.

    Right: `model.ckpt-100.meta`, or `tf.io.write_graph(graph, folder, "graph.pbtxt")`.
    """


@declare("NPU796", Severity.ERROR)
def graph_too_large() -> None:
    """A graph is larger than 2 GB, which no protobuf message can be.

    TensorFlow can neither write nor read such a graph, and the adapter gets it as a message,
    too. The bulk is nearly always data that was put into the graph as constants.

    Wrong: `tf.data.Dataset.from_tensor_slices(huge_array)`

    Right: `tf.data.Dataset.from_generator(...)`, or `from_tensor_slices(placeholder)` with an
    initializable iterator.
    """


@declare(
    "NPU483",
    Severity.WARNING,
    facts=("dynamic-shape-v1-control-flow",),
    source=(_CONTROL,),
)
def reference_control_flow() -> None:
    """Control flow passes reference variables.

    RefSwitch and its kin come from reference variables inside `tf.cond` and loops. They are v1
    control flow that `ENABLE_FORCE_V2_CONTROL=1` cannot convert: as soon as a shape of the
    graph is dynamic, nothing but a change of the script helps.

    Wrong: `tf.cond(p, lambda: tf.assign(v, 2.0), lambda: v)` with a reference variable

    Right: `tf.enable_resource_variables()` and `tf.enable_control_flow_v2()` before the graph
    is built.
    """


@declare(
    "NPU484",
    Severity.ERROR,
    options=("lower_functional_ops",),
    facts=("dynamic-shape-v1-control-flow",),
    source=("facts: options.yaml lower_functional_ops",),
)
def functional_control_flow_lowered() -> None:
    """`lower_functional_ops` turns v2 control flow back into v1 in a graph with dynamic shapes.

    The undocumented option lowers While, If and Case to Switch and Merge before the graph is
    partitioned; with dynamic shapes the graph engine refuses those.

    Wrong: `lower_functional_ops: true` with `tf.enable_control_flow_v2()` and dynamic shapes

    Right: leave `lower_functional_ops` out.
    """


@declare(
    "NPU282",
    Severity.INFO,
    facts=("mixed-precision-reducesum",),
    source=(_FAQ + "networktest_reducesum_low_performance.md", "article:000"),
)
def float16_reduce_sum() -> None:
    """A ReduceSum reads float16.

    A float16 ReduceSum may run on a single core and dominate the step. In a profile
    (`npu-config op-summary`) it shows as `Block Dim` 1.

    Wrong: `tf.reduce_sum(tf.cast(x, tf.float16))` in a hot place

    Right: `tf.reduce_sum(tf.cast(x, tf.float32))`; where float16 comes from mixed precision,
    `ReduceSum` in `black-list` / `to-add` of `modify_mixlist`.
    """


@declare(
    "NPU485",
    Severity.ERROR,
    options=("iterations_per_loop",),
    facts=("iterations-one-shot-iterator",),
    source=(_OFFLOAD,),
)
def one_shot_iterator_offloaded() -> None:
    """A one-shot iterator with iteration offload.

    The adapter aborts the process: "iterator_per_loop only support 1 when using
    OneShotIterator".

    Wrong: `dataset.make_one_shot_iterator()` with `iterations_per_loop: 10`

    Right: `tf.data.make_initializable_iterator(dataset)`, or `iterations_per_loop: 1`.
    """


@declare(
    "NPU486",
    Severity.ERROR,
    options=("iterations_per_loop",),
    facts=("iteration-op-name", "iteration-estimator-hook"),
    source=(_OFFLOAD,),
)
def iteration_op_missing() -> None:
    """The graph has no operation named exactly "IterationOp".

    The device loop is built around the node of that name. Under any other name (a scope before
    it, `_1` behind it) it is not found, and each `session.run` trains one step.

    Wrong: `iterations_per_loop: 10` and `session.run(train_op)`; or
    `set_iteration_per_loop` inside `tf.name_scope`

    Right: `train_op = util.set_iteration_per_loop(sess, train_op, 10)` outside of scopes, once.
    """


@declare(
    "NPU487",
    Severity.WARNING,
    options=("iterations_per_loop",),
    facts=("iteration-op-once",),
    source=(_OFFLOAD,),
)
def iteration_op_repeated() -> None:
    """The graph has a second IterationOp, which the runtime does not recognise.

    A second call of `set_iteration_per_loop` or `create_iteration_per_loop_var` makes
    `IterationOp_1`. Running that one trains one step per `session.run`.

    Wrong: `set_iteration_per_loop` called for each of two training operations

    Right: group the training operations and call it once.
    """


@declare(
    "NPU488",
    Severity.ERROR,
    options=("iterations_per_loop",),
    facts=("iteration-variables-loaded",),
    source=("docs/en/tfadapter_1/apiref/npu_util/set_iteration_per_loop.md",),
)
def loop_variables_absent() -> None:
    """Variables that steer the device loop are missing.

    The loop reads `npu_runconfig/iterations_per_loop`, `loop_cond`, `zero` and `one`. Without
    them the number of iterations is wrong.

    Wrong: `tf.group(train_op, name="IterationOp")` alone

    Right: with it, `SetIterationsVarHook(n)`, or `util.set_iteration_per_loop` for both.
    """


@declare(
    "NPU489",
    Severity.ERROR,
    options=("enable_data_pre_proc", "iterations_per_loop"),
    facts=("getnext-offload-dataset", "iterations-need-dataset"),
    source=(_DEPRECATED, _OFFLOAD),
)
def getnext_without_dataset() -> None:
    """GetNext offload or iteration offload without tf.data.

    Placeholders and feeds are not offloaded. In a device loop every iteration would see the
    batch that was fed once.

    Wrong: `enable_data_pre_proc: true` with `feed_dict`

    Right: read the data through tf.data with an initializable iterator.
    """


@declare(
    "NPU491",
    Severity.WARNING,
    options=("enable_data_pre_proc",),
    facts=("getnext-string-output",),
    source=(_DEPRECATED,),
)
def getnext_string_output() -> None:
    """The iterator yields strings and GetNext is not offloaded.

    The adapter warns "Dataset outputs have string output_type, please set
    enable_data_pre_proc=True." and may fail later.

    Wrong: string features from `get_next()` with `enable_data_pre_proc: false`

    Right: `enable_data_pre_proc: true`.
    """


@declare(
    "NPU492",
    Severity.ERROR,
    options=("dynamic_dims", "input_shape"),
    facts=("dynamic-single-getnext",),
    source=("docs/en/tfadapter_1/migration/others/dynamic_shape_profiles_online_inference.md",),
)
def several_getnext_with_profiles() -> None:
    """Dynamic profiles with more than one IteratorGetNext.

    The adapter aborts the process: "dynamic dims func can not support graph with <n>
    IteratorGetNext node."

    Wrong: `input_shape` and `dynamic_dims` with two iterators

    Right: one iterator that yields all inputs.
    """
