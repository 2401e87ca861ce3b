"""Every tensor of a dump that holds NaN, infinities or values at the limit of its type.

In the order of execution, so that the first is where they began.  A clean tensor costs one pass
over its bits; positions and counts are looked for in the others only.  Tables of statistics say
the same of tensors that were not kept.
"""

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
from npu_config.core.message import listed, phrase
from npu_config.core.paths import PathLike
from npu_config.dumps import _rules as rules
from npu_config.dumps.dump import Tensor
from npu_config.dumps.graph import CONSTANTS, GeGraph, given_graph
from npu_config.dumps.overflow import CAME_IN, HERE, UNKNOWN
from npu_config.dumps.statistics import (
    Statistics,
    StatisticsRow,
    read_statistics,
    statistics_of,
    statistics_of_row,
)
from npu_config.dumps.tree import (
    DumpFile,
    DumpTree,
    Folder,
    newest_below,
)
from npu_config.text.source import attempted

_BITS: Dict[str, Tuple[str, int]] = {
    "float16": ("<u2", 0x7FFF),
    "float32": ("<u4", 0x7FFFFFFF),
    "float64": ("<u8", 0x7FFFFFFFFFFFFFFF),
}
"""Magnitudes of floats are ordered as their bits are; infinities and NaN come last."""
_BLOCK = 1 << 18
_WHOLE = ("DT_INT", "DT_UINT", "DT_QINT", "DT_QUINT", "DT_BOOL", "DT_STRING", "DT_RESOURCE",
          "DT_VARIANT")  # fmt: skip
