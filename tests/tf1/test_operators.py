"""The vendor's operators on the CPU, against the numbers of ``npu_ops_reference.jsonl``."""

import pytest

from tests.tf1.support import vectors

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

VECTORS = vectors("npu_ops_reference.jsonl")


def of(*words):
    """The vectors whose names hold one of the words."""
    return [vector for vector in VECTORS if any(word in vector["name"] for word in words)]


def identified(found):
    """Test ids."""
    return {"argvalues": found, "ids": [str(vector["id"]) for vector in found]}


def floats(value):
    """Lists as arrays of float32; anything else as it is."""
    return numpy.array(value, numpy.float32) if isinstance(value, list) else value


def assert_close(expected, actual, vector):
    """Equal within the tolerance of the vector."""
    numpy.testing.assert_allclose(actual, floats(expected), rtol=0, atol=vector["tol"] * 2 + 1e-7)


@pytest.mark.parametrize("name", ["gelu", "fast_gelu"])
def test_gelu(name, tf):
    """Values and gradients, by TensorFlow and by the operator of the gradient, also in float16."""
    from npu_config.tf1 import npu_unary_ops

    (vector, *_) = of("npu_unary_ops.gelu" if name == "gelu" else ".fast_gelu")
    x = tf.constant(vector["inputs"]["x"], tf.float32)
    y = getattr(npu_unary_ops, name)(x, name="activation")
    (gradient,) = tf.gradients(y, x)
    extra = [y] if name == "gelu" else []
    by_operator = getattr(npu_unary_ops, name + "_grad")(tf.ones_like(x), x, *extra)
    half = getattr(npu_unary_ops, name)(tf.cast(x, tf.float16))
    with tf.Session() as session:
        y, gradient, by_operator, half = session.run([y, gradient, by_operator, half])
    slope = vector["expect"].get("dx_for_dy_1") or of("gelu gradient")[0]["expect"]["dx"]
    assert_close(vector["expect"]["y"], y, vector)
    numpy.testing.assert_allclose(gradient, floats(slope), atol=5e-6)  # float32 cancels at 5
    numpy.testing.assert_allclose(by_operator, floats(slope), atol=5e-6)
    assert half.dtype == numpy.float16
    numpy.testing.assert_allclose(half, y, atol=1e-2)


def test_one_object_of_operators(tf):
    """The operators are the same object under each of the vendor's names."""
    from npu_config.tf1 import helper, npu_aicore_ops, npu_ops, npu_unary_ops

    assert npu_unary_ops.npu_unary_ops is npu_unary_ops
    assert npu_aicore_ops.npu_aicore_ops is npu_unary_ops
    assert npu_ops.gen_npu_ops is npu_unary_ops
    assert helper.get_gen_ops() is npu_unary_ops
    with tf.Session() as session:
        assert session.run(npu_unary_ops.npu_get_float_status_v2()).tolist() == [0] * 8
        session.run(npu_unary_ops.npu_clear_float_status_v2())


@pytest.mark.parametrize("vector", **identified(of("fast_gelu_v2", "centralization", "LARSV2")))
def test_one_result(vector, tf):
    """Operators of one result."""
    from npu_config.tf1 import npu_aicore_ops, npu_ops

    name = vector["name"].split(" ")[0].rpartition(".")[2]
    found = getattr(npu_ops if name == "LARSV2" else npu_aicore_ops, name)
    inputs = dict(vector["inputs"])
    arguments = {
        key: value if key == "axes" else tf.constant(value) if isinstance(value, list) else value
        for key, value in inputs.items()
    }
    with tf.Session() as session:
        (expected,) = vector["expect"].values()
        assert_close(expected, session.run(found(**arguments)), vector)


def test_layer_norm(tf):
    """The result, the mean and the biased variance."""
    from npu_config.tf1 import npu_aicore_ops

    (vector,) = of("layer_norm")
    inputs = {key: floats(value) for key, value in vector["inputs"].items()}
    with tf.Session() as session:
        found = session.run(npu_aicore_ops.layer_norm(**inputs))
    for expected, actual in zip(vector["expect"].values(), found):
        assert_close(expected, actual, vector)
    with pytest.raises(ValueError, match="begin_norm_axis 2"):
        npu_aicore_ops.layer_norm(inputs["x"], 1.0, 0.0, begin_norm_axis=2)


