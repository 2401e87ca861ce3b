"""How the ranks of a job on one machine talk: their messages, and the connection of this process.

A message is a JSON head, and arrays as raw bytes.  No code travels: heads are JSON, and arrays are
numbers of a named type.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import struct
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

from npu_config.tf1._lazy import errors, rules

ADDRESS = "NPU_CONFIG_RANKS"
"""The variable with the path of the job's socket, for a process of a job on this machine."""

_LENGTH = struct.Struct("<I")


class ClosedError(Exception):
    """The other end has gone."""


def send(connection: socket.socket, head: Dict[str, Any], arrays: Sequence[Any] = ()) -> None:
    """Send one message.

    Args:
        connection: a stream socket.
        head: what JSON can hold.
        arrays: NumPy arrays.

    Raises:
        OSError: it cannot be sent.
    """
    text = json.dumps({**head, "arrays": [described(each) for each in arrays]}).encode()
    connection.sendall(_LENGTH.pack(len(text)) + text)
    for each in arrays:
        if each.nbytes:
            connection.sendall(memoryview(each.reshape(-1).view("u1")))


def described(array: Any) -> Tuple[str, List[int]]:
    """The type and the shape of an array, as JSON can hold them."""
    return array.dtype.name, list(array.shape)


def receive(connection: socket.socket) -> Tuple[Dict[str, Any], List[Any]]:
    """The next message: its head and its arrays.

    Raises:
        ClosedError: there is none, for the other end has gone.
    """
    head = json.loads(_bytes(connection, *_LENGTH.unpack(_bytes(connection, _LENGTH.size))))
    return head, [_array(connection, *each) for each in head.pop("arrays")]


def _array(connection: socket.socket, dtype: str, shape: List[int]) -> Any:
    import numpy

    found: Any = numpy.empty(shape, dtype)
    if found.nbytes:
        _fill(connection, memoryview(found.reshape(-1).view("u1")))
    return found


def _bytes(connection: socket.socket, count: int) -> bytearray:
    found = bytearray(count)
    _fill(connection, memoryview(found))
    return found


def _fill(connection: socket.socket, view: memoryview) -> None:
    while view:
        try:
            count = connection.recv_into(view)
        except OSError as error:
            raise ClosedError from error
        if not count:
            raise ClosedError
        view = view[count:]


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
        send(self._connection, {"rank": rank, "pid": self.pid})
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
                send(self._connection, {**head, "number": number}, arrays)
        except OSError:
            with self._lock:
                self._end("npu-config run, which started the ranks, has ended")
        answer.here.wait()
        if "error" in answer.head:
            raise rules.collective_failed.error(answer.head["error"], kind=errors.VendorError)
        return answer.arrays

    def _read(self) -> None:
        try:
            while True:
                head, arrays = receive(self._connection)
                with self._lock:
                    self.stopped = self.stopped or head.get("stopped", False)
                    answer = self._waiting.pop(head["number"], None)
                if answer is not None:
                    answer.head, answer.arrays = head, arrays
                    answer.here.set()
        except ClosedError:
            with self._lock:
                self._end("npu-config run, which started the ranks, has ended")

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
    rank, _, path = os.environ.get(ADDRESS, "").partition(":")
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
