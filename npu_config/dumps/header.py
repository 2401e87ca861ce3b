"""The header of a dump: a protobuf message, decoded without a schema and within limits.

Unknown fields are skipped; texts that are not UTF-8 are shown with replacement characters.
No more is kept than a real header holds, so a damaged one cannot fill the memory.

Source: facts dump.yaml, ``messages``.
"""

from typing import Dict, List, NamedTuple, Optional, Tuple

from npu_config.core.message import phrase
from npu_config.dumps.data_types import DataType, data_type
from npu_config.dumps.formats import PRIMARY, format_name
from npu_config.text.wire import BYTES, VARINT, WireError, fields, varints

MAX_TENSORS = 1 << 16
MAX_DIMENSIONS = 32


class HeaderError(ValueError):
    """Bytes are not a header; the text says why."""


class OriginalOp(NamedTuple):
    """The operator of the network that an output stands for.

    Args:
        name: its name in the framework.
        output_index: which of its outputs.
        data_type: there, e.g. ``"DT_FLOAT"``.
        format: there, e.g. ``"NHWC"``.
    """

    name: str
    output_index: int
    data_type: str
    format: str


class TensorHeader(NamedTuple):
    """What the header says of one input or output; sizes in bytes."""

    kind: DataType
    format: str
    shape: Tuple[int, ...]
    original_shape: Tuple[int, ...]
    size: int
    sub_format: int
    address: int
    original_op: Optional[OriginalOp]


class Header(NamedTuple):
    """What the header says of one execution of an operator.

    ``dump_time`` is in microseconds; ``others`` are the sizes of buffers and workspaces, which
    follow the tensors in the file; ``attributes`` are texts, mostly JSON.
    """

    version: str
    dump_time: int
    op_name: str
    inputs: Tuple[TensorHeader, ...]
    outputs: Tuple[TensorHeader, ...]
    others: Tuple[int, ...]
    attributes: Tuple[Tuple[str, str], ...]


class _Numbers(NamedTuple):
    """The field numbers of a tensor, which inputs and outputs do not share."""

    size: int
    original_shape: int
    sub_format: int
    address: int
    original_op: int


_INPUT = _Numbers(5, 6, 7, 8, -1)
_OUTPUT = _Numbers(6, 7, 8, 9, 4)


def parse_header(data: memoryview) -> Header:
    """Decode the bytes behind the length.

    Raises:
        HeaderError: they are not a header.
    """
    try:
        return _header(data)
    except WireError as error:
        raise HeaderError(phrase("the header is not a protobuf message: {}", error)) from None


def _header(data: memoryview) -> Header:
    texts: Dict[int, str] = {1: "", 6: ""}
    time = known = 0
    inputs: List[TensorHeader] = []
    outputs: List[TensorHeader] = []
    others: Tuple[List[int], List[int]] = ([], [])
    attributes: List[Tuple[str, str]] = []
    for number, kind, value in fields(data):
        if number == 2 and kind == VARINT:
            time = value
        elif kind != BYTES:
            continue
        elif number in texts:
            texts[number] = _text(value)
        elif number == 3:
            outputs.append(_tensor_header(value, _OUTPUT))
        elif number == 4:
            inputs.append(_tensor_header(value, _INPUT))
        elif number in (5, 8):
            others[number == 8].append(_size(value))
        elif number == 7:
            attributes.append(_attribute(value))
        else:
            continue
        known += 1
        if known > MAX_TENSORS:
            raise HeaderError(phrase("the header names more than {:,} tensors", MAX_TENSORS))
    if not known:
        raise HeaderError("the header names neither an operator nor a tensor")
    return Header(
        texts[1],
        time,
        texts[6],
        tuple(inputs),
        tuple(outputs),
        (*others[0], *others[1]),
        tuple(attributes),
    )


def _tensor_header(data: memoryview, numbers: _Numbers) -> TensorHeader:
    numeric: Dict[int, int] = {}
    shapes: Dict[int, Tuple[int, ...]] = {}
    original: Optional[OriginalOp] = None
    for number, kind, value in fields(data):
        if kind == VARINT:
            numeric[number] = value
        elif kind != BYTES:
            continue
        elif number in (3, numbers.original_shape):
            shapes[number] = _shape(value)
        elif number == numbers.original_op:
            original = _original_op(value)
    get = numeric.get
    packed = get(2, 0)
    return TensorHeader(
        data_type(get(1, 0)),
        format_name(packed),
        shapes.get(3, ()),
        shapes.get(numbers.original_shape, ()),
        get(numbers.size, 0),
        get(numbers.sub_format, 0) or (packed & 0xFFFF00) // (PRIMARY + 1),
        get(numbers.address, 0),
        original,
    )


def _shape(data: memoryview) -> Tuple[int, ...]:
    sizes: List[int] = []
    for number, kind, value in fields(data):
        if number != 1 or kind not in (VARINT, BYTES):
            continue
        for size in (value,) if kind == VARINT else varints(value):
            sizes.append(size)
            if len(sizes) > MAX_DIMENSIONS:
                message = "a shape has more than {} dimensions"
                raise HeaderError(phrase(message, MAX_DIMENSIONS))
    return tuple(sizes)


def _original_op(data: memoryview) -> Optional[OriginalOp]:
    name, numeric = "", {2: 0, 3: 0, 4: 0}
    for number, kind, value in fields(data):
        if number == 1 and kind == BYTES:
            name = _text(value)
        elif number in numeric and kind == VARINT:
            numeric[number] = value
    if not name:
        return None
    return OriginalOp(name, numeric[2], data_type(numeric[3]).name, format_name(numeric[4]))


def _size(data: memoryview) -> int:
    size = 0
    for number, kind, value in fields(data):
        if number == 3 and kind == VARINT:
            size = value
    return size


def _attribute(data: memoryview) -> Tuple[str, str]:
    found: Dict[int, str] = {1: "", 2: ""}
    for number, kind, value in fields(data):
        if number in found and kind == BYTES:
            found[number] = _text(value)
    return found[1], found[2]


def _text(value: memoryview) -> str:
    return bytes(value).decode("utf-8", "replace")
