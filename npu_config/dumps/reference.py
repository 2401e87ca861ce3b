"""The other side of a comparison: folders of ``.npy`` files, or a second dump of the NPU.

Files are called ``OPERATOR.OUTPUT.NUMBER.npy``, with ``_`` for ``/`` and ``.``; where an
``index.csv`` lies beside them (tfdbg-export, dump export), the real names come from it.

Source: facts dump.yaml, ``compare`` (C-REF, C-OURS, C-NPUNPU).
"""

import csv
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.files import reading, walk
from npu_config.core.message import phrase
from npu_config.core.npy import COLUMNS, INDEX, TENSOR, unguarded
from npu_config.dumps._rules import reference_unreadable
from npu_config.dumps.dump import BLOCK, Dump, Tensor
from npu_config.dumps.tree import Chosen, choose, find_dumps, no_dump, operators, plain
from npu_config.text.loading import unreadable

_LARGEST_INDEX = 1 << 28
_LONGEST_NAME = 4096
_MOST_DIGITS = 18

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
    """

    name: str
    output: int
    data_type: str
    shape: Tuple[int, ...]
    values: Any = None
    tensor: Optional[Tensor] = None

    @property
    def label(self) -> str:
        """As tables name it, e.g. ``"conv1/Relu.0"``."""
        return "{}.{}".format(self.name, self.output)

    @property
    def is_boolean(self) -> bool:
        """True for truth values."""
        return self.data_type in ("bool", "DT_BOOL")

    def blocks(self, limit: int = BLOCK) -> Iterator[Any]:
        """The values as flat pieces in C order."""
        if self.tensor is not None:
            yield from self.tensor.blocks(True, limit)
            return
        flat = self.values.reshape(-1)
        for start in range(0, flat.size, limit):
            yield flat[start : start + limit]


class Reference:
    """What can be compared with, by name; values are mapped when they are asked for.

    Attributes:
        path: the folder.
        is_dump: True for a dump of the NPU.
        steps: the steps or runs that there are.
        step: the one that is compared; None when the files do not say.
        names: the names of all operators.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_dump = False
        self.steps: Tuple[int, ...] = ()
        self.step: Optional[int] = None
        self.diagnostics: Tuple[Diagnostic, ...] = ()
        self._files: Dict[Key, Tuple[str, str]] = {}
        self._dumps: Dict[str, Dump] = {}
        self._origins: Dict[Key, Tuple[str, int]] = {}
        self._known: Set[str] = set()
        self._lengths: Optional[List[int]] = None

    @property
    def names(self) -> List[str]:
        """The names of the operators."""
        return list({name for name, _ in self._files} | set(self._dumps))

    def of_operator(self, side: str, name: str, index: int) -> Optional[Array]:
        """The same input or output of the operator of that name in another dump.

        Raises:
            NpuConfigError: there is one, and it cannot be read.
        """
        dump = self._dumps.get(name)
        tensors: Sequence[Tensor] = ()
        if dump is not None:
            tensors = dump.inputs if side == "input" else dump.outputs
        return _of_dump(name, index, tensors[index]) if index < len(tensors) else None

    def find(self, name: str, output: int) -> Optional[Array]:
        """An output of an operator of the network.

        Raises:
            NpuConfigError: there is one, and it cannot be read.
        """
        key = (name, output)
        if key in self._origins:
            operator, index = self._origins[key]
            return _of_dump(name, output, self._dumps[operator].outputs[index])
        file = self._files.get(key) or self._files.get((plain(name), output))
        if file is None:
            return self.of_operator("output", name, output) if self.is_dump else None
        path, real = file
        values = open_npy(path)
        return Array(real or name, output, str(values.dtype), tuple(values.shape), values)

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

    def read_npy(self, step: Optional[int]) -> None:
        """Take the ``.npy`` files of the folder, of one run where an index names several."""
        lines = _index(os.path.join(self.path, INDEX))
        if lines is None:
            self._take_files()
            return
        self.steps = tuple(sorted({line.run for line in lines}))
        self.step = step if step is not None else next(iter(self.steps), None)
        for line in lines:
            if line.run == self.step:
                path = os.path.join(self.path, line.file)
                self._files[line.node, line.output] = (path, line.node)
                self._files.setdefault((plain(line.node), line.output), (path, line.node))

    def _take_files(self) -> None:
        latest: Dict[Key, int] = {}
        for folder, folders, names in walk(self.path):
            folders.sort()
            for name in sorted(names):
                parts = name[: -len(".npy")].rsplit(".", 2)
                if not name.endswith(".npy") or len(parts) < 3 or not _are_numbers(parts[1:]):
                    continue
                key, time = (parts[0], int(parts[1])), int(parts[2])
                if time >= latest.get(key, -1):
                    latest[key] = time
                    self._files[key] = (os.path.join(folder, name), "")
                    self._files[plain(key[0]), key[1]] = self._files[key]

    def read_dump(self, chosen: Chosen) -> None:
        """Take the operators of a dump."""
        self.is_dump = True
        self.steps, self.step = chosen.steps, chosen.step
        found = operators(chosen)
        self.diagnostics = found.diagnostics
        for operator in found.operators:
            dump = operator.dump
            self._dumps[dump.op_name] = dump
            for index, tensor in enumerate(dump.outputs):
                original = tensor.original_op
                if original is not None:
                    key = (original.name, original.output_index)
                    self._origins[key] = (dump.op_name, index)


