"""The check of the environment that processes are started with.

:func:`check_environment` looks at variables only.  :func:`check_host` also reads the files
that they name, and compares with the machine; :func:`check_job` takes the environments of all
processes of a job.
"""

import functools
import os
from typing import AbstractSet, FrozenSet, List, Mapping, Optional, Set, Tuple

from npu_config import rank_table
from npu_config.catalogue.kinds import InvalidValue
from npu_config.core.arguments import checked_mapping
from npu_config.core.diagnostics import Diagnostic, Place, Report, Severity
from npu_config.core.message import listed, phrase
from npu_config.core.rule import declare
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.launch.environment._interplay import check_interplay
from npu_config.launch.environment.kinds import DIRECTORY, JOB_ID_LONGEST, problem_of
from npu_config.launch.environment.placement import check_launch, compare
from npu_config.launch.environment.state import EnvironmentCheck, Value, assigned
from npu_config.launch.environment.variables import (
    CM_NAMES,
    RANK_TABLE_NAMES,
    TENSORFLOW_2_NAMES,
    VARIABLES,
    Variable,
)
from npu_config.rank_table.model import AnyRankTable, GroupTable
from npu_config.sidefiles import hccl_whitelist

_ENV = "docs/en/tfa_env/"


@declare(
    "NPU670",
    Severity.ERROR,
    facts=(
        "ascend-device-id-format",
        "cm-ranges",
        "hf32-execution-values",
        "precision-tool-env-switch",
    ),
    source=(
        _ENV + "ASCEND_DEVICE_ID.md",
        _ENV + "CM_CHIEF_PORT.md",
        _ENV + "ENABLE_HF32_EXECUTION.md",
        "cann/hccl:docs/zh/user_guide/fault_diagnosis/env_config_error_EI0001.md",
    ),
    help="give a legal value, or unset the variable",
)
def environment_value() -> None:
    """An environment variable holds a value that it does not take.

    What each variable takes, and what happens otherwise, is in the reference of variables.
    The adapter aborts the process over a wrong `ASCEND_DEVICE_ID`; GE refuses a wrong
    `ENABLE_HF32_EXECUTION` when it is initialised; HCCL ends with EI0001.  Where a wrong
    value is only ignored, this is a warning: `PRECISION_TOOL_DUMP=true` does nothing,
    because only `True` is compared.

    Wrong: `export CM_CHIEF_PORT=65530`

    Right: `export CM_CHIEF_PORT=60001`
    """


@declare("NPU677", Severity.WARNING, facts=("job-id-format",), source=(_ENV + "JOB_ID.md",))
def job_id_format() -> None:
    """`JOB_ID` is not made as recommended.

    Letters, digits, `_` and `-`, not digits alone that begin with 0.  More than 128
    characters are an error: GE refuses them (E10051) and the adapter aborts the process.

    Wrong: `export JOB_ID="my job"`

    Right: `export JOB_ID=my_job`
    """


@declare("NPU680", Severity.WARNING, facts=(), source=("docs/en/tfa_env/",))
def environment_product() -> None:
    """An environment variable is set that the product does not know.

    The vendor's documentation names the products that each variable is for; on others it has
    no effect.

    Wrong, on atlas_training: `export ENABLE_HF32_EXECUTION=1`

    Right: leave it out
    """


@declare("NPU684", Severity.INFO, source=(_ENV + "NPU_LOOP_SIZE.md", _ENV + "NPU_DUMP_GRAPH.md"))
def environment_of_tensorflow_2() -> None:
    """An environment variable is set that only the adapter for TensorFlow 2 reads.

    `NPU_DUMP_GRAPH`, `NPU_DEBUG`, `NPU_ENABLE_PERF` and `NPU_LOOP_SIZE` have no effect with
    TensorFlow 1.15.  There, `PRINT_MODEL` dumps the graphs and `iterations_per_loop` sets the
    loop size.

    Wrong: `export NPU_LOOP_SIZE=10`

    Right: `iterations_per_loop: 10`
    """


@declare("NPU687", Severity.WARNING, source=("docs/en/tfa_env/",))
def environment_name() -> None:
    """An environment variable has almost the name of one that matters.

    One letter is missing, too many, wrong or swapped, and the variable that is probably meant
    is not set.  Nobody reads the misspelt one.

    Wrong: `export RANK_TABEL_FILE=/data/rank_table.json`

    Right: `export RANK_TABLE_FILE=/data/rank_table.json`
    """


EXPANSION_MODES = {
    Product.ASCEND_950: ("AICPU_TS", "AI_CPU", "AIV", "CCU_MS", "CCU_SCHED"),
    Product.ATLAS_A3: ("AI_CPU", "AICPU_CacheDisable", "AIV"),
    Product.ATLAS_A2: ("HOST", "HOST_TS", "AI_CPU", "AIV"),
    Product.ATLAS_300I_DUO: ("HOST", "AI_CPU"),
}
_SHORTEST_NAME = 7
_LONGEST_POD = 127  # the bytes of RANK_ID that the graph engine takes
_END = 3
_ENDS = frozenset(end for name in VARIABLES for end in (name[:_END], name[-_END:]))
_OTHER_LIBRARIES = ("CCL_", "MCCL_", "NCCL_", "RCCL_")
"""How the names of other libraries for collectives begin, which have settings like HCCL's."""

_NEVER_MEANT = TENSORFLOW_2_NAMES | {"DEVICE_ID", "PYTHONPATH", "PYTHONHASHSEED"}


