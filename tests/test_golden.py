"""The golden cases of every folder keep the convention of ``tests/golden.py``."""

from pathlib import Path

import pytest

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.target import Target
from tests import golden

TESTS = Path(__file__).parent
FOLDERS = sorted(path for path in TESTS.rglob("cases") if (path / "err").is_dir())


def test_each_output_has_its_input():
    """No output is left over from a case that was renamed or removed."""
    outputs = [path for folder in FOLDERS for path in folder.rglob("*.out")]
    assert outputs
    assert [path for path in outputs if not path.with_suffix("").is_file()] == []


def test_each_wrong_case_has_its_output():
    """No wrong case goes unread, and no right case has an output."""
    for folder in FOLDERS:
        wrong = golden.inputs(folder, "err")
        assert wrong
        assert [p for p in wrong if not p.with_name(p.name + ".out").is_file()] == []
        assert list((folder / "ok").rglob("*.out")) == []


def test_a_difference_fails(tmp_path, monkeypatch):
    """A case whose findings are not those of its output is not accepted."""
    monkeypatch.setattr(golden, "update", False)
    path = tmp_path / "NPU101-x.yaml"
    found = Diagnostic("NPU101", "unknown-option", Severity.ERROR, "wrong", line=1, column=2)
    path.with_name("NPU101-x.yaml.out").write_text(
        "1:2-None:None: error: wrong [NPU101 unknown-option]\n", encoding="utf-8"
    )
    golden.check(path, [found])
    with pytest.raises(AssertionError):
        golden.check(path, [])
    with pytest.raises(AssertionError):
        golden.check(path, [found, found])


def test_words_of_another_rule_change_nothing(tmp_path, monkeypatch):
    """Of other rules a case holds place, severity and id; of its own ones the words, too."""
    monkeypatch.setattr(golden, "update", False)
    path = tmp_path / "NPU101+NPU102-x.yaml"
    own = [
        Diagnostic("NPU101", "unknown-option", Severity.ERROR, "wrong", line=1, column=2),
        Diagnostic("NPU102", "wrong-field", Severity.ERROR, "wrong, too", help="mend it"),
    ]
    for message in ("ignored", "has no effect"):
        other = Diagnostic("NPU303", message, Severity.WARNING, message, line=3, column=4)
        assert golden.rendered([*own, other], path) == (
            "1:2-None:None: error: wrong [NPU101 unknown-option]\n"
            "error: wrong, too [NPU102 wrong-field]\n    help: mend it\n"
            "3:4-None:None: warning: [NPU303]\n"
        )
    path.with_name(path.name + ".out").write_text(golden.rendered(own[:1], path), "utf-8")
    with pytest.raises(AssertionError):
        golden.check(path, own[:1])  # the second rule of its name is not drawn


def test_the_name_gives_the_target():
    """Words after ``@`` are the product and the mode."""
    assert Target("ascend_950", "training") == golden.target_of(Path("a@ascend_950@training.json"))
    assert Target() == golden.target_of(Path("a.json"))
