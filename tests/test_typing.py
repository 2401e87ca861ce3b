"""User code under mypy --strict: what must be rejected is, what must pass does."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import npu_config

pytest.importorskip("mypy")

HOME = str(Path(npu_config.__file__).parent.parent)
SAMPLES = Path(__file__).parent / "typing_samples"
ROOMS = ["cluster", "dumps", "launch", "presets", "rank_table", "sidefiles", "tf1"]
ROOMS += ["sidefiles." + kind for kind in npu_config.sidefiles.KINDS]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What one mypy says of the samples and of every public name: file to lines of output."""
    folder = tmp_path_factory.mktemp("mypy")
    for name in ("accepted.py", "rejected.py"):
        shutil.copy(str(SAMPLES / name), str(folder))
    (folder / "names.py").write_text("import npu_config as npu\n" + "\n".join(revealed()) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "accepted.py", "rejected.py", "names.py"],
        cwd=str(folder),
        stdout=subprocess.PIPE,
        env=dict(os.environ, MYPYPATH="" if "site-packages" in HOME else HOME),
    )
    lines = {}
    for line in done.stdout.decode().splitlines():
        lines.setdefault(line.partition(":")[0], []).append(line)
    return lines


def errors(lines):
    """Line number to error code."""
    found = (re.match(r"\S+?:(\d+): error: .*\[([a-z-]+)\]$", line) for line in lines)
    return {int(error.group(1)): error.group(2) for error in found if error is not None}


def test_accepted(said):
    """The sample of right user code has no error."""
    assert errors(said.get("accepted.py", ())) == {}, said


def test_rejected(said):
    """Every wrong line is rejected, with the error that names the fault."""
    lines = (SAMPLES / "rejected.py").read_text().splitlines()
    expected = {
        number: line.rsplit("# ", 1)[1]
        for number, line in enumerate(lines, 1)
        if line.startswith("npu.")
    }
    assert errors(said["rejected.py"]) == expected, said


def public_names():
    """Every name that a user writes after ``npu.``: our own, modules, and what is in those."""
    yield from npu_config.__all__
    yield "__version__"
    for room in ROOMS:
        yield room
        module = importlib.import_module("npu_config." + room)
        own = [
            n for n, v in vars(module).items() if getattr(v, "__module__", 0) == module.__name__
        ]
        for name in getattr(module, "__all__", own):
            if not name.startswith("_"):
                yield "{}.{}".format(room, name)


def revealed():
    """A line for each public name that asks for its type."""
    return ["reveal_type(npu.{})".format(each) for each in public_names()]


def test_every_public_name_has_a_type(said):
    """mypy knows what each is: none is Any, so that no misuse of it passes."""
    assert errors(said["names.py"]) == {}, said
    types = dict(
        re.findall(
            r'^names.py:(\d+): note: Revealed type is "(.*)"$', "\n".join(said["names.py"]), re.M
        )
    )
    lines = dict(enumerate(revealed(), 2))
    assert {str(number) for number in lines} == set(types)
    assert [lines[int(number)] for number, each in types.items() if each == "Any"] == []
