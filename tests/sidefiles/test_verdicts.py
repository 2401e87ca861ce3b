"""Side files beside the measured verdict of the runtime (tests/data/files)."""

import gzip
import json
from pathlib import Path

import pytest

from npu_config.core.diagnostics import Severity
from npu_config.sidefiles import FORMATS

DATA = Path(__file__).parents[1] / "data" / "files" / "verdicts.jsonl.gz"
with gzip.open(str(DATA), "rt", encoding="utf-8") as stream:
    ROWS = [row for row in map(json.loads, stream) if row["kind"] != "rank-table"]

DISAGREEMENTS = {
    "prf-067": "refused only where ASCEND_WORK_PATH is not set, which is not known: a warning",
    "prf-068": "the same",
}


@pytest.mark.parametrize("kind", sorted({row["kind"] for row in ROWS}))
def test_verdicts(kind):
    """What the runtime refuses is an error, what it accepts is none."""
    wrong = {}
    for row in ROWS:
        if row["kind"] == kind:
            report = FORMATS[kind].parse(row["text"]).diagnostics
            if bool(report.errors) != (row["verdict"] == "refuse"):
                wrong[row["id"]] = (row["why"], [d.message for d in report])
    expected = {row["id"] for row in ROWS if row["kind"] == kind and row["id"] in DISAGREEMENTS}
    assert expected == set(wrong), wrong


def test_tolerated_files_are_not_silent():
    """What is read otherwise than it looks is a warning, as far as it is known."""
    silent = [
        row["id"]
        for row in ROWS
        if row["grade"] == "tolerated"
        and not any(
            d.severity is not Severity.INFO
            for d in FORMATS[row["kind"]].parse(row["text"]).diagnostics
        )
    ]
    assert silent == ["cdt-016"]  # blanks before the name, which are trimmed
