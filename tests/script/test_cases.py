"""Golden cases of scripts: ``cases/err/x.py`` beside what is said of it, and ``cases/ok/``.

After a change of a message, write them anew and read the difference:

    NPU_CONFIG_UPDATE_CASES=1 python -m pytest tests/script/test_cases.py
"""

import os
from pathlib import Path

import pytest

from npu_config.core.diagnostics import Report, Severity
from npu_config.lint.suppress import suppress
from npu_config.script import read
from npu_config.script.checks import CHECKS

FOLDER = Path(__file__).parent / "cases"
UPDATE = bool(os.environ.get("NPU_CONFIG_UPDATE_CASES"))
WRONG = sorted((FOLDER / "err").glob("*.py"))
RIGHT = sorted((FOLDER / "ok").glob("*.py"))


def findings(path):
    """Every finding about a case, in order, as the command line tells them."""
    reading = read(path.read_bytes(), path.name)
    return Report(suppress(reading.judge(), reading.text, path.name))


def rendered(report):
    """One paragraph for each finding, with its whole place and its fix."""
    lines = []
    for found in report:
        where = "{}:{}-{}:{}".format(found.line, found.column, found.end_line, found.end_column)
        rule = "[{} {}]".format(found.rule, found.name)
        lines.append("{}: {}: {} {}".format(where, found.severity.value, found.message, rule))
        if found.help is not None:
            lines.append("    help: {}".format(found.help))
        if found.fix is not None:
            lines.append("    fix: {}".format(found.fix.title))
    return "".join(line + "\n" for line in lines)


@pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)
def test_wrong_case(path):
    """A wrong case is told exactly what its ``.out`` file says."""
    report = findings(path)
    expected = path.with_suffix(".out")
    if UPDATE:
        expected.write_text(rendered(report), encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == rendered(report)
    if path.name.startswith("NPU"):
        assert path.name[:6] in {found.rule for found in report}


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_right_case(path):
    """A trap is not walked into: nothing is said beyond information."""
    assert [str(f) for f in findings(path) if f.severity is not Severity.INFO] == []


def test_every_check_has_a_wrong_case():
    """The checks of scripts are all shown at work."""
    shown = {path.name[:6] for path in WRONG}
    assert {check.rule.id for check in CHECKS} <= shown
