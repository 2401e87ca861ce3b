"""Steps, intervals and iterations per loop that fit one another.

One ``session.run`` trains ``iterations_per_loop`` steps and nothing happens in between, so
every interval has to be a multiple of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

from npu_config.tf1._lazy import errors, rules

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic


_INTERVALS = {
    "checkpoint_every": "save_checkpoints_steps",
    "summary_every": "save_summary_steps",
    "log_every": "log_step_count_steps",
}
_SEARCHED = 10000


class LoopPlan(NamedTuple):
    """A consistent plan of training in loops.

    Attributes:
        steps: training steps in all.
        iterations_per_loop: steps per ``session.run``.
        runs: number of ``session.run`` calls.
        last_loop: steps of the last one; less than ``iterations_per_loop`` only when the plan
            was asked for a short last loop, which :class:`NPUStopAtStepHook` loads.
        checkpoint_every: steps between checkpoints, or None.
        summary_every: steps between summaries, or None.
        log_every: steps between log lines, or None.
    """

    steps: int
    iterations_per_loop: int
    runs: int
    last_loop: int
    checkpoint_every: Optional[int] = None
    summary_every: Optional[int] = None
    log_every: Optional[int] = None

    def to_run_config_kwargs(self) -> Dict[str, int]:
        """The arguments of NPURunConfig that follow from the plan."""
        given = {argument: getattr(self, field) for field, argument in _INTERVALS.items()}
        kwargs = {"iterations_per_loop": self.iterations_per_loop, **given}
        return {name: value for name, value in kwargs.items() if value is not None}


def plan_loops(
    steps: int,
    iterations_per_loop: int,
    checkpoint_every: Optional[int] = None,
    summary_every: Optional[int] = None,
    log_every: Optional[int] = None,
    short_last_loop: bool = False,
) -> LoopPlan:
    """Turn a number of steps, intervals and n into a consistent plan, or say what does not fit.

    Args:
        steps: training steps in all.
        iterations_per_loop: steps per ``session.run``.
        checkpoint_every: steps between checkpoints.
        summary_every: steps between summaries; 0 for none.
        log_every: steps between log lines.
        short_last_loop: the last loop may be shorter (train with :class:`NPUStopAtStepHook`).

    Raises:
        ArgumentError: a number is not an int.
        NpuConfigError: numbers do not fit; every misfit is named, with the nearest that fit.
    """
    given: Dict[str, Any] = {"steps": steps, "iterations_per_loop": iterations_per_loop}
    intervals = {
        "checkpoint_every": checkpoint_every,
        "summary_every": summary_every,
        "log_every": log_every,
    }
    given.update((name, value) for name, value in intervals.items() if value is not None)
    _check_numbers(given, may_be_zero=("summary_every",))
    count = iterations_per_loop
    faults: List[Diagnostic] = []
    if steps % count and not short_last_loop:
        faults.append(
            _misfit(
                "steps {} is not a multiple of iterations_per_loop {}: the last session.run would "
                "train {} steps too many".format(steps, count, count - steps % count),
                "train {} steps, or use {} iterations per loop, or let the last loop be shorter "
                "(short_last_loop=True, and NPUStopAtStepHook)".format(
                    _multiples(steps, count), _divisors(steps, count)
                ),
            )
        )
    for name, interval in intervals.items():
        if interval is not None and interval % count:
            faults.append(
                _misfit(
                    "{} {} is not a multiple of iterations_per_loop {}: nothing can happen inside "
                    "a loop".format(name, interval, count),
                    "use {}".format(_multiples(interval, count)),
                )
            )
    if faults:
        raise errors.NpuConfigError(faults)
    return LoopPlan(steps, count, -(-steps // count), steps % count or count, **intervals)


def check_steps(num_steps: Optional[int] = None, last_step: Optional[int] = None) -> None:
    """Refuse anything but exactly one of two positive numbers of steps.

    Raises:
        NpuConfigError: none or both are given, or one is below 1.
        ArgumentError: one is not an int.
    """
    given = {"num_steps": num_steps, "last_step": last_step}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) != 1:
        raise errors.NpuConfigError(
            [
                _misfit(
                    "exactly one of num_steps and last_step is needed, got {}".format(
                        "both" if given else "none"
                    ),
                    "num_steps counts from the start of the session; last_step is absolute",
                )
            ]
        )
    _check_numbers(given)


def _check_numbers(given: Dict[str, Any], may_be_zero: Any = ()) -> None:
    types, ranges = [], []
    for name, value in given.items():
        least = 0 if name in may_be_zero else 1
        if isinstance(value, bool) or not isinstance(value, int):
            types.append(
                _misfit(
                    "{} must be an int, got {!r} of type {}".format(
                        name, value, type(value).__name__
                    ),
                    "write it as a Python int",
                )
            )
        elif value < least:
            ranges.append(
                _misfit("{} must be at least {}, got {}".format(name, least, value), "count steps")
            )
    if types:
        raise errors.ArgumentError(types + ranges)
    if ranges:
        raise errors.NpuConfigError(ranges)


def _misfit(message: str, help: str) -> Diagnostic:
    return rules.loop_plan_uneven.diagnostic(message, option="iterations_per_loop", help=help)


def _multiples(value: int, count: int) -> str:
    below, above = value - value % count, value - value % count + count
    return str(above) if below == 0 else "{} or {}".format(below, above)


def _divisors(value: int, near: int) -> str:
    """The divisors of ``value`` next to ``near``, in words."""
    start = min(near, value)
    lowest, highest = max(1, start - _SEARCHED), min(value, start + _SEARCHED)
    below = next((n for n in range(start, lowest, -1) if value % n == 0), lowest)
    above = next((n for n in range(start, highest) if value % n == 0), highest)
    found = [n for n in dict.fromkeys((below, above)) if value % n == 0]
    return " or ".join(map(str, found or (1,)))
