"""The rules about a run of checks: what --fix could not write."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

NOT_WRITTEN = declare(
    "NPU792",
    "fix-not-written",
    Severity.ERROR,
    """
    `--fix` could not write the corrected file.

    It is read-only, its directory is, the disk is full, or somebody else changed the file in
    the meantime.  Not written either are files that belong to another user, files with several
    names (hard links), and, below a directory, links that lead out of it: name such a file
    itself.  The file is as it was.
    """,
    source=("npu_config",),
)
