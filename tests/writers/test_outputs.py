"""What each writer writes."""

import json
import subprocess
import sys

import pytest
from hypothesis import given

from npu_config.config import NpuConfig
from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.target import Target
from npu_config.writers import FORMATS, render, render_for
from tests.strategies import configs

CONFIG = NpuConfig.from_dict(
    {
        "hccl_timeout": 1800,
        "precision_mode": "allow_mix_precision",
        "enable_dump": True,
        "dump_path": "/home/test/out put",
        "dump_step": [0, (5, 8)],
        "graph_slice": "auto",
        "insert_op_file": "aipp.cfg",
    },
    Target(product="atlas_a2", cann="8.50"),
)


def test_yaml():
    """By group, in the order of the catalogue, quotes where they are needed."""
    assert (
        render(CONFIG, "yaml")
        == """\
version: 1

target:
  product: atlas_a2
  cann: "8.50"

memory:
  graph_slice: auto

precision:
  precision_mode: allow_mix_precision

dump:
  enable_dump: true
  dump_path: "/home/test/out put"
  dump_step: "0|5-8"

timeouts:
  hccl_timeout: 1800

internal:
  insert_op_file: aipp.cfg
"""
    )


def test_toml():
    """One table for each group."""
    assert (
        render(CONFIG.evolve(graph_slice=None, insert_op_file=None), "toml")
        == """\
version = 1

[target]
product = "atlas_a2"
cann = "8.50"

[precision]
precision_mode = "allow_mix_precision"

[dump]
enable_dump = true
dump_path = "/home/test/out put"
dump_step = "0|5-8"

[timeouts]
hccl_timeout = 1800
"""
    )


def test_json():
    """The same tree."""
    assert json.loads(render(CONFIG.evolve(insert_op_file=None), "json")) == {
        "version": 1,
        "target": {"product": "atlas_a2", "cann": "8.50"},
        "memory": {"graph_slice": "auto"},
        "precision": {"precision_mode": "allow_mix_precision"},
        "dump": {
            "enable_dump": True,
            "dump_path": "/home/test/out put",
            "dump_step": "0|5-8",
        },
        "timeouts": {"hccl_timeout": 1800},
    }


def test_python():
    """The lines that users know, memory optimization off for real."""
    config = NpuConfig.from_dict({"hccl_timeout": 1800, "precision_mode": "force_fp32"})
    lines = render(config, "python").splitlines()
    assert 'custom_op.parameter_map["hccl_timeout"].i = 1800' in lines
    assert (
        'custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("force_fp32")' in lines
    )
    assert lines[-3:] == [
        "config.graph_options.rewrite_options.remapping = RewriterConfig.OFF",
        "config.graph_options.rewrite_options.memory_optimization = RewriterConfig.NO_MEM_OPT",
        "{}.global_jit_level = tf.compat.v1.OptimizerOptions.OFF".format(
            "config.graph_options.optimizer_options"
        ),
    ]


@pytest.mark.tensorflow
def test_python_gives_the_same_proto():
    """Run on a real TensorFlow, the code ends with the very ConfigProto."""

    @given(configs())
    def check(config):
        names = {}
        exec(render(config, "python"), names)
        assert names["config"] == config.to_config_proto()

    check()


def test_python_carries_bytes_that_are_no_text():
    """What is no UTF-8 is written as bytes."""
    config = NpuConfig.from_dict({"soc_config": "a\udcff"})
    assert ".s = b'a\\xff'" in render(config, "python")


@pytest.mark.parametrize("kind", ["yaml", "toml", "json"])
def test_text_formats_refuse_bytes(kind):
    """They cannot carry them, and say so."""
    config = NpuConfig.from_dict({"soc_config": "a\udcff"})
    with pytest.raises(NpuConfigError) as caught:
        render(config, kind)
    assert [d.rule for d in caught.value.diagnostics] == ["NPU791"]


def test_env_asks_for_what_it_cannot_know():
    """The shell stops when the number of steps is not set, and goes on when it is."""
    config = NpuConfig.from_dict(
        {
            "experimental_accelerate_train_mode": ("fast", "step", 0.9),
            "static_memory_policy": 2,
            "auto_multistream_parallel_mode": "cv",
        }
    )
    script = render(config, "env") + "echo $TOTAL_STEP $STEP_NOW $GE_USE_STATIC_MEMORY\n"
    command = ["sh", "-c", script]
    known = {"PATH": "/usr/bin:/bin", "GE_USE_STATIC_MEMORY": "2"}
    without = subprocess.run(command, stdout=-1, stderr=-1, env=known)
    known["TOTAL_STEP"] = "1000"
    done = subprocess.run(command, stdout=-1, stderr=-1, env=known)
    assert without.returncode != 0
    assert b"set it to the number of training steps" in without.stderr
    assert (done.returncode, done.stdout) == (0, b"1000 0\n")


def test_env_of_the_loss_trigger():
    """Two other variables."""
    config = NpuConfig.from_dict(
        {"experimental_accelerate_train_mode": "fast|loss|1.1"},
    )
    text = render(config, "env")
    assert "TARGET_LOSS" in text
    assert "LOSS_NOW" in text
    assert "STEP" not in text


def test_env_of_nothing():
    """A configuration that needs no variable says so."""
    assert "No option of this configuration needs a variable" in render(
        NpuConfig.from_dict({}), "env"
    )


def test_the_suffix_says_the_format(tmp_path):
    """``NpuConfig.save`` writes what the name promises, and load reads it."""
    for kind, (_, suffixes) in FORMATS.items():
        for suffix in suffixes:
            path = tmp_path / ("x" + suffix)
            CONFIG.save(path)
            assert NpuConfig.load(path).options == CONFIG.options, kind


def test_a_suffix_that_is_none():
    """It is refused, with the legal ones."""
    with pytest.raises(ValueError, match=r'no format has the suffix "\.ini"; legal: \.yaml'):
        render_for(CONFIG, "x.ini")
    with pytest.raises(ValueError, match='unknown format "ini"'):
        render(CONFIG, "ini")


def test_writing_imports_neither_protobuf_nor_yaml():
    """Text formats are written with the standard library alone."""
    code = (
        "import sys\n"
        "from npu_config.config import NpuConfig\n"
        "from npu_config.writers import render\n"
        "config = NpuConfig.from_dict({'hccl_timeout': 1800})\n"
        "[render(config, kind) for kind in ('yaml', 'toml', 'json', 'python', 'run-config')]\n"
        "assert not {'yaml', 'google.protobuf', 'tensorflow'} & set(sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
