"""NPURunConfig, NPUEstimator and what they add to the user's model function."""

import json
import os
import warnings

import pytest

from npu_config.core import findings
from npu_config.core.diagnostics import Severity

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.tensorflow

FEATURES = numpy.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]], dtype="float32")
LABELS = FEATURES.sum(axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def inputs(tf):
    """Batches of two, without end."""
    dataset = tf.data.Dataset.from_tensor_slices((FEATURES, LABELS))
    return dataset.repeat().batch(2, drop_remainder=True)


def make_model_fn(tf, seen=None, make_spec=None, **more):
    """A linear model; what reaches the model function is kept in ``seen``."""

    def model_fn(features, labels, mode, params):
        if seen is not None:
            seen.append((mode, params))
        weight = tf.get_variable("w", [2, 1], use_resource=False)
        output = tf.matmul(features, weight)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=output)
        loss = tf.reduce_mean(tf.square(output - labels))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
            loss, tf.train.get_or_create_global_step()
        )
        spec = make_spec or tf.estimator.EstimatorSpec
        arguments = {
            name: value(loss) if callable(value) else value for name, value in more.items()
        }
        return spec(mode, loss=loss, train_op=train_op, **arguments)

    return model_fn


def spec_of(tf, config, mode="train", **arguments):
    """The spec that an NPUEstimator hands to TensorFlow."""
    from npu_config.tf1 import NPUEstimator

    estimator = NPUEstimator(make_model_fn(tf, **arguments), config=config)
    features, labels = tf.constant(FEATURES), tf.constant(LABELS)
    return estimator._call_model_fn(features, labels, mode, config)


def kinds(hooks):
    """The names of the classes of hooks."""
    return [type(hook).__name__ for hook in hooks]


