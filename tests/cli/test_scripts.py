"""Scripts, directories of them, projects, comments and baselines on the command line."""

import json
import os

import pytest

from npu_config.readers import read

HEAD = """\
import tensorflow as tf
from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig
config = tf.ConfigProto(allow_soft_placement=True)
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
config.graph_options.rewrite_options.memory_optimization = RewriterConfig.NO_MEM_OPT
"""
WRONG = 'custom_op.parameter_map["hccl_timeout"].s = 1800{}\n'
TAIL = "sess = tf.Session(config=config)\n"


@pytest.fixture
def script(tmp_path):
    """A script with a value in the wrong field."""
    path = tmp_path / "train.py"
    path.write_text(HEAD + WRONG.format("") + TAIL)
    return path


def rules(result):
    """The ids in a JSON report."""
    return [entry["rule"] for entry in json.loads(result.out)["diagnostics"]]


def test_a_script(npu, script):
    """By name, by its directory, on standard input."""
    for arguments, stdin in (
        ([script], b""),
        ([script.parent], b""),
        (["-"], script.read_bytes()),
        (["-", "--as", "script"], script.read_bytes()),
    ):
        result = npu("check", "--format=json", *arguments, stdin=stdin)
        assert result.code == 1
        assert "NPU102" in rules(result)
        assert json.loads(result.out)["summary"]["files"] == 1


def test_a_script_of_another_name(npu, script):
    """--as script, or its content."""
    other = script.with_suffix(".txt")
    os.rename(str(script), str(other))
    assert "NPU102" in rules(npu("check", "--format=json", other))
    assert "NPU102" in rules(npu("check", "--format=json", "--as", "script", other))
    assert read(other).kind == "script"


def test_the_target_of_the_command_line(npu, script):
    """Scripts name none."""
    script.write_text(
        HEAD + 'custom_op.parameter_map["aicore_num"].s = tf.compat.as_bytes("24|48")\n' + TAIL
    )
    assert "NPU107" not in rules(npu("check", "--format=json", script))
    assert "NPU107" in rules(npu("check", "--format=json", script, "--target=atlas_training"))


