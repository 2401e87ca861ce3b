"""A dump of the NPU against a reference, in the order of execution.

Outputs are matched through the header (the operator of the network that an output stands for),
then the graph, then the name; inputs through the graph, as what their producer's output is
matched with.  The first operator whose inputs agree and whose outputs do not is where to look.

Source: facts dump.yaml, ``compare``; docs/en/tfadapter_1/migration/accuracy_debugging/
network_accuracy_comparison.md.
"""

import fnmatch
import os
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.files import PathLike
from npu_config.core.message import join, listed, phrase
from npu_config.dumps import _rules as rules
from npu_config.dumps.alignment import ShapeMismatchError, aligned
from npu_config.dumps.dump import Tensor
from npu_config.dumps.graph import CONSTANTS, GeGraph, GeOp, read_ge_graph
from npu_config.dumps.metrics import Metrics
from npu_config.dumps.reference import Array, Reference, open_reference
from npu_config.dumps.tree import Operator, choose, find_dumps, no_dump, operators
from npu_config.dumps.verdicts import (
    AGREES,
    COSINE,
    DIVERGES,
    IGNORED,
    NOT_COMPARED,
    Bounds,
    judge,
    kind_of,
    limits_of,
)

NO_COUNTERPART = "*"


class Match(NamedTuple):
    """The counterpart of a tensor, or why there is none."""

    array: Optional[Array] = None
    by: str = ""
    reason: str = ""
    format: Optional[str] = None


class Sides(NamedTuple):
    """What matching needs to know."""

    reference: Reference
    graph: Optional[GeGraph]
    operators: Dict[str, Operator]


def match_of(
    operator: Operator,
    op: Optional[GeOp],
    side: str,
    number: int,
    tensor: Tensor,
    sides: Sides,
) -> Match:
    """The counterpart of a tensor, or why there is none.

    Args:
        operator: whose tensor it is.
        op: the operator in the graph, if the graph has it.
        side: ``"input"`` or ``"output"``.
        number: which of them.
        tensor: its header.
        sides: the reference, the graph and all operators of the dump.
    """
    if operator.threads > 1:
        message = "the operator ran in {} threads; each file holds a slice of it"
        return Match(reason=phrase(message, operator.threads))
    if op is not None and op.is_inner:
        return Match(reason="an inner operator of several that stand for one")
    try:
        if sides.reference.is_dump:
            array = sides.reference.of_operator(side, operator.name, number)
            if array is not None:
                return Match(array, "name")
        if side == "input":
            return _input(op, number, sides)
        return _output(operator.name, number, tensor, sides)
    except NpuConfigError as error:
        return Match(reason=error.diagnostics[0].message)


def _output(name: str, number: int, tensor: Optional[Tensor], sides: Sides) -> Match:
    """The counterpart of an output: by the header, the graph, the name."""
    keys: List[Tuple[str, str, int]] = []
    if tensor is not None and tensor.original_op is not None:
        keys.append(("header", tensor.original_op.name, tensor.original_op.output_index))
    origin = None if sides.graph is None else sides.graph.origin(name, number)
    if origin is not None:
        keys.append(("graph", *origin))
    op = None if sides.graph is None else sides.graph.find(name)
    if op is None:
        keys.append(("name", name, number))
    format_ = None
    if op is not None and op.outputs:
        format_ = op.outputs[number if number < len(op.outputs) else 0].origin_format
    for by, key, output in keys:
        array = sides.reference.find(key, output)
        if array is not None:
            return Match(array, by, "", format_)
    last = sides.reference.last_part(name) if op is None else None
    if last is not None:
        array = sides.reference.find(last, number)
        if array is not None:
            return Match(array, "name", "", format_)
    return Match(reason=_why_not(op, keys))


def _why_not(op: Optional[GeOp], keys: Sequence[Tuple[str, str, int]]) -> str:
    if op is not None and op.type in CONSTANTS:
        return "a constant: no reference file"
    if not keys:
        return "the compiler inserted the operator; the network has no such tensor"
    return phrase("the reference has no {}.{}", keys[0][1], keys[0][2])


