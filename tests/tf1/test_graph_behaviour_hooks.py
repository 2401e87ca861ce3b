"""Hooks and helpers against what the vendor's did (``graph_behaviour.jsonl``).

What is different on purpose is in ``tests/data/tf1/deviations.json``, with the reason.
"""

import copy
import os

import pytest

from tests.tf1.support import Model, deviations, operations, vectors

pytestmark = pytest.mark.tensorflow

VECTORS = {vector["id"]: vector for vector in vectors("graph_behaviour.jsonl")}

DIFFERENT = deviations()["graph_behaviour"]
"""Vectors that are answered otherwise on purpose, with the reason."""


def ids(prefix):
    """The vectors of one function."""
    return [name for name in VECTORS if name.startswith(prefix)]


def added(graph, before):
    """The operations that were not there before."""
    known = {operation["name"] for operation in before}
    return [operation for operation in operations(graph) if operation["name"] not in known]


class TestCheckpointSaver:
    """NPUCheckpointSaverHook."""

    @staticmethod
    def train(tf, hook, steps=5):
        """Run so many steps, and say what the hook made the session run.

        In one thread: else the global step that the hook fetches beside a step is at times the
        one after it, and TensorFlow looks once more.
        """
        runs = []
        train_op = tf.get_default_graph().get_operation_by_name("GradientDescent")
        one_thread = tf.train.ChiefSessionCreator(
            config=tf.ConfigProto(inter_op_parallelism_threads=1, use_per_session_threads=True)
        )
        with tf.train.MonitoredSession(one_thread, hooks=[hook]) as session:
            raw = session._tf_sess()
            run = raw.run

            def recording(fetches, *args, **kwargs):
                name = getattr(fetches, "name", None)
                runs.append(repr(name or type(fetches).__name__))
                return run(fetches, *args, **kwargs)

            raw.run = recording
            for _ in range(steps):
                session.run(train_op)
            del raw.run
        return runs

    @pytest.mark.parametrize(
        "name",
        [name for name in ids("NPUCheckpointSaverHook/") if "result" in VECTORS[name]],
    )
    def test_files_and_runs(self, name, tensorflow, tf, tmp_path):
        """The same files are written, by the same runs of the session."""
        from npu_config.tf1 import NPUCheckpointSaverHook

        vector = VECTORS[name]
        arguments = dict(vector["input"])
        steps = arguments.pop("run_steps", 5)
        arguments.pop("note", None)
        Model(tf, global_step=True)
        if "saver" in arguments:
            arguments["saver"] = tf.train.Saver()
        if "save_secs" not in arguments:
            arguments.setdefault("save_steps", 2)
        hook = NPUCheckpointSaverHook(str(tmp_path), **arguments)
        runs = self.train(tf, hook, steps)
        expected = vector["result"]
        files = sorted(path.name for path in tmp_path.iterdir())
        kept = [name for name in files if not name.startswith("events.")]
        if tensorflow.__version__.startswith("1."):
            assert expected["files"] == kept
            assert expected["session_runs_during_steps"] == runs
        assert expected["event_files"] == len(files) - len(kept)

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            ({}, ValueError),
            ({"save_secs": 1, "save_steps": 1}, ValueError),
            ({"save_steps": "2"}, TypeError),
        ],
    )
    def test_intervals(self, arguments, error, tf, tmp_path):
        """None, both, and text are refused."""
        from npu_config.tf1 import NPUCheckpointSaverHook

        with pytest.raises(error):
            NPUCheckpointSaverHook(str(tmp_path), **arguments)

    def test_no_directory(self, tf):
        """Without a directory TensorFlow refuses."""
        from npu_config.tf1 import NPUCheckpointSaverHook

        with pytest.raises(TypeError):
            NPUCheckpointSaverHook(None, save_steps=2)


