"""Tensors compared by the numbers of a table alone."""

import attr
import pytest

from npu_config.dumps.reference import Array
from npu_config.dumps.verdicts import (
    AGREES,
    COUNTS,
    DIVERGES,
    LARGEST,
    MEAN,
    NORM,
    NOT_COMPARED,
    SMALLEST,
    judge_numbers,
    limits_of,
    numbers_of,
)

LIMITS = attr.evolve(limits_of("index", "DT_INT32", "DT_INT32"), absolute=None, smallest=0.0)
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("smallest", "mine", "there", "verdict"),
    [
        (0.0, 1e5 + 0.5, 1e5, AGREES),  # tables have six digits
        (0.0, 1e5 + 2.0, 1e5, DIVERGES),
        (0.1, 0.05, 0.0, AGREES),
        (0.1, 0.2, 0.0, DIVERGES),
        (0.1, 1e5 + 1.05, 1e5, AGREES),
    ],
)
def test_numbers_are_equal_as_far_as_a_table_says_them(smallest, mine, there, verdict):
    """What is rounded away by a table, and what is as small as rounding, is no difference."""
    limits = attr.evolve(LIMITS, smallest=smallest)
    assert verdict == judge_numbers({MEAN: mine}, {MEAN: there}, limits, "DT_INT32").verdict


FLOATS = attr.evolve(limits_of("activation", "DT_FLOAT", "DT_FLOAT"), smallest=0.0)
"""A relative distance of 5 %, one element of 25 %."""


def both(name, mine, there, **same):
    """Columns of both sides, of which one is given twice."""
    return {name: mine, **same}, {name: there, **same}


@pytest.mark.parametrize(
    ("name", "mine", "there", "more", "verdict"),
    [
        # of norms the relative limit, of other numbers that of one element of the largest one
        (NORM, 104.9, 100, {}, AGREES),
        (NORM, 105.1, 100, {}, DIVERGES),
        (NORM, 94.9, 100, {}, DIVERGES),
        (MEAN, 124.9, 100, {}, AGREES),
        (MEAN, 125.1, 100, {}, DIVERGES),
        (MEAN, -124.9, -100, {}, AGREES),
        (MEAN, 149.9, 100, {LARGEST: 200}, AGREES),
        (MEAN, 150.1, 100, {LARGEST: 200}, DIVERGES),
        (MEAN, 149.9, 100, {LARGEST: 100, SMALLEST: -200}, AGREES),
        (MEAN, 101.1, 100, {LARGEST: 4}, DIVERGES),
        (MEAN, 124.9, 100, {NORM: 9999}, AGREES),
        (MEAN, 125.1, 100, {NORM: 9999}, DIVERGES),
        (MEAN, 125.1, 100, {LARGEST: INF}, DIVERGES),
        # counts are exact
        (COUNTS[0], 1, 0, {}, DIVERGES),
        (COUNTS[1], 0, 1, {}, DIVERGES),
        (COUNTS[2], 5, 5, {}, AGREES),
        # what one side does not say
        (MEAN, None, 1, {}, NOT_COMPARED),
        (MEAN, 1, None, {}, NOT_COMPARED),
        (MEAN, None, 1, {LARGEST: 3}, AGREES),
        # of values the reference's infinities and NaN are no numbers
        (LARGEST, 5, INF, {MEAN: 1}, AGREES),
        (LARGEST, 5, NAN, {MEAN: 1}, AGREES),
        (LARGEST, INF, 5, {}, DIVERGES),
    ],
)
def test_numbers_within_limits(name, mine, there, more, verdict):
    """Both sides of each limit, and what a limit is a part of."""
    assert verdict == judge_numbers(*both(name, mine, there, **more), FLOATS, "DT_FLOAT").verdict


@pytest.mark.parametrize(
    ("mine", "there", "causes"),
    [
        (INF, INF, ()),
        (NAN, NAN, ()),
        (5, NAN, ("nan",)),
        (5, INF, ("infinite",)),
        (-INF, INF, ("infinite",)),
        (INF, NAN, ("nan",)),
        (NAN, INF, ("infinite",)),
        (NAN, 5, ("statistics",)),
    ],
)
def test_extremes_of_two_tables(mine, there, causes):
    """Of two tables an extreme that is NaN or infinite has to be so on both sides."""
    found = judge_numbers(*both(LARGEST, mine, there), FLOATS, "DT_FLOAT", tables=True)
    assert (causes, DIVERGES if causes else AGREES) == (found.causes, found.verdict)


