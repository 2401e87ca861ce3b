"""The files below a directory, as git sees them: what .gitignore names is left out."""

import os
from typing import Iterator, List, Sequence, Tuple

from npu_config.lint.gitignore import Patterns

__all__ = ["walk"]

LEFT_OUT = frozenset(
    ("__pycache__", "node_modules", "build", "dist", "site-packages", "venv", "env.bak")
)
"""Directories that hold nothing a user wrote; hidden ones are left out, too."""


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
    start = len(os.path.join(absolute, ""))
    for path in _walk(absolute, patterns):
        yield os.path.join(root, path[start:])


def _walk(directory: str, patterns: List[Patterns]) -> Iterator[str]:
    own = Patterns.of_directory(directory)
    if own is not None:
        patterns = [*patterns, own]
    files, directories = _entries(directory)
    for name in files:
        path = os.path.join(directory, name)
        if not patterns or not _ignored(path, False, patterns):
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
                    if not is_directory and not entry.is_file():
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
