"""Checks of numbers: types without support, guards that vanish, loss scaling, each by a table."""

import pytest

from npu_config.script import judge_script

START = """\
import math
import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
D = tf.float64
x = tf.placeholder(tf.float32, [4])
{}
with tf.Session(config=config) as sess:
    sess.run(x)
"""


def messages(text, rule, before=""):
    """What a rule says of a script."""
    found = judge_script(before + START.format(text), "train.py")
    return [each.message for each in found if each.rule == rule]


TYPED = {
    "float64": """
tf.placeholder(tf.float64) ; tf.placeholder(dtype=D) ; tf.placeholder("float64", [3])
tf.placeholder(tf.double) ; tf.placeholder(np.float64) ; tf.placeholder(tf.dtypes.float64)
tf.placeholder(tf.as_dtype("float64")) ; tf.sparse_placeholder(tf.float64)
tf.Variable(1, True, None, True, None, "v", None, tf.float64) ; tf.Variable(1, dtype=tf.float64)
tf.get_variable("v", [3], tf.float64) ; tf.constant(1, tf.float64) ; tf.cast(x, tf.float64)
tf.convert_to_tensor(1, tf.float64) ; tf.zeros([3], tf.float64) ; tf.ones([3], tf.float64)
tf.random_normal([3], 0, 1, tf.float64) ; tf.random_uniform([3], 0, 1, tf.float64)
tf.truncated_normal([3], 0, 1, tf.float64) ; tf.one_hot(x, 3, 1, 0, 1, tf.float64)
tf.range(0, 3, 1, tf.float64) ; tf.eye(3, 3, None, tf.float64) ; tf.zeros_like(x, tf.float64)
tf.ones_like(x, tf.float64) ; tf.random.normal([3], 0, 1, tf.float64) ; tf.to_double(x)
tf.random.uniform([3], 0, 1, tf.float64) ; tf.keras.Input([3], 2, "i", tf.float64)
tf.keras.layers.Input([3], dtype="float64") ; tf.keras.backend.set_floatx("float64")
tf.keras.backend.set_floatx(value="float64") ; tf.keras.layers.Dense(3, dtype="float64")
tf.layers.dense(x, 3, dtype=tf.float64)
tf.constant(np.zeros([3])) ; tf.constant(np.zeros([3], dtype=np.float64)) ; tf.Variable(np.ones(3))
tf.constant(np.linspace(0, 1, 3)) ; tf.constant(np.eye(3)) ; tf.constant(np.random.rand(3))
tf.constant(np.random.normal(0, 1, [3])) ; tf.constant(np.random.normal(size=[3]))
tf.constant(np.random.randn(3)) ; tf.constant(np.random.uniform(0, 1, 3))
tf.constant(np.random.random(3)) ; tf.constant(np.random.random(size=3))
tf.constant(np.full([3], 1.0)) ; tf.constant(np.full([3], fill_value=1.0))
tf.constant(np.sqrt(2)) ; tf.constant(np.float64(3)) ; tf.constant(np.arange(3).astype(np.float64))
tf.constant(np.array([1.0, 2])) ; tf.convert_to_tensor(np.asarray([[1, 2.5]]))
""",
    "complex64": """
tf.complex(x, x) ; tf.dtypes.complex(x, x) ; tf.to_complex64(x) ; tf.fft(x) ; tf.signal.ifft2d(x)
tf.spectral.rfft(x) ; tf.contrib.signal.stft(x, 3, 1) ; tf.cast(x, tf.complex64)
""",
    "complex128": "tf.to_complex128(x) ; tf.zeros([3], tf.complex128)",
    None: """
tf.placeholder(tf.float32) ; tf.placeholder("float32") ; tf.zeros([3]) ; tf.zeros(tf.float64)
tf.constant(tf.float64) ; tf.get_variable("v", tf.float64) ; tf.layers.dense(x, tf.float64)
tf.nn.softmax(x, tf.float64) ; own.zeros([3], tf.float64) ; tf.placeholder(tf.as_dtype())
tf.constant(np.zeros([3], np.float32)) ; tf.constant(np.zeros([3], dtype=np.float32))
tf.constant(np.ones([3], np.float32)) ; tf.constant(np.full([3], 1)) ; tf.constant(np.full([3], x))
tf.constant(np.full([3], 1.0, np.float32)) ; tf.constant(np.full([3], 1.0, dtype=np.float32))
tf.constant(np.full([3])) ; tf.constant(np.random.normal()) ; tf.constant(np.random.normal(0, 1))
tf.constant(np.random.rand()) ; tf.constant(np.random.uniform(0, 1)) ; tf.constant(np.sqrt(y))
tf.constant(np.sqrt()) ; tf.constant(np.array([1, 2])) ; tf.constant(np.array([1.0], np.float32))
tf.constant(np.array([1.0, y])) ; tf.constant(np.array(["a", 1.0])) ; tf.constant(3.0)
tf.constant(np.zeros([3]).astype(np.float32)) ; tf.constant(np.zeros) ; tf.constant()
tf.placeholder_with_default(np.zeros(3), [3]) ; tf.keras.layers.Dense(3, dtype="float32")
""",
}


