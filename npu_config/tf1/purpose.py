"""What fetches mean in a session, and what a run is for: it trains, computes, or does neither.

Training is told by the operations that a run needs: an operation of an optimizer, or an
assignment to a trainable variable of a value that is made from this variable, as optimizers do
that are written in Python.  A value that is only handed on is not made: a broadcast of the weights
is initialisation.  What was found out is remembered: training runs the same fetches again.
"""

from __future__ import annotations

import functools
import re
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Sequence,
    Set,
    Tuple,
)

from npu_config.tf1.tensorflow import internal, tf

if TYPE_CHECKING:
    from npu_config.diagnosis.graph.live import LiveNode

Follow = Callable[[Any], Iterable[Any]]


def reached(operations: Iterable[Any], follow: Follow) -> Iterator[Any]:
    """These operations and all that ``follow`` leads to from them, each once."""
    found: Set[Any] = set()
    waiting = list(operations)
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            yield each
            waiting += follow(each)


def needed(operations: Iterable[Any]) -> Iterator[Any]:
    """The operations that a run of these needs, themselves included."""
    return (node.operation for node in _needed_nodes(operations))


def _needed_nodes(operations: Iterable[Any]) -> Iterable[LiveNode]:
    """The same as nodes, which remember what asking TensorFlow is slow for."""
    from npu_config.diagnosis.graph.live import of_graph

    waiting = list(operations)
    return of_graph(waiting[0].graph).before(waiting) if waiting else ()


def inputs(operation: Any) -> Iterable[Any]:
    """The operations that make the inputs of one."""
    return [tensor.op for tensor in operation.inputs]


_ON_HOST = re.compile(r"PyFunc|EagerPyFunc|Queue|Reader|LookupTable")
_MEMORY = "_npu_config_fetches"
_MOST = 256


class Fetched(NamedTuple):
    """The meaning of fetches.

    Attributes:
        given: operations, tensors and names as they were given; kept, so that their ids stay.
        operations: the operations that are fetched, or make what is fetched.
        inside: what a round of a loop before the last one runs: what the host makes (text,
            summaries, Python functions, elements of queues) is made once.
        facts: what was found out about the operations, with the version of the graph.
    """

    given: List[Any]
    operations: List[Any]
    inside: List[Any]
    facts: Dict[Any, Tuple[int, Any]]

    def fact(self, find_out: Callable[[List[Any]], Any]) -> Any:
        """What a function says of the operations; asked again when the graph has grown."""
        if not self.operations:
            return find_out(self.operations)
        version = self.operations[0].graph.version
        known = self.facts.get(find_out)
        if known is None or known[0] != version:
            known = self.facts[find_out] = version, find_out(self.operations)
        return known[1]


def fetched(session: Any, fetches: Any) -> Fetched:
    """The meaning of fetches in a real session; of nothing where TensorFlow refuses them."""
    memory = vars(session).setdefault(_MEMORY, {})
    given: List[Any] = []
    if not _add_leaves(fetches, given):  # of a kind that may change its meaning
        return _look_up(session, fetches, given, memory)
    key = tuple([each if type(each) is str else id(each) for each in given])
    known = memory.get(key)
    if known is None:
        known = _look_up(session, fetches, given, memory)
        if len(memory) > _MOST:
            memory.clear()
        if known.operations:  # what is refused now may be in the graph later
            memory[key] = known
    return known  # type: ignore[no-any-return]


def _look_up(session: Any, fetches: Any, given: List[Any], memory: Dict[Any, Any]) -> Fetched:
    try:
        handler = internal("client.session")._FetchHandler(session.graph, fetches, {})
    except (TypeError, ValueError, KeyError):
        return Fetched(given, [], [], {})
    targets, tensors = handler.targets(), handler.fetches()
    inside = [
        tensor
        for tensor in tensors
        if tensor.dtype.base_dtype != tf.string and not _ON_HOST.match(tensor.op.type)
    ]
    operations = [*targets, *(tensor.op for tensor in tensors)]
    facts = memory.setdefault(frozenset(operations), {})
    return Fetched(given, operations, [*targets, *inside], facts)


def _add_leaves(fetches: Any, leaves: List[Any]) -> bool:
    """Collect what fetches are made of; False where one is of a kind that is not known."""
    kind = type(fetches)
    if kind in (list, tuple, dict):
        parts = fetches.values() if kind is dict else fetches
        known = [_add_leaves(each, leaves) for each in parts]  # all are collected
        return all(known)
    leaves.append(fetches)
    return is_lasting(fetches)


def is_lasting(fetch: Any) -> bool:
    """True for what always means the same, as long as the graph is the same."""
    nodes, variables = _nodes()
    return type(fetch) is str or isinstance(fetch, nodes) or type(fetch) in variables