def _input(op: Optional[GeOp], number: int, sides: Sides) -> Match:
    """The counterpart of an input: what its producer's output is matched with."""
    if sides.graph is None or op is None:
        return Match(reason="which operator made the input is known from a graph only")
    edge = op.inputs[number] if number < len(op.inputs) else None
    if edge is None:
        return Match(reason="the graph does not name this input")
    name, output = edge
    producer = sides.operators.get(name)
    tensor = None
    if producer is not None and output < len(producer.dump.outputs):
        tensor = producer.dump.outputs[output]
    return _output(name, output, tensor, sides)


_LONGEST_PATH = 50


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Row:
    """One tensor of the dump and its counterpart.

    Args:
        index: number of its operator in the order of execution, from 0 on.
        op_name: the operator on the device.
        op_type: its type.
        side: ``"input"`` or ``"output"``.
        number: which of them.
        data_type: on the device.
        reference: the counterpart, e.g. ``"conv1/Relu.0"``; ``"*"`` when there is none.
        reference_type: its data type; "" when there is none.
        stands_for: the operators of the network that this one stands for.
        shape: that was compared.
        verdict: ``"agrees"``, ``"diverges"``, ``"not compared"`` or ``"ignored"``.
        metrics: the numbers; None when nothing was compared.
        reason: why it diverges or was not compared, or what is to be known; else "".
        matched_by: ``"header"``, ``"graph"``, ``"name"``, or "" when nothing was found.
        kind: what the tensor is, one of :data:`~npu_config.dumps.verdicts.KINDS`; "" when
            nothing was compared.
        causes: ids of what the verdict rests on, e.g. ``"saturation"``; the first says most.
    """

    index: int
    op_name: str
    op_type: str
    side: str
    number: int
    data_type: str
    reference: str
    reference_type: str
    stands_for: Tuple[str, ...]
    shape: Tuple[int, ...]
    verdict: str
    metrics: Optional[Metrics] = None
    reason: str = ""
    matched_by: str = ""
    kind: str = ""
    causes: Tuple[str, ...] = ()

    @property
    def tensor_index(self) -> str:
        """As result tables name it, e.g. ``"conv1/Conv2D:output:0"``."""
        return "{}:{}:{}".format(self.op_name, self.side, self.number)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Comparison:
    """The result.

    Args:
        rows: in the order of execution; inputs before outputs.
        first_diverging: the first operator whose inputs agree and whose outputs do not; None
            when there is none.
        path_to_it: the operators that lead to it, from the first of the graph on; only it
            without a graph.
        passes: the fusion passes that made it, as the graph says.
        threshold: what a cosine has to exceed.
        against_dump: True when the reference is a dump of the NPU too.
        step: the step of the dump.
        diagnostics: what was wrong with files, and what is to be known.
    """

    rows: Tuple[Row, ...]
    first_diverging: Optional[str]
    path_to_it: Tuple[str, ...] = ()
    passes: Tuple[str, ...] = ()
    threshold: float = COSINE
    against_dump: bool = False
    step: Optional[int] = None
    diagnostics: Tuple[Diagnostic, ...] = ()

    @property
    def diverging(self) -> Tuple[str, ...]:
        """Every operator with an output that diverges, in order."""
        names = [r.op_name for r in self.rows if r.verdict == DIVERGES and r.side == "output"]
        return tuple(dict.fromkeys(names))

    @property
    def ok(self) -> bool:
        """True when something was compared and nothing diverges."""
        verdicts = {row.verdict for row in self.rows}
        return AGREES in verdicts and DIVERGES not in verdicts


