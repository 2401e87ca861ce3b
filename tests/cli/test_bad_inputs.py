"""Inputs that are not what a command expects: each is said to be what it is."""

import pytest

WRONG = "version: 1\nprecision_modee: x\n"
FOREIGN = """\
lr: 0.1
model: resnet
options_of_the_npu:
  precision_mode: allow_mix_precision
  hccl_timeout: 1800
"""


@pytest.mark.parametrize(
    "folder",
    ["node_modules/pkg", "src/node_modules/pkg", "lib/site-packages/pkg", "env/lib/pkg"],
)
def test_a_configuration_of_a_package(npu, tmp_path, monkeypatch, folder):
    """It is passed over in folders, for --if-ours and by the hook; named, it is checked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "env").mkdir(exist_ok=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    path = folder + "/npu.yaml"
    (tmp_path / path).write_text(WRONG)
    assert "NPU101" not in npu("check", ".").out
    for given in (path, "./" + path, str(tmp_path / path)):
        found = npu("check", "--if-ours", "--show-skipped", given)
        assert (found.code, "NPU101" in found.out) == (0, False)
        assert "a directory of installed packages" in found.err
        assert (tmp_path / path).read_text() == WRONG
    found = npu("check", path)
    assert (found.code, "NPU101" in found.out) == (1, True)


def test_a_project_below_an_environment(npu, tmp_path, monkeypatch):
    """What stands above the working directory does not count."""
    home = tmp_path / "venv" / "project"
    home.mkdir(parents=True)
    (home / "npu.yaml").write_text(WRONG)
    monkeypatch.chdir(home)
    assert npu("check", "--if-ours", "npu.yaml").code == 1
    assert npu("check", "--if-ours", str(home / "npu.yaml")).code == 1


def test_options_under_a_foreign_key(npu, tmp_path, monkeypatch):
    """Named, an error says under which key; in a folder it is told once, and is not counted."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "train.yaml").write_text(FOREIGN)
    found = npu("check", "conf/train.yaml")
    assert found.code == 1
    assert '"options_of_the_npu" contains options, but is not a group of options' in found.out
    assert 'move the options under "options_of_the_npu" to a file of their own' in found.out
    found = npu("check", "conf")
    assert 'the options are under "options_of_the_npu"' in found.err
    assert "left out" not in found.err


def test_compat_of_what_is_not_read(npu, tmp_path, monkeypatch):
    """That a notebook holds no option is not claimed without saying that nobody read it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.ipynb").write_text('{"cells": []}')
    assert "not checked (a notebook): train.ipynb" in npu("compat", "train.ipynb").err
    (tmp_path / "npu.yaml").write_text("hccl_timeout: 1800\n")
    assert "not checked" not in npu("compat", "npu.yaml").err


TWO = """\
import tensorflow as tf
from npu_config import NpuConfigBuilder, Target

one = NpuConfigBuilder(Target(product="{}")).set(precision_mode_v2="mixed_bfloat16").build()
two = NpuConfigBuilder(Target(product="{}")).set(precision_mode_v2="mixed_bfloat16").build()
with tf.Session(config=one.to_config_proto()) as session:
    session.run(step)
with tf.Session(config=two.to_config_proto()) as session:
    session.run(step)
"""


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        ("atlas_a2", "atlas_a3", []),
        ("atlas_training", "atlas_a2", [4]),
        ("atlas_a2", "atlas_training", [5]),
    ],
)
def test_two_targets_in_a_script(npu, tmp_path, first, second, lines):
    """Each builder is judged for its own."""
    path = tmp_path / "train.py"
    path.write_text(TWO.format(first, second))
    found = npu("check", path)
    said = [line for line in found.out.splitlines() if "[NPU108" in line]
    assert [int(line.split(":")[1]) for line in said] == lines
    assert found.code == bool(lines)


@pytest.mark.parametrize("command", ["check {}", "generate {} --to yaml"])
@pytest.mark.parametrize(
    "target", ['product="atlas_b7"', 'cann="banana"', 'product="atlas_b7", cann="8.0.0"']
)
def test_a_target_that_is_not_known(npu, tmp_path, command, target):
    """It is an error at its place, with what is legal; nothing is written."""
    path = tmp_path / "train.py"
    path.write_text(TWO.format("atlas_a2", "atlas_a2").replace('product="atlas_a2"', target, 1))
    found = npu(*command.format(path).split())
    assert found.code == 1
    said = found.out + found.err
    assert ("train.py:4:" in said, "[NPU868" in said, "version: 1" in said) == (True, True, False)
