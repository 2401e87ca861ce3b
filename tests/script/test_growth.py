"""Scripts are checked in time proportional to their length, counted in calls of functions."""

import gc
import os

import pytest

from npu_config.script import neighbours, read_script
from tests.calls import calls_of

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
BRANCHES = {
    "functions that call each other in branches": lambda n: (
        HEAD
        + "".join(
            "def f{0}(x):\n  if x{0}:\n    f{1}(x)\n  else:\n    NPURunConfig()\n".format(i, i + 1)
            for i in range(n)
        )
    ),
    "functions defined in branches": lambda n: (
        HEAD
        + "".join(
            "if a{0}:\n    def f{0}():\n        NPURunConfig(no_{0}=1)\n"
            "else:\n    def f{0}():\n        NPURunConfig()\n".format(i)
            for i in range(n)
        )
    ),
    "functions called in branches": lambda n: (
        HEAD
        + "".join("def f{}(x):\n    NPURunConfig()\n".format(i) for i in range(n))
        + "".join("if a{0}:\n    f{0}(1)\nelse:\n    f{0}(2)\n".format(i) for i in range(n))
    ),
}


def calls(text):
    """How many functions are called to check a script."""
    return calls_of(lambda: read_script(text, "x.py").judge())


@pytest.mark.parametrize("family", FAMILIES)
def test_growth(family):
    """Four times the script takes no more than five times the calls."""
    make = FAMILIES[family]
    read_script(make(2), "x.py").judge()
    few, many = calls(make(40)), calls(make(160))
    assert many <= 5 * few, (few, many)


@pytest.mark.parametrize("family", BRANCHES)
def test_growth_of_branches(family):
    """The paths through functions and branches are as many as the length of a script allows."""
    make = BRANCHES[family]
    few, many = calls(make(50)), calls(make(200))
    assert many <= 5 * few, (few, many)


def test_every_function_is_looked_at():
    """Also where the script has more paths than are followed."""
    text = BRANCHES["functions defined in branches"](300)
    found = [f for f in read_script(text, "x.py").judge() if f.rule == "NPU839"]
    assert list(range(300)) == sorted(int(f.message.split('"')[1][3:]) for f in found)


def test_neighbours_are_read_once(tmp_path, monkeypatch):
    """However often, and by however many scripts of a batch, they are asked about."""
    opened = []
    monkeypatch.setattr(
        neighbours, "reading", lambda path, flags: opened.append(path) or os.open(path, flags)
    )
    folder = tmp_path / "scripts"
    folder.mkdir()
    for number in range(20):
        (folder / "m{}.py".format(number)).write_text("import m{}\n".format(number + 1))
    paths = [str(folder / "m{}.py".format(number)) for number in range(20)]
    with neighbours.remembering():
        for path in paths:
            assert not neighbours.any_neighbour_has(path, ("npu_init",))
            assert not neighbours.any_importer_has(path, ("npu_init",))
            assert not neighbours.any_import_has(path, ("npu_init", "npu_bridge"))
            assert neighbours.any_import_has(paths[0], ("m3",))
    assert sorted(opened) == sorted(paths)


def test_neighbours_are_left_alone(tmp_path, monkeypatch):
    """A script that asks for no loop is judged without the files around it."""
    opened = []
    monkeypatch.setattr(
        neighbours, "reading", lambda path, flags: opened.append(path) or os.open(path, flags)
    )
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "other.py").write_text("import script\n")
    script = folder / "script.py"
    script.write_text(HEAD + ONE + "op.parameter_map['enable_dump'].b = True\n")
    assert read_script(script.read_text(), str(script)).judge()
    assert opened == []


def test_a_reading_refers_to_nothing_that_refers_to_it():
    """A script that was let go is gone at once, without the collector."""
    text = HEAD + "def f():\n    def g():\n        return g\n    NPURunConfig(enable_dump=g())\n"
    for _ in range(2):  # the first one loads what is loaded once
        gc.collect()
        gc.disable()
        try:
            reading = read_script(text, "x.py")
            assert reading.paths
            reading.judge()
            reading.forget()
            del reading
            left = gc.collect()
        finally:
            gc.enable()
    assert left == 0


def test_many_branches():
    """The paths through a script with very many branches are fewer, and cost no more than it."""

    def script(count):
        lines = ["if a{0}:\n    c = NPURunConfig(precision_mode='x{0}')\n"] * count
        return HEAD + "".join(line.format(number) for number, line in enumerate(lines))

    assert len(read_script(script(10), "x.py").paths[0]) > 10
    assert len(read_script(script(2000), "x.py").paths[0]) <= 8
