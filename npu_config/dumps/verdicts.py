"""Whether two tensors agree: limits by data type and kind of tensor, and the reasons.

No single number separates right from wrong: a cosine does not see a scale, a distance does not
see one element of a million, neither sees a saturated type.  So a tensor agrees when it is
within every limit, and what it is beyond is said in the words of what happened to it: scaled,
saturated, off by one, transposed.

The limits, and why (x of the device, y of the reference):

- relative distance, sqrt(sum (x - y)^2 / sum y^2): on clean networks with float16 it stays
  below 0.03, the mildest planted fault was at 0.1.  What is only copied or cast (data that is
  fed, weights) has no such errors.  Errors of computing even out over many elements, and do not
  where few make up the size of y: the limit is two standard deviations and a half of an error
  of 2 %, so it is widened by 1 + max y^2 / sum y^2, to five of them for a single value; with
  noise of 2 % one of a thousand tensors diverged without that, and none of 20,000 does so.
  That is of float16 and bfloat16; in float32 and float64 errors are smaller, and 6 % of a loss
  are a fault.  Where the wider limit decided, the reason says so.
- one element: five times the relative limit, of ``|y|`` or the root mean square of all y,
  whichever is larger; the errors of a distance at its limit reach that far in none.  At most
  0.9, also for floats of eight bits: a large value that became 0 is off by 1.
- cosine: 0.98, as the vendor's tools have it; beyond the others only where these are loosened.
- integers are exact; of truth values one in a thousand may differ, as a comparison near its
  bound flips with rounding.
- NaN and infinities on one side, values at the largest number of the type where the reference
  is beyond it, and shapes that differ are never within a limit.

Tables of statistics (``dump_data: "stats"``) tell less than tensors; where they agree it is said
that they are all that was compared.

Source: facts dump.yaml, ``compare`` (C-THRESHOLDS), ``overflow`` (O-SATURATE), ``stats_csv``.
"""

import functools
import itertools
import math
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import attr

from npu_config.core.message import join, phrase
from npu_config.dumps.data_types import BY_NAME
from npu_config.dumps.layouts import math_prod
from npu_config.dumps.metrics import Metrics, Pairs, look_closer, measure
from npu_config.dumps.reference import Array
from npu_config.dumps.statistics import Number, measured

AGREES, DIVERGES, NOT_COMPARED, IGNORED = "agrees", "diverges", "not compared", "ignored"
DATA, WEIGHT, ACTIVATION, GRADIENT = "data", "weight", "activation", "gradient"
INDEX, FLAG = "index", "flag"
KINDS = (DATA, WEIGHT, ACTIVATION, GRADIENT, INDEX, FLAG)

COSINE = 0.98
RELATIVE = {DATA: 0.005, WEIGHT: 0.01, ACTIVATION: 0.05, GRADIENT: 0.08}
ELEMENT = 5.0
"""By how many times the relative limit one element may be off."""
_LOST = 0.9
"""Whatever the type: an element that became 0 is off by 1."""
FLAGS = 0.001
NOTHING = 1e-6
"""How large the device's values may be where all of the reference are 0."""
_COPIED, _COMPUTED, _LOOSEST = 4, 16, 0.5
_GRADIENT_NAME = re.compile(r"(?:^|[/_])(?:gradients?|grads?)(?:_\d+)?(?:[/_]|\Z)")
_GRADIENT_TYPE = re.compile(r"Grad(?:D|V\d)?\Z|Backprop")
_ARRANGED = 1 << 18
_FEW = 0.01
_MOST = 0.9
"""Which share of the squared errors a reason has to account for."""
_NEAR = 0.1
"""How near values have to be for a pattern, however rough their type is."""
_DRAWN = 0.3
"""Sorted, two samples of n numbers of one distribution are about 1 / sqrt(n) apart; the same
numbers in another order are much nearer."""
_MOST_AXES = 4


class Bounds(NamedTuple):
    """Limits that replace the defaults; None: the default.

    Args:
        cosine: what a cosine similarity has to exceed; a lower one than 0.98 loosens the other
            defaults in proportion.
        absolute: how much one element may be off; replaces the limit of one element, and lets
            integers differ.
        relative: the largest relative distance, whatever the type and kind.
    """

    cosine: Optional[float] = None
    absolute: Optional[float] = None
    relative: Optional[float] = None


