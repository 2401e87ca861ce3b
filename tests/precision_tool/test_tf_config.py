"""The drop-in functions: parameter maps of the facts, and the deliberate differences."""

import json
import os
import random
import subprocess
import sys

import pytest

from npu_config import NpuConfig, NpuConfigError, OverwrittenWarning
from npu_config.precision_tool import tf_config
from npu_config.proto import config_proto_class, stub_config_proto

DEBUG = {"debug_dir": "precision_data/npu/debug_0"}
OVERFLOW = {
    "enable_dump_debug": True,
    "dump_debug_mode": "all",
    "dump_path": "precision_data/overflow/dump",
    "op_debug_level": 4,
}
DUMP = {
    "enable_dump": True,
    "dump_mode": "all",
    "dump_path": "precision_data/npu/debug_0/dump",
    "op_debug_level": 4,
    "dump_step": "0",
}
OFF = {"fusion_switch_file": "precision_data/config/fusion_off.cfg"}
SWITCH = {"fusion_switch_file": "precision_data/config/fusion_switch.cfg"}
PROF = {
    "profiling_mode": True,
    "profiling_options": {
        "output": "precision_data/npu/debug_0/prof",
        "storage_limit": "1000MB",
        "training_trace": "on",
        "l2": "on",
        "hccl": "on",
        "task_trace": "on",
        "aicpu": "on",
        "fp_point": "",
        "bp_point": "",
        "aic_metrics": "PipeUtilization",
        "msproftx": "on",
    },
}
ACTIONS = [
    (None, {}),
    ("overflow", OVERFLOW),
    ("dump", DUMP),
    ("fusion_off", OFF),
    ("fusion_switch", SWITCH),
    ("prof", PROF),
    ("fusion_off|dump", {**OFF, **DUMP}),
    ("overflow|fusion_off", {**OVERFLOW, **OFF}),
    ("overflow, fusion_switch prof", {**OVERFLOW, **SWITCH, **PROF}),
    ("fusion_off|fusion_switch", OFF),
    (["dump", "prof"], {**DUMP, **PROF}),
]


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    """Every test runs in a directory of its own, without the tool's switches."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PRECISION_TOOL_OVERFLOW", raising=False)
    monkeypatch.delenv("PRECISION_TOOL_DUMP", raising=False)
    return tmp_path


def entry(proto):
    """The only NpuOptimizer entry."""
    (found,) = [
        each
        for each in proto.graph_options.rewrite_options.custom_optimizers
        if each.name == "NpuOptimizer"
    ]
    return found


def parameters(custom_op):
    """A parameter_map as plain values."""
    found = {}
    for name, value in custom_op.parameter_map.items():
        content = getattr(value, value.WhichOneof("value"))
        content = content.decode() if isinstance(content, bytes) else content
        found[name] = json.loads(content) if name == "profiling_options" else content
    return found


@pytest.mark.parametrize(("action", "expected"), ACTIONS)
def test_the_parameter_map_of_each_action(action, expected):
    """On no ConfigProto, on a fresh one, and on an entry itself."""
    session = {"use_off_line": True, **DEBUG, **expected}
    assert parameters(entry(tf_config.session_dump_config(None, action=action))) == session
    fresh = config_proto_class()()
    assert tf_config.session_dump_config(fresh, action=action) is fresh
    assert parameters(entry(fresh)) == session
    optimizers = stub_config_proto()().graph_options.rewrite_options.custom_optimizers
    custom_op = optimizers.add(name="NpuOptimizer")
    assert tf_config.update_custom_op(custom_op, action) is custom_op
    assert parameters(custom_op) == {**DEBUG, **expected}


@pytest.mark.parametrize(("action", "expected"), ACTIONS)
def test_an_entry_that_is_there_is_used(action, expected):
    """Its options stay, no second entry is added."""
    proto = NpuConfig.from_dict({"precision_mode": "allow_mix_precision"}).to_config_proto()
    tf_config.session_dump_config(proto, action)
    assert parameters(entry(proto)) == {
        "precision_mode": "allow_mix_precision",
        "use_off_line": True,
        **DEBUG,
        **expected,
    }


def test_of_several_entries_the_last_is_taken():
    """It is the one that wins in the runtime, too."""
    proto = stub_config_proto()()
    optimizers = proto.graph_options.rewrite_options.custom_optimizers
    optimizers.add(name="NpuOptimizer")
    optimizers.add(name="NpuOptimizer").parameter_map["job"].s = b"x"
    tf_config.session_dump_config(proto, "dump")
    assert not optimizers[0].parameter_map
    assert parameters(optimizers[1])["enable_dump"] is True


def test_an_entry_that_the_script_holds_stays_the_one_in_use():
    """Options that are added to it afterwards count."""
    proto = config_proto_class()()
    custom_op = proto.graph_options.rewrite_options.custom_optimizers.add(name="NpuOptimizer")
    tf_config.session_dump_config(proto, "dump")
    custom_op.parameter_map["job"].s = b"later"
    assert parameters(entry(proto))["job"] == "later"
    assert parameters(custom_op)["enable_dump"] is True


def test_remapping_and_memory_optimization_are_really_off():
    """The second with the value that means off, not with the one that means manual."""
    rewrite = tf_config.session_dump_config().graph_options.rewrite_options
    assert rewrite.remapping == 2
    assert rewrite.memory_optimization == 1
    proto = stub_config_proto()()
    proto.graph_options.rewrite_options.memory_optimization = 2
    with pytest.warns(OverwrittenWarning, match="memory_optimization was 'MANUAL'"):
        tf_config.session_dump_config(proto)


@pytest.mark.parametrize("action", ["overflw", "overflow|dmp", "DUMP", "npu", ["prof", 3]])
def test_an_unknown_action_names_the_legal_ones(action):
    """The original ignores it; here nothing is changed and nothing made."""
    proto = stub_config_proto()()
    with pytest.raises(
        NpuConfigError, match="legal: overflow, dump, fusion_off, fusion_switch, prof"
    ):
        tf_config.session_dump_config(proto, action)
    assert proto == stub_config_proto()()
    assert not os.listdir(".")


def test_both_dumps_are_an_error(monkeypatch):
    """Asked for together, by the environment, or one on top of the other."""
    with pytest.raises(NpuConfigError, match="exclude each other"):
        tf_config.session_dump_config(action="overflow|dump")
    proto = tf_config.session_dump_config(action="dump")
    before = proto.SerializeToString(deterministic=True)
    with pytest.raises(NpuConfigError, match="enable_dump is on already"):
        tf_config.session_dump_config(proto, action="overflow")
    assert proto.SerializeToString(deterministic=True) == before
    with pytest.raises(NpuConfigError, match="enable_dump_debug is on already"):
        tf_config.session_dump_config(tf_config.session_dump_config(action="overflow"), "dump")
    monkeypatch.setenv("PRECISION_TOOL_OVERFLOW", "True")
    monkeypatch.setenv("PRECISION_TOOL_DUMP", "True")
    with pytest.raises(NpuConfigError, match="run twice"):
        tf_config.session_dump_config()


@pytest.mark.parametrize(
    ("variable", "expected"),
    [("PRECISION_TOOL_OVERFLOW", OVERFLOW), ("PRECISION_TOOL_DUMP", DUMP)],
)
def test_the_switches_of_the_environment(variable, expected, monkeypatch, caplog):
    """Only "True" counts, and only without an action; other words are warned of."""
    monkeypatch.setenv(variable, "True")
    assert parameters(entry(tf_config.session_dump_config())) == {
        "use_off_line": True,
        **DEBUG,
        **expected,
    }
    assert "enable_dump" not in parameters(entry(tf_config.session_dump_config(action="prof")))
    monkeypatch.setenv(variable, "true")
    assert parameters(entry(tf_config.session_dump_config())) == {"use_off_line": True, **DEBUG}
    assert '"True" switches it on' in caplog.text


def test_what_is_replaced_is_reported():
    """A dump_path of the user's does not vanish silently."""
    proto = NpuConfig.from_dict({"dump_path": "/mine"}).to_config_proto()
    with pytest.warns(OverwrittenWarning, match="dump_path was b'/mine'"):
        tf_config.session_dump_config(proto, "overflow")


