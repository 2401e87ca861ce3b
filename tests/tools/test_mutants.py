"""The tool that counts how many small faults the tests find."""

import shutil
import sys
from pathlib import Path

import pytest

import npu_config

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="needs sys.monitoring")

mutants = pytest.importorskip("tools.mutants")
pytest.importorskip("pytest_timeout")

MODULE = '''"""A module: 1 < 2 and 3."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    LIMIT = 7

def é(a: "int", b=3):
    """1 == 2"""
    if not a or b <= 2:
        return "ü" * (a - b), True
    return a in b
'''


def test_the_mutants_of_a_module():
    """One for each operator, condition and number that runs; texts and annotations are left."""
    found = {(each.line, each.old, each.new) for each in mutants.mutants("m.py", MODULE)}
    assert found == {
        (6, "3", "4"),
        (8, "not a or b <= 2", "not (not a or b <= 2)"),
        (8, "or", "and"),
        (8, "not ", ""),
        (8, "<=", "<"),
        (8, "2", "3"),
        (9, "*", "//"),
        (9, "-", "+"),
        (9, "True", "False"),
        (10, "in", "not in"),
    }


def test_each_mutant_is_a_module():
    """What is put in place of the code can be parsed."""
    source = MODULE.encode("utf-8")
    for each in mutants.mutants("m.py", MODULE):
        assert source[each.start : each.end] == each.old.encode("utf-8")
        text = source[: each.start] + each.new.encode("utf-8") + source[each.end :]
        compile(text, "m.py", "exec")


def project(folder, claim):
    """A package with a guard, and a test of it."""
    (folder / "tools").mkdir()
    for name in ("__init__", "covering", "covering_plugin", "mutants", "mutant_forks"):
        shutil.copy(mutants.EQUIVALENT.with_name(name + ".py"), folder / "tools")
    (folder / "npu_config/rules").mkdir(parents=True)
    (folder / "npu_config/__init__.py").write_text("")
    (folder / "npu_config/rules/__init__.py").write_text("")
    (folder / "npu_config/rules/guard.py").write_text("def is_low(n):\n    return n < 3\n")
    (folder / "tests/rules").mkdir(parents=True)
    (folder / "tests/rules/test_guard.py").write_text(
        "from npu_config.rules.guard import is_low\n\ndef test_guard():\n    " + claim + "\n"
    )


@pytest.fixture(autouse=True)
def few_plugins(monkeypatch):
    """pytest starts in half the time without those that the tests here do not use."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p pytest_timeout")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "survivors"),
    [
        ("assert is_low(2) and not is_low(3)", []),
        ("assert is_low(0) and not is_low(9)", ["< -> <=", "3 -> 4"]),
    ],
)
def test_survivors_are_printed(tmp_path, monkeypatch, capsys, claim, survivors):
    """A fault that a test finds is counted with the test; one that none finds is listed."""
    project(tmp_path, claim)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "ROOMS", {"rules": ("tests/rules",)})
    monkeypatch.setattr(mutants, "copy", lambda folder: project(Path(folder), claim))
    assert mutants.main(["--count", "9", "--seed", "5"]) == int(bool(survivors))
    *tried, _ = capsys.readouterr().out.split(" found: ")
    assert sorted(survivors) == sorted(
        line.split(": ")[1] for line in tried[0].splitlines() if line.endswith("SURVIVES")
    )
    if survivors:
        monkeypatch.setattr(mutants, "record", lambda *_: [])
        assert mutants.main(["--count", "9", "--least", "0"]) == 0
        assert "0 %" in capsys.readouterr().out


def test_a_test_that_fails_anyway_finds_nothing(tmp_path, monkeypatch, capsys):
    """A fault is found only by a test that passes without it; the others are still asked."""
    claim = "assert is_low(5)\n\ndef test_more():\n    assert is_low(2) and not is_low(3)"
    project(tmp_path, claim)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "ROOMS", {"rules": ("tests/rules",)})
    monkeypatch.setattr(mutants, "copy", lambda folder: project(Path(folder), claim))
    assert mutants.main(["--count", "1"]) == 0
    assert "test_more" in capsys.readouterr().out


@pytest.mark.slow
def test_what_a_process_runs_counts_for_its_test(tmp_path, monkeypatch, capsys):
    """A test that starts the package is tried on what it runs there; one that does not is not."""
    claim = (
        "import subprocess, sys\n"
        "    code = 'from npu_config.rules.guard import is_low; print(is_low(2), is_low(3))'\n"
        "    out = subprocess.check_output([sys.executable, '-c', code]).split()\n"
        "    assert out == [b'True', b'False']\n\ndef test_nothing():\n    pass"
    )
    project(tmp_path, claim)
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "ROOMS", {"rules": ("tests/rules",)})
    monkeypatch.setattr(mutants, "copy", lambda folder: project(Path(folder), claim))
    tried = []
    found_by = mutants.found_by
    monkeypatch.setattr(
        mutants, "found_by", lambda *words: tried.append(words[2]) or found_by(*words)
    )
    assert mutants.main(["--count", "1"]) == 0
    assert tried == [[["tests/rules/test_guard.py::test_guard"], []]]
    assert "test_guard" in capsys.readouterr().out


def test_equivalent_mutants_are_left_out(tmp_path, monkeypatch):
    """What is listed with its reason is never in a sample."""
    project(tmp_path, "assert is_low(5)")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    listed = {("npu_config/rules/guard.py", "return n < 3", "3", "4")}
    monkeypatch.setattr(mutants, "equivalent", lambda: listed)
    assert [str(each).split(": ")[1] for each in mutants.sample(["rules"], 9, seed=0)] == [
        "< -> <="
    ]


def test_each_equivalent_mutant_is_one_of_the_code(monkeypatch):
    """An entry whose line of code is gone has to go."""
    monkeypatch.setattr(mutants, "ROOT", Path(npu_config.__file__).parents[1])
    for path, line, old, new in mutants.equivalent():
        text = (mutants.ROOT / path).read_text("utf-8")
        assert [
            each
            for each in mutants.mutants(path, text)
            if (mutants.code(each), each.old, each.new) == (line, old, new)
        ], (path, line)
