"""What the sessions of a script did: which graphs they ran, how often, with which shapes.

Each set of fetches and feeds of a session is one call, as each has an executor of its own in
TensorFlow and a graph of its own on the device.  A call is looked at when it is made first; after
that only the shapes that come are compared with those that came before.  What is kept for the end
of the run holds nothing of TensorFlow.
"""

import contextlib
import functools
import gc
import operator
import os
import sys
from dataclasses import replace
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import attr

from npu_config.core.calls import script_place
from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.diagnosis.graph import finding_of, operators, sights
from npu_config.diagnosis.graph.findings import Options
from npu_config.diagnosis.graph.live import LiveNode, of_graph
from npu_config.diagnosis.graph.model import Frame, is_dynamic
from npu_config.diagnosis.graph.pipeline import initialises_both
from npu_config.diagnosis.graph.run import (
    COMPUTES,
    OTHER,
    TRAINS,
    Process,
    RunGraph,
    Sight,
    is_foreign,
)
from npu_config.diagnosis.graph.shapes import Flow, flow
from npu_config.runner.doings import Doings
from npu_config.situations import pipeline, precision, shapes
from npu_config.tf1.purpose import inputs, operations_of, reached
from npu_config.tf1.purpose import purpose as purpose_of
from npu_config.tf1.vendor import OPTIMIZER_MARK

_SHAPE = operator.attrgetter("shape")
Shape = Optional[Tuple[int, ...]]
Shapes = Tuple[Shape, ...]

_MOST_CALLS = 200
_MOST_SHAPES = 500
_HANDLES = frozenset(
    ("Iterator", "IteratorFromStringHandle", "IteratorFromStringHandleV2", "IteratorV2",
     "OneShotIterator")
)  # fmt: skip
_CELL_MODULES = (
    "tensorflow_core.python.ops.rnn_cell_impl",
    "tensorflow.python.ops.rnn_cell_impl",
)
_CELLS = ("BasicLSTMCell", "LSTMCell", "GRUCell")


class Shown(NamedTuple):
    """What the graph of a call shows at a line.

    Attributes:
        found: the finding, with the first of the operations.
        is_hot: it matters only in a run that is repeated.
        operations: the names of those that show it.
    """

    found: Diagnostic
    is_hot: bool
    operations: Tuple[str, ...]


@attr.s(slots=True, auto_attribs=True)
class SessionCall:
    """One set of fetches and feeds of a session.

    Args:
        place: the line of the script that ran it first.
        purpose: ``"trains"``, ``"computes"`` or ``"other"``.
        inputs: the names of what comes in: feeds, and elements of datasets.
        fed: how many of these are feeds.
        updates: the names of the operations that change weights.
        shown: what its graph shows.
        flow: its control flow of TensorFlow 1.
        times: how often TensorFlow has run it.
        since: how often it had run when inputs came in the shapes of ``came``.
        came: the shapes that came in last.
        before: other shapes, and how often these came.
    """

    place: Place
    purpose: str
    inputs: Tuple[str, ...] = ()
    fed: int = 0
    updates: FrozenSet[str] = frozenset()
    shown: Tuple[Shown, ...] = ()
    flow: Optional[Flow] = None
    times: int = 0
    since: int = 0
    came: Optional[Shapes] = None
    before: Dict[Shapes, int] = attr.ib(factory=dict)

    @property
    def shapes(self) -> Dict[Shapes, int]:
        """The shapes that came in, and how often."""
        found = dict(self.before)
        if self.came is not None:
            found[self.came] = found.get(self.came, 0) + self.times - self.since
        return found

    def comes_in(self, shapes: Shapes) -> None:
        """The next runs have these shapes."""
        before, came = self.before, self.came
        if shapes == came:
            return
        if came is not None:
            before[came] = before.get(came, 0) + self.times - self.since
        is_kept = shapes in before or len(before) < _MOST_SHAPES
        self.came, self.since = shapes if is_kept else None, self.times

    def to_dict(self) -> Dict[str, Any]:
        """The object of a report."""
        return {
            "path": self.place.path,
            "line": self.place.line,
            "purpose": self.purpose,
            "times": self.times,
            "inputs": list(self.inputs),
            "shapes": [
                {"shapes": [None if one is None else list(one) for one in each], "times": count}
                for each, count in list(self.shapes.items())[:20]
            ],
        }


