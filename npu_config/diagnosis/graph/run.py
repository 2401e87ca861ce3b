"""The graph of a run: what one ``session.run`` executes, as far as it is for the device.

Of a graph that was stored nobody knows the runs; all of it stands for one.  What only the input
pipeline needs is on the host and does not count, nor do the operations of stand-ins and
TensorFlow's housekeeping.
"""

import itertools
import re
from types import MappingProxyType
from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

import attr

from npu_config.core.diagnostics import NOWHERE, Place, Rule, Severity
from npu_config.core.lazy import cached_property
from npu_config.diagnosis.graph import operators
from npu_config.diagnosis.graph.findings import Change, Options
from npu_config.diagnosis.graph.model import Body, Frame, Graph, Node, Spot, Test, every

TRAINS, COMPUTES, OTHER = "trains", "computes", "other"
"""What a run is for, in the words of ``tf1.purpose``."""

_HOUSEKEEPING_NAME = re.compile(r"(^|/)(save(_\d+)?/|report_uninitialized_variables)")
_FINITE, _FINITE_TYPES = "overflow_status_reduce_all", frozenset(("All", "Greater"))
_COLLECTIVE = re.compile(r"Hcom[A-Z][\w.]*\Z")
_HOST_CALLS = frozenset(("PyFunc", "PyFuncStateless", "EagerPyFunc"))


class Sight(NamedTuple):
    """Something that was recognised in a graph.

    Attributes:
        rule: of the finding.
        node: the operation whose place counts.
        message: what is wrong.
        help: what to do; None: as the rule says.
        severity: None: that of the rule.
        option: the option it is about.
        nodes: the operations concerned; none: ``node`` alone.
        change: the same as values.
        case: as of ``Finding``.
        is_hot: it matters only when the run is made more than once.
        same: the operations of the line that show the same, ``node`` among them; none: it alone.
    """

    rule: Rule
    node: Node
    message: str
    help: Optional[str] = None
    severity: Optional[Severity] = None
    option: Optional[str] = None
    nodes: Tuple[str, ...] = ()
    change: Optional[Change] = None
    case: Optional[int] = None
    is_hot: bool = False
    same: Tuple[str, ...] = ()


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Process:
    """What is known of the process that has a graph; nothing, of a graph that was stored.

    Args:
        place: the line of the script among the calls that led to an operation.
        steps: the names of the global step.
        environ: its variables.
        cells: the line at which ``call`` of a recurrent cell begins, and the name of the cell.
        converts_dropout: the dropout of layers is that of the device.
        is_strict: its session has no soft placement.
    """

    place: Callable[[Iterable[Frame]], Place] = lambda calls: NOWHERE
    steps: FrozenSet[str] = frozenset(("global_step",))
    environ: Mapping[str, str] = MappingProxyType({})
    cells: Mapping[int, str] = MappingProxyType({})
    converts_dropout: bool = False
    is_strict: bool = False


