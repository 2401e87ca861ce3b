"""Logs of a job that still runs: what they hold more is read until the first cause is certain."""

import io
import os
from typing import Dict, Iterable, Tuple

from npu_config.logs.jobs import Growing, files_of
from npu_config.logs.lines import BLOCK, Copied, decoded, keep
from npu_config.logs.report import LogReport, report_of
from npu_config.logs.verdict import judged
from npu_config.logs.words import KNOWN
from npu_config.text.source import reading

__all__ = ["Follower"]

_BEHIND = 60
"""Lines behind an event after which nothing is expected to be added to it."""


class Follower:
    """Reads what files hold more, again and again.

    Args:
        paths: files and folders; ``-`` is fed line by line (:meth:`add`).
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._job = Growing()
        self._read: Dict[str, Tuple[int, bytes]] = {}
        self._behind = 0
        self._found = False
        self._copy = Copied(io.BytesIO()).copy if "-" in self._paths else None

    def add(self, path: str, raw: bytes) -> None:
        """One more line of a file."""
        if path == "-":
            keep(self._copy, raw)
        if self._job.feed(path, decoded(raw.rstrip(b"\r\n"))):
            self._behind, self._found = 0, True
        else:
            self._behind += 1

    def grow(self) -> bool:
        """Read what is new; whether there was anything."""
        grown = False
        for path, _ in files_of(self._paths):
            at, rest = self._read.get(path, (0, b""))
            try:
                with open(path, "rb", opener=reading) as stream:
                    if os.fstat(stream.fileno()).st_size < at:  # it was written anew
                        at, rest = 0, b""
                    stream.seek(at)
                    block = stream.read(BLOCK)
            except OSError:
                continue
            if not block:
                continue
            grown = True
            *lines, left = (rest + block).split(b"\n")
            self._read[path] = at + len(block), left[:BLOCK]
            for line in lines:
                self.add(path, line)
        return grown

    def certain(self, at_once: bool) -> bool:
        """Whether the first cause is known, and nothing is expected to be added to it.

        Args:
            at_once: nothing was written for a while.
        """
        if not self._found or not (at_once or self._behind >= _BEHIND):
            return False
        verdict = judged(self._job.job())
        event = verdict.event
        return event is not None and event.weight >= KNOWN and not event.other_side

    def report(self) -> LogReport:
        """What is known now."""
        for path, (_, rest) in list(self._read.items()):
            if rest:
                self.add(path, rest)
        job = self._job.job()
        job.copy = self._copy
        return report_of(job)
