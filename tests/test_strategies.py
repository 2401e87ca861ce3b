"""The strategies that other tests draw from."""

import pytest
from hypothesis import given, settings

from npu_config.catalogue import OPTIONS
from tests import golden
from tests.strategies import configs, values


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_values_are_legal(name):
    """Every value that is drawn for an option is one that it takes."""

    @given(values(name))
    def check(value):
        OPTIONS[name].kind.parse(value)

    check()


def test_configurations_are_varied():
    """Taking out what breaks rules leaves configurations with many different options."""
    seen = set()

    @settings(max_examples=golden.tries(200))
    @given(configs())
    def collect(config):
        seen.update(config.options)

    collect()
    assert len(seen) > len(OPTIONS) // 2