class TestOutputTensor:
    """NPUOutputTensorHook."""

    @staticmethod
    def arguments(vector, model):
        """The arguments that the vector describes, and the list that collects the calls."""
        given = dict(vector["input"])
        given.pop("run_steps", None)
        given.pop("note", None)
        calls = []

        def output_fn(values):
            calls.append([{tag: float(value) for tag, value in one.items()} for one in values])

        tensors = given.get("tensors", {"loss": "loss:0"})
        if tensors == {"loss": "loss:0"}:
            tensors = {"loss": model.loss}
        elif tensors == {"loss": "'loss:0' (str)"} or "names:" in str(tensors):
            tensors = {"loss": "loss:0"}
        elif tensors == "list of str":
            tensors = ["loss:0"]
        dependencies = {
            "op": model.train_op,
            "list": [model.train_op],
            "tensor": model.loss,
            "empty": [],
        }
        keywords = {
            "output_fn": given.get("output_fn", output_fn),
            "output_every_n_steps": given.get("output_every_n_steps", 2),
        }
        if "dependencies" in given:
            keywords["dependencies"] = dependencies[given["dependencies"]]
        return (tensors,), keywords, calls

    @pytest.mark.parametrize("name", ids("NPUOutputTensorHook/"))
    def test_calls(self, name, tensorflow, tf):
        """The function is called with the same values at the same steps, and at the end."""
        from npu_config.tf1 import NPUOutputTensorHook

        vector = VECTORS[name]
        model = Model(tf, ordered=True)
        positional, keywords, calls = self.arguments(vector, model)
        before = operations(model.graph)
        if "error" in vector or name in DIFFERENT:
            with pytest.raises(ValueError, match="NPU851"):
                NPUOutputTensorHook(*positional, **keywords)
            assert before == operations(model.graph)
            return
        hook = NPUOutputTensorHook(*positional, **keywords)
        expected = vector["result"]
        assert expected["ops_added_by_init"] == added(model.graph, before)
        after_step = []
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(5):
                session.run(model.train_op)
                after_step.append(len(calls))
        assert expected["calls_after_step"] == after_step
        if "dependencies" not in vector["input"] and vector["input"].get("tensors") is not None:
            assert [len(call) for call in expected["calls"]] == [len(call) for call in calls]
            assert expected["calls"] == [
                [pytest.approx(values) for values in call] for call in calls
            ]

    def test_dependencies_come_first(self, tf):
        """With dependencies the values are those after the dependency ran."""
        from npu_config.tf1 import NPUOutputTensorHook

        counter = tf.Variable(0, use_resource=True)
        increment = tf.assign_add(counter, 1).op
        with tf.control_dependencies([increment]):
            value = counter.read_value()
        seen = []
        hook = NPUOutputTensorHook({"n": value}, [increment], seen.extend, 1)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(increment)
        assert seen == [{"n": 1}]

    def test_defaults(self):
        """The vendor's defaults, which divide by zero, are refused with what is needed."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import NPUOutputTensorHook

        with pytest.raises(TypeError, match="output_fn"):
            NPUOutputTensorHook({})
        with pytest.raises(ValueError, match="output_every_n_steps must be at least 1"):
            NPUOutputTensorHook({}, output_fn=print)


class TestTellMe:
    """TellMeStepOrLossHook."""

    CASES = {
        "step_loss": lambda m: {
            "step": m.global_step,
            "total_step": 100,
            "loss": m.loss,
            "final_loss": 0.1,
        },
        "step": lambda m: {"step": m.global_step, "total_step": 100},
        "loss": lambda m: {"loss": m.loss, "final_loss": 0.1},
        "step_name": lambda m: {"step": "global_step"},
        "loss_vector": lambda m: {"loss": m.tf.stack([m.loss, m.loss], name="stack")},
    }

    @pytest.mark.parametrize("case", sorted(CASES))
    def test_environment(self, case, tensorflow, tf):
        """The variables are set when the hook is made, and after every run."""
        from npu_config.tf1 import TellMeStepOrLossHook

        expected = copy.deepcopy(VECTORS["TellMeStepOrLossHook/" + case]["result"])
        model = Model(tf, global_step=True, ordered=True)
        names = ("LOSS_NOW", "STEP_NOW", "TARGET_LOSS", "TOTAL_STEP")
        try:
            hook = TellMeStepOrLossHook(**self.CASES[case](model))
            assert expected["env_after_init"] == {name: os.environ.get(name) for name in names}
            steps = []
            with tf.train.MonitoredSession(hooks=[hook]) as session:
                for _ in expected["env_after_step"]:
                    session.run(model.train_op)
                    steps.append({name: os.environ.get(name) for name in names})
            if tensorflow.__version__.startswith("1."):
                self.compare(expected["env_after_step"], steps)
        finally:
            for name in names:
                os.environ.pop(name, None)

    @staticmethod
    def compare(recorded, seen):
        """The same but for the step, which TensorFlow reads before or after it is counted up."""
        steps = [
            (one.pop("STEP_NOW"), other.pop("STEP_NOW")) for one, other in zip(recorded, seen)
        ]
        assert recorded == seen
        for before, now in steps:
            if before is None:
                assert now is None
            else:
                assert int(now) - int(before) in (-1, 0, 1)

    @pytest.mark.parametrize(
        "arguments",
        [{}, {"step": "s", "total_step": "abc"}, {"loss": "l", "final_loss": "x"}],
    )
    def test_arguments(self, arguments):
        """Neither step nor loss, and targets that are no numbers, are refused; nothing is set."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import TellMeStepOrLossHook

        with pytest.raises(ValueError, match="NPU851"):
            TellMeStepOrLossHook(**arguments)
        assert "STEP_NOW" not in os.environ
        assert "LOSS_NOW" not in os.environ


