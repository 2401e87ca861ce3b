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
    """The fix that writes a value as YAML, TOML and JSON all read it."""
    return Fix.writing(place, json.dumps(value, ensure_ascii=False))


def quoting(place: Place, text: str) -> Optional[Fix]:
    """The fix that puts a plain scalar in quotes."""
    return Fix.writing(place, '"{}"'.format(text), "put it in quotes")
