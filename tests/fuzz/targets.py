"""The readers as functions of bytes: none of them may raise, or report a fault of ours."""

import contextlib
import importlib.util
import io
import json
import tempfile
from pathlib import Path

from npu_config import dumps
from npu_config.core.diagnostics import NpuConfigError
from npu_config.diagnosis.event_files import EventFileError, parse_event, raw_content, read_events
from npu_config.diagnosis.graph.load import _loaded
from npu_config.diagnosis.loss_report._read import Series, _read
from npu_config.diagnosis.profiling_tables.fusion_result import _sum_up
from npu_config.diagnosis.profiling_tables.op_summary import _lines, _Reading
from npu_config.dumps.overflow_record import units
from npu_config.lint.baseline import _counts_of
from npu_config.lint.gitignore import Patterns
from npu_config.lint.suppress import Suppressions
from npu_config.readers import KINDS, read

TESTS = Path(__file__).resolve().parents[1]
CORPUS = sorted(
    path
    for path in (*TESTS.rglob("cases/**/*"), *TESTS.glob("data/dump/**/*"))
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


def _in_file(read_file):
    """A reader that takes a path."""

    def target(data):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "Add.a.1.2.1767323045000000"
            path.write_bytes(data)
            read_file(path)

    return target


def _dump(path):
    opened = dumps.open_dump(path)
    if opened.dump is not None and importlib.util.find_spec("numpy"):
        for _, _, tensor in opened.dump.tensors():
            for layout in ("device", "original"):
                with contextlib.suppress(NpuConfigError):
                    tensor.array(layout)


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
    "dump": _in_file(_dump),
    "dump-statistics": _in_file(dumps.read_statistics),
    "dump-result": _in_file(dumps.read_result),
    "ge-graph": _in_file(dumps.read_ge_graph),
    "overflow-record": _in_file(lambda path: units(dumps.read_overflow(path))),
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
