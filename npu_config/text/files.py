"""Files written whole or not at all, and replaced only as they were when they were read."""

import contextlib
import errno
import os
import stat
import sys
import time
from typing import IO, Iterable, Iterator, List, Mapping, Optional, Union

from npu_config.core.message import listed, phrase
from npu_config.core.paths import PathLike, reading

Content = Union[str, bytes, Iterable[Union[bytes, memoryview]]]

_OPEN_FILES = "/proc/self/fd"
_PREFIX, _SUFFIX = ".npu_config.", ".tmp"
_SYSTEM = ("security.selinux",)
_ATTRIBUTES = ("user.", "system.posix_acl_access", *_SYSTEM)
"""The extended attributes that belong to a file, not to its content or its disk."""


def write_atomic(
    path: PathLike, content: Content, overwrite: bool = False, durable: bool = True
) -> None:
    """Write ``content`` to ``path``, all of it or nothing.

    Args:
        path: the destination; its directory must exist.
        content: text (written as UTF-8, line ends as given, bytes of names that are none as they
            are), bytes, or pieces of bytes.
        overwrite: replace an existing file, keeping its owner, its permission bits and its
            extended attributes; a link stays one.
        durable: wait until the disk has it, so that the file survives a power failure.

    Raises:
        FileExistsError: the path exists and ``overwrite`` is False.
        IsADirectoryError: the path is a directory.
        OSError: the directory is missing, read-only or full; or what is there cannot be
            replaced without harm: a device or pipe, a file with several names, one of another
            user.  Nothing is left behind.
    """
    target = os.fspath(path)
    if os.path.isdir(target):
        raise IsADirectoryError(phrase("{} is a directory", target))
    if os.path.lexists(target) and not overwrite:
        raise FileExistsError(phrase("{} exists and is not overwritten", target))
    with about(target), Draft(os.path.realpath(target) if overwrite else target) as draft:
        draft.fill(content, durable)
        if overwrite:
            os.replace(draft.named(), draft.target)
        else:
            draft.link(draft.target)
        if durable:
            draft.sync_name()


