"""Variables that need, silence or contradict each other, and those that decide for options."""

import json
from typing import Any, Callable, NamedTuple, Optional, Tuple

import attr

from npu_config.core.diagnostics import NOWHERE, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.core.target import Product
from npu_config.launch.environment.kinds import problem_of
from npu_config.launch.environment.state import EnvironmentCheck, assigned
from npu_config.launch.environment.variables import VARIABLES
from npu_config.rank_table.model import RankTable
from npu_config.sidefiles import profiling

_HCCL = "cann/hccl:docs/zh/user_guide/hccl_env/"
_GE = "cann/ge:docs/zh/user_guides/env_vars/"
_OPTIONS = "docs/en/tfadapter_1/apiref/session_config/"


@declare(
    "NPU681",
    Severity.WARNING,
    facts=("profiling-env-priority", "accelerate-step-env", "accelerate-loss-env"),
    source=(
        "cann/oam-tools:docs/zh/env-vars/PROFILING_OPTIONS.md",
        _GE + "DUMP_GRAPH_LEVEL.md",
        _HCCL + "HCCL_WHITELIST_DISABLE.md",
    ),
)
def environment_partner_missing() -> None:
    """An environment variable says nothing without another one, which is not set.

    `PROFILING_OPTIONS` needs `PROFILING_MODE`, `DUMP_GRAPH_LEVEL` needs `DUMP_GE_GRAPH`,
    `STEP_NOW` and `TOTAL_STEP` as well as `LOSS_NOW` and `TARGET_LOSS` go together.
    `HCCL_WHITELIST_DISABLE=0` without `HCCL_WHITELIST_FILE` is an error: HCCL is to check
    a list and has none.

    Wrong: `export PROFILING_OPTIONS='{"output": "/data/prof"}'`

    Right: `export PROFILING_MODE=true PROFILING_OPTIONS='{"output": "/data/prof"}'`
    """


@declare(
    "NPU682",
    Severity.INFO,
    facts=("exception-dump-dir", "precision-tool-env-switch"),
    source=(_HCCL + "HCCL_IF_IP.md", _OPTIONS + "debugging.md"),
)
def environment_silenced() -> None:
    """An environment variable has no effect, or not everywhere, because of another one.

    `HCCL_IF_IP` takes precedence over `HCCL_SOCKET_IFNAME`; `HCCL_WHITELIST_FILE` is read only
    with `HCCL_WHITELIST_DISABLE=0`; `PROFILING_OPTIONS` only when `PROFILING_MODE` turns profiling
    on; `RESTORE_FROM` only without `LOCAL_CHECKPOINT_DIR`; `PRECISION_TOOL_DUMP` only without
    `PRECISION_TOOL_OVERFLOW`; NPUBasics takes `POD_NAME` before `RANK_ID`; what is collected
    about faults goes to `NPU_COLLECT_PATH` and dumped graphs to `DUMP_GRAPH_PATH`, not to
    `ASCEND_WORK_PATH`; and the interfaces that there are decide against `HCCL_SOCKET_FAMILY`.

    Wrong: `export HCCL_IF_IP=10.0.0.1 HCCL_SOCKET_IFNAME=eth`

    Right: `export HCCL_IF_IP=10.0.0.1`
    """


@declare(
    "NPU683",
    Severity.ERROR,
    source=(_HCCL + "HCCL_INTRA_ROCE_ENABLE.md", _HCCL + "HCCL_INTRA_PCIE_ENABLE.md"),
)
def environment_conflict() -> None:
    """Two environment variables contradict each other.

    `HCCL_INTRA_PCIE_ENABLE` and `HCCL_INTRA_ROCE_ENABLE` choose the links inside a server:
    not both 1, and a 0 of the one needs the other set.

    Wrong: `export HCCL_INTRA_PCIE_ENABLE=1 HCCL_INTRA_ROCE_ENABLE=1`

    Right: `export HCCL_INTRA_PCIE_ENABLE=0 HCCL_INTRA_ROCE_ENABLE=1`
    """


