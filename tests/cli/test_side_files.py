"""Side files and rank tables on the command line: check, format, mixlist, the environment."""

import json
import os

import pytest

from npu_config.readers import SIDE_FILES, read, read_if_ours
from npu_config.readers.side_file import RANK_TABLE, format_of
from npu_config.sidefiles import FORMATS

COMMENTED = '{"black-list": {   // keep\n  "to-add": ["ReduceSum", "Pow",]}}\n'
CLEAN = """\
{
  "black-list": {
    "to-add": [
      "ReduceSum",
      "Pow"
    ]
  }
}
"""
TABLE = {
    "status": "completed",
    "version": "1.0",
    "server_count": "1",
    "server_list": [
        {
            "server_id": "10.0.0.1",
            "device": [
                {"device_id": "0", "device_ip": "10.20.0.2", "rank_id": "0"},
                {"device_id": "8", "device_ip": "10.20.0.3", "rank_id": "1"},
            ],
        }
    ],
}


@pytest.fixture
def ops(tmp_path):
    """A mixed-precision list with what strict JSON refuses."""
    path = tmp_path / "ops_info.json"
    path.write_text(COMMENTED)
    return path


def test_every_side_file_is_a_kind():
    """The list that costs nothing to import is complete."""
    assert (*FORMATS, RANK_TABLE) == SIDE_FILES
    assert [format_of(kind).name for kind in SIDE_FILES] == list(SIDE_FILES)


def test_a_side_file_is_known_by_its_content(npu, ops):
    """Not by its name; its own format has the word."""
    other = ops.with_name("x.json")
    other.write_text(COMMENTED)
    for path in (ops, other):
        result = npu("check", path)
        assert result.code == 1
        assert ":1:20: error: a comment on line 1: the runtime rejects comments" in result.out
        assert "[NPU713" in result.out


def test_a_side_file_on_standard_input(npu):
    """As a file."""
    assert "NPU710" in npu("check", "-", stdin=COMMENTED.encode()).out
    result = npu("check", "-", "--as", "aoe", stdin=COMMENTED.encode())
    assert "NPU720" not in result.out


def test_a_rank_table(npu, tmp_path):
    """It is judged for the target."""
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE, indent=1))
    result = npu("check", path, "--target", "atlas_training", "--format=json")
    assert result.code == 1
    assert all(entry["line"] for entry in json.loads(result.out)["diagnostics"])
    assert read(path).kind == RANK_TABLE


def test_side_files_in_a_directory(npu, ops):
    """They are found beside configurations; other JSON is let alone."""
    (ops.parent / "package.json").write_text('{"name": "x", "list": []}')
    document = json.loads(npu("check", ops.parent, "--format=json").out)
    assert document["summary"]["files"] == 1
    assert {entry["path"] for entry in document["diagnostics"]} == {str(ops)}


def test_marks_find_what_is_meant_for_us():
    """A file that is only found needs an unmistakable word in it."""
    assert read_if_ours("x.json", None, json.dumps(TABLE).encode()) is not None
    assert read_if_ours("x.cfg", None, b"OpType::Conv2D:InputDtype:float16\n") is not None
    assert read_if_ours("x.ini", None, b"[ByOpType]\nSigmoid=high_precision\n") is not None
    assert read_if_ours("setup.cfg", None, b"[metadata]\nname = x\n") is None


def test_fix_of_a_side_file(npu, ops):
    """What strict JSON refuses goes; the rest stays byte for byte."""
    assert npu("check", ops, "--fix").code == 0
    assert ops.read_text() == '{"black-list": {\n  "to-add": ["ReduceSum", "Pow"]}}\n'


@pytest.mark.parametrize("word", ["Reduce Sum", "loss/ReduceSum", "1x", "a-b"])
def test_mixlist_of_what_is_not_a_type(npu, word):
    """A name that no operator type can have is a wrong call."""
    result = npu("mixlist", "build", "--black", "Pow," + word)
    assert (result.code, result.out) == (2, "")
    assert '"{}" is not an operator type'.format(word) in result.err


# format


def test_format(npu, ops):
    """In place, and a second time nothing changes."""
    assert npu("format", ops) == (0, "", "{}: formatted\n".format(ops))
    assert ops.read_text() == CLEAN
    before = ops.stat().st_mtime_ns
    assert npu("format", ops) == (0, "", "{}: unchanged\n".format(ops))
    assert ops.stat().st_mtime_ns == before
    assert npu("format", "--check", ops).code == 0


@pytest.mark.parametrize("option", ["--check", "--diff"])
def test_format_without_a_change(npu, ops, option):
    """Exit code 1 when something would change."""
    result = npu("format", option, ops)
    assert result.code == 1
    assert ('-{"black-list": {   // keep' in result.out) is (option == "--diff")
    assert ops.read_text() == COMMENTED


def test_format_of_standard_input(npu):
    """To standard output."""
    assert npu("format", "-", stdin=COMMENTED.encode()) == (0, CLEAN, "")


def test_format_keeps_comments_where_they_are_legal(npu, tmp_path):
    """Only JSON is laid out anew."""
    path = tmp_path / "op_precision.ini"
    path.write_text("[ByOpType]\nSigmoid=high_precision\n")
    assert npu("format", path).code == 0
    assert path.read_text() == "[ByOpType]\nSigmoid=high_precision\n"