@pytest.mark.parametrize("kind", TYPED)
def test_types(kind):
    """The type is an argument at its place, by name, or that of what numpy gives."""
    for text in TYPED[kind].strip().replace("\n", " ; ").split(" ; "):
        words = [text.partition("(")[0], kind]
        found = [
            [word for word in each.split() if word.startswith(("tf.", "float", "complex"))]
            for each in messages("y = " + text, "NPU2001")
        ]
        assert (text, found) == (text, [] if kind is None else [words])


@pytest.mark.parametrize("maker", ["zeros", "ones", "random_normal", "truncated_normal"])
def test_type_of_another_tensor(maker):
    """What is made of a tensor has its type, at any place among its arguments."""
    for given in ("dtype=D", "0, 1, D"):
        found = messages("y = tf.Variable(tf.{}([3], {}))".format(maker, given), "NPU2001")
        assert any("tf.Variable" in each and "float64" in each for each in found)
    assert messages("y = tf.Variable(tf.{}([3]))".format(maker), "NPU2001") == []


@pytest.mark.parametrize(
    ("count", "expected"), [(9, 9), (10, 10), (11, 10)], ids=["9", "10", "11"]
)
def test_at_most_ten(count, expected):
    """The first ten places are reported, in their order."""
    text = "".join("y{0} = tf.zeros([{0}], D)\n".format(n) for n in range(count))
    found = [f.line for f in judge_script(START.format(text), "a.py") if f.rule == "NPU2001"]
    assert found == list(range(12, 12 + expected))


def vanishing(text, before="", mode="allow_mix_precision"):
    """What is said of constants that vanish in float16."""
    setting = 'custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("{}")\n'
    return messages(before + setting.format(mode) + "y = tf.abs(x)\n" + text, "NPU2003")


