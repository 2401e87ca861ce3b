"""The tables that ``dump_data: "stats"`` writes in place of tensors.

Any subset of the numbers may be there, and rows may lack their ``Count``.

Source: facts dump.yaml, ``stats_csv``.
"""

import csv
from typing import Dict, List, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.arguments import path_name
from npu_config.core.diagnostics import NpuConfigError, Place
from npu_config.core.files import PathLike
from npu_config.core.message import listed, phrase
from npu_config.dumps._rules import statistics_unreadable
from npu_config.text.loading import decode, load

_FIXED = ("Input/Output", "Index", "Data Size", "Data Type", "Format", "Shape")
_LARGEST = 1 << 24
_COUNT = "Count"

Number = Union[int, float, None]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class StatisticsRow:
    """The numbers of one tensor.

    Args:
        side: ``"input"`` or ``"output"``.
        index: which of them.
        size: bytes on the device.
        data_type: e.g. ``"DT_FLOAT"``.
        format: on the device.
        shape: on the device; None where the table has ``-``.
        numbers: column to number, e.g. ``"Max Value"``; None where nothing was computed.
    """

    side: str
    index: int
    size: int
    data_type: str
    format: str
    shape: Optional[Tuple[int, ...]]
    numbers: Dict[str, Number]


def read_statistics(path: PathLike) -> Tuple[StatisticsRow, ...]:
    """Read a table of statistics.

    Args:
        path: the ``.csv`` file.

    Raises:
        NpuConfigError: it is not such a table, with every row that is wrong.
    """
    name = path_name(path)
    data = load(name, _LARGEST)
    if not isinstance(data, bytes):
        raise NpuConfigError([data])
    text, unreadable = decode(data, name)
    if text is None:
        raise NpuConfigError([unreadable] if unreadable else [])
    try:
        rows = [row for row in csv.reader(text.splitlines()) if row]
    except csv.Error as error:
        message = phrase("the table is not CSV: {}", error)
        raise statistics_unreadable.error(message, Place(name)) from None
    if not rows or tuple(rows[0][: len(_FIXED)]) != _FIXED:
        message = "the table does not begin with the columns {}"
        raise statistics_unreadable.error(phrase(message, listed(_FIXED)), Place(name, 1))
    columns = rows[0][len(_FIXED) :]
    result: List[StatisticsRow] = []
    found = []
    for line, row in enumerate(rows[1:], 2):
        try:
            result.append(_row(row, columns))
        except ValueError as error:
            found.append(statistics_unreadable.diagnostic(str(error), Place(name, line)))
    if found:
        raise NpuConfigError(found)
    return tuple(result)


def _row(row: Sequence[str], columns: Sequence[str]) -> StatisticsRow:
    if len(row) == len(_FIXED) + len(columns) - 1 and _COUNT in columns:
        columns = [column for column in columns if column != _COUNT]
    if len(row) < len(_FIXED) or len(row) > len(_FIXED) + len(columns):
        raise ValueError(phrase("the number of fields in the row is {}", len(row)))
    side, index, size, data_type, format_, shape = row[: len(_FIXED)]
    if side.lower() not in ("input", "output") or not index.isdecimal() or not size.isdecimal():
        raise ValueError(phrase('the row begins with "{}", not with Input or Output', side[:40]))
    cells = [*row[len(_FIXED) :], *[""] * len(columns)]
    return StatisticsRow(
        side.lower(),
        int(index),
        int(size),
        data_type,
        format_,
        _shape(shape),
        {column: _number(cell) for column, cell in zip(columns, cells)},
    )


def _shape(text: str) -> Optional[Tuple[int, ...]]:
    parts = text.split("x")
    if not all(part.isdecimal() for part in parts):
        return None
    return tuple(int(part) for part in parts)


def _number(text: str) -> Number:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None
