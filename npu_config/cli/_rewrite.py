"""Putting corrected text in the place of the text that was read, or saying why not."""

import os
import stat
from typing import Optional

from npu_config.core.files import write_atomic
from npu_config.core.message import told


def rewrite(
    path: str, before: str, after: str, encoding: str = "utf-8", root: Optional[str] = None
) -> Optional[str]:
    """Write ``after`` where ``before`` is; why it was not done, if it was not.

    Args:
        path: the file.
        before: what was read from it; a file that holds anything else is left alone.
        after: what it is to hold.
        encoding: of both.
        root: the directory that the file was found in; a link that leads out of it is not
            followed.
    """
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
        reason = _refusal(path, real, status, root)
        if reason is not None:
            return reason
        with open(real, "rb") as stream:
            if stream.read() != before.encode(encoding):
                return "the file changed while it was checked; it is not written"
        write_atomic(real, after.encode(encoding), overwrite=True)
    except OSError as error:
        return told("the file cannot be written: {}", error.strerror or error)
    return None


def _refusal(path: str, real: str, status: os.stat_result, root: Optional[str]) -> Optional[str]:
    """Why a file is not replaced; None when it may be."""
    if not stat.S_ISREG(status.st_mode):
        return "this is not a regular file; it is not written"
    if not os.access(real, os.W_OK):
        return "the file may not be written by this user"
    if root is not None and os.path.islink(path):
        inside = os.path.join(os.path.realpath(root), "")
        if not real.startswith(inside):
            return told("the link leads out of {}; name the file itself to write it", root)
    if status.st_nlink > 1:
        return "the file has several names (hard links), which would no longer be one file"
    geteuid = getattr(os, "geteuid", None)
    if geteuid is not None and status.st_uid != geteuid():
        return "the file belongs to another user, and would change its owner"
    return None