"""Types whose values are neither NaN nor infinite."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ScannedTensor:
    """A tensor that is not clean.

    Args:
        where: run, device, model and step; what the path does not say is None.
        op_name: the operator.
        op_type: its type.
        side: ``"input"`` or ``"output"``.
        index: which of them.
        data_type: on the device.
        shape: on the device.
        path: the file.
        time: of the file, in microseconds.
        statistics: of its values; ``at_limit`` is a lower bound when ``is_table``.
        is_table: True for a row of a table of statistics.
        origin: of an output: ``"computed here"``, ``"came in"`` or ``"origin not known"``.
        order: the place of the operator in the graph; None when the graph does not say.
    """

    where: Folder
    op_name: str
    op_type: str
    side: str
    index: int
    data_type: str
    shape: Tuple[int, ...]
    path: str
    time: int
    statistics: Statistics
    is_table: bool
    origin: str = UNKNOWN
    order: Optional[int] = None

    @property
    def device(self) -> Optional[int]:
        """Number of the device."""
        return self.where.device

    @property
    def step(self) -> Optional[int]:
        """The iteration."""
        return self.where.step


class Unread(NamedTuple):
    """A tensor whose values could not be looked at, with the reason."""

    path: str
    tensor: str
    reason: str


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Scan:
    """What a dump holds that is not clean.

    Args:
        tensors: in the order of execution.
        first: the first output that was computed so from clean inputs; where that is not
            known of any, the first tensor of all; None without any.
        looked_at: how many tensors were.
        unread: those that were not.
        diagnostics: what was wrong with files.
        runs: (device, run) that were looked at.
        older: (device, run) that were not.
        by_graph: True when a graph gave the order, else the time did.
    """

    tensors: Tuple[ScannedTensor, ...]
    first: Optional[ScannedTensor]
    looked_at: int
    unread: Tuple[Unread, ...]
    diagnostics: Tuple[Diagnostic, ...]
    runs: Tuple[Tuple[Optional[int], Optional[str]], ...]
    older: Tuple[Tuple[Optional[int], Optional[str]], ...]
    by_graph: bool


def scan_dumps(
    path: PathLike,
    graph: Union[PathLike, GeGraph, None] = None,
    run: Optional[str] = None,
    choose: Callable[[DumpTree], DumpTree] = lambda tree: tree,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Scan:
    """Look at the values of every tensor below a folder.

    Args:
        path: the dump_path of the job, a folder in it, or one file.
        graph: ``ge_proto_*_Build.txt``, its folder, or the graph as it was read.
        run: the run to look at; None: the newest of each device.
        choose: leaves out files that are not asked for.
        progress: called after each file with how many are done, and how many there are.

    Raises:
        NpuConfigError: the folder holds no dump that is asked for, or the graph cannot be read.
        ImportError: numpy is missing, and there are tensors to look at.
    """
    tree, runs, older = newest_below(path, run, choose=choose)
    compiled = given_graph(graph)
    state = _Scanning(list(tree.diagnostics), compiled)
    files = [file for file in tree if file.kind != "overflow"]
    for number, file in enumerate(files, 1):
        attempted(state.found, file.path, state.look, file)
        progress(number, len(files))
    return state.result(runs, older)


class NoNumbers(Exception):  # noqa: N818 - it ends nothing
    """A table says nothing of the values of a tensor."""


class _Scanning:
    """What was seen so far."""

    def __init__(self, found: List[Diagnostic], graph: Optional[GeGraph]) -> None:
        self.found = found
        self._graph = graph
        self._named = 0
        self._bad: List[ScannedTensor] = []
        self._unread: List[Unread] = []
        self._looked_at = 0
        self._seen: Dict[Tuple[object, ...], bool] = {}

    def look(self, file: DumpFile) -> None:
        """Look at the tensors of a file; those of one that is damaged as far as they are whole."""
        if file.kind == "statistics":
            self._table(file)
            return
        opened = file.open()
        self.found.extend(opened.diagnostics)
        if opened.dump is None:
            return
        name = opened.dump.op_name or file.op_name
        self._enter(
            file, name, ((s, i, t.data_type, t.shape, _of(t)) for s, i, t in opened.dump.tensors())
        )

    def _table(self, file: DumpFile) -> None:
        rows = read_statistics(file.path)
        self._enter(
            file,
            file.op_name,
            ((r.side, r.index, r.data_type, r.shape or (), _of_row(r)) for r in rows),
        )

    def _enter(self, file: DumpFile, name: str, tensors: Iterator[Any]) -> None:
        """Note what the tensors of an operator hold; its inputs come first."""
        op = None if self._graph is None else self._graph.find(name)
        self._named += op is not None
        inputs: List[Optional[bool]] = []
        bad: List[ScannedTensor] = []
        for side, index, kind, shape, look in tensors:
            statistics, clean = self._looked(file, "{}:{}:{}".format(name, side, index), look)
            if side == "input":
                inputs.append(clean)
            else:
                self._seen[(file.folder, name, index)] = bool(clean)
            if clean or statistics is None:
                continue
            bad.append(
                ScannedTensor(
                    where=file.folder,
                    op_name=name,
                    op_type=file.op_type,
                    side=side,
                    index=index,
                    data_type=kind,
                    shape=shape,
                    path=file.path,
                    time=file.name.time,
                    statistics=statistics,
                    is_table=file.kind == "statistics",
                    order=None if op is None else op.id,
                )
            )
        origin = _origin(inputs)
        self._bad += [
            each if each.side == "input" else attr.evolve(each, origin=origin) for each in bad
        ]

    def _looked(
        self, file: DumpFile, label: str, look: Callable[[], Optional[Statistics]]
    ) -> Tuple[Optional[Statistics], Optional[bool]]:
        """The statistics of a tensor and whether it is clean; None where that is not known."""
        try:
            statistics = look()
        except NoNumbers:
            why = "the table has no statistics of this tensor"
            self._unread.append(Unread(file.path, label, why))
        except NpuConfigError as error:
            self._unread.append(Unread(file.path, label, error.diagnostics[0].message))
        else:
            self._looked_at += 1
            return statistics, statistics is None or statistics.is_clean
        return None, None

    def _by_producers(self, each: ScannedTensor) -> ScannedTensor:
        """The origin of an output by what the graph says of its producers."""
        op = None if self._graph is None else self._graph.find(each.op_name)
        if self._graph is None or op is None or each.side == "input" or each.origin != UNKNOWN:
            return each
        states: List[Optional[bool]] = []
        for edge in op.inputs:
            producer = None if edge is None else self._graph.find(edge[0])
            if edge is None or producer is None or producer.type not in CONSTANTS:
                states.append(None if edge is None else self._seen.get((each.where, *edge)))
        return attr.evolve(each, origin=_origin(states))

    def result(self, runs: Any, older: Any) -> Scan:
        """All of it, in order."""
        tensors = tuple(sorted(map(self._by_producers, self._bad), key=_order))
        outputs = [each for each in tensors if each.origin == HERE]
        first = next(iter(outputs or tensors), None)
        if self._graph is not None and not self._named:
            message = "the graph {} names none of the operators that were dumped"
            name = phrase(message, self._graph.name)
            self.found.append(
                rules.graph_of_another_model.diagnostic(name, Place(self._graph.path))
            )
        return Scan(
            tensors,
            first,
            self._looked_at,
            tuple(self._unread),
            tuple(self.found),
            runs,
            older,
            bool(self._named),
        )


def _origin(inputs: Sequence[Optional[bool]]) -> str:
    """Where what is odd came from, by whether each input is clean; None: not known."""
    if False in inputs:
        return CAME_IN
    return HERE if inputs and all(inputs) else UNKNOWN


def _order(each: ScannedTensor) -> Tuple[Any, ...]:
    """By step, then by the graph and by time; the inputs of an operator before its outputs."""
    step = -1 if each.step is None else each.step
    place = -1 if each.order is None else each.order
    return step, each.order is None, place, each.time, each.path, each.side, each.index


def _of(tensor: Tensor) -> Callable[[], Optional[Statistics]]:
    """Looks at a tensor; None means that every value is clean."""
    whole = tensor.data_type.startswith(_WHOLE)
    return lambda: statistics_of(tensor) if not whole and _may_be_odd(tensor) else None


def _may_be_odd(tensor: Tensor) -> bool:
    """False for a tensor that is certainly clean; the padding of the device's layout is zero."""
    import numpy

    limit, values = tensor.kind.limit, numpy.dtype(tensor.kind.values or "V1")
    if values.name not in _BITS:
        return True
    unsigned, mask = _BITS[values.name]
    edge = int(numpy.array(limit, values).view(unsigned))
    pieces = tensor.blocks(limit=_BLOCK)
    return any(int((piece.view(unsigned) & mask).max(initial=0)) >= edge for piece in pieces)