class RunGraph:
    """What a run executes, with what is known around it.

    Args:
        graph: its nodes, in the order in which they were made, and the function library.
        options: what the session is configured with.
        purpose: ``"trains"``, ``"computes"`` or ``"other"``; None for a graph that was stored.
        process: whose graph it is.
    """

    def __init__(
        self,
        graph: Graph,
        options: Options,
        purpose: Optional[str] = None,
        process: Process = Process(),  # noqa: B008 - it is frozen
    ) -> None:
        self.graph = graph
        self.options = options
        self.purpose = purpose
        self.process = process
        self._holders: Dict[int, Tuple[Node, Body]] = {}
        self._by_type: Dict[str, List[Node]] = {}
        self._spot: Optional[Spot] = None
        self.held: Dict[int, Tuple[Optional[float], bool]] = {}  # what ``constants`` has read
        self.of_values: Dict[int, bool] = {}  # what ``shapes`` has followed
        for node in graph.main:
            self._by_type.setdefault(node.op, []).append(node)
        types = [
            each for each, nodes in self._by_type.items() if operators.is_input_pipeline(nodes[0])
        ]
        self.pipeline = [node for each in types for node in self._by_type[each]]
        if self.pipeline and purpose in (OTHER, None):
            on_host = _on_host(graph.main, self.pipeline)
            self._by_type = {
                each: [node for node in nodes if node.name not in on_host]
                for each, nodes in self._by_type.items()
            }
        for holder, _ in graph.callers(graph.main):
            if operators.is_on_device(holder):
                for body in graph.reachable(graph.main, operators.is_on_device, [holder]).values():
                    for node in body:
                        self._by_type.setdefault(node.op, []).append(node)
                        self._holders.setdefault(id(node), (holder, body))

    @property
    def is_stored(self) -> bool:
        """True when nothing is known of runs."""
        return self.purpose is None

    @property
    def trains(self) -> bool:
        """True for a run that trains; of a graph that was stored, where it holds training."""
        if self.is_stored:
            return any(
                operators.is_gradient(nodes[0]) for nodes in self._by_type.values() if nodes
            )
        return self.purpose == TRAINS

    @property
    def computes(self) -> bool:
        """True but for initialisation and saving."""
        return self.purpose != OTHER

    @property
    def overflow_checks(self) -> List[Node]:
        """Where loss-scale optimizers look whether a step overflows."""
        return [
            node
            for op, nodes in self._by_type.items()
            if nodes and (op in _FINITE_TYPES or operators.is_float_status(nodes[0]))
            for node in nodes
            if op not in _FINITE_TYPES or node.name.rpartition("/")[2].startswith(_FINITE)
        ]

    @property
    def datasets(self) -> List[Node]:
        """Its datasets."""
        return [node for node in self.pipeline if operators.is_dataset(node)]

    def any(self, *types: str) -> bool:
        """True when it has operations of these types, whoever made them."""
        return any(self._by_type.get(each) for each in types)

    def of(self, *types: str, where: Test = every) -> List[Node]:
        """Its operations of these types, in the order in which they were made.

        Args:
            types: the operation types.
            where: what else has to hold; asked first, as who made an operation is costly to know.
        """
        found = self.every(*types) if types else ()
        return [node for node in found if where(node) and not is_foreign(node)]

    def every(self, *types: str) -> Iterator[Node]:
        """All operations for the device, whoever made them; ``types``: of these types."""
        for each in types or self._by_type:
            yield from self._by_type.get(each, ())

    def calls(self, node: Node) -> Iterator[Frame]:
        """The calls that led to an operation, or to that whose function it is in, last first."""
        return self._maker(node).calls()

    def _maker(self, node: Node) -> Node:
        """The node whose calls are known: itself, or that whose function it is in."""
        held = self._holders.get(id(node))
        return node if held is None or next(node.calls(), None) else held[0]

    def made_in(self, node: Node, file: str, *functions: str) -> bool:
        """True when a function of a file of TensorFlow's led to an operation.

        Args:
            node: the operation.
            file: the end of its path.
            functions: their names; none: any of the file.
        """
        return any(
            frame.filename.endswith(file) and (not functions or frame.name in functions)
            for frame in self.calls(node)
        )

    def body_of(self, node: Node) -> Body:
        """The body that a node of :meth:`of` stands in."""
        held = self._holders.get(id(node))
        return self.graph.main if held is None else held[1]

    def place(self, node: Node) -> Place:
        """The line of the script that made an operation."""
        holder = self._maker(node)
        spot = self._spot
        if spot is not None and holder.is_made_at(spot):
            return spot.place  # as the last one: each call that is looked at costs
        caller = holder.origin.caller  # mostly the script, and then nothing else is asked for
        place = self.process.place(itertools.chain([caller] if caller else (), holder.calls()))
        self._spot = holder.spot(place)
        return place

    def by_line(
        self, nodes: Iterable[Node], where: Optional[Test] = None
    ) -> Iterator[Tuple[Node, Tuple[str, ...]]]:
        """The first node of each line of the script, with the names of all that the line made.

        Of a graph that was stored no lines are known: each node is alone.

        Args:
            nodes: what the script made, in this order.
            where: what has to hold for one of a line; the first for which it does is given.
        """
        lines: Dict[object, List[Node]] = {}
        for node in nodes:
            lines.setdefault(node.name if self.is_stored else self.place(node), []).append(node)
        for same in lines.values():
            first = next(filter(where or every, same), None)
            if first is not None:
                yield first, tuple([node.name for node in same])

    def twin(self, node: Node, iterator: Optional[Node]) -> Node:
        """What the script made for a node of a one-shot function: a dataset, or the iterator.

        A function that copies operations puts the scope that it is in before their names.
        """
        name = node.name
        while name:
            found = self.graph.whole.nodes.get(name)
            if found is not None and found.op == node.op:
                return found
            name = name.partition("/")[2]
        return iterator or node

    def feeds_training(self, node: Node) -> bool:
        """True where what an operation gives is trained with; of a run, where the run trains."""
        if not self.is_stored:
            return self.trains
        return node.name in self._trained_with

    @cached_property
    def _trained_with(self) -> Set[str]:
        nodes = self.graph.main.nodes
        found: Set[str] = set()
        pending = [each.name for each in nodes.values() if operators.is_gradient(each)]
        while pending:
            name = pending.pop()
            if name in nodes and name not in found:
                found.add(name)
                pending += [edge.source for edge in nodes[name].inputs]
        return found

    def read_by(self, getnext: Node) -> Iterator[Tuple[Body, Node]]:
        """The datasets that an operation may read, with the bodies they stand in."""
        iterator = self.source(getnext, 0)
        if iterator is None:
            return
        if iterator.op == "OneShotIterator":
            for name in iterator.functions():
                body = self.graph.functions[name]
                datasets = [node for node in body if operators.is_dataset(node)]
                yield from ((body, node) for node in datasets if not body.consumers(node.name))
            return
        whole = self.graph.whole
        for user in whole.consumers(iterator.name):
            if user.op == "MakeIterator":
                dataset = whole.nodes.get(user.inputs[0].source)
                if dataset is not None:
                    yield whole, dataset

    def source(self, node: Node, slot: int) -> Optional[Node]:
        """The operation that makes an input."""
        if slot >= len(node.inputs):
            return None
        return self.body_of(node).nodes.get(node.inputs[slot].source)

    def before(self, node: Node, *through: str) -> Iterator[Node]:
        """The ancestors of an operation by data, each once; ``through``: along these types only.

        Args:
            node: where to begin; it is the first one.
            through: types that are passed; none: all.
        """
        nodes = self.body_of(node).nodes
        seen = {node.name}
        pending = [node]
        while pending:
            each = pending.pop()
            yield each
            if each is node or not through or each.op in through:
                for edge in each.inputs:
                    if edge.source not in seen and edge.source in nodes:
                        seen.add(edge.source)
                        pending.append(nodes[edge.source])


def is_foreign(node: Node) -> bool:
    """True for an operation that nobody's script asked for: of a stand-in, or housekeeping."""
    is_housekeeping = _HOUSEKEEPING_NAME.search(node.name) or node.origin.is_housekeeping
    return is_collective(node) or bool(is_housekeeping) or node.is_own


def is_collective(node: Node) -> bool:
    """True for a collective of the vendor's, or of its stand-in, which is a Python function."""
    if node.op.startswith("Hcom"):
        return True
    name = node.name.rpartition("/")[2]
    return node.op in _HOST_CALLS and _COLLECTIVE.match(name) is not None


def _on_host(main: Body, pipeline: Iterable[Node]) -> FrozenSet[str]:
    """The nodes of the input pipeline, and what nothing else needs."""
    needed = {node.name for node in pipeline}
    pending = [edge.source for node in pipeline for edge in node.inputs]
    while pending:
        name = pending.pop()
        node = main.nodes.get(name)
        if node is None or name in needed:
            continue
        if all(user.name in needed for user in main.consumers(name)):
            needed.add(name)
            pending += [edge.source for edge in node.inputs]
    return frozenset(needed)