GUARDS = [
    ("z = x / (y + 1e-8)", "1e-08", "a division"),
    ("z = 1.0 / (1e-8 + y)", "1e-08", "a division"),
    ("z = x / (y - 1e-8)", "1e-08", "a division"),
    ("z = x / (y + 2.97e-8)", "2.97e-08", "a division"),
    ("z = x / (y + 2.98e-8)", None, None),
    ("z = x / (y + 1e-4)", None, None),
    ("z = x / (y * 1e-8)", None, None),
    ("z = x * (y + 1e-8)", None, None),
    ("z = (y + 1e-8) / x", None, None),
    ("z = 3 / (4 + 1e-8)", None, None),
    ("z = tf.div(x, y + 1e-8)", "1e-08", "a division"),
    ("z = tf.math.divide(x, tf.add(y, 1e-8))", "1e-08", "a division"),
    ("z = tf.div(y + 1e-8, x)", None, None),
    ("z = tf.div(y + 1e-8)", None, None),
    ("z = tf.reciprocal(y + 1e-8)", "1e-08", "a division"),
    ("z = tf.log(y + 1e-8)", "1e-08", "a logarithm"),
    ("z = tf.math.log(tf.maximum(y, 1e-8))", "1e-08", "a logarithm"),
    ("z = tf.math.log(tf.maximum(1e-8, y))", "1e-08", "a logarithm"),
    ("z = tf.log(tf.clip_by_value(y, 1e-10, 1.0))", "1e-10", "a logarithm"),
    (
        "z = tf.log(tf.clip_by_value(y, clip_value_min=1e-10, clip_value_max=1.0))",
        "1e-10",
        "a logarithm",
    ),
    ("z = tf.sqrt(y + 1e-8)", "1e-08", "a root"),
    ("z = tf.rsqrt(tf.reshape(y + 1e-8, [4]))", "1e-08", "a root"),
    ("z = tf.pow(tf.cast(y + 1e-8, tf.float32), 2)", "1e-08", "a power"),
    ("z = tf.pow(2.0, tf.cast(y + 1e-8, tf.float32))", None, None),
    ("z = x / tf.sqrt(y + 1e-8)", "1e-08", "a division"),
    ("z = x / (y + 1e-8) ** 2", "1e-08", "a division"),
    ("z = x / 2 ** (y + 1e-8)", None, None),
    ("e = 1e-8\nz = x / (y + e)", "1e-08", "a division"),
    ("d = y + 1e-8\nz = x / d", "1e-08", "a division"),
    ("e = tf.constant(1e-8)\nz = x / (y + e)", "1e-08", "a division"),
    ("def f(t, e=1e-8):\n    return tf.abs(t) / (tf.abs(t) + e)\nz = f(x)", "1e-08", "a division"),
    ("z = x / " + "tf.identity(" * 5 + "y + 1e-8" + ")" * 5, "1e-08", "a division"),
    ("z = x / " + "tf.identity(" * 6 + "y + 1e-8" + ")" * 6, None, None),
    ("z = x / ((((((y + 1e-8) ** 1) ** 1) ** 1) ** 1) ** 1)", "1e-08", "a division"),
    ("z = x / (((((((y + 1e-8) ** 1) ** 1) ** 1) ** 1) ** 1) ** 1)", None, None),
    ("z = tf.log(tf.abs(y + 1e-8))", None, None),
    ("z = tf.log(tf.maximum(y, 1.0))", None, None),
]


@pytest.mark.parametrize(("text", "value", "what"), GUARDS)
def test_guards(text, value, what):
    """A constant of less than 2^-25 beside what must not be 0."""
    found = vanishing(text)
    assert [each.split()[0] for each in found] == ([] if value is None else [value])
    assert all(what in each and "(allow_mix_precision)" in each for each in found)


@pytest.mark.parametrize(
    ("mode", "count"),
    [
        ("force_fp16", 1),
        ("allow_mix_precision", 1),
        ("force_fp32", 0),
        ("must_keep_origin_dtype", 0),
    ],
)
def test_modes(mode, count):
    """Only where the mode makes float16 of it; a line is said once; a scope keeps float32."""
    text = "z = x / (y + 1e-8); w = x / (y + 1e-9)\n"
    assert len(vanishing(text, mode=mode)) == count
    kept = "with npu_scope.keep_dtype_scope():\n    z = x / (y + 1e-8)\n"
    assert vanishing(kept, mode=mode) == []
    assert (
        len(
            vanishing(
                kept.replace("npu_scope.keep_dtype_scope()", "tf.name_scope('a')"), mode=mode
            )
        )
        == count
    )


