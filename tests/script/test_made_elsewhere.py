"""Configurations that functions and classes make, of other files too: what takes a configuration
decides what is followed, not the name that it has.
"""

import pytest

from npu_config.script import judge_script, read
from npu_config.script.ways import stated_by

HEAD = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
MAKER = """\
    c = tf.ConfigProto()
    c.graph_options.rewrite_options.memory_optimization = RewriterConfig.NO_MEM_OPT
    o = c.graph_options.rewrite_options.custom_optimizers.add()
    o.name = "NpuOptimizer"
    o.parameter_map["precision_mode"].s = tf.compat.as_bytes(mode)
    return c
"""
CONF = HEAD + "def cfg(mode='allow_mix_precision'):\n" + MAKER
CLASSES = (
    HEAD
    + """\
class Config:
    def __init__(self, mode):
        self.mode = mode
        self.proto = self.make()
    def make(self):
"""
    + MAKER.replace("mode)", "self.mode)").replace("    ", "        ")
)
FILES = {
    "conf.py": CONF,
    "classes.py": CLASSES,
    "package/__init__.py": "from .inner import (  # what is used\n    other, cfg as made)\n",
    "package/inner.py": CONF + "other = 1\n",
    "all/__init__.py": "from .inner import *\nfrom . import inner\n",
    "all/inner.py": CONF,
    "libraries/apart.py": CONF,
}
RUN = "with tf.Session(config={}) as sess:\n    sess.run(train_op)\n"
ADD = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'libraries'))\n"
IN_METHOD = """\
from conf import cfg
class Trainer:
    def __init__(self):
        self.c = cfg({})
    def train(self):
        with tf.Session(config=self.c) as sess:
            sess.run(train_op)
Trainer().train()
"""
NAMES = ("c", "conf", "npu", "config", "session_conf", "proto")
CASES = {
    **{"from conf import cfg\n" + name + " = cfg({})\n" + RUN.format(name): 1 for name in NAMES},
    "from conf import cfg\n" + RUN.format("cfg({})"): 1,
    "from conf import *\nx = cfg({})\n" + RUN.format("x"): 1,
    "import conf\nx = conf.cfg(mode={})\n" + RUN.format("x"): 1,
    "from conf import cfg\nx = cfg({})\nrun = NPURunConfig(session_config=x)\n"
    "NPUEstimator(model_fn, config=run)\n": 1,
    "from conf import cfg\nx = cfg({})\nsess = tf.Session('', None, x)\n": 1,
    "from conf import cfg\ndef open_it():\n    x = cfg({})\n"
    "    return tf.Session(config=x)\nopen_it().run(train_op)\n": 1,
    "from package import made\nx = made({})\n" + RUN.format("x"): 1,
    "import package\nx = package.made({})\n" + RUN.format("x"): 1,
    "from all import cfg\nx = cfg({})\n" + RUN.format("x"): 1,
    "from all import inner\nx = inner.cfg({})\n" + RUN.format("x"): 1,
    ADD + "from apart import cfg\nx = cfg({})\n" + RUN.format("x"): 1,
    "from classes import Config\nx = Config({}).proto\n" + RUN.format("x"): 1,
    "from classes import Config\nx = Config({}).make()\n" + RUN.format("x"): 1,
    "import classes\nmade = classes.Config(mode={})\n" + RUN.format("made.make()"): 1,
    IN_METHOD: 1,
}
"""A script to the findings of a value that is not legal, of which the other one has none."""


def found(folder, script):
    """The rules and messages of the findings about a script."""
    path = folder / "train.py"
    path.write_text(HEAD + script)
    return {(each.rule, each.message) for each in judge_script(HEAD + script, str(path))}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The files of a program."""
    folder = tmp_path_factory.mktemp("program")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("script", list(CASES))
def test_maker_is_followed(program, script):
    """What a session is given is followed into the file that makes it, whatever it is called."""
    for mode, rules in (("'mixed'", {"NPU104"}), ("'must_keep_origin_dtype'", set())):
        text = script.replace("{}", mode)
        assert rules == {rule for rule, _ in found(program, text)}, text


NOT_FOLLOWED = {
    "from nowhere import cfg\nc = cfg('mixed')\n" + RUN.format("c"): "nowhere.cfg",
    "import nowhere as n\nc = n.cfg('mixed')\n" + RUN.format("c"): "nowhere.cfg",
    "from conf import PROTO\n" + RUN.format("PROTO"): "conf.PROTO",
    "from conf import cfg\nclass Own(cfg):\n    pass\n" + RUN.format("Own().proto"): "conf.cfg",
}


@pytest.mark.parametrize("script", list(NOT_FOLLOWED))
def test_what_is_not_followed_is_said(program, script):
    """A maker that is not found, or not followed, is named, and nothing claims to know it."""
    notes = {message for rule, message in found(program, script) if rule == "NPU784"}
    assert len(notes) == 1
    assert NOT_FOLLOWED[script] in notes.pop()
    stated = stated_by(read((HEAD + script).encode(), str(program / "train.py")))
    assert stated.settings.open
    assert any(NOT_FOLLOWED[script] in r for r in stated.remarks)


SILENT = (
    "from tensorpack import get_config\nc = get_config()\n" + RUN.format("c"),
    "import numpy.config as n\n" + RUN.format("n.make()"),
    "from helpers.deep import other\n" + RUN.format("npu_config_proto()"),
    "from conf import other\n" + RUN.format("None"),
)


@pytest.mark.parametrize("script", SILENT)
def test_libraries_are_not_named(program, script):
    """What libraries make, and what no session is given, is no cause for a note."""
    assert not found(program, script)


METHOD = "    def config(self):\n" + MAKER.replace("mode)", "self.precision)").replace(
    "    ", "        "
)
BASE = "class Base:\n    def __init__(self, precision='must_keep_origin_dtype'):\n"
BASE += "        self.precision = precision\n" + METHOD
SIMPLE = "class Base:\n    precision = 'must_keep_origin_dtype'\n" + METHOD
INSTANCES = {
    BASE + RUN.format("Base({}).config()"): 1,
    BASE + "b = Base(precision={})\nc = b.config()\n" + RUN.format("c"): 1,
    BASE
    + "class Mixed(Base):\n    def __init__(self):\n        super().__init__({})\n"
    + RUN.format("Mixed().config()"): 1,
    BASE
    + "class Mixed(Base):\n    def __init__(self, p):\n"
    + "        super(Mixed, self).__init__(precision=p)\n"
    + RUN.format("Mixed({}).config()"): 1,
    BASE
    + "class Mixed(Base):\n    def __init__(self):\n        Base.__init__(self, {})\n"
    + RUN.format("Mixed().config()"): 1,
    BASE + "class Mixed(Base):\n    pass\n" + RUN.format("Mixed({}).config()"): 1,
    SIMPLE + "class Mixed(Base):\n    precision = {}\n" + RUN.format("Mixed().config()"): 1,
    SIMPLE
    + "class Mixed(Base):\n    precision = {}\n    def config(self):\n"
    + "        return super().config()\n"
    + RUN.format("Mixed().config()"): 1,
}


@pytest.mark.parametrize("script", list(INSTANCES))
def test_objects_know_how_they_were_made(tmp_path, script):
    """Arguments of constructors, and attributes of subclasses, come to where they are read."""
    for mode, rules in (
        ("'mixed'", {"NPU104"}),
        ("'must_keep_origin_dtype'", set()),
        ("MODE", set()),
    ):
        text = script.replace("{}", mode)
        assert rules == {rule for rule, _ in found(tmp_path, text)}, text
