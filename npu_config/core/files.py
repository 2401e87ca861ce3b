"""Reading and writing files without ever losing the user's data.

Text is written to a temporary file beside the destination and moved into place, so
that a reader sees the old content or the new, never half of it.
"""

import os
import stat
from typing import Iterable, List, Mapping, Union

from npu_config.core.message import phrase

PathLike = Union[str, "os.PathLike[str]"]
Content = Union[str, bytes, Iterable[Union[bytes, memoryview]]]


def write_atomic(
    path: PathLike, content: Content, overwrite: bool = False, durable: bool = True
) -> None:
    """Write ``content`` to ``path``, all of it or nothing.

    Args:
        path: the destination; its directory must exist.
        content: text (written as UTF-8, line ends as given), bytes, or pieces of bytes.
        overwrite: replace an existing file, keeping its permission bits.
        durable: wait until the disk has it, so that the file survives a power failure.

    Raises:
        FileExistsError: the path exists and ``overwrite`` is False.
        IsADirectoryError: the path is a directory.
        OSError: the directory is missing, read-only or full; nothing is left behind.
    """
    import tempfile

    target = os.fspath(path)
    if os.path.isdir(target):
        raise IsADirectoryError(phrase("{} is a directory", target))
    if os.path.lexists(target) and not overwrite:
        raise FileExistsError(
            phrase("{} exists; it is not overwritten without being asked", target)
        )
    if overwrite:
        target = os.path.realpath(target)
    if isinstance(content, str):
        content = content.encode("utf-8")
    pieces = (content,) if isinstance(content, bytes) else content
    directory = os.path.dirname(target) or "."
    descriptor, temporary = tempfile.mkstemp(
        prefix=".{}.".format(os.path.basename(target)), suffix=".tmp", dir=directory
    )
    try:
        with os.fdopen(descriptor, "wb") as stream:
            for piece in pieces:
                stream.write(piece)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.chmod(temporary, _mode_of(target))
        if overwrite:
            os.replace(temporary, target)
        else:
            os.link(temporary, target)
            os.unlink(temporary)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def is_directory(path: PathLike) -> bool:
    """Whether a path is a directory; no path with a NUL character is, on any Python."""
    try:
        return os.path.isdir(path)
    except ValueError:
        return False


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
            phrase("{} exists with another content; overwrite=True replaces it", ", ".join(taken))
        )
    for path in pending:
        write_atomic(path, texts[path], overwrite)
    return pending


def _has_content(path: str, text: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read() == text.encode("utf-8")
    except OSError:
        return False


def _mode_of(target: str) -> int:
    if os.path.exists(target):
        return stat.S_IMODE(os.stat(target).st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
