"""Every reader takes any bytes: a small budget here, a long one with ``make fuzz``."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.run import mutated
from tests.fuzz.targets import TARGETS, execute


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_any_bytes(name):
    """Arbitrary bytes, and files of the golden cases with a few bytes changed."""

    @settings(max_examples=15, deadline=None)
    @given(st.binary(max_size=200) | st.integers(0, 2**32).map(mutated))
    def check(data):
        execute(name, data)

    check()
