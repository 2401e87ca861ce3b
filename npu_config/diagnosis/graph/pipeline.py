"""The input pipeline: state of the device that it needs (cases 1 and 2), and how data comes in.

Everything that a dataset node computes with is among its ancestors: tensors that it takes
directly (a batch size) and tensors that its functions capture.  A table or a variable
among them is used on the host.  So are those that a function of the pipeline makes itself.

How data comes in: queues, a short last batch, a large shuffle buffer, initialisation.
"""

import math
from typing import Dict, Iterator, List, NamedTuple, Optional, Pattern, Set, Tuple

from npu_config.core.diagnostics import Place, Severity
from npu_config.core.message import phrase
from npu_config.diagnosis.graph import constants, operators
from npu_config.diagnosis.graph.findings import Change, Options, named
from npu_config.diagnosis.graph.model import Body, CallSite, Graph, Node, every
from npu_config.diagnosis.graph.run import RunGraph, Sight
from npu_config.situations import pipeline

# How many inputs stand before those that become the arguments of the called function.
_BEFORE_ARGUMENTS = {"If": 1, "StatelessIf": 1, "Case": 1, "StatelessCase": 1, "For": 3}


class StatefulUse(NamedTuple):
    """A stateful node, and the dataset node that needs it with the body it stands in."""

    state: Node
    dataset: Node
    body: Body
    is_captured: bool


def check(run: RunGraph) -> Iterator[Sight]:
    """What is recognised in the graph of a run."""
    yield from _state(run)
    if run.trains:
        yield from _queues(run)
        yield from _short_batches(run)
    if run.options.true(_OFFLOAD):
        yield from _buffers(run)


def _state(run: RunGraph) -> Iterator[Sight]:
    """The findings of cases 1 and 2."""
    uses = _uses(run)
    tables = [use for use in uses if operators.is_table(use.state)]
    variables = [use for use in uses if operators.is_variable(use.state)]
    if not run.options.true("mix_compile_mode"):
        for found in _by_place(run, tables):
            yield _table(run, found)
    keras = [use for use in variables if run.made_in(use.state, _KERAS)]
    for rule, text, help, some in (
        (pipeline.keras_backend_variable_in_input, _OF_KERAS, _TENSORS, keras),
        (
            pipeline.variable_in_preprocessing,
            _IN_FUNCTION,
            _APART,
            [use for use in variables if use.is_captured and use not in keras],
        ),
        (
            pipeline.dataset_argument_from_variable,
            _AS_ARGUMENT,
            None,
            [use for use in variables if not use.is_captured and use not in keras],
        ),
    ):
        for found in _by_place(run, some):
            first = found[0]
            yield Sight(
                rule,
                first.state if some is keras else first.dataset,
                phrase(text, _readers(found), _states(found)),
                help,
                nodes=tuple(_nodes(run.graph, found, operators.VARIABLE_USES)),
                case=2,
                change=Change(
                    script=("replace the variable with a constant in the input pipeline",)
                ),
            )


_KERAS = "keras/backend.py"
_IN_FUNCTION = (
    "a function of {} uses {}: variables are initialised on the device, but datasets run "
    "on the host"
)
_AS_ARGUMENT = (
    "an argument of {} is computed from {}: variables are initialised on the device, but "
    "datasets are created on the host"
)
_OF_KERAS = (
    "the input pipeline ({}) uses {}, a variable created by keras.backend: the variable is "
    "never initialised on the host"
)
_TENSORS = "use tf.zeros (tf.ones, tf.constant)"
_APART = (
    "use a constant, a Python value or a placeholder in the pipeline, or compute with the "
    "variable after iterator.get_next(); where it must stay, initialise the iterator and the "
    ""
    "variables in separate session.run calls"
)


def _table(run: RunGraph, found: List[StatefulUse]) -> Sight:
    unless = not run.options.given
    message = phrase(
        "a function of {} uses the lookup table {}: tables are initialised on the device, "
        "but datasets run on the host",
        _readers(found),
        _states(found),
    )
    if unless:
        message = phrase("{}, unless mix_compile_mode is True", message)
    return Sight(
        pipeline.table_in_preprocessing,
        found[0].dataset,
        message,
        "set mix_compile_mode=True, or look the table up after iterator.get_next()",
        Severity.WARNING if unless else None,
        "mix_compile_mode",
        tuple(_nodes(run.graph, found, operators.TABLE_USES)),
        Change(options={"mix_compile_mode": True}, conflicts=_conflicts(run.graph, run.options)),
        1,
    )


