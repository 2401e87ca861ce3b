"""How near two tensors are: the documented formulas, in float64, over pieces of any size.

NaN and infinities are counted and named; they do not spoil the numbers, which are those of the
pairs that are finite on both sides.  One pass gives everything but the divergence of
Kullback and Leibler, which needs the extremes first and so a second pass.  :func:`look_closer`
goes through tensors that seem to differ once more: which elements, and where.

Source: facts dump.yaml, ``compare`` (C-FORMULAS, C-NAN, C-BIG, C-BOOL).
"""

import math
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import attr

from npu_config.core.message import join, phrase
from npu_config.dumps.dump import BLOCK
from npu_config.dumps.layouts import math_prod

Pair = Tuple[Any, Any]
Pairs = Callable[[], Iterator[Pair]]
"""Makes the pieces of both sides, flat and of equal length, each time it is called."""

TINY = 2.22e-16
"""A reference value that is not larger does not count in relative errors."""
_FLOOR = 2.0**-23
_PIECE = 8192
_NAN = float("nan")


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Metrics:
    """The numbers of one pair of tensors, x of the device and y of the reference.

    Numbers that are not defined are NaN.  ``counts`` of NaN and infinities are of the whole
    tensors; everything else is of the pairs that are finite on both sides.

    Args:
        elements: of each side.
        compared: pairs that are finite on both sides.
        cosine: similarity, at most 1.
        max_absolute: largest ``|x - y|``.
        accumulated_relative: sum of ``|x / y - 1|``, where y is not 0.
        relative_euclidean: sqrt(sum (x - y)^2 / sum y^2).
        divergence: of Kullback and Leibler, of both sides scaled to 0..1.
        mean: of x and of y.
        deviation: the standard deviation of x and of y.
        mean_absolute: mean ``|x - y|``.
        root_mean_square: sqrt(mean (x - y)^2).
        max_relative: largest ``|x / y - 1|``, where y is not 0.
        mean_relative: its mean over all pairs.
        signal_to_noise: 10 log10(sum y^2 / sum (x - y)^2), in decibels.
        differing: of truth values and integers, how many are not equal; else 0.
        nan: how many NaN x and y have.
        infinite: how many infinities x and y have.
        odd: pairs with NaN or an infinity on one side, or different ones.
        boolean: True for truth values, of which only the cosine and ``differing`` say anything.
        remark: what is to be known of a number, else "".
        saturated: how many x are at the largest number of their type while y is beyond it.
        overflowed: how many x are infinite while y is finite and beyond it.
        whole: True when both sides are integers or truth values, which are exact.
        low: the smallest of x and of y, where the divergence was computed.
        high: the largest of x and of y.
        first_odd: the place in C order of the first pair that is ``odd``.
        beyond: how many elements are off by more than a limit; see :func:`look_closer`.
        share: their part of the sum of all squared errors.
        zeroed: how many elements are 0 in x and not in y.
        zeroed_share: their part of the sum of all squared errors.
        box: the smallest range of each axis (first, behind the last) that holds all of them;
            () where the shape is not known.
        worst: the elements that are off most, the worst first.
    """

    elements: int
    compared: int
    cosine: float
    max_absolute: float
    accumulated_relative: float
    relative_euclidean: float
    divergence: float
    mean: Tuple[float, float]
    deviation: Tuple[float, float]
    mean_absolute: float
    root_mean_square: float
    max_relative: float
    mean_relative: float
    signal_to_noise: float
    differing: int
    nan: Tuple[int, int]
    infinite: Tuple[int, int]
    odd: int
    boolean: bool
    remark: str
    saturated: int
    overflowed: int
    whole: bool
    low: Tuple[float, float]
    high: Tuple[float, float]
    first_odd: int
    beyond: int = 0
    share: float = 0.0
    zeroed: int = 0
    zeroed_share: float = 0.0
    box: Tuple[Tuple[int, int], ...] = ()
    worst: Tuple["Worst", ...] = ()

    @property
    def sizes(self) -> Tuple[float, float]:
        """The root mean squares of x and of y."""
        x, y = (math.hypot(*pair) for pair in zip(self.mean, self.deviation))
        return x, y

    @property
    def scale(self) -> float:
        """How many times larger x is than y, by their norms; NaN when y is 0."""
        x, y = self.sizes
        return x / y if y else _NAN


class Worst(NamedTuple):
    """One element: its place in C order, and what both sides have there."""

    place: int
    device: float
    reference: float


