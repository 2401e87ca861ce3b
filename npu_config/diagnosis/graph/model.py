"""A graph as the checks see it: nodes, edges, attributes, functions.

It stands on NodeDef messages of any origin, TensorFlow's or the stub's, and reads their
attributes only when they are asked for; ``live`` has nodes that stand on the operations of a
process.
"""

from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

from npu_config.core.diagnostics import Place
from npu_config.core.lazy import cached_property
from npu_config.core.names import OWN_OPERATOR

#: The sizes of a tensor; -1 where one is not known, None when not even the rank is.
Shape = Optional[Tuple[int, ...]]


class Frame(NamedTuple):
    """A call on the way to an operation, in the names of TensorFlow's own frames."""

    filename: str
    lineno: int
    name: str
    func_start_lineno: int = 0


class Origin(NamedTuple):
    """Who made an operation.

    Attributes:
        is_housekeeping: TensorFlow did, for itself: to save, to ask what is initialised.
        is_read: TensorFlow did, for a graph that it has read.
        caller: the last call outside of TensorFlow.
    """

    is_housekeeping: bool = False
    is_read: bool = False
    caller: Optional[Frame] = None


_UNKNOWN = Origin()


class Spot(NamedTuple):
    """A line among the calls that led to an operation; others of this line look the same.

    Attributes:
        depth: how many calls led to it.
        at: which of these the line is.
        place: the line.
        inner: the line of the next call.
    """

    depth: int
    at: int
    place: Place
    inner: int


class Edge(NamedTuple):
    """A data input: the node (or, in a function, the argument) and its output.

    ``slot`` is None in functions, where outputs have names.
    """

    source: str
    slot: Optional[int]


class Node:
    """One operation.

    Attributes:
        name: unique in its body.
        op: the operation type.
        inputs: the data inputs, in order.
        controls: the names of its control inputs.
    """

    __slots__ = ("_definition", "controls", "inputs", "name", "op")

    def __init__(self, definition: Any, in_function: bool) -> None:
        self._definition = definition
        self.name: str = definition.name
        self.op: str = definition.op
        inputs: List[Edge] = []
        controls: List[str] = []
        for text in definition.input:
            if text[:1] == "^":
                controls.append(text[1:])
                continue
            source, _, slot = text.partition(":")
            inputs.append(
                Edge(source, None if in_function else int(slot) if slot.isdecimal() else 0)
            )
        self.inputs = tuple(inputs)
        self.controls = tuple(controls)

    def _attr(self, name: str) -> Any:
        return self._definition.attr.get(name)

    @property
    def is_own(self) -> bool:
        """True for an operation of a stand-in, which the vendor's package does not make."""
        return self.number(OWN_OPERATOR) == 1

    @property
    def device(self) -> str:
        """Where it was placed by hand; empty for nowhere."""
        return str(self._definition.device)

    def calls(self) -> Iterator[Frame]:
        """The calls that led to it, the last one first; none in a graph that was stored."""
        return iter(())

    def spot(self, place: Place) -> Optional[Spot]:
        """Where among the calls a line is; None where that is not known."""
        return None

    def is_made_at(self, spot: Spot) -> bool:
        """True for an operation of the same line."""
        return False

    @property
    def origin(self) -> Origin:
        """Who made it, as far as that is known."""
        return _UNKNOWN

    def tensor(self, name: str) -> Any:
        """A TensorProto; None when it is not set."""
        value = self._attr(name)
        return value.tensor if value is not None and value.HasField("tensor") else None

    def types(self) -> Iterable[int]:
        """The data types that it computes with, as far as its attributes tell."""
        for value in self._definition.attr.values():
            field = value.WhichOneof("value")
            if field == "type":
                yield value.type
            elif field == "list":
                yield from value.list.type

    def shape_of(self, slot: int) -> Shape:
        """The shape of an output as it is known; None when not even the rank is."""
        shapes = self.output_shapes()
        return shapes[slot] if shapes and slot < len(shapes) else None

    def text(self, name: str) -> str:
        """A text attribute; empty when it is not set."""
        value = self._attr(name)
        return "" if value is None else bytes(value.s).decode("utf-8", "replace")

    def number(self, name: str) -> Optional[int]:
        """An integer, data type or bool attribute; None when it is not set."""
        value = self._attr(name)
        field = None if value is None else value.WhichOneof("value")
        return getattr(value, field) if field in ("i", "type", "b") else None

    def numbers(self, name: str) -> Tuple[int, ...]:
        """A list of integers or data types; empty when it is not set."""
        value = self._attr(name)
        return () if value is None else tuple(value.list.type) or tuple(value.list.i)

    def shape(self, name: str) -> Optional[Tuple[Shape]]:
        """A shape attribute, in a tuple to tell an unknown rank from an absent attribute."""
        value = self._attr(name)
        if value is None or value.WhichOneof("value") != "shape":
            return None
        return (_shape(value.shape),)

    def shapes(self, name: str) -> Optional[Tuple[Shape, ...]]:
        """A list of shapes; None when it is not set."""
        value = self._attr(name)
        if value is None or value.WhichOneof("value") != "list":
            return None
        return tuple(_shape(shape) for shape in value.list.shape)

    def output_shapes(self) -> Optional[Tuple[Shape, ...]]:
        """What shape inference found; None when the graph was written without it."""
        return self.shapes("_output_shapes")

    def functions(self) -> Iterator[str]:
        """The names of the functions that its attributes refer to."""
        for value in self._definition.attr.values():
            field = value.WhichOneof("value")
            if field == "func":
                yield value.func.name
            elif field == "list":
                for function in value.list.func:
                    yield function.name

    def __repr__(self) -> str:
        return "<{} {}>".format(self.op, self.name)


