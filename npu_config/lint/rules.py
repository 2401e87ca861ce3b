"""The rules about a run of checks: what --fix could not write."""

from npu_config.core.diagnostics import Severity, declare


@declare("NPU792", Severity.ERROR, source=("npu_config",))
def fix_not_written() -> None:
    """`--fix` could not write the corrected file.

    The file or its directory is read-only, the disk is full, or somebody else changed the file
    in the meantime.  `--fix` does not write files that belong to another user, and files with
    several names (hard links).  When a directory is checked, it does not follow links that
    lead out of the directory either: pass the path of the linked file itself.  The file is
    unchanged.
    """