class LiveCall:
    """A call of a session that is open.

    Attributes:
        seen: what is kept of it.
        probes: elements of datasets whose shapes have to be asked for.
        number: of the run among those that all ranks must make alike; None for any other.
    """

    __slots__ = ("_told", "is_plain", "number", "probes", "seen")

    def __init__(
        self, seen: SessionCall, probes: Tuple[Any, ...], number: Optional[int] = None
    ) -> None:
        self.seen = seen
        self.probes = probes
        self.number = number
        self.is_plain = not probes and number is None
        self._told: Optional[List[Any]] = None

    def ran(self, values: Sequence[Any]) -> None:
        """It is run once more.

        Args:
            values: what is fed, and what the probes gave.
        """
        seen = self.seen
        if seen.inputs:
            try:
                told: Optional[List[Any]] = list(map(_SHAPE, values))
            except AttributeError:
                told = None
            if told is None or told != self._told:
                seen.comes_in(tuple(map(shape_of, values)))
                self._told = told
        seen.times += 1


def shape_of(value: Any) -> Shape:
    """The shape of a value that is fed; None where it has none."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        try:
            return tuple(shape)
        except (TypeError, ValueError):
            return None
    sizes = []
    while isinstance(value, (list, tuple)):
        sizes.append(len(value))
        if not value:
            break
        value = value[0]
    inner = getattr(value, "shape", None)
    return (*sizes, *inner) if isinstance(inner, tuple) else tuple(sizes)


class Calls:
    """The calls of one session.

    Args:
        options: what it is configured with; None for one that is not for the NPU.
        is_mine: whether a file is the script, or a module beside it.
        doings: what this rank does; None for a job of one.
        is_strict: it has no soft placement.
    """

    def __init__(
        self,
        options: Optional[Mapping[str, Any]],
        is_mine: Callable[[str], bool],
        doings: Optional[Doings] = None,
        is_strict: bool = False,
    ) -> None:
        self._doings = doings
        self._is_strict = is_strict
        self.seen: List[SessionCall] = []
        self.unseen: Dict[str, Place] = {}
        self._options = None if options is None else Options(options)
        self._is_mine = is_mine
        self._known: Dict[Any, LiveCall] = {}
        self._growth = _Growth(self.place)

    def of(self, session: Any, found: Any, feeds: Tuple[Any, ...]) -> LiveCall:
        """The call of a run; looked at, if it is a new one.

        Args:
            session: the session.
            found: the meaning of its fetches.
            feeds: the keys of what is fed.
        """
        if self._options is not None:
            self._growth.look(session.graph, self._has_made)
        key = frozenset(map(_name, found.given)), tuple(map(_name, feeds))
        call = self._known.get(key)
        if call is None:
            with _without_collection():
                call = self._known[key] = self._look(session, found, feeds)
        return call

    def _has_made(self, purposes: Tuple[str, ...]) -> bool:
        return any(each.purpose in purposes and each.times for each in self.seen)

    @property
    def grown(self) -> Tuple[Diagnostic, ...]:
        """Lines that make operators again and again."""
        return () if self._options is None else tuple(self._growth.found)

    def _look(self, session: Any, found: Any, feeds: Tuple[Any, ...]) -> LiveCall:
        purpose = found.fact(purpose_of)
        seen = SessionCall(script_place(), purpose)
        self.seen.append(seen)
        if self._options is None or not found.operations:
            return LiveCall(seen, ())
        if len(self._known) >= _MOST_CALLS:
            text = "a session runs more than {} sets of fetches; the others were not checked"
            self.unseen.setdefault(phrase(text, _MOST_CALLS), seen.place)
            return LiveCall(seen, ())
        try:
            return self._looked_at(session, found, feeds, seen)
        except Exception as error:  # a fault of ours ends nobody's training
            text = "the graph of a run could not be checked ({}: {}); please report this"
            self.unseen.setdefault(phrase(text, type(error).__name__, error), seen.place)
            return LiveCall(seen, ())

    def _looked_at(
        self, session: Any, found: Any, feeds: Tuple[Any, ...], seen: SessionCall
    ) -> LiveCall:
        assert self._options is not None
        graph = session.graph
        fed = [each for key in feeds for each in _fed(graph, key)]
        part = of_graph(graph).of_run(found.operations, {tensor.op for tensor in fed})
        process = Process(
            self.place,
            _steps(graph),
            dict(os.environ),
            _cells(),
            any(name.endswith("npu_convert_dropout") for name in sys.modules),
            self._is_strict,
        )
        run = RunGraph(part, self._options, seen.purpose, process)
        seen.shown = (*_of_graph(run, seen.place), *of_the_run(run, seen.place))
        seen.flow = flow(run)
        seen.updates = _updates(run) if seen.purpose == TRAINS else frozenset()
        probes: Tuple[Any, ...] = ()
        if seen.purpose != OTHER:
            probes = tuple(_probes(run, {tensor.op for tensor in fed}))
            seen.fed = len(feeds)
            seen.inputs = (*map(_name, feeds), *(tensor.name for tensor in probes))
        number = None
        if self._doings is not None:
            line = "{}:{}".format(seen.place.path, seen.place.line)
            number = self._doings.look(session, run, line)
        return LiveCall(seen, probes, number)

    def place(self, calls: Iterable[Frame]) -> Place:
        """The line of the script that called last, or else of what is no framework."""
        other = None
        for frame in calls:
            if self._is_mine(frame.filename):
                return Place(frame.filename, frame.lineno)
            if other is None and not _is_framework(frame.filename):
                other = Place(frame.filename, frame.lineno)
        return other or Place()


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """What is made of a large graph stays; to look for garbage in it again and again is slow."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def _of_graph(run: RunGraph, call: Place) -> Iterator[Shown]:
    """What operations show: one finding for all of a line, as one line may make thousands."""
    by_line: Dict[Any, Tuple[Sight, List[str]]] = {}
    for sight in sights(run):
        key = sight.rule.id, run.place(sight.node), sight.is_hot, sight.severity
        by_line.setdefault(key, (sight, []))[1].extend(sight.same or (sight.node.name,))
    for sight, names in by_line.values():
        found = _placed(finding_of(run, sight).diagnostic, call)
        yield Shown(found, sight.is_hot, tuple(names))


