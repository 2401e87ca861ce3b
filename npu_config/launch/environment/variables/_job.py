"""Variables that say which process of which job this is."""

from npu_config.catalogue.kinds import INT32_MAX, Text
from npu_config.core.diagnostics import Severity
from npu_config.core.target import Product
from npu_config.launch.environment.kinds import (
    JOB_ID,
    TABLE_PATH,
    IpText,
    JsonObject,
    Whole,
    filled,
)
from npu_config.launch.environment.variables._variable import (
    ADAPTER,
    COLLECTIVE,
    Variable,
    family,
)

_ENV = "docs/en/tfa_env/"
_CM = frozenset((Product.ATLAS_TRAINING, Product.ATLAS_A2))
_WITHOUT_TABLE = "not with RANK_TABLE_FILE, RANK_ID and RANK_SIZE"
_WITHOUT_CM = "not with the CM_ variables"
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
            "missing: the plugin warns, NPUEstimator (without job_start_file) raises ValueError",
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
            "the option session_device_id takes precedence over it, and it over DEVICE_ID",
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
        interactions=("counts only when ASCEND_DEVICE_ID is not set",),
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
        consequence="the graph engine refuses it",
    ),
    _table(
        "RANK_ID",
        "rank of this process in the job",
        Whole(0, INT32_MAX),
        read_by=("C++ plugin", "npu_hooks_append (default 0)", "NPUBasics"),
        interactions=("the rank_id of this device in the rank table", _WITHOUT_CM),
        facts=("rank-id-matches-table", "resource-info-exclusive"),
    ),
    _table(
        "RANK_SIZE",
        "number of devices of the job",
        Whole(1, INT32_MAX),
        default="1",
        read_by=("C++ plugin", "util.get_ranksize"),
        interactions=(
            "with CM_WORKER_SIZE get_ranksize raises ValueError",
            "hooks and distributed optimizers look at it",
        ),
        facts=("rank-id-matches-table", "resource-info-exclusive", "rank-table-used-when"),
    ),
    Variable(
        "POD_NAME",
        "name of the container; identifies the process with a template 2 rank table",
        Text(),
        read_by=("C++ plugin", "NPUBasics (before RANK_ID)"),
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
        "logical device of the master that collects what is known of the cluster",
        Whole(0, INT32_MAX),
        facts=("cm-ranges", "cm-used-when"),
    ),
    _cm(
        "CM_WORKER_SIZE",
        "number of devices of the job, without a rank table",
        Whole(0, 32768),
        default="1",
        read_by=("C++ plugin", "util.get_ranksize"),
        interactions=("not with RANK_SIZE",),
        facts=("cm-ranges", "cm-used-when", "resource-info-exclusive"),
    ),
    _cm(
        "CM_WORKER_IP",
        "address of this host's interface towards the master",
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
            "task type and index become those of the job",
            "a ps task does not initialise the device, an evaluator does not use HCCL",
        ),
        facts=("ps-worker-mix-compile", "tf-config-json"),
        consequence="NPURunConfig and NPUEstimator raise an error",
    ),
    Variable(
        "HELP_CLUSTER",
        "not empty: collective communication is used (heterogeneous helper)",
        Text(),
        read_by=("C++ plugin",),
    ),
    Variable(
        "HEARTBEAT",
        "heartbeat interval that is noted in the information about the job",
        Text(),
        default="",
        read_by=("NPUBasics",),
    ),
    Variable(
        "RESTORE_FROM",
        "checkpoint to start from when neither warm_start_from nor LOCAL_CHECKPOINT_DIR says",
        filled("the path of a checkpoint"),
        read_by=("NPUEstimator",),
    ),
    Variable(
        "LOCAL_CHECKPOINT_DIR",
        "directory of checkpoints to start from",
        Text(),
        default="",
        read_by=("NPUBasics",),
        interactions=("counts only when warm_start_from is not given",),
    ),
    Variable(
        "PYTHONPATH",
        "must lead to the site-packages of the tfplugin (npu_bridge) and to the script",
        Text(),
        read_by=("Python",),
        page="docs/en/tfadapter_1/migration/model_training/single_device_training.md",
    ),
    Variable(
        "PYTHONHASHSEED",
        "seed of Python's hashes; seed_everything of precision_tool writes it",
        Text(),
        read_by=("Python",),
    ),
)
