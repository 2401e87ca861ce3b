"""The map from facts to rules is complete."""

from pathlib import Path

import yaml

from npu_config.rulebook import load_all
from tools import facts_map

SNAPSHOT = {
    entry["id"]: entry
    for entry in yaml.safe_load(
        (Path(__file__).parent / "data" / "facts" / "rules.yaml").read_text(encoding="utf-8")
    )
}


def test_every_fact_is_listed():
    """The list holds every fact, with its kind and severity, and nothing else."""
    assert {id: (fact["kind"], fact["severity"]) for id, fact in SNAPSHOT.items()} == {
        id: (fact["kind"], fact["severity"]) for id, fact in facts_map.read().items()
    }


def test_rules_name_facts_that_exist():
    """A rule covers no fact that is not in the list."""
    assert {fact for rule in load_all() for fact in rule.facts} <= set(SNAPSHOT)


def test_every_fact_has_a_rule_or_a_reason():
    """A fact that no rule covers has a note that says why."""
    covered = facts_map.covered()
    bare = [
        id for id, fact in facts_map.read().items() if id not in covered and not fact.get("note")
    ]
    assert bare == []
