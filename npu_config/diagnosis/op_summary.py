"""The operator table of the profiler (op_summary_*.csv), read as a stream.

A row is one execution of one operator.  Rows are never kept: what is kept is one record
for each operator that reads float16 on a single block, and the totals of each operator
type, so that memory does not grow with the number of rows.

What follows for mixed precision: a float16 ReduceSum may run on a single core.  Where float16
comes from mixed precision, the operator type goes into the block list (ops_info.json, option
``modify_mixlist``); where the network itself computes in float16, the block list changes nothing
and the input has to be cast to float32.
Source: docs/en/tfadapter_1/migration/faq/networktest_reducesum_low_performance.md.
"""

import csv
import heapq
import os
import re
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    TextIO,
    Tuple,
)

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.paths import PathLike, is_directory, path_name, reading, walk
from npu_config.text.source import guarded

# Old and new names of the columns, with unit, blanks and underscores taken away.  The
# profiler of CANN up to 8.2 writes "Block Dim", later ones "Block Num"; the framework
# plug-ins' kernel_details.csv has shorter names for the same things.
_NEEDED = {
    "name": ("opname", "name"),
    "type": ("optype", "type"),
    "duration": ("taskduration", "duration"),
    "blocks": ("blockdim", "blocknum"),
    "input_types": ("inputdatatypes",),
}
_OPTIONAL = {
    "task_type": ("tasktype", "acceleratorcore"),
    "input_shapes": ("inputshapes",),
}
_DISPLAY = {
    "name": "Op Name",
    "type": "OP Type",
    "duration": "Task Duration(us)",
    "blocks": "Block Dim (or Block Num)",
    "input_types": "Input Data Types",
}
_UNITS = {"us": 1.0, "ns": 1e-3, "ms": 1e3, "s": 1e6}
_LONGEST_LINE = 1 << 20
REDUCE_SUM = frozenset(("ReduceSum", "ReduceSumD"))
_FLOAT16 = frozenset(("FLOAT16", "DT_FLOAT16", "FP16", "HALF"))
# Operators on the host CPU, the AI CPU and the communication engine have no blocks.
_AI_CORE = re.compile(r"AI_?CORE|AI_?VECTOR_?CORE|AIC|AIV|MIX", re.IGNORECASE)

#: Operators that are told apart by name; beyond it the least significant are dropped.
MAX_OPERATORS = 50000


@declare(
    "NPU797",
    Severity.ERROR,
    source=(
        "hiascend.com CANN 8.5 devaids/profiling op_summary (operator details)",
        "docs/en/tfadapter_1/migration/faq/networktest_reducesum_low_performance.md",
    ),
    help="pass a table that the profiler exported, such as op_summary_*.csv",
)
def profiling_table_unreadable() -> None:
    """A file is not a usable op_summary table.

    The analysis needs the columns that say which operator ran, for how long, on how many
    blocks and with which input types: `Op Name`, `OP Type`, `Task Duration(us)`, `Block Dim`
    (`Block Num` in newer versions) and `Input Data Types`. The profiler does not write the
    last columns of this list when the job was recorded with `task_time` `l0` or `off`.

    Wrong: an `op_statistic_*.csv`, or a table recorded with `task_time` `l0`.

    Right: `op_summary_*.csv` of a job recorded with `"task_time": "l1"`.
    """


class Columns:
    """The columns of a table by name; units, blanks and underscores do not matter.

    Args:
        header: the titles.  Those of percentages are left out.
    """

    def __init__(self, header: Sequence[str]) -> None:
        self._positions: Dict[str, int] = {}
        self._units: Dict[str, str] = {}
        for index, title in enumerate(header):
            words, bracket, unit = title.strip().partition("(")
            plain = "".join(words.split()).replace("_", "").lower()
            if unit != "%)":
                self._positions.setdefault(plain, index)
                self._units.setdefault(plain, unit[:-1].lower() if bracket else "us")

    def at(self, names: Sequence[str]) -> Optional[int]:
        """Where a column is; the first of its names that is there decides."""
        return next((self._positions[n] for n in names if n in self._positions), None)

    def timed(self, names: Sequence[str]) -> Tuple[Optional[int], float]:
        """Where a column of times is, and how many microseconds its unit has."""
        unit = next((self._units[name] for name in names if name in self._positions), "us")
        return self.at(names), _UNITS.get(unit, 1.0)


