"""Rules about what no config file holds: fields, a ConfigProto's surroundings, NPURunConfig."""

import pytest

from npu_config.diagnostics import Severity
from npu_config.judge import judge
from tests.rules.rule_cases_in_code import CASES

WRONG = [(id, number) for id, (wrong, _) in CASES.items() for number in range(len(wrong))]
RIGHT = [(id, number) for id, (_, right) in CASES.items() for number in range(len(right))]


@pytest.mark.parametrize(("id", "number"), WRONG)
def test_wrong_settings_break_the_rule(id, number):
    """Each wrong case breaks its rule, and no other one beyond information."""
    settings, environ = CASES[id][0][number]
    found = judge(settings, environ=environ)
    assert [d.rule for d in found if d.rule == id or d.severity >= Severity.WARNING] == [id]


@pytest.mark.parametrize(("id", "number"), RIGHT)
def test_right_settings_keep_the_rule(id, number):
    """Each right case breaks no rule beyond information."""
    settings, environ = CASES[id][1][number]
    found = judge(settings, environ=environ)
    assert [str(d) for d in found if d.rule == id or d.severity >= Severity.WARNING] == []
