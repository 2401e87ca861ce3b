"""From the layout on the device to the layout of the network.

Every known layout is the same few steps: name the axes of the device array, put those of one
letter together, the outer (``C1``) before the inner one (``C0``), and cut the padding off.
C0, N0, H0 and W0 are those of the stored shape, never what a data type suggests.  A
:class:`Plan` says the steps; with it the conversion also runs block by block.

Source: facts dump.yaml, ``layouts`` and ``formats``.
"""

import math
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.message import phrase
from npu_config.dumps._rules import layout_cannot_be_converted
from npu_config.dumps.data_types import PLAIN

Shape = Tuple[int, ...]

_AXES: Dict[str, Tuple[str, ...]] = {
    "NC1HWC0": ("N", "C1", "H", "W", "C0"),
    "NDC1HWC0": ("N", "D", "C1", "H", "W", "C0"),
    "FRACTAL_Z": ("C1", "H", "W", "N1", "N0", "C0"),
    "FRACTAL_Z_3D": ("D", "C1", "H", "W", "N1", "N0", "C0"),
    "FRACTAL_NZ": ("W1", "H1", "H0", "W0"),
    "FRACTAL_ZZ": ("H1", "W1", "H0", "W0"),
}
_CANDIDATES: Dict[str, Tuple[str, ...]] = {
    "NC1HWC0": ("NHWC", "NCHW", "HWCN", "CHWN"),
    "NDC1HWC0": ("NDHWC", "NCDHW", "DHWCN"),
    "FRACTAL_Z": ("HWCN", "NCHW", "NHWC"),
    "FRACTAL_Z_3D": ("DHWCN", "NCDHW", "NDHWC"),
}
"""The layouts that an original shape may be in, the likely one of TensorFlow first."""


class LayoutError(ValueError):
    """A layout cannot be converted; the text says why."""


class Plan(NamedTuple):
    """How a device array becomes the original one.

    Args:
        layout: of the result, e.g. ``"NHWC"``; ``"ND"`` where axes have no letters.
        split: the shape to give the device array.
        order: the transposition that follows.
        merged: how many of the axes become one axis of the result, for each.
        shape: of the result, where leading axes of a matrix count as one; what is more in the
            merged axes is padding.
        groups: of a grouped FRACTAL_Z, which needs a way of its own; else 1.
    """

    layout: str
    split: Shape
    order: Shape
    merged: Shape
    shape: Shape
    groups: int = 1

    @property
    def is_plain(self) -> bool:
        """True when the elements are in the original order already, without padding."""
        return self.order == tuple(range(len(self.order))) and self.shape == self.split


def plan(
    format: str,
    shape: Sequence[int],
    original_shape: Sequence[int],
    original_format: Optional[str] = None,
    groups: int = 1,
) -> Plan:
    """The steps from a device array to the original one.

    Args:
        format: of the device array, e.g. ``"NC1HWC0"``.
        shape: of the device array.
        original_shape: of the tensor in the network.
        original_format: the layout that ``original_shape`` is in, e.g. ``"NHWC"``; where it
            is not known, or does not fit, the layout that fits both shapes is taken.
        groups: of a convolution's filter in FRACTAL_Z (the header's ``sub_format``).

    Raises:
        LayoutError: the layout is not documented, or the shapes contradict it.
    """
    device, original = tuple(shape), tuple(original_shape)
    if format in ("FRACTAL_NZ", "FRACTAL_ZZ"):
        return _matrix(format, device, original)
    if format == "FRACTAL_Z" and groups > 1:
        return _grouped(device, original, original_format, groups)
    if format in _CANDIDATES:
        return _by_letters(format, device, original, original_format)
    if format in PLAIN and len(format) == len(device) == len(original):
        likely = PLAIN if device != original else ()
        for layout in (original_format, *likely):
            if layout in PLAIN and sorted(layout) == sorted(format):
                found = _arranged(tuple(format), device, layout, original)
                if found is not None:
                    return found
    if format in (*PLAIN, "ND", "CN", "NC", "NCL", "MD") or device == original:
        return _same(format, device, original)
    raise LayoutError(phrase("the layout {} is not documented", format))


def _same(format: str, device: Shape, original: Shape) -> Plan:
    if math_prod(device) != math_prod(original):
        message = "the shape {} and the original shape {} have different numbers of elements"
        raise LayoutError(phrase(message, list(device), list(original)))
    axes = tuple(range(len(original)))
    layout = format if len(format) == len(original) else "ND"
    return Plan(layout, original, axes, (1,) * len(axes), original)


