"""The rules about the environment of the processes of a job, and about launch scripts as such."""

from npu_config.core.diagnostics import Severity, declare

_ENV = "docs/en/tfa_env/"
_HCCL = "cann/hccl:docs/zh/user_guide/hccl_env/"
_GE = "cann/ge:docs/zh/user_guides/env_vars/"
_OPTIONS = "docs/en/tfadapter_1/apiref/session_config/"
_DISTRIBUTED = "docs/en/tfadapter_1/migration/model_training/distributed_training.md"


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
    help="set a legal value, or unset the variable",
)
def environment_value() -> None:
    """An environment variable has an invalid value.

    The reference of environment variables lists the legal values of each variable, and the
    consequence of other values.  If `ASCEND_DEVICE_ID` is wrong, the adapter aborts the process;
    if `ENABLE_HF32_EXECUTION` is wrong, GE fails to initialise; HCCL fails with EI0001.  A wrong
    value that is only ignored is a warning: `PRECISION_TOOL_DUMP=true` has no effect, because the
    value is compared only with `True`.

    Wrong: `export CM_CHIEF_PORT=65530`

    Right: `export CM_CHIEF_PORT=60001`
    """


@declare(
    "NPU671",
    Severity.ERROR,
    facts=("resource-info-exclusive", "rank-table-used-when", "cm-used-when"),
    source=(_ENV + "CM_CHIEF_IP.md", _DISTRIBUTED),
)
def rank_table_beside_cm_variables() -> None:
    """Environment variables of a rank-table job and `CM_` variables are set together.

    A job uses either `RANK_TABLE_FILE`, `RANK_ID` and `RANK_SIZE`, or the `CM_` variables;
    variables of the two groups must not be mixed.  If `RANK_TABLE_FILE` and `CM_CHIEF_IP` are both
    set, the plugin logs an error and uses neither.  The plugin reads the table only if
    `CM_WORKER_SIZE` is not set, and the `CM_` variables only if `RANK_SIZE` is not set; if both
    sizes are set, `get_ranksize` raises ValueError.

    Wrong: `export RANK_SIZE=16 CM_WORKER_SIZE=16`

    Right: `unset RANK_TABLE_FILE RANK_ID RANK_SIZE`
    """


@declare(
    "NPU672",
    Severity.ERROR,
    facts=("rank-table-used-when", "rank-id-matches-table", "single-device-hccl"),
    source=(_ENV + "RANK_TABLE_FILE.md", _ENV + "RANK_SIZE.md"),
)
def rank_table_variables_incomplete() -> None:
    """A job with a rank table lacks a required environment variable.

    `RANK_TABLE_FILE`, `RANK_ID` and `RANK_SIZE` must be set together.  Without `RANK_SIZE`, the
    plugin assumes one device but still reads the table.  Without `RANK_ID` (or `POD_NAME`, with
    the old template 2), HCCL does not know which rank this process is.  With a `RANK_SIZE` above 1
    but neither a table nor `CM_` variables, no communication is started.  A script that uses HCCL
    on one device sets `RANK_ID=0` and `RANK_SIZE=1`.

    Wrong: `export RANK_TABLE_FILE=/data/rank_table.json`

    Right: `export RANK_TABLE_FILE=/data/rank_table.json RANK_ID=0 RANK_SIZE=16`
    """


@declare(
    "NPU673",
    Severity.ERROR,
    facts=("cm-used-when",),
    source=(
        _ENV + "CM_CHIEF_IP.md",
        "cann/hccl:docs/zh/user_guide/cluster_info_config/env_config_info.md",
    ),
)
def cm_variables_incomplete() -> None:
    """A job without a rank table lacks a required environment variable.

    `CM_CHIEF_IP`, `CM_CHIEF_PORT`, `CM_CHIEF_DEVICE`, `CM_WORKER_SIZE` and `CM_WORKER_IP` must be
    set together.  The plugin uses them only if the three `CM_CHIEF_` variables are set and
    `CM_WORKER_SIZE` (1 if it is not set) is above 0.  `ASCEND_DEVICE_ID` distinguishes the
    processes of one server; without it all of them use device 0 (a warning).

    Wrong: `export CM_CHIEF_IP=10.0.0.1 CM_WORKER_SIZE=16`

    Right:

        export CM_CHIEF_IP=10.0.0.1 CM_CHIEF_PORT=6000 CM_CHIEF_DEVICE=0
        export CM_WORKER_SIZE=16 CM_WORKER_IP=10.0.0.2
    """