class _Positions(NamedTuple):
    """The positions of the columns in a table, and what one duration counts in microseconds."""

    name: int
    type: int
    duration: int
    blocks: int
    input_types: int
    task_type: Optional[int]
    input_shapes: Optional[int]
    scale: float


@attr.s(frozen=True, slots=True, auto_attribs=True)
class OneBlockOperator:
    """An operator with float16 input that runs on one block.

    Args:
        name: its name in the compiled graph.
        type: its operator type, the name that side files such as ops_info.json use.
        count: how often it ran.
        total_us: time of all its runs, in microseconds.
        max_us: the longest run, in microseconds.
        input_shapes: of the longest run, as the table has them; "" when it has none.
        input_types: of the longest run.
        share: its part of the time of the whole table, 0 to 1.
    """

    name: str
    type: str
    count: int
    total_us: float
    max_us: float
    input_shapes: str
    input_types: str
    share: float

    @property
    def is_reduce_sum(self) -> bool:
        """True for the operator type that is documented to be slow this way."""
        return self.type in REDUCE_SUM


@attr.s(frozen=True, slots=True, auto_attribs=True)
class OpSummary:
    """What an operator table holds.

    Args:
        paths: the files that were read.
        rows: executions read.
        skipped: rows without a usable duration (``N/A``, cut lines).
        total_us: time of all executions, in microseconds.
        operators: float16 operators on one block, ReduceSum first, then by time.
        types: operator type to (count, microseconds) of all its one-block float16 runs.
        truncated: how many operators were dropped because there were more than
            :data:`MAX_OPERATORS`; ``types`` counts them all the same.
        diagnostics: tables that could not be read.
    """

    paths: Tuple[str, ...]
    rows: int
    skipped: int
    total_us: float
    operators: Tuple[OneBlockOperator, ...]
    types: Dict[str, Tuple[int, float]]
    truncated: int
    diagnostics: Tuple[Diagnostic, ...] = ()


def find_tables(path: PathLike) -> List[str]:
    """The op_summary tables at ``path``: itself, or all of them below a directory.

    A directory that cannot be listed stands for its tables.
    """
    root = path_name(path)
    if not is_directory(root):
        return [root]
    found: List[str] = []
    refused: List[str] = []
    for directory, folders, files in walk(root, refused):
        folders.sort()
        found += [
            os.path.join(directory, name)
            for name in sorted(files)
            if name.startswith("op_summary") and name.endswith(".csv")
        ]
    return found + refused


def read_op_summary(
    paths: Iterable[PathLike], progress: Optional[Callable[[int], None]] = None
) -> OpSummary:
    """Read one or more operator tables (a long recording is written in slices).

    Args:
        paths: CSV files, or directories with ``op_summary*.csv`` below.
        progress: called now and then with the number of characters read since the last call.

    Raises:
        NpuConfigError: no table can be read, or none has the columns; every table's fault is
            in it.
    """
    reading = OneBlockReading(progress)
    given = [path_name(path) for path in paths]
    for path in given:
        tables = find_tables(path)
        if not tables:
            reading.faults.note("no op_summary*.csv below this directory", Place(path))
        for table in tables:
            reading.read(table)
    return reading.result()


class TableFaults(List[Diagnostic]):
    """What is wrong with tables."""

    def note(self, message: str, place: Place, help: Optional[str] = None) -> None:
        """Note one more fault."""
        self.append(profiling_table_unreadable.diagnostic(message, place, help=help))

    def read(
        self,
        path: str,
        progress: Optional[Callable[[int], None]],
        take: Callable[[str, List[str], Any], None],
    ) -> None:
        """Give a table to a reader: its path, its header, its rows; note where that fails."""
        try:
            with open(
                path, encoding="utf-8-sig", errors="replace", newline="", opener=reading
            ) as stream, guarded(path):
                rows = csv.reader(lines_of(stream, progress))
                try:
                    header = next(rows, None)
                    if header is None:
                        self.note("the table is empty", Place(path))
                    else:
                        take(path, header, rows)
                except csv.Error as error:
                    place = Place(path, rows.line_num or 1)
                    self.note(phrase("this is not a CSV table: {}", error), place)
        except NpuConfigError as error:
            self.extend(error.diagnostics)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            self.note(phrase('cannot read "{}": {}', path, reason), Place(path))


