"""Documented situations, as ``npu-config run`` finds them: each in several shapes of code."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

import tensorflow  # noqa: E402

from tests.forks import ROOT  # noqa: E402

HERE = Path(__file__).parent
SCRIPTS = HERE.parent / "data" / "situations.txt"
COUNT = SCRIPTS.read_text(encoding="utf-8").count("=== ")
IS_1 = tensorflow.__version__.startswith("1.")


@functools.lru_cache(maxsize=None)
def results():
    """What is found in each script of the file; all are run in one process."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, *sys.path])}
    environ = {name: text for name, text in environ.items() if name[:5] != "RANK_"}
    command = [sys.executable, str(HERE / "situations_in_one_process.py"), str(SCRIPTS)]
    done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.decode())


@pytest.mark.skipif(not IS_1, reason="the scripts are for TensorFlow 1.15")
@pytest.mark.parametrize("number", range(COUNT))
def test_each_script(number):
    """The situation is found at the marked line; what only looks like one draws no warning."""
    result = results()[number]
    assert (result["exit"], result["error"], result["not_looked_at"]) == (0, None, [])
    if result["situation"] == "right":
        assert result["found"] == []
    else:
        lines = [line for id, line in result["found"] if id == result["situation"]]
        assert set(lines) & set(result["lines"])
