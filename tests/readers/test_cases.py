"""Golden cases of the readers: ``cases/err/*`` beside what is printed of them, and ``cases/ok/``.

After a change of a message, write them anew and read the difference:

    NPU_CONFIG_UPDATE_CASES=1 python -m pytest tests/readers/test_cases.py
"""

import os
from pathlib import Path

import pytest

from npu_config.core.diagnostics import Report, Severity
from npu_config.core.rule import Rule
from npu_config.readers import _rules, read
from npu_config.reporters import Summary, render
from npu_config.text import rules as text_rules

FOLDER = Path(__file__).parent / "cases"
UPDATE = bool(os.environ.get("NPU_CONFIG_UPDATE_CASES"))
WRONG = sorted(path for path in (FOLDER / "err").iterdir() if path.suffix != ".out")
RIGHT = sorted((FOLDER / "ok").iterdir())
IN_OTHER_TESTS = {"NPU701", "NPU708"}


def report_on(path):
    """What the reader finds in a case, and the text that is printed of it."""
    reading = read(path.name, None, path.read_bytes())
    report = Report(reading.diagnostics)
    return report, render("text", report, Summary.of(report, 1), {reading.path: reading.text})


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.name)
def test_wrong_case(path):
    """A wrong case is told exactly what its ``.out`` file says, its own rule among it."""
    report, text = report_on(path)
    expected = path.with_name(path.name + ".out")
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == text
    if path.name.startswith("NPU"):
        assert path.name[:6] in {diagnostic.rule for diagnostic in report}


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.name)
def test_right_case(path):
    """A right case is silent."""
    assert read(path.name, None, path.read_bytes()).judge() == []


def test_every_rule_of_the_readers_has_a_case():
    """Each rule stands in the name of a case, or is tested where files are needed."""
    rules = {
        rule.id for rule in {**vars(_rules), **vars(text_rules)}.values() if isinstance(rule, Rule)
    }
    assert rules == {path.name[:6] for path in WRONG} & rules | IN_OTHER_TESTS


@pytest.mark.parametrize("path", [*WRONG, *RIGHT], ids=lambda path: path.name)
def test_places_are_in_the_text(path):
    """Every place lies within the text, and its end is not before its start."""
    lines = path.read_bytes().decode("utf-8").split("\n")
    for diagnostic in report_on(path)[0]:
        _, line, column, end_line, end_column = diagnostic.place
        if line is None:
            continue
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1
        if end_line is not None:
            assert (line, column) <= (end_line, end_column)
            assert end_line <= len(lines)
            assert end_column <= len(lines[end_line - 1]) + 1


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.name)
def test_one_cause_gives_one_finding(path):
    """What the reader complains of at some place, no rule complains of again."""
    reading = read(path.name, None, path.read_bytes())
    told = {d.place[1:] for d in reading.diagnostics if d.severity is Severity.ERROR}
    again = [d for d in reading.judge() if d not in reading.diagnostics]
    values = ("NPU101", "NPU102", "NPU103", "NPU104", "NPU105", "NPU106")
    assert [d for d in again if d.rule in values and d.place[1:] in told] == []
