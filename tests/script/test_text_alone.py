"""What a script is by its text alone: whether it is worth parsing, what it is when it is for
something else, and where its imports end.
"""

import pytest

from npu_config.rules.overrides import overrides_of
from npu_config.script import read, read_script, script, situations_of
from npu_config.script.checks.elsewhere import _runs_in_loop
from npu_config.script.script import Script, flag_defaults
from npu_config.script.vocabulary import may_matter, unmigrated

CALL = "x = npu_config_proto()\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("custom_op.parameter_map['a'].i = 1\n", True),
        ("import npu_device\n", True),
        ("import npu_bridge\n", True),
        ("import npu_config.tf1\n", True),
        (CALL, True),
        ("from x import *\n" + CALL, False),  # it may be a function of that module
        ("from x import npu_config_proto\n" + CALL, False),
        ("from x import npu_config_proto", False),
        ("from x import other\n" + CALL, True),
        ("# from x import npu_config_proto\n" + CALL, True),
        ("# from x import *\n" + CALL, True),
        ("from x import y  # npu_config_proto, *\n" + CALL, True),
        ("from y import z\nfrom x import npu_config_proto\n" + CALL, False),
        ("# no\nfrom x import npu_config_proto\n" + CALL, False),
        ("custom_op = dump_config = 1\n", False),
        ("npu = Config = _resource = teration = 1\n", False),
        ("NPU = _system\n", False),
        ("import tensorflow\n", False),
        ("", False),
    ],
)
def test_may_matter(text, expected):
    """Only what may hold options, or may be used by what does, is parsed."""
    assert may_matter(text.encode()) is expected


TENSORFLOW, TORCH = "a TensorFlow script that is not written for the NPU", "a script for PyTorch"
SESSION = "import tensorflow as tf\nwith tf.Session() as sess:\n    sess.run(1)\n"
FITTING = "import tensorflow as tf\ndef f(model):\n    model.fit(1)\n"
IN_FUNCTION = "import tensorflow as tf\ndef f(sess):\n    sess.run(1)\n"


@pytest.mark.parametrize(
    ("text", "named", "found"),
    [
        (SESSION, TENSORFLOW, TENSORFLOW),
        (IN_FUNCTION, None, None),
        (IN_FUNCTION + "if __name__ == '__main__':\n    f(1)\n", None, None),
        (FITTING + "if __name__ == '__main__':\n    f(1)\n", TENSORFLOW, TENSORFLOW),
        ("import tensorflow as tf\nmodel.fit(1)\n", TENSORFLOW, TENSORFLOW),
        ("import tensorflow as tf\n# model.fit(1)\n", None, None),
        ("import tensorflow as tf\n# __main__ model.fit(1)\n", None, None),
        ("import tensorflow as tf\ndef fit(x):\n    '__main__'\n", None, None),
        ("import tensorflow as tf\n", None, None),
        ("import tensorflow as tf\nimport npu_bridge\nmodel.fit(1)\n", None, None),
        ("import tensorflow as tf\nmodel.fit(1)\nx = 'npu_config'\n", TENSORFLOW, None),
        ("import torch\nmodel.fit(1)\n", TORCH, None),
        ("import torch\n", TORCH, None),
        ("model.fit(1)\n", None, None),
    ],
)
def test_unmigrated(text, named, found):
    """A script of another framework is told of, where it was named, or trains."""
    for is_named, expected in ((True, named), (False, found)):
        said = unmigrated(text.encode(), None, is_named)
        assert (said and said.what) == expected
    said = unmigrated(SESSION.encode(), "train.py")
    assert said.help == "run: npu-config migrate train.py"
    assert unmigrated(SESSION.encode(), None).help == "run: npu-config migrate FILE"


def test_a_file_beside_it_is_for_the_npu(tmp_path):
    """A script that imports what is written for the NPU is not told of."""
    path = tmp_path / "train.py"
    text = "import model\n" + SESSION
    path.write_text(text)
    (tmp_path / "model.py").write_text("import tensorflow\n")
    assert unmigrated(text.encode(), str(path)).what == TENSORFLOW
    (tmp_path / "model.py").write_text("import npu_bridge\n")
    assert unmigrated(text.encode(), str(path)) is None


IMPORTS = """\
import os
import sys, json
import one, \\
    two
from three import (
    a,  # with a bracket )
    b,
)
from four import (a, b)
from five import (a,
                  b)
from six import a, b  # (
x = 1
from seven import \\
    a, \\
    b
def f():
    from eight import (
        a)
    from nine import a
"""


