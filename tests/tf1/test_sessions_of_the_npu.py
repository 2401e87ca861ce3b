"""The patch of the session classes, and sessions and resources that are always released."""

import importlib
import inspect
import json
import os
import subprocess
import sys
import textwrap
import warnings

import pytest

from tests.runner import copies

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def session_module(tensorflow):
    """TensorFlow's module of sessions."""
    from tensorflow.python.client import session

    return session


class TestPatch:
    """``patch_sessions`` and ``unpatch_sessions``."""

    def test_round_trip(self, tf, session_module):
        """Patching can be repeated and undone; undone, the classes are TensorFlow's."""
        from npu_config.tf1 import patch_sessions, unpatch_sessions

        unpatch_sessions()  # what ran before in this process may have left them patched
        originals = [session_module.Session.__init__, session_module.InteractiveSession.__init__]
        patch_sessions()
        patch_sessions()
        assert session_module.Session.__init__.__wrapped__ is originals[0]
        assert unpatch_sessions()
        assert originals == [
            session_module.Session.__init__,
            session_module.InteractiveSession.__init__,
        ]
        assert unpatch_sessions()

    def test_reload(self, session_module):
        """After the module was reloaded, patching and undoing still work on the one original."""
        from npu_config.tf1 import session

        original = session_module.Session.__init__
        session.patch_sessions()
        reloaded = importlib.reload(session)
        reloaded.patch_sessions()
        assert session_module.Session.__init__.__wrapped__ is original
        assert reloaded.unpatch_sessions()
        assert session_module.Session.__init__ is original

    def test_signature_and_name(self, tf, session_module):
        """The patched ``__init__`` has the name, the text and the signature of the original."""
        from npu_config.tf1 import patch_sessions

        original = session_module.Session.__init__
        patch_sessions()
        patched = session_module.Session.__init__
        assert inspect.signature(original) == inspect.signature(patched)
        assert (original.__name__, original.__doc__) == (patched.__name__, patched.__doc__)

    def test_a_patch_on_top(self, session_module):
        """A patch of somebody else's on top is left alone, and reported."""
        import functools

        from npu_config.tf1 import patch_sessions, unpatch_sessions

        original = session_module.Session.__init__
        patch_sessions()
        ours = session_module.Session.__init__

        @functools.wraps(ours)
        def theirs(self, *args, **kwargs):
            ours(self, *args, **kwargs)

        session_module.Session.__init__ = theirs
        try:
            assert not unpatch_sessions()
            assert session_module.Session.__init__ is theirs
        finally:
            session_module.Session.__init__ = original

    def test_interactive_session(self, tf):
        """InteractiveSession runs on the NPU, too."""
        from npu_config.tf1 import patch_sessions

        patch_sessions()
        session = tf.InteractiveSession()
        names = [
            entry.name for entry in session._config.graph_options.rewrite_options.custom_optimizers
        ]
        session.close()
        assert names == ["NpuOptimizer"]

    def test_findings_are_warnings(self, tf, npu_proto):
        """A wrong option in the given ConfigProto draws a warning that names it."""
        from npu_config.tf1 import ConfigurationWarning, patch_sessions

        patch_sessions()
        with pytest.warns(ConfigurationWarning, match="NPU104.*value-not-allowed"):
            tf.Session(config=npu_proto(precision_mode="fp8")).close()

    def test_findings_can_be_errors(self, tf, npu_proto):
        """With the warnings filter of Python, a wrong option stops the script."""
        from npu_config.tf1 import ConfigurationWarning, patch_sessions

        patch_sessions()
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConfigurationWarning)
            with pytest.raises(ConfigurationWarning):
                tf.Session(config=npu_proto(precision_mode="fp8"))

    def test_right_options_are_silent(self, tf):
        """A right configuration draws no warning."""
        import npu_config as npu
        from npu_config.tf1 import patch_sessions

        patch_sessions()
        config = npu.NpuConfig.from_dict({"hccl_timeout": 1800})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tf.Session(config=config.to_config_proto()).close()


