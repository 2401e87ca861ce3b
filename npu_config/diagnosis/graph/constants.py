"""What the constants of a graph hold, and what can be computed from them before a run."""

import array
import math
import struct
import sys
from typing import Any, List, Optional, Tuple

from npu_config.diagnosis.graph import operators
from npu_config.diagnosis.graph.model import Node
from npu_config.diagnosis.graph.run import RunGraph

_MOST_BYTES = 1 << 24
_CODES = {1: "f", 2: "d", 3: "i", 4: "B", 5: "h", 6: "b", 9: "q", 10: "?"}
_FIELDS = {1: "float_val", 2: "double_val", 9: "int64_val", 10: "bool_val", 19: "half_val"}
HALF = 19
_FLOATS = frozenset((1, 2, HALF))
_HANDS_ON = frozenset(("Identity", "Reshape", "ExpandDims", "Squeeze", "Cast", "Snapshot"))
_FROM_INPUTS = (
    operators.SOURCES
    | operators.VARIABLES
    | frozenset(("ReadVariableOp", "ResourceGather", "PyFunc"))
)


def values(node: Node) -> Optional[Tuple[float, ...]]:
    """The numbers of a Const; None where they are of another type, or too many.

    Args:
        node: of type Const.
    """
    proto = node.tensor("value")
    if proto is None or proto.dtype not in (*_CODES, HALF):
        return None
    content = bytes(proto.tensor_content)
    if len(content) > _MOST_BYTES:
        return None
    if not content:
        found = list(getattr(proto, _FIELDS.get(proto.dtype, "int_val")))
        return tuple(map(_half, found)) if proto.dtype == HALF else tuple(map(float, found))
    if proto.dtype in (HALF, 10):
        code = "e" if proto.dtype == HALF else "?"
        size = struct.calcsize(code)
        return struct.unpack("<{}{}".format(len(content) // size, code), content)
    numbers = array.array(_CODES[proto.dtype])
    numbers.frombytes(content[: len(content) // numbers.itemsize * numbers.itemsize])
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)


def _half(bits: Any) -> float:
    return float(struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0])


def is_float(node: Node) -> bool:
    """True for a Const of floats."""
    return not _FLOATS.isdisjoint(node.types())


def is_finite(run: RunGraph, node: Node) -> bool:
    """True unless a Const holds Inf or NaN for certain."""
    return _held(run, node)[1]


def _held(run: RunGraph, node: Node) -> Tuple[Optional[float], bool]:
    """The one value of a Const, if there is but one, and whether all are finite; read once."""
    known = run.held.get(id(node))
    if known is None:
        found = values(node)
        is_one = found and found[0] == found[-1] and found.count(found[0]) == len(found)
        only = found[0] if found and is_one else None
        known = only, found is None or all(map(math.isfinite, found))
        run.held[id(node)] = known
    return known


def scalar(run: RunGraph, node: Optional[Node]) -> Optional[float]:
    """The one value of a constant, also of one that is filled, reshaped or cast; None for others.

    Args:
        run: where the node is.
        node: a node, or None.
    """
    for _ in range(8):
        if node is None:
            return None
        if node.op == "Const":
            return _held(run, node)[0]
        if node.op == "Fill":
            node = run.source(node, 1)
        elif node.op in _HANDS_ON:
            node = run.source(node, 0)
        else:
            return None
    return None


def is_fixed(run: RunGraph, node: Optional[Node]) -> bool:
    """True when a value is known before a run: of constants, and of shapes that are known.

    Args:
        run: where the node is.
        node: what makes the value.
    """
    seen = set()
    pending: List[Optional[Node]] = [node]
    while pending:
        each = pending.pop()
        if each is None:
            return False
        if id(each) in seen:
            continue
        seen.add(id(each))
        if each.op in operators.SHAPE_ONLY:
            if not _is_known(run, each):
                return False
        elif each.op == "StridedSlice" and _is_known_size(run, each):
            continue
        elif each.op in _FROM_INPUTS or each.op.startswith(("Random", "TruncatedNormal")):
            return False
        else:
            pending += [run.source(each, slot) for slot in range(len(each.inputs))]
    return True


def _is_known(run: RunGraph, shape: Node) -> bool:
    """True for the shape of a tensor that is known; of a rank, when the rank is."""
    source = run.source(shape, 0)
    if source is None:
        return False
    known = source.shape_of(shape.inputs[0].slot or 0)
    if shape.op == "Rank":
        return known is not None
    return known is not None and all(size >= 0 for size in known)


def _is_known_size(run: RunGraph, slice_: Node) -> bool:
    """True for ``tf.shape(x)[n]`` of a size that is known, whatever the others are."""
    shape, begin = run.source(slice_, 0), run.source(slice_, 1)
    if shape is None or shape.op != "Shape" or begin is None or slice_.number(
        "shrink_axis_mask"
    ) != 1:  # fmt: skip
        return False
    source, at = run.source(shape, 0), scalar(run, begin)
    known = None if source is None else source.shape_of(shape.inputs[0].slot or 0)
    if known is None or at is None or not -len(known) <= int(at) < len(known):
        return False
    return known[int(at)] >= 0
