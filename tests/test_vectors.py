"""What the rules say of 2,701 measured parameter maps, beside what the adapter did with them.

``tests/data/vectors/adapter_verdicts.jsonl`` was recorded on TensorFlow 1.15.5.  After a change
of the rules write the list of expected errors anew and read the difference:

    python -m pytest --update-cases tests/test_vectors.py
"""

import json
import os
from pathlib import Path

import pytest
import yaml

from npu_config.core.diagnostics import Severity
from npu_config.core.settings import Setting, Settings, SourceKind
from npu_config.rules.case import case_rules, judge
from tests import golden

DATA = Path(__file__).parent / "data" / "vectors"
VECTORS = [
    json.loads(line)
    for line in (DATA / "adapter_verdicts.jsonl").read_text(encoding="utf-8").splitlines()
]
UNCONSTRAINED = yaml.safe_load((DATA / "unconstrained.yaml").read_text(encoding="utf-8"))
REASONS = yaml.safe_load((DATA / "reasons.yaml").read_text(encoding="utf-8"))
EXPECTED_FILE = DATA / "expected_errors.yaml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that ``{fs}`` stands for; the tests run in its ``cwd``."""
    fs = tmp_path_factory.mktemp("vectors") / "fs"
    for name in ("ok_dir", "dir with space", "no_rw_dir", "cwd", "cwd/rel_dir"):
        (fs / name).mkdir(parents=True)
    (fs / "a_file").write_text("content", encoding="utf-8")
    (fs / "link_to_dir").symlink_to(fs / "ok_dir")
    (fs / "dangling").symlink_to(fs / "nothing")
    (fs / "no_rw_dir").chmod(0o555)
    before = os.getcwd()
    os.chdir(str(fs / "cwd"))
    yield str(fs)
    os.chdir(before)


def settings(vector, fs):
    """The ConfigProto of a vector: each value in the field that held it."""
    entries = {}
    for name, field in vector["params"].items():
        wire, value = next(iter(field.items())) if field else ("", None)
        entries[name] = Setting(
            value.replace("{fs}", fs) if isinstance(value, str) else value, wire
        )
    return Settings(entries, SourceKind.PROTO)


def severities(vector, fs):
    """How severe what is said on the host is."""
    return [d.severity for d in judge(settings(vector, fs), environ={}, on_host=True)]


def chosen(condition):
    """The vectors for which the condition holds; there are some."""
    found = [vector for vector in VECTORS if condition(vector)]
    assert found
    return found


def test_what_the_adapter_refuses_is_an_error(folder, rates):
    """Every vector that the adapter rejects or aborts on gets an error on the host."""
    vectors = chosen(lambda vector: vector["adapter"] != "accept")
    missed = [v["id"] for v in vectors if Severity.ERROR not in severities(v, folder)]
    rates("rejected or aborted by the adapter: error", len(vectors), len(missed))
    assert missed == []


def test_wrong_fields_are_errors(folder, rates):
    """Every value in a wrong field, and every key without a value, is an error."""
    vectors = chosen(lambda vector: vector["group"] == "wrong_type")
    missed = [v["id"] for v in vectors if Severity.ERROR not in severities(v, folder)]
    rates("value in a wrong field: error", len(vectors), len(missed))
    assert missed == []


def test_what_the_documentation_forbids_is_found(folder, rates):
    """Every documented misuse gets an error or a warning, but for what no fact forbids."""
    vectors = chosen(lambda vector: vector["group"] == "doc_invalid")
    missed = [
        v["id"]
        for v in vectors
        if not any(found >= Severity.WARNING for found in severities(v, folder))
    ]
    rates("forbidden by the documentation: error or warning", len(vectors), len(missed))
    assert set(missed) == set(UNCONSTRAINED)
    assert all(UNCONSTRAINED.values())


@pytest.mark.parametrize("group", ["valid", "clean"])
def test_what_is_right_has_no_error(folder, group, rates):
    """An accepted configuration has no error, but where a documented constraint forbids it."""
    vectors = chosen(lambda v: v["group"] == group and v["adapter"] == "accept")
    errors = {}
    for vector in vectors:
        rules = sorted(
            {d.rule for d in judge(settings(vector, folder)) if d.severity is Severity.ERROR}
        )
        if rules:
            errors[vector["id"]] = rules
    expected = yaml.safe_load(EXPECTED_FILE.read_text(encoding="utf-8"))
    if golden.update:
        expected[group] = errors
        head = EXPECTED_FILE.read_text(encoding="utf-8").split("\n\n", 1)[0]
        body = yaml.safe_dump(expected, default_flow_style=None, width=99, allow_unicode=True)
        EXPECTED_FILE.write_text(head + "\n\n" + body, encoding="utf-8")
    rates("accepted, group {}: no error".format(group), len(vectors), len(errors))
    assert expected[group] == errors


def test_expected_errors_have_their_reason():
    """Each rule that may speak on an accepted vector is there with the constraint it applies."""
    expected = yaml.safe_load(EXPECTED_FILE.read_text(encoding="utf-8"))
    named = {rule for group in expected.values() for rules in group.values() for rule in rules}
    known = {rule.id: rule for rule in case_rules()}
    assert named == set(REASONS)
    assert all(known[id].facts for id in named)