class TestBroadcast:
    """NPUBroadcastGlobalVariablesHook without the vendor's library."""

    @pytest.mark.parametrize("name", ids("NPUBroadcastGlobalVariablesHook/"))
    def test_ranks(self, name, tf, monkeypatch):
        """With one rank nothing is added; with several it raises at begin and says why."""
        from npu_config.tf1 import NPUBroadcastGlobalVariablesHook

        vector = VECTORS[name]
        for variable, value in vector["input"]["env"].items():
            monkeypatch.setenv(variable, value)
        model = Model(tf)
        before = operations(model.graph)
        if vector.get("error", {}).get("type") == "ValueError":
            with pytest.raises(ValueError, match="NPU852"):
                NPUBroadcastGlobalVariablesHook(0, 0)
            return
        hook = NPUBroadcastGlobalVariablesHook(*vector["input"].get("args", [0, 0]))
        if "error" in vector or name in DIFFERENT:
            with pytest.raises(RuntimeError, match="npu_bridge"):
                hook.begin()
        else:
            hook.begin()
            hook.begin()
            with model.session() as session:
                hook.after_create_session(session, None)
                assert vector["result"]["x"] == session.run(model.x)
        assert before == operations(model.graph)

    @pytest.mark.parametrize(
        "vector",
        [v for v in vectors("session_config_parity.jsonl") if v.get("api") == "npu_hooks_append"],
        ids=lambda vector: vector["id"],
    )
    def test_npu_hooks_append(self, vector, monkeypatch):
        """``npu_hooks_append`` extends lists in place and replaces everything else."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import npu_hooks_append

        for name, value in vector["input"].get("env", {}).items():
            monkeypatch.setenv(name, value)
        argument = vector["input"].get("arg", "NOARG")
        if isinstance(argument, dict):
            argument = tuple(argument["__tuple__"])
        given = [] if argument == "NOARG" else [argument]
        if "error" in vector:
            with pytest.raises(ValueError, match="NPU852"):
                npu_hooks_append(*given)
            return
        returned = npu_hooks_append(*given)
        expected = vector["result"]
        if "items" in expected:
            assert expected["items"] == [
                item if isinstance(item, str) else type(item).__name__ for item in returned
            ]
            assert expected["same_object"] == (bool(given) and returned is argument)
        else:
            hook = returned[-1]
            assert expected == {name: getattr(hook, name) for name in expected}

    @pytest.mark.parametrize(
        "vector",
        [
            v
            for v in vectors("session_config_parity.jsonl")
            if v.get("api") == "npu_callbacks_append"
        ],
        ids=lambda vector: vector["id"],
    )
    def test_npu_callbacks_append(self, vector):
        """``npu_callbacks_append`` extends lists in place and replaces everything else."""
        pytest.importorskip("tensorflow")
        from npu_config.tf1 import npu_callbacks_append

        argument = vector["input"].get("arg", "NOARG")
        if isinstance(argument, dict):
            argument = tuple(argument["__tuple__"])
        given = [] if argument == "NOARG" else [argument]
        returned = npu_callbacks_append(*given)
        expected = vector["result"]
        assert expected["items"] == [
            item if isinstance(item, str) else type(item).__name__ for item in returned
        ]
        assert expected["same_object"] == (bool(given) and returned is argument)


def test_every_difference_is_a_vector():
    """The list of differences names vectors."""
    assert set(DIFFERENT) <= set(VECTORS)