@declare(
    "NPU685",
    Severity.ERROR,
    facts=("tf-config-json",),
    source=(
        "tf_adapter/python/npu_bridge/estimator/npu/npu_config.py:219",
        "tf_adapter/util/ge_plugin.cc:171-193",
    ),
)
def tf_config_content() -> None:
    """`TF_CONFIG` is not what TensorFlow and npu_bridge read.

    It is one JSON object with `cluster` (task type to addresses) and `task` (`type` and
    `index`).  With anything else than JSON NPURunConfig and NPUEstimator raise an error, while
    the plugin only warns.  Worth knowing: a `ps` task does not initialise the device, and an
    `evaluator` does not use HCCL (an information).

    Wrong: `export TF_CONFIG={'cluster': {}}`

    Right:

        export TF_CONFIG='{"cluster": {"worker": ["10.0.0.1:2222"]},
                           "task": {"type": "worker", "index": 0}}'
    """


@declare(
    "NPU686",
    Severity.ERROR,
    facts=("hccl-timeout-priority",),
    source=(_HCCL + "HCCL_EXEC_TIMEOUT.md", _OPTIONS + "exception_remedy.md"),
)
def collective_timeout_variable() -> None:
    """`HCCL_EXEC_TIMEOUT` is outside what the product takes.

    0 to 2147483647 s on ascend_950, atlas_a3 and atlas_a2, where 0 waits for ever; 1 to
    17340 s on atlas_training and atlas_300i_duo, where the multiple of 68 below it takes effect
    (a warning: 600 becomes 544).  With `HCCL_OP_EXPANSION_MODE=AIV` at most 1091 s: 0 and
    larger values become 1091 (a warning).

    Wrong, on atlas_training: `export HCCL_EXEC_TIMEOUT=20000`

    Right: `export HCCL_EXEC_TIMEOUT=1836`
    """


@declare(
    "NPU688",
    Severity.INFO,
    facts=(
        "exception-dump-collect-path",
        "static-memory-policy-env",
        "aoe-env-priority",
        "profiling-env-priority",
        "profiling-vs-profiler-class",
    ),
    source=(_OPTIONS + "debugging.md", _OPTIONS + "AOE.md", _OPTIONS + "Profiling.md"),
)
def environment_decides_for_option() -> None:
    """An environment variable decides what an option would say.

    `NPU_COLLECT_PATH` puts the exception dump in mode 1 whatever `enable_exception_dump`
    says; `GE_USE_STATIC_MEMORY` must not be combined with `static_memory_policy`, which takes
    its place; `AOE_MODE` tunes when `aoe_mode` is not set; `PROFILING_MODE=true` profiles
    when `profiling_mode` is not set, and cannot be combined with `profiler.Profiler`.

    Wrong: `export GE_USE_STATIC_MEMORY=2`

    Right: `static_memory_policy: 2`
    """


class Effect(NamedTuple):
    """What is to be known when ``name`` is set (to a text that ``when`` takes)."""

    name: str
    message: str
    help: Optional[str] = None
    when: Callable[[str], bool] = bool


