"""What the tests of dumps share."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data/dump"


@pytest.fixture
def data():
    """The folder of the vectors."""
    return DATA