def _by_letters(
    format: str, device: Shape, original: Shape, original_format: Optional[str]
) -> Plan:
    legal = _CANDIDATES[format]
    rank = len(legal[0])
    expected = len(_AXES[format]) if format in ("NC1HWC0", "NDC1HWC0") else 4
    if len(device) != expected:
        message = "a tensor in the format {} has {} dimensions, but the shape is {}"
        raise LayoutError(phrase(message, format, expected, list(device)))
    layouts = (original_format, *legal) if original_format in legal else legal
    full = original
    if len(original) == 1:  # a vector of channels, such as a bias
        full, layouts = (1,) * (rank - 1) + original, ("NDHWC" if rank == 5 else "NHWC",)
    if len(full) == rank:
        for layout in map(str, layouts):
            found = _arranged(_AXES[format], _split(format, device, layout, full), layout, full)
            if found is not None:
                return found if full == original else _vector(found, original)
    message = "the original shape {} does not fit the shape {} in {} with any layout"
    raise LayoutError(phrase(message, list(original), list(device), format))


def _vector(found: Plan, original: Shape) -> Plan:
    """The plan of a result that has one axis only."""
    return found._replace(layout="ND", merged=(sum(found.merged),), shape=original)


def _split(format: str, device: Shape, layout: str, original: Shape) -> Optional[Shape]:
    """The sizes of the named axes of a format; None when the shapes contradict each other."""
    if format in ("NC1HWC0", "NDC1HWC0"):
        return device
    sizes = dict(zip(layout, original))
    blocks: Shape = (_ceil(sizes["C"], device[3]), sizes["H"], sizes["W"])
    if format == "FRACTAL_Z_3D":
        blocks = (sizes["D"], *blocks)
    return (*blocks, *device[1:]) if math_prod(blocks) == device[0] else None


def _arranged(
    axes: Sequence[str], sizes: Optional[Shape], layout: str, original: Shape
) -> Optional[Plan]:
    """The plan that gives ``original`` in ``layout``, when the sizes fit."""
    if sizes is None:
        return None
    order: List[int] = []
    merged: List[int] = []
    for letter, length in zip(layout, original):
        mine = [index for index, axis in enumerate(axes) if axis[0] == letter]
        mine.sort(key=lambda index: axes[index], reverse=True)  # C1 before C0
        inner = sizes[mine[1]] if len(mine) == 2 else 1
        if sizes[mine[0]] != _ceil(length, inner):
            return None
        order += mine
        merged.append(len(mine))
    return Plan(layout, sizes, tuple(order), tuple(merged), original)


def _matrix(format: str, device: Shape, original: Shape) -> Plan:
    matrix = original if len(original) > 1 else (1, *original)
    if len(device) < 4 or not original:
        message = "{} needs four dimensions and an original shape; got {} and {}"
        raise LayoutError(phrase(message, format, list(device), list(original)))
    batch = math_prod(device[:-4])
    sizes = (batch, *device[-4:])
    found = _arranged(("N", *_AXES[format]), sizes, "NHW", (batch, *matrix[-2:]))
    if found is None or math_prod(matrix[:-2]) != batch:
        message = "the original shape {} does not fit the shape {} in {}"
        raise LayoutError(phrase(message, list(original), list(device), format))
    return found._replace(layout="ND")


def _grouped(device: Shape, original: Shape, layout: Optional[str], groups: int) -> Plan:
    """FRACTAL_Z of a grouped convolution; the original shape holds C of one group."""
    for name in dict.fromkeys((layout, *_CANDIDATES["FRACTAL_Z"])):
        if name not in _CANDIDATES["FRACTAL_Z"] or len(original) != 4 or len(device) != 4:
            continue
        sizes = dict(zip(str(name), original))
        if sizes["N"] % groups or device[2] != 16:
            continue
        split = _group_split(sizes, groups, device[3])
        if split is not None and math_prod(split[:4]) == device[0] and split[4] == device[1]:
            return Plan(str(name), split, (), (), original, groups)
    message = "the original shape {} does not fit the shape {} of FRACTAL_Z with {} groups"
    raise LayoutError(phrase(message, list(original), list(device), groups))


