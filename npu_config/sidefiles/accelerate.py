"""The environment of ``experimental_accelerate_train_mode``: steps, or losses, of the training.

The adapter reads it before the first run and after every one; there is no file.

Source: docs/en/tfadapter_1/apiref/session_config/experiment_options.md,
docs/en/tfa_env/TOTAL_STEP.md, docs/en/tfa_env/TARGET_LOSS.md.
"""

import math
import re
from typing import Any, Dict, Iterator, Mapping, Union

import attr

from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.sidefiles.format import Parsed, refuse
from npu_config.text.words import shown

MAX_STEP = 2**32 - 1
TRIGGERS = ("step", "loss")
_STEP = re.compile(r"[0-9]{1,18}\Z")
_LOSS = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")

ENVIRONMENT = declare(
    "NPU764",
    "accelerate-environment",
    Severity.ERROR,
    """
    The environment of the accelerated training is not set, or not a number.

    With the trigger `step` the adapter reads TOTAL_STEP and STEP_NOW, unsigned 32-bit
    integers; with `loss` TARGET_LOSS and LOSS_NOW, floats.  They have to be there before the
    first run, which fails with InvalidArgument otherwise, and STEP_NOW or LOSS_NOW has to be
    brought up to date after every run.

    Wrong with `fast|step|0.9`: `TOTAL_STEP=1e5`, STEP_NOW not set

    Right: `TOTAL_STEP=100000`, `STEP_NOW=0`
    """,
    options=("experimental_accelerate_train_mode",),
    facts=("accelerate-step-env", "accelerate-loss-env"),
    source=(
        "docs/en/tfa_env/TOTAL_STEP.md",
        "docs/en/tfa_env/STEP_NOW.md",
        "docs/en/tfa_env/TARGET_LOSS.md",
        "docs/en/tfa_env/LOSS_NOW.md",
    ),
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Steps:
    """The environment of the trigger ``step``.

    Args:
        total: steps of the whole training.
        now: steps done.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    total: int
    now: int = 0

    def __attrs_post_init__(self) -> None:
        refuse(_step_faults({"TOTAL_STEP": self.total, "STEP_NOW": self.now}))

    def environment(self) -> Dict[str, str]:
        """The variables, to be put into ``os.environ``."""
        return {"TOTAL_STEP": str(self.total), "STEP_NOW": str(self.now)}


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Losses:
    """The environment of the trigger ``loss``.

    Args:
        target: the loss to be reached.
        now: the loss of the last step; 0: not known yet, never triggers.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    target: float
    now: float = 0.0

    def __attrs_post_init__(self) -> None:
        refuse(_loss_faults({"TARGET_LOSS": self.target, "LOSS_NOW": self.now}))

    def environment(self) -> Dict[str, str]:
        """The variables, to be put into ``os.environ``."""
        return {"TARGET_LOSS": repr(float(self.target)), "LOSS_NOW": repr(float(self.now))}


def _step_faults(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    for name, value in values.items():
        if type(value) is not int or not 0 <= value <= MAX_STEP:
            message = "{} is {}; legal: an integer from 0 to {}"
            yield ENVIRONMENT.diagnostic(phrase(message, name, shown(value), MAX_STEP))


def _loss_faults(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    for name, value in values.items():
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            message = "{} is {}; legal: a number such as 0.1"
            yield ENVIRONMENT.diagnostic(phrase(message, name, shown(value)))


def read(environ: Mapping[str, str], trigger: str) -> Parsed[Union[Steps, Losses]]:
    """The steps or losses of an environment, with every fault.

    Args:
        environ: variables, e.g. ``os.environ``.
        trigger: ``"step"`` or ``"loss"``, the second field of the option.

    Raises:
        ValueError: for another trigger.
    """
    if trigger not in TRIGGERS:
        raise ValueError(phrase("unknown trigger {}; legal: step, loss", shown(trigger)))
    step = trigger == "step"
    names = ("TOTAL_STEP", "STEP_NOW") if step else ("TARGET_LOSS", "LOSS_NOW")
    found = []
    values: Dict[str, Any] = {}
    for name in names:
        text = environ.get(name)
        if text is None:
            message = "{} is not set, which the trigger {} needs before the first run"
            found.append(ENVIRONMENT.diagnostic(phrase(message, name, trigger)))
            continue
        values[name] = _value(text, step)
    found.extend(_step_faults(values) if step else _loss_faults(values))
    if not Report(found).ok:
        return Parsed(None, Report(found))
    numbers = [values[name] for name in names]
    return Parsed(Steps(*numbers) if step else Losses(*numbers), Report(found))


def _value(text: str, step: bool) -> Union[int, float, str]:
    """The number of a variable; text that is none stays text."""
    if step:
        return int(text) if _STEP.match(text) else text
    return float(text) if _LOSS.match(text) else text


__all__ = ["Losses", "Steps", "TRIGGERS", "read"]