DEFAULTS = Bounds()


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Limits:
    """What two tensors of one type and kind have to be within.

    Args:
        kind: one of :data:`KINDS`.
        cosine: what the cosine similarity has to exceed.
        relative: the largest relative distance.
        element: how much one element may be off, of ``|y|`` or the size of y.
        absolute: how much one element may be off, instead of that.
        flags: which share of truth values may differ.
        smallest: what may have become 0: the smallest positive number of the coarser type.
        few: how much of the relative limit is added where a single element makes up the tensor.
        largest: the largest number of the device's type, and from where on a reference is
            beyond it; None for types that have none.
    """

    kind: str
    cosine: float = COSINE
    relative: float = RELATIVE[ACTIVATION]
    element: float = ELEMENT * RELATIVE[ACTIVATION]
    absolute: Optional[float] = None
    flags: float = FLAGS
    smallest: float = 0.0
    few: float = 0.0
    largest: Optional[Tuple[float, float]] = None


class Judged(NamedTuple):
    """A verdict, the ids of what it rests on, and the same in words ("" without any)."""

    verdict: str
    causes: Tuple[str, ...] = ()
    reason: str = ""


def kind_of(name: str, op_type: str, device: str, reference: str) -> str:
    """The kind of a tensor of which nobody says that it is data or a weight.

    Args:
        name: of the operator, in the network where that is known.
        op_type: on the device.
        device: the data type there.
        reference: the data type of the reference.
    """
    if "DT_BOOL" in (device, reference) or "bool" in (device, reference):
        return FLAG
    if all(_is_whole(each) for each in (device, reference)):
        return INDEX
    if _GRADIENT_NAME.search(name) or _GRADIENT_TYPE.search(op_type):
        return GRADIENT
    return ACTIVATION


def _is_whole(name: str) -> bool:
    return "int" in name.lower()


@functools.lru_cache(maxsize=1024)
def limits_of(kind: str, device: str, reference: str, bounds: Bounds = DEFAULTS) -> Limits:
    """The limits of a tensor.

    Args:
        kind: what it is for.
        device: its data type on the device.
        reference: the data type of the reference.
        bounds: what replaces the defaults.
    """
    stored = [found for found in (_stored(device), _stored(reference)) if found is not None]
    cosine = COSINE if bounds.cosine is None else bounds.cosine
    looser = max(1.0, (1.0 - cosine) / (1.0 - COSINE))
    relative, few = bounds.relative, 0.0
    if relative is None:
        rounding = max((each.rounding for each in stored), default=0.0)
        few = 1.0 if kind in (ACTIVATION, GRADIENT) and 0.0 < rounding <= 0.01 else 0.0
        rounding *= _COPIED if kind in (DATA, WEIGHT) or rounding > 0.01 else _COMPUTED
        relative = looser * max(RELATIVE.get(kind, RELATIVE[ACTIVATION]), min(rounding, _LOOSEST))
    element = ELEMENT * relative
    if bounds.relative is None:
        element = min(element, looser * _LOST)
    largest, on_device = None, _stored(device)
    if on_device is not None and on_device.limit is not None:
        limit = on_device.limit
        largest = (limit, limit * (1.0 + on_device.rounding / 2))
    return Limits(
        kind,
        cosine,
        relative,
        element,
        bounds.absolute,
        FLAGS * looser,
        max((each.smallest or 0.0 for each in stored), default=0.0),
        few,
        largest,
    )


_NUMPY = {"float16": "DT_FLOAT16", "bfloat16": "DT_BF16", "float32": "DT_FLOAT"}


def _stored(name: str) -> Any:
    return BY_NAME.get(_NUMPY.get(name, name))


def judge(
    pairs: Pairs, limits: Limits, shape: Sequence[int] = (), exact: bool = False
) -> Tuple[Metrics, Judged]:
    """Measure two tensors, and say whether they agree.

    Args:
        pairs: makes the pieces of both, flat and of equal length.
        limits: what they have to be within.
        shape: of both, for places.
        exact: any difference diverges, as between ranks that have to be equal.
    """
    metrics = measure(pairs, limits.kind == FLAG, largest=limits.largest)
    if not metrics.elements:
        return metrics, Judged(NOT_COMPARED, (), metrics.remark)
    if exact:
        limits = attr.evolve(
            limits,
            cosine=-2.0,
            relative=0.0,
            element=0.0,
            absolute=0.0,
            flags=0.0,
            smallest=0,
            few=0.0,
        )
    if metrics.boolean:
        return metrics, _flags(metrics, limits)
    if metrics.whole:
        return _integers(pairs, metrics, limits, shape)
    return _numbers(pairs, metrics, limits, shape)