class _Sums:
    """What one pass adds up."""

    def __init__(self) -> None:
        self.elements = self.compared = self.differing = self.odd = self.first_odd = 0
        self.xx = self.yy = self.xy = self.dd = 0.0
        self.absolute = self.relative = 0.0
        self.max_absolute = self.max_relative = 0.0
        self.low = [math.inf, math.inf]
        self.high = [-math.inf, -math.inf]
        self.mean = [0.0, 0.0]
        self.spread = [0.0, 0.0]
        self.nan = [0, 0]
        self.infinite = [0, 0]
        self.saturated = self.overflowed = 0
        self.whole = True


def measure(
    pairs: Pairs,
    boolean: bool = False,
    divergence: bool = True,
    largest: Optional[Tuple[float, float]] = None,
) -> Metrics:
    """Measure two tensors against each other.

    Args:
        pairs: makes the pieces of both; called a second time for the divergence.
        boolean: both hold truth values.
        divergence: compute the divergence of Kullback and Leibler, too.
        largest: the largest number of the device's type, and from where on a reference cannot
            be rounded to it.
    """
    import numpy

    sums = _Sums()
    buffers = [numpy.empty(BLOCK) for _ in range(5)]
    with numpy.errstate(all="ignore"):
        for x, y in _pieces(pairs):
            _add(numpy, sums, x, y, buffers, boolean, largest, divergence)
        kl = _NAN
        if divergence and sums.compared and not boolean:
            kl = _divergence(numpy, sums, pairs, buffers)
    return _result(sums, kl, boolean)


def _pieces(pairs: Pairs) -> Iterator[Pair]:
    """Pieces of no more than BLOCK real numbers; complex ones are two each."""
    for x, y in pairs():
        if x.dtype.kind == "c" or y.dtype.kind == "c":
            x, y = _two(x), _two(y)
        for start in range(0, x.size, BLOCK):
            yield x[start : start + BLOCK], y[start : start + BLOCK]


def _two(values: Any) -> Any:
    import numpy

    values = numpy.ascontiguousarray(values)
    if values.dtype.kind != "c":
        values = values.astype("<c16")
    return values.view(values.real.dtype)


def _add(
    numpy: Any,
    sums: _Sums,
    left: Any,
    right: Any,
    buffers: List[Any],
    boolean: bool,
    limit: Optional[Tuple[float, float]],
    extremes: bool,
) -> None:
    size = left.size
    x, y, difference, scratch, scale = (buffer[:size] for buffer in buffers)
    whole = left.dtype.kind in "biu" and right.dtype.kind in "biu"
    sums.whole = sums.whole and whole
    if whole or boolean:
        sums.differing += int(numpy.count_nonzero(_unequal(left, right)))
    numpy.copyto(x, left, casting="unsafe")
    numpy.copyto(y, right, casting="unsafe")
    sums.elements += size
    xx, yy = _dot(x, x), _dot(y, y)
    if not math.isfinite(xx + yy):
        finite = _specials(numpy, sums, x, y, limit)
        count = int(numpy.count_nonzero(finite))
        if count < size:
            x[:count], y[:count] = x[finite], y[finite]
            x, y, difference, scratch, scale = (b[:count] for b in buffers)
            size, xx, yy = count, _dot(x, x), _dot(y, y)
    if not size:
        return
    numpy.subtract(x, y, out=difference)
    numpy.abs(difference, out=scratch)
    sums.xx += xx
    sums.yy += yy
    sums.xy += _dot(x, y)
    sums.dd += _dot(difference, difference)
    largest = float(scratch.max())
    if largest:
        sums.absolute += float(scratch.sum())
        sums.max_absolute = max(sums.max_absolute, largest)
        numpy.abs(y, out=scale)
        numpy.divide(scratch, scale, out=scratch)
        if float(scale.min()) <= TINY:
            scratch[scale <= TINY] = 0.0
        sums.relative += float(scratch.sum())
        sums.max_relative = max(sums.max_relative, float(scratch.max()))
    for side, values, squares in ((0, x, xx), (1, y, yy)):
        if extremes or (limit is not None and not side):
            low, high = float(values.min()), float(values.max())
            sums.low[side] = min(sums.low[side], low)
            sums.high[side] = max(sums.high[side], high)
            if limit is not None and not side and max(high, -low) >= limit[0]:
                at = (numpy.abs(x) >= limit[0]) & (numpy.abs(y) >= limit[1])
                sums.saturated += int(numpy.count_nonzero(at))
        mean = float(values.sum()) / size
        shift = mean - sums.mean[side]
        whole = sums.compared + size
        inside = max(squares - size * mean * mean, 0.0)
        sums.spread[side] += inside + shift * shift * sums.compared * size / whole
        sums.mean[side] += shift * size / whole
    sums.compared += size


