"""Dumps as ``.npy`` files with stable names and an index, in the form of tfdbg-export.

Below ``device_N/MODEL.ID/step_N`` files are called ``NODE.OUTPUT.OCCURRENCE.npy``, those of
inputs ``NODE.input.INPUT.OCCURRENCE.npy``.  What is not decoded or not converted is exported
as it is stored, and the index says so.  Each file appears whole or not at all; an export that
was interrupted goes on where it stopped.
"""

import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from npu_config.core.diagnostics import Diagnostic, NpuConfigError
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, path_name, reading
from npu_config.dumps.dump import Tensor
from npu_config.dumps.layouts import math_prod
from npu_config.dumps.tree import DumpFile, DumpTree
from npu_config.text.files import write_atomic
from npu_config.text.tables import (
    COLUMNS,
    DTYPES,
    INDEX,
    NETWORK,
    Exported,
    csv_text,
    file_name,
    index_text,
    npy_header,
    write_index,
)

_PIECE = 1 << 20


def export_dumps(
    tree: DumpTree,
    output: PathLike,
    layout: str = "original",
    progress: Optional[Callable[[int], None]] = None,
) -> Tuple[Tuple[Exported, ...], Tuple[Diagnostic, ...]]:
    """Export the tensors of dump files.

    Args:
        tree: the files; statistics and overflow records among them are left out.
        output: the folder to write to; new, empty, or of an earlier export, which is continued.
        layout: ``"original"``: in the layout of the network, where it is known; ``"device"``:
            as stored.
        progress: is called after each file.

    Returns:
        The lines of the index, which is also written to ``index.csv``, and what was wrong.

    Raises:
        FileExistsError: ``output`` holds something that is not an export.
        OSError: a file cannot be written.
        ImportError: a tensor has to be converted, and numpy is missing.
    """
    target = path_name(output)
    _prepare(target)
    lines: List[Exported] = []
    networks: List[Tuple[str, str, int]] = []
    found: List[Diagnostic] = []
    taken: Dict[str, Set[str]] = {}
    names: Dict[Tuple[str, str], str] = {}
    counts: Dict[Tuple[str, str], int] = {}
    for file in tree:
        if file.kind == "tensor":
            opened = file.open()
            found.extend(opened.diagnostics)
            folder = _folder(file)
            if opened.dump is not None:
                node = opened.dump.op_name or file.op_name
                key = (folder, node)
                if key not in names:
                    names[key] = file_name(node, taken.setdefault(folder, set()))
                occurrence = counts[key] = counts.get(key, -1) + 1
                os.makedirs(os.path.join(target, *folder.split("/")), exist_ok=True)
                for side, index, tensor in opened.dump.tensors():
                    middle = "input." if side == "input" else ""
                    name = "{}.{}{}.{}.npy".format(names[key], middle, index, occurrence)
                    path = "{}/{}".format(folder, name)
                    dtype, shape, status = _export(tensor, os.path.join(target, path), layout)
                    line = Exported(
                        file.step or 0,
                        path if dtype else "",
                        node,
                        index,
                        occurrence,
                        side,
                        "npu:{}".format(0 if file.device is None else file.device),
                        dtype or tensor.data_type,
                        "x".join(map(str, shape)),
                        file.name.time,
                        status,
                    )
                    lines.append(line)
                    original = tensor.original_op
                    if original is not None and line.file:
                        networks.append((path, original.name, original.output_index))
        if progress is not None:
            progress(1)
    write_index(os.path.join(target, INDEX), lines, overwrite=True)
    if networks:
        table = csv_text([("file", "node", "output"), *networks])
        write_atomic(os.path.join(target, NETWORK), table, overwrite=True)
    return tuple(lines), tuple(found)


