"""Bytes from files, and text from bytes, without an exception and within limits."""

import errno
import os
import stat
import time
from typing import IO, Optional, Tuple, Union

from npu_config.core.arguments import is_text
from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.files import reading
from npu_config.core.message import phrase
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


def load(path: str, limit: int) -> Union[bytes, Diagnostic]:
    """The content of a file, or why there is none.

    A file that another process writes to meanwhile is read again: half of one content and half
    of another is none.

    Args:
        path: the file.
        limit: how many bytes it may have.
    """
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
            help = "it looks like a binary file; give one of text"
        message = phrase(
            "the file is not UTF-8 text: it holds the byte 0x{:02x}", data[error.start]
        )
        place = Place(path, line, column, line, column + 1)
        return None, rules.unreadable_file.diagnostic(message, place, help=help)
