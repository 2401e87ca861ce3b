"""NPURunConfig: its arguments, what it cannot carry, and what the real one writes."""

import json
from pathlib import Path

import pytest

from npu_config.catalogue import OPTIONS
from npu_config.config import NpuConfig
from npu_config.core.diagnostics import NpuConfigError
from npu_config.core.target import Target
from npu_config.rules.value import from_validated
from npu_config.writers import render
from npu_config.writers.run_config import to_run_config_kwargs
from tests.writers.run_config_arguments import options_of

PARITY = Path(__file__).parent.parent / "data" / "tf1" / "session_config_parity.jsonl"


def plain(value):
    """An argument of a recorded call as a plain value; a value of numpy's as Python's."""
    if not isinstance(value, dict):
        return value
    if "__bytes__" in value:
        return value["__bytes__"].encode("latin-1")
    if "__np__" in value:
        return value["v"]
    return {name: plain(item) for name, item in value.items() if name != "__class__"}


def recorded():
    """Calls of NPURunConfig with one argument (or one nested one) that were accepted."""
    for line in PARITY.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["id"].startswith("rc/valid/") and "set" in entry["result"]:
            yield entry["id"], plain(entry["input"]["kwargs"]), entry["result"]["set"]


RECORDED = list(recorded())


@pytest.mark.parametrize(
    ("arguments", "written"), [r[1:] for r in RECORDED], ids=[r[0] for r in RECORDED]
)
def test_arguments_set_what_the_vendor_writes(arguments, written):
    """Each option that the recorded front end wrote is among those that the arguments mean."""
    options = options_of(arguments)
    for name, content in written.items():
        (value,) = content.values()
        if name not in options:
            option = OPTIONS[name]
            assert value in (option.run_config_default, option.default, "")
            continue
        given = options[name]
        assert value == (str(given) if isinstance(value, str) else given)


def test_there_are_recorded_calls():
    """The data is there."""
    assert len(RECORDED) > 80


def test_nested_arguments():
    """Options go where NPURunConfig takes them."""
    config = NpuConfig.from_dict(
        {
            "enable_dump": True,
            "dump_path": "/x",
            "dump_step": [1, 2],
            "graph_slice": "auto",
            "hccl_timeout": 1800,
            "insert_op_file": "aipp.cfg",
        }
    )
    assert to_run_config_kwargs(config) == {
        "experimental_config": {"graph_memory_optimize_config": {"graph_slice": "auto"}},
        "dump_config": {"enable_dump": True, "dump_path": "/x", "dump_step": "1|2"},
        "hccl_timeout": 1800,
        "insert_op_file": b"aipp.cfg",
    }


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [("r1.10.0", True), ("v0.0.9", True), ("r1.13.0", "true"), (None, "true")],
)
def test_the_type_of_the_version(adapter, expected):
    """An argument has the type that NPURunConfig of the target's adapter passes on."""
    config = NpuConfig.from_dict({"jit_compile": "true"}, target=Target(adapter=adapter))
    assert to_run_config_kwargs(config) == {"jit_compile": expected}
    assert "jit_compile={!r}".format(expected).replace("'", '"') in render(config, "run-config")


def test_arguments_that_went():
    """NPURunConfig of older adapters takes options that the newest no longer knows."""
    target = Target(adapter="r1.3.0")
    old = NpuConfig.from_dict({"mstune_mode": "1", "auto_tune_mode": "RL"}, target=target)
    assert to_run_config_kwargs(old) == {"mstune_mode": "1", "auto_tune_mode": "RL"}
    older = NpuConfig.from_dict({"fp_point": "x"}, target=Target(adapter="r1.1.1"))
    with pytest.raises(NpuConfigError, match='"fp_point" is lost'):
        to_run_config_kwargs(older)


def test_dynamic_input_is_completed():
    """DynamicInputConfig passes its four fields on together or not at all."""
    config = NpuConfig.from_dict(
        {
            "graph_run_mode": 0,
            "input_shape": {"data": [-1, 3]},
            "dynamic_dims": [[1], [2]],
            "dynamic_node_type": 1,
        }
    )
    assert to_run_config_kwargs(config)["dynamic_input_config"] == {
        "input_shape": "data:-1,3",
        "dynamic_dims": "1;2",
        "dynamic_node_type": 1,
        "compile_hybrid_mode": 0,
    }


@pytest.mark.parametrize(
    ("options", "lost"),
    [
        ({"use_off_line": False}, ["use_off_line"]),
        ({"use_off_line": True}, []),
        ({"work_path": "./"}, ["work_path"]),
        ({"work_path": "./", "aoe_mode": "2"}, []),
        ({"profiling_options": "{}"}, ["profiling_options"]),
        ({"profiling_options": "{}", "profiling_mode": True}, []),
        ({"compile_hybrid_mode": 1, "graph_run_mode": 0}, ["compile_hybrid_mode"]),
        ({"compress_weight_conf": "x"}, ["compress_weight_conf"]),
        ({"lower_functional_ops": True}, ["lower_functional_ops"]),
        ({"graph_exec_timeout": 5, "job": "x"}, ["graph_exec_timeout", "job"]),
        ({"min_group_size": True}, []),
        ({"dump_path": "/a\udcff", "insert_op_file": "/a\udcff"}, ["dump_path"]),
        ({"dump_layer": "a\udcff"}, ["dump_layer"]),
    ],
)
def test_what_is_lost_is_refused(options, lost):
    """Each option that would not arrive is an error of its own."""
    values = {name: OPTIONS[name].kind.parse(value) for name, value in options.items()}
    config = from_validated(NpuConfig, values, Target())
    try:
        to_run_config_kwargs(config)
        found = []
    except NpuConfigError as error:
        found = [d.option for d in error.diagnostics]
        assert {d.rule for d in error.diagnostics} == {"NPU791"}
    assert found == lost


def test_code():
    """A call, its imports, and the default that differs."""
    config = NpuConfig.from_dict({"graph_slice": "auto", "hccl_timeout": 1800})
    assert (
        render(config, "run-config")
        == """\
from npu_bridge.estimator.npu.npu_config import ExperimentalConfig
from npu_bridge.estimator.npu.npu_config import GraphMemoryOptimizeConfig
from npu_bridge.estimator.npu.npu_config import NPURunConfig

# NPURunConfig sets enable_data_pre_proc=True unless given (a session: False).
run_config = NPURunConfig(
    experimental_config=ExperimentalConfig(
        graph_memory_optimize_config=GraphMemoryOptimizeConfig(
            graph_slice="auto",
        ),
    ),
    hccl_timeout=1800,
)
"""
    )


def test_code_of_nothing():
    """An empty call."""
    assert render(NpuConfig.from_dict({}), "run-config").endswith("run_config = NPURunConfig()\n")
