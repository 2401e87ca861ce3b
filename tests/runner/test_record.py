"""The record of a run: every finding, whatever Python's warning filters say."""

import json
import textwrap

import pytest

pytest.importorskip("tensorflow")
pytest.importorskip("click")

from tests.runner import copies

pytestmark = pytest.mark.tensorflow

HEAD = """
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
    {silence}
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
"""
NO_LOOP = """
    with tf.Session(config=config) as session:
        session.run(tf.global_variables_initializer())
        {run}
"""
SILENCES = [
    "",
    "import warnings; warnings.filterwarnings('ignore')",
    "import warnings; warnings.simplefilter('ignore', UserWarning)",
    "import warnings; warnings.warn = lambda *a, **k: None",
    "import warnings; warnings.showwarning = lambda *a, **k: None",
]
KERAS = """
    import numpy as np
    tf.keras.backend.set_session(tf.Session(config=config))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_dim=2)])
    model.compile("sgd", "mse")
    {run}
"""


def run(tmp_path, text, *options, silence=""):
    """The lines of the closing list, all errors, and the report."""
    source = textwrap.dedent(HEAD.format(silence=silence)) + textwrap.dedent(text)
    (tmp_path / "train.py").write_text(source, encoding="utf-8")
    words = ["run", "--report", "seen.json", "--overwrite", *options, "train.py"]
    done = copies.run(words, tmp_path)
    errors = done.stderr.decode()
    told = [line for line in errors.splitlines() if line.startswith("npu-config run: ")]
    report = json.loads((tmp_path / "seen.json").read_text(encoding="utf-8"))
    return told, errors, report


def lines_of(report, rule):
    """Where a rule is found, in the whole report."""
    return [each["line"] for each in report["findings"] if each["rule"] == rule]


@pytest.mark.parametrize(
    "silence",
    [pytest.param(each, marks=pytest.mark.further) for each in SILENCES[:-1]] + SILENCES[-1:],
)
def test_filters_hide_nothing(tmp_path, silence):
    """NPU886 is in the closing list and the report, once, at the line of the script."""
    told, _, report = run(tmp_path, NO_LOOP.format(run="session.run(train)"), silence=silence)
    assert lines_of(report, "NPU886") == [18]
    assert sum("train.py:18: warning: " in line and "NPU886" in line for line in told) == 1


def test_a_hidden_warning_is_logged(tmp_path):
    """At once, where a filter for all warnings hides it; not, where it was meant."""
    body = NO_LOOP.format(run="session.run(train); print('trained', flush=True)")
    _, errors, _ = run(tmp_path, body, silence=SILENCES[1])
    assert errors.count("NPU886") == 2
    ours = "import warnings; from npu_config.tf1 import ConfigurationWarning as ours; "
    _, errors, _ = run(tmp_path, body, silence=ours + "warnings.simplefilter('ignore', ours)")
    assert errors.count("NPU886") == 1


@pytest.mark.parametrize(
    "call",
    [
        "session.make_callable(train)()",
        pytest.param(
            "session.partial_run(session.partial_run_setup([train], []), train)",
            marks=pytest.mark.further,
        ),
        pytest.param("train.run()", marks=pytest.mark.further),
    ],
)
def test_every_way_to_run(tmp_path, call):
    """Whatever runs the training step."""
    _, _, report = run(tmp_path, NO_LOOP.format(run=call))
    assert lines_of(report, "NPU886") == [18]


@pytest.mark.parametrize(
    "call",
    [
        "model.fit(np.ones((4, 2)), np.ones(4), verbose=0)",
        pytest.param(
            "model.train_on_batch(np.ones((4, 2)), np.ones(4))", marks=pytest.mark.further
        ),
    ],
)
def test_keras(tmp_path, call):
    """Keras trains one step in each run; the help names what makes loops."""
    _, _, report = run(tmp_path, KERAS.format(run=call), silence=SILENCES[1])
    assert len(lines_of(report, "NPU886")) == 1
    helps = [each["help"] for each in report["findings"] if each["rule"] == "NPU886"]
    assert "model_to_npu_estimator" in helps[0]


def test_a_refusal_that_is_caught(tmp_path):
    """NPU842 is kept though the script goes on; without that it is kept, too."""
    call = "util.set_iteration_per_loop(session, train, 5)"
    kept = "try:\n            {}\n        except Exception:\n            pass".format(call)
    for text, line in ((kept, 19), (call, 18)):
        _, _, report = run(tmp_path, NO_LOOP.format(run=text))
        assert [line] == lines_of(report, "NPU842")


def test_a_value_that_is_replaced(tmp_path):
    """An OverwrittenWarning is a finding like any other."""
    text = """
        import npu_config
        npu_config.NpuConfig({"iterations_per_loop": 5, "enable_data_pre_proc": True}
        ).to_config_proto(config)
    """
    told, _, report = run(tmp_path, text, silence=SILENCES[1])
    assert len(lines_of(report, "NPU8041")) == 1
    assert any("NPU8041" in line for line in told)


def test_ranks(tmp_path):
    """Equal findings of ranks are told once, others with their rank."""
    text = NO_LOOP.format(
        run="session.run(train)\n        import os\n        if os.environ['RANK_ID'] == '1':\n"
        "            config.graph_options.rewrite_options.custom_optimizers[0]."
        "parameter_map['presicion_mode'].s = b'x'\n            tf.Session(config=config).close()"
    )
    told, _, report = run(tmp_path, text, "--ranks", "2")
    (all_ranks,) = [each for each in report["findings"] if each["rule"] == "NPU886"]
    (one,) = [each for each in report["findings"] if each["rule"] == "NPU101"]
    assert (all_ranks["ranks"], one["ranks"]) == ([0, 1], [1])
    assert sum("NPU886" in line for line in told) == 1
    assert [line[:24] for line in told if "NPU101" in line] == ["npu-config run: rank 1: "]


def test_an_error_in_a_loop(tmp_path):
    """It says after how many iterations."""
    text = """
        count = []
        def fails():
            count.append(1)
            if len(count) == 4:
                raise ValueError("no more")
            return 1.0
        with tf.control_dependencies([tf.py_func(fails, [], tf.float64)]):
            both = tf.group(train)
        with tf.Session(config=config) as session:
            looped = util.set_iteration_per_loop(session, both, 10)
            session.run(tf.global_variables_initializer())
            session.run(looped)
    """
    _, errors, report = run(tmp_path, text)
    assert report["exit_code"] == 1
    assert "(after 3 of 10 iterations of a loop: these have trained" in errors


def test_names_of_npu_ops(tmp_path):
    """What the vendor's modules do not have is no attribute; what they have is one."""
    text = """
        for module, name in ((npu_ops, "dropout"), (npu_ops, "outfeed_enqueue_op"),
                             (npu_cpu_ops, "warp_affine_v2"), (npu_plugin, "npu_resource_init"),
                             (npu_unary_ops, "get_next"), (util, "fair_division")):
            assert hasattr(module, name), name
        for module in (npu_ops, npu_cpu_ops, npu_plugin, npu_strategy, npu_rnn, hccl_ops, util,
                       profiler, scoped_graph_manager):
            assert not hasattr(module, "anything"), module
    """
    _, errors, report = run(tmp_path, text)
    assert report["exit_code"] == 0, errors
