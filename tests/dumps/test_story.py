"""The whole story on TensorFlow 1.15: a float16 overflow, from a wrong loss to its cure."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

tensorflow = pytest.importorskip("tensorflow")
pytestmark = [pytest.mark.tensorflow, pytest.mark.further]
FILES = Path(__file__).parent / "story"
CONFIG = """\
version: 1
precision:
  precision_mode: allow_mix_precision
dump:
  dump_path: dump
  enable_dump_debug: true
"""


@pytest.mark.skipif(tensorflow.__version__ > "2", reason="the script is of TensorFlow 1.15")
def test_from_a_wrong_loss_to_its_cure(tmp_path):
    """Fourteen commands and those that the search names; no file is edited by hand."""
    folder = tmp_path / "job"
    shutil.copytree(str(FILES), str(folder))
    (folder / "config.yaml").write_text(CONFIG)
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path), TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run(
        [sys.executable, "story.py"], cwd=str(folder), env=env, stdout=subprocess.PIPE, check=True
    )
    told = json.loads(done.stdout.decode().splitlines()[-1])
    (run, overflow, _, _, scan, _, export, before, *search, made, last, after) = told
    assert ("loss inf" in run[2], "loss inf" in last[2], run[1], last[1]) == (True, False, 0, 0)
    first = overflow[2].split("2. ")[0]
    assert ("norm/Square (Square)" in first, "computed here" in first) == (True, True)
    assert "first in the order of the graph: norm/Square output 0" in scan[2]
    assert "not exported: 0" in export[2]
    assert "and whose outputs differ: norm/Square" in before[2]
    assert "infinite values, where the reference exceeds the type's limit 65504" in before[2]
    assert "operator types in float32: Mul, Square" in search[-1][2]
    assert int(re.search(r"runs in all: (\d+)", search[-1][2]).group(1)) <= 6
    assert [code for _, code, _ in (overflow, scan, before, made, after)] == [1, 1, 1, 0, 0]
    assert "all compared values agree" in after[2]
    own = {path.name for path in FILES.iterdir()} | {"config.yaml"}
    assert (folder / "config.yaml").read_text() == CONFIG
    assert {path.name for path in folder.glob("*.py")} <= own
