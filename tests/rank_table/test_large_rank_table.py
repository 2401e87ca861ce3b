"""Tables of 32,768 devices: built, read and checked like small ones."""

import json

import pytest

from npu_config import rank_table
from npu_config.launch.engines import launchers
from npu_config.launch.environment.job import table_job
from npu_config.rank_table import dialects
from npu_config.rank_table.building import Layer, build, build_ranks
from npu_config.rank_table.judging import check
from npu_config.rank_table.model import render

DEVICES = 32768


@pytest.fixture(scope="module")
def table():
    """4,096 servers of 8 devices."""
    names = ["server-{}".format(number) for number in range(DEVICES // 8)]
    return build(names, 8, "10.0.0.1", "atlas_a2")


@pytest.fixture(scope="module")
def text(table):
    """Its canonical text."""
    return render(table)


def test_round_trip(table, text):
    """It is read as it was built, and nothing is said of it."""
    parsed = rank_table.parse(text)
    assert list(parsed.diagnostics) == []
    assert table == parsed.model
    assert table.rank_size == DEVICES


def test_last_rank_twice(text):
    """One fault at its end is found, with its place, and nothing else is."""
    wrong = text.replace('"rank_id": "32767"', '"rank_id": "32766"')
    (diagnostic,) = check(wrong)
    assert diagnostic.rule == "NPU650"
    line = wrong.split("\n")[diagnostic.line - 1]
    assert line[diagnostic.column - 1 : diagnostic.end_column - 1] == '"32766"'


def test_every_device_wrong(text):
    """A fault of every device is said once and counted."""
    report = check(text.replace('"rank_id": "', '"rank_id": "x'))
    assert [diagnostic.rule for diagnostic in report] == ["NPU646"] * 2
    assert "(and 99 more, in lines" in report[0].message
    assert report[1].message == "32,668 more of the same kind as the previous finding"


def test_file_too_large(monkeypatch):
    """HCCL reads at most 1 GB of a table of version 2.0."""
    text = render(build_ranks(1, [Layer(0, "a", [("0/1",)], "172.16.0.1")], 1))
    assert list(check(text)) == []
    monkeypatch.setattr(dialects, "LARGEST_2_0", len(text) - 1)
    (diagnostic,) = check(text)
    assert diagnostic.rule == "NPU646"
    assert [found.rule for found in check("// x\n" + text)] == ["NPU710", "NPU646"]


def test_large_job(table):
    """The environments of 32,768 processes are had at once."""
    job = table_job(table, "/data/rank_table.json", "job")
    assert len(job.processes) == DEVICES
    assert len(launchers(job, ["true"])) == DEVICES // 8


def test_key_twice(text):
    """A key that appears twice in one of the devices is found."""
    wrong = text.replace('"device_id": "7", ', '"device_id": "7", "device_id": "7", ', 1)
    (diagnostic,) = check(wrong)
    assert diagnostic.rule == "NPU712"


def test_one_device_for_each_server():
    """As many servers as devices are no harder."""
    names = ["server-{}".format(number) for number in range(4096)]
    made = build(names, 1, "fd00::1", "atlas_training")
    parsed = rank_table.parse(render(made))
    assert list(parsed.diagnostics) == []
    assert made == parsed.model


def test_uneven_keys():
    """Devices with different keys are read as well."""
    document = json.loads(render(build(["a", "b"], 8, "10.0.0.1")))
    for server in document["server_list"]:
        for device in server["device"][::3]:
            device["device_port"] = "16667"
    assert list(check(json.dumps(document))) == []
