"""The environment variables around a session, each declared once."""

from typing import Any, Callable, Dict, FrozenSet, Optional, Tuple

import attr

from npu_config.catalogue.kinds import INT32_MAX, Choice, FilePath, Kind, Text
from npu_config.core.diagnostics import Severity
from npu_config.core.versions import Product
from npu_config.launch.environment.kinds import (
    DIRECTORY,
    GRAPH_LEVELS,
    JOB_ID,
    NIC_NAMES,
    NUMBER,
    TABLE_PATH,
    Algorithms,
    IpText,
    JsonObject,
    PortList,
    Switch,
    Whole,
    Word,
    filled,
)

__all__ = ["CM_NAMES", "OF_NPU", "RANK_TABLE_NAMES", "TENSORFLOW_2_NAMES", "VARIABLES", "Variable"]

COLLECTIVE: FrozenSet[Product] = frozenset(
    (
        Product.ASCEND_950,
        Product.ATLAS_A3,
        Product.ATLAS_A2,
        Product.ATLAS_TRAINING,
        Product.ATLAS_300I_DUO,
    )
)
"""The products that HCCL works on."""

ADAPTER: FrozenSet[Product] = COLLECTIVE - {Product.ATLAS_300I_DUO} | {Product.ATLAS_INFERENCE}
"""The products that the adapter's own pages name."""

TRAINING: FrozenSet[Product] = ADAPTER - {Product.ATLAS_INFERENCE}
"""The products that train."""


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Variable:
    """One environment variable.

    Args:
        name: its name.
        meaning: what it is for.
        kind: what it may hold.
        default: what counts when it is not set, in words; None when there is nothing.
        unit: the unit of a number.
        products: the products that it is documented for; None for all.
        read_by: who looks at it.
        interactions: what else it has to do with.
        facts: the entries of the fact file about it.
        page: the page of the vendor's documentation; None where it has none.
        severity: how bad a value is that is not of the kind.
        consequence: what the runtime does with such a value, where it is known.
    """

    name: str
    meaning: str
    kind: Kind
    default: Optional[str] = None
    unit: Optional[str] = None
    products: Optional[FrozenSet[Product]] = None
    read_by: Tuple[str, ...] = ()
    interactions: Tuple[str, ...] = ()
    facts: Tuple[str, ...] = ()
    page: Optional[str] = None
    severity: Severity = Severity.ERROR
    consequence: Optional[str] = None

    def is_for(self, product: Product) -> bool:
        """Whether it is documented for a product (300I Duo is an inference product)."""
        if self.products is None or product in self.products:
            return True
        return product is Product.ATLAS_300I_DUO and Product.ATLAS_INFERENCE in self.products


def family(pages: str, **common: Any) -> Callable[..., Variable]:
    """What declares the variables of a family: they have much in common, and a page each.

    Args:
        pages: the folder of their pages.
        common: what they have in common; each may say otherwise.
    """

    def member(name: str, meaning: str, kind: Kind, **own: Any) -> Variable:
        return Variable(name, meaning, kind, **{"page": pages + name + ".md", **common, **own})

    return member


_ENV = "docs/en/tfa_env/"
_CM = frozenset((Product.ATLAS_TRAINING, Product.ATLAS_A2))
_WITHOUT_TABLE = "cannot be combined with RANK_TABLE_FILE, RANK_ID and RANK_SIZE"
_WITHOUT_CM = "cannot be combined with the CM_ variables"
_table = family(_ENV, products=COLLECTIVE)
_cm = family(_ENV, products=_CM, read_by=("C++ plugin",), interactions=(_WITHOUT_TABLE,))

