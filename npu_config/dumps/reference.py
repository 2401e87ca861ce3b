"""The other side of a comparison: folders of ``.npy`` files, or a second dump of the NPU.

Files are called ``OPERATOR.OUTPUT.NUMBER.npy``, with ``_`` for ``/`` and ``.``; where an
``index.csv`` lies beside them (tfdbg-export, dump export), the real names come from it.  Folders
``run_N`` (of tfdbg, N is the number of the session.run), ``step_N``, ``device_N`` and
``MODEL.ID`` say what a file belongs to.

Source: facts dump.yaml, ``compare`` (C-REF, C-OURS, C-NPUNPU).
"""

import csv
import os
import re
from typing import (
    Any,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import phrase
from npu_config.core.paths import reading, walk
from npu_config.dumps._rules import reference_unreadable
from npu_config.dumps.data_types import BY_NAME, decode
from npu_config.dumps.dump import BLOCK, Dump, Tensor
from npu_config.dumps.statistics import Number, StatisticsRow, read_statistics
from npu_config.dumps.tree import DumpFile, Folder, find_dumps, no_dump, operators, plain
from npu_config.text.source import unreadable
from npu_config.text.tables import COLUMNS, INDEX, NETWORK, TENSOR, unguarded

_LARGEST_INDEX = 1 << 28
_LONGEST_NAME = 4096
_MOST_DIGITS = 18
_FED = re.compile(r"_arg_(.+)_(\d+)_\d+\Z")
"""What TensorFlow calls the node that stands for a feed: name, output, and a number."""
_PART = re.compile(r"(run|device|step)_(?:\d+_)?(\d{1,18})\Z")
_MODEL = re.compile(r"(.+)\.(\d{1,18})\Z")
_RUN_DIGITS = 14
_BFLOAT16 = "bfloat16"
_EXTENSION = ".npy"

Key = Tuple[str, int]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Array:
    """A tensor of the reference.

    Args:
        name: of the operator, with its real name where that is known.
        output: which of its outputs.
        data_type: e.g. ``"float32"``.
        shape: in the network.
        values: the whole, mapped from its file; None for a tensor of a dump.
        tensor: the tensor of a dump; else None.
        is_fed: True for what stands for a feed.
        numbers: the line of a table of statistics, which has no values; else None.
    """

    name: str
    output: int
    data_type: str
    shape: Tuple[int, ...]
    values: Any = None
    tensor: Optional[Tensor] = None
    is_fed: bool = False
    numbers: Optional[Mapping[str, Number]] = None

    @property
    def label(self) -> str:
        """As tables name it, e.g. ``"conv1/Relu.0"``."""
        return "{}.{}".format(self.name, self.output)

    def blocks(self, limit: int = BLOCK) -> Iterator[Any]:
        """The values as flat pieces in C order."""
        if self.tensor is not None:
            yield from self.tensor.blocks(True, limit)
            return
        flat = self.values.ravel()
        for start in range(0, flat.size, limit):
            piece = flat[start : start + limit]
            yield decode(piece, BY_NAME["DT_BF16"]) if self.data_type == _BFLOAT16 else piece


class Npy(NamedTuple):
    """One ``.npy`` file: what it belongs to, and what of it.

    ``node`` is a real name when it came from an index, else the name as files have it;
    ``network`` is the output of the network that an output stands for, where that is known.
    """

    folder: Folder
    path: str
    node: str
    output: int
    side: str = "output"
    network: Optional[Key] = None
    indexed: bool = False

    @property
    def op_name(self) -> str:
        """The name as files have it."""
        return plain(self.node)


Entry = Union[Npy, DumpFile]


class Reference:
    """What can be compared with in one step, by name; values are mapped when they are asked for.

    Attributes:
        is_dump: True for a dump of the NPU, and for what ``dump export`` made of one.
        folder: the step, device and model, None where the files do not say.
        diagnostics: what was wrong with files.
    """

    def __init__(self, folder: Folder, entries: Sequence[Entry], is_dump: bool) -> None:
        self.folder = folder
        self.is_dump = is_dump
        self.diagnostics: Tuple[Diagnostic, ...] = ()
        self._files: Dict[Tuple[str, str, int], Npy] = {}
        self._fed: Dict[Key, Npy] = {}
        self._dumps: Dict[str, Dump] = {}
        self._tables: Dict[str, DumpFile] = {}
        self._origins: Dict[Key, Tuple[str, int]] = {}
        self._known: Set[str] = set()
        self._lengths: Optional[List[int]] = None
        dumps = [entry for entry in entries if isinstance(entry, DumpFile)]
        if dumps:
            self._take_dumps(dumps)
        for entry in entries:
            if isinstance(entry, Npy):
                self._take(entry)

    def _take(self, entry: Npy) -> None:
        if entry.network is not None:
            self._origins[entry.network] = (entry.node, entry.output)
        for name in dict.fromkeys((entry.node, entry.op_name)):
            self._files.setdefault((entry.side, name, entry.output), entry)
        fed = _FED.match(entry.node)
        if fed is not None:
            self._fed.setdefault((plain(fed.group(1)), int(fed.group(2))), entry)

    def _take_dumps(self, files: Sequence[DumpFile]) -> None:
        found = operators(files)
        self.diagnostics = found.diagnostics
        for file in sorted(files, key=lambda each: each.name.time):
            if file.kind == "statistics":
                self._tables[file.op_name] = file
        for operator in found.operators:
            dump = operator.dump
            self._dumps[dump.op_name] = dump
            for index, tensor in enumerate(dump.outputs):
                original = tensor.original_op
                if original is not None:
                    key = (original.name, original.output_index)
                    self._origins[key] = (dump.op_name, index)

    @property
    def names(self) -> List[str]:
        """The names of the operators."""
        return list({name for _, name, _ in self._files} | {*self._dumps, *self._tables})

    def of_operator(self, side: str, name: str, index: int) -> Optional[Array]:
        """The same input or output of the operator of that name in another dump.

        Raises:
            NpuConfigError: there is one, and it cannot be read.
        """
        dump = self._dumps.get(name)
        if dump is not None:
            tensors = dump.inputs if side == "input" else dump.outputs
            return _of_dump(name, index, tensors[index]) if index < len(tensors) else None
        entry = self._entry(side, name, index)
        if entry is not None:
            return array_of(entry.path, name, index)
        table = self._tables.get(plain(name))
        for line in () if table is None else read_statistics(table.path):
            if (line.side, line.index) == (side, index):
                return of_line(name, line)
        return None

    def _entry(self, side: str, name: str, index: int) -> Optional[Npy]:
        files = self._files
        return files.get((side, name, index)) or files.get((side, plain(name), index))

    def find(self, name: str, output: int) -> Optional[Array]:
        """An output of an operator of the network.

        Raises:
            NpuConfigError: there is one, and it cannot be read.
        """
        if (name, output) in self._origins:
            operator, index = self._origins[name, output]
            array = self.of_operator("output", operator, index)
            return None if array is None else attr.evolve(array, name=name, output=output)
        if name in self._dumps or plain(name) in self._tables:
            return self.of_operator("output", name, output)
        entry = self._entry("output", name, output)
        fed = None if entry is not None else self._fed.get((plain(name), output))
        entry = entry or fed
        if entry is None:
            return None
        real = entry.node if entry.indexed and fed is None else name
        return array_of(entry.path, real, output, fed is not None or _is_fed(entry))

    def last_part(self, name: str) -> Optional[str]:
        """The last of the names that a fused operator's name was put together from.

        Args:
            name: of the fused operator; it has to be made of names of the reference alone.
        """
        if self._lengths is None:
            self._known = {known for known in self.names if known}
            self._lengths = sorted({len(known) for known in self._known})
        reached: Dict[int, str] = {0: ""}
        for start in range(min(len(name), _LONGEST_NAME)):
            if start in reached:
                for length in self._lengths:
                    part = name[start : start + length]
                    if len(part) == length < len(name) and part in self._known:
                        reached[start + length] = part
        return reached.get(len(name)) or None


def _is_fed(entry: Npy) -> bool:
    return _FED.match(entry.node) is not None


class References:
    """Everything that a folder offers to compare with, by run, device, model and step.

    Attributes:
        path: the folder.
        is_dump: True for a dump of the NPU, and for what ``dump export`` made of one.
        folders: what there is, with the files of each.
        diagnostics: what could not be read.
    """

    def __init__(
        self,
        path: str,
        is_dump: bool,
        entries: Sequence[Entry],
        diagnostics: Tuple[Diagnostic, ...] = (),
    ) -> None:
        self.path, self.is_dump, self.diagnostics = path, is_dump, diagnostics
        self.folders: Dict[Folder, List[Entry]] = {}
        for entry in entries:
            self.folders.setdefault(entry.folder, []).append(entry)

    def open(self, folder: Folder) -> Reference:
        """What is in one of the folders."""
        return Reference(folder, self.folders[folder], self.is_dump)


def open_references(path: str) -> References:
    """Find what a folder offers to compare with.

    Args:
        path: a folder of ``.npy`` files, or a dump of the NPU.

    Raises:
        NpuConfigError: there is nothing to compare with.
    """
    lines = _index(path)
    if lines is not None:
        if not lines:
            raise _nothing(path, phrase("the index file {} lists no files", INDEX))
        return References(path, any(_is_of_dump(line) for line in lines), lines)
    count, files = 0, {}  # type: Tuple[int, Dict[Tuple[Folder, str, str, int], Tuple[int, Npy]]]
    for folder, folders, names in walk(path):
        folders.sort()
        parts = os.path.relpath(folder, path).split(os.sep)
        for name in sorted(names):
            if name.endswith(_EXTENSION):
                count += 1
                found = _file(os.path.join(folder, name), name, _folder(parts))
                if found is not None:
                    time, npy = found
                    key = (npy.folder, npy.side, npy.node, npy.output)
                    if key not in files or time >= files[key][0]:
                        files[key] = (time, npy)
    if files:
        entries = [npy for _, npy in files.values()]
        return References(path, any(_is_of_dump(npy) for npy in entries), entries)
    if count:
        raise _nothing(
            path, "the names of the .npy files are not of the form OPERATOR.OUTPUT.TIME.npy"
        )
    tree = find_dumps(path)
    dumps = [file for file in tree if file.kind != "overflow"]
    if not dumps:
        if tree.strays or not len(tree):
            raise _nothing(path, no_dump(tree, path).message)
        raise _nothing(path, "the folder holds overflow records, no tensors")
    return References(path, True, dumps, tree.diagnostics)


def _is_of_dump(entry: Npy) -> bool:
    return entry.side == "input" or entry.folder.device is not None


def _file(path: str, name: str, folder: Folder) -> Optional[Tuple[int, Npy]]:
    """The time and the file of a name, if it is one of a reference."""
    parts = name[: -len(_EXTENSION)].rsplit(".", 2)
    if len(parts) < 3 or not all(map(_is_number, parts[1:])):
        return None
    node, side = parts[0], "output"
    if node.endswith(".input"):
        node, side = node[: -len(".input")], "input"
    return int(parts[2]), Npy(folder, path, node, int(parts[1]), side)


def _folder(parts: Sequence[str]) -> Folder:
    """What the folders above a file say, those of the reference itself left out."""
    found: Dict[str, int] = {}
    run = model = None
    for part in parts:
        match = _PART.match(part)
        if match is None:
            model = _MODEL.match(part) or model
        elif match.group(1) == "run" and len(match.group(2)) == _RUN_DIGITS:
            run = match.group(2)
        else:
            kind = "device" if match.group(1) == "device" else "step"
            found[kind] = int(match.group(2))
    if not found:
        return Folder(run, None, None, None, None)
    name, number = (None, None) if model is None else (model.group(1), int(model.group(2)))
    return Folder(run, found.get("device"), name, number, found.get("step"))


def _nothing(path: str, reason: str) -> NpuConfigError:
    return reference_unreadable.error(
        phrase("nothing to compare with: {}", reason),
        Place(path),
        help="pass a folder of OPERATOR.OUTPUT.TIME.npy files (from tfdbg-export or dump "
        "export), or another dump",
    )


def _index(root: str) -> Optional[List[Npy]]:
    """The lines of an index with a tensor; None when there is no such index."""
    rows = _table(os.path.join(root, INDEX), COLUMNS)
    if rows is None:
        return None
    named = {
        row["file"]: (unguarded(row["node"]), int(row["output"]))
        for row in _table(os.path.join(root, NETWORK), ("file", "node", "output")) or ()
        if _is_number(row["output"])
    }
    found = [_line(row, root, named) for row in rows]
    return [line for line in found if line is not None]


def _table(path: str, columns: Sequence[str]) -> Optional[List[Dict[str, str]]]:
    try:
        with open(
            path, encoding="utf-8", errors="surrogateescape", newline="", opener=reading
        ) as stream:
            rows = csv.DictReader(stream.read(_LARGEST_INDEX).splitlines())
            if tuple(rows.fieldnames or ()) != tuple(columns):
                return None
            return [{name: str(row.get(name) or "") for name in columns} for row in rows]
    except (OSError, csv.Error):
        return None


def _line(row: Dict[str, str], root: str, named: Mapping[str, Key]) -> Optional[Npy]:
    file, run, output, node, kind = (
        unguarded(row[key]) for key in ("file", "run", "output", "node", "debug_op")
    )
    if kind not in (*TENSOR, "input") or not all(map(_is_number, (run, output))):
        return None
    if not file or os.path.isabs(file) or ".." in file.split("/"):
        return None
    folder = _folder(file.split("/")[:-1])._replace(step=int(run))
    side = "input" if kind == "input" else "output"
    path = os.path.join(root, file)
    return Npy(folder, path, node, int(output), side, named.get(file), True)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MOST_DIGITS


def array_of(path: str, name: str, output: int = 0, is_fed: bool = False) -> Array:
    """The tensor of a ``.npy`` file.

    Raises:
        NpuConfigError: it is not one, is cut, or holds objects.
        ImportError: numpy is missing.
    """
    values = open_npy(path)
    kind = str(values.dtype)
    if values.dtype.kind == "V":
        values, kind = values.view("<u2"), _BFLOAT16
    return Array(name, output, kind, tuple(values.shape), values, None, is_fed)


def open_npy(path: str) -> Any:
    """The array of a ``.npy`` file, mapped; bfloat16 is of numpy's type of two bytes, "V2".

    Raises:
        NpuConfigError: it is not one, is cut, or holds objects.
        ImportError: numpy is missing.
    """
    import numpy

    try:
        values = numpy.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError as error:
        raise NpuConfigError([unreadable(path, error)]) from None
    # numpy parses the header as a Python literal, and raises whatever that raises.
    except Exception as error:
        why = str(error).split("\n", 1)[0] or phrase("the file is truncated")
        reason = phrase("not a readable .npy file: {}", why)
        raise reference_unreadable.error(reason, Place(path)) from None
    if not isinstance(values, numpy.ndarray) or not _holds_numbers(values.dtype):
        reason = "the file does not hold one array of numbers"
        raise reference_unreadable.error(reason, Place(path))
    return values.view(numpy.ndarray)


def _holds_numbers(dtype: Any) -> bool:
    return dtype.kind in "biufc" or (dtype.kind == "V" and dtype.itemsize == 2 and not dtype.names)


def _of_dump(name: str, output: int, tensor: Tensor) -> Array:
    shape = tensor.original_shape or tensor.shape
    return Array(name, output, tensor.data_type, shape, None, tensor)


def of_line(name: str, line: StatisticsRow) -> Array:
    """A line of a table of statistics."""
    return Array(name, line.index, line.data_type, line.shape or (), numbers=line.numbers)


def of_tensor(tensor: Tensor) -> Array:
    """A tensor of the dump that is compared, as the other side has them."""
    return _of_dump("", 0, tensor)
