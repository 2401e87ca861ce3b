"""Patterns of .gitignore: which of the paths below a directory they name.

The matching is git's own (wildmatch with WM_PATHNAME), which a property test compares with git.
It never backtracks: what stands between two wildcards has a fixed length and is searched from
left to right, first characters in a name, then names in a path.  (pathspec, the library for
this, translates to regular expressions that take time exponential in the number of ``*``.)
"""

import os
import re
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.paths import reading

__all__ = ["Patterns"]

_LARGEST = 1024 * 1024
_LONGEST = 4096
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

_Block = Tuple[int, Callable[[Any, int], Any]]
"""How many items a part without wildcards takes, and whether it fits at an index."""


class _Pattern(NamedTuple):
    """``blocks`` are those of the whole path, or with ``anywhere`` of its last name."""

    blocks: List[_Block]
    anywhere: bool
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
        path = os.path.join(directory, ".gitignore")
        try:
            with open(path, "rb", opener=reading) as stream:
                text = stream.read(_LARGEST).decode("utf-8-sig", "replace")
        except OSError:
            return None
        return cls(directory, text.split("\n"))

    def verdict(self, path: str, is_directory: bool) -> Optional[bool]:
        """True: ignored; False: taken in again; None: not spoken of."""
        if not path.startswith(self._base):
            return None
        names = path[len(self._base) :].split(os.sep)
        for pattern in reversed(self._patterns):
            if pattern.only_directories and not is_directory:
                continue
            if _fits(pattern.blocks, names[-1:] if pattern.anywhere else names):
                return not pattern.negated
        return None


def _fits(blocks: List[_Block], items: Sequence[str]) -> bool:
    """Whether the blocks follow each other in ``items``, anything between two of them."""
    size, (position, test) = len(items), blocks[0]
    length, last = blocks[-1]
    end = size - length
    if len(blocks) == 1:
        return end == 0 and bool(test(items, 0))
    if position > end or not test(items, 0) or not last(items, end):
        return False
    for length, test in blocks[1:-1]:
        while position + length <= end and not test(items, position):
            position += 1
        position += length
    return position <= end


class _MalformedError(ValueError):
    """A pattern that matches nothing."""


def _compile(line: str) -> Optional[_Pattern]:
    """One line of a .gitignore; None for a comment, a blank line, or what matches nothing."""
    line = line.rstrip("\r")
    text = line.rstrip(" ")
    if text != line and (len(text) - len(text.rstrip("\\"))) % 2:
        text += " "
    negated = text.startswith("!")
    if text.startswith("#") or len(text) > _LONGEST:
        return None
    only_directories = text[negated:].endswith("/")
    text = text[negated : len(text) - only_directories]
    anywhere = "/" not in text
    text = text[text.startswith("/") :]
    if not text:
        return None
    try:
        return _Pattern(_path(list(_tokens(text))), anywhere, negated, only_directories)
    except _MalformedError:
        return None


def _path(tokens: List[str]) -> List[_Block]:
    """The names of a pattern, in the blocks that stand between ``**``."""
    segments: List[List[str]] = [[]]
    for token in tokens:
        if token == "/":
            segments.append([])
        else:
            segments[-1].append(token)
    blocks: List[List[List[_Block]]] = [[]]
    for segment in segments:
        if segment == ["**"]:
            blocks.append([])
        else:
            blocks[-1].append(_name(segment))
    if segments[-1] == ["**"]:
        blocks[-1].append(_name(["*"]))
    return [(len(names), _names_fit(names)) for names in blocks]


def _names_fit(names: List[List[_Block]]) -> Callable[[Any, int], bool]:
    def fit(items: Sequence[str], start: int) -> bool:
        return all(
            _fits(name, item) for name, item in zip(names, items[start : start + len(names)])
        )

    return fit


def _name(tokens: List[str]) -> List[_Block]:
    """The characters of a name, in the blocks that stand between stars."""
    blocks: List[List[str]] = [[]]
    for token in tokens:
        if token in ("*", "**"):
            blocks.append([])
        else:
            blocks[-1].append(token)
    return [(len(block), re.compile("".join(block), re.DOTALL).match) for block in blocks]


def _tokens(text: str) -> Iterator[str]:
    """``*``, ``**``, ``/``, and the regular expression of each other character."""
    index = 0
    while index < len(text):
        character = text[index]
        if character == "*":
            end = len(text) - len(text[index:].lstrip("*"))
            yield "*" if end - index == 1 else "**"
            index = end
        elif character == "[":
            token, index = _bracket(text, index + 1)
            yield token
        elif character in "?/":
            yield "." if character == "?" else "/"
            index += 1
        else:
            token, index = _character(text, index)
            yield token


def _character(text: str, index: int) -> Tuple[str, int]:
    """A character, perhaps after a backslash, and the index behind it."""
    index += text[index : index + 1] == "\\"
    if index >= len(text):
        raise _MalformedError
    return re.escape(text[index]), index + 1


def _bracket(text: str, index: int) -> Tuple[str, int]:
    """The set that begins at ``index`` as a regular expression, and the index behind it."""
    negated = text[index : index + 1] in ("!", "^")
    start = index = index + negated
    items: List[str] = []
    while index == start or text[index : index + 1] != "]":
        close = text.find("]", index + 2)
        if text.startswith("[:", index) and text[close - 1] == ":" and close > index + 2:
            name = text[index + 2 : close - 1]
            if name not in _CLASSES:
                raise _MalformedError
            items.append(_CLASSES[name])
            index = close + 1
            continue
        low, index = _character(text, index)
        if text[index : index + 1] == "-" and text[index + 1 : index + 2] not in ("", "]"):
            high, index = _character(text, index + 1)
            if low[-1] <= high[-1]:
                items.append("{}-{}".format(low, high))
        else:
            items.append(low)
    if not items:
        return ("." if negated else "(?!)"), index + 1
    return "[{}{}]".format("^" if negated else "", "".join(items)), index + 1
