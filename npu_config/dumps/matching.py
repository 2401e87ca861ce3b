"""Which tensor of the reference a tensor of a dump is compared with.

Source: facts dump.yaml, ``compare`` (C-OUTPUT, C-INPUT, C-HEADER, C-RELATION).
"""

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.message import phrase
from npu_config.dumps.dump import Tensor
from npu_config.dumps.graph import CONSTANTS, GeGraph, GeOp
from npu_config.dumps.reference import Array, Reference
from npu_config.dumps.selection import Operator

NO_COUNTERPART = "*"


class Match(NamedTuple):
    """The counterpart of a tensor, or why there is none."""

    array: Optional[Array]
    by: str
    reason: str
    label: str = NO_COUNTERPART
    format: Optional[str] = None


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
    tensor: Tensor,
    sides: Sides,
) -> Match:
    """The counterpart of a tensor, or why there is none.

    Args:
        operator: whose tensor it is.
        op: the operator in the graph, if the graph has it.
        side: ``"input"`` or ``"output"``.
        number: which of them.
        tensor: its header.
        sides: the reference, the graph and all operators of the dump.
    """
    if operator.threads > 1:
        message = "the operator ran in {} threads; each file holds a slice of it"
        return Match(None, "", phrase(message, operator.threads))
    if op is not None and op.is_inner:
        return Match(None, "", "an inner operator of several that stand for one")
    try:
        if sides.reference.is_dump:
            array = sides.reference.of_operator(side, operator.name, number)
            if array is not None:
                return Match(array, "name", "", array.label)
        if side == "input":
            return _input(op, number, sides)
        return _output(operator.name, number, tensor, sides)
    except NpuConfigError as error:
        return Match(None, "", error.diagnostics[0].message)


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
        array = sides.reference.find(key, output)
        if array is not None:
            return Match(array, by, "", array.label, format_)
    last = sides.reference.last_part(name) if op is None else None
    if last is not None:
        array = sides.reference.find(last, number)
        if array is not None:
            return Match(array, "name", "", array.label, format_)
    return Match(None, "", _why_not(op, keys))


def _why_not(op: Optional[GeOp], keys: Sequence[Tuple[str, str, int]]) -> str:
    if op is not None and op.type in CONSTANTS:
        return "a constant: no reference file"
    if not keys:
        return "the compiler inserted the operator; the network has no such tensor"
    return phrase("the reference has no {}.{}", keys[0][1], keys[0][2])


def _input(op: Optional[GeOp], number: int, sides: Sides) -> Match:
    """The counterpart of an input: what its producer's output is matched with."""
    if sides.graph is None or op is None:
        return Match(None, "", "which operator made the input is known from a graph only")
    edge = op.inputs[number] if number < len(op.inputs) else None
    if edge is None:
        return Match(None, "", "the graph does not name this input")
    name, output = edge
    producer = sides.operators.get(name)
    tensor = None
    if producer is not None and output < len(producer.dump.outputs):
        tensor = producer.dump.outputs[output]
    return _output(name, output, tensor, sides)
