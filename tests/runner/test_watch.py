"""Scripts with sessions: modules served, loops made, runs counted, configurations seen."""

import json
import os
import textwrap

import pytest
import yaml

pytest.importorskip("tensorflow")
pytest.importorskip("click")

from tests.runner import copies

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


def start(tmp_path, *arguments, text=SCRIPT, new=False):
    """``npu-config run`` of a script."""
    (tmp_path / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    words = ["run", "--report", "report.json", *arguments, "train.py"]
    return copies.run(words, tmp_path, new)


def run(tmp_path, *arguments, text=SCRIPT, new=False):
    """``npu-config run`` of a script that ends well: its output, the report."""
    done = start(tmp_path, *arguments, text=text, new=new)
    assert done.returncode == 0, done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    return done.stdout.decode(), report


def counts(report):
    """Runs and steps of the one session."""
    (session,) = report["sessions"]
    return session["runs"], session["steps"]


def test_loops_of_the_device(tmp_path):
    """Each run makes the steps of a loop; what was seen is in the report."""
    output, report = run(tmp_path, new=True)
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
    (tmp_path / "report.json").unlink()
    assert "remove --loops once" in start(tmp_path, "--loops", "once").stderr.decode()


@pytest.mark.parametrize(("option", "steps"), [([], 4), (["--loops", "device"], 40)])
def test_the_setting_of_the_environment(tmp_path, monkeypatch, option, steps):
    """``NPU_CONFIG_LOOPS`` counts where the option is absent."""
    monkeypatch.setenv("NPU_CONFIG_LOOPS", "once")
    assert counts(run(tmp_path, *option)[1]) == (4, steps)


def test_steps(tmp_path):
    """``--steps`` ends the script after so many runs; initialisation does not count."""
    output, report = run(tmp_path, "--steps", "3")
    assert "step" not in output
    assert (report["ended"], counts(report)) == ("steps", (3, 30))


def test_what_the_terminal_shows(tmp_path):
    """The findings of each session, the variables that were set, and why the script ended."""
    errors = start(tmp_path, "--steps", "3").stderr.decode().splitlines()
    told = [line[len("npu-config run: ") :] for line in errors if line[:15] == "npu-config run:"]
    assert "train.py:" in told[0]
    assert "NPU101" in "".join(told)
    assert "RANK_ID=0" in told[-2]
    assert told[-1] == "stopped after 3 session runs with 30 training steps"


NEVER_MIGRATED = """
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    {}
    x = tf.Variable(1.0)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(x))
    with tf.Session(config=tf.ConfigProto()) as session:
        session.run(x.initializer)
        {}
"""


@pytest.mark.parametrize("mode", ["--dry-run", pytest.param("--force", marks=pytest.mark.further)])
@pytest.mark.parametrize(
    ("imports", "run", "told"),
    [
        ("", "session.run(train)", True),
        ("", "session.run(x + 1)", False),
        ("import npu_bridge", "session.run(train)", False),
    ],
)
def test_a_script_that_was_never_migrated(tmp_path, mode, imports, run, told):
    """One that trains on the CPU and imports nothing of the vendor's is told of migrate."""
    done = start(tmp_path, mode, text=NEVER_MIGRATED.format(imports, run))
    assert done.returncode == 0, done.stderr.decode()
    assert told == ("npu-config migrate train.py" in done.stderr.decode())
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert bool(imports) == ("npu_bridge" in report["modules"])


FAILS = """
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    from npu_bridge.npu_init import *
    with tf.Session(config=npu_config_proto()) as session:
        session.run({3})
"""

UNFED = """
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    from npu_bridge.npu_init import *
    with tf.Session(config=npu_config_proto()) as session:
        session.run(tf.placeholder(tf.float32, name="fed") + 1)
"""


def test_the_traceback_of_a_run_is_that_of_tensorflow(tmp_path):
    """What watches the sessions does not show in it."""
    done = start(tmp_path, text=FAILS, new=True)
    assert done.returncode == 1
    errors = done.stderr.decode()
    assert 'train.py", line 6' in errors
    assert "RuntimeError" in errors
    assert os.path.join("npu_config", "runner") not in errors


def test_the_stack_of_an_operation_begins_at_the_script(tmp_path):
    """TensorFlow prints where an operation was made, without what runs the script."""
    done = start(tmp_path, text=UNFED, new=True)
    assert done.returncode == 1
    errors = done.stderr.decode()
    where = errors[errors.index("riginal stack trace" if "riginal" in errors else "efined at") :]
    assert "train.py" in where
    assert [line for line in where.splitlines() if "click" in line or "runner" in line] == []


def test_dry_run_checks_the_environment(tmp_path):
    """Variables of the job that the script or the user sets wrongly are among the findings."""
    text = "import os\nos.environ['RANK_SIZE'] = '8'\nos.environ['RANK_ID'] = '9'\n"
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    done = copies.run(["run", "--dry-run", "train.py"], tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    found = {each["rule"] for each in yaml.safe_load(done.stdout)["findings"]}
    assert found == {"NPU672", "NPU676", "NPU678"}


def test_dry_run(tmp_path):
    """``--dry-run`` prints what sessions are configured with, and trains nothing.

    What a comment silences is not found in a session, either.
    """
    text = SCRIPT.replace('force_fp16"', 'force_fp16"  # npu: ignore[NPU101]')
    output, report = run(tmp_path, "--dry-run", text=text)
    printed = yaml.safe_load(output)
    assert report == printed
    assert "NPU101" not in {each["rule"] for each in report["findings"]}
    assert (report["ended"], counts(report)) == ("dry-run", (0, 0))
    assert not (tmp_path / "done").exists()


KERAS = """
    import numpy as np
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    from npu_bridge.npu_init import *
    session = set_keras_session_npu_config()
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_dim=2)])
    model.compile("sgd", "mse")
    model.fit(np.ones((8, 2)), np.ones(8), batch_size=2, epochs=2)
    print("trained")
"""


def test_keras_trains_in_runs_too(tmp_path):
    """Keras calls a session through callables: they are counted, stopped, and dry."""
    whole, report = run(tmp_path, text=KERAS)
    assert "trained" in whole
    assert (report["ended"], *counts(report)) == ("finished", 8, 8)
    (tmp_path / "report.json").unlink()
    stopped, report = run(tmp_path, "--steps", "3", text=KERAS)
    assert "trained" not in stopped
    assert (report["ended"], *counts(report)) == ("steps", 3, 3)
    (tmp_path / "report.json").unlink()
    _, report = run(tmp_path, "--dry-run", text=KERAS)
    assert (report["ended"], *counts(report)) == ("dry-run", 0, 0)


CALLABLE = SCRIPT.replace(
    "        for _ in range(4):\n            session.run(looped)",
    "        step_of = session.make_callable(looped)\n        for _ in range(4):\n"
    "            step_of()",
)


def test_callables_of_a_loop(tmp_path):
    """A callable that reaches a loop is one run of n steps."""
    _, report = run(tmp_path, text=CALLABLE)
    assert counts(report) == (4, 40)
    (tmp_path / "report.json").unlink()
    _, report = run(tmp_path, "--steps", "2", text=CALLABLE)
    assert (report["ended"], counts(report)) == ("steps", (2, 20))


QUEUES = """
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    from npu_bridge.npu_init import *
    x = tf.Variable(1.0, use_resource=False)
    value, = tf.train.batch([tf.random_uniform([])], batch_size=2),
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(value) * x)
    with tf.train.MonitoredTrainingSession(config=npu_config_proto()) as session:
        for _ in range(8):
            session.run(train)
"""


def test_threads_that_fill_queues(tmp_path):
    """Their runs do not count, and the end of the script leaves them no traceback."""
    _, report = run(tmp_path, "--steps", "3", text=QUEUES)
    assert report["ended"] == "steps"
    assert sum(each["runs"] for each in report["sessions"]) == 3


SUPERVISOR = """
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    from npu_bridge.npu_init import *
    x = tf.Variable(1.0, use_resource=False)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(x))
    supervisor = tf.train.Supervisor(logdir=None)
    with supervisor.managed_session(config=npu_config_proto()) as session:
        session.run(train)
"""


def test_the_place_of_a_session_that_tensorflow_makes(tmp_path):
    """It is the script's line, also where a context manager stands between."""
    _, report = run(tmp_path, text=SUPERVISOR)
    (session,) = report["sessions"]
    assert os.path.basename(session["path"]) == "train.py"
    assert (session["line"], session["steps"]) == (8, 1)