_TOLD = 1 << 20


class OneBlockReading:
    """The state of reading; one instance reads all slices of a recording.

    Attributes:
        faults: tables that could not be read.
        paths: those that were.
    """

    def __init__(self, progress: Optional[Callable[[int], None]] = None) -> None:
        self.faults = TableFaults()
        self._progress = progress
        self.paths: List[str] = []
        self._rows = 0
        self._skipped = 0
        self._total = 0.0
        self._truncated = 0
        self._types: Dict[str, List[Any]] = {}
        self._operators: Dict[Tuple[str, str], List[Any]] = {}

    def read(self, path: str) -> None:
        """Read a table; what is wrong with it is noted."""
        self.faults.read(path, self._progress, self._table)

    def _table(self, path: str, header: List[str], rows: Iterator[List[str]]) -> None:
        columns = self._columns(path, header)
        for _ in () if columns is None else self._scanned(path, rows, columns):
            pass

    def beside(
        self, path: str, header: List[str], rows: Iterator[List[str]]
    ) -> Iterator[List[str]]:
        """The rows of a table as they are; each is looked at when the next is asked for."""
        columns = self._columns(path, header)
        return rows if columns is None else self._scanned(path, rows, columns)

    def _columns(self, path: str, header: List[str]) -> Optional[_Positions]:
        columns = Columns(header)
        found = {column: columns.at(names) for column, names in _NEEDED.items()}
        missing = [_DISPLAY[column] for column, index in found.items() if index is None]
        if missing:
            if len(missing) == len(_NEEDED) or any("\x00" in title for title in header):
                self.faults.note(
                    "this is not an op_summary table: the first line has none of the "
                    "op_summary columns",
                    Place(path, 1),
                    "pass the op_summary_*.csv that the profiler wrote",
                )
            else:
                self.faults.note(
                    phrase(
                        "the table has no column {}",
                        listed('"{}"'.format(name) for name in missing),
                    ),
                    Place(path, 1),
                    'record with "task_time": "l1" (l0 and off leave operator details out) and '
                    "export op_summary again",
                )
            return None
        found.update((column, columns.at(names)) for column, names in _OPTIONAL.items())
        values: Dict[str, Any] = dict(found, scale=columns.timed(_NEEDED["duration"])[1])
        return _Positions(**values)

    def _scanned(
        self, path: str, rows: Iterator[List[str]], columns: _Positions
    ) -> Iterator[List[str]]:
        self.paths.append(path)
        name, kind, duration_at, blocks_at, types_at, task_at, shapes_at, scale = columns
        operators = self._operators
        width = 1 + max(index for index in columns[:-1] if index is not None)
        count = skipped = 0
        total = 0.0
        try:
            for row in rows:
                yield row
                if len(row) < width:
                    skipped += 1 if row else 0
                    continue
                try:
                    duration = float(row[duration_at]) * scale
                except ValueError:  # N/A
                    skipped += 1
                    continue
                if not 0.0 <= duration < 1e15:
                    skipped += 1
                    continue
                count += 1
                total += duration
                types = row[types_at]
                if "16" not in types and "HALF" not in types.upper():
                    continue
                if row[blocks_at].strip() != "1" or not _reads_float16(types):
                    continue
                if task_at is not None and not _AI_CORE.search(row[task_at]):
                    continue
                key = (row[kind].strip(), row[name].strip())
                shapes = "" if shapes_at is None else row[shapes_at]
                by_type = self._types.setdefault(key[0], [0, 0.0])
                by_type[0] += 1
                by_type[1] += duration
                known = operators.get(key)
                if known is None:
                    if len(operators) >= 2 * MAX_OPERATORS:
                        self._drop()
                    operators[key] = [1, duration, duration, shapes, types]
                    continue
                known[0] += 1
                known[1] += duration
                if duration > known[2]:
                    known[2:] = [duration, shapes, types]
        finally:
            self._rows += count
            self._skipped += skipped
            self._total += total

    def _drop(self) -> None:
        keep = heapq.nlargest(
            MAX_OPERATORS, self._operators.items(), key=lambda item: float(item[1][1])
        )
        self._truncated += len(self._operators) - len(keep)
        self._operators.clear()
        self._operators.update(keep)

    def result(self) -> OpSummary:
        """What the tables hold.

        Raises:
            NpuConfigError: none could be read, or none has a row with a duration.
        """
        if len(self._operators) > MAX_OPERATORS:
            self._drop()
        whole = self._total or 1.0
        operators = [
            OneBlockOperator(
                name, kind, count, total, longest, shapes.strip(), types.strip(), total / whole
            )
            for (kind, name), (count, total, longest, shapes, types) in self._operators.items()
        ]
        operators.sort(
            key=lambda each: (not each.is_reduce_sum, -each.total_us, each.type, each.name)
        )
        if self._rows == 0:
            said = {fault.path for fault in self.faults}
            for path in self.paths:
                if path not in said:
                    self.faults.note("the table has no row with a duration", Place(path))
            raise NpuConfigError(self.faults)
        return OpSummary(
            tuple(self.paths),
            self._rows,
            self._skipped,
            self._total,
            tuple(operators),
            {kind: (count, total) for kind, (count, total) in sorted(self._types.items())},
            self._truncated,
            tuple(self.faults),
        )


