"""556-599: operator and graph compilation, caches, cores, tuning."""

from __future__ import annotations

from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import phrase
from npu_config.rules.case import (
    DYNAMIC_SHAPES,
    Case,
    changed,
    given,
    needing,
    runs_dynamic,
    tuning_is_off,
)

_BUILD = "docs/en/tfadapter_1/apiref/session_config/operator_and_graph_build.md"
_PERFORMANCE = "docs/en/tfadapter_1/apiref/session_config/performance_tuning.md"
_DEBUGGING = "docs/en/tfadapter_1/apiref/session_config/debugging.md"
_GE_OPTIONS = (
    "cann/ge:docs/zh/api/graph_engine_api/cpp/ge/options_params/operator_and_graph_compilation.md"
)
_DEPRECATED = "docs/en/tfadapter_1/apiref/session_config/deprecated_options.md"


@rule(
    "NPU556",
    Severity.WARNING,
    options=("aicore_num",),
    also=("jit_compile",),
    facts=("aicore-num-jit-false",),
    source=(_BUILD,),
)
def core_limit_with_prebuilt_operators(case: Case) -> None:
    """``aicore_num`` is set with ``jit_compile: "false"``.

    The limit takes effect when an operator is compiled.  For static shapes, ``"false"`` prefers
    prebuilt operators, which ignore the limit.

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
            '"aicore_num" is ignored by prebuilt operators, which are used for static shapes '
            'if "jit_compile" is "false"',
            help='set "jit_compile" to "true" or "auto"',
        )


@rule(
    "NPU557",
    Severity.WARNING,
    options=("aicore_num",),
    also=(
        "op_compiler_cache_mode",
        "op_debug_level",
    ),
    facts=("aicore-num-cache",),
    source=(_GE_OPTIONS,),
)
def core_limit_with_operator_cache(case: Case) -> None:
    """``aicore_num`` is set while compiled operators are kept in the cache.

    An operator from the cache keeps the limit that it was compiled with: the option takes effect
    only in the first compilation.

    Wrong:

        aicore_num: "24|48"

    Right:

        aicore_num: "24|48"
        op_compiler_cache_mode: disable
    """
    if (
        given(case, "aicore_num")
        and case.never("op_compiler_cache_mode", "disable")
        and case.effective("op_debug_level") in (None, 0)
    ):
        case.report(
            "aicore_num",
            '"aicore_num" does not apply to operators in the compile cache, and '
            '"op_compiler_cache_mode" is "{}"',
            case.effective("op_compiler_cache_mode"),
            help='clear the cache when you change "aicore_num", or set '
            '"op_compiler_cache_mode" to "disable"',
        )


@rule(
    "NPU558",
    Severity.WARNING,
    options=("op_compiler_cache_mode",),
    also=("op_debug_level",),
    facts=("cache-ignored-debug-level",),
    source=(_BUILD,),
)
def cache_mode_with_debug_level(case: Case) -> None:
    """``op_compiler_cache_mode`` is set while ``op_debug_level`` is not 0.

    The option is ignored: the cache is off and every operator is compiled again.

    Wrong:

        op_compiler_cache_mode: enable
        op_debug_level: 1

    Right:

        op_compiler_cache_mode: enable
        op_debug_level: 0
    """
    mode = case.get("op_compiler_cache_mode")
    if mode not in (None, "disable") and case.get("op_debug_level"):
        case.report(
            "op_compiler_cache_mode",
            '"op_compiler_cache_mode" is ignored, because "op_debug_level" is {}: every '
            "operator is compiled again",
            case.get("op_debug_level"),
            help='set "op_debug_level" to 0, or remove it',
        )


@rule(
    "NPU559",
    Severity.WARNING,
    options=("op_debug_config",),
    also=("op_compiler_cache_mode",),
    facts=("cache-ignored-debug-config",),
    source=(_BUILD,),
)
def cache_mode_with_debug_config(case: Case) -> None:
    """``op_compiler_cache_mode`` is set together with ``op_debug_config``.

    The cache is off for the operators that the file lists in ``op_debug_list``, and for all
    operators if the file has no such line.

    Wrong:

        op_compiler_cache_mode: enable
        op_debug_config: op_debug.cfg

    Right:

        op_compiler_cache_mode: disable
        op_debug_config: op_debug.cfg
    """
    mode = case.get("op_compiler_cache_mode")
    if mode not in (None, "disable") and given(case, "op_debug_config"):
        case.report(
            "op_compiler_cache_mode",
            '"op_compiler_cache_mode" is ignored for the operators that the file of '
            '"op_debug_config" lists (all operators if it has no "op_debug_list")',
            help='set "op_compiler_cache_mode" to "disable" while debugging',
        )


@rule(
    "NPU560",
    Severity.WARNING,
    options=("op_compiler_cache_dir",),
    also=("op_compiler_cache_mode",),
    facts=("cache-mode-allowed",),
    source=(_BUILD,),
)
def cache_directory_of_disabled_cache(case: Case) -> None:
    """``op_compiler_cache_dir`` is set while the cache is off.

    No file is written to this directory.

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
            help='set "op_compiler_cache_mode" to "enable", or remove "op_compiler_cache_dir"',
        )


