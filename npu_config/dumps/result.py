"""Result tables of comparisons: written in the columns that users know, read in both forms.

Source: facts dump.yaml, ``compare`` (C-COLUMNS, C-OLDCOLUMNS, C-CELLS, C-THRESHOLDS).
"""

import csv
import io
import math
import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import join, listed, localized, phrase
from npu_config.core.paths import PathLike, path_name
from npu_config.dumps._rules import (
    inputs_of_network_differ,
    operator_diverges,
    result_table_unreadable,
    too_little_compared,
)
from npu_config.dumps.compare import Comparison, Row, first_of
from npu_config.dumps.metrics import Metrics
from npu_config.dumps.tree import Folder, place
from npu_config.dumps.verdicts import AGREES, DIVERGES, NOT_COMPARED
from npu_config.text.source import text_of
from npu_config.text.tables import csv_text, unguarded

_INDEX = re.compile(r"(.*):(input|output):([0-9]{1,9})\Z", re.DOTALL)
METRIC_FIELDS = {
    "CosineSimilarity": "cosine",
    "MaxAbsoluteError": "max_absolute",
    "AccumulatedRelativeError": "accumulated_relative",
    "RelativeEuclideanDistance": "relative_euclidean",
    "KullbackLeiblerDivergence": "divergence",
    "StandardDeviation": "",
    "MeanAbsoluteError": "mean_absolute",
    "RootMeanSquareError": "root_mean_square",
    "MaxRelativeError": "max_relative",
    "MeanRelativeError": "mean_relative",
}
"""The columns of numbers, and where :class:`Metrics` has them; the deviation is of two."""
METRICS = tuple(METRIC_FIELDS)
_BEFORE = ("Index", "OpType", "NPUDump", "DataType", "Address", "GroundTruth", "DataType")
REASON = "CompareFailReason"
PLACES = ("Run", "Device", "Model", "Step")
"""Columns behind those of msaccucmp, when there is more than one step, device or model."""
_COSINE = METRICS[0]
_NOTHING = "NaN"
_LARGEST = 1 << 29
_OLD = ("LeftOp", "RightOp", "TensorIndex", _COSINE)
_NEW = ("NPUDump", "GroundTruth", "TensorIndex", _COSINE)


def cells(metrics: Optional[Metrics]) -> Dict[str, str]:
    """The numbers of a row as the table has them: six decimals, ``NaN`` for none."""
    if metrics is None:
        return dict.fromkeys(METRICS, _NOTHING)
    found = {name: _six(getattr(metrics, field)) for name, field in METRIC_FIELDS.items() if field}
    spread = zip(metrics.mean, metrics.deviation)
    found["StandardDeviation"] = (
        _NOTHING
        if math.isnan(metrics.deviation[0])
        else ",".join("({};{})".format(_three(mean), _three(std)) for mean, std in spread)
    )
    return found


def _six(number: float) -> str:
    return _NOTHING if math.isnan(number) else "{:.6f}".format(number)


def _three(number: float) -> str:
    return "{:.3f}".format(0.0 if abs(number) < 0.001 else number)


def result_csv(comparison: Comparison) -> str:
    """A comparison as a table in the columns of msaccucmp."""
    address = ["Address"] if comparison.against_dump else []
    places = PLACES if len(comparison.parts) > 1 else ()
    head = [*_BEFORE, *address, "TensorIndex", "Shape", *METRICS, REASON, *places]
    rows: List[Sequence[object]] = [head]
    for row in comparison.rows:
        numbers = cells(row.metrics)
        rows.append(
            [
                row.index,
                row.op_type,
                row.op_name,
                row.data_type,
                _NOTHING,
                _ground_truth(row),
                row.reference_type or _NOTHING,
                *([_NOTHING] if address else []),
                row.tensor_index,
                "[{}]".format(",".join(map(str, row.shape))),
                *(numbers[name] for name in METRICS),
                row.reason if row.metrics is None else row.metrics.remark,
                *(_or_nothing(getattr(row, place.lower())) for place in places),
            ]
        )
    return csv_text(rows)


def _or_nothing(value: Optional[object]) -> object:
    return _NOTHING if value is None else value


