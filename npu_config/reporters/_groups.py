"""Findings that say the same of several places of a file, put together."""

import re
from typing import Dict, Iterable, List, Tuple

from npu_config.core.diagnostics import Diagnostic

_NUMBER = re.compile(r"\d+")

Group = Tuple[Diagnostic, List[Diagnostic]]


def grouped(diagnostics: Iterable[Diagnostic]) -> List[Group]:
    """Each kind of finding once, at its first place, with the others of its kind.

    Findings are of one kind when they are about the same file and option, by the same rule, and
    differ in their place, in numbers in the message, or in what a fix writes, only.
    """
    found: Dict[Tuple[object, ...], Group] = {}
    for diagnostic in diagnostics:
        first, others = found.setdefault(_kind(diagnostic), (diagnostic, []))
        if first is not diagnostic:
            others.append(diagnostic)
    return list(found.values())


def _kind(diagnostic: Diagnostic) -> Tuple[object, ...]:
    return (
        diagnostic.path,
        diagnostic.rule,
        diagnostic.severity,
        diagnostic.option,
        _NUMBER.sub("0", diagnostic.message),
        None if diagnostic.fix else diagnostic.help,
    )
