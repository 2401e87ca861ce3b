"""What a loss-scale report holds."""

import enum
from typing import NamedTuple, Optional, Tuple

import attr

from npu_config.core.diagnostics import Report


class Pattern(enum.Enum):
    """The kind of curve that a loss scale makes."""

    FIXED = "fixed"
    STEADY = "steady"
    SETTLED = "settled"
    PROBING = "probing"
    FALLING = "falling"
    COLLAPSED = "collapsed"


class Decrease(NamedTuple):
    """One fall of the scale, at the first step that shows it."""

    step: int
    before: float
    after: float


@attr.s(frozen=True, slots=True, auto_attribs=True)
class LossScaleReport:
    """The loss scale of a training run.

    Args:
        paths: what was read.
        samples: how many values of the scale there are.
        first_step: the first step with a value.
        last_step: the last one.
        counted: True when the input names no steps and values were counted instead.
        first: the first scale.
        last: the last scale.
        lowest: the smallest scale.
        highest: the largest scale.
        increases: how often it grew.
        decreases: its falls, in order; each stands for at least one overflow.
        overflows: steps that say themselves that they overflowed; None when none does.
        search: how many of the decreases belong to the search at the beginning.
        rhythm: the median number of steps between two later decreases; None for fewer
            than two.
        pattern: the kind of curve.
        collapsed_at: the step from which on it is 1, None when it is not.
        nan_losses: how often the loss is said to be not a number.
        diagnostics: what that means and what to do.
    """

    paths: Tuple[str, ...]
    samples: int
    first_step: int
    last_step: int
    counted: bool
    first: float
    last: float
    lowest: float
    highest: float
    increases: int
    decreases: Tuple[Decrease, ...]
    overflows: Optional[int]
    search: int
    rhythm: Optional[float]
    pattern: Pattern
    collapsed_at: Optional[int]
    nan_losses: int
    diagnostics: Report

    @property
    def least_overflows(self) -> int:
        """A lower bound for the number of overflows: what is said, or one per decrease."""
        return max(len(self.decreases), self.overflows or 0)
