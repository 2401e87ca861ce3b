"""Loss scaling against what the vendor's managers did (``loss_scale.json``), number by number."""

import json

import pytest

from tests.tf1.support import DATA, vectors

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

RECORDED = json.loads((DATA / "loss_scale.json").read_text(encoding="utf-8"))


def value_of(described):
    """An argument as the vector describes it."""
    if not isinstance(described, dict):
        return described
    kind, text = described["__pytype__"], described["__repr__"]
    if kind == "float":
        return float(text)
    if kind == "list":
        return json.loads(text)
    if kind == "ndarray":
        return numpy.array([1.0, 2.0])
    return getattr(numpy, kind)(text)


def arguments_of(vector):
    """The arguments of a vector."""
    return {name: value_of(value) for name, value in vector["kwargs"].items()}


def run_updates(tf, manager, finite):
    """The scale, good and bad steps after each update."""
    is_finite = tf.placeholder(tf.bool, [])
    update = manager.update_loss_scale(is_finite)
    state = [manager._loss_scale, manager._num_good_steps, manager._num_bad_steps]
    values = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for one in finite:
            session.run(update, {is_finite: bool(one)})
            scale, good, bad = session.run(state)
            values.append([float(scale), int(good), int(bad)])
    return values


@pytest.mark.parametrize("vector", RECORDED["manager_sequences"], ids=lambda vector: vector["id"])
def test_sequences(vector, tf):
    """The same scale and counts after every step."""
    from npu_config.tf1 import ExponentialUpdateLossScaleManager

    manager = ExponentialUpdateLossScaleManager(**arguments_of(vector))
    values = run_updates(tf, manager, vector["finite"])
    assert vector["npu_[scale,good,bad]"] == values


def test_reference(tf):
    """The sequence of the facts: a good step leaves the count of bad ones."""
    from npu_config.tf1 import ExponentialUpdateLossScaleManager

    vector = next(
        each
        for each in vectors("npu_ops_reference.jsonl")
        if each["name"] == "ExponentialUpdateLossScaleManager"
    )
    given = dict(vector["inputs"])
    finite = given.pop("finite")
    values = run_updates(tf, ExponentialUpdateLossScaleManager(**given), finite)
    assert vector["expect"]["scale_good_bad_after"] == values


EXPONENTIAL = [v for v in RECORDED["validation"] if v["id"].startswith("exp/")]
FIXED = [v for v in RECORDED["validation"] if v["id"].startswith("fixed/")]


@pytest.mark.parametrize("vector", EXPONENTIAL, ids=lambda vector: vector["id"])
def test_exponential_arguments(vector, tensorflow, tf):
    """The same arguments are taken, and lead to the same numbers; the others are refused."""
    from npu_config.tf1 import ExponentialUpdateLossScaleManager

    if vector["id"].endswith("=nan") and not tensorflow.__version__.startswith("1."):
        pytest.skip("tf.maximum of NaN is another number in TensorFlow 2")
    if "error" in vector:
        with pytest.raises((TypeError, ValueError)):
            ExponentialUpdateLossScaleManager(**arguments_of(vector)).update_loss_scale(True)
        return
    manager = ExponentialUpdateLossScaleManager(**arguments_of(vector))
    if "result" in vector:
        expected = vector["result"]["loss_scale"]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            scale = numpy.ravel(session.run(manager.get_loss_scale()))[0]
        assert str(float(expected)) == str(float(scale))
        names = [variable.name for variable in tf.global_variables()]
        assert vector["result"]["global_variables"] == names
    else:
        values = run_updates(tf, manager, [1, 1, 1, 0, 0, 0])
        assert vector["seq_finite_TTTFFF_[scale,good,bad]"] == values


@pytest.mark.parametrize("vector", FIXED, ids=lambda vector: vector["id"])
def test_fixed_arguments(vector, tf):
    """The same arguments are taken; below 1 and what is no number is refused."""
    from npu_config.tf1 import FixedLossScaleManager

    if "error" in vector:
        with pytest.raises(ValueError, match="NPU857"):
            FixedLossScaleManager(**arguments_of(vector))
        assert tf.get_default_graph().get_operations() == []
        return
    manager = FixedLossScaleManager(**arguments_of(vector))
    expected = vector["result"]
    assert expected["enable_overflow_check"] == manager.get_enable_overflow_check()
    with tf.Session() as session:
        scale = session.run(manager.get_loss_scale())
        assert session.run(manager.update_loss_scale(True)) is None
    assert str(float(expected["loss_scale"])) == str(float(scale))


def test_fixed_scale_is_a_constant(tf):
    """The scale is a constant, the update an operation without effect."""
    from npu_config.tf1 import FixedLossScaleManager

    manager = FixedLossScaleManager(8)
    expected = RECORDED["graph"]["fixed_manager"]
    assert expected["get_loss_scale"] == manager.get_loss_scale().name
    assert expected["update_op"][1] == manager.update_loss_scale(True).type


