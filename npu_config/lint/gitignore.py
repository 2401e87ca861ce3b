"""Patterns of .gitignore: which of the paths below a directory they name.

The matching is git's own (wildmatch with WM_PATHNAME), which a property test compares with git.
"""

import os
import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

__all__ = ["Patterns"]

_LARGEST = 1024 * 1024
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


class _Pattern(NamedTuple):
    regex: "re.Pattern[str]"
    negated: bool
    only_directories: bool


class Patterns:
    """Patterns with the syntax of .gitignore, relative to one directory.

    Args:
        base: the directory that the patterns are relative to.
        lines: the patterns, one in each line.
    """

    def __init__(self, base: str, lines: Sequence[str]) -> None:
        self._base = base.rstrip(os.sep) + os.sep
        self._patterns = [p for p in map(_compile, lines) if p is not None]

    @classmethod
    def of_directory(cls, directory: str) -> Optional["Patterns"]:
        """The patterns of a directory's own .gitignore; None when there is none."""
        try:
            with open(os.path.join(directory, ".gitignore"), "rb") as stream:
                text = stream.read(_LARGEST).decode("utf-8-sig", "replace")
        except OSError:
            return None
        return cls(directory, text.split("\n"))

    def verdict(self, path: str, is_directory: bool) -> Optional[bool]:
        """True: ignored; False: taken in again; None: not spoken of."""
        if not path.startswith(self._base):
            return None
        relative = path[len(self._base) :].replace(os.sep, "/")
        for pattern in reversed(self._patterns):
            if pattern.only_directories and not is_directory:
                continue
            if pattern.regex.match(relative):
                return not pattern.negated
        return None


class _MalformedError(ValueError):
    """A pattern that matches nothing."""


def _compile(line: str) -> Optional[_Pattern]:
    """One line of a .gitignore; None for a comment, a blank line, or what matches nothing."""
    text = re.sub(r"(?<!\\) +$", "", line.rstrip("\r"))
    if text.startswith("#"):
        return None
    negated = text.startswith("!")
    if negated:
        text = text[1:]
    only_directories = text.endswith("/")
    if only_directories:
        text = text[:-1]
    anchored = "/" in text
    if text.startswith("/"):
        text = text[1:]
    if not text:
        return None
    try:
        regex = re.compile("{}{}\\Z".format("" if anchored else "(?:.*/)?", _translate(text)))
    except _MalformedError:
        return None
    return _Pattern(regex, negated, only_directories)


def _translate(text: str) -> str:
    """A pattern as a regular expression."""
    parts: List[str] = []
    index = 0
    while index < len(text):
        rest = text[index:]
        size = 1
        if rest.startswith("**/") and (index == 0 or text[index - 1] == "/"):
            part, size = "(?:.*/)?", 3
        elif rest == "/**":
            part, size = "/.+", 3
        elif rest[0] == "*":
            part, size = "[^/]*", len(rest) - len(rest.lstrip("*"))
        elif rest[0] == "?":
            part = "[^/]"
        elif rest[0] == "[":
            part, size = _bracket(rest)
        elif rest[0] == "\\":
            part, size = _escaped(rest)
        else:
            part = re.escape(rest[0])
        parts.append(part)
        index += size
    return "".join(parts)


def _escaped(rest: str) -> Tuple[str, int]:
    """A character, or two with a backslash, and how many they were."""
    if not rest or rest == "\\":
        raise _MalformedError
    if rest[0] == "\\":
        return re.escape(rest[1]), 2
    return re.escape(rest[0]), 1


def _bracket(rest: str) -> Tuple[str, int]:
    """A set of characters as a regular expression, and how long it was."""
    negated = rest[1:2] in ("!", "^")
    start = index = 2 if negated else 1
    items: List[str] = []
    while index == start or rest[index : index + 1] != "]":
        named = re.match(r"\[:([^]]*):\]", rest[index:])
        if named:
            if named.group(1) not in _CLASSES:
                raise _MalformedError
            items.append(_CLASSES[named.group(1)])
            index += named.end()
            continue
        low, size = _escaped(rest[index:])
        index += size
        if rest[index : index + 1] == "-" and rest[index + 1 : index + 2] not in ("", "]"):
            high, size = _escaped(rest[index + 1 :])
            index += 1 + size
            if low[-1] <= high[-1]:
                items.append("{}-{}".format(low, high))
        else:
            items.append(low)
    if not items:
        return ("[^/]" if negated else "(?!)"), index + 1
    return "(?!/)[{}{}]".format("^" if negated else "", "".join(items)), index + 1