def test_where_imports_end(monkeypatch):
    """Python 3.7 does not say where an import ends: what is read there is what others say."""
    lines = set(range(1, 21)) - {13, 17}
    assert lines == Script(IMPORTS).import_lines
    monkeypatch.setattr(script, "HAS_ENDS", False)
    assert lines == Script(IMPORTS).import_lines


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('"a", 3', {"a": 3}),
        ('"a", 3)  # (a comment', {"a": 3}),
        ('name="a", default="x"', {"a": "x"}),
        ('"a", (1 + 2) * (3)', {"a": None}),
        ('"a", "((((((((((((((", "help"', {"a": "(" * 14}),
        ('"a", "' + ")" * 11 + '"', {"a": ")" * 11}),
        ('"a", "' + ")" * 12 + '"', {}),
        ('"a", "' + "x" * 1992 + '"', {"a": "x" * 1992}),
        ('"a", "' + "x" * 1993 + '"', {}),
        ('"a", 3)\nDEFINE_integer("a", 3', {"a": None}),
        ('"a", other', {"a": None}),
        ("other, 3", {}),
        ('"a"', {"a": None}),
    ],
)
def test_defaults_of_flags(call, expected):
    """A flag that is defined once with a literal has a default, within what is looked at."""
    found = flag_defaults(Script("DEFINE_integer({})\n".format(call)).source)
    assert {name: each and each.value for name, each in found.items()} == expected


def test_defaults_of_arguments():
    """The attribute of an argument is its first long name, or what ``dest`` says."""
    text = """\
parser.add_argument("-a", "--long-name", "--other", default=1)
parser.add_argument("-b", default=2)
parser.add_argument("--c", dest="d", default=3)
parser.add_argument("e", default=4)
parser.add_argument("--f")
parser.add_argument("--g", dest=name, default=5)
# parser.add_argument("--h", default=6)
parser.add_argument(default=7)
"""
    found = flag_defaults(Script(text).source)
    values = {name: each and (each.value, each.line) for name, each in found.items()}
    assert values == {"long_name": (1, 1), "b": (2, 2), "d": (3, 3), "e": (4, 4), "f": None}


OVERWRITTEN = """\
import tensorflow as tf
import npu_config as npu
from npu_bridge.npu_init import *
base = npu.NpuConfig({"hcom_parallel": True, "iterations_per_loop": 3})
made = base.evolve(iterations_per_loop=4)
with tf.Session(config=made.to_config_proto()) as sess:
    sess.run(1)
"""


def test_what_lasts():
    """Overrides change the configurations that are used, and not what they were made from."""
    reading = read_script(OVERWRITTEN)
    assert reading.overridden([]) is reading
    changed = reading.overridden(overrides_of(["iterations_per_loop=5"]))
    values = [
        [each.entries["iterations_per_loop"].value for each in settings]
        for settings in (reading.settings, changed.settings, reading.lasting, changed.lasting)
    ]
    assert values == [[3, 4], [3, 5], [3, 4], [3, 5]]


def test_situations_of_a_text():
    """The troubles of a text are those that judging it tells; what cannot be parsed has none."""
    text = (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
        "tf.train.batch([1], 2, 4)\nsess = tf.Session(config=npu_config_proto())\n"
    )
    found = [each for each in read_script(text).judge() if each.situation]
    assert {each.rule for each in found} >= {"NPU8106"}
    assert situations_of(text) == found
    assert situations_of("x = 1\n") == []
    assert situations_of(text + "x = (\n") == []
    other = text.replace("from npu_bridge.npu_init import *", "import npu_device")
    assert situations_of(other) == []
    assert situations_of(other + "npu_device.compat.enable_v1()\n") != []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for a in b:\n    sess.run(1)\n", True),
        ("while a:\n    x = 1\n    sess.run(1)\n", True),
        ("sess.run(1)\nfor a in b:\n    pass\n", False),
        ("for a in b:\n    pass\ndef f():\n    sess.run(1)\n", False),
        ("    for a in b:\n        pass\n    def f():\n        sess.run(1)\n", False),
        ("    for a in b:\n        def f():\n            sess.run(1)\n", True),
        ("for a in b:\n    for c in d:\n        pass\n    def f():\n        sess.run(1)\n", True),
        ("", False),
    ],
)
def test_a_run_in_a_loop(text, expected):
    """A loop goes on until a definition that is no deeper than it."""
    assert _runs_in_loop(text) is expected


def test_bytes_that_are_no_text():
    """What Python cannot decode is told at the beginning of its line."""
    (found,) = read(b"x = 1\ny = '\xff'\n", "train.py").judge()
    assert (found.rule, found.line, found.column) == ("NPU831", 2, 1)