@functools.lru_cache(maxsize=None)
def _nodes() -> Tuple[Tuple[type, ...], Tuple[type, ...]]:
    """The classes of nodes, and those of variables that are nothing more."""
    variables = internal("ops.variables"), internal("ops.resource_variable_ops")
    names = "RefVariable", "ResourceVariable"
    plain = (getattr(module, name, None) for module, name in zip(variables, names))
    return (tf.Operation, tf.Tensor), tuple(each for each in plain if each is not None)


TRAINS, COMPUTES, OTHER = "trains", "computes", "other"

_OPTIMIZERS = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_ASSIGN = frozenset(("Assign", "AssignVariableOp"))
_CHANGE = frozenset(
    (
        *("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp"),
        *("ScatterAdd", "ScatterSub", "ScatterUpdate"),
        *("ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate"),
    )
)
_PASSES = frozenset(("Switch", "RefSwitch", "Enter", "RefEnter", "Identity", "RefIdentity"))
_INITIALISES = frozenset(
    (
        *("Assign", "AssignVariableOp", "RestoreV2", "MakeIterator", "VarIsInitializedOp"),
        *("ReportUninitializedVariables", "IsVariableInitialized", "InitializeTableV2"),
        *("InitializeTableFromTextFileV2", "LookupTableImportV2", "SaveV2", "SaveSlices"),
        *("QueueEnqueueV2", "QueueEnqueueManyV2", "QueueCloseV2", "QueueSizeV2"),
    )
)
_CALLS = frozenset(
    (
        *("If", "StatelessIf", "While", "StatelessWhile", "Case", "RemoteCall"),
        *("PartitionedCall", "StatefulPartitionedCall"),
    )
)
_READS = frozenset(
    ("VarHandleOp", "VariableV2", "ReadVariableOp", "Identity", "Const", "NoOp", "Placeholder")
)
_COPIES = _READS | {"Cast", "IdentityN"}
_BROADCAST = "HcomBroadcast"


def purpose(operations: Sequence[Any]) -> str:
    """``TRAINS``, ``COMPUTES``, or ``OTHER``: initialisation, saving, feeding a queue, reading.

    Args:
        operations: what is fetched, as operations of a graph.
    """
    whole = _needed_nodes(operations)
    types = frozenset([node.op for node in whole])
    inside = _types_in_functions(whole, types)
    if any(each.startswith(_OPTIMIZERS) for each in types | inside):
        return TRAINS
    changes = types & (_CHANGE | _ASSIGN)
    if changes and _changes_weights([node.operation for node in whole if node.op in changes]):
        return TRAINS
    if types & _INITIALISES or types <= _READS:
        return OTHER
    return COMPUTES


def _changes_weights(assignments: Sequence[Any]) -> bool:
    weights = _weights(assignments[0].graph)
    for operation in assignments:
        changes = operation.type in _CHANGE
        variable = _variable(operation.inputs[0].op)
        value = operation.inputs[1].op
        if variable in weights and (
            changes or (variable in needed([value]) and not _hands_on(value))
        ):
            return True
    return False


def _hands_on(value: Any) -> bool:
    """Whether a value is that of variables as they are, here or on another rank."""
    return all(
        each.type in _COPIES or each.name.rpartition("/")[2].startswith(_BROADCAST)
        for each in reached([value], inputs)
    )


def _variable(operation: Any) -> Any:
    """The operation of the variable that control flow passes on."""
    while operation.type in _PASSES:
        operation = operation.inputs[0].op
    return operation


def _weights(graph: Any) -> Set[Any]:
    """The operations of the trainable variables."""
    variables = graph.get_collection("trainable_variables")
    return {each for variable in variables for each in operations_of(variable)}


def operations_of(variable: Any) -> List[Any]:
    """The operations of a variable, one for each part or replica.

    Replicas are taken from the object itself: what a distributed variable answers depends on
    where it is asked, and the question alone adds an operation to the graph.
    """
    fields = getattr(variable, "__dict__", {})
    parts = fields.get("_values") or fields.get("_variables")
    if parts:
        return [each for part in parts for each in operations_of(part)]
    handle = getattr(variable, "handle", None)
    found = getattr(variable if handle is None else handle, "op", None)
    return [] if found is None else [found]


def _types_in_functions(nodes: Iterable[LiveNode], types: Iterable[str]) -> FrozenSet[str]:
    """The types of the operations in functions that these nodes, of these types, call."""
    found: Dict[str, Any] = {}
    graph: Any = next((node.operation.graph for node in nodes), None)
    calls = {each for each in types if each in _CALLS or graph._is_function(each)}
    pending = [node.operation.node_def for node in nodes if node.op in calls] if calls else []
    while pending:
        node = pending.pop()
        names = [node.op, *(attribute.func.name for attribute in node.attr.values())]
        for name in names:
            if name and name not in found and graph._is_function(name):
                found[name] = graph._get_function(name).definition.node_def
                pending.extend(found[name])
    return frozenset(node.op for nodes in found.values() for node in nodes)