def open_reference(path: str, step: Optional[int] = None) -> Reference:
    """Find what a folder offers to compare with.

    Args:
        path: a folder of ``.npy`` files, or a dump of the NPU.
        step: the run or step to take; None: the first of a reference, the first of a dump.

    Raises:
        NpuConfigError: there is nothing to compare with.
    """
    reference = Reference(path)
    if os.path.isfile(os.path.join(path, INDEX)) or _holds_npy(path):
        reference.read_npy(step)
        if not reference.names:
            raise _nothing(path, "the .npy files have other names than OPERATOR.OUTPUT.TIME.npy")
        return reference
    tree = find_dumps(path)
    if not any(file.kind == "tensor" for file in tree):
        if tree.strays or not len(tree):
            raise _nothing(path, no_dump(tree, path).message)
        raise _nothing(path, "the folder holds statistics or overflow records, no tensors")
    reference.read_dump(choose(tree, step=step))
    return reference


def _nothing(path: str, reason: str) -> NpuConfigError:
    return reference_unreadable.error(
        phrase("nothing to compare with: {}", reason),
        Place(path),
        help="give a folder of OPERATOR.OUTPUT.TIME.npy files, of tfdbg-export or dump "
        "export, or another dump",
    )


def _are_numbers(parts: Sequence[str]) -> bool:
    return all(part.isdecimal() and len(part) < 40 for part in parts)


def _holds_npy(path: str) -> bool:
    return any(name.endswith(".npy") for _, _, names in walk(path) for name in names)


class _Line(NamedTuple):
    """What is needed of a line of the index."""

    run: int
    file: str
    node: str
    output: int


def _index(path: str) -> Optional[List[_Line]]:
    """The tensors of an ``index.csv``; None when there is none that is ours."""
    try:
        with open(
            path, encoding="utf-8", errors="surrogateescape", newline="", opener=reading
        ) as stream:
            rows = csv.DictReader(stream.read(_LARGEST_INDEX).splitlines())
            if rows.fieldnames is None or tuple(rows.fieldnames) != COLUMNS:
                return None
            return [line for line in map(_line, rows) if line is not None]
    except (OSError, csv.Error):
        return None


def _line(row: Dict[str, Any]) -> Optional[_Line]:
    file, run, output, node = (
        unguarded(str(row.get(key) or "")) for key in ("file", "run", "output", "node")
    )
    if row.get("debug_op") not in TENSOR or not run.isdecimal() or not output.isdecimal():
        return None
    if max(len(run), len(output)) > _MOST_DIGITS:
        return None
    if not file or os.path.isabs(file) or ".." in file.split("/"):
        return None
    return _Line(int(run), file, node, int(output))


def open_npy(path: str) -> Any:
    """The array of a ``.npy`` file, mapped.

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
    if not isinstance(values, numpy.ndarray) or values.dtype.kind not in "biufc":
        reason = "the file does not hold one array of numbers"
        raise reference_unreadable.error(reason, Place(path))
    return values.view(numpy.ndarray)


def _of_dump(name: str, output: int, tensor: Tensor) -> Array:
    shape = tensor.original_shape or tensor.shape
    return Array(name, output, tensor.data_type, shape, None, tensor)
