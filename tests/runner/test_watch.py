"""Scripts with sessions: modules served, loops made, runs counted, configurations seen."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
import yaml

pytest.importorskip("tensorflow")
pytest.importorskip("click")

pytestmark = pytest.mark.tensorflow

SCRIPT = """
    import os
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    from npu_bridge.npu_init import *
    from npu_bridge.estimator.npu import util
    x = tf.Variable(1.0, use_resource=False)
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(x), global_step=step)
    config = tf.ConfigProto()
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    entry.parameter_map["iterations_per_loop"].i = 10
    entry.parameter_map["enable_data_pre_proc"].b = True
    entry.parameter_map["presicion_mode"].s = b"force_fp16"
    with tf.Session(config=config) as session:
        looped = util.set_iteration_per_loop(session, train, 10)
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(looped)
        print("step", session.run(step), "rank", os.environ["RANK_ID"])
    open("done", "w").close()
"""


def run(tmp_path, *arguments):
    """``npu-config run`` of the script: exit code, output, report."""
    (tmp_path / "train.py").write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    environ = {name: value for name, value in os.environ.items() if name[:5] != "RANK_"}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-m", "npu_config", "run", "--report", "report.json", *arguments]
    done = subprocess.run(
        [*command, "train.py"], cwd=str(tmp_path), capture_output=True, env=environ
    )
    assert done.returncode == 0, done.stderr.decode()
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    return done.stdout.decode(), report


def counts(report):
    """Runs and steps of the one session."""
    (session,) = report["sessions"]
    return session["runs"], session["steps"]


def test_loops_of_the_device(tmp_path):
    """Each run makes the steps of a loop; what was seen is in the report."""
    output, report = run(tmp_path)
    assert "step 40 rank 0\n" in output
    assert counts(report) == (4, 40)
    assert report["ended"] == "finished"
    assert "RANK_ID" in report["environment"]
    assert [name for name in report["files"] if name == "done"] == ["done"]
    (session,) = report["sessions"]
    assert session["options"]["iterations_per_loop"] == 10
    assert session["path"].endswith("train.py")
    assert "NPU101" in {found["rule"] for found in session["findings"]}


def test_one_step_for_each_run(tmp_path):
    """``--loops once`` makes one step in each run."""
    output, report = run(tmp_path, "--loops", "once")
    assert "step 4 rank 0\n" in output
    assert counts(report) == (4, 4)


def test_steps(tmp_path):
    """``--steps`` ends the script after so many runs; initialisation does not count."""
    output, report = run(tmp_path, "--steps", "3")
    assert "step" not in output
    assert (report["ended"], counts(report)) == ("steps", (3, 30))


def test_dry_run(tmp_path):
    """``--dry-run`` prints what sessions are configured with, and trains nothing."""
    output, report = run(tmp_path, "--dry-run")
    printed = yaml.safe_load(output)
    assert report == printed
    assert (report["ended"], counts(report)) == ("dry-run", (0, 0))
    assert not (tmp_path / "done").exists()
