"""Scripts are checked in time proportional to their length, counted in calls of functions."""

import sys

import pytest

from npu_config.script import read_script

HEAD = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
ONE = """\
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
"""
FAMILIES = {
    "blocks": lambda n: HEAD + (ONE + "sess = tf.Session(config=config)\n") * n,
    "blocks of other names": lambda n: (
        HEAD
        + "".join(
            ONE.replace("config", "c{}".format(i)).replace("op", "o{}".format(i)) for i in range(n)
        )
    ),
    "wrong assignments": lambda n: (
        HEAD + ONE + "".join('op.parameter_map["no_{}"].b = True\n'.format(i) for i in range(n))
    ),
    "methods that call each other": lambda n: (
        HEAD
        + "class A:\n"
        + "".join(
            "    def m{}(self):\n        self.m{}()\n        NPURunConfig()\n".format(i, i + 1)
            for i in range(n)
        )
    ),
    "sessions in a text": lambda n: HEAD + ONE + "x = '{}'\n".format("Session(," * n),
    "statements of no interest": lambda n: HEAD + ONE + "x = 1\n" * n,
    "hooks": lambda n: HEAD + "h = npu_hooks_append(h)\n" * n,
}


def calls(text):
    """How many functions are called, in Python and in C, to check a script."""
    count = 0

    def profile(_frame, event, _argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        read_script(text, "x.py").judge()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("family", FAMILIES)
def test_growth(family):
    """Four times the script takes no more than five times the calls."""
    make = FAMILIES[family]
    read_script(make(2), "x.py").judge()
    few, many = calls(make(40)), calls(make(160))
    assert many <= 5 * few, (few, many)