class TestNpuSession:
    """``npu_session``."""

    def test_session(self, tf):
        """The session is the default one, on the given graph, and closed at the end."""
        from npu_config.tf1 import npu_session

        with npu_session() as session:
            assert tf.get_default_session() is session
            assert session.run(tf.constant(3)) == 3
        with pytest.raises(RuntimeError):
            session.run(tf.constant(3))

    def test_configurations(self, tf, npu_proto):
        """An NpuConfig and a ConfigProto are taken; the proto stays as it is."""
        import npu_config as npu
        from npu_config.tf1 import npu_session

        config = npu.NpuConfig.from_dict({"precision_mode": "allow_mix_precision"})
        proto = npu_proto(precision_mode="allow_mix_precision")
        before = proto.SerializeToString(deterministic=True)
        for given in (config, proto):
            with npu_session(given) as session:
                rewrite = session._config.graph_options.rewrite_options
                (entry,) = rewrite.custom_optimizers
                assert entry.parameter_map["precision_mode"].s == b"allow_mix_precision"
                assert rewrite.remapping == rewrite.OFF
        assert before == proto.SerializeToString(deterministic=True)

    @pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
    def test_closed_whatever_ends_the_block(self, error, tf):
        """An exception, SystemExit too, closes the session and goes on."""
        from npu_config.tf1 import npu_session

        with pytest.raises(error), npu_session() as session:
            raise error()
        assert session._closed


class TestResources:
    """``init_resource`` and what goes with it, without a device."""

    def test_round_trip(self, tf, monkeypatch):
        """A session, the shutdown operation, and the ranks of the environment."""
        import npu_config.tf1 as tf1

        monkeypatch.setenv("RANK_ID", "3")
        monkeypatch.setenv("RANK_SIZE", "8")
        session, shutdown = tf1.init_resource()
        assert shutdown.name == "NPUShutdown"
        assert [op.name for op in shutdown.graph.get_operations()] == ["NPUInit", "NPUShutdown"]
        assert tf.get_default_graph().get_operations() == []
        monkeypatch.setenv("RANK_ID", "5")
        assert (tf1.get_npu_rank_id(), tf1.get_npu_rank_size()) == (3, 8)
        tf1.shutdown_resource(session, shutdown)
        tf1.close_session(session)
        assert session._closed

    def test_ranks_before_init_resource(self, monkeypatch):
        """Before ``init_resource`` the environment answers."""
        import npu_config.tf1 as tf1
        from npu_config.tf1 import util

        monkeypatch.setattr(util, "_STORES", [])
        assert (
            tf1.get_npu_rank_id(),
            tf1.get_npu_rank_size(),
            tf1.get_npu_local_rank_id(),
            tf1.get_npu_local_rank_size(),
        ) == (0, 1, 0, 1)
        monkeypatch.setenv("RANK_ID", "2")
        monkeypatch.setenv("CM_WORKER_SIZE", "4")
        assert (tf1.get_npu_rank_id(), tf1.get_npu_rank_size()) == (2, 4)
        monkeypatch.setenv("RANK_ID", "two")
        with pytest.raises(ValueError, match="NPU852"):
            tf1.get_npu_rank_id()

    def test_local_ranks_of_the_rank_table(self, monkeypatch, tmp_path):
        """The rank table says which ranks share the server."""
        import npu_config.tf1 as tf1
        from npu_config.tf1 import util

        def server(number, ranks):
            devices = [
                {
                    "device_id": str(index),
                    "device_ip": "192.168.{}.{}".format(number, index + 1),
                    "rank_id": str(rank),
                }
                for index, rank in enumerate(ranks)
            ]
            return {"server_id": "10.0.0.{}".format(number), "device": devices}

        table = {
            "version": "1.0",
            "status": "completed",
            "server_count": "2",
            "server_list": [server(1, [0, 1]), server(2, [2, 3, 4])],
        }
        path = tmp_path / "rank_table.json"
        path.write_text(json.dumps(table), encoding="utf-8")
        monkeypatch.setattr(util, "_STORES", [])
        monkeypatch.setenv("RANK_TABLE_FILE", str(path))
        monkeypatch.setenv("RANK_ID", "3")
        assert (
            tf1.get_npu_rank_id(),
            tf1.get_npu_rank_size(),
            tf1.get_npu_local_rank_id(),
            tf1.get_npu_local_rank_size(),
        ) == (3, 5, 1, 3)

    def test_context_manager(self, tf):
        """The resources are given back at the end of the block; the graph has nothing of them."""
        from npu_config.tf1 import npu_resources

        with npu_resources() as session:
            session.run(tf.constant(1))
        assert session._closed
        assert "NPUInit" not in [op.name for op in tf.get_default_graph().get_operations()]

    @pytest.mark.parametrize("error", [ValueError, SystemExit])
    def test_given_back_whatever_ends_the_block(self, error, tf, monkeypatch):
        """Shutdown runs and the session is closed, also when the block or the shutdown fails."""
        from npu_config.tf1 import npu_resources
        from npu_config.tf1 import session as own

        shut_down = []
        monkeypatch.setattr(own, "shutdown_resource", lambda *args: shut_down.append(args))
        with pytest.raises(error), npu_resources() as session:
            raise error()
        assert shut_down[0][0]._closed
        assert session._closed

        def fail(*args):
            raise RuntimeError("device lost")

        monkeypatch.setattr(own, "shutdown_resource", fail)
        with pytest.raises(RuntimeError, match="device lost"), npu_resources() as session:
            pass
        assert session._closed

    def test_tf_app_run(self, tensorflow, tmp_path):
        """In a script under ``tf.app.run``, which ends in SystemExit, everything is released."""
        script = tmp_path / "train.py"
        script.write_text(
            textwrap.dedent(
                """
                import tensorflow.compat.v1 as tf
                tf.disable_eager_execution()
                from npu_config.tf1 import npu_resources, session as own

                closed = own.close_session
                own.close_session = lambda s: (closed(s), print("closed", s._closed))

                def main(argv):
                    with npu_resources() as session:
                        print(session.run(tf.constant(7)))

                tf.app.run(main)
                """
            ),
            encoding="utf-8",
        )
        done = copies.python([str(script)], tmp_path, dict(os.environ))
        assert done.stdout.split(b"\n")[:2] == [b"7", b"closed True"]


