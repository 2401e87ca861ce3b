"""Where the user's code called into the package, however deep the call is nested."""

import sys
from types import FrameType
from typing import Optional, Tuple

from npu_config.core.diagnostics import Place

_PACKAGE = __name__.split(".", 1)[0]


def _outside() -> Tuple[Optional[FrameType], int]:
    """The innermost frame that is not of this package, and its distance from our caller."""
    frame: Optional[FrameType] = sys._getframe(2)
    depth = 1
    while frame is not None and _of_package(frame):
        frame = frame.f_back
        depth += 1
    return frame, depth


def _of_package(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__") or ""
    return name == _PACKAGE or name.startswith(_PACKAGE + ".")


def caller_place() -> Place:
    """File and line of the user's call."""
    frame, _ = _outside()
    return Place() if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)


def caller_level() -> int:
    """The ``stacklevel`` with which :func:`warnings.warn` points at the user's call."""
    return _outside()[1]
