"""What code that runs tells whoever listens: findings, said as warnings too, and calls for ranks.

A Python warning is one face of a finding, and many scripts switch warnings off.  Who listens is
told of every finding, whatever the filters say; one that a filter for all warnings hides is
logged instead.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Callable, List, Optional, Set, Type

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

listeners: List[Callable[[Diagnostic], None]] = []
"""Called with each finding, which has the place of the user's call."""

rank_listeners: List[Callable[[str], None]] = []
"""Called with the name of the function by which a script asks for ranks: the device only knows
these once it is initialised."""

_logged: Set[str] = set()


def tell(*findings: Diagnostic) -> None:
    """Tell the listeners of findings; one without a place gets that of the user's call."""
    if listeners:
        for finding in map(_placed, findings):
            for listener in list(listeners):
                listener(finding)


def tell_of_ranks(name: str) -> None:
    """Tell the listeners of a function that the script has called.

    Args:
        name: that of the function.
    """
    for listener in list(rank_listeners):
        listener(name)


def warn(finding: Diagnostic, category: Type[Warning], text: Optional[str] = None) -> None:
    """Say a finding at the user's line, and tell the listeners.

    Args:
        finding: what was found.
        category: of the warning.
        text: of the warning; None: that of the finding.
    """
    from npu_config.core.calls import FRAMEWORKS, caller_level

    tell(finding)
    text = str(finding) if text is None else text
    if _is_hidden(text, category):
        _log(finding)
    warnings.warn(text, category, stacklevel=caller_level(*FRAMEWORKS))


def _placed(finding: Diagnostic) -> Diagnostic:
    if finding.path is not None or finding.line is not None:
        return finding
    from dataclasses import replace

    from npu_config.core.calls import script_place

    place = script_place()
    return replace(finding, path=place.path, line=place.line)


def _is_hidden(text: str, category: Type[Warning]) -> bool:
    """Whether a filter ignores all warnings; one for ours alone was meant for them."""
    for action, message, kind, module, line in warnings.filters:
        about_all = module is None and not line
        if about_all and issubclass(category, kind) and (message is None or message.match(text)):
            return action == "ignore" and message is None and kind is not category
    return False


def _log(finding: Diagnostic) -> None:
    """Log a finding, once."""
    import logging

    from npu_config.core.diagnostics import Severity

    text = str(_placed(finding))
    if text not in _logged:
        _logged.add(text)
        level = logging.ERROR if finding.severity is Severity.ERROR else logging.WARNING
        logging.getLogger("npu_config").log(level, "%s", text)