def test_exponential_variables(tensorflow, tf):
    """The state is in three variables that are saved and not trained."""
    from npu_config.tf1 import ExponentialUpdateLossScaleManager

    ExponentialUpdateLossScaleManager(8, 2)
    recorded = RECORDED["graph"]["exp_manager"]["variables"]
    assert [one["name"] for one in recorded] == [v.name for v in tf.global_variables()]
    assert tf.trainable_variables() == []


def test_classes_extend_contrib(tensorflow, tf):
    """Where tf.contrib is, managers and optimizer are ones of tf.contrib.mixed_precision."""
    if not hasattr(tensorflow, "contrib"):
        pytest.skip("TensorFlow 2 has no contrib")
    from npu_config.tf1 import (
        ExponentialUpdateLossScaleManager,
        FixedLossScaleManager,
        NPULossScaleOptimizer,
    )

    contrib = tensorflow.contrib.mixed_precision
    fixed = FixedLossScaleManager(8)
    assert isinstance(fixed, FixedLossScaleManager)
    assert isinstance(fixed, contrib.FixedLossScaleManager)
    grown = ExponentialUpdateLossScaleManager(8, 2)
    assert isinstance(grown, contrib.ExponentialUpdateLossScaleManager)
    optimizer = NPULossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), fixed)
    assert isinstance(optimizer, contrib.LossScaleOptimizer)
    assert isinstance(optimizer, NPULossScaleOptimizer)


def test_subclasses(tf):
    """A subclass of a manager is made with the base that its parent gets."""
    from npu_config.tf1 import FixedLossScaleManager

    class Doubled(FixedLossScaleManager):
        def get_loss_scale(self):
            return 2 * super().get_loss_scale()

    manager = Doubled(8)
    assert isinstance(manager, Doubled)
    with tf.Session() as session:
        assert session.run(manager.get_loss_scale()) == 16.0


def train(tf, wrap, losses_of=None, steps=4, start=1.0):
    """Train x with a wrapped optimizer; returns x and what ``watch`` gives after every step."""
    x = tf.Variable(start, name="x", use_resource=True)
    scale_loss = tf.placeholder_with_default(1.0, [])
    optimizer, watch = wrap(tf.train.GradientDescentOptimizer(0.1))
    gradients = optimizer.compute_gradients(tf.square(x) * scale_loss)
    train_op = optimizer.apply_gradients(gradients, tf.train.get_or_create_global_step())
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(steps):
            factor = float("inf") if losses_of and losses_of[step] == 0 else 1.0
            session.run(train_op, {scale_loss: factor})
            seen.append(session.run([x, tf.train.get_global_step(), *watch]))
    return seen


@pytest.mark.parametrize("kind", ["NPULossScaleOptimizer", "NPUOptimizer"])
def test_an_overflow_is_skipped(kind, tf):
    """A step whose gradients are not finite changes the scale, not the variables."""
    import npu_config.tf1 as tf1

    def wrap(optimizer):
        manager = tf1.ExponentialUpdateLossScaleManager(8, 2, 1, decr_ratio=0.5)
        if kind == "NPUOptimizer":
            made = tf1.NPUOptimizer(optimizer, manager, is_loss_scale=True)
        else:
            made = tf1.NPULossScaleOptimizer(optimizer, manager)
        return made, [manager.get_loss_scale()]

    seen = train(tf, wrap, [1, 0, 1, 1])
    assert [pytest.approx(row[0]) for row in seen] == [0.8, 0.8, 0.64, 0.512]
    assert [row[1] for row in seen] == [1, 1, 2, 3]
    assert [row[2] for row in seen] == [8.0, 4.0, 4.0, 8.0]


def test_the_check_can_be_switched_off(tf):
    """With a fixed scale and no check, an overflow reaches the variables."""
    from npu_config.tf1 import FixedLossScaleManager, NPULossScaleOptimizer

    def wrap(optimizer):
        manager = FixedLossScaleManager(8, enable_overflow_check=False)
        return NPULossScaleOptimizer(optimizer, manager), []

    seen = train(tf, wrap, [1, 0], steps=2)
    assert not numpy.isfinite(seen[1][0])


def test_gradients_that_are_missing_or_sparse(tf):
    """Variables without gradient and sparse gradients are scaled and checked, too."""
    from npu_config.tf1 import FixedLossScaleManager, NPULossScaleOptimizer

    table = tf.Variable([[1.0], [2.0]], use_resource=True)
    unused = tf.Variable(1.0, use_resource=True)
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1]))
    manager = FixedLossScaleManager(128)
    optimizer = NPULossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), manager)
    gradients = optimizer.compute_gradients(loss, [table, unused])
    train_op = optimizer.apply_gradients(gradients)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train_op)
        assert session.run(table).tolist() == [[1.0], [1.0]]


