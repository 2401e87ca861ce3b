"""Variables that reach a dataset through items and parameters: which of them are known."""

import pytest

from npu_config.script import judge_script

SCRIPT = """\
import functools
import sys
import tensorflow as tf
from npu_bridge.npu_init import *
v, w = tf.Variable(1.0), 2.0
other = dict(sys.argv)
{}
data = tf.data.Dataset.range(8).map(lambda r: r * y)
with tf.Session(config=npu_config_proto()) as sess:
    sess.run(tf.global_variables_initializer())
"""
KNOWN = {
    "a list": "c = [w, v]\ny = c[1] * 2",
    "a list from its end": "c = [v, w]\ny = c[-2] * 2",
    "a tuple": "c = (v,)\ny = c[0] * 2",
    "a dict": "c = {'a': w, 'b': v}\ny = c['b'] * 2",
    "a dict by number": "c = {1: w, 2: v}\ny = c[2] * 2",
    "dict()": "c = dict(a=w, b=v)\ny = c['b'] * 2",
    "an item": "c = {}\nc['a'] = v\ny = c['a'] * 2",
    "an item beside others": "c = {'b': w}\nc['a'] = v\ny = c['a'] * 2",
    "a parameter": "def f(x, e):\n    return e * 2\ny = f(0, v)",
    "a keyword": "def f(x, e=w):\n    return e * 2\ny = f(0, e=v)",
    "a default": "def f(x, d=w, e=v):\n    return e * 2\ny = f(0, w)",
    "the first default": "def f(x, e=v, d=w):\n    return e * 2\ny = f(0)",
    "partial": "def f(e, x):\n    return e * 2\ny = functools.partial(f, v)(0)",
    "through two": "def g(e):\n    return e * 2\ndef f(e):\n    return g(e)\ny = f(v)",
}
NOT_KNOWN = {
    "another item of a list": "c = [w, v]\ny = c[0] * 2",
    "behind a list": "c = [v]\ny = c[1] * 2",
    "before a list": "c = [v]\ny = c[-2] * 2",
    "another item of a dict": "c = {'a': w, 'b': v}\ny = c['a'] * 2",
    "another item of dict()": "c = dict(a=w, b=v)\ny = c['a'] * 2",
    "an item twice": "c = {'a': v}\nc['a'] = w\ny = c['a'] * 2",
    "a key that is not known": "c = {'a': v}\ny = c[sys.argv[1]] * 2",
    "other calls": "def f(x, e):\n    return e * 2\ny = f(0, v) + f(0, int(sys.argv[1]))",
    "open calls": "def f(x, e=v):\n    return e * 2\ny = f(0, *sys.argv)",
    "another default": "def f(x, d=v, e=w):\n    return e * 2\ny = f(0)",
    "a default that is not used": "def f(x, e=v):\n    return e * 2\ny = f(0, w)",
    "a decorated function": (
        "@other\ndef f(x, e=v):\n    return e * 2\ny = f(0, e=int(sys.argv[1]))"
    ),
    "partial with more": (
        "def f(x, e=v):\n    return e * 2\ny = functools.partial(f, 0)(int(sys.argv[1]))"
    ),
}


def captured(text):
    """Whether a variable is found in the function of a dataset."""
    found = judge_script(SCRIPT.format(text), "train.py")
    return [each.rule for each in found if each.rule == "NPU481"] != []


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_known(name):
    """Every place in the script gives the same variable."""
    assert captured(KNOWN[name])


@pytest.mark.parametrize("name", sorted(NOT_KNOWN))
def test_not_known(name):
    """Another value is used, or which one is known at run time only."""
    assert not captured(NOT_KNOWN[name])
