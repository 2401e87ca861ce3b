"""Rank tables beside the measured verdict of HCCL's readers (tests/data/files)."""

import gzip
import json
from pathlib import Path

import pytest

from npu_config import rank_table
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Target
from npu_config.rank_table.judging import check

DATA = Path(__file__).parents[1] / "data" / "files" / "verdicts.jsonl.gz"
with gzip.open(str(DATA), "rt", encoding="utf-8") as stream:
    ROWS = [row for row in map(json.loads, stream) if row["kind"] == "rank-table"]


@pytest.mark.parametrize("dialect", sorted({row["dialect"] for row in ROWS}))
def test_verdicts(dialect):
    """What HCCL refuses is an error, what it accepts is none."""
    wrong = []
    for row in ROWS:
        if row["dialect"] != dialect:
            continue
        target = Target(product=row["product"])
        report = check(row["text"], None, target)
        parsed = rank_table.parse(row["text"], None, target)
        if bool(report.errors) != (row["verdict"] == "refuse"):
            wrong.append((row["id"], row["why"], [d.message for d in report]))
        assert report.errors == parsed.diagnostics.errors
        assert parsed.model is not None or report.errors
    assert wrong == []


def test_proper_tables_are_quiet():
    """A proper table has no warning either, but for a byte order mark, which JSON forbids."""
    for row in ROWS:
        if row["grade"] == "proper":
            loud = {
                d.rule
                for d in check(row["text"], None, Target(product=row["product"]))
                if d.severity is Severity.WARNING
            }
            assert loud <= {"NPU714"}, (row["id"], row["why"], loud)


def test_accepted_tables_keep_every_key():
    """The canonical text of every accepted table has the same JSON value."""
    for row in ROWS:
        if row["verdict"] == "accept" and row["grade"] != "tolerated":
            parsed = rank_table.parse(row["text"], None, Target(product=row["product"]))
            value = json.loads(row["text"].lstrip("\ufeff"))
            written = json.loads(rank_table.render(parsed.model))
            assert json.dumps(value) == json.dumps(written), row["id"]


def test_repeated_ports_count_once_and_repeated_backup_addresses_do_not():
    """At most 16 different ports, at most 16 addresses in backup_addr."""
    row = next(row for row in ROWS if row["why"] == "valid {'typ': 'IPV4'}")
    target = Target(product=row["product"])
    for key, values in (("ports", ["0/1"] * 40), ("backup_addr", ["10.9.0.1"] * 16)):
        for more in ([], values[:1]):
            table = json.loads(row["text"])
            table["rank_list"][0]["level_list"][0]["rank_addr_list"][0][key] = values + more
            refused = key == "backup_addr" and bool(more)
            assert refused == bool(check(json.dumps(table), None, target).errors), (key, more)
