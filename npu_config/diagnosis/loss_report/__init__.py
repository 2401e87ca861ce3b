"""What a training run says about its loss scale: overflows, their rhythm, a collapse.

Reads training logs (text lines that name the scale and, mostly, the step) and
TensorFlow summaries (event files), makes one series of (step, scale) of them, and
judges it.  Source of the advice: docs/en/tfadapter_1/migration/performance_tuning/
mixed_precision_training.md, faq/npu_loss_scale_optimizer_faq.md,
others/overflow_data_collect.md.
"""

import enum
import os
from typing import Iterable, Iterator, List, NamedTuple, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Report, Severity, declare
from npu_config.core.message import phrase
from npu_config.diagnosis.loss_report._read import (
    Series,
    find_files,
    lost_loss,
    read_series,
    training_record_unreadable,
)
from npu_config.text.source import PathLike

__all__ = [
    "Decrease",
    "LossScaleReport",
    "Pattern",
    "training_record_unreadable",
    "loss_scale_report",
]


@declare(
    "NPU280",
    Severity.WARNING,
    facts=("overflow-mode-products", "loss-scale-control-deps"),
    source=(
        "docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md",
        "docs/en/tfadapter_1/migration/others/overflow_data_collect.md",
    ),
)
def loss_scale_collapsed() -> None:
    """The loss scale fell to 1 and stays there.

    Steps overflow, whatever the scale: the scale cannot fall below 1, the updates of these
    steps are skipped, and where it is every step the network no longer trains. The cause is an
    operator that overflows in the forward pass or by itself, not the size of the scaled
    gradients.  A scale that falls to 1 again and again and rises in between is NPU281.

    Wrong: to raise `init_loss_scale`, or to train on.

    Right: collect overflow data (`overflow_detection`), put the operator that overflows
    into the block list (`modify_mixlist`), and check the set-up of the loss-scale manager.
    """


@declare(
    "NPU281",
    Severity.INFO,
    source=("docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md",),
)
def loss_scale_overflows() -> None:
    """The loss scale moves because steps overflow.

    A dynamic loss scale is expected to overflow while it looks for its level and now and
    then when it probes a higher one. Overflows that come more often than the scale grows
    pull it down: an operator overflows by itself.

    Wrong: a scale that keeps falling is left alone.

    Right: set `init_loss_scale` to the level that was found; for a falling scale collect
    overflow data.
    """


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


# The search for the first level goes on while decreases follow one another within this
# many values: a manager lowers the scale every second overflow by default.
_SEARCH_GAP = 3
_FLOOR = 1.0
_FEWEST = 3
"""Decreases of which it can be said that the scale keeps falling."""


