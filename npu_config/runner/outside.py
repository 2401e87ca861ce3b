"""Ends of a run past Python: a signal, the time that it may take, or ``os._exit`` of the script.

TensorFlow keeps the main thread for as long as a ``session.run`` takes, for ever where it hangs,
and Python handles signals in that thread alone.  Python's wakeup descriptor hears of them at
once; a thread of ours, which ``threading`` does not list, reads it.
"""

import _thread
import contextlib
import os
import select
import signal
import threading
import time
from typing import Any, Callable, Iterator, Optional

from npu_config.core.message import phrase

EXITED = "os._exit"
"""What is told of a script that ends the process itself."""

TIMED_OUT = 124
"""The exit code of a run whose time is over, as that of ``timeout``."""

_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ended_from_outside(
    finish: Callable[[str, int], None], timeout: Optional[float] = None
) -> Iterator[None]:
    """Inside, what ends a process past Python ends it after a last call: signals, and the time.

    A signal that the script handles itself, or that is ignored (``nohup``), is left alone.

    Args:
        finish: called in another thread with what ends the process, in words, and with the exit
            code; the process ends when it returns.
        timeout: seconds; None: any time.
    """
    end = _End(finish, timeout)
    end.start()
    try:
        yield
    finally:
        end.stop()


class _End:
    """Waits for what ends the process."""

    def __init__(self, finish: Callable[[str, int], None], timeout: Optional[float]) -> None:
        self._finish = finish
        self._timeout = timeout
        self._until = None if timeout is None else time.monotonic() + timeout
        self._ending = threading.Lock()
        self._heard = 0
        self._hear, self._tell = os.pipe()
        self._exit, self._process = os._exit, os.getpid()
        os.set_blocking(self._tell, False)

    def start(self) -> None:
        """Listen from now on."""
        self._before = -1
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, self._handle)
            self._before = signal.set_wakeup_fd(self._tell, warn_on_full_buffer=False)
            os.register_at_fork(after_in_child=self._leave_alone)
        os._exit = self._exits  # type: ignore[assignment]
        _thread.start_new_thread(self._listen, ())

    def stop(self) -> None:
        """Listen no longer; where the process is being ended already, wait for that."""
        self._ending.acquire()
        if os._exit == self._exits:
            os._exit = self._exit
        self._leave_alone()
        with contextlib.suppress(BlockingIOError):
            os.write(self._tell, b"\0")

    def _leave_alone(self) -> None:
        """Let signals be; in a process that the script forks they are those of the script."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _SIGNALS:
            if signal.getsignal(number) == self._handle:
                signal.signal(number, signal.SIG_DFL)
        now = signal.set_wakeup_fd(-1)
        if now != self._tell:
            signal.set_wakeup_fd(now)

    def _handle(self, number: int, frame: Any) -> None:
        """Handle a signal where Python does; the second one ends the process at once."""
        self._heard += 1
        if self._heard > 1:
            self._exit(128 + number)
        with contextlib.suppress(OSError):  # the script may have taken the wakeup descriptor
            os.write(self._tell, bytes([number]))

    def _listen(self) -> None:
        while True:
            left = None if self._until is None else max(self._until - time.monotonic(), 0)
            heard = b""
            if select.select([self._hear], [], [], left)[0]:
                heard = os.read(self._hear, 1)
            if heard == b"\0":
                os.close(self._hear)
                os.close(self._tell)
                return
            if not heard:
                self._end(phrase("timeout of {} s", self._timeout), TIMED_OUT)
            elif signal.getsignal(heard[0]) == self._handle:
                self._end(signal.Signals(heard[0]).name, 128 + heard[0])

    def _exits(self, status: int) -> None:
        """End the process, or one that it has forked, as the script asks."""
        if os.getpid() == self._process:
            self._end(EXITED, status)
        self._exit(status)

    def _end(self, why: str, code: int) -> None:
        """End the process, unless it has ended by itself in the meantime."""
        if self._ending.acquire(blocking=False):
            try:
                self._finish(why, code)
            finally:
                self._exit(code)
