"""Writes dump files and overflow records, from the facts and independently of the reader."""

import struct


def varint(number):
    """A number as protobuf writes it."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def number_field(field, number):
    """A field with a number; 0 is not written."""
    return varint(field << 3) + varint(number) if number else b""


def bytes_field(field, content):
    """A field with bytes."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def shape_field(field, sizes, packed=True):
    """A field with a Shape."""
    if packed:
        return bytes_field(field, bytes_field(1, b"".join(map(varint, sizes))))
    return bytes_field(field, b"".join(varint(8) + varint(size) for size in sizes))


def tensor(
    side,
    data,
    shape=None,
    code=1,
    format_code=2,
    original=None,
    origin=None,
    size=None,
    address=0,
    sub_format=0,
    packed=True,
):
    """The header of a tensor and its bytes."""
    is_input = side == "input"
    header = number_field(1, code) + number_field(2, format_code)
    header += shape_field(3, shape or (), packed)
    if origin is not None:
        name, index, origin_format = origin
        text = bytes_field(1, name.encode()) + number_field(2, index)
        header += bytes_field(4, text + number_field(3, 1) + number_field(4, origin_format))
    header += number_field(5 if is_input else 6, len(data) if size is None else size)
    if original is not None:
        header += shape_field(6 if is_input else 7, original, packed)
    header += number_field(7 if is_input else 8, sub_format)
    header += number_field(8 if is_input else 9, address)
    return side, header, data


def dump(op_name, tensors, time=1767323045000000, extra=b""):
    """The bytes of a dump file; the header has outputs first, the data inputs first."""
    header = bytes_field(1, b"2.0") + number_field(2, time)
    for side, field in (("output", 3), ("input", 4)):
        for kind, part, _ in tensors:
            if kind == side:
                header += bytes_field(field, part)
    header += bytes_field(6, op_name.encode()) + extra
    data = b"".join(
        content for side in ("input", "output") for kind, _, content in tensors if kind == side
    )
    return struct.pack("<Q", len(header)) + header + data


CODES = {
    "float32": 1, "float16": 2, "int8": 3, "uint8": 4, "int16": 5, "uint16": 6, "int32": 7,
    "int64": 8, "uint32": 9, "uint64": 10, "bool": 11, "float64": 12, "complex64": 16,
    "complex128": 17,
}  # fmt: skip


def array(side, values, **more):
    """A tensor of numpy values."""
    return tensor(side, values.tobytes(), values.shape, code=CODES[values.dtype.name], **more)


def step_folder(root, step=0, run="20260102030405", device=0, model="net", model_id=1):
    """The folder of a step in a dump, made."""
    folder = root / run / str(device) / model / str(model_id) / str(step)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def operator(folder, name, tensors, op_type="Add", task=1, stream=2, time=1767323045000000):
    """Write the dump of an operator; returns its path."""
    plain = name
    for character in " ./\\":
        plain = plain.replace(character, "_")
    path = folder / "{}.{}.{}.{}.{}".format(op_type, plain, task, stream, time)
    path.write_bytes(dump(name, tensors, time))
    return path


def opdebug(folder, task, stream, status, time=1767323045000000, context=None):
    """Write a record of an overflow on the AI Core."""
    data = bytearray(2048)
    struct.pack_into("<6Q", data, 256, 1, stream, task, 0, 0x1000, 0x2000)
    struct.pack_into("<3Q", data, 1024, 0x11, 0, status)
    path = folder / "Opdebug.Node_OpDebug.90.5.{}".format(time)
    record = tensor(
        "output", bytes(data), (2048,), code=4, original=(), origin=("Node_OpDebug", 0, 2)
    )
    path.write_bytes(dump("Node_OpDebug", [record], time))
    return path
