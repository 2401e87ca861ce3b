"""Two tensors brought together: in one layout, in pieces of equal length.

Axes may be joined or split (``[2, 4, 4, 8]`` against ``[2, 128]``), layouts of the same letters
turned, padding of zeros cut off; any other difference of shapes is one.
"""

import itertools
import operator
from typing import Any, Callable, Iterator, NamedTuple, Optional, Tuple

import attr

from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.message import phrase
from npu_config.dumps.data_types import PLAIN
from npu_config.dumps.dump import BLOCK, Tensor
from npu_config.dumps.layouts import Plan, math_prod
from npu_config.dumps.reference import Array

Shape = Tuple[int, ...]


class ShapeMismatchError(ValueError):
    """Two tensors are not of one shape; the text says which they have."""

    def __init__(self, ours: Shape, theirs: Shape) -> None:
        message = "the shape is {} on the device and {} in the reference"
        super().__init__(phrase(message, list(ours), list(theirs)))
        self.is_batch = len(ours) == len(theirs) > 1 and ours[1:] == theirs[1:]
        """True when they differ in the first axis alone."""


class Aligned(NamedTuple):
    """What is compared: its shape, a maker of the pairs of pieces, and what is to be known."""

    shape: Shape
    pairs: Callable[[], Iterator[Tuple[Any, Any]]]
    remark: str = ""


def aligned(tensor: Tensor, array: Array, original_format: Optional[str] = None) -> Aligned:
    """Bring a tensor of a dump and its counterpart together.

    Args:
        tensor: of the dump.
        array: of the reference.
        original_format: the layout in the network, when the graph says.

    Raises:
        ShapeMismatchError: their shapes do not fit.
        NpuConfigError: the values or the layout are not documented, or not there.
    """
    wanted, theirs = array.shape, array.tensor
    if theirs is not None and _same_storage(tensor, theirs):
        return Aligned(tensor.shape, _together(tensor.blocks, theirs.blocks))
    if not tensor.original_shape and tensor.format not in (*PLAIN, "ND"):
        tensor = attr.evolve(tensor, original_shape=wanted)
    steps = tensor.steps(original_format)
    shape = tensor.original_shape or tensor.shape
    order = _permutation(shape, wanted, steps.layout)
    if shape == wanted or (order is None and _same_axes(shape, wanted)):
        return Aligned(wanted, _together(lambda: tensor.blocks(True, steps=steps), array.blocks))
    larger = len(shape) == len(wanted) and all(a >= b for a, b in zip(shape, wanted))
    if order is None and not (larger and _is_padding(tensor, steps, wanted)):
        raise ShapeMismatchError(shape, wanted)
    turned = order or tuple(range(len(shape)))

    def pieces() -> Iterator[Any]:
        """Of a tensor that has to be in memory to be transposed or cut."""
        whole = tensor.array("original", steps=steps).reshape(shape).transpose(turned)
        flat = whole[tuple(slice(length) for length in wanted)].ravel()
        for start in range(0, flat.size, BLOCK):
            yield flat[start : start + BLOCK]

    message = "the shape is {} on the device; the values beyond the shape of the reference are 0"
    remark = "" if order is not None else phrase(message, list(shape))
    return Aligned(wanted, _together(pieces, array.blocks), remark)


def aligned_arrays(one: Array, other: Array) -> Aligned:
    """Bring two arrays of files together.

    Raises:
        ShapeMismatchError: their shapes do not fit.
    """
    if one.shape != other.shape and not _same_axes(one.shape, other.shape):
        raise ShapeMismatchError(one.shape, other.shape)
    return Aligned(other.shape, _together(one.blocks, other.blocks))


def _is_padding(tensor: Tensor, steps: Plan, wanted: Shape) -> bool:
    """True when everything beyond a shape is 0."""
    import numpy

    whole = tensor.array("original", steps=steps)
    cut = whole[tuple(slice(length) for length in wanted)]
    return int(numpy.count_nonzero(whole)) == int(numpy.count_nonzero(cut))


def _same_axes(one: Shape, other: Shape) -> bool:
    """True when axes were only joined, split or of one element: the order is the same."""
    ends = []
    for shape in (one, other):
        ends.append(set(itertools.accumulate((n for n in shape if n != 1), operator.mul)))
    small, large = sorted(ends, key=len)
    return math_prod(one) == math_prod(other) and small <= large


def _same_storage(one: Tensor, other: Tensor) -> bool:
    """True when two tensors of dumps can be compared as they are stored."""
    both = [(each.format, each.shape, each.original_shape) for each in (one, other)]
    if both[0] != both[1]:
        return False
    try:
        one.steps()
    except NpuConfigError:  # a layout that cannot be converted is the same on both sides
        return True
    return False


def _permutation(shape: Shape, wanted: Shape, layout: str) -> Optional[Shape]:
    """The transposition to another layout of the same letters that has the wanted shape."""
    if layout not in PLAIN or not len(shape) == len(wanted) == len(layout):
        return None
    for other in PLAIN:
        if sorted(other) == sorted(layout):
            order = tuple(layout.index(letter) for letter in other)
            if tuple(shape[axis] for axis in order) == wanted:
                return order
    return None


def _together(
    left: Callable[[], Iterator[Any]], right: Callable[[], Iterator[Any]]
) -> Callable[[], Iterator[Tuple[Any, Any]]]:
    """Pairs of pieces of equal length, of pieces that need not be."""

    def pairs() -> Iterator[Tuple[Any, Any]]:
        others = right()
        rest: Any = None
        for piece in left():
            start = 0
            while start < piece.size:
                if rest is None or not rest.size:
                    rest = next(others, None)
                    if rest is None:
                        return
                size = min(piece.size - start, rest.size)
                yield piece[start : start + size], rest[:size]
                rest = rest[size:]
                start += size

    return pairs
