"""What a check-up consists of."""

import enum
from typing import Tuple

import attr


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


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Checkup:
    """All checks."""

    checks: Tuple[Check, ...]

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
