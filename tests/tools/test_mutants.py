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
    return a in b and not (
        a or
        b
    )
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
        (10, "and", "or"),
        (10, "not ", ""),
        (11, "or", "and"),
    }


def test_each_mutant_is_a_module():
    """What is put in place of the code can be parsed."""
    source = MODULE.encode("utf-8")
    for each in mutants.mutants("m.py", MODULE):
        assert source[each.start : each.end] == each.old.encode("utf-8")
        text = source[: each.start] + each.new.encode("utf-8") + source[each.end :]
        compile(text, "m.py", "exec")


GUARD = "def is_low(n):\n    return n < 3\n"


def project(folder, claim, guard=GUARD):
    """A package with a guard, and a test of it."""
    (folder / "tools").mkdir()
    for name in ("__init__", "covering", "covering_plugin", "mutants", "mutant_forks"):
        shutil.copy(mutants.EQUIVALENT.with_name(name + ".py"), folder / "tools")
    (folder / "npu_config/rules").mkdir(parents=True)
    (folder / "npu_config/__init__.py").write_text("")
    (folder / "npu_config/rules/__init__.py").write_text("")
    (folder / "npu_config/rules/guard.py").write_text(guard)
    (folder / "tests/rules").mkdir(parents=True)
    (folder / "tests/rules/test_guard.py").write_text(
        "from npu_config.rules.guard import is_low\n\ndef test_guard():\n    " + claim + "\n"
    )


@pytest.fixture(autouse=True)
def few_plugins(monkeypatch):
    """pytest starts in half the time without those that the tests here do not use."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p pytest_timeout")


@pytest.fixture
def tried(tmp_path, monkeypatch, capsys):
    """Tries the mutants of such a package: the exit code, and each mutant with what found it."""

    def run(claim, guard=GUARD, *words):
        project(tmp_path, claim, guard)
        monkeypatch.setattr(mutants, "ROOT", tmp_path)
        monkeypatch.setattr(mutants, "ROOMS", {"rules": ("tests/rules",)})
        monkeypatch.setattr(mutants, "copy", lambda folder: project(Path(folder), claim, guard))
        code = mutants.main(["--count", "9", *words])
        lines = capsys.readouterr().out.partition(" found: ")[0].splitlines()
        said = (line.split(": ", 2)[1:] for line in lines if " s npu_config" in line)
        return code, {change: finder.rpartition("::")[2] for change, finder in said}

    return run


@pytest.mark.slow
def test_faults_that_tests_find(tried):
    """A fault is counted with the test that finds it: in a function, and in what import makes."""
    guard = "LIMIT = 3\n\ndef is_low(n):\n    return n < LIMIT and n >= -LIMIT\n"
    claim = "assert [n for n in range(-9, 9) if is_low(n)] == list(range(-3, 3))"
    changes = ("3 -> 4", "< -> <=", "and -> or", ">= -> >")
    assert tried(claim, guard) == (0, dict.fromkeys(changes, "test_guard"))


@pytest.mark.slow
def test_survivors_are_printed(tried):
    """A fault that none finds is listed, one of a line that no test runs, too."""
    guard = GUARD + "\ndef is_high(n):\n    return n > 3\n"
    found = tried("assert is_low(0) and not is_low(9)", guard, "--least", "20")
    assert found == (1, dict.fromkeys(("< -> <=", "> -> >=", "3 -> 4"), "SURVIVES"))


def test_a_test_that_fails_anyway_finds_nothing(tried):
    """A fault is found only by a test that passes without it; the others are still asked."""
    claim = "assert is_low(5)\n\ndef test_more():\n    assert is_low(2) and not is_low(3)"
    assert tried(claim) == (0, dict.fromkeys(("< -> <=", "3 -> 4"), "test_more"))


@pytest.mark.slow
def test_what_a_process_runs_counts_for_its_test(tried):
    """A test that starts the package finds faults there, in a copy of a process, too."""
    claim = (
        "import os, subprocess, sys\n"
        "    code = 'from npu_config.rules.guard import is_low; print(is_low(2))'\n"
        "    out = subprocess.check_output([sys.executable, '-c', code])\n"
        "    assert out == b'True\\n'\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os._exit(is_low(3))\n"
        "    assert os.waitpid(child, 0)[1] == 0\n\ndef test_nothing():\n    pass"
    )
    assert tried(claim) == (0, dict.fromkeys(("< -> <=", "3 -> 4"), "test_guard"))


@pytest.mark.slow
def test_what_is_used_where_no_line_is_seen(tried):
    """What is made at import, kept in a cache or run from a copy of the file is found, too."""
    guard = (
        "import functools\n\nLIMIT = 7\n\n@functools.lru_cache(maxsize=None)\n"
        "def top():\n    return 3\n\ndef is_low(n):\n    return top()\n"
    )
    claim = (
        "assert is_low(0) == 3\n\nis_low(0)\n\ndef test_limit(tmp_path):\n"
        "    import shutil, subprocess, sys, npu_config.rules.guard\n"
        "    shutil.copy(npu_config.rules.guard.__file__, str(tmp_path / 'alone.py'))\n"
        "    code = 'import alone; assert alone.LIMIT == 7'\n"
        "    subprocess.run([sys.executable, '-c', code], cwd=str(tmp_path), check=True)"
    )
    assert tried(claim, guard) == (0, {"7 -> 8": "test_limit", "3 -> 4": "test_guard"})


@pytest.mark.slow
def test_a_test_that_hangs_finds_a_fault(tried, monkeypatch):
    """It fails when its time is over; one that hangs anyway finds nothing."""
    monkeypatch.setattr(mutants, "SECONDS", 3)
    guard = "import time\n\ndef is_low(n):\n    while n == 'x':\n        time.sleep(9)\n"
    claim = "is_low('y')\n\ndef test_more():\n    is_low('x')"
    changes = ("n == 'x' -> not (n == 'x')", "== -> !=")
    assert tried(claim, guard, "--least", "60") == (
        0,
        {**dict.fromkeys(changes, "test_guard"), "9 -> 10": "SURVIVES"},
    )


def test_the_mutants_of_one_line(tried):
    """`--line` names what is tried in place of a sample."""
    line = ("--line", "npu_config/rules/guard.py:5")
    found = tried("assert is_low(2)", GUARD + "\ndef top():\n    return 3\n", *line)
    assert found == (1, {"3 -> 4": "SURVIVES"})


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
