"""The check of the environment that processes are started with.

:func:`check_environment` looks at variables only.  :func:`check_host` also reads the files
that they name, and compares with the machine; :func:`check_job` takes the environments of all
processes of a job.
"""

import os
from typing import AbstractSet, FrozenSet, List, Mapping, Optional, Set, Tuple

from npu_config import rank_table
from npu_config.core.arguments import checked_mapping
from npu_config.core.diagnostics import Diagnostic, Place, Report, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import ANY_TARGET, Target
from npu_config.launch.environment._interplay import check_interplay
from npu_config.launch.environment._values import check_values, near_miss, slips_of
from npu_config.launch.environment.kinds import DIRECTORY
from npu_config.launch.environment.placement import check_launch, compare
from npu_config.launch.environment.state import EnvironmentCheck, Value, assigned
from npu_config.launch.environment.variables import CM_NAMES, RANK_TABLE_NAMES, VARIABLES
from npu_config.rank_table.model import AnyRankTable
from npu_config.sidefiles import hccl_whitelist

_ENVIRON = "os.environ is one, and parse_dotenv(text).variables"


@declare(
    "NPU689",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=(
        "cann/ge:docs/zh/user_guides/env_vars/TE_PARALLEL_COMPILER.md",
        "cann/ge:docs/zh/user_guides/env_vars/MAX_COMPILE_CORE_NUMBER.md",
    ),
)
def environment_of_host() -> None:
    """An environment variable asks for what the machine does not have.

    `ASCEND_OPP_PATH`, `RANK_TABLE_FILE` and `HCCL_WHITELIST_FILE` name something that is not
    there (the files themselves are checked too); a directory variable names a file; or
    `MAX_COMPILE_CORE_NUMBER` and `TE_PARALLEL_COMPILER` ask for more CPU cores than there are
    (a warning).

    Wrong, on 16 cores: `export TE_PARALLEL_COMPILER=32`

    Right: `export TE_PARALLEL_COMPILER=8`
    """


def check_environment(
    environ: Mapping[str, str],
    target: Target = ANY_TARGET,
    table: Optional[AnyRankTable] = None,
    places: Optional[Mapping[str, Place]] = None,
) -> Report:
    """Find what is wrong with the variables of one process.

    Args:
        environ: the variables, e.g. ``os.environ``.
        target: the product narrows what is said.
        table: the rank table that ``RANK_TABLE_FILE`` names, when it is at hand.
        places: where variables stand, for an environment that was read from a file.

    Raises:
        TypeError: ``environ`` is no mapping.
    """
    checked_mapping(environ, "environ", _ENVIRON)
    return Report(examine(environ, target, table, places).found)


def examine(
    environ: Mapping[str, Value],
    target: Target,
    table: Optional[AnyRankTable] = None,
    places: Optional[Mapping[str, Place]] = None,
    unset: Optional[FrozenSet[str]] = None,
    used: FrozenSet[str] = frozenset(),
) -> EnvironmentCheck:
    """One environment with the findings about it; see :class:`EnvironmentCheck`."""
    context = EnvironmentCheck(environ, target, table, places, unset, used)
    check_values(context)
    check_launch(context)
    check_interplay(context)
    return context


def concerns(name: str) -> bool:
    """Whether a variable can make a difference to what is found."""
    return name in VARIABLES or "VISIBLE" in name or bool(slips_of(name))


def of_other_jobs(names: AbstractSet[str]) -> FrozenSet[str]:
    """Of the names that a script sets, those like names that its kind of job must not have."""
    other: Set[str] = set()
    for ours, theirs in ((CM_NAMES, RANK_TABLE_NAMES), (RANK_TABLE_NAMES, CM_NAMES)):
        if not names.isdisjoint(ours):
            other.update(theirs)
    return frozenset(name for name in names if not other.isdisjoint(slips_of(name)))


