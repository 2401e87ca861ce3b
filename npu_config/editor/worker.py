"""A process of its own that works while the server answers, and may end without harm to it."""

import os
import pickle
import subprocess
import sys
from typing import Any, BinaryIO, Callable, Optional

__all__ = ["EndedError", "WorkerProcess", "serve"]

_START = "import sys; sys.path[:] = {!r}; from npu_config.editor.worker import serve; serve()"


class EndedError(Exception):
    """The process ended before it answered."""


class WorkerProcess:
    """Calls a function in another process, one call after another.

    The process is started by the first call, and anew after its end; it ends with this one.

    Args:
        make: makes the function, in the other process; is found there by its name.
    """

    def __init__(self, make: Callable[[], Callable[..., Any]]) -> None:
        self._make = make
        self._process: Optional[subprocess.Popen[bytes]] = None

    @property
    def started(self) -> bool:
        """Whether there is a process, which remembers earlier calls."""
        return self._process is not None

    def __call__(self, *arguments: Any) -> Any:
        """What the function returns.

        Raises:
            EndedError: the process ended.
            Exception: what the function raised.
        """
        process = self._process or self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(arguments, process.stdin)
            raised, answer = pickle.load(process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self.end()
            raise EndedError(str(error)) from error
        if raised:
            raise answer
        return answer

    def end(self) -> None:
        """End the process, whatever it is doing."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def start(self) -> "subprocess.Popen[bytes]":
        """Start the process."""
        words = [sys.executable, "-c", _START.format([os.path.abspath(p) for p in sys.path])]
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt is for the server, whose end ends it
        )
        assert process.stdin is not None
        _send(self._make, process.stdin)
        self._process = process
        return process


def _send(value: Any, stream: Any) -> None:
    stream.write(pickle.dumps(value))
    stream.flush()


def serve() -> None:
    """What the process does: answer until nobody asks any more."""
    asked: BinaryIO = sys.stdin.buffer
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what is printed is no answer
        function = pickle.load(asked)()
        while True:
            try:
                arguments = pickle.load(asked)
            except EOFError:
                return
            try:
                _send((False, function(*arguments)), answers)
            except Exception as error:
                _send((True, RuntimeError("{}: {}".format(type(error).__name__, error))), answers)
