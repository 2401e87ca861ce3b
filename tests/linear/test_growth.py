"""Every reader takes time in proportion to its input, counted in calls of functions."""

import pytest

from tests.fuzz.seeds import SEEDS
from tests.fuzz.targets import TARGETS, execute
from tests.linear.growth import calls, families
from tests.linear.shapes import SHAPES

FEW, MANY = 500, 2_000


def test_every_target_has_a_seed():
    """A new reader gets one."""
    assert sorted(SEEDS) == sorted(TARGETS)
    assert set(SHAPES) <= set(TARGETS)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_growth(name):
    """Four times the bytes take no more than six times the calls, once caches are warm."""
    wrong = {}
    for family, make in families(name).items():
        many = calls(name, make(MANY))
        if many <= 500:  # whatever few take
            continue
        few = calls(name, make(FEW))
        if many > 6 * few + 500:  # again, with warm caches
            many = calls(name, make(MANY))
        if many > 6 * few + 500:
            wrong[family] = (few, many)
    assert {} == wrong  # noqa: SIM300


def test_exports_and_launches():
    """Every process has the variables so far: their product is bounded."""
    piece = "export NO_NAME_{0}=1\npython3 train_{0}.py &\n"

    def script(count):
        return "".join(piece.format(number) for number in range(count)).encode()

    execute("read-shell", script(1600))
    few, many = calls("read-shell", script(400)), calls("read-shell", script(1600))
    assert many <= 6 * few, (few, many)
