"""Golden rank tables: ``cases/err/*`` beside what is printed of them, and ``cases/ok/``.

A name ends in ``@<product>`` where the check is told the product.  After a change of a message,
write them anew and read the difference:

    NPU_CONFIG_UPDATE_CASES=1 python -m pytest tests/cluster/test_rank_table_cases.py
"""

import os
from pathlib import Path

import pytest

from npu_config.cluster import rank_table
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import REGISTRY
from npu_config.core.target import Target
from npu_config.reporters import Summary, render
from npu_config.sidefiles import Parsed
from npu_config.text.source import apply_edits

FOLDER = Path(__file__).parent / "cases"
UPDATE = bool(os.environ.get("NPU_CONFIG_UPDATE_CASES"))
WRONG = sorted(path for path in (FOLDER / "err").iterdir() if path.suffix != ".out")
RIGHT = sorted((FOLDER / "ok").iterdir())


def parse(path) -> Parsed:
    """A case read for the product in its name."""
    product = path.stem.partition("@")[2] or None
    return rank_table.parse(path.read_text(encoding="utf-8"), path.name, Target(product=product))


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.name)
def test_wrong_case(path):
    """A wrong table is told exactly what its ``.out`` file says, its own rule among it."""
    report = parse(path).diagnostics
    sources = {path.name: path.read_text(encoding="utf-8")}
    text = render("text", report, Summary.of(report, 1), sources)
    expected = path.with_name(path.name + ".out")
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == text
    assert path.name[:6] in {diagnostic.rule for diagnostic in report}


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.name)
def test_right_case(path):
    """A right table is silent, and its canonical text has the same content."""
    parsed = parse(path)
    assert list(parsed.diagnostics) == []
    again = rank_table.parse(rank_table.render(parsed.model))
    assert parsed.model == again.model


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.name)
def test_model_only_without_errors(path):
    """A table with errors of its own has no model; one with comments or commas only has one."""
    parsed = parse(path)
    own = [
        d
        for d in parsed.diagnostics
        if d.severity is Severity.ERROR and not d.name.startswith("json-")
    ]
    unreadable = "NPU711" in {d.rule for d in parsed.diagnostics}
    assert (parsed.model is None) == bool(own or unreadable)


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.name)
def test_fixes_leave_fewer_errors(path):
    """The mechanical corrections, done together, leave none of what they correct."""
    text = path.read_text(encoding="utf-8")
    report = parse(path).diagnostics
    fixable = [d for d in report if d.fix is not None]
    fixed = apply_edits(text, [edit for d in fixable for edit in d.fix.edits])
    product = path.stem.partition("@")[2] or None
    after = rank_table.parse(fixed, path.name, Target(product=product)).diagnostics
    assert [d for d in after if d.fix is not None] == []
    assert len(after.errors) <= len(report.errors) - len(fixable)


@pytest.mark.parametrize("path", [*WRONG, *RIGHT], ids=lambda path: path.name)
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
    applied = {rule.id for rule in REGISTRY.values() if "NPU641" <= rule.id <= "NPU663"}
    assert applied == {path.name[:6] for path in WRONG} & applied
