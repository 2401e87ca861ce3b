"""611-639: environment variables that meet options, TF_CONFIG among them."""

import re
from typing import Any, Dict, Tuple

from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import join, phrase
from npu_config.core.versions import Product
from npu_config.rules.case import DYNAMIC_SHAPES, Case, given, off, runs_dynamic
from npu_config.rules.precision import KEEPS_DTYPES

_EXCEPTION = "docs/en/tfadapter_1/apiref/session_config/exception_remedy.md"
_EXPERIMENTAL = "docs/en/tfadapter_1/apiref/session_config/experiment_options.md"

HF32_PRODUCTS = frozenset((Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2))

_BEATEN: Dict[str, Tuple[str, ...]] = {
    "session_device_id": ("ASCEND_DEVICE_ID", "DEVICE_ID"),
    "aoe_mode": ("AOE_MODE",),
    "profiling_mode": ("PROFILING_MODE",),
    "hccl_timeout": ("HCCL_EXEC_TIMEOUT",),
}


@rule(
    "NPU611",
    Severity.INFO,
    options=tuple(_BEATEN),
    facts=(
        "device-id-priority",
        "aoe-env-priority",
        "profiling-env-priority",
        "hccl-timeout-priority",
    ),
    source=(
        "docs/en/tfa_env/ASCEND_DEVICE_ID.md",
        "docs/en/tfadapter_1/apiref/session_config/AOE.md",
        "docs/en/tfadapter_1/apiref/session_config/Profiling.md",
        _EXCEPTION,
    ),
    on_host=True,
)
def option_beats_environment(case: Case) -> None:
    """An option and its environment variable have different values.

    The value of the option is used.

    Wrong:

        # environment: ASCEND_DEVICE_ID=1
        session_device_id: 0

    Right:

        # environment: ASCEND_DEVICE_ID=0
        session_device_id: 0
    """
    for name, variables in _BEATEN.items():
        value = case.get(name)
        if value is None:
            continue
        for variable in variables:
            text = case.variable(variable)
            if text is None or text.lower() == str(value).lower() or text == "dynamic":
                continue
            case.report(
                name,
                '"{}" is {} and {} in the environment is "{}"; the option is used',
                name,
                value,
                variable,
                text[:80],
                help="remove the option or the variable",
            )


@rule(
    "NPU612",
    Severity.ERROR,
    options=("static_memory_policy",),
    facts=("static-memory-policy-env",),
    source=("cann/ge:docs/zh/user_guides/env_vars/GE_USE_STATIC_MEMORY.md",),
    on_host=True,
)
def memory_policy_in_environment_too(case: Case) -> None:
    """``static_memory_policy`` and GE_USE_STATIC_MEMORY are both set.

    The option and the variable must not be combined; the variable will be retired.

    Wrong:

        # environment: GE_USE_STATIC_MEMORY=2
        static_memory_policy: 2

    Right:

        static_memory_policy: 2
    """
    if case.variable("GE_USE_STATIC_MEMORY") is not None and given(case, "static_memory_policy"):
        case.report(
            "static_memory_policy",
            '"static_memory_policy" and the environment variable GE_USE_STATIC_MEMORY are '
            "both set; only one of them is allowed",
            help="unset GE_USE_STATIC_MEMORY",
        )


@rule(
    "NPU613",
    Severity.WARNING,
    options=("graph_run_mode",),
    also=(
        "precision_mode_v2",
        "precision_mode",
    ),
    products=HF32_PRODUCTS,
    facts=("precision-inference-hf32",),
    source=("docs/en/tfa_env/ENABLE_HF32_EXECUTION.md",),
    on_host=True,
)
def hf32_with_float16_inference(case: Case) -> None:
    """ENABLE_HF32_EXECUTION is set for online inference that does not keep float32.

    Online inference uses float16 by default, and the variable then has no effect.

    Wrong:

        # environment: ENABLE_HF32_EXECUTION=1
        target: {product: atlas_a2}
        graph_run_mode: 0

    Right:

        # environment: ENABLE_HF32_EXECUTION=1
        target: {product: atlas_a2}
        graph_run_mode: 0
        precision_mode_v2: origin
    """
    if case.variable("ENABLE_HF32_EXECUTION") is None or case.get("graph_run_mode") != 0:
        return
    for name, keeps in KEEPS_DTYPES:
        mode = case.get(name)
        if mode == keeps or (mode is None and not case.absent(name)):
            return
    case.report(
        "graph_run_mode",
        "ENABLE_HF32_EXECUTION has no effect: online inference uses float16 unless "
        '"precision_mode_v2" is "origin" (or "precision_mode" "must_keep_origin_dtype")',
        help='set "precision_mode_v2" to "origin"',
    )