def _by_place(run: RunGraph, uses: List[StatefulUse]) -> List[List[StatefulUse]]:
    """Uses by the line that makes the dataset; of a stored graph, all together."""
    found: Dict[Place, List[StatefulUse]] = {}
    for use in uses:
        found.setdefault(run.place(use.dataset), []).append(use)
    return list(found.values())


def _readers(uses: List[StatefulUse]) -> str:
    return named(dict.fromkeys(use.dataset.name for use in uses))


def _states(uses: List[StatefulUse]) -> str:
    return named(dict.fromkeys(use.state.name for use in uses))


def _nodes(graph: Graph, uses: List[StatefulUse], touches: Pattern[str]) -> List[str]:
    """State, dataset nodes, and the operations in their functions that touch such state."""
    names: Dict[str, None] = {}
    for use in uses:
        names[use.state.name] = None
        names[use.dataset.name] = None
        for body in graph.reachable(use.body, every, [use.dataset]).values():
            names.update((node.name, None) for node in body if touches.search(node.op))
    return list(names)


def _uses(run: RunGraph) -> List[StatefulUse]:
    """Every (state, dataset) pair, each once."""
    graph = run.graph
    found: Dict[Tuple[str, str, str], StatefulUse] = {}
    datasets = [(graph.main, dataset) for dataset in run.datasets]
    for body in graph.reachable(graph.main, operators.is_on_device).values():
        datasets += [(body, node) for node in body if operators.is_dataset(node)]
    for body, dataset in datasets:
        for state, is_captured in _needed(graph, body, dataset):
            key = (body.name, state.name, dataset.name)
            found.setdefault(key, StatefulUse(state, dataset, body, is_captured))
    return list(found.values())


def _captures(dataset: Node) -> Tuple[int, int]:
    """The first input that a function of a dataset captures, and the one behind the last."""
    count = sum(len(dataset.numbers(name)) for name in _CAPTURED)
    first = 0 if dataset.op == "GeneratorDataset" else 1 + len(dataset.numbers("Tstate"))
    return first, first + count


_CAPTURED = (
    *("Targuments", "Tkey_func_other_arguments", "Treduce_func_other_arguments"),
    *("Twindow_size_func_other_arguments", "Tinit_func_args", "Tnext_func_args"),
    "Tfinalize_func_args",
)


def _needed(graph: Graph, body: Body, dataset: Node) -> Iterator[Tuple[Node, bool]]:
    """The tables and variables that a dataset node needs itself, not through other datasets.

    With each, whether a function of the dataset captures or makes it.
    """
    start, end = _captures(dataset)
    seen: Set[Tuple[str, str]] = set()
    pending: List[Tuple[Body, str, bool]] = [
        (body, edge.source, start <= slot < end) for slot, edge in enumerate(dataset.inputs)
    ]
    passed: Dict[str, List[Node]] = {body.name: [dataset]}
    while pending:
        scope, name, is_captured = pending.pop()
        if (scope.name, name) in seen:
            continue
        seen.add((scope.name, name))
        node = scope.nodes.get(name)
        if node is None:
            sources = _passed_by_callers(graph, scope, name)
            pending.extend((each, source, is_captured) for each, source in sources)
        elif operators.is_variable(node) or operators.is_table(node):
            yield node, is_captured
        elif not operators.is_input_pipeline(node):
            passed.setdefault(scope.name, []).append(node)
            pending.extend((scope, edge.source, is_captured) for edge in node.inputs)
    for scope_name, nodes in passed.items():
        scope = graph.functions[scope_name] if scope_name else graph.main
        for function in graph.reachable(scope, every, nodes).values():
            for node in function:
                if operators.is_variable(node) or operators.is_table(node):
                    yield node, True


def _passed_by_callers(graph: Graph, body: Body, argument: str) -> Iterator[Tuple[Body, str]]:
    """What the callers of a function pass for one of its arguments."""
    index = body.arguments.get(argument)
    if index is None:
        return
    for call in graph.calls(body.name):
        source = _passed(call, index)
        if source is not None:
            yield call.body, source


