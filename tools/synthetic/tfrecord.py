"""TFRecord files with tf.train.Example, written and read without TensorFlow."""

import struct
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping

import numpy as np

from npu_config.proto import varint_bytes, wire

Feature = Any
"""Bytes, a text, a number, an array of numbers, or a list of bytes."""

_POLYNOMIAL = 0x82F63B78


def _table() -> List[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (_POLYNOMIAL if number & 1 else 0)
        table.append(number)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """The checksum of TFRecord (Castagnoli)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def write(path: Path, records: Iterable[bytes]) -> None:
    """Write a TFRecord file."""
    with path.open("wb") as stream:
        for record in records:
            length = struct.pack("<Q", len(record))
            stream.write(length + _masked(length) + record + _masked(record))


def read(path: Path) -> Iterator[bytes]:
    """The records of a TFRecord file.

    Raises:
        ValueError: a checksum is wrong.
    """
    data = path.read_bytes()
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        record = data[at + 12 : at + 12 + length]
        checks = data[at + 8 : at + 12], data[at + 12 + length : at + 16 + length]
        if checks != (_masked(data[at : at + 8]), _masked(record)):
            raise ValueError("{}: a checksum is wrong at byte {}".format(path, at))
        yield record
        at += 16 + length


def example(features: Mapping[str, Feature]) -> bytes:
    """A tf.train.Example as bytes."""
    entries = b"".join(
        _field(1, _field(1, name.encode()) + _field(2, _feature(value)))
        for name, value in features.items()
    )
    return _field(1, entries)


def _feature(value: Feature) -> bytes:
    """bytes_list = 1, float_list = 2, int64_list = 3; each has its values in field 1."""
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return _field(1, _field(1, value))
    array = np.asarray(value).ravel()
    if array.dtype.kind == "f":
        return _field(2, _field(1, array.astype("<f4").tobytes()))
    if array.dtype.kind in "iu":
        numbers = (varint_bytes(int(each) % 2**64) for each in array)
        return _field(3, _field(1, b"".join(numbers)))
    return _field(1, b"".join(_field(1, each) for each in value))


def _field(number: int, data: bytes) -> bytes:
    return varint_bytes(number << 3 | wire.BYTES) + varint_bytes(len(data)) + data


def features(record: bytes) -> Dict[str, List[Any]]:
    """The features of a tf.train.Example: name to values."""
    result = {}
    for _, _, entries in wire.fields(record):
        for _, _, entry in wire.fields(entries):
            parts = {number: value for number, _, value in wire.fields(entry)}
            result[bytes(parts[1]).decode()] = _values(parts[2])
    return result


def _values(feature: wire.Buffer) -> List[Any]:
    ((kind, _, content),) = wire.fields(feature)
    values = [value for _, _, value in wire.fields(content)]
    if kind == 1:
        return [bytes(value) for value in values]
    (packed,) = values
    if kind == 2:
        return [float(number) for number in np.frombuffer(packed, "<f4")]
    return [wire.signed(number) for number in wire.varints(packed)]
