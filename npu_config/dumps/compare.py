"""A dump of the NPU against a reference, in the order of execution.

Every step, device and model that both sides have is compared (``pairing``), every tensor with
what it stands for (``matching``), within the limits of its type and kind (``verdicts``).  What
the job is fed with comes first: where the inputs differ already, no operator is to blame.  Else
the first operator whose inputs agree and whose outputs do not is where to look.

Without a reference the ranks of one job are compared with each other: every one has the same
weights, and after they were summed the same gradients, bit for bit.  What is computed from a
rank's own data is not compared.

Source: facts dump.yaml, ``compare``; docs/en/tfadapter_1/migration/accuracy_debugging/
network_accuracy_comparison.md.
"""

import fnmatch
import itertools
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
from npu_config.core.message import join, listed, phrase
from npu_config.core.paths import PathLike, path_name
from npu_config.dumps import _rules as rules
from npu_config.dumps.alignment import ShapeMismatchError, aligned
from npu_config.dumps.dump import Dump, Tensor
from npu_config.dumps.graph import GeGraph, GeOp, graph_file, read_ge_graph
from npu_config.dumps.matching import (
    ABSENT,
    APART,
    NO_COUNTERPART,
    NOTHING_MISSING,
    UNREAD,
    UPDATES,
    VARIABLES,
    Coverage,
    Match,
    Pair,
    Selection,
    Sides,
    coverage_of,
    is_constant,
    match_of,
    most_common,
    paired,
    paired_ranks,
)
from npu_config.dumps.metrics import Metrics
from npu_config.dumps.reference import Array, References, of_line, of_tensor, open_references
from npu_config.dumps.statistics import read_statistics
from npu_config.dumps.tree import (
    DumpFile,
    Folder,
    Operator,
    find_dumps,
    no_dump,
    operators,
    plain,
)
from npu_config.dumps.verdicts import (
    AGREES,
    COSINE,
    DATA,
    DEFAULTS,
    DIVERGES,
    FLAG,
    IGNORED,
    INDEX,
    NOT_COMPARED,
    Bounds,
    judge,
    judge_numbers,
    kind_of,
    limits_of,
    numbers_of,
)

_LONGEST_PATH = 50
NOWHERE = Folder(None, None, None, None, None)
NO_TENSORS = Dump("", "", 0, "", (), ())


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
        role: ``"data"`` or ``"weight"`` for what no operator computed, else "".
        producer: the operator that made an input, where the graph says; else "".
        where: run, device, model and step of the dump.
        gap: why it was not compared, one of :data:`~npu_config.dumps.matching.GAPS`.
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
    role: str = ""
    producer: str = ""
    where: Folder = NOWHERE
    gap: str = ""

    @property
    def run(self) -> Optional[str]:
        """Of the dump."""
        return self.where.run

    @property
    def device(self) -> Optional[int]:
        """Of the dump."""
        return self.where.device

    @property
    def model(self) -> Optional[str]:
        """Of the dump."""
        return self.where.model

    @property
    def step(self) -> Optional[int]:
        """Of the dump."""
        return self.where.step

    @property
    def tensor_index(self) -> str:
        """As result tables name it, e.g. ``"conv1/Conv2D:output:0"``."""
        return "{}:{}:{}".format(self.op_name, self.side, self.number)


