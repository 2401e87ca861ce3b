"""Statistics of tensors: those of numpy, whatever the type; odd values; tables of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

import numpy
from dumps.number_arrays import any_numbers

from npu_config import NpuConfigError
from npu_config.dumps.overflow import _reported_row
from npu_config.dumps.statistics import (
    StatisticsRow,
    measured,
    read_statistics,
    statistics_of_row,
)
from tests import golden

TYPES = ["f2", "f4", "f8", "i1", "u1", "i4", "i8", "u8", "bool", "c8"]


def pieces(values, size=7):
    """Flat pieces of an array."""

    def make():
        for start in range(0, values.size, size):
            yield values[start : start + size]

    return make


@settings(max_examples=golden.tries(300), deadline=None)
@given(values=st.sampled_from(TYPES).flatmap(any_numbers))
def test_any_values(values):
    """Counts and extremes are those of numpy; the histogram counts every finite value."""
    with numpy.errstate(all="ignore"):
        found = measured(pieces(values), bins=5)
        numbers = numpy.abs(values) if values.dtype.kind == "c" else values
    finite = numbers[numpy.isfinite(numbers)]
    assert (values.size, int((numbers == 0).sum())) == (found.elements, found.zeros)
    assert numpy.isnan(numbers).sum() == found.nan
    assert numpy.isinf(numbers).sum() == found.infinite
    if finite.size:
        assert (finite.min(), finite.max()) == (found.minimum, found.maximum)
        assert sum(found.histogram) in (0, finite.size)
        odd = numpy.flatnonzero(~numpy.isfinite(numbers))[:5]
        assert tuple(odd) == found.odd_positions
    else:
        assert numpy.isnan(found.mean)


def test_mean_and_deviation():
    """They are those of the whole, in pieces of any size."""
    values = numpy.random.RandomState(3).standard_normal(1000) * 5 + 2
    found = measured(pieces(values, 33))
    assert values.mean() == pytest.approx(found.mean)
    assert values.std() == pytest.approx(found.deviation)


def test_the_limit_of_the_type():
    """Saturated values are counted, and the first of them is named."""
    values = numpy.array([1, 65504, -65504, numpy.inf], "f2")
    found = measured(pieces(values, 2), 65504.0)
    assert (
        found.at_limit,
        found.infinite,
        found.odd_positions,
        found.is_clean,
    ) == (2, 1, (1, 2, 3), False)


def test_the_bins_of_a_histogram():
    """Bins are of equal width; the last one has the largest value."""
    values = numpy.array([0, 0, 0, 1, 5, 8, 9, 10], "f4")
    assert measured(pieces(values, 3), bins=5).histogram == (4, 0, 1, 0, 3)


@pytest.mark.parametrize("low", [0.0, 1e16, -1e300, 2.0**-1070])
def test_histograms_of_narrow_ranges(low):
    """A range of a few representable numbers, or of one, has a histogram as well."""
    values = numpy.array([low, numpy.nextafter(low, numpy.inf), low])
    assert sum(measured(pieces(values), bins=8).histogram) == 3
    assert sum(measured(pieces(values * 0 + low), bins=8).histogram) == 3


NAN, INF = float("nan"), float("inf")
ROWS = [
    # type, shape, cells of the table; then elements, low, high, mean, NaN, infinite, at the limit
    ("DT_FLOAT", (2, 3), {"Max Value": 5, "Min Value": -1, "Avg Value": 2},
     (6, -1, 5, 2, 0, 0, 0)),
    ("DT_FLOAT", None, {"Max Value": 5, "Count": 7}, (7, NAN, 5, NAN, 0, 0, 0)),
    ("DT_FLOAT", None, {"Min Value": 5}, (1, 5, NAN, NAN, 0, 0, 0)),
    ("DT_FLOAT", (9,), {"Max Value": 5, "Count": 7}, (7, NAN, 5, NAN, 0, 0, 0)),
    ("DT_FLOAT", (2,), {"l2norm": 3.5}, (2, NAN, NAN, NAN, 0, 0, 0)),
    ("DT_FLOAT", (2,), {"Nan Count": 0}, (2, NAN, NAN, NAN, 0, 0, 0)),
    ("DT_FLOAT", (2,), {"Negative Inf Count": 1}, (2, NAN, NAN, NAN, 0, 1, 0)),
    ("DT_FLOAT", (9,), {"Negative Inf Count": 1, "Positive Inf Count": 2, "Nan Count": 3},
     (9, NAN, NAN, NAN, 3, 3, 0)),
    ("DT_FLOAT", (4,), {"Max Value": INF, "Min Value": 1}, (4, 1, NAN, NAN, 0, 1, 0)),
    ("DT_FLOAT", (4,), {"Max Value": INF, "Min Value": -INF}, (4, NAN, NAN, NAN, 0, 2, 0)),
    ("DT_FLOAT", (4,), {"Max Value": INF, "Min Value": 1, "Positive Inf Count": 3},
     (4, 1, NAN, NAN, 0, 3, 0)),
    ("DT_FLOAT", (4,), {"Max Value": NAN, "Min Value": 1}, (4, 1, NAN, NAN, 1, 0, 0)),
    ("DT_FLOAT", (4,), {"Max Value": NAN, "Min Value": NAN}, (4, NAN, NAN, NAN, 1, 0, 0)),
    ("DT_FLOAT", (4,), {"Max Value": 3, "Min Value": 1, "Avg Value": NAN},
     (4, 1, 3, NAN, 1, 0, 0)),
    ("DT_FLOAT", (4,), {"Max Value": NAN, "Min Value": 1, "Nan Count": 3},
     (4, 1, NAN, NAN, 3, 0, 0)),
    ("DT_FLOAT", (4,), {"Max Value": INF, "Min Value": 1, "Avg Value": NAN},
     (4, 1, NAN, NAN, 0, 1, 0)),
    ("DT_FLOAT16", (4,), {"Max Value": 65504, "Min Value": 1}, (4, 1, 65504, NAN, 0, 0, 1)),
    ("DT_FLOAT16", (4,), {"Max Value": 1, "Min Value": -65504}, (4, -65504, 1, NAN, 0, 0, 1)),
    ("DT_FLOAT16", (4,), {"Max Value": 65504, "Min Value": -65504},
     (4, -65504, 65504, NAN, 0, 0, 2)),
    ("DT_FLOAT", (4,), {"Max Value": 65504, "Min Value": -65504},
     (4, -65504, 65504, NAN, 0, 0, 0)),
    ("DT_FLOAT", (4,), {"Max Value": 3.40282e38, "Min Value": 0},
     (4, 0, 3.40282e38, NAN, 0, 0, 1)),
    ("DT_INT32", (4,), {"Max Value": 65504, "Min Value": 0}, (4, 0, 65504, NAN, 0, 0, 0)),
    ("DT_FLOAT", (4,), {"Count": 4}, None),
    ("DT_FLOAT", (4,), {"Max Value": None}, None),
    ("DT_FLOAT", (4,), {}, None),
]  # fmt: skip


@pytest.mark.parametrize(("data_type", "shape", "numbers", "expected"), ROWS)
def test_rows_of_tables(data_type, shape, numbers, expected):
    """Counts as the table has them, else as far as its extremes say; else nothing."""
    row = StatisticsRow("output", 0, 16, data_type, "ND", shape, numbers)
    found = statistics_of_row(row)
    report = _reported_row(row)
    assert (report.side, report.number, report.shape) == ("output", 0, shape or ())
    assert (report.statistics is None, bool(report.reason)) == (expected is None,) * 2
    if expected is None:
        assert found is None
        return
    actual = (
        found.elements, found.minimum, found.maximum, found.mean, found.nan, found.infinite,
        found.at_limit,
    )  # fmt: skip
    assert repr(tuple(map(float, expected))) == repr(tuple(map(float, actual)))
    assert repr((NAN, 0)) == repr((found.deviation, found.zeros))
    assert found.is_clean is not any(expected[4:])


COLUMNS = "Input/Output,Index,Data Size,Data Type,Format,Shape"


@pytest.mark.parametrize(
    ("head", "row", "expected"),
    [
        ("Count,Max Value", "4,2.5", {"Count": 4, "Max Value": 2.5}),
        ("Count,Max Value", "2.5", {"Max Value": 2.5}),
        ("Max Value,Min Value", "2.5", {"Max Value": 2.5, "Min Value": None}),
        ("Max Value", "", {"Max Value": None}),
        ("Max Value", "-3", {"Max Value": -3.0}),
        ("Max Value", "1e3", {"Max Value": 1000.0}),
        ("Count", str((1 << 64) - 1), {"Count": float((1 << 64) - 1)}),
        ("Count", str((1 << 64) - 5000), {"Count": (1 << 64) - 5000}),
        ("Count,Max Value", "4,2,1", None),
        ("Max Value", "4,2", None),
    ],
)
def test_cells_of_tables(tmp_path, head, row, expected):
    """Whole numbers stay whole; cells may be missing at the end, and the count among them."""
    path = tmp_path / "a.csv"
    path.write_text("{},{}\nOutput,3,16,DT_FLOAT,ND,2x2,{}\n".format(COLUMNS, head, row))
    if expected is None:
        with pytest.raises(NpuConfigError, match=r"a\.csv:2"):
            read_statistics(path)
        return
    (found,) = read_statistics(path)
    assert (found.side, found.index, found.size, found.shape) == ("output", 3, 16, (2, 2))
    assert repr(expected) == repr(found.numbers)
