"""The container of a dump file: from bytes on disk to a :class:`~npu_config.dumps.dump.Dump`.

A file is a length (eight bytes, lowest first), the header, and the bytes of all inputs, all
outputs, all buffers and workspaces, without padding.  Opening reads the header alone.

Source: facts dump.yaml, ``container``.
"""

import os
from typing import BinaryIO, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.arguments import path_name
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.files import PathLike, reading
from npu_config.core.message import phrase
from npu_config.dumps import _rules as rules
from npu_config.dumps.dump import Dump, Tensor
from npu_config.dumps.header import HeaderError, TensorHeader, parse_header
from npu_config.dumps.layouts import math_prod
from npu_config.text.guard import attempted
from npu_config.text.loading import unreadable

_LENGTH = 8
_LONGEST_HEADER = 1 << 31
_LARGEST = 1 << 60
_NANO = b"\x5a\x5a\x5a\x5a"


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
                    fault = "the file was written highest byte first; dumps are lowest byte first"
                return _refused(rules.not_a_dump_file.diagnostic(fault, Place(name)))
            length = int.from_bytes(head, "little")
            data = stream.read(min(length, size))
    except (OSError, ValueError) as error:
        return _refused(unreadable(name, error))
    if len(data) < length:
        message = "the header has {:,} bytes, the file holds {:,} of them"
        return _refused(
            rules.dump_file_incomplete.diagnostic(phrase(message, length, len(data)), Place(name))
        )
    try:
        header = parse_header(memoryview(data))
    except HeaderError as error:
        return _refused(rules.not_a_dump_file.diagnostic(str(error), Place(name)))
    payload = size - _LENGTH - length
    sizes = [tensor.size for tensor in (*header.inputs, *header.outputs)]
    total = sum(sizes) + sum(header.others)
    present = [True] * len(sizes)
    if total != payload:
        addressed = [bool(tensor.address) for tensor in (*header.inputs, *header.outputs)]
        held = sum(size for size, here in zip(sizes, addressed) if here) + sum(header.others)
        if held == payload and any(addressed):
            present, total = addressed, held
    offsets = _offsets(sizes, present, _LENGTH + length, size if total > payload else None)
    fault_of = _ends_wrong(total, payload, name)
    found = [] if fault_of is None else [fault_of]
    tensors = []
    for tensor, offset, here in zip((*header.inputs, *header.outputs), offsets, present):
        made, fault_made = _tensor(tensor, name, offset, fault_of if here else None)
        tensors.append(made)
        if fault_made is not None and not found:
            found.append(fault_made)
    split = len(header.inputs)
    dump = Dump(
        name,
        header.version,
        header.dump_time,
        header.op_name,
        tuple(tensors[:split]),
        tuple(tensors[split:]),
        header.attributes,
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
        return "this is the format of Nano chips, which is not read"
    if head.startswith(b"\x93NUMPY"):
        return "this is a .npy file; dumps of the NPU are converted to them by export"
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
        return bool(parse_header(memoryview(stream.read(length))))
    except HeaderError:
        return False


def _offsets(
    sizes: Sequence[int], present: Sequence[bool], start: int, end: Optional[int]
) -> List[Optional[int]]:
    """Where each tensor begins; None when the file does not hold all of it."""
    result: List[Optional[int]] = []
    for size, here in zip(sizes, present):
        whole = here and (end is None or start + size <= end)
        result.append(start if whole else None)
        start += size if here else 0
    return result


def _ends_wrong(total: int, payload: int, path: str) -> Optional[Diagnostic]:
    if payload < total:
        message = "the header names {:,} bytes of data, the file holds {:,}: it is cut"
        return rules.dump_file_incomplete.diagnostic(
            phrase(message, total, payload),
            Place(path),
            help="the disk may have been full, or the job killed; dump again",
        )
    if payload > total:
        message = "the file holds {:,} bytes more than its header names"
        return rules.bytes_behind_dump.diagnostic(phrase(message, payload - total), Place(path))
    return None


def _tensor(
    header: TensorHeader, path: str, offset: Optional[int], damage: Optional[Diagnostic]
) -> Tuple[Tensor, Optional[Diagnostic]]:
    fault = damage if offset is None or _is_trailing(damage) else None
    needed = header.kind.needs(math_prod(header.shape))
    wrong: Optional[Diagnostic] = None
    largest = max(_extent(header.shape), _extent(header.original_shape))
    if header.size == 0 and needed and largest <= _LARGEST:
        offset = None
    elif largest > _LARGEST:
        text = "the shapes {} and {} are larger than any memory; the header says {:,} bytes"
        text = phrase(text, list(header.shape), list(header.original_shape), header.size)
        wrong = rules.shape_exceeds_size.diagnostic(text, Place(path))
        fault = fault or wrong
    elif needed is not None and needed > header.size:
        message = "the shape {} of {} needs {:,} bytes, the header says {:,}"
        text = phrase(message, list(header.shape), header.kind.name, needed, header.size)
        wrong = rules.shape_exceeds_size.diagnostic(text, Place(path))
        fault = fault or wrong
    made = Tensor(
        header.kind.name,
        header.format,
        header.shape,
        header.original_shape,
        header.size,
        path,
        offset,
        header.kind,
        header.sub_format,
        header.original_op,
        fault,
    )
    return made, wrong


def _extent(shape: Sequence[int]) -> int:
    """The product of the sizes that are not 0."""
    return math_prod([size for size in shape if size])


def _is_trailing(damage: Optional[Diagnostic]) -> bool:
    return damage is not None and damage.rule == rules.bytes_behind_dump.id