def compare_dumps(
    npu: PathLike,
    reference: PathLike,
    graph: Union[PathLike, GeGraph, None] = None,
    threshold: Optional[float] = None,
    max_abs: Optional[float] = None,
    max_rel: Optional[float] = None,
    *,
    step: Optional[int] = None,
    reference_step: Optional[int] = None,
    device: Optional[int] = None,
    ignore: Sequence[str] = (),
    progress: Optional[Callable[[int, int], None]] = None,
) -> Comparison:
    """Compare what operators computed on the NPU with a reference.

    Args:
        npu: the dump, or a folder in it; of several runs the newest is taken, of several
            models the one with most operators.
        reference: a folder of ``.npy`` files (``OPERATOR.OUTPUT.TIME.npy``, tfdbg-export or dump
            export), or another dump.
        graph: ``ge_proto_*_Build.txt``, its folder, or what
            :func:`~npu_config.dumps.graph.read_ge_graph` returned; it is needed for inputs,
            and for fused operators whose header does not say what they stand for.
        threshold: what a cosine similarity has to exceed; None: 0.98.
        max_abs: how much one element may be off; None: by data type and kind of tensor.
        max_rel: the largest relative distance; None: by data type and kind of tensor.
        step: the iteration to compare; None: the first that both sides have, or the first.
        reference_step: the run or step of the reference; None: the same, or the first.
        device: the device; None: the first.
        ignore: patterns of operators that are compared and do not count.
        progress: gets how many of how many operators are done.

    Raises:
        NpuConfigError: one side cannot be read, or nothing of both sides has the same name.
        ImportError: numpy is missing.
    """
    tree = find_dumps(npu)
    if not any(file.kind == "tensor" for file in tree):
        raise NpuConfigError([no_dump(tree, os.fspath(npu))])
    wanted = reference_step if reference_step is not None else step
    other = open_reference(os.fspath(reference), wanted)
    chosen = choose(tree, step, device)
    if step is None and other.step in chosen.steps:
        chosen = choose(tree, other.step, device)
    found = operators(chosen)
    notes = [*tree.diagnostics, *found.diagnostics, *other.diagnostics]
    if not chosen.files:
        message = "the dump has no step {}; it has {}"
        text = phrase(message, step, listed(map(str, chosen.steps)) or phrase("none"))
        raise rules.no_dump_found.error(text, Place(os.fspath(npu)))
    compiled = _graph(graph, chosen.files[0].model)
    notes += _steps_differ(chosen.step, other, os.fspath(npu))
    ordered = list(found.operators)
    if compiled is not None:
        known = [operator for operator in ordered if compiled.find(operator.name)]
        if known:
            last = len(compiled)
            ids = {op.name: op.id for op in compiled}
            ordered.sort(key=lambda operator: (ids.get(operator.name, last), operator.time))
        else:
            message = "the graph names none of the {:,} operators that were dumped"
            text = phrase(message, len(ordered))
            notes.append(rules.graph_of_another_model.diagnostic(text, Place(compiled.path)))
            compiled = None
    sides = Sides(other, compiled, {operator.name: operator for operator in ordered})
    bounds = Bounds(threshold, max_abs, max_rel)
    rows: List[Row] = []
    for index, operator in enumerate(ordered):
        skipped = any(fnmatch.fnmatchcase(operator.name, pattern) for pattern in ignore)
        for row in _rows(index, operator, sides, bounds):
            rows.append(attr.evolve(row, verdict=IGNORED) if skipped and row.metrics else row)
        if progress is not None:
            progress(index + 1, len(ordered))
    if all(row.verdict == NOT_COMPARED for row in rows):
        raise NpuConfigError([_nothing_matched(rows, os.fspath(npu), compiled), *notes])
    first = first_of(rows)
    return Comparison(
        tuple(rows),
        first,
        _path(first, compiled),
        _passes(first, compiled),
        COSINE if threshold is None else threshold,
        other.is_dump,
        chosen.step,
        tuple(notes),
    )


def _graph(graph: Union[PathLike, GeGraph, None], model: Optional[str]) -> Optional[GeGraph]:
    if graph is None or isinstance(graph, GeGraph):
        return graph
    return read_ge_graph(graph, model)


def _steps_differ(step: Optional[int], other: Reference, path: str) -> List[Diagnostic]:
    """Said when the two sides are of different steps and one of them had a choice."""
    if step is None or other.step is None or step == other.step:
        return []
    if not other.is_dump and len(other.steps) == 1:
        return []
    text = phrase(
        "step {} of the dump is compared with {} {} of the reference, which has {}",
        step,
        phrase("step") if other.is_dump else phrase("run"),
        other.step,
        listed(map(str, other.steps)),
    )
    help_ = "choose with --step and --reference-step"
    return [rules.steps_differ.diagnostic(text, Place(path), help=help_)]