def misspelt(
    environ: Mapping[str, Value],
    target: Target,
    places: Mapping[str, Place],
    unset: FrozenSet[str],
    used: FrozenSet[str],
) -> List[Diagnostic]:
    """The misspelt names of an environment that nothing is started with (yet)."""
    context = EnvironmentCheck(environ, target, None, places, unset, used)
    for name in environ:
        if name not in VARIABLES:
            near_miss(context, name)
    return context.found


def check_job(
    environs: Mapping[str, Mapping[str, Value]],
    target: Target = ANY_TARGET,
    table: Optional[AnyRankTable] = None,
    places: Optional[Mapping[str, Mapping[str, Place]]] = None,
) -> Report:
    """Find what is wrong with the environments of the processes of one job.

    Args:
        environs: a name for each process, and its variables.
        target: the product narrows what is said.
        table: the rank table of the job, when it is at hand.
        places: where the variables of each process stand.

    Raises:
        TypeError: ``environs`` is no mapping of mappings.
    """
    checked_mapping(environs, "environs", "{name of the process: its variables}")
    for name, environ in environs.items():
        checked_mapping(environ, "environs[{!r}]".format(name), _ENVIRON)
    contexts = {
        name: examine(environ, target, table, (places or {}).get(name))
        for name, environ in environs.items()
    }
    if contexts:
        compare(contexts)
    return Report(diagnostic for context in contexts.values() for diagnostic in context.found)


def check_host(
    environ: Mapping[str, str],
    target: Target = ANY_TARGET,
    cpu_count: Optional[int] = None,
) -> Report:
    """Find what is wrong with the variables of one process on this machine.

    The rank table and the whitelist that they name are read and checked too.

    Args:
        environ: the variables, e.g. ``os.environ``.
        target: the product narrows what is said.
        cpu_count: the CPU cores of the machine; None: as the operating system says.

    Raises:
        TypeError: ``environ`` is no mapping.
    """
    checked_mapping(environ, "environ", _ENVIRON)
    table, found = _files(environ, target)
    context = examine(environ, target, table)
    _directories(context)
    _cores(context, cpu_count or os.cpu_count())
    return Report([*found, *context.found])


def _files(
    environ: Mapping[str, str], target: Target
) -> Tuple[Optional[AnyRankTable], List[Diagnostic]]:
    found: List[Diagnostic] = []
    table = None
    if environ.get("RANK_TABLE_FILE"):
        parsed = rank_table.load(environ["RANK_TABLE_FILE"], target)
        table = parsed.model
        found.extend(parsed.diagnostics)
    if environ.get("HCCL_WHITELIST_FILE") and environ.get("HCCL_WHITELIST_DISABLE") == "0":
        path = environ["HCCL_WHITELIST_FILE"]
        found.extend(hccl_whitelist.load(path, target).diagnostics)
    return table, found


def _directories(context: EnvironmentCheck) -> None:
    for name, text in context.environ.items():
        variable = VARIABLES.get(name)
        if variable is None or not text or text is UNKNOWN or variable.kind != DIRECTORY:
            continue
        if name == "ASCEND_OPP_PATH" and not os.path.isdir(text):
            context.report(
                environment_of_host, name, "{} is not a directory", assigned(name, text)
            )
        elif os.path.exists(text) and not os.path.isdir(text):
            context.report(
                environment_of_host,
                name,
                "{} is a file; it takes a directory",
                assigned(name, text),
            )


def _cores(context: EnvironmentCheck, cores: Optional[int]) -> None:
    if cores is None:
        return
    for name, most in (
        ("MAX_COMPILE_CORE_NUMBER", cores),
        ("TE_PARALLEL_COMPILER", max(cores * 4 // 5, 1)),
    ):
        number = context.whole(name)
        if number is not None and number > most:
            context.report(
                environment_of_host,
                name,
                "{} is {}, but the machine has {} CPU cores: at most {}",
                name,
                number,
                cores,
                most,
                help=phrase("write at most {}", most),
                severity=Severity.WARNING,
            )