@rule(
    "NPU561",
    Severity.INFO,
    options=("op_debug_level",),
    facts=("op-debug-level-training",),
    source=(_DEPRECATED,),
)
def debug_level_in_training(case: Case) -> None:
    """``op_debug_level`` is 1 or 2 in training.

    These levels slow the training down; they are meant for locating AI Core errors.

    Wrong:

        op_debug_level: 1

    Right:

        op_debug_level: 0
    """
    if case.get("op_debug_level") in (1, 2) and case.training():
        case.report(
            "op_debug_level",
            '"op_debug_level" is {}, which slows the training down; recommended for training: '
            "0, 3",
            case.get("op_debug_level"),
            help='set "op_debug_level" to 0 unless you are locating an AI Core error',
        )


@rule(
    "NPU562",
    Severity.INFO,
    options=("op_debug_config",),
    also=("op_debug_level",),
    facts=("op-debug-level-vs-config",),
    source=(_DEPRECATED,),
)
def debug_config_beside_level_zero(case: Case) -> None:
    """``op_debug_level`` is 0 and ``op_debug_config`` is set.

    Level 0 does not disable the file of ``op_debug_config``: compilation files are still kept as
    the file requests.

    Wrong, if no file should be kept:

        op_debug_config: op_debug.cfg
        op_debug_level: 0

    Right:

        op_debug_level: 0
    """
    if case.get("op_debug_level") == 0 and given(case, "op_debug_config"):
        case.report(
            "op_debug_level",
            '"op_debug_level" is 0, but files are still written to kernel_meta because '
            '"op_debug_config" is set',
            help='remove "op_debug_level", which is deprecated',
        )


@rule(
    "NPU563",
    Severity.WARNING,
    options=("op_debug_level",),
    also=DYNAMIC_SHAPES,
    facts=("op-debug-ccec-dynamic",),
    source=(_DEBUGGING, _DEPRECATED),
)
def debug_kernels_of_dynamic_shapes(case: Case) -> None:
    """``op_debug_level`` is 2 for a graph with dynamic shapes.

    Kernels that are not optimised are larger, and their compilation may fail ("InputSection too
    large").

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
            '"op_debug_level" is 2 with dynamic shapes ("{}"); the compilation of large '
            "kernels may fail",
            dynamic,
            help="use another debug level or static shapes to locate the error",
        )


_TUNING_OPTIONS = needing("aoe_mode")


@rule(
    "NPU565",
    Severity.WARNING,
    options=_TUNING_OPTIONS,
    also=("aoe_mode",),
    facts=("aoe-options-inert",),
    source=("tf_adapter/util/npu_attrs.cc:2162-2187",),
)
def tuning_option_without_tuning(case: Case) -> None:
    """An option of AOE tuning is set while ``aoe_mode`` is not.

    The option is ignored, unless the environment variable AOE_MODE enables tuning.

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
                '"{}" has no effect, because neither "aoe_mode" nor AOE_MODE in the '
                "environment is set",
                name,
                help=phrase('set "aoe_mode", or remove "{}"', name),
            )


@rule(
    "NPU566",
    Severity.WARNING,
    options=("aicore_num",),
    also=(
        "stream_max_parallel_num",
        "auto_multistream_parallel_mode",
    ),
    facts=("auto-multistream-cores", "stream-max-parallel-format"),
    source=("docs/en/tfadapter_1/apiref/session_config/experiment_options.md", _PERFORMANCE),
)
def more_streams_than_cores(case: Case) -> None:
    """The number of parallel streams is greater than the number of cores in ``aicore_num``.

    Operators on several streams share the cores; if there are fewer cores than streams, the
    operators only wait for one another.

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
                '"{0}" requests {1} streams, but "aicore_num" leaves {2} cores; legal: 1 to {2}',
                name,
                streams,
                max(cores),
                help="request fewer streams",
            )
