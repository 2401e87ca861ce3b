"""The files below a directory, as git sees them: what .gitignore names is left out."""

import errno
import os
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.message import phrase
from npu_config.lint.gitignore import Patterns

__all__ = ["Skipped", "walk"]

IGNORED = "excluded by .gitignore or by the project settings"
PACKAGES = "a directory of installed packages; pass the directory itself to check its files"
LEFT_OUT = {
    **dict.fromkeys(("__pycache__", "build", "dist"), "a hidden or build directory"),
    **dict.fromkeys(("node_modules", "bower_components", "site-packages"), PACKAGES),
    **dict.fromkeys(("dist-packages", "__pypackages__", "venv", "env.bak"), PACKAGES),
}
"""Directories that hold nothing a user wrote, and why; hidden ones are left out, too."""
ENVIRONMENT = ("pyvenv.cfg", "conda-meta")
"""What lies at the top of an environment of Python, whatever its name."""


class Skipped(NamedTuple):
    """A file or directory that a walk left out, and why.

    ``unlisted``: a directory that cannot be listed; whoever walks reports it.  ``nearly``: a
    file so much like one of ours that it is named without being asked for.
    """

    path: str
    reason: str
    unlisted: bool = False
    nearly: bool = False


def walk(
    root: str, exclude: Sequence[str] = (), skipped: Optional[List[Skipped]] = None
) -> Iterator[str]:
    """Every file below a directory, in order of name.

    Hidden directories, the usual build directories, and what .gitignore files exclude are left
    out; links to directories are not followed, so that no loop can arise.  What vanishes in the
    meantime is passed over.

    Args:
        root: the directory.
        exclude: more patterns with the syntax of .gitignore, relative to ``root``.
        skipped: gets what is left out, and the directories that cannot be listed.
    """
    absolute = os.path.abspath(root)
    patterns = _patterns_above(absolute)
    if exclude:
        patterns.append(Patterns(absolute, exclude))
    start = len(os.path.join(absolute, ""))
    left_out: List[Skipped] = [] if skipped is None else skipped

    def leave(path: str, reason: str, unlisted: bool = False) -> None:
        left_out.append(Skipped(os.path.join(root, path[start:]), reason, unlisted))

    pending = [(absolute, patterns)]
    while pending:
        directory, patterns = pending.pop()
        own = Patterns.of_directory(directory)
        if own is not None:
            patterns = [*patterns, own]
        files, directories, others, reason = _entries(directory)
        if reason is not None:
            leave(directory, phrase("the directory cannot be listed: {}", reason), True)
        for name, what in others:
            path = os.path.join(directory, name)
            if not _ignored(path, False, patterns):
                left_out.append(
                    Skipped(os.path.join(root, path[start:]), what, nearly=_tells(name))
                )
        for name in files:
            path = os.path.join(directory, name)
            if patterns and _ignored(path, False, patterns):
                leave(path, IGNORED)
            else:
                yield os.path.join(root, path[start:])
        for name in reversed(directories):
            path = os.path.join(directory, name)
            if name.startswith("."):
                leave(path, "a hidden or build directory")
            elif name in LEFT_OUT:
                leave(path, LEFT_OUT[name])
            elif any(os.path.exists(os.path.join(path, mark)) for mark in ENVIRONMENT):
                leave(path, PACKAGES)
            elif _ignored(path, True, patterns):
                leave(path, IGNORED)
            else:
                pending.append((path, patterns))


def of_package(path: str) -> Optional[str]:
    """Why a file is left out that nobody means to check: it is below installed packages.

    Args:
        path: the file; of the directories above it those below the working directory count.
    """
    inner = os.path.dirname(os.path.relpath(path))
    while inner not in ("", os.curdir) and not inner.startswith(os.pardir):
        marks = (os.path.join(inner, mark) for mark in ENVIRONMENT)
        if LEFT_OUT.get(os.path.basename(inner)) == PACKAGES or any(map(os.path.exists, marks)):
            return PACKAGES
        inner = os.path.dirname(inner)
    return None


def _entries(
    directory: str,
) -> Tuple[List[str], List[str], List[Tuple[str, str]], Optional[str]]:
    """The files and directories in a directory, what is neither, or why it cannot be listed."""
    files: List[str] = []
    directories: List[str] = []
    others: List[Tuple[str, str]] = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        directories.append(entry.name)
                    elif entry.is_file():
                        files.append(entry.name)
                    else:
                        others.append((entry.name, _what_else(entry)))
                except OSError as error:
                    others.append((entry.name, error.strerror or str(error)))
    except OSError as error:
        gone = error.errno in (errno.ENOENT, errno.ENOTDIR)
        return [], [], [], None if gone else error.strerror or str(error)
    return sorted(files), sorted(directories), sorted(others), None


def _what_else(entry: "os.DirEntry[str]") -> str:
    """What is neither a file nor a directory."""
    if entry.is_symlink():
        linked = entry.is_dir()
        return "a link to a directory, which is not followed" if linked else "a broken link"
    return "neither a file nor a directory"


_ENDS = (".py", ".yaml", ".yml", ".toml", ".json", ".pbtxt", ".pb", ".cfg", ".ini", ".sh", ".bash")


def _tells(name: str) -> bool:
    """Whether a name is one of a file that is checked."""
    return name.lower().endswith(_ENDS)


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
