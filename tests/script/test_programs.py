"""Which scripts are programs: those with a main part, and those whose import would train."""

import pytest

from npu_config.script import judge_script, read
from npu_config.script.script import Script

CONFIGURATION = """\
import tensorflow as tf
from npu_bridge.npu_init import *

config_proto = tf.ConfigProto()
custom_op = config_proto.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["precision_mode"].s = b"allow_mix_precision"
config = tf.ConfigProto()
"""
PROGRAMS = {
    "with": "with tf.Session(config=config) as sess:\n    pass\n",
    "with proto": "with tf.Session(config=npu_config_proto(config)) as sess:\n    pass\n",
    "run": "sess = tf.Session(config=config)\nsess.run(train_op)\n",
    "value of run": "sess = tf.Session(config=config)\nloss = sess.run(train_op)\n",
    "for": "sess = tf.Session(config=config)\nfor step in steps:\n    sess.run(train_op)\n",
    "monitored": "with tf.train.MonitoredTrainingSession(config=config) as sess:\n    pass\n",
    "managed": "with supervisor.managed_session(config=config) as sess:\n    pass\n",
    "keras": "set_keras_session_npu_config(config)\nmodel.fit(x, y)\n",
    "estimator": "sess = tf.Session(config=config)\nestimator.train(input_fn)\n",
    "app": "sess = tf.Session(config=config)\ntf.app.run()\n",
    "main": "def main():\n    return tf.Session(config=config)\n\nmain()\n",
    "guard": "if __name__ == '__main__':\n    sess = tf.Session(config=config)\n",
}
MODULES = {
    "nothing": "",
    "session for others": "sess = tf.Session(config=config)\n",
    "function": "def train():\n    with tf.Session(config=config) as sess:\n        pass\n",
    "method": "class T:\n    def train(self):\n        self.sess.run(op)\n",
    "another run": "import subprocess\nsubprocess.run(['ls'])\n",
    "own train": "def train():\n    pass\n\ntrain()\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    """What a program configures and never uses is reported, wherever it stands."""
    text = CONFIGURATION + PROGRAMS[name]
    assert Script(text).is_program
    assert [found.line for found in judge_script(text) if found.rule == "NPU880"] == [5]


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    """What a module configures may be used by whoever imports it."""
    text = CONFIGURATION + MODULES[name]
    assert not Script(text).is_program
    assert [found.line for found in judge_script(text) if found.rule == "NPU880"] == []


BEHIND = b"""
import tensorflow as tf
from npu_bridge.npu_init import *

NPURunConfig(precision_mod="x")
"""


@pytest.mark.parametrize(
    ("data", "severities", "checked"),
    [
        (b"# caf\xe9", ["warning"], True),
        (b"x = 1  # caf\xe9", ["warning"], True),
        (b"# caf\xe9\nif __name__ == '__main__': pass", ["error"], True),
        (b"# -*- coding: utf-8 -*-\n# caf\xe9", [], True),
        (b"\xef\xbb\xbf# caf\xe9", [], True),
        (b"x = 'caf\xe9'", ["error"], False),
        (b'"""caf\xe9"""', ["error"], False),
        (b"# -*- coding: gbk -*-\n# \xff", ["error"], False),
    ],
)
def test_bytes_that_are_not_utf_8(data, severities, checked):
    """Python 3.6 to 3.13 import a file with any byte in a comment; the rest of it is checked."""
    found = read(data + BEHIND, "x.py").judge()
    assert severities == [f.severity.value for f in found if f.rule == "NPU831"]
    assert checked is ("NPU839" in {f.rule for f in found})
