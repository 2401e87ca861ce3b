"""What tfdbg wrote, as ``.npy`` files with stable names and an index.

The event files are read directly: neither TensorFlow nor numpy is needed, and a tensor is
copied once.  Names do not depend on time: ``<node>.<output>.<occurrence>.npy`` below
``run_<number>``, where a node's ``/`` is written ``_`` and the occurrence counts its
executions in the run (loops); this is the pattern that comparison tools expect of CPU and
GPU dumps.
"""

import mmap
import os
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, reading, walk
from npu_config.diagnosis.loss_report import training_record_unreadable
from npu_config.proto.event_files import (
    BFLOAT16,
    DTYPES,
    STRING,
    EventFileError,
    EventTensor,
    elements,
    parse_event,
    raw_content,
    refuse_repeated,
)
from npu_config.proto.wire import Buffer
from npu_config.text.files import write_atomic
from npu_config.text.tables import INDEX, Exported, file_name, npy_header, write_index

_DEVICE = "_tfdbg_device_"
_RUN = re.compile(r"run_\d+_(\d+)\Z|run_(\d+)\Z")
_FILE = re.compile(r"(?P<node>.+)_(?P<output>\d+)_(?P<debug_op>[A-Za-z]+)_(?P<time>\d+)\Z")
_PLAIN = "DebugIdentity"
_MAPPED = 1 << 20


class TfdbgDump(NamedTuple):
    """One file that tfdbg wrote, as its name describes it."""

    path: str
    device: str
    node: str
    output: int
    debug_op: str
    time: int


def export_tfdbg(dump: PathLike, output: PathLike) -> Tuple[Exported, ...]:
    """Export every tensor below a dump directory of tfdbg.

    Args:
        dump: the directory given to tfdbg, or one ``run_*`` directory in it.
        output: the directory to write to; is created, and must be empty.

    Returns:
        The lines of the index, which is also written to ``index.csv`` in ``output``.

    Raises:
        NpuConfigError: no tfdbg dump is found, one of its files is damaged, or two runs have one
            number (every such file and run is named; the others are exported).
        FileExistsError: ``output`` holds something already.
        OSError: a file cannot be read or written.
    """
    root, target = os.fspath(dump), os.fspath(output)
    runs = _runs(root)
    if not runs:
        raise training_record_unreadable.error(
            "no dump of tfdbg here: no run_*/{}* directory".format(_DEVICE),
            Place(root),
            help="give the directory that sess_dump or DumpingDebugHook wrote to",
        )
    if os.path.isdir(target) and os.listdir(target):
        raise FileExistsError("{} holds something already".format(target))
    lines: List[Exported] = []
    faults = []
    known: Dict[int, str] = {}
    for number, run in runs:
        if known.setdefault(number, run) != run:
            faults.append(_second(number, known[number], run))
            continue
        folder = "run_{}".format(number)
        os.makedirs(os.path.join(target, folder))
        for each, occurrence, name in _named(sorted(_dumps(run), key=_order)):
            try:
                line = _export(each, number, occurrence, "{}/{}".format(folder, name), target)
            except EventFileError as error:
                faults.append(training_record_unreadable.diagnostic(str(error), Place(each.path)))
                continue
            lines.append(line)
    write_index(os.path.join(target, INDEX), lines)
    if faults:
        raise NpuConfigError(faults)
    return tuple(lines)


def _second(number: int, first: str, run: str) -> Diagnostic:
    """What is said of a run with the number of another one: it is of another process."""
    message = phrase(
        "this is run {} of another process than {}; it is not exported",
        number,
        os.path.basename(first),
    )
    help = phrase("export it by itself: npu-config tfdbg-export {} ANOTHER_OUTPUT", run)
    return training_record_unreadable.diagnostic(message, Place(run), help=help)


def _runs(root: str) -> List[Tuple[int, str]]:
    """(number, directory) of every run, in order."""
    if not os.path.isdir(root):
        return []
    names = os.listdir(root)
    if any(name.startswith(_DEVICE) for name in names):
        return [(0, root)]
    found = []
    for name in names:
        match = _RUN.match(name)
        if match:
            found.append((int(match.group(1) or match.group(2)), os.path.join(root, name)))
    return sorted(found)


