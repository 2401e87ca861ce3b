"""Every door says the same rules, severities and places, by the command in its own process."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import npu_config as npu
from tests import golden

pytest.importorskip("click")

ROOT = Path(__file__).parents[1]
FOLDERS = [ROOT / "cases", ROOT / "script" / "cases", ROOT / "cluster" / "cases"]
CASES = sorted(
    path
    for folder in FOLDERS
    for half in ("err", "ok")
    for path in golden.inputs(folder, half)
    if path.suffix in (".py", ".yaml", ".toml", ".json", ".pbtxt", ".sh") and "@" not in path.name
)
SAMPLE = 8
"""Every so manyth script and configuration goes through the doors that take one file a call."""


def command(*words, cwd):
    """The installed command where it is beside Python, else the module; its standard output."""
    beside = Path(sys.executable).parent / "npu-config"
    call = [str(beside)] if beside.exists() else [sys.executable, "-m", "npu_config"]
    environ = {**os.environ, "PYTHONPATH": "" if beside.exists() else str(ROOT.parent)}
    return subprocess.run(
        [*call, *map(str, words)], cwd=str(cwd), env=environ, stdout=-1, stderr=-1, timeout=600
    ).stdout.decode("utf-8")


def found_too(name):
    """True for what a walk and the hook must find as well: other files may not look like ours.

    A script that is no Python 3 is reported where it is named.
    """
    return name.endswith(".py") and "NPU830" not in name


def of(document):
    """Path to what is found in it, as a set of rule, severity and place."""
    found = {}
    for each in document["diagnostics"]:
        place = each["line"], each["column"], each["end_line"], each["end_column"]
        found.setdefault(each["path"], set()).add((each["rule"], each["severity"], *place))
    return found


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """The copies of all cases, each in a folder of its own, and what ``check`` says of each."""
    folder = tmp_path_factory.mktemp("doors")
    names = []
    for number, case in enumerate(CASES):
        (folder / str(number)).mkdir()
        shutil.copy(str(case), str(folder / str(number) / case.name))
        names.append("{}/{}".format(number, case.name))
    named = of(json.loads(command("check", "--format", "json", *names, cwd=folder)))
    return folder, names, named


def test_check_hook_and_library(doors, monkeypatch):
    """A file that is named, one that the hook names, and ``npu_config.check``."""
    folder, names, named = doors
    hook = of(json.loads(command("check", "--if-ours", "--format", "json", *names, cwd=folder)))
    walk = of(json.loads(command("check", "--format", "json", ".", cwd=folder)))
    monkeypatch.chdir(folder)
    wrong = {}
    for name in names:
        expected = named.get(name, set())
        report = of({"diagnostics": [each.to_dict() for each in npu.check(name)]})
        # whether a comment names a rule that there is, the library does not judge (NPU82x)
        said = {"library": report.get(name, set())}
        said.update(
            {
                key: each.get(name, set())
                for key, each in (("hook", hook), ("walk", walk))
                if name in each or found_too(name)
            }
        )
        for door, found in said.items():
            if found != expected:
                wrong[door, name] = found ^ expected
    print("{} inputs x 4 doors".format(len(names)))
    assert wrong == {}


@pytest.mark.slow
def test_doctor_and_generate(doors):
    """Both write what they found with ``--findings``."""
    folder, names, named = doors
    wrong = {}
    chosen = [n for n in names if n.endswith((".py", ".yaml", ".toml", ".pbtxt"))][::SAMPLE]
    for name in chosen:
        for door in (["doctor"], ["generate", "--to", "yaml"]):
            command(*door, "--findings", "found.json", name, cwd=folder)
            found = of(json.loads((folder / "found.json").read_text(encoding="utf-8")))
            if found.get(name, set()) != named.get(name, set()):
                wrong[door[0], name] = found.get(name, set()) ^ named.get(name, set())
    print("{} inputs x 2 doors".format(len(chosen)))
    assert wrong == {}
