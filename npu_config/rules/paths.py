"""770-775: files and directories that options point to, looked at on the training host."""

import errno
import functools
import os
import stat
from typing import Iterator, NamedTuple, Optional

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.kinds import shorten
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import phrase
from npu_config.rules.case import Case, on, tuning_mode
from npu_config.rules.dump import SWITCHES, profiling_keys

_ATTRS = "tf_adapter/util/npu_attrs.cc"
_PARSERS = "cann/ge:compiler/engines/nn_engine/utils/common/config_parser"


class Wanted(NamedTuple):
    """What the runtime wants to find at the path of an option.

    ``directory`` or a file with content; ``strict``: readable, writable and no symbolic link;
    ``created``: made by the runtime when it is missing.
    """

    directory: bool
    consequence: str
    severity: Severity = Severity.ERROR
    strict: bool = False
    created: bool = False


_REFUSED = "the graph engine rejects the file and the adapter aborts the process"

WANTED = {
    "dump_path": Wanted(True, "session.run raises an exception", strict=True),
    "work_path": Wanted(True, "the adapter aborts the process", strict=True),
    "graph_compiler_cache_dir": Wanted(True, "the compilation fails"),
    "op_compiler_cache_dir": Wanted(
        True, ("the cache cannot be stored in that directory"), created=True
    ),
    "debug_dir": Wanted(True, "debug files may be lost", Severity.WARNING),
    "modify_mixlist": Wanted(False, _REFUSED),
    "op_precision_mode": Wanted(False, _REFUSED),
    "customize_dtypes": Wanted(False, _REFUSED),
    "op_debug_config": Wanted(False, _REFUSED),
    "fusion_switch_file": Wanted(False, _REFUSED),
    "aoe_config_file": Wanted(False, "the AOE tuning cannot read the file"),
    "distribute_config": Wanted(False, "the AOE tuning cannot read the file", Severity.WARNING),
    "insert_op_file": Wanted(False, "the graph engine cannot read the file", Severity.WARNING),
    "compress_weight_conf": Wanted(
        False, "the graph engine cannot read the file", Severity.WARNING
    ),
    "resource_config_path": Wanted(
        False, "the graph engine cannot read the file", Severity.WARNING
    ),
    "graph_parallel_option_path": Wanted(
        False, "the graph engine cannot read the file", Severity.WARNING
    ),
}
_FACTS = ("dump-path-valid", "aoe-work-path", "graph-cache-dir-exists", "ge-file-checks-abort")
_path_rule = functools.partial(
    rule,
    options=(*WANTED, "aoe_mode"),
    source=(
        _ATTRS + ":314-327",
        _ATTRS + ":2169-2183",
        "docs/en/tfadapter_1/apiref/session_config/experiment_options.md",
        _PARSERS,
    ),
    on_host=True,
)


class PathStatus(NamedTuple):
    """A path that an option points to, and what is there (``status`` None: nothing)."""

    name: str
    path: str
    wanted: Wanted
    status: Optional[os.stat_result]
    problem: str


def _paths(case: Case) -> Iterator[PathStatus]:
    """The paths the runtime will look at, each with what is there."""
    if not case.on_host:
        return
    tuning = tuning_mode(case)
    for name, wanted in WANTED.items():
        path = case.path(name)
        if name == "dump_path" and not any(on(case, switch) for switch in SWITCHES):
            continue
        if name in ("work_path", "distribute_config") and tuning is None:
            continue
        if path is None and name == "work_path" and case.absent(name):
            path = OPTIONS[name].default
        if path:
            yield _look(name, path, wanted)


def _look(name: str, path: str, wanted: Wanted) -> PathStatus:
    try:
        status = os.lstat(path) if wanted.strict else os.stat(path)
    except OSError as error:
        return PathStatus(name, path, wanted, None, _words(error))
    except ValueError:
        return PathStatus(name, path, wanted, None, "is not a valid path on this system")
    return PathStatus(name, path, wanted, status, "")


def _words(error: OSError) -> str:
    if error.errno == errno.ENAMETOOLONG:
        return "is too long"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "does not exist"
    return phrase("cannot be accessed ({})", error.strerror)


def _report(case: Case, found: PathStatus, problem: str, help: str) -> None:
    case.report(
        found.name,
        '"{}" is "{}", which {}',
        found.name,
        shorten(found.path),
        phrase(problem),
        help=help,
        consequence=found.wanted.consequence,
        severity=found.wanted.severity,
    )


MISSING_FILE_RULES = frozenset(("NPU770", "NPU771", "NPU772", "NPU773", "NPU774", "NPU775"))
"""What is said of a file that does not exist, or not as it should be."""


@_path_rule("NPU770", Severity.ERROR, facts=_FACTS)
def path_missing(case: Case) -> None:
    """A file or directory that an option points to does not exist.

    Relative paths start at the working directory of the process; ``~`` is not expanded.  The
    directory of the operator cache is created if it is missing, other directories are not.

    Wrong:

        # host
        enable_dump: true
        dump_path: missing

    Right:

        # host: a_directory/
        enable_dump: true
        dump_path: a_directory
    """
    for found in _paths(case):
        if found.status is None and not (
            found.wanted.created and found.problem == "does not exist"
        ):
            _report(case, found, found.problem, _remedy(found))


def _remedy(found: PathStatus) -> str:
    if found.problem != "does not exist":
        return "set another path"
    return (
        "create the directory"
        if found.wanted.directory
        else "create the file, or correct the path"
    )


