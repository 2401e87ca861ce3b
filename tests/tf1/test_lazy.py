"""What is imported late is imported once, whatever the threads do, and again after a failure."""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.tensorflow


def run(code):
    """What a new process prints."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout.split()


def test_threads(tensorflow):
    """Eight threads whose first call is a wrong one all get the same exception."""
    printed = run(
        """
        import threading
        from npu_config.tf1 import SetIterationsVarHook
        barrier = threading.Barrier(8)
        found = []
        def call():
            barrier.wait()
            try:
                SetIterationsVarHook("x")
            except Exception as error:
                found.append(type(error).__name__)
        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(*found)
        """
    )
    assert printed == ["ArgumentError"] * 8


def test_a_failed_import_is_tried_again(tensorflow):
    """After an import that failed, the next call imports anew."""
    printed = run(
        """
        import sys
        sys.modules["npu_config.core.diagnostics"] = None
        from npu_config.tf1._lazy import errors
        try:
            errors.ArgumentError
        except ImportError:
            print("failed")
        del sys.modules["npu_config.core.diagnostics"]
        print(errors.ArgumentError.__name__)
        """
    )
    assert printed == ["failed", "ArgumentError"]