@pytest.mark.parametrize(
    ("mine", "there", "data_type", "cause"),
    [
        (65504, 9e4, "DT_FLOAT16", "saturation"),
        (-65504, -9e4, "DT_FLOAT16", "saturation"),
        (65500, 9e4, "DT_FLOAT16", "statistics"),
        (65504, 4e4, "DT_FLOAT16", "statistics"),
        (65504, 9e4, "DT_FLOAT", "statistics"),
        (65504, 9e4, "DT_INT32", "statistics"),
        (65504, 9e4, "DT_400", "statistics"),
    ],
)
def test_numbers_at_the_limit_of_a_type(mine, there, data_type, cause):
    """Saturated is what is at the limit of its type where the reference is beyond it."""
    assert judge_numbers(*both(LARGEST, mine, there), FLOATS, data_type).causes == (cause,)


@pytest.mark.parametrize(
    ("name", "mine", "there", "tables", "verdict"),
    [
        (MEAN, 1.0, 1.0, True, AGREES),
        (MEAN, 1.000001, 1.0, True, DIVERGES),
        (MEAN, 1.000001, 1.0, False, AGREES),
        (MEAN, 1.0001, 1.0, False, DIVERGES),
        (NORM, 1.0001, 1.0, False, DIVERGES),
    ],
)
def test_numbers_of_ranks(name, mine, there, tables, verdict):
    """They are equal; a table against values as far as it has digits."""
    columns = both(name, mine, there)
    assert verdict == judge_numbers(*columns, FLOATS, "DT_FLOAT", tables, exact=True).verdict


@pytest.mark.parametrize(
    ("name", "mine", "there", "verdict"),
    [
        (MEAN, 102, 100, AGREES),
        (MEAN, 98, 100, AGREES),
        (MEAN, 102.1, 100, DIVERGES),
        (NORM, 104.9, 100, AGREES),
        (NORM, 105.1, 100, DIVERGES),
    ],
)
def test_an_absolute_limit(name, mine, there, verdict):
    """It holds for numbers of single elements, not for a norm."""
    limits = attr.evolve(FLOATS, absolute=2.0)
    assert verdict == judge_numbers(*both(name, mine, there), limits, "DT_FLOAT").verdict


def test_reasons_have_the_numbers():
    """Each column that differs with both numbers, counts first; causes once each."""
    mine = {MEAN: 3, LARGEST: 65504, COUNTS[0]: 2}
    there = {MEAN: 1, LARGEST: 1e5, COUNTS[0]: 0}
    found = judge_numbers(mine, there, FLOATS, "DT_FLOAT16")
    assert found.causes == ("nan", "saturation")
    assert [part.partition(":")[0] for part in found.reason.split("; ")] == [COUNTS[0], LARGEST]
    assert "65504" in found.reason
    assert "100000" in found.reason


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        ([1.0, 2.0], [0, 0, 0]),
        ([1.0, NAN, NAN], [2, 0, 0]),
        ([1.0, -INF, INF, INF], [0, 1, 2]),
        ([1, 2], [0, 0, 0]),
    ],
)
def test_the_columns_of_values(values, counts):
    """Values have the numbers that a table would have of them; the norm is of finite ones."""
    numpy = pytest.importorskip("numpy")
    array = Array("a", 0, "x", (len(values),), numpy.array(values))
    found = numbers_of(array)
    finite = [value for value in values if abs(value) < INF]
    assert [found[name] for name in COUNTS] == counts
    assert (found[LARGEST], found[SMALLEST]) == (max(finite), min(finite))
    assert found[NORM] == pytest.approx(sum(value * value for value in finite) ** 0.5)
    row = attr.evolve(array, numbers={MEAN: 3, "Count": 9})
    assert {name: value for name, value in numbers_of(row).items() if value} == {MEAN: 3}
