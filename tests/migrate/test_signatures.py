"""What makes sessions is read by position, too, as TensorFlow 1.15 takes it."""

import inspect

import pytest

import npu_config
from npu_config.script.vocabulary import SESSIONS

HEAD = """\
import tensorflow as tf
import tensorflow.contrib.slim as slim
from tensorflow.contrib import training
sv = tf.train.Supervisor()
sm = tf.train.SessionManager()
"""
SESSION = "target graph config"
CREATOR = "scaffold master config"
METHOD = "master config"
SIGNATURES = {
    "tf.Session": SESSION,
    "tf.InteractiveSession": SESSION,
    "tf.train.MonitoredTrainingSession": "master is_chief checkpoint_dir scaffold hooks "
    "chief_only_hooks save_checkpoint_secs save_summaries_steps save_summaries_secs config",
    "tf.train.ChiefSessionCreator": CREATOR,
    "tf.train.WorkerSessionCreator": CREATOR,
    "tf.train.SingularMonitoredSession": "hooks " + CREATOR,
    "slim.learning.train": "train_op logdir train_step_fn train_step_kwargs log_every_n_steps "
    "graph master is_chief global_step number_of_steps init_op init_feed_dict local_init_op "
    "init_fn ready_op summary_op save_summaries_secs summary_writer startup_delay_steps saver "
    "save_interval_secs sync_optimizer session_config",
    "slim.evaluation.evaluate_once": "master checkpoint_path logdir num_evals initial_op "
    "initial_op_feed_dict eval_op eval_op_feed_dict final_op final_op_feed_dict summary_op "
    "summary_op_feed_dict variables_to_restore session_config",
    "slim.evaluation.evaluation_loop": "master checkpoint_dir logdir num_evals initial_op "
    "initial_op_feed_dict init_fn eval_op eval_op_feed_dict final_op final_op_feed_dict "
    "summary_op summary_op_feed_dict variables_to_restore eval_interval_secs "
    "max_number_of_evaluations session_config",
    "training.train": "train_op logdir master is_chief scaffold hooks chief_only_hooks "
    "save_checkpoint_secs save_summaries_steps config",
    "training.evaluate_once": "checkpoint_path master scaffold eval_ops feed_dict final_ops "
    "final_ops_feed_dict hooks config",
    "training.evaluate_repeatedly": "checkpoint_dir master scaffold eval_ops feed_dict "
    "final_ops final_ops_feed_dict eval_interval_secs hooks config",
    "sv.managed_session": METHOD,
    "sv.prepare_or_wait_for_session": METHOD,
    "sm.prepare_session": "master init_op saver checkpoint_dir checkpoint_filename_with_path "
    "wait_for_checkpoint max_wait_secs config",
    "sm.recover_session": "master saver checkpoint_dir checkpoint_filename_with_path "
    "wait_for_checkpoint max_wait_secs config",
    "sm.wait_for_session": METHOD,
}
"""What makes a session, and its arguments up to the configuration."""


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_by_position(name):
    """The configuration is wrapped where it stands; a master of its own leaves the call alone."""
    names = SIGNATURES[name].split()
    master = next(each for each in ("master", "target") if each in names)
    for value, wrapped in (('""', True), ('"grpc://10.0.0.1:2222"', False)):
        written = [value if each == master else each for each in names]
        call = "{}({})\n".format(name, ", ".join(written))
        if wrapped:
            written[-1] = "npu_config_proto(config_proto={})".format(written[-1])
        text = npu_config.migrate(HEAD + call).text
        assert text.endswith("\n{}({})\n".format(name, ", ".join(written)))


@pytest.mark.parametrize("name", [name for name in SIGNATURES if name.split(".")[-1] in SESSIONS])
def test_configurations_by_position(name, tmp_path):
    """The check sees the configuration there, too: none that it does not know is passed over."""
    arguments = ["None"] * (len(SIGNATURES[name].split()) - 1) + ["config"]
    call = "session = {}({})\nsession.run(x)\n".format(name, ", ".join(arguments))
    path = tmp_path / "train.py"
    path.write_text(HEAD + "from npu_bridge.npu_init import *\nfrom made import config\n" + call)
    (found,) = [each for each in npu_config.check(path) if each.rule == "NPU784"]
    assert (8, call.index("config") + 1) == (found.line, found.column)


