"""600-639: timeouts, devices, and environment variables that meet options."""

import json
import re
from typing import Any, Dict, Mapping, Optional, Tuple

from npu_config.diagnostics import Severity
from npu_config.judge import Case
from npu_config.rulebook import rule
from npu_config.rules._reading import given, runs_dynamic
from npu_config.settings import Carrier
from npu_config.target import Product

_EXCEPTION = "docs/en/tfadapter_1/apiref/session_config/exception_remedy.md"
_EXPERIMENTAL = "docs/en/tfadapter_1/apiref/session_config/experiment_options.md"
_PS_WORKER = (
    "docs/en/tfadapter_1/migration/script_migration/distributed_training_scripts/"
    "data_parallel_ps_worker.md"
)

ROUNDING_PRODUCTS = frozenset((Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO))
HF32_PRODUCTS = frozenset((Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2))
HCCL_UNIT = 68
HCCL_DEFAULT = 1836


@rule(
    "NPU601",
    "collective-timeout-rounded",
    Severity.WARNING,
    options=("hccl_timeout",),
    products=ROUNDING_PRODUCTS,
    facts=("hccl-timeout-68",),
    source=(_EXCEPTION,),
)
def collective_timeout_rounded(case: Case) -> None:
    """``hccl_timeout`` is no multiple of 68 on a product that rounds it.

    atlas_training and atlas_300i_duo use the multiple of 68 below it, at least 68: 600 becomes
    544.

    Wrong:

        target: {product: atlas_training}
        hccl_timeout: 600

    Right:

        target: {product: atlas_training}
        hccl_timeout: 612
    """
    seconds = case.get("hccl_timeout")
    if seconds and seconds % HCCL_UNIT:
        above = -(-seconds // HCCL_UNIT) * HCCL_UNIT
        case.report(
            "hccl_timeout",
            '"hccl_timeout" is {} s, of which {} s take effect (multiples of {})'.format(
                seconds, _rounded(seconds), HCCL_UNIT
            ),
            "write {}".format(above),
        )


def _rounded(seconds: int) -> int:
    return max(seconds // HCCL_UNIT * HCCL_UNIT, HCCL_UNIT)


@rule(
    "NPU602",
    "collective-timeout-off",
    Severity.INFO,
    options=("hccl_timeout",),
    products=HF32_PRODUCTS,
    facts=("hccl-timeout-never",),
    source=(_EXCEPTION,),
)
def collective_timeout_off(case: Case) -> None:
    """``hccl_timeout`` is 0: a collective operation waits for ever.

    When one process dies, the others hang.

    Wrong:

        target: {product: atlas_a2}
        hccl_timeout: 0

    Right:

        target: {product: atlas_a2}
        hccl_timeout: 1836
    """
    if case.get("hccl_timeout") == 0:
        case.report(
            "hccl_timeout", '"hccl_timeout" is 0: collective operations wait without limit'
        )


@rule(
    "NPU603",
    "stream-timeout-below-collective-timeout",
    Severity.ERROR,
    options=("stream_sync_timeout",),
    facts=("stream-sync-gt-hccl",),
    source=(_EXCEPTION,),
)
def stream_timeout_below_collective_timeout(case: Case) -> None:
    """``stream_sync_timeout`` ends before a collective operation may.

    In a cluster it must be larger than the collective timeout (``hccl_timeout``, else
    HCCL_EXEC_TIMEOUT, else 1836 s); otherwise the synchronisation fails first.  Mind the units:
    milliseconds against seconds.  A warning where it is not known that the job runs on several
    devices.

    Wrong:

        # environment: RANK_SIZE=8
        stream_sync_timeout: 60000
        hccl_timeout: 1800

    Right:

        # environment: RANK_SIZE=8
        stream_sync_timeout: 1900000
        hccl_timeout: 1800
    """
    limit = case.get("stream_sync_timeout")
    if limit is None or limit < 1:
        return
    cluster = device_count(case.environ) > 1
    collective = _collective_timeout(case, cluster)
    if collective is None or (collective[0] and limit > 1000 * collective[0]):
        return
    seconds, origin = collective
    case.report(
        "stream_sync_timeout",
        '"stream_sync_timeout" is {} ms, {}; in a cluster it must be larger'.format(
            limit,
            "but {} is {} s".format(origin, seconds)
            if seconds
            else "but {} is without limit".format(origin),
        ),
        "set it to more than {}, or to -1".format(1000 * seconds) if seconds else "set it to -1",
        severity=None if cluster else Severity.WARNING,
    )


def _collective_timeout(case: Case, cluster: bool) -> Optional[Tuple[int, str]]:
    if case.isset("hccl_timeout"):
        seconds, origin = case.get("hccl_timeout"), '"hccl_timeout"'
        if seconds is None:
            return None
    elif not cluster or not case.absent("hccl_timeout"):
        return None
    else:
        text = (case.environ or {}).get("HCCL_EXEC_TIMEOUT", "")
        known = re.match(r"[0-9]{1,10}\Z", text) is not None
        seconds = int(text) if known else HCCL_DEFAULT
        origin = "HCCL_EXEC_TIMEOUT" if known else "the default of the collective timeout"
    if seconds and case.only_on(ROUNDING_PRODUCTS):
        seconds = _rounded(seconds)
    return seconds, origin


def device_count(environ: Optional[Mapping[str, str]]) -> int:
    """The number of devices that the environment names for the job, 0 when it names none."""
    for name in ("RANK_SIZE", "CM_WORKER_SIZE"):
        text = (environ or {}).get(name, "")
        if re.match(r"[0-9]{1,6}\Z", text):
            return int(text)
    return 0


@rule(
    "NPU604",
    "synchronisation-without-limit",
    Severity.INFO,
    options=("stream_sync_timeout", "event_sync_timeout"),
    facts=("sync-timeout-disabled",),
    source=(_EXCEPTION,),
)
def synchronisation_without_limit(case: Case) -> None:
    """A synchronisation timeout is set to -1: no limit, and no error when it fails.

    That is the default; the finding is for configurations that write it.

    Wrong, where a hang must be noticed:

        stream_sync_timeout: -1

    Right:

        stream_sync_timeout: 1900000
    """
    if case.carrier is Carrier.BUILDER or case.carrier is Carrier.FILE:
        for name in ("stream_sync_timeout", "event_sync_timeout"):
            if case.get(name) == -1:
                case.report(name, '"{}" is -1: no limit, and no error when it hangs'.format(name))


_NO_LIMIT = ("graph_exec_timeout", "stream_sync_timeout", "event_sync_timeout")
_TIMEOUTS = ("op_wait_timeout", "op_execute_timeout", *_NO_LIMIT)


@rule(
    "NPU605",
    "timeout-without-meaning",
    Severity.WARNING,
    options=_TIMEOUTS,
    facts=("sync-timeout-range",),
    source=(_EXCEPTION,),
)
def timeout_without_meaning(case: Case) -> None:
    """A timeout is 0, or negative other than the -1 that means "no limit" for some.

    The documentation gives such a value no meaning and nothing checks it.

    Wrong:

        op_execute_timeout: 0

    Right:

        op_execute_timeout: 90
    """
    known = case.known
    for name in _TIMEOUTS:
        value = known.get(name, 1)
        if value < 1 and not (value == -1 and name in _NO_LIMIT):
            case.report(
                name,
                '"{}" is {}, which has no documented meaning; legal: from 1 on{}'.format(
                    name, value, ", or -1 for no limit" if name in _NO_LIMIT else ""
                ),
                "set a number above 0, or leave it out",
            )


@rule(
    "NPU606",
    "half-of-data-distribution",
    Severity.WARNING,
    options=("local_rank_id", "local_device_list"),
    facts=("local-rank-pair",),
    source=("docs/en/tfadapter_1/apiref/session_config/data_augmentation.md",),
)
def half_of_data_distribution(case: Case) -> None:
    """One of ``local_rank_id`` and ``local_device_list`` is set without the other.

    Together they let one process feed several devices; alone they have no defined effect.

    Wrong:

        local_rank_id: 0

    Right:

        local_rank_id: 0
        local_device_list: "0,1,2,3"
    """
    for name, other in (
        ("local_rank_id", "local_device_list"),
        ("local_device_list", "local_rank_id"),
    ):
        if given(case, name) and case.absent(other):
            case.report(
                name,
                '"{}" is set without "{}"; alone it has no defined effect'.format(name, other),
                'set "{}" too'.format(other),
            )


_BEATEN: Dict[str, Tuple[str, ...]] = {
    "session_device_id": ("ASCEND_DEVICE_ID", "DEVICE_ID"),
    "aoe_mode": ("AOE_MODE",),
    "profiling_mode": ("PROFILING_MODE",),
    "hccl_timeout": ("HCCL_EXEC_TIMEOUT",),
}


@rule(
    "NPU611",
    "option-beats-environment",
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
    """An option and the environment variable for the same are set to different values.

    The option wins.

    Wrong:

        # environment: ASCEND_DEVICE_ID=1
        session_device_id: 0

    Right:

        # environment: ASCEND_DEVICE_ID=0
        session_device_id: 0
    """
    if case.environ is None:
        return
    for name, variables in _BEATEN.items():
        value = case.get(name)
        if value is None:
            continue
        for variable in variables:
            text = case.environ.get(variable)
            if text is None or text.lower() == str(value).lower() or text == "dynamic":
                continue
            case.report(
                name,
                '"{}" is {} and {} in the environment is "{}"; the option wins'.format(
                    name, value, variable, text[:80]
                ),
                "remove one of them",
            )


@rule(
    "NPU612",
    "memory-policy-in-environment-too",
    Severity.ERROR,
    options=("static_memory_policy",),
    facts=("static-memory-policy-env",),
    source=("cann/ge:docs/zh/user_guides/env_vars/GE_USE_STATIC_MEMORY.md",),
    on_host=True,
)
def memory_policy_in_environment_too(case: Case) -> None:
    """``static_memory_policy`` is set and so is GE_USE_STATIC_MEMORY.

    They must not be combined; the variable will be retired.

    Wrong:

        # environment: GE_USE_STATIC_MEMORY=2
        static_memory_policy: 2

    Right:

        static_memory_policy: 2
    """
    if (
        case.environ is not None
        and "GE_USE_STATIC_MEMORY" in case.environ
        and given(case, "static_memory_policy")
    ):
        case.report(
            "static_memory_policy",
            '"static_memory_policy" is set and so is GE_USE_STATIC_MEMORY in the environment; '
            "at most one of them may be",
            "unset GE_USE_STATIC_MEMORY",
        )


@rule(
    "NPU613",
    "hf32-with-float16-inference",
    Severity.WARNING,
    options=("graph_run_mode",),
    products=HF32_PRODUCTS,
    facts=("precision-inference-hf32",),
    source=("docs/en/tfa_env/ENABLE_HF32_EXECUTION.md",),
    on_host=True,
)
def hf32_with_float16_inference(case: Case) -> None:
    """ENABLE_HF32_EXECUTION is set for online inference that does not keep float32.

    The default precision of inference is float16, and the variable has no effect.

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
    if case.environ is None or "ENABLE_HF32_EXECUTION" not in case.environ:
        return
    if case.get("graph_run_mode") != 0:
        return
    for name, keeps in (
        ("precision_mode", "must_keep_origin_dtype"),
        ("precision_mode_v2", "origin"),
    ):
        mode = case.get(name)
        if mode == keeps or (mode is None and not case.absent(name)):
            return
    case.report(
        "graph_run_mode",
        "ENABLE_HF32_EXECUTION has no effect: online inference uses float16 unless "
        '"precision_mode_v2" is "origin" (or "precision_mode" "must_keep_origin_dtype")',
        'set "precision_mode_v2" to "origin"',
    )


@rule(
    "NPU614",
    "hf32-beside-operator-precision",
    Severity.INFO,
    options=("op_precision_mode",),
    products=HF32_PRODUCTS,
    facts=("op-precision-vs-hf32-env",),
    source=("docs/en/tfa_env/ENABLE_HF32_EXECUTION.md",),
    on_host=True,
)
def hf32_beside_operator_precision(case: Case) -> None:
    """``op_precision_mode`` is set and so is ENABLE_HF32_EXECUTION.

    For one operator a line under ByNodeName beats the variable, and the variable beats a line
    under ByOpType; the documentation advises not to combine them.

    Wrong:

        # environment: ENABLE_HF32_EXECUTION=1
        target: {product: atlas_a2}
        op_precision_mode: op_precision.ini

    Right:

        target: {product: atlas_a2}
        op_precision_mode: op_precision.ini
    """
    if (
        case.environ is not None
        and "ENABLE_HF32_EXECUTION" in case.environ
        and given(case, "op_precision_mode")
    ):
        case.report(
            "op_precision_mode",
            '"op_precision_mode" is set and so is ENABLE_HF32_EXECUTION, which beats the lines '
            "under ByOpType and is beaten by those under ByNodeName",
            "use one of them",
        )


@rule(
    "NPU615",
    "exception-dump-redirected",
    Severity.INFO,
    options=("enable_exception_dump",),
    facts=("exception-dump-collect-path",),
    source=("docs/en/tfadapter_1/apiref/session_config/debugging.md",),
    on_host=True,
)
def exception_dump_redirected(case: Case) -> None:
    """``enable_exception_dump`` is set and NPU_COLLECT_PATH decides in its place.

    With the variable the common exception dump (1) is used whatever the option says, and goes to
    that directory.

    Wrong:

        # environment: NPU_COLLECT_PATH=/tmp/collect
        enable_exception_dump: 2

    Right:

        # environment: NPU_COLLECT_PATH=/tmp/collect
        enable_exception_dump: 1
    """
    mode = case.get("enable_exception_dump")
    if (
        case.environ is not None
        and case.environ.get("NPU_COLLECT_PATH")
        and mode is not None
        and mode != 1
    ):
        case.report(
            "enable_exception_dump",
            '"enable_exception_dump" is {}, but NPU_COLLECT_PATH is set: mode 1 is used and the '
            "dump goes to that directory".format(mode),
        )


_PROGRESS = {"step": ("TOTAL_STEP", "STEP_NOW"), "loss": ("TARGET_LOSS", "LOSS_NOW")}


def missing_progress(case: Case) -> Tuple[str, ...]:
    """The variables that ``experimental_accelerate_train_mode`` needs and nobody has set yet."""
    mode = case.get("experimental_accelerate_train_mode")
    if mode is None or case.environ is None:
        return ()
    return tuple(name for name in _PROGRESS[mode.trigger] if name not in case.environ)


@rule(
    "NPU616",
    "accelerated-training-without-progress",
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
    """The environment does not say how far the training is, which the acceleration needs.

    ``step`` needs TOTAL_STEP and STEP_NOW, ``loss`` needs TARGET_LOSS and LOSS_NOW; without them
    the first run raises.  A warning, since the script may still set them, as
    TellMeStepOrLossHook does.

    Wrong:

        # environment: TOTAL_STEP=1000
        experimental_accelerate_train_mode: "fast|step|0.9"

    Right:

        # environment: TOTAL_STEP=1000 STEP_NOW=0
        experimental_accelerate_train_mode: "fast|step|0.9"
    """
    missing = missing_progress(case)
    if missing:
        case.report(
            "experimental_accelerate_train_mode",
            "{} {} not set in the environment, and must be before the first run".format(
                " and ".join(missing), "is" if len(missing) == 1 else "are"
            ),
            "let the script set {}, or use TellMeStepOrLossHook".format(
                "it" if len(missing) == 1 else "them"
            ),
        )


@rule(
    "NPU617",
    "parallel-streams-of-dynamic-graph",
    Severity.WARNING,
    options=("auto_multistream_parallel_mode",),
    facts=("auto-multistream-dynamic",),
    source=(_EXPERIMENTAL,),
    on_host=True,
)
def parallel_streams_of_dynamic_graph(case: Case) -> None:
    """``auto_multistream_parallel_mode`` is set for dynamic shapes without the variable it needs.

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
    if dynamic and case.environ.get("ENABLE_DYNAMIC_SHAPE_MULTI_STREAM") != "1":
        case.report(
            "auto_multistream_parallel_mode",
            '"auto_multistream_parallel_mode" has no effect on dynamic shapes ("{}") unless '
            "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM is 1".format(dynamic),
            "set ENABLE_DYNAMIC_SHAPE_MULTI_STREAM=1 in the environment",
        )


@rule(
    "NPU618",
    "forced-cache-with-parallel-compilation",
    Severity.WARNING,
    options=("op_compiler_cache_mode",),
    facts=("cache-force-parallel",),
    source=("docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md",),
    on_host=True,
)
def forced_cache_with_parallel_compilation(case: Case) -> None:
    """``op_compiler_cache_mode: force`` is set while operators are compiled in parallel.

    Forcing deletes what other compilations have cached, which may then fail.

    Wrong:

        # environment: TE_PARALLEL_COMPILER=8
        op_compiler_cache_mode: force

    Right:

        # environment: TE_PARALLEL_COMPILER=1
        op_compiler_cache_mode: force
    """
    if case.environ is None or case.get("op_compiler_cache_mode") != "force":
        return
    text = case.environ.get("TE_PARALLEL_COMPILER", "")
    if re.match(r"[0-9]{1,4}\Z", text) and int(text) > 1:
        case.report(
            "op_compiler_cache_mode",
            '"op_compiler_cache_mode" is "force" with TE_PARALLEL_COMPILER={}; compilations that '
            "run at the same time lose their cache and may fail".format(text),
            "set TE_PARALLEL_COMPILER=1 for this run",
        )


def cluster_of(environ: Optional[Mapping[str, str]]) -> Any:
    """The cluster that TF_CONFIG describes, None when it describes none."""
    text = (environ or {}).get("TF_CONFIG", "")
    try:
        described = json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
    return described.get("cluster") or None if isinstance(described, dict) else None


@rule(
    "NPU619",
    "parameter-servers-without-mixed-computing",
    Severity.ERROR,
    facts=("ps-worker-mix-compile",),
    source=(
        "tf_adapter/python/npu_bridge/estimator/npu/npu_config.py:219-226",
        _PS_WORKER,
    ),
    on_host=True,
)
def parameter_servers_without_mixed_computing(case: Case) -> None:
    """TF_CONFIG describes a cluster, and mixed computing is off.

    Training with parameter servers needs ``mix_compile_mode`` True, and with it
    ``iterations_per_loop`` 1.  NPURunConfig raises.

    Wrong:

        # environment: TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]}}
        mix_compile_mode: false

    Right:

        # environment: TF_CONFIG={"cluster":{"ps":["a:1"],"worker":["b:1"]}}
        mix_compile_mode: true
    """
    if case.environ is None or "TF_CONFIG" not in case.environ:
        return
    if case.never("mix_compile_mode", True) and cluster_of(case.environ) is not None:
        case.report(
            "mix_compile_mode",
            'TF_CONFIG describes a cluster, which needs "mix_compile_mode" True; it is {}'.format(
                "False" if case.isset("mix_compile_mode") else "not set"
            ),
            'set "mix_compile_mode" to True and "iterations_per_loop" to 1',
        )
