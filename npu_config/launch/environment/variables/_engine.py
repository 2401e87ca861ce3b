"""Variables of the adapter, the graph engine and the operator compiler."""

from npu_config.catalogue.kinds import Choice
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Product
from npu_config.launch.environment.kinds import (
    DIRECTORY,
    GRAPH_LEVELS,
    NUMBER,
    JsonObject,
    Switch,
    Whole,
    Word,
    filled,
)
from npu_config.launch.environment.variables._variable import ADAPTER, TRAINING, Variable, family

_ENV = "docs/en/tfa_env/"
_GE = "cann/ge:docs/zh/user_guides/env_vars/"
_OPTIONS = "docs/en/tfadapter_1/apiref/session_config/"
_DISTRIBUTED = "docs/en/tfadapter_1/migration/model_training/distributed_training.md"
_TOOLS = "cann/oam-tools:docs/zh/env-vars/"
_UINT32 = Whole(0, 2**32 - 1)
_BOOL = Choice(("true", "false", "1", "0"))
_PROGRESS = "the first run with experimental_accelerate_train_mode fails"
_WARNING = Severity.WARNING
_ge = family(_GE, read_by=("GE",), severity=_WARNING)
_compiler = family(_GE, read_by=("operator compiler",), severity=_WARNING)
_progress = family(
    _ENV,
    products=TRAINING,
    read_by=("C++ adapter", "TellMeStepOrLossHook (writes)"),
    consequence=_PROGRESS,
)