def _group_split(sizes: Dict[str, int], groups: int, c0: int) -> Optional[Shape]:
    """(G, C1, H, W, N1, 16, C0) of a grouped filter."""
    cin, cout = sizes["C"], sizes["N"] // groups
    if not cin or not cout or not c0:
        return None
    enlarged = min(_lcm(_lcm(cin, c0) // cin, _lcm(cout, 16) // cout), groups)
    c1, n1 = _ceil(enlarged * cin, c0), _ceil(enlarged * cout, 16)
    return (_ceil(groups, enlarged), c1, sizes["H"], sizes["W"], n1, 16, c0)


def to_original_layout(
    array: Any,
    format: str,
    original_shape: Sequence[int],
    original_format: Optional[str] = None,
    groups: int = 1,
) -> Any:
    """A device array in the layout of the network, without the padding.

    Args:
        array: the numpy array as the device stores it, with its stored shape.
        format: its format, e.g. ``"FRACTAL_NZ"``.
        original_shape: the shape in the network.
        original_format: the layout of that shape, e.g. ``"NHWC"``; None: the one that fits.
        groups: of a convolution's filter in FRACTAL_Z.

    Returns:
        A numpy array of ``original_shape``; a view where nothing moves.

    Raises:
        NpuConfigError: the layout is not documented, or the shapes contradict it.
    """
    try:
        steps = plan(format, array.shape, original_shape, original_format, groups)
    except LayoutError as error:
        raise layout_cannot_be_converted.error(str(error)) from None
    return arranged(array, steps).reshape(tuple(original_shape))


def arranged(array: Any, steps: Plan) -> Any:
    """The steps of a plan, done to a whole array."""
    if steps.groups > 1:
        return _ungrouped(array, steps)
    return _merged(array.reshape(steps.split).transpose(steps.order), steps.merged, steps.shape)


def blocks(array: Any, steps: Plan, limit: int) -> Iterator[Any]:
    """The result of a plan in pieces: flat arrays that follow each other in C order.

    Args:
        array: the device array, for instance a memory-mapped one.
        steps: the plan.
        limit: about how many elements a piece has.
    """
    if steps.is_plain or steps.groups > 1:
        flat = arranged(array, steps).ravel()
        for start in range(0, flat.size, limit):
            yield flat[start : start + limit]
        return
    view = array.reshape(steps.split).transpose(steps.order)
    yield from _walk(view, steps.merged, steps.shape, limit)


def _walk(view: Any, merged: Shape, shape: Shape, limit: int) -> Iterator[Any]:
    size = math_prod(shape)
    if not size:
        return
    if size <= limit or not shape:
        yield _merged(view, merged, shape).ravel()
        return
    if merged[0] == 0:
        yield from _walk(view, merged[1:], shape[1:], limit)
        return
    inner = math_prod(view.shape[1 : merged[0]])
    if shape[0] <= inner:  # the outer axis has one entry that counts
        yield from _walk(view[0], (merged[0] - 1, *merged[1:]), shape, limit)
        return
    row = inner * math_prod(shape[1:])
    step = max(1, limit // row)
    for start in range(0, _ceil(shape[0], inner), step):
        length = min(shape[0] - start * inner, step * inner)
        piece = view[start : start + step]
        if step == 1 and row > limit:
            rest = (merged[0] - 1, *merged[1:])
            yield from _walk(piece[0], rest, (length, *shape[1:]), limit)
        else:
            yield _merged(piece, merged, (length, *shape[1:])).ravel()


def _merged(view: Any, merged: Shape, shape: Shape) -> Any:
    """Axes put together, the padding cut off."""
    sizes, start = [], 0
    for count in merged:
        sizes.append(math_prod(view.shape[start : start + count]))
        start += count
    return view.reshape(sizes)[tuple(slice(length) for length in shape)]


def _ungrouped(array: Any, steps: Plan) -> Any:
    import numpy

    sizes = dict(zip(steps.layout, steps.shape))
    cin, cout = sizes["C"], sizes["N"] // steps.groups
    g1, c1, height, width, n1, n0, c0 = steps.split
    enlarged = min(_lcm(_lcm(cin, c0) // cin, _lcm(cout, 16) // cout), steps.groups)
    # (G, H, W, channels, filters): then each group is a rectangle of its block
    block = array.reshape(steps.split).transpose(0, 2, 3, 1, 6, 4, 5)
    block = block.reshape(g1, height, width, c1 * c0, n1 * n0)
    result = numpy.empty((height, width, cin, sizes["N"]), array.dtype)
    for group in range(steps.groups):
        channel, filter_ = group % enlarged * cin, group % enlarged * cout
        result[..., group * cout : (group + 1) * cout] = block[
            group // enlarged, :, :, channel : channel + cin, filter_ : filter_ + cout
        ]
    return result.transpose(["HWCN".index(letter) for letter in steps.layout])


def math_prod(sizes: Sequence[int]) -> int:
    """The product of sizes; 1 for none."""
    result = 1
    for size in sizes:
        result *= size
    return result


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor) if divisor else 0


def _lcm(one: int, other: int) -> int:
    return one * other // math.gcd(one, other)
