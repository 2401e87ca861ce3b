"""Who listens to what code that runs tells: findings, and calls for ranks.

A run listens before the script starts, so that nothing here needs a diagnostic.
"""

from __future__ import annotations

from typing import Any, Callable, List

listeners: List[Callable[[Any], None]] = []
"""Called with each finding, a Diagnostic."""

rank_listeners: List[Callable[[str], None]] = []
"""Called with the name of the function by which a script asks for ranks: the device only knows
these once it is initialised."""


def tell(*findings: Any) -> None:
    """Tell the listeners of findings."""
    for listener in list(listeners):
        for finding in findings:
            listener(finding)


def tell_of_ranks(name: str) -> None:
    """Tell the listeners of a function that the script has called.

    Args:
        name: that of the function.
    """
    for listener in list(rank_listeners):
        listener(name)
