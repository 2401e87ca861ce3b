"""What a run of a session is for: it trains, it computes, or it does neither.

Training is told by the operations that a run needs: an operation of an optimizer, or an
assignment to a trainable variable of a value that is made from this variable, as optimizers do
that are written in Python.  A value that is only handed on is not made: a broadcast of the weights
is initialisation.
"""

from typing import Any, Dict, FrozenSet, Iterable, Sequence, Set

from npu_config.tf1.operations import inputs, needed, reached

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
    whole = list(needed(operations))
    types = frozenset(each.type for each in whole)
    inside = _types_in_functions(whole)
    if any(each.startswith(_OPTIMIZERS) for each in types | inside) or _changes_weights(whole):
        return TRAINS
    if types & _INITIALISES or types <= _READS:
        return OTHER
    return COMPUTES


def _changes_weights(operations: Iterable[Any]) -> bool:
    weights = None
    for operation in operations:
        changes = operation.type in _CHANGE
        if not changes and operation.type not in _ASSIGN:
            continue
        if weights is None:
            weights = _weights(operation.graph)
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
    found = set()
    for variable in graph.get_collection("trainable_variables"):
        for one in getattr(variable, "_variables", None) or [variable]:
            handle = getattr(one, "handle", None)
            found.add(one.op if handle is None else handle.op)
    return found


def _types_in_functions(operations: Iterable[Any]) -> FrozenSet[str]:
    """The types of the operations in functions that these call."""
    found: Dict[str, Any] = {}
    for operation in operations:
        graph = operation.graph
        if operation.type not in _CALLS and not graph._is_function(operation.type):
            continue
        pending = [operation.node_def]
        while pending:
            node = pending.pop()
            names = [node.op, *(attribute.func.name for attribute in node.attr.values())]
            for name in names:
                if name and name not in found and graph._is_function(name):
                    found[name] = graph._get_function(name).definition.node_def
                    pending.extend(found[name])
    return frozenset(node.op for nodes in found.values() for node in nodes)
