"""Tables as CSV, .npy files, and the index.csv beside them, as both exports write them."""

import csv
import hashlib
import re
from typing import Any, Iterable, List, NamedTuple, Sequence, Set

from npu_config.core.paths import PathLike
from npu_config.text.files import write_atomic

__all__ = [
    "COLUMNS",
    "DTYPES",
    "INDEX",
    "NETWORK",
    "TENSOR",
    "Exported",
    "file_name",
    "index_text",
    "npy_header",
    "write_index",
]

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?\Z")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV; a text that a spreadsheet would compute has a ``'`` before it.

    Numbers stay as they are, as text, too.  :func:`unguarded` gives back what a cell was.
    """
    lines = _Lines()
    csv.writer(lines).writerows(map(_guarded, rows))  # with "\r\n" it quotes either character
    return "".join(line[:-2] + "\n" for line in lines)


class _Lines(List[str]):
    """What a writer writes, a row each."""

    write = list.append


def _guarded(row: Iterable[Any]) -> List[Any]:
    return ["'" + cell if isinstance(cell, str) and _computes(cell) else cell for cell in row]


def _computes(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMBER.match(text) is None


def unguarded(cell: str) -> str:
    """The text of a cell that :func:`csv_text` wrote."""
    return cell[1:] if _GUARDED.match(cell) else cell


INDEX = "index.csv"
NETWORK = "network.csv"
"""Beside the index of a dump: which output of the network each file stands for."""
_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex"}
DTYPES = {
    "{}{}{}".format("|" if size == 1 else "<", kind, size): "{}{}".format(name, 8 * size)
    for kind, name in _KINDS.items()
    for size in (1, 2, 4, 8, 16)
}
DTYPES["|b1"] = "bool"
"""The names of numpy's types by their description in the header."""
TENSOR = ("DebugIdentity", "output")
"""What ``debug_op`` says of the value of an output: tfdbg's word, and that of dumps."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.\-]")
_LONGEST_NAME = 180


class Exported(NamedTuple):
    """One line of the index.

    Args:
        run: number of the session.run, from 0 on; of a dump, the step.
        file: the ``.npy`` file, relative to the index; "" when there is none.
        node: the node's name.
        output: which of its outputs (or inputs).
        occurrence: which execution of the node within the run.
        debug_op: what was recorded; ``DebugIdentity`` and ``output`` are the tensor itself.
        device: where the node ran.
        dtype: the name of the type; bfloat16 is stored as float32, which holds every value.
        shape: sizes joined by ``x``; "" for a scalar.
        time_us: when it was recorded, in microseconds.
        status: ``"ok"``, or why there is no file.
    """

    run: int
    file: str
    node: str
    output: int
    occurrence: int
    debug_op: str
    device: str
    dtype: str
    shape: str
    time_us: int
    status: str


COLUMNS = Exported._fields


def npy_header(descr: str, shape: Sequence[int]) -> bytes:
    """The header of a ``.npy`` file, version 1.0 of its format.

    Args:
        descr: the type as numpy writes it, e.g. ``"<f4"``.
        shape: of the array, which follows in C order.
    """
    sizes = (
        "({},)".format(shape[0]) if len(shape) == 1 else "({})".format(", ".join(map(str, shape)))
    )
    header = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}".format(descr, sizes)
    padded = header + " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode("ascii")


def index_text(lines: Iterable[Exported]) -> str:
    """The text of the index."""
    return csv_text([COLUMNS, *lines])


def write_index(path: PathLike, lines: Iterable[Exported], overwrite: bool = False) -> None:
    """Write the index, all of it or nothing."""
    write_atomic(path, index_text(lines), overwrite)


def file_name(node: str, taken: Set[str]) -> str:
    """A file name for a node, the same in every run of the same graph, used by no other.

    Args:
        node: its real name; what no file name should hold becomes ``_``.
        taken: the names that others have; the new one is added.
    """
    name = _UNSAFE.sub("_", node).lstrip(".") or "_"
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha1(node.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        name = "{}~{}".format(name[:_LONGEST_NAME], digest)
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = "{}~{}".format(name, count)
    taken.add(unique)
    return unique
