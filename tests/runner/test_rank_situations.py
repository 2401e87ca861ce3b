"""Documented situations of several ranks, as ``npu-config run --ranks`` finds them."""

import json
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")
pytest.importorskip("click")

import tensorflow

from tests.runner import copies
from tests.runner.situations_in_one_process import blocks

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]
PRELUDE = """import os, tempfile, numpy as np, tensorflow as tf
from npu_bridge.npu_init import *
rank, size = int(os.environ["RANK_ID"]), int(os.environ["RANK_SIZE"])
def same():
    trained = tf.trainable_variables()
    return tf.group(*[tf.assign(v, hccl_ops.broadcast([v], 0)[0]) for v in trained])
"""
SCRIPTS = list(blocks(Path(__file__).parents[1] / "data" / "rank_situations.txt", PRELUDE))
IS_1 = tensorflow.__version__.startswith("1.")


@pytest.mark.skipif(not IS_1, reason="the scripts are for TensorFlow 1.15")
@pytest.mark.parametrize("number", range(len(SCRIPTS)))
def test_each_script(tmp_path, number):
    """The situation is found at the marked line; what only looks like one draws no finding."""
    situation, script, lines = SCRIPTS[number]
    (tmp_path / "train.py").write_text(script)
    done = copies.run(["run", "--ranks", "2", "--report", "r.json", "train.py"], tmp_path)
    assert done.returncode == 0
    report = json.loads((tmp_path / "r.json").read_text())
    found = [(each["situation"], each["line"]) for each in report["findings"]]
    found = [each for each in found if each[0]]
    if situation == "right":
        assert found == []
    else:
        assert set(found) & {(situation, line) for line in lines}
