"""The target that a builder names in a script counts for the command, part by part."""

import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "script" / "cases" / "err" / "builder.py"
ONE = "npu.NpuConfigBuilder({}).set({}).build()\n"
BFLOAT = 'precision_mode_v2="mixed_bfloat16"'
OLD = 'npu.Target(product="atlas_training")'
NEW = 'npu.Target(product="atlas_a2")'


@pytest.fixture
def check(npu, tmp_path):
    """Checks a script with these lines; returns the rules and lines of its findings."""

    def run(*lines, options=(), project=""):
        if project:
            (tmp_path / "pyproject.toml").write_text("[tool.npu-config]\n" + project)
        path = tmp_path / "train.py"
        path.write_text("import npu_config as npu\n" + "".join(lines))
        found = npu("check", *options, path).out
        heads = [
            line for line in found.splitlines() if ": error: " in line or ": warning: " in line
        ]
        prefix = str(path) + ":"
        return [
            (line[len(prefix) :].split(":")[0], line.rsplit("[", 1)[1].split()[0])
            for line in heads
        ]

    return run


def test_the_golden_case(npu):
    """Its finding for the product that the builder names is there."""
    assert "NPU107" in npu("check", GOLDEN).out


def test_product_and_version(check):
    """Both are honoured."""
    assert check(ONE.format(OLD, BFLOAT)) == [("2", "NPU108")]
    assert check(ONE.format('npu.Target(cann="5.0.3")', "hccl_timeout=1800")) == [("2", "NPU111")]
    assert check(ONE.format(NEW, BFLOAT)) == []


def test_two_targets(check):
    """Each builder is judged for its own."""
    assert check(ONE.format(NEW, BFLOAT), ONE.format(OLD, BFLOAT)) == [("3", "NPU108")]


@pytest.mark.parametrize(
    "target", ["npu.Target(product=FLAGS.p)", "make_target()", "TARGET", "*arguments"]
)
def test_a_target_that_cannot_be_read(check, target):
    """No rule of a product speaks, nor does the target of the project hold."""
    line = ONE.format(target, BFLOAT)
    assert check(line, project='target = "atlas_training"\n') == []


@pytest.mark.parametrize("command", ["generate --to yaml", "doctor"])
def test_a_target_that_cannot_be_read_at_other_doors(npu, tmp_path, command):
    """The target of the project holds there neither: nothing is found, as by ``check``."""
    (tmp_path / "pyproject.toml").write_text('[tool.npu-config]\ntarget = "atlas_training"\n')
    path, found = tmp_path / "train.py", tmp_path / "found.json"
    path.write_text("import npu_config as npu\n" + ONE.format("make_target()", BFLOAT))
    result = npu(*command.split(), path, "--findings", found)
    assert json.loads(found.read_text(encoding="utf-8"))["diagnostics"] == []
    assert "NPU108" not in result.out + result.err
    assert "atlas_training" not in result.out
    assert command == "doctor" or (result.code, BFLOAT.split("=")[0] in result.out) == (0, True)


def test_a_product_that_does_not_exist(check):
    """The call is refused, and no rule of a product speaks."""
    line = ONE.format('npu.Target(product="atlas_training_x")', BFLOAT)
    assert check(line) == [("2", "NPU868")]


def test_layers(check):
    """The command line replaces a part; the project gives what nobody says."""
    line = ONE.format(OLD, BFLOAT)
    assert check(line, options=["--target", "atlas_a2"]) == []
    old = ONE.format(OLD, "hccl_timeout=1800")
    assert check(old, options=["--target-cann", "5.0.3"]) == [("2", "NPU111")]
    assert check(old, project='cann = "5.0.3"\n') == [("2", "NPU111")]
    bare = "npu.NpuConfigBuilder().set({}).build()\n".format(BFLOAT)
    assert check(bare, project='target = "atlas_training"\n') == [("2", "NPU108")]