def test_directories_and_files_are_made_for_an_action_only(tmp_path):
    """Nothing without an action; the user's edited switch file is never overwritten."""
    tf_config.session_dump_config()
    assert not list(tmp_path.iterdir())
    tf_config.session_dump_config(action="overflow|fusion_switch|prof")
    for path in ("overflow/dump", "npu/debug_0/prof", "config/fusion_switch.cfg"):
        assert (tmp_path / "precision_data" / path).exists()
    switches = tmp_path / "precision_data/config/fusion_switch.cfg"
    assert json.loads(switches.read_text()) == {"Switch": {"GraphFusion": {}, "UBFusion": {}}}
    switches.write_text("mine")
    tf_config.session_dump_config(action="fusion_switch")
    assert switches.read_text() == "mine"
    tf_config.session_dump_config(action="fusion_off")
    off = json.loads((tmp_path / "precision_data/config/fusion_off.cfg").read_text())
    assert off == {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (
            "overflow",
            (False, True, "precision_data/overflow/dump", None, "all"),
        ),
        ("dump", (True, False, "precision_data/npu/debug_0/dump", "0", "all")),
        (None, (False, False, None, None, "output")),
        ("prof", (False, False, None, None, "output")),
    ],
)
def test_the_dump_config_of_an_action(action, expected):
    """For NPURunConfig; the dump directory is there."""
    made = tf_config.estimator_dump_config(action)
    assert expected == (
        made._enable_dump,
        made._enable_dump_debug,
        made._dump_path,
        made._dump_step,
        made._dump_mode,
    )
    assert made._dump_path is None or os.path.isdir(made._dump_path)