def _nothing_matched(rows: Sequence[Row], path: str, graph: Optional[GeGraph]) -> Diagnostic:
    if not rows:
        text = "the dump holds no tensors that can be read"
    else:
        outputs = [row for row in rows if row.side == "output"]
        reasons = [row.reason for row in outputs or rows if row.reason]
        most = max(set(reasons), key=reasons.count) if reasons else "no counterpart"
        text = phrase("no tensor could be compared (of {:,}); mostly: {}", len(rows), most)
    help_ = (
        "give the reference of the same network, and the graph (--graph ge_proto_*_Build.txt)"
        if graph is None
        else "give the reference of the same network"
    )
    return rules.nothing_to_compare.diagnostic(text, Place(path), help=help_)


def _rows(index: int, operator: Operator, sides: Sides, bounds: Bounds) -> Iterator[Row]:
    op = None if sides.graph is None else sides.graph.find(operator.name)
    stands_for = _stands_for(operator, op)
    for side, number, tensor in operator.dump.tensors():
        match = match_of(operator, op, side, number, tensor, sides)
        row = Row(
            index,
            operator.name,
            operator.op_type,
            side,
            number,
            tensor.data_type,
            match.array.label if match.array else NO_COUNTERPART,
            match.array.data_type if match.array else "",
            stands_for,
            tensor.original_shape or tensor.shape,
            NOT_COMPARED,
            reason=match.reason,
            matched_by=match.by,
        )
        yield row if match.array is None else _compared(row, tensor, match, bounds)


def _stands_for(operator: Operator, op: Optional[GeOp]) -> Tuple[str, ...]:
    if op is not None and op.original_names is not None:
        return op.original_names
    names = [t.original_op.name for t in operator.dump.outputs if t.original_op is not None]
    return tuple(dict.fromkeys(names)) or (operator.name,)


def _compared(row: Row, tensor: Tensor, match: Match, bounds: Bounds) -> Row:
    array = match.array
    assert array is not None
    types = tensor.data_type, array.data_type
    kind = kind_of(array.name or row.op_name, row.op_type, *types)
    try:
        both = aligned(tensor, array, match.format)
        metrics, judged = judge(both.pairs, limits_of(kind, *types, bounds), both.shape)
    except ShapeMismatchError as error:
        return attr.evolve(row, verdict=DIVERGES, reason=str(error), causes=("shape",))
    except NpuConfigError as error:
        return attr.evolve(row, reason=error.diagnostics[0].message)
    except OSError as error:
        return attr.evolve(row, reason=phrase("the reference cannot be read: {}", error.strerror))
    return attr.evolve(
        row,
        shape=both.shape,
        verdict=judged.verdict,
        metrics=metrics,
        reason=join("; ", filter(None, [judged.reason, both.remark])),
        kind=kind,
        causes=judged.causes,
    )


def first_of(rows: Sequence[Any]) -> Optional[str]:
    """The first operator whose inputs agree and whose outputs do not.

    An operator without a compared input counts only while nothing has diverged before it.

    Args:
        rows: in the order of execution, with ``op_name``, ``side`` and ``verdict``.
    """
    diverged = False
    by_operator: Dict[str, List[Any]] = {}
    for row in rows:
        by_operator.setdefault(row.op_name, []).append(row)
    for name, members in by_operator.items():
        inputs = [row.verdict for row in members if row.side == "input"]
        outputs = [row.verdict for row in members if row.side == "output"]
        known = AGREES in inputs or (not diverged and DIVERGES not in inputs)
        if DIVERGES in outputs and DIVERGES not in inputs and known:
            return name
        diverged = diverged or DIVERGES in inputs or DIVERGES in outputs
    return None


def _path(name: Optional[str], graph: Optional[GeGraph]) -> Tuple[str, ...]:
    """The operators that lead to one, along the first input of each."""
    path: List[str] = [] if name is None else [name]
    while graph is not None and path and len(path) < _LONGEST_PATH:
        op = graph.find(path[-1])
        edges = [] if op is None else [edge[0] for edge in op.inputs if edge is not None]
        sources = [source for source in edges if not _is_constant(graph, source)]
        if not sources or sources[0] in path:
            break
        path.append(sources[0])
    return tuple(reversed(path))


def _is_constant(graph: GeGraph, name: str) -> bool:
    op = graph.find(name)
    return op is not None and op.type in CONSTANTS


def _passes(name: Optional[str], graph: Optional[GeGraph]) -> Tuple[str, ...]:
    op = None if graph is None or name is None else graph.find(name)
    return () if op is None else op.passes
