"""The recurrent layers of the device, against reference numbers and TensorFlow's own cells."""

import pytest

from tests.tf1.support import vectors

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

VECTORS = [v for v in vectors("npu_ops_reference.jsonl") if "npu_dynamic_rnn" in v["name"]]
WEIGHTS = ("w", "b", "weight_input", "weight_hidden", "bias_input", "bias_hidden")


def array(value):
    """A list as an array of its kind."""
    found = numpy.array(value)
    return found.astype(numpy.float32) if found.dtype.kind == "f" else found


def outputs(tf, layer, weights, x, *args, **kwargs):
    """What a layer gives with these weights, in the order of its variables."""
    made = layer(tf.constant(x), *args, **kwargs)
    variables = tf.trainable_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable, value in zip(variables, weights):
            variable.load(value, session)
        return session.run(made)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["id"]))
def test_reference(vector, tf):
    """Every output of every layer, with states, lengths and directions."""
    from npu_config.tf1 import npu_dynamic_rnn

    words = vector["name"].split(" ")
    inputs = {k: array(v) if isinstance(v, list) else v for k, v in vector["inputs"].items()}
    given = {"hidden_size": inputs.pop("hidden_size"), "dtype": tf.float32}
    given.update((k, inputs.pop(k)) for k in ("forget_bias", "gate_order") if k in inputs)
    if "BIDIRECTIONAL" in words:
        given["direction"] = npu_dynamic_rnn.DYNAMIC_RNN_BIDIRECTION
    layer = getattr(npu_dynamic_rnn, words[0].rpartition(".")[2])(**given)
    weights = [inputs.pop(name) for name in WEIGHTS if name in inputs]
    found = outputs(tf, layer, weights, inputs.pop("x"), **inputs)
    assert len(vector["expect"]) == len(found)
    for (name, expected), actual in zip(sorted(vector["expect"].items()), found):
        numpy.testing.assert_allclose(actual, array(expected), atol=2e-5, err_msg=name)


@pytest.fixture
def data():
    """Input, and random weights for 3 inputs and 4 hidden."""
    state = numpy.random.RandomState(5)
    x = state.normal(size=(6, 2, 3)).astype(numpy.float32)
    return x, lambda *shape: (0.5 * state.normal(size=shape)).astype(numpy.float32)


def test_lstm_of_tensorflow(tf, data):
    """DynamicRNN is ``tf.nn.dynamic_rnn`` over BasicLSTMCell, lengths and gradients included."""
    from npu_config.tf1 import npu_dynamic_rnn

    x, weight = data
    lengths = numpy.array([6, 3], numpy.int32)
    w, b = weight(7, 16), weight(16)
    inputs = tf.constant(x)
    cell = tf.nn.rnn_cell.BasicLSTMCell(4, forget_bias=1.0)
    theirs, (last_c, last_h) = tf.nn.dynamic_rnn(
        cell, inputs, lengths, dtype=tf.float32, time_major=True
    )
    kernels = tf.trainable_variables()
    layer = npu_dynamic_rnn.DynamicRNN(4, tf.float32, forget_bias=1.0)
    y, h, c, *_ = layer(inputs, seq_length=lengths)
    ours = tf.trainable_variables()[len(kernels) :]
    wanted = [theirs, last_h, last_c, *tf.gradients(theirs, [inputs, *kernels])]
    got = [y, h[-1], c[-1], *tf.gradients(y, [inputs, *ours])]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variables in (kernels, ours):
            for variable, value in zip(variables, (w, b)):
                variable.load(value, session)
        wanted, got = session.run([wanted, got])
    for expected, actual in zip(wanted, got):
        numpy.testing.assert_allclose(actual, expected, atol=2e-6)


@pytest.mark.parametrize("order", ["zrh", "rzh"])
def test_gru_of_keras(order, tf, data):
    """DynamicGRUV2 is the GRU of Keras with reset_after."""
    from npu_config.tf1 import npu_dynamic_rnn

    x, weight = data
    weights = [weight(3, 12), weight(4, 12), weight(12), weight(12)]
    cell = tf.keras.layers.GRUCell(
        4, reset_after=True, recurrent_activation="sigmoid", implementation=2
    )
    layer = npu_dynamic_rnn.DynamicGRUV2(4, tf.float32, gate_order=order)
    y, h, *_ = outputs(tf, layer, weights, x)
    places = [0, 1, 2] if order == "zrh" else [1, 0, 2]
    swapped = [
        numpy.concatenate([numpy.split(each, 3, axis=-1)[k] for k in places], axis=-1)
        for each in weights
    ]
    state = tf.zeros([2, 4])
    every = []
    for now in x:
        _, state = cell(tf.constant(now), [state])
        state = state[0] if isinstance(state, (list, tuple)) else state
        every.append(state)
    kernel, recurrent, bias = cell.trainable_weights
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        kernel.load(swapped[0], session)
        recurrent.load(swapped[1], session)
        bias.load(numpy.stack(swapped[2:]), session)
        expected = session.run(tf.stack(every))
    numpy.testing.assert_allclose(y, expected, atol=2e-6)
    numpy.testing.assert_array_equal(y, h)


def test_attention(tf, data):
    """Full attention forgets the state, none is the GRU."""
    from npu_config.tf1 import npu_dynamic_rnn

    x, weight = data
    weights = [weight(3, 12), weight(4, 12), weight(12), weight(12)]
    for attention in (0.0, 1.0):
        with tf.Graph().as_default():
            layer = npu_dynamic_rnn.DynamicAUGRU(4, tf.float32)
            made = outputs(tf, layer, weights, x, tf.fill([6, 2], attention))
        with tf.Graph().as_default():
            plain = outputs(tf, npu_dynamic_rnn.DynamicGRUV2(4, tf.float32), weights, x)
        if attention:
            numpy.testing.assert_array_equal(made[0], made[5])
        else:
            numpy.testing.assert_array_equal(made[0], plain[0])


