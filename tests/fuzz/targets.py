"""The readers as functions of bytes: none of them may raise, or report a fault of ours."""

import contextlib
import io
import json
from pathlib import Path

from npu_config.core.diagnostics import NpuConfigError
from npu_config.diagnosis.event_files import EventFileError, parse_event, raw_content, read_events
from npu_config.diagnosis.graph.load import _loaded
from npu_config.diagnosis.loss_report._read import Series, _read
from npu_config.diagnosis.profiling_tables.fusion_result import _sum_up
from npu_config.diagnosis.profiling_tables.op_summary import _lines, _Reading
from npu_config.lint.baseline import _counts_of
from npu_config.lint.gitignore import Patterns
from npu_config.lint.suppress import Suppressions
from npu_config.readers import KINDS, read

TESTS = Path(__file__).resolve().parents[1]
CORPUS = sorted(
    path
    for path in TESTS.rglob("cases/**/*")
    if path.is_file() and path.suffix != ".out" and path.stat().st_size < 20_000
)


class FaultOfOursError(AssertionError):
    """A finding that only a fault of npu_config's own yields."""


def _refuse(diagnostics):
    for diagnostic in diagnostics:
        if diagnostic.rule == "NPU700":
            raise FaultOfOursError(diagnostic.message)


def _reader(kind):
    def target(data):
        _refuse(read("fuzz", kind, data).judge())

    return target


def _text(data):
    return data.decode("utf-8", "replace")


def _table(data):
    reading = _Reading()
    reading._table("fuzz", _lines(io.StringIO(_text(data))))
    if not reading.faults:
        reading.result()


def _log(data):
    _read("fuzz", io.BytesIO(data), Series(), None)


def _event(data):
    for value in parse_event(data).values:
        if value.tensor is not None:
            raw_content(value.tensor)


def _ignored(data):
    patterns = Patterns("/r", _text(data).split("\n"))
    for name in ("a", "a/b.py", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbb"):
        patterns.verdict("/r/" + name, False)


TARGETS = {
    **{"read-" + kind: _reader(kind) for kind in KINDS},
    "read-any": _reader(None),
    "graph": lambda data: _loaded("fuzz", data),
    "op-summary": _table,
    "fusion-result": lambda data: _sum_up("fuzz", _text(data)),
    "loss-scale": _log,
    "event": _event,
    "events": lambda data: list(read_events(io.BytesIO(data))),
    "gitignore": _ignored,
    "suppress": lambda data: Suppressions(_text(data), "fuzz", True),
    "baseline": lambda data: _counts_of(json.loads(_text(data))),
}

_EXPECTED = {
    "baseline": (ValueError, RecursionError),
    "event": (EventFileError,),
    "events": (EventFileError,),
    "loss-scale": (EventFileError, ValueError),
}


def execute(name, data):
    """Run one target once."""
    with contextlib.suppress(NpuConfigError, *_EXPECTED.get(name, ())):
        TARGETS[name](data)
