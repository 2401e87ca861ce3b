"""The tables of rules, and rules that only say one thing."""

from typing import Callable, Dict, Optional

from npu_config.migration.work import MANUAL, Work
from npu_config.python_flow.module import Site

__all__ = ["Rule", "Rules", "of_calls"]

Rule = Callable[[Work, Site, str], None]
"""Looks at a place where a name of TensorFlow is."""
Rules = Dict[str, Rule]


def of_calls(
    id: str,
    text: str,
    kind: str = MANUAL,
    blocks: bool = False,
    unless: Optional[Callable[[Work, Site], bool]] = None,
) -> Rule:
    """A rule that says one thing of every call."""

    def rule(work: Work, site: Site, name: str) -> None:
        if site.call is not None and not (unless is not None and unless(work, site)):
            work.note(site.line, id, kind, text)
            work.blocked = work.blocked or blocks

    return rule
