"""What a training run says about its loss scale: overflows, their rhythm, a collapse.

Reads training logs (text lines that name the scale and, mostly, the step) and
TensorFlow summaries (event files), makes one series of (step, scale) of them, and
judges it.  Source of the advice: docs/en/tfadapter_1/migration/performance_tuning/
mixed_precision_training.md, faq/npu_loss_scale_optimizer_faq.md,
others/overflow_data_collect.md.
"""

import enum
import math
import os
import re
from io import BufferedReader
from typing import (
    BinaryIO,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import attr

from npu_config.core.diagnostics import (
    Diagnostic,
    NpuConfigError,
    Place,
    Report,
    Severity,
    declare,
)
from npu_config.core.message import phrase
from npu_config.core.paths import PathLike, is_directory, reading, walk
from npu_config.proto.event_files import EventFileError, masked_crc32c, read_events, scalar
from npu_config.text.source import guarded

__all__ = [
    "Decrease",
    "LossScaleReport",
    "Pattern",
    "loss_scale_report",
    "training_record_unreadable",
]


@declare(
    "NPU799",
    Severity.ERROR,
    source=("docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md",),
)
def training_record_unreadable() -> None:
    """A log, summary or dump of a training run cannot be used.

    The loss-scale report needs the scale per step: a text log that prints it, or an
    event file with a scalar summary of it. The tfdbg export needs the event files that
    tfdbg wrote.

    Wrong: a log that was written without printing the loss scale.

    Right: `tf.summary.scalar("loss_scale", manager.get_loss_scale())`, or a
    `LoggingTensorHook` that prints `loss_scale` and the global step.
    """


@declare(
    "NPU283",
    Severity.WARNING,
    source=("docs/en/tfadapter_1/migration/others/overflow_data_collect.md",),
    help="check the steps before the first NaN: the input, the learning rate, and the "
    "overflow data of the forward pass (overflow_detection)",
)
def loss_not_a_number() -> None:
    """A training log or summary says that the loss is NaN.

    Changing the loss scale does not help: the loss is multiplied by the scale only after the
    loss was computed, so an earlier value is NaN or overflows.  This is the input, a weight
    after an update that should have been skipped, a logarithm or a division, or an operator
    that overflows in the forward pass.

    Wrong: continue the training after `loss = nan, step = 1200`.

    Right: check the steps before the first NaN: the input, the learning rate, and the overflow
    data (`overflow_detection`).
    """


# All of these are applied to lines in lower case with single blanks, so that no two repetitions
# can share a piece of text: each pattern takes a time that grows with the line and no faster.
_NUMBER = r"[-+]?(?:\d{1,300}(?:\.\d{0,300})?(?:e[-+]?\d{1,4})?|\.\d{1,300}|inf|nan)"
_SCALE = re.compile(
    r"(?<![a-z0-9_])(?<!--)(?:(?:current|new|npu|the|dynamic)[ _])?loss[ _-]?scal(?:e|ing)"
    r"(?:[ _](?:value|factor))?(?::\d{1,9} ?(?=[=:]))?[\"']?[ _]?"
    r"(?:(?:is|was|now|set|reduced|decreased|increased|updated|changed) ?){0,4}"
    r"(?:from "
    + _NUMBER
    + r" ?)?(?:to ?)?(?:->|[=:>]{1,40})? ?(?:<[^>]{0,80}numpy=|tf\.tensor\()?"
    r"[\"'\[(]{0,3} ?(?P<value>"
    + _NUMBER
    + r")(?![\w.])(?:,? ?(?:reducing )?(?:to|->|=>) ?(?P<after>"
    + _NUMBER
    + r")(?![\w.]))?"
)
_STEP = re.compile(
    r"(?:step|iter(?:ation)?)(?P<plural>s?)(?![a-z/])(?::\d{1,9} ?(?==))?[\"']?"
    r" ?(?:is|no\.?)? ?[=:#\[(]{0,3} ?(?P<value>\d{1,18})(?!\d|\.?\d{0,9} ?(?:s|ms|sec)\b)"
)
_COUNTED = ("global_", "train_", "training_", "current_", "cur_", "global")
_NOT_COUNTED = ("of ", "total ", "max ", "skipped ", "nan ", "warmup ")
_FLAG = re.compile(
    r"(?P<name>(?:not?_)?overflow\w{0,40}(?: cond)?|\bfound_inf\w{0,40}|\bhas_(?:nan|inf)\w{0,40}"
    r"|\b(?:is_?|all_|overall_){0,3}finite\w{0,40}|skipped iterations)"
    r"(?::\d{1,9} ?(?=[=:]))?[\"']? ?(?:is ?[=:]{0,40}|[=:]{1,40}) ?[\"'\[]{0,3}"
    r"(?P<value>true|false|yes|no|\d{1,9}(?:\.\d{1,9})?)\b"
)
_SKIPPED = re.compile(
    r"(?<!no )\boverflow(?:s|ed)?\b.{0,80}?\b(?:detected|found|occurred|occurs|happened|skip\w*)"
    r"|\bskip(?:s|ped|ping)?\b[^.]{0,20}\b(?:step|update|gradients?|iteration)\b"
    r"|\boverflow (?:at|on|in) (?:step|iteration)\b"
)
_FLAG_WORDS = ("overflow", "found_inf", "has_nan", "has_inf", "finite", "skip")
_LOSS = re.compile(
    r"(?<![a-z0-9.-])(?:[a-z0-9_]{0,40}[_/])?loss(?![ _-]?scal)(?:_[a-z0-9]{1,20})?(?::\d{1,9})?"
    r"[\"']? ?(?:is|was)? ?(?:->|[=:>]{1,40})? ?[\"'\[(]{0,3} ?(?P<value>"
    + _NUMBER
    + r")(?!\w|\.\d)"
)
_NAN_LOSS = re.compile(r"(?<!no )\bnan loss\b|\bloss (?:is |became |went )?nan\b")
_LOSS_TAG = re.compile(r"(?:^|[/_ ])loss(?:es)?(?:_\d{1,9})?\Z", re.IGNORECASE)
_SCALE_TAG = re.compile(r"loss[ _-]?scal(?:e|ing)", re.IGNORECASE)
_FLAG_TAG = re.compile(
    r"overflow|found_inf|has_(?:nan|inf)|(?:^|[/_])(?:is|all|overall)\w{0,60}finite", re.IGNORECASE
)
_FINITE = re.compile(r"finite|not?_overflow|overflow_status_reduce_all", re.IGNORECASE)
"""In a name that says the opposite; the last one is the vendor's, true without an overflow."""
_TEXT_LIMIT = 4096


class Series:
    """(step, scale), overflow steps and losses as they are read.

    Attributes:
        scales: step to scale.
        uncounted: the scales of an input that names no steps.
        overflow_steps: the steps that say that they overflowed.
        fine_steps: those that say that they did not.
        flags: how often it is said that a step overflowed.
        says_overflow: whether anything says of a step that it did, or did not.
        lost: where the loss is not a number: steps, None where none is named.
    """

    def __init__(self) -> None:
        self.scales: Dict[int, float] = {}
        self.uncounted: List[float] = []
        self.overflow_steps: Dict[int, None] = {}
        self.fine_steps: Dict[int, None] = {}
        self.flags = 0
        self.says_overflow = False
        self.lost: List[Optional[int]] = []


def read_series(files: List[str], tag: Optional[str], root: Optional[str] = None) -> Series:
    """Read files of one run, in order; ``root`` is what they were looked for in.

    Raises:
        NpuConfigError: a file cannot be read, or no loss scale is found.
    """
    series = Series()
    faults: List[Diagnostic] = []
    for name in files:
        try:
            with open(name, "rb", opener=reading) as stream, guarded(name):
                try:
                    _read(name, stream, series, tag)
                except (EventFileError, _NoScaleError) as error:
                    faults.append(_fault(name, str(error)))
        except NpuConfigError as error:
            faults.extend(error.diagnostics)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            faults.append(_fault(name, phrase('cannot read "{}": {}', name, reason)))
    if not faults and not series.scales and not series.uncounted:
        faults.append(_fault(files[0] if files else root, _nothing(files, tag)))
        faults.extend(lost_loss(series, files))
    if faults:
        raise NpuConfigError(faults)
    return series


def find_files(path: str) -> List[str]:
    """The file itself, or the event files below a directory, and what cannot be listed there."""
    if not is_directory(path):
        return [path]
    refused: List[str] = []
    found = [
        os.path.join(directory, name)
        for directory, _, names in walk(path, refused)
        for name in names
        if ".tfevents." in name
    ]
    return sorted(found + refused)


class _NoScaleError(ValueError):
    """A file is readable but of no use; the text says why."""


def _fault(path: Optional[str], message: str) -> Diagnostic:
    return training_record_unreadable.diagnostic(
        message,
        Place(path),
        help="print the loss scale and the global step (LoggingTensorHook), or write "
        'tf.summary.scalar("loss_scale", ...), and run again',
    )


def lost_loss(series: Series, files: Sequence[str]) -> Iterator[Diagnostic]:
    """The finding about a loss that is not a number, where the input has one."""
    if not series.lost:
        return
    step = series.lost[0]
    times = len(series.lost)
    if step is None:
        words = phrase(
            "the loss is NaN" if times == 1 else "the loss is NaN (NaN losses: {:,})", times
        )
    else:
        words = phrase(
            "the loss is NaN in step {:,}"
            if times == 1
            else "the loss is NaN from step {:,} on (NaN losses: {:,})",
            *((step,) if times == 1 else (step, times)),
        )
    yield loss_not_a_number.diagnostic(words, Place(files[0] if len(files) == 1 else None))


def _nothing(files: List[str], tag: Optional[str]) -> str:
    if not files:
        return "no events.out.tfevents.* file below this directory"
    if tag is not None:
        return phrase('the input has no value of "{}"', tag)
    return (
        'the input has no loss scale: neither a line such as "loss_scale = 65536.0, step = '
        '100" nor a summary of that name'
    )


def _read(name: str, stream: BufferedReader, series: Series, tag: Optional[str]) -> None:
    head = stream.peek(_TEXT_LIMIT)[:_TEXT_LIMIT]
    if not head:
        raise _NoScaleError("the file is empty")
    framed = len(head) >= 12 and masked_crc32c(head[:8]).to_bytes(4, "little") == head[8:12]
    if framed or ".tfevents." in os.path.basename(name):
        _read_events(stream, series, tag)
    elif b"\x00" in head:
        raise _NoScaleError("neither a text log nor a TensorFlow event file")
    else:
        _read_log(stream, series)


def _read_events(stream: BufferedReader, series: Series, tag: Optional[str]) -> None:
    tags: Dict[str, List[Tuple[int, float]]] = {}
    for event in read_events(stream):
        for value in event.values:
            number = scalar(value)
            if number is None:
                continue
            if not math.isfinite(number):
                if math.isnan(number) and _LOSS_TAG.search(value.tag):
                    series.lost.append(event.step)
            elif value.tag == tag or (tag is None and _SCALE_TAG.search(value.tag)):
                points = tags.setdefault(value.tag, [])
                # After a restart from a checkpoint, the steps it repeats are void.
                while points and points[-1][0] >= event.step:
                    points.pop()
                points.append((event.step, number))
            elif _FLAG_TAG.search(value.tag):
                _flag(series, event.step, bool(number) != bool(_FINITE.search(value.tag)))
    if tags:
        longest: List[Tuple[int, float]] = max(tags.values(), key=len)
        series.scales.update(longest)


def _flag(series: Series, step: Optional[int], overflow: bool) -> None:
    series.says_overflow = True
    series.flags += overflow
    if step is not None:
        (series.overflow_steps if overflow else series.fine_steps)[step] = None


def _read_log(stream: BinaryIO, series: Series) -> None:
    offset, seen = 0, 0
    begun: List[int] = []  # the first two steps of a count
    step: Optional[int] = None
    for line in _lines(stream):
        named = _step_of(line)
        if named is not None:
            if named < seen and len(begun) > 1 and named > begun[1]:
                # After a restart from a checkpoint, the steps it repeats are void.
                while series.scales:
                    last, scale_of_last = series.scales.popitem()
                    if last < offset + named:
                        series.scales[last] = scale_of_last
                        break
            elif named < seen:
                # Steps counted anew per epoch: go on from where the last one ended.
                offset += seen
                begun = []
            if len(begun) < 2 and named not in begun:
                begun.append(named)
            seen = named
            step = offset + named
        if "nan" in line and _loss_is_lost(line):
            series.lost.append(step)
        if "scal" in line:
            scale = _SCALE.search(line)
            value = float(scale.group("after") or scale.group("value")) if scale else math.nan
            if math.isfinite(value):
                if step is None:
                    series.uncounted.append(value)
                else:
                    series.scales[step] = value
        if any(word in line for word in _FLAG_WORDS):
            _read_flag(line, step, series)


def _loss_is_lost(line: str) -> bool:
    """Whether a line says that the loss is not a number: ``loss = nan``, ``NaN loss during``."""
    return _NAN_LOSS.search(line) is not None or any(
        found.group("value") == "nan" for found in _LOSS.finditer(line)
    )


def _step_of(line: str) -> Optional[int]:
    """The step that a line names, but not "footstep 3", "save_steps=3" or "of steps: 3"."""
    if "step" in line or "iter" in line:
        for match in _STEP.finditer(line):
            before = line[: match.start()]
            if before[-1:].isalpha() or before[-1:] in ("_", "-"):
                single = not match.group("plural") or before.endswith("global_")
                counted = single and before.endswith(_COUNTED)
            else:
                counted = not before.endswith(_NOT_COUNTED)
            if counted:
                return int(match.group("value"))
    return None


def _read_flag(line: str, step: Optional[int], series: Series) -> None:
    flag = _FLAG.search(line)
    if flag:
        value = flag.group("value")
        truth = value not in ("false", "no") and (
            not value.replace(".", "").isdecimal() or float(value) != 0
        )
        _flag(series, step, truth != bool(_FINITE.search(flag.group("name"))))
    elif _SKIPPED.search(line):
        _flag(series, step, True)


def _lines(stream: BinaryIO) -> Iterator[str]:
    """The lines, in lower case; very long ones in pieces."""
    for line in iter(lambda: stream.readline(1 << 16), b""):
        yield " ".join(line.decode("utf-8", "replace").lower().split())


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

    Steps overflow even when the loss scale is 1, its smallest value.  The updates of these
    steps are skipped; if every step overflows, the network no longer trains.  The scaled
    gradients are not the cause: an operator overflows in the forward pass, or overflows
    whatever the scale is.  If the scale falls to 1 repeatedly and rises in between, NPU281 is
    reported instead.

    Wrong: raise `init_loss_scale`, or continue the training without a change.

    Right: collect overflow data (`overflow_detection`), put the operator that overflows
    into the block list (`modify_mixlist`), and check the set-up of the loss-scale manager.
    """


@declare(
    "NPU281",
    Severity.INFO,
    source=("docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md",),
)
def loss_scale_overflows() -> None:
    """The loss scale changes because steps overflow.

    With a dynamic loss scale, some overflows are normal: at the start, until a usable scale is
    found, and later from time to time when a larger scale is tried.  If steps overflow more
    often than the scale increases, the scale keeps falling: then an operator overflows
    whatever the scale is.

    Wrong: ignore a loss scale that keeps falling.

    Right: set `init_loss_scale` to the usable scale that the run found; if the scale keeps
    falling, collect overflow data (`overflow_detection`).
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
                "the loss scale keeps falling, from {:g} to {:g} (decreases: {}, increases: {}{})",
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
                "the loss scale needed {} decrease to reach a usable value ({:g}); the "
                "update of that step was skipped"
                if report.search == 1
                else "the loss scale needed {} decreases to reach a usable value "
                "({:g}); the updates of those steps were skipped",
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
                "the loss scale falls to 1 repeatedly (falls: {}, increases in between: "
                "{}): steps overflow even without scaling",
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
                "the loss scale goes up and down around the largest usable value (increases: "
                "{}, decreases: {}{}); this is normal for a dynamic loss scale",
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
            "of the later steps whose overflow state is known, {:,} overflowed (their "
            "updates are skipped) and {:,} did not",
            over,
            fine,
        )
    return (
        "every step overflows and every update is skipped"
        if over
        else "steps overflow whatever the scale is, and their updates are skipped"
    )


def _rhythm(report: LossScaleReport, unit: str) -> str:
    return (
        ""
        if report.rhythm is None
        else phrase(", one decrease every {:g} {}s", report.rhythm, unit)
    )


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