@_path_rule("NPU771", Severity.ERROR, facts=_FACTS)
def path_of_wrong_kind(case: Case) -> None:
    """A path names a file where a directory is required, or the reverse.

    The consequence is the same as for a missing path.

    Wrong:

        # host: a_file
        enable_dump: true
        dump_path: a_file

    Right:

        # host: a_directory/
        enable_dump: true
        dump_path: a_directory
    """
    for found in _paths(case):
        if found.status is None or stat.S_ISLNK(found.status.st_mode):
            continue
        if found.wanted.directory and not stat.S_ISDIR(found.status.st_mode):
            _report(case, found, "is not a directory", "set the path of a directory")
        elif not found.wanted.directory and stat.S_ISDIR(found.status.st_mode):
            _report(case, found, "is a directory", "set the path of a file")


@_path_rule("NPU772", Severity.ERROR, facts=("dump-path-valid", "aoe-work-path"))
def path_is_a_link(case: Case) -> None:
    """A directory that the adapter checks is a symbolic link.

    The adapter checks the link itself, which is not a directory.  With a slash at the end of the
    path the adapter checks the directory that the link points to.  This applies to ``dump_path``
    and ``work_path``.

    Wrong:

        # host: a_directory/ a_link->a_directory
        enable_dump: true
        dump_path: a_link

    Right:

        # host: a_directory/ a_link->a_directory
        enable_dump: true
        dump_path: a_link/
    """
    for found in _paths(case):
        if found.status is not None and stat.S_ISLNK(found.status.st_mode):
            if os.path.isdir(found.path):
                help = phrase(
                    'write the path as "{}/", or write the path that the link points to',
                    shorten(found.path),
                )
            else:
                help = "set the path of a directory"
            _report(case, found, "is a symbolic link", help)


@_path_rule("NPU773", Severity.ERROR, facts=_FACTS)
def path_not_accessible(case: Case) -> None:
    """A file cannot be read, or a directory cannot be read and written, by this user.

    Before the session starts, the adapter requires both permissions for the directories of dumps
    and tuning; other paths fail when they are used.  (The superuser has all permissions.)

    Wrong:

        # host: locked/!
        enable_dump: true
        dump_path: locked

    Right:

        # host: a_directory/
        enable_dump: true
        dump_path: a_directory
    """
    for found in _paths(case):
        if found.status is None or stat.S_ISLNK(found.status.st_mode):
            continue
        is_directory = stat.S_ISDIR(found.status.st_mode)
        if is_directory is not found.wanted.directory:
            continue
        needed = os.R_OK | os.W_OK if is_directory else os.R_OK
        if not os.access(found.path, needed):
            _report(
                case,
                found,
                "cannot be read and written by this user"
                if is_directory
                else "cannot be read by this user",
                "change its permissions, or use another path",
            )


@rule(
    "NPU774",
    Severity.ERROR,
    options=tuple(name for name, wanted in WANTED.items() if not wanted.directory),
    facts=("modify-mixlist-file", "fusion-switch-file"),
    source=(_PARSERS,),
    on_host=True,
)
def empty_side_file(case: Case) -> None:
    """A file that an option points to is empty.

    None of the file formats allows an empty file: the graph engine rejects the file during
    initialisation.

    Wrong:

        # host: fusion.cfg
        fusion_switch_file: fusion.cfg

    Right:

        # host: fusion.cfg={"Switch":{"GraphFusion":{"ALL":"off"}}}
        fusion_switch_file: fusion.cfg
    """
    for found in _paths(case):
        if (
            found.status is not None
            and not found.wanted.directory
            and stat.S_ISREG(found.status.st_mode)
            and found.status.st_size == 0
        ):
            _report(case, found, "is empty", "write content into the file, or remove the option")


@rule(
    "NPU775",
    Severity.WARNING,
    options=("profiling_options",),
    also=("profiling_mode",),
    facts=("profiling-output-dir",),
    source=(
        "cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md",
        "docs/en/tfadapter_1/migration/performance_tuning/Profile_data_collection_and_analysis.md",
    ),
    on_host=True,
)
def profiling_output_missing(case: Case) -> None:
    """The ``output`` of ``profiling_options`` is not a directory that can be read and written.

    Newer tools create the directory; with other tools the results may be lost.

    Wrong:

        # host
        profiling_mode: true
        profiling_options: '{"output": "missing", "task_time": "on"}'

    Right:

        # host: a_directory/
        profiling_mode: true
        profiling_options: '{"output": "a_directory", "task_time": "on"}'
    """
    text = case.get("profiling_options")
    if not case.on_host or not text or not on(case, "profiling_mode"):
        return
    path = (profiling_keys(text) or {}).get("output")
    if not isinstance(path, str) or not path:
        return
    problem = _problem_of_output(path)
    if problem:
        case.report(
            "profiling_options",
            'the "output" of "profiling_options" is "{}", which {}; results may be lost',
            shorten(path),
            phrase(problem),
            help=_HELP_OF_OUTPUT.get(problem, "create the directory first"),
        )


_HELP_OF_OUTPUT = {
    "is not a directory": "set the path of a directory",
    "cannot be read and written by this user": "change its permissions, or use another path",
}


def _problem_of_output(path: str) -> Optional[str]:
    try:
        status = os.stat(path)
    except OSError as error:
        return _words(error)
    except ValueError:
        return "is not a valid path on this system"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory"
    if not os.access(path, os.R_OK | os.W_OK):
        return "cannot be read and written by this user"
    return None