def judge_series(paths: Tuple[str, ...], series: Series) -> LossScaleReport:
    """Make the report of a series."""
    counted = not series.scales
    points = list(enumerate(series.uncounted)) if counted else sorted(series.scales.items())
    values = [value for _, value in points]
    decreases, increases, first_increase = [], 0, None
    for (_, before), (step, after) in zip(points, points[1:]):
        if after < before:
            decreases.append(Decrease(step, before, after))
        elif after > before:
            increases += 1
            first_increase = step if first_increase is None else first_increase
    interval = _interval(points)
    search = _search(points, decreases, first_increase, interval)
    settled = not decreases or points[-1][0] - decreases[-1].step > _SEARCH_GAP * interval
    collapsed_at = _collapse(points)
    gaps = sorted(
        later.step - earlier.step
        for earlier, later in zip(decreases[search:], decreases[search + 1 :])
    )
    rhythm = None if not gaps else (gaps[(len(gaps) - 1) // 2] + gaps[len(gaps) // 2]) / 2.0
    overflows = None
    if series.says_overflow:
        overflows = len(series.overflow_steps) or series.flags
    report = LossScaleReport(
        paths=paths,
        samples=len(points),
        first_step=points[0][0],
        last_step=points[-1][0],
        counted=counted,
        first=values[0],
        last=values[-1],
        lowest=min(values),
        highest=max(values),
        increases=increases,
        decreases=tuple(decreases),
        overflows=overflows,
        search=search,
        rhythm=rhythm,
        pattern=_pattern(decreases, increases, search, settled, collapsed_at),
        collapsed_at=collapsed_at,
        nan_losses=len(series.lost),
        diagnostics=Report(),
    )
    found = [*_findings(report, _since(series, collapsed_at)), *lost_loss(series, paths)]
    return attr.evolve(report, diagnostics=Report(found))


def _since(series: Series, step: Optional[int]) -> Tuple[int, int]:
    """How many steps from one on say that they overflowed, and that they did not."""
    if step is None:
        return 0, 0
    known = series.overflow_steps, series.fine_steps.keys() - series.overflow_steps.keys()
    over, fine = (sum(1 for each in steps if each >= step) for steps in known)
    return over, fine


def _interval(points: List[Tuple[int, float]]) -> int:
    """The usual number of steps between two values."""
    gaps = sorted(later - earlier for (earlier, _), (later, _) in zip(points, points[1:]))
    return gaps[len(gaps) // 2] if gaps else 1


def _search(
    points: List[Tuple[int, float]],
    decreases: List[Decrease],
    first_increase: Optional[int],
    interval: int,
) -> int:
    """How many of the decreases belong to the search for the first level."""
    reached, count = points[0][0], 0
    for fall in decreases:
        if first_increase is not None and fall.step > first_increase:
            break
        if fall.step - reached > _SEARCH_GAP * interval:
            break
        reached, count = fall.step, count + 1
    return count


def _collapse(points: List[Tuple[int, float]]) -> Optional[int]:
    """The step from which on the scale is at its floor, None when it is not there for good.

    A scale that was as long at its floor before, and rose again, may do so once more.
    """
    stays: List[List[int]] = []
    before = 0.0
    for step, value in points:
        if value <= _FLOOR and before > _FLOOR:
            stays.append([])
        if value <= _FLOOR and stays:
            stays[-1].append(step)
        before = value
    if before > _FLOOR or not stays:
        return None  # it rose, or was never higher: none is used
    *earlier, last = stays
    return None if any(len(last) <= 2 * len(stay) for stay in earlier) else last[0]


def _pattern(
    decreases: List[Decrease],
    increases: int,
    search: int,
    settled: bool,
    collapsed_at: Optional[int],
) -> Pattern:
    later = len(decreases) - search
    if collapsed_at is not None:
        return Pattern.COLLAPSED
    if not decreases:
        return Pattern.STEADY if increases else Pattern.FIXED
    if later == 0:
        falls = not settled and not increases and search >= _FEWEST
        return Pattern.FALLING if falls else Pattern.SETTLED
    return Pattern.PROBING if later <= increases + 1 else Pattern.FALLING


def _findings(report: LossScaleReport, since: Tuple[int, int]) -> Iterator[Diagnostic]:
    """What follows; ``since`` counts the steps that overflowed since the collapse, or did not."""
    place = Place(report.paths[0] if len(report.paths) == 1 else None)
    unit = "value" if report.counted else "step"
    if report.pattern is Pattern.COLLAPSED:
        yield loss_scale_collapsed.diagnostic(
            phrase(
                "the loss scale fell from {:g} to 1 and is 1 from {} {} on: {}",
                report.highest,
                unit,
                report.collapsed_at,
                _since_words(*since),
            ),
            place,
            help=_REMEDY,
        )
    elif report.pattern is Pattern.FALLING:
        yield loss_scale_overflows.diagnostic(
            phrase(
                "the loss scale keeps falling, from {:g} to {:g} in {} decreases against {} "
                "increases{}",
                report.highest,
                report.last,
                len(report.decreases),
                report.increases,
                _rhythm(report, unit),
            ),
            place,
            help="collect overflow data (overflow_detection) to find the operator that "
            "overflows, and put its type into the block list of modify_mixlist",
            severity=Severity.WARNING,
        )
    elif report.pattern in (Pattern.SETTLED, Pattern.PROBING) and report.search:
        level = report.decreases[report.search - 1].after
        yield loss_scale_overflows.diagnostic(
            phrase(
                "the loss scale took {} decrease to find its level {:g}; the update of that step "
                "was skipped"
                if report.search == 1
                else "the loss scale took {} decreases to find its level {:g}; the updates of "
                "those steps were skipped",
                report.search,
                level,
            ),
            place,
            help=phrase("start with init_loss_scale={:g}", level),
        )
    floored = sum(1 for each in report.decreases if each.after <= _FLOOR)
    if report.pattern is Pattern.PROBING and floored > 1:
        yield loss_scale_overflows.diagnostic(
            phrase(
                "the loss scale falls to 1 again and again (falls: {}, increases in between: {}): "
                "steps overflow without any scale",
                floored,
                report.increases,
            ),
            place,
            help=_REMEDY,
            severity=Severity.WARNING,
        )
    elif report.pattern is Pattern.PROBING:
        yield loss_scale_overflows.diagnostic(
            phrase(
                "the loss scale probes its limit: {} increases and {} decreases{}; that is how a "
                "dynamic scale works",
                report.increases,
                len(report.decreases) - report.search,
                _rhythm(report, unit),
            ),
            place,
        )
    if report.pattern is Pattern.FIXED and report.overflows:
        yield loss_scale_overflows.diagnostic(
            phrase(
                "{} step overflows with a fixed loss scale of {:g}: its update is lost"
                if report.overflows == 1
                else "{} steps overflow with a fixed loss scale of {:g}: their updates are lost",
                report.overflows,
                report.last,
            ),
            place,
            help="use ExponentialUpdateLossScaleManager, or a smaller fixed scale",
            severity=Severity.WARNING,
        )


_REMEDY = (
    "collect overflow data (overflow_detection, dump_debug_mode all) and put the "
    "operator that overflows into the block list of modify_mixlist; check that "
    "NPULossScaleOptimizer has is_distributed=True exactly when training is "
    "distributed, that the manager is not built inside tf.control_dependencies, and "
    "that on atlas_training (saturation mode) the NPU's own loss scaling is used"
)


def _since_words(over: int, fine: int) -> str:
    """What the steps since the collapse say of themselves."""
    if fine:
        return phrase(
            "of the steps since that say so, {:,} overflowed, whose updates are skipped, and {:,} "
            "did not",
            over,
            fine,
        )
    return (
        "every step overflows and every update is skipped"
        if over
        else "steps overflow whatever the scale is, and their updates are skipped"
    )


def _rhythm(report: LossScaleReport, unit: str) -> str:
    return "" if report.rhythm is None else phrase(", one every {:g} {}s", report.rhythm, unit)


def loss_scale_report(
    paths: Union[PathLike, Iterable[PathLike]], tag: Optional[str] = None
) -> LossScaleReport:
    """Read logs or summaries of one run and judge its loss scale.

    Args:
        paths: a text log, an event file, a directory with event files, or several.
        tag: the summary that holds the scale; None: the one named like a loss scale.

    Raises:
        NpuConfigError: a file cannot be read, or no loss scale is found.
    """
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    files = [name for path in given for name in find_files(os.fspath(path))]
    return judge_series(
        tuple(files), read_series(files, tag, os.fspath(given[0]) if given else None)
    )
