"""Rules about what no config file holds: fields, a ConfigProto's surroundings, NPURunConfig."""

import pytest

from npu_config.core.diagnostics import Severity
from npu_config.rules.case import judge
from tests.rules.rule_cases_in_code import CASES, proto

WRONG = [(id, number) for id, (wrong, _) in CASES.items() for number in range(len(wrong))]
RIGHT = [(id, number) for id, (_, right) in CASES.items() for number in range(len(right))]


@pytest.mark.parametrize(("id", "number"), WRONG)
def test_wrong_settings_break_the_rule(id, number):
    """Each wrong case breaks its rule, and no other one beyond information."""
    settings, environ, *target = CASES[id][0][number]
    found = judge(settings, *target, environ=environ)
    assert [d.rule for d in found if d.rule == id or d.severity >= Severity.WARNING] == [id]


@pytest.mark.parametrize(("id", "number"), RIGHT)
def test_right_settings_keep_the_rule(id, number):
    """Each right case breaks no rule beyond information."""
    settings, environ, *target = CASES[id][1][number]
    found = judge(settings, *target, environ=environ)
    assert [str(d) for d in found if d.rule == id or d.severity >= Severity.WARNING] == []


def test_what_estimators_write_is_no_warning():
    """A ConfigProto as NPUEstimator writes it for NPURunConfig() has nothing to warn of."""
    written = {
        "all_tensor_not_empty": (False, "b"),
        "buffer_optimize": ("l2_optimize", "s"),
        "device_type": ("default_device_type", "s"),
        "dynamic_graph_execute_mode": ("dynamic_execute", "s"),
        "enable_compress_weight": (False, "b"),
        "enable_data_pre_proc": (True, "b"),
        "enable_dump": (False, "b"),
        "enable_dump_debug": (False, "b"),
        "enable_exception_dump": (2, "i"),
        "enable_reduce_precision": (False, "b"),
        "enable_small_channel": (0, "i"),
        "event_sync_timeout": (-1, "i"),
        "experimental_logical_device_cluster_deploy_mode": ("LB", "s"),
        "graph_run_mode": (1, "i"),
        "input_fusion_size": (131072, "i"),
        "iterations_per_loop": (1, "i"),
        "jit_compile": ("auto", "s"),
        "job": ("localhost", "s"),
        "min_group_size": (True, "b"),
        "mix_compile_mode": (False, "b"),
        "oo_level": ("O3", "s"),
        "shape_generalization_mode": ("STRICT", "s"),
        "stream_sync_timeout": (-1, "i"),
        "task_index": (0, "i"),
        "use_off_line": (True, "b"),
        "variable_placement": ("Device", "s"),
    }
    found = judge(proto(**written))
    assert [str(d) for d in found if d.severity >= Severity.WARNING] == []