def _flags(metrics: Metrics, limits: Limits) -> Judged:
    count, elements = metrics.differing, metrics.elements
    if not count:
        return Judged(AGREES)
    if elements > 1 and count == elements:
        return Judged(DIVERGES, ("inverted",), "every truth value is inverted")
    text = phrase("truth values that differ: {:,} of {:,}", count, elements)
    text = join("; ", filter(None, [text, metrics.remark]))
    if count <= limits.flags * elements:
        return Judged(AGREES, (), text)
    return Judged(DIVERGES, ("elements",), text)


def _integers(
    pairs: Pairs, metrics: Metrics, limits: Limits, shape: Sequence[int]
) -> Tuple[Metrics, Judged]:
    allowed = limits.absolute
    if not metrics.differing or (allowed is not None and 0 < metrics.max_absolute <= allowed):
        return metrics, Judged(AGREES)
    metrics = look_closer(pairs, metrics, 0.0, 0.0, allowed or 0.0, shape)
    if metrics.elements == 1:
        return metrics, _single(metrics)
    shift = metrics.mean[0] - metrics.mean[1]
    spread = metrics.root_mean_square**2 - shift * shift
    if metrics.differing == metrics.elements and abs(spread) <= 1e-9 * shift * shift:
        text = phrase("every value differs by {:+g}", round(shift, 6))
        return metrics, Judged(DIVERGES, ("offset",), text)
    found = _of_one_value(metrics) or _arranged(pairs, metrics, 0.0, shape)
    found = found or _bent(pairs, metrics, 0.0)
    text = phrase("integers that differ: {:,} of {:,}", metrics.differing, metrics.elements)
    places = join(", ", [text, *_within(metrics, shape), *_at_worst(metrics, shape)])
    if found is None:
        return metrics, Judged(DIVERGES, ("elements",), places)
    return metrics, Judged(DIVERGES, found[:1], join("; ", [found[1], text]))


def _single(metrics: Metrics) -> Judged:
    message = "the only value is {} on the device and {} in the reference"
    return Judged(DIVERGES, ("single",), phrase(message, *_told_apart(*metrics.mean)))


def _told_apart(one: float, other: float) -> List[str]:
    """Both with six digits, or with as many as it takes to see the difference."""
    texts = [["{:.{}g}".format(value, digits) for value in (one, other)] for digits in (6, 9, 17)]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def _numbers(
    pairs: Pairs, metrics: Metrics, limits: Limits, shape: Sequence[int]
) -> Tuple[Metrics, Judged]:
    causes: List[str] = []
    reasons: List[str] = []
    if metrics.odd:
        place = place_of(metrics.first_odd, metrics.elements, shape)
        where = [phrase("the first at {}", place)] if shape else []
        if metrics.overflowed:
            causes.append("overflow")
            message = (
                "infinite values, where the reference exceeds the type's limit {1:g}: {0:,} of "
                "{2:,}"
            )
            limit = (limits.largest or (0.0,))[0]
            text = phrase(message, metrics.overflowed, limit, metrics.elements)
            reasons.append(join(", ", [text, *where]))
        if metrics.odd > metrics.overflowed:
            message = "NaN or infinite on one side only: {:,} of {:,}"
            text = phrase(message, metrics.odd, metrics.elements)
            reasons.append(join(", ", [text, *where]))
        causes.append("nan" if any(metrics.nan) else "infinite")
    if metrics.saturated:
        causes.append("saturation")
        message = "values at the type's limit {1:g}, where the reference exceeds this limit: {0:,}"
        reasons.append(phrase(message, metrics.saturated, (limits.largest or (0.0,))[0]))
    if metrics.compared and not _is_small(metrics, limits):
        metrics, found = _beyond(pairs, metrics, limits, shape)
        causes += found.causes
        if found.reason and not metrics.saturated:
            reasons.append(found.reason)
    if causes:
        verdict = DIVERGES
    else:
        verdict = AGREES if metrics.compared else NOT_COMPARED
    if metrics.compared < metrics.elements or not {"zeros", "single"} & set(causes):
        reasons += filter(None, [metrics.remark])
    return metrics, Judged(verdict, tuple(dict.fromkeys(causes)), join("; ", _unique(reasons)))


