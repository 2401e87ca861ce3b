"""Text that came from files and arguments, made safe for terminals and for logs of CI systems.

A terminal acts on control characters; a CI system on lines that begin with ``::`` and on
``##[``.  Here both become visible text.
"""

import os
import sys
import unicodedata
from typing import Optional

from npu_config.core.patterns import lazy_pattern

PALETTE = lazy_pattern(r"(\x1b\[[0-9;]*m)")
"""The colours that the text report writes itself."""


def printable(text: str) -> str:
    """Text on one line, safe for any terminal."""
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def harmless(text: str, color: bool = False, commands: bool = False) -> str:
    """Lines that no terminal and no CI log takes for more than text.

    Args:
        text: any lines.
        color: leave colours alone; what came from a file has been escaped before.
        commands: leave workflow commands alone.
    """
    return "\n".join(_line(line, color, commands) for line in text.split("\n"))


def width(text: str) -> int:
    """The columns that a printable text takes on a terminal."""
    columns = 0
    for character in text:
        if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
            continue
        columns += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return columns


def fitted(text: str, columns: int) -> str:
    """A printable text in so many columns; the end of a longer one is cut, and shows it."""
    if width(text) <= columns:
        return text
    kept = ""
    for character in text:
        if width(kept) + width(character) > columns - 3:
            break
        kept += character
    return kept + "..."[: max(columns, 0)]


def screen() -> Optional[int]:
    """How many columns the terminal has; None when standard output is none.

    COLUMNS of the environment comes first, as for every program.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and 0 < int(given) < 10000:
        return int(given)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError, AttributeError):
        return None


def _line(line: str, color: bool, commands: bool) -> str:
    if not commands:
        if line.lstrip().startswith("::"):
            line = line.replace(":", "\\x3a", 1)
        line = line.replace("##[", "##\\x5b")
    if line.isprintable():
        return line
    end = "\r" if line.endswith("\r") else ""
    line = line[: len(line) - len(end)]
    parts = PALETTE.split(line) if color else [line]
    return (
        "".join(
            part if number % 2 else "".join(c if c == "\t" else _visible(c) for c in part)
            for number, part in enumerate(parts)
        )
        + end
    )


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def padded(text: str, columns: int, right: bool = False) -> str:
    """A printable text with blanks behind it, or before it, up to so many columns."""
    blanks = " " * (columns - width(text))
    return blanks + text if right else text + blanks
