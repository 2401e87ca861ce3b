"""Sessions that record what they run with, on TensorFlow: every way in which they are made."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import npu_config
from tests.runner import copies

pytestmark = pytest.mark.tensorflow

SESSIONS = """
import sys

import numpy as np
import tensorflow as tf

from npu_bridge.npu_init import *

tf = tf.compat.v1
tf.disable_v2_behavior()


def proto(seconds):
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    entry.parameter_map["hccl_timeout"].i = seconds
    return config


def step():
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


with tf.Graph().as_default():
    train = step()
    with tf.Session(config=proto(1)) as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
with tf.Graph().as_default():
    train = step()
    with tf.train.MonitoredTrainingSession(config=proto(2)) as session:
        session.run(train)


def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.layers.dense(features, 1))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return NPUEstimatorSpec(mode, loss=loss, train_op=train)


def data():
    return tf.data.Dataset.from_tensors(([[1.0]], [[1.0]])).repeat()


estimator = NPUEstimator(model_fn, config=NPURunConfig(hccl_timeout=3), model_dir=sys.argv[1])
estimator.train(data, steps=2)
if sys.argv[2] == "keras":
    with tf.Graph().as_default():
        session = set_keras_session_npu_config(config=proto(4))
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
        model.compile("sgd", "mse")
        model.fit(np.ones((1, 1)), np.ones((1, 1)), verbose=0)
        session.close()
sys.exit(3)
"""
RANK = """
import tensorflow as tf

from npu_bridge.npu_init import *

tf = tf.compat.v1
tf.disable_v2_behavior()
config = tf.ConfigProto()
entry = config.graph_options.rewrite_options.custom_optimizers.add()
entry.name = "NpuOptimizer"
entry.parameter_map["hccl_timeout"].i = 5
with tf.Session(config=config) as session:
    session.run(tf.constant(1))
"""


ENVIRON = {
    **os.environ,
    "PYTHONPATH": str(Path(npu_config.__file__).parents[1]),
    "NPU_CONFIG_RECORD": "records",
}
"""Processes record their sessions in ``records``."""


def plain(words, folder, environ):
    """What a new Python does, which has no record yet, and ends by itself."""
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=str(folder), env=environ, stdout=-1, stderr=-1)


def records(folder):
    """Name to content of the records of a folder."""
    found = (folder / "records").glob("*.json")
    return {path.name: json.loads(path.read_text()) for path in sorted(found)}


def test_every_kind_of_session_records_itself(tmp_path):
    """Through ``run``, through the plain drop-in, and as two ranks; with the end of each."""
    ways = {
        "run": ["run", "--set", "op_wait_timeout=66", "job.py", "m", "keras"],
        "plain": ["job.py", "m", "keras"],
        "ranks": ["run", "--ranks", "2", "rank.py"],
    }
    ended = {}
    for way, words in ways.items():
        (tmp_path / way).mkdir()
        text = SESSIONS.replace("npu_bridge", "npu_config") if way == "plain" else SESSIONS
        (tmp_path / way / "job.py").write_text(text)
        (tmp_path / way / "rank.py").write_text(RANK)
        program = plain if way == "plain" else copies.run
        ended[way] = program(words, tmp_path / way, environ=ENVIRON)
    for way in ("run", "plain"):
        found = records(tmp_path / way)
        assert ended[way].returncode == 3, ended[way].stderr.decode()[-2000:]
        timeouts = [each["options"].get("hccl_timeout") for each in found.values()]
        assert sorted(t for t in timeouts if t) == [1, 2, 3, 4]
        assert "npu_config.json" in found
        assert all(each["end"]["exit"] == 3 for each in found.values())
        assert all(each["script"]["path"].endswith("job.py") for each in found.values())
        waits = {each["options"].get("op_wait_timeout") for each in found.values()}
        assert waits == ({66} if way == "run" else {None})
    found = records(tmp_path / "ranks")
    assert ended["ranks"].returncode == 0, ended["ranks"].stderr.decode()[-2000:]
    assert {name: each["rank"] for name, each in found.items()} == {
        "npu_config.json": 0,
        "npu_config.rank1.json": 1,
    }
    assert all(each["options"]["hccl_timeout"] == 5 for each in found.values())
    assert all(each["end"]["exit"] == 0 for each in found.values())


def test_hook(tf, tmp_path, npu_proto, monkeypatch, caplog):
    """It records when the session is created, and shows the options in TensorBoard."""
    from npu_config.records import writing

    monkeypatch.setattr(writing, "_WRITTEN", {})
    monkeypatch.setattr(writing, "_watch_the_end", lambda: None)
    step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
    writer = tf.summary.FileWriter(str(tmp_path / "events"))
    hook = npu_config.ConfigRecordHook(str(tmp_path / "ckpt"), summary_writer=writer)
    config = npu_proto(hccl_timeout=1800, precision_mode="a|b")
    with tf.train.MonitoredTrainingSession(config=config, hooks=[hook]) as session:
        session.run(step)
    writer.close()
    assert hook.path == str(tmp_path / "ckpt" / "npu_config.json")
    found = json.loads(Path(hook.path).read_text())
    assert found["options"] == {"hccl_timeout": 1800, "precision_mode": "a|b"}
    assert found["tensorflow"].startswith(("1.", "2."))
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    (path,) = (tmp_path / "events").glob("*tfevents*")
    events = loader.EventFileLoader(str(path)).Load()
    values = [value for event in events for value in event.summary.value]
    (text,) = [value for value in values if value.tag == "npu_config"]
    assert text.metadata.plugin_data.plugin_name == "text"
    table = text.tensor.string_val[0].decode().splitlines()
    assert table[2].startswith("| hccl_timeout | 1800 |")
    assert table[3].startswith("| precision_mode | a\\|b |")


def test_what_cannot_be_written_ends_no_job(tf, tmp_path, npu_proto, monkeypatch):
    """A warning, and the session is there."""
    from npu_config import tf1

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NPU_CONFIG_RECORD", str(tmp_path / "file"))
    with tf1.npu_session(npu_proto(hccl_timeout=5)) as session:
        assert session.run(tf.constant(3)) == 3


def test_with_the_vendors_package(tmp_path):
    """On the NPU host the drop-in's sessions record themselves all the same."""
    stand_in = Path(__file__).parent / "fake_vendor"
    text = "import sys\nsys.path.insert(0, {!r})\n".format(str(stand_in)) + RANK.replace(
        "npu_bridge", "npu_config"
    )
    (tmp_path / "rank.py").write_text(text)
    ended = plain(["rank.py"], tmp_path, ENVIRON)
    assert ended.returncode == 0, ended.stderr.decode()[-2000:]
    assert records(tmp_path)["npu_config.json"]["options"] == {"hccl_timeout": 5}