def _unique(texts: Sequence[str]) -> List[str]:
    return list(dict.fromkeys(texts))


def _is_small(metrics: Metrics, limits: Limits) -> bool:
    """True when no error is larger than what the type cannot hold."""
    off = metrics.max_absolute
    return not off or (off <= 2 * limits.smallest and metrics.root_mean_square <= limits.smallest)


def _beyond(
    pairs: Pairs, metrics: Metrics, limits: Limits, shape: Sequence[int]
) -> Tuple[Metrics, Judged]:
    """What of finite numbers is beyond the limits."""
    ours, theirs = metrics.sizes
    if not theirs:
        if metrics.max_absolute <= NOTHING and limits.relative:
            return metrics, Judged(AGREES)
        message = (
            "every value of the reference is 0, but the largest value of the device is {:.3g}"
        )
        text = phrase(message, metrics.max_absolute)
        return metrics, Judged(DIVERGES, ("zeros",), text)
    if not math.isfinite(ours + theirs):
        good = metrics.max_relative <= limits.relative
        return metrics, Judged(AGREES if good else DIVERGES, () if good else ("relative",))
    relative = limits.element if limits.absolute is None else 0.0
    absolute = limits.smallest if limits.absolute is None else limits.absolute
    distance = metrics.relative_euclidean
    over: List[Tuple[str, str]] = []
    remark = ""
    if metrics.elements > 1 and ours and not metrics.cosine > limits.cosine:
        message = "the cosine similarity is {:.6f}, the limit {:g}"
        over.append(("cosine", phrase(message, metrics.cosine, limits.cosine)))
    allowed = limits.relative
    if allowed < distance <= allowed * (1.0 + limits.few):
        allowed *= 1.0 + limits.few * _share(pairs, metrics)
    if limits.relative < distance <= allowed:
        message = (
            "the relative distance is {:.3g}; the limit {:g} becomes {:.3g} for a tensor "
            "with so few values"
        )
        remark = phrase(message, distance, limits.relative, allowed)
    if distance > allowed:
        message = "the relative distance is {:.3g}, the limit {:g}"
        rounded = float("{:.3g}".format(allowed))
        over.append(("relative", phrase(message, distance, rounded)))
    if over or metrics.max_absolute > relative * theirs + absolute:
        metrics = look_closer(pairs, metrics, relative, theirs, absolute, shape)
        if metrics.beyond and not over:
            message = "elements that differ by more than {2:g}: {0:,} of {1:,}"
            if limits.absolute is None:
                message = "elements with a relative difference above {2:g}: {0:,} of {1:,}"
            limit = relative if limits.absolute is None else absolute
            text = phrase(message, metrics.beyond, metrics.elements, limit)
            places = [*_within(metrics, shape), *_at_worst(metrics, shape)]
            over.append(("elements", join(", ", [text, *places])))
    if not over:
        return metrics, Judged(AGREES, (), remark)
    if metrics.elements == 1:
        found = _single(metrics)
        return metrics, found._replace(reason=join("; ", [found.reason, over[-1][1]]))
    told = _pattern(pairs, metrics, limits, shape)
    if told is not None and told[0] == over[-1][0]:
        told = over[-1]
    causes = [cause for cause, _ in ([told] if told else []) + over]
    texts = [told[1], over[-1][1]] if told else [text for _, text in over]
    return metrics, Judged(DIVERGES, tuple(dict.fromkeys(causes)), join("; ", _unique(texts)))


def _share(pairs: Pairs, metrics: Metrics) -> float:
    """How much of the squares of the reference the largest element makes up."""
    import numpy

    largest = 0.0
    for _, piece in pairs():
        values = numpy.abs(piece.astype("c16" if piece.dtype.kind == "c" else "f8"))
        largest = max(largest, float(values[numpy.isfinite(values)].max(initial=0.0)))
    return min(1.0, (largest / metrics.sizes[1]) ** 2 / metrics.compared)