class First(NamedTuple):
    """Where a step goes wrong.

    Args:
        name: the first operator whose outputs differ while its inputs do not; None when there
            is none.
        inputs_agree: True when its inputs were compared, and agree.
    """

    name: Optional[str] = None
    inputs_agree: bool = False


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Part:
    """One step of one model on one device.

    Args:
        where: of the dump.
        other: of the reference; what its files do not say is None.
        counts: how many tensors have which verdict.
        first: where it goes wrong.
        inputs: ``"agree"``, ``"differ"`` or ``"not compared"``: feeds, iterators and weights.
        inputs_differ: those that do, as tables name the reference.
        coverage: how much of it was compared.
    """

    where: Folder
    other: Folder
    counts: Dict[str, int]
    first: First
    inputs: str
    inputs_differ: Tuple[str, ...] = ()
    coverage: Coverage = NOTHING_MISSING

    @property
    def verdict(self) -> str:
        """Of the whole part."""
        if self.counts.get(DIVERGES):
            return DIVERGES
        return AGREES if self.counts.get(AGREES) else NOT_COMPARED


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Comparison:
    """The result.

    Args:
        rows: by step, device and model, in the order of execution; inputs before outputs.
        first_diverging: the first operator whose inputs agree and whose outputs do not, of the
            first step and device that has one; None when there is none, and when the inputs of
            the network differ before.
        path_to_it: the operators that lead to it, from the first of the graph on; only it
            without a graph.
        passes: the fusion passes that made it, as the graph says.
        threshold: what a cosine has to exceed.
        against_dump: True when the reference is a dump of the NPU too.
        step: the step of the first operator that diverges, else the first that was compared.
        diagnostics: what was wrong with files, and what is to be known.
        parts: every step, device and model that was compared, in order.
        left_out: what was not compared, in words.
        bounds: the limits that were given.
        where: the part of ``first_diverging``, or in which the inputs differ first.
        inputs_agree: True when the inputs of ``first_diverging`` were compared.
        unknown: how many operators models have of which nothing is in the reference.
        is_single: two files were compared, of no network.
    """

    rows: Tuple[Row, ...]
    first_diverging: Optional[str]
    path_to_it: Tuple[str, ...] = ()
    passes: Tuple[str, ...] = ()
    threshold: float = COSINE
    against_dump: bool = False
    step: Optional[int] = None
    diagnostics: Tuple[Diagnostic, ...] = ()
    parts: Tuple[Part, ...] = ()
    left_out: Tuple[str, ...] = ()
    bounds: Bounds = DEFAULTS
    where: Folder = NOWHERE
    inputs_agree: bool = False
    unknown: int = 0
    is_single: bool = False

    @property
    def diverging(self) -> Tuple[str, ...]:
        """Every operator with an output that diverges, in order."""
        names = [r.op_name for r in self.rows if r.verdict == DIVERGES and r.side == "output"]
        return tuple(dict.fromkeys(names))

    @property
    def inputs_differ(self) -> Tuple[str, ...]:
        """The feeds and weights that differ where something differs first; mostly none."""
        return next((p.inputs_differ for p in self.parts if p.where == self.where), ())

    @property
    def inputs(self) -> str:
        """``"agree"``, ``"differ"`` or ``"not compared"``: feeds, iterators and weights."""
        if self.inputs_differ:
            return "differ"
        return "agree" if any(part.inputs == "agree" for part in self.parts) else NOT_COMPARED

    @property
    def ok(self) -> bool:
        """True when enough was compared (:attr:`covered`) and nothing diverges."""
        verdicts = {row.verdict for row in self.rows}
        return AGREES in verdicts and DIVERGES not in verdicts and self.covered

    @property
    def covered(self) -> bool:
        """Whether enough was compared for "all values agree" to be a result."""
        compared = sum(part.coverage.compared for part in self.parts)
        return self.unknown <= compared and all(part.coverage.is_enough for part in self.parts)


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
    run: Optional[str] = None,
    ignore: Sequence[str] = (),
    progress: Optional[Callable[[int, int], None]] = None,
) -> Comparison:
    """Compare what operators computed on the NPU with a reference.

    Every step, device and model that both sides have is compared; of several runs of a device
    the newest counts.

    Args:
        npu: the dump, or a folder in it.
        reference: a folder of ``.npy`` files (``OPERATOR.OUTPUT.TIME.npy``, tfdbg-export or dump
            export), or another dump.
        graph: ``ge_proto_*_Build.txt``, its folder, or what
            :func:`~npu_config.dumps.graph.read_ge_graph` returned; it is needed for inputs,
            and for fused operators whose header does not say what they stand for.
        threshold: what a cosine similarity has to exceed; None: 0.98.
        max_abs: how much one element may be off; None: by data type and kind of tensor.
        max_rel: the largest relative distance; None: by data type and kind of tensor.
        step: the iteration to compare; None: all.
        reference_step: the run or step of the reference; None: that of the same number.
        device: the device to compare; None: all.
        run: the run of the dump (the name of its folder); None: the newest of each device.
        ignore: patterns of operators that are compared and do not count.
        progress: gets how many of how many files of the dump are done.

    Raises:
        NpuConfigError: one side cannot be read, or nothing of both sides has the same name.
        ImportError: numpy is missing.
    """
    path = path_name(npu)
    tree = find_dumps(path)
    if all(file.kind == "overflow" for file in tree):
        raise NpuConfigError([no_dump(tree, path)])
    references = open_references(path_name(reference))
    chosen = paired(tree, references, Selection(step, reference_step, device, run), path)
    work = Comparing(references, graph, Bounds(threshold, max_abs, max_rel), ignore)
    for pair in work.through(chosen.pairs, progress):
        work.compare(pair)
    notes = [*tree.diagnostics, *references.diagnostics, *chosen.notes]
    return result_of(work, chosen.left_out, notes, path)