@declare(
    "NPU674",
    Severity.ERROR,
    facts=("cm-products",),
    source=(_ENV + "CM_CHIEF_IP.md", _DISTRIBUTED),
)
def cm_variables_product() -> None:
    """`CM_` variables are set for a product that needs a rank table.

    Jobs without a rank table are supported only on atlas_training and atlas_a2.

    Wrong, on atlas_a3: `export CM_CHIEF_IP=10.0.0.1`

    Right: `export RANK_TABLE_FILE=/data/rank_table.json RANK_ID=0 RANK_SIZE=16`
    """


@declare(
    "NPU675",
    Severity.ERROR,
    facts=("cm-same-chief", "rank-id-matches-table"),
    source=(_DISTRIBUTED,),
    help="set a different value for every process",
)
def job_environments_differ() -> None:
    """The processes of one job have inconsistent environment variables.

    All processes must have the same `JOB_ID`, and the same `RANK_SIZE` or the same `CM_CHIEF_`
    variables and `CM_WORKER_SIZE`.  With a rank table, each process needs its own `RANK_ID`;
    without a rank table, each process of a server needs its own device.  Otherwise the processes
    cannot form a cluster.  If a launch script starts several ranks with one `ASCEND_DEVICE_ID`,
    this is a warning: the script that they run may choose the device itself.

    Launch scripts that are checked together are also compared: two scripts of one folder must not
    start the same program with the same rank of the same rank table.  This is a warning, or an
    error if they use different devices.  Nothing is reported for a script that starts all ranks of
    a job or runs the other script, for scripts with different `JOB_ID`s, and for a `RANK_SIZE` of
    1.

    Wrong: `CM_CHIEF_PORT=6000` on one server and `CM_CHIEF_PORT=6001` on the other

    Right: `CM_CHIEF_PORT=6000` on both
    """


@declare(
    "NPU676",
    Severity.ERROR,
    facts=("rank-id-matches-table",),
    source=(_ENV + "RANK_ID.md", _ENV + "RANK_SIZE.md"),
    help="correct the wrong value; ranks count from 0",
)
def rank_variables_disagree() -> None:
    """`RANK_ID` and `RANK_SIZE` contradict the rank table, or each other.

    `RANK_SIZE` must be the number of devices in the table, and `RANK_ID`, from 0 to `RANK_SIZE` -
    1, must be the `rank_id` of the device that the process uses; otherwise HCCL fails to
    initialise.  With a `RANK_SIZE` of 1, which starts no communication by itself, this is a
    warning.  Without a rank table nothing is reported: the adapter passes `RANK_ID` on only with a
    rank table.  With a rank table of the old template 2, `RANK_ID` may be the `pod_name` of the
    process.  An `ASCEND_DEVICE_ID` that differs from the `device_id` of the table is a warning:
    HCCL uses the table, but inside a container the numbers may differ.

    Wrong: `export RANK_SIZE=8 RANK_ID=8`

    Right: `export RANK_SIZE=8 RANK_ID=7`
    """


@declare("NPU677", Severity.WARNING, facts=("job-id-format",), source=(_ENV + "JOB_ID.md",))
def job_id_format() -> None:
    """`JOB_ID` does not have the recommended format.

    `JOB_ID` should contain only letters, digits, `_` and `-`; if it has only digits, the first one
    should not be 0.  More than 128 characters are an error: GE rejects them (E10051), and the
    adapter aborts the process.

    Wrong: `export JOB_ID="my job"`

    Right: `export JOB_ID=my_job`
    """


@declare(
    "NPU678",
    Severity.ERROR,
    facts=("distributed-optimizer-job-id", "estimator-job-id", "optimizer-wrapper-rank-size"),
    source=(_ENV + "JOB_ID.md",),
)
def job_id_missing() -> None:
    """A job with several devices has no `JOB_ID`.

    The distributed optimizers of npu_bridge get the number of ranks from the job information,
    which does not exist without `JOB_ID`: building the graph fails with AttributeError.
    NPUEstimator raises ValueError even with one device, unless it can read its `job_start_file`.
    The plugin alone only prints a warning.  A launch script may get `JOB_ID` from outside: it is
    reported as missing only after `unset JOB_ID`.

    Wrong: `unset JOB_ID; export RANK_SIZE=16`

    Right: `export RANK_SIZE=16 JOB_ID=resnet_0412`
    """


@declare(
    "NPU679",
    Severity.INFO,
    facts=("device-id-priority", "weight-update-sharding"),
    source=(_ENV + "ASCEND_DEVICE_ID.md",),
)
def old_device_variable() -> None:
    """`DEVICE_ID` is the old name of `ASCEND_DEVICE_ID`.

    `DEVICE_ID` is used only if neither the option `session_device_id` nor `ASCEND_DEVICE_ID` is
    set.  Only the weight-update sharding of NPUDistributedOptimizer still reads `DEVICE_ID`
    directly, as the local rank.

    Wrong: `export DEVICE_ID=3`

    Right: `export ASCEND_DEVICE_ID=3`
    """


