"""Tensors compared by the numbers of a table alone."""

import attr
import pytest

from npu_config.dumps.verdicts import AGREES, DIVERGES, MEAN, judge_numbers, limits_of

LIMITS = attr.evolve(limits_of("index", "DT_INT32", "DT_INT32"), absolute=None, smallest=0.0)


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
