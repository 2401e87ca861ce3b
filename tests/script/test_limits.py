"""Both sides of each limit of a check of scripts."""

import re
from pathlib import Path

import pytest

from npu_config.script import judge_script, neighbours

START = """\
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
x = tf.placeholder(tf.float32, [4])
loss = y = tf.reduce_mean(x)
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
LOOP = """
custom_op.parameter_map["iterations_per_loop"].i = {}
with tf.Session(config=config) as sess:
    train_op = util.set_iteration_per_loop(sess, train_op, {})
    sess.run(train_op, feed_dict={{x: [1]}})
"""
NOT_DECLARED = LOOP.replace('custom_op.parameter_map["iterations_per_loop"].i = {}', "")
SCALE = "scale = FixedLossScaleManager(loss_scale={})"
CORES = "with limit_core_num_scope(op_aicore_num='2', op_vectorore_num={}):\n    pass"
SHUFFLE = """
data = tf.data.TFRecordDataset(["a"]).shuffle({}).batch(2)
iterator = data.make_initializable_iterator()
y = iterator.get_next()
custom_op.parameter_map["enable_data_pre_proc"].b = True
with tf.Session(config=config) as sess:
    sess.run(iterator.initializer)
    sess.run(y)
"""
BRANCHES = """
import sys
mode, size = sys.argv[1], int(sys.argv[2])
if {}:
    custom_op.parameter_map["hccl_timeout"].i = 1800
elif {}:
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("fast")
with tf.Session(config=config) as sess:
    sess.run(y)
"""


def found_in(text):
    """Every finding in a script."""
    return judge_script(START + text, "train.py")


@pytest.mark.parametrize(
    ("rule", "text", "right", "wrong"),
    [
        ("NPU8021", NOT_DECLARED, [(0,), (1,)], [(2,), (10,)]),
        ("NPU887", LOOP, [(1, 1), (2, 2), (0, 2)], [(2, 1), (1, 2), (3, 2)]),
        ("NPU863", LOOP, [(1, 1), (2, 1)], [(1, 2), (2, 2), (0, 2)]),
        ("NPU893", SCALE, [(1,), (1.0,), (True,), ("n",)], [(0.99,), (0,), (-1,)]),
        ("NPU893", CORES, [("'1'",), ("'12'",), ("n",)], [("'0'",), (1,), ("'x'",), ("'-1'",)]),
        ("NPU8104", SHUFFLE, [(9999,)], [(10000,), (10001,)]),
    ],
)
def test_both_sides_of_a_limit(rule, text, right, wrong):
    """The limit itself, the next value, and what is no such number."""
    for numbers in right + wrong:
        found = {each.rule for each in found_in(text.format(*numbers))}
        assert (numbers, rule in found) == (numbers, numbers in wrong)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ("mode == 'a'", "mode == 'b'", "mode == 'b'"),
        ("mode != 'a'", "mode == 'a'", "mode == 'a'"),
        ("size > 1", "size == 1", "size <= 1 and size == 1"),
        ("size > 1", "size > 0", "size <= 1 and size > 0"),
        ("mode == 'a'", "size == 1", "mode != 'a' and size == 1"),
        ("mode == 'a'", "mode != 'b'", "mode != 'a' and mode != 'b'"),
    ],
)
def test_conditions_in_words(first, second, words):
    """What a finding holds under; of one value that is equal nothing else is said."""
    (message,) = [
        each.message for each in found_in(BRANCHES.format(first, second)) if each.rule == "NPU104"
    ]
    assert re.search(r"\(when (.*)\)$", message).group(1) == words


@pytest.mark.parametrize(
    ("value", "is_found"),
    [
        ("np.inf", True),
        ("-np.inf", True),
        ("[1.0, -np.inf]", True),
        ("(np.nan,)", True),
        ("np.inf * 2", True),
        ("1 - math.inf", True),
        ("np.full([4], np.inf)", True),
        ("np.full([4], fill_value=math.nan)", True),
        ("np.array([np.inf])", True),
        ("np.float32(np.inf)", True),
        ("float('inf')", True),
        ("float('-Infinity')", True),
        ("float('nan')", True),
        ("LOW", True),
        ("1.0", False),
        ("np.info", False),
        ("inf", False),
        ("[1.0, 2.0]", False),
        ("np.full([4], 1.0)", False),
        ("np.full(np.inf)", False),
        ("np.array()", False),
        ("float('1')", False),
        ("float()", False),
        ("np.inf / 2", False),
        ("OWN", False),
        ("[[[[[[np.inf]]]]]]", True),
        ("[[[[[[[np.inf]]]]]]]", False),
    ],
)
def test_infinite_constants(value, is_found):
    """Constants of numpy and math, texts of floats, what is made of them, six levels deep."""
    before = "import math\nimport numpy as np\nLOW = -np.inf\nOWN = [OWN]\ninf = 3\n"
    found = found_in("{}z = tf.maximum(x, {})".format(before, value))
    assert ("NPU2007" in {each.rule for each in found}) is is_found


@pytest.mark.parametrize(
    ("most", "expected"),
    [(2, []), (3, ["a.py", "b.py"]), (4, ["a.py", "b.py"]), (5, ["a.py", "b.py", "d.py"])],
)
def test_files_around_a_script(tmp_path, monkeypatch, most, expected):
    """So many folders and files are looked at, in whole folders; hidden ones are passed over."""
    for name in ("b.py", "a.py", "c/d.py", ".e/f.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    monkeypatch.setattr(neighbours, "_MOST_FILES", most)
    found = [Path(each).name for each in neighbours._scripts_below(str(tmp_path))]
    assert found == expected
