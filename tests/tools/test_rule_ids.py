"""Ids of rules: the next free one, and one that is taken."""

import pytest

from npu_config.core.diagnostics import REGISTRY, Severity, declare
from npu_config.rulebook import load_all
from tools.rule_ids import next_id


def test_next_id():
    """It is the one behind the last of four digits; ids of three digits do not count."""
    assert next_id("1", ["NPU199", "NPU2004"]) == "NPU1001"
    assert next_id("2", ["NPU199", "NPU2001", "NPU2004"]) == "NPU2005"


def test_a_rule_that_is_there_already():
    """The same id or the same name again is an error that names both places."""
    load_all()
    known = REGISTRY["NPU313"]
    before = dict(REGISTRY)

    def not_a_dump_file():
        """Another rule of this name."""

    def some_other_name():
        """Another rule of this id."""

    for id, page in (("NPU313", some_other_name), ("NPU3999", not_a_dump_file)):
        with pytest.raises(
            ValueError, match=r"test_rule_ids\.py:\d+: .* exists already: .*_rules\.py:\d+"
        ):
            declare(id, Severity.ERROR)(page)
    assert before == dict(REGISTRY)
    assert known is REGISTRY["NPU313"]
