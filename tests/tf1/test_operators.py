"""The vendor's operators on the CPU, against the numbers of ``npu_ops_reference.jsonl``."""

import pytest

from tests.tf1.support import vectors

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

VECTORS = vectors("npu_ops_reference.jsonl")


def of(*words):
    """The vectors whose names hold one of the words."""
    return [vector for vector in VECTORS if any(word in vector["name"] for word in words)]


ELSEWHERE = ("npu_dynamic_rnn", "IterationOp", "ExponentialUpdateLossScaleManager")
HERE = (
    *("npu_unary_ops.gelu", "fast_gelu", "centralization", "LARSV2", "layer_norm"),
    *("scatter_elements", "adam_apply", "lamb_apply_weight_assign", "dropout statistics"),
    *("dropout edges", "dropout gradient", "hccl_ops", "npu_optimizer."),
)


def test_every_vector_is_used():
    """Each vector is the input of a test, here or of another module."""
    used = of(*ELSEWHERE, *HERE)
    assert [vector["name"] for vector in VECTORS if vector not in used] == []


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
    from npu_config.tf1 import npu_ops

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
            found = session.run(npu_ops.lamb_apply_weight_assign(**given))
            assert_close(vector["expect"][key], found, vector)


def test_lamb_step(tf):
    """Update of LAMB: bias-corrected Adam, with weight decay where it is asked for."""
    from npu_config.tf1 import npu_ops

    v, m = (tf.Variable([value], use_resource=False) for value in (0.5, 0.25))
    update, next_v, next_m = npu_ops.lamb_apply_optimizer_assign(
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
    from npu_config.tf1 import experimental, npu_aicore_ops, npu_cpu_ops

    x = tf.constant([[0.0, -2.0], [3.0, 0.0]])
    assert npu_cpu_ops.randomchoicewithmask is experimental.randomchoicewithmask
    assert npu_cpu_ops.dense_image_warp is experimental.dense_image_warp
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


def test_dropout_edges(tf):
    """What is kept whole comes back; what the operator refuses is a ValueError or TypeError."""
    from npu_config.tf1 import npu_ops

    (vector,) = of("dropout edges")
    x = tf.constant([1.0, 2.0, 3.0])
    assert npu_ops.dropout(x, 1.0) is x
    assert npu_ops.dropout(x, numpy.float64(1)) is x
    with tf.Session() as session:
        for whole in (1, numpy.float32(1), tf.constant(1.0)):
            assert session.run(npu_ops.dropout(x, whole)).tolist() == [1.0, 2.0, 3.0]
    refused = {
        "zero": (x, 0.0),
        "above_1": (x, 1.5),
        "negative": (x, -0.5),
        "int_input": (tf.constant([1]), 0.5),
        "float64_input": (tf.cast(x, tf.float64), 0.5),
        "string_keep_prob": (x, "0.5"),
    }
    for name, arguments in refused.items():
        error = TypeError if "TypeError" in vector["expect"][name] else ValueError
        with pytest.raises(error, match="NPU867"):
            npu_ops.dropout(*arguments)
    with pytest.raises(TypeError, match="float32, got float64"):
        npu_ops.dropout(x, tf.constant(0.5, tf.float64))
    with pytest.raises(ValueError, match="nan"):
        npu_ops.dropout(x, float("nan"))


def test_dropout_gradient(tf):
    """The gradient has the mask and the scale of the values; keep_prob has none."""
    from npu_config.tf1 import npu_ops

    (vector,) = of("dropout gradient")
    given = vector["inputs"]
    x, keep = tf.constant(given["x"] * 50), tf.constant(given["keep_prob"])
    y = npu_ops.dropout(x, keep, seed=3)
    (gradient,) = tf.gradients(y, x, tf.constant(given["dy"] * 50))
    with tf.Session() as session:
        y, gradient = session.run([y, gradient])
    mask = y > 0
    assert 0 < mask.mean() < 1
    expected = numpy.where(mask, numpy.tile(given["dy"], 50) / given["keep_prob"], 0)
    numpy.testing.assert_allclose(gradient, expected, atol=vector["tol"])


@pytest.mark.parametrize("vector", **identified(of("hccl_ops")))
def test_collectives_of_one_rank(vector, tf):
    """One rank gets its own back, as tensors; shapes are those of as many ranks as are named."""
    from npu_config.tf1 import hccl_ops

    given = dict(vector["inputs"])
    if vector["name"] == "hccl_ops shapes":
        size, expected = given["rank_size"], vector["expect"]
        x = tf.placeholder(tf.float32, given["input_shape"])
        unknown = tf.placeholder(tf.float32, [None, 3])
        assert hccl_ops.allgather(x, size).shape.as_list() == expected["allgather"]
        scattered = hccl_ops.reduce_scatter(x, "sum", size)
        assert scattered.shape.as_list() == expected["reduce_scatter"]
        assert hccl_ops.allgather(unknown, size).shape.as_list() == [None, 3]
        for call in (
            lambda: hccl_ops.allgather(tf.constant(1.0), size),
            lambda: hccl_ops.allgather(x, 0),
            lambda: hccl_ops.reduce_scatter(tf.zeros([5, 3]), "sum", size),
        ):
            with pytest.raises(ValueError, match="NPU829"):
                call()
        return
    name = vector["name"].split(" ")[0].rpartition(".")[2]
    found = getattr(hccl_ops, name)(**given)
    several = found if isinstance(found, list) else [found]
    assert all(isinstance(each, tf.Tensor) for each in several)
    with tf.Session() as session:
        result = session.run(found)
    numpy.testing.assert_array_equal(result, floats(vector["expect"]["y"]))


def test_what_collectives_take(tf):
    """A list is one tensor; types that the device cannot communicate are refused."""
    from npu_config.tf1 import hccl_ops

    assert hccl_ops.allreduce([tf.zeros([2, 3])], "sum").shape.as_list() == [1, 2, 3]
    assert isinstance(hccl_ops.broadcast([], 0), tf.Operation)
    (same,) = hccl_ops.broadcast([tf.Variable(1.0, use_resource=False)], 0)
    assert isinstance(same, tf.Tensor)
    for call in (
        lambda x: hccl_ops.allreduce(x, "sum"),
        lambda x: hccl_ops.reduce(x, "sum", 0),
        lambda x: hccl_ops.reduce_scatter(x, "sum", 1),
    ):
        with pytest.raises(TypeError, match="NPU829"):
            call(tf.zeros([2], tf.float64))
    assert hccl_ops.allgather(tf.zeros([2], tf.float64), 1).dtype == tf.float64
    with pytest.raises(TypeError, match="NPU829"):
        hccl_ops.allgather(tf.constant([True]), 1)


def test_operand_types(tf):
    """The operators take the types of the device, all operands of one."""
    from npu_config.tf1 import npu_aicore_ops, npu_ops

    half, single, double = (
        tf.ones([2, 2], dtype) for dtype in (tf.float16, tf.float32, tf.float64)
    )
    state = [tf.Variable(tf.ones([2, 2]), use_resource=False) for _ in range(3)]
    numbers = [0.1, 0.9, 0.1, 0.99, 0.01, 1e-7]
    for call in (
        lambda: npu_ops.LARSV2(half, half, 0.1, 0.1),
        lambda: npu_ops.LARS([double], [double], 0.1),
        lambda: npu_ops.adam_apply_one_assign(half, *state, *numbers),
        lambda: npu_ops.basic_lstm_cell(single, half, single, 1.0, 0.0, 1.0, 0.0, True, "tanh"),
        lambda: npu_ops.scatter_elements(single, double, single),
        lambda: npu_ops.k_means_centroids(half, half, half, None),
        lambda: npu_aicore_ops.centralization(double, [1]),
        lambda: npu_aicore_ops.prelu(single, half),
        lambda: npu_aicore_ops.layer_norm(single, half, 0.0),
        lambda: npu_aicore_ops.fast_gelu_v2(double),
    ):
        with pytest.raises(TypeError, match="NPU867"):
            call()
    assert npu_aicore_ops.layer_norm(half, 1.0, 0.0)[0].dtype == tf.float16
    assert npu_aicore_ops.prelu(half, 0.5).dtype == tf.float16


def test_k_means(tf):
    """Each point counts for its nearest centroid; the total is of the least distances."""
    from npu_config.tf1 import npu_ops

    points = tf.constant([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    centroids = tf.constant([[0.0, 0.0], [4.0, 4.0]])
    squares = tf.reduce_sum(centroids**2, axis=1)[None]
    own = tf.reduce_sum(points**2, axis=1, keepdims=True)
    with tf.Session() as session:
        sums, counts, total = session.run(
            npu_ops.k_means_centroids(points, centroids, squares, None)
        )
        *_, whole = session.run(npu_ops.k_means_centroids(points, centroids, squares, own))
    assert (sums.tolist(), counts.tolist()) == ([[1.0, 1.0], [5.0, 5.0]], [[2.0], [1.0]])
    assert (total.tolist(), whole.tolist()) == ([-48.0], [4.0])


def test_what_the_device_has_in_small_modules(tf, tmp_path):
    """Padded non-zeros, constants of files, pictures, warps and PReLU."""
    from npu_config.tf1 import experimental, npu_aicore_ops
    from npu_config.tf1.keras import PReLU

    path = tmp_path / "constant.bin"
    numpy.arange(6, dtype=numpy.float32).tofile(str(path))
    constant = experimental.file_constant([2, 3], tf.float32, str(path))
    x = tf.constant([[0, 7, 0], [8, 0, 9]])
    picture = numpy.arange(2 * 4 * 5 * 3).reshape([2, 4, 5, 3]).astype(numpy.float32)
    flow = numpy.zeros([2, 4, 5, 2], numpy.float32)
    flow[..., 0], flow[..., 1] = 1.0, -0.5
    warped = experimental.dense_image_warp(picture, flow)
    jpeg = tf.image.encode_jpeg(tf.cast(picture[0], tf.uint8))
    resized = experimental.decode_and_resize_jpeg(jpeg, [2, 3])
    cropped = experimental.decode_and_crop_and_resize_jpeg(jpeg, [1, 1, 2, 3], [2, 3])
    straight = tf.image.decode_jpeg(jpeg, channels=3)[1:3, 1:4]
    layer = PReLU(shared_axes=[1, 2, 3])
    layer(tf.constant(picture))
    assert [each.shape.as_list() for each in layer.weights] == [[1]]
    with tf.Session() as session:
        assert session.run(constant).tolist() == [[0, 1, 2], [3, 4, 5]]
        values, places, count = session.run(npu_aicore_ops.nonzerowithvalue(x))
        assert values.tolist() == [7, 8, 9, 0, 0, 0]
        assert places.tolist() == [0, 1, 1, 0, 1, 2] + 6 * [0]
        assert count.tolist() == [3]
        moved, resized, cropped, straight = session.run([warped, resized, cropped, straight])
    assert (resized.shape, resized.dtype) == ((2, 3, 3), numpy.uint8)
    assert cropped.tolist() == straight.tolist()
    inner = (picture[:, :-1, :-1] + picture[:, :-1, 1:]) / 2
    numpy.testing.assert_allclose(moved[:, 1:, :-1], inner, rtol=1e-6)
    with pytest.raises(RuntimeError, match="file_constant"):
        experimental.file_constant([1], tf.float32)


def test_what_is_there_without_a_device(tf):
    """Things that only a device does can be made and left where the facts say so."""
    from npu_config.tf1 import experimental
    from npu_config.tf1.profiler import Profiler
    from npu_config.tf1.scoped_graph_manager import ScopedGraphManager

    with Profiler(level="L1") as profiler, ScopedGraphManager() as manager:
        for each in (profiler, manager):
            assert each.start() is each.stop() is None
    with pytest.raises(ValueError, match="level of Profiler must be text"):
        Profiler(level=1)
    with pytest.raises(TypeError):
        Profiler("L1")
    with pytest.raises(RuntimeError, match="cache_add"):
        experimental.LruCache(10).cache_add([1])
    assert experimental.npu_keras_var_broadcast_decorator(len) is len


def test_keras_dropout(tensorflow, tf):
    """Importing npu_convert_dropout replaces nothing; its function drops as Keras does."""
    layer = tf.keras.layers.Dropout(0.5, seed=1)
    before = type(layer).call
    from npu_config.tf1 import npu_convert_dropout

    assert type(layer).call is before
    x = tf.ones([1000])
    wide = tf.keras.layers.Dropout(0.5, dtype="float64")
    with tf.Session() as session:
        assert session.run(
            npu_convert_dropout.dropout_call(wide, tf.cast(x, "float64"), True)
        ).any()
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
        with pytest.raises(ValueError, match="None is not a tensor"):
            optimizers.npu_allreduce([given[0], None])
        return
    x = tf.constant(given[0])
    calls = [optimizers.allreduce(x), optimizers.allreduce(x, False)]
    calls += [optimizers.allreduce(x, "variable", True), optimizers.reduce(x, 0)]
    with tf.Session() as session:
        for found in session.run(calls):
            assert found.tolist() == vector["expect"]["y"]
    slices = tf.IndexedSlices(x, tf.constant([0, 1]))
    assert optimizers.allreduce(slices) is slices


def test_arithmetic_of_two_ranks():
    """The mean of integers is rounded down."""
    from npu_config.runner import hub
    from npu_config.tf1 import optimizers
    from npu_config.tf1.tensorflow import tf

    (vector,) = of("arithmetic of 2 ranks")
    head = {"kind": "allreduce", "reduction": "sum"}
    given = {
        rank: (head, [numpy.array(vector["inputs"]["rank{}".format(rank)], numpy.int32)])
        for rank in (0, 1)
    }
    total = hub.results([0, 1], given)[0][0]
    assert total.tolist() == vector["expect"]["average_false"]
    with tf.Graph().as_default(), tf.Session() as session:
        mean = session.run(optimizers.divided(tf.constant(total), 2))
    assert mean.tolist() == vector["expect"]["average_true"]


def test_allreduce_of_several_ranks(tf, monkeypatch):
    """Several ranks need the vendor's library."""
    from npu_config.tf1 import optimizers

    monkeypatch.setenv("RANK_SIZE", "2")
    for call in (optimizers.allreduce, lambda x: optimizers.reduce(x, 0)):
        with pytest.raises(RuntimeError, match="2 ranks"):
            call(tf.constant([1.0]))
