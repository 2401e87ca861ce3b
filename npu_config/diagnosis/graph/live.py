"""The graph that a process has built: nodes that stand on TensorFlow's operations.

Nothing is exported and nothing is imported: an operation is asked for its type, its inputs and
where it was made, and for attributes only where a check wants them.  What was asked once is kept
with the graph, so that a graph of many runs is walked once.
"""

import functools
import os
import re
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

from npu_config.core.diagnostics import Place
from npu_config.core.lazy import cached_property
from npu_config.core.names import OWN_SPANS
from npu_config.diagnosis.graph.model import (
    Body,
    Edge,
    Frame,
    Graph,
    Node,
    Origin,
    Shape,
    Spot,
    function_body,
)

_BUILDERS, _BUILDING = ("_apply_op_helper", "_ProcessNewOps"), 5
"""What operations are made by, of Python and of graphs that are read: the fifth call from last."""
_REWRITTEN = "_rewritten"
"""Ends the name of a loop or branch that gradients made anew, of its definition."""
_KEPT = "_npu_config_live_graph"
_REFERENCE = 100  # the data type of a reference is that of its value and this
_HOUSEKEEPING_FILES = (
    *("saver.py", "monitored_session.py", "session_manager.py"),
    "training_util.py",  # hooks ask for the global step by a condition
)
_HOUSEKEEPING_FUNCTION = "report_uninitialized_variables"
_IMPORTER = "importer.py"  # what a Saver imports for a script is the script's own graph
_OF_TENSORFLOW = re.compile(
    r"[/\\]tensorflow(_core)?[/\\](python|contrib|_api)[/\\]|[/\\]tensorflow_estimator[/\\]"
)
_CALLS = frozenset(
    ("Case", "For", "If", "MapDefun", "OneShotIterator", "PartitionedCall", "RemoteCall",
     "StatefulPartitionedCall", "StatelessCase", "StatelessIf", "StatelessWhile",
     "SymbolicGradient", "While")
)  # fmt: skip


class Made(Node):
    """A node that a process has made: the calls that led to it are known.

    Attributes:
        operation: TensorFlow's; None where it is not there.
    """

    operation: Any

    def _stack(self) -> Any:
        """The calls that led to it, first to last; of a gradient, those of its operation."""
        operation = self.operation
        if operation is None:
            return ()
        if self.op.endswith("Grad"):
            operation = getattr(operation, "_original_op", None) or operation
        stack = getattr(operation, "_traceback", None)
        return operation.traceback if not hasattr(stack, "__getitem__") else stack

    def spot(self, place: Place) -> Optional[Spot]:
        """Where among the calls the line is that made it.

        Args:
            place: that line.
        """
        stack = self._stack()
        for at in range(len(stack) - 2, -1, -1):
            frame, inner = stack[at], stack[at + 1]
            if not hasattr(frame, "filename"):
                return None
            if frame.lineno == place.line and frame.filename == place.path:
                return Spot(len(stack), at, place, inner.lineno)
        return None

    def is_made_at(self, spot: Spot) -> bool:
        """True for the line of another operation that called the same; two calls are looked at."""
        stack = self._stack()
        if len(stack) != spot.depth:
            return False
        frame = stack[spot.at]
        return bool(
            frame.lineno == spot.place.line
            and frame.filename == spot.place.path
            and stack[spot.at + 1].lineno == spot.inner
        )

    def calls(self) -> Iterator[Frame]:
        """The calls that led to it, the last one first; to what it is the gradient of, for one."""
        stack = self._stack()
        count = len(stack)
        if count > _BUILDING and getattr(stack[count - _BUILDING], "name", "") in _BUILDERS:
            count -= _BUILDING - 1
        for place in range(count - 1, -1, -1):
            frame = stack[place]  # TensorFlow makes an object each time
            yield frame if hasattr(frame, "filename") else Frame(*frame[:3])

    @cached_property
    def origin(self) -> Origin:
        """Who made it; the calls are followed once, as each frame costs."""
        is_housekeeping = is_read = False
        for frame in self.calls():
            name, file = frame.filename, _file_of_tensorflow(frame.filename)
            if not file:
                caller = Frame(sys.intern(name), frame.lineno, frame.name)
                return Origin(is_housekeeping, is_read, caller)
            is_read = is_read or file == _IMPORTER
            is_housekeeping = is_housekeeping or (
                not is_read
                and (file in _HOUSEKEEPING_FILES or frame.name == _HOUSEKEEPING_FUNCTION)
            )
        return Origin(is_housekeeping, is_read)