JOB = (
    Variable(
        "JOB_ID",
        "name of the job, chosen by the user",
        JOB_ID,
        products=ADAPTER,
        read_by=("C++ plugin", "NPUEstimator"),
        interactions=(
            (
                "if not set, the plugin warns and NPUEstimator (without job_start_file) raises "
                "ValueError"
            ),
        ),
        facts=("job-id-format", "estimator-job-id", "distributed-optimizer-job-id"),
        page=_ENV + "JOB_ID.md",
        severity=Severity.WARNING,
    ),
    _cm(
        "ASCEND_DEVICE_ID",
        "logical device of this process",
        Whole(0, INT32_MAX),
        default="0",
        products=ADAPTER,
        interactions=(
            "order of precedence: the option session_device_id, this variable, DEVICE_ID",
            "for HCCL the device_id of the rank table takes precedence",
        ),
        facts=("device-id-priority", "ascend-device-id-format"),
        consequence="the adapter aborts the process",
    ),
    Variable(
        "DEVICE_ID",
        "old name of ASCEND_DEVICE_ID; weight-update sharding reads it as the local rank",
        Whole(0, INT32_MAX),
        read_by=("C++ plugin", "npu_optimizer.py"),
        interactions=("is used only when ASCEND_DEVICE_ID is not set",),
        facts=("device-id-priority", "weight-update-sharding"),
    ),
    _table(
        "RANK_TABLE_FILE",
        "path of the rank table",
        TABLE_PATH,
        read_by=("C++ plugin", "NPUBasics"),
        interactions=(
            _WITHOUT_CM,
            "used when RANK_SIZE is above 0 or not set, and CM_WORKER_SIZE is not set",
        ),
        facts=("rank-table-file", "rank-table-used-when", "resource-info-exclusive"),
        consequence="the graph engine rejects the value",
    ),
    _table(
        "RANK_ID",
        "rank of this process in the job",
        Whole(0, INT32_MAX),
        read_by=("C++ plugin", "npu_hooks_append (default 0)", "NPUBasics"),
        interactions=("must be the rank_id of this device in the rank table", _WITHOUT_CM),
        facts=("rank-id-matches-table", "resource-info-exclusive"),
    ),
    _table(
        "RANK_SIZE",
        "number of devices of the job",
        Whole(1, INT32_MAX),
        default="1",
        read_by=("C++ plugin", "util.get_ranksize"),
        interactions=(
            "if CM_WORKER_SIZE is also set, get_ranksize raises ValueError",
            "hooks and distributed optimizers read this variable",
        ),
        facts=("rank-id-matches-table", "resource-info-exclusive", "rank-table-used-when"),
    ),
    Variable(
        "POD_NAME",
        "name of the container; identifies the process in a rank table of template 2",
        Text(),
        read_by=("C++ plugin", "NPUBasics (takes precedence over RANK_ID)"),
    ),
    _cm(
        "CM_CHIEF_IP",
        "address of the master host, for jobs without a rank table",
        IpText(),
        facts=(
            "resource-info-exclusive",
            "cm-used-when",
            "cm-products",
            "cm-ranges",
            "cm-same-chief",
        ),
    ),
    _cm(
        "CM_CHIEF_PORT",
        "port that the master listens on; it must be free",
        Whole(0, 65520),
        facts=("cm-ranges", "cm-used-when"),
    ),
    _cm(
        "CM_CHIEF_DEVICE",
        "logical device of the master that collects the cluster information",
        Whole(0, INT32_MAX),
        facts=("cm-ranges", "cm-used-when"),
    ),
    _cm(
        "CM_WORKER_SIZE",
        "number of devices of the job, without a rank table",
        Whole(0, 32768),
        default="1",
        read_by=("C++ plugin", "util.get_ranksize"),
        interactions=("cannot be combined with RANK_SIZE",),
        facts=("cm-ranges", "cm-used-when", "resource-info-exclusive"),
    ),
    _cm(
        "CM_WORKER_IP",
        "address of this host's network interface to the master",
        IpText(),
        facts=("cm-ranges", "cm-same-chief"),
    ),
    Variable(
        "TF_CONFIG",
        "TensorFlow's description of the cluster and of this task",
        JsonObject(),
        read_by=("NPURunConfig", "NPUEstimator", "C++ plugin"),
        interactions=(
            "a cluster needs ParameterServerStrategy and mix_compile_mode True",
            "the options job and task_index are set from the task type and index",
            "a ps task does not initialise the device, an evaluator does not use HCCL",
        ),
        facts=("ps-worker-mix-compile", "tf-config-json"),
        consequence="NPURunConfig and NPUEstimator raise an error",
    ),
    Variable(
        "HELP_CLUSTER",
        "not empty: collective communication is used (heterogeneous deployment)",
        Text(),
        read_by=("C++ plugin",),
    ),
    Variable(
        "HEARTBEAT",
        "heartbeat interval, recorded in the job information",
        Text(),
        default="",
        read_by=("NPUBasics",),
    ),
    Variable(
        "RESTORE_FROM",
        "checkpoint to start from when neither warm_start_from nor LOCAL_CHECKPOINT_DIR is set",
        filled("the path of a checkpoint"),
        read_by=("NPUEstimator",),
    ),
    Variable(
        "LOCAL_CHECKPOINT_DIR",
        "directory of checkpoints to start from",
        Text(),
        default="",
        read_by=("NPUBasics",),
        interactions=("is used only when warm_start_from is not set",),
    ),
    Variable(
        "PYTHONPATH",
        "must contain the site-packages directory of the tfplugin (npu_bridge) and the "
        "directory of the script",
        Text(),
        read_by=("Python",),
        page="docs/en/tfadapter_1/migration/model_training/single_device_training.md",
    ),
    Variable(
        "PYTHONHASHSEED",
        "seed of Python's hash(); seed_everything of precision_tool sets this variable",
        Text(),
        read_by=("Python",),
    ),
)

