"""TensorFlow's graph mode for the tests of the training side, and a clean world around each."""

import os

import pytest

from tests.tf1.support import Model

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

VARIABLES = (
    "CM_WORKER_SIZE",
    "JOB_ID",
    "LOSS_NOW",
    "RANK_ID",
    "RANK_SIZE",
    "RANK_TABLE_FILE",
    "STEP_NOW",
    "TARGET_LOSS",
    "TF_CONFIG",
    "TOTAL_STEP",
)


@pytest.fixture(scope="session", name="tensorflow")
def _tensorflow():
    module = pytest.importorskip("tensorflow")
    module.compat.v1.logging.set_verbosity("ERROR")
    return module


@pytest.fixture
def tf(tensorflow):
    """``tf.compat.v1`` in a graph of its own."""
    interface = tensorflow.compat.v1
    with interface.Graph().as_default():
        yield interface


@pytest.fixture
def model(tf):
    """A model in the default graph."""
    return Model(tf)


@pytest.fixture
def npu_proto(tf):
    """Makes a ConfigProto with an NpuOptimizer that sets the given options."""

    def make(**options):
        config = tf.ConfigProto()
        entry = config.graph_options.rewrite_options.custom_optimizers.add()
        entry.name = "NpuOptimizer"
        for name, value in options.items():
            field = "b" if isinstance(value, bool) else "i" if isinstance(value, int) else "s"
            content = value.encode() if isinstance(value, str) else value
            setattr(entry.parameter_map[name], field, content)
        return config

    return make


@pytest.fixture(autouse=True)
def _clean_world(request, monkeypatch):
    """No rank variables, and session classes as TensorFlow made them."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield
    if request.node.get_closest_marker("tensorflow"):
        from npu_config.tf1.session import unpatch_sessions

        unpatch_sessions()