class LiveNode(Made):
    """An operation of a ``tf.Graph``.

    Attributes:
        operation: TensorFlow's.
        sources: the operations that make its inputs, data and control.
    """

    def __init__(self, operation: Any) -> None:
        self.operation = operation
        self.name = operation.name
        self.op = operation.type
        self.sources: List[Any] = [tensor.op for tensor in operation.inputs]
        self.sources += operation.control_inputs

    @property
    def index(self) -> int:
        """How many operations of its graph were made before, or more."""
        return int(getattr(self.operation, "_id", 0))

    @cached_property
    def inputs(self) -> Tuple[Edge, ...]:
        """The data inputs, in order."""
        return tuple(Edge(each.op.name, each.value_index) for each in self.operation.inputs)

    @cached_property
    def controls(self) -> Tuple[str, ...]:
        """The names of its control inputs."""
        return tuple(each.name for each in self.operation.control_inputs)

    def _attr(self, name: str) -> Any:
        return self.operation.node_def.attr.get(name)

    @property
    def device(self) -> str:
        """Where it was placed by hand; empty for nowhere."""
        return str(self.operation.device)

    @property
    def is_own(self) -> bool:
        """True for an operation of a stand-in; attributes, which are slow, are read if need be."""
        number, spans = self.index, getattr(self.operation.graph, OWN_SPANS, ())
        may_be = not number or any(first < number <= last for first, last in spans)
        return (may_be or self.origin.is_read) and super().is_own

    @cached_property
    def _types(self) -> Tuple[int, ...]:
        outputs = self.operation.outputs
        return tuple([each.dtype.as_datatype_enum % _REFERENCE for each in outputs])

    def types(self) -> Tuple[int, ...]:
        """The data types of its outputs."""
        return self._types

    def shape_of(self, slot: int) -> Shape:
        """The shape of an output as it is known; None when not even the rank is."""
        outputs = self.operation.outputs
        return _shape(outputs[slot].shape) if slot < len(outputs) else None

    def output_shapes(self) -> Optional[Tuple[Shape, ...]]:
        """The shapes of all outputs."""
        return tuple(_shape(tensor.shape) for tensor in self.operation.outputs)

    def functions(self) -> Iterator[str]:
        """The names of the functions that its attributes refer to."""
        if "Dataset" not in self.op and self.op not in _CALLS:
            return
        for value in self.operation.node_def.attr.values():
            if value.HasField("func"):
                yield value.func.name
            elif value.HasField("list"):
                yield from (function.name for function in value.list.func)


@functools.lru_cache(maxsize=None)
def _file_of_tensorflow(path: str) -> str:
    """The name of a file of TensorFlow's; empty for any other."""
    return os.path.basename(path) if _OF_TENSORFLOW.search(path) else ""


def _shape(shape: Any) -> Shape:
    if shape.ndims is None:
        return None
    return tuple(-1 if size is None else int(size) for size in shape.as_list())


class _FunctionNode(Made):
    """An operation of a function that the process has made."""

    def __init__(self, definition: Any, operation: Any) -> None:
        super().__init__(definition, True)
        self.operation = operation


