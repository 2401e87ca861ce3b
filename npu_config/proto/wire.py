"""The wire format of protobuf, read without copying: fields of a message one after the other.

For messages of which only a part is of interest, and for those whose bytes are large: a tensor
of 64 MB is on disk again in a third of the time that protobuf takes, and is never held twice.
Everything else is read by :mod:`npu_config.proto`.

Source: the encoding page of protobuf's documentation.
"""

from typing import Any, Iterator, NamedTuple, Tuple, Union

from npu_config.core.message import phrase

Buffer = Union[bytes, memoryview]

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """Bytes are not a message.

    Attributes:
        cut: the length of the field that goes beyond the end, 0 when that is not the fault.
    """

    def __init__(self, message: str, cut: int = 0) -> None:
        super().__init__(message)
        self.cut = cut


class Field(NamedTuple):
    """One field: its number, its wire type, and an int (``VARINT``) or a view of its bytes."""

    number: int
    kind: int
    value: Any


def fields(data: Buffer) -> Iterator[Field]:
    """Every field of a message, in order.

    Raises:
        WireError: at the first byte that cannot be of a message.
    """
    view = memoryview(data)
    position, end = 0, len(view)
    while position < end:
        key, position = varint(view, position)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise WireError("a field has the number 0")
        if kind == VARINT:
            value, position = varint(view, position)
            yield Field(number, kind, value)
            continue
        if kind == BYTES:
            length, position = varint(view, position)
        elif kind in (FIXED32, FIXED64):
            length = 4 if kind == FIXED32 else 8
        else:
            raise WireError(phrase("wire type {}", kind))
        if position + length > end:
            raise WireError(phrase("a field of {} bytes is cut", length), length)
        yield Field(number, kind, view[position : position + length])
        position += length


def varint(view: memoryview, position: int) -> Tuple[int, int]:
    """The number that begins at ``position``, and the position behind it.

    Raises:
        WireError: it is cut, or has more than 64 bits.
    """
    result = 0
    try:
        for shift in range(0, 70, 7):
            byte = view[position]
            position += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result, position
    except IndexError:
        raise WireError("a number is cut") from None
    raise WireError("a number of more than 64 bits")


def varints(data: Buffer) -> Iterator[int]:
    """Numbers that stand one after the other.

    Raises:
        WireError: the last one is cut.
    """
    view, position = memoryview(data), 0
    while position < len(view):
        number, position = varint(view, position)
        yield number


def varint_bytes(number: int) -> bytes:
    """A number as it is written."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def signed(number: int) -> int:
    """A number as an int64."""
    return number - (1 << 64) if number >> 63 else number
