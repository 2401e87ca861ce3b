"""Every documented situation is declared, once, as the facts have it."""

from pathlib import Path

import pytest
import yaml

from npu_config.core.diagnostics import Severity
from npu_config.migration.facts import facts as migration_facts
from npu_config.rulebook import load_all

FACTS = {
    entry["id"]: entry
    for entry in yaml.safe_load(
        (Path(__file__).parents[1] / "data" / "facts" / "situations.yaml").read_text("utf-8")
    )["situations"]
}
ELSEWHERE = {"last-hook-after-append", "checkpoint-inside-device-loop"}
"""What checks of scripts and rules about options knew before."""
HOME = {rule.situation: rule for rule in load_all() if rule.situation and rule.shows}


def test_every_situation_has_a_rule():
    """The facts and the declarations name the same situations."""
    assert set(FACTS) == {rule.situation for rule in load_all() if rule.situation}
    assert set(FACTS) - ELSEWHERE == set(HOME)


def test_each_is_declared_once():
    """One rule says where a situation shows."""
    declared = [rule.situation for rule in load_all() if rule.situation and rule.shows]
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


def test_facts_of_a_migration_name_situations():
    """What migrate reports names the same situations, and none that there is not."""
    named = {fact.situation for fact in migration_facts().values()} - {None}
    assert named <= set(FACTS)
    known = {
        name: id
        for id, fact in FACTS.items()
        for name in fact.get("known", {}).get("migration", ())
    }
    ours = {id: fact.situation for id, fact in migration_facts().items() if fact.situation}
    both = set(known) & set(ours)
    assert {name: known[name] for name in both - {"train-batch"}} == {
        name: ours[name] for name in both - {"train-batch"}
    }
    assert {"dropout", "gelu", "rnn", "queue-input", "shuffle-buffer", "drop-remainder"} <= both
