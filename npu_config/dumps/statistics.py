"""What the values of a tensor look like: extremes, mean, zeros, NaN, the type's limit.

Computed piece by piece (the histogram takes a second pass), or read from the tables that
``dump_data: "stats"`` writes in place of tensors; there any subset of the numbers may be, and
rows may lack their ``Count``.

Source: facts dump.yaml, ``stats_csv``.
"""

import csv
import math
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import NpuConfigError, Place
from npu_config.core.message import listed, phrase
from npu_config.core.paths import PathLike, path_name
from npu_config.dumps._rules import statistics_unreadable
from npu_config.dumps.data_types import BY_NAME
from npu_config.dumps.dump import Tensor
from npu_config.dumps.layouts import math_prod
from npu_config.text.source import text_of

POSITIONS = 5
"""How many positions of odd values are kept."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Statistics:
    """The numbers of one tensor; those of values are of the finite ones, NaN without any.

    Args:
        elements: all of them.
        minimum: the smallest finite value.
        maximum: the largest finite value.
        mean: of the finite values.
        deviation: their standard deviation.
        zeros: how many are 0.
        nan: how many are NaN.
        infinite: how many are infinite.
        at_limit: how many have the largest number of their type, as saturation leaves it.
        odd_positions: where the first NaN, infinite or limit values are, in C order.
        histogram: how many values are in each of equal parts from minimum to maximum; empty
            when it was not asked for.
        padded: True when the padding of the device's layout is counted, too.
    """

    elements: int
    minimum: float
    maximum: float
    mean: float
    deviation: float
    zeros: int
    nan: int
    infinite: int
    at_limit: int
    odd_positions: Tuple[int, ...] = ()
    histogram: Tuple[int, ...] = ()
    padded: bool = False

    @property
    def is_clean(self) -> bool:
        """True without NaN, infinities and values at the limit of their type."""
        return not (self.nan or self.infinite or self.at_limit)


def statistics_of(tensor: Tensor, original: bool = True, bins: int = 0) -> Statistics:
    """Go through the values of a tensor.

    Args:
        tensor: of a dump.
        original: leave the padding of the device's layout out, where the layout is known.
        bins: parts of the histogram; 0: none.

    Raises:
        NpuConfigError: the values are not documented, or the file does not hold them.
        ImportError: numpy is missing.
    """
    if original:
        try:
            tensor.steps()
        except NpuConfigError:
            original = False
    kind = BY_NAME.get(tensor.data_type)
    return measured(
        lambda: tensor.blocks(original), kind.limit if kind else None, bins, not original
    )


def measured(
    pieces: Callable[[], Iterator[Any]],
    limit: Optional[float] = None,
    bins: int = 0,
    padded: bool = False,
) -> Statistics:
    """The statistics of flat pieces.

    Args:
        pieces: makes them; called a second time for the histogram.
        limit: the largest number of a float type.
        bins: parts of the histogram; 0: none.
        padded: what :attr:`Statistics.padded` is to say.
    """
    import numpy

    count = zeros = nans = infinite = at_limit = position = 0
    low, high, mean, spread = math.inf, -math.inf, 0.0, 0.0
    odd: List[int] = []
    with numpy.errstate(all="ignore"):
        for piece in pieces():
            values = _real(numpy, piece)
            zeros += int(values.size - numpy.count_nonzero(values))
            if values.dtype.kind == "f":
                values, strange = _finite(numpy, values, limit)
                nans, infinite = nans + strange[0], infinite + strange[1]
                at_limit += strange[2]
                odd += [position + int(index) for index in strange[3][: POSITIONS - len(odd)]]
            position += piece.size
            if not values.size:
                continue
            low, high = min(low, values.min().item()), max(high, values.max().item())
            wide = values.astype(numpy.float64)
            whole, own = count + wide.size, float(wide.mean())
            shift = own - mean
            spread += float(wide.var()) * wide.size + shift * shift * count * wide.size / whole
            mean += shift * wide.size / whole
            count = whole
        histogram = _histogram(numpy, pieces, low, high, bins) if bins and count else ()
    nothing = math.nan
    return Statistics(
        position,
        low if count else nothing,
        high if count else nothing,
        mean if count else nothing,
        math.sqrt(spread / count) if count else nothing,
        zeros,
        nans,
        infinite,
        at_limit,
        tuple(odd),
        histogram,
        padded,
    )


def _real(numpy: Any, piece: Any) -> Any:
    """Truth values as numbers, complex values by their magnitude."""
    if piece.dtype.kind == "c":
        return numpy.abs(piece)
    return piece.view("u1") if piece.dtype.kind == "b" else piece


def _finite(
    numpy: Any, values: Any, limit: Optional[float]
) -> Tuple[Any, Tuple[int, int, int, List[int]]]:
    """The finite values, and what there is to say of the others and of those at the limit."""
    finite = numpy.isfinite(values)
    nan = infinite = 0
    strange = ~finite
    if not finite.all():
        nan = int(numpy.count_nonzero(numpy.isnan(values)))
        infinite = int(values.size - numpy.count_nonzero(finite)) - nan
    at = numpy.zeros(0, bool) if limit is None else numpy.abs(values) == limit
    at_limit = int(numpy.count_nonzero(at))
    if at_limit:
        strange |= at
    positions = numpy.flatnonzero(strange)[:POSITIONS].tolist() if strange.any() else []
    return (values if finite.all() else values[finite]), (nan, infinite, at_limit, positions)


def _histogram(
    numpy: Any, pieces: Callable[[], Iterator[Any]], low: float, high: float, bins: int
) -> Tuple[int, ...]:
    first, extent = float(low), float(high) - float(low)
    if not math.isfinite(extent):
        return ()
    counts = numpy.zeros(bins, numpy.int64)
    for piece in pieces():
        values = _real(numpy, piece).astype(numpy.float64)
        values = values[numpy.isfinite(values)] - first
        if extent:
            values /= extent
            values *= bins
        places = numpy.clip(values.astype(numpy.int64), 0, bins - 1)
        counts += numpy.bincount(places, minlength=bins)
    return tuple(int(count) for count in counts)


_FIXED = ("Input/Output", "Index", "Data Size", "Data Type", "Format", "Shape")
_LARGEST = 1 << 24
_COUNT = "Count"
_LARGEST_COUNT = 1 << 64

Number = Union[int, float, None]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class StatisticsRow:
    """The numbers of one tensor.

    Args:
        side: ``"input"`` or ``"output"``.
        index: which of them.
        size: bytes on the device.
        data_type: e.g. ``"DT_FLOAT"``.
        format: on the device.
        shape: on the device; None where the table has ``-``.
        numbers: column to number, e.g. ``"Max Value"``; None where nothing was computed.
    """

    side: str
    index: int
    size: int
    data_type: str
    format: str
    shape: Optional[Tuple[int, ...]]
    numbers: Dict[str, Number]


_INFINITE = ("Negative Inf Count", "Positive Inf Count")
_VALUES = ("Max Value", "Min Value", "Avg Value", "l2norm")


def statistics_of_row(row: StatisticsRow) -> Optional[Statistics]:
    """What a row of a table says; None when nothing was computed.

    Extremes have six digits there, and may be NaN or infinite themselves.  A table does not say
    how many values are at the type's limit: each extreme that is stands for one.  What else it
    does not say is 0 among the counts and NaN among the numbers.
    """
    numbers = {name: value for name, value in row.numbers.items() if value is not None}
    values = {name: float(numbers[name]) for name in _VALUES if name in numbers}
    counts = [_count(numbers.get(name)) for name in _INFINITE]
    if not values and not any(name in numbers for name in (*_INFINITE, "Nan Count")):
        return None
    low, high = (values.get(name, math.nan) for name in ("Min Value", "Max Value"))
    infinite = sum(counts) or math.isinf(low) + math.isinf(high)
    nan = _count(numbers.get("Nan Count"))
    if not nan and not infinite:
        nan = int(any(map(math.isnan, values.values())))
    kind = BY_NAME.get(row.data_type)
    limit = None if kind is None or kind.limit is None else float("{:.6g}".format(kind.limit))
    return Statistics(
        _count(numbers.get("Count")) or math_prod(row.shape or ()),
        low if math.isfinite(low) else math.nan,
        high if math.isfinite(high) else math.nan,
        values.get("Avg Value", math.nan),
        math.nan,
        0,
        nan,
        infinite,
        0 if limit is None else (abs(low) == limit) + (abs(high) == limit),
    )


def _count(number: "Number") -> int:
    return int(number) if number is not None and math.isfinite(number) else 0


def read_statistics(path: PathLike) -> Tuple[StatisticsRow, ...]:
    """Read a table of statistics.

    Args:
        path: the ``.csv`` file.

    Raises:
        NpuConfigError: it is not such a table, with every row that is wrong.
    """
    name = path_name(path)
    try:
        rows = [row for row in csv.reader(text_of(name, _LARGEST).splitlines()) if row]
    except csv.Error as error:
        message = phrase("the table is not CSV: {}", error)
        raise statistics_unreadable.error(message, Place(name)) from None
    if not rows or tuple(rows[0][: len(_FIXED)]) != _FIXED:
        message = "the table does not begin with the columns {}"
        raise statistics_unreadable.error(phrase(message, listed(_FIXED)), Place(name, 1))
    columns = rows[0][len(_FIXED) :]
    result: List[StatisticsRow] = []
    found = []
    for line, row in enumerate(rows[1:], 2):
        try:
            result.append(_row(row, columns))
        except ValueError as error:
            found.append(statistics_unreadable.diagnostic(str(error), Place(name, line)))
    if found:
        raise NpuConfigError(found)
    return tuple(result)


def _row(row: Sequence[str], columns: Sequence[str]) -> StatisticsRow:
    if len(row) == len(_FIXED) + len(columns) - 1 and _COUNT in columns:
        columns = [column for column in columns if column != _COUNT]
    fewest, most = len(_FIXED), len(_FIXED) + len(columns)
    if not fewest <= len(row) <= most:
        raise ValueError(phrase("the row has {} fields; legal: {} to {}", len(row), fewest, most))
    side, index, size, data_type, format_, shape = row[: len(_FIXED)]
    if side.lower() not in ("input", "output") or not index.isdecimal() or not size.isdecimal():
        raise ValueError(phrase('the row begins with "{}", not with Input or Output', side[:40]))
    cells = [*row[len(_FIXED) :], *[""] * len(columns)]
    return StatisticsRow(
        side.lower(),
        int(index),
        int(size),
        data_type,
        format_,
        _shape(shape),
        {column: _number(cell) for column, cell in zip(columns, cells)},
    )


def _shape(text: str) -> Optional[Tuple[int, ...]]:
    parts = text.split("x")
    if not all(part.isdecimal() for part in parts):
        return None
    return tuple(int(part) for part in parts)


def _number(text: str) -> Number:
    try:
        number = float(text)
    except ValueError:
        return None
    return int(text) if text.isdecimal() and number < _LARGEST_COUNT else number
