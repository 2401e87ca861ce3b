"""Statistics of tensors: those of numpy, whatever the type, and the places of odd values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numpy")

import numpy
from dumps.number_arrays import any_numbers

from npu_config.dumps.statistics import measured
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
