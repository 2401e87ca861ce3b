"""Situations whose function stands in another file of the program, and those in loops."""

import pytest

from npu_config.script import read

HEAD = """\
import functools
import tensorflow as tf
from npu_bridge.npu_init import *
import helpers
from helpers import gelu, own, parse as read_one
from package import data
import classes
from classes import *
from classes import EPS, Trainer
config = npu_config_proto()
ds = tf.data.Dataset.range(10)
x = ds.make_one_shot_iterator().get_next()
def local(y):
    return y * 2
"""
HELPERS = """\
import tensorflow as tf
scale = tf.Variable(2.0)
factor = 3.0
table = tf.contrib.lookup.index_table_from_file("vocabulary.txt")
def parse(x):
    return x * scale
def plain(x):
    return x * factor
def own(x):
    scale = 2.0
    return x * scale
def through(x):
    return parse(x)
def look_up(x):
    return table.lookup(x)
def zeros(x):
    return x + tf.keras.backend.zeros([2])
def gelu(x):
    return 0.5 * x * (1 + tf.tanh(0.79788 * (x + 0.044715 * tf.pow(x, 3))))
def squashed(x):
    return tf.tanh(x)
def host(x):
    return tf.py_func(abs, [x], tf.float32)
def cell(n):
    return tf.nn.rnn_cell.LSTMCell(n)
def other_cell(n):
    return OwnCell(n)
"""
CLASSES = """\
import tensorflow as tf
EPS = 1e-8
LARGE = 1e-3
BOUND = 1e-8
BOUND = 1e-3
DTYPE = tf.float64
shift = None
def build():
    global shift
    shift = tf.get_variable("shift", [])
def moved(x):
    return x + shift
class Scaler(object):
    def __init__(self):
        self.v = tf.Variable(2.0)
        self.n = 2.0
        self.table = tf.contrib.lookup.index_table_from_file("vocabulary.txt")
    def __call__(self, x):
        return x * self.v
    def apply(self, x):
        return x * self.v
    def plain(self, x):
        return x * self.n
    def look_up(self, x):
        return self.table.lookup(x)
scaler = Scaler()
class Trainer(object):
    def __init__(self, ds):
        self.it = ds.make_initializable_iterator()
        self.rate = tf.Variable(0.1)
    def start(self, sess):
        sess.run([tf.global_variables_initializer(), self.it.initializer])
    def start_apart(self, sess):
        sess.run(tf.global_variables_initializer())
        sess.run(self.it.initializer)
    def set(self, sess, x):
        sess.run(tf.assign(self.rate, x))
    def load(self, sess, x):
        self.rate.load(x, sess)
    def train(self, sess, op):
        for step in range(10):
            sess.run(op)
            sess.run(tf.assign(self.rate, 0.1))
    def train_right(self, sess, op):
        for step in range(10):
            sess.run(op)
def host(x):
    return tf.py_func(abs, [x], tf.float32)
def of_data(ds):
    return ds.map(lambda x: tf.py_func(abs, [x], tf.float32))
class Loader(object):
    def __init__(self, ds):
        def inner(x):
            return host(x)
        self.ds = ds.map(lambda x: self.one(x)).map(inner)
    def one(self, x):
        return host(x)
"""
SESSION = "sess = tf.Session(config=config)\n"
LOOP = SESSION + "t = Trainer(ds)\nwhile True:\n    sess.run(x)\n    "
MIXED = (
    "config.graph_options.rewrite_options.custom_optimizers[0]"
    ".parameter_map['precision_mode'].s = b'allow_mix_precision'\n"
    "z = tf.placeholder(tf.float32, [4])\n"
)
CLIPPED = """\
opt = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer(0.1))
weights = tf.trainable_variables()
grads = {}
grads, _ = tf.clip_by_global_norm(grads, 5.0)
op = opt.apply_gradients(zip(grads, weights))
bcast = NPUBroadcastGlobalVariablesHook(0)
"""
CASES = {
    "ds.map(classes.moved)": "dataset-function-captures-variable",
    "ds.map(moved)": "dataset-function-captures-variable",
    "s = Scaler()\nds.map(s.apply)": "dataset-function-captures-variable",
    "s = classes.Scaler()\nds.map(lambda y: s.apply(y))": "dataset-function-captures-variable",
    "ds.map(Scaler())": "dataset-function-captures-variable",
    "ds.map(classes.scaler.apply)": "dataset-function-captures-variable",
    "s = Scaler()\nds.map(s.look_up)": "dataset-function-uses-table",
    "s = Scaler()\nds.map(s.plain)": None,
    SESSION + "t = Trainer(ds)\nt.start(sess)": "variables-and-iterator-in-one-run",
    SESSION + "t = Trainer(ds)\nt.start_apart(sess)": None,
    SESSION + "t = Trainer(ds)\nt.train(sess, x)": "graph-grows-between-runs",
    SESSION + "t = Trainer(ds)\nt.train_right(sess, x)": None,
    LOOP + "t.set(sess, 0.1)": "graph-grows-between-runs",
    LOOP + "t.load(sess, 0.1)": None,
    SESSION + "y = host(x)\nsess.run(y)": "host-function-on-hot-path",
    SESSION + "import package.data as d\ny = d.host(x)\nsess.run(y)": "host-function-on-hot-path",
    SESSION + "import package\ny = package.data.host(x)\nsess.run(y)": "host-function-on-hot-path",
    SESSION + "from package.data import host as h\ny = h(x)\nsess.run(y)": (
        "host-function-on-hot-path"
    ),
    SESSION + "y = functools.partial(host, x)()\nsess.run(y)": "host-function-on-hot-path",
    SESSION + "Trainer(ds).train(sess, x)": "graph-grows-between-runs",
    SESSION + "classes.Trainer(\n    ds\n).train (\n    sess, x\n)": "graph-grows-between-runs",
    SESSION + "y = of_data(ds)\nsess.run(x)": None,
    SESSION + "y = Loader(ds)\nsess.run(x)": None,
    MIXED + "y = z / (tf.reduce_sum(z) + EPS)": "constant-vanishes-in-float16",
    MIXED + "y = z / (tf.reduce_sum(z) + classes.EPS)": "constant-vanishes-in-float16",
    MIXED + "y = z / (tf.reduce_sum(z) + classes.LARGE)": None,
    MIXED + "y = z / (tf.reduce_sum(z) + classes.BOUND)": None,
    "y = tf.placeholder(classes.DTYPE, [2])": "type-not-supported",
    CLIPPED.format("tf.gradients(x, weights)"): "ranks-train-independently",
    CLIPPED.format("[g for g, _ in opt.compute_gradients(x)]"): None,
    "ds.map(helpers.parse)": "dataset-function-captures-variable",
    "ds.map(read_one)": "dataset-function-captures-variable",
    "ds.map(data.through)": "dataset-function-captures-variable",
    "ds.map(lambda y: helpers.parse(y))": "dataset-function-captures-variable",
    "ds.map(functools.partial(helpers.parse))": "dataset-function-captures-variable",
    "ds.map(helpers.look_up)": "dataset-function-uses-table",
    "ds.map(helpers.zeros)": "keras-backend-variable-in-input",
    "y = gelu(x)": "slow-gelu",
    "y = data.gelu(x)": "slow-gelu",
    "tf.nn.dynamic_rnn(helpers.cell(4), x)": "slow-recurrent-layer",
    "v = tf.Variable(1)\nfor f in (local, lambda y: y * v): ds = ds.map(f)": (
        "dataset-function-captures-variable"
    ),
    "ds.map(helpers.plain)": None,
    "ds.map(own)": None,
    "ds.map(helpers.gone)": None,
    "y = helpers.parse(x)": None,
    "y = helpers.squashed(x)": None,
    "ds.map(gelu)": None,
    "tf.nn.dynamic_rnn(helpers.other_cell(4), x)": None,
    "v = tf.Variable(1)\nfor f in (local, own): ds = ds.map(f)\ny = x * v": None,
}


@pytest.mark.parametrize("line", CASES)
def test_other_file(tmp_path, line):
    """It is found at the line of the script that names the function."""
    (tmp_path / "package").mkdir()
    for name in ("helpers.py", "package/data.py"):
        (tmp_path / name).write_text(HELPERS, encoding="utf-8")
    (tmp_path / "classes.py").write_text(CLASSES, encoding="utf-8")
    path = tmp_path / "train.py"
    path.write_text(HEAD + line + "\n", encoding="utf-8")
    found = [
        (each.situation, each.path)
        for each in read(path.read_bytes(), str(path)).judge()
        if each.situation is not None
    ]
    assert found == ([] if CASES[line] is None else [(CASES[line], str(path))])
