"""What several overflows say together: equal ones, the trend over the steps, two runs.

An operator that overflows does so in every step and on every device; what is equal in all but
its time is one thing to mend.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.message import phrase
from npu_config.dumps.overflow import Overflow, plain

GROWING, FALLING, CHANGING = phrase("growing"), phrase("falling"), phrase("changing")
STEADY = "the same in every step"


class OverflowGroup(NamedTuple):
    """Overflows of one operator with the same status and origin.

    Args:
        first: the first of them in order of step and time.
        members: all of them.
        steps: the iterations.
        devices: the devices.
    """

    first: Overflow
    members: Tuple[Overflow, ...]
    steps: Tuple[int, ...]
    devices: Tuple[int, ...]


def grouped(overflows: Sequence[Overflow]) -> Tuple[OverflowGroup, ...]:
    """Equal overflows together, in the order of the first of each."""
    groups: Dict[Any, List[Overflow]] = {}
    for each in overflows:
        words = tuple((unit.unit, unit.words) for unit in each.units)
        key = (_identity(each), each.model, words, each.origin, each.came_in_with)
        groups.setdefault(key, []).append(each)
    return tuple(
        OverflowGroup(
            members[0],
            tuple(members),
            tuple(sorted({each.step for each in members if each.step is not None})),
            tuple(sorted({each.device for each in members if each.device is not None})),
        )
        for members in groups.values()
    )


def _identity(overflow: Overflow) -> Tuple[object, object]:
    """The operator, or the ids of its task where its dump is not there."""
    if overflow.op_name is None:
        return overflow.task, overflow.stream
    return overflow.op_name, overflow.op_type


def by_step(overflows: Sequence[Overflow]) -> Dict[int, int]:
    """How many overflows each step has; steps without any leave no folder."""
    counts: Dict[int, int] = {}
    for each in overflows:
        if each.step is not None:
            counts[each.step] = counts.get(each.step, 0) + 1
    return dict(sorted(counts.items()))


def trend(counts: Dict[int, int]) -> Optional[str]:
    """Where the counts of the steps go; None with a single step."""
    numbers = list(counts.values())
    pairs = list(zip(numbers, numbers[1:]))
    if not pairs:
        return None
    if all(one == other for one, other in pairs):
        return STEADY
    if all(one <= other for one, other in pairs):
        return GROWING
    return FALLING if all(one >= other for one, other in pairs) else CHANGING


class RunsCompared(NamedTuple):
    """The overflows of two runs, by operator.

    Args:
        gone: of the earlier run only.
        left: of both, as the later run has them.
        new: of the later run only.
    """

    gone: Tuple[OverflowGroup, ...]
    left: Tuple[OverflowGroup, ...]
    new: Tuple[OverflowGroup, ...]


def compare_runs(before: Sequence[Overflow], after: Sequence[Overflow]) -> RunsCompared:
    """Which operators overflow no more, still, and newly.

    An operator that another fusion made is the same when it stands for the same operators of the
    network.

    Args:
        before: the overflows of the earlier run.
        after: those of the later run.
    """
    old = {name for each in before for name in _names(each)}
    now = {name for each in after for name in _names(each)}
    return RunsCompared(
        grouped([each for each in before if not now & _names(each)]),
        grouped([each for each in after if old & _names(each)]),
        grouped([each for each in after if not old & _names(each)]),
    )


def _names(overflow: Overflow) -> "set[object]":
    if overflow.op_name is None:
        return {_identity(overflow)}
    return {overflow.op_name, *overflow.stands_for}


def plain_group(group: OverflowGroup) -> Dict[str, Any]:
    """A group as JSON has it."""
    return {
        "op_name": group.first.op_name,
        "op_type": group.first.op_type,
        "count": len(group.members),
        "steps": list(group.steps),
        "devices": list(group.devices),
        "first": plain(group.first),
    }
