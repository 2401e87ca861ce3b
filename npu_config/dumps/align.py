"""Two tensors brought to one shape and one order of elements, piece by piece.

The device's array is put into the layout of the network and cut to the reference's shape from
the front; the numbers of elements must then be equal.

Source: facts dump.yaml, ``compare`` (C-SHAPE).
"""

from typing import Any, Callable, Iterator, NamedTuple, Optional, Tuple

from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.message import phrase
from npu_config.dumps.dump import BLOCK, Tensor
from npu_config.dumps.formats import PLAIN
from npu_config.dumps.layouts import math_prod
from npu_config.dumps.reference import Array

Shape = Tuple[int, ...]


class ShapeMismatchError(ValueError):
    """Two tensors cannot be compared; the text says why."""


class Aligned(NamedTuple):
    """What is compared: its shape, and a maker of the pairs of pieces."""

    shape: Shape
    pairs: Callable[[], Iterator[Tuple[Any, Any]]]


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
    wanted = array.shape
    theirs = array.tensor
    if theirs is not None and _same_storage(tensor, theirs):
        return Aligned(tensor.shape, _together(tensor.blocks, theirs.blocks))
    steps = tensor.steps(original_format)
    shape = tensor.original_shape or tensor.shape
    if shape == wanted or (
        math_prod(shape) == math_prod(wanted) and not _is_permuted(shape, wanted, steps.layout)
    ):
        return Aligned(wanted, _together(lambda: tensor.blocks(True, steps=steps), array.blocks))
    if steps.layout in PLAIN and sorted(shape) == sorted(wanted):
        order = _permutation(shape, wanted, steps.layout)
        if order is not None:
            return Aligned(wanted, _whole(tensor, array, steps, shape, order, wanted))
    if len(shape) == len(wanted) and all(a >= b for a, b in zip(shape, wanted)):
        order = tuple(range(len(shape)))
        return Aligned(wanted, _whole(tensor, array, steps, shape, order, wanted))
    message = "the shape is {} on the device and {} in the reference"
    raise ShapeMismatchError(phrase(message, list(shape), list(wanted)))


def _same_storage(one: Tensor, other: Tensor) -> bool:
    """True when two tensors of dumps can be compared as they are stored."""
    if (one.format, one.shape, one.original_shape) != (
        other.format,
        other.shape,
        other.original_shape,
    ):
        return False
    try:
        one.steps()
    except NpuConfigError:  # a layout that cannot be converted is the same on both sides
        return True
    return False


def _is_permuted(shape: Shape, wanted: Shape, layout: str) -> bool:
    """True when both are four-dimensional, of the same sizes, in another order."""
    return layout in PLAIN and shape != wanted and _permutation(shape, wanted, layout) is not None


def _permutation(shape: Shape, wanted: Shape, layout: str) -> Optional[Shape]:
    """The transposition to another layout of the same letters that has the wanted shape."""
    if len(shape) != len(wanted) or len(shape) != len(layout):
        return None
    for other in PLAIN:
        if sorted(other) == sorted(layout):
            order = tuple(layout.index(letter) for letter in other)
            if tuple(shape[axis] for axis in order) == wanted:
                return order
    return None


def _whole(
    tensor: Tensor, array: Array, steps: Any, shape: Shape, order: Shape, wanted: Shape
) -> Callable[[], Iterator[Tuple[Any, Any]]]:
    """Pairs of a tensor that has to be in memory to be transposed or cut."""

    def pieces() -> Iterator[Any]:
        whole = tensor.array("original", steps=steps).reshape(shape).transpose(order)
        flat = whole[tuple(slice(length) for length in wanted)].reshape(-1)
        for start in range(0, flat.size, BLOCK):
            yield flat[start : start + BLOCK]

    return _together(pieces, array.blocks)


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
