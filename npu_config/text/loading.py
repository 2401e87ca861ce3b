"""Bytes from files, and text from bytes, without an exception and within limits.

A file that an editor holds unsaved has the text of the editor (:func:`unsaved`).  Every file is
read and judged inside of :func:`guarded`: a fault of npu_config ends no run.
"""

import errno
import os
import stat
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import (
    IO,
    Any,
    Callable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
    TypeVar,
    Union,
)

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Severity
from npu_config.core.files import is_text, reading
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.text import rules
from npu_config.text.words import shown

BYTES = "latin-1"
"""The encoding of a text of any bytes: each is one character, and comes back."""

_REASONS = {
    errno.ENOENT: ("the file does not exist", "check the path"),
    errno.EACCES: ("the file may not be read by this user", "check its permissions"),
    errno.EPERM: ("the file may not be read by this user", "check its permissions"),
    errno.EISDIR: ("this is a directory", "name a file in it"),
    errno.ELOOP: ("the link leads to itself", None),
    errno.ENOTDIR: ("a part of the path is not a directory", "check the path"),
    errno.ENAMETOOLONG: ("the path is too long for this system", None),
}
_PAUSES = (0.005, 0.02, 0.1, 0)
"""Seconds to wait after each attempt to read a file that is being written."""

_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


class _Unsaved(NamedTuple):
    texts: Mapping[str, bytes]
    asked: Set[str]


_UNSAVED: "ContextVar[Optional[_Unsaved]]" = ContextVar("npu_config_unsaved", default=None)


@contextmanager
def unsaved(texts: Mapping[str, bytes]) -> Iterator[Set[str]]:
    """Inside, files have the content that an editor holds of them, saved or not.

    Args:
        texts: absolute path to content.

    Yields:
        The absolute paths of the files that were asked for, growing.
    """
    asked: Set[str] = set()
    token = _UNSAVED.set(_Unsaved(texts, asked))
    try:
        yield asked
    finally:
        _UNSAVED.reset(token)


def unsaved_content(path: str) -> Optional[bytes]:
    """What an editor holds of a file; None where no editor does."""
    held = _UNSAVED.get()
    if held is None:
        return None
    full = os.path.abspath(path)
    held.asked.add(full)
    return held.texts.get(full)


def load(path: str, limit: int) -> Union[bytes, Diagnostic]:
    """The content of a file, or why there is none.

    A file that another process writes to meanwhile is read again: half of one content and half
    of another is none.

    Args:
        path: the file.
        limit: how many bytes it may have.
    """
    held = unsaved_content(path)
    if held is not None:
        return too_large(path, limit) if len(held) > limit else held
    try:
        for pause in _PAUSES:
            with open(path, "rb", opener=reading) as stream:
                before = state_of(stream)
                data = stream.read(limit + 1)
                if state_of(stream) == before:
                    return too_large(path, limit) if len(data) > limit else data
            time.sleep(pause)
    except (OSError, ValueError) as error:
        return unreadable(path, error)
    message = "the file changes while it is read; it is not checked"
    help = "check it again when the process that writes it is done"
    return rules.unreadable_file.diagnostic(message, Place(path), help=help)


def loaded(path: str, limit: int) -> bytes:
    """The content of a file; see :func:`load`.

    Raises:
        NpuConfigError: there is none.
    """
    data = load(path, limit)
    if isinstance(data, Diagnostic):
        raise NpuConfigError([data])
    return data


def text_of(path: str, limit: int) -> str:
    """The text of a file of UTF-8, without a byte order mark.

    Raises:
        NpuConfigError: it cannot be read, or is not UTF-8.
    """
    text, fault = decode(loaded(path, limit), path)
    if fault is not None or text is None:
        raise NpuConfigError([fault] if fault else [])
    return text[1:] if text.startswith("\ufeff") else text


def state_of(stream: IO[bytes]) -> Optional[Tuple[int, int]]:
    """The size of a file, and when it was written to; None for a pipe or a device."""
    status = os.fstat(stream.fileno())
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def unreadable(path: str, error: Exception) -> Diagnostic:
    """What is said of a file that cannot be opened or read.

    Args:
        path: the file.
        error: what opening or reading it raised: an OSError, or the ValueError of a name with
            a NUL character.
    """
    if not isinstance(error, OSError):
        message = "no file can have this name; it holds a NUL character"
        return rules.unreadable_file.diagnostic(message, Place(path.replace("\0", "\\0")))
    if error.errno in _NO_FILE and is_text(path):
        message = phrase(
            "the path of a file is expected, and {} is the content of one", shown(path)
        )
        return rules.unreadable_file.diagnostic(
            message, help="give the path of a file that holds it"
        )
    reason, help = _REASONS.get(error.errno or 0, (None, None))
    if reason is None:
        reason = phrase("the file cannot be read: {}", error.strerror or error)
    if os.path.isdir(path):
        reason, help = _REASONS[errno.EISDIR]
    return rules.unreadable_file.diagnostic(reason, Place(path), help=help)


def too_large(path: Optional[str], limit: int) -> Diagnostic:
    """What is said of a file of more than ``limit`` bytes."""
    message = phrase("the file is larger than {:,} bytes and is not read", limit)
    return rules.file_too_large.diagnostic(message, Place(path))


def decode(data: bytes, path: Optional[str]) -> Tuple[Optional[str], Optional[Diagnostic]]:
    """The text of UTF-8 bytes, or why they are none."""
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        help = "save it as UTF-8"
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            help = "it looks like UTF-16; save it as UTF-8"
        elif b"\0" in data:
            help = "the file is binary; give a text file"
        message = phrase(
            "the file is not UTF-8 text: it holds the byte 0x{:02x}", data[error.start]
        )
        place = Place(path, line, column, line, column + 1)
        return None, rules.unreadable_file.diagnostic(message, place, help=help)


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
