"""Findings about the form of a configuration file, and the fixes of some."""

import json
from typing import List, Optional, Union

from npu_config.core.diagnostics import Diagnostic, Fix, Place
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
    return Fix.writing(place, name, phrase('rename to "{}"', name))


def writing(place: Place, value: Union[int, str]) -> Optional[Fix]:
    """The fix that writes a value as YAML, TOML and JSON all read it.

    Where nothing stands, as behind the colon of a key in YAML, it gets a blank before it.
    """
    is_empty = (place.line, place.column) == (place.end_line, place.end_column)
    return Fix.writing(place, " " * is_empty + json.dumps(value, ensure_ascii=False))


def quoting(place: Place, text: str) -> Optional[Fix]:
    """The fix that puts a plain scalar in quotes."""
    return Fix.writing(place, '"{}"'.format(text), "put it in quotes")
