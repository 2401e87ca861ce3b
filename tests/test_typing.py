"""User code under mypy --strict: what must be rejected is, what must pass does."""

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


def run_mypy(sample, tmp_path):
    """Line number to error code."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), sample],
        cwd=str(SAMPLES),
        stdout=subprocess.PIPE,
        env=dict(os.environ, MYPYPATH="" if "site-packages" in HOME else HOME),
    )
    found = re.findall(r"^\S+?:(\d+): error: .*\[([a-z-]+)\]$", done.stdout.decode(), re.M)
    return {int(line): code for line, code in found}, done.stdout.decode()


def test_accepted(tmp_path):
    """The sample of right user code has no error."""
    found, output = run_mypy("accepted.py", tmp_path)
    assert found == {}, output


def test_rejected(tmp_path):
    """Every wrong line is rejected, with the error that names the fault."""
    lines = (SAMPLES / "rejected.py").read_text().splitlines()
    expected = {
        number: line.rsplit("# ", 1)[1]
        for number, line in enumerate(lines, 1)
        if line.startswith("npu.")
    }
    found, output = run_mypy("rejected.py", tmp_path)
    assert found == expected, output
