"""The user's call into the package: where it is, and what is wrong with one that Python refuses.

Python names the class that defines a method, not the one that the user has, before 3.10 none at
all, and stops at the first fault.  Nothing is looked at before a call was refused."""

import functools
import sys
from types import FrameType, FunctionType
from typing import Any, Callable, Optional, Sequence, Tuple, TypeVar

from npu_config.core.diagnostics import Place

__all__ = ["explained"]

_PACKAGE = __name__.partition(".")[0]

FRAMEWORKS = (
    *("keras", "six", "tensorflow", "tensorflow_core", "tensorflow_estimator"),
    *("contextlib", "importlib", "threading"),
)
"""Packages that make sessions and run them on behalf of a script."""


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "").partition(".")[0]


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


Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Help = Callable[[str, Sequence[str]], Optional[str]]
"""What to do about a keyword that a call does not take, among those that it does."""


def explained(help: Optional[Help] = None, module: str = "") -> Callable[[Decorated], Decorated]:
    """Make calls with wrong arguments say every fault, of the user's class, and what is legal.

    Args:
        help: says what to do about a keyword that is not taken.
        module: what users write before the name of a function.

    Returns:
        A decorator of a function, or of a class with its public methods and its constructor.
    """

    def decorate(decorated: Decorated) -> Decorated:
        if not isinstance(decorated, type):
            told: Any = _told(decorated, module, help)
            return told  # type: ignore[no-any-return]
        for name, member in list(vars(decorated).items()):
            if name.startswith("_") and name != "__init__":
                continue
            if isinstance(member, FunctionType):
                setattr(decorated, name, _told(member, None, help))
            elif isinstance(member, classmethod):
                setattr(decorated, name, classmethod(_told(member.__func__, None, help)))
        return decorated

    return decorate


def _told(
    function: Callable[..., Any], module: Optional[str], help: Optional[Help]
) -> Callable[..., Any]:
    layers = 2 if hasattr(function, "__wrapped__") else 1

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except TypeError as error:
            trace = error.__traceback__
            for _ in range(layers):
                trace = trace and trace.tb_next
            if trace is not None:
                raise  # the function was called, and something in it is wrong
            from npu_config.core.call_faults import problem

            message = problem(function, module, args, keywords, help) or str(error)
        raise TypeError(message)

    return call
