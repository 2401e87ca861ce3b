"""Golden rank tables: ``cases/err/*`` beside what is found in them, and ``cases/ok/``."""

from pathlib import Path

from npu_config import rank_table
from npu_config.core.diagnostics import REGISTRY, Severity
from npu_config.sidefiles import Parsed
from npu_config.text.source import apply_edits
from tests import golden

NEWER = {"NPU607", "NPU608", "NPU609", "NPU610", "NPU667"}
FOLDER = Path(__file__).parent / "cases"
WRONG, RIGHT = golden.inputs(FOLDER, "err"), golden.inputs(FOLDER, "ok")


def parse(path) -> Parsed:
    """A case read for the product in its name."""
    return rank_table.parse(golden.text_of(path), path.name, golden.target_of(path))


@golden.wrong(FOLDER)
def test_wrong_case(path):
    """A wrong table yields exactly what its ``.out`` file says, its own rule among it."""
    golden.check(path, parse(path).diagnostics)


@golden.right(FOLDER)
def test_right_case(path):
    """A right table is silent, and its canonical text has the same content."""
    parsed = parse(path)
    assert list(parsed.diagnostics) == []
    again = rank_table.parse(rank_table.render(parsed.model))
    assert parsed.model == again.model


@golden.wrong(FOLDER)
def test_model_only_without_errors(path):
    """A table with errors of its own has no model; one with comments or commas only has one."""
    parsed = parse(path)
    own = [
        d
        for d in parsed.diagnostics
        if d.severity is Severity.ERROR and not d.name.startswith("json-")
    ]
    unreadable = {"NPU711", "NPU787"} & {d.rule for d in parsed.diagnostics}
    assert (parsed.model is None) == bool(own or unreadable)


@golden.wrong(FOLDER)
def test_fixes_leave_fewer_errors(path):
    """The mechanical corrections, done together, leave none of what they correct."""
    text = path.read_text(encoding="utf-8")
    report = parse(path).diagnostics
    fixable = [d for d in report if d.fix is not None]
    fixed = apply_edits(text, [edit for d in fixable for edit in d.fix.edits])
    after = rank_table.parse(fixed, path.name, golden.target_of(path)).diagnostics
    assert [d for d in after if d.fix is not None] == []
    wrong = [d for d in fixable if d in report.errors]
    assert len(after.errors) <= len(report.errors) - len(wrong)


@golden.each([*WRONG, *RIGHT])
def test_places_are_in_the_text(path):
    """Every place lies within the text, and its end is not before its start."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for d in parse(path).diagnostics:
        assert path.name == d.path
        assert (d.line, d.column) <= (d.end_line, d.end_column)
        assert 1 <= d.column <= len(lines[d.line - 1]) + 1
        assert 1 <= d.end_column <= len(lines[d.end_line - 1]) + 1


def test_every_rule_of_tables_has_a_case():
    """Each rule that the check of a table applies stands in the name of a case."""
    applied = {
        rule.id
        for rule in REGISTRY.values()
        if "NPU641" <= rule.id <= "NPU663" or rule.id in NEWER
    }
    assert applied == golden.rules_of(*WRONG) & applied