class TestEstimator:
    """NPUEstimator."""

    def test_train_evaluate_predict(self, tf, tmp_path):
        """A model trains, evaluates and predicts; checkpoints are in the directory."""
        from npu_config.tf1 import NPUEstimator, NPURunConfig

        seen = []
        config = NPURunConfig(model_dir=str(tmp_path), save_checkpoints_steps=10)
        estimator = NPUEstimator(make_model_fn(tf, seen), config=config, params={"a": 1})
        estimator.train(lambda: inputs(tf), max_steps=20)
        loss = estimator.evaluate(lambda: inputs(tf), steps=2)["loss"]
        assert loss < 0.5
        predictions = list(
            estimator.predict(
                lambda: tf.data.Dataset.from_tensors(FEATURES), yield_single_examples=False
            )
        )
        assert predictions[0].shape == (4, 1)
        assert "model.ckpt-20.index" in os.listdir(str(tmp_path))
        assert [params["a"] for _, params in seen] == [1, 1, 1]

    def test_plain_estimator(self, tf, tmp_path):
        """A plain tf.estimator.Estimator takes the configuration, with all options in it."""
        from npu_config.tf1 import NPURunConfig

        config = NPURunConfig(model_dir=str(tmp_path), precision_mode="allow_mix_precision")
        estimator = tf.estimator.Estimator(make_model_fn(tf), config=config, params={})
        estimator.train(lambda: inputs(tf), max_steps=5)
        (entry,) = estimator.config.session_config.graph_options.rewrite_options.custom_optimizers
        assert entry.parameter_map["precision_mode"].s == b"allow_mix_precision"

    def test_training_hooks(self, tf, tmp_path):
        """Checkpoint saver and loop come before the user's hooks; train_op is the IterationOp."""
        from npu_config.tf1 import NPURunConfig

        own = tf.train.StopAtStepHook(num_steps=5)
        config = NPURunConfig(iterations_per_loop=10, model_dir=str(tmp_path))
        spec = spec_of(tf, config, training_hooks=[own])
        assert kinds(spec.training_hooks) == [
            "NPUCheckpointSaverHook",
            "SetIterationsVarHook",
            "StopAtStepHook",
        ]
        assert spec.train_op.name == "IterationOp"
        assert spec.training_hooks[0]._steps_per_run == 10

    def test_one_iteration(self, tf, tmp_path):
        """With one iteration per loop, train_op is the user's and no loop is loaded."""
        from npu_config.tf1 import NPURunConfig

        spec = spec_of(tf, NPURunConfig(model_dir=str(tmp_path)))
        assert kinds(spec.training_hooks) == ["NPUCheckpointSaverHook"]
        assert spec.train_op.name == "GradientDescent"

    def test_no_checkpoints(self, tf, tmp_path):
        """With an interval of 0 no saver is added."""
        from npu_config.tf1 import NPURunConfig

        config = NPURunConfig(model_dir=str(tmp_path), save_checkpoints_steps=0)
        assert kinds(spec_of(tf, config).training_hooks) == []

    @pytest.mark.parametrize("horovod", [False, True])
    def test_several_ranks(self, horovod, tf, tmp_path, monkeypatch):
        """With several ranks the broadcast comes first, unless Horovod does it."""
        from npu_config.tf1 import NPURunConfig

        monkeypatch.setenv("RANK_SIZE", "2")
        monkeypatch.setenv("JOB_ID", "job1")
        config = NPURunConfig(model_dir=str(tmp_path), horovod_mode=horovod)
        expected = ["NPUBroadcastGlobalVariablesHook", "NPUCheckpointSaverHook"]
        assert expected[horovod:] == kinds(spec_of(tf, config).training_hooks)

    def test_one_set_of_savers(self, tf, tmp_path):
        """A saver of the user's scaffold is the one that saves."""
        from npu_config.tf1 import NPURunConfig

        scaffolds = []

        def scaffold(loss):
            scaffolds.append(tf.train.Scaffold(saver=tf.train.Saver()))
            return scaffolds[0]

        spec = spec_of(tf, NPURunConfig(model_dir=str(tmp_path)), scaffold=scaffold)
        assert scaffolds[0].saver is spec.training_hooks[0]._get_saver()

    def test_host_call(self, tf, tmp_path):
        """Without a device the host call runs on the tensors of every step."""
        from npu_config.tf1 import NPUEstimator, NPUEstimatorSpec, NPURunConfig

        losses = []

        def host_call(loss):
            def keep(value):
                losses.append(float(value))
                return value

            return lambda value: tf.py_func(keep, [value], tf.float32), [loss]

        model_fn = make_model_fn(tf, make_spec=NPUEstimatorSpec, host_call=host_call)
        config = NPURunConfig(model_dir=str(tmp_path))
        estimator = NPUEstimator(model_fn, config=config)
        estimator.train(lambda: inputs(tf), max_steps=3)
        assert len(losses) == 3
        estimator.evaluate(lambda: inputs(tf), steps=2)
        assert len(losses) == 5

    def test_host_call_by_name(self, tf, tmp_path):
        """Tensors in a dict are handed over by name."""
        from npu_config.tf1 import NPUEstimatorSpec, NPURunConfig

        given = {}
        spec = spec_of(
            tf,
            NPURunConfig(model_dir=str(tmp_path)),
            make_spec=NPUEstimatorSpec,
            host_call=lambda loss: (lambda a, b: given.update(a=a, b=b), {"b": loss, "a": loss}),
        )
        assert {"a", "b"} == set(given)
        assert "_EveryStepHook" in kinds(spec.training_hooks)

    @pytest.mark.parametrize(
        ("host_call", "error"),
        [
            (print, ValueError),
            ((print,), ValueError),
            (("print", [1]), TypeError),
            ((print, 1), ValueError),
            ((lambda a: a, [1, 2]), RuntimeError),
        ],
        ids=repr,
    )
    def test_wrong_host_calls(self, host_call, error, tf):
        """A host call that is none is refused when the spec is made."""
        from npu_config.tf1 import NPUEstimatorSpec

        with pytest.raises(error, match="NPU856"):
            NPUEstimatorSpec("eval", loss=tf.constant(1.0), host_call=host_call)

    @pytest.mark.parametrize("mode", ["train", "eval"])
    def test_wrong_specs(self, mode, tf, tmp_path):
        """A model function that returns something else is refused."""
        from npu_config.tf1 import NPURunConfig

        config = NPURunConfig(model_dir=str(tmp_path))
        with pytest.raises(RuntimeError, match="NPU856"):
            spec_of(tf, config, mode, make_spec=lambda *args, **kwargs: {"loss": 1})

    def test_labels_that_are_not_taken(self, tf, tmp_path):
        """A model function without labels and an input function with labels do not fit."""
        from npu_config.tf1 import NPUEstimator, NPURunConfig

        config = NPURunConfig(model_dir=str(tmp_path))
        estimator = NPUEstimator(lambda features: None, config=config)
        with pytest.raises(ValueError, match="labels"):
            estimator.train(lambda: inputs(tf), max_steps=1)

    @pytest.mark.parametrize("config", [None, {}, "config"])
    def test_wrong_configurations(self, config):
        """Anything but an NPURunConfig is refused."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import NPUEstimator

        with pytest.raises(ValueError, match="NPU855"):
            NPUEstimator(lambda features: None, config=config)

    def test_model_directories(self, tf, tmp_path, monkeypatch):
        """Two directories are refused, none makes a new one, either one is taken."""
        from npu_config.tf1 import NPUEstimator, NPURunConfig

        def model_fn(features):
            return None

        with pytest.raises(ValueError, match="NPU855"):
            NPUEstimator(model_fn, "a", NPURunConfig(model_dir="b"))
        assert NPUEstimator(model_fn, "a", NPURunConfig()).model_dir == "a"
        assert NPUEstimator(model_fn, None, NPURunConfig(model_dir="b")).model_dir == "b"
        assert NPUEstimator(model_fn, "b", NPURunConfig(model_dir="b")).model_dir == "b"
        monkeypatch.chdir(tmp_path)
        said = []
        monkeypatch.setattr(findings, "listeners", [said.append])
        made = NPUEstimator(model_fn, config=NPURunConfig()).model_dir
        assert [(each.rule, each.severity) for each in said] == [("NPU855", Severity.WARNING)]
        assert [os.path.basename(made)] == os.listdir(str(tmp_path))
        assert os.path.basename(made)[:-10] == "model_dir_"

    def test_job_start_file(self, tf, tmp_path, monkeypatch):
        """The job comes from the file, else from JOB_ID; one is needed when a file is named."""
        from npu_config.tf1.estimator import read_job_info

        path = tmp_path / "job.json"
        content = {
            "device_info": {"Index": 1},
            "rank_table_file": "",
            "rank_size": 2,
            "local_checkpoint_dir": "ckpt",
        }
        path.write_text(json.dumps(content), encoding="utf-8")
        assert read_job_info(str(path)) == (1, 2, "ckpt")
        with pytest.raises(ValueError, match="JOB_ID"):
            read_job_info(str(tmp_path / "missing.json"))
        monkeypatch.setenv("RANK_SIZE", "4")
        with pytest.raises(ValueError, match="JOB_ID"):
            read_job_info()
        monkeypatch.setenv("JOB_ID", "job1")
        monkeypatch.setenv("RANK_ID", "3")
        assert read_job_info(str(tmp_path / "missing.json")) == (3, 4, None)

    def test_warm_start(self, tf, tmp_path, monkeypatch):
        """RESTORE_FROM names the checkpoint to start from, unless another is given."""
        from npu_config.tf1 import NPUEstimator, NPURunConfig

        first = NPURunConfig(model_dir=str(tmp_path / "first"))
        NPUEstimator(make_model_fn(tf), config=first, params={}).train(
            lambda: inputs(tf), max_steps=50
        )
        monkeypatch.setenv("RESTORE_FROM", str(tmp_path / "first"))
        second = NPURunConfig(model_dir=str(tmp_path / "second"), save_checkpoints_steps=1)
        estimator = NPUEstimator(make_model_fn(tf), config=second, params={})
        estimator.train(lambda: inputs(tf), max_steps=1)
        assert estimator.evaluate(lambda: inputs(tf), steps=2)["loss"] < 0.1

    def test_the_users_session_config(self, tf, tmp_path, npu_proto):
        """The given ConfigProto stays as it is, and there is never a second NpuOptimizer."""
        from npu_config.tf1 import NPUEstimator, NPURunConfig

        proto = npu_proto(precision_mode="allow_mix_precision")
        before = proto.SerializeToString(deterministic=True)
        config = NPURunConfig(model_dir=str(tmp_path), session_config=proto)
        estimator = NPUEstimator(make_model_fn(tf), config=config, params={})
        estimator.train(lambda: inputs(tf), max_steps=1)
        assert before == proto.SerializeToString(deterministic=True)
        (entry,) = estimator.config.session_config.graph_options.rewrite_options.custom_optimizers
        assert entry.parameter_map["precision_mode"].s == b"allow_mix_precision"


class TestRunConfig:
    """NPURunConfig."""

    def test_every_fault_at_once(self, tf):
        """One error names every wrong argument, and is both a ValueError and a TypeError."""
        from npu_config.tf1 import NPURunConfig

        with pytest.raises(TypeError) as caught:
            NPURunConfig(
                iterations_per_loop="10",
                mix_compile_mode="True",
                precision_mode="fp8",
                horovod_mode=1,
                dump_config={},
                memory_config={},
                save_checkpoints_steps=1,
                save_checkpoints_secs=1,
                keep_checkpoint_max=-1,
            )
        error = caught.value
        assert isinstance(error, ValueError)
        options = {finding.option for finding in error.diagnostics.errors}
        assert {"iterations_per_loop", "mix_compile_mode", "precision_mode"} <= options
        for word in ("horovod_mode", "dump_config", "memory_config", "keep_checkpoint_max"):
            assert word in str(error)
        assert str(error).count("NPU810") == 1

    @pytest.mark.parametrize(("mode", "rules"), [(0, set()), (None, {"NPU818"})])
    def test_a_field_that_is_zero_is_given(self, mode, rules, tf, monkeypatch):
        """None of the four fields of DynamicInputConfig is missing where one is 0."""
        from npu_config.tf1 import DynamicInputConfig, NPURunConfig

        config = DynamicInputConfig("data:1,-1", "1;2", 1, mode)
        said = []
        monkeypatch.setattr(findings, "listeners", [said.append])
        NPURunConfig(graph_run_mode=0, dynamic_input_config=config)
        assert {each.rule for each in said} & {"NPU818"} == rules

    @pytest.mark.parametrize(
        "arguments",
        [
            {"iterations_per_loop": 0},
            {"iterations_per_loop": True},
            {"mix_compile_mode": True, "iterations_per_loop": 10},
            {"jit_compile": True},
            {"graph_run_mode": 2},
            {"enable_exception_dump": -1},
            {"horovod_mode": "yes"},
            {"experimental_config": 1},
            {"profiling_config": True},
            {"enable_data_pre_proc": None},
        ],
        ids=str,
    )
    def test_refused(self, arguments, tf):
        """What the vendor checks, and what it does not, is refused at construction."""
        from npu_config.tf1 import NPURunConfig

        with pytest.raises(ValueError):  # noqa: PT011 - the rule differs
            NPURunConfig(**arguments)

    def test_overridden_options_are_named(self, tf, npu_proto):
        """An option of the given session_config that NPURunConfig overrides draws a warning."""
        from npu_config.tf1 import NPURunConfig

        proto = npu_proto(enable_dump=True, dump_path="dump", hcom_parallel=True)
        with pytest.warns(UserWarning, match="NPU854"):
            config = NPURunConfig(session_config=proto)
        overridden = [d.message for d in config.diagnostics if d.rule == "NPU854"]
        assert len(overridden) == 1
        assert overridden[0].startswith("enable_dump was True")

    def test_attributes(self, tf):
        """Arguments are attributes, under the vendor's names."""
        from npu_config.tf1 import DumpConfig, NPURunConfig

        dump = DumpConfig(enable_dump=True, dump_path="dump", dump_layer="conv1")
        config = NPURunConfig(iterations_per_loop=10, dump_config=dump, hccl_timeout=1800)
        assert config.iterations_per_loop == 10
        assert dump is config._dump_config
        assert config._hccl_timeout == 1800
        assert (dump._enable_dump, dump.dump_layer) == (True, "conv1")

    def test_replace(self, tf, npu_proto):
        """A copy keeps the options, also with another session_config."""
        from npu_config.tf1 import NPURunConfig

        config = NPURunConfig(hccl_timeout=1800)
        for copy in (
            config.replace(model_dir="models"),
            config.replace(session_config=tf.ConfigProto(log_device_placement=True)),
        ):
            (entry,) = copy.session_config.graph_options.rewrite_options.custom_optimizers
            assert entry.parameter_map["hccl_timeout"].i == 1800
        assert copy.session_config.log_device_placement

    def test_cluster(self, tf, monkeypatch):
        """A cluster in TF_CONFIG needs the strategy and mixed computing; its task is written."""
        from npu_config.tf1 import NPURunConfig

        cluster = {
            "cluster": {"chief": ["a:1"], "ps": ["b:1"], "worker": ["c:1"]},
            "task": {"type": "worker", "index": 0},
        }
        monkeypatch.setenv("TF_CONFIG", json.dumps(cluster))
        with pytest.raises(ValueError, match="NPU824"):
            NPURunConfig(mix_compile_mode=True)

    def test_task(self, tf, monkeypatch):
        """The task of TF_CONFIG is written as job and task_index."""
        from npu_config.tf1.run_config_options import task_of

        task = {"task": {"type": "worker", "index": 2}}
        assert task_of({"TF_CONFIG": json.dumps(task)}) == ("worker", 2)
        assert task_of({}) == ("localhost", 0)
        assert task_of({"TF_CONFIG": "no json"}) == ("localhost", 0)

    def test_nested_values(self):
        """The nested objects check the values that the vendor's check."""
        from npu_config.tf1 import ExperimentalConfig, GraphMemoryOptimizeConfig

        with pytest.raises(ValueError, match="NPU853"):
            GraphMemoryOptimizeConfig(recompute="always")
        with pytest.raises(ValueError, match="NPU853"):
            ExperimentalConfig(graph_memory_optimize_config="auto")

    def test_from_npu_config(self, tf):
        """``NpuConfig.to_run_config`` gives the same options, and further arguments."""
        import npu_config as npu
        from npu_config.tf1 import NPURunConfig

        options = {
            "iterations_per_loop": 10,
            "enable_data_pre_proc": True,
            "enable_dump": True,
            "dump_path": "dump",
            "dump_step": "0|5-10",
            "graph_slice": "auto",
            "static_memory_policy": 2,
        }
        config = npu.NpuConfig.from_dict(options).to_run_config(model_dir="models")
        assert isinstance(config, NPURunConfig)
        assert config.model_dir == "models"
        back = npu.NpuConfig.from_config_proto(config.session_config)
        assert set(options) <= set(back.options)
        assert back["iterations_per_loop"] == 10

    def test_typed_values(self, tf):
        """Values that the catalogue types need not be spelt as text."""
        from npu_config.tf1 import DumpConfig, NPURunConfig

        dump = DumpConfig(enable_dump=True, dump_path="dump", dump_step=[0, (5, 10)])
        config = NPURunConfig(dump_config=dump)
        (entry,) = config.session_config.graph_options.rewrite_options.custom_optimizers
        assert entry.parameter_map["dump_step"].s == b"0|5-10"


