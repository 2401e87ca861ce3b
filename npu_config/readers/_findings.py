"""Findings about the form of a configuration file, and the fixes of some."""

from typing import List, Optional

from npu_config.core.diagnostics import Diagnostic, Edit, Fix, Place
from npu_config.core.message import phrase
from npu_config.core.rule import Rule


class Findings(List[Diagnostic]):
    """A list that makes the diagnostics it holds."""

    def report(
        self,
        rule: Rule,
        place: Place,
        message: str,
        help: Optional[str] = None,
        fix: Optional[Fix] = None,
        meant: Optional[str] = None,
    ) -> None:
        """Add one finding."""
        self.append(rule.diagnostic(message, place, help=help, fix=fix, meant=meant))


def renaming(place: Place, name: str) -> Optional[Fix]:
    """The fix that puts ``name`` in the place of another key."""
    return _replacing(place, name, phrase('rename to "{}"', name))


def quoting(place: Place, text: str) -> Optional[Fix]:
    """The fix that puts a plain scalar in quotes."""
    return _replacing(place, '"{}"'.format(text), "put it in quotes")


def _replacing(place: Place, text: str, title: str) -> Optional[Fix]:
    line, column, end_line, end_column = place[1:]
    if line is None or column is None or end_line is None or end_column is None:
        return None
    return Fix(title, (Edit(line, column, end_line, end_column, text),))