def _shape(proto: Any) -> Shape:
    return None if proto.unknown_rank else tuple(dim.size for dim in proto.dim)


def is_dynamic(shape: Shape) -> bool:
    """True when a size or the rank is not known."""
    return shape is None or any(size < 0 for size in shape)


#: A question about a node.
Test = Callable[[Node], bool]


class Body:
    """The nodes of the main graph or of one function.

    Attributes:
        name: the function; "" for the main graph.
        nodes: by name.
        arguments: the names of the function's arguments, in order.
    """

    def __init__(self, name: str, nodes: Iterable[Node], arguments: Iterable[str] = ()) -> None:
        self.name = name
        self.arguments: Dict[str, int] = {name: index for index, name in enumerate(arguments)}
        self.nodes: Mapping[str, Node] = {node.name: node for node in nodes}

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    @cached_property
    def _consumers(self) -> Dict[str, List[Node]]:
        found: Dict[str, List[Node]] = {}
        for node in self:
            for source in {edge.source for edge in node.inputs}.union(node.controls):
                found.setdefault(source, []).append(node)
        return found

    def consumers(self, name: str) -> List[Node]:
        """The nodes that a node feeds or controls."""
        return self._consumers.get(name, [])

    def descendants(self, roots: Iterable[Node], barriers: Test) -> Set[str]:
        """The nodes that come after ``roots``, these included.

        Nodes that ``barriers`` holds for are neither entered nor passed.
        """
        found: Set[str] = set()
        pending = [node for node in roots if not barriers(node)]
        while pending:
            node = pending.pop()
            if node.name in found:
                continue
            found.add(node.name)
            pending.extend(
                each
                for each in self.consumers(node.name)
                if each.name not in found and not barriers(each)
            )
        return found


class CallSite(NamedTuple):
    """A node that calls a function, and the body in which it stands."""

    body: Body
    node: Node


def function_body(
    definition: Any, node: Callable[[Any], Node] = lambda each: Node(each, True)
) -> Body:
    """The body of a FunctionDef.

    Args:
        definition: the FunctionDef.
        node: makes a node of a NodeDef.
    """
    signature = definition.signature
    arguments = [argument.name for argument in signature.input_arg]
    return Body(signature.name, map(node, definition.node_def), arguments)


class Graph:
    """A graph with its functions.

    Attributes:
        main: the nodes outside functions; of a run, those that it executes.
        functions: the function library.
        whole: all nodes outside functions.
    """

    def __init__(
        self, main: Body, functions: Mapping[str, Body], whole: Optional[Body] = None
    ) -> None:
        self.main = main
        self.functions = functions
        self.whole = main if whole is None else whole
        self._callees: Dict[str, List[Tuple[Node, List[Body]]]] = {}

    @classmethod
    def of(cls, graph_def: Any) -> "Graph":
        """The graph of a GraphDef."""
        bodies = [function_body(each) for each in graph_def.library.function]
        main = Body("", (Node(each, False) for each in graph_def.node))
        return cls(main, {body.name: body for body in bodies})

    def callers(self, body: Body) -> List[Tuple[Node, List[Body]]]:
        """The nodes of a body that call functions, by an attribute or by their type."""
        if not self.functions:
            return []
        if body.name not in self._callees:
            found = []
            for node in body:
                names = [*node.functions(), node.op]
                called = [self.functions[name] for name in names if name in self.functions]
                if called:
                    found.append((node, called))
            self._callees[body.name] = found
        return self._callees[body.name]

    def reachable(
        self, body: Body, passes: Test, only: Optional[Iterable[Node]] = None
    ) -> Dict[str, Body]:
        """The functions that a body calls, directly or through other functions.

        Args:
            body: where the calls begin.
            passes: the nodes whose calls count.
            only: the nodes of ``body`` to begin with; None: all.
        """
        first = None if only is None else {node.name for node in only}
        pending = [
            callee
            for node, called in self.callers(body)
            if passes(node) and (first is None or node.name in first)
            for callee in called
        ]
        found: Dict[str, Body] = {}
        while pending:
            function = pending.pop()
            if function.name not in found:
                found[function.name] = function
                for node, called in self.callers(function):
                    if passes(node):
                        pending.extend(called)
        return found

    @cached_property
    def _calls(self) -> Dict[str, List[CallSite]]:
        found: Dict[str, List[CallSite]] = {}
        for body in [self.main, *self.functions.values()]:
            for node, called in self.callers(body):
                for callee in called:
                    found.setdefault(callee.name, []).append(CallSite(body, node))
        return found

    def calls(self, function: str) -> List[CallSite]:
        """Where a function is called."""
        return self._calls.get(function, [])


def every(_: Node) -> bool:
    """A test that holds for every node."""
    return True


def never(_: Node) -> bool:
    """A test that holds for no node."""
    return False