def check_values(context: EnvironmentCheck) -> None:
    """Check every variable that is set by itself."""
    for name, text in context.environ.items():
        variable = VARIABLES.get(name)
        if variable is None:
            near_miss(context, name)
        elif name in TENSORFLOW_2_NAMES:
            context.report(
                environment_of_tensorflow_2,
                name,
                "{} has no effect with TensorFlow 1.15",
                name,
                help="set iterations_per_loop" if name == "NPU_LOOP_SIZE" else "unset it",
            )
        elif context.target.product is not None and not variable.is_for(context.target.product):
            _other_product(context, variable, context.target.product)
        elif text is not UNKNOWN:
            _value(context, variable, text)


def may_name_a_pod(context: EnvironmentCheck) -> bool:
    """Whether the rank table is, or may be, of the old template 2, which knows pods by name."""
    if context.table is None:
        return not context.absent("RANK_TABLE_FILE")
    return isinstance(context.table, GroupTable) and not context.table.laboratory


def _other_product(context: EnvironmentCheck, variable: Variable, product: Product) -> None:
    if variable.name.startswith("CM_"):
        return  # an error of its own, reported once for all of them
    products = sorted(one.value for one in variable.products or ())
    context.report(
        environment_product,
        variable.name,
        "{} is not documented for {}; it is for {}",
        variable.name,
        product.value,
        listed(products),
        help="unset it",
    )


def _value(context: EnvironmentCheck, variable: Variable, text: str) -> None:
    name = variable.name
    if name in ("TF_CONFIG", "PROFILING_OPTIONS"):
        return  # their content is a check of its own
    if name == "RANK_ID" and may_name_a_pod(context) and len(text.encode()) <= _LONGEST_POD:
        return
    if name == "DUMP_GRAPH_LEVEL" and context.get("DUMP_GE_GRAPH") == "0":
        return  # nothing is dumped
    if name == "RANK_TABLE_FILE" and not text and (context.whole("RANK_SIZE") or 1) < 2:
        return  # the adapter passes on no empty one
    wrong = problem_of(variable.kind, text)
    if name == "JOB_ID":
        _job_id(context, variable, text, wrong)
    elif name == "HCCL_OP_EXPANSION_MODE" and wrong is None:
        _expansion_mode(context, variable, text)
    elif wrong is not None:
        context.report(
            environment_value,
            name,
            "{} {}; legal: {}{}",
            name,
            wrong.problem,
            variable.kind.describe(),
            phrase("; {}", variable.consequence) if variable.consequence else "",
            help=wrong.help if text else "unset it, or give it a value",
            severity=variable.severity,
        )


def _job_id(
    context: EnvironmentCheck, variable: Variable, text: str, wrong: Optional[InvalidValue]
) -> None:
    if wrong is None:
        return
    too_long = len(text) > JOB_ID_LONGEST
    context.report(
        job_id_format,
        variable.name,
        "{} {}; legal: {}; GE refuses it (E10051) and the adapter aborts the process"
        if too_long
        else "{} {}; recommended: {}",
        variable.name,
        phrase("has {} characters", len(text)) if too_long else wrong.problem,
        variable.kind.describe(),
        help="shorten it" if too_long else "choose another name",
        severity=Severity.ERROR if too_long else None,
    )


def _expansion_mode(context: EnvironmentCheck, variable: Variable, text: str) -> None:
    product = context.target.product
    modes = EXPANSION_MODES.get(product) if product is not None else None
    if product is None or modes is None or text in modes:
        return
    refused = product is Product.ASCEND_950
    context.report(
        environment_value,
        variable.name,
        "{}, but {} has {}; {}",
        assigned(variable.name, text),
        product.value,
        listed(modes),
        phrase("HCCL refuses it") if refused else phrase("{} is taken", modes[0]),
        severity=Severity.ERROR if refused else Severity.WARNING,
    )


def near_miss(context: EnvironmentCheck, name: str) -> None:
    """Check the name of a variable that nobody knows."""
    if name in context.used:
        return
    other_way = (
        *(RANK_TABLE_NAMES if context.given(*CM_NAMES) else ()),
        *(CM_NAMES if context.given(*RANK_TABLE_NAMES) else ()),
    )
    for known in slips_of(name):
        if known not in other_way and known not in context.environ:
            context.report(
                environment_name,
                name,
                "{} is read by nobody; {} is not set",
                name,
                known,
                help=phrase("did you mean {}?", known),
            )
            return


@functools.lru_cache(maxsize=4096)
def slips_of(name: str) -> Tuple[str, ...]:
    """The variables that a name may have been meant to be."""
    ends = {name[:_END].upper(), name[-_END:].upper()}  # one slip leaves one of them as it is
    if len(name) < _SHORTEST_NAME or ends.isdisjoint(_ENDS) or name.startswith(_OTHER_LIBRARIES):
        return ()
    return tuple(
        known for known in VARIABLES if known not in _NEVER_MEANT and is_one_edit(name, known)
    )


def is_one_edit(name: str, meant: str) -> bool:
    """Whether a name is another one with one letter missing, added, changed or swapped.

    Likeness is too much for variables: those of other programs share long words with ours.
    """
    if name.upper() == meant:
        return True
    start = 0
    while start < min(len(name), len(meant)) and name[start] == meant[start]:
        start += 1
    rest, wanted = name[start:], meant[start:]
    return (
        rest[1:] == wanted[1:]
        or rest[1:] == wanted
        or rest == wanted[1:]
        or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
    )


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
