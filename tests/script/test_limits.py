"""Both sides of each limit of a check of scripts."""

import pytest

from npu_config.script import judge_script

START = """\
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
loss = tf.reduce_mean(tf.placeholder(tf.float32, [4]))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
LOOP = """
with tf.Session(config=config) as sess:
    train_op = util.set_iteration_per_loop(sess, train_op, {})
    sess.run(train_op)
"""


def rules_of(text):
    """The rules that a script breaks."""
    return {each.rule for each in judge_script(START + text, "train.py")}


@pytest.mark.parametrize(("count", "is_found"), [(0, False), (1, False), (2, True), (10, True)])
def test_a_loop_that_is_not_declared(count, is_found):
    """One step is no loop; two are."""
    assert ("NPU8021" in rules_of(LOOP.format(count))) is is_found