def test_scatter_elements(tf):
    """Updates along an axis."""
    from npu_config.tf1 import npu_ops

    (vector,) = of("scatter_elements")
    inputs = dict(vector["inputs"], data=floats(vector["inputs"]["data"]))
    with tf.Session() as session:
        assert_close(
            vector["expect"]["y"], session.run(npu_ops.scatter_elements(**inputs)), vector
        )
        rows = npu_ops.scatter_elements([[1.0, 2.0, 3.0]], [[2, 0]], [[7.0, 8.0]], axis=-1)
        assert session.run(rows).tolist() == [[8.0, 2.0, 7.0]]


@pytest.mark.parametrize("vector", **identified(of("adam_apply")))
def test_adam(vector, tf):
    """The operation assigns v, m and the parameter."""
    from npu_config.tf1 import npu_ops

    inputs = {key: floats(value) for key, value in vector["inputs"].items()}
    made = {
        "_".join(key.split("_")[: 1 if key.startswith("input") else 2]): tf.Variable(
            value, use_resource=False
        )
        if key[5:].startswith(("1", "2", "3"))
        else value
        for key, value in inputs.items()
    }
    operation = getattr(npu_ops, vector["name"].rpartition(".")[2])(**made)
    assert isinstance(operation, tf.Operation)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(operation)
        for name, key in (("input1", "v_after"), ("input2", "m_after"), ("input3", "param_after")):
            assert_close(vector["expect"][key], session.run(made[name]), vector)


def test_lamb(tf):
    """The parameter loses the update by the ratio of the norms, which is 1 without a norm."""
    from npu_config.tf1 import npu_update_ops

    (vector,) = of("lamb_apply_weight_assign")
    inputs = {key.split("_")[0]: floats(value) for key, value in vector["inputs"].items()}
    for changed, key in (
        ({}, "output"),
        ({"input0": 0.0}, "output_if_w_norm_0"),
        ({"input1": 0.0}, "output_if_g_norm_0"),
    ):
        given = {**inputs, **changed}
        given["input4"] = tf.Variable(inputs["input4"], use_resource=False)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = session.run(npu_update_ops.lamb_apply_weight_assign(**given))
            assert_close(vector["expect"][key], found, vector)


