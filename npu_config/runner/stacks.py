"""Stacks that TensorFlow keeps with every operation begin at the script, as under ``python``.

TensorFlow prints them with an error ("Original stack trace for ..."); what runs the script has no
place in them.
"""

import sys
from types import FrameType
from typing import Any, Callable, FrozenSet, Optional


def files_below() -> FrozenSet[str]:
    """The files of all frames that run now."""
    files = set()
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        files.add(frame.f_code.co_filename)
        frame = frame.f_back
    return frozenset(files)


def hide(files: FrozenSet[str]) -> Callable[[], None]:
    """Leave frames of files out of the stacks of this thread; TensorFlow is imported.

    Returns:
        A function that undoes it.
    """
    stacks = sys.modules.get("tensorflow_core.python.util.tf_stack") or sys.modules.get(
        "tensorflow.python.util.tf_stack"
    )
    base = getattr(stacks, "StackTraceFilter", None)
    if base is None:
        return lambda: None

    class Hidden(base):  # type: ignore[misc, valid-type]
        def get_filtered_filenames(self) -> Any:
            return files if self.parent is None else files | self.parent.get_filtered_filenames()

    hidden = Hidden()
    hidden.__enter__()
    kept = Hidden._stack_dict[hidden._thread_key]

    def undo() -> None:
        if hidden in kept:
            kept.remove(hidden)

    return undo