@declare("NPU680", Severity.WARNING, facts=(), source=("docs/en/tfa_env/",))
def environment_product() -> None:
    """An environment variable is set that the product does not support.

    The vendor's documentation lists the products for each variable; on other products the variable
    has no effect.

    Wrong, on atlas_training: `export ENABLE_HF32_EXECUTION=1`

    Right: do not set the variable
    """


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
    """An environment variable has no effect because another one is not set.

    `PROFILING_OPTIONS` needs `PROFILING_MODE`, and `DUMP_GRAPH_LEVEL` needs `DUMP_GE_GRAPH`.
    `STEP_NOW` and `TOTAL_STEP` must be set together, and so must `LOSS_NOW` and `TARGET_LOSS`.
    `HCCL_WHITELIST_DISABLE=0` without `HCCL_WHITELIST_FILE` is an error: HCCL has to check a
    whitelist but gets none.

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
    """An environment variable is ignored, fully or in part, because another one is set.

    `HCCL_IF_IP` takes precedence over `HCCL_SOCKET_IFNAME`.  `HCCL_WHITELIST_FILE` is read only
    with `HCCL_WHITELIST_DISABLE=0`, `PROFILING_OPTIONS` only if `PROFILING_MODE` turns profiling
    on, `RESTORE_FROM` only without `LOCAL_CHECKPOINT_DIR`, and `PRECISION_TOOL_DUMP` only without
    `PRECISION_TOOL_OVERFLOW`.  NPUBasics reads `POD_NAME` first, then `RANK_ID`.  Fault
    information is written to `NPU_COLLECT_PATH`, and dumped graphs to `DUMP_GRAPH_PATH`, not to
    `ASCEND_WORK_PATH`.  If no network interface matches `HCCL_SOCKET_FAMILY`, the existing
    interfaces are used.

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

    `HCCL_INTRA_PCIE_ENABLE` and `HCCL_INTRA_ROCE_ENABLE` select the links inside a server: they
    must not both be 1, and if one of them is 0, the other one must be set.

    Wrong: `export HCCL_INTRA_PCIE_ENABLE=1 HCCL_INTRA_ROCE_ENABLE=1`

    Right: `export HCCL_INTRA_PCIE_ENABLE=0 HCCL_INTRA_ROCE_ENABLE=1`
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
    """`TF_CONFIG` does not have the format that TensorFlow and npu_bridge require.

    `TF_CONFIG` must be one JSON object with `cluster` (task types and their addresses) and `task`
    (`type` and `index`).  If it is not JSON, NPURunConfig and NPUEstimator raise an error, while
    the plugin only prints a warning.  Two tasks are reported as information: a `ps` task does not
    initialise the device, and an `evaluator` does not use HCCL.

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
    """`HCCL_EXEC_TIMEOUT` is out of range for the product.

    On ascend_950, atlas_a3 and atlas_a2 the timeout is 0 to 2147483647 s, and 0 waits forever.  On
    atlas_training and atlas_300i_duo it is 1 to 17340 s, and HCCL rounds it down to a multiple of
    68 (a warning: 600 becomes 544).  With `HCCL_OP_EXPANSION_MODE=AIV` the maximum is 1091 s: 0
    and larger values become 1091 (a warning).

    Wrong, on atlas_training: `export HCCL_EXEC_TIMEOUT=20000`

    Right: `export HCCL_EXEC_TIMEOUT=1836`
    """


@declare("NPU687", Severity.WARNING, source=("docs/en/tfa_env/",))
def environment_name() -> None:
    """The name of an environment variable looks misspelled.

    The name has one letter too few or too many, one wrong letter, or two swapped letters, and the
    variable that is probably meant is not set.  Nothing reads the misspelt variable.

    Wrong: `export RANK_TABEL_FILE=/data/rank_table.json`

    Right: `export RANK_TABLE_FILE=/data/rank_table.json`
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
    """An environment variable replaces an option, or sets a default for an option.

    With `NPU_COLLECT_PATH`, the exception dump uses mode 1, whatever the value of
    `enable_exception_dump` is.  `GE_USE_STATIC_MEMORY` must not be combined with
    `static_memory_policy`, which replaces it.  `AOE_MODE` enables tuning if `aoe_mode` is not
    set.  `PROFILING_MODE=true` enables profiling if `profiling_mode` is not set, and cannot be
    combined with `profiler.Profiler`.

    Wrong: `export GE_USE_STATIC_MEMORY=2`

    Right: `static_memory_policy: 2`
    """


