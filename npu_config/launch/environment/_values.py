"""Variables by themselves: their values, their products, their names."""

import functools
from typing import Optional, Tuple

from npu_config.catalogue.kinds import InvalidValue
from npu_config.core.diagnostics import Severity
from npu_config.core.message import listed, phrase
from npu_config.core.rule import declare
from npu_config.core.settings import UNKNOWN
from npu_config.core.target import Product
from npu_config.launch.environment.kinds import JOB_ID_LONGEST, problem_of
from npu_config.launch.environment.state import EnvironmentCheck, assigned
from npu_config.launch.environment.variables import (
    CM_NAMES,
    RANK_TABLE_NAMES,
    TENSORFLOW_2_NAMES,
    VARIABLES,
    Variable,
)
from npu_config.rank_table.group_model import GroupTable

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
        known for known in VARIABLES if known not in _NEVER_MEANT and is_slip(name, known)
    )


def is_slip(name: str, meant: str) -> bool:
    """Whether a name is another one with one letter missing, added, changed or swapped."""
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
