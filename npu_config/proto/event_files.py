"""TensorFlow event files, read directly: record framing and the few fields that matter.

Two kinds of files hold ``Event`` messages: summaries (``events.out.tfevents.*``: framed
records, one event each) and the dumps of tfdbg (one bare event per file).  Only what the
reports need is decoded: wall time, step, and per value the tag, node name and number or
tensor.  Neither TensorFlow nor protobuf is needed.

Source: the public formats tensorflow/core/util/event.proto, framework/summary.proto,
framework/tensor.proto and lib/io/record_writer (TensorFlow 1.15).
"""

import contextlib
import functools
import struct
from typing import BinaryIO, Dict, Iterator, NamedTuple, Optional, Tuple

from npu_config.core.message import phrase
from npu_config.proto import varint_bytes
from npu_config.proto.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Buffer,
    WireError,
    WireMessage,
    signed,
    varints,
)

#: The longest record that is believed; protobuf itself ends at 2 GiB.
MAX_RECORD = 1 << 31
#: A tensor of more bytes is believed only when it holds a thousandth of them: the last element
#: stands for all that follow.
MAX_REPEATED = 1 << 24
#: TensorFlow's own limit.
MAX_RANK = 254


class EventFileError(ValueError):
    """Bytes are not an event file; the text says what is wrong and where."""


@contextlib.contextmanager
def _wire_faults() -> Iterator[None]:
    try:
        yield
    except WireError as error:
        raise EventFileError(phrase("this record is not an event: {}", error)) from None


class DType(NamedTuple):
    """How a tensor of one data type is stored.

    ``descr`` is the array-interface type text of numpy (``"<f4"``), ``size`` the bytes of
    one element, ``field`` the TensorProto field that holds single values, ``form`` how
    they are written there: a :mod:`struct` code of fixed width, ``"varint"``, or
    ``"bits"`` (float16 and bfloat16 as integers).
    """

    name: str
    descr: str
    size: int
    field: int
    form: str


DTYPES: Dict[int, DType] = {
    1: DType("float32", "<f4", 4, 5, "f"),
    2: DType("float64", "<f8", 8, 6, "d"),
    3: DType("int32", "<i4", 4, 7, "varint"),
    4: DType("uint8", "|u1", 1, 7, "varint"),
    5: DType("int16", "<i2", 2, 7, "varint"),
    6: DType("int8", "|i1", 1, 7, "varint"),
    8: DType("complex64", "<c8", 8, 9, "f"),
    9: DType("int64", "<i8", 8, 10, "varint"),
    10: DType("bool", "|b1", 1, 11, "varint"),
    11: DType("qint8", "|i1", 1, 7, "varint"),
    12: DType("quint8", "|u1", 1, 7, "varint"),
    13: DType("qint32", "<i4", 4, 7, "varint"),
    14: DType("bfloat16", "<u2", 2, 13, "bits"),
    15: DType("qint16", "<i2", 2, 7, "varint"),
    16: DType("quint16", "<u2", 2, 7, "varint"),
    17: DType("uint16", "<u2", 2, 7, "varint"),
    18: DType("complex128", "<c16", 16, 12, "d"),
    19: DType("float16", "<f2", 2, 13, "bits"),
    22: DType("uint32", "<u4", 4, 16, "varint"),
    23: DType("uint64", "<u8", 8, 17, "varint"),
}
STRING = 7
BFLOAT16 = 14
_REF = 100
_OTHER_FIELDS = (1, 2, 4, 8, 14, 15)
"""The fields of a TensorProto that are not values of a fixed width."""


class EventTensor(NamedTuple):
    """A TensorProto; ``shape`` is None when it is not known.

    ``content`` is ``tensor_content``; ``values`` the pieces of the field that holds
    single values, as they stand in the file.
    """

    dtype: int
    shape: Optional[Tuple[int, ...]]
    content: Buffer
    values: Tuple[Tuple[int, Buffer], ...]
    strings: Tuple[bytes, ...]


class SummaryValue(NamedTuple):
    """One Summary.Value."""

    tag: str
    node_name: str
    number: Optional[float]
    tensor: Optional[EventTensor]


class Event(NamedTuple):
    """One Event; an event without summary has no values."""

    wall_time: float
    step: int
    values: Tuple[SummaryValue, ...]


def read_events(stream: BinaryIO, verify: bool = False) -> Iterator[Event]:
    """The events of a summary file.

    Args:
        stream: the file, opened in binary mode.
        verify: check the checksum of every record (slow in pure Python), not only that
            of its length.

    Raises:
        EventFileError: this is no record file, or a record is damaged.  A record that is
            cut off by the end of the file ends the iteration: the writer may be at work.
    """
    offset = 0
    while True:
        head = stream.read(12)
        if len(head) < 12:
            if offset == 0 and head:
                raise EventFileError("not a TensorFlow event file: it is too short")
            return
        length, checksum = struct.unpack("<QI", head)
        if masked_crc32c(head[:8]) != checksum or length > MAX_RECORD:
            if offset == 0:
                raise EventFileError("not a TensorFlow event file: no record at its start")
            raise EventFileError(phrase("the record at byte {} is damaged", offset))
        data = stream.read(length)
        foot = stream.read(4)
        if len(foot) < 4:
            return
        if verify and masked_crc32c(data) != struct.unpack("<I", foot)[0]:
            raise EventFileError(phrase("the record at byte {} is damaged", offset))
        yield parse_event(data)
        offset += 16 + length


