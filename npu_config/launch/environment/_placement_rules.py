"""The rules of the variables that place a process in a job."""

from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_ENV = "docs/en/tfa_env/"
_DISTRIBUTED = "docs/en/tfadapter_1/migration/model_training/distributed_training.md"


@declare(
    "NPU671",
    Severity.ERROR,
    facts=("resource-info-exclusive", "rank-table-used-when", "cm-used-when"),
    source=(_ENV + "CM_CHIEF_IP.md", _DISTRIBUTED),
)
def rank_table_beside_cm_variables() -> None:
    """Variables of a job with a rank table and of one without are set together.

    A job has `RANK_TABLE_FILE`, `RANK_ID` and `RANK_SIZE`, or it has the `CM_` variables; any of
    the ones beside any of the others is wrong.  With `RANK_TABLE_FILE` and `CM_CHIEF_IP` the
    plugin logs an error and uses neither.  It reads the table only without `CM_WORKER_SIZE`, and
    the `CM_` variables only without `RANK_SIZE`; with both sizes `get_ranksize` raises ValueError.

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
    """A job with a rank table lacks one of its variables.

    `RANK_TABLE_FILE`, `RANK_ID` and `RANK_SIZE` go together.  Without `RANK_SIZE` the plugin
    counts one device and still reads the table; without `RANK_ID` (or `POD_NAME`, with the old
    template 2) HCCL does not know which rank this process is; a `RANK_SIZE` above 1 without a
    table or `CM_` variables starts no communication at all.  A script that uses HCCL on one
    device sets `RANK_ID=0` and `RANK_SIZE=1`.

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
    """A job without a rank table lacks one of its variables.

    `CM_CHIEF_IP`, `CM_CHIEF_PORT`, `CM_CHIEF_DEVICE`, `CM_WORKER_SIZE` and `CM_WORKER_IP` go
    together.  The plugin uses them only when the three `CM_CHIEF_` variables are set and
    `CM_WORKER_SIZE`, 1 when it is not set, is above 0.  `ASCEND_DEVICE_ID` distinguishes
    the processes of one server; without it all of them take device 0 (a warning).

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
    """A product that needs a rank table is given `CM_` variables.

    Jobs without a rank table are for atlas_training and atlas_a2.

    Wrong, on atlas_a3: `export CM_CHIEF_IP=10.0.0.1`

    Right: `export RANK_TABLE_FILE=/data/rank_table.json RANK_ID=0 RANK_SIZE=16`
    """


@declare(
    "NPU675",
    Severity.ERROR,
    facts=("cm-same-chief", "rank-id-matches-table"),
    source=(_DISTRIBUTED,),
    help="give every process a value of its own",
)
def job_environments_differ() -> None:
    """The environments of the processes of one job do not fit together.

    All have the same `JOB_ID`, and the same `RANK_SIZE` or the same `CM_CHIEF_` variables and
    `CM_WORKER_SIZE`; with a rank table every process has a `RANK_ID` of its own, without one
    every process of a server has a device of its own.  The cluster cannot form otherwise.
    Ranks that a launch script starts together with one `ASCEND_DEVICE_ID` are a warning: the
    script that they run may choose the device itself.

    Launch scripts that are checked together are compared, too: two scripts of one folder that
    start the same program take one rank of one rank table.  That is a warning, and an error where
    they take different devices.  Nothing is said of a script that starts all ranks of a job
    or runs the other, of scripts with different `JOB_ID`s, and of a `RANK_SIZE` of 1.

    Wrong: `CM_CHIEF_PORT=6000` on one server and `CM_CHIEF_PORT=6001` on the other

    Right: `CM_CHIEF_PORT=6000` on both
    """


@declare(
    "NPU676",
    Severity.ERROR,
    facts=("rank-id-matches-table",),
    source=(_ENV + "RANK_ID.md", _ENV + "RANK_SIZE.md"),
    help="correct the one that is wrong; ranks count from 0",
)
def rank_variables_disagree() -> None:
    """`RANK_ID` or `RANK_SIZE` does not agree with the rank table, or with each other.

    `RANK_SIZE` is the number of devices in the table and `RANK_ID`, from 0 to `RANK_SIZE` - 1,
    is the `rank_id` of the device that the process uses; otherwise HCCL fails when it is
    initialised (a warning with a `RANK_SIZE` of 1, which starts no communication by itself, and
    nothing without a rank table: only with one does the adapter hand `RANK_ID` on).
    With a rank table of the old template 2, `RANK_ID` may be the `pod_name` of the process.
    Another `ASCEND_DEVICE_ID` than the table's `device_id` is a warning: the table counts for
    HCCL, but inside a container the numbers may differ.

    Wrong: `export RANK_SIZE=8 RANK_ID=8`

    Right: `export RANK_SIZE=8 RANK_ID=7`
    """


@declare(
    "NPU678",
    Severity.ERROR,
    facts=("distributed-optimizer-job-id", "estimator-job-id", "optimizer-wrapper-rank-size"),
    source=(_ENV + "JOB_ID.md",),
)
def job_id_missing() -> None:
    """A job of several devices has no `JOB_ID`.

    The distributed optimizers of npu_bridge take the number of ranks from the information
    about the job, which is not there without `JOB_ID`: building the graph ends with
    AttributeError.  NPUEstimator raises ValueError even with one device, unless its
    `job_start_file` can be read.  The plugin alone only warns.  A launch script may get it from
    outside: there it is missing only after `unset JOB_ID`.

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

    It counts only when neither the option `session_device_id` nor `ASCEND_DEVICE_ID` is set.
    Only weight-update sharding of NPUDistributedOptimizer still reads it by itself, as the local
    rank.

    Wrong: `export DEVICE_ID=3`

    Right: `export ASCEND_DEVICE_ID=3`
    """
