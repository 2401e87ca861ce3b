"""Which tensor of the reference stands for a tensor of the dump.

Outputs are matched through the header (the operator of the network that an output stands for),
then the graph, then the name; inputs through the graph, as what their producer's output is
matched with.  What no operator of the network computes (feeds, iterators, weights) is marked:
it is looked at first.

Source: facts dump.yaml, ``compare`` (C-OUTPUT, C-INPUT, C-HEADER, C-RELATION).
"""

from collections import Counter
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.message import phrase
from npu_config.dumps.dump import Tensor
from npu_config.dumps.graph import CONSTANTS, PASSED_THROUGH, GeGraph, GeOp
from npu_config.dumps.reference import Array, Reference
from npu_config.dumps.tree import Operator
from npu_config.dumps.verdicts import DATA, NOT_COMPARED, WEIGHT

NO_COUNTERPART = "*"
APART, ABSENT, UNREAD = GAPS = ("apart", "absent", "unread")
"""Why a tensor has no counterpart: no reference has it (constants, what the compiler inserted);
this one does not; it has one that cannot be read."""
CONTROL = frozenset(
    ("StreamActive", "StreamSwitch", "StreamMerge", "LoopCond", "End_Graph", "EndGraph")
)
"""Operators that steer the device; they compute nothing of the network."""
DEVICE_ONLY = PASSED_THROUGH | CONSTANTS | CONTROL | {"NetOutput", "MemcpyAsync"}
"""Operators that a network mostly has no tensor of."""
LOOP = "npu_runconfig/"
"""How the counters of the loop on the device begin (facts modules.yaml)."""
FEEDS = frozenset(
    ("Data", "GetNext", "IteratorGetNext", "DynamicGetNext", "DynamicGetNextV2", "Placeholder",
     "QueueData", "IteratorV2", "Iterator", "OutfeedDequeueOp")
)  # fmt: skip
"""Operators whose outputs are what the job is fed with."""
VARIABLES = frozenset(("Variable", "VariableV2", "RefData", "VarHandleOp", "ReadVariableOp"))
"""Operators whose outputs are weights."""
_READ = ("", "/read", "/Read/ReadVariableOp", "/ReadVariableOp")
"""What TensorFlow calls the nodes that read a variable."""
UPDATES = ("Apply", "Assign", "ResourceApply", "ScatterUpdate")
"""How the types begin of operators that write weights."""


class Match(NamedTuple):
    """The counterpart of a tensor, or why there is none.

    ``role`` is :data:`DATA` or :data:`WEIGHT` for what no operator computed, else "";
    ``producer`` the operator that made an input, where the graph says.  ``gap`` is why there is
    none, one of :data:`GAPS`.
    """

    array: Optional[Array] = None
    by: str = ""
    reason: str = ""
    format: Optional[str] = None
    role: str = ""
    producer: str = ""
    gap: str = ""


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
    tensor: Optional[Tensor],
    sides: Sides,
) -> Match:
    """The counterpart of a tensor, or why there is none.

    Args:
        operator: whose tensor it is.
        op: the operator in the graph, if the graph has it.
        side: ``"input"`` or ``"output"``.
        number: which of them.
        tensor: its header; None for a table of statistics.
        sides: the reference, the graph and all operators of the dump.
    """
    if operator.threads > 1:
        message = "the operator ran in {} threads; each file holds a slice of it"
        return Match(reason=phrase(message, operator.threads), gap=ABSENT)
    if op is not None and op.is_inner:
        return Match(reason="an operator inside a fused group", gap=APART)
    role, producer = _role(operator, op, side, number, sides.graph)
    try:
        found = Match()
        if sides.reference.is_dump:
            array = sides.reference.of_operator(side, operator.name, number)
            found = Match(array, "name")
        if found.array is None and side == "input":
            found = _input(op, number, sides)
        elif found.array is None:
            found = _output(operator.name, number, tensor, sides)
    except NpuConfigError as error:
        found = Match(reason=error.diagnostics[0].message, gap=UNREAD)
    if found.array is None and found.gap != UNREAD and _is_apart(operator, op):
        found = found._replace(gap=APART)
    if not role and found.array is not None and found.array.is_fed and sides.graph is None:
        role = DATA
    return found._replace(role=role, producer=producer)


