"""Options that come from bytes, JSON, functions of other files, attributes and overrides."""

import json

import pytest

pytest.importorskip("click")

from npu_config.__main__ import main
from npu_config.proto import bytes_of

HEAD = """\
import json, os, pickle, sys
import tensorflow as tf
from google.protobuf import json_format
from npu_bridge.npu_init import *
from npu_config import NpuConfig
import helpers
config = tf.ConfigProto()
"""
TAIL = "with tf.Session(config=config) as sess:\n    sess.run(train_op)\n"
ENTRY = """\
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
"""
HELPERS = """\
def wrong(options, value=1):
    options["hccl_timeot"].i = value
def right(options):
    options["hccl_timeout"].i = 1800
def wrong_entry(entry):
    wrong(entry.parameter_map)
def wrong_config(config):
    entry = config.graph_options.rewrite_options.custom_optimizers.add()
    entry.name = "NpuOptimizer"
    wrong_entry(entry)
def far(options):
    setattr(options["hccl_timeout"], "i", 1)
    exec("options['x'].i = 1")
"""


def written(name):
    """The bytes of a ConfigProto with one option."""
    return bytes_of({name: ("i", 1800)})


def as_json(name):
    """The JSON of a ConfigProto with one option."""
    entry = {"name": "NpuOptimizer", "parameterMap": {name: {"i": "1800"}}}
    rewrite = {"customOptimizers": [entry], "remapping": "OFF"}
    return json.dumps({"graphOptions": {"rewriteOptions": rewrite}})


WRONG, RIGHT = written("hccl_timeot"), written("hccl_timeout")
NO_CONFIG = "config = None\n"
CASES = {
    # what is given: rules at (file, line of the body), lines of the body that are not checked
    "config.ParseFromString({!r})\n".format(WRONG): [("train.py", 1, "NPU101")],
    "config.ParseFromString({!r})\n".format(RIGHT): [],
    "config.ParseFromString(b'\\xff')\n": [("train.py", 1, "NPU784")],
    "config = tf.ConfigProto.FromString({!r})\n".format(WRONG): [("train.py", 1, "NPU101")],
    "config.MergeFromString(open('wrong.pb', 'rb').read())\n": [("wrong.pb", None, "NPU101")],
    "config.MergeFromString(open('right.pb', 'rb').read())\n": [],
    "config.MergeFromString(open('none.pb', 'rb').read())\n": [("train.py", 1, "NPU784")],
    "config.CopyFrom(tf.ConfigProto.FromString(open('wrong.pb', 'rb').read()))\n": [
        ("wrong.pb", None, "NPU101")
    ],
    "config.CopyFrom(make())\n": [("train.py", 1, "NPU784")],
    "config.ParseFromString(sys.stdin.buffer.read())\n": [("train.py", 1, "NPU784")],
    "json_format.Parse({!r}, config)\n".format(as_json("hccl_timeot")): [
        ("train.py", 1, "NPU101")
    ],
    "json_format.Parse({!r}, config)\n".format(as_json("hccl_timeout")): [],
    "json_format.Parse('{{', config)\n": [("train.py", 1, "NPU784")],
    "json_format.ParseDict({}, config)\n".format(as_json("hccl_timeot")): [
        ("train.py", 1, "NPU101")
    ],
    "json_format.ParseDict(json.load(open('x.json')), config)\n": [("train.py", 1, "NPU784")],
    "config = pickle.load(open('config.pkl', 'rb'))\n": [("train.py", 2, "NPU784")],
    ENTRY + "helpers.wrong(custom_op.parameter_map)\n": [("helpers.py", 2, "NPU101")],
    ENTRY + "helpers.right(custom_op.parameter_map)\n": [],
    ENTRY + "helpers.wrong_entry(custom_op)\n": [("helpers.py", 2, "NPU101")],
    "helpers.wrong_config(config)\n": [("helpers.py", 2, "NPU101")],
    ENTRY + "helpers.none(custom_op.parameter_map)\n": [("train.py", 3, "NPU784")],
    ENTRY + "import far_away\nfar_away.fill(custom_op)\n": [("train.py", 4, "NPU784")],
    ENTRY + "print(custom_op, len(custom_op.parameter_map))\n": [],
    "rc = NPURunConfig()\nrc.graph_run_mode = 7\n": [("train.py", 2, "NPU104")],
    "rc = NPURunConfig()\nrc._precision_mode = 'wrong'\n": [("train.py", 2, "NPU104")],
    "rc = NPURunConfig()\nrc.precision_mode = 'allow_mix_precision'\n": [
        ("train.py", 2, "NPU8114")
    ],
    "rc = NPURunConfig()\nrc.model_dir = 'model'\n": [("train.py", 2, "NPU8114")],
    "rc = NPURunConfig()\nrc.note = 'mine'\n": [],
    "rc = NPURunConfig()\nsetattr(rc, name(), 1)\n": [("train.py", 2, "NPU784")],
    "NpuConfig.load('n.yaml', overrides=('hccl_timeot=3',))\n": [("train.py", 1, "NPU1161")],
    "NpuConfig.load('n.yaml', overrides=['precision_mode=x'])\n": [("train.py", 1, "NPU104")],
    "more = 'hccl_timeout=12',\nNpuConfig.load('n.yaml', overrides=more)\n": [],
    "NpuConfig.load('n.yaml', overrides=[f'hccl_timeout={n}'])\n": [],
    "NpuConfig.load('n.yaml', overrides=[f'hccl_timeot={n}'])\n": [("train.py", 1, "NPU1161")],
    "NpuConfig.load('n.yaml', overrides=['%s=1' % n])\n": [("train.py", 1, "NPU784")],
    "NpuConfig.load('n.yaml', overrides=sys.argv[1:])\n": [("train.py", 1, "NPU784")],
}


def test_what_is_read_or_set_elsewhere(tmp_path, monkeypatch, capsys):
    """Each is followed to the wrong option, or named with its line; what is right is silent."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "n.yaml").write_text("version: 1\nhccl_timeout: 1800\n")
    (tmp_path / "wrong.pb").write_bytes(WRONG)
    (tmp_path / "right.pb").write_bytes(RIGHT)
    start = HEAD.count("\n")
    names = []
    for number, body in enumerate(CASES):
        name = "train_{}.py".format(number)
        names.append(name)
        (tmp_path / name).write_text(HEAD + body + TAIL)
    main(["check", "--format", "json", "--notes", *names])
    said = json.loads(capsys.readouterr().out)
    ignored = ("NPU804", "NPU806", "NPU823")
    for name, (body, expected) in zip(names, CASES.items()):
        wanted = [
            (name, line + start, rule) for path, line, rule in expected if path == "train.py"
        ]
        found = [
            (each["path"], each["line"], each["rule"])
            for each in said["diagnostics"]
            if each["path"] == name and each["rule"] not in ignored
        ]
        assert wanted == found, body
        unchecked = any(rule == "NPU784" for _, _, rule in wanted)
        assert unchecked == (name in [each["path"] for each in said["unchecked"]]), body
    others = {
        (each["path"], each["line"], each["rule"])
        for each in said["diagnostics"]
        if each["path"] not in names and each["rule"] not in ignored
    }
    assert {each for found in CASES.values() for each in found if each[0] != "train.py"} == others
    for name, body in zip(names, CASES):
        if "helpers.wrong" in body or "wrong.pb" in body:
            assert main(["check", name]) == 1, body
            capsys.readouterr()
