"""550-599: memory, operator and graph compilation, caches, cores, tuning."""

from npu_config.diagnostics import Severity
from npu_config.judge import Case
from npu_config.rulebook import rule
from npu_config.rules._reading import changed, given, runs_dynamic, tuning_is_off
from npu_config.settings import Carrier

_MEMORY = "docs/en/tfadapter_1/apiref/session_config/memory_management.md"
_BUILD = "docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md"
_PERFORMANCE = "docs/en/tfadapter_1/apiref/session_config/performance_tuning.md"
_DEBUGGING = "docs/en/tfadapter_1/apiref/session_config/debugging.md"
_GE_OPTIONS = (
    "cann/ge:docs/zh/api/graph_engine_api/cpp/ge/options_params/operator_and_graph_compilation.md"
)
_DEPRECATED = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"


@rule(
    "NPU551",
    "batched-copy-after-fusion",
    Severity.INFO,
    options=("input_batch_cpy",),
    facts=("input-batch-vs-fusion",),
    source=(_MEMORY,),
)
def batched_copy_after_fusion(case: Case) -> None:
    """``input_batch_cpy`` is True while small inputs are merged.

    Inputs up to ``input_fusion_size`` are merged first; only the others, if there are at least
    two, are copied in one batch.

    Wrong, where all inputs are meant to be in the batch:

        input_batch_cpy: true

    Right:

        input_batch_cpy: true
        input_fusion_size: 0
    """
    size = case.effective("input_fusion_size")
    if case.get("input_batch_cpy") is True and isinstance(size, int) and size > 0:
        case.report(
            "input_batch_cpy",
            '"input_batch_cpy" copies only inputs larger than "input_fusion_size" ({} bytes) in '
            "one batch; smaller ones are merged first".format(size),
        )


@rule(
    "NPU552",
    "slower-memory-policy",
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
            '"static_memory_policy" is {}: less memory, possibly slower'.format(
                case.get("static_memory_policy")
            ),
        )