class _Graphs:
    """The graph of each model, each file read once."""

    def __init__(self, given: Union[PathLike, GeGraph, None]) -> None:
        self._given = given
        self._read: Dict[str, GeGraph] = {}
        self.is_known = False

    def of(self, model: Optional[str]) -> Optional[GeGraph]:
        """The graph of a model, or the one that was given."""
        if self._given is None or isinstance(self._given, GeGraph):
            return self._given
        path = graph_file(self._given, model)
        if path not in self._read:
            self._read[path] = read_ge_graph(path)
        return self._read[path]


Shared = Callable[[Operator, Optional[GeOp], str, int, Optional[GeGraph]], bool]


class Comparing:
    """What was compared so far.

    Args:
        references: the other side.
        graph: what was given as the graph.
        bounds: limits that replace the defaults.
        ignore: patterns of operators that do not count.
        shared: of ranks, which tensors have to be equal bit for bit; the others are left out.
    """

    def __init__(
        self,
        references: References,
        graph: Union[PathLike, GeGraph, None],
        bounds: Bounds,
        ignore: Sequence[str],
        shared: Optional[Shared] = None,
    ) -> None:
        self.references, self.graphs, self.bounds = references, _Graphs(graph), bounds
        self._ignore, self._shared = ignore, shared
        self.rows: List[Row] = []
        self.parts: List[Part] = []
        self.notes: List[Diagnostic] = []
        self.unknown: List[Diagnostic] = []
        self._tick: Callable[[], None] = lambda: None

    def through(
        self, pairs: Sequence[Pair], progress: Optional[Callable[[int, int], None]]
    ) -> Iterator[Pair]:
        """One pair after the other, with what is to be known of how far it is."""
        total = sum(len({file.op_name for file in pair.files}) for pair in pairs)
        counter = itertools.count(1)
        if progress is not None:
            told = progress
            self._tick = lambda: told(next(counter), total)
        return iter(pairs)

    def compare(self, pair: Pair) -> None:
        """One step of one model on one device."""
        found = operators(pair.files)
        other = self.references.open(pair.other)
        self.notes += [*found.diagnostics, *other.diagnostics]
        ordered = list(found.operators)
        graph = self._ordered(ordered, pair.where.model)
        sides = Sides(other, graph, {operator.name: operator for operator in ordered})
        tables = [file for file in pair.files if file.kind == "statistics"]
        rows: List[Row] = []
        for index, operator in enumerate(ordered):
            skipped = any(fnmatch.fnmatchcase(operator.name, pattern) for pattern in self._ignore)
            for row in self._rows(index, operator, sides, pair.where):
                if skipped and row.verdict in (AGREES, DIVERGES):
                    row = attr.evolve(row, verdict=IGNORED)
                elif skipped:
                    row = attr.evolve(row, gap=APART)
                rows.append(row)
            self._tick()
        if tables:
            rows += self._tables(tables, sides, pair.where, len(ordered))
        self.rows += rows
        self.parts.append(_part(pair, rows, self._shared is not None))

    def _rows(self, index: int, operator: Operator, sides: Sides, where: Folder) -> Iterator[Row]:
        op = None if sides.graph is None else sides.graph.find(operator.name)
        stands_for = _stands_for(operator, op)
        for side, number, tensor in operator.dump.tensors():
            if self._shared and not self._shared(operator, op, side, number, sides.graph):
                continue
            match = match_of(operator, op, side, number, tensor, sides)
            shape = tensor.original_shape or tensor.shape
            which = side, number
            row = _row(index, operator, which, tensor.data_type, shape, match, stands_for, where)
            exact = self._shared is not None
            yield row if match.array is None else _compared(row, tensor, match, self.bounds, exact)

    def _tables(
        self, files: Sequence[DumpFile], sides: Sides, where: Folder, index: int
    ) -> Iterator[Row]:
        """Tables of statistics of operators that have no tensors."""
        exact = self._shared is not None
        real = {plain(op.name): op.name for op in sides.graph or ()}
        there = {plain(name) for name in sides.operators}
        for number, file in enumerate(files, index):
            if file.op_name in there:
                continue
            try:
                lines = read_statistics(file.path)
            except NpuConfigError as error:
                self.notes += error.diagnostics
                continue
            name = real.get(file.op_name, file.op_name)
            operator = Operator(name, file.op_type, file.name.time, NO_TENSORS)
            op = None if sides.graph is None else sides.graph.find(name)
            for line in lines:
                if self._shared and not self._shared(
                    operator, op, line.side, line.index, sides.graph
                ):
                    continue
                match = match_of(operator, op, line.side, line.index, None, sides)
                shape = line.shape or ()
                which, names = (line.side, line.index), _stands_for(operator, op)
                row = _row(number, operator, which, line.data_type, shape, match, names, where)
                if match.array is not None:
                    row = _by_numbers(row, of_line(name, line), True, match, self.bounds, exact)
                yield row

    def _ordered(self, ordered: List[Operator], model: Optional[str]) -> Optional[GeGraph]:
        """Sort operators by the graph, when it knows them; returns the graph then."""
        graph = self.graphs.of(model)
        if graph is None:
            return None
        if not any(graph.find(operator.name) for operator in ordered):
            message = "the graph names none of the {:,} operators that were dumped"
            text = phrase(message, len(ordered))
            self.unknown.append(rules.graph_of_another_model.diagnostic(text, Place(graph.path)))
            return None
        self.graphs.is_known = True
        last, ids = len(graph), {op.name: op.id for op in graph}
        ordered.sort(key=lambda operator: (ids.get(operator.name, last), operator.time))
        return graph