class _Functions(Mapping[str, Body]):
    """The function library of a ``tf.Graph``; a body is read when it is asked for."""

    def __init__(self, functions: Mapping[str, Any]) -> None:
        self._functions = functions
        self._bodies: Dict[str, Body] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def __getitem__(self, name: str) -> Body:
        if name not in self._bodies:
            function = self._functions[name]
            definition = getattr(function, "cached_definition", None) or function.definition
            operations: Dict[str, Any] = {}
            for each in (name, name.partition(_REWRITTEN)[0]):  # the script made the second one
                graph = getattr(self._functions.get(each), "graph", None)
                operations.update(getattr(graph, "_nodes_by_name", ()))

            def node(each: Any) -> Node:
                own = each.name, each.name.rpartition("_")[0]  # an output may have its name
                made = [operations[name] for name in own if name in operations]
                return _FunctionNode(
                    each, next((one for one in made if one.type == each.op), None)
                )

            self._bodies[name] = function_body(definition, node)
        return self._bodies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._functions))

    def __len__(self) -> int:
        return len(self._functions)


class _Operations(Mapping[str, Node]):
    """The operations of a ``tf.Graph`` by name; each is looked at when it is asked for."""

    def __init__(self, graph: Any, node_of: Callable[[Any], LiveNode]) -> None:
        self._graph = graph
        self._node_of = node_of

    def __getitem__(self, name: str) -> Node:
        return self._node_of(self._graph.get_operation_by_name(name))

    def __iter__(self) -> Iterator[str]:
        return (each.name for each in self._graph.get_operations())

    def __len__(self) -> int:
        return len(self._graph.get_operations())


class _Whole(Body):
    """All of a ``tf.Graph`` outside of functions; nothing is walked before it is asked for."""

    def __init__(self, graph: Any, node_of: Callable[[Any], LiveNode]) -> None:
        super().__init__("", ())
        self.nodes = _Operations(graph, node_of)
        self._node_of = node_of

    def consumers(self, name: str) -> List[Node]:
        """The nodes that a node feeds."""
        operation = self.nodes[name].operation  # type: ignore[attr-defined]
        users = (user for tensor in operation.outputs for user in tensor.consumers())
        return [self._node_of(user) for user in users]


class LiveGraph:
    """What was asked of the operations of one ``tf.Graph``; keep it with :func:`of_graph`."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._nodes: Dict[Any, LiveNode] = {}
        operations = graph.get_operations()[:1]
        has_numbers = all(hasattr(each, "_id") for each in operations)
        self._places: Optional[Dict[Any, int]] = None if has_numbers else {}
        self.functions = _Functions(getattr(graph, "_functions", {}))
        self.whole = _Whole(graph, self.node_of)

    def _place_of(self, node: LiveNode) -> int:
        """When an operation was made, compared with others."""
        if self._places is None:  # TensorFlow 2 numbers operations no more
            return node.index
        if node.operation not in self._places:
            operations = self._graph.get_operations()
            self._places = {each: place for place, each in enumerate(operations)}
        return self._places[node.operation]

    def node_of(self, operation: Any) -> LiveNode:
        """An operation as a node."""
        node = self._nodes.get(operation)
        if node is None:
            node = self._nodes[operation] = LiveNode(operation)
        return node

    def before(self, operations: Iterable[Any], fed: Iterable[Any] = ()) -> List[LiveNode]:
        """The operations that a run of these needs, themselves included, each once.

        Args:
            operations: where to begin.
            fed: those whose outputs are fed; what is before them is not run.
        """
        known, cut = self._nodes, frozenset(fed)
        found: Dict[Any, LiveNode] = {}
        pending = list(operations)
        while pending:
            operation = pending.pop()
            if operation in found:
                continue
            node = known.get(operation) or self.node_of(operation)
            found[operation] = node
            if operation not in cut:
                pending += node.sources
        return list(found.values())

    def of_run(self, operations: Iterable[Any], fed: Iterable[Any] = ()) -> Graph:
        """The part of the graph that a run executes.

        Args:
            operations: those that are fetched, or make what is fetched.
            fed: those whose outputs are fed; what is before them is not run.
        """
        nodes = sorted(self.before(operations, fed), key=self._place_of)
        return Graph(Body("", nodes), self.functions, self.whole)


def of_graph(graph: Any) -> LiveGraph:
    """What is known of a ``tf.Graph``; kept with it, and gone with it."""
    known = getattr(graph, _KEPT, None)
    if known is None:
        known = LiveGraph(graph)
        setattr(graph, _KEPT, known)
    return known