def test_importing_does_nothing():
    """No seed, no environment, no directory, no output, no TensorFlow."""
    code = (
        "import os, random, sys; e = dict(os.environ); random.seed(1); s = random.getstate();"
        "import npu_config.precision_tool.tf_config, npu_config.precision_tool.export;"
        "assert e == dict(os.environ) and s == random.getstate() and not os.listdir('.');"
        "assert 'tensorflow' not in sys.modules and 'numpy' not in sys.modules"
    )
    path = os.pathsep.join(filter(None, [os.getcwd(), *sys.path]))
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
    )
    assert done.stdout == b""


def test_seeds(monkeypatch):
    """Python's generator starts anew with the seed; the default is the original's."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    state = random.getstate()
    tf_config.seed_everything()
    assert os.environ["PYTHONHASHSEED"] == "2022"
    drawn = random.random()
    tf_config.seed_everything(7)
    tf_config.seed_everything(2022)
    assert random.random() == drawn
    random.setstate(state)


def test_preparing_keeps_what_the_user_set(tmp_path, monkeypatch):
    """Directories and the graph-dump environment, by an explicit call."""
    for name in tf_config.graph_dump_environment():
        monkeypatch.setenv(name, "mine")
    monkeypatch.delenv("DUMP_GRAPH_LEVEL")
    assert tf_config.prepare() == {"DUMP_GRAPH_LEVEL": "3"}
    assert os.environ["DUMP_GE_GRAPH"] == "mine"
    for path in ("npu/debug_0/dump", "npu/debug_0/graph", "npu/debug_0/prof", "overflow/dump"):
        assert (tmp_path / "precision_data" / path).is_dir()
    monkeypatch.delenv("DUMP_GRAPH_LEVEL")
