"""What one rank of a job did: its graphs by line, the order of its runs, first values.

Kept only where there are other ranks to compare with; plain values that a report can hold.
"""

import zlib
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from npu_config.diagnosis.graph import operators
from npu_config.diagnosis.graph.live import LiveNode, of_graph
from npu_config.diagnosis.graph.model import Node
from npu_config.diagnosis.graph.run import TRAINS, RunGraph, is_collective
from npu_config.tf1.purpose import operations_of

Line = str
"""A file and a line, ``"train.py:10"``."""

_SWITCHES = frozenset(("Switch", "RefSwitch"))
_VARIABLES = ("VariableV2", "Variable", "VarHandleOp")
_BY_HAND = frozenset(("AssignSub", "AssignSubVariableOp"))
_MOST_RUNS = 5_000
_BROADCAST = "HcomBroadcast"


class Doings:
    """What a rank did that the others must do alike.

    Args:
        read: gives the values of tensors in a session, unseen.
    """

    def __init__(self, read: Callable[[Any, Sequence[Any]], Sequence[Any]]) -> None:
        self._read = read
        self._calls: List[Dict[str, Any]] = []
        self._order: List[List[int]] = []
        self._made: Dict[Line, int] = {}
        self._counts: Dict[int, int] = {}
        self._values: Optional[Dict[str, List[Any]]] = None
        self._has_broadcast = self._is_after_broadcast = False
        self.wrapped: Optional[Line] = None

    def look(self, session: Any, run: RunGraph, line: Line) -> Optional[int]:
        """The graph of a run that is made for the first time.

        Args:
            session: the session.
            run: its graph.
            line: the line that runs it.

        Returns:
            Its number, for :meth:`runs`; None for one that each rank may run as it likes.
        """
        collectives = [node for node in run.every() if is_collective(node)]
        if run.purpose != TRAINS and not collectives:
            return None
        self._look_at_graph(session.graph, run)
        prints: Dict[Line, int] = {}
        for node in run.graph.main:
            if isinstance(node, LiveNode):
                at = _line(run, node)
                prints[at] = (prints.get(at, 0) + _print(run, node)) & 0xFFFFFFFF
        alone = None
        if run.purpose == TRAINS:
            alone = _not_averaged(run, _trainable(session.graph))
            if self._values is None:
                self._values = self._first_values(session, run)
                self._is_after_broadcast = self._has_broadcast
        self._calls.append(
            {
                "line": line,
                "trains": run.purpose == TRAINS,
                "collective": bool(collectives),
                "broadcasts": any(_kind(node).startswith(_BROADCAST) for node in collectives),
                "summary": any("Summary" in node.op for node in run.every()),
                "prints": prints,
                "operations": len(run.graph.main.nodes),
                "alone": None if alone is None else _line(run, alone),
            }
        )
        return len(self._calls) - 1

    def runs(self, number: int) -> None:
        """A run is about to be made.

        Args:
            number: of the run, as :meth:`look` gave it.
        """
        self._has_broadcast = self._has_broadcast or self._calls[number]["broadcasts"]
        if self._order and self._order[-1][0] == number:
            self._order[-1][1] += 1
        elif len(self._order) < _MOST_RUNS:
            self._order.append([number, 1])

    def _look_at_graph(self, graph: Any, run: RunGraph) -> None:
        operations = graph.get_operations()
        known = of_graph(graph)
        for operation in operations[self._counts.get(id(graph), 0) :]:
            node = known.node_of(operation)
            at = _line(run, node)
            self._made[at] = (self._made.get(at, 0) + zlib.crc32(node.op.encode())) & 0xFFFFFFFF
        self._counts[id(graph)] = len(operations)

    def _first_values(self, session: Any, run: RunGraph) -> Dict[str, List[Any]]:
        """The values of the variables of a training run before it, as checksums."""
        trained = _trainable(session.graph)
        tensors: Dict[str, Tuple[Any, LiveNode]] = {}
        for node in run.graph.main:
            if node.op in _VARIABLES and isinstance(node, LiveNode):
                tensor = _value(node)
                if tensor is not None and (tensor.dtype.is_floating or tensor.dtype.is_integer):
                    tensors[node.name] = tensor, node
        try:
            values = self._read(session, [tensor for tensor, _ in tensors.values()])
        except Exception:  # not initialised: the run itself will say so
            return {}
        return {
            name: [
                zlib.crc32(value.tobytes()),
                name in trained,
                _line(run, node),
                bool(tensor.dtype.is_integer),
            ]
            for (name, (tensor, node)), value in zip(tensors.items(), values)
        }

    def to_dict(self) -> Dict[str, Any]:
        """What the report of a rank holds of it."""
        return {
            "calls": self._calls,
            "order": self._order,
            "made": self._made,
            "values": self._values or {},
            "after_broadcast": self._is_after_broadcast,
            "wrapped": self.wrapped,
        }


def _line(run: RunGraph, node: Node) -> Line:
    place = run.place(node)
    return "{}:{}".format(place.path, place.line)


def _print(run: RunGraph, node: LiveNode) -> int:
    """A number for what an operation is: its type, its outputs, and the types of its sources.

    Contents and sizes of constants may differ by rank, as names, seeds and devices may.
    """
    outputs = [] if node.op == "Const" else [node.shape_of(n) for n in range(_count(node))]
    sources = sorted(each.type for each in node.sources)
    text = repr((node.op, list(node.types()), outputs, sources))
    return zlib.crc32(text.encode())


def _count(node: LiveNode) -> int:
    return len(node.operation.outputs)


def _kind(node: Node) -> str:
    return node.op if node.op.startswith("Hcom") else node.name.rpartition("/")[2]


def _trainable(graph: Any) -> Set[str]:
    variables = graph.get_collection("trainable_variables")
    return {one.name for variable in variables for one in operations_of(variable)}


def _value(node: LiveNode) -> Any:
    """A tensor with the value of a variable that is there already; None for none."""
    if node.op != "VarHandleOp":
        return node.operation.outputs[0]
    for user in node.operation.outputs[0].consumers():
        is_plain = not user.control_inputs and user._get_control_flow_context() is None
        if user.type == "ReadVariableOp" and is_plain:
            return user.outputs[0]
    return None


def _not_averaged(run: RunGraph, trained: Set[str]) -> Optional[Node]:
    """The first update of weights by gradients that no collective has touched."""
    barren: Set[str] = set()
    updates = [node for node in run.every() if operators.is_update(node)]
    applied = [node for node in updates if "Apply" in node.op] or [
        node
        for node in updates
        if node.op in _BY_HAND and node.inputs and node.inputs[0].source in trained
    ]
    return next((each for each in applied if not _is_averaged(run, each, barren)), None)


def _is_averaged(run: RunGraph, node: Node, barren: Set[str]) -> bool:
    nodes = run.body_of(node).nodes
    seen: Set[str] = set()
    pending = [node]
    while pending:
        each = pending.pop(0)
        if is_collective(each):
            return True
        edges = each.inputs[:1] if each.op in _SWITCHES else each.inputs
        for edge in edges:
            if edge.source not in seen and edge.source not in barren and edge.source in nodes:
                seen.add(edge.source)
                pending.append(nodes[edge.source])
    barren |= seen
    return False