@rule(
    "NPU553",
    "shared-memory-of-parallel-graphs",
    Severity.ERROR,
    options=("static_memory_policy",),
    facts=("static-memory-policy-concurrent",),
    source=(_MEMORY,),
)
def shared_memory_of_parallel_graphs(case: Case) -> None:
    """``static_memory_policy`` 2 or 4 is set while graphs run in parallel.

    These policies share one memory between the graphs of a session, which must not run at the
    same time then.

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
            '"graph_max_parallel_model_num" lets {} run at the same time; legal then: 0, 3'.format(
                policy, threads
            ),
            'set "static_memory_policy" to 0 or 3, or "graph_max_parallel_model_num" to 1',
        )


@rule(
    "NPU554",
    "small-channel-off-in-inference",
    Severity.WARNING,
    options=("enable_small_channel",),
    facts=("small-channel-inference-forced",),
    source=("tf_adapter/util/npu_attrs.cc:2381-2386", _PERFORMANCE),
)
def small_channel_off_in_inference(case: Case) -> None:
    """``enable_small_channel`` is 0 in online inference.

    The adapter overwrites it with 1.

    Wrong:

        graph_run_mode: 0
        enable_small_channel: 0

    Right:

        graph_run_mode: 0
    """
    if (
        case.get("enable_small_channel") == 0
        and case.inference()
        and case.carrier is not Carrier.RUN_CONFIG
    ):
        case.report(
            "enable_small_channel",
            '"enable_small_channel" is 0, but online inference ("graph_run_mode" 0) always uses 1',
            "remove it",
        )


@rule(
    "NPU555",
    "small-channel-in-training",
    Severity.WARNING,
    options=("enable_small_channel",),
    facts=("small-channel-training",),
    source=(_PERFORMANCE,),
)
def small_channel_in_training(case: Case) -> None:
    """``enable_small_channel`` is 1 in training.

    It is not advised there; only ResNet-50, -101, -152 and GoogleNet gain.

    Wrong:

        enable_small_channel: 1

    Right:

        enable_small_channel: 0
    """
    if case.get("enable_small_channel") == 1 and case.training():
        case.report(
            "enable_small_channel",
            '"enable_small_channel" is 1 in training, where only ResNet-50/101/152 and GoogleNet '
            "gain; advised: 0",
            "set it to 0",
        )


@rule(
    "NPU556",
    "core-limit-with-prebuilt-operators",
    Severity.WARNING,
    options=("aicore_num",),
    facts=("aicore-num-jit-false",),
    source=(_BUILD,),
)
def core_limit_with_prebuilt_operators(case: Case) -> None:
    """``aicore_num`` is set with ``jit_compile: "false"``.

    The limit counts when an operator is compiled; a prebuilt binary, which ``"false"`` prefers for
    static shapes, ignores it.

    Wrong:

        aicore_num: "24|48"
        jit_compile: "false"
        op_compiler_cache_mode: disable

    Right:

        aicore_num: "24|48"
        jit_compile: "true"
        op_compiler_cache_mode: disable
    """
    if given(case, "aicore_num") and case.get("jit_compile") == "false":
        case.report(
            "aicore_num",
            '"aicore_num" is ignored by prebuilt operators, which "jit_compile" "false" prefers '
            "for static shapes",
            'set "jit_compile" to "true" or "auto"',
        )


@rule(
    "NPU557",
    "core-limit-with-operator-cache",
    Severity.WARNING,
    options=("aicore_num",),
    facts=("aicore-num-cache",),
    source=(_GE_OPTIONS,),
)
def core_limit_with_operator_cache(case: Case) -> None:
    """``aicore_num`` is set while compiled operators are kept in the cache.

    An operator that is found in the cache keeps the limit it was compiled with: the option takes
    effect for the first compilation only.

    Wrong:

        aicore_num: "24|48"

    Right:

        aicore_num: "24|48"
        op_compiler_cache_mode: disable
    """
    if given(case, "aicore_num") and case.never("op_compiler_cache_mode", "disable"):
        if case.get("op_debug_level"):
            return
        case.report(
            "aicore_num",
            '"aicore_num" does not reach operators that are in the compile cache, and '
            '"op_compiler_cache_mode" is "{}"'.format(case.effective("op_compiler_cache_mode")),
            'clear the cache when "aicore_num" changes, or set "op_compiler_cache_mode" to '
            '"disable"',
        )


@rule(
    "NPU558",
    "cache-mode-with-debug-level",
    Severity.WARNING,
    options=("op_compiler_cache_mode",),
    facts=("cache-ignored-debug-level",),
    source=(_BUILD,),
)
def cache_mode_with_debug_level(case: Case) -> None:
    """``op_compiler_cache_mode`` is set while ``op_debug_level`` is not 0.

    It is ignored: the cache is off and every operator is compiled anew.

    Wrong:

        op_compiler_cache_mode: enable
        op_debug_level: 1

    Right:

        op_compiler_cache_mode: enable
        op_debug_level: 0
    """
    mode = case.get("op_compiler_cache_mode")
    if mode is not None and mode != "disable" and case.get("op_debug_level"):
        case.report(
            "op_compiler_cache_mode",
            '"op_compiler_cache_mode" is ignored, because "op_debug_level" is {}: '
            "every operator is compiled anew".format(case.get("op_debug_level")),
            'set "op_debug_level" to 0, or remove it',
        )


@rule(
    "NPU559",
    "cache-mode-with-debug-config",
    Severity.WARNING,
    options=("op_debug_config",),
    facts=("cache-ignored-debug-config",),
    source=(_BUILD,),
)
def cache_mode_with_debug_config(case: Case) -> None:
    """``op_compiler_cache_mode`` is set together with ``op_debug_config``.

    The cache is off for the operators that the file names in ``op_debug_list``, and for all of
    them when it has no such line.

    Wrong:

        op_compiler_cache_mode: enable
        op_debug_config: op_debug.cfg

    Right:

        op_compiler_cache_mode: disable
        op_debug_config: op_debug.cfg
    """
    mode = case.get("op_compiler_cache_mode")
    if mode is not None and mode != "disable" and given(case, "op_debug_config"):
        case.report(
            "op_compiler_cache_mode",
            '"op_compiler_cache_mode" is ignored for the operators that "op_debug_config" names '
            '(all of them without "op_debug_list" in the file)',
            'set "op_compiler_cache_mode" to "disable" while debugging',
        )


@rule(
    "NPU560",
    "cache-directory-of-disabled-cache",
    Severity.WARNING,
    options=("op_compiler_cache_dir",),
    facts=("cache-mode-allowed",),
    source=(_BUILD,),
)
def cache_directory_of_disabled_cache(case: Case) -> None:
    """``op_compiler_cache_dir`` is set while the cache is off.

    Nothing is written there.

    Wrong:

        op_compiler_cache_dir: /home/test/kernel_cache
        op_compiler_cache_mode: disable

    Right:

        op_compiler_cache_dir: /home/test/kernel_cache
        op_compiler_cache_mode: enable
    """
    if given(case, "op_compiler_cache_dir") and case.get("op_compiler_cache_mode") == "disable":
        case.report(
            "op_compiler_cache_dir",
            '"op_compiler_cache_dir" has no effect, because "op_compiler_cache_mode" is "disable"',
            'set "op_compiler_cache_mode" to "enable", or remove the directory',
        )


@rule(
    "NPU561",
    "debug-level-in-training",
    Severity.INFO,
    options=("op_debug_level",),
    facts=("op-debug-level-training",),
    source=(_DEPRECATED,),
)
def debug_level_in_training(case: Case) -> None:
    """``op_debug_level`` is 1 or 2 in training.

    These levels cost speed; they are for locating AI Core errors.

    Wrong:

        op_debug_level: 1

    Right:

        op_debug_level: 0
    """
    if case.get("op_debug_level") in (1, 2) and case.training():
        case.report(
            "op_debug_level",
            '"op_debug_level" is {}, which costs speed; for training: 0, 3'.format(
                case.get("op_debug_level")
            ),
            "set it to 0 when no AI Core error is being located",
        )


@rule(
    "NPU562",
    "debug-config-beside-level-zero",
    Severity.INFO,
    options=("op_debug_config",),
    facts=("op-debug-level-vs-config",),
    source=(_DEPRECATED,),
)
def debug_config_beside_level_zero(case: Case) -> None:
    """``op_debug_level`` is 0 and ``op_debug_config`` is set.

    The level does not switch the file off: compile files are still kept as the file says.

    Wrong, where nothing is to be kept:

        op_debug_config: op_debug.cfg
        op_debug_level: 0

    Right:

        op_debug_level: 0
    """
    if case.get("op_debug_level") == 0 and given(case, "op_debug_config"):
        case.report(
            "op_debug_level",
            '"op_debug_level" is 0, but kernel_meta is still written as "op_debug_config" says',
            'remove "op_debug_level", which is deprecated',
        )


@rule(
    "NPU563",
    "debug-kernels-of-dynamic-shapes",
    Severity.WARNING,
    options=("op_debug_level",),
    facts=("op-debug-ccec-dynamic",),
    source=(_DEBUGGING, _DEPRECATED),
)
def debug_kernels_of_dynamic_shapes(case: Case) -> None:
    """``op_debug_level`` is 2 for a graph with dynamic shapes.

    Kernels grow without optimisation, and the compilation may fail ("InputSection too large").

    Wrong:

        op_debug_level: 2
        compile_dynamic_mode: true

    Right:

        op_debug_level: 1
        compile_dynamic_mode: true
    """
    dynamic = runs_dynamic(case) if case.get("op_debug_level") == 2 else None
    if dynamic is not None:
        case.report(
            "op_debug_level",
            '"op_debug_level" is 2 with dynamic shapes ("{}"); the compilation of large kernels '
            "may fail".format(dynamic),
            "use another level, or static shapes, to locate the error",
        )


@rule(
    "NPU564",
    "two-weight-compressions",
    Severity.ERROR,
    options=("compress_weight_conf",),
    facts=("compress-weight-exclusive",),
    source=(
        "tf_adapter/util/npu_attrs.cc:2393-2396",
        "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py:815-817",
    ),
)
def two_weight_compressions(case: Case) -> None:
    """``enable_compress_weight`` and ``compress_weight_conf`` are set together.

    The adapter aborts the process when both keys are there, even with the first one False.
    NPURunConfig always writes the first one, so that it cannot carry the second.

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
            '"compress_weight_conf" and "enable_compress_weight" are both set; at most one '
            "of them may be; the adapter aborts the process",
            'remove "enable_compress_weight"',
        )
    elif case.carrier is Carrier.RUN_CONFIG:
        case.report(
            "compress_weight_conf",
            '"compress_weight_conf" is given to NPURunConfig, which always writes '
            '"enable_compress_weight" too; the adapter aborts the process',
            "set it through the parameter_map of session_config",
        )