def test_keras_sessions(tf):
    """``npu_clear_session`` gives Keras a new session on the NPU."""
    import npu_config.tf1 as tf1

    first = tf1.set_keras_session_npu_config()
    assert tf.keras.backend.get_session() is first
    first.close()
    tf.keras.backend.set_session(None)


def test_keras_clear_session(tensorflow, tmp_path):
    """``npu_clear_session`` forgets the graph and sets a session on the NPU."""
    script = tmp_path / "script.py"
    code = textwrap.dedent(
        """
        import tensorflow.compat.v1 as tf
        tf.disable_eager_execution()
        from npu_config.tf1 import npu_clear_session
        first = tf.keras.backend.get_session()
        tf.constant(1)
        npu_clear_session()
        second = tf.keras.backend.get_session()
        entries = second._config.graph_options.rewrite_options.custom_optimizers
        print(first is second, [e.name for e in entries], len(second.graph.get_operations()))
        """
    )
    script.write_text(code, encoding="utf-8")
    done = copies.python([str(script)], tmp_path, dict(os.environ))
    assert done.stdout.startswith(b"False ['NpuOptimizer']")


def test_without_tensorflow():
    """Without TensorFlow the first use says what is missing, the import of the package nothing."""
    code = textwrap.dedent(
        """
        import sys
        sys.modules["tensorflow"] = None
        import npu_config, npu_config.tf1
        try:
            npu_config.tf1.set_iteration_per_loop(None, None, 10)
        except ImportError as error:
            print(error)
        """
    )
    output = subprocess.check_output([sys.executable, "-c", code], universal_newlines=True)
    assert "needs TensorFlow 1.15" in output
