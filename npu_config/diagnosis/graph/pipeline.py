"""How data comes in: queues, a short last batch, a large shuffle buffer, initialisation."""

import math
from typing import Dict, Iterator, List, Optional, Set

from npu_config.core.message import phrase
from npu_config.diagnosis.graph import constants, operators
from npu_config.diagnosis.graph.findings import Change, named
from npu_config.diagnosis.graph.model import Body, Node
from npu_config.diagnosis.graph.run import RunGraph, Sight
from npu_config.situations import pipeline

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


def check(run: RunGraph) -> Iterator[Sight]:
    """What is recognised in the graph of a run."""
    if run.trains:
        yield from _queues(run)
        yield from _short_batches(run)
    if run.options.true(_OFFLOAD):
        yield from _buffers(run)


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
                "the training reads data from the queue {}; datasets and placeholders are the "
                "ways that the NPU supports",
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
                        "{} does not drop a short batch: the first dimension of {} is not known, "
                        "and the graph is compiled for dynamic shapes",
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
                        "{} fills its buffer before the first element comes (buffer_size: {:,}), "
                        "and GetNext waits for it on the device: the wait may time out",
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
