"""Launch scripts linked with the training scripts that they start."""

import textwrap

from npu_config.readers import read

TRAIN = """
import os
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["enable_dump"].b = True
custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(os.environ["DUMP"])
custom_op.parameter_map["dump_mode"].s = tf.compat.as_bytes(os.getenv("MODE", "all"))
custom_op.parameter_map["session_device_id"].i = int(os.environ.get("DEVICE"))
with tf.Session(config=config) as session:
    session.run(tf.no_op())
"""


def errors(tmp_path, shell, train=TRAIN):
    """Rule, line, and file of each error about a launch script and what it starts."""
    (tmp_path / "train.py").write_text(textwrap.dedent(train), encoding="utf-8")
    script = tmp_path / "run.sh"
    script.write_text("#!/bin/bash\n" + shell, encoding="utf-8")
    found = read(script).judge()
    return [
        (each.rule, each.line, each.path.rpartition("/")[2])
        for each in found
        if each.severity.rank == 2
    ]


def test_what_the_script_reads_is_known(tmp_path):
    """A value that comes from the environment is judged as if it were written in the script."""
    shell = "export MODE=ALL DUMP=/data DEVICE=0\npython3 train.py\n"
    assert errors(tmp_path, shell) == [("NPU104", 11, "train.py")]
    assert errors(tmp_path, shell.replace("ALL", "all")) == []


def test_unknown_stays_unknown(tmp_path):
    """What the launch script does not know, the training script does not either."""
    assert errors(tmp_path, "export MODE=$1 DUMP=$2 DEVICE=$3\npython3 train.py\n") == []
    assert errors(tmp_path, "python3 train.py\n") == []


def test_what_is_wrong_anyway_is_left_to_the_script(tmp_path):
    """A fault that does not depend on the environment is reported with the script alone."""
    train = TRAIN.replace('"enable_dump"].b', '"enable_dump"].i')
    shell = "export MODE=ALL\npython3 train.py\n"
    assert errors(tmp_path, shell, train) == [("NPU104", 11, "train.py")]


def test_each_round(tmp_path):
    """Each round of a loop is looked at; a value that is wrong in one is reported once."""
    shell = "for MODE in input output al; do export MODE; python3 train.py & done\n"
    assert errors(tmp_path, shell) == [("NPU104", 11, "train.py")]


def test_scripts_that_cannot_be_read(tmp_path):
    """A script that is not there, is a directory or is not text changes nothing."""
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "binary.py").write_bytes(b"NpuOptimizer \xff\xfe os.environ['A']")
    shell = "export A=1\n" + "".join(
        "python3 {}.py\n".format(name) for name in ("missing", "folder", "binary")
    )
    assert errors(tmp_path, shell) == []


def test_bytes_that_are_not_utf_8(tmp_path):
    """Bash does not ask what comments are encoded in; a binary file is no script."""
    script = tmp_path / "run.sh"
    script.write_bytes("# 说明\nexport ASCEND_DEVICE_ID=-1\npython3 x.py\n".encode("gbk"))
    assert [(each.rule, each.line) for each in read(script).judge()] == [("NPU670", 2)]
    script.write_bytes(b"\x7fELF\0\xff\xfe")
    assert [each.rule for each in read(script).judge()] == ["NPU701"]
