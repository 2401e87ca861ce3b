"""Ids of rules: three digits, or four of which the first is the band."""

import pytest

from npu_config.core.diagnostics import selects
from npu_config.rulebook import load_all


@pytest.mark.parametrize(
    ("word", "id", "selected"),
    [
        ("NPU", "NPU802", True),
        ("NPU", "NPU8021", True),
        ("NPU8", "NPU802", True),
        ("NPU8", "NPU8021", True),
        ("NPU7", "NPU8021", False),
        ("NPU80", "NPU802", True),
        ("NPU80", "NPU8021", False),
        ("NPU802", "NPU802", True),
        ("NPU802", "NPU8021", False),
        ("NPU8021", "NPU8021", True),
        ("NPU8021", "NPU802", False),
    ],
)
def test_beginning_of_an_id(word, id, selected):
    """A band is selected by its digit; longer beginnings are of ids with three digits."""
    assert selected is selects(word, id)


def test_every_id_selects_one_rule():
    """No id is the beginning of another one."""
    ids = [rule.id for rule in load_all()]
    assert {id: [id] for id in ids} == {
        id: [other for other in ids if selects(id, other)] for id in ids
    }
