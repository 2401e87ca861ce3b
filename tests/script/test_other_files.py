"""Situations whose function stands in another file of the program, and those in loops."""

import pytest

from npu_config.script import read

HEAD = """\
import functools
import tensorflow as tf
from npu_bridge.npu_init import *
import helpers
from helpers import gelu, own, parse as read_one
from package import data
config = npu_config_proto()
ds = tf.data.Dataset.range(10)
x = ds.make_one_shot_iterator().get_next()
def local(y):
    return y * 2
"""
HELPERS = """\
import tensorflow as tf
scale = tf.Variable(2.0)
factor = 3.0
table = tf.contrib.lookup.index_table_from_file("vocabulary.txt")
def parse(x):
    return x * scale
def plain(x):
    return x * factor
def own(x):
    scale = 2.0
    return x * scale
def through(x):
    return parse(x)
def look_up(x):
    return table.lookup(x)
def zeros(x):
    return x + tf.keras.backend.zeros([2])
def gelu(x):
    return 0.5 * x * (1 + tf.tanh(0.79788 * (x + 0.044715 * tf.pow(x, 3))))
def squashed(x):
    return tf.tanh(x)
def cell(n):
    return tf.nn.rnn_cell.LSTMCell(n)
def other_cell(n):
    return OwnCell(n)
"""
CASES = {
    "ds.map(helpers.parse)": "dataset-function-captures-variable",
    "ds.map(read_one)": "dataset-function-captures-variable",
    "ds.map(data.through)": "dataset-function-captures-variable",
    "ds.map(lambda y: helpers.parse(y))": "dataset-function-captures-variable",
    "ds.map(functools.partial(helpers.parse))": "dataset-function-captures-variable",
    "ds.map(helpers.look_up)": "dataset-function-uses-table",
    "ds.map(helpers.zeros)": "keras-backend-variable-in-input",
    "y = gelu(x)": "slow-gelu",
    "y = data.gelu(x)": "slow-gelu",
    "tf.nn.dynamic_rnn(helpers.cell(4), x)": "slow-recurrent-layer",
    "v = tf.Variable(1)\nfor f in (local, lambda y: y * v): ds = ds.map(f)": (
        "dataset-function-captures-variable"
    ),
    "ds.map(helpers.plain)": None,
    "ds.map(own)": None,
    "ds.map(helpers.gone)": None,
    "y = helpers.parse(x)": None,
    "y = helpers.squashed(x)": None,
    "ds.map(gelu)": None,
    "tf.nn.dynamic_rnn(helpers.other_cell(4), x)": None,
    "v = tf.Variable(1)\nfor f in (local, own): ds = ds.map(f)\ny = x * v": None,
}


@pytest.mark.parametrize("line", CASES)
def test_other_file(tmp_path, line):
    """It is found at the line of the script that names the function."""
    (tmp_path / "package").mkdir()
    for name in ("helpers.py", "package/data.py"):
        (tmp_path / name).write_text(HELPERS, encoding="utf-8")
    path = tmp_path / "train.py"
    path.write_text(HEAD + line + "\n", encoding="utf-8")
    found = [
        (each.situation, each.path)
        for each in read(path.read_bytes(), str(path)).judge()
        if each.situation is not None
    ]
    assert found == ([] if CASES[line] is None else [(CASES[line], str(path))])