def _part(pair: Pair, rows: Sequence[Row], exact: bool) -> Part:
    counts: Dict[str, int] = {}
    for row in rows:
        counts[row.verdict] = counts.get(row.verdict, 0) + 1
    fed = [row for row in rows if row.role and row.verdict in (AGREES, DIVERGES)]
    differ = tuple(dict.fromkeys(row.reference for row in fed if row.verdict == DIVERGES))
    data = any(row.role == DATA for row in fed)
    inputs = "differ" if differ else "agree" if data else NOT_COMPARED
    first = First() if differ else first_of(rows)
    return Part(pair.where, pair.other, counts, first, inputs, differ, coverage_of(rows, exact))


def result_of(
    work: Comparing, left_out: Sequence[str], notes: List[Diagnostic], path: str
) -> Comparison:
    """What it comes to over all parts."""
    unread = [*notes, *_once(work.notes)]
    if not work.graphs.is_known:
        unread += work.unknown[:1]
    if all(row.verdict == NOT_COMPARED for row in work.rows):
        without = not work.graphs.is_known
        raise NpuConfigError([_nothing_matched(work.rows, path, without), *unread])
    parts = [part for part in work.parts if part.verdict != NOT_COMPARED] or work.parts
    apart = [
        phrase(
            "model {}, step {}: the reference has none of these tensors",
            p.where.model,
            p.where.step,
        )
        for p in work.parts
        if p not in parts
    ]
    unknown = sum(len(part.coverage.missing) for part in work.parts if part not in parts)
    kept = {part.where for part in parts}
    rows = tuple(row for row in work.rows if row.where in kept)
    unread += _batch(rows, path)
    wrong = next((part for part in parts if part.inputs_differ or part.first.name), None)
    first = First() if wrong is None else wrong.first
    where = parts[0].where if wrong is None else wrong.where
    graph = work.graphs.of(where.model) if work.graphs.is_known else None
    return Comparison(
        rows,
        first.name,
        _path(first.name, graph),
        _passes(first.name, graph) if first.inputs_agree else (),
        COSINE if work.bounds.cosine is None else work.bounds.cosine,
        work.references.is_dump,
        where.step,
        tuple(unread),
        tuple(parts),
        (*left_out, *apart),
        work.bounds,
        where,
        first.inputs_agree,
        unknown,
    )


def _once(found: Sequence[Diagnostic]) -> List[Diagnostic]:
    """The same of many steps is said once."""
    return list({(each.rule, each.message, each.place): each for each in found}.values())


def _batch(rows: Sequence[Row], path: str) -> List[Diagnostic]:
    """Said when most shapes differ in their first axis alone."""
    sizes = [row.reason for row in rows if "batch" in row.causes]
    compared = sum(row.verdict in (AGREES, DIVERGES) for row in rows)
    if len(sizes) * 2 < compared or not sizes:
        return []
    message = "the reference has another batch size: {}"
    help_ = "create the reference with the batch size of the dump"
    text = phrase(message, sizes[0])
    return [rules.nothing_to_compare.diagnostic(text, Place(path), help=help_)]


