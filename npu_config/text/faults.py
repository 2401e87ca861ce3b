"""The log of what is wrong with one text: one limit, one way to stop, one way to make a fix."""

import enum
from typing import Iterable, Iterator, List, Optional

from npu_config.core.diagnostics import Diagnostic, Fix
from npu_config.core.message import phrase
from npu_config.core.rule import Rule
from npu_config.text.rules import unparsable_file
from npu_config.text.source import Source

MAX_FAULTS = 1000
"""After so many findings the rest of a text is not read."""


class Broken(enum.Enum):
    """The type of :data:`BROKEN`."""

    BROKEN = "broken"

    def __repr__(self) -> str:
        return "BROKEN"


BROKEN = Broken.BROKEN
"""What stands in a value for a part of the text that could not be read."""


class StopReading(Exception):  # noqa: N818 - it is no error of the caller's
    """The rest of the text is not read; the reason is reported."""


class FaultLog:
    """The findings of one reader about one text.

    Args:
        source: the text.
        rule: says that the rest is not read, and is the rule of :meth:`fault`.

    Attributes:
        diagnostics: the findings, in the order in which they were made.
        complete: False when a part of the text was not understood, so that what seems to be
            missing may be there.
    """

    def __init__(self, source: Source, rule: Rule = unparsable_file) -> None:
        self.source = source
        self.rule = rule
        self.diagnostics: List[Diagnostic] = []
        self.complete = True

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a finding.

        Raises:
            StopReading: it was the last one that is taken.
        """
        self.diagnostics.append(diagnostic)
        if len(self.diagnostics) == MAX_FAULTS:
            self.complete = False
            message = phrase("{:,} findings; the rest of the text is not read", MAX_FAULTS)
            self.diagnostics.append(self.rule.diagnostic(message, diagnostic.place))
            raise StopReading

    def add_all(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add findings, as many as are taken."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    def report(
        self,
        rule: Rule,
        start: int,
        end: int,
        message: str,
        help: Optional[str] = None,
        title: str = "",
        replacement: Optional[str] = None,
        meant: Optional[str] = None,
    ) -> None:
        """Report ``text[start:end]``; ``replacement`` with a title makes it a fix.

        Raises:
            StopReading: it was the last finding that is taken.
        """
        fix = None
        if replacement is not None:
            fix = Fix(title, (self.source.edit(start, end, replacement),))
        place = self.source.place(start, end)
        self.add(rule.diagnostic(message, place, help=help, fix=fix, meant=meant))

    def fault(self, start: int, end: int, message: str, help: Optional[str] = None) -> None:
        """Report ``text[start:end]`` under the rule of the log.

        Raises:
            StopReading: it was the last finding that is taken.
        """
        self.report(self.rule, start, end, message, help)