def test_many_scripts(npu, tmp_path):
    """Files that .gitignore names, and other people's packages, are left out."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("out/\n*_pb2.py\n")
    for name in ("a.py", "b/c.py", "out/d.py", "e_pb2.py", "site-packages/f.py", ".x/g.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD + WRONG.format("") + TAIL)
    (tmp_path / "other.py").write_text("print(1)\n")
    (tmp_path / "old.py").write_text('print "NpuOptimizer", custom_op.parameter_map["x"].s\n')
    result = npu("check", tmp_path, "--format=json")
    document = json.loads(result.out)
    found = {os.path.relpath(entry["path"], str(tmp_path)) for entry in document["diagnostics"]}
    assert found == {"a.py", os.path.join("b", "c.py"), "old.py"}
    assert document["summary"]["files"] == 3  # other.py names nothing of the NPU
    assert document["summary"]["skipped"] == 1


def test_a_script_that_cannot_be_read(npu, tmp_path, script):
    """It is told once; the others are checked."""
    (tmp_path / "latin.py").write_bytes(b'x = "\xff NpuOptimizer parameter_map custom_op"\n')
    document = json.loads(npu("check", tmp_path, tmp_path / "no.py", "--format=json").out)
    assert document["summary"]["skipped"] == 2
    assert "NPU102" in {entry["rule"] for entry in document["diagnostics"]}


def test_fix_of_a_script(npu, script):
    """The encoding, the line ends and everything else stay as they are."""
    text = "# -*- coding: latin-1 -*-\n# \xfc\n" + HEAD + WRONG.format("  # \xe9") + TAIL
    script.write_bytes(text.replace("\n", "\r\n").encode("latin-1"))
    result = npu("check", script, "--fix")
    expected = text.replace('["hccl_timeout"].s', '["hccl_timeout"].i')
    assert result.err == "1 fixed\n"
    assert script.read_bytes() == expected.replace("\n", "\r\n").encode("latin-1")


# Comments


def test_ignore_comments_in_a_script(npu, script):
    """They silence what they name, and are told when they name what is no rule."""
    script.write_text(HEAD + WRONG.format("  # npu: ignore[NPU102]") + TAIL)
    assert "NPU102" not in rules(npu("check", "--format=json", script))
    script.write_text(HEAD + WRONG.format("  # npu: ignore[NPU102,NPU999]") + TAIL)
    assert rules(npu("check", "--format=json", script)).count("NPU832") == 1


def test_ignore_comments_in_a_configuration(npu, bad):
    """YAML has comments, too; what is silenced is not fixed."""
    bad.write_text(
        "version: 1\nhcl_timeout: 1800 # npu: ignore[NPU101]\nop_select_implmode: sideways\n"
    )
    before = bad.read_text()
    result = npu("check", "--format=json", "--fix", bad)
    assert rules(result) == ["NPU104"]
    assert bad.read_text() == before


# Projects


def test_the_table_of_a_project(npu, tmp_path, script, bad, monkeypatch):
    """It holds defaults; the command line wins."""
    table = tmp_path / "pyproject.toml"
    table.write_text(
        "[tool.npu-config]\n"
        'ignore = ["NPU102"]\nexclude = ["third/"]\nstrict = true\ntarget = "atlas_training"\n'
        '[tool.npu-config.per-file-ignores]\n"bad.*" = ["NPU1"]\n'
    )
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "x.py").write_text(script.read_text())
    (tmp_path / "x.yaml").write_text("version: 1\naicore_num: 24|48\n")
    found = json.loads(npu("check", tmp_path, "--format=json").out)["diagnostics"]
    assert "NPU107" in {entry["rule"] for entry in found}
    assert not {"bad.yaml", "x.py"} & {os.path.basename(entry["path"]) for entry in found}
    assert "NPU102" not in {entry["rule"] for entry in found}
    assert "NPU102" in rules(npu("check", script, "--format=json", "--ignore", "NPU901"))
    assert "NPU107" not in rules(npu("check", tmp_path, "--format=json", "--target", "atlas_a2"))
    empty = tmp_path / "empty.yaml"
    empty.write_text("")
    assert npu("check", empty).code == 1
    sub = tmp_path / "third"
    assert json.loads(npu("check", sub, "--format=json").out)["summary"]["files"] == 0


def test_a_wrong_table(npu, tmp_path, good):
    """It is a finding, and so is a rule in it that does not exist."""
    table = tmp_path / "pyproject.toml"
    table.write_text("[tool.npu-config]\nignores = []\n")
    assert "NPU833" in rules(npu("check", good, "--format=json"))
    table.write_text('[tool.npu-config.per-file-ignores]\n"*" = ["NPU999"]\n')
    result = npu("check", good)
    assert result.code == 1
    assert 'pyproject.toml:2:8: error: "NPU999" is not a rule' in result.out


# Baselines


def test_baseline(npu, tmp_path, bad):
    """What is known is not told; what is new is."""
    known = tmp_path / "known.json"
    assert npu("check", bad, "--write-baseline", known).code == 0
    assert npu("check", bad, "--baseline", known).code == 0
    bad.write_text("# moved\n" + bad.read_text() + "dump_data: x\n")
    result = npu("check", bad, "--baseline", known, "--format=json")
    assert result.code == 1
    assert [entry["line"] for entry in json.loads(result.out)["diagnostics"]] == [5]


def test_a_baseline_that_is_none(npu, tmp_path, bad):
    """Nothing is checked with it."""
    assert npu("check", bad, "--baseline", tmp_path / "nope").code == 2
    assert npu("check", bad, "--baseline", bad).code == 1
    assert npu("check", bad, "--write-baseline", tmp_path / "no" / "x.json").code == 2


# Many files


def test_progress(npu, tmp_path, monkeypatch):
    """Shown on a terminal while many files are looked at, and gone afterwards."""
    import sys

    pytest.importorskip("rich")
    for number in range(201):
        (tmp_path / "{}.py".format(number)).write_text("import npu_config\n")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert npu("check", tmp_path).err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    result = npu("check", tmp_path)
    assert result.code == 0
    assert "201 files" in result.out
    assert "checking" in result.err


def test_progress_in_a_large_table(npu, tmp_path, monkeypatch):
    """A table that takes seconds to read shows how far it is."""
    import sys

    from npu_config.cli import op_summary
    from npu_config.diagnosis import op_summary as tables
    from npu_config.diagnosis.op_summary import read_op_summary

    pytest.importorskip("rich")
    path = tmp_path / "op_summary.csv"
    head = "Op Name,OP Type,Task Duration(us),Block Dim,Input Data Types\n"
    path.write_text(head + "a,ReduceSum,10,1,FLOAT16\n" * 99)
    monkeypatch.setattr(tables, "_TOLD", 1000)
    told = []
    assert read_op_summary([path], told.append) == read_op_summary([path])
    assert path.stat().st_size - 1000 < sum(told) <= path.stat().st_size
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(op_summary, "_LARGE", 1000)
    assert npu("op-summary", path).err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert "checking" in npu("op-summary", path).err
