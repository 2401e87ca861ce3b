"""The configuration of the next run: what the base says stays, and switches only ever add up."""

import json
from pathlib import Path

import pytest

pytest.importorskip("numpy")

import yaml

from tests.cli.conftest import npu

__all__ = ["npu"]
DATA = Path(__file__).parents[1] / "data/dump"
NET = ("compare", DATA / "net/npu", DATA / "net/tf", "--graph", DATA / "net/graph")
OVERFLOW = ("overflow", DATA / "overflow")
BASE = """\
version: 1
precision:
  precision_mode_v2: mixed_float16
  modify_mixlist: ops.json
performance:
  op_precision_mode: precision.ini
dump:
  dump_path: /data/dump
  dump_step: 5
  enable_dump: true
  fusion_switch_file: my.cfg
"""


@pytest.fixture
def base(tmp_path):
    """A configuration with side files beside it, in a folder that nothing runs in."""
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "job.yaml").write_text(BASE)
    (folder / "ops.json").write_text('{"black-list": {"to-add": ["Exp"]}}')
    (folder / "my.cfg").write_text('{"Switch": {"GraphFusion": {"A": "off", "B": "on"}}}')
    (folder / "precision.ini").write_text("[ByOpType]\nPooling=high_precision\n")
    return folder / "job.yaml"


def next_of(npu, path, *call):
    """The options of the next configuration, and what was printed."""
    result = npu("dump", *call, "--next-config", path)
    assert result.code == 1, result
    groups = yaml.safe_load(path.read_text()).values()
    return {k: v for g in groups if isinstance(g, dict) for k, v in g.items()}, result.out


def off(path):
    """The passes that a switch file switches off."""
    switches = json.loads(Path(path).read_text())["Switch"]["GraphFusion"]
    return {name for name, state in switches.items() if state == "off"}


def test_the_base_stays(npu, base, tmp_path):
    """Its options, its dump_path, its side files from its folder; detection is on again."""
    there = {path: path.read_bytes() for path in base.parent.iterdir()}
    options, out = next_of(npu, tmp_path / "n.yaml", *OVERFLOW, "--config", base)
    assert options["dump_path"] == "/data/dump"
    assert options["enable_dump_debug"] is True
    assert not {"enable_dump", "dump_step"} & set(options)
    assert options["precision_mode_v2"] == "mixed_float16"
    lists = json.loads(Path(options["modify_mixlist"]).read_text())
    assert lists == {"black-list": {"to-add": ["Exp", "Mul"]}}
    assert options["fusion_switch_file"] == str(base.parent / "my.cfg")
    assert options["op_precision_mode"] == str(base.parent / "precision.ini")
    assert "this machine" not in out
    assert npu("check", tmp_path / "n.yaml").code == 0
    options, _ = next_of(npu, base.parent / "next.yaml", *NET, "--config", base)
    assert (options["dump_step"], options["dump_mode"]) == ("5", "all")
    assert off(options["fusion_switch_file"]) == {"A", "MatMulBiasAddFusionPass"}
    assert there == {path: path.read_bytes() for path in there}


def test_switches_add_up(npu, base, tmp_path):
    """--force unites what is there; without it nothing that differs is overwritten."""
    path = tmp_path / "next.yaml"
    options, _ = next_of(npu, path, *NET, "--config", base)
    switch = Path(options["fusion_switch_file"])
    switch.write_text('{"Switch": {"GraphFusion": {"Earlier": "off"}}}')
    refused = npu("dump", *NET, "--next-config", path)
    assert (refused.code, "--force" in refused.err) == (2, True)
    assert off(switch) == {"Earlier"}
    options, _ = next_of(npu, path, *NET, "--config", base, "--force")
    assert off(options["fusion_switch_file"]) == {"A", "Earlier", "MatMulBiasAddFusionPass"}
    options, _ = next_of(npu, path, *OVERFLOW, "--config", base, "--force")
    assert off(options["fusion_switch_file"]) == {"A", "Earlier", "MatMulBiasAddFusionPass"}
    switch.write_text("{")
    broken = npu("dump", *NET, "--next-config", path, "--force")
    assert (broken.code, switch.read_text()) == (1, "{")


def test_side_files_of_the_same_name(npu, base):
    """The file of the base is not the one that is written, whatever its name is."""
    own = base.parent / "fusion_switch.cfg"
    (base.parent / "my.cfg").rename(own)
    base.write_text(BASE.replace("my.cfg", own.name))
    options, _ = next_of(npu, base.parent / "next.yaml", *NET, "--config", base)
    assert options["fusion_switch_file"] == str(base.parent / "next_fusion_switch.cfg")
    assert off(own) == {"A"}


def test_lines_of_the_old_syntax(npu, base, tmp_path):
    """Switches of the old syntax are united in it."""
    (base.parent / "my.cfg").write_text("OldPass:off\nMatMulBiasAddFusionPass:on\n")
    options, _ = next_of(npu, tmp_path / "n.yaml", *NET, "--config", base)
    lines = Path(options["fusion_switch_file"]).read_text().splitlines()
    assert sorted(lines) == ["MatMulBiasAddFusionPass:off", "OldPass:off"]


def test_what_is_guessed_is_said(npu, tmp_path):
    """Without a base the dump_path of this machine and the precision mode are guesses."""
    options, out = next_of(npu, tmp_path / "n.yaml", *OVERFLOW)
    assert options["precision_mode"] == "allow_mix_precision"
    for words in (
        "dump_path is set to the folder on this machine",
        "sets precision_mode to allow_mix",
    ):
        assert words in out


def test_wrong_bases(npu, base, tmp_path):
    """A side file that is missing, a script, a configuration with an error: nothing is written."""
    (base.parent / "my.cfg").unlink()
    missing = npu("dump", *NET, "--config", base, "--next-config", tmp_path / "n.yaml")
    assert (missing.code, "my.cfg" in missing.out) == (1, True)
    script = tmp_path / "train.py"
    script.write_text("import tensorflow as tf\nprint(1)\n")
    refused = npu("dump", *NET, "--config", script, "--next-config", tmp_path / "n.yaml")
    assert (refused.code, "training script" in refused.err) == (2, True)
    base.write_text(BASE + "  dump_mode: 7\n")
    wrong = npu("dump", *OVERFLOW, "--config", base, "--next-config", tmp_path / "n.yaml")
    assert (wrong.code, "dump_mode" in wrong.out) == (1, True)
    assert not (tmp_path / "n.yaml").exists()