EFFECTS: Tuple[Effect, ...] = (
    Effect(
        "NPU_COLLECT_PATH",
        "the exception dump works in mode 1 whatever enable_exception_dump says, and oom in "
        "op_debug_config is an error",
    ),
    Effect(
        "GE_USE_STATIC_MEMORY",
        "it must not be combined with the option static_memory_policy, which takes its place",
        "unset it, and set static_memory_policy",
    ),
    Effect("AOE_MODE", "graphs are tuned when the option aoe_mode is not set"),
    Effect(
        "PROFILING_MODE",
        "the job is profiled when the option profiling_mode is not set, and profiler.Profiler "
        "cannot be used",
        None,
        lambda text: text == "true",
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
    ("HCCL_SOCKET_IFNAME", "HCCL_IF_IP", "has no effect beside HCCL_IF_IP"),
    ("RESTORE_FROM", "LOCAL_CHECKPOINT_DIR", "has no effect beside LOCAL_CHECKPOINT_DIR"),
    ("RANK_ID", "POD_NAME", "is not what NPUBasics takes: it takes POD_NAME first"),
    (
        "ASCEND_WORK_PATH",
        "NPU_COLLECT_PATH",
        "does not take what is collected about faults: that goes to NPU_COLLECT_PATH",
    ),
    (
        "ASCEND_WORK_PATH",
        "DUMP_GRAPH_PATH",
        "does not take dumped graphs: they go to DUMP_GRAPH_PATH",
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
                environment_partner_missing,
                name,
                "{} is set, but not {}",
                name,
                partner,
                help=phrase("export {}, or unset {}", partner, name),
            )
    for name, other, why in SILENCERS:
        if context.get(name) and context.get(other):
            context.report(environment_silenced, name, "{} {}", name, why)
    for effect in EFFECTS:
        text = context.get(effect.name)
        if text is not None and effect.when(text):
            context.report(
                environment_decides_for_option,
                effect.name,
                "{}: {}",
                assigned(effect.name, text),
                effect.message,
                help=effect.help,
            )
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
            attr.evolve(
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
            environment_partner_missing,
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
            environment_silenced,
            "HCCL_WHITELIST_FILE",
            "HCCL_WHITELIST_FILE is read only with HCCL_WHITELIST_DISABLE=0",
        )


def _tools(context: EnvironmentCheck) -> None:
    if context.get("PROFILING_MODE") == "false" and "PROFILING_OPTIONS" in context.environ:
        context.report(
            environment_silenced,
            "PROFILING_OPTIONS",
            "PROFILING_OPTIONS is read only when profiling is on, and PROFILING_MODE is false",
        )
    if context.get("PRECISION_TOOL_OVERFLOW") == context.get("PRECISION_TOOL_DUMP") == "True":
        context.report(
            environment_silenced,
            "PRECISION_TOOL_DUMP",
            "PRECISION_TOOL_DUMP has no effect beside PRECISION_TOOL_OVERFLOW",
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
        environment_conflict,
        "HCCL_INTRA_ROCE_ENABLE" if pcie is None else "HCCL_INTRA_PCIE_ENABLE",
        "{}; legal: 1 and 0, 0 and 1, 0 and 0, or 1 for one of them alone",
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
            environment_silenced,
            "HCCL_SOCKET_FAMILY",
            "{} has no effect: the addresses of the rank table are {}",
            assigned("HCCL_SOCKET_FAMILY", family),
            "IPv6" if ":" in address else "IPv4",
        )


def _timeout(context: EnvironmentCheck) -> None:
    name = "HCCL_EXEC_TIMEOUT"
    text = context.get(name)
    if text is None or problem_of(VARIABLES[name].kind, text) is not None:
        return
    seconds = float(text)
    rounding = context.only_on(*ROUNDING)
    aiv = context.get("HCCL_OP_EXPANSION_MODE") == "AIV"
    lowest, highest = (1, 17340) if rounding else (0, 2**31 - 1)
    if not lowest <= seconds <= highest:
        context.report(
            collective_timeout_variable,
            name,
            "{}; legal{}: {} to {} s",
            assigned(name, text),
            phrase(" on {}", context.target.product.value) if context.target.product else "",
            lowest,
            highest,
        )
    elif aiv and not 0 < seconds <= AIV_LONGEST:
        context.report(
            collective_timeout_variable,
            name,
            "{} becomes {} s with HCCL_OP_EXPANSION_MODE=AIV",
            assigned(name, text),
            AIV_LONGEST,
            help=phrase("write at most {}", AIV_LONGEST),
            severity=Severity.WARNING,
        )
    elif rounding and seconds % UNIT:
        context.report(
            collective_timeout_variable,
            name,
            "{}, of which {} s take effect (multiples of {})",
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
    wrong = problem_of(VARIABLES["TF_CONFIG"].kind, text)
    if wrong is not None:
        context.report(
            tf_config_content,
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
            tf_config_content, "TF_CONFIG", 'TF_CONFIG: "cluster" and "task" are objects'
        )
        return
    what: Any = {
        "ps": "does not initialise the device",
        "evaluator": "does not use HCCL",
    }.get(str(task.get("type")))
    if what is not None:
        context.report(
            tf_config_content,
            "TF_CONFIG",
            'TF_CONFIG: the task is "{}", which {}',
            task["type"],
            what,
            severity=Severity.INFO,
        )