ENGINE = (
    Variable(
        "AOE_MODE",
        "tuning mode, when the option aoe_mode is not set",
        Choice(("1", "2", "4")),
        products=TRAINING - {Product.ASCEND_950},
        read_by=("C++ adapter",),
        interactions=("the option aoe_mode takes precedence",),
        facts=("aoe-env-priority", "aoe-mode-allowed"),
        page=_OPTIONS + "AOE.md",
    ),
    Variable(
        "PROFILING_MODE",
        "profiling without a change of the script",
        Word(("true", "false", "dynamic"), quietly=("False", "FALSE")),  # only "true" turns on
        default="false",
        read_by=("GE", "C++ adapter (conflict check)"),
        interactions=(
            "the option profiling_mode takes precedence, except when it is dynamic",
            "dynamic: attach later; set it before the job starts",
            "true cannot be combined with profiler.Profiler",
        ),
        facts=("profiling-env-priority", "profiling-vs-profiler-class"),
        page=_TOOLS + "PROFILING_MODE.md",
        severity=_WARNING,
    ),
    Variable(
        "PROFILING_OPTIONS",
        "what is profiled",
        JsonObject(),
        products=ADAPTER,
        read_by=("GE",),
        interactions=("needs PROFILING_MODE",),
        facts=("profiling-env-priority", "profiling-options-json"),
        page=_TOOLS + "PROFILING_OPTIONS.md",
    ),
    _progress(
        "STEP_NOW",
        "the current step, for accelerated training",
        _UINT32,
        interactions=("with TOTAL_STEP, for the trigger step",),
        facts=("accelerate-step-env", "accelerate-env-updated"),
    ),
    _progress(
        "TOTAL_STEP",
        "the number of steps, for accelerated training",
        _UINT32,
        interactions=("with STEP_NOW",),
        facts=("accelerate-step-env",),
    ),
    _progress(
        "LOSS_NOW",
        "the current loss, for accelerated training",
        NUMBER,
        interactions=("with TARGET_LOSS, for the trigger loss; 0 never triggers",),
        facts=("accelerate-loss-env", "accelerate-env-updated"),
    ),
    _progress(
        "TARGET_LOSS",
        "the loss to reach, for accelerated training",
        NUMBER,
        interactions=("with LOSS_NOW",),
        facts=("accelerate-loss-env",),
    ),
    Variable(
        "ENABLE_FORCE_V2_CONTROL",
        "turns TensorFlow's old control flow into the new one, for dynamic shapes",
        Switch("1"),
        default="off",
        products=TRAINING,
        read_by=("C++ adapter",),
        interactions=(
            "control operators with references and raw_ops cannot be turned",
            "may cost speed",
            "better: tf.enable_control_flow_v2() and tf.enable_resource_variables()",
        ),
        facts=("dynamic-shape-v1-control-flow",),
        page=_ENV + "ENABLE_FORCE_V2_CONTROL.md",
        severity=_WARNING,
    ),
    Variable(
        "ENABLE_HF32_EXECUTION",
        "HF32 in place of FP32 inside Conv and MatMul",
        Word(("0", "1"), quietly=("00", "01", "10", "11")),
        default="unset: Conv on, MatMul off",
        products=frozenset((Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2)),
        read_by=("C++ plugin",),
        interactions=(
            "op_precision_mode by node name takes precedence over it, it over the modes by type",
            "no effect in inference with float16, its default",
        ),
        facts=("op-precision-vs-hf32-env", "hf32-execution-values", "precision-inference-hf32"),
        page=_ENV + "ENABLE_HF32_EXECUTION.md",
        consequence="GE refuses it when it is initialised, and the adapter aborts the process",
    ),
    _ge(
        "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM",
        "several streams for graphs of dynamic shape",
        Choice(("0", "1")),
        default="0",
        interactions=("auto_multistream_parallel_mode needs it for graphs of dynamic shape",),
        facts=("auto-multistream-dynamic",),
    ),
    _ge(
        "GE_USE_STATIC_MEMORY",
        "how memory is allocated; static_memory_policy takes its place",
        Word(("0", "2", "3", "4"), quietly=("1",)),
        default="0",
        interactions=("not with the option static_memory_policy",),
        facts=("static-memory-policy-env",),
    ),
    Variable(
        "ASCEND_WORK_PATH",
        "directory for the files of one process",
        DIRECTORY,
        read_by=("GE",),
        interactions=(
            "debug_dir, NPU_COLLECT_PATH and the output of profiling take precedence",
            "takes external weights, exception dumps and fusion_result.json",
        ),
        facts=(
            "debug-dir-priority",
            "external-weight-dir",
            "export-compile-stat-path",
            "exception-dump-dir",
        ),
        page=_DISTRIBUTED,
    ),
    Variable(
        "ASCEND_CACHE_PATH",
        "directory for the files that processes share (kernel_cache)",
        DIRECTORY,
        read_by=("GE",),
        interactions=("the option op_compiler_cache_dir takes precedence",),
        facts=("cache-dir-priority",),
        page=_DISTRIBUTED,
    ),
    _compiler(
        "ASCEND_MAX_OP_CACHE_SIZE",
        "how large the cache of compiled operators may grow; -1: without limit",
        Whole(-1),
        default="500",
        unit="MB",
        interactions=("op_cache.ini takes precedence",),
        facts=("cache-ini",),
    ),
    _compiler(
        "ASCEND_REMAIN_CACHE_SIZE_RATIO",
        "how much of the cache is kept when space runs out",
        Whole(1, 100),
        default="50",
        unit="%",
        interactions=("op_cache.ini takes precedence",),
        facts=("cache-ini",),
    ),
    Variable(
        "NPU_COLLECT_PATH",
        "directory for what is collected about faults",
        DIRECTORY,
        read_by=("GE", "operator compiler", "C++ adapter"),
        interactions=(
            "the exception dump works in mode 1, whatever the option says",
            "not with oom in op_debug_config",
            "graphs of the adapter go to <path>/extra-info/graph/<pid>_<device>/",
            "with an empty op_debug_config GE takes dump_bin, dump_cce, dump_loc, ccec_g",
        ),
        facts=("exception-dump-collect-path", "op-debug-oom-collect-path"),
        page=_OPTIONS + "debugging.md",
    ),
    _compiler(
        "TE_PARALLEL_COMPILER",
        "processes that compile operators; at most 80 % of the CPU cores over the devices",
        Whole(1, 32),
        default="8",
        interactions=("op_compiler_cache_mode force is not recommended with it",),
        facts=("cache-force-parallel",),
    ),
    _ge(
        "MAX_COMPILE_CORE_NUMBER",
        "CPU threads that compile graphs; at most the CPU cores",
        Whole(1),
        default="1",
    ),
    Variable(
        "FUSION_TENSOR_SIZE",
        "size of the tensor that gradients are joined in",
        Whole(0),
        default="524288000",
        unit="byte",
        read_by=("C++ plugin",),
        severity=_WARNING,
        consequence="the default is taken",
    ),
    Variable(
        "ASCEND_TDT_UNINIT",
        "true leaves out the initialisation of the TDT host",
        _BOOL,
        default="false",
        read_by=("C++ plugin",),
        severity=_WARNING,
    ),
    Variable(
        "ENABLE_MBUF_ALLOCATOR",
        "memory buffers as TensorFlow's allocator on the CPU",
        Choice(("0", "1")),
        default="0",
        read_by=("C++ adapter",),
        severity=_WARNING,
    ),
    Variable(
        "ASCEND_OPP_PATH",
        "path of the operator package; set_env.sh sets it",
        DIRECTORY,
        read_by=("C++ adapter", "GE"),
    ),
    _ge(
        "OP_NO_REUSE_MEM",
        "operators that share no memory, by node name or type",
        filled('names or types joined by ","'),
    ),
    _ge(
        "DUMP_GE_GRAPH",
        "how much of the graphs of GE is dumped",
        Word(("1", "2", "3"), quietly=("0",)),  # nothing, as without the variable
        read_by=("GE", "precision_tool (writes 2)"),
        interactions=("with DUMP_GRAPH_LEVEL and DUMP_GRAPH_PATH",),
    ),
    _ge(
        "DUMP_GRAPH_LEVEL",
        "which graphs are dumped",
        GRAPH_LEVELS,
        default="2",
        read_by=("GE", "precision_tool (writes 3)"),
        interactions=("needs DUMP_GE_GRAPH",),
    ),
    Variable(
        "DUMP_GRAPH_PATH",
        "directory of dumped graphs; pid_<pid>_deviceid_<id> inside it",
        DIRECTORY,
        read_by=("GE", "C++ adapter", "precision_tool (writes)"),
        interactions=("ASCEND_DUMP_PATH takes precedence over it, and it over ASCEND_WORK_PATH",),
        page=_GE + "DUMP_GRAPH_PATH.md",
    ),
    Variable(
        "PRINT_MODEL",
        "the adapter dumps its TensorFlow graphs",
        _BOOL,
        default="false",
        read_by=("C++ adapter",),
        severity=_WARNING,
    ),
    Variable(
        "ASCEND_GLOBAL_LOG_LEVEL",
        'log level; 1 (INFO) shows "Insert op success"',
        Choice(("0", "1", "2", "3", "4")),
        default="3",
        read_by=("CANN logging",),
        facts=("iterations-verify-log",),
        page="docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md",
        severity=_WARNING,
    ),
)