def test_weights_that_are_given(tf, data):
    """They stand in place of the layer's own, which get no gradient."""
    from npu_config.tf1 import npu_dynamic_rnn

    x, weight = data
    w, b = weight(7, 16), weight(16)
    layer = npu_dynamic_rnn.DynamicRNN(4, tf.float32)
    plain = layer(tf.constant(x))
    given = layer(tf.constant(x), weight=tf.constant(w), bias=tf.constant(b))
    own = tf.trainable_variables()
    assert tf.gradients(given[0], own) == [None, None]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(given)
        for variable, value in zip(own, (w, b)):
            variable.load(value, session)
        for expected, actual in zip(session.run(plain), found):
            numpy.testing.assert_array_equal(expected, actual)


@pytest.mark.parametrize("name", ["DynamicRNN", "DynamicGRUV2", "DynamicAUGRU"])
def test_half_precision(name, tf, data):
    """float16 in, float16 out, close to float32; another type than the layer's is refused."""
    from npu_config.tf1 import npu_dynamic_rnn

    x, weight = data
    shapes = [(7, 16), (16,)] if name == "DynamicRNN" else [(3, 12), (4, 12), (12,), (12,)]
    weights = [weight(*shape) for shape in shapes]
    attention = numpy.linspace(0, 1, 12).reshape([6, 2])
    results = []
    for dtype in (tf.float32, tf.float16):
        with tf.Graph().as_default():
            kind = dtype.as_numpy_dtype
            layer = getattr(npu_dynamic_rnn, name)(4, dtype)
            more = [attention.astype(kind)] if name == "DynamicAUGRU" else []
            halves = [each.astype(kind) for each in weights]
            lengths = numpy.array([6, 4], numpy.int32)
            results.append(outputs(tf, layer, halves, x.astype(kind), *more, seq_length=lengths))
    for single, half in zip(*results):
        assert half.dtype == numpy.float16
        numpy.testing.assert_allclose(single, half, atol=1e-2)
    layer = getattr(npu_dynamic_rnn, name)(4, tf.float16)
    with pytest.raises(TypeError):
        layer(tf.constant(x), *([tf.constant(attention, tf.float16)] if len(more) else []))


def test_variables(tensorflow, tf):
    """Names, order, shapes and initial values are the vendor's; a second call shares weights."""
    from npu_config.tf1 import npu_dynamic_rnn

    x = tf.ones([5, 2, 3])
    layer = npu_dynamic_rnn.DynamicRNN(4, tf.float32)
    layer(x)
    layer(x)
    npu_dynamic_rnn.DynamicRNN(4, tf.float32, direction="BIDIRECTIONAL")(x)
    found = {variable.op.name: variable.shape.as_list() for variable in tf.global_variables()}
    assert found == {
        "dynamic_rnn/dynamicrnn/w": [7, 16],
        "dynamic_rnn/dynamicrnn/b": [16],
        "dynamic_rnn/dynamicbase/seq_length": [2],
        "dynamic_rnn_1/dynamicrnn/w": [2, 7, 16],
        "dynamic_rnn_1/dynamicrnn/b": [2, 16],
        "dynamic_rnn_1/dynamicbase/seq_length": [2],
    }
    assert len(tf.trainable_variables()) == 4
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.global_variables()[2]).tolist() == [5, 5]
    npu_dynamic_rnn.DynamicGRUV2(4, tf.float32)(x)
    name = tf.global_variables()[-1].op.name
    if tensorflow.__version__.startswith("1."):
        assert name == "dynamic_gru_v2/dynamicbase/seq_length"


@pytest.mark.parametrize(
    "arguments",
    [
        {"cell_type": "GRU"},
        {"time_major": False},
        {"activation": "relu"},
        {"use_peephole": True},
        {"num_proj": 8},
        {"keep_prob": 0.5},
        {"cell_clip": 1.0},
        {"cell_depth": 2},
        {"direction": "REDIRECTIONAL"},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_refused(arguments, tf):
    """What the compiler of the device refuses is refused when the layer is made."""
    from npu_config.tf1 import npu_dynamic_rnn

    with pytest.raises(ValueError, match="NPU828") as caught:
        npu_dynamic_rnn.DynamicRNN(4, tf.float32, **arguments)
    assert next(iter(arguments)) in str(caught.value)


def test_refused_inputs(tf):
    """An input of another rank, or of an unknown size, is refused."""
    from npu_config.tf1 import npu_dynamic_rnn

    for shape in ([2, 3], [5, 2, None]):
        with pytest.raises(ValueError, match="NPU828"):
            npu_dynamic_rnn.DynamicRNN(4, tf.float32)(tf.placeholder(tf.float32, shape))
    layer = npu_dynamic_rnn.DynamicRNN(4, tf.float32)
    y, *_ = layer(tf.placeholder(tf.float32, [None, None, 3]))
    assert y.shape.as_list()[2] == 4
    with pytest.raises(ValueError, match="gate_order"):
        npu_dynamic_rnn.DynamicGRUV2(4, tf.float32, gate_order="hzr", direction="BIDIRECTIONAL")
    with pytest.raises(AttributeError, match="DynamicX"):
        getattr(npu_dynamic_rnn, "Dynamic" + "X")
