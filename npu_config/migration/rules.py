"""The rules about a run of migrations: files that are no scripts, or cannot be written."""

from npu_config.core.diagnostics import Severity, declare

_SOURCE = ("npu_config",)


@declare("NPU450", Severity.WARNING, source=_SOURCE)
def notebook_not_migrated() -> None:
    """A notebook cannot be migrated.

    Its cells of code are migrated, and nothing else in the file is touched.  That takes a
    notebook of version 4, of Python, whose cells parse (magics and shell commands are passed
    over).  Of others export the code (`jupyter nbconvert --to script train.ipynb`) and migrate
    that.
    """


@declare("NPU451", Severity.WARNING, source=_SOURCE)
def nothing_to_migrate() -> None:
    """A directory passed to `npu-config migrate` contains no Python file.

    Hidden directories, build directories and what .gitignore names are left out: name the file
    or the directory itself.
    """


@declare("NPU452", Severity.WARNING, source=_SOURCE)
def link_out_of_tree() -> None:
    """A symbolic link leads out of the directory that is migrated.

    The file behind it belongs to something else, so that it is neither edited nor copied.  Name
    the file itself to migrate it.
    """


@declare("NPU453", Severity.ERROR, source=_SOURCE)
def migration_not_written() -> None:
    """A migrated file could not be written.

    It is read-only, its directory is, the disk is full, it is a link that leads out of the
    directory, or somebody else changed the file in the meantime.  The file is as it was; the
    other files are written.
    """


@declare("NPU454", Severity.ERROR, source=_SOURCE)
def migration_failed() -> None:
    """`npu-config migrate` failed on a script, which is left unchanged.

    This is a bug in npu_config: please report it, with the script if you can.  The other files are
    migrated.
    """