@declare(
    "NPU689",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=(
        "cann/ge:docs/zh/user_guides/env_vars/TE_PARALLEL_COMPILER.md",
        "cann/ge:docs/zh/user_guides/env_vars/MAX_COMPILE_CORE_NUMBER.md",
    ),
)
def environment_of_host() -> None:
    """An environment variable requests a file or CPU cores that the machine does not have.

    `ASCEND_OPP_PATH`, `RANK_TABLE_FILE` or `HCCL_WHITELIST_FILE` contains a path that does not
    exist (the files themselves are checked, too); a variable for a directory contains the path of
    a file; or `MAX_COMPILE_CORE_NUMBER` or `TE_PARALLEL_COMPILER` requests more CPU cores than the
    machine has (a warning).

    Wrong, on 16 cores: `export TE_PARALLEL_COMPILER=32`

    Right: `export TE_PARALLEL_COMPILER=8`
    """


@declare("NPU620", Severity.INFO, source=("npu_config",))
def script_of_other_shell() -> None:
    """A launch script is written for another shell or language than bash, and is not checked.

    The first line of the script names the other interpreter.  Scripts for csh or fish, for
    example, set variables in another syntax.

    Wrong: `#!/bin/csh` and `setenv RANK_SIZE 8`

    Right: `#!/bin/bash` and `export RANK_SIZE=8`
    """


@declare("NPU624", Severity.ERROR, source=("npu_config",))
def script_line_ends() -> None:
    r"""A launch script has Windows line endings.

    Bash reads the `\r` at the end of a line as a part of the last word: `RANK_SIZE=8` becomes
    `8\r`, which is not a number, `do\r` is a syntax error, and `#!/bin/bash\r` is not found.
    Lines that end in a comment, in quotes or in a here-document are not counted.

    Wrong: lines that end with `\r\n`

    Right: `dos2unix launch.sh`
    """


@declare(
    "NPU621",
    Severity.WARNING,
    source=("docs/en/tfadapter_1/migration/model_training/distributed_training.md",),
)
def starter_of_other_framework() -> None:
    r"""A launch script starts the processes of an NPU job with the launcher of another framework.

    `horovodrun`, `torchrun`, `deepspeed` and other launchers do not know rank tables: they set
    neither `RANK_ID` nor `ASCEND_DEVICE_ID`, which npu_bridge reads, so every process uses device
    0, and HCCL cannot connect the processes.  If the script also sets `RANK_TABLE_FILE`, `mpirun`
    is only reported as information, because a wrapper may set the other variables from those of
    MPI.

    It depends on the started script: this is reported if the script, or a module that it imports,
    imports `npu_bridge` or `npu_config`, or if it imports TensorFlow and the launch script sets
    NPU variables.  If the started script cannot be found, nothing is reported.  Jobs of PyTorch,
    MindSpore or another framework are not checked at all: their processes read other variables.

    Wrong: `horovodrun -np 8 python3 train.py`

    Right:

        npu-config env --rank-table rank_table.json --job-id resnet --to launcher -o . \
            -- python3 train.py
        bash launch_0_10.0.0.1.sh
    """


@declare(
    "NPU622",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=("docs/en/tfa_env/RANK_TABLE_FILE.md",),
    help="check the rank table: npu-config check TABLE",
)
def rank_table_path() -> None:
    """`RANK_TABLE_FILE` in a launch script names a file that is not a rank table.

    The file exists but is not a readable rank table, or it is a directory.  A missing file is
    reported only on the training host (`--on-host`): many scripts write the file before they use
    it.  A path that does not end in `.json` is an invalid value (NPU670).

    Wrong: `export RANK_TABLE_FILE=/data/rank_table.json`, whose `status` is `initializing`

    Right: the same path, and `status` is `completed`
    """


@declare("NPU623", Severity.WARNING, source=("npu_config",))
def shell_parser_missing() -> None:
    """The parser of shell scripts is not installed, and the script is not checked.

    The parser is part of the extra `cli`: `pip install "npu_config[cli]"`.  A pre-commit hook that
    is written by hand needs the packages of this extra in its `additional_dependencies`.
    """


@declare(
    "NPU691",
    Severity.ERROR,
    source=("npu_config",),
    help="correct the line; bash -n SCRIPT shows the line where bash stops",
)
def script_syntax() -> None:
    """Bash cannot parse a launch script: a block or a quote is not closed, or never opened.

    Bash runs the script up to this place and then ends.  Only certain faults are reported, and
    nothing else in the script: `bash -n SCRIPT` shows everything.

    Wrong: `for i in 0 1; do python3 train.py &` and no `done`

    Right: `for i in 0 1; do python3 train.py & done`
    """


@declare("NPU692", Severity.ERROR, source=("npu_config",))
def export_of_no_name() -> None:
    """`export` is not followed by a valid name: there is whitespace around the `=`.

    Bash prints "not a valid identifier", and the variable does not get the value.

    Wrong: `export RANK_SIZE = 8`

    Right: `export RANK_SIZE=8`
    """
