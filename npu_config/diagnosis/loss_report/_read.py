"""Training logs and summaries into one series of (step, scale)."""

import math
import os
import re
from io import BufferedReader
from typing import BinaryIO, Dict, Iterator, List, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Severity, declare
from npu_config.core.message import phrase
from npu_config.proto.event_files import EventFileError, masked_crc32c, read_events, scalar
from npu_config.text.source import guarded, is_directory, reading, walk


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
    help="look at the steps before the first one: the input, the learning rate, and the overflow "
    "data of the forward pass (overflow_detection)",
)
def loss_not_a_number() -> None:
    """A training log or summary says that the loss is NaN.

    The loss scale does not help: it is applied to the loss after it was computed. Something
    before it is not a number: the input, a weight after an update that should have been
    skipped, a logarithm or a division, or an operator that overflows in the forward pass.

    Wrong: `loss = nan, step = 1200` is left alone.

    Right: look at the steps before the first NaN: the input, the learning rate, the overflow
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
    """The file itself, or the event files below a directory."""
    if not is_directory(path):
        return [path]
    return sorted(
        os.path.join(directory, name)
        for directory, _, names in walk(path)
        for name in names
        if ".tfevents." in name
    )


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
