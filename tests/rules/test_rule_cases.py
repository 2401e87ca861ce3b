"""Golden cases: ``tests/cases/err/NPUxxx-*`` beside what is said of them, and ``ok/``.

Config files (``.yaml``), and what these cannot hold as ConfigProto text (``.pbtxt``) and as
scripts (``.py``).

The first case of each rule is the example of its page.  After a change of a page or of a
message, write them anew and read the difference:

    NPU_CONFIG_UPDATE_CASES=1 python -m pytest tests/rules/test_rule_cases.py
"""

import os
from pathlib import Path

import pytest

from npu_config.core.diagnostics import Severity
from npu_config.rules.bands import CASE_RULES
from tests.rules.rule_examples import examples, findings

FOLDER = Path(__file__).parent.parent / "cases"
UPDATE = bool(os.environ.get("NPU_CONFIG_UPDATE_CASES"))


def from_pages():
    """Path and text of the cases that the pages give."""
    for rule in CASE_RULES:
        for wrong, folder in ((True, "err"), (False, "ok")):
            blocks = [e for e in examples(rule.page) if e.wrong is wrong and not e.is_code]
            for number, example in enumerate(blocks):
                suffix = "" if number == 0 else "-{}".format(number + 1)
                name = "{}-{}{}.yaml".format(rule.id, rule.name, suffix)
                yield FOLDER / folder / name, "version: 1\n" + example.text


if UPDATE:
    for path, text in from_pages():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

SUFFIXES = (".yaml", ".pbtxt", ".py")
WRONG = sorted(path for path in (FOLDER / "err").glob("NPU*") if path.suffix in SUFFIXES)
RIGHT = sorted(path for path in (FOLDER / "ok").glob("NPU*") if path.suffix in SUFFIXES)


def rendered(path, directory):
    """All findings about a case, and their text."""
    found = findings(path.read_text(encoding="utf-8"), directory, path.name)
    return found, "".join("{}\n".format(diagnostic) for diagnostic in found)


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_wrong_case(path, tmp_path):
    """A wrong case is told exactly what its ``.out`` file says, its own rule among it."""
    found, text = rendered(path, tmp_path)
    expected = path.with_suffix(".out")
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == text
    assert path.name[:6] in {diagnostic.rule for diagnostic in found}


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_right_case(path, tmp_path):
    """A right case does not break its own rule, nor has it an error."""
    found, _ = rendered(path, tmp_path)
    assert [str(d) for d in found if d.severity is Severity.ERROR] == []
    assert path.name[:6] not in {diagnostic.rule for diagnostic in found}


def test_cases_hold_the_examples_of_the_pages():
    """The example of each page stands among the cases, word for word."""
    for path, text in from_pages():
        assert text == path.read_text(encoding="utf-8"), path.name
