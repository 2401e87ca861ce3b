"""Hostile scripts: nothing but findings, and in bounded time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.core.diagnostics import Diagnostic
from npu_config.script import judge_script, read

CASES = sorted((Path(__file__).parent / "cases").rglob("*.py"))
HEAD = """\
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
"""


def rules(text):
    """The ids of the findings about a text."""
    found = judge_script(text, "x.py")
    assert all(isinstance(finding, Diagnostic) for finding in found)
    return {finding.rule for finding in found}


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "-" * 50000 + "1",
        "not " * 50000 + "1",
        "+".join(["1"] * 50000),
        "a" + ".b" * 50000,
        "a" + "()" * 50000,
        "a" + "[0]" * 50000,
        "lambda: " * 20000 + "1",
        "1 if x else " * 20000 + "1",
        "[" * 150 + "]" * 150,
        " and ".join("x.a{}".format(n) for n in range(5000)),
        "f(" * 90 + "x" + ")" * 90,
    ],
    ids=lambda text: text[:12],
)
def test_deep_expressions(expression):
    """A value that is nested beyond all measure."""
    rules(HEAD + 'op.parameter_map["hcom_parallel"].b = {}\n'.format(expression))
    rules(HEAD + "if {}:\n    op.parameter_map['x'].b = True\n".format(expression))


def test_deep_statements():
    """Blocks within blocks, and elif without end."""
    deep = "".join("{}if x{}:\n".format(" " * n, n) for n in range(90))
    rules(HEAD + deep + " " * 90 + "op.parameter_map['x'].b = True\n")
    chain = "".join(
        "elif y == {}:\n    op.parameter_map['x'].i = 1\n".format(n) for n in range(900)
    )
    rules(HEAD + "if x:\n    pass\n" + chain)
    rules(
        "".join("{}def f{}():\n".format(" " * n, n) for n in range(90))
        + " " * 90
        + "NPURunConfig()"
    )
    rules(
        "".join("{}class C{}:\n".format(" " * n, n) for n in range(90)) + " " * 90 + "DumpConfig"
    )


def test_functions_that_multiply():
    """Each function calls the next one twice: not every call can be followed."""
    text = HEAD
    for number in range(40):
        text += "def f{0}(op):\n    f{1}(op)\n    f{1}(op)\n".format(number, number + 1)
    text += "def f40(op):\n    op.parameter_map['hcom_paralel'].b = True\nf0(op)\n"
    rules(text)


def test_branches_that_multiply():
    """Two to the power of forty paths."""
    text = HEAD
    for number in range(40):
        text += "if a{0}:\n    op.parameter_map['x{0}'].b = True\n".format(number)
    assert "NPU101" in rules(text)


def test_loops_that_multiply():
    """Loops over known values, in each other."""
    text = HEAD
    for depth in range(8):
        text += "{}for x{} in {}:\n".format("    " * depth, depth, list(range(60)))
    text += "{}op.parameter_map['x' + str(x7)].i = x0\n".format("    " * 8)
    rules(text)


def test_values_that_grow():
    """Text that doubles with each line."""
    text = HEAD + "a = 'x'\n" + "".join("a = a + a\n" for _ in range(60))
    rules(text + "op.parameter_map['dump_path'].s = tf.compat.as_bytes(a)\n")
    lists = HEAD + "a = [1]\n" + "".join("a = [a, a]\n" for _ in range(60))
    rules(lists + "op.parameter_map['dump_path'].s = tf.compat.as_bytes(str(a))\n")


def test_large_script():
    """Two megabytes; how the time grows with the statements is held by tests/linear."""
    line = "value_{0} = compute({0})  # " + "数据" * 30 + "\n"
    filler = "".join(line.format(n) for n in range(10_000))
    assert len(filler.encode("utf-8")) > 2_000_000
    text = HEAD + filler + "op.parameter_map['hcom_paralel'].b = True\n"
    assert "NPU101" in rules(text)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"NPURunConfig(\x00)",
        b"\xff\xfeNPURunConfig",
        b"\xef\xbb\xbf\xef\xbb\xbfNPURunConfig()",
        "NPURunConfig = '数据'".encode("gbk"),
        "NPURunConfig = '数据'".encode("utf-16"),
        b"# coding: \xff\nNPURunConfig()",
        b"# coding: utf-7\nNPURunConfig(x='+AGE-')",
        b"# coding: unicode_escape\nNPURunConfig(x='\\x00')",
        b"#coding:idna\nNPURunConfig()",
        b"\x0cNPURunConfig()\x0c\r",
        b"NPURunConfig(\r\r\nauto_tune_mode=1)",
        b"NPURunConfig(auto_tune_mode=1\\",
        b"'" * 99999,
        b"NPURunConfig(**{1: 2})",
        b"NPURunConfig(*NPURunConfig, **NPURunConfig)",
    ],
)
def test_odd_bytes(data):
    """Bytes that are hardly text."""
    reading = read(data, "x.py")
    for finding in reading.judge():
        assert isinstance(finding, Diagnostic)


def pieces():
    """Lines of all cases."""
    found = []
    for path in CASES:
        found += path.read_text(encoding="utf-8").splitlines()
    return found


LINES = pieces()


@given(st.randoms(use_true_random=False), st.integers(1, 30))
def test_mixed_cases(chance, size):
    """Lines of the cases in any order, with any indentation: none of it is a crash."""
    text = "\n".join(
        " " * chance.choice([0, 0, 0, 4, 8]) + chance.choice(LINES).strip() for _ in range(size)
    )
    rules(text)


@given(st.randoms(use_true_random=False))
def test_damaged_cases(chance):
    """A case with a few lines lost, doubled or moved."""
    lines = chance.choice(CASES).read_text(encoding="utf-8").splitlines()
    for _ in range(chance.randint(1, 4)):
        number = chance.randrange(len(lines)) if lines else 0
        action = chance.choice("dxms")
        if not lines:
            break
        if action == "d":
            del lines[number]
        elif action == "x":
            lines.insert(number, lines[number])
        elif action == "m":
            lines.insert(chance.randrange(len(lines)), lines.pop(number))
        else:
            other = chance.choice(LINES).strip()
            indentation = len(lines[number]) - len(lines[number].lstrip())
            lines[number] = " " * indentation + other
    rules("\n".join(lines))


TARGETS = [
    "op",
    "config",
    "op.name",
    "x",
    "x, y",
    "*x",
    "x[0]",
    "op.parameter_map",
    "self.x",
    "()",
]
VALUES = [
    "op",
    "config",
    "x",
    "op.parameter_map",
    "config.graph_options",
    "config.graph_options.rewrite_options.custom_optimizers",
    "tf.ConfigProto()",
    "NPURunConfig(session_config=config)",
    "DumpConfig",
    "f",
    "f(op)",
    "f(config, *x, **y)",
    "C()",
    "C(op)",
    "{1: op}",
    "[op, config]",
    "None",
    "lambda op: op",
    "npu_config_proto(x)",
    "npu.NpuConfigBuilder().set(x=1)",
    "npu_run_config_init(x)",
    "session_dump_config(op, config)",
    "update_custom_op(config, op)",
    "tf.Session(x, y, op)",
    "op if x else config",
    "op and x",
]
STATEMENTS = [
    "{t} = {v}",
    "{t} += {v}",
    "del {t}",
    "for {t} in {v}:\n    {v}",
    "with {v} as {t}:\n    op.parameter_map['x'].b = {v}",
    "if {v}:\n    op.parameter_map['x'].i = {v}\nelse:\n    {t} = {v}",
    "while {v}:\n    op.parameter_map[{v}].s = {v}\n    break",
    "try:\n    {t} = {v}\nexcept {v} as x:\n    op.parameter_map['y'].b = 1",
    "def f(op, x={v}, *y, **z):\n    op.parameter_map['y'].b = x\n    return {v}",
    "class C({v}):\n    op = {v}\n    def __init__(self, op=None):\n        self.x = {v}",
    "op.parameter_map['z'].b = {v}",
    "op.parameter_map[{v}].CopyFrom({v})",
    "config.graph_options.CopyFrom({v})",
    "config.graph_options.rewrite_options.remapping = {v}",
    "setattr({v}, 'x', {v})",
    "raise {v}",
    "{v}",
    "global op",
    "return {v}",
]


@given(
    st.lists(
        st.tuples(st.sampled_from(STATEMENTS), st.sampled_from(TARGETS), st.sampled_from(VALUES)),
        max_size=8,
    )
)
def test_wild_statements(parts):
    """Assignments and calls that make no sense, of everything that is followed."""
    body = HEAD + "\n".join(s.format(t=t, v=v) for s, t, v in parts) + "\n"
    rules(body)
    rules("def main(self):\n" + "".join("    " + line + "\n" for line in body.splitlines()[2:]))


def test_the_same_every_time():
    """Findings and their order do not depend on chance."""
    for path in CASES:
        text = path.read_text(encoding="utf-8")
        first = judge_script(text, "x.py")
        assert first == judge_script(text, "x.py")


@pytest.mark.parametrize(
    "value",
    [
        '"{}"'.format("b" * 1000000),
        "b" * 1000000,
        '"%999999999d" % 1',
        '"%*d" % (999999999, 1)',
        '"{:999999999}".format(1)',
        '"{:{w}}".format(1, w=999999999)',
    ],
    ids=["text", "name", "percent", "star", "format", "nested"],
)
def test_values_that_would_grow(value):
    """Long words and wide formats cost neither time nor memory."""
    text = 'custom_op.parameter_map["dump_path"].s = {}\n'.format(value)
    assert read(text.encode(), "x.py").script is not None
