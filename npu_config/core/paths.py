"""Paths that users name: as text, opened where that ends, and what lies below a directory.

A run imports this before the script, so that nothing here needs a diagnostic.
"""

import errno
import os
import stat
from typing import Iterator, List, Optional, Tuple, Union

from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import phrase

PathLike = Union[str, "os.PathLike[str]"]

_SCRIPT = lazy_pattern(r"[^\s(){}=;#'\"]+\.(?:py|pyw|ipynb)\Z")
_OTHERS = {
    stat.S_IFIFO: phrase("this is a named pipe, not a file"),
    stat.S_IFSOCK: phrase("this is a socket, not a file"),
}
_DEVICE = phrase("this is a device, not a file")
_OWN = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")


def path_name(path: object) -> str:
    """A path as text.

    Raises:
        TypeError: it is neither text nor an ``os.PathLike`` of text.
    """
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if isinstance(name, str):
        return name
    given = type(path).__name__
    raise TypeError(phrase("expected a path, as a string or pathlib.Path, got {}", given))


def is_text(path: str) -> bool:
    """True for what was given as a path and is the content of a file."""
    return "\n" in path or path.lstrip().startswith("{")


def names_file(text: str) -> bool:
    """True for what was given as the content of a file and is the path of one."""
    if not 0 < len(text) < 4096 or "\n" in text or "\0" in text:
        return False
    return _SCRIPT.match(text) is not None or os.path.isfile(text)


def reading(path: str, flags: int) -> int:
    """The ``opener`` of every file that is read: what may never answer or end is not opened.

    That is a named pipe, a socket, or a device other than ``os.devnull``.  What this process was
    given open can be read: standard input, and the pipe of ``<(command)``.

    Raises:
        OSError: it cannot be opened, or is none of these; the text says what it is.
    """
    status = os.stat(path)
    kind = stat.S_IFMT(status.st_mode)
    ends = kind in (stat.S_IFREG, stat.S_IFDIR) or path.startswith(_OWN)
    if not ends and not os.path.samestat(status, os.stat(os.devnull)):
        raise OSError(errno.EINVAL, _OTHERS.get(kind, _DEVICE), path)
    return os.open(path, flags)


def walk(
    top: str, refused: Optional[List[str]] = None
) -> Iterator[Tuple[str, List[str], List[str]]]:
    """(directory, its directories, its files) from ``top`` down, as ``os.walk``, at any depth.

    Links to directories are not followed; what is removed from the directories is left out.  (The
    function of the standard library calls itself for each level before Python 3.12.)

    Args:
        top: where to begin.
        refused: gets the directories that cannot be listed.
    """
    pending = [top]
    while pending:
        directory = pending.pop()
        folders: List[str] = []
        names: List[str] = []
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    (folders if _leads_on(entry) else names).append(entry.name)
        except OSError:
            if refused is not None:
                refused.append(directory)
            continue
        yield directory, folders, names
        paths = [os.path.join(directory, name) for name in reversed(folders)]
        pending += [path for path in paths if not os.path.islink(path)]


def _leads_on(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_directory(path: PathLike) -> bool:
    """Whether a path is a directory; no path with a NUL character is, on any Python."""
    try:
        return os.path.isdir(path)
    except ValueError:
        return False