def _unequal(left: Any, right: Any) -> Any:
    """Where two arrays of integers differ; 64 bits with and without sign, too."""
    if left.dtype.itemsize == right.dtype.itemsize == 8 and left.dtype != right.dtype:
        negative = (left if left.dtype.kind == "i" else right) < 0
        return (left.view("u8") != right.view("u8")) | negative
    return left != right


def _dot(one: Any, other: Any) -> float:
    """The scalar product in pieces for which no BLAS wakes its threads; they wait by spinning."""
    if one.size <= _PIECE:
        return float(one.dot(other))
    return float(one[:_PIECE].dot(other[:_PIECE])) + _dot(one[_PIECE:], other[_PIECE:])


def _specials(
    numpy: Any, sums: _Sums, x: Any, y: Any, limit: Optional[Tuple[float, float]]
) -> Any:
    """Count NaN and infinities; returns where both sides are finite."""
    both = numpy.isfinite(x) & numpy.isfinite(y)
    same = x == y
    nans = []
    for side, values in ((0, x), (1, y)):
        nans.append(numpy.isnan(values))
        sums.nan[side] += int(numpy.count_nonzero(nans[side]))
        sums.infinite[side] += int(numpy.count_nonzero(numpy.isinf(values)))
    odd = ~both & ~same & ~(nans[0] & nans[1])
    count = int(numpy.count_nonzero(odd))
    if count and not sums.odd:
        sums.first_odd = sums.elements - x.size + int(odd.argmax())
    sums.odd += count
    if count and limit is not None:
        beyond = numpy.isinf(x) & numpy.isfinite(y) & (numpy.abs(y) >= limit[1])
        sums.overflowed += int(numpy.count_nonzero(beyond))
    return both


def _divergence(numpy: Any, sums: _Sums, pairs: Pairs, buffers: List[Any]) -> float:
    """The second pass: sum p log(p / q) of both sides, scaled to 0..1 and to the sum 1."""
    total = [0.0, 0.0]
    crossed = 0.0
    finite_only = sums.compared < sums.elements
    for left, right in _pieces(pairs):
        size = left.size
        p, q, scratch = (buffer[:size] for buffer in buffers[:3])
        numpy.copyto(p, left, casting="unsafe")
        numpy.copyto(q, right, casting="unsafe")
        if finite_only:
            finite = numpy.isfinite(p) & numpy.isfinite(q)
            size = int(numpy.count_nonzero(finite))
            p[:size], q[:size] = p[finite], q[finite]
            p, q, scratch = p[:size], q[:size], scratch[:size]
        for side, values in ((0, p), (1, q)):
            extent = sums.high[side] - sums.low[side]
            if extent:
                values -= sums.low[side]
                values *= 1.0 / extent
                numpy.maximum(values, _FLOOR, out=values)
            else:
                values.fill(1.0)
            total[side] += float(values.sum())
        numpy.divide(p, q, out=scratch)
        numpy.log(scratch, out=scratch)
        crossed += _dot(scratch, p)
    result = crossed / total[0] + math.log(total[1] / total[0])
    return 0.0 if abs(result) < 2.2e-16 else result


_COUNTS = ("differing", "odd", "saturated", "overflowed", "whole", "first_odd")
_OF_BOTH = ("nan", "infinite", "low", "high")
"""What is known of x and of y."""


def _result(sums: _Sums, divergence: float, boolean: bool) -> Metrics:
    count = sums.compared
    cosine, remark = _cosine(sums)
    if sums.odd or any(sums.nan) or any(sums.infinite):
        remark = join("; ", filter(None, (remark, _named(sums))))
    numbers: Dict[str, Any] = {
        "max_absolute": sums.max_absolute,
        "accumulated_relative": sums.relative,
        "relative_euclidean": math.sqrt(sums.dd / sums.yy) if sums.yy else 0.0,
        "mean_absolute": sums.absolute / count if count else _NAN,
        "root_mean_square": math.sqrt(sums.dd / count) if count else _NAN,
        "max_relative": sums.max_relative,
        "mean_relative": sums.relative / count if count else _NAN,
        "signal_to_noise": _decibels(sums),
        "divergence": divergence,
    }
    nothing = boolean or not count
    if nothing:
        numbers = dict.fromkeys(numbers, _NAN)
    numbers.update((name, getattr(sums, name)) for name in _COUNTS)
    numbers.update((name, tuple(getattr(sums, name))) for name in _OF_BOTH)
    return Metrics(
        elements=sums.elements,
        compared=count,
        cosine=cosine,
        mean=(_NAN, _NAN) if nothing else (sums.mean[0], sums.mean[1]),
        deviation=(_NAN, _NAN)
        if nothing
        else (math.sqrt(sums.spread[0] / count), math.sqrt(sums.spread[1] / count)),
        boolean=boolean,
        remark=remark,
        **numbers,
    )