def test_lamb_step(tf):
    """Update of LAMB: bias-corrected Adam, with weight decay where it is asked for."""
    from npu_config.tf1 import npu_update_ops

    v, m = (tf.Variable([value], use_resource=False) for value in (0.5, 0.25))
    update, next_v, next_m = npu_update_ops.lamb_apply_optimizer_assign(
        tf.constant([2.0]), v, m, tf.constant([3.0]), 0.9, 0.1, 0.99, 0.01, 1e-6, 2.0, 1.0, 0.01
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        update, next_v, next_m = session.run([update, next_v, next_m])
        assert session.run([v, m]) == [next_v, next_m]
    first = (0.9 * 0.25 + 0.1 * 2) / (1 - 0.9**2)
    second = (0.99 * 0.5 + 0.01 * 4) / (1 - 0.99**2)
    assert update[0] == pytest.approx(first / (second**0.5 + 1e-6) + 0.03, rel=1e-5)


def test_lars(tf):
    """A list of scaled gradients, one for each weight, as LARSV2 gives for one."""
    from npu_config.tf1 import npu_ops

    weights, gradients = [[1.0, -2.0], [3.0, 0.5]], [[0.1, 0.2], [0.3, 0.4]]
    found = npu_ops.LARS(weights, gradients, 0.01)
    single = [npu_ops.LARSV2(w, g, 0.01, 1.0) for w, g in zip(weights, gradients)]
    with tf.Session() as session:
        found, single = session.run([found, single])
    numpy.testing.assert_array_equal(found, single)
    with pytest.raises(ValueError, match="as many gradients"):
        npu_ops.LARS(weights, gradients[:1], 0.01)


def test_basic_lstm_cell(tf):
    """One step is that of BasicLSTMCell; another activation is refused."""
    from npu_config.tf1 import npu_ops

    state = numpy.random.RandomState(3)
    x, h, c = (state.normal(size=(2, 4)).astype("f") for _ in range(3))
    w, b = state.normal(size=(8, 16)).astype("f"), state.normal(size=16).astype("f")
    cell = tf.nn.rnn_cell.BasicLSTMCell(4, forget_bias=0.5)
    _, expected = cell(x, (c, h))
    ct, ht, *_ = npu_ops.basic_lstm_cell(x, h, c, w, b, 1.0, 0.5, True, "tanh")
    kernel, bias = tf.global_variables()
    with tf.Session() as session:
        session.run([kernel.initializer, bias.initializer])
        kernel.load(w, session)
        bias.load(b, session)
        (theirs_c, theirs_h), ct, ht = session.run([expected, ct, ht])
    numpy.testing.assert_allclose(ct, theirs_c, atol=1e-6)
    numpy.testing.assert_allclose(ht, theirs_h, atol=1e-6)
    with pytest.raises(ValueError, match="NPU828"):
        npu_ops.basic_lstm_cell(x, h, c, w, b, 1.0, 0.5, True, "relu")


def test_small_operators(tf):
    """prelu, nonzero, getshape, dropout of two more names, a random choice."""
    from npu_config.tf1 import experimental, npu_aicore_ops

    x = tf.constant([[0.0, -2.0], [3.0, 0.0]])
    chosen, mask = experimental.randomchoicewithmask(x > 0, 3)
    with tf.Session() as session:
        run = session.run
        assert run(npu_aicore_ops.prelu(x, 0.5)).tolist() == [[0.0, -1.0], [3.0, 0.0]]
        assert run(npu_aicore_ops.nonzero(x)).tolist() == [[0, 1], [1, 0]]
        assert run(npu_aicore_ops.nonzero(x, True, tf.int32)).tolist() == [[0, 1], [1, 0]]
        assert run(experimental.getshape(x)).tolist() == [2, 2]
        assert run([chosen, mask])[0].tolist() == [[1, 0], [0, 0], [0, 0]]
        assert run(mask).tolist() == [True, False, False]
    assert npu_aicore_ops.dropout_v3(x, 1.0) is x
    assert npu_aicore_ops.dropout_v4(x, 0.5).shape.as_list() == [2, 2]
    with pytest.raises(TypeError, match="axes"):
        npu_aicore_ops.centralization(x, 1)


@pytest.mark.parametrize("vector", **identified(of("dropout statistics")))
def test_dropout(vector, tf):
    """The kept share, and what is kept is divided by it."""
    from npu_config.tf1 import npu_ops

    given, expected = vector["inputs"], vector["expect"]
    x = tf.fill(given["shape"], given["x_all"])
    with tf.Session() as session:
        found = session.run(npu_ops.dropout(x, given["keep_prob"], seed=1))
    numpy.testing.assert_allclose(numpy.unique(found), expected["values_only"], rtol=1e-5)
    assert abs((found > 0).mean() - expected["kept_share"]) < expected["kept_share_tolerance"]
    assert abs(found.mean() - expected["mean"]) < expected["mean_tolerance"]


def test_keras_dropout(tensorflow, tf):
    """Importing npu_convert_dropout replaces nothing; its function drops as Keras does."""
    layer = tf.keras.layers.Dropout(0.5, seed=1)
    before = type(layer).call
    from npu_config.tf1 import npu_convert_dropout

    assert type(layer).call is before
    x = tf.ones([1000])
    with tf.Session() as session:
        assert session.run(npu_convert_dropout.dropout_call(layer, x, False)).min() == 1.0
        dropped = session.run(npu_convert_dropout.dropout_call(layer, x, True))
    assert set(dropped.tolist()) == {0.0, 2.0}


@pytest.mark.parametrize(
    "vector", **identified(of("npu_optimizer.allreduce one rank", "npu_allreduce one rank"))
)
def test_allreduce(vector, tf):
    """With one rank the input, mean or sum; lists stay lists, and slices slices."""
    from npu_config.tf1 import optimizers

    name = vector["name"].split(" ")[0].rpartition(".")[2]
    given = list(vector["inputs"].values())
    if name == "npu_allreduce":
        assert optimizers.npu_allreduce(tuple(given[0])) == given[0]
        return
    x = tf.constant(given[0])
    calls = [optimizers.allreduce(x), optimizers.allreduce(x, False)]
    calls += [optimizers.allreduce(x, "variable", True), optimizers.reduce(x, 0)]
    with tf.Session() as session:
        for found in session.run(calls):
            assert found.tolist() == vector["expect"]["y"]
    slices = tf.IndexedSlices(x, tf.constant([0, 1]))
    assert optimizers.allreduce(slices) is slices


def test_allreduce_of_several_ranks(tf, monkeypatch):
    """Several ranks need the vendor's library."""
    from npu_config.tf1 import optimizers

    monkeypatch.setenv("RANK_SIZE", "2")
    for call in (optimizers.allreduce, lambda x: optimizers.reduce(x, 0)):
        with pytest.raises(RuntimeError, match="2 ranks"):
            call(tf.constant([1.0]))