def _dumps(run: str) -> Iterator[TfdbgDump]:
    for device in sorted(os.listdir(run)):
        base = os.path.join(run, device)
        if not device.startswith(_DEVICE) or not os.path.isdir(base):
            continue
        place = device[len(_DEVICE) :].replace(",", "/")
        for directory, _, names in walk(base):
            scope = os.path.relpath(directory, base).replace(os.sep, "/")
            for name in names:
                match = None if name.startswith("_tfdbg_") else _FILE.match(name)
                if match:
                    node = match.group("node")
                    yield TfdbgDump(
                        os.path.join(directory, name),
                        place,
                        node if scope == "." else "{}/{}".format(scope, node),
                        int(match.group("output")),
                        match.group("debug_op"),
                        int(match.group("time")),
                    )


def _order(dump: TfdbgDump) -> Tuple[str, int, str, str, int]:
    return (dump.node, dump.output, dump.debug_op, dump.device, dump.time)


def _named(dumps: Sequence[TfdbgDump]) -> Iterator[Tuple[TfdbgDump, int, str]]:
    """Each dump of a run with its occurrence and the name of its file."""
    counts: Dict[Tuple[str, int, str], int] = {}
    names: Dict[str, str] = {}
    taken: Set[str] = set()
    for dump in dumps:
        key = (dump.node, dump.output, dump.debug_op)
        occurrence = counts[key] = counts.get(key, -1) + 1
        plain = names.get(dump.node)
        if plain is None:
            plain = names[dump.node] = file_name(dump.node, taken)
        suffix = "" if dump.debug_op == _PLAIN else "." + dump.debug_op
        yield dump, occurrence, "{}.{}.{}{}.npy".format(plain, dump.output, occurrence, suffix)


def _export(dump: TfdbgDump, run: int, occurrence: int, file: str, target: str) -> Exported:
    with open(dump.path, "rb", opener=reading) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < _MAPPED:
            dtype, shape, status = _convert(stream.read(), os.path.join(target, file))
        else:
            # It ends with its last view, which an exception may hold.
            content = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
            dtype, shape, status = _convert(content, os.path.join(target, file))
    return Exported(
        run,
        file if status == "ok" else "",
        dump.node,
        dump.output,
        occurrence,
        dump.debug_op,
        dump.device,
        dtype,
        "x".join(map(str, shape or ())),
        dump.time,
        status,
    )


def _convert(data: Buffer, path: str) -> Tuple[str, Optional[Tuple[int, ...]], str]:
    """Write the tensor of an event; returns its type, its shape and the status."""
    values = parse_event(data).values
    tensor = values[0].tensor if values else None
    if tensor is None or tensor.dtype == 0:
        return "", None, "not initialised"
    held = len(tensor.content) or tensor.values or tensor.strings
    if not held and elements(tensor):
        name = DTYPES[tensor.dtype].name if tensor.dtype in DTYPES else ""
        return name, tensor.shape, "not initialised"
    if tensor.dtype == STRING:
        return "string", tensor.shape, _write_strings(tensor, path)
    dtype = DTYPES.get(tensor.dtype)
    if dtype is None or tensor.shape is None:
        return "type {}".format(tensor.dtype), tensor.shape, "no tensor of numbers or text"
    content, descr = raw_content(tensor), dtype.descr
    if tensor.dtype == BFLOAT16:
        content, descr = _widened(content), "<f4"
    _write_npy(path, descr, tensor.shape, content)
    return dtype.name, tensor.shape, "ok"


def _widened(content: Buffer) -> bytes:
    """bfloat16 as float32: the upper half of each number."""
    wide = bytearray(2 * len(content))
    wide[2::4] = content[0::2]
    wide[3::4] = content[1::2]
    return bytes(wide)


def _write_strings(tensor: EventTensor, path: str) -> str:
    count = elements(tensor)
    strings = list(tensor.strings)
    if tensor.shape is None or len(strings) > count:
        raise EventFileError("a tensor has more values than its shape")
    if any(text.endswith(b"\x00") for text in strings):
        return "text that ends in a zero byte cannot be stored in a .npy file"
    width = max((len(text) for text in strings), default=0) or 1
    refuse_repeated(sum(map(len, strings)), width * count)
    strings += [strings[-1] if strings else b""] * (count - len(strings))
    content = b"".join(text.ljust(width, b"\x00") for text in strings)
    _write_npy(path, "|S{}".format(width), tensor.shape, content)
    return "ok"


def _write_npy(path: str, descr: str, shape: Tuple[int, ...], content: Buffer) -> None:
    write_atomic(path, (npy_header(descr, shape), content), durable=False)
