"""Composed logs with their answers, by the scoring of the facts."""

from pathlib import Path

import pytest

from tools.log_scores import score

CASES = sorted(Path(__file__).parents[1].glob("data/logs/*/expected.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_first_cause(path):
    """File, line, rank, class and the words that have to be mentioned."""
    assert score(path.parent) == (2, "")
