"""Scripts of several ranks with TensorFlow: collectives, training, and what goes wrong."""

import json
import re
import textwrap

import pytest
import yaml

pytest.importorskip("tensorflow")
pytest.importorskip("click")
numpy = pytest.importorskip("numpy")

from tests.runner import copies  # noqa: E402 - needs click

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]
FURTHER = pytest.mark.further

START = """
    import os, sys
    import numpy as np
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    from npu_bridge.npu_init import *
    from hccl.manage.api import create_group, get_rank_id, get_rank_size
    rank, size = get_rank_id(), get_rank_size()
"""

COLLECTIVES = """
    from npu_bridge.estimator.npu import npu_strategy
    from npu_bridge.estimator.npu.npu_optimizer import allreduce

    def given(number, dtype, shape=(4, 3)):
        return (np.random.RandomState(number).rand(*shape) * 9 - 3).astype(dtype)

    create_group("pair", 2, [rank // 2 * 2 + 1, rank // 2 * 2])
    tensors = {}
    for dtype in ("int8", "int16", "int32", "int64", "float16", "float32"):
        mine = tf.constant(given(rank, dtype), name=dtype)
        for reduction in ("sum", "prod", "max", "min"):
            name = "allreduce/{}/{}".format(reduction, dtype)
            tensors[name] = hccl_ops.allreduce(mine, reduction)
        tensors["scatter/" + dtype] = hccl_ops.reduce_scatter(mine, "sum", size)
        tensors["gather/" + dtype] = hccl_ops.allgather(mine, size)
        tensors["broadcast/" + dtype] = hccl_ops.broadcast([mine, mine[0]], 1)[1]
    mine = tf.constant(given(rank, "float32"))
    tensors["pair"] = hccl_ops.allgather(mine, 2, group="pair")
    tensors["reduce"] = hccl_ops.reduce(mine, "sum", 1)
    half = hccl_ops.allreduce(tf.cast(mine, tf.bfloat16), "max")
    assert half.dtype == tf.bfloat16
    tensors["bfloat16"] = tf.cast(half, tf.float32)
    tensors["gradient"] = tf.gradients(hccl_ops.allreduce(mine, "max") * (rank + 1.0), mine)[0]
    tensors["mean"] = npu_allreduce([mine])[0]
    tensors["floor"] = allreduce(tf.constant([rank * 2 + 1]))
    tensors["sum"] = allreduce(mine, average=False)
    matrix = np.arange(size)[:, None] + np.arange(size) + 1
    data = tf.range(100 * rank, 100 * rank + int(matrix[rank].sum()))
    tensors["exchange"] = hccl_ops.all_to_all_v_c(data, matrix, rank)
    if rank < 2:
        other = 1 - rank
        sent = hccl_ops.send(mine, rank, other)
        tensors["received"] = hccl_ops.receive([4, 3], tf.float32, other, other)
        with tf.control_dependencies([sent]):
            tensors["sent"] = tf.identity(mine)
    try:
        tf.gradients(hccl_ops.allgather(mine, size), mine)
    except LookupError as error:
        print("LookupError", error)
    strategy = npu_strategy.NPUStrategy()
    shares = strategy.experimental_distribute_dataset(tf.data.Dataset.range(2 * size))
    shares = shares.make_initializable_iterator()
    with tf.Session() as session:
        session.run(shares.initializer)
        share = shares.get_next()
        share = [int(session.run(share)) for _ in range(2)]
    assert share == [rank, rank + size]
    assert strategy.num_replicas_in_sync == size
    names = sorted(tensors)
    shapes = {name: tensors[name].shape.as_list() for name in names if name != "exchange"}
    with tf.Session() as session:
        found = {name: [] for name in names}
        for _ in range(2):
            for name, value in zip(names, session.run([tensors[name] for name in names])):
                found[name].append(value)
    for name in names:
        assert found[name][0].tobytes() == found[name][1].tobytes(), name
        assert name == "exchange" or shapes[name] == list(found[name][0].shape), name
    np.savez("rank{}.npz".format(rank), **{name: found[name][0] for name in names})
"""


