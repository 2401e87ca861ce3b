"""Presets: what each sets, combinations, exclusions, and that nothing happens unasked."""

import inspect
import os
import subprocess
import sys
import warnings

import pytest

from npu_config import NpuConfig, NpuConfigBuilder, NpuConfigError, OverwrittenWarning, presets
from npu_config.proto import decode, stub_config_proto


def options(proto):
    """The options of a ConfigProto as plain values."""
    return {name: setting.value for name, setting in decode(proto).entries.items()}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda: presets.overflow_detection("/o"),
            {"enable_dump_debug": True, "dump_path": "/o"},
        ),
        (
            lambda: presets.overflow_detection("/o", "all"),
            {"enable_dump_debug": True, "dump_path": "/o", "dump_debug_mode": "all"},
        ),
        (
            lambda: presets.data_dump("/d", [0, (5, 8)], "all", "stats", ["a", "b"]),
            {
                "enable_dump": True,
                "dump_path": "/d",
                "dump_step": "0|5-8",
                "dump_mode": "all",
                "dump_data": "stats",
                "dump_layer": "a b",
            },
        ),
        (lambda: presets.fusion_off("/f/off.cfg"), {"fusion_switch_file": "/f/off.cfg"}),
        (lambda: presets.fusion_switch(path="/f/my.cfg"), {"fusion_switch_file": "/f/my.cfg"}),
        (
            lambda: presets.profiling("/p", task_time="l1"),
            {
                "profiling_mode": True,
                "profiling_options": '{"output":"/p","task_time":"l1"}',
            },
        ),
        (lambda: presets.deterministic(), {"deterministic": 1}),
        (lambda: presets.exception_dump(1), {"enable_exception_dump": 1}),
        (lambda: presets.graph_dump("/g"), {}),
    ],
)
def test_what_each_preset_sets(make, expected):
    """The documented options, on a new ConfigProto and nowhere else."""
    assert options(make().apply()) == expected


def test_combined_presets_set_what_each_sets():
    """Overflow detection with fusion off and a deterministic run."""
    step = (
        presets.overflow_detection("/o") | presets.fusion_off("off.cfg") | presets.deterministic()
    )
    assert options(step.apply()) == {
        "enable_dump_debug": True,
        "dump_path": "/o",
        "fusion_switch_file": "off.cfg",
        "deterministic": 1,
    }
    assert step.directories == ("/o",)


def test_overflow_with_dump_is_an_error_with_the_way_out():
    """Together, whichever comes first, and on a proto that has the other already."""
    overflow, dump = presets.overflow_detection("/o"), presets.data_dump("/o", steps=0)
    for combine in (
        lambda: overflow | dump,
        lambda: dump | overflow,
        lambda: overflow.apply(dump.apply()),
        lambda: dump.apply_to(overflow.apply_to(NpuConfigBuilder())).build(),
    ):
        with pytest.raises(NpuConfigError) as caught:
            combine()
        (found,) = caught.value.diagnostics.errors
        assert (found.rule, found.help) == ("NPU301", "enable only one of them in each run")


def test_findings_stand_where_the_preset_was_used():
    """The place is the user's line, not a line of this package."""
    with pytest.raises(NpuConfigError) as caught:
        presets.data_dump("/d", steps="5-3")
    assert {found.path for found in caught.value.diagnostics} == {__file__}
    dump = presets.data_dump("/d")
    assert {found.path for found in dump.config.diagnostics} == {__file__}
    with pytest.raises(NpuConfigError) as caught:
        presets.overflow_detection("/d").apply(dump.apply())
    assert {found.path for found in caught.value.diagnostics} == {__file__}


def test_presets_that_disagree():
    """The same thing set to two values is not decided silently."""
    with pytest.raises(NpuConfigError, match="'/a' in one preset and '/b'"):
        presets.data_dump("/a", steps=0) | presets.data_dump("/b", steps=0)
    with pytest.raises(NpuConfigError, match="DUMP_GRAPH_PATH"):
        presets.graph_dump("/a") | presets.graph_dump("/b")
    both = presets.data_dump("/a", steps=0) | presets.data_dump("/a", steps=0)
    assert both.directories == ("/a",)


