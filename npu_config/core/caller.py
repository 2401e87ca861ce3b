"""Where the user's code called into the package, however deep the call is nested."""

import sys
from types import FrameType
from typing import Optional, Tuple

from npu_config.core.diagnostics import Place

_PACKAGE = __name__.split(".", 1)[0]

FRAMEWORKS = (
    *("keras", "six", "tensorflow", "tensorflow_core", "tensorflow_estimator"),
    *("contextlib", "importlib", "threading"),
)
"""Packages that make sessions and run them on behalf of a script."""


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "").split(".", 1)[0]


def _outside(
    also: Tuple[str, ...], frame: Optional[FrameType] = None
) -> Tuple[Optional[FrameType], int]:
    """The innermost frame that is not of these packages, and its distance from our caller.

    Without such a frame, the innermost one that is not of this package.

    Args:
        also: packages beside this one.
        frame: the innermost frame; None: that of our caller's caller.
    """
    frame = frame or sys._getframe(2)
    depth = 1
    first: Tuple[Optional[FrameType], int] = (None, 0)
    while frame is not None:
        package = _package(frame)
        if package != _PACKAGE:
            if package not in also:
                return frame, depth
            first = first if first[1] else (frame, depth)
        frame = frame.f_back
        depth += 1
    return first if first[1] else (None, depth)


def caller_place(*also: str) -> Place:
    """File and line of the user's call.

    Args:
        also: further packages whose frames are not the user's, e.g. ``"tensorflow"``.
    """
    frame, _ = _outside(also)
    return Place() if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


def script_place() -> Place:
    """File and line of the script that leads here.

    Of this thread, or else of the main one: TensorFlow calls Python in threads of its own.
    """
    frame, _ = _outside(FRAMEWORKS)
    if frame is None or _package(frame) in FRAMEWORKS:
        import threading

        main = sys._current_frames().get(threading.main_thread().ident or 0)
        frame, _ = _outside(FRAMEWORKS, main)
    return Place() if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


def caller_level(*also: str) -> int:
    """The ``stacklevel`` with which :func:`warnings.warn` points at the user's call.

    Args:
        also: further packages whose frames are not the user's, e.g. ``"tensorflow"``.
    """
    return _outside(also)[1]