def _placed(found: Diagnostic, call: Place) -> Diagnostic:
    """A finding with a line: of an operation that the script did not make, that of the run."""
    if found.path is not None:
        return found
    message = phrase(
        ("{}; no line of the script created this operator, but this line runs it"),
        found.message,
    )
    return replace(found, message=message, path=call.path, line=call.line)


class _Growth:
    """The operators that are made between the runs of a session."""

    def __init__(self, place: Callable[[Iterable[Frame]], Place]) -> None:
        self.found: Dict[Diagnostic, None] = {}
        self._place = place
        self._version: Optional[int] = None
        self._count = 0
        self._made: Dict[Any, int] = {}

    def look(self, graph: Any, has_made: Callable[[Tuple[str, ...]], bool]) -> None:
        """The graph before a run.

        Args:
            graph: of the session.
            has_made: whether the session has made a run of these purposes already.
        """
        if graph.version != self._version:
            try:
                self._look(graph, has_made)
            except Exception:  # a fault of ours ends nobody's training
                self._version = graph.version

    def _look(self, graph: Any, has_made: Callable[[Tuple[str, ...]], bool]) -> None:
        operations = graph.get_operations()
        if self._version is not None:
            made: Dict[Any, Tuple[LiveNode, Tuple[Frame, ...]]] = {}
            for operation in operations[self._count :][:_MOST_NEW]:
                node = LiveNode(operation)
                frames = tuple(node.calls())
                if not is_foreign(node):  # what a framework makes once is not made again
                    made.setdefault(
                        tuple((each.filename, each.lineno) for each in frames), (node, frames)
                    )
            for lines, (node, frames) in made.items():
                self._made[lines] = self._made.get(lines, 0) + 1
                purposes = (TRAINS,) if self._made[lines] < _AGAIN else (TRAINS, COMPUTES)
                if self._made[lines] > 1 and has_made(purposes):  # not by initialisation alone
                    self._tell(node, frames)
        self._version, self._count = graph.version, len(operations)

    def _tell(self, node: LiveNode, frames: Iterable[Frame]) -> None:
        message = phrase(
            "this line creates operators again between the runs ({} and others): TensorFlow "
            "creates a new executor, and the NPU compiles the graph again",
            node.op,
        )
        place = self._place(frames)
        if all(each.place != place for each in self.found):
            self.found[shapes.graph_grows_between_runs.diagnostic(message, place)] = None


_MOST_NEW = 500
_AGAIN = 3


