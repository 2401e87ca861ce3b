"""The environment of the accelerated training."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_config.core.diagnostics import NpuConfigError
from npu_config.sidefiles import accelerate


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_steps(total, now):
    """Steps are written to the environment and read back."""
    steps = accelerate.Steps(total, now)
    assert steps == accelerate.read(steps.environment(), "step").model


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False),
)
def test_losses(target, now):
    """Losses are written to the environment and read back."""
    losses = accelerate.Losses(target, now)
    assert losses == accelerate.read(losses.environment(), "loss").model


@given(st.dictionaries(st.sampled_from(["TOTAL_STEP", "STEP_NOW", "LOSS_NOW"]), st.text()))
def test_any_environment(environ):
    """No environment raises."""
    for trigger in accelerate.TRIGGERS:
        accelerate.read(environ, trigger)


@pytest.mark.parametrize(
    ("trigger", "environ", "expected"),
    [
        ("step", {"TOTAL_STEP": "1e5"},
         ["STEP_NOW is not set, which the trigger step needs before the first run",
          'TOTAL_STEP is "1e5"; legal: an integer from 0 to 4294967295']),
        ("step", {"TOTAL_STEP": "4294967296", "STEP_NOW": "-1"},
         ['STEP_NOW is "-1"; legal: an integer from 0 to 4294967295',
          'TOTAL_STEP is "4294967296"; legal: an integer from 0 to 4294967295']),
        ("loss", {"TARGET_LOSS": "small"},
         ["LOSS_NOW is not set, which the trigger loss needs before the first run",
          'TARGET_LOSS is "small"; legal: a number such as 0.1']),
    ],
)  # fmt: skip
def test_faults(trigger, environ, expected):
    """What is missing and what is no number, at once."""
    parsed = accelerate.read(environ, trigger)
    assert parsed.model is None
    assert expected == [d.message for d in parsed.diagnostics]
    assert {d.rule for d in parsed.diagnostics} == {"NPU764"}


def test_arguments():
    """Wrong arguments raise with every fault; another trigger is a ValueError."""
    with pytest.raises(NpuConfigError) as raised:
        accelerate.Steps(-1, True)
    assert len(raised.value.diagnostics) == 2
    with pytest.raises(NpuConfigError):
        accelerate.Losses(float("nan"))
    with pytest.raises(ValueError, match="legal: step, loss"):
        accelerate.read({}, "time")
