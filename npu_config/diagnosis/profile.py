"""Where the time of a profile went: engines, operators, steps, and two profiles compared.

The tables of the profiler say it at several levels, and a profile rarely has all of them: single
executions (``op_summary``, ``task_time``), sums of types (``op_statistic``), the AI CPU
(``aicpu``), communication (``hccl_statistic``, ``communication_statistic``) and the steps
(``step_trace``).  What the finest one lacks comes from the others; a table that cannot be read
is a finding, and the others are read all the same.

Source: hiascend.com devaids/profiling (op_summary, op_statistic, task_time, step_trace, aicpu,
communication_statistic); names of columns of CANN 5 to 9, with and without units.
"""

import os
import re
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import listed, phrase
from npu_config.core.paths import PathLike, is_directory, path_name, walk
from npu_config.diagnosis.op_summary import (
    Columns,
    OneBlockReading,
    OpSummary,
    TableFaults,
)

AI_CORE, AI_VECTOR, AI_CPU = "AI Core", "AI Vector Core", "AI CPU"
COMMUNICATION, WAITING = phrase("communication"), phrase("waiting")
COPIES, OTHER = phrase("copies"), phrase("other")
_ENGINES = (
    (re.compile("WAIT"), WAITING),
    (re.compile("HCCL|HCOM|COMMUNICATION|ALL_?REDUCE"), COMMUNICATION),
    (re.compile("AI_?CPU"), AI_CPU),
    (re.compile("AI_?VEC|AIV"), AI_VECTOR),
    (re.compile("AI_?CORE|AIC|MIX"), AI_CORE),
    (re.compile("SDMA|MEMCPY|PCIE"), COPIES),
)
MAX_KEYS = 50000
"""Operators that are told apart; beyond it those with the least time are dropped."""

_NAME, _TYPE = ("opname", "name", "kernelname", "node"), ("optype", "type")
_TASK = ("tasktype", "acceleratorcore", "coretype", "kerneltype")
_DURATION = ("taskduration", "duration", "totaltime", "tasktime", "time")


_EXTENSION = ".csv"


class _Kind(NamedTuple):
    """One kind of table: its file names, and the engine of its rows where no column says."""

    names: Tuple[str, ...]
    engine: Optional[str] = None


