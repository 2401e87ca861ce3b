"""The check of the environment that processes are started with.

:func:`check_environment` looks at variables only.  :func:`check_host` also reads the files
that they name, and compares with the machine; :func:`check_job` takes the environments of all
processes of a job.
"""

import functools
import json
import os
from dataclasses import replace
from typing import AbstractSet, Any, FrozenSet, List, Mapping, Optional, Set, Tuple

from npu_config import rank_table
from npu_config.catalogue.kinds import InvalidValue
from npu_config.core.calls import checked_mapping
from npu_config.core.diagnostics import NOWHERE, Diagnostic, Place, Report, Severity
from npu_config.core.message import listed, phrase
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import Product
from npu_config.launch import _rules as rules
from npu_config.launch.environment.kinds import DIRECTORY, JOB_ID_LONGEST
from npu_config.launch.environment.process import (
    EnvironmentCheck,
    Value,
    assigned,
    check_launch,
    compare,
)
from npu_config.launch.environment.variables import (
    CM_NAMES,
    RANK_TABLE_NAMES,
    TENSORFLOW_2_NAMES,
    VARIABLES,
    Variable,
)
from npu_config.rank_table.model import AnyRankTable, GroupTable, RankTable
from npu_config.sidefiles import hccl_whitelist, profiling

# (variable, its value; None: any, what it decides, help)
EFFECTS: Tuple[Tuple[str, Optional[str], str, Optional[str]], ...] = (
    (
        "NPU_COLLECT_PATH",
        None,
        (
            "the exception dump always works in mode 1, whatever the value of "
            "enable_exception_dump, and oom in op_debug_config is an error"
        ),
        None,
    ),
    (
        "GE_USE_STATIC_MEMORY",
        None,
        "must not be combined with the option static_memory_policy, which replaces this variable",
        "unset it, and set static_memory_policy",
    ),
    ("AOE_MODE", None, "AOE tunes the graphs if the option aoe_mode is not set", None),
    (
        "PROFILING_MODE",
        "true",
        (
            "the job is profiled when the option profiling_mode is not set, and profiler.Profiler "
            "cannot be used"
        ),
        None,
    ),
)

# (variable, its partners), (variable, what silences it, why)
PARTNERS = (
    ("PROFILING_OPTIONS", "PROFILING_MODE"),
    ("DUMP_GRAPH_LEVEL", "DUMP_GE_GRAPH"),
    ("STEP_NOW", "TOTAL_STEP"),
    ("TOTAL_STEP", "STEP_NOW"),
    ("LOSS_NOW", "TARGET_LOSS"),
    ("TARGET_LOSS", "LOSS_NOW"),
)
SILENCERS = (
    ("HCCL_SOCKET_IFNAME", "HCCL_IF_IP", "is ignored when HCCL_IF_IP is set"),
    ("RESTORE_FROM", "LOCAL_CHECKPOINT_DIR", "is ignored when LOCAL_CHECKPOINT_DIR is set"),
    ("RANK_ID", "POD_NAME", "is ignored by NPUBasics, which reads POD_NAME first"),
    (
        "ASCEND_WORK_PATH",
        "NPU_COLLECT_PATH",
        "is not used for collected fault data, which is written to NPU_COLLECT_PATH",
    ),
    (
        "ASCEND_WORK_PATH",
        "DUMP_GRAPH_PATH",
        "is not used for dumped graphs, which are written to DUMP_GRAPH_PATH",
    ),
)
ROUNDING = (Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO)
UNIT = 68
AIV_LONGEST = 1091


def check_interplay(context: EnvironmentCheck) -> None:
    """Check what variables have to do with each other and with options."""
    for name, partner in PARTNERS:
        if name in context.environ and context.absent(partner):
            context.report(
                rules.environment_partner_missing,
                name,
                "{} is set without {}",
                name,
                partner,
                help=phrase("export {}, or unset {}", partner, name),
            )
    for name, other, why in SILENCERS:
        if context.get(name) and context.get(other):
            context.report(rules.environment_silenced, name, "{} {}", name, why)
    for name, only, message, help in EFFECTS:
        text = context.get(name)
        if text and only in (None, text):
            rule = rules.environment_decides_for_option
            context.report(rule, name, "{}: {}", assigned(name, text), message, help=help)
    _whitelist(context)
    _tools(context)
    _intra_links(context)
    _socket_family(context)
    _timeout(context)
    _profiling_options(context)
    _tf_config(context)


