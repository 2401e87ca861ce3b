"""Plans of training in loops: consistent, or refused with the numbers that would fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.core.diagnostics import NpuConfigError
from npu_config.tf1.plan import plan_loops


def test_a_consistent_plan():
    """Steps and intervals that fit give the number of runs and the arguments of NPURunConfig."""
    plan = plan_loops(1000, 10, checkpoint_every=100, summary_every=0, log_every=50)
    assert (plan.runs, plan.last_loop) == (100, 10)
    assert plan.to_run_config_kwargs() == {
        "iterations_per_loop": 10,
        "save_checkpoints_steps": 100,
        "save_summary_steps": 0,
        "log_step_count_steps": 50,
    }


def test_every_misfit_is_named():
    """Total, checkpoints, summaries and log are each judged, with the nearest that fit."""
    with pytest.raises(NpuConfigError) as caught:
        plan_loops(1005, 10, checkpoint_every=25, summary_every=7, log_every=100)
    text = str(caught.value)
    assert len(caught.value.diagnostics) == 3
    assert "train 1000 or 1010 steps" in text
    assert "5 or 15 iterations per loop" in text
    assert "use 20 or 30" in text
    assert "use 10" in text


def test_a_short_last_loop():
    """Asked for, the last loop may be shorter."""
    plan = plan_loops(10, 4, short_last_loop=True)
    assert (plan.runs, plan.last_loop) == (3, 2)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"steps": 0}, ValueError),
        ({"steps": "10"}, TypeError),
        ({"iterations_per_loop": True}, TypeError),
        ({"iterations_per_loop": 0}, ValueError),
        ({"checkpoint_every": -5}, ValueError),
        ({"log_every": 0}, ValueError),
    ],
)
def test_numbers(arguments, error):
    """What is no positive int is refused by name."""
    with pytest.raises(error, match=next(iter(arguments))):
        plan_loops(**{"steps": 100, "iterations_per_loop": 10, **arguments})


@given(st.integers(1, 10**15), st.integers(1, 10**6))
def test_plans_cover_all_steps(steps, count):
    """The loops of a plan train exactly the steps asked for, and suggestions are divisors."""
    plan = plan_loops(steps, count, short_last_loop=True)
    assert steps == (plan.runs - 1) * count + plan.last_loop
    try:
        plan_loops(steps, count)
        assert steps % count == 0
    except NpuConfigError as error:
        assert steps % count != 0
        words = str(error).split("use ")[1].split(" iterations")[0]
        assert all(steps % int(word) == 0 for word in words.split(" or "))
