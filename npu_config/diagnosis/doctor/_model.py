"""What a check-up consists of."""

import enum
import functools
from typing import Any, Callable, NamedTuple, Optional, Tuple

import attr

from npu_config.judging import Judgement


class Outcome(enum.Enum):
    """How a check ended; advice is what ``npu-config check`` reports below an error."""

    PASSED = "passed"
    ADVICE = "advice"
    FAILED = "failed"
    UNKNOWN = "cannot be checked here"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Check:
    """One check.

    Args:
        name: in kebab-case.
        outcome: how it ended.
        reason: why.
        help: what to do, for a check that failed; else "".
        source: the page that asks for it.
    """

    name: str
    outcome: Outcome
    reason: str
    help: str = ""
    source: str = ""


class Verdict(NamedTuple):
    """What a check comes to: how it ended, why, and what to do."""

    outcome: Outcome
    reason: str
    help: str = ""


passed = functools.partial(Verdict, Outcome.PASSED)
advice = functools.partial(Verdict, Outcome.ADVICE)
failed = functools.partial(Verdict, Outcome.FAILED)
unknown = functools.partial(Verdict, Outcome.UNKNOWN)


def check(name: str, source: str = "") -> Callable[[Callable[[Any], Verdict]], Any]:
    """Make a check of a function from the facts to a verdict.

    Args:
        name: in kebab-case.
        source: the page that asks for it.
    """

    def named(judge: Callable[[Any], Verdict]) -> Callable[[Any], Check]:
        return lambda facts: Check(name, *judge(facts), source)

    return named


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Checkup:
    """All checks, and what is to be said of the source; None where there is none."""

    checks: Tuple[Check, ...]
    judgement: Optional[Judgement] = None

    @property
    def ok(self) -> bool:
        """True when nothing failed."""
        return not self.failed

    @property
    def failed(self) -> Tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.outcome is Outcome.FAILED)

    def __getitem__(self, name: str) -> Check:
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)
