"""One dump: the file with its header, its tensors, and their values where they are asked for.

A file is a length (eight bytes, lowest first), the header, and the bytes of all inputs, all
outputs, all buffers and workspaces, without padding.  Opening reads the header alone: a protobuf
message, decoded without a schema and within limits, so that a damaged one cannot fill the memory.
Values are mapped from the file, so a tensor of any size costs what is looked at.

Source: facts dump.yaml, ``container``, ``messages``, ``formats``.
"""

import mmap
import os
from itertools import islice
from typing import (
    Any,
    BinaryIO,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, path_name, reading
from npu_config.dumps import _rules as rules
from npu_config.dumps.data_types import PLAIN, PRIMARY, DataType, data_type, decode, format_name
from npu_config.dumps.layouts import LayoutError, Plan, arranged, blocks, math_prod, plan
from npu_config.proto.wire import BYTES, WireError, WireMessage
from npu_config.text.source import attempted, unreadable

MAX_FIELDS = 1 << 16
"""How many fields a header, and each message in it, may have."""
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


class _Numbers(NamedTuple):
    """The field numbers of a tensor, which inputs and outputs do not share."""

    size: int
    original_shape: int
    sub_format: int
    address: int
    original_op: int


_INPUT = _Numbers(5, 6, 7, 8, -1)
_OUTPUT = _Numbers(6, 7, 8, 9, 4)


def parse_header(data: memoryview) -> WireMessage:
    """The fields of the bytes behind the length.

    Raises:
        HeaderError: they are not a header.
    """
    try:
        header = WireMessage(data, MAX_FIELDS)
    except WireError as error:
        raise _no_message(error) from None
    if not any((number, BYTES) in header for number in (1, 3, 4, 5, 6, 7, 8)):
        raise HeaderError("the header names neither an operator nor a tensor")
    return header


def _no_message(error: WireError) -> HeaderError:
    return HeaderError(phrase("the header is not a protobuf message: {}", error))


def _shape(message: WireMessage, number: int) -> Tuple[int, ...]:
    shapes = message.messages(number)[-1:]
    sizes = tuple(size for each in shapes for size in islice(each.numbers(1), MAX_DIMENSIONS + 1))
    if len(sizes) > MAX_DIMENSIONS:
        raise HeaderError(phrase("a shape has more than {} dimensions", MAX_DIMENSIONS))
    return sizes


def _original_op(message: WireMessage, number: int) -> Optional[OriginalOp]:
    for each in message.messages(number)[-1:]:
        if each.text(1):
            kind, layout = data_type(each.number(3)), format_name(each.number(4))
            return OriginalOp(each.text(1), each.number(2), kind.name, layout)
    return None


BLOCK = 1 << 14
"""How many elements are decoded at a time; a few blocks of float64 fit a processor's cache."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Tensor:
    """An input or output of a dumped operator.

    Args:
        data_type: e.g. ``"DT_FLOAT16"``.
        format: the layout on the device, e.g. ``"NC1HWC0"``.
        shape: on the device.
        original_shape: in the network; empty where the header does not say.
        size: bytes on the device; may be more than the shape needs.
        path: the file.
        offset: where its bytes begin in the file; None when the file does not hold them.
        kind: how the values are stored.
        sub_format: the groups of a filter in FRACTAL_Z.
        original_op: the operator of the network whose output this is; None for inputs, and
            where the header does not say.
        fault: why the values cannot be read, else None.
    """

    data_type: str
    format: str
    shape: Tuple[int, ...]
    original_shape: Tuple[int, ...]
    size: int
    path: str
    offset: Optional[int]
    kind: DataType = attr.ib(repr=False)
    sub_format: int = 0
    original_op: Optional[OriginalOp] = None
    fault: Optional[Diagnostic] = None

    @property
    def elements(self) -> int:
        """How many elements the shape has; a shape without dimensions has one."""
        return math_prod(self.shape)

    def array(self, layout: str = "device", steps: Optional[Plan] = None) -> Any:
        """The values as a numpy array.

        bfloat16 and the floats of eight bits become float32, complex32 becomes complex64; all
        other types are views of the mapped file that cannot be written to.

        Args:
            layout: ``"device"`` as stored, with the stored shape; ``"original"`` in the layout
                and shape of the network, without padding.
            steps: how it gets there; None: what :meth:`steps` says.

        Raises:
            NpuConfigError: the values or the layout are not documented, or the file does not
                hold the tensor.
            ImportError: numpy is missing.
        """
        if layout not in ("device", "original"):
            raise ValueError(phrase('layout is {!r}; legal: "device", "original"', layout))
        stored = self._stored()
        if layout == "device":
            return decode(stored, self.kind)
        steps = steps or self.steps()
        shape = self.original_shape or self.shape
        return decode(arranged(stored, steps), self.kind).reshape(shape)

    def blocks(
        self, original: bool = False, limit: int = BLOCK, steps: Optional[Plan] = None
    ) -> Iterator[Any]:
        """The values piece by piece, as flat numpy arrays in C order.

        Args:
            original: in the layout of the network; else as stored.
            limit: about how many elements a piece has.
            steps: how it gets there; None: what :meth:`steps` says.

        Raises:
            NpuConfigError: as :meth:`array` does.
        """
        stored = self._stored()
        if original:
            pieces: Iterable[Any] = blocks(stored, steps or self.steps(), limit)
        else:
            flat = stored.ravel()
            pieces = (flat[start : start + limit] for start in range(0, flat.size, limit))
        for piece in pieces:
            yield decode(piece, self.kind)

    def raw(self) -> bytes:
        """The bytes of the tensor as they are in the file, padding included.

        Raises:
            NpuConfigError: the file does not hold them.
        """
        offset = self._offset()
        try:
            with open(self.path, "rb", opener=reading) as stream:
                stream.seek(offset)
                return stream.read(self.size)
        except OSError as error:
            raise NpuConfigError([unreadable(self.path, error)]) from None

    def steps(self, original_format: Optional[str] = None) -> Plan:
        """How the values get into the layout of the network.

        Args:
            original_format: what another source, such as the graph, says of that layout; what
                the header says comes first.

        Raises:
            NpuConfigError: the layout is not documented, or the shapes contradict it.
        """
        named = None if self.original_op is None else self.original_op.format
        wanted = named if named in PLAIN else original_format
        shape = self.original_shape
        if not shape and self.format in (*PLAIN, "ND"):
            shape = self.shape
        try:
            return plan(self.format, self.shape, shape, wanted, self.sub_format)
        except LayoutError as error:
            found = rules.layout_cannot_be_converted.diagnostic(
                str(error),
                Place(self.path),
                help='use the layout "device"',
            )
            raise NpuConfigError([found]) from None

    def _offset(self) -> int:
        if self.offset is None:
            message = "the file holds no bytes of this tensor"
            raise NpuConfigError(
                [self.fault or rules.tensor_without_data.diagnostic(message, Place(self.path))]
            )
        return self.offset

    def _stored(self) -> Any:
        """The elements as they are stored, mapped from the file."""
        offset = self._offset()
        if self.fault is not None:
            raise NpuConfigError([self.fault])
        if self.kind.storage is None:
            message = "it is not documented how the values of {} are stored"
            found = rules.values_cannot_be_decoded.diagnostic(
                phrase(message, self.data_type),
                Place(self.path),
                help="the raw bytes can be read instead (raw)",
            )
            raise NpuConfigError([found])
        import numpy

        dtype = numpy.dtype(self.kind.storage)
        if not self.elements:
            return numpy.empty(self.shape, dtype)
        try:
            with open(self.path, "rb", opener=reading) as stream:
                content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise NpuConfigError([unreadable(self.path, error)]) from None
        if len(content) < offset + self.elements * dtype.itemsize:
            message = "the file has become shorter since its header was read"
            raise rules.dump_file_incomplete.error(message, Place(self.path))
        return numpy.frombuffer(content, dtype, self.elements, offset).reshape(self.shape)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Dump:
    """One execution of an operator on the device.

    Args:
        path: the file.
        version: of the format.
        dump_time: when it was written, in microseconds.
        op_name: the operator, with its real name (file names replace ``/`` and ``.``).
        inputs: in the order of the operator.
        outputs: in the order of the operator.
        attributes: further texts of the header, by name.
        diagnostics: what is wrong with the file; empty for those that :func:`read_dump` gives.
    """

    path: str
    version: str
    dump_time: int
    op_name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    attributes: Tuple[Tuple[str, str], ...] = ()
    diagnostics: Tuple[Diagnostic, ...] = ()

    @property
    def original_op(self) -> Optional[OriginalOp]:
        """The operator of the network that the first output stands for, if the header says."""
        return next((t.original_op for t in self.outputs if t.original_op is not None), None)

    def tensors(self) -> Iterator[Tuple[str, int, Tensor]]:
        """Every tensor with ``"input"`` or ``"output"`` and its number."""
        for side, tensors in (("input", self.inputs), ("output", self.outputs)):
            for index, tensor in enumerate(tensors):
                yield side, index, tensor


_LENGTH = 8
_LONGEST_HEADER = 1 << 31
_LARGEST = 1 << 60
_NANO = b"\x5a\x5a\x5a\x5a"
_TEXT = frozenset((*b"\t\r\n", *range(0x20, 0x7F)))


class Opened(NamedTuple):
    """A file that was looked at: ``dump`` is None when there is no readable header."""

    dump: Optional[Dump]
    diagnostics: Tuple[Diagnostic, ...]


def read_dump(path: PathLike) -> Dump:
    """Read the header of a dump file; values are read when they are asked for.

    Args:
        path: the file.

    Raises:
        NpuConfigError: the file cannot be read, is not a dump, or is damaged;
            :func:`open_dump` gives what can be read of a damaged one.
    """
    opened = open_dump(path)
    if opened.dump is None or opened.diagnostics:
        raise NpuConfigError(opened.diagnostics)
    return opened.dump


def open_dump(path: PathLike) -> Opened:
    """Read what can be read of a dump file.

    Args:
        path: the file.

    Returns:
        The dump, if there is a header, and one diagnostic when something is wrong.  Of a
        damaged file the tensors that are whole can be read.
    """
    name = path_name(path)
    found: List[Diagnostic] = []
    return attempted(found, name, _opened, name) or Opened(None, tuple(found))


def _opened(name: str) -> Opened:
    try:
        with open(name, "rb", opener=reading) as stream:
            size = os.fstat(stream.fileno()).st_size
            head = stream.read(_LENGTH)
            fault = _wrong_beginning(head, size)
            if fault is not None:
                if _is_big_endian(head, size, stream):
                    fault = "the file is big-endian; dump files are little-endian"
                return _refused(rules.not_a_dump_file.diagnostic(fault, Place(name)))
            length = int.from_bytes(head, "little")
            data = stream.read(min(length, size))
    except (OSError, ValueError) as error:
        return _refused(unreadable(name, error))
    if len(data) < length:
        text = phrase(
            "the header needs {:,} bytes, but the file holds only {:,} of them", length, len(data)
        )
        return _refused(rules.dump_file_incomplete.diagnostic(text, Place(name)))
    try:
        return _read(parse_header(memoryview(data)), name, size, _LENGTH + length)
    except HeaderError as error:
        fault = str(error)
    except WireError as error:
        fault = str(_no_message(error))
    return _refused(rules.not_a_dump_file.diagnostic(fault, Place(name)))


def _read(header: WireMessage, name: str, size: int, start: int) -> Opened:
    """The dump with a header, in a file of that size whose tensors begin at ``start``."""
    inputs = [(each, _INPUT) for each in header.messages(4)]
    parts = [*inputs, *((each, _OUTPUT) for each in header.messages(3))]
    sizes = [each.number(numbers.size) for each, numbers in parts]
    others = sum(each.number(3) for number in (5, 8) for each in header.messages(number))
    present = [True] * len(parts)
    total, payload = sum(sizes) + others, size - start
    if total != payload:
        addressed = [bool(each.number(numbers.address)) for each, numbers in parts]
        held = sum(size for size, here in zip(sizes, addressed) if here) + others
        if held == payload and any(addressed):
            present, total = addressed, held
    damage = _ends_wrong(total, payload, name)
    found = [] if damage is None else [damage]
    tensors = []
    for (part, numbers), length, here in zip(parts, sizes, present):
        whole = here and (total <= payload or start + length <= size)
        tensor, fault = _tensor(
            part, numbers, name, start if whole else None, damage if here else None
        )
        tensors.append(tensor)
        start += length if here else 0
        if fault is not None and not found:
            found.append(fault)
    dump = Dump(
        name,
        header.text(1),
        header.number(2),
        header.text(6),
        tuple(tensors[: len(inputs)]),
        tuple(tensors[len(inputs) :]),
        tuple((each.text(1), each.text(2)) for each in header.messages(7)),
        tuple(found),
    )
    return Opened(dump, dump.diagnostics)


def _refused(found: Diagnostic) -> Opened:
    return Opened(None, (found,))


def _wrong_beginning(head: bytes, size: int) -> Optional[str]:
    """Why the first bytes are not those of a dump."""
    if len(head) < _LENGTH:
        return phrase(
            "the file has {}; a dump begins with the length of its header",
            phrase("{} bytes", len(head)) if head else phrase("no content"),
        )
    if head.startswith(_NANO):
        return "this is the format of Nano chips, which is not supported"
    if head.startswith(b"\x93NUMPY"):
        return (
            "this is a .npy file, not a dump of the NPU; dump export converts dumps to .npy files"
        )
    if all(byte in _TEXT for byte in head):
        return "this is text; a dump begins with the length of its header"
    length = int.from_bytes(head, "little")
    if length == 0:
        return "the header has no content"
    if length < _LONGEST_HEADER:
        return None
    message = "the first eight bytes are not the length of a header: {:,} bytes of {:,}"
    return phrase(message, length, size)


def _is_big_endian(head: bytes, size: int, stream: BinaryIO) -> bool:
    """True when a header follows whose length is written the other way round."""
    length = int.from_bytes(head, "big")
    if len(head) < _LENGTH or not 0 < length <= size - _LENGTH:
        return False
    try:
        return parse_header(memoryview(stream.read(length))) is not None
    except HeaderError:
        return False


def _ends_wrong(total: int, payload: int, path: str) -> Optional[Diagnostic]:
    if payload < total:
        message = (
            "the header states {:,} bytes of data, the file holds {:,}: the file is truncated"
        )
        return rules.dump_file_incomplete.diagnostic(
            phrase(message, total, payload),
            Place(path),
            help="the disk may have been full, or the job killed; dump again",
        )
    if payload > total:
        message = "the file holds {:,} bytes more than its header states"
        return rules.bytes_behind_dump.diagnostic(phrase(message, payload - total), Place(path))
    return None


def _tensor(
    part: WireMessage,
    numbers: _Numbers,
    path: str,
    offset: Optional[int],
    damage: Optional[Diagnostic],
) -> Tuple[Tensor, Optional[Diagnostic]]:
    kind, packed = data_type(part.number(1)), part.number(2)
    shape, original, size = (
        _shape(part, 3),
        _shape(part, numbers.original_shape),
        part.number(numbers.size),
    )
    fault = damage if offset is None or _is_trailing(damage) else None
    needed = kind.needs(math_prod(shape))
    text = ""
    largest = max(math_prod([size for size in each if size]) for each in (shape, original))
    if size == 0 and needed and largest <= _LARGEST:
        offset = None
    elif largest > _LARGEST:
        message = "the shape {} is larger than any memory; the header says {:,} bytes"
        beyond = max(shape, original, key=lambda each: math_prod([size for size in each if size]))
        text = phrase(message, list(beyond), size)
    elif needed is not None and needed > size:
        message = "the shape {} of {} needs {:,} bytes, the header says {:,}"
        text = phrase(message, list(shape), kind.name, needed, size)
    wrong = rules.shape_exceeds_size.diagnostic(text, Place(path)) if text else None
    tensor = Tensor(
        kind.name,
        format_name(packed),
        shape,
        original,
        size,
        path,
        offset,
        kind,
        part.number(numbers.sub_format) or packed // (PRIMARY + 1) & 0xFFFF,
        _original_op(part, numbers.original_op),
        fault or wrong,
    )
    return tensor, wrong


def _is_trailing(damage: Optional[Diagnostic]) -> bool:
    return damage is not None and damage.rule == rules.bytes_behind_dump.id