def test_format_of_a_file_with_errors(npu, tmp_path, ops):
    """It stays as it is; the others are formatted."""
    path = tmp_path / "bad.json"
    text = '{"black-list": {"to-add": ["Conv2D"]}, "white-list": {"to-add": ["Conv2D"]},}'
    path.write_text(text)
    result = npu("format", path, ops, tmp_path / "nope.json")
    assert result.code == 2
    assert "NPU721" in result.err
    assert "NPU715" in result.err
    assert "bad.json: unchanged: the file has errors" in result.err
    assert npu("format", path, ops).code == 1
    assert path.read_text() == text
    assert ops.read_text() == CLEAN


def test_format_of_something_else(npu, good, ops):
    """It is a finding; the others are formatted."""
    result = npu("format", good, ops)
    assert (result.code, ops.read_text()) == (1, CLEAN)
    assert "good.yaml: error: this is a YAML file, which this command does not" in result.err


# mixlist


def test_mixlist_build(npu, tmp_path):
    """To a file or to standard output."""
    assert npu("mixlist", "build", "--black", "ReduceSum, Pow") == (0, CLEAN, "")
    out = tmp_path / "ops_info.json"
    assert npu("mixlist", "build", "--black", "ReduceSum", "--black=Pow", "-o", out).code == 0
    assert out.read_text() == CLEAN
    assert npu("mixlist", "build", "--gray", "Exp", "-o", out).code == 2
    assert npu("check", out).code == 0


def test_mixlist_build_refuses_contradictions(npu):
    """Nothing is written."""
    result = npu("mixlist", "build", "--black", "Exp", "--white", "Exp")
    assert (result.code, result.out) == (1, "")
    assert "NPU721" in result.err
    assert npu("mixlist", "build").code == 2


@pytest.fixture
def library(tmp_path):
    """An operator library of two operators."""
    path = tmp_path / "aic-ascend910-ops-info.json"
    path.write_text(
        json.dumps({"ReduceSum": {"precision_reduce": {"flag": "false"}}, "Pow": {}}),
    )
    return path


def test_mixlist_with_a_library(npu, tmp_path, library):
    """Names are looked up."""
    result = npu("mixlist", "build", "--black", "ReduceSumm", "--library", library)
    assert result.code == 0
    assert "NPU723" in result.err
    out = tmp_path / "ops_info.json"
    out.write_text(result.out)
    checked = npu("mixlist", "check", out, "--library", library)
    assert checked.code == 0
    assert ":4:7: warning: the operator library has no operator type" in checked.out
    assert npu("mixlist", "check", out, "--library", library, "--strict").code == 1
    assert npu("mixlist", "check", out, "--library", tmp_path / "nope").code == 2


# The environment


def test_the_environment_of_the_host(npu, good, monkeypatch):
    """It is looked at on the training host only."""
    monkeypatch.setenv("RANK_SIZE", "8")
    monkeypatch.setenv("CM_CHIEF_IP", "10.0.0.1")
    monkeypatch.delenv("JOB_ID", raising=False)
    assert npu("check", good).code == 0
    result = npu("check", good, "--on-host", "--format=json")
    found = [entry for entry in json.loads(result.out)["diagnostics"] if entry["path"] is None]
    assert result.code == 1
    assert "NPU671" in {entry["rule"] for entry in found}
    assert npu("check", good, "--on-host", "--ignore", "NPU6").code == 0
    assert os.environ["RANK_SIZE"] == "8"


def test_format_loses_nothing(npu, tmp_path):
    """Keys that nobody knows stay, in their order; what would be lost is reported instead."""
    path = tmp_path / "table.json"
    device = dict(TABLE["server_list"][0]["device"][0], note=None)
    document = {
        "x": [1],
        **TABLE,
        "server_list": [{"server_id": "a", "b": {}, "device": [device]}],
    }
    path.write_text(json.dumps(document) + "\n")
    assert npu("format", path).code == 0
    assert json.dumps(document) == json.dumps(json.loads(path.read_text()))
    for text in (
        '{"black-list": {"to-add": ["A"]}, "black-list": {"to-add": ["B"]}}',
        '{"black-list": {"to-add": ["A"]}}\n{}\n',
    ):
        path.write_text(text)
        result = npu("format", path, "--as", "mixlist")
        assert (result.code, text) == (1, path.read_text())
    wrong = json.dumps(dict(document, server_count="2"))
    path.write_text(wrong)
    for arguments in (("format", path), ("check", "--fix", path)):
        assert npu(*arguments).code == 1
        assert wrong == path.read_text()


@pytest.mark.parametrize("value", ["x", True, {"a": "on"}, [0], [{}], 1, None])
def test_super_pods_that_are_not_read(npu, tmp_path, value):
    """In version 1.0 HCCL does not read super_pod_list, whatever it holds."""
    path = tmp_path / "table.json"
    document = {**TABLE, "super_pod_list": value}
    document["server_list"] = [{"server_id": "a", "device": TABLE["server_list"][0]["device"][:1]}]
    path.write_text(json.dumps(document))
    assert npu("check", path).code == 0
    assert npu("format", path).code == 0
    assert document == json.loads(path.read_text())