def test_attributes_of_the_inner_optimizer(tf):
    """What the wrapper lacks is looked up on the optimizer inside."""
    from npu_config.tf1 import FixedLossScaleManager, NPULossScaleOptimizer

    inner = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer = NPULossScaleOptimizer(inner, FixedLossScaleManager(8))
    assert optimizer._momentum == 0.9
    with pytest.raises(AttributeError):
        optimizer.no_such_attribute  # noqa: B018


def test_one_rank_is_the_plain_optimizer(tf):
    """With one rank the distributed optimizers train as the one inside, under their names."""
    import npu_config.tf1 as tf1

    inner = tf.train.MomentumOptimizer(0.1, 0.9)
    assert tf1.NPUDistributedOptimizer(inner).get_name() == "DistributedMomentumOptimizer"
    assert tf1.NPUOptimizer(inner).get_name() == "NPUOptimizerMomentumOptimizer"
    assert tf1.NPUDistributedOptimizer(inner, name="mine").get_name() == "mine"
    assert tf1.npu_distributed_optimizer_wrapper(inner) is inner
    for wrapper in (tf1.npu_tf_optimizer, lambda opt: tf1.NPUOptimizer(opt, is_distributed=True)):
        with tf.Graph().as_default():
            seen = train(tf, lambda optimizer, wrapper=wrapper: (wrapper(optimizer), []), steps=2)
        assert [pytest.approx(row[0]) for row in seen] == [0.8, 0.64]


def test_slots_of_the_inner_optimizer(tf):
    """Slots and variables are those of the optimizer inside."""
    from npu_config.tf1 import NPUDistributedOptimizer

    inner = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer = NPUDistributedOptimizer(inner)
    x = tf.Variable(1.0, use_resource=False)
    optimizer.minimize(tf.square(x))
    assert optimizer.get_slot_names() == ["momentum"]
    assert inner.get_slot(x, "momentum") is optimizer.get_slot(x, "momentum")
    assert inner.variables() == optimizer.variables()


def test_allreduce_of_one_rank(tf):
    """With one rank a tensor is its own mean, a list comes back as a list."""
    from npu_config.tf1 import npu_allreduce

    x = tf.constant(1.0)
    assert npu_allreduce(x) is x
    assert [x, x] == npu_allreduce((x, x))


def test_keras_optimizers(tf):
    """A Keras optimizer, or its name, comes back as Keras knows it."""
    from npu_config.tf1 import npu_distributed_optimizer_wrapper, npu_keras_optimizer

    inner = tf.keras.optimizers.SGD(0.1)
    assert npu_keras_optimizer(inner) is inner
    assert type(npu_distributed_optimizer_wrapper("sgd")).__name__ == "SGD"


@pytest.mark.parametrize(
    "make",
    [
        lambda tf1, opt: tf1.NPUDistributedOptimizer(opt),
        lambda tf1, opt: tf1.NPUOptimizer(opt, is_distributed=True),
        lambda tf1, opt: tf1.NPULossScaleOptimizer(opt, None, is_distributed=True),
        lambda tf1, opt: tf1.KerasDistributeOptimizer("sgd"),
        lambda tf1, opt: tf1.npu_distributed_optimizer_wrapper(opt),
        lambda tf1, opt: tf1.npu_allreduce(1.0),
    ],
)
def test_several_ranks_need_the_vendor(make, tf, monkeypatch):
    """With several ranks and no vendor's library it raises, naming ranks and package."""
    import npu_config.tf1 as tf1

    monkeypatch.setenv("RANK_SIZE", "2")
    with pytest.raises(RuntimeError, match=r"2 ranks.*npu_bridge"):
        make(tf1, tf.train.GradientDescentOptimizer(0.1))


def test_loss_scaling_needs_a_manager(tf):
    """``is_loss_scale`` without a manager is refused."""
    from npu_config.tf1 import NPUOptimizer

    with pytest.raises(ValueError, match="NPU857"):
        NPUOptimizer(tf.train.GradientDescentOptimizer(0.1), is_loss_scale=True)


def test_names_that_scripts_fetch(tf):
    """``loss_scale:0``; ``overflow_status_reduce_all:0`` below the scope of apply_gradients."""
    from npu_config.tf1 import ExponentialUpdateLossScaleManager, NPULossScaleOptimizer

    x = tf.get_variable("x", initializer=2.0)
    manager = ExponentialUpdateLossScaleManager(init_loss_scale=4, incr_every_n_steps=10)
    optimizer = NPULossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
    gradients = optimizer.compute_gradients(x * x)
    with tf.name_scope("apply_grads"):
        train = optimizer.apply_gradients(gradients)
    names = ["apply_grads/overflow_status_reduce_all:0", "loss_scale:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        fetched = session.run([*names, train])
    assert fetched[0]  # the second is the variable: its value, or on 1.15 its handle
