"""The drop-in: every name of the original, a light import, the session patched and given back."""

import importlib
import os
import subprocess
import sys
import textwrap
import types

import pytest

from tests.runner import copies

pytestmark = pytest.mark.tensorflow

NAMES = [
    "NPURunConfig",
    "ProfilingConfig",
    "MemoryConfig",
    "DumpConfig",
    "DynamicInputConfig",
    "decorator_tf_session",
    "NPUEstimator",
    "NPUEstimatorSpec",
    "NPUCheckpointSaverHook",
    "NPUOutputTensorHook",
    "NPUBroadcastGlobalVariablesHook",
    "SetIterationsVarHook",
    "TellMeStepOrLossHook",
    "NPUDistributedOptimizer",
    "KerasDistributeOptimizer",
    "npu_distributed_optimizer_wrapper",
    "NPUOptimizer",
    "npu_allreduce",
    "NPULossScaleOptimizer",
    "FixedLossScaleManager",
    "ExponentialUpdateLossScaleManager",
    "NPUBroadcastGlobalVariablesCallback",
    "config_pb2",
    "rewriter_config_pb2",
    "RewriterConfig",
    "session",
    "session_run_hook",
    "backend",
    "tf",
    "create_group",
    "destroy_group",
    "get_rank_size",
    "get_local_rank_size",
    "get_rank_id",
    "get_local_rank_id",
    "get_world_rank_from_group_rank",
    "get_group_rank_from_world_rank",
    "set_split_strategy_by_idx",
    "set_split_strategy_by_size",
    "npu_hooks_append",
    "npu_callbacks_append",
    "npu_config_proto",
    "npu_graph_options",
    "npu_optimizer_options",
    "npu_run_config_init",
    "set_keras_session_npu_config",
    "init_resource",
    "shutdown_resource",
    "close_session",
    "get_npu_rank_id",
    "get_npu_local_rank_id",
    "get_npu_rank_size",
    "get_npu_local_rank_size",
    "NpuEmptyHook",
    "npu_keras_optimizer",
    "npu_tf_optimizer",
    "npu_clear_session",
    "experimental_options",
]

MODULES = [
    "npu_ops",
    "npu_rnn",
    "npu_scope",
    "keras_to_npu",
    "npu_strategy",
    "util",
    "npu_plugin",
    "npu_unary_ops",
    "hccl_ops",
    "profiler",
    "npu_cpu_ops",
    "scoped_graph_manager",
    "os",
]


@pytest.fixture
def npu_init(tensorflow):
    """The drop-in, imported anew."""
    import npu_config.npu_init

    return importlib.reload(npu_config.npu_init)


def run(code):
    """The output of a fresh interpreter."""
    return subprocess.check_output(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        stderr=subprocess.DEVNULL,
        universal_newlines=True,
    ).strip()


def test_every_name(npu_init):
    """All names that the original brings into a script are there, and in ``__all__``."""
    namespace = {}
    exec("from npu_config.npu_init import *", namespace)
    assert set(NAMES + MODULES) <= set(npu_init.__all__)
    assert set(npu_init.__all__) <= set(namespace)
    for name in MODULES:
        assert isinstance(namespace[name], types.ModuleType)


def test_modules_work(npu_init, tf):
    """``util.set_iteration_per_loop`` and scopes are reached through their modules."""
    assert callable(npu_init.util.set_iteration_per_loop)
    with npu_init.npu_scope.keep_dtype_scope():
        assert tf.constant(1).op.get_attr("_keep_dtype") == 1


def test_experimental_options(npu_init):
    """The recommended rewrite options are those of the facts."""
    options = dict(npu_init.experimental_options)
    assert False is options.pop("disable_model_pruning")
    assert {
        "arithmetic_optimization",
        "constant_folding",
        "dependency_optimization",
        "function_optimization",
        "layout_optimizer",
        "loop_optimization",
        "shape_optimization",
    } == set(options)
    assert {npu_init.RewriterConfig.ON} == set(options.values())


def test_tensorflow_names(npu_init, tensorflow):
    """Names of TensorFlow are TensorFlow's own."""
    assert npu_init.config_pb2.ConfigProto is tensorflow.compat.v1.ConfigProto
    assert npu_init.session.Session is tensorflow.compat.v1.Session
    if tensorflow.__version__.startswith("1."):
        assert npu_init.tf is tensorflow


def test_sessions_are_patched(npu_init, tf):
    """After the import, and after another one, a session runs on the NPU."""
    for _ in range(2):
        importlib.reload(npu_init)
        with tf.Session() as session:
            names = [
                entry.name
                for entry in session._config.graph_options.rewrite_options.custom_optimizers
            ]
            assert names == ["NpuOptimizer"]
    assert npu_init.unpatch_sessions()
    with tf.Session() as session:
        assert not getattr(session._config, "graph_options", None) or (
            not session._config.graph_options.rewrite_options.custom_optimizers
        )


def test_what_the_import_loads():
    """The drop-in loads neither tf.contrib nor the rules; ``npu_config`` no TensorFlow."""
    loaded = run(
        """
        import sys
        import npu_config, npu_config.tf1
        print("tensorflow" in sys.modules)
        import npu_config.npu_init
        print(any(name.startswith("tensorflow_core.contrib") for name in sys.modules))
        print("npu_config.core.diagnostics" in sys.modules)
        """
    )
    assert " ".join(loaded.split()) == "False False False"


def test_the_package_alone_does_not_patch():
    """Importing ``npu_config.tf1`` and using it leaves the session classes alone."""
    printed = run(
        """
        from tensorflow.python.client import session
        before = session.Session.__init__
        from npu_config.tf1 import NPURunConfig, set_iteration_per_loop, npu_session
        print(before is session.Session.__init__)
        """
    )
    assert printed == "True"


def test_a_script_from_the_documentation(tmp_path):
    """A whole script with the star import trains on the CPU, ten steps in one run."""
    script = tmp_path / "script.py"
    text = textwrap.dedent(
        """
        import tensorflow.compat.v1 as tf
        tf.disable_eager_execution()
        from npu_config.npu_init import *

        x = tf.get_variable("x", initializer=1.0, use_resource=False)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(x))
        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["use_off_line"].b = True
        custom_op.parameter_map["enable_data_pre_proc"].b = True
        custom_op.parameter_map["iterations_per_loop"].i = 10
        config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
        with tf.Session(config=npu_config_proto(config)) as sess:
            sess.run(tf.global_variables_initializer())
            train_op = util.set_iteration_per_loop(sess, train_op, 10)
            sess.run(train_op)
            print(round(float(sess.run(x)), 3), get_npu_rank_size())
        """
    )
    script.write_text(text, encoding="utf-8")
    assert copies.python([str(script)], tmp_path, dict(os.environ)).stdout == b"0.107 1\n"
