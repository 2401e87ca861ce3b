"""The rules about a run of checks: what --fix could not write."""

from npu_config.core.diagnostics import Severity, declare


@declare("NPU792", Severity.ERROR, source=("npu_config",))
def fix_not_written() -> None:
    """`--fix` could not write the corrected file.

    It is read-only, its directory is, the disk is full, or somebody else changed the file in
    the meantime.  Not written either are files that belong to another user, files with several
    names (hard links), and, below a directory, links that lead out of it: name such a file
    itself.  The file is as it was.
    """