@rule(
    "NPU614",
    Severity.INFO,
    options=("op_precision_mode",),
    products=HF32_PRODUCTS,
    facts=("op-precision-vs-hf32-env",),
    source=("docs/en/tfa_env/ENABLE_HF32_EXECUTION.md",),
    on_host=True,
)
def hf32_beside_operator_precision(case: Case) -> None:
    """``op_precision_mode`` and ENABLE_HF32_EXECUTION are both set.

    For one operator, a line under ByNodeName takes precedence over the variable, and the variable
    takes precedence over a line under ByOpType.  The documentation advises against combining them.

    Wrong:

        # environment: ENABLE_HF32_EXECUTION=1
        target: {product: atlas_a2}
        op_precision_mode: op_precision.ini

    Right:

        target: {product: atlas_a2}
        op_precision_mode: op_precision.ini
    """
    if case.variable("ENABLE_HF32_EXECUTION") is not None and given(case, "op_precision_mode"):
        case.report(
            "op_precision_mode",
            '"op_precision_mode" and ENABLE_HF32_EXECUTION are both set; the variable takes '
            "precedence over lines under ByOpType, but not over lines under ByNodeName",
            help="use only one of the two",
        )


@rule(
    "NPU615",
    Severity.INFO,
    options=("enable_exception_dump",),
    facts=("exception-dump-collect-path",),
    source=("docs/en/tfadapter_1/apiref/session_config/debugging.md",),
    on_host=True,
)
def exception_dump_redirected(case: Case) -> None:
    """``enable_exception_dump`` is set, but NPU_COLLECT_PATH overrides it.

    If the variable is set, the common exception dump (1) is used, whatever the value of the option
    is, and the dump is written to the directory in the variable.

    Wrong:

        # environment: NPU_COLLECT_PATH=/tmp/collect
        enable_exception_dump: 2

    Right:

        # environment: NPU_COLLECT_PATH=/tmp/collect
        enable_exception_dump: 1
    """
    mode = case.get("enable_exception_dump")
    if case.variable("NPU_COLLECT_PATH") and mode not in (None, 1):
        case.report(
            "enable_exception_dump",
            '"enable_exception_dump" is {}, but NPU_COLLECT_PATH is set: mode 1 is used and '
            "the dump goes to that directory",
            mode,
        )


PROGRESS = {"step": ("TOTAL_STEP", "STEP_NOW"), "loss": ("TARGET_LOSS", "LOSS_NOW")}


@rule(
    "NPU616",
    Severity.WARNING,
    options=("experimental_accelerate_train_mode",),
    facts=("accelerate-step-env", "accelerate-loss-env"),
    source=(
        "tf_adapter/kernels/geop_npu.cc:692-701",
        "docs/en/tfa_env/TOTAL_STEP.md",
        "docs/en/tfa_env/TARGET_LOSS.md",
    ),
    on_host=True,
)
def accelerated_training_without_progress(case: Case) -> None:
    """The environment variables that give the progress of accelerated training are not set.

    ``step`` needs TOTAL_STEP and STEP_NOW, ``loss`` needs TARGET_LOSS and LOSS_NOW; without them
    the first run raises an exception.  This is only a warning, because the script may still set
    the variables, as TellMeStepOrLossHook does.

    Wrong:

        # environment: TOTAL_STEP=1000
        experimental_accelerate_train_mode: "fast|step|0.9"

    Right:

        # environment: TOTAL_STEP=1000 STEP_NOW=0
        experimental_accelerate_train_mode: "fast|step|0.9"
    """
    mode = case.get("experimental_accelerate_train_mode")
    if mode is None or case.environ is None:
        return
    missing = [name for name in PROGRESS[mode.trigger] if case.variable(name) is None]
    if missing:
        case.report(
            "experimental_accelerate_train_mode",
            "{} is not set in the environment; it must be set before the first run"
            if len(missing) == 1
            else "{} are not set in the environment; they must be set before the first run",
            join(" and ", missing),
            help=phrase(
                "set the variable in the script, or use TellMeStepOrLossHook"
                if len(missing) == 1
                else "set the variables in the script, or use TellMeStepOrLossHook"
            ),
        )


