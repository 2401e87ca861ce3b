"""What the words of a line say: a known failure, a line that is no cause, or nothing.

Lines that differ in numbers only say the same, and are judged once.
"""

import re
from typing import Dict, NamedTuple, Optional

from npu_config.logs.facts import KnownFailure, dull, known

__all__ = [
    "DIGITS",
    "ERROR",
    "FOLLOWER",
    "KNOWN",
    "LOOKED_AT",
    "OWN",
    "SIGN",
    "failure_named",
    "shape",
]

FOLLOWER, SIGN, ERROR, KNOWN, OWN = range(5)
"""How much an event says: a follow-up; a sign; an error; a known failure; a code of its own."""

LOOKED_AT = 4_000
"""Characters of a line whose words are looked at."""

_MOST_REMEMBERED = 4_096
DIGITS = re.compile(r"0x[0-9a-fA-F]+|\d+")


class _Shape(NamedTuple):
    """What is said of all lines that differ in numbers only."""

    weight: int
    failure: Optional[KnownFailure]
    strength: str


_NUMBERED = re.compile(r"ErrorNo: 13432\d{5}\(")
"""The graph engine has such a number on lines that tell of themselves, too."""

_shapes: Dict[str, _Shape] = {}


def shape(text: str) -> _Shape:
    """What the words of a line say: a known failure, a line that is no cause, or nothing."""
    text = text[:LOOKED_AT]
    key = DIGITS.sub("0", text)
    found = _shapes.get(key)
    if found is None:
        if len(_shapes) >= _MOST_REMEMBERED:
            _shapes.clear()
        found = _shapes[key] = _shape(text)
    return found


def _shape(text: str) -> _Shape:
    found = [each for each in dull() if each.pattern.search(text)]
    strengths = {"other" if each.id == "other-rank" else each.strength for each in found}
    if "harmless" in strengths:
        return _Shape(FOLLOWER, None, "harmless")
    strength = next((each for each in ("strong", "weak", "other") if each in strengths), "")
    failures = [each for each in known() if each.pattern.search(text) and each.id != "py-generic"]
    first = [each for each in failures if each.first]
    certain = [each for each in first if each.certain] or first
    if certain and strength == "strong" and _NUMBERED.search(text) is not None:
        return _shape(_NUMBERED.sub("(", text))
    if certain:
        return _Shape(KNOWN, certain[0], "" if strength == "weak" else strength)
    return _Shape(ERROR, failures[0] if failures else None, strength)


def failure_named(id: str) -> Optional[KnownFailure]:
    """A known failure by its name."""
    return next((each for each in known() if each.id == id), None)
