"""By which error code a job ends for a fault: said once by every command that finds it."""

import json

import pytest

from npu_config.catalogue import OPTIONS
from npu_config.core.job_ends import ENDS
from npu_config.launch.environment.variables import VARIABLES
from npu_config.logs.facts import code_of
from npu_config.rulebook import load_all

TABLE = (
    '{"version": "1.0", "server_count": "2", "status": "complete", "server_list": [{"server_id": '
    '"10.0.0.1", "device": [{"device_id": "0", "device_ip": "192.168.1.1", "rank_id": "0"}]}]}'
)
CONFIG = 'version: 1\nprofiling_mode: true\nprofiling_options: \'{"task_trace": "maybe"}\'\n'


def test_the_table_is_that_of_the_facts():
    """What ends a job is what its code leads to; a rule has one code for a name."""
    rules = {rule.id for rule in load_all()}
    for end in ENDS:
        code = code_of(end.code)
        assert code is not None
        assert (code.own, code.warning) == (True, False)
        assert end.rule in rules
        assert end.rule in code.leads_to["rules"], end
        assert set(end.names) <= set(OPTIONS) | {each.name for each in VARIABLES.values()}
    pairs = [(end.rule, name) for end in ENDS for name in end.names or ("",)]
    assert len(set(pairs)) == len(pairs)


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "the job ends with EI0004 (NPU648, NPU647)"),
        ("zh", "作业会以 EI0004 结束（NPU648、NPU647）"),  # noqa: RUF001
    ],
)
def test_check(npu, tmp_path, language, line):
    """Once for all findings with this code, at the end."""
    (tmp_path / "ranks.json").write_text(TABLE)
    result = npu("check", tmp_path / "ranks.json", "--lang", language)
    assert result.out.count("EI0004") == 1
    assert line in result.out.splitlines()
    assert "EI0004" in npu("ranktable", "check", tmp_path / "ranks.json").out
    document = json.loads(npu("check", tmp_path / "ranks.json", "--format", "json").out)
    assert document["job_ends"] == [{"code": "EI0004", "rules": ["NPU648", "NPU647"]}]


def test_doctor_and_env(npu, tmp_path, monkeypatch):
    """They know what check knows; what a message says already is not said again."""
    (tmp_path / "npu.yaml").write_text(CONFIG)
    line = "the job ends with EK0001 (NPU747)"
    assert line in npu("check", tmp_path / "npu.yaml").out.splitlines()
    assert line in npu("doctor", tmp_path / "npu.yaml").out.splitlines()
    monkeypatch.setenv("HCCL_CONNECT_TIMEOUT", "2")
    result = npu("env", "--check")
    assert result.out.count("EI0001") == 1


def test_explain(npu):
    """A rule names its codes, certain ones first, and a code its rules."""
    page = npu("explain", "NPU643").out
    assert "The job ends with EI0017." in page
    assert "EI0004" in page
    assert "The job ends with EI0001 (HCCL_EXEC_TIMEOUT, " in npu("explain", "NPU670").out
    found = json.loads(npu("explain", "NPU747", "--format", "json").out)["topics"][0]
    assert found["codes"] == ["EK0001", "EH0001", "EK0003"]
    assert "NPU643" in npu("explain", "EI0017").out
