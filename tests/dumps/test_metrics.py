"""Which elements are off and where, odd values, mixed types: metrics by their numbers."""

import math

import pytest

pytest.importorskip("numpy")

import numpy

from npu_config.dumps.metrics import Worst, look_closer, measure


def pairs_of(x, y, size=4):
    """Pieces of both sides."""
    x, y = numpy.asarray(x).reshape(-1), numpy.asarray(y).reshape(-1)
    return lambda: (
        (x[start : start + size], y[start : start + size]) for start in range(0, x.size, size)
    )


def looked(x, y, relative=0.0, size=0.0, absolute=0.0, shape=()):
    """What a closer look finds."""
    pairs = pairs_of(x, y)
    return look_closer(pairs, measure(pairs), relative, size, absolute, shape)


Y = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


@pytest.mark.parametrize(
    ("off", "relative", "size", "absolute", "beyond"),
    [
        ({0: 0.5}, 0.5, 0, 0, 0),
        ({0: 0.51}, 0.5, 0, 0, 1),
        ({0: -0.51}, 0.5, 0, 0, 1),
        ({0: 1.5}, 0.5, 3, 0, 0),
        ({0: 1.51}, 0.5, 3, 0, 1),
        ({0: 0.7}, 0.5, 0, 0.25, 0),
        ({0: 0.8}, 0.5, 0, 0.25, 1),
        ({0: 0.25}, 0, 0, 0.25, 0),
        ({0: 0.26}, 0, 0, 0.25, 1),
        ({0: 1, 5: 1}, 0.1, 0, 0, 1),
        ({0: 1, 5: 9}, 0.1, 0, 0, 2),
        ({0: math.nan}, 0, 0, 0, 0),
        ({0: math.inf}, 0, 0, 0, 0),
    ],
)
def test_elements_beyond_a_limit(off, relative, size, absolute, beyond):
    """``relative * max(|y|, size) + absolute``, both sides of it; what is not finite is not."""
    x = [each + off.get(index, 0) for index, each in enumerate(Y)]
    found = looked(x, Y, relative, size, absolute)
    assert (beyond, 0) == (found.beyond, found.zeroed)
    assert len(found.worst) == beyond


def test_the_share_of_what_is_off():
    """Of the sum of squared errors: one of 3 beside one of 4 is 9 of 25."""
    x = [4.0, 2.0, 4.0, 8.0, 16.0, 36.0]
    found = looked(x, Y, relative=0.2)
    assert (found.beyond, found.share) == (1, pytest.approx(9 / 25))
    found = looked(x, Y)
    assert (found.beyond, found.share) == (2, 1)
    assert found.worst == (Worst(5, 36.0, 32.0), Worst(0, 4.0, 1.0))
    assert looked(Y, Y).share == 0


def test_zeroed_elements():
    """Those that are 0 on the device and further off than the absolute limit."""
    x = [0.0, 2.0, 4.0, 8.0, 0.0, 0.0]
    found = looked(x, [1.0, 2.0, 4.0, 8.0, 16.0, 0.0], absolute=2)
    assert (found.zeroed, found.beyond) == (1, 1)
    assert found.zeroed_share == pytest.approx(256 / 257)
    assert looked(x, Y, absolute=2).zeroed == 2
    assert looked(x, Y, relative=2).zeroed == 3


@pytest.mark.parametrize(
    ("places", "shape", "box"),
    [
        ([0], (2, 3), ((0, 1), (0, 1))),
        ([5], (2, 3), ((1, 2), (2, 3))),
        ([1, 5], (2, 3), ((0, 2), (1, 3))),
        ([0, 3], (2, 3), ((0, 2), (0, 1))),
        ([4], (6,), ((4, 5),)),
        ([4], (), ()),
        ([4], (7,), ()),
        ([], (2, 3), ()),
    ],
)
def test_where_they_are(places, shape, box):
    """The smallest range of each axis; nothing where the shape is not that of the elements."""
    x = [each + (9 if index in places else 0) for index, each in enumerate(Y)]
    found = looked(x, Y, shape=shape)
    assert (box, len(places)) == (found.box, found.beyond)
    assert sorted(each.place for each in found.worst) == places


def test_the_worst_elements():
    """Five of them, the worst first, from any piece; of equal ones the first."""
    off = [3, 1, 7, 7, 2, 9, 0, 5, 8, 4, 6, 9]
    found = looked(off, numpy.zeros(12))
    assert [each.place for each in found.worst] == [5, 11, 8, 2, 3]
    assert [each.device for each in found.worst] == [9, 9, 8, 7, 7]
    assert found.beyond == 11


