"""The rules about a run of migrations: files that are no scripts, or cannot be written."""

from npu_config.core.diagnostics import Severity, declare

_SOURCE = ("npu_config",)


@declare("NPU450", Severity.WARNING, source=_SOURCE)
def notebook_not_migrated() -> None:
    """A notebook cannot be migrated.

    `npu-config migrate` changes only the code cells of a notebook.  The notebook must have
    format version 4 and be written in Python, and its cells must parse (magics and shell
    commands are skipped).  For any other notebook, export the code (`jupyter nbconvert --to
    script train.ipynb`) and migrate the exported script.
    """


@declare("NPU451", Severity.WARNING, source=_SOURCE)
def nothing_to_migrate() -> None:
    """A directory passed to `npu-config migrate` contains no Python file.

    Hidden directories, build directories and paths that .gitignore lists are skipped: pass the
    path of the file or the directory itself.
    """


@declare("NPU452", Severity.WARNING, source=_SOURCE)
def link_out_of_tree() -> None:
    """A symbolic link leads out of the directory that is migrated.

    The target of the link is outside of this directory, so it is neither changed nor copied.
    To migrate the target, pass its path.
    """


@declare("NPU453", Severity.ERROR, source=_SOURCE)
def migration_not_written() -> None:
    """A migrated file could not be written.

    The file or its directory is read-only, the disk is full, the file is a link that leads out
    of the directory, or somebody else changed the file in the meantime.  This file is
    unchanged; the other files are written.
    """


@declare("NPU454", Severity.ERROR, source=_SOURCE)
def migration_failed() -> None:
    """`npu-config migrate` failed on a script, which is left unchanged.

    This is a bug in npu_config: please report it, with the script if you can.  The other files are
    migrated.
    """
