"""Every documented situation is declared, once, as the facts have it."""

from pathlib import Path

import pytest
import yaml

from npu_config.core.diagnostics import Severity
from npu_config.rulebook import load_all

FACTS = {
    entry["id"]: entry
    for entry in yaml.safe_load(
        (Path(__file__).parents[1] / "data" / "facts" / "situations.yaml").read_text("utf-8")
    )["situations"]
}
ELSEWHERE = {"last-hook-after-append", "checkpoint-inside-device-loop"}
"""What checks of scripts and rules about options knew before."""
HOME = {rule.situation: rule for rule in load_all() if rule.shows}


def test_every_situation_has_a_rule():
    """The facts and the declarations name the same situations."""
    assert set(FACTS) == {rule.situation for rule in load_all() if rule.situation}
    assert set(FACTS) - ELSEWHERE == set(HOME)


def test_each_is_declared_once():
    """One rule says where a situation shows."""
    declared = [rule.situation for rule in load_all() if rule.shows]
    assert sorted(set(declared)) == sorted(declared)


@pytest.mark.parametrize("id", sorted(HOME))
def test_declaration_is_that_of_the_facts(id):
    """Where it shows, how much it matters, and the facts it covers."""
    rule, fact = HOME[id], FACTS[id]
    assert set(fact["where"]) == set(rule.shows)
    assert Severity(fact["severity"]) is rule.severity
    known = set(fact.get("known", {}).get("facts", ()))
    assert known <= {name for r in load_all() if r.situation == id for name in r.facts}
    assert rule.help or rule.severity is Severity.INFO
