"""Tables of statistics against a reference: what has to hold of two tensors that agree.

A table has the extremes, the mean, the norm and the counts of a tensor that was not kept.  Where
two tensors agree within the limits of their type and kind, these agree within limits that follow
from them: an extreme as one element, the mean and the norm as the relative distance.  So a table
shows that a tensor diverges; that it agrees holds of its statistics alone.

Source: facts dump.yaml, ``stats_csv``.
"""

import math
import os
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, NpuConfigError
from npu_config.core.message import join, phrase
from npu_config.dumps.data_types import PLAIN
from npu_config.dumps.dump import Dump
from npu_config.dumps.graph import GeGraph
from npu_config.dumps.reference import Array
from npu_config.dumps.statistics import (
    Statistics,
    StatisticsRow,
    measured,
    read_statistics,
    statistics_of_row,
)
from npu_config.dumps.tree import DumpFile, Operator, plain
from npu_config.dumps.verdicts import AGREES, DIVERGES, ELEMENT, NOT_COMPARED, Judged, Limits
from npu_config.text.loading import attempted

_DIGITS = 2e-5
"""The error of numbers with six digits."""


class Table(NamedTuple):
    """The statistics of one operator in one step; ``operator`` has no tensors."""

    operator: Operator
    rows: Tuple[StatisticsRow, ...]


def tables_of(
    files: Iterable[DumpFile], graph: Optional[GeGraph], found: List[Diagnostic]
) -> Tuple[Table, ...]:
    """The tables among the files of a step, with the names that the graph gives operators.

    Args:
        files: of the step.
        graph: knows names that file names have with ``_`` for ``/``.
        found: gets what is wrong with tables.
    """
    names: Dict[str, str] = {} if graph is None else {plain(op.name): op.name for op in graph}
    result = []
    for file in files:
        rows = None
        if file.kind == "statistics":
            rows = attempted(found, file.path, read_statistics, file.path)
        if rows:
            name = names.get(file.op_name, file.op_name)
            dump = Dump(os.fspath(file.path), "", file.name.time, name, (), ())
            result.append(Table(Operator(name, file.op_type, file.name.time, dump), rows))
    return tuple(result)


def judge_table(row: StatisticsRow, array: Array, limits: Limits) -> Judged:
    """Whether statistics can be those of a tensor that agrees with the reference.

    Args:
        row: of the device.
        array: of the reference.
        limits: of the tensors.
    """
    given = statistics_of_row(row)
    if given is None:
        return Judged(NOT_COMPARED, (), "the table has no numbers of it")
    try:
        theirs = measured(array.blocks)
    except NpuConfigError as error:
        return Judged(NOT_COMPARED, (), error.diagnostics[0].message)
    if (given.nan, given.infinite) != (theirs.nan, theirs.infinite) and _counts(row):
        message = "{:,} NaN and {:,} infinite against {:,} and {:,}"
        counts = (given.nan, given.infinite, theirs.nan, theirs.infinite)
        return Judged(DIVERGES, ("nan",), phrase(message, *counts))
    is_padded = row.format not in (*PLAIN, "ND")
    wrong = [
        phrase("{} {:.6g} against {:.6g}", name, mine, other)
        for name, mine, other, allowed in _numbers(row, given, theirs, limits, is_padded)
        if not abs(mine - other) <= allowed + _DIGITS * max(abs(mine), abs(other))
    ]
    if wrong:
        return Judged(DIVERGES, ("statistics",), join("; ", wrong))
    return Judged(AGREES, (), "by its statistics alone")


def _counts(row: StatisticsRow) -> bool:
    """True when the table counts what is not finite."""
    return any(row.numbers.get(name) is not None for name in ("Nan Count", "Positive Inf Count"))


_Number = Tuple[str, float, float, float]
"""What it is, of the device, of the reference, and how far they may be apart."""


def _numbers(
    row: StatisticsRow, given: Statistics, theirs: Statistics, limits: Limits, is_padded: bool
) -> Sequence[_Number]:
    """The numbers that both sides have; padding adds zeros, which the norm does not see."""
    if theirs.nan or theirs.infinite or given.nan or given.infinite or not theirs.elements:
        return ()
    square = math.sqrt(theirs.deviation**2 + theirs.mean**2)
    exact = limits.kind in ("index", "flag")
    relative = 0.0 if exact else limits.relative
    largest = max(abs(theirs.minimum), abs(theirs.maximum), square)
    element = relative * ELEMENT * largest if limits.absolute is None else limits.absolute
    result: List[_Number] = []
    for name, mine, other in (
        (phrase("minimum"), given.minimum, theirs.minimum),
        (phrase("maximum"), given.maximum, theirs.maximum),
    ):
        if not math.isnan(mine) and not (is_padded and mine == 0.0):
            result.append((name, mine, other, element))
    if not is_padded and not math.isnan(given.mean):
        result.append(
            (phrase("mean"), given.mean, theirs.mean, relative * square + _DIGITS * largest)
        )
    norm = row.numbers.get("l2norm")
    if norm is not None:
        whole = square * math.sqrt(theirs.elements)
        result.append((phrase("norm"), float(norm), whole, relative * whole))
    return result
