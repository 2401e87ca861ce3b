"""The cases: each before.py becomes its after.py, with its report, and prints the same."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import npu_config
from npu_config.checking import check
from npu_config.core.diagnostics import REGISTRY, Severity
from npu_config.migration.facts import facts
from npu_config.rulebook import load_all

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if (path / "before.py").exists())
REPORTS = {
    name: json.loads((CASES / name / "report.json").read_text(encoding="utf-8")) for name in NAMES
}


def text(name, side):
    """A side of a case with its own line ends."""
    return (CASES / name / side).read_bytes().decode("utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_text(name):
    """The migrated text is that of the case, character for character."""
    assert text(name, "after.py") == npu_config.migrate(text(name, "before.py")).text


@pytest.mark.parametrize("name", NAMES)
def test_report(name):
    """The report says the same of the same lines."""
    expected = [(entry["line"], entry["id"], entry["kind"]) for entry in REPORTS[name]["entries"]]
    found = npu_config.migrate(text(name, "before.py")).notes
    assert sorted(expected) == sorted((note.line, note.id, note.kind) for note in found)


@pytest.mark.parametrize("name", NAMES)
def test_twice(name):
    """What was migrated once is left alone."""
    after = text(name, "after.py")
    assert after == npu_config.migrate(after).text


def errors(path):
    """The errors of the check about a script, by rule."""
    return sorted(found.rule for found in check(str(path)) if found.severity is Severity.ERROR)


LEFT = {"own-hvd-two-optimizers": {"NPU6004"}}
"""Errors that the report names as left to do: a broadcast that no session runs."""


@pytest.mark.parametrize("name", NAMES)
def test_check_finds_no_new_error(name):
    """``npu-config check`` has no error on the result that it had not on the input."""
    new = set(errors(CASES / name / "after.py")) - set(errors(CASES / name / "before.py"))
    assert set() == new - LEFT.get(name, set())


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_the_vendor(name):
    """With --imports npu_bridge nothing of npu_config is named, and the text is Python."""
    before = text(name, "before.py")
    after = npu_config.migrate(before, imports="npu_bridge").text
    if after != before:
        assert "npu_config." not in after
        assert "npu_resources" not in after
        ast.parse(after)


def test_notes_are_facts():
    """Every entry of every case names a fact, or the rule of a documented trouble."""
    load_all()
    ids = {entry["id"] for report in REPORTS.values() for entry in report["entries"]}
    assert all(REGISTRY[id].situation for id in ids - set(facts()))


DRIVER = """
import json, os, sys
from tests.runner.copies import load
load()
results = {}
sys.path.insert(0, sys.argv[1])
for name, path in json.load(open(sys.argv[2])).items():
    sys.stdout.flush()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(write, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        import runpy
        os.chdir(sys.argv[3])
        code = 0
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            code = end.code or 0
        except BaseException as error:
            print(repr(error))
            code = 1
        sys.stdout.flush()
        os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        output = stream.read().decode()
    results[name] = [os.waitpid(child, 0)[1] >> 8, output]
json.dump(results, open(sys.argv[4], "w"))
"""
"""Runs scripts, each in a copy of one process that has imported TensorFlow."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What every case that runs prints, before and after: exit code and text."""
    folder = tmp_path_factory.mktemp("runs")
    paths = {}
    for name in NAMES:
        sides = {"both": ("before.py", "after.py"), "after": ("after.py",)}
        for side in sides.get(REPORTS[name]["runs"], ()):
            path = folder / (name + "-" + side)
            source = text(name, side).replace("npu_bridge.npu_init", "npu_config.npu_init")
            path.write_bytes(source.encode("utf-8"))
            paths[name + "/" + side] = str(path)
    (folder / "driver.py").write_text(DRIVER, encoding="utf-8")
    (folder / "paths.json").write_text(json.dumps(paths), encoding="utf-8")
    environ = dict(os.environ, PYTHONPATH=os.getcwd(), TF_CPP_MIN_LOG_LEVEL="3")
    for variable in ("RANK_ID", "RANK_SIZE", "RANK_TABLE_FILE"):
        environ.pop(variable, None)
    arguments = [CASES / "_stubs", folder / "paths.json", folder, folder / "results.json"]
    subprocess.run(
        [sys.executable, "-W", "ignore", str(folder / "driver.py"), *map(str, arguments)],
        env=environ,
        check=True,
    )
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


RUNNING = [name for name in NAMES if REPORTS[name]["runs"] != "no"]


@pytest.mark.tensorflow
@pytest.mark.skipif(sys.version_info >= (3, 8), reason="the cases are for TensorFlow 1.15")
@pytest.mark.parametrize("name", RUNNING)
def test_prints_the_same(name, outputs):
    """Before and after print the same and end alike on TensorFlow 1.15."""
    code, after = outputs[name + "/after.py"]
    assert (code, bool(after.strip())) == (0, True), after
    if REPORTS[name]["runs"] == "both":
        assert [code, after] == outputs[name + "/before.py"]