_HCCL = "cann/hccl:docs/zh/user_guide/hccl_env/"
_SWITCH = Choice(("0", "1"))
_REFUSED = "HCCL rejects the value at initialisation (EI0001)"
_hccl = family(_HCCL, products=COLLECTIVE, read_by=("HCCL",), consequence=_REFUSED)

HCCL = (
    _hccl(
        "HCCL_EXEC_TIMEOUT",
        "how long a collective operation waits for the other devices",
        NUMBER,
        default="1836",
        unit="s",
        interactions=(
            "the option hccl_timeout takes precedence",
            "stream_sync_timeout must be larger",
            "at most 1091 with HCCL_OP_EXPANSION_MODE=AIV",
        ),
        facts=("hccl-timeout-priority", "stream-sync-gt-hccl"),
    ),
    _hccl(
        "HCCL_CONNECT_TIMEOUT",
        "timeout of the socket connections between devices; the effective timeout is 20 s longer",
        Whole(120, 7200),
        default="120",
        unit="s",
    ),
    _hccl(
        "HCCL_SOCKET_FAMILY",
        "IP version of the communication between devices",
        Choice(("AF_INET", "AF_INET6")),
        default="AF_INET",
        interactions=(
            (
                "if no interface has this IP version, HCCL uses the version of the "
                "existing interfaces"
            ),
        ),
    ),
    _hccl(
        "HCCL_NPU_SOCKET_PORT_RANGE",
        "ports of HCCL on the NPU",
        PortList(),
        default="16666",
        products=frozenset((Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2)),
        interactions=("needed when several processes share an NPU; must be set on all cards",),
        facts=("hccl-port-single-device-multi-process",),
    ),
    _hccl(
        "HCCL_IF_IP",
        "address of the host that HCCL uses, for jobs without a rank table",
        IpText(),
        interactions=("takes precedence over HCCL_SOCKET_IFNAME",),
    ),
    _hccl(
        "HCCL_SOCKET_IFNAME",
        "network interfaces of the host that HCCL uses",
        NIC_NAMES,
        interactions=("HCCL_IF_IP takes precedence",),
    ),
    _hccl(
        "HCCL_IF_BASE_PORT",
        "first of the 32 host ports that HCCL uses",
        Whole(1024, 65520),
        default="60000",
    ),
    _hccl(
        "HCCL_WHITELIST_DISABLE",
        "0: HCCL checks which hosts may communicate; 1: no check",
        _SWITCH,
        default="1",
        interactions=("if the value is 0, HCCL_WHITELIST_FILE must be set",),
    ),
    _hccl(
        "HCCL_WHITELIST_FILE",
        "path of the list of hosts that may communicate",
        FilePath("whitelist"),
        interactions=("read when HCCL_WHITELIST_DISABLE is 0",),
    ),
    _hccl(
        "HCCL_BUFFSIZE",
        "shared buffer of each communicator; twice as much is allocated",
        Whole(1),
        default="200",
        unit="MB",
    ),
    _hccl(
        "HCCL_INTRA_PCIE_ENABLE",
        "1: the devices of a server communicate over PCIe",
        _SWITCH,
        default="1",
        products=frozenset((Product.ATLAS_A2, Product.ATLAS_TRAINING)),
        interactions=(
            "must not be 1 together with HCCL_INTRA_ROCE_ENABLE=1",
            "if the value is 0, HCCL_INTRA_ROCE_ENABLE must be set",
        ),
    ),
    _hccl(
        "HCCL_INTRA_ROCE_ENABLE",
        "1: the devices of a server communicate over RoCE",
        _SWITCH,
        default="0",
        products=frozenset((Product.ATLAS_A2, Product.ATLAS_TRAINING, Product.ATLAS_A3)),
        interactions=("if the value is 0, HCCL_INTRA_PCIE_ENABLE must be set",),
    ),
    _hccl(
        "HCCL_ALGO", "algorithms of the collective operations", Algorithms(), default="automatic"
    ),
    Variable(
        "HCCL_OP_EXPANSION_MODE",
        "where collective operations are expanded; the legal timeouts depend on this value",
        filled("AI_CPU, AIV, HOST, HOST_TS or another mode of the product"),
        products=COLLECTIVE,
        read_by=("HCCL",),
        interactions=("with AIV, HCCL_EXEC_TIMEOUT is at most 1091 s",),
        page=_HCCL + "HCCL_OP_EXPANSION_MODE.md",
        severity=Severity.WARNING,
    ),
)

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
    read_by=("C++ adapter", "TellMeStepOrLossHook (sets the variable)"),
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
        "turns profiling on without a change of the script",
        Word(("true", "false", "dynamic"), quietly=("False", "FALSE")),  # only "true" turns on
        default="false",
        read_by=("GE", "C++ adapter (checks for conflicts)"),
        interactions=(
            "the option profiling_mode takes precedence, unless this variable is dynamic",
            "dynamic: the profiler can attach later; set this value before the job starts",
            "true cannot be combined with profiler.Profiler",
        ),
        facts=("profiling-env-priority", "profiling-vs-profiler-class"),
        page=_TOOLS + "PROFILING_MODE.md",
        severity=_WARNING,
    ),
    Variable(
        "PROFILING_OPTIONS",
        "options of the profiling",
        JsonObject(),
        products=ADAPTER,
        read_by=("GE",),
        interactions=("is read only when PROFILING_MODE turns profiling on",),
        facts=("profiling-env-priority", "profiling-options-json"),
        page=_TOOLS + "PROFILING_OPTIONS.md",
    ),
    _progress(
        "STEP_NOW",
        "the current step, for accelerated training",
        _UINT32,
        interactions=("used with TOTAL_STEP if experimental_accelerate_train_mode contains step",),
        facts=("accelerate-step-env", "accelerate-env-updated"),
    ),
    _progress(
        "TOTAL_STEP",
        "the number of steps, for accelerated training",
        _UINT32,
        interactions=("used with STEP_NOW",),
        facts=("accelerate-step-env",),
    ),
    _progress(
        "LOSS_NOW",
        "the current loss, for accelerated training",
        NUMBER,
        interactions=(
            "used with TARGET_LOSS if experimental_accelerate_train_mode contains loss",
            "0 never triggers the switch to high precision",
        ),
        facts=("accelerate-loss-env", "accelerate-env-updated"),
    ),
    _progress(
        "TARGET_LOSS",
        "the target loss, for accelerated training",
        NUMBER,
        interactions=("used with LOSS_NOW",),
        facts=("accelerate-loss-env",),
    ),
    Variable(
        "ENABLE_FORCE_V2_CONTROL",
        "converts TensorFlow v1 control flow to v2, for dynamic shapes",
        Switch("1"),
        default="off",
        products=TRAINING,
        read_by=("C++ adapter",),
        interactions=(
            "control-flow operators on reference variables, and tf.raw_ops, cannot be converted",
            "may reduce the speed",
            "better: call tf.enable_control_flow_v2() and tf.enable_resource_variables()",
        ),
        facts=("dynamic-shape-v1-control-flow",),
        page=_ENV + "ENABLE_FORCE_V2_CONTROL.md",
        severity=_WARNING,
    ),
    Variable(
        "ENABLE_HF32_EXECUTION",
        "use of HF32 in place of FP32 in Conv and MatMul",
        Word(("0", "1"), quietly=("00", "01", "10", "11")),
        default="unset: Conv on, MatMul off",
        products=frozenset((Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2)),
        read_by=("C++ plugin",),
        interactions=(
            (
                "order of precedence: op_precision_mode by node name, this variable, "
                "op_precision_mode by type"
            ),
            "no effect in online inference with float16, the default precision there",
        ),
        facts=("op-precision-vs-hf32-env", "hf32-execution-values", "precision-inference-hf32"),
        page=_ENV + "ENABLE_HF32_EXECUTION.md",
        consequence="GE rejects the value and does not start, and the adapter aborts the process",
    ),
    _ge(
        "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM",
        "1 runs graphs with dynamic shapes in several streams",
        Choice(("0", "1")),
        default="0",
        interactions=(
            "auto_multistream_parallel_mode needs this variable for graphs with dynamic shapes",
        ),
        facts=("auto-multistream-dynamic",),
    ),
    _ge(
        "GE_USE_STATIC_MEMORY",
        "how memory is allocated; replaced by the option static_memory_policy",
        Word(("0", "2", "3", "4"), quietly=("1",)),
        default="0",
        interactions=("cannot be combined with the option static_memory_policy",),
        facts=("static-memory-policy-env",),
    ),
    Variable(
        "ASCEND_WORK_PATH",
        "directory for the files of one process",
        DIRECTORY,
        read_by=("GE",),
        interactions=(
            "debug_dir, NPU_COLLECT_PATH and the output of profiling take precedence",
            "used for external weights, exception dumps and fusion_result.json",
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
        "maximum size of the cache of compiled operators; -1: no limit",
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
        "directory for collected fault data",
        DIRECTORY,
        read_by=("GE", "operator compiler", "C++ adapter"),
        interactions=(
            "the exception dump works in mode 1, whatever the value of enable_exception_dump",
            "cannot be combined with oom in op_debug_config",
            "the adapter writes its graphs to <path>/extra-info/graph/<pid>_<device>/",
            "if op_debug_config is empty, GE uses dump_bin, dump_cce, dump_loc, ccec_g",
        ),
        facts=("exception-dump-collect-path", "op-debug-oom-collect-path"),
        page=_OPTIONS + "debugging.md",
    ),
    _compiler(
        "TE_PARALLEL_COMPILER",
        "number of processes that compile operators; at most 80 % of the CPU cores, "
        "divided by the number of devices",
        Whole(1, 32),
        default="8",
        interactions=('not recommended together with op_compiler_cache_mode "force"',),
        facts=("cache-force-parallel",),
    ),
    _ge(
        "MAX_COMPILE_CORE_NUMBER",
        "number of CPU threads that compile graphs; at most the number of CPU cores",
        Whole(1),
        default="1",
    ),
    Variable(
        "FUSION_TENSOR_SIZE",
        "size of the tensor into which gradients are fused",
        Whole(0),
        default="524288000",
        unit="byte",
        read_by=("C++ plugin",),
        severity=_WARNING,
        consequence="the default is used",
    ),
    Variable(
        "ASCEND_TDT_UNINIT",
        "true skips the initialisation of the data transfer (TDT) on the host",
        _BOOL,
        default="false",
        read_by=("C++ plugin",),
        severity=_WARNING,
    ),
    Variable(
        "ENABLE_MBUF_ALLOCATOR",
        "1 uses memory buffers (mbuf) as TensorFlow's CPU allocator",
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
        "operators whose memory is not reused, by node name or type",
        filled('names or types of operators, joined by ","'),
    ),
    _ge(
        "DUMP_GE_GRAPH",
        "how much of the graphs of GE is dumped",
        Word(("1", "2", "3"), quietly=("0",)),  # nothing, as without the variable
        read_by=("GE", "precision_tool (sets the value 2)"),
        interactions=("used with DUMP_GRAPH_LEVEL and DUMP_GRAPH_PATH",),
    ),
    _ge(
        "DUMP_GRAPH_LEVEL",
        "which graphs are dumped",
        GRAPH_LEVELS,
        default="2",
        read_by=("GE", "precision_tool (sets the value 3)"),
        interactions=("has an effect only when DUMP_GE_GRAPH is set",),
    ),
    Variable(
        "DUMP_GRAPH_PATH",
        "directory of dumped graphs; pid_<pid>_deviceid_<id> inside it",
        DIRECTORY,
        read_by=("GE", "C++ adapter", "precision_tool (sets the variable)"),
        interactions=("order of precedence: ASCEND_DUMP_PATH, this variable, ASCEND_WORK_PATH",),
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

_TRUE_OR_FALSE = Choice(("1", "true", "0", "false"))
_NO_EFFECT = "no effect with TensorFlow 1.15"
_EARLY = "set it before npu_device is imported"
_tf2 = family(_ENV, products=ADAPTER, read_by=("npu_device (TF2)",), severity=_WARNING)

TOOLS = (
    Variable(
        "PRECISION_TOOL_OVERFLOW",
        "precision_tool collects overflow data if its argument action is not set",
        Switch("True"),
        read_by=("precision_tool",),
        interactions=("takes precedence over PRECISION_TOOL_DUMP",),
        facts=("precision-tool-env-switch",),
        severity=_WARNING,
    ),
    Variable(
        "PRECISION_TOOL_DUMP",
        "precision_tool dumps data if its argument action is not set",
        Switch("True"),
        read_by=("precision_tool",),
        facts=("precision-tool-env-switch",),
        severity=_WARNING,
    ),
)

TENSORFLOW_2 = (
    _tf2(
        "NPU_DUMP_GRAPH",
        "the adapter for TensorFlow 2 dumps its graphs; precision_tool sets true",
        _TRUE_OR_FALSE,
        interactions=(_NO_EFFECT,),
    ),
    _tf2(
        "NPU_DEBUG",
        "the adapter for TensorFlow 2 writes a debug log",
        _TRUE_OR_FALSE,
        interactions=(_EARLY, _NO_EFFECT),
    ),
    _tf2(
        "NPU_ENABLE_PERF",
        "the adapter for TensorFlow 2 prints the run time of graphs",
        _TRUE_OR_FALSE,
        interactions=("has an effect only when NPU_DEBUG is true", _NO_EFFECT),
    ),
    _tf2(
        "NPU_LOOP_SIZE",
        "steps per loop on the device, for TensorFlow 2; 1.15 uses iterations_per_loop",
        Whole(1),
        interactions=(_EARLY, _NO_EFFECT),
    ),
)

VARIABLES: Dict[str, Variable] = {
    variable.name: variable for variable in (*JOB, *HCCL, *ENGINE, *TOOLS, *TENSORFLOW_2)
}
"""Name to declaration, for every variable that is known."""

RANK_TABLE_NAMES = ("RANK_TABLE_FILE", "RANK_ID", "RANK_SIZE")
"""The variables of a job with a rank table."""

CM_NAMES = (
    "CM_CHIEF_IP",
    "CM_CHIEF_PORT",
    "CM_CHIEF_DEVICE",
    "CM_WORKER_SIZE",
    "CM_WORKER_IP",
)
"""The variables of a job without a rank table; never together with those of one."""

TENSORFLOW_2_NAMES: FrozenSet[str] = frozenset(variable.name for variable in TENSORFLOW_2)
"""The variables that have no effect with TensorFlow 1.15."""

_OF_ANY_JOB = (
    *("JOB_ID", "DEVICE_ID", "POD_NAME", "TF_CONFIG", "HELP_CLUSTER", "HEARTBEAT"),
    *("RESTORE_FROM", "LOCAL_CHECKPOINT_DIR", "PYTHONPATH", "PYTHONHASHSEED", "PRINT_MODEL"),
    *("STEP_NOW", "TOTAL_STEP", "LOSS_NOW", "TARGET_LOSS", "PROFILING_MODE"),
)
OF_NPU: FrozenSet[str] = frozenset(VARIABLES.keys() - set(_OF_ANY_JOB))
"""The variables whose name alone tells that a job is for the NPU."""
