"""``check --watch``: a check again and again, of what changed."""

import os
import time
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple, TypeVar

import click

from npu_config.cli._output import say
from npu_config.core.message import localized
from npu_config.text.source import unsaved

__all__ = ["Remembered", "watch"]

_Answer = TypeVar("_Answer")
State = Optional[Tuple[int, int, int]]
"""Size of a file, when it was written to, and its number; None where there is none."""

_PAUSE = 0.3
_SHARE = 5
"""The time between two looks at the files, in seconds and in times of what a look takes."""


class Remembered:
    """What was found in files; it holds while neither they nor what was read for it changes."""

    def __init__(self) -> None:
        self._known: Dict[str, Tuple[Any, Mapping[str, State], Any]] = {}
        self._settings: Any = None

    def use(self, settings: Any) -> None:
        """Forget what was found with other settings."""
        if settings != self._settings:
            self._known.clear()
            self._settings = settings

    def answer(self, path: str, check: Callable[[], _Answer], around: Any = None) -> _Answer:
        """What a check of a file gives, or gave with the same around it."""
        known = self._known.get(path)
        if known is not None and known[2] == around and _holds(known[1]):
            found: _Answer = known[0]
            return found
        full = os.path.abspath(path)
        before = _state(full)  # what is written meanwhile is a change
        with unsaved({}) as asked:
            found = check()
        states = {**{name: _state(name) for name in asked}, full: before}
        self._known[path] = found, states, around
        return found

    def checked(self, before: Mapping[str, State]) -> Dict[str, State]:
        """The states that files, and all that was read for them, had when they were checked.

        Args:
            before: the states of the files before the check: what is made or written since then
                is a change.
        """
        self._known = {k: v for k, v in self._known.items() if os.path.abspath(k) in before}
        found: Dict[str, State] = {}
        for _, states, _ in self._known.values():
            found.update(states)
        return {**found, **before}


def _holds(states: Mapping[str, State]) -> bool:
    return all(_state(name) == state for name, state in states.items())


def _state(path: str) -> State:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def watch(check: Callable[[Remembered], int], paths: Callable[[], Iterable[str]]) -> int:
    """Check, and again whenever a file changes; returns the last exit code when interrupted.

    Args:
        check: checks and prints; returns its exit code.
        paths: gives the files that are checked.

    Raises:
        KeyboardInterrupt: interrupted before the end of the first check.
    """
    remembered, here = Remembered(), os.getcwd()
    code: Optional[int] = None
    try:
        while True:
            click.clear()
            before = {os.path.abspath(path): _state(path) for path in paths()}
            code = check(remembered)
            say(localized("watching; Ctrl-C ends\n"), err=True)
            seen = remembered.checked(before)
            pause = _PAUSE
            while True:
                time.sleep(pause)
                start = time.monotonic()
                _enter(here)
                names = {os.path.abspath(path) for path in paths()}
                if not names <= set(seen) or any(_state(n) != s for n, s in seen.items()):
                    break
                pause = max(_PAUSE, _SHARE * (time.monotonic() - start))
    except KeyboardInterrupt:
        if code is None:
            raise
        return code


def _enter(folder: str) -> None:
    """Be in the working directory, which may be another one of its name, or come back later."""
    said = False
    while True:
        try:
            os.chdir(folder)
            return
        except OSError as error:
            if not said:
                click.clear()
                say("{}: {}\n".format(folder, error.strerror), err=True)
            said = True
            time.sleep(_PAUSE)