def _ground_truth(row: Row) -> str:
    if row.reference == "*":
        return row.reference
    return ",".join(row.stands_for) or row.reference


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ResultRow:
    """A row of a result table.

    Args:
        line: in the file, from 1 on.
        op_name: the operator of the dump.
        ground_truth: its counterpart; ``"*"`` for none.
        side: ``"input"``, ``"output"`` or "" when nothing was compared.
        number: which of them; -1 when nothing was compared.
        verdict: by the threshold: ``"agrees"``, ``"diverges"`` or ``"not compared"``.
        cells: every cell by its column; of columns that occur twice the first.
    """

    line: int
    op_name: str
    ground_truth: str
    side: str
    number: int
    verdict: str
    cells: Mapping[str, str]

    @property
    def cosine(self) -> str:
        """The cosine similarity as it is written."""
        return self.cells.get(_COSINE, _NOTHING)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ResultTable:
    """A result table.

    Args:
        rows: in the order of the file, which is that of execution.
        generation: ``"NPUDump"`` or ``"LeftOp"``, after the column that tells them apart.
        first_diverging: the first operator whose inputs agree and whose outputs do not.
        threshold: what a cosine has to exceed.
    """

    rows: Tuple[ResultRow, ...]
    generation: str
    first_diverging: Optional[str]
    threshold: float

    @property
    def judged(self) -> int:
        """How many rows have a number."""
        return sum(row.verdict != NOT_COMPARED for row in self.rows)

    @property
    def diverging(self) -> Tuple[ResultRow, ...]:
        """The rows whose cosine does not exceed the threshold."""
        return tuple(row for row in self.rows if row.verdict == DIVERGES)


def read_result(path: PathLike, threshold: float = 0.98) -> ResultTable:
    """Read a result table of a comparison, of either generation.

    Args:
        path: ``result_*.csv``.
        threshold: a tensor agrees when its cosine similarity is above it.

    Raises:
        NpuConfigError: it is not such a table.
    """
    name = path_name(path)
    try:
        table = list(csv.reader(io.StringIO(text_of(name, _LARGEST), newline="")))
    except csv.Error as error:
        raise _refused(name, phrase("the file is not CSV: {}", error)) from None
    header = table[0] if table else []
    columns: Dict[str, int] = {}
    for position, column in enumerate(header):
        columns.setdefault(column.strip(), position)
    kind = next((names for names in (_NEW, _OLD) if all(n in columns for n in names)), None)
    if kind is None:
        wanted = join(" or ", [phrase("{} and {}", *names) for names in (_NEW, _OLD)])
        raise _refused(name, phrase("the header lacks the columns {}, TensorIndex", wanted))
    rows = [
        _row(line, row, columns, kind, threshold) for line, row in enumerate(table[1:], 2) if row
    ]
    if not rows:
        raise _refused(name, "the table has no rows")
    return ResultTable(tuple(rows), kind[0], first_of(rows).name, threshold)


def _refused(path: str, reason: str) -> NpuConfigError:
    return result_table_unreadable.error(reason, Place(path))


def _row(
    line: int,
    row: Sequence[str],
    columns: Mapping[str, int],
    kind: Sequence[str],
    threshold: float,
) -> ResultRow:
    found = {
        column: unguarded(row[position].strip()) if position < len(row) else ""
        for column, position in columns.items()
    }
    operator, side, number = _tensor_index(found["TensorIndex"])
    return ResultRow(
        line,
        operator or found[kind[0]],
        found[kind[1]],
        side,
        number,
        _verdict(found[_COSINE], threshold),
        found,
    )


def _tensor_index(text: str) -> Tuple[str, str, int]:
    match = _INDEX.match(text)
    return ("", "", -1) if match is None else (match.group(1), match.group(2), int(match.group(3)))


def _verdict(text: str, threshold: float) -> str:
    try:
        cosine = float(text)
    except ValueError:
        return NOT_COMPARED
    if math.isnan(cosine):
        return NOT_COMPARED
    return AGREES if cosine > threshold else DIVERGES


def finding(comparison: Comparison) -> Tuple[Diagnostic, ...]:
    """What the comparison comes to, as a finding; none when nothing is to be done."""
    differ, name = comparison.inputs_differ, comparison.first_diverging
    here = [row for row in comparison.rows if row.where == comparison.where]
    if differ:
        reasons = [row.reason for row in here if row.role and row.verdict == DIVERGES]
        text = phrase("the inputs differ: {}: {}", listed(differ), reasons[0])
        help_ = "feed both sides the same data, and start from the same checkpoint"
        return (inputs_of_network_differ.diagnostic(text, help=help_),)
    if name is None:
        lines = gaps(comparison)
        if comparison.covered or not lines:
            return ()
        help_ = "pass a reference of all operators, and the graph (--graph)"
        return (too_little_compared.diagnostic(join("; ", lines), help=help_),)
    outputs = [
        row for row in here if name == (row.op_name if row.side == "output" else row.producer)
    ]
    reasons = [row.reason for row in outputs if row.verdict == DIVERGES]
    message = "the inputs of {} agree, but its outputs differ: {}"
    if not comparison.inputs_agree:
        message = "the outputs of {} differ, but the inputs of this operator were not compared: {}"
    help_ = "dump this operator with its inputs (--next-config)"
    if comparison.passes:
        help_ += phrase(", with the fusion passes {} off", listed(comparison.passes))
    return (
        operator_diverges.diagnostic(phrase(message, name, join("; ", reasons[:1])), help=help_),
    )


