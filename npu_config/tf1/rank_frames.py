"""Messages between the ranks of a job on one machine: a JSON head, and arrays as raw bytes.

No code travels: heads are JSON, and arrays are numbers of a named type.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, Dict, List, Sequence, Tuple

if TYPE_CHECKING:
    import socket

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