@_wire_faults()
def parse_event(data: Buffer) -> Event:
    """Decode one Event message.

    Raises:
        EventFileError: the bytes are not an Event.
    """
    event = WireMessage(data)
    (wall_time,) = struct.unpack("<d", event.last(1, FIXED64, bytes(8)))
    values = [_value(each) for part in event.messages(5) for each in part.messages(1)]
    return Event(wall_time, signed(event.number(2)), tuple(values))


def _value(value: WireMessage) -> SummaryValue:
    single = value.last(2, FIXED32)
    number = None if single is None else struct.unpack("<f", single)[0]
    tensors = value.messages(8)
    return SummaryValue(
        value.text(1), value.text(7), number, _tensor(tensors[-1]) if tensors else None
    )


def _tensor(tensor: WireMessage) -> EventTensor:
    shapes = tensor.messages(2)
    values = [
        (number, varint_bytes(value) if kind == VARINT else value)
        for (number, kind), found in tensor.items()
        if number not in _OTHER_FIELDS
        for value in found
    ]
    return EventTensor(
        tensor.number(1) % _REF,
        _shape(shapes[-1]) if shapes else (),
        tensor.last(4, BYTES, b""),
        tuple(values),
        tuple(bytes(each) for each in tensor.get((8, BYTES), ())),
    )


def _shape(shape: WireMessage) -> Optional[Tuple[int, ...]]:
    sizes = tuple(signed(each.number(1)) for each in shape.messages(2))
    if len(sizes) > MAX_RANK:
        raise EventFileError(
            phrase("a tensor has {} dimensions; at most {} are supported", len(sizes), MAX_RANK)
        )
    return None if shape.number(3) or any(size < 0 for size in sizes) else sizes


def elements(tensor: EventTensor) -> int:
    """How many elements a tensor of known shape has, or more than a record can hold."""
    count = 1
    for size in tensor.shape or ():
        count = min(count * size, 2 * MAX_RECORD) if count else 0
    return count


@_wire_faults()
def raw_content(tensor: EventTensor) -> Buffer:
    """The elements of a tensor of a fixed-width type, little-endian, in row-major order.

    Raises:
        EventFileError: the type has no fixed width, or the content does not fit the shape.
    """
    dtype = DTYPES.get(tensor.dtype)
    if dtype is None or tensor.shape is None:
        raise EventFileError(
            phrase("the values of a tensor of type {} cannot be read", tensor.dtype)
        )
    size = elements(tensor) * dtype.size
    if size > MAX_RECORD:
        raise EventFileError(phrase("a tensor of {} bytes is too large for a record", size))
    if len(tensor.content):
        if len(tensor.content) != size:
            raise EventFileError(
                phrase(
                    "a tensor requires {} bytes for its shape, but contains {} bytes",
                    size,
                    len(tensor.content),
                )
            )
        return tensor.content
    pieces = [piece for number, piece in tensor.values if number == dtype.field]
    if dtype.form in ("f", "d"):
        data = b"".join(pieces)
        if len(data) % dtype.size:
            raise EventFileError("a tensor ends in the middle of an element")
    else:
        mask = (1 << (8 * dtype.size)) - 1
        data = b"".join(
            (number & mask).to_bytes(dtype.size, "little")
            for piece in pieces
            for number in varints(piece)
        )
    if len(data) > size:
        raise EventFileError("a tensor has more values than its shape allows")
    refuse_repeated(len(data), size)
    if len(data) < size:
        last = data[-dtype.size :] or bytes(dtype.size)
        data += last * ((size - len(data)) // dtype.size)
    return data


def refuse_repeated(held: int, size: int) -> None:
    """Refuse a large tensor that is nearly all made of its last element.

    Raises:
        EventFileError: it is one.
    """
    if size > max(MAX_REPEATED, 1000 * held):
        raise EventFileError(
            phrase(
                "a tensor requires {:,} bytes for its shape, but contains {:,} bytes", size, held
            )
        )


def scalar(value: SummaryValue) -> Optional[float]:
    """The number of a summary value, plain or as a scalar tensor; None for anything else."""
    if value.number is not None or value.tensor is None:
        return value.number
    dtype = DTYPES.get(value.tensor.dtype)
    if dtype is None or value.tensor.shape != () or dtype.name not in ("float32", "float64"):
        return None
    (number,) = struct.unpack("<" + dtype.form, raw_content(value.tensor))
    return float(number)


@functools.lru_cache(maxsize=None)
def _crc_table() -> Tuple[int, ...]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return tuple(table)


def masked_crc32c(data: Buffer) -> int:
    """The checksum of the record format: CRC-32C, rotated and offset."""
    table = _crc_table()
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
