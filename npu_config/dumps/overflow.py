"""Every overflow of a run in order of time: the operator, the reason, and what follows.

The record of an overflow has two forms: 2048 bytes with a block for each unit (older releases),
and one record behind the magic 0x5A5A5A5A.  The ids inside say which operator it was; those in
the file's name do not.

Source: facts dump.yaml, ``overflow``; docs/en/tfadapter_1/migration/others/
overflow_data_collect.md; docs/en/tfadapter_1/migration/accuracy_debugging/
floating-point_exception_detection.md.
"""

import os
import struct
from types import MappingProxyType
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import join, listed, phrase
from npu_config.core.paths import PathLike
from npu_config.dumps import _rules as rules
from npu_config.dumps.dump import Dump, read_dump
from npu_config.dumps.graph import GeGraph, given_graph
from npu_config.dumps.statistics import (
    Statistics,
    StatisticsRow,
    read_statistics,
    statistics_of,
    statistics_of_row,
)
from npu_config.dumps.tree import (
    DumpFile,
    DumpTree,
    find_dumps,
    newest_below,
    parse_name,
)
from npu_config.text.source import attempted

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
_TASK = ("model_id", "stream_id", "task_id", "task_type", "context_id")
_KERNEL = (*_TASK, "thread_id", "pc_start", "para_base", "core_id", "block_id", "status")
_SDMA = (*_TASK, "thread_id", "src_addr", "dst_addr", "channel_id", "status")
_RECORDS: Mapping[int, Tuple[str, Tuple[str, ...]]] = MappingProxyType(
    {
        0: ("AIC", _KERNEL),
        1: ("AIV", _KERNEL),
        2: ("AICPU", (*_TASK, "cpu_id", "thread_id", "status")),
        3: ("SDMA", _SDMA),
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
        raise _refused(dump.path, "the file contains no output tensor")
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
        raise _refused(path, "the record is truncated")
    magic, version, valid, kind, rsv, length = struct.unpack_from("<6I", data)
    if kind not in _RECORDS:
        raise _refused(path, phrase("the record has the unknown kind {}; legal: 0 to 3", kind))
    name, fields = _RECORDS[kind]
    words = 4 if version >= 1 and fields is _KERNEL else 1
    count = len(fields) - 1 + words
    if len(data) < 24 + 8 * count:
        raise _refused(path, "the record is truncated")
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
    return rules.not_an_overflow_record.error(reason, Place(path))


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
        result[name] = None if value == NO_ID else value
    return result


HERE, CAME_IN, UNKNOWN = "computed here", "came in", "origin not known"
_TASKS = 65536
_GRADIENTS = "gradients"
_INTEGER = 0x18
_NO_DUMP = (
    "the dump of the operator is not in the folder of the record; find the task and the "
    "stream in the "
    "op_summary of a profile"
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class TensorReport:
    """One tensor of an operator that overflowed.

    Args:
        side: ``"input"`` or ``"output"``.
        number: which of them.
        data_type: on the device.
        shape: on the device.
        statistics: of its values; None when they cannot be read, or numpy is missing.
        reason: why there are none, else "".
    """

    side: str
    number: int
    data_type: str
    shape: Tuple[int, ...]
    statistics: Optional[Statistics]
    reason: str = ""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Overflow:
    """One overflow.

    Args:
        record: the file of the record.
        run: when the process began, ``YYYYMMDDHHMMSS``.
        device: where it happened.
        model: name of the graph.
        step: the iteration.
        time: of the record, in microseconds.
        units: what each unit reported.
        op_name: the operator; None when its dump is not there.
        op_type: its type; None likewise.
        dump: the file of the operator's dump; None likewise.
        task: the id of the task inside the record.
        stream: the id of the stream inside the record.
        tensors: inputs and outputs of the operator.
        origin: ``"computed here"``, ``"came in"`` or ``"origin not known"``.
        came_in_with: the inputs that are out of range already.
        stands_for: operators of the network, as header or graph says.
        passes: the fusion passes that made the operator, as the graph says.
        advice: what follows, in order.
    """

    record: str
    run: Optional[str]
    device: Optional[int]
    model: Optional[str]
    step: Optional[int]
    time: int
    units: Tuple[Unit, ...]
    op_name: Optional[str]
    op_type: Optional[str]
    dump: Optional[str]
    task: Optional[int]
    stream: Optional[int]
    tensors: Tuple[TensorReport, ...]
    origin: str
    came_in_with: Tuple[int, ...]
    stands_for: Tuple[str, ...] = ()
    passes: Tuple[str, ...] = ()
    advice: Tuple[str, ...] = ()


@attr.s(frozen=True, slots=True, auto_attribs=True)
class OverflowReport:
    """Every overflow of a dump.

    Args:
        overflows: by step, then by time; the first is where to start.
        strays: records without any status set.
        mixlist: operator types that may be kept in float32 to avoid those that were computed
            where they were found.
        diagnostics: what was wrong with files.
        runs: (device, run) that were looked at.
        older: (device, run) that were not.
        tensors: how many dumps of tensors there are beside the records; their values were
            looked at only for the operators that overflowed.
        suspicious: tables of statistics with NaN or infinities, of operators without a record.
    """

    overflows: Tuple[Overflow, ...]
    strays: Tuple[str, ...] = ()
    mixlist: Tuple[str, ...] = ()
    diagnostics: Tuple[Diagnostic, ...] = ()
    runs: Tuple[Tuple[Optional[int], Optional[str]], ...] = ()
    older: Tuple[Tuple[Optional[int], Optional[str]], ...] = ()
    tensors: int = 0
    suspicious: Tuple[str, ...] = ()


def explain_overflows(
    path: PathLike,
    graph: Union[PathLike, GeGraph, None] = None,
    run: Optional[str] = None,
    device: Optional[int] = None,
) -> OverflowReport:
    """Explain every overflow below a folder.

    Statistics need numpy; without it operators and status are reported all the same.

    Args:
        path: the dump_path of the job, or a folder in it.
        graph: ``ge_proto_*_Build.txt``, its folder, or the graph as it was read.
        run: the run to look at; None: the newest of each device.
        device: the device to look at; None: all of them.

    Raises:
        NpuConfigError: the folder holds no dump, or not that run or device, or the graph cannot
            be read.
    """
    tree, runs, older = newest_below(path, run, device)
    compiled = given_graph(graph)
    found: List[Diagnostic] = list(tree.diagnostics)
    file_only = not os.path.isdir(path)
    beside = _beside(find_dumps(os.path.dirname(os.path.abspath(path))) if file_only else tree)
    overflows: List[Overflow] = []
    strays: List[str] = []
    for file in tree:
        if file.kind != "overflow":
            continue
        reported = attempted(found, file.path, _reported, file)
        if reported:
            one = attempted(found, file.path, _overflow, file, reported, beside, compiled, found)
            overflows += [] if one is None else [one]
        elif reported is not None:
            strays.append(file.path)
    overflows.sort(key=lambda each: (each.step or 0, each.time))
    types = [each.op_type for each in overflows if each.op_type and each.origin == HERE]
    known = {each.dump for each in overflows}
    tables = [file for file in tree if file.kind == "statistics" and file.path not in known]
    return OverflowReport(
        tuple(overflows),
        tuple(strays),
        tuple(dict.fromkeys(types)),
        tuple(found),
        runs,
        older,
        sum(file.kind == "tensor" for file in tree),
        tuple(file.path for file in tables if attempted(found, file.path, _is_odd, file)),
    )


def _is_odd(file: DumpFile) -> bool:
    """True for a table of statistics with NaN or infinities."""
    rows = map(statistics_of_row, read_statistics(file.path))
    return any(row is not None and (row.nan or row.infinite) for row in rows)


_Beside = Mapping[str, Sequence[DumpFile]]


def _beside(tree: DumpTree) -> _Beside:
    """The tensors of each folder."""
    found: Dict[str, List[DumpFile]] = {}
    for file in tree:
        if file.kind != "overflow":
            found.setdefault(os.path.dirname(file.path), []).append(file)
    return found


def _reported(file: DumpFile) -> Tuple[Unit, ...]:
    return units(read_overflow(file.path))


def _overflow(
    file: DumpFile,
    reported: Tuple[Unit, ...],
    beside: _Beside,
    graph: Optional[GeGraph],
    found: List[Diagnostic],
) -> Overflow:
    ids = ids_of(reported[0])
    match = _operator(ids, beside.get(os.path.dirname(file.path), ()))
    name = kind = None
    tensors: Tuple[TensorReport, ...] = ()
    stands_for: Tuple[str, ...] = ()
    if match is not None and match.kind == "statistics":
        name, kind = match.op_name, match.op_type
        tensors = tuple(map(_reported_row, read_statistics(match.path)))
    elif match is not None:
        opened = match.open()
        found.extend(opened.diagnostics)
        name, kind = match.op_name, match.op_type
        if opened.dump is not None:
            name = opened.dump.op_name or name
            tensors = tuple(_reports(opened.dump))
            outputs = [t.original_op.name for t in opened.dump.outputs if t.original_op]
            stands_for = tuple(dict.fromkeys(outputs))
    op = None if graph is None or name is None else graph.find(name)
    if op is not None and op.original_names:
        stands_for = op.original_names
    origin, came_in = _origin(tensors)
    return Overflow(
        file.path,
        file.run,
        file.device,
        file.model,
        file.step,
        file.name.time,
        reported,
        name,
        kind,
        None if match is None else match.path,
        ids["task"],
        ids["stream"],
        tensors,
        origin,
        came_in,
        stands_for,
        () if op is None else op.passes,
        _advice(name, kind, reported, tensors, origin, came_in),
    )


def _operator(ids: Mapping[str, Optional[int]], files: Sequence[DumpFile]) -> Optional[DumpFile]:
    """The earliest dump of the ids in the record; ids of tasks may be counted modulo 65536."""
    task, stream = ids["task"], ids["stream"]
    if task is None:
        return None
    members = [
        file
        for file in files
        if file.name.stream in (None, stream)
        and (ids["context"] is None or file.name.context == ids["context"])
        and (ids["thread"] is None or file.name.thread == ids["thread"])
        and (file.name.task - task) % _TASKS == 0
    ]
    exact = [file for file in members if file.name.task == task]
    return min(exact or members, key=lambda file: file.name.time, default=None)


def _reports(dump: Dump) -> List[TensorReport]:
    result = []
    for side, number, tensor in dump.tensors():
        statistics, reason = None, ""
        try:
            statistics = statistics_of(tensor)
        except NpuConfigError as error:
            reason = error.diagnostics[0].message
        except ImportError:
            reason = "numpy is not installed"
        shape = tensor.shape
        result.append(TensorReport(side, number, tensor.data_type, shape, statistics, reason))
    return result


def _reported_row(row: StatisticsRow) -> TensorReport:
    values = statistics_of_row(row)
    reason = "" if values is not None else "the table has no statistics of this tensor"
    return TensorReport(row.side, row.index, row.data_type, row.shape or (), values, reason)


def _origin(tensors: Sequence[TensorReport]) -> Tuple[str, Tuple[int, ...]]:
    """Whether the operator made the overflow itself, or got it."""
    inputs = [each for each in tensors if each.side == "input"]
    bad = tuple(each.number for each in inputs if each.statistics and not each.statistics.is_clean)
    if bad:
        return CAME_IN, bad
    known = inputs and all(each.statistics is not None for each in inputs)
    return (HERE if known else UNKNOWN), ()


def _advice(
    name: Optional[str],
    kind: Optional[str],
    reported: Sequence[Unit],
    tensors: Sequence[TensorReport],
    origin: str,
    came_in: Sequence[int],
) -> Tuple[str, ...]:
    if name is None:
        return (_NO_DUMP,)
    if origin == CAME_IN:
        texts = [
            phrase("look at the operator that computes input {}", number) for number in came_in
        ]
        return (*texts, "this operator only passes on an overflow of its input")
    result = []
    half = any(each.data_type == "DT_FLOAT16" for each in tensors)
    floating = any(
        unit.unit not in CORES or any(word & ~_INTEGER for word in unit.status)
        for unit in reported
    )
    if half and floating:
        result.append(
            phrase(
                "keep {} in float32: keep_dtype for this operator, or {} in the block list of "
                "modify_mixlist (--write-mixlist)",
                name,
                kind,
            )
        )
    if _GRADIENTS in name.lower() or "loss" in name.lower():
        result.append(
            "the operator belongs to the loss or the gradients: a dynamic loss scale skips a "
            "step that overflows, a fixed loss scale has to be lowered"
        )
    if not floating:
        result.append(
            "an integer overflowed: look at indices and counters; another precision does not help"
        )
    if any("Atomic" in unit.unit for unit in reported):
        result.append("on Atlas A2 a report of an atomic addition can be a false alarm")
    if origin == UNKNOWN:
        result.append(
            "dump inputs as well (dump_mode all) to see whether the overflow came in with an input"
        )
    return tuple(result)


def finding(overflow: Overflow) -> Diagnostic:
    """An overflow as a finding."""
    words = join(", ", [text for unit in overflow.units for text, _ in unit.words])
    where = phrase("input {}", listed(map(str, overflow.came_in_with)))
    message = phrase(
        "{} overflowed in step {} ({}; {})",
        overflow.op_name or phrase("task {} of stream {}", overflow.task, overflow.stream),
        "?" if overflow.step is None else overflow.step,
        words,
        phrase("{} with {}", CAME_IN, where) if overflow.came_in_with else overflow.origin,
    )
    help_ = overflow.advice[0] if overflow.advice else None
    return rules.overflow_detected.diagnostic(message, Place(overflow.record), help=help_)


def plain(overflow: Overflow) -> Dict[str, Any]:
    """An overflow as JSON has it."""
    result: Dict[str, Any] = attr.asdict(overflow)
    result["units"] = [
        {
            "unit": unit.unit,
            "status": list(unit.status),
            "ids": dict(unit.ids),
            "words": [{"text": text, "documented": sure} for text, sure in unit.words],
        }
        for unit in overflow.units
    ]
    return result