@pytest.mark.parametrize("real", ["f4", "f8", "i4"])
@pytest.mark.parametrize("swapped", [False, True])
def test_complex_against_real(real, swapped):
    """A real number is a complex one without an imaginary part, on either side."""
    sides = [numpy.array([3 + 4j, 1, 2], "c8"), numpy.array([3, 1, 2], real)]
    found = measure(pairs_of(*(reversed(sides) if swapped else sides)))
    assert (found.elements, found.max_absolute, found.whole) == (6, 4, False)
    assert found.root_mean_square == pytest.approx(math.sqrt(16 / 6))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("signed", "unsigned", "differing"),
    [(0, 0, 0), (1, 1, 0), (-1, 2**64 - 1, 1), (-(2**63), 2**63, 1), (2**63 - 1, 2**63 - 1, 0)],
)
def test_64_bits_with_and_without_sign(signed, unsigned, differing, swapped):
    """They are equal as numbers, not as bits."""
    sides = [numpy.array([signed, 7], "i8"), numpy.array([unsigned, 7], "u8")]
    found = measure(pairs_of(*(reversed(sides) if swapped else sides)))
    assert (found.differing, found.whole) == (differing, True)


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        # odd, the first of them, NaN of both, infinities of both, pairs that were compared
        ([1, 2, NAN, 4, NAN], [1, 2, 3, 4, 5], (2, 2, (2, 0), (0, 0), 3)),
        ([1, 2, 3, 4, 5], [1, NAN, 3, 4, 5], (1, 1, (0, 1), (0, 0), 4)),
        ([1, NAN, 3, 4, 5], [1, NAN, 3, 4, 5], (0, 0, (1, 1), (0, 0), 4)),
        ([1, INF, 3, 4, 5], [1, INF, 3, 4, 5], (0, 0, (0, 0), (1, 1), 4)),
        ([1, INF, 3, 4, 5], [1, -INF, 3, 4, 5], (1, 1, (0, 0), (1, 1), 4)),
        ([1, INF, 3, 4, 5], [1, NAN, 3, 4, 5], (1, 1, (0, 1), (1, 0), 4)),
        ([1, 2, 3, 4, 5, INF], [1, 2, 3, 4, 5, 6], (1, 5, (0, 0), (1, 0), 5)),
    ],
)
def test_odd_values(x, y, expected):
    """Pairs with NaN or an infinity on one side, or different ones, and the first place."""
    found = measure(pairs_of(x, y))
    counts = found.odd, found.first_odd, found.nan, found.infinite, found.compared
    assert expected == counts


@pytest.mark.parametrize(
    ("x", "y", "saturated", "overflowed"),
    [
        (100, 104, 0, 0),
        (100, 105, 1, 0),
        (-100, -105, 1, 0),
        (99, 105, 0, 0),
        (INF, 105, 0, 1),
        (-INF, -105, 0, 1),
        (INF, 104, 0, 0),
        (INF, INF, 0, 0),
        (NAN, 105, 0, 0),
    ],
)
def test_the_limit_of_a_type(x, y, saturated, overflowed):
    """At the largest number, or infinite, where the reference is beyond what rounds to it."""
    found = measure(pairs_of([1.0, x, 2.0], [1.0, y, 2.0]), largest=(100.0, 105.0))
    assert (saturated, overflowed) == (found.saturated, found.overflowed)
    quick = measure(pairs_of([x], [y]), divergence=False, largest=(100, 105))
    assert (saturated, overflowed) == (quick.saturated, quick.overflowed)
    none = measure(pairs_of([1.0, x, 2.0], [1.0, y, 2.0]))
    assert (none.saturated, none.overflowed) == (0, 0)


@pytest.mark.parametrize(
    ("x", "y", "cosine", "decibels"),
    [
        ([0.0, 0.0], [0.0, 0.0], 1, NAN),
        ([0.0, 0.0], [1.0, 0.0], NAN, 0),
        ([1.0, 0.0], [0.0, 0.0], NAN, -INF),
        ([1.0, 2.0], [1.0, 2.0], 1, INF),
        ([3.0], [4.0], 1, 10 * math.log10(16)),
        ([1.0, 0.0], [0.0, 1.0], 0, 10 * math.log10(1 / 2)),
    ],
)
def test_numbers_of_nothing(x, y, cosine, decibels):
    """What is 0, equal or a single value has the cosine and the ratio that are documented."""
    found = measure(pairs_of(x, y))
    for expected, actual in ((cosine, found.cosine), (decibels, found.signal_to_noise)):
        assert repr(float(expected)) == repr(actual) or expected == pytest.approx(actual)
    assert found.scale == (
        found.sizes[0] / found.sizes[1] if any(y) else pytest.approx(NAN, nan_ok=True)
    )


def test_a_ratio_that_is_too_small():
    """One that no float holds is as one of 0."""
    found = measure(pairs_of([1e10, 0.0], [2e-162, 0.0]))
    assert (found.signal_to_noise, found.relative_euclidean) == (-INF, INF)


def test_what_is_left_out():
    """Without the divergence there are no extremes, and truth values have no distance."""
    plain = measure(pairs_of(Y, Y[::-1]), divergence=False)
    assert (math.isnan(plain.divergence), plain.low[0], plain.high[1]) == (True, INF, -INF)
    full = measure(pairs_of(Y, Y[::-1]))
    assert (full.divergence > 0, full.low, full.high) == (True, (1, 1), (32, 32))
    flags = measure(pairs_of([True, False], [True, True]), boolean=True)
    assert (flags.boolean, flags.differing, math.isnan(flags.max_absolute)) == (True, 1, True)
    assert measure(pairs_of(Y, Y[::-1])).differing == 0