_KINDS: Dict[str, _Kind] = {
    "op_summary": _Kind(("op_summary", "kernel_details")),
    "op_statistic": _Kind(("op_statistic",)),
    "task_time": _Kind(("task_time",)),
    "aicpu": _Kind(("aicpu",), AI_CPU),
    "communication": _Kind(("hccl_statistic", "communication_statistic"), COMMUNICATION),
    "step_trace": _Kind(("step_trace",)),
}
_EXECUTIONS = ("op_summary", "op_statistic", "task_time")
"""Which tables say where the time went, the finest first."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class TimeShare:
    """What something took.

    Args:
        name: of the operator, the operator type or the engine.
        type: the operator type; "" for engines.
        engine: where it ran, e.g. ``"AI CPU"``.
        count: how often.
        total_us: all of its time, in microseconds.
        max_us: its longest run; of sums, as the table has it.
        share: its part of the time of the profile, 0 to 1.
        source: the kind of table that says so.
    """

    name: str
    type: str
    engine: str
    count: int
    total_us: float
    max_us: float
    share: float
    source: str


@attr.s(frozen=True, slots=True, auto_attribs=True)
class StepTimes:
    """The iterations of a profile; times are means, in microseconds, None where no table says.

    Args:
        count: how many.
        total_us: of an iteration.
        compute_us: from the first forward to the last backward operator.
        refresh_us: from there to the end of the iteration.
        data_us: waiting for data before the iteration.
        longest_us: of the longest iteration.
    """

    count: int
    total_us: float
    compute_us: Optional[float]
    refresh_us: Optional[float]
    data_us: Optional[float]
    longest_us: float


class ProfileTable(NamedTuple):
    """A table that was read: ``skipped`` are rows without a usable time."""

    path: str
    kind: str
    rows: int
    skipped: int


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Profile:
    """Where the time went.

    Args:
        tables: those that were read.
        total_us: time of all executions; engines work side by side, so it may be more than
            the time that passed.
        waiting_us: time that tasks waited before they began, where a table says.
        engines: the time of each engine, the largest first.
        types: of each operator type.
        operators: of each operator; empty when no table has them.
        steps: the iterations; None when no table has them.
        diagnostics: tables that could not be read.
        one_block: float16 operators on a single block, of the tables of operators; None when
            none says so.
        not_analysed: why there are none; else "".
        others: tables below the directories that were not read, as nothing here knows them.
    """

    tables: Tuple[ProfileTable, ...]
    total_us: float
    waiting_us: float
    engines: Tuple[TimeShare, ...]
    types: Tuple[TimeShare, ...]
    operators: Tuple[TimeShare, ...]
    steps: Optional[StepTimes]
    diagnostics: Tuple[Diagnostic, ...]
    one_block: Optional[OpSummary] = None
    not_analysed: str = ""
    others: Tuple[str, ...] = ()


def kind_of_table(path: str) -> Optional[str]:
    """The kind of a table, by the name of its file."""
    name = os.path.basename(path).lower()
    if not name.endswith(_EXTENSION):
        return None
    for kind, each in _KINDS.items():
        if name.startswith(each.names):
            return kind
    return None


def find_profile_tables(path: PathLike, others: Optional[List[str]] = None) -> List[str]:
    """The tables at ``path``: itself, or all that are known by name below a directory.

    A directory that cannot be listed stands for its tables.

    Args:
        path: a table or a directory.
        others: gets the tables that are not known.
    """
    root = path_name(path)
    if not is_directory(root):
        return [root]
    tables: List[str] = []
    refused: List[str] = []
    for directory, folders, files in walk(root, refused):
        folders.sort()
        for name in sorted(files):
            if kind_of_table(name):
                tables.append(os.path.join(directory, name))
            elif others is not None and name.lower().endswith(_EXTENSION):
                others.append(os.path.join(directory, name))
    return tables + refused


def read_profile(
    paths: Iterable[PathLike], progress: Optional[Callable[[int], None]] = None
) -> Profile:
    """Read the tables of a profile, each once.

    Args:
        paths: tables, or directories with some (``PROF_*``).
        progress: called now and then with the number of characters read since the last call.

    Raises:
        NpuConfigError: no table can be read; every table's fault is in it.
    """
    state = _Sums(progress)
    for path in map(path_name, paths):
        tables = find_profile_tables(path, state.others)
        if not tables:
            state.faults.note("no table of a profile below this directory", Place(path))
        for table in tables:
            state.read(table)
    if not state.tables:
        raise NpuConfigError(state.faults)
    return state.result()


_Sum = List[Any]
"""Count, total and maximum."""


class _Sums:
    """What the tables said so far."""

    def __init__(self, progress: Optional[Callable[[int], None]] = None) -> None:
        self.tables: List[ProfileTable] = []
        self.faults = TableFaults()
        self.others: List[str] = []
        self._progress = progress
        self._one_block = OneBlockReading()
        self._waiting = 0.0
        self._sums: Dict[str, Dict[Tuple[str, str, str], _Sum]] = {}
        self._steps: List[List[Optional[float]]] = []
        self._bad: List[int] = []
        self._line: Callable[[], int] = int

    def read(self, path: str) -> None:
        """Read a table; what is wrong with it is noted."""
        self.faults.read(path, self._progress, self._table)

    def _table(self, path: str, header: List[str], reader: Any) -> None:
        self._bad = []
        self._line = lambda: int(reader.line_num)
        rows: Iterator[List[str]] = reader
        columns = Columns(header)
        kind = kind_of_table(path) or _guessed(columns)
        if kind == "op_summary":
            rows = self._one_block.beside(path, header, rows)
        if kind == "step_trace":
            counts = self._step_rows(columns, rows)
        elif kind is not None and columns.at(_DURATION) is not None:
            counts = self._time_rows(kind, columns, rows)
        else:
            message = "this is not a table of a profile: the first line has no time column"
            self.faults.note(
                message, Place(path, 1), "pass the .csv files that the profiler exported"
            )
            return
        if counts is None:
            message = "the table has no column {}"
            self.faults.note(phrase(message, '"Iteration Time(us)"'), Place(path, 1))
            return
        if not counts[0]:
            self.faults.note("the table has no row with a time", Place(path))
            return
        self._name_bad(path)
        self.tables.append(ProfileTable(path, kind, *counts))

    def _name_bad(self, path: str) -> None:
        """Say which rows have something else where a time is to be."""
        if self._bad:
            message = (
                "rows without a readable time: {:,}; the totals do not include these rows; "
                "lines: {}"
            )
            lines = [*map(str, self._bad[:_SHOWN]), *(["..."] if len(self._bad) > _SHOWN else [])]
            text = phrase(message, len(self._bad), listed(lines))
            self.faults.note(text, Place(path, self._bad[0]), "export the profile again")

    def _time_rows(
        self, kind: str, columns: Columns, rows: Iterable[List[str]]
    ) -> Tuple[int, int]:
        """Sum up the rows of a table of executions, or of sums."""
        name_at, type_at, task_at = (columns.at(names) for names in (_NAME, _TYPE, _TASK))
        time_at, scale = columns.timed(_DURATION)
        wait_at, wait_scale = columns.timed(("taskwaittime", "waittime"))
        count_at = columns.at(("count",))
        max_at, max_scale = (
            columns.timed(("maxtime", "max")) if count_at is not None else (None, 1)
        )
        sums = self._sums.setdefault(kind, {})
        engines: Dict[Tuple[str, str], str] = {}
        read = skipped = 0
        for row in rows:
            taken = _time(row, time_at, scale)
            if taken is None:
                skipped += 1 if row else 0
                if _is_bad(row, time_at):
                    self._bad.append(self._line())
                continue
            read += 1
            op_type, task = _cell(row, type_at), _cell(row, task_at)
            engine = engines.get((task, op_type))
            if engine is None:
                engine = engines[task, op_type] = _KINDS[kind].engine or engine_of(task, op_type)
            known = sums.get((_cell(row, name_at), op_type, engine))
            if known is None:
                if len(sums) >= 2 * MAX_KEYS:
                    _drop(sums)
                known = sums[_cell(row, name_at), op_type, engine] = [0, 0.0, 0.0]
            known[0] += int(_time(row, count_at, 1.0) or 0) if count_at is not None else 1
            known[1] += taken
            longest = taken if max_at is None else _time(row, max_at, max_scale) or 0.0
            known[2] = max(known[2], longest)
            if wait_at is not None:
                self._waiting += _time(row, wait_at, wait_scale) or 0.0
        return read, skipped

    def _step_rows(self, columns: Columns, rows: Iterable[List[str]]) -> Optional[Tuple[int, int]]:
        """Keep the times of iterations; None when the table has none."""
        wanted = [columns.timed((name,)) for name in _STEP_COLUMNS]
        if wanted[0][0] is None:
            return None
        read = skipped = 0
        for row in rows:
            times = [_time(row, at, scale) for at, scale in wanted]
            if times[0] is None:
                skipped += 1 if row else 0
                if _is_bad(row, wanted[0][0]):
                    self._bad.append(self._line())
                continue
            read += 1
            self._steps.append(times)
        return read, skipped

    def result(self) -> Profile:
        """Everything together."""
        source = next((kind for kind in _EXECUTIONS if self._sums.get(kind)), None)
        sums = dict(self._sums.get(source or "", {}))
        sources = dict.fromkeys(sums, source or "")
        engines = {engine for _, _, engine in sums}
        for kind, engine in (("aicpu", AI_CPU), ("communication", COMMUNICATION)):
            if engine not in engines:
                sums.update(self._sums.get(kind, {}))
                sources.update(dict.fromkeys(self._sums.get(kind, {}), kind))
        total = sum(each[1] for each in sums.values()) or 0.0

        def shares(index: Sequence[int]) -> Tuple[TimeShare, ...]:
            """The sums by some parts of the key, the largest first."""
            found: Dict[Tuple[str, str, str], _Sum] = {}
            for key, (count, taken, longest) in sums.items():
                name, op_type, engine = (
                    key[number] if number in index else "" for number in range(3)
                )
                known = found.setdefault((name, op_type, engine), [0, 0.0, 0.0, sources[key]])
                known[0] += count
                known[1] += taken
                known[2] = max(known[2], longest)
            result = [
                TimeShare(*key, count, taken, longest, taken / (total or 1.0), source)
                for key, (count, taken, longest, source) in found.items()
            ]
            return tuple(sorted(result, key=lambda each: (-each.total_us, each.type, each.name)))

        one_block, why = None, ""
        try:
            if any(table.kind == "op_summary" for table in self.tables):
                one_block = self._one_block.result()
            else:
                why = phrase("there is no op_summary table")
        except NpuConfigError as error:
            why = error.diagnostics[0].message
        return Profile(
            tuple(self.tables),
            total,
            self._waiting,
            shares((2,)),
            tuple(each for each in shares((1, 2)) if each.type),
            tuple(each for each in shares((0, 1, 2)) if each.name),
            _steps(self._steps),
            tuple(self.faults),
            one_block,
            why,
            tuple(self.others),
        )


_STEP_COLUMNS = ("iterationtime", "fptobptime", "iterationrefresh", "dataaugbound")


def _steps(rows: Sequence[Sequence[Optional[float]]]) -> Optional[StepTimes]:
    if not rows:
        return None
    means: List[Optional[float]] = []
    for column in zip(*rows):
        known = [value for value in column if value is not None]
        means.append(sum(known) / len(known) if known else None)
    totals = [row[0] or 0.0 for row in rows]
    return StepTimes(len(rows), means[0] or 0.0, means[1], means[2], means[3], max(totals))


def _guessed(columns: Columns) -> Optional[str]:
    """The kind of a table whose name does not say."""
    if columns.at(("iterationtime",)) is not None:
        return "step_trace"
    if columns.at(("kernelname",)) is not None:
        return "task_time"
    if columns.at(("node",)) is not None:
        return "aicpu"
    if columns.at(("totaltime",)) is not None and columns.at(("coretype",)) is not None:
        return "op_statistic"
    return "op_summary" if columns.at(_TYPE) is not None else None


def engine_of(task: str, op_type: str) -> str:
    """Where something ran.

    Args:
        task: the type of the task, e.g. ``"MIX_AIC"``; "" where the table does not say.
        op_type: the operator type; those of communication begin with ``Hcom``.
    """
    if op_type.lower().startswith(("hcom", "hccl")):
        return COMMUNICATION
    words = (task or op_type).upper()
    return next((engine for pattern, engine in _ENGINES if pattern.search(words)), OTHER)


def _cell(row: Sequence[str], at: Optional[int]) -> str:
    if at is None or at >= len(row):
        return ""
    text = row[at].strip()
    return "" if text == "N/A" else text


def _time(row: Sequence[str], at: Optional[int], scale: float) -> Optional[float]:
    """A time in microseconds; None where there is none."""
    try:
        value = float(row[at or 0]) * scale if at is not None else -1.0
    except (ValueError, IndexError):
        return None
    return value if 0.0 <= value < 1e15 else None


_NO_TIME = ("", "N/A", "-")
_SHOWN = 5
"""How many lines are named."""


def _is_bad(row: Sequence[str], at: Optional[int]) -> bool:
    """True for a cut row, and for one whose time is neither a time nor marked as missing."""
    return bool(row) and at is not None and (at >= len(row) or row[at].strip() not in _NO_TIME)


def _drop(sums: Dict[Tuple[str, str, str], _Sum]) -> None:
    """Keep the operators with the most time; what the others took stays with their type."""
    kept = set(sorted(sums, key=lambda key: -sums[key][1])[:MAX_KEYS])
    for key in [key for key in sums if key not in kept]:
        count, taken, longest = sums.pop(key)
        known = sums.setdefault(("", *key[1:]), [0, 0.0, 0.0])
        known[0] += count
        known[1] += taken
        known[2] = max(known[2], longest)


class ShareChange(NamedTuple):
    """What became of a share of time between two profiles; 0 where one of them has none."""

    name: str
    engine: str
    before_us: float
    after_us: float

    @property
    def change_us(self) -> float:
        """How much longer it takes."""
        return self.after_us - self.before_us


def compare_profiles(
    before: Profile, after: Profile
) -> Tuple[Tuple[ShareChange, ...], Tuple[ShareChange, ...]]:
    """The engines and the operator types of two profiles, the largest change first.

    With steps in both, times are those of one step.
    """
    scales = [1.0, 1.0]
    if before.steps is not None and after.steps is not None:
        scales = [1.0 / before.steps.count, 1.0 / after.steps.count]

    def changes(one: Sequence[TimeShare], other: Sequence[TimeShare]) -> Tuple[ShareChange, ...]:
        found: Dict[Tuple[str, str], List[float]] = {}
        for number, shares in enumerate((one, other)):
            for each in shares:
                times = found.setdefault((each.type or each.engine, each.engine), [0.0, 0.0])
                times[number] += each.total_us * scales[number]
        result = [ShareChange(*key, *times) for key, times in found.items()]
        return tuple(sorted(result, key=lambda change: (-abs(change.change_us), change.name)))

    return changes(before.engines, after.engines), changes(before.types, after.types)
