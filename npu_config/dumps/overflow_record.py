"""The record that an overflow leaves: which operator, which unit, which status.

Two forms: 2048 bytes with a block for each unit (older releases), and one record behind the
magic 0x5A5A5A5A.  The ids inside say which operator it was; those in the file's name do not.

Source: facts dump.yaml, ``overflow``; docs/en/tfadapter_1/migration/others/
overflow_data_collect.md.
"""

import os
import struct
from types import MappingProxyType
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import NpuConfigError, Place
from npu_config.core.files import PathLike
from npu_config.core.message import phrase
from npu_config.dumps._rules import not_an_overflow_record
from npu_config.dumps.container import read_dump
from npu_config.dumps.names import parse_name

DHA, L2, AI_CORE = "DHA Atomic Add", "L2 Atomic Add", "AI Core"
CORES = (AI_CORE, "AIC", "AIV")
"""The units whose status has the bits of a computation."""
_MAGIC = 0x5A5A5A5A
_LEGACY_SIZE = 2048
_LARGEST = 1 << 16
_IDS = ("model_id", "stream_id", "task_id", "task_type", "pc_start", "para_base")
_LEGACY: Tuple[Tuple[str, int, int, Tuple[str, ...]], ...] = (
    (DHA, 0, 512, ("status",)),
    (L2, 128, 768, ("status",)),
    (AI_CORE, 256, 1024, ("kernel_code", "block_idx", "status")),
)
"""Unit, where its ids and where its status begin, and the words of the status."""
_KERNEL = (
    "model_id",
    "stream_id",
    "task_id",
    "task_type",
    "context_id",
    "thread_id",
    "pc_start",
    "para_base",
    "core_id",
    "block_id",
    "status",
)
_RECORDS: Mapping[int, Tuple[str, Tuple[str, ...]]] = MappingProxyType(
    {
        0: ("AIC", _KERNEL),
        1: ("AIV", _KERNEL),
        2: (
            "AICPU",
            (*_KERNEL[:5], "cpu_id", "thread_id", "status"),
        ),
        3: ("SDMA", (*_KERNEL[:6], "src_addr", "dst_addr", "channel_id", "status")),
    }
)
_ADDRESSES = frozenset(("pc_start", "para_base", "kernel_code", "src_addr", "dst_addr"))
NO_ID = 65535
"""What stands for an id that does not apply, such as the context outside of FFTS+."""

_BITS = (
    (0x8, "negation of the smallest signed integer"),
    (0x10, "integer addition, subtraction, multiplication or multiply-add"),
    (0x20, "floating-point computation"),
    (0x80, "negative float converted to an unsigned integer"),
    (0x100, "float32 or int32 converted to float16"),
    (0x400, "accumulation on the cube unit"),
)
_ATOMIC = ("overflow", "underflow", "the source is NaN", "the destination is NaN", "both are NaN")


class Unit(NamedTuple):
    """What one unit reported.

    Args:
        unit: e.g. ``"AI Core"``, ``"AIV"``.
        status: its status words.
        ids: the numbers of the record, e.g. ``task_id``.
        words: what the status says; each with True when that meaning is documented, False
            when one old source has it.
    """

    unit: str
    status: Tuple[int, ...]
    ids: Mapping[str, int]
    words: Tuple[Tuple[str, bool], ...]


def read_overflow(path: PathLike) -> Mapping[str, Any]:
    """Read the record of an overflow.

    Args:
        path: a file ``Opdebug.Node_OpDebug.*``.

    Returns:
        The record as the vendor's tools print it in JSON: ``"DHA Atomic Add"``, ``"L2 Atomic
        Add"`` and ``"AI Core"`` with ids and status, or ``"magic"``, ``"version"`` and
        ``"acc_list"``.  Addresses are hexadecimal text.

    Raises:
        NpuConfigError: the file cannot be read or is not such a record.
    """
    dump = read_dump(path)
    if not dump.outputs:
        raise _refused(dump.path, "the file has no output")
    output = dump.outputs[0]
    data = output.raw()[: output.elements] if output.size <= _LARGEST else b""
    if data[:4] == struct.pack("<I", _MAGIC):
        return _record(data, dump.path)
    if len(data) != _LEGACY_SIZE:
        message = "the output has {:,} bytes; a record has {:,}, or begins with 0x5a5a5a5a"
        raise _refused(dump.path, phrase(message, output.size, _LEGACY_SIZE))
    result: Dict[str, Any] = {}
    for unit, ids, status, words in _LEGACY:
        names = (*_IDS, *words)
        numbers = (
            *struct.unpack_from("<6Q", data, ids),
            *struct.unpack_from("<{}Q".format(len(words)), data, status),
        )
        result[unit] = {name: _written(name, number) for name, number in zip(names, numbers)}
    return result


