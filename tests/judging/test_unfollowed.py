"""What is loaded by a path that is put together is checked; what is not followed is said."""

import json
import os
import socket

import pytest

pytest.importorskip("click")

from npu_config.__main__ import main

HEAD = """\
import os
import pathlib
import sys
from pathlib import Path

import tensorflow as tf
import yaml
from npu_config import NpuConfig

HERE = os.path.dirname(os.path.abspath(__file__))
"""
FOUND = (
    'NpuConfig.load(Path(__file__).parent / "bad.yaml")',
    'NpuConfig.load(pathlib.Path(__file__).resolve().parents[0] / "bad.yaml")',
    'NpuConfig.load(os.path.join(os.path.dirname(__file__), "bad.yaml"))',
    'NpuConfig.load(os.path.join(HERE, "sub", "..", "bad.yaml"))',
    'NpuConfig.load(HERE + "/bad.yaml")',
    'NpuConfig.load(f"{HERE}/bad.yaml")',
    'NpuConfig.load(Path(__file__).with_name("bad.yaml"))',
    'NpuConfig.load(str(Path(HERE).joinpath("bad.yaml")))',
    'NpuConfig.load(os.environ.get("NPU", "bad.yaml"))',
    'NpuConfig.from_dict(yaml.safe_load(open("bad.yaml")))',
)
SAID = (
    "NpuConfig.load(sys.argv[1])",
    "NpuConfig.load(Path(sys.argv[1]) / 'bad.yaml')",
    "NpuConfig.from_dict(yaml.safe_load(sys.stdin))",
)


def answer(capsys, *words):
    """The exit code of a check, its findings and the files that were not checked."""
    code = main(["check", "--format", "json", *words])
    said = json.loads(capsys.readouterr().out)
    found = [(each["path"], each["line"], each["rule"]) for each in said["diagnostics"]]
    return code, found, [each["path"] for each in said["unchecked"]]


@pytest.mark.parametrize("where", ["", "sub"])
def test_paths_that_are_put_together(tmp_path, monkeypatch, capsys, where):
    """The named file is checked, wherever the check is started from; else the line is named."""
    scripts = tmp_path / where
    scripts.mkdir(exist_ok=True)
    (tmp_path / "sub").mkdir(exist_ok=True)
    (scripts / "bad.yaml").write_text("version: 1\nhccl_timeot: 1800\n")
    monkeypatch.chdir(tmp_path)
    for call in (*FOUND, *SAID):
        script = os.path.join(where, "train.py")
        (tmp_path / script).write_text("{}config = {}\n".format(HEAD, call))
        code, found, unchecked = answer(capsys, script)
        if call in FOUND:
            bad = os.path.join(where, "bad.yaml")
            assert (1, [(bad, 2, "NPU101")], []) == (code, found, unchecked), call
        else:
            assert (0, [(script, 11, "NPU784")], [script]) == (code, found, unchecked), call
            assert answer(capsys, "--strict", script)[0] == 1


MAKER = """\
import tensorflow as tf
from npu_bridge.npu_init import *


def make_config(mode):
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes(mode)
    return config
"""
USER = """\
import tensorflow as tf
from npu_bridge.npu_init import *
from {0} import {1}
with tf.Session(config={1}("allow_mix")) as sess:
    sess.run(train_op)
"""


def test_functions_of_other_files(tmp_path, monkeypatch, capsys):
    """A configuration that another file makes is judged there; what is not followed is said."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "maker.py").write_text(MAKER)
    (tmp_path / "plain.py").write_text("def make_config(mode):\n    return None\n")
    (tmp_path / "train.py").write_text(USER.format("maker", "make_config"))
    found = [("maker.py", 6, "NPU804"), ("maker.py", 9, "NPU104")]
    assert answer(capsys, "train.py") == (1, found, [])
    (tmp_path / "maker.py").write_text(MAKER + "\n\nmake_config = wrapped(make_config)\n")
    assert answer(capsys, "train.py") == (0, [("train.py", 4, "NPU784")], ["train.py"])
    for module, told in (("plain", []), ("not_here", [("train.py", 4, "NPU784")])):
        (tmp_path / "train.py").write_text(USER.format(module, "make_config"))
        assert answer(capsys, "train.py")[:2] == (0, told)


def test_a_file_that_is_merged(tmp_path, monkeypatch, capsys):
    """The options of a file that text_format reads are checked; what is around them is not."""
    monkeypatch.chdir(tmp_path)
    entry = 'name: "NpuOptimizer" parameter_map { key: "hccl_timeot" value { i: 1 } }'
    text = "graph_options { rewrite_options { custom_optimizers { " + entry + " } } }\n"
    (tmp_path / "npu.pbtxt").write_text(text)
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom google.protobuf import text_format\n"
        "from npu_bridge.npu_init import *\nconfig = tf.ConfigProto()\n"
        'with open("npu.pbtxt") as file:\n    text_format.Merge(file.read(), config)\n'
        "with tf.Session(config=config) as sess:\n    sess.run(train_op)\n"
    )
    assert answer(capsys, "train.py") == (1, [("npu.pbtxt", 1, "NPU101")], [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files here")
def test_what_is_no_file(tmp_path, monkeypatch, capsys):
    """A link to nothing, a pipe, a socket with a name of ours: a walk names them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.yaml").write_text("version: 1\nhccl_timeout: 1800\n")
    os.symlink("/nonexistent", "npu.yaml")
    os.symlink("loop.json", "loop.json")
    os.symlink("/nonexistent", "notes.txt")
    os.mkfifo("train.py")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("launch.sh")
        assert main(["check", "."]) == 0
    said = capsys.readouterr().err
    for name in ("npu.yaml: a broken link", "loop.json: ", "train.py: neither", "launch.sh: "):
        assert "skipped " + os.path.join(".", name) in said
    assert "notes.txt" not in said


def test_old_name_of_a_device(tmp_path, monkeypatch, capsys):
    """DEVICE_ID is another framework's own variable: silent where nothing is known to start."""
    monkeypatch.chdir(tmp_path)
    for command, rules in (("python -u $@", []), ("python train.py", ["NPU679"])):
        (tmp_path / "launch.sh").write_text(
            "#!/bin/bash\nexport DEVICE_ID=0\n{}\n".format(command)
        )
        code, found, _ = answer(capsys, "launch.sh")
        assert (0, rules) == (code, [each[2] for each in found])
