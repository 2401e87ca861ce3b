"""What needs the device is the vendor's where it can be imported, and raises where it cannot.

The vendor's package is a fake one (``fake_vendor``) that records what is called.
"""

import importlib
import sys
import warnings
from pathlib import Path

import pytest

from tests.tf1.support import Model

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

FAKE = Path(__file__).parent / "fake_vendor"


def forget():
    """Let the next import of the vendor's package be a new one."""
    for name in [name for name in sys.modules if name.split(".")[0] == "npu_bridge"]:
        del sys.modules[name]


@pytest.fixture
def fake_vendor(tensorflow, monkeypatch):
    """The fake vendor's package on the path; gives the list of recorded calls."""
    from tensorflow.python.client import session

    monkeypatch.setattr(session.Session, "__init__", session.Session.__init__)
    forget()
    monkeypatch.syspath_prepend(str(FAKE))
    package = importlib.import_module("npu_bridge")
    yield package.CALLS
    forget()


@pytest.fixture
def broken_vendor(tensorflow, monkeypatch, tmp_path):
    """A vendor's package whose library does not load."""
    forget()
    package = tmp_path / "npu_bridge"
    package.mkdir()
    (package / "__init__.py").write_text(
        'raise OSError("_tf_adapter.so: cannot open shared object file")', encoding="utf-8"
    )
    (package / "npu_init.py").write_text("from npu_bridge import *", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    forget()


FUNCTIONS = {
    "npu_ops.LARS": lambda tf1: tf1.npu_ops.LARS([1.0], [1.0], 0.1),
    "npu_ops.npu_onnx_graph_op": lambda tf1: tf1.npu_ops.npu_onnx_graph_op([], [], ""),
    "npu_unary_ops.get_next": lambda tf1: tf1.npu_unary_ops.get_next(),
    "npu_ops.dropout": lambda tf1: tf1.npu_ops.dropout(1.0, 0.5),
    "hccl_ops.allreduce": lambda tf1: tf1.hccl_ops.allreduce(1.0, "sum"),
    "hccl_ops.send": lambda tf1: tf1.hccl_ops.send(1.0, 0, 1),
    "npu_plugin.set_device_sat_mode": lambda tf1: tf1.npu_plugin.set_device_sat_mode(1),
    "npu_unary_ops.gelu": lambda tf1: tf1.npu_unary_ops.gelu(1.0),
    "npu_cpu_ops.embedding_local_index": lambda tf1: tf1.npu_cpu_ops.embedding_local_index(),
    "npu_rnn.npu_dynamic_rnn": lambda tf1: tf1.npu_rnn.npu_dynamic_rnn(None, None),
    "util.fair_division": lambda tf1: tf1.util.fair_division([], 2),
    "Profiler": lambda tf1: tf1.profiler.Profiler(level="L0"),
    "ScopedGraphManager": lambda tf1: tf1.scoped_graph_manager.ScopedGraphManager(),
    "NPUStrategy": lambda tf1: tf1.npu_strategy.NPUStrategy(),
    "NPUOptimizer": lambda tf1: tf1.optimizers.NPUOptimizer("opt", is_distributed=True),
    "NPUDistributedOptimizer": lambda tf1: tf1.optimizers.NPUDistributedOptimizer("opt"),
    "KerasDistributeOptimizer": lambda tf1: tf1.optimizers.KerasDistributeOptimizer("opt"),
    "NPULossScaleOptimizer": lambda tf1: tf1.loss_scale.NPULossScaleOptimizer("opt", "manager"),
    "FixedLossScaleManager": lambda tf1: tf1.loss_scale.FixedLossScaleManager(8),
    "ExponentialUpdateLossScaleManager": (
        lambda tf1: tf1.loss_scale.ExponentialUpdateLossScaleManager(8, 2)
    ),
    "npu_distributed_optimizer_wrapper": (
        lambda tf1: tf1.optimizers.npu_distributed_optimizer_wrapper("opt")
    ),
    "npu_allreduce": lambda tf1: tf1.optimizers.npu_allreduce(1.0),
    "get_rank_id": lambda tf1: tf1.hccl.get_rank_id(),
    "get_rank_size": lambda tf1: tf1.hccl.get_rank_size(),
    "get_local_rank_id": lambda tf1: tf1.hccl.get_local_rank_id(),
    "get_local_rank_size": lambda tf1: tf1.hccl.get_local_rank_size(),
    "create_group": lambda tf1: tf1.hccl.create_group("group", 2, [0, 1]),
}


def submodules():
    """``npu_config.tf1`` with the modules that are used here."""
    import npu_config.tf1

    for name in (
        "hccl",
        "hccl_ops",
        "loss_scale",
        "npu_cpu_ops",
        "npu_ops",
        "npu_plugin",
        "npu_rnn",
        "npu_strategy",
        "npu_unary_ops",
        "optimizers",
        "profiler",
        "scoped_graph_manager",
        "util",
    ):
        importlib.import_module("npu_config.tf1." + name)
    return npu_config.tf1


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_delegated(name, tf, fake_vendor, monkeypatch):
    """A device function, with several ranks too, is the vendor's where it can be imported."""
    monkeypatch.setenv("RANK_SIZE", "8")
    FUNCTIONS[name](submodules())
    assert [name] == [call[0] for call in fake_vendor]


NEED_THE_DEVICE = [
    "npu_ops.npu_onnx_graph_op",
    "hccl_ops.send",
    "npu_plugin.set_device_sat_mode",
    "npu_unary_ops.get_next",
    "npu_cpu_ops.embedding_local_index",
    "util.fair_division",
]


@pytest.mark.parametrize("name", NEED_THE_DEVICE)
def test_without_the_vendor(name, tf):
    """What truly needs the device raises when it is called, naming itself and the package."""
    with pytest.raises(RuntimeError) as caught:
        FUNCTIONS[name](submodules())
    assert "NPU850" in str(caught.value)
    assert "npu_bridge" in str(caught.value)
    assert name.rpartition(".")[2] in str(caught.value)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_with_a_broken_vendor(name, tf, broken_vendor):
    """A library that does not load is never replaced silently: the call raises with the reason."""
    with pytest.raises(RuntimeError, match="cannot open shared object file"):
        FUNCTIONS[name](submodules())


def test_a_broken_vendor_does_not_break_the_import(tf, broken_vendor):
    """Importing the drop-in warns of a library that does not load, and goes on."""
    sys.modules.pop("npu_config.npu_init", None)
    with pytest.warns(UserWarning, match="cannot open shared object file"):
        importlib.import_module("npu_config.npu_init")


@pytest.mark.parametrize("content", [(), ("notes.txt",), ("__init__.py",)], ids=str)
def test_a_folder_is_not_the_vendors(content, tf, monkeypatch, tmp_path):
    """A folder or an empty package called npu_bridge is not the vendor's."""
    from npu_config.tf1 import init_resource, vendor

    forget()
    package = tmp_path / "npu_bridge"
    package.mkdir()
    for name in content:
        (package / name).write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert not vendor.is_available()
    session, _ = init_resource()
    session.close()
    importlib.import_module("npu_bridge")
    assert not vendor.is_available()
    sys.modules.pop("npu_config.npu_init", None)
    assert importlib.import_module("npu_config.npu_init").tf is not None
    forget()


def test_the_session_keeps_our_patch(tf, fake_vendor):
    """The vendor's names are imported without its patch of the session."""
    from npu_config.tf1 import npu_ops, patch_sessions

    patch_sessions()
    npu_ops.LARS([1.0])
    tf.Session().close()


def test_isinstance_of_the_vendors_objects(tf, fake_vendor):
    """An object of the vendor's class counts as one of ours."""
    from npu_config.tf1 import FixedLossScaleManager, NPUOptimizer

    manager = FixedLossScaleManager(8)
    assert isinstance(manager, FixedLossScaleManager)
    assert not isinstance(manager, NPUOptimizer)


def test_resources(tf, fake_vendor):
    """``init_resource`` runs the vendor's operations and asks HCCL for the ranks."""
    import npu_config.tf1 as tf1

    session, shutdown = tf1.init_resource()
    tf1.shutdown_resource(session, shutdown)
    tf1.close_session(session)
    assert (
        tf1.get_npu_rank_id(),
        tf1.get_npu_rank_size(),
        tf1.get_npu_local_rank_id(),
        tf1.get_npu_local_rank_size(),
    ) == (5, 8, 1, 4)
    names = [call[0] for call in fake_vendor]
    assert {"npu_ops.initialize_system", "npu_ops.shutdown_system", "get_rank_id"} <= set(names)


def test_broadcast(tf, fake_vendor, monkeypatch):
    """With several ranks the hook broadcasts every trainable variable from the root."""
    from npu_config.tf1 import NPUBroadcastGlobalVariablesHook

    monkeypatch.setenv("RANK_SIZE", "2")
    model = Model(tf)
    tf.Variable(1.0, trainable=False, use_resource=False)
    hook = NPUBroadcastGlobalVariablesHook(0, 1)
    hook.begin()
    hook.begin()
    assert [("hccl_ops.broadcast", ([model.x], 0), {})] == fake_vendor
    with model.session() as session:
        hook.after_create_session(session, None)
        assert session.run(model.x) == 1.0


def test_broadcast_without_a_root(tf, fake_vendor, monkeypatch):
    """Several ranks and no root rank: the hook says so at begin."""
    from npu_config.tf1 import NPUBroadcastGlobalVariablesHook

    monkeypatch.setenv("RANK_SIZE", "2")
    with pytest.raises(TypeError, match="root_rank"):
        NPUBroadcastGlobalVariablesHook().begin()


def test_keras_callback(tensorflow, fake_vendor, monkeypatch):
    """The callback broadcasts the variables that Keras initialised, once."""
    from npu_config.tf1 import NPUBroadcastGlobalVariablesCallback

    tf = tensorflow.compat.v1
    monkeypatch.setenv("RANK_SIZE", "2")
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
        tf.keras.backend.set_session(session)
        callback = NPUBroadcastGlobalVariablesCallback(0)
        inputs, targets = numpy.ones([4, 2]), numpy.ones([4, 1])
        model.fit(inputs, targets, batch_size=2, verbose=0, callbacks=[callback])
    names = [call[0] for call in fake_vendor]
    assert names
    assert {"hccl_ops.broadcast"} == set(names)
    tf.keras.backend.set_session(None)


def test_keras_callback_without_the_vendor(tf, monkeypatch):
    """With several ranks and no vendor's library the callback raises before training."""
    from npu_config.tf1 import NPUBroadcastGlobalVariablesCallback

    monkeypatch.setenv("RANK_SIZE", "2")
    with pytest.raises(RuntimeError, match="npu_bridge"):
        NPUBroadcastGlobalVariablesCallback(0).on_train_begin()


def test_to_run_config(fake_vendor):
    """``NpuConfig.to_run_config`` gives the vendor's NPURunConfig, with its own nested objects."""
    import npu_config as npu

    config = npu.NpuConfig.from_dict(
        {
            "iterations_per_loop": 10,
            "enable_data_pre_proc": True,
            "enable_dump": True,
            "dump_path": "dump",
            "dump_mode": "all",
        }
    )
    made = config.to_run_config(model_dir="models")
    assert type(made).__module__ == "npu_bridge.estimator.npu.npu_config"
    assert (made.kwargs["model_dir"], made.kwargs["iterations_per_loop"]) == ("models", 10)
    dump = made.kwargs["dump_config"]
    assert type(dump).__module__ == "npu_bridge.estimator.npu.npu_config"
    assert True is dump.kwargs["enable_dump"]


def test_estimator_of_the_vendors_config(fake_vendor):
    """A configuration of the vendor's makes the vendor's Estimator."""
    from npu_bridge.estimator.npu.npu_config import NPURunConfig

    from npu_config.tf1 import NPUEstimator

    config = NPURunConfig()
    made = NPUEstimator("model_fn", config=config)
    assert type(made).__module__ == "npu_bridge.estimator.npu.npu_estimator"
    assert config is made.args[2]


def test_estimator_on_the_host(tf, fake_vendor, monkeypatch, tmp_path):
    """With the vendor's library there must be a job, and host calls go through its channels."""
    from npu_config.tf1 import NPUEstimator, NPUEstimatorSpec, NPURunConfig

    def model_fn(features, labels, mode):
        weight = tf.get_variable("w", [1], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(features * weight)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
            loss, tf.train.get_or_create_global_step()
        )
        return NPUEstimatorSpec(
            mode,
            loss=loss,
            train_op=train_op,
            host_call=(lambda value: tf.identity(value), [loss]),
        )

    config = NPURunConfig(model_dir=str(tmp_path), save_checkpoints_steps=0)
    with pytest.raises(ValueError, match="JOB_ID"):
        NPUEstimator(model_fn, config=config)
    monkeypatch.setenv("JOB_ID", "job1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = NPUEstimator(model_fn, config=config)
        estimator.train(lambda: tf.data.Dataset.from_tensors(([1.0], [1.0])), max_steps=1)
    names = [call[0] for call in fake_vendor]
    assert {
        "npu_ops.outfeed_enqueue_op",
        "npu_ops.outfeed_dequeue_op",
        "NPUInfeedOutfeedSessionHook",
        "NPULogOutfeedSessionHook",
    } <= set(names)
    (send,) = [call for call in fake_vendor if call[0] == "npu_ops.outfeed_enqueue_op"]
    assert send[2]["channel_name"] == "train"


def test_one_rank_without_the_vendor(tf):
    """With one rank, collective operations give their input back, and dropout is TensorFlow's."""
    tf1 = submodules()
    x = tf.constant([1.0, 2.0])
    found = [
        tf1.hccl_ops.allreduce(x, "sum"),
        tf1.hccl_ops.allgather(x, 1),
        *tf1.hccl_ops.broadcast([x], 0),
        tf1.hccl_ops.reduce(x, "sum", 0),
        tf1.hccl_ops.reduce_scatter(x, "sum", 1),
    ]
    with tf.Session() as session:
        found = session.run(found)
    assert all(each.tolist() == [1.0, 2.0] for each in found)
    assert tf1.npu_ops.dropout(x, 1.0) is x
    assert tf1.npu_ops.dropout(x, 0.5, seed=1).shape.as_list() == [2]
    with tf1.scoped_graph_manager.ScopedGraphManager():
        pass
    assert (tf1.hccl.get_rank_id(), tf1.hccl.get_rank_size()) == (0, 1)
    assert tf1.npu_strategy.NPUStrategy().num_replicas_in_sync == 1


def test_several_ranks_without_the_vendor(tf, monkeypatch):
    """With several ranks they raise."""
    tf1 = submodules()
    monkeypatch.setenv("RANK_SIZE", "2")
    x = tf.constant([1.0, 2.0])
    for call in (
        lambda: tf1.hccl_ops.allreduce(x, "sum"),
        lambda: tf1.hccl_ops.broadcast([x], 0),
        lambda: tf1.npu_strategy.NPUStrategy(),
    ):
        with pytest.raises(RuntimeError, match="2 ranks"):
            call()


@pytest.mark.parametrize(
    "arguments", [([1, 2], 0.5), ([1.0], 0), ([1.0], 1.5), ([1.0], -0.1)], ids=repr
)
def test_dropout_refuses(arguments, tf):
    """Integers, and shares that are none, are refused."""
    from npu_config.tf1 import npu_ops

    with pytest.raises(ValueError, match="NPU867"):
        npu_ops.dropout(*arguments)


def test_dynamic_rnn(tf):
    """Without the vendor the network is unrolled over the first axis."""
    from npu_config.tf1 import npu_rnn

    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    outputs, state = npu_rnn.npu_dynamic_rnn(cell, tf.zeros([3, 2, 5]), dtype=tf.float32)
    assert outputs.shape.as_list() == [3, 2, 4]
    assert state.shape.as_list() == [2, 4]


def test_strategy_of_another_device(tf):
    """Another device than the host is refused."""
    from npu_config.tf1.npu_strategy import NPUStrategy

    with pytest.raises(ValueError, match="NPU859"):
        NPUStrategy("/gpu:0")
