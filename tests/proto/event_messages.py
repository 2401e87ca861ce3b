"""Event messages and files written by hand, for tests without TensorFlow."""

import struct

from npu_config.proto.event_files import masked_crc32c


def varint(number):
    """The wire form of an unsigned number."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, content):
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(dtype, shape, content):
    """A TensorProto with tensor_content."""
    dims = b"".join(field(2, b"\x08" + varint(size)) for size in shape)
    return b"\x08" + varint(dtype) + field(2, dims) + field(4, content)


def scalar_value(tag, number):
    """A Summary.Value with simple_value."""
    return field(1, tag.encode()) + b"\x15" + struct.pack("<f", number)


def event(step, values, wall_time=1.5e9):
    """An Event with summary values."""
    summary = b"".join(field(1, value) for value in values)
    return b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step) + field(5, summary)


def record(data):
    """One framed record."""
    length = struct.pack("<Q", len(data))
    return (
        length
        + struct.pack("<I", masked_crc32c(length))
        + data
        + struct.pack("<I", masked_crc32c(data))
    )


def scalars(points, tag="loss_scale"):
    """An event file with one scalar per step."""
    version = b"\x09" + struct.pack("<d", 1.0) + field(3, b"brain.Event:2")
    return record(version) + b"".join(
        record(event(step, [scalar_value(tag, number)])) for step, number in points
    )