def _profiling_options(context: EnvironmentCheck) -> None:
    """What the format of profiling options says, without places: the text is no file."""
    text = context.get("PROFILING_OPTIONS")
    mode = context.get("PROFILING_MODE")
    if not text or context.absent("PROFILING_MODE") or mode not in (None, "true", "dynamic"):
        return  # it is not read
    place = context.places.get("PROFILING_OPTIONS", NOWHERE)
    for diagnostic in profiling.parse(text, None, context.target).diagnostics:
        context.found.append(
            replace(
                diagnostic,
                message=phrase("PROFILING_OPTIONS: {}", diagnostic.message),
                fix=None,
                **place._asdict(),
            )
        )


def _whitelist(context: EnvironmentCheck) -> None:
    disable = context.get("HCCL_WHITELIST_DISABLE")
    if disable == "0" and context.absent("HCCL_WHITELIST_FILE"):
        context.report(
            rules.environment_partner_missing,
            "HCCL_WHITELIST_DISABLE",
            "HCCL_WHITELIST_DISABLE is 0, but HCCL_WHITELIST_FILE is not set",
            help="export HCCL_WHITELIST_FILE",
            severity=Severity.ERROR,
        )
    elif (
        disable != "0"
        and "HCCL_WHITELIST_FILE" in context.environ
        and (disable is not None or context.absent("HCCL_WHITELIST_DISABLE"))
    ):
        context.report(
            rules.environment_silenced,
            "HCCL_WHITELIST_FILE",
            "HCCL_WHITELIST_FILE is read only with HCCL_WHITELIST_DISABLE=0",
        )


def _tools(context: EnvironmentCheck) -> None:
    if context.get("PROFILING_MODE") == "false" and "PROFILING_OPTIONS" in context.environ:
        context.report(
            rules.environment_silenced,
            "PROFILING_OPTIONS",
            "PROFILING_OPTIONS is read only when profiling is on, and PROFILING_MODE is false",
        )
    if context.get("PRECISION_TOOL_OVERFLOW") == context.get("PRECISION_TOOL_DUMP") == "True":
        context.report(
            rules.environment_silenced,
            "PRECISION_TOOL_DUMP",
            "PRECISION_TOOL_DUMP is ignored when PRECISION_TOOL_OVERFLOW is set",
        )


def _intra_links(context: EnvironmentCheck) -> None:
    pcie, roce = context.get("HCCL_INTRA_PCIE_ENABLE"), context.get("HCCL_INTRA_ROCE_ENABLE")
    if pcie == roce == "1":
        problem = "HCCL_INTRA_PCIE_ENABLE and HCCL_INTRA_ROCE_ENABLE are both 1"
    elif pcie == "0" and context.absent("HCCL_INTRA_ROCE_ENABLE"):
        problem = "HCCL_INTRA_PCIE_ENABLE is 0, but HCCL_INTRA_ROCE_ENABLE is not set"
    elif (
        roce == "0"
        and context.absent("HCCL_INTRA_PCIE_ENABLE")
        and not context.target.products & {Product.ATLAS_A3}
    ):
        problem = "HCCL_INTRA_ROCE_ENABLE is 0, but HCCL_INTRA_PCIE_ENABLE is not set"
    else:
        return
    context.report(
        rules.environment_conflict,
        "HCCL_INTRA_ROCE_ENABLE" if pcie is None else "HCCL_INTRA_PCIE_ENABLE",
        "{}; legal values of the two: 1 and 0, 0 and 1, 0 and 0, or 1 for only one of them",
        problem,
        help="set one to 1 and the other to 0",
    )


def _socket_family(context: EnvironmentCheck) -> None:
    family = context.get("HCCL_SOCKET_FAMILY")
    if family is None or not isinstance(context.table, RankTable):
        return
    servers = context.table.servers
    address = servers[0].devices[0].device_ip if servers and servers[0].devices else None
    if address is not None and (":" in address) != (family == "AF_INET6"):
        context.report(
            rules.environment_silenced,
            "HCCL_SOCKET_FAMILY",
            "{} has no effect: the addresses of the rank table are {}",
            assigned("HCCL_SOCKET_FAMILY", family),
            "IPv6" if ":" in address else "IPv4",
        )