def _nothing_matched(rows: Sequence[Row], path: str, without_graph: bool) -> Diagnostic:
    if not rows:
        text = "the dump holds no tensors that can be read"
        help_ = "npu-config dump list shows the files and their faults"
        return rules.nothing_to_compare.diagnostic(text, Place(path), help=help_)
    outputs = [row for row in rows if row.side == "output"]
    reasons = [row.reason for row in outputs or rows if row.reason]
    most = most_common(reasons) or "no counterpart"
    text = phrase(
        "none of the tensors could be compared ({:,}); most frequent reason: {}", len(rows), most
    )
    help_ = (
        "pass a reference of the same network, and the graph (--graph ge_proto_*_Build.txt)"
        if without_graph
        else "pass a reference of the same network"
    )
    return rules.nothing_to_compare.diagnostic(text, Place(path), help=help_)


def _row(
    index: int,
    operator: Operator,
    which: Tuple[str, int],
    data_type: str,
    shape: Tuple[int, ...],
    match: Match,
    stands_for: Tuple[str, ...],
    where: Folder,
) -> Row:
    """A tensor that was not compared yet."""
    return Row(
        index,
        operator.name,
        operator.op_type,
        *which,
        data_type,
        match.array.label if match.array else NO_COUNTERPART,
        match.array.data_type if match.array else "",
        stands_for,
        shape,
        NOT_COMPARED,
        reason=match.reason,
        matched_by=match.by,
        role=match.role,
        producer=match.producer,
        where=where,
        gap=match.gap,
    )


def _stands_for(operator: Operator, op: Optional[GeOp]) -> Tuple[str, ...]:
    if op is not None and op.original_names is not None:
        return op.original_names
    found = [t.original_op.name for t in operator.dump.outputs if t.original_op is not None]
    return tuple(dict.fromkeys(found)) or (operator.name,)


def _compared(row: Row, tensor: Tensor, match: Match, bounds: Bounds, exact: bool) -> Row:
    array = match.array
    assert array is not None
    types = tensor.data_type, array.data_type
    kind = _kind(row, array)
    if array.numbers is not None:
        return _by_numbers(row, of_tensor(tensor), False, match, bounds, exact)
    try:
        both = aligned(tensor, array, match.format)
        limits = limits_of(kind, *types, bounds)
        metrics, judged = judge(both.pairs, limits, both.shape, exact)
    except ShapeMismatchError as error:
        causes = ("shape", "batch") if error.is_batch else ("shape",)
        return attr.evolve(row, verdict=DIVERGES, reason=str(error), causes=causes, kind=kind)
    except NpuConfigError as error:
        return attr.evolve(row, reason=error.diagnostics[0].message, gap=ABSENT)
    except OSError as error:
        text = phrase("the reference cannot be read: {}", error.strerror)
        return attr.evolve(row, reason=text, gap=UNREAD)
    return attr.evolve(
        row,
        shape=both.shape,
        verdict=judged.verdict,
        metrics=metrics,
        reason=join("; ", filter(None, [judged.reason, both.remark])),
        kind=kind,
        causes=judged.causes,
    )


def _by_numbers(
    row: Row, ours: Array, table: bool, match: Match, bounds: Bounds, exact: bool
) -> Row:
    array = match.array
    assert array is not None
    types = ours.data_type, array.data_type
    kind = _kind(row, array)
    tables = table and array.numbers is not None
    if tables and ours.shape and array.shape and ours.shape != array.shape:
        message = "the shape is {} on the device and {} in the reference"
        text = phrase(message, list(ours.shape), list(array.shape))
        return attr.evolve(row, verdict=DIVERGES, reason=text, causes=("shape",), kind=kind)
    try:
        mine, theirs = numbers_of(ours), numbers_of(array)
    except NpuConfigError as error:
        return attr.evolve(row, reason=error.diagnostics[0].message, gap=ABSENT)
    limits = limits_of(kind, *types, bounds)
    judged = judge_numbers(mine, theirs, limits, types[0], tables, exact)
    return attr.evolve(
        row, verdict=judged.verdict, reason=judged.reason, causes=judged.causes, kind=kind
    )


def _kind(row: Row, array: Array) -> str:
    kind = kind_of(array.name or row.op_name, row.op_type, row.data_type, array.data_type)
    return row.role if row.role and kind not in (INDEX, FLAG) else kind