def outcome(comparison: Comparison) -> List[str]:
    """What a comparison comes to, in sentences of the reader's language."""
    lines = []
    if comparison.is_single:
        agrees = all(row.verdict != DIVERGES for row in comparison.rows)
        return [localized("all compared values agree")] if agrees else []
    if comparison.inputs_differ:
        lines.append(localized("the inputs differ: {}", ", ".join(comparison.inputs_differ)))
        message = (
            "the later differences are a consequence of this: feed both sides the same "
            "data and weights"
        )
        lines.append(localized(message))
    else:
        if comparison.inputs == "agree":
            lines.append(localized("the inputs of the network agree with the reference"))
        elif comparison.inputs == NOT_COMPARED:
            lines.append(localized("the inputs of the network were not compared"))
        if all(row.verdict != DIVERGES for row in comparison.rows):
            message = "all compared values agree"
            if not comparison.covered:
                message = "all compared values agree, but not everything was compared"
            lines.append(localized(message))
        else:
            name, agree = comparison.first_diverging, comparison.inputs_agree
            lines += first_sentences(name, comparison.path_to_it, agree)
    if comparison.inputs_differ or comparison.first_diverging is not None:
        where = place(comparison.where)
        lines += [localized("found in: {}", where)] if where else []
    if comparison.passes:
        passes = ", ".join(comparison.passes)
        lines.append(localized("created by the fusion passes {}", passes))
    return lines


def gaps(comparison: Comparison) -> List[str]:
    """What of the network was not compared, in sentences; one for all steps that are alike."""
    found: Dict[str, None] = {}
    for part in comparison.parts:
        missing = part.coverage.missing
        if missing:
            names = [*missing[:_NAMED], *(["..."] if len(missing) > _NAMED else [])]
            message = (
                "operators that were not compared: {:,} of {:,} ({}); most frequent reason: {}"
            )
            count = len(missing) + part.coverage.compared
            text = phrase(message, len(missing), count, listed(names), part.coverage.reason)
            found[text] = None
    if comparison.unknown:
        message = "operators of models that are completely missing from the reference: {:,}"
        found[phrase(message, comparison.unknown)] = None
    return list(found)


_NAMED = 5


def first_sentences(
    name: Optional[str], path: Sequence[str] = (), inputs_agree: bool = True
) -> List[str]:
    """The sentences on the first operator that diverges."""
    if name is None:
        return [localized("no operator has inputs that agree and outputs that differ")]
    message = "first operator whose inputs agree and whose outputs differ: {}"
    if not inputs_agree:
        message = "first operator whose outputs differ: {}; its inputs were not compared"
    lines = [localized(message, name)]
    if len(path) > 1:
        lines.append(localized("path to this operator: {}", " -> ".join(path)))
    return lines


_JSON_KEYS = (
    "index", "op_name", "op_type", "tensor_index", "data_type", "reference", "reference_type",
    "stands_for", "shape", "verdict", "reason", "matched_by", "kind", "causes", "role",
    "run", "device", "model", "step",
)  # fmt: skip


def plain(comparison: Comparison) -> Dict[str, Any]:
    """A comparison as JSON has it; its rows, which may be many, are an iterator."""
    bounds = comparison.bounds
    return {
        "first_diverging": comparison.first_diverging,
        "first": None if comparison.first_diverging is None else _place(comparison.where),
        "inputs_agree": comparison.inputs_agree,
        "inputs": {"verdict": comparison.inputs, "differ": list(comparison.inputs_differ)},
        "path_to_it": list(comparison.path_to_it),
        "passes": list(comparison.passes),
        "threshold": comparison.threshold,
        "max_abs": bounds.absolute,
        "max_rel": bounds.relative,
        "step": comparison.step,
        "diverging": list(comparison.diverging),
        "parts": [
            {
                **_place(part.where),
                "reference": _place(part.other),
                "verdict": part.verdict,
                "counts": part.counts,
                "first_diverging": part.first.name,
                "inputs": {"verdict": part.inputs, "differ": list(part.inputs_differ)},
                "operators_compared": part.coverage.compared,
                "operators_not_compared": list(part.coverage.missing),
            }
            for part in comparison.parts
        ],
        "left_out": list(comparison.left_out),
        "covered": comparison.covered,
        "rows": map(_row_of_json, comparison.rows),
    }


def _row_of_json(row: Row) -> Dict[str, Any]:
    metrics = None if row.metrics is None else attr.asdict(row.metrics)
    return {**{key: getattr(row, key) for key in _JSON_KEYS}, "metrics": metrics}


def _place(folder: Folder) -> Dict[str, Any]:
    return {name: getattr(folder, name) for name in ("run", "device", "model", "step")}