def _timeout(context: EnvironmentCheck) -> None:
    name = "HCCL_EXEC_TIMEOUT"
    text = context.get(name)
    if text is None or VARIABLES[name].kind.problem_of(text) is not None:
        return
    seconds = float(text)
    rounding = context.only_on(*ROUNDING)
    aiv = context.get("HCCL_OP_EXPANSION_MODE") == "AIV"
    lowest, highest = (1, 17340) if rounding else (0, 2**31 - 1)
    if not lowest <= seconds <= highest:
        context.report(
            rules.collective_timeout_variable,
            name,
            "{}; legal{}: {} to {} s",
            assigned(name, text),
            phrase(" on {}", context.target.product.value) if context.target.product else "",
            lowest,
            highest,
        )
    elif aiv and not 0 < seconds <= AIV_LONGEST:
        context.report(
            rules.collective_timeout_variable,
            name,
            "{} is limited to {} s by HCCL_OP_EXPANSION_MODE=AIV",
            assigned(name, text),
            AIV_LONGEST,
            help=phrase("write at most {}", AIV_LONGEST),
            severity=Severity.WARNING,
        )
    elif rounding and seconds % UNIT:
        context.report(
            rules.collective_timeout_variable,
            name,
            "{} takes effect as {} s (a multiple of {})",
            assigned(name, text),
            max(int(seconds) // UNIT * UNIT, UNIT),
            UNIT,
            help=phrase("write {}", -(-int(seconds) // UNIT) * UNIT),
            severity=Severity.WARNING,
        )


def _tf_config(context: EnvironmentCheck) -> None:
    text = context.get("TF_CONFIG")
    if text is None:
        return
    wrong = VARIABLES["TF_CONFIG"].kind.problem_of(text)
    if wrong is not None:
        context.report(
            rules.tf_config_content,
            "TF_CONFIG",
            "TF_CONFIG {}; NPURunConfig and NPUEstimator raise an error",
            wrong.problem,
            help='write a JSON object with "cluster" and "task"',
        )
        return
    config = json.loads(text)
    task = config.get("task", {})
    if not isinstance(config.get("cluster", {}), dict) or not isinstance(task, dict):
        context.report(
            rules.tf_config_content, "TF_CONFIG", 'TF_CONFIG: "cluster" and "task" must be objects'
        )
        return
    what: Any = {
        "ps": "does not initialise the device",
        "evaluator": "does not use HCCL",
    }.get(str(task.get("type")))
    if what is not None:
        context.report(
            rules.tf_config_content,
            "TF_CONFIG",
            'TF_CONFIG: the task is "{}", which {}',
            task["type"],
            what,
            severity=Severity.INFO,
        )


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
                rules.environment_of_tensorflow_2,
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
    return isinstance(context.table, GroupTable) and not context.table.has_deploy_mode


def _other_product(context: EnvironmentCheck, variable: Variable, product: Product) -> None:
    if variable.name.startswith("CM_"):
        return  # an error of its own, reported once for all of them
    products = sorted(one.value for one in variable.products or ())
    context.report(
        rules.environment_product,
        variable.name,
        "{} is not documented for {}, only for {}",
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
    wrong = variable.kind.problem_of(text)
    if name == "JOB_ID":
        _job_id(context, variable, text, wrong)
    elif name == "HCCL_OP_EXPANSION_MODE" and wrong is None:
        _expansion_mode(context, variable, text)
    elif wrong is not None:
        context.report(
            rules.environment_value,
            name,
            "{} {}; legal: {}{}",
            name,
            wrong.problem,
            variable.kind.describe(),
            phrase("; {}", variable.consequence) if variable.consequence else "",
            help=wrong.help if text else "unset it, or set a value",
            severity=variable.severity,
        )


def _job_id(
    context: EnvironmentCheck, variable: Variable, text: str, wrong: Optional[InvalidValue]
) -> None:
    if wrong is None:
        return
    too_long = len(text) > JOB_ID_LONGEST
    context.report(
        rules.job_id_format,
        variable.name,
        "{} {}; legal: {}; GE rejects the value (E10051) and the adapter aborts the process"
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
        rules.environment_value,
        variable.name,
        "{}, but {} supports only {}; {}",
        assigned(variable.name, text),
        product.value,
        listed(modes),
        phrase("HCCL rejects the value") if refused else phrase("{} is used", modes[0]),
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
                rules.environment_name,
                name,
                "unknown variable {}; {} is not set",
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


_ENVIRON = "pass os.environ or parse_dotenv(text).variables"


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


def check_value(context: EnvironmentCheck, name: str) -> None:
    """Check one variable for itself."""
    text = context.get(name)
    if text is not None and name in VARIABLES:
        _value(context, VARIABLES[name], text)


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
                rules.environment_of_host, name, "{} is not a directory", assigned(name, text)
            )
        elif os.path.exists(text) and not os.path.isdir(text):
            context.report(
                rules.environment_of_host,
                name,
                "{} is a file, but must be a directory",
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
                rules.environment_of_host,
                name,
                "{} is {}, but the machine has {} CPU cores: at most {}",
                name,
                number,
                cores,
                most,
                help=phrase("write at most {}", most),
                severity=Severity.WARNING,
            )