SCALING = """\
loss = tf.reduce_mean(x)
manager = FixedLossScaleManager(loss_scale=1024)
step = tf.train.get_or_create_global_step()
inner = tf.train.AdamOptimizer(0.1)
opt = NPULossScaleOptimizer(inner, manager)
"""


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("t = opt.minimize(loss)\nstep.assign_add(1)", True),
        ("t = opt.minimize(loss)\ntf.assign_add(step, 1)", True),
        ("t = opt.minimize(loss)\ntf.assign(step, step + 1)", True),
        ("t = opt.minimize(loss, None)\nstep.assign_add(1)", True),
        ("t = opt.minimize(loss, global_step=None)\nstep.assign(1)", True),
        ("t = opt.apply_gradients(g)\nstep.assign_add(1)", True),
        ("t = opt.minimize(loss, step)\nstep.assign_add(1)", False),
        ("t = opt.apply_gradients(g, global_step=step)\nstep.assign_add(1)", False),
        ("t = inner.minimize(loss)\nstep.assign_add(1)", False),
        ("t = opt.minimize(loss)\ns = tf.Variable(0)\ns.assign_add(1)", False),
        ("t = opt.minimize(loss)\ns = tf.Variable(0, name='global_step')\ns.assign_add(1)", True),
        ("t = opt.minimize(loss)\ns = tf.get_variable('global_step', [])\ns.assign_add(1)", True),
        ("t = opt.minimize(loss)\ns = tf.get_variable('other_step', [])\ns.assign_add(1)", False),
        ("t = opt.minimize(loss)\ns = tf.get_variable()\ns.assign_add(1)", False),
        ("t = opt.minimize(loss)\ns = tf.zeros([], name='global_step')\ntf.assign(s, 1)", False),
        ("t = opt.minimize(loss)\ntf.assign(1, step)", False),
        ("t = opt.minimize(loss)\ntf.assign_add()", False),
        (
            "o = NPUOptimizer(inner, is_loss_scale=True)\nt = o.minimize(loss)\nstep.assign(1)",
            True,
        ),
        (
            "o = NPUOptimizer(inner, is_loss_scale=False)\nt = o.minimize(loss)\nstep.assign(1)",
            False,
        ),
        ("o = NPUOptimizer(inner)\nt = o.minimize(loss)\nstep.assign(1)", False),
    ],
)
def test_counted_step(text, is_found):
    """The global step is counted by somebody else than the optimizer that may skip a step."""
    assert bool(messages(SCALING + text, "NPU2005")) is is_found


TWO = (
    SCALING
    + """\
other = NPULossScaleOptimizer(tf.train.AdamOptimizer(0.2), manager)
a = opt.minimize(loss)
b = other.minimize(loss)
def make(rate):
    return NPULossScaleOptimizer(tf.train.AdamOptimizer(rate), manager)
def update(rate):
    o = NPULossScaleOptimizer(tf.train.AdamOptimizer(rate), manager)
    return o.minimize(loss)
"""
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a, b]", "2 loss-scale optimizers (line 16, 17)"),
        ("tf.group(a, b)", "2 loss-scale optimizers (line 16, 17)"),
        ("{'a': a, 'b': b}", "2 loss-scale optimizers (line 16, 17)"),
        ("[a, b, other.apply_gradients(g)]", "2 loss-scale optimizers (line 16, 17)"),
        ("[update(0.1), update(0.2)]", "2 loss-scale optimizers (line 23)"),
        ("[a, update(0.1)]", "2 loss-scale optimizers (line 16, 23)"),
        ("[a, update(0.1), update(0.2)]", "3 loss-scale optimizers (line 16, 23)"),
        (
            "[make(0.1).minimize(loss), make(0.2).minimize(loss)]",
            "2 loss-scale optimizers (line 21)",
        ),
        ("[a, loss]", None),
        ("[a, opt.apply_gradients(g)]", None),
        ("[a, inner.minimize(loss)]", None),
        ("update(0.1)", None),
    ],
)
def test_two_optimizers(text, expected):
    """The optimizers whose updates one run applies, each once."""
    found = messages("{}with tf.Session() as s:\n    s.run({})".format(TWO, text), "NPU490")
    assert [each for each in found if expected not in each] == []
    assert bool(found) is (expected is not None)
