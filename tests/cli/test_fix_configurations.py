"""Fixes in configuration files: whatever the help spells out is written by --fix."""

import json

import pytest

from npu_config.core.diagnostics import Edit
from npu_config.text.source import apply_edits

YAML = """\
version: 1
presicion_mode: allow_mix_precision  # a comment
dump_mode: ALL
sump_path: /x
hccl_timeout: "1800"
deterministic: true
jit_compile: off
enable_dump: 1
dump_step: "0|20-10"
"""
FIXED = """\
version: 1
precision_mode: allow_mix_precision  # a comment
dump_mode: "all"
dump_path: /x
hccl_timeout: 1800
deterministic: 1
jit_compile: "false"
enable_dump: true
dump_step: "0|10-20"
"""
JSON = '{"version": 1, "presicion_mode": "force_fp32", "dump_mode": "ALL", "hccl_timeout": "9"}'
TOML = 'version = 1\npresicion_mode = "force_fp32"\ndump_mode = "ALL"\nhccl_timeout = "9"\n'
PBTXT = """\
graph_options {
  rewrite_options {
    remapping: OFF
    memory_optimization: NO_MEM_OPT
    custom_optimizers {
      name: "NpuOptimizer"
      parameter_map { key: "presicion_mode" value { s: "force_fp32" } }
      parameter_map { key: "dump_mode" value { s: "ALL" } }
    }
  }
}
"""


def test_yaml(npu, tmp_path):
    """Exactly those characters; the rest of each line stays."""
    path = tmp_path / "x.yaml"
    path.write_text(YAML)
    npu("check", "--fix", path)
    assert path.read_text() == FIXED


@pytest.mark.parametrize(
    ("name", "text"), [("x.json", JSON), ("x.toml", TOML), ("x.pbtxt", PBTXT)]
)
def test_other_formats(npu, tmp_path, name, text):
    """The same fixes, as each format writes names and values."""
    path = tmp_path / name
    path.write_text(text)
    npu("check", "--fix", path)
    expected = text.replace("presicion", "precision").replace("ALL", "all").replace('"9"', "9")
    assert path.read_text() == expected


def test_json_carries_the_edits(npu, tmp_path):
    """The edits of the JSON report, applied to the text, are what --fix writes."""
    path = tmp_path / "x.yaml"
    path.write_text(YAML)
    found = json.loads(npu("check", path, "--format", "json").out)["diagnostics"]
    fixes = [entry["fix"] for entry in found if entry["fix"] is not None]
    assert len(fixes) == 8
    assert {fix["safe"] for fix in fixes} == {True}
    edits = [Edit(**edit) for fix in fixes for edit in fix["edits"]]
    assert apply_edits(YAML, edits) == FIXED


def test_the_number_of_fixes_is_said(npu, tmp_path):
    """Before and after."""
    path = tmp_path / "x.yaml"
    path.write_text(YAML)
    assert "\n8 can be fixed with --fix\n" in npu("check", path).out
    assert npu("check", "--fix", path).err == "8 fixed\n"


@pytest.mark.parametrize(
    "text",
    [
        'version: 1\ndump_mode: "ALL"\nx: [\n',
        'version: 1\nhcl_timeout: 1\n"unclosed\n',
    ],
)
def test_a_broken_file_is_not_fixed(npu, tmp_path, text):
    """What a fix makes of a file that cannot be parsed is not known."""
    path = tmp_path / "x.yaml"
    path.write_text(text)
    assert npu("check", "--fix", path).code == 1
    assert path.read_text() == text


def test_a_stray_brace(npu, tmp_path):
    """A comma before a brace is removed; text after the value, which nobody reads, is left."""
    path = tmp_path / "ops_info.json"
    path.write_text('{"black-list": {"to-add": ["Conv2D"]},}}')
    assert "NPU786" in npu("check", "--fix", path).out
    assert path.read_text() == '{"black-list": {"to-add": ["Conv2D"]}}}'


def test_a_guess_is_not_applied(npu, tmp_path):
    """A name that is less like an option is suggested only."""
    path = tmp_path / "x.yaml"
    path.write_text("version: 1\ndum_moed: all\nhccl_timeout: 1800\n")
    result = npu("check", "--fix", path)
    assert "did you mean" in result.out
    assert path.read_text().splitlines()[1] == "dum_moed: all"


def test_booleans_where_words_are_wanted(npu, tmp_path):
    """YAML reads a bare on as a boolean: the help says so; JSON is fixed to the word in quotes."""
    inline, path = tmp_path / "x.yaml", tmp_path / "profiling.json"
    inline.write_text(
        "profiling_mode: true\nprofiling_options: {output: /tmp/p, "
        "training_trace: on, aicpu: no}\n"
    )
    path.write_text('{"output": "/tmp/p", "training_trace": true, "aicpu": false}')
    said = npu("check", inline).out
    assert 'write "on" in quotes: true, and in YAML a bare on or yes, is a boolean' in said
    assert 'write "off" in quotes: false, and in YAML a bare off or no, is a boolean' in said
    npu("check", "--fix", path)
    assert path.read_text() == '{"output": "/tmp/p", "training_trace": "on", "aicpu": "off"}'