def _prepare(target: str) -> None:
    """Make the folder, or see that it is of an earlier export."""
    index = os.path.join(target, INDEX)
    if os.path.isdir(target) and os.listdir(target):
        try:
            with open(index, encoding="utf-8", opener=reading) as stream:
                ours = stream.readline().strip() == ",".join(COLUMNS)
        except (OSError, UnicodeDecodeError):
            ours = False
        if not ours:
            raise FileExistsError(phrase("{} contains files that are not from an export", target))
        return
    os.makedirs(target, exist_ok=True)
    write_atomic(index, index_text(()))


def _folder(file: DumpFile) -> str:
    """Where the tensors of a file go: one folder for each run, device, model and step."""
    where = file.folder
    parts = []
    if where.run is not None:
        parts.append("run_{}".format(where.run))
    if where.device is not None:
        parts.append("device_{}".format(where.device))
    if where.model is not None:
        parts.append(file_name("{}.{}".format(where.model, where.model_id or 0), set()))
    parts.append("step_{}".format(where.step or 0))
    return "/".join(parts)


def _export(tensor: Tensor, path: str, layout: str) -> Tuple[str, Tuple[int, ...], str]:
    """Write a tensor; returns its type ("" when nothing was written), shape and status."""
    if tensor.fault is not None or tensor.offset is None:
        message = (
            "the dump has no bytes of this tensor"
            if tensor.fault is None
            else tensor.fault.message
        )
        return "", tensor.shape, message
    kind, status = tensor.kind, "ok"
    if kind.storage is None:
        shape: Tuple[int, ...] = (tensor.size,)
        message = "exported as raw bytes: the storage format of {} is not documented"
        _write(path, "|u1", shape, _bytes(tensor, tensor.size))
        return "uint8", shape, phrase(message, tensor.data_type)
    steps = None
    if layout == "original":
        try:
            steps = tensor.steps()
        except NpuConfigError as error:
            status = phrase("exported as stored on the device: {}", error.diagnostics[0].message)
    shape = tensor.shape if steps is None else tensor.original_shape or tensor.shape
    plain = steps is None or steps.is_plain
    descr = str(kind.values)
    try:
        if plain and kind.storage == kind.values:
            size = math_prod(shape) * (kind.bits or 0) // 8
            _write(path, descr, shape, _bytes(tensor, size))
        else:
            pieces = tensor.blocks(steps is not None, _PIECE, steps)
            _write(path, descr, shape, (_content(piece) for piece in pieces))
    except NpuConfigError as error:
        return "", shape, error.diagnostics[0].message
    return DTYPES.get(descr, descr), shape, status


def _write(path: str, descr: str, shape: Tuple[int, ...], pieces: Iterator[Any]) -> None:
    """Write a ``.npy`` file unless an earlier export has written it."""
    header = npy_header(descr, shape)
    width = int(descr[2:])
    if not _is_there(path, header, math_prod(shape) * width):

        def content() -> Iterator[Any]:
            yield header
            yield from pieces

        write_atomic(path, content(), overwrite=True, durable=False)


def _is_there(path: str, header: bytes, size: int) -> bool:
    try:
        with open(path, "rb", opener=reading) as stream:
            whole = os.fstat(stream.fileno()).st_size == len(header) + size
            return whole and stream.read(len(header)) == header
    except OSError:
        return False


def _bytes(tensor: Tensor, size: int) -> Iterator[bytes]:
    """The first bytes of a tensor as they are in the file, in pieces."""
    with open(tensor.path, "rb", opener=reading) as stream:
        stream.seek(tensor.offset or 0)
        while size > 0:
            piece = stream.read(min(size, _PIECE))
            if not piece:
                raise OSError(0, "the dump has become shorter", tensor.path)
            size -= len(piece)
            yield piece


def _content(piece: Any) -> Any:
    """The bytes of a numpy array, without a copy where it is contiguous."""
    import numpy

    contiguous: Any = numpy.ascontiguousarray(piece)
    return contiguous.view("u1").data if piece.size else b""
