"""The one place through which every file is read and judged: a fault of ours ends no run."""

import os
from contextlib import contextmanager
from typing import Any, Callable, Iterator, List, Optional, TypeVar

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare

_Result = TypeVar("_Result")


@declare("NPU700", Severity.ERROR, source=("npu_config",))
def internal_fault() -> None:
    """npu_config itself failed on a file.

    The fault is one of npu_config, not of the file, which is not judged; the other files are.
    The message holds what a report needs: the exception and the line that raised it.
    """


def fault(path: Optional[str], error: BaseException) -> Diagnostic:
    """The finding for an exception that should not have been raised.

    Args:
        path: the file that was read or judged; None where no file is known.
        error: the exception.
    """
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = ""
    if frames:
        where = ", {}:{}".format(os.path.basename(frames[-1].filename), frames[-1].lineno)
    return internal_fault.diagnostic(
        phrase(
            "npu_config failed: {}{}: {}"
            if path is None
            else "npu_config failed on this file, which is not checked: {}{}: {}",
            type(error).__name__,
            where,
            str(error)[:200],
        ),
        Place(path),
        help="this is a fault of npu_config: report it"
        if path is None
        else "this is a fault of npu_config: report it, with the file if you can",
    )


@contextmanager
def guarded(path: Optional[str]) -> Iterator[None]:
    """Whatever the block raises becomes one finding.

    Args:
        path: the file that the block reads or judges.

    Raises:
        NpuConfigError: what the block raised itself, or with :data:`INTERNAL` for any other
            exception.
    """
    try:
        yield
    except NpuConfigError:
        raise
    except Exception as error:
        raise NpuConfigError([fault(path, error)]) from error


def attempted(
    found: List[Diagnostic], path: Optional[str], work: Callable[..., _Result], *arguments: Any
) -> Optional[_Result]:
    """What some work on a file returns; None where it raises, and ``found`` says why.

    Args:
        found: gets what is wrong.
        path: the file that the work reads or judges.
        work: is called with the arguments.
        arguments: its arguments.
    """
    try:
        with guarded(path):
            return work(*arguments)
    except NpuConfigError as error:
        found.extend(error.diagnostics)
    return None
