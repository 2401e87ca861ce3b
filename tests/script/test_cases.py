"""Golden cases of scripts: ``cases/err/*.py`` beside what is found in them, and ``cases/ok/``."""

from pathlib import Path

from npu_config.core.diagnostics import Report, Severity
from npu_config.judging import Around, judge
from npu_config.script.checks import CHECKS
from npu_config.script.checks._check import Check
from tests import golden

FOLDER = Path(__file__).parent / "cases"


def findings(path):
    """Every finding about a case, in order, as the command line reports them."""
    around = Around(golden.target_of(path))
    return Report(judge(path.name, around, "script", path.read_bytes()).found)


@golden.wrong(FOLDER)
def test_wrong_case(path):
    """A wrong case yields exactly what its ``.out`` file says, its own rule among it."""
    golden.check(path, findings(path))


@golden.right(FOLDER)
def test_right_case(path):
    """A trap is not walked into: nothing is reported beyond information."""
    assert [str(f) for f in findings(path) if f.severity is not Severity.INFO] == []


def test_every_check_has_a_wrong_case():
    """The checks of scripts are all shown at work."""
    shown = golden.rules_of(*golden.inputs(FOLDER, "err"))
    assert {check.rule.id for check in CHECKS} <= shown


def test_signs_hide_nothing(monkeypatch):
    """What is found does not depend on the words by which checks are left out at once."""
    monkeypatch.setattr(Check, "may_find", lambda self, words: True)
    for path in golden.inputs(FOLDER, "err"):
        golden.check(path, findings(path))
    for path in golden.inputs(FOLDER, "ok"):
        assert [str(f) for f in findings(path) if f.severity is not Severity.INFO] == []
