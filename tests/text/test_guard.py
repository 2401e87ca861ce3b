"""Nothing that a file can hold ends a run."""

import json
import os

import pytest

from npu_config.core.diagnostics import NpuConfigError
from npu_config.diagnosis import op_summary
from npu_config.diagnosis.fusion_result import read_fusion_result
from npu_config.diagnosis.graph import diagnose
from npu_config.diagnosis.loss_report import loss_scale_report
from npu_config.diagnosis.op_summary import read_op_summary
from npu_config.lint.baseline import Baseline, BaselineError
from npu_config.lint.walk import walk
from npu_config.readers import read, toml_file
from npu_config.rules import reading as rules_around
from npu_config.text.source import guarded


def broken(*arguments, **named):
    """What a function with a fault does."""
    raise KeyError("a fault of ours")


def test_a_fault_of_ours_while_reading_is_a_finding(monkeypatch):
    """It names the exception, the line and what to do; reading ends orderly."""
    monkeypatch.setattr(toml_file, "interpret", broken)
    found = read("a.toml", content="version = 1\n")
    assert found.skipped
    (diagnostic,) = found.diagnostics
    assert (diagnostic.rule, diagnostic.path) == ("NPU700", "a.toml")
    assert "KeyError, test_guard.py:" in diagnostic.message
    assert "report it" in diagnostic.help


def test_a_fault_of_ours_while_judging_is_a_finding(monkeypatch):
    """What the reader found is kept."""
    monkeypatch.setattr(rules_around, "judge", broken)
    found = read("a.yaml", content="iterations_per_loop: 10\n").judge()
    assert [diagnostic.rule for diagnostic in found] == ["NPU790", "NPU700"]


@pytest.mark.parametrize(
    ("module", "name", "reader", "content"),
    [
        (
            "op_summary.OneBlockReading",
            "_scanned",
            lambda p: read_op_summary([p]),
            None,
        ),
        ("fusion_result", "_records", read_fusion_result, "{}"),
        ("loss_report", "_read_log", loss_scale_report, "loss_scale = 1, step = 1"),
        ("graph.model.Graph", "__init__", diagnose, "node { name: 'a' op: 'b' }"),
    ],
)
def test_tables_logs_and_graphs_are_guarded(module, name, reader, content, tmp_path, monkeypatch):
    """Their readers raise NpuConfigError with the finding, nothing else."""
    monkeypatch.setattr("npu_config.diagnosis.{}.{}".format(module, name), broken)
    path = tmp_path / "file"
    path.write_text(content or "Op Name,OP Type,Task Duration(us),Block Dim,Input Data Types\n")
    with pytest.raises(NpuConfigError) as caught:
        reader(str(path))
    assert [d.rule for d in caught.value.diagnostics] == ["NPU700"]


def test_what_is_wrong_with_the_input_passes_the_guard():
    """Findings stay findings, and an interruption stays one."""
    with pytest.raises(NpuConfigError, match="0 errors"), guarded("x"):
        raise NpuConfigError([])
    with pytest.raises(KeyboardInterrupt), guarded("x"):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "text", ['a: "\\U00110000"\n', 'a: "\\UFFFFFFFF"\n', "%YAML 1." + "1" * 5000 + "\n---\na: 1\n"]
)
def test_numbers_that_pyyaml_does_not_limit(text):
    """Escapes beyond Unicode and versions of thousands of digits are findings of the file."""
    found = read("a.yaml", content=text)
    assert [d.rule for d in found.diagnostics if d.severity.value == "error"] == ["NPU702"]


@pytest.mark.parametrize("header", ['"\x03\n,', '"Op\nName",OP Type\n', "a" + " " * 9999 + "b\n"])
def test_headers_of_tables(header, tmp_path):
    """A line end in a column's name is no trouble."""
    path = tmp_path / "op_summary.csv"
    path.write_text(header)
    with pytest.raises(NpuConfigError, match="NPU797"):
        read_op_summary([path])


def test_long_numbers(tmp_path):
    """Python 3.11 refuses to convert more than 4,300 digits; no file brings it to that."""
    log = tmp_path / "train.log"
    log.write_text(
        "loss_scale = 1024.0, step = {}\nloss_scale = 512.0, step = 2\n".format("1" * 5000)
    )
    assert loss_scale_report(log).last == 512
    result = tmp_path / "fusion_result.json"
    times = {"match_times": "9" * 4299, "effect_times": "9" * 4299}
    record = {"session_and_graph_id_0_0": {"graph_fusion": {"A": times}}}
    result.write_text(json.dumps(record) * 2)
    assert str(read_fusion_result(result).passes[0].effect_times)


@pytest.mark.parametrize("reader", [diagnose, lambda p: read_op_summary([p]), loss_scale_report])
def test_a_name_with_nul(reader):
    """No file has such a name; that is a finding, too."""
    with pytest.raises(NpuConfigError):
        reader("a\0b")


def test_a_baseline_of_too_many(tmp_path):
    """A count that no list could hold is refused."""
    entry = {"rule": "NPU101", "path": "a", "option": "", "line": "", "count": 2**63}
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({"version": 1, "findings": [entry]}))
    with pytest.raises(BaselineError, match="from 1 to 1,000,000,000"):
        Baseline.load(path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_endless_files():
    """What never ends is not opened."""
    with pytest.raises(BaselineError, match="this is a device, not a file"):
        Baseline.load("/dev/zero")
    assert "this is a device, not a file" in read("/dev/zero").diagnostics[0].message
    with pytest.raises(NpuConfigError):
        read_op_summary(["/dev/zero"])


def test_deep_directories(tmp_path):
    """Directories deeper than Python's recursion are walked, or said not to be."""
    here, depth = os.getcwd(), 1100
    os.chdir(str(tmp_path))
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        os.close(os.open("a.py", os.O_CREAT))
        os.chdir(str(tmp_path))
        skipped = []
        found = list(walk(".", skipped=skipped))
        assert found or any(left.unlisted for left in skipped)
    finally:
        os.chdir(str(tmp_path))
        for _ in range(depth):
            os.chdir("d")
        os.unlink("a.py")
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")
        os.chdir(here)


def test_shares_count_the_whole_table(tmp_path, monkeypatch):
    """More operators than are told apart by name: their types' time is still all of it."""
    monkeypatch.setattr(op_summary, "MAX_OPERATORS", 10)
    rows = ["Op Name,OP Type,Task Duration(us),Block Dim,Input Data Types"]
    rows += ["op{},ReduceSum,10,1,FLOAT16".format(number) for number in range(300)]
    path = tmp_path / "op_summary.csv"
    path.write_text("\n".join(rows))
    from npu_config.diagnosis.op_summary import advise

    assert advise(read_op_summary([path])).share == 1.0
