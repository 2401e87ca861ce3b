"""Putting corrected text in the place of the text that was read, or saying why not."""

import os
import stat
from typing import Optional

from npu_config.core.message import localized


def rewrite(
    path: str, before: str, after: str, encoding: str = "utf-8", root: Optional[str] = None
) -> Optional[str]:
    """Write ``after`` where ``before`` is; why it was not done, if it was not.

    Args:
        path: the file.
        before: what was read from it; a file that holds anything else is left alone.
        after: what it is to hold.
        encoding: of both.
        root: the directory that the file was found in; links that lead out of it are not
            followed.
    """
    from npu_config.core.exchange import ChangedError, replace_content

    real = os.path.realpath(path)
    try:
        reason = _refusal(real, root)
        if reason is not None:
            return reason
        replace_content(real, before.encode(encoding), after.encode(encoding))
    except ChangedError as error:
        return error.strerror
    except OSError as error:
        return localized("the file cannot be written: {}", error.strerror or error)
    return None


def _refusal(real: str, root: Optional[str]) -> Optional[str]:
    """Why a file is not replaced; None when it may be."""
    if not stat.S_ISREG(os.stat(real).st_mode):
        return "this is not a regular file; it is not written"
    if not os.access(real, os.W_OK):
        return "the file may not be written by this user"
    if root is not None:
        inside = os.path.join(os.path.realpath(root), "")
        if not real.startswith(inside):
            return localized("a link leads out of {}; name the file itself to write it", root)
    return None
