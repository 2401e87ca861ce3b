"""The files that are open in the editor: their texts, when they are checked, what is found."""

import asyncio
import contextlib
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import (
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

import attr

from npu_config.core.diagnostics import Diagnostic, Report
from npu_config.editor.lines import Lines
from npu_config.editor.worker import EndedError, WorkerProcess

__all__ = ["Checked", "Files", "OpenFile"]

_SHORTEST, _LONGEST = 0.01, 0.3
"""Seconds without a change after which a file is checked: as long as its last check took."""


class Checked(NamedTuple):
    """What a check of a file gave.

    Args:
        found: what is wrong, in this file and in those that it names; their paths are absolute.
        ours: whether the file is one that is checked.
        asked: the absolute paths of the files that the check looked at.
    """

    found: Tuple[Diagnostic, ...] = ()
    ours: bool = False
    asked: FrozenSet[str] = frozenset()


@attr.s(slots=True, auto_attribs=True, eq=False)
class OpenFile:
    """A file that the editor has open.

    Args:
        uri: its name in the editor.
        path: its absolute path.
        lines: its text.
        version: the number that the editor gives the text.
        checked: what the last check of it gave; None before the first.
        seconds: how long that took.
        saved: whether this is the text that was opened or saved.
        known: the kind that it was taken for when it was opened or saved; None: for none of ours.
    """

    uri: str
    path: str
    lines: Lines
    version: Optional[int] = None
    checked: Optional[Checked] = None
    seconds: float = 0.0
    saved: bool = True
    known: Optional[str] = None

    @property
    def text(self) -> str:
        """Its text."""
        return self.lines.text

    @property
    def content(self) -> bytes:
        """Its text as it would be saved."""
        return self.text.encode("utf-8", "surrogatepass")

    @property
    def ours(self) -> bool:
        """Whether it is a file for npu_config, as far as is known."""
        if self.checked is not None:
            return self.checked.ours
        from npu_config.readers import is_ours

        return bool(is_ours(self.path, self.content))


class Files:
    """The open files.

    Args:
        worker: checks one: takes changes of texts (absolute path to content, None for a file
            that is not open any more), a path, and the kind that its file is known as: while
            it is typed its text may not say so any more.
        publish: is called with a path, and everything that is found there.
    """

    def __init__(self, worker: WorkerProcess, publish: Callable[[str, Report], None]) -> None:
        self._worker = worker
        self._publish = publish
        self._open: Dict[str, OpenFile] = {}
        self._changes: Dict[str, Optional[bytes]] = {}
        self._found: Dict[str, Dict[str, List[Diagnostic]]] = {}
        self._due: Dict[str, float] = {}
        self._wake = asyncio.Event()
        self._task: Optional[asyncio.Task[None]] = None
        self._thread = ThreadPoolExecutor(1)

    def get(self, path: str) -> Optional[OpenFile]:
        """An open file; None for a path that is not open."""
        return self._open.get(path)

    def open(self, file: OpenFile) -> None:
        """A file is opened, or opened again."""
        self._open[file.path] = file
        self._changed(file.path, file.content)
        self._want(file.path)
        self._want_others(file.path)

    def change(self, path: str, text: str, version: Optional[int]) -> None:
        """The text of an open file is another one."""
        file = self._open.get(path)
        if file is not None:
            file.lines, file.version, file.saved = Lines(text), version, False
            self._changed(path, file.content)
            pause = min(max(file.seconds, _SHORTEST), _LONGEST)
            self._want(path, pause)
            self._want_others(path, pause)

    def close(self, path: str) -> None:
        """A file is not open any more: nothing is shown of it, and others see it as saved."""
        if self._open.pop(path, None) is None:
            return
        self._changed(path, None)
        self._due.pop(path, None)
        self._show(path, {})
        self._want_others(path)

    def saved(self, path: Optional[str]) -> None:
        """A file was written by the editor; others may be about it."""
        file = None if path is None else self._open.get(path)
        if file is not None:
            file.saved = True
        self.disk_changed()

    def disk_changed(self) -> None:
        """Files were written, made or removed: every open file is checked again."""
        for path in self._open:
            self._want(path)

    def end(self) -> None:
        """Nothing is checked any more."""
        self._due.clear()
        self._worker.end()
        self._thread.shutdown(wait=False)

    def found_in(self, path: str) -> Report:
        """Everything that is found in a file; what is wrong with it is said once."""
        reports = [self._found.get(path, {}).get(path, ())]
        reports += [
            found[path] for by, found in self._found.items() if by != path and path in found
        ]
        found = [each for report in reports for each in report]
        of_file = {each for each in found if each.option is None}
        return Report(
            each
            for each in found
            if each.option is None or replace(each, option=None) not in of_file
        )

    def _changed(self, path: str, content: Optional[bytes]) -> None:
        for name in {path, os.path.realpath(path)}:
            self._changes[name] = content

    def _want(self, path: str, pause: float = 0.0) -> None:
        """Check a file soon."""
        loop = asyncio.get_running_loop()
        self._due[path] = loop.time() + pause
        self._wake.set()
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work())

    def _want_others(self, path: str, pause: float = 0.0) -> None:
        """Check those files again whose check looked at this one."""
        names = {path, os.path.realpath(path)}
        for other, file in self._open.items():
            if other != path and file.checked is not None and names & file.checked.asked:
                self._want(other, pause)

    async def _work(self) -> None:
        """Check what is due, what was wanted last first, until nothing is left."""
        loop = asyncio.get_running_loop()
        while self._due:
            now = loop.time()
            ready = [path for path, due in self._due.items() if due <= now]
            if not ready:
                self._wake.clear()
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), min(self._due.values()) - now)
                continue
            path = max(ready, key=lambda each: self._due[each])
            del self._due[path]
            file = self._open.get(path)
            if file is not None:
                await self._check(file)

    async def _check(self, file: OpenFile) -> None:
        """Check one file; an answer for a text that is no longer its text is forgotten."""
        loop = asyncio.get_running_loop()
        lines, start = file.lines, loop.time()
        changes = self._changes if self._worker.started else dict(self._texts())
        self._changes = {}
        checked = await loop.run_in_executor(self._thread, self._ask, file, changes)
        if self._open.get(file.path) is not file or file.lines is not lines:
            return
        if file.checked is not None:  # the first one may have waited for the worker
            file.seconds = loop.time() - start
        file.checked = checked
        if file.saved and checked.ours:
            from npu_config.editor.cursor import kind_of

            file.known = file.known or kind_of(file.path, file.text)
        by_path: Dict[str, List[Diagnostic]] = {}
        for each in checked.found:
            by_path.setdefault(each.path or file.path, []).append(each)
        self._show(file.path, by_path)

    def _ask(self, file: OpenFile, changes: Mapping[str, Optional[bytes]]) -> Checked:
        """What the worker finds; its end is a finding of the file that ended it."""
        path = file.path
        try:
            answer: Checked = self._worker(changes, path, file.known)
            return answer
        except Exception as error:
            from npu_config.text.source import fault

            logging.getLogger(__name__).exception(path)
            if isinstance(error, EndedError):
                error = RuntimeError("the process that reads the file ended unexpectedly")
            return Checked((fault(path, error),), True)

    def _texts(self) -> Iterator[Tuple[str, bytes]]:
        for path, file in self._open.items():
            for name in {path, os.path.realpath(path)}:
                yield name, file.content

    def _show(self, path: str, found: Dict[str, List[Diagnostic]]) -> None:
        """Show what the check of a file found, in the place of what it found before."""
        before: Iterable[str] = self._found.pop(path, {})
        if found:
            self._found[path] = found
        paths: Set[str] = {path, *before, *found}
        for each in sorted(paths):
            self._publish(each, self.found_in(each))
