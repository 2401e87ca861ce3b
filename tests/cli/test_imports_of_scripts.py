"""What a script imports may do what it lacks: files are read where they are found."""

import json

import pytest

CONFIGURED = """\
{imports}
import tensorflow as tf

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["iterations_per_loop"].i = 10
train_op = {train_op}
if __name__ == "__main__":
    with tf.Session(config=config) as sess:
        sess.run(train_op)
"""
OPERATION = 'tf.group(build(), name="IterationOp")'
NOTHING = ["NPU865", "NPU886"]


@pytest.fixture
def check(npu, tmp_path):
    """Checks a script with these imports; returns which of the two rules speak."""

    def run(imports, train_op=OPERATION, **files):
        for name, text in files.items():
            (tmp_path / (name + ".py")).write_text(text, encoding="utf-8")
        path = tmp_path / "train.py"
        path.write_text(CONFIGURED.format(imports=imports, train_op=train_op), encoding="utf-8")
        found = json.loads(npu("check", "--format", "json", path).out)["diagnostics"]
        return sorted({each["rule"] for each in found} & set(NOTHING))

    return run


@pytest.mark.parametrize(
    "imports",
    [
        "import os, sys",
        "import numpy as np",
        "from tensorflow.python.framework import ops",
        "from absl import app, flags",
        "import tensorflow.compat.v1 as tf1; import json",
        "from __future__ import absolute_import",
    ],
)
def test_libraries(check, imports):
    """They neither load the adapter nor say how often the loop runs."""
    assert check(imports) == NOTHING


@pytest.mark.parametrize(
    "imports",
    [
        "import model_utils",
        "from model_utils import build",
        "from . import model_utils",
        "from .parts import build",
        "from official.utils import flags",
        "import os, model_utils",
        "try:\n    import model_utils\nexcept ImportError:\n    pass",
        "import importlib\nbuild = importlib.import_module('model').build",
        "exec(open('model.py').read())",
        "def late():\n    import model_utils",
    ],
)
def test_files_that_are_not_found(check, imports):
    """They may do either: what is unknown is not wrong."""
    assert check(imports) == []


def test_files_that_are_found(check):
    """They are read, as are those that they import."""
    assert check("import model", model="import numpy\n") == NOTHING
    assert check("import model", model="from .deep import build\n") == []
    assert check("import model", model="from .deep import build\n", deep="") == NOTHING
    hook = "from npu_bridge.npu_init import *\nhooks = [SetIterationsVarHook(10)]\n"
    assert check("import model", model="import deep\n", deep=hook) == []
    assert check("import model", model="import deep\n", deep="import npu_bridge\n") == ["NPU886"]


def test_the_other_half(check):
    """What an imported file has is not missing; the half that it has not is."""
    loads = "from npu_bridge.estimator.npu import util\nload = {}.load_iteration_per_loop_var\n"
    loop = "util.IterationPerLoop()"
    assert check("import loops", loops=loads.format(loop)) == []
    assert check("import loops", "build()", loops=loads.format(loop)) == ["NPU886"]


@pytest.mark.parametrize("word", ["load_op_library", "load_library"])
def test_libraries_loaded_by_hand(check, word):
    """The adapter may be among them."""
    assert check("import os", "tf.{}('lib.so')".format(word)) == ["NPU886"]