def first_of(rows: Sequence[Any]) -> First:
    """The first operator whose inputs agree and whose outputs do not.

    An operator without a compared input counts only while nothing has diverged before it.  What
    an operator that was dumped without outputs computed is seen at the inputs of others.

    Args:
        rows: in the order of execution, with ``op_name``, ``side`` and ``verdict``.
    """
    inputs: Dict[str, List[str]] = {}
    outputs: Dict[str, List[str]] = {}
    seen: Dict[str, List[str]] = {}
    order: Dict[str, None] = {}
    for row in rows:
        if row.side == "input" and getattr(row, "producer", "") and not row.role:
            order.setdefault(row.producer)
            seen.setdefault(row.producer, []).append(row.verdict)
        order.setdefault(row.op_name)
        (inputs if row.side == "input" else outputs).setdefault(row.op_name, []).append(
            row.verdict
        )
    diverged = False
    for name in order:
        before, after = inputs.get(name, []), outputs.get(name, [])
        if not {AGREES, DIVERGES} & set(after):
            after = seen.get(name, [])
        known = AGREES in before or (not diverged and DIVERGES not in before)
        if DIVERGES in after and DIVERGES not in before and known:
            return First(name, AGREES in before)
        diverged = diverged or DIVERGES in before or DIVERGES in after
    return First()


def _path(name: Optional[str], graph: Optional[GeGraph]) -> Tuple[str, ...]:
    """The operators that lead to one, along the first input of each."""
    path: List[str] = [] if name is None else [name]
    while graph is not None and path and len(path) < _LONGEST_PATH:
        op = graph.find(path[-1])
        edges = [] if op is None else [edge[0] for edge in op.inputs if edge is not None]
        sources = [source for source in edges if not is_constant(graph, source)]
        if not sources or sources[0] in path:
            break
        path.append(sources[0])
    return tuple(reversed(path))


def _passes(name: Optional[str], graph: Optional[GeGraph]) -> Tuple[str, ...]:
    op = None if graph is None or name is None else graph.find(name)
    return () if op is None else op.passes


_SUMMED = ("AllReduce", "Broadcast", "AllGather")


def compare_ranks(
    npu: PathLike,
    graph: Union[PathLike, GeGraph, None] = None,
    *,
    step: Optional[int] = None,
    run: Optional[str] = None,
    ignore: Sequence[str] = (),
    progress: Optional[Callable[[int, int], None]] = None,
) -> Comparison:
    """Compare the devices of a dump with the first of them.

    Compared are outputs of all-reduce, broadcast and all-gather, everything that optimizers
    read and write, and with a graph the weights that operators read.

    Args:
        npu: the dump of a job with several devices.
        graph: as :func:`~npu_config.dumps.compare.compare_dumps` has it.
        step: the iteration to compare; None: all.
        run: the run of the dump; None: the newest of each device.
        ignore: patterns of operators that are compared and do not count.
        progress: gets how many of how many files of the dump are done.

    Raises:
        NpuConfigError: there is one device only, or nothing that has to be equal.
        ImportError: numpy is missing.
    """
    path = os.fspath(npu)
    tree = find_dumps(npu)
    if all(file.kind == "overflow" for file in tree):
        raise NpuConfigError([no_dump(tree, path)])
    chosen, first = paired_ranks(tree, Selection(step, run=run), path)
    references = References(path, True, first)
    work = Comparing(references, graph, Bounds(), ignore, _is_shared)
    for pair in work.through(chosen.pairs, progress):
        work.compare(pair)
    if all(row.verdict == NOT_COMPARED for row in work.rows):
        message = "no tensor that must be equal on all ranks was dumped, such as {}"
        text = phrase(message, listed(["HcomAllReduce", "ApplyMomentum"]))
        help_ = 'dump the optimizer and the collectives (dump_mode "all")'
        raise rules.nothing_to_compare.error(text, Place(path), help=help_)
    return result_of(work, chosen.left_out, list(tree.diagnostics), path)


def _is_shared(
    operator: Operator, op: Optional[GeOp], side: str, number: int, graph: Optional[GeGraph]
) -> bool:
    """True for a tensor that every rank has."""
    if operator.op_type.startswith(UPDATES):
        return True
    if side == "output":
        return any(word in operator.op_type for word in _SUMMED)
    edge = None if op is None or number >= len(op.inputs) else op.inputs[number]
    made = None if graph is None or edge is None else graph.find(edge[0])
    return made is not None and made.type in VARIABLES
