"""What git knows of files that are about to be rewritten."""

import os
import shlex
import subprocess
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from npu_config.core.message import localized

__all__ = ["undo", "uncommitted"]

_SHARE = 200
"""How many paths one call of git is given."""


def uncommitted(paths: Sequence[str]) -> Dict[str, str]:
    """The files that git could not give back, with the reason; none where there is no git."""
    found: Dict[str, str] = {}
    for top, files in _by_repository(paths).items():
        names = {os.path.relpath(os.path.realpath(path), top): path for path in files}
        keys = list(names)
        for start in range(0, len(keys), _SHARE):
            for status, name in _status(top, keys[start : start + _SHARE]):
                path = names.get(name.replace("/", os.sep))
                if path is not None:
                    found[path] = (
                        localized("git does not know this file: add and commit it, or use --force")
                        if status == "??"
                        else localized(
                            "it has changes that are not committed: commit or stash them, or use "
                            "--force"
                        )
                    )
    return found


def undo(paths: Sequence[str]) -> List[str]:
    """The commands that take back what was written, as a shell takes them."""
    commands = []
    for top, files in _by_repository(paths).items():
        names = [shlex.quote(os.path.relpath(os.path.realpath(path), top)) for path in files]
        commands.append(" ".join(["git", "-C", shlex.quote(top), "checkout", "--", *names]))
    return commands


def _by_repository(paths: Sequence[str]) -> Dict[str, List[str]]:
    """Paths by the top of their repository, a submodule being one of its own."""
    tops: Dict[str, Optional[str]] = {}
    found: Dict[str, List[str]] = {}
    for path in paths:
        folder = os.path.dirname(os.path.realpath(path))
        if folder not in tops:
            tops[folder] = _top(folder)
        top = tops[folder]
        if top is not None:
            found.setdefault(top, []).append(path)
    return found


def _top(folder: str) -> Optional[str]:
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _status(top: str, names: Sequence[str]) -> Iterator[Tuple[str, str]]:
    """The state of files that are not as they were committed; nothing where git fails."""
    command = ["git", "-C", top, "status", "--porcelain", "-z", "--untracked-files=all", "--"]
    try:
        done = subprocess.run(
            [*command, *(":(literal)" + name for name in names)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
    except OSError:
        return
    entries = iter(os.fsdecode(done.stdout).split("\0") if done.returncode == 0 else ())
    for entry in entries:
        if entry:
            yield entry[:2], entry[3:]
            if entry[0] in "RC":
                next(entries, None)
