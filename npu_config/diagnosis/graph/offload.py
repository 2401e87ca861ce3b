"""Iteration offload, GetNext offload and the overflow flag: what the graph must have."""

import re
from typing import Iterator, List, Tuple

from npu_config.core.diagnostics import Severity, declare
from npu_config.core.message import phrase
from npu_config.core.names import ITERATION_OP
from npu_config.diagnosis.graph import operators
from npu_config.diagnosis.graph.findings import Change, Finding, Options, finding, named
from npu_config.diagnosis.graph.model import Body, Graph, Node, never
from npu_config.situations.precision import optimizers_share_overflow_flag

_FAQ = "docs/en/tfadapter_1/migration/faq/"
_OFFLOAD = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"
_DEPRECATED = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"

LOOP_VARIABLES = tuple(
    "npu_runconfig/" + name for name in ("iterations_per_loop", "loop_cond", "zero", "one")
)
_LOOKALIKE = re.compile(r"(?:^|/)IterationOp(?:_\d+)?\Z")


@declare(
    "NPU282",
    Severity.INFO,
    facts=("mixed-precision-reducesum",),
    source=(_FAQ + "networktest_reducesum_low_performance.md", "article:000"),
)
def float16_reduce_sum() -> None:
    """A ReduceSum has a float16 input.

    A float16 ReduceSum may run on a single core and then take most of the time of a step.  In
    a profile (`npu-config op-summary`), such an operator has `Block Dim` 1.

    Wrong: `tf.reduce_sum(tf.cast(x, tf.float16))` in a part of the network that runs often

    Right: `tf.reduce_sum(tf.cast(x, tf.float32))`.  If mixed precision makes the input
    float16, add `ReduceSum` to `black-list` / `to-add` in the file of `modify_mixlist`.
    """


