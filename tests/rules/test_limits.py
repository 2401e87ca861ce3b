"""Both sides of each limit of a rule: what is still right, and the first that is wrong."""

import pytest

from npu_config import check
from npu_config.core.diagnostics import Severity
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.core.target import Target
from npu_config.core.versions import INDEX
from npu_config.rules.case import judge
from npu_config.rules.compatibility import (
    NOT_READ,
    OTHER_FIELD,
    READ,
    VALUE_NOT_KNOWN,
    uses,
    verdict,
)

ONE_STREAM = {"op_compiler_cache_mode": "disable", "aicore_num": "4|8"}
INFERENCE = {"graph_run_mode": 0, "dynamic_node_type": 1}
CLUSTER = {"RANK_SIZE": "8"}
"""The environment of a job on several devices."""


def profiles(count):
    """So many profiles of one input."""
    sizes = ";".join(map(str, range(1, count + 1)))
    return {**INFERENCE, "input_shape": "data:-1", "dynamic_dims": sizes}


def named(*names):
    """Inputs in this order."""
    shapes = ";".join("{}:-1".format(name) for name in names)
    return {**INFERENCE, "input_shape": shapes, "dynamic_dims": "1,1;2,2"}


def rules_of(options, environ=None, **target):
    """The rules that a configuration breaks, with the severity of each."""
    settings = Settings({k: Setting(v) for k, v in options.items()}, SourceKind.FILE)
    made = Target(**target) if target else None
    return {each.rule: each.severity for each in judge(settings, made, environ=environ)}


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        ("NPU503", profiles(100), profiles(101)),
        ("NPU504", named("a", "b"), named("b", "a")),
        ("NPU504", named("ab", "ac"), named("b", "ab")),
        (
            "NPU553",
            {"static_memory_policy": 4, "graph_max_parallel_model_num": 1},
            {"static_memory_policy": 4, "graph_max_parallel_model_num": 2},
        ),
        (
            "NPU553",
            {"static_memory_policy": 3, "graph_max_parallel_model_num": 2},
            {"static_memory_policy": 2, "graph_max_parallel_model_num": 2},
        ),
        (
            "NPU566",
            {**ONE_STREAM, "auto_multistream_parallel_mode": "LoadBalance:8"},
            {**ONE_STREAM, "auto_multistream_parallel_mode": "LoadBalance:9"},
        ),
        ("NPU605", {"op_execute_timeout": 1}, {"op_execute_timeout": 0}),
        ("NPU605", {"stream_sync_timeout": -1}, {"stream_sync_timeout": 0}),
        ("NPU605", {"op_execute_timeout": 2}, {"op_execute_timeout": -1}),
    ],
)
def test_both_sides_of_a_limit(rule, right, wrong):
    """The limit itself is right, the next value breaks the rule."""
    assert rule not in rules_of(right)
    assert rule in rules_of(wrong)


@pytest.mark.parametrize(
    ("limit", "seconds", "environ", "severity"),
    [
        (60_001, 60, CLUSTER, None),
        (60_000, 60, CLUSTER, Severity.ERROR),
        (59_999, 60, {}, Severity.WARNING),
        (1, 60, CLUSTER, Severity.ERROR),
        (-1, 60, CLUSTER, None),
        (1_836_001, None, CLUSTER, None),
        (1_836_000, None, CLUSTER, Severity.ERROR),
        (1_836_000, None, {}, None),
        (10**9, 0, CLUSTER, Severity.ERROR),
    ],
)
def test_milliseconds_against_seconds(limit, seconds, environ, severity):
    """Synchronisation has to last longer than a collective operation, by a millisecond."""
    options = {"stream_sync_timeout": limit}
    if seconds is not None:
        options["hccl_timeout"] = seconds
    assert severity == rules_of(options, environ).get("NPU603")


def test_no_more_than_a_hundred_suggestions():
    """The closest name is looked for a hundred times, then a name is only said to be none."""
    letters = "abdefghjklmnopqtuvwxyz"
    names = ["precisi{}on_mode".format(a + b) for a in letters for b in "jqwxyz"][:102]
    settings = Settings({name: Setting("x") for name in names}, SourceKind.FILE)
    found = [each.meant for each in judge(settings) if each.rule == "NPU101"]
    assert (len(found), found[99:]) == (102, ["precision_mode", None, None])


@pytest.mark.parametrize(
    ("other", "renames"), [("iterations_per_loop", True), ("precision_mode", False)]
)
def test_no_option_is_named_twice(tmp_path, other, renames):
    """A slip is not renamed to an option that is set beside it."""
    file = tmp_path / "npu.yaml"
    value = {"iterations_per_loop": "1"}.get(other, "allow_fp32_to_fp16")
    file.write_text("precison_mode: allow_fp32_to_fp16\n{}: {}\n".format(other, value))
    (found,) = [each for each in check(file) if each.rule == "NPU101"]
    assert (found.meant, found.fix is not None) == ("precision_mode", renames)


@pytest.mark.parametrize(
    ("name", "setting", "adapter", "expected"),
    [
        ("no_option", Setting(1), "r1.1.1", NOT_READ),
        ("min_group_size", Setting(1), "r1.15.0", NOT_READ),
        ("deterministic", Setting(1), "r1.1.1", NOT_READ),
        ("deterministic", Setting(1), "r1.15.0", READ),
        ("deterministic", Setting(1, "i"), "r1.15.0", READ),
        ("deterministic", Setting(1, "s"), "r1.15.0", OTHER_FIELD),
        ("deterministic", Setting(7), "r1.15.0", VALUE_NOT_KNOWN),
        ("deterministic", Setting(UNKNOWN), "r1.15.0", READ),
        ("jit_compile", Setting("auto", "s"), "r1.11.0", OTHER_FIELD),
        ("jit_compile", Setting("auto", "s"), "r1.13.0", READ),
    ],
)
def test_what_an_adapter_makes_of_a_setting(name, setting, adapter, expected):
    """Whether it reads the name, in this field, with this value."""
    assert expected == verdict(name, setting, INDEX[adapter])


def test_which_uses_count():
    """What no adapter has ever read keeps nothing from running; an unknown name does."""
    names = ("min_group_size", "no_option", "deterministic", 7)
    settings = Settings({name: Setting(1) for name in names}, SourceKind.FILE)
    counts = {each.option: each.counts for each in uses([settings], [INDEX["r1.15.0"]])}
    assert counts == {"min_group_size": False, "no_option": True, "deterministic": True}
