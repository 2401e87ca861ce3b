"""Names of npu_bridge that a script uses and does not have."""

import sys

import pytest

from npu_config.catalogue.api import MODULES
from npu_config.script import judge_script
from npu_config.script.vocabulary import may_matter


def lines(text):
    """The lines on which a name is said to be missing."""
    return [found.line for found in judge_script(text) if found.rule == "NPU837"]


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_name(name):
    """Each name of the table is reported where nothing binds it, and the file is read for it."""
    text = "import tensorflow as tf\nnpu_value = {}\n".format(name)
    assert lines(text) == [2]
    assert may_matter(text.encode())
    (found,) = [found for found in judge_script(text) if found.rule == "NPU837"]
    assert found.help.endswith("from {} import {}".format(MODULES[name], name))
    assert lines("{}\n{}".format(found.help, text)) == []


def test_files_that_cannot_lack_a_name():
    """A file is read that may lack a name, or that works with the adapter; no other one."""
    call = b"config = npu_config_proto()\n"
    assert may_matter(call)
    assert may_matter(b"# from npu_bridge.npu_init import *\n" + call)
    assert may_matter(b"from npu_bridge import npu_init\n" + call)
    assert not may_matter(b"from helpers import *\n" + call)
    assert not may_matter(b"    from helpers import npu_config_proto  # NPU\n" + call)
    assert may_matter(b"from npu_bridge.npu_init import *\nsess = tf.Session('', g, None)\n")
    assert may_matter(b"from npu_bridge.npu_init.x import y\n" + call)


@pytest.mark.skipif(sys.version_info < (3, 8), reason="the syntax of Python 3.8")
def test_assignment_expression():
    """``:=`` binds a name."""
    assert lines("if npu_ops := find():\n    print(npu_ops)\nprint(npu_ops)\n") == []


@pytest.mark.skipif(sys.version_info < (3, 10), reason="the syntax of Python 3.10")
def test_patterns():
    """Patterns bind names, of items, of rests and of all."""
    text = (
        "match value:\n"
        "    case [npu_ops, *npu_rnn]: print(npu_ops, npu_rnn)\n"
        "    case {1: hccl_ops, **npu_scope}: print(hccl_ops, npu_scope)\n"
        "    case int() as npu_plugin: print(npu_plugin)\n"
        "    case _: print(keras_to_npu)\n"
    )
    assert lines(text) == [5]


def test_global_statement():
    """A name that some function declares may be bound by another module."""
    assert lines("def f():\n    global npu_ops\n\nprint(npu_ops)\n") == []


def test_called_by_nobody():
    """In a program a function that nothing names is a warning; a method or a module's is not."""
    text = "def train():\n    return npu_ops.dropout(1)\n"
    program = "if __name__ == '__main__':\n    main()\n"

    def severities(text):
        return [found.severity.value for found in judge_script(text) if found.rule == "NPU837"]

    assert severities(text) == ["error"]
    assert severities(text + program) == ["warning"]
    assert severities(text + "threading.Thread(target=train)\n" + program) == ["error"]
    assert severities("@main\n" + text + program) == ["error"]
    method = "class A:\n" + "".join("    {}\n".format(line) for line in text.splitlines())
    assert severities(method + program) == ["error"]
