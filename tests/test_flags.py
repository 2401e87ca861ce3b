"""The flags of a script that choose a configuration."""

import argparse

import pytest

import npu_config as npu


@pytest.fixture
def path(tmp_path):
    """A configuration."""
    file = tmp_path / "npu.yaml"
    file.write_text("version: 1\nhccl_timeout: 1800\n")
    return str(file)


def test_argparse(path, capsys):
    """Three lines; a wrong override is a wrong call of the script, with what was meant."""
    parser = argparse.ArgumentParser()
    npu.add_arguments(parser, default=path)
    for words, expected in (
        ([], {"hccl_timeout": 1800}),
        (["--npu_set", "hccl_timeout=5"], {"hccl_timeout": 5}),
        (
            ["--npu-set", "op_wait_timeout=5", "--npu_set=hccl_timeout=null"],
            {"op_wait_timeout": 5},
        ),
        (["--npu_config", path], {"hccl_timeout": 1800}),
    ):
        args = parser.parse_args(words)
        assert dict(npu.NpuConfig.load(args.npu_config, overrides=args.npu_set)) == expected
    with pytest.raises(SystemExit):
        parser.parse_args(["--npu_set", "hcl_timeout=5"])
    assert 'did you mean "hccl_timeout"?' in capsys.readouterr().err


def test_absl(path):
    """The same for the flags that TensorFlow's scripts use."""
    flags = pytest.importorskip("absl.flags")
    values = flags.FlagValues()
    npu.add_arguments(values, default=path)
    values(["train.py", "--npu_set=hccl_timeout=5", "--npu_set=op_wait_timeout=6"])
    config = npu.NpuConfig.load(values.npu_config, overrides=values.npu_set)
    assert dict(config) == {"hccl_timeout": 5, "op_wait_timeout": 6}


def test_what_has_no_flags():
    """It says what is expected."""
    with pytest.raises(TypeError, match="is expected, got dict"):
        npu.add_arguments({})