def _cosine(sums: _Sums) -> Tuple[float, str]:
    if not sums.elements:
        return _NAN, "the tensor has no elements"
    if not sums.compared:
        return _NAN, "no element is finite in both tensors"
    if sums.elements == 1:
        return 1.0, "This tensor is scalar."
    if not sums.xx and not sums.yy:
        return 1.0, ""
    if not sums.xx or not sums.yy:
        side = "the device" if not sums.xx else "the reference"
        return _NAN, phrase("every value of {} is 0", side)
    cosine = sums.xy / math.sqrt(sums.xx) / math.sqrt(sums.yy)
    if math.isnan(cosine):
        return _NAN, "the squares of the values exceed the range of float64"
    return min(cosine, 1.0), ""


def _named(sums: _Sums) -> str:
    parts = []
    for side, message in ((0, "{:,} {} on the device"), (1, "{:,} {} in the reference")):
        for count, what in ((sums.nan[side], "NaN"), (sums.infinite[side], phrase("infinite"))):
            if count:
                parts.append(phrase(message, count, what))
    if not sums.odd:
        return phrase("{}, in the same places", join(", ", parts))
    return join(", ", parts)


def _decibels(sums: _Sums) -> float:
    if not sums.dd:
        return math.inf if sums.yy else _NAN
    ratio = sums.yy / sums.dd  # may be too small for a float
    return 10.0 * math.log10(ratio) if ratio else -math.inf


WORST = 5
"""How many of the worst elements are kept."""


def look_closer(
    pairs: Pairs,
    metrics: Metrics,
    relative: float,
    size: float,
    absolute: float,
    shape: Sequence[int] = (),
) -> Metrics:
    """Which elements are off by more than ``relative * max(|y|, size) + absolute``.

    Args:
        pairs: as :func:`measure` had them.
        metrics: what it returned.
        relative: the limit relative to the reference.
        size: that of an element which is not small, such as the root mean square of all.
        absolute: the limit for any element.
        shape: of both, for the range in which they are.

    Returns:
        The metrics with the elements that are beyond it, and with the worst ones.
    """
    import numpy

    beyond = zeroed = start = 0
    shares = [0.0, 0.0]
    worst: List[Tuple[float, Worst]] = []
    lines = [numpy.zeros(length, bool) for length in shape]
    is_placed = bool(shape) and math_prod(shape) == metrics.elements
    with numpy.errstate(all="ignore"):
        for left, right in _pieces(pairs):
            x, y = left.astype("f8"), right.astype("f8")
            off = numpy.abs(x - y)
            off[~(numpy.isfinite(x) & numpy.isfinite(y))] = 0.0
            limit = numpy.maximum(numpy.abs(y), size) * relative + absolute
            is_far, is_zeroed = off > limit, (x == 0) & (off > absolute)
            for number, each in enumerate((is_far, is_zeroed)):
                shares[number] += _dot(off[each], off[each])
            far = numpy.flatnonzero(is_far)
            beyond += far.size
            zeroed += int(numpy.count_nonzero(is_zeroed))
            if is_placed:
                places = numpy.flatnonzero(is_far | is_zeroed) + start
                for line, indices in zip(lines, numpy.unravel_index(places, shape)):
                    line[indices] = True
            least = worst[-1][0] if len(worst) == WORST else 0.0
            if far.size and off[far].max() > least:
                order = far[numpy.argsort(-off[far], kind="stable")[:WORST]].tolist()
                worst += [
                    (float(off[i]), Worst(start + i, float(x[i]), float(y[i]))) for i in order
                ]
                worst = sorted(worst, key=lambda each: -each[0])[:WORST]
            start += left.size
    whole = metrics.root_mean_square**2 * metrics.compared
    found = [numpy.flatnonzero(line) for line in lines if is_placed]
    return attr.evolve(
        metrics,
        beyond=beyond,
        share=shares[0] / whole if whole else 0.0,
        zeroed=zeroed,
        zeroed_share=shares[1] / whole if whole else 0.0,
        box=tuple((int(each[0]), int(each[-1]) + 1) for each in found if each.size),
        worst=tuple(each for _, each in worst),
    )