def _of_row(row: StatisticsRow) -> Callable[[], Optional[Statistics]]:
    """Looks at a row of a table."""

    def look() -> Optional[Statistics]:
        values = statistics_of_row(row)
        if values is None and not row.data_type.startswith(_WHOLE):
            raise NoNumbers
        return values

    return look


def finding(each: ScannedTensor) -> Diagnostic:
    """A tensor as a finding."""
    counts = [text for text, count in held(each) if count]
    message = phrase(
        "{} {} of {} in step {}: {}",
        phrase(each.side),
        each.index,
        each.op_name,
        "?" if each.step is None else each.step,
        listed(counts),
    )
    return rules.odd_values.diagnostic(message, Place(each.path))


def held(each: ScannedTensor) -> List[Tuple[str, int]]:
    """What a tensor holds, in words, with the counts."""
    values = each.statistics
    at_limit = (
        "{:,} at the type's limit" if not each.is_table else "at least {:,} at the type's limit"
    )
    return [
        (phrase("{:,} NaN", values.nan), values.nan),
        (phrase("{:,} infinite", values.infinite), values.infinite),
        (phrase(at_limit, values.at_limit), values.at_limit),
    ]


def plain(each: ScannedTensor) -> Dict[str, Any]:
    """A tensor as JSON has it."""
    result: Dict[str, Any] = attr.asdict(each, recurse=False)
    values = result.pop("statistics")
    result.update(
        result.pop("where")._asdict(),
        nan=values.nan,
        infinite=values.infinite,
        at_limit=values.at_limit,
        elements=values.elements,
        minimum=values.minimum,
        maximum=values.maximum,
        mean=values.mean,
        first_at=list(values.odd_positions),
    )
    return result