def lines_of(stream: TextIO, progress: Optional[Callable[[int], None]] = None) -> Iterator[str]:
    """The lines, in pieces when they are longer than those of any table."""
    lines = iter(lambda: stream.readline(_LONGEST_LINE), "")
    return lines if progress is None else _counted(lines, progress)


def _counted(lines: Iterable[str], progress: Callable[[int], None]) -> Iterator[str]:
    size = 0
    for line in lines:
        size += len(line)
        if size >= _TOLD:
            progress(size)
            size = 0
        yield line


def _reads_float16(types: str) -> bool:
    return any(part.strip().strip('"').upper() in _FLOAT16 for part in types.split(";"))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Advice:
    """What to change so that one-block float16 operators run in float32.

    Args:
        black_list: operator types for ``black-list`` / ``to-add`` of ops_info.json.
        casts: operators whose float16 is the network's own; their inputs need
            ``tf.cast(x, tf.float32)``.  Empty when no graph was given.
        share: the part of the whole time that the operators concerned took, 0 to 1.
        others: further one-block float16 types, by time; whether float32 makes them
            faster is not documented, so they are changed only when named.
    """

    black_list: Tuple[str, ...]
    casts: Tuple[OneBlockOperator, ...]
    share: float
    others: Tuple[str, ...]


def advise(
    summary: OpSummary,
    types: Optional[Iterable[str]] = None,
    float16_nodes: FrozenSet[str] = frozenset(),
) -> Advice:
    """What to change for the operators of ``summary``.

    Args:
        summary: the table.
        types: operator types to act on; None: ReduceSum and ReduceSumD, for which the
            slowness is documented.
        float16_nodes: nodes of the training graph that compute in float16 before any
            conversion (see :func:`npu_config.diagnose.float16_nodes`).
    """
    chosen = None if types is None else frozenset(types)

    def concerned(kind: str) -> bool:
        return kind in (REDUCE_SUM if chosen is None else chosen)

    black_list: Dict[str, None] = {}
    casts = []
    others: Dict[str, float] = {}
    for each in summary.operators:
        if not concerned(each.type):
            others[each.type] = others.get(each.type, 0.0) + each.total_us
            continue
        if each.name in float16_nodes:
            casts.append(each)
        else:
            black_list[each.type] = None
    kept = {each.type for each in summary.operators}
    black_list.update(
        (kind, None) for kind in summary.types if concerned(kind) and kind not in kept
    )
    # The totals of types are whole, the list of operators may not be.
    time = sum(total for kind, (_, total) in summary.types.items() if concerned(kind))
    return Advice(
        tuple(black_list),
        tuple(casts),
        time / (summary.total_us or 1.0),
        tuple(sorted(others, key=lambda t: -others[t])),
    )
