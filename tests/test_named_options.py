"""``explain OPTION`` lists the rules that are about the option: over all golden cases."""

import re

import pytest

from npu_config.catalogue import ALL_OPTIONS
from npu_config.rulebook import load_all
from tests import golden
from tests.test_help_and_fixes import CASES, found_in
from tools.explained import option_page

RULES = {rule.id: rule for rule in load_all()}

OF_ANY_OPTION = frozenset(
    "NPU{}".format(number)
    for number in (
        *(101, 102, 103, 104, 105, 106, 107, 108, 111, 112, 113, 114, 109, 904),
        *(702, 704, 705, 706, 711),
        *(834, 835, 839, 868, 870, 880, 882, 883, 884, 885),
    )
)
"""Rules that may be about any option, or about most of them."""

_QUOTED = re.compile(r'"([A-Za-z_0-9]+)"')


def _names_of(rule):
    return (*rule.options, *rule.also, *rule.beside)


@golden.each(CASES)
def test_options_that_a_finding_names_are_those_of_its_rule(path):
    """What a finding quotes is in ``options``, ``also`` or ``beside`` of its rule."""
    _, findings = found_in(path)
    missing = {
        (found.rule, name)
        for found in findings
        if found.rule not in OF_ANY_OPTION
        for name in _QUOTED.findall("{} {}".format(found.message, found.help or ""))
        if name in ALL_OPTIONS and name not in _names_of(RULES[found.rule])
    }
    assert missing == set()


@pytest.mark.parametrize(
    ("option", "rules"),
    [
        ("enable_data_pre_proc", ("NPU402", "NPU489", "NPU491")),
        ("iterations_per_loop", ("NPU401", "NPU402", "NPU886", "NPU887", "NPU888", "NPU892")),
        ("dump_path", ("NPU302", "NPU305")),
    ],
)
def test_page_of_an_option_lists_its_rules(option, rules):
    """Rules that need the option, and those that need it beside another one."""
    page = option_page(ALL_OPTIONS[option])
    assert [rule for rule in rules if "- {} ".format(rule) not in page] == []


def test_further_options_are_options():
    """``also`` and ``beside`` hold names of options, and none that ``options`` has already."""
    wrong = {
        rule.id: name
        for rule in RULES.values()
        for name in (*rule.also, *rule.beside)
        if name not in ALL_OPTIONS or name in rule.options
    }
    assert wrong == {}
