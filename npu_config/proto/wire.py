"""The wire format of protobuf, read without copying: fields of a message one after the other.

For messages of which only a part is of interest, and for those whose bytes are large: a tensor
of 64 MB is on disk again in a third of the time that protobuf takes, and is never held twice.
Everything else is read by :mod:`npu_config.proto`.

Source: the encoding page of protobuf's documentation.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

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


Field = Tuple[int, int, Any]
"""One field: its number, its wire type, and an int (``VARINT``) or a view of its bytes."""


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
            yield number, kind, value
            continue
        if kind == BYTES:
            length, position = varint(view, position)
        elif kind in (FIXED32, FIXED64):
            length = 4 if kind == FIXED32 else 8
        else:
            raise WireError(phrase("unsupported wire type {}", kind))
        start, position = position, position + length
        if position > end:
            raise WireError(phrase("a field of {} bytes is truncated", length), length)
        yield number, kind, view[start:position]


class WireMessage(Dict[Tuple[int, int], List[Any]]):
    """The fields of a message by number and wire type, for those who know what each holds.

    A field of another wire type than the one that is asked for counts as absent; of several
    that should be one the last is used.
    """

    __slots__ = ("_most",)

    def __init__(self, data: Buffer, most: Optional[int] = None) -> None:
        """Read the fields; those of messages inside are read when they are asked for.

        Args:
            data: the bytes.
            most: how many fields this message, and each inside, may have; None: any number.

        Raises:
            WireError: the bytes are not a message, or have more fields.
        """
        self._most = most
        for count, (number, kind, value) in enumerate(fields(data)):
            if count == most:
                raise WireError(phrase("the message has more than {:,} fields", most))
            key = number, kind
            if key in self:
                self[key].append(value)
            else:
                self[key] = [value]

    def last(self, number: int, kind: int, default: Any = None) -> Any:
        """The value of a field."""
        values = self.get((number, kind))
        return values[-1] if values else default

    def number(self, number: int) -> int:
        """A number, 0 when it is not there."""
        return int(self.last(number, VARINT, 0))

    def text(self, number: int) -> str:
        """A text, empty when it is not there; what is not UTF-8 is replaced."""
        return str(self.last(number, BYTES, b""), "utf-8", "replace")

    def messages(self, number: int) -> List[WireMessage]:
        """The messages of a field."""
        return [WireMessage(part, self._most) for part in self.get((number, BYTES), ())]

    def numbers(self, number: int) -> Iterator[int]:
        """The numbers of a field with several, packed or not."""
        yield from self.get((number, VARINT), ())
        for part in self.get((number, BYTES), ()):
            yield from varints(part)


def varint(view: memoryview, position: int) -> Tuple[int, int]:
    """The number that begins at ``position``, and the position behind it.

    Raises:
        WireError: it is cut, or has more than 64 bits.
    """
    try:
        result = view[position]
        position += 1
        if result < 0x80:
            return result, position
        result &= 0x7F
        for shift in range(7, 70, 7):
            byte = view[position]
            position += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result, position
    except IndexError:
        raise WireError("a number is truncated") from None
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


def signed(number: int) -> int:
    """A number as an int64."""
    return number - (1 << 64) if number >> 63 else number