def start(tmp_path, text, *options, new=False):
    """``npu-config run`` of a script: exit code, output, errors."""
    source = textwrap.dedent(START) + textwrap.dedent(text)
    (tmp_path / "train.py").write_text(source, encoding="utf-8")
    done = copies.run(["run", *options, "train.py"], tmp_path, new)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def given(number, dtype):
    """What a rank of the script gives."""
    return (numpy.random.RandomState(number).rand(4, 3) * 9 - 3).astype(dtype)


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=FURTHER)])
def test_collectives(tmp_path, size):
    """Each collective, of each type, is what NumPy makes of the tensors of all ranks."""
    code, output, errors = start(tmp_path, COLLECTIVES, "--ranks", str(size))
    assert code == 0, errors
    assert output.count("No gradient defined for operation 'HcomAllGather_") == size
    found = [numpy.load(str(tmp_path / "rank{}.npz".format(rank))) for rank in range(size)]
    functions = {
        "sum": numpy.add, "prod": numpy.multiply, "max": numpy.maximum, "min": numpy.minimum
    }  # fmt: skip

    def reduced(name, values):
        total = values[0]
        for each in values[1:]:
            total = functions[name](total, each)
        return total

    def check(name, expected):
        """The same bits in every rank."""
        for rank, value in enumerate(expected):
            assert value.tobytes() == found[rank][name].tobytes(), (name, rank)

    for dtype in ("int8", "int16", "int32", "int64", "float16", "float32"):
        values = [given(rank, dtype) for rank in range(size)]
        for name in functions:
            check("allreduce/{}/{}".format(name, dtype), [reduced(name, values)] * size)
        check("scatter/" + dtype, numpy.split(reduced("sum", values), size))
        check("gather/" + dtype, [numpy.concatenate(values)] * size)
        check("broadcast/" + dtype, [values[1][0]] * size)
    total = reduced("sum", values)
    check("reduce", [total if rank == 1 else values[rank] for rank in range(size)])
    check("sum", [total] * size)
    check("mean", [total / numpy.float32(size)] * size)
    check("floor", [numpy.array([size], "int32")] * size)
    check("gradient", [numpy.full((4, 3), sum(range(size + 1)), "float32")] * size)
    pairs = [[values[rank // 2 * 2 + 1], values[rank // 2 * 2]] for rank in range(size)]
    check("pair", [numpy.concatenate(pair) for pair in pairs])
    exchanged = []
    for to in range(size):
        parts = []
        for source in range(size):
            first = 100 * source + sum(source + before + 1 for before in range(to))
            parts.append(numpy.arange(first, first + source + to + 1, dtype="int32"))
        exchanged.append(numpy.concatenate(parts))
    check("exchange", exchanged)
    check("received", [values[1], values[0]])
    numpy.testing.assert_allclose(
        found[0]["bfloat16"], reduced("max", values), rtol=2.0**-8, atol=0
    )


TRAINING = """
    tf.random.set_random_seed(rank)
    STEPS, BATCH = 20, 16
    random = np.random.RandomState(0)
    xs = random.rand(STEPS * BATCH, 4).astype("float32")
    ids = random.randint(0, 5, (STEPS * BATCH, 1)).astype("int32")
    ys = (xs.sum(1, keepdims=True) * 2 - ids).astype("float32")

    def mine(array):
        parts = array.reshape(STEPS, size, BATCH // size, -1)[:, rank]
        return np.ascontiguousarray(parts.reshape(STEPS * BATCH // size, -1))

    def data():
        arrays = tuple(map(mine, (xs, ids, ys)))
        dataset = tf.data.Dataset.from_tensor_slices(arrays).batch(BATCH // size)
        return dataset.map(lambda x, i, y: ({"x": x, "i": i}, y))

    def loss_of(features, labels):
        table = tf.get_variable("table", [5, 3])
        kernel = tf.get_variable("kernel", [7, 1])
        looked_up = tf.nn.embedding_lookup(table, features["i"][:, 0])
        inputs = tf.concat([features["x"], looked_up], 1)
        return tf.reduce_mean(tf.square(tf.matmul(inputs, kernel) - labels))

    def save(name, value):
        np.savez("{}{}of{}.npz".format(name, rank, size), **value)

    def untrained():
        random = tf.random_normal_initializer()
        settings = {"shape": [2], "trainable": False}
        found = [tf.get_variable("plain", initializer=random, **settings)]
        found.append(tf.Variable(np.float32([rank, 1]), trainable=False, name="constant"))
        with tf.variable_scope("deep", use_resource=True):
            found.append(tf.get_variable("resource", initializer=random, **settings))
        found.append(tf.get_variable("zeros", initializer=tf.zeros_initializer(), **settings))
        tf.get_variable("unread", initializer=random, **settings)
        return 0 * tf.reduce_sum(tf.add_n([tf.identity(each) for each in found]))

    def session():
        with tf.Graph().as_default():
            tf.random.set_random_seed(rank)
            loss = loss_of(*tf.data.make_one_shot_iterator(data()).get_next())
            loss *= 1 + untrained()
            step = tf.train.get_or_create_global_step()
            optimizer = NPUDistributedOptimizer(tf.train.AdamOptimizer(0.01))
            train = optimizer.minimize(loss, global_step=step)
            weights = {each.op.name: each for each in tf.trainable_variables()}
            hooks = [NPUBroadcastGlobalVariablesHook(0, rank)]
            with tf.train.MonitoredTrainingSession(hooks=hooks) as running:
                for _ in range(STEPS):
                    _, found = running.run([train, weights])
                save("session", running.run(weights) if not running.should_stop() else found)

    def estimator():
        def model(features, labels, mode, params):
            loss = loss_of(features, labels)
            inner = tf.train.MomentumOptimizer(0.01, 0.9)
            manager = FixedLossScaleManager(128.0)
            optimizer = NPUOptimizer(inner, manager, is_distributed=True, is_loss_scale=True)
            train = optimizer.minimize(loss, global_step=tf.train.get_global_step())
            return NPUEstimatorSpec(mode=mode, loss=loss, train_op=train)

        folder = "model{}of{}".format(rank, size)
        config = NPURunConfig(model_dir=folder, tf_random_seed=rank, save_checkpoints_steps=STEPS)
        made = NPUEstimator(model_fn=model, config=config, params={})
        made.train(data, max_steps=STEPS)
        save("estimator", {name: made.get_variable_value(name) for name in ("table", "kernel")})

    def keras():
        tf.random.set_random_seed(rank)
        layers = [tf.keras.layers.Dense(3, "relu", input_shape=(4,)), tf.keras.layers.Dense(1)]
        model = tf.keras.Sequential(layers)
        optimizer = KerasDistributeOptimizer(tf.keras.optimizers.SGD(0.05, momentum=0.9))
        model.compile(optimizer, "mse")
        batch = BATCH // size
        callbacks = npu_callbacks_append([])
        model.fit(mine(xs), mine(ys), batch, shuffle=False, verbose=0, callbacks=callbacks)
        save("keras", dict(zip(("bias", "kernel"), model.get_weights()[:0:-2])))

    session()
    estimator()
    keras()
"""


def test_training(tmp_path):
    """Four ranks train to the weights of one with the whole batch, and to the same bits.

    The tolerance is for the order of float32 additions: 1e-5 of the values, after 20 steps of
    Adam (gradients of an embedding gathered) in a MonitoredTrainingSession, of momentum with
    loss scaling in an NPUEstimator, and of momentum in Keras.  Told are the variables that are not
    trained, that training reads, and that start with other values on each rank.
    """
    for size in (1, 4):
        code, _, errors = start(tmp_path, TRAINING, "--ranks", str(size))
        assert code == 0, errors
    differ = re.findall(r'the variable "([^"]+)", which is not trained, starts', errors)
    assert sorted(differ) == ["constant", "deep/resource", "plain"]
    for name in ("session", "estimator", "keras"):
        alone = numpy.load(str(tmp_path / "{}0of1.npz".format(name)))
        ranks = [numpy.load(str(tmp_path / "{}{}of4.npz".format(name, rank))) for rank in range(4)]
        assert len(alone) == 2
        for variable in alone:
            assert len({rank[variable].tobytes() for rank in ranks}) == 1
            numpy.testing.assert_allclose(
                ranks[0][variable], alone[variable], rtol=1e-5, atol=1e-6
            )


def test_what_goes_wrong(tmp_path):
    """Different shapes are an error in all ranks, and so is a partner that has left."""
    text = """
        x = tf.ones([rank + 2])
        with tf.Session() as session:
            try:
                session.run(hccl_ops.allreduce(x, "sum"))
            except tf.errors.OpError as error:
                print("caught" if "rank 1: allreduce sum float32[3]" in str(error) else error)
            if rank == 0:
                session.run(hccl_ops.allreduce(tf.ones([2]), "sum"))
    """
    code, output, errors = start(tmp_path, text, "--ranks", "2")
    assert code == 1
    assert [line for line in sorted(output.splitlines()) if "caught" in line] == [
        "[rank 0] caught",
        "[rank 1] caught",
    ]
    reason = "npu-config run: a collective of rank 0 failed: rank 1 has ended, but rank 0 waits"
    assert reason in errors
    assert "rank 0 failed first, with exit code 1" in errors


def test_a_rank_that_dies(tmp_path):
    """A rank that dies while others wait for it is named, with its exit code."""
    text = """
        if rank == 1:
            os._exit(5)
        with tf.Session() as session:
            session.run(hccl_ops.allreduce(tf.ones([2]), "sum"))
    """
    code, _, errors = start(tmp_path, text, "--ranks", "3", new=True)
    assert code == 5
    assert "rank 1 failed first, with exit code 5" in errors


LOOP = """
    w = tf.Variable(1.0, use_resource=False)
    train = NPUDistributedOptimizer(tf.train.GradientDescentOptimizer(0.1)).minimize(w * w)
    config = tf.ConfigProto(inter_op_parallelism_threads=1)
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    entry.parameter_map["presicion_mode"].s = b"force_fp16"
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(9):
            if rank == 0:
                session.run(w + 1.0)  # the chief looks at something
            session.run(train)
"""


def test_steps_and_dry_run(tmp_path):
    """``--steps`` ends all ranks when it ends one; ``--dry-run`` prints what each has."""
    code, _, errors = start(tmp_path, LOOP, "--ranks", "2", "--steps", "4", "--report", "s.json")
    assert code == 0, errors
    report = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert [
        (each["ended"], each["exit_code"], each["sessions"][0]["steps"])
        for each in report["ranks"]
    ] == [("steps", 0, 2), ("steps", 0, 2)]
    code, output, errors = start(tmp_path, LOOP, "--ranks", "2", "--dry-run")
    assert code == 0, errors
    for rank, each in enumerate(yaml.safe_load(output)["ranks"]):
        assert (rank, "dry-run", str(rank)) == (
            each["rank"], each["ended"], each["environment"]["RANK_ID"]
        )  # fmt: skip
        # the script asks for its rank too early, and broadcasts nothing
        assert {"NPU101", "NPU6003", "NPU6004"} == {
            found["rule"] for found in each["findings"] if found["severity"] == "error"
        }
        (session,) = each["sessions"]
        assert session["options"]["presicion_mode"] == "force_fp16"
        assert "NPU101" in {found["rule"] for found in session["findings"]}


ALONE = """
    from npu_config.tf1.hooks import broadcast_global_variables
    w = tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    if {average}:
        optimizer = npu_distributed_optimizer_wrapper(optimizer)
    train = optimizer.minimize(tf.square(w, name="net_1.00"))
    send = broadcast_global_variables(0) if {send} else tf.no_op()
    with tf.Session(config=npu_config_proto()) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(send)
        if {train}:
            sess.run(train)
"""


@pytest.mark.parametrize(
    ("average", "send", "train"),
    [
        (False, False, True),
        pytest.param(False, True, True, marks=FURTHER),
        (True, True, True),
        pytest.param(True, False, True, marks=FURTHER),
        pytest.param(False, False, False, marks=FURTHER),
    ],
)
def test_ranks_that_train_by_themselves(tmp_path, average, send, train):
    """They are told so, once, where and with what to write; those that do not train are not."""
    text = ALONE.format(average=average, send=send, train=train)
    code, _, errors = start(tmp_path, text, "--ranks", "2", "--report", "seen.json")
    assert code == 0, errors
    lines = errors.splitlines()
    told = [number for number, line in enumerate(lines) if "each rank trains by itself" in line]
    assert len(told) == (train and not average)
    minimize = 1 + textwrap.dedent(START + ALONE).split("train = optimizer")[0].count("\n")
    for number in told:
        assert "train.py:{}: warning: ".format(minimize) in lines[number]
        assert "NPU6005" in lines[number]
        assert "npu_distributed_optimizer_wrapper" in lines[number + 1]
    assert "exchanged" not in errors
    report = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    rules = [found["rule"] for found in report["findings"]]
    assert rules.count("NPU6005") == len(told)
    assert bool(report["collectives"].get("allreduce")) == (average and train)


BY_HAND = """
    from npu_config.tf1.hooks import broadcast_global_variables
    w = tf.Variable(1.0)
    train = tf.assign(w, w - 0.1 * tf.gradients(w * w, w)[0])
    with tf.Session(config=npu_config_proto()) as sess:
        sess.run(tf.global_variables_initializer())
        if {send}:
            sess.run(broadcast_global_variables(0))
        sess.run(train)
"""


@FURTHER
@pytest.mark.parametrize(
    ("send", "said"),
    [
        (False, "the ranks exchanged no data"),
        (True, "the ranks exchanged weights but no gradients"),
    ],
)
def test_ranks_with_an_update_that_is_not_recognised(tmp_path, send, said):
    """They are told what they exchanged, with what to write, where no line can be named."""
    code, _, errors = start(tmp_path, BY_HAND.format(send=send), "--ranks", "2")
    assert code == 0, errors
    (line,) = [line for line in errors.splitlines() if "exchanged" in line]
    assert said in line
    assert "npu_distributed_optimizer_wrapper" in line
    assert "NPU6005" not in errors