@declare(
    "NPU485",
    Severity.ERROR,
    options=("iterations_per_loop",),
    facts=("iterations-one-shot-iterator",),
    source=(_OFFLOAD,),
)
def one_shot_iterator_offloaded() -> None:
    """A one-shot iterator is used with iteration offload.

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

    The device loop is built around the node of that name. A node with another name (with the
    prefix of a scope, or with `_1` at the end) is not found, and each `session.run` trains one
    step.

    Wrong: `iterations_per_loop: 10` and `session.run(train_op)`; or
    `set_iteration_per_loop` inside `tf.name_scope`

    Right: call `train_op = util.set_iteration_per_loop(sess, train_op, 10)` once, outside of
    name scopes.
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

    A second call of `set_iteration_per_loop` or `create_iteration_per_loop_var` creates
    `IterationOp_1`. Each `session.run` of this operation trains one step.

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
    """Variables that control the device loop are missing.

    The loop reads `npu_runconfig/iterations_per_loop`, `loop_cond`, `zero` and `one`. Without
    them the number of iterations is wrong.

    Wrong: `tf.group(train_op, name="IterationOp")` alone

    Right: use `SetIterationsVarHook(n)` as well, or use `util.set_iteration_per_loop`, which
    does both.
    """


@declare(
    "NPU489",
    Severity.ERROR,
    options=("enable_data_pre_proc", "iterations_per_loop"),
    facts=("getnext-offload-dataset", "iterations-need-dataset"),
    source=(_DEPRECATED, _OFFLOAD),
)
def getnext_without_dataset() -> None:
    """GetNext offload or iteration offload is used without tf.data.

    Placeholders and fed values are not offloaded. In a device loop, every iteration would use
    the same batch, which was fed once.

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
    """The iterator yields strings, but GetNext is not offloaded.

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
    """The graph has shape profiles and more than one IteratorGetNext.

    The adapter aborts the process: "dynamic dims func can not support graph with <n>
    IteratorGetNext node."

    Wrong: `input_shape` and `dynamic_dims` with two iterators

    Right: one iterator that yields all inputs.
    """


def check(graph: Graph, options: Options) -> Iterator[Finding]:
    """Every finding of this module."""
    main = graph.main
    yield from _iteration_op(main, options)
    yield from _iterators(main, options)
    yield from _overflow_flag(graph)
    yield from _float16_sums(graph)


def _offloaded(main: Body, options: Options) -> bool:
    """True when the job means to run several iterations in one call."""
    return options.iterations > 1 or (not options.given and ITERATION_OP in main.nodes)


def _iteration_op(main: Body, options: Options) -> Iterator[Finding]:
    lookalikes = [name for name in main.nodes if _LOOKALIKE.search(name) and name != ITERATION_OP]
    variables = [name for name in LOOP_VARIABLES if name in main.nodes]
    training = any(operators.is_gradient(node) for node in main)
    wanted = options.iterations > 1 and training
    if ITERATION_OP in main.nodes:
        if lookalikes:
            yield finding(
                iteration_op_repeated,
                phrase(
                    "the runtime recognises only the operation {}, not {}",
                    named([ITERATION_OP]),
                    named(lookalikes),
                ),
                lookalikes,
                "group the training operations and call set_iteration_per_loop once",
            )
        if len(variables) < len(LOOP_VARIABLES) and (wanted or not options.given):
            missing = [name for name in LOOP_VARIABLES if name not in main.nodes]
            yield finding(
                loop_variables_absent,
                phrase(
                    "the graph has an IterationOp but not the loop variables {}", named(missing, 4)
                ),
                [ITERATION_OP],
                "use util.set_iteration_per_loop, or SetIterationsVarHook(n) in addition to "
                "the IterationOp",
            )
    elif lookalikes and (wanted or not options.given):
        yield finding(
            iteration_op_missing,
            phrase(
                "{} is not recognised: the name must be exactly {}",
                named(lookalikes),
                named([ITERATION_OP]),
            ),
            lookalikes,
            "call set_iteration_per_loop outside of name scopes, and only once",
        )
    elif wanted or (variables and not options.given and training):
        yield finding(
            iteration_op_missing,
            phrase(
                "{}, but the graph has no {}: each session.run trains one step",
                phrase("iterations_per_loop is {}", options.iterations)
                if options.iterations > 1
                else phrase("the graph contains the variables for a loop on the device"),
                named([ITERATION_OP]),
            ),
            variables,
            "create the training operation with util.set_iteration_per_loop, or group it "
            'as "IterationOp" and append SetIterationsVarHook',
            option="iterations_per_loop" if options.iterations > 1 else None,
        )


def _iterators(main: Body, options: Options) -> Iterator[Finding]:
    one_shot = [node.name for node in main if node.op == "OneShotIterator"]
    offloaded = _offloaded(main, options)
    if one_shot and offloaded:
        yield finding(
            one_shot_iterator_offloaded,
            phrase(
                "one-shot iterator {} with iteration offload{}: the adapter aborts the process",
                named(one_shot),
                _of(options),
            ),
            one_shot,
            "use tf.data.make_initializable_iterator, or iterations_per_loop 1",
            change=Change(
                options={"iterations_per_loop": 1} if options.iterations > 1 else {},
                script=("tf.data.make_initializable_iterator(dataset)",),
            ),
            option="iterations_per_loop",
        )
    next_nodes = [node for node in main if node.op in operators.GET_NEXT]
    if not next_nodes and (offloaded or options.true("enable_data_pre_proc")):
        fed = [node.name for node in main if node.op in ("Placeholder", "PlaceholderV2")]
        option = "iterations_per_loop" if offloaded else "enable_data_pre_proc"
        yield finding(
            getnext_without_dataset,
            phrase(
                "{}, but the graph reads no data through tf.data{}",
                phrase("iteration offload{}", _of(options))
                if offloaded
                else phrase("enable_data_pre_proc is True"),
                phrase("; the graph is fed through {}", named(fed)) if fed else "",
            ),
            fed,
            "read the data through tf.data with an initializable iterator",
            option=option,
        )
    strings = [
        node.name for node in next_nodes if operators.DT_STRING in node.numbers("output_types")
    ]
    if strings and options.given and not options.true("enable_data_pre_proc"):
        yield finding(
            getnext_string_output,
            phrase("{} yields strings, but enable_data_pre_proc is not True", named(strings)),
            strings,
            "set enable_data_pre_proc=True",
            change=Change(options={"enable_data_pre_proc": True}),
            option="enable_data_pre_proc",
        )
    profiles = options.isset("input_shape") and options.isset("dynamic_dims")
    if profiles and len(next_nodes) > 1:
        yield finding(
            several_getnext_with_profiles,
            phrase(
                "dynamic_dims with {} IteratorGetNext nodes ({}): the adapter aborts the process",
                len(next_nodes),
                named(node.name for node in next_nodes),
            ),
            [node.name for node in next_nodes],
            "read all inputs through one iterator",
            option="dynamic_dims",
        )


def _of(options: Options) -> str:
    count = options.iterations
    return phrase(" (iterations_per_loop is {})", count) if count > 1 else ""


def _overflow_flag(graph: Graph) -> Iterator[Finding]:
    """Several readers of the one flag that run together and in no order."""
    main = graph.main
    readers = [node for node in main if operators.is_float_status(node)]
    if len(readers) < 2:
        return
    reached = [(node, main.descendants([node], never)) for node in readers]
    optimizers: List[Tuple[Node, frozenset]] = []  # type: ignore[type-arg]
    for node, after in reached:
        updates = frozenset(name for name in after if _updates(graph, main.nodes[name]))
        if updates and all(updates != known for _, known in optimizers):
            optimizers.append((node, updates))
    after_of = {node.name: after for node, after in reached}
    together = [
        (one.name, other.name)
        for index, (one, _) in enumerate(optimizers)
        for other, _ in optimizers[index + 1 :]
        if other.name not in after_of[one.name]
        and one.name not in after_of[other.name]
        and not after_of[one.name].isdisjoint(after_of[other.name])
    ]
    if together:
        names = list(dict.fromkeys(name for pair in together for name in pair))
        yield finding(
            optimizers_share_overflow_flag,
            phrase(
                "{} loss-scale optimizers run in one session.run and read the only "
                "overflow flag of the device ({}) in undefined order",
                len(names),
                named(names),
            ),
            names,
            "run the training operations in separate session.run calls, or build the second "
            "training operation inside tf.control_dependencies([FIRST_TRAINING_OPERATION])",
        )


def _updates(graph: Graph, node: Node) -> bool:
    return operators.is_update(node) or any(
        operators.is_update(each)
        for body in graph.reachable(graph.main, operators.is_on_device, [node]).values()
        for each in body
    )


def float16_sums(graph: Graph) -> List[str]:
    """The ReduceSum nodes of the model that read float16."""
    device = graph.reachable(graph.main, operators.is_on_device)
    return [
        node.name
        for body in [graph.main, *device.values()]
        for node in body
        if node.op == "Sum" and node.number("T") == operators.DT_HALF
    ]


def _float16_sums(graph: Graph) -> Iterator[Finding]:
    names = float16_sums(graph)
    if names:
        yield finding(
            float16_reduce_sum,
            phrase(
                "{} sums float16 and may run on a single core"
                if len(names) == 1
                else "{} sum float16 and may run on a single core",
                named(names),
            ),
            names,
            "cast the input to float32, or, where float16 comes from mixed precision, put "
            "ReduceSum into the block list of modify_mixlist; a profile shows more (npu-config "
            "op-summary)",
            case=4,
            change=Change(script=("tf.reduce_sum(tf.cast(x, tf.float32))",)),
        )