def of_the_run(run: RunGraph, place: Place) -> Iterator[Shown]:
    """What is wrong with a run as such, at the line that runs it."""
    for found in _of_run(run, place):
        yield Shown(found, False, (found.message,))


def _of_run(run: RunGraph, place: Place) -> Iterator[Diagnostic]:
    both = initialises_both(run)
    if both is not None:
        yield pipeline.variables_and_iterator_in_one_run.diagnostic(
            phrase(
                'one session.run initialises both the variable of "{}" and the iterator '
                '"{}": the variables on the device remain 0',
                both[0].name,
                both[1].name,
            ),
            place,
        )
    if run.process.environ.get("INF_NAN_MODE_ENABLE") == "1":
        return
    checks: Dict[Any, LiveNode] = {}
    for node in run.overflow_checks:
        if isinstance(node, LiveNode):
            checks.setdefault(getattr(node.operation, OPTIMIZER_MARK, node.name), node)
    nodes = list(checks.values())
    if any(_is_apart(one, two) for one in nodes for two in nodes if one is not two):
        yield precision.optimizers_share_overflow_flag.diagnostic(
            phrase(
                "loss-scale optimizers that update in this run: {}; all of them read the "
                "single overflow flag of the device, so an overflow cannot be assigned to one "
                "optimizer",
                len(nodes),
            ),
            place,
        )


def _is_apart(one: LiveNode, other: LiveNode) -> bool:
    """True for the checks of two optimizers, or where neither comes before the other."""
    if all(hasattr(each.operation, OPTIMIZER_MARK) for each in (one, other)):
        return True  # the marks differ
    return not (_leads(one, other) or _leads(other, one))


def _leads(one: LiveNode, other: LiveNode) -> bool:
    before = reached(other.sources, lambda each: [*inputs(each), *each.control_inputs])
    return any(each is one.operation for each in before)


def _updates(run: RunGraph) -> FrozenSet[str]:
    nodes = [node for node in run.every() if operators.is_update(node)]
    applied = [node for node in nodes if "Apply" in node.op]
    return frozenset(node.name for node in applied or nodes)


def _probes(run: RunGraph, fed: Any) -> Iterable[Any]:
    """What datasets give in shapes that are not known, where fetching it is safe."""
    for node in run.of(*operators.GET_NEXT):
        if not isinstance(node, LiveNode) or node.operation in fed:
            continue
        operation = node.operation
        source = operation.inputs[0].op
        is_plain = operation._get_control_flow_context() is None and not operation.control_inputs
        if source.type not in _HANDLES or source.control_inputs or not is_plain:
            continue
        for slot, tensor in enumerate(operation.outputs):
            kinds = tensor.dtype.is_floating, tensor.dtype.is_integer, tensor.dtype.is_bool
            if is_dynamic(node.shape_of(slot)) and any(kinds):
                yield tensor


def _name(feed: Any) -> str:
    name = getattr(feed, "name", None)
    if name is None:
        return feed if isinstance(feed, str) else str(feed)
    return str(name)


def _fed(graph: Any, key: Any) -> Iterable[Any]:
    """The tensors of a key of what is fed."""
    if isinstance(key, str):
        try:
            key = graph.as_graph_element(key)
        except (KeyError, ValueError, TypeError):
            return ()
    parts = [getattr(key, each, None) for each in ("indices", "values", "dense_shape")]
    return [each for each in (key, *parts) if hasattr(each, "op") and hasattr(each, "value_index")]


def _steps(graph: Any) -> FrozenSet[str]:
    variables = graph.get_collection("global_step")
    found = {one.name for variable in variables for one in operations_of(variable)}
    return frozenset({"global_step", *found})


def _cells() -> Dict[int, str]:
    """The line where ``call`` of each recurrent cell begins."""
    found = {}
    for module in (sys.modules.get(name) for name in _CELL_MODULES):
        for name in _CELLS:
            code = getattr(getattr(getattr(module, name, None), "call", None), "__code__", None)
            if code is not None:
                found[code.co_firstlineno] = name
    return found


@functools.lru_cache(maxsize=None)
def _is_framework(path: str) -> bool:
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    parts = path.replace("\\", "/").split("/")
    return path.startswith((here, "<")) or any(
        part in ("tensorflow", "tensorflow_core", "tensorflow_estimator", "keras", "six.py")
        for part in parts
    )
