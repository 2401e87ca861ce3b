"""Processes that a script starts by fork, seen before they start.

Python can register a function for that and never take it back, so one stands here, and tells who
wants to know.
"""

import os
import sys
from types import FrameType
from typing import Callable, List, Optional

listeners: List[Callable[[Optional[FrameType]], None]] = []
"""Called with the frame that forks."""

_STARTS = os.path.join("multiprocessing", "popen_fork.py")


def _before() -> None:
    if not listeners:
        return
    frame: Optional[FrameType] = sys._getframe(1)
    start = frame
    while frame is not None:
        if frame.f_code.co_filename.endswith(_STARTS):
            for each in list(listeners):
                each(start)
            return
        frame = frame.f_back


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before)