def _at_worst(metrics: Metrics, shape: Sequence[int]) -> List[str]:
    """The worst element in words."""
    message = "largest difference at {}: {} instead of {}"
    return [
        phrase(
            message,
            place_of(each.place, metrics.elements, shape),
            *_told_apart(each.device, each.reference),
        )
        for each in metrics.worst[:1]
    ]


def place_of(place: int, elements: int, shape: Sequence[int]) -> List[int]:
    """The indices of an element of which the place in C order is known.

    Args:
        place: as it was counted.
        elements: how many were counted; of complex numbers two each.
        shape: of the tensor.
    """
    if elements == 2 * math_prod(shape):
        place //= 2
    indices = []
    for size in reversed(shape):
        place, index = divmod(place, size)
        indices.append(index)
    return indices[::-1]


def _pattern(
    pairs: Pairs, metrics: Metrics, limits: Limits, shape: Sequence[int]
) -> Optional[Tuple[str, str]]:
    """What happened to a tensor, in one word and in a sentence; None when it is not known."""
    _, theirs = metrics.sizes
    scale, cosine, near = metrics.scale, metrics.cosine, min(max(limits.relative, 1e-6), _NEAR)
    shift = metrics.mean[0] - metrics.mean[1]
    left = math.sqrt(max(metrics.root_mean_square**2 - shift * shift, 0.0)) / theirs
    bent = math.sqrt(max(1.0 - cosine * cosine, 0.0)) * scale
    if not scale or metrics.deviation[1] > near * theirs:
        found = _of_one_value(metrics)
        if found is not None:
            return found
    if left <= near and left < min(bent, metrics.relative_euclidean) / 2:
        return "offset", phrase("every value differs by about {:+.3g}", shift)
    if bent <= near * scale and abs(scale - 1.0) > near / 2:
        return "scale", _scaled(scale, cosine, limits)
    if bent <= near * scale and cosine < 0:
        return "sign", "every value has the opposite sign"
    closer = min(near, metrics.relative_euclidean / 10)
    found = _bent(pairs, metrics, closer)
    if found is not None:
        return found
    if metrics.zeroed_share >= _MOST:
        message = "values that are 0 on the device, but not in the reference: {:,} of {:,}"
        text = phrase(message, metrics.zeroed, metrics.elements)
        return "zeros", join(", ", [text, *_within(metrics, shape)])
    if abs(scale - 1.0) <= near and abs(shift) <= near * theirs:
        found = _arranged(pairs, metrics, closer, shape)
        if found is not None:
            return found[0], join(", ", [found[1], *_within(metrics, shape)])
    where = _within(metrics, shape)
    if metrics.share >= _MOST and (where or metrics.beyond <= max(1.0, _FEW * metrics.elements)):
        text = phrase("elements that differ: {:,} of {:,}", metrics.beyond, metrics.elements)
        return "elements", join(", ", [text, *where, *_at_worst(metrics, shape)])
    return None


def _of_one_value(metrics: Metrics) -> Optional[Tuple[str, str]]:
    """Whether the device has one value everywhere, and the reference has not."""
    ours, theirs = metrics.sizes
    if not ours and theirs:
        message = (
            "every value of the device is 0, but the largest value of the reference is {:.3g}"
        )
        return "zeros", phrase(message, metrics.max_absolute)
    if metrics.deviation[0] < 1e-6 * ours and metrics.deviation[1] > 1e-6 * theirs:
        return "constant", phrase("every value of the device is {:.6g}", metrics.mean[0])
    return None


def _within(metrics: Metrics, shape: Sequence[int]) -> List[str]:
    """The part of the tensor that holds everything that is off, where that is a small one."""
    sizes = [end - start for start, end in metrics.box]
    if metrics.beyond < 2 or not sizes or 2 * math_prod(sizes) > metrics.elements:
        return []
    texts = [
        ":" if (start, end) == (0, length) else "{}:{}".format(start, end)
        if end - start > 1 else str(start)
        for (start, end), length in zip(metrics.box, shape)
    ]  # fmt: skip
    return [phrase("all differences are within [{}]", ", ".join(texts))]


