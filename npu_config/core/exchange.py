"""Putting a new content in the place of a known one, and losing no edit of another writer.

Between looking at a file and replacing it another process may write to it.  So the new file and
the old one exchange their names in one step, and the old one is looked at behind that: whoever
came in between, by a rename or by writing in place, is found there, and the names are exchanged
back.  A lease tells of writers that have the file open, and holds up those that open it
meanwhile, until it is certain which file they write to.

Where the system has no exchange the old file gets a second name first, and where it has no
leases the content is compared once more a moment later.
"""

import errno
import os
import sys
import time
from typing import IO, Optional

from npu_config.core.files import Draft, PathLike, about, reading
from npu_config.core.message import phrase

_CALLS = {"x86_64": 316, "aarch64": 276}
"""Machine to the number of renameat2, which glibc has as a function since 2.28 only."""
_HERE, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE."""

_LATE, _LATE_WITHOUT_LEASE = 0.002, 0.02
"""Seconds in which a process that has looked the name up gets to open it, and to write to it."""

_CHANGED = "the file changed while it was checked; it is not written"
_OPEN = "another process has the file open for writing; it is not written"


class ChangedError(OSError):
    """The file is not the one that was read: another process has written to it, or is about to."""


def replace_content(path: PathLike, before: bytes, after: bytes) -> None:
    """Write a file that holds what was read from it, all of it or nothing.

    Args:
        path: the file; a link stays one.
        before: what it has to hold.
        after: what it holds then; see :func:`~npu_config.core.files.write_atomic` for the rest.

    Raises:
        ChangedError: it holds something else, or another process writes to it; it is left to
            that process.
        OSError: as of write_atomic.
    """
    with about(os.fspath(path)), Draft(os.path.realpath(path)) as draft:
        draft.fill(after)
        _put(draft.named(), draft.target, before, after)
        draft.sync_name()


def _put(draft: str, target: str, before: bytes, after: bytes) -> None:
    """Give a draft the name of a file; behind that there is none of the draft's name."""
    _refuse_changed(target, before)
    _exchange(draft, target)
    try:
        _refuse_changed(draft, before, wait=True)
        os.unlink(draft)
    except BaseException:
        left = after
        try:
            _exchange(draft, target)
        except OSError:  # whoever came in between has removed the file, or replaced it again
            left = before
        _keep_edits(draft, left)
        raise


def _refuse_changed(path: str, content: bytes, wait: bool = False) -> None:
    """See that a file holds a content and that nobody writes to it.

    Raises:
        ChangedError: it does not, or somebody does.
    """
    with open(path, "rb", opener=reading) as stream:
        leased = _lease(stream)
        asked = stream.read() != content
        if wait and not asked:
            time.sleep(_LATE if leased else _LATE_WITHOUT_LEASE)
            stream.seek(0)
            asked = _is_asked_for(stream) if leased else stream.read() != content
    if asked:
        raise ChangedError(errno.EBUSY, phrase(_CHANGED), path)


def _keep_edits(draft: str, content: bytes) -> None:
    """Rename a draft that somebody wrote to while it had the name of the file.

    Raises:
        ChangedError: with the new name.
    """
    try:
        _refuse_changed(draft, content, wait=True)
    except ChangedError:
        kept = draft + ".kept"
        os.rename(draft, kept)
        text = "the file changed twice while it was written; what it held in between is in {}"
        raise ChangedError(errno.EBUSY, phrase(text, kept), kept) from None


def _lease(stream: IO[bytes]) -> bool:
    """Hold up whoever opens the file for writing, until it is closed here.

    Returns:
        False where the file system has no leases, or not for this user.

    Raises:
        ChangedError: somebody has it open for writing.
    """
    try:
        import fcntl
        import signal

        fcntl.fcntl(stream, fcntl.F_SETSIG, signal.SIGURG)  # by default it is one that kills
        fcntl.fcntl(stream, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        raise ChangedError(errno.EBUSY, phrase(_OPEN), stream.name) from None
    except (ImportError, AttributeError, OSError):
        return False
    return True


def _is_asked_for(stream: IO[bytes]) -> bool:
    """True when somebody waits to write to a file with a lease."""
    import fcntl

    return fcntl.fcntl(stream, fcntl.F_GETLEASE) != fcntl.F_RDLCK


def _exchange(one: str, other: str) -> None:
    """Two files exchange their names, in one step where the system can."""
    if not _exchange_at_once(one, other):
        spare = one + ".old"
        os.link(other, spare)
        try:
            if not os.path.samefile(spare, other):
                raise ChangedError(errno.EBUSY, phrase(_CHANGED), other)
            os.replace(one, other)
        except BaseException:
            os.unlink(spare)
            raise
        os.replace(spare, one)


def _exchange_at_once(one: str, other: str) -> bool:
    """Exchange two names by renameat2; False where there is no such call.

    Raises:
        OSError: one of the files is not there, or they may not be renamed.
    """
    call: Optional[int] = None
    if sys.platform.startswith("linux") and sys.maxsize > 1 << 32:
        call = _CALLS.get(os.uname().machine)
    if call is None:
        return False
    try:
        import ctypes
    except ImportError:
        return False
    system = ctypes.CDLL(None, use_errno=True).syscall
    names = (os.fsencode(one), os.fsencode(other))
    here, flag = ctypes.c_long(_HERE), ctypes.c_long(_EXCHANGE)
    if system(ctypes.c_long(call), here, names[0], here, names[1], flag) == 0:
        return True
    error = ctypes.get_errno()
    if error in (errno.ENOENT, errno.EACCES, errno.EROFS):
        raise OSError(error, os.strerror(error), other)
    return False
