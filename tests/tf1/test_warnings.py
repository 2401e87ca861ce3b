"""Warnings point at the line of the script, also where TensorFlow makes the session."""

import contextlib
import inspect
import warnings

import pytest

pytestmark = pytest.mark.tensorflow


@contextlib.contextmanager
def one_line():
    """Every warning of ours in the block points into the block's file, at the marked line."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    ours = [entry for entry in found if type(entry.message).__name__ == "ConfigurationWarning"]
    assert ours
    with open(__file__, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    for entry in ours:
        assert __file__ == entry.filename
        assert "# here" in lines[entry.lineno - 1]


def in_supervisor(tf, config):
    """A session that tf.train.Supervisor makes."""
    supervisor = tf.train.Supervisor(logdir=None, saver=None, summary_op=None)
    with supervisor.managed_session(config=config):  # here
        pass


def in_monitored(tf, config):
    """A session that MonitoredTrainingSession makes."""
    with tf.train.MonitoredTrainingSession(config=config):  # here
        pass


def in_session(tf, config):
    """A plain session."""
    tf.Session(config=config).close()  # here


def in_wrapper(tf, config):
    """A session of this package, for a block."""
    from npu_config.tf1 import npu_session

    with npu_session(config):  # here
        pass


def in_init_resource(tf, config):
    """The session that holds the device."""
    from npu_config.tf1 import init_resource

    init_resource(config)[0].close()  # here


@pytest.mark.parametrize(
    "make", [in_supervisor, in_monitored, in_session, in_wrapper, in_init_resource]
)
def test_sessions(make, tf, npu_proto):
    """A misspelt option is reported where the script makes its session."""
    from npu_config.tf1 import patch_sessions

    patch_sessions()
    tf.train.get_or_create_global_step()
    with one_line():
        make(tf, npu_proto(precision_modee="allow_mix_precision"))


def test_notes_are_no_warnings(tf, npu_proto):
    """What is advice, or behaviour worth knowing, does not drown what is wrong."""
    from npu_config.tf1 import patch_sessions

    patch_sessions()
    config = npu_proto(enable_dump=True, dump_path="/home/test/output", precision_modee="x")
    config.graph_options.rewrite_options.memory_optimization = 2
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tf.Session(config=config).close()
    ours = [str(w.message) for w in found if type(w.message).__name__ == "ConfigurationWarning"]
    assert [text for text in ours if "NPU101" in text]
    assert [text for text in ours if text.startswith("info") or "NPU804" in text] == []


def test_run_config(tf, tmp_path):
    """NPURunConfig and NPUEstimator point at their calls."""
    from npu_config.tf1 import NPURunConfig

    with one_line():
        NPURunConfig(train_distribute=object(), model_dir=str(tmp_path))  # here


def test_a_stack_of_frameworks_only(monkeypatch):
    """Without a frame of the user, the innermost one that is not of the package is named."""
    from npu_config.core.calls import caller_level

    names = {frame.frame.f_globals.get("__name__", "").split(".")[0] for frame in inspect.stack()}
    assert caller_level() == 1
    assert caller_level(*names) == 1
    assert caller_level("tests") > 1