CLASSES = "n_classes weight_column label_vocabulary "
NUMBERS = "label_dimension weight_column "
LAYERS = "dnn_optimizer dnn_hidden_units dnn_activation_fn dnn_dropout "
TREES = (
    "n_trees max_depth learning_rate l1_regularization l2_regularization tree_complexity "
    "min_node_weight config"
)
WRAPPED = {
    "BaselineClassifier": "model_dir " + CLASSES + "optimizer config",
    "BaselineEstimator": "head model_dir optimizer config",
    "BaselineRegressor": "model_dir " + NUMBERS + "optimizer config",
    "BoostedTreesClassifier": "feature_columns n_batches_per_layer model_dir " + CLASSES + TREES,
    "BoostedTreesEstimator": "feature_columns n_batches_per_layer head model_dir weight_column "
    + TREES,
    "BoostedTreesRegressor": "feature_columns n_batches_per_layer model_dir " + NUMBERS + TREES,
    "DNNClassifier": "hidden_units feature_columns model_dir " + CLASSES + "optimizer "
    "activation_fn dropout input_layer_partitioner config",
    "DNNEstimator": "head hidden_units feature_columns model_dir optimizer activation_fn dropout "
    "input_layer_partitioner config",
    "DNNRegressor": "hidden_units feature_columns model_dir " + NUMBERS + "optimizer "
    "activation_fn dropout input_layer_partitioner config",
    "DNNLinearCombinedClassifier": "model_dir linear_feature_columns linear_optimizer "
    "dnn_feature_columns " + LAYERS + CLASSES + "input_layer_partitioner config",
    "DNNLinearCombinedEstimator": "head model_dir linear_feature_columns linear_optimizer "
    "dnn_feature_columns " + LAYERS + "input_layer_partitioner config",
    "DNNLinearCombinedRegressor": "model_dir linear_feature_columns linear_optimizer "
    "dnn_feature_columns " + LAYERS + NUMBERS + "input_layer_partitioner config",
    "Estimator": "model_fn model_dir config",
    "LinearClassifier": "feature_columns model_dir " + CLASSES + "optimizer config",
    "LinearEstimator": "head feature_columns model_dir optimizer config",
    "LinearRegressor": "feature_columns model_dir " + NUMBERS + "optimizer config",
    "tpu.TPUEstimator": "model_fn model_dir config",
    "model_to_estimator": "keras_model keras_model_path custom_objects model_dir config",
}
"""Estimators and what makes them, of which the configuration is a RunConfig."""
WHERE = {"tpu.TPUEstimator": "tf.contrib", "model_to_estimator": "tf.keras.estimator"}


@pytest.mark.parametrize("name", WRAPPED)
def test_the_configuration_of_estimators(name):
    """It is wrapped where it stands by position, and added by name."""
    names = WRAPPED[name].split()
    call = "e = {}.{}({}".format(WHERE.get(name, "tf.estimator"), name, ", ".join(names[:-1]))
    off = "use_tpu=False, eval_on_tpu=False, export_to_tpu=False"
    end = ", {})\n".format(off) if "TPU" in name else ")\n"
    text = npu_config.migrate("import tensorflow as tf\n" + call + ", config)\n").text
    assert text.endswith(call + ", npu_run_config_init(run_config=config)" + end)
    without = npu_config.migrate("import tensorflow as tf\n" + call + ")\n").text
    assert without.endswith(
        call + ("" if "TPU" in name else ", config=npu_run_config_init()") + end
    )


SWITCHES = (
    "train_batch_size eval_batch_size predict_batch_size batch_axis eval_on_tpu export_to_tpu"
)


def test_the_switches_of_a_tpu():
    """By position they become False in their places."""
    head = "e = tf.contrib.tpu.TPUEstimator(model_fn, model_dir, config, params, "
    names = ["use_tpu", *SWITCHES.split()]
    text = npu_config.migrate("import tensorflow as tf\n" + head + ", ".join(names) + ")\n").text
    changed = ["False" if name.endswith("_tpu") else name for name in names]
    head = head.replace("config", "npu_run_config_init(run_config=config)")
    assert text.endswith(head + ", ".join(changed) + ")\n")


@pytest.mark.tensorflow
def test_they_are_those_of_tensorflow():
    """The arguments are in the order of TensorFlow 1.15."""
    tf = pytest.importorskip("tensorflow")
    if not tf.__version__.startswith("1."):
        pytest.skip("contrib is part of TensorFlow 1")
    import tensorflow.contrib.slim as slim
    from tensorflow.contrib import training

    modules = {
        "tf": tf,
        "slim": slim,
        "training": training,
        "sv": tf.train.Supervisor,
        "sm": tf.train.SessionManager,
    }
    tpu = WRAPPED["tpu.TPUEstimator"] + " params use_tpu " + SWITCHES
    wrapped = {**WRAPPED, "tpu.TPUEstimator": tpu}
    known = {WHERE.get(name, "tf.estimator") + "." + name: wrapped[name] for name in wrapped}
    for name, expected in {**SIGNATURES, **known}.items():
        first, *rest = name.split(".")
        function = modules[first]
        for part in rest:
            function = getattr(function, part)
        function = function.__init__ if inspect.isclass(function) else function
        names = list(inspect.signature(inspect.unwrap(function)).parameters)
        names = names[names[0] == "self" :]
        assert expected.split() == names[: len(expected.split())]
