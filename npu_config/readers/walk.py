"""The files below a directory, as git sees them: what .gitignore names is left out."""

import os
import re
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

__all__ = ["Patterns", "walk"]

LEFT_OUT = frozenset(
    ("__pycache__", "node_modules", "build", "dist", "site-packages", "venv", "env.bak")
)
"""Directories that hold nothing a user wrote; hidden ones are left out, too."""

_LARGEST_IGNORE_FILE = 1024 * 1024


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
                text = stream.read(_LARGEST_IGNORE_FILE).decode("utf-8", "replace")
        except OSError:
            return None
        return cls(directory, text.splitlines())

    def verdict(self, path: str, is_directory: bool) -> Optional[bool]:
        """True: ignored; False: taken in again; None: not spoken of."""
        if not path.startswith(self._base):
            return None
        relative = path[len(self._base) :].replace(os.sep, "/")
        result: Optional[bool] = None
        for pattern in self._patterns:
            if pattern.only_directories and not is_directory:
                continue
            if pattern.regex.match(relative):
                result = not pattern.negated
        return result


def _compile(line: str) -> Optional[_Pattern]:
    """One line of a .gitignore; None for a comment, a blank line, or what git would not take."""
    text = re.sub(r"(?<!\\) +$", "", line.rstrip("\r\n"))
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    if negated:
        text = text[1:]
    only_directories = text.endswith("/")
    text = text.rstrip("/") if only_directories else text
    anchored = "/" in text
    text = text.lstrip("/") if anchored else text
    if not text:
        return None
    try:
        regex = re.compile("{}{}\\Z".format("" if anchored else "(?:.*/)?", _translate(text)))
    except re.error:
        return None
    return _Pattern(regex, negated, only_directories)


def _translate(text: str) -> str:
    """A pattern of git as a regular expression."""
    parts: List[str] = []
    index = 0
    while index < len(text):
        rest = text[index:]
        if rest.startswith("**/") and (index == 0 or text[index - 1] == "/"):
            parts.append("(?:.*/)?")
            index += 3
        elif rest == "/**":
            parts.append("/.+")
            index += 3
        elif rest[0] == "*":
            while text[index : index + 1] == "*":
                index += 1
            parts.append("[^/]*")
        elif rest[0] == "?":
            parts.append("[^/]")
            index += 1
        elif rest[0] == "[" and "]" in rest[2:]:
            end = rest.index("]", 2)
            inner = rest[1:end]
            if inner.startswith("!"):
                inner = "^" + inner[1:]
            parts.append("(?!/)[{}]".format(inner.replace("\\", "\\\\")))
            index += end + 1
        elif rest[0] == "\\" and len(rest) > 1:
            parts.append(re.escape(rest[1]))
            index += 2
        else:
            parts.append(re.escape(rest[0]))
            index += 1
    return "".join(parts)


def walk(root: str, exclude: Sequence[str] = ()) -> Iterator[str]:
    """Every file below a directory, in order of name.

    Hidden directories, the usual build directories, and what .gitignore files exclude are left
    out; links to directories are not followed, so that no loop can arise.  What vanishes or
    cannot be read in the meantime is passed over.

    Args:
        root: the directory.
        exclude: more patterns with the syntax of .gitignore, relative to ``root``.
    """
    absolute = os.path.abspath(root)
    patterns = _patterns_above(absolute)
    if exclude:
        patterns.append(Patterns(absolute, exclude))
    for path in _walk(absolute, patterns):
        yield os.path.join(root, os.path.relpath(path, absolute))


def _walk(directory: str, patterns: List[Patterns]) -> Iterator[str]:
    own = Patterns.of_directory(directory)
    if own is not None:
        patterns = [*patterns, own]
    files, directories = _entries(directory)
    for name in files:
        path = os.path.join(directory, name)
        if not _ignored(path, False, patterns):
            yield path
    for name in directories:
        if name.startswith(".") or name in LEFT_OUT:
            continue
        path = os.path.join(directory, name)
        if not _ignored(path, True, patterns):
            yield from _walk(path, patterns)


def _entries(directory: str) -> Tuple[List[str], List[str]]:
    files: List[str] = []
    directories: List[str] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    is_directory = entry.is_dir(follow_symlinks=False)
                    if not is_directory and entry.is_symlink() and not entry.is_file():
                        continue
                except OSError:
                    continue
                (directories if is_directory else files).append(entry.name)
    except OSError:
        return [], []
    return sorted(files), sorted(directories)


def _ignored(path: str, is_directory: bool, patterns: Sequence[Patterns]) -> bool:
    """What the innermost .gitignore that speaks of a path says."""
    for found in reversed(patterns):
        verdict = found.verdict(path, is_directory)
        if verdict is not None:
            return verdict
    return False


def _patterns_above(directory: str) -> List[Patterns]:
    """The .gitignore files between the top of the repository and a directory, outermost first."""
    above: List[str] = []
    current = directory
    while not os.path.exists(os.path.join(current, ".git")):
        parent = os.path.dirname(current)
        if parent == current:
            return []
        above.append(parent)
        current = parent
    found = [Patterns.of_directory(folder) for folder in reversed(above)]
    return [patterns for patterns in found if patterns is not None]