@rule(
    "NPU617",
    Severity.WARNING,
    options=("auto_multistream_parallel_mode",),
    also=DYNAMIC_SHAPES,
    facts=("auto-multistream-dynamic",),
    source=(_EXPERIMENTAL,),
    on_host=True,
)
def parallel_streams_of_dynamic_graph(case: Case) -> None:
    """ENABLE_DYNAMIC_SHAPE_MULTI_STREAM is not 1, so dynamic-shape graphs use only one stream.

    Graphs with dynamic shapes run on several streams only when
    ENABLE_DYNAMIC_SHAPE_MULTI_STREAM is 1.

    Wrong:

        # environment: ENABLE_DYNAMIC_SHAPE_MULTI_STREAM=0
        auto_multistream_parallel_mode: "LoadBalance:8"
        compile_dynamic_mode: true

    Right:

        # environment: ENABLE_DYNAMIC_SHAPE_MULTI_STREAM=1
        auto_multistream_parallel_mode: "LoadBalance:8"
        compile_dynamic_mode: true
    """
    if case.environ is None or not given(case, "auto_multistream_parallel_mode"):
        return
    dynamic = runs_dynamic(case)
    if dynamic and case.variable("ENABLE_DYNAMIC_SHAPE_MULTI_STREAM") != "1":
        case.report(
            "auto_multistream_parallel_mode",
            '"auto_multistream_parallel_mode" has no effect on dynamic shapes ("{}") unless '
            "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM is 1",
            dynamic,
            help="set ENABLE_DYNAMIC_SHAPE_MULTI_STREAM=1 in the environment",
        )


@rule(
    "NPU618",
    Severity.WARNING,
    options=("op_compiler_cache_mode",),
    facts=("cache-force-parallel",),
    source=("docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md",),
    on_host=True,
)
def forced_cache_with_parallel_compilation(case: Case) -> None:
    """``op_compiler_cache_mode: force`` is set while operators are compiled in parallel.

    ``force`` deletes the cache of other compilations, which may then fail.

    Wrong:

        # environment: TE_PARALLEL_COMPILER=8
        op_compiler_cache_mode: force

    Right:

        # environment: TE_PARALLEL_COMPILER=1
        op_compiler_cache_mode: force
    """
    text = case.variable("TE_PARALLEL_COMPILER") or ""
    parallel = re.match(r"[0-9]{1,4}\Z", text) is not None and int(text) > 1
    if parallel and case.get("op_compiler_cache_mode") == "force":
        case.report(
            "op_compiler_cache_mode",
            '"op_compiler_cache_mode" is "force" with TE_PARALLEL_COMPILER={}; compilations '
            "that run at the same time lose their cache and may fail",
            text,
            help="set TE_PARALLEL_COMPILER=1 for this run",
        )


_PS_WORKER = (
    "docs/en/tfadapter_1/migration/script_migration/distributed_training_scripts/"
    "data_parallel_ps_worker.md"
)


def cluster_of(case: Case) -> Any:
    """The cluster that TF_CONFIG describes, None when it describes none."""
    import json

    text = case.variable("TF_CONFIG")
    try:
        described = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return described.get("cluster") or None if isinstance(described, dict) else None


@rule(
    "NPU619",
    Severity.ERROR,
    facts=("ps-worker-mix-compile",),
    source=(
        "tf_adapter/python/npu_bridge/estimator/npu/npu_config.py:219-226",
        _PS_WORKER,
    ),
    on_host=True,
    also=(
        "mix_compile_mode",
        "iterations_per_loop",
    ),
)
def parameter_servers_without_mixed_computing(case: Case) -> None:
    """TF_CONFIG describes a cluster, and mixed computing is off.

    Training with parameter servers needs ``mix_compile_mode`` True, and therefore
    ``iterations_per_loop`` 1.  Otherwise NPURunConfig raises an exception.

    Wrong:

        # environment: TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]}}
        mix_compile_mode: false

    Right:

        # environment: TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]}}
        mix_compile_mode: true
    """
    if case.never("mix_compile_mode", True) and cluster_of(case) is not None:
        case.report(
            "mix_compile_mode",
            'TF_CONFIG describes a cluster, which needs "mix_compile_mode" True, but the '
            "option is {}",
            off(case, "mix_compile_mode"),
            help='set "mix_compile_mode" to True and "iterations_per_loop" to 1',
        )