def _role(
    operator: Operator, op: Optional[GeOp], side: str, number: int, graph: Optional[GeGraph]
) -> Tuple[str, str]:
    """What a tensor is that no operator computed, and what made it."""
    if side == "output":
        return (DATA, "") if operator.op_type in FEEDS else ("", "")
    if graph is None or op is None:
        return "", ""
    edge = op.inputs[number] if number < len(op.inputs) else None
    made = None if edge is None else graph.find(edge[0])
    if edge is None or made is None:
        return "", "" if edge is None else edge[0]
    if made.type in FEEDS:
        return DATA, made.name
    if made.type in VARIABLES and not operator.op_type.startswith(UPDATES):
        return WEIGHT, made.name
    return "", made.name


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
        for ending in _READ if op is not None and op.type in VARIABLES else _READ[:1]:
            array = sides.reference.find(key + ending, output)
            if array is not None:
                return Match(array, by, "", format_)
    last = sides.reference.last_part(name) if op is None else None
    if last is not None:
        array = sides.reference.find(last, number)
        if array is not None:
            return Match(array, "name", "", format_)
    reason, expected = _why_not(op, keys)
    return Match(reason=reason, gap=APART if expected else ABSENT)


def _is_apart(operator: Operator, op: Optional[GeOp]) -> bool:
    """True for an operator of which the network has no tensor."""
    kinds = DEVICE_ONLY if op is None else CONTROL
    return operator.op_type in kinds or operator.name.startswith(LOOP)


def _why_not(op: Optional[GeOp], keys: Sequence[Tuple[str, str, int]]) -> Tuple[str, bool]:
    """The reason in words, and whether no reference has such a tensor."""
    if op is not None and op.type in CONSTANTS:
        return "a constant: no reference file", True
    if not keys:
        return "the compiler inserted the operator; the network has no such tensor", True
    return phrase("the reference has no {}.{}", keys[0][1], keys[0][2]), False


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


def is_constant(graph: GeGraph, name: str) -> bool:
    """True for an operator whose output is in the graph itself."""
    op = graph.find(name)
    return op is not None and op.type in CONSTANTS


class Coverage(NamedTuple):
    """How many operators of the network were compared.

    Args:
        compared: how many were.
        missing: those that were not, in the order of execution.
        is_enough: False when what was compared does not speak for the rest.
        reason: why most of ``missing`` were not compared; "" without any.
    """

    compared: int = 0
    missing: Tuple[str, ...] = ()
    is_enough: bool = True
    reason: str = ""


NOTHING_MISSING = Coverage()


def coverage_of(rows: Sequence[Any], exact: bool = False) -> Coverage:
    """How much of one step of one model was compared.

    An operator counts as compared when one of its outputs was, its own or at the inputs of
    others; one that was dumped without outputs when one of its inputs was.

    Args:
        rows: in the order of execution.
        exact: every tensor has to be compared, as between ranks.
    """
    outputs: Dict[str, List[Any]] = {}
    inputs: Dict[str, List[Any]] = {}
    seen = set()
    for row in rows:
        (outputs if row.side == "output" else inputs).setdefault(row.op_name, []).append(row)
        if row.side == "input" and row.verdict != NOT_COMPARED:
            seen.add(row.producer)
    missing: Dict[str, str] = {}
    compared, last = 0, True
    for name in dict.fromkeys(row.op_name for row in rows):
        here = outputs.get(name) or inputs[name]
        gaps = [row for row in here if row.verdict == NOT_COMPARED]
        if name in seen or (len(gaps) < len(here) and not (exact and gaps)):
            compared, last = compared + 1, True
        elif any(row.gap != APART for row in gaps):
            missing[name] = next(row.reason for row in gaps if row.gap != APART)
            last = last and gaps[0].op_type.startswith(UPDATES)
    unread = any(row.gap == UNREAD for row in rows)
    half = len(missing) <= compared
    is_enough = not missing if exact else half and last and not unread
    return Coverage(compared, tuple(missing), is_enough, most_common(list(missing.values())))


def most_common(texts: Sequence[str]) -> str:
    """What is there most often, the first of several; "" without any."""
    return next((text for text, _ in Counter(texts).most_common(1)), "")
