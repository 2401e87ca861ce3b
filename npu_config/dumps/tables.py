"""Tables of statistics (``dump_data: "stats"``) against a reference: extremes, mean, counts.

They tell less than tensors: numbers that agree are said to be all that was compared.

Source: facts dump.yaml, ``stats_csv``.
"""

import math
from typing import Dict, List, Mapping, Optional, Tuple

import attr

from npu_config.core.message import join, phrase
from npu_config.dumps.data_types import BY_NAME
from npu_config.dumps.reference import Array
from npu_config.dumps.statistics import Number, measured
from npu_config.dumps.verdicts import AGREES, DIVERGES, ELEMENT, NOT_COMPARED, Judged, Limits

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
        return Judged(NOT_COMPARED, (), "the table has no number of this tensor")
    causes: List[str] = []
    reasons: List[str] = []
    for name, mine, there in both:
        if name in COUNTS and mine != there:
            causes.append("nan" if name == COUNTS[0] else "infinite")
            reasons.append(phrase("{}: {:g}, {:g} in the reference", name, mine, there))
    for name, mine, there in both:
        if tables and name not in COUNTS and not math.isfinite(there):
            if mine != there and not (math.isnan(mine) and math.isnan(there)):
                causes.append("nan" if math.isnan(there) else "infinite")
                reasons.append(phrase("{}: {:g}, {:g} in the reference", name, mine, there))
        elif (
            name not in COUNTS
            and math.isfinite(there)
            and not _near(name, mine, there, both, limits, rounded)
        ):
            limit = _limit(data_type)
            full = limit is not None and abs(mine) >= limit and abs(there) > limit
            causes.append("saturation" if full else "statistics")
            reasons.append(phrase("{}: {:.6g}, {:.6g} in the reference", name, mine, there))
    if causes:
        return Judged(DIVERGES, tuple(dict.fromkeys(causes)), join("; ", reasons))
    if exact:
        return Judged(
            AGREES, (), "the statistics are equal, which does not prove that every value is"
        )
    return Judged(AGREES, (), "compared by statistics alone")


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
