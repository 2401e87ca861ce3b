"""The rules of what environment variables have to do with each other and with options."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

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