@contextlib.contextmanager
def about(path: str) -> Iterator[None]:
    """Inside, an error of the system is one of this file, by the name that it was asked for.

    Names of drafts say nothing to a user, and an error of writing has no name at all.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        reason: object = error.strerror
        folder = os.path.dirname(path) or "."
        if error.errno == errno.ENOENT and not os.path.isdir(folder):
            reason = phrase("there is no directory {}", folder)
        elif error.errno == errno.ENOTDIR:
            reason = phrase("{} is not a directory", folder)
        raise type(error)(error.errno, reason, path) from None


class Draft:
    """A file that is being written, in the directory of its target.

    Args:
        target: the file that it is to become.

    Raises:
        OSError: there is something that replacing would destroy.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self._directory = os.path.dirname(target) or "."
        self._there = _replaceable(target)
        self._path: Optional[str] = None
        self._stream: IO[bytes]

    def __enter__(self) -> "Draft":
        try:
            if not os.path.isdir(_OPEN_FILES):
                raise OSError
            descriptor = os.open(self._directory, os.O_TMPFILE | os.O_WRONLY, 0o600)
        except (AttributeError, OSError):  # no Linux, or a file system without such files
            import tempfile

            descriptor, self._path = tempfile.mkstemp(_SUFFIX, _PREFIX, self._directory)
        self._stream = os.fdopen(descriptor, "wb")
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # a full disk was reported by flush
            self._stream.close()
        if self._path is not None and os.path.lexists(self._path):
            os.unlink(self._path)

    def fill(self, content: Content, durable: bool = True) -> None:
        """Write the content, as :func:`write_atomic` takes it; the file is as its target is."""
        if isinstance(content, str):
            content = content.encode("utf-8", "surrogateescape")
        for piece in (content,) if isinstance(content, bytes) else content:
            self._stream.write(piece)
        self._stream.flush()
        self._dress()
        if durable:
            os.fsync(self._stream.fileno())

    def _dress(self) -> None:
        """Give it what belongs to the file that it replaces, if there is one.

        Owner, permission bits, access lists, labels and the attributes that users give.
        """
        there = self._there
        handle = self._stream.fileno() if self._path is None else self._path
        mode = 0o666 & ~_umask() if there is None else stat.S_IMODE(there.st_mode)
        own = os.fstat(self._stream.fileno())
        if there is not None and hasattr(os, "chown"):
            if own.st_uid != there.st_uid:
                try:
                    os.chown(handle, there.st_uid, -1)
                except OSError:
                    reason = "the file belongs to another user; writing it would change the owner"
                    raise PermissionError(errno.EPERM, reason) from None
            if own.st_gid != there.st_gid:
                with contextlib.suppress(OSError):
                    os.chown(handle, -1, there.st_gid)
        os.chmod(handle, mode)
        if there is not None and hasattr(os, "listxattr"):
            _copy_attributes(self.target, handle)

    def link(self, target: str) -> None:
        """Give it a name that is free."""
        if self._path is not None:
            os.link(self._path, target)
            return
        descriptor = self._stream.fileno()
        name = "{}/{}".format(_OPEN_FILES, descriptor)
        # Only with a directory does os.link follow the name to the file itself.
        os.link(name, target, src_dir_fd=descriptor, follow_symlinks=True)

    def named(self) -> str:
        """Its name for the time being, which it gets if it has none; it is written and closed."""
        if self._path is None:
            path = os.path.join(self._directory, _PREFIX + os.urandom(8).hex() + _SUFFIX)
            self.link(path)
            self._path = path
        self._stream.close()
        return self._path

    def sync_name(self) -> None:
        """Wait until the disk has its name, where that can be asked for."""
        with contextlib.suppress(OSError):
            descriptor = os.open(self._directory, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _copy_attributes(source: str, draft: Union[int, str]) -> None:
    """Give a draft the extended attributes of a file, and none that its directory gave it.

    Raises:
        OSError: an access list or an attribute of a user cannot be kept.
    """
    try:
        wanted = [name for name in os.listxattr(source) if name.startswith(_ATTRIBUTES)]
        given = [name for name in os.listxattr(draft) if name.startswith(_ATTRIBUTES)]
    except OSError:  # the file system has none
        return
    for name in given:
        if name not in wanted:
            os.removexattr(draft, name)
    for name in wanted:
        try:
            value = os.getxattr(source, name)
            if name not in given or os.getxattr(draft, name) != value:
                os.setxattr(draft, name, value)
        except OSError as error:
            if not name.startswith(_SYSTEM):
                reason = phrase("the extended attribute {} of the file cannot be kept", name)
                raise OSError(error.errno, reason, source) from None


def _replaceable(target: str) -> Optional[os.stat_result]:
    """The status of a file that may be replaced; None when there is none.

    Raises:
        OSError: there is something that replacing would destroy.
    """
    try:
        there = os.stat(target)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(there.st_mode):
        raise OSError(errno.EINVAL, "this is not a regular file; it is not written", target)
    if there.st_nlink > 1:
        reason = "the file has several names (hard links); writing it would separate them"
        raise OSError(errno.EMLINK, reason, target)
    return there


def make_directories(path: str) -> None:
    """Make a directory with those above it, at any depth; one that is there is left alone.

    Raises:
        OSError: a file is in the way, or it may not be made.
    """
    missing: List[str] = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for each in reversed(missing):
        os.mkdir(each)


def write_missing(texts: Mapping[str, str], overwrite: bool = False) -> List[str]:
    """Write several texts, or none: a file that has its text already is left alone.

    Args:
        texts: path to text; the directories must exist.
        overwrite: replace files with another content.

    Returns:
        The paths that were written.

    Raises:
        FileExistsError: a file exists with another content and ``overwrite`` is False.
        OSError: a file cannot be written; nothing of it is left behind.
    """
    pending = [path for path, text in texts.items() if not _has_content(path, text)]
    taken = [path for path in pending if os.path.lexists(path)]
    if taken and not overwrite:
        raise FileExistsError(
            phrase("{} exists with different content; overwrite=True replaces it", listed(taken))
        )
    for path in pending:
        write_atomic(path, texts[path], overwrite)
    return pending


def _has_content(path: str, text: str) -> bool:
    try:
        with open(path, "rb", opener=reading) as stream:
            return stream.read() == text.encode("utf-8", "surrogateescape")
    except OSError:
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_CALLS = {"x86_64": 316, "aarch64": 276}
"""Machine to the number of renameat2, which glibc has as a function since 2.28 only."""
_HERE, _EXCHANGE = -100, 2
"""AT_FDCWD and RENAME_EXCHANGE."""

_LATE, _LATE_WITHOUT_LEASE = 0.002, 0.02
"""Seconds in which a process that has looked the name up gets to open it, and to write to it."""

_CHANGED = "the file changed while it was checked; it is not written"
_OPEN = "another process has the file open for writing, so npu_config does not write the file"


class ChangedError(OSError):
    """The file is not the one that was read: another process has written to it, or is about to."""


def replace_content(path: PathLike, before: bytes, after: bytes) -> None:
    """Write a file that holds what was read from it, all of it or nothing, and lose no edit.

    Between looking at a file and replacing it another process may write to it.  So the new file
    and the old one exchange their names in one step, and the old one is looked at behind that:
    whoever came in between, by a rename or by writing in place, is found there, and the names are
    exchanged back.  A lease tells of writers that have the file open, and holds up those that
    open it meanwhile, until it is certain which file they write to.  Where the system has no
    exchange the old file gets a second name first, and where it has no leases the content is
    compared once more a moment later.

    Args:
        path: the file; a link stays one.
        before: what it has to hold.
        after: what it holds then; see :func:`write_atomic` for the rest.

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
        left = before
        try:
            _exchange(draft, target)
            if not _is_changed(draft, after):
                left = after
            elif not _is_changed(target, before):  # the edit is in the new file alone: it stays
                _exchange(draft, target)
        except OSError:  # whoever came in between has removed the file, or replaced it again
            pass
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
    if _is_changed(draft, content):
        kept = draft + ".kept"
        os.rename(draft, kept)
        text = "the file changed twice while it was written; the version in between is saved as {}"
        raise ChangedError(errno.EBUSY, phrase(text, kept), kept) from None


def _is_changed(path: str, content: bytes) -> bool:
    try:
        _refuse_changed(path, content, wait=True)
    except ChangedError:
        return True
    return False


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