def _bent(pairs: Pairs, metrics: Metrics, near: float) -> Optional[Tuple[str, str]]:
    """Whether one side has the values of the other, cut off or without their signs."""
    import numpy

    off = [0.0] * 4
    for left, right in pairs():
        if "c" in (left.dtype.kind, right.dtype.kind):
            return None
        x, y = left.astype("f8"), right.astype("f8")
        finite = numpy.isfinite(x) & numpy.isfinite(y)
        x, y = x[finite], y[finite]
        for number, (one, other, side) in enumerate(((x, y, 0), (y, x, 1))):
            cut = numpy.clip(other, metrics.low[side], metrics.high[side]) - one
            bare = numpy.abs(other) - one
            off[number] += float(cut.dot(cut))
            off[number + 2] += float(bare.dot(bare))
    allowed = near * near * metrics.sizes[1] ** 2 * metrics.compared
    messages = (
        "the device values equal the reference, {}",
        "the reference equals the device values, {}",
    )
    for number, message in enumerate(messages):
        is_constant = metrics.low[number] == metrics.high[number]
        if off[number] <= allowed and not is_constant:
            return "clipped", phrase(message, _cut_off(metrics, number, near))
        if off[number + 2] <= allowed:
            return "absolute", phrase(message, phrase("without their signs (as absolute values)"))
    return None


def _cut_off(metrics: Metrics, side: int, near: float) -> str:
    """Where one side ends and the other does not."""
    slack = near * metrics.sizes[1]
    low, high = metrics.low[side], metrics.high[side]
    is_below = low > metrics.low[1 - side] + slack
    is_above = high < metrics.high[1 - side] - slack
    if is_below and is_above:
        return phrase("clipped below {:.6g} and above {:.6g}", low, high)
    return (
        phrase("clipped below {:.6g}", low) if is_below else phrase("clipped above {:.6g}", high)
    )


def _scaled(scale: float, cosine: float, limits: Limits) -> str:
    times = float("{:.4g}".format(scale if cosine > 0 else -scale))
    power = math.log2(scale)
    if limits.kind == GRADIENT and round(power) and abs(power - round(power)) < 2e-3:
        message = "the device values are {:,.6g} times the reference, as with a loss scale"
        return phrase(message, times)
    return phrase("the device values are {:,.6g} times the reference", times)


def _arranged(
    pairs: Pairs, metrics: Metrics, near: float, shape: Sequence[int]
) -> Optional[Tuple[str, str]]:
    """Whether the values are those of the reference in another order."""
    import numpy

    if metrics.elements > _ARRANGED or metrics.compared < metrics.elements:
        return None
    pieces = list(pairs())
    x, y = (numpy.concatenate([each[side] for each in pieces]) for side in (0, 1))
    kind = "c16" if "c" in (x.dtype.kind, y.dtype.kind) else "f8"
    x, y = x.astype(kind), y.astype(kind)

    def same(other: Any, values: Any, near: float = near) -> bool:
        off = values - other
        return bool(
            numpy.vdot(off, off).real <= near * near * float(numpy.vdot(values, values).real)
        )

    if x.size == math_prod(shape) and 2 <= len(shape) <= _MOST_AXES:
        cube = y.reshape(shape)
        for order in itertools.permutations(range(len(shape))):
            turned = cube.transpose(order).ravel()
            if order != tuple(range(len(shape))) and same(turned, x):
                message = "the device values equal the reference, with the axes {} (transposed)"
                return "transposed", phrase(message, list(order))
        for axis, length in enumerate(shape):
            if length > 1 and same(numpy.flip(cube, axis).ravel(), x):
                message = "the device values equal the reference, with axis {} reversed"
                return "reversed", phrase(message, axis)
    for shift in (1, -1):
        if same(numpy.roll(y, shift)[1:-1], x[1:-1]) and x.size > 4:
            return "shifted", phrase(
                "the device values equal the reference, shifted by {:+d}", shift
            )
    drawn = min(near, _DRAWN / math.sqrt(x.size))
    if metrics.beyond > 1 and same(numpy.sort(y), numpy.sort(x), drawn):  # one has no other place
        return "permutation", "the device values equal the reference, in another order"
    return None


LARGEST, SMALLEST, MEAN, NORM = "Max Value", "Min Value", "Avg Value", "l2norm"
COUNTS = ("Nan Count", "Negative Inf Count", "Positive Inf Count")
_COMPARED = (LARGEST, SMALLEST, MEAN, NORM, *COUNTS)
_ROUNDED = 1e-5
"""Tables have six digits."""

