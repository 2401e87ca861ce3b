"""A script before and after its migration: both are run for some steps, and compared."""

import math
import os
import re
import subprocess
import sys
from typing import List, NamedTuple, Optional, Sequence, Union

from npu_config.core.message import localized, phrase

__all__ = ["PrintedComparison", "compare"]

_NUMBER = re.compile(r"[-+]?(?:\d{1,40}\.?\d{0,40}(?:[eE][-+]?\d{1,4})?|nan\b|inf\b)")
_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d|\d{1,4}(?::\d\d){1,2}(?:[.,]\d{1,9})?"
    r"|\d{1,40}\.?\d{0,40} ?(?:s|secs?|seconds?|[mun]s|min(?:utes?)?|h|it/s)\b"
)
"""What differs in every run: dates, clocks and how long something took."""
_HEADINGS = re.compile(r"^(?:Epoch \d{1,9}/\d{1,9}|Train on \d{1,12} .{0,80})\r?$", re.M)
"""What Keras prints before it has trained."""
_TOLERANCE = 1e-5
_SHOWN = 3


class PrintedComparison(NamedTuple):
    """Whether two runs print the same numbers; None where one of them cannot be run."""

    path: str
    same: Optional[bool]
    text: str


def compare(path: str, before: str, after: str, steps: int) -> PrintedComparison:
    """Run a script and its migrated copy, and compare the numbers on the lines about losses.

    Args:
        path: how the script is called.
        before: the script.
        after: the copy.
        steps: how many session runs each of them makes.
    """
    outputs: List[List[float]] = []
    for side, script in ((phrase("before"), before), (phrase("after"), after)):
        found = _printed(script, steps)
        if isinstance(found, _Failed):
            text = phrase(
                "not compared: {} the migration it ends with {}: {}", side, found.code, found.last
            )
            return PrintedComparison(path, None, text)
        outputs.append(found)
    old, new = outputs
    if not old and not new:
        return PrintedComparison(path, None, "not compared: it prints no numbers in these steps")
    index = _first_difference(old, new)
    if index is None:
        shown = " ".join(map(str, old[:_SHOWN])) + (" ..." if len(old) > _SHOWN else "")
        return PrintedComparison(
            path, True, phrase("the same numbers before and after: {}", shown)
        )
    again = _printed(before, steps)
    if isinstance(again, _Failed) or _first_difference(old, again) is not None:
        return PrintedComparison(path, None, _RANDOM)
    text = phrase("the numbers differ: before {}, after {}", _from(old, index), _from(new, index))
    return PrintedComparison(path, False, text)


_RANDOM = (
    "not compared: before the migration, too, its numbers are others in every run; set the seeds "
    "in the script (tf.set_random_seed, numpy.random.seed)"
)


class _Failed(NamedTuple):
    code: int
    last: str


def _printed(script: str, steps: int) -> Union[List[float], _Failed]:
    """The numbers that a script prints, or how it ended."""
    done = subprocess.run(
        _command(steps, script),
        cwd=os.path.dirname(os.path.abspath(script)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        return _Failed(done.returncode, last)
    return _numbers(done.stdout.decode("utf-8", "replace"))


def _first_difference(old: Sequence[float], new: Sequence[float]) -> Optional[int]:
    """Where two lists of numbers differ first; None for nowhere."""
    for index, pair in enumerate(zip(old, new)):
        if not _equal(*pair):
            return index
    return None if len(old) == len(new) else min(len(old), len(new))


def _command(steps: int, script: str) -> List[str]:
    name = os.path.basename(script)
    return [sys.executable, "-m", "npu_config", "run", "--steps", str(steps), name]


def _numbers(text: str) -> List[float]:
    """The numbers on the lines about losses; of all lines where none is.  Times are left out."""
    lines = _HEADINGS.sub("", text).split("\n")
    lines = [line for line in lines if "loss" in line.lower()] or lines
    return [float(number) for line in lines for number in _NUMBER.findall(_TIMES.sub(" ", line))]


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TOLERANCE) or (math.isnan(one) and math.isnan(other))


def _from(numbers: Sequence[float], index: int) -> str:
    return " ".join(map(str, numbers[index : index + _SHOWN])) or localized("nothing")