_TUNING_OPTIONS = ("work_path", "distribute_config", "aoe_config_file")


@rule(
    "NPU565",
    "tuning-option-without-tuning",
    Severity.WARNING,
    options=_TUNING_OPTIONS,
    facts=("aoe-options-inert",),
    source=("tf_adapter/util/npu_attrs.cc:2162-2187",),
)
def tuning_option_without_tuning(case: Case) -> None:
    """An option of AOE tuning is set while ``aoe_mode`` is not.

    It is ignored, unless the environment variable AOE_MODE switches the tuning on.

    Wrong:

        work_path: /home/test/aoe

    Right:

        work_path: /home/test/aoe
        aoe_mode: "2"
    """
    if not tuning_is_off(case):
        return
    for name in _TUNING_OPTIONS:
        if changed(case, name):
            case.report(
                name,
                '"{}" has no effect, because neither "aoe_mode" nor AOE_MODE in the environment '
                "is set".format(name),
                'set "aoe_mode", or remove "{}"'.format(name),
            )


@rule(
    "NPU566",
    "more-streams-than-cores",
    Severity.WARNING,
    options=("aicore_num",),
    facts=("auto-multistream-cores", "stream-max-parallel-format"),
    source=("docs/en/tfadapter_1/apiref/session_config/experiment_options.md", _PERFORMANCE),
)
def more_streams_than_cores(case: Case) -> None:
    """More parallel streams are asked for than ``aicore_num`` leaves cores.

    Operators on several streams share the cores; with fewer cores than streams they only wait
    for one another.

    Wrong:

        aicore_num: "4|8"
        op_compiler_cache_mode: disable
        auto_multistream_parallel_mode: "LoadBalance:16"

    Right:

        aicore_num: "4|8"
        op_compiler_cache_mode: disable
        auto_multistream_parallel_mode: "LoadBalance:4"
    """
    cores = case.get("aicore_num")
    if cores is None:
        return
    mode = case.get("auto_multistream_parallel_mode")
    wanted = [("auto_multistream_parallel_mode", mode.streams)] if mode and mode.streams else []
    for engine, number in case.get("stream_max_parallel_num") or ():
        if engine == "AIcoreEngine":
            wanted.append(("stream_max_parallel_num", number))
    for name, streams in wanted:
        if streams > max(cores):
            case.report(
                name,
                '"{0}" asks for {1} streams, but "aicore_num" leaves {2} cores; '
                "legal: 1 to {2}".format(name, streams, max(cores)),
                "ask for fewer streams",
            )
