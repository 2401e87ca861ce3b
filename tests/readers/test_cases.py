"""Golden cases of the readers: ``cases/err/*`` beside what is found in them, and ``cases/ok/``."""

from pathlib import Path

from npu_config.core.diagnostics import Report, Rule, Severity
from npu_config.readers import _rules, read
from npu_config.text import rules as text_rules
from tests import golden

FOLDER = Path(__file__).parent / "cases"
WRONG, RIGHT = golden.inputs(FOLDER, "err"), golden.inputs(FOLDER, "ok")
IN_OTHER_TESTS = {
    "NPU784",
    "NPU701",
    "NPU7061",
    "NPU7062",
    "NPU7063",
    "NPU708",
    "NPU712",
    "NPU713",
    "NPU714",
}


def report_on(path):
    """What the reader finds in a case."""
    return Report(read(path.name, None, path.read_bytes()).diagnostics)


@golden.wrong(FOLDER)
def test_wrong_case(path):
    """A wrong case yields exactly what its ``.out`` file says, its own rule among it."""
    golden.check(path, report_on(path))


@golden.right(FOLDER)
def test_right_case(path):
    """A right case is silent."""
    assert read(path.name, None, path.read_bytes()).judge() == []


def test_every_rule_of_the_readers_has_a_case():
    """Each rule stands in the name of a case, or is tested where files are needed."""
    rules = {
        rule.id for rule in {**vars(_rules), **vars(text_rules)}.values() if isinstance(rule, Rule)
    }
    assert rules == golden.rules_of(*WRONG) & rules | IN_OTHER_TESTS


@golden.each([*WRONG, *RIGHT])
def test_places_are_in_the_text(path):
    """Every place lies within the text, and its end is not before its start."""
    lines = path.read_bytes().decode("utf-8").split("\n")
    for diagnostic in report_on(path):
        _, line, column, end_line, end_column = diagnostic.place
        if line is None:
            continue
        assert 1 <= line <= len(lines)
        assert 1 <= column <= len(lines[line - 1]) + 1
        if end_line is not None:
            assert (line, column) <= (end_line, end_column)
            assert end_line <= len(lines)
            assert end_column <= len(lines[end_line - 1]) + 1


@golden.wrong(FOLDER)
def test_one_cause_gives_one_finding(path):
    """What the reader complains of at some place, no rule complains of again."""
    reading = read(path.name, None, path.read_bytes())
    told = {d.place[1:] for d in reading.diagnostics if d.severity is Severity.ERROR}
    again = [d for d in reading.judge() if d not in reading.diagnostics]
    values = ("NPU101", "NPU102", "NPU103", "NPU104", "NPU105", "NPU106")
    assert [d for d in again if d.rule in values and d.place[1:] in told] == []