Numbers = Mapping[str, Number]


def numbers_of(array: Array) -> Dict[str, Number]:
    """The columns of a table, of the values of a tensor, or as its own table has them.

    Raises:
        NpuConfigError: the values cannot be read.
        ImportError: numpy is missing.
    """
    if array.numbers is not None:
        return {name: array.numbers.get(name) for name in _COMPARED}
    import numpy

    infinite = [0, 0]
    for piece in array.blocks():
        if piece.dtype.kind == "f":
            infinite[0] += int(numpy.count_nonzero(numpy.isneginf(piece)))
            infinite[1] += int(numpy.count_nonzero(numpy.isposinf(piece)))
    found = measured(array.blocks)
    finite = found.elements - found.nan - found.infinite
    return {
        LARGEST: found.maximum,
        SMALLEST: found.minimum,
        MEAN: found.mean,
        NORM: math.hypot(found.mean, found.deviation) * math.sqrt(finite),
        COUNTS[0]: found.nan,
        COUNTS[1]: infinite[0],
        COUNTS[2]: infinite[1],
    }


def judge_numbers(
    ours: Numbers,
    theirs: Numbers,
    limits: Limits,
    data_type: str,
    tables: bool = False,
    exact: bool = False,
) -> Judged:
    """Whether the numbers of two tensors agree.

    Args:
        ours: of the table.
        theirs: the same columns of the reference.
        limits: of the tensor.
        data_type: on the device.
        tables: both are of tables, so that extremes that are NaN or infinite mean the same.
        exact: numbers have to be equal as far as tables have digits, as between ranks.
    """
    if exact:
        limits = attr.evolve(limits, relative=0.0, absolute=None, smallest=0.0)
    rounded = 0.0 if exact and tables else _ROUNDED
    both = [
        (name, float(mine), float(there))
        for name, mine, there in ((name, ours.get(name), theirs.get(name)) for name in theirs)
        if mine is not None and there is not None
    ]
    if not both:
        return Judged(NOT_COMPARED, (), "the table has no statistics of this tensor")
    causes: List[str] = []
    reasons: List[str] = []
    for name, mine, there in both:
        if name in COUNTS and mine != there:
            causes.append("nan" if name == COUNTS[0] else "infinite")
            reasons.append(
                phrase("{}: {:g} on the device, {:g} in the reference", name, mine, there)
            )
    for name, mine, there in both:
        if tables and name not in COUNTS and not math.isfinite(there):
            if mine != there and not (math.isnan(mine) and math.isnan(there)):
                causes.append("nan" if math.isnan(there) else "infinite")
                reasons.append(
                    phrase("{}: {:g} on the device, {:g} in the reference", name, mine, there)
                )
        elif (
            name not in COUNTS
            and math.isfinite(there)
            and not _near(name, mine, there, both, limits, rounded)
        ):
            limit = _limit(data_type)
            full = limit is not None and abs(mine) >= limit and abs(there) > limit
            causes.append("saturation" if full else "statistics")
            reasons.append(
                phrase("{}: {:.6g} on the device, {:.6g} in the reference", name, mine, there)
            )
    if causes:
        return Judged(DIVERGES, tuple(dict.fromkeys(causes)), join("; ", reasons))
    if exact:
        return Judged(AGREES, (), "the statistics are equal, but single values may still differ")
    return Judged(AGREES, (), "only the statistics were compared")


def _limit(data_type: str) -> Optional[float]:
    kind = BY_NAME.get(data_type)
    return None if kind is None else kind.limit


def _near(
    name: str,
    mine: float,
    there: float,
    both: List[Tuple[str, float, float]],
    limits: Limits,
    rounded: float,
) -> bool:
    if limits.absolute is not None and name != NORM:
        return abs(mine - there) <= limits.absolute
    extremes = [abs(other) for which, _, other in both if which in (LARGEST, SMALLEST)]
    size = max(filter(math.isfinite, extremes), default=abs(there))
    allowed = limits.relative * abs(there) if name == NORM else ELEMENT * limits.relative * size
    if limits.kind == "index":
        allowed = 0.0
    return abs(mine - there) <= allowed + rounded * abs(there) + limits.smallest