def _passed(call: CallSite, index: int) -> Optional[str]:
    node = call.node
    if operators.is_dataset(node):
        # Elements of the dataset come first; all that is captured is among its inputs.
        return None
    at = index + _BEFORE_ARGUMENTS.get(node.op, 0)
    return node.inputs[at].source if at < len(node.inputs) else None


def _conflicts(graph: Graph, options: Options) -> Tuple[str, ...]:
    """What cannot stand beside mixed computing."""
    found = []
    if options.iterations > 1:
        found.append(
            phrase("iterations_per_loop is {}, but mixed computing requires 1", options.iterations)
        )
    elif "IterationOp" in graph.main.nodes:
        found.append(
            "the graph has an IterationOp, but mixed computing requires iterations_per_loop 1"
        )
    if options.isset("input_shape") and options.isset("dynamic_dims"):
        found.append(
            "input_shape with dynamic_dims cannot be combined with mixed computing: the "
            "adapter aborts"
        )
    training = [
        node.name
        for node in graph.main
        if node.op == "FusedBatchNormV3" and node.number("is_training") != 0
    ]
    if training:
        found.append(
            phrase(
                "{} is a FusedBatchNormV3, whose fifth output mixed computing does not support: "
                "build batch normalization under tf.compat.forward_compatibility_horizon(2019, "
                "5, 1)",
                named(training, 1),
            )
        )
    return tuple(found)


LARGE_BUFFER = 10_000
_OFFLOAD = "enable_data_pre_proc"
_QUEUES = ("FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue", "PaddingFIFOQueueV2", "PriorityQueue",
           "PriorityQueueV2", "RandomShuffleQueue", "RandomShuffleQueueV2")  # fmt: skip
_DEQUEUES = ("QueueDequeue", "QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo",
             "QueueDequeueUpToV2", "QueueDequeueV2")  # fmt: skip
#: Datasets that make batches, and which input says whether a short one is dropped.
_BATCHES = {
    "BatchDataset": None,
    "BatchDatasetV2": 2,
    "PaddedBatchDataset": None,
    "PaddedBatchDatasetV2": -1,
    "MapAndBatchDataset": -1,
    "ExperimentalMapAndBatchDataset": -1,
}
_HANDS_ON_COUNT = ("Map", "Prefetch", "Cache", "Filter", "Options", "Shuffle", "Optimize", "Model",
                   "Batch", "Shard", "Skip", "Scan", "AssertNext", "IgnoreErrors")  # fmt: skip


def _queues(run: RunGraph) -> Iterator[Sight]:
    dequeues = [node for node in run.of(*_DEQUEUES) if run.feeds_training(node)]
    if not dequeues:
        return
    read = {edge.source for node in dequeues for edge in node.inputs[:1]}
    for node in run.of(*_QUEUES):
        if run.is_stored and node.name not in read:
            continue  # it may be one of those by which ranks and optimizers wait
        yield Sight(
            pipeline.queue_input,
            node,
            phrase(
                "the training reads data from the queue {}; the NPU supports datasets and "
                "placeholders instead",
                named([node.name]),
            ),
        )


def _short_batches(run: RunGraph) -> Iterator[Sight]:
    said: Set[int] = set()
    for getnext in run.of(*operators.GET_NEXT):
        shapes = getnext.shapes("output_shapes") or getnext.output_shapes() or ()
        if not any(shape and shape[0] < 0 for shape in shapes) or not run.feeds_training(getnext):
            continue
        for body, batch in _batches(run, getnext):
            if id(batch) not in said and _may_be_short(body, batch):
                said.add(id(batch))
                yield Sight(
                    pipeline.batch_without_drop_remainder,
                    run.twin(batch, run.source(getnext, 0)),
                    phrase(
                        "{} does not drop a short batch: the first dimension of {} is "
                        "unknown, and the graph is compiled for dynamic shapes",
                        named([batch.name]),
                        named([getnext.name]),
                    ),
                    nodes=(batch.name, getnext.name),
                )


def _batches(run: RunGraph, getnext: Node) -> Iterator["tuple[Body, Node]"]:
    """The last batching datasets that an iterator reads through."""
    for body, dataset in run.read_by(getnext):
        pending = [dataset]
        seen: Set[str] = set()
        while pending:
            each = pending.pop()
            if each.name in seen:
                continue
            seen.add(each.name)
            if each.op in _BATCHES:
                yield body, each
                continue
            sources = (body.nodes.get(edge.source) for edge in each.inputs)
            pending += [one for one in sources if one is not None and operators.is_dataset(one)]


