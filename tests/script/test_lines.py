"""The lines at which a rule finds something, and those at which it does not: ``lines.txt``.

Each block names a rule; ``# here`` marks every line of its script that the rule names, and words
behind it are those of the message.
"""

from pathlib import Path

import pytest

from npu_config.script import judge_script

START = """\
import functools
import os
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
x = tf.placeholder(tf.float32, [4])
n = tf.placeholder(tf.float32, [])
loss = tf.reduce_mean(x)
opt = tf.train.AdamOptimizer(0.1)
op = opt.minimize(loss)
"""
TEXT = (Path(__file__).parent / "lines.txt").read_text(encoding="utf-8")
BLOCKS = [block.partition("\n")[::2] for block in TEXT.split("\n=== ")[1:]]


@pytest.mark.parametrize(("head", "text"), BLOCKS, ids=[head for head, _ in BLOCKS])
def test_lines(head, text):
    """The rule finds something at every line that is marked, and nowhere else."""
    script = text if head.endswith("alone") else START + text
    found = judge_script(script, "train.py")
    lines = enumerate(script.split("\n"), 1)
    marked = {n: line.partition("# here")[2].strip() for n, line in lines if "# here" in line}
    said = sorted((each.line, each.message) for each in found if each.rule == head.split()[0])
    assert [line for line, _ in said] == list(marked)
    assert [message for line, message in said if marked[line] not in message] == []
