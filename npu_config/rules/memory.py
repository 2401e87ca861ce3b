"""551-555, 564: memory, small channels, weights."""

from __future__ import annotations

from npu_config.catalogue import Outcome
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.settings import SourceKind
from npu_config.rules.case import Case, in_script

_MEMORY = "docs/en/tfadapter_1/apiref/session_config/memory_management.md"
_PERFORMANCE = "docs/en/tfadapter_1/apiref/session_config/performance_tuning.md"


@rule(
    "NPU551",
    Severity.INFO,
    options=("input_batch_cpy",),
    also=("input_fusion_size",),
    facts=("input-batch-vs-fusion",),
    source=(_MEMORY,),
)
def batched_copy_after_fusion(case: Case) -> None:
    """``input_batch_cpy`` is True while small inputs are merged.

    Inputs up to ``input_fusion_size`` are merged first; only the others, if there are at least
    two, are copied in one batch.

    Wrong, if all inputs should be copied in one batch:

        input_batch_cpy: true

    Right:

        input_batch_cpy: true
        input_fusion_size: 0
    """
    size = case.effective("input_fusion_size")
    if case.get("input_batch_cpy") is True and isinstance(size, int) and size > 0:
        case.report(
            "input_batch_cpy",
            '"input_batch_cpy" copies only inputs larger than "input_fusion_size" ({} '
            "bytes) in one batch; smaller ones are merged first",
            size,
        )


@rule(
    "NPU552",
    Severity.INFO,
    options=("static_memory_policy",),
    facts=("static-memory-policy-performance",),
    source=(_MEMORY,),
)
def slower_memory_policy(case: Case) -> None:
    """``static_memory_policy`` 3 or 4 saves memory and may cost speed.

    These policies expand the memory of graphs with dynamic shapes, step by step.

    Wrong, where speed matters more:

        static_memory_policy: 3

    Right:

        static_memory_policy: 2
    """
    if case.get("static_memory_policy") in (3, 4):
        case.report(
            "static_memory_policy",
            '"static_memory_policy" is {}: less memory, possibly slower',
            case.get("static_memory_policy"),
        )


@rule(
    "NPU553",
    Severity.ERROR,
    options=("static_memory_policy",),
    beside=("graph_max_parallel_model_num",),
    facts=("static-memory-policy-concurrent",),
    source=(_MEMORY,),
)
def shared_memory_of_parallel_graphs(case: Case) -> None:
    """``static_memory_policy`` 2 or 4 is set while graphs run in parallel.

    These policies share one memory block between the graphs of a session, so the graphs must not
    run at the same time.

    Wrong:

        graph_run_mode: 0
        static_memory_policy: 4
        graph_max_parallel_model_num: 4

    Right:

        graph_run_mode: 0
        static_memory_policy: 3
        graph_max_parallel_model_num: 4
    """
    policy = case.get("static_memory_policy")
    threads = case.get("graph_max_parallel_model_num")
    if policy in (1, 2, 4) and threads is not None and threads > 1:
        case.report(
            "static_memory_policy",
            '"static_memory_policy" is {}, which shares memory between graphs, but '
            '"graph_max_parallel_model_num" is {}; legal for parallel graphs: 0, 3',
            policy,
            threads,
            help='set "static_memory_policy" to 0 or 3, or "graph_max_parallel_model_num" to 1',
        )


@rule(
    "NPU554",
    Severity.WARNING,
    options=("enable_small_channel",),
    also=("graph_run_mode",),
    facts=("small-channel-inference-forced",),
    source=("tf_adapter/util/npu_attrs.cc:2381-2386", _PERFORMANCE),
)
def small_channel_off_in_inference(case: Case) -> None:
    """``enable_small_channel`` is 0 in online inference.

    The adapter changes the value to 1.

    Wrong:

        graph_run_mode: 0
        enable_small_channel: 0

    Right:

        graph_run_mode: 0
    """
    if (
        case.get("enable_small_channel") == 0
        and case.inference()
        and case.source_kind is not SourceKind.RUN_CONFIG
    ):
        case.report(
            "enable_small_channel",
            '"enable_small_channel" is 0, but online inference ("graph_run_mode" 0) always uses 1',
            help="remove it",
        )


@rule(
    "NPU555",
    Severity.WARNING,
    options=("enable_small_channel",),
    facts=("small-channel-training",),
    source=(_PERFORMANCE,),
)
def small_channel_in_training(case: Case) -> None:
    """``enable_small_channel`` is 1 in training.

    The documentation advises against 1 in training; only ResNet-50, -101, -152 and GoogleNet
    (first convolution and pooling) become faster.  In a script this is reported as information,
    because the script may train one of these networks.

    Wrong:

        enable_small_channel: 1

    Right:

        enable_small_channel: 0
    """
    if case.get("enable_small_channel") == 1 and case.training():
        case.report(
            "enable_small_channel",
            '"enable_small_channel" is 1 in training, where it helps ResNet-50/101/152 and '
            "GoogleNet (first convolution and pooling) only; recommended for other networks: 0",
            help='set "enable_small_channel" to 0, unless you train one of these networks',
            severity=Severity.INFO if in_script(case) else None,
        )


@rule(
    "NPU564",
    Severity.ERROR,
    options=("compress_weight_conf",),
    also=("enable_compress_weight",),
    facts=("compress-weight-exclusive",),
    source=(
        "tf_adapter/util/npu_attrs.cc:2393-2396",
        "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:815-817",
    ),
)
def two_weight_compressions(case: Case) -> None:
    """``enable_compress_weight`` and ``compress_weight_conf`` are set together.

    The adapter aborts the process if both keys are set, even if the first one is False.
    NPURunConfig always writes the first key, so the second one cannot be passed to NPURunConfig.

    Wrong:

        enable_compress_weight: false
        compress_weight_conf: compress.cfg

    Right:

        compress_weight_conf: compress.cfg
    """
    if not case.isset("compress_weight_conf"):
        return
    if case.isset("enable_compress_weight"):
        case.report(
            "compress_weight_conf",
            '"compress_weight_conf" and "enable_compress_weight" are both set; only one of them '
            "is allowed",
            help='remove "enable_compress_weight"',
            consequence=Outcome.ABORT.value,
        )
    elif case.source_kind is SourceKind.RUN_CONFIG:
        case.report(
            "compress_weight_conf",
            '"compress_weight_conf" is passed to NPURunConfig, which always writes '
            '"enable_compress_weight" too',
            help='set "compress_weight_conf" in the parameter_map of session_config',
            consequence=Outcome.ABORT.value,
        )