def _may_be_short(body: Body, batch: Node) -> bool:
    slot = _BATCHES[batch.op]
    if slot is None:
        return True
    drop = body.nodes.get(batch.inputs[slot].source)
    values = constants.values(drop) if drop is not None and drop.op == "Const" else None
    return values is not None and not any(values)


def _buffers(run: RunGraph) -> Iterator[Sight]:
    bodies = [run.graph.main]
    for node in run.datasets:
        if node.op == "OneShotIterator":
            bodies += [run.graph.functions[each] for each in node.functions()]
    said: Set[int] = set()
    for body in bodies:
        for node in body:
            if node.op.startswith("Shuffle") and "Dataset" in node.op and len(node.inputs) > 1:
                size = _number(body, node.inputs[1].source)
                if size is None or size < LARGE_BUFFER:
                    continue
                most = _elements(body, body.nodes.get(node.inputs[0].source))
                twin = run.twin(node, None)
                if (most is not None and most < LARGE_BUFFER) or id(twin) in said:
                    continue
                said.add(id(twin))
                yield Sight(
                    pipeline.shuffle_buffer_with_getnext_offload,
                    twin,
                    phrase(
                        "{} fills its buffer before the first element is available "
                        "(buffer_size: {:,}), and GetNext waits for this element on the "
                        "device: the wait may time out",
                        named([node.name]),
                        int(size),
                    ),
                    option=_OFFLOAD,
                    change=Change(options={_OFFLOAD: False}),
                )


def _number(body: Body, name: str) -> Optional[float]:
    """The value of a constant of a dataset; None where it is none."""
    node = body.nodes.get(name)
    while node is not None and node.op in ("Identity", "Cast"):
        node = body.nodes.get(node.inputs[0].source)
    found = constants.values(node) if node is not None and node.op == "Const" else None
    return found[0] if found else None


def _elements(body: Body, dataset: Optional[Node]) -> Optional[float]:
    """How many elements a dataset has at most; None where that is not known."""
    counts: List[float] = []
    while dataset is not None:
        op = dataset.op
        if op.startswith("TensorDataset"):
            counts.append(1)
            break
        if op.startswith("TensorSliceDataset"):
            first = body.nodes.get(dataset.inputs[0].source)
            shape = None if first is None else first.shape_of(dataset.inputs[0].slot or 0)
            if not shape and first is not None and first.op == "Const":
                proto = first.tensor("value")
                shape = tuple(dim.size for dim in proto.tensor_shape.dim)
            if not shape or shape[0] < 0:
                return min(counts, default=None)
            counts.append(shape[0])
            break
        numbers = [_number(body, edge.source) for edge in dataset.inputs]
        if op.startswith("RangeDataset") and None not in numbers[:3]:
            start, stop, step = (each or 0 for each in numbers[:3])
            counts.append(max(0, math.ceil((stop - start) / (step or 1))))
            break
        if op.startswith("TakeDataset") and numbers[1] is not None and numbers[1] >= 0:
            counts.append(numbers[1])
        elif op.startswith("RepeatDataset"):
            below = _elements(body, body.nodes.get(dataset.inputs[0].source))
            times = numbers[1] if len(numbers) > 1 else None
            if below is not None and times is not None and times >= 0:
                counts.append(below * times)
            break
        elif not any(part in op for part in _HANDS_ON_COUNT):
            break
        dataset = body.nodes.get(dataset.inputs[0].source) if dataset.inputs else None
    return min(counts, default=None)


def initialises_both(run: RunGraph) -> "Optional[tuple[Node, Node]]":
    """A variable and an iterator that one run initialises: the assignment and the iterator."""
    types: Dict[str, List[Node]] = {}
    for node in run.graph.main:
        if node.op in ("MakeIterator", "Assign", "AssignVariableOp", "Iterator", "IteratorV2"):
            types.setdefault(node.op, []).append(node)
    iterators = [*types.get("Iterator", ()), *types.get("IteratorV2", ())]
    if not iterators or "MakeIterator" not in types:
        return None
    for node in [*types.get("Assign", ()), *types.get("AssignVariableOp", ())]:
        target = run.graph.main.nodes.get(node.inputs[0].source)
        if target is not None and operators.is_variable(target):
            return node, iterators[0]
    return None
