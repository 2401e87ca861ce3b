"""The pages of the rules: what they must hold, and that their examples are true."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import npu_config
from npu_config import rulebook
from npu_config.core.diagnostics import REGISTRY, Severity
from npu_config.rulebook import load_all
from npu_config.rules.case import RULE_MODULES, case_rules
from tests.rules.rule_cases_in_code import CASES
from tests.rules.rule_examples import examples, findings

BY_ID = {rule.id: rule for rule in case_rules()}

ALSO = {"NPU403": {"NPU906"}, "NPU409": {"NPU904"}, "NPU506": {"NPU109"}}
"""Rules that the examples of a rule cannot help breaking too."""

IDS = {
    "names": ("NPU101", "NPU106"),
    "targets": ("NPU107", "NPU114"),
    "precision": ("NPU201", "NPU299"),
    "dump": ("NPU301", "NPU399"),
    "loops": ("NPU401", "NPU499"),
    "shapes": ("NPU501", "NPU508"),
    "dynamic": ("NPU509", "NPU519"),
    "memory": ("NPU550", "NPU599"),
    "compilation": ("NPU550", "NPU599"),
    "timeouts": ("NPU601", "NPU609"),
    "environment": ("NPU610", "NPU639"),
    "paths": ("NPU770", "NPU775"),
    "contents": ("NPU764", "NPU779"),
    "session": ("NPU800", "NPU809"),
    "checkpoints": ("NPU810", "NPU829"),
    "run_config": ("NPU810", "NPU829"),
    "unwritten": ("NPU8011", "NPU8011"),
    "deprecated": ("NPU900", "NPU999"),
}


@pytest.mark.parametrize("rule", case_rules(), ids=lambda rule: rule.id)
def test_page_is_complete(rule):
    """A page has a summary of one line, the reason, a wrong and a right example, a source."""
    head, _, rest = rule.page.partition("\n\n")
    assert "\n" not in head
    assert head.endswith((".", ":"))
    assert re.split(r"^Wrong", rest, maxsplit=1, flags=re.MULTILINE)[0].strip()
    assert {True, False} == {example.wrong for example in examples(rule.page)}
    assert rule.source


@pytest.mark.parametrize("rule", case_rules(), ids=lambda rule: rule.id)
def test_wrong_example_breaks_this_rule_alone(rule, tmp_path):
    """The wrong example of a page breaks its rule, and no other one beyond information."""
    for example in examples(rule.page):
        if not example.wrong or example.is_code:
            continue
        found = findings("version: 1\n" + example.text, tmp_path)
        assert rule.id in {diagnostic.rule for diagnostic in found}
        loud = {d.rule for d in found if d.severity >= Severity.WARNING}
        assert loud - ALSO.get(rule.id, set()) <= {rule.id}


@pytest.mark.parametrize("rule", case_rules(), ids=lambda rule: rule.id)
def test_right_example_breaks_no_rule(rule, tmp_path):
    """The right example of a page does not break its rule, nor another beyond information."""
    for example in examples(rule.page):
        if example.wrong or example.is_code:
            continue
        found = findings("version: 1\n" + example.text, tmp_path)
        assert rule.id not in {diagnostic.rule for diagnostic in found}
        loud = [d for d in found if d.severity >= Severity.WARNING]
        assert [str(d) for d in loud if d.rule not in ALSO.get(rule.id, ())] == []


def test_every_example_is_run():
    """A rule whose examples are code of another input has its cases in rule_cases_in_code."""
    in_code = {
        rule.id for rule in case_rules() for example in examples(rule.page) if example.is_code
    }
    assert in_code <= set(CASES)


def test_every_module_has_a_band():
    """No rule is declared in a module without one."""
    assert {rule.check.__module__.rpartition(".")[2] for rule in case_rules()} == set(IDS)


@pytest.mark.parametrize("name", sorted(IDS))
def test_ids_lie_in_the_band_of_their_module(name):
    """Each module has ids of three digits of its own; those of four are of the same band."""
    first, last = IDS[name]
    ids = [rule.id for rule in case_rules() if rule.check.__module__ == "npu_config.rules." + name]
    old = [id for id in ids if len(id) == len("NPU301")]
    assert ids != []
    assert old == [id for id in old if first <= id <= last]
    assert {id[: len("NPU3")] for id in ids} == {first[: len("NPU3")]}


def test_rules_know_their_options():
    """Every option that a rule names is one of the catalogue."""
    from npu_config.catalogue import OPTIONS

    for rule in case_rules():
        assert set(rule.options) <= set(OPTIONS), rule.id


def test_all_rules_are_loaded():
    """``RULES`` holds every rule, those of parsers too, in order of id and once."""
    assert tuple(rulebook.RULES) == load_all()
    ids = [rule.id for rule in load_all()]
    assert ids == sorted(REGISTRY)
    assert {rule.id for rule in case_rules()} < set(ids)


def test_every_module_with_rules_is_loaded():
    """In a fresh process ``load_all`` imports each module that enters a rule."""
    package = Path(npu_config.__file__).parent
    entering = {
        ".".join(("npu_config", *path.relative_to(package).with_suffix("").parts))
        for path in package.rglob("*.py")
        if re.search(r"^\w+ = declare\(|^@rule\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    code = "import sys, npu_config.rulebook as book; book.load_all(); print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code]).decode().split()
    assert entering
    assert entering <= set(loaded)


def test_rules_are_in_a_module_that_is_imported_for_their_subject():
    """A module that is imported only for a subject declares rules about that subject alone."""
    subject_of = {name: subject for subject, names in RULE_MODULES.items() for name in names}
    astray = [
        rule.id
        for rule in case_rules()
        for subject in (subject_of[rule.check.__module__.rpartition(".")[2]],)
        if subject != "options"
        and subject != ("surroundings" if rule.on_host and rule.about == "options" else rule.about)
    ]
    assert astray == []
