"""The connection of a process to the other ranks of its job on this machine."""

from __future__ import annotations

import itertools
import os
import socket
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

from npu_config.tf1 import rank_frames
from npu_config.tf1._lazy import errors, rules


class _Answer:
    """What a caller waits for."""

    def __init__(self) -> None:
        self.here = threading.Event()
        self.head: Dict[str, Any] = {}
        self.arrays: List[Any] = []


class RankConnection:
    """A connection; several threads may call over it at the same time.

    Args:
        path: the socket of the job.
        rank: the rank of this process.
    """

    def __init__(self, path: str, rank: int) -> None:
        self.pid = os.getpid()
        self.stopped = False
        self._gone = ""
        self._numbers = itertools.count()
        self._waiting: Dict[int, _Answer] = {}
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connection.connect(path)
        rank_frames.send(self._connection, {"rank": rank, "pid": self.pid})
        threading.Thread(target=self._read, name="npu-config-ranks", daemon=True).start()

    def call(self, head: Dict[str, Any], arrays: Sequence[Any]) -> List[Any]:
        """Take part in a collective, and wait for its result.

        Args:
            head: which one; see :class:`npu_config.runner.hub.Hub`.
            arrays: what this rank gives.

        Raises:
            VendorError: it cannot be done; the text says why, the same in all ranks.
        """
        answer = _Answer()
        number = next(self._numbers)
        with self._lock:
            self._waiting[number] = answer
            if self._gone:
                self._end(self._gone)
        try:
            with self._sending:
                rank_frames.send(self._connection, {**head, "number": number}, arrays)
        except OSError:
            with self._lock:
                self._end("npu-config run has gone, which started the ranks")
        answer.here.wait()
        if "error" in answer.head:
            raise rules.collective_failed.error(answer.head["error"], kind=errors.VendorError)
        return answer.arrays

    def _read(self) -> None:
        try:
            while True:
                head, arrays = rank_frames.receive(self._connection)
                with self._lock:
                    self.stopped = self.stopped or head.get("stopped", False)
                    answer = self._waiting.pop(head["number"], None)
                if answer is not None:
                    answer.head, answer.arrays = head, arrays
                    answer.here.set()
        except rank_frames.ClosedError:
            with self._lock:
                self._end("npu-config run has gone, which started the ranks")

    def _end(self, why: str) -> None:
        """Answer everybody who waits; the lock is held."""
        self._gone = why
        for answer in self._waiting.values():
            answer.head = {"error": why}
            answer.here.set()
        self._waiting.clear()


_LINKS: List[RankConnection] = []
_LOCK = threading.Lock()


def place() -> Optional[Tuple[str, int]]:
    """The socket of the job and the rank of this process, in a job on this machine."""
    rank, _, path = os.environ.get(rank_frames.ADDRESS, "").partition(":")
    return (path, int(rank)) if path else None


def link() -> RankConnection:
    """The connection of this process, made when it is asked for first.

    Raises:
        VendorError: the job has ended.
    """
    with _LOCK:
        if not _LINKS or _LINKS[0].pid != os.getpid():
            found = place()
            assert found is not None
            try:
                _LINKS[:] = [RankConnection(*found)]
            except OSError as error:
                raise rules.collective_failed.error(
                    "the job of this rank cannot be reached: {}".format(error.strerror or error),
                    kind=errors.VendorError,
                ) from None
        return _LINKS[0]


def stopped() -> bool:
    """Whether another rank was stopped as asked, and this one has to stop with it."""
    return any(each.stopped for each in _LINKS)