def test_keras_to_npu(tensorflow, tmp_path):
    """A compiled Keras model becomes an NPUEstimator that trains."""
    if not tensorflow.__version__.startswith("1."):
        pytest.skip("Keras of TensorFlow 2 makes Estimators in eager mode only")
    tf = tensorflow.compat.v1
    from npu_config.tf1 import NPUEstimator, NPURunConfig, keras_to_npu

    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), name="dense")])
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
    estimator = keras_to_npu.model_to_npu_estimator(
        model, config=NPURunConfig(model_dir=str(tmp_path), iterations_per_loop=2)
    )
    assert isinstance(estimator, NPUEstimator)
    estimator.train(lambda: inputs(tf), max_steps=20)
    assert estimator.evaluate(lambda: inputs(tf), steps=2)["loss"] < 1.0
    tf.keras.backend.clear_session()


def test_a_misspelt_argument():
    """It is a TypeError, as of any function of Python, with the near name."""
    pytest.importorskip("tensorflow")
    from npu_config.tf1 import NPURunConfig

    with pytest.raises(TypeError, match='did you mean "precision_mode"'):
        NPURunConfig(presicion_mode="allow_mix_precision")


@pytest.mark.parametrize("given", [{}, {"keras_model": 1, "keras_model_path": "m"}])
def test_keras_to_npu_needs_one_model(given):
    """None or both of model and path are refused."""
    pytest.importorskip("tensorflow")
    from npu_config.tf1 import keras_to_npu

    with pytest.raises(ValueError, match="NPU855"):
        keras_to_npu.model_to_npu_estimator(**given)