def test_a_users_proto_is_not_changed_and_what_is_replaced_is_reported():
    """The result is a new message of the same class with a single NpuOptimizer entry."""
    base = NpuConfig.from_dict({"dump_path": "/mine", "deterministic": 0}).to_config_proto(
        stub_config_proto()()
    )
    before = base.SerializeToString(deterministic=True)
    with pytest.warns(OverwrittenWarning, match="dump_path was '/mine'"):
        result = presets.overflow_detection("/o").apply(base)
    assert base.SerializeToString(deterministic=True) == before
    assert type(result) is type(base)
    assert options(result) == {"enable_dump_debug": True, "dump_path": "/o", "deterministic": 0}
    assert len(result.graph_options.rewrite_options.custom_optimizers) == 1


def test_directories_are_made_only_when_asked(tmp_path):
    """Applying makes none; the call says which it made."""
    step = presets.overflow_detection(tmp_path / "o") | presets.profiling(tmp_path / "p")
    step.apply()
    assert not list(tmp_path.iterdir())
    (tmp_path / "p").mkdir()
    assert step.make_directories() == [str(tmp_path / "o")]
    assert step.make_directories() == []


def test_files_are_written_only_when_asked_and_never_over_others(tmp_path):
    """A file with different content stays unless it is to be overwritten."""
    path = tmp_path / "switch" / "off.cfg"
    step = presets.fusion_off(path)
    assert step.directories == (str(path.parent),)
    step.make_directories()
    assert step.write_files() == [str(path)]
    assert '"ALL"' in path.read_text()
    assert step.write_files() == []
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="different content"):
        step.write_files()
    assert path.read_text() == "mine"
    assert step.write_files(overwrite=True) == [str(path)]


def test_environment_is_a_mapping_and_is_restored(monkeypatch):
    """Nothing is set before the block or left after it, also when it fails."""
    monkeypatch.delenv("DUMP_GE_GRAPH", raising=False)
    monkeypatch.setenv("DUMP_GRAPH_PATH", "/mine")
    environment = presets.graph_dump("/g").environment
    assert environment == {
        "DUMP_GE_GRAPH": "2",
        "DUMP_GRAPH_LEVEL": "3",
        "DUMP_GRAPH_PATH": "/g",
    }
    assert "DUMP_GE_GRAPH" not in os.environ

    def fail():
        with presets.applied(environment):
            assert os.environ["DUMP_GE_GRAPH"] == "2"
            raise KeyError

    overwritten = pytest.warns(OverwrittenWarning, match="DUMP_GRAPH_PATH was '/mine'")
    with overwritten, pytest.raises(KeyError):
        fail()
    assert "DUMP_GE_GRAPH" not in os.environ
    assert os.environ["DUMP_GRAPH_PATH"] == "/mine"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with presets.applied({"DUMP_GRAPH_PATH": "/mine"}):
            pass


def test_exception_dump_with_a_path():
    """The path goes through the environment."""
    step = presets.exception_dump(2, "/x")
    assert (dict(step.environment), step.directories) == ({"ASCEND_WORK_PATH": "/x"}, ("/x",))


def test_presets_are_the_tasks_of_the_builder():
    """The same arguments, documentation, options, files and environment under the same name."""
    for name in ("data_dump", "exception_dump", "fusion_off", "graph_dump", "overflow_detection"):
        preset, task = getattr(presets, name), getattr(NpuConfigBuilder(), name)
        parameters = list(inspect.signature(task).parameters.values())
        assert list(inspect.signature(preset).parameters.values()) == parameters
        assert preset.__doc__ == task.__doc__
        argument = 2 if name == "exception_dump" else "/p"
        made, builder = preset(argument), task(argument)
        assert made.options == builder.build().options
        assert made.config.side_files == builder.side_files
        assert made.environment == builder.environment


def test_a_builder_keeps_the_environment_of_its_tasks():
    """Through its tasks, from a preset, and from another builder."""
    expected = {
        "DUMP_GE_GRAPH": "1",
        "DUMP_GRAPH_LEVEL": "2",
        "DUMP_GRAPH_PATH": "/g",
        "ASCEND_WORK_PATH": "/x",
    }
    builder = NpuConfigBuilder().graph_dump("/g", 1, 2).exception_dump(path="/x")
    assert builder.environment == expected
    step = presets.graph_dump("/g", 1, 2) | presets.exception_dump(path="/x")
    assert step.apply_to(NpuConfigBuilder()).environment == expected
    assert NpuConfigBuilder().update(builder).environment == expected
    assert step.directories == ("/g", "/x")


def test_importing_does_nothing():
    """No environment, no file, no random state, no TensorFlow."""
    code = (
        "import os, random, sys; e = dict(os.environ); f = os.listdir('.'); random.seed(1);"
        "s = random.getstate(); import npu_config.presets;"
        "assert e == dict(os.environ) and f == os.listdir('.') and s == random.getstate();"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
