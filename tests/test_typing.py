"""User code under mypy --strict: what must be rejected is, what must pass does."""

import importlib
import os
import re
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
def run_mypy(tmp_path_factory):
    """Runs mypy on a sample: line number to error code; what it knows of the package is kept."""
    cache = str(tmp_path_factory.mktemp("mypy"))

    def run(sample, folder=SAMPLES):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, sample],
            cwd=str(folder),
            stdout=subprocess.PIPE,
            env=dict(os.environ, MYPYPATH="" if "site-packages" in HOME else HOME),
        )
        found = re.findall(r"^\S+?:(\d+): error: .*\[([a-z-]+)\]$", done.stdout.decode(), re.M)
        return {int(line): code for line, code in found}, done.stdout.decode()

    return run


def test_accepted(run_mypy):
    """The sample of right user code has no error."""
    found, output = run_mypy("accepted.py")
    assert found == {}, output


def test_rejected(run_mypy):
    """Every wrong line is rejected, with the error that names the fault."""
    lines = (SAMPLES / "rejected.py").read_text().splitlines()
    expected = {
        number: line.rsplit("# ", 1)[1]
        for number, line in enumerate(lines, 1)
        if line.startswith("npu.")
    }
    found, output = run_mypy("rejected.py")
    assert found == expected, output


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


def test_every_public_name_has_a_type(tmp_path, run_mypy):
    """mypy knows what each is: none is Any, so that no misuse of it passes."""
    names = list(public_names())
    lines = ["import npu_config as npu", *("reveal_type(npu.{})".format(each) for each in names)]
    (tmp_path / "names.py").write_text("\n".join(lines) + "\n")
    found, output = run_mypy("names.py", tmp_path)
    assert found == {}, output
    types = dict(re.findall(r'^names.py:(\d+): note: Revealed type is "(.*)"$', output, re.M))
    assert {str(number) for number in range(2, len(lines) + 1)} == set(types)
    assert [lines[int(number) - 1] for number, each in types.items() if each == "Any"] == []