def is_overflow(path: PathLike) -> bool:
    """True for the name of a record of an overflow."""
    name = parse_name(os.path.basename(os.fspath(path)))
    return name is not None and name.is_overflow


def _record(data: bytes, path: str) -> Dict[str, Any]:
    if len(data) < 24:
        raise _refused(path, "the record is cut")
    magic, version, valid, kind, rsv, length = struct.unpack_from("<6I", data)
    if kind not in _RECORDS:
        raise _refused(path, phrase("the record is of the unknown kind {}; legal: 0 to 3", kind))
    name, fields = _RECORDS[kind]
    words = 4 if version >= 1 and fields is _KERNEL else 1
    count = len(fields) - 1 + words
    if len(data) < 24 + 8 * count:
        raise _refused(path, "the record is cut")
    numbers = struct.unpack_from("<{}Q".format(count), data, 24)
    values: Dict[str, Any] = {
        field: _written(field, number) for field, number in zip(fields[:-1], numbers)
    }
    values["status"] = numbers[-1] if words == 1 else list(numbers[-words:])
    return {
        "magic": hex(magic),
        "version": version,
        "acc_list": {
            "valid": valid,
            "acc_type": name,
            "rsv": rsv,
            "data_len": length,
            "data": values,
        },
    }


def _written(name: str, number: int) -> Any:
    return hex(number) if name in _ADDRESSES else number


def _refused(path: str, reason: str) -> NpuConfigError:
    return not_an_overflow_record.error(reason, Place(path))


def units(record: Mapping[str, Any]) -> Tuple[Unit, ...]:
    """The units of a record whose status is set; none when nothing overflowed.

    Args:
        record: what :func:`read_overflow` returned.
    """
    if "acc_list" in record:
        entry = record["acc_list"]
        blocks = [(entry["acc_type"], entry["data"])] if entry["valid"] else []
    else:
        blocks = [(name, record[name]) for name in (AI_CORE, L2, DHA)]
    result = []
    for name, block in blocks:
        status = block["status"]
        words = tuple(status) if isinstance(status, list) else (status,)
        if any(words):
            ids = {key: value for key, value in block.items() if isinstance(value, int)}
            result.append(Unit(name, words, MappingProxyType(ids), _words(name, words)))
    return tuple(result)


def _words(unit: str, status: Sequence[int]) -> Tuple[Tuple[str, bool], ...]:
    """What the status words of a unit say."""
    found: List[Tuple[str, bool]] = []
    for word in status:
        if unit in CORES:
            found += _core(word, documented=unit == AI_CORE)
        elif unit == DHA:
            found += _atomic(word >> 8 & 0xFF, 9)
        elif unit == L2:
            found += _atomic(word >> 16 & 7, 1)
        elif word:
            found.append((phrase("status {:#x}", word), False))
    return tuple(dict.fromkeys(found))


def _core(word: int, documented: bool) -> List[Tuple[str, bool]]:
    found = [
        (phrase("{:#x} {}", bit, phrase(text)), documented) for bit, text in _BITS if word & bit
    ]
    rest = word & ~sum(bit for bit, _ in _BITS)
    if rest:
        found.append((phrase("{:#x} unknown", rest), False))
    return found


def _atomic(code: int, first: int) -> List[Tuple[str, bool]]:
    """Any value is an overflow; what the code adds to that comes from one source of 2021."""
    found: List[Tuple[str, bool]] = [("overflow of an atomic addition", True)]
    if first <= code < first + len(_ATOMIC):
        found.append((phrase("code {:#x}: {}", code, _ATOMIC[code - first]), False))
    elif code:
        found.append((phrase("code {:#x} unknown", code), False))
    return found


def ids_of(unit: Unit) -> Dict[str, Optional[int]]:
    """The ids that find the operator: task, stream and, in FFTS+, context and thread."""
    ids = unit.ids
    result: Dict[str, Optional[int]] = {
        "task": ids.get("task_id"),
        "stream": ids.get("stream_id"),
    }
    for name in ("context", "thread"):
        value = ids.get(name + "_id")
        result[name] = None if value in (None, NO_ID) else value
    return result
