"""Iteration offload, GetNext offload and the overflow flag: what the graph must have."""

import re
from typing import Iterator, List, Tuple

from npu_config.core.message import phrase
from npu_config.core.names import ITERATION_OP
from npu_config.diagnosis.graph import operators
from npu_config.diagnosis.graph._rules import (
    float16_reduce_sum,
    getnext_string_output,
    getnext_without_dataset,
    iteration_op_missing,
    iteration_op_repeated,
    loop_variables_absent,
    one_shot_iterator_offloaded,
    several_getnext_with_profiles,
)
from npu_config.diagnosis.graph.findings import Change, Finding, Options, finding, named
from npu_config.diagnosis.graph.model import Body, Graph, Node, never
from npu_config.situations.precision import optimizers_share_overflow_flag

LOOP_VARIABLES = tuple(
    "npu_runconfig/" + name for name in ("iterations_per_loop", "loop_cond", "zero", "one")
)
_LOOKALIKE = re.compile(r"(?:^|/)IterationOp(?:_\d+)?\Z")


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
                    "the runtime recognises only {}, not {}",
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
            "call set_iteration_per_loop outside of name scopes, and once",
        )
    elif wanted or (variables and not options.given and training):
        yield finding(
            iteration_op_missing,
            phrase(
                "{} and the graph has no {}: each session.run trains one step",
                phrase("iterations_per_loop is {}", options.iterations)
                if options.iterations > 1
                else phrase("the graph has the variables of a loop of iterations"),
                named([ITERATION_OP]),
            ),
            variables,
            "make the training operation with util.set_iteration_per_loop, or group it as "
            '"IterationOp" and append SetIterationsVarHook',
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
                "{} and the graph reads nothing through tf.data{}",
                phrase("iteration offload{}", _of(options))
                if offloaded
                else phrase("enable_data_pre_proc is True"),
                phrase("; it is fed through {}", named(fed)) if fed else "",
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
            phrase("{} yields strings and enable_data_pre_proc is not True", named(strings)),
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
                "{} loss-scale optimizers run in one session.run and read the one overflow flag "
                "of the device ({}) in no order",
                len(names),
                named(names),
            ),
            names,
            "run the training operations in separate session.run calls, or build the second under "
            "tf.control_dependencies of the first",
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
