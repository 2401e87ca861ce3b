"""The table of public networks, and what counts as a network that runs."""

import re
import shlex

import pytest

tool = pytest.importorskip("tools.networks")  # which needs PyYAML
TRAINED = {"sessions": [{"steps": 3}, {"steps": 0}]}


def test_every_row_is_complete():
    """Names are unique; a failure has a fault and a reason; a network that runs has no fault."""
    table = tool.networks()
    assert len(table) == len({each.name for each in table})
    for each in table:
        assert re.match(r"[\w.-]+/[\w.-]+\Z", each.repository), each.name
        assert re.match(r"[0-9a-f]{40}\Z", each.commit), each.name
        if each.outcome == "runs":
            assert not each.fault, each.name
        else:
            assert each.outcome == "fails"
            assert each.fault in ("script", "dependency", "tensorflow", "ours"), each.name
            assert each.reason, each.name


def test_the_data_of_every_row_can_be_made():
    """Each line names a kind, a path below the copy, and values."""
    kinds = pytest.importorskip("tools.synthetic.kinds")
    for each in tool.networks():
        for line in each.data:
            kind, path, *values = shlex.split(line)
            assert kind in kinds.KINDS, each.name
            assert not path.startswith(("/", "..")), each.name
            assert all("=" in value for value in values), each.name


def test_thirty_run():
    """At least thirty networks run, of every idiom that scripts for the NPU use."""
    running = [each for each in tool.networks() if each.outcome == "runs"]
    assert len(running) >= 30
    idioms = " ".join(each.idiom for each in running)
    for idiom in (
        *("plain session", "Keras", "Estimator", "NPUEstimator", "Supervisor"),
        *("MonitoredTrainingSession", "iterations_per_loop", "loss scaling", "broadcast"),
        *("NPUDistributedOptimizer", "Horovod"),
    ):
        assert idiom in idioms, idiom


@pytest.mark.parametrize(
    ("printed", "code", "seen", "runs", "loss"),
    [
        (b"loss: 0.5", 0, TRAINED, True, 0.5),
        (b"Epoch 1 loss = 2.0e-3 acc 1", 0, TRAINED, True, 0.002),
        (b"total_loss: 3 loss_scale: 65536", 0, TRAINED, True, 3.0),
        (b"nothing", 0, TRAINED, True, None),
        (b"loss: nan", 0, TRAINED, False, None),
        (b"loss: 0.5", 1, TRAINED, False, 0.5),
        (b"loss: 0.5", None, TRAINED, False, 0.5),
        (b"loss: 0.5", 0, {"sessions": [{"steps": 0}]}, False, 0.5),
        (b"", 0, {}, False, None),
    ],
)
def test_what_counts_as_running(printed, code, seen, runs, loss):
    """Exit code 0, training steps, and a last loss, if one is printed, that is finite."""
    outcome = tool.judge(printed, code, seen, 1.0)
    assert outcome.runs is runs
    assert outcome.loss == loss or loss is None


def test_what_a_failure_says():
    """The last line that is not of the command itself."""
    printed = b"Traceback\nKeyError: 'x'\nnpu-config run: set for one rank: RANK_ID=0\n"
    assert tool.judge(printed, 1, {}, 1.0).said == "KeyError: 'x'"
    assert tool.judge(printed, None, {}, 1.0).said == "took too long"


SCRIPT = """
import os
import numpy
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
from npu_bridge.npu_init import *
assert os.environ["EXTRA"] == "1"
x = tf.get_variable("x", initializer=numpy.load("data/x.npy"))
loss = tf.reduce_sum(x * x)
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session(config=npu_config_proto()) as session:
    session.run(tf.global_variables_initializer())
    for _ in range(10):
        print("loss:", session.run([loss, train])[0], flush=True)
"""


@pytest.mark.tensorflow
def test_a_network_is_run(tmp_path):
    """Its folder is copied, the data are made beside it, and the original stays as it was."""
    pytest.importorskip("tensorflow")
    folder = tmp_path / "owner" / "name" / "net"
    folder.mkdir(parents=True)
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    network = tool.Network(
        name="net",
        repository="owner/name",
        commit="0" * 40,
        folder="net",
        script="train.py",
        idiom="plain session",
        data=["npy data/x.npy array=float@3"],
        environment={"EXTRA": "1"},
        steps=4,
    )
    outcome = tool.run(network, tmp_path, 300, tmp_path / "log")
    assert (outcome.runs, outcome.steps) == (True, 4), (tmp_path / "log").read_text()
    assert outcome.loss is not None
    assert [each.name for each in folder.iterdir()] == ["train.py"]
