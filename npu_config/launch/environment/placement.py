"""The variables that place a process in a job: rank table or CM_ variables, never both."""

from typing import Dict, Mapping, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.message import listed, phrase
from npu_config.core.rule import declare
from npu_config.core.target import Product
from npu_config.launch.environment.state import EnvironmentCheck, assigned
from npu_config.launch.environment.variables import CM_NAMES, RANK_TABLE_NAMES
from npu_config.rank_table.model import GroupTable

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


def check_launch(context: EnvironmentCheck) -> None:
    """Check how the process is placed in the job."""
    table, cm = context.given(*RANK_TABLE_NAMES), context.given(*CM_NAMES)
    if table and cm:
        context.report(
            rank_table_beside_cm_variables,
            cm[0],
            "{} and {} are set together; a job has a rank table or CM_ variables; {}",
            listed(table),
            listed(cm),
            _of_both(table, cm),
            help=phrase("unset {}", " ".join(cm if _is_of_table(table, cm) else table)),
        )
    else:
        _table_partners(context, table)
        _cm_partners(context, cm)
    if cm and not context.target.products & {Product.ATLAS_TRAINING, Product.ATLAS_A2}:
        assert context.target.product is not None
        context.report(
            cm_variables_product,
            cm[0],
            "{} is set, but {} needs a rank table; CM_ variables are for atlas_training and "
            "atlas_a2"
            if len(cm) == 1
            else "{} are set, but {} needs a rank table; CM_ variables are for "
            "atlas_training and atlas_a2",
            listed(cm),
            context.target.product.value,
            help="write a rank table, and set RANK_TABLE_FILE, RANK_ID and RANK_SIZE",
        )
    _ranks(context)
    _job_id(context)
    _devices(context)


def _of_both(table: Sequence[str], cm: Sequence[str]) -> str:
    """What follows where variables of both kinds of jobs are set."""
    if "RANK_SIZE" in table and "CM_WORKER_SIZE" in cm:
        return phrase("get_ranksize raises ValueError")
    if "RANK_TABLE_FILE" in table and "CM_CHIEF_IP" in cm:
        return phrase("the plugin uses neither")
    if "RANK_SIZE" in table:
        return phrase("the plugin does not read the CM_ variables")
    if "RANK_TABLE_FILE" in table and "CM_WORKER_SIZE" in cm:
        return phrase("the plugin does not read the table")
    return phrase("the documentation forbids it")


def _is_of_table(table: Sequence[str], cm: Sequence[str]) -> bool:
    """Whether a job that has variables of both kinds looks like one with a rank table."""
    return "RANK_TABLE_FILE" in table and len(table) >= len(cm)


def _table_partners(context: EnvironmentCheck, table: Sequence[str]) -> None:
    if "RANK_TABLE_FILE" in table and context.environ["RANK_TABLE_FILE"] != "":
        missing = [name for name in RANK_TABLE_NAMES if context.absent(name)]
        if "POD_NAME" in context.environ and "RANK_ID" in missing:
            missing.remove("RANK_ID")
        if missing:
            context.report(
                rank_table_variables_incomplete,
                "RANK_TABLE_FILE",
                "RANK_TABLE_FILE is set, but not {}",
                " and ".join(missing),
                help=phrase("export {}", " and ".join(missing)),
            )
    elif (context.whole("RANK_SIZE") or 0) > 1 and all(
        map(context.absent, ("RANK_TABLE_FILE", *CM_NAMES))
    ):
        context.report(
            rank_table_variables_incomplete,
            "RANK_SIZE",
            "{}, but neither RANK_TABLE_FILE nor CM_ variables are set: no communication is "
            "started",
            assigned("RANK_SIZE", context.get("RANK_SIZE") or ""),
            help="export RANK_TABLE_FILE",
        )


def _cm_partners(context: EnvironmentCheck, cm: Sequence[str]) -> None:
    if not cm:
        return
    missing = [name for name in CM_NAMES if context.absent(name)]
    if missing:
        context.report(
            cm_variables_incomplete,
            cm[0],
            "{} is set, but not {}; the five CM_ variables go together"
            if len(cm) == 1
            else "{} are set, but not {}; the five CM_ variables go together",
            listed(cm),
            listed(missing),
            help=phrase("export {}", " ".join(missing)),
        )
    size = context.whole("CM_WORKER_SIZE")
    if size == 0:
        context.report(
            cm_variables_incomplete,
            "CM_WORKER_SIZE",
            "CM_WORKER_SIZE is 0: the CM_ variables are not used",
            help="write the number of devices of the job",
            severity=Severity.WARNING,
        )
    if (size or 0) > 1 and context.absent("ASCEND_DEVICE_ID") and context.absent("DEVICE_ID"):
        context.report(
            cm_variables_incomplete,
            cm[0],
            "ASCEND_DEVICE_ID is not set: every process of a server takes device 0, unless the "
            "option session_device_id says otherwise",
            help="export ASCEND_DEVICE_ID for each process",
            severity=Severity.WARNING,
        )


def _ranks(context: EnvironmentCheck) -> None:
    rank, size = context.whole("RANK_ID"), context.whole("RANK_SIZE")
    if context.table is not None and "RANK_TABLE_FILE" in context.environ:
        _against_table(context, context.table.rank_size)
    elif rank is not None and size is not None and rank >= size > 0:
        if size == 1 and not context.get("RANK_TABLE_FILE"):
            return  # the adapter hands the rank on with a rank table only
        context.report(
            rank_variables_disagree,
            "RANK_ID",
            "RANK_ID is {}, but RANK_SIZE is {}; the ranks are 0 to {}",
            rank,
            size,
            size - 1,
            severity=Severity.WARNING if size == 1 else None,
        )


def _against_table(context: EnvironmentCheck, devices: int) -> None:
    rank, size = context.whole("RANK_ID"), context.whole("RANK_SIZE")
    if size is not None and size != devices:
        context.report(
            rank_variables_disagree,
            "RANK_SIZE",
            "RANK_SIZE is {}, but the rank table has {:,} device"
            if devices == 1
            else "RANK_SIZE is {}, but the rank table has {:,} devices",
            size,
            devices,
            help=phrase("export RANK_SIZE={}", devices),
        )
    if rank is None:
        _pod(context)
        return
    if rank >= devices:
        context.report(
            rank_variables_disagree,
            "RANK_ID",
            "RANK_ID is {}, but the ranks of the rank table are 0 to {}",
            rank,
            devices - 1,
        )
    elif not isinstance(context.table, GroupTable) or context.table.laboratory:
        _against_device(context, rank)


def _pod(context: EnvironmentCheck) -> None:
    """A ``RANK_ID`` that is a text names a pod of a template 2 table."""
    text = context.get("RANK_ID")
    if text is None or not isinstance(context.table, GroupTable) or context.table.laboratory:
        return
    pods = {process.pod_name for process in context.table.processes}
    if text not in pods:
        names = sorted(pod for pod in pods if pod)
        context.report(
            rank_variables_disagree,
            "RANK_ID",
            "{}, but the pods of the rank table are {}",
            assigned("RANK_ID", text),
            listed(names[:8]) or phrase("without names"),
            help="export RANK_ID as the pod_name of this process",
        )


def _against_device(context: EnvironmentCheck, rank: int) -> None:
    assert context.table is not None
    device = context.whole("ASCEND_DEVICE_ID")
    for process in context.table.processes:
        if process.rank_id == rank and device not in (None, process.device_id):
            context.report(
                rank_variables_disagree,
                "ASCEND_DEVICE_ID",
                "ASCEND_DEVICE_ID is {}, but rank {} has device {} in the rank table, which "
                "counts for HCCL",
                device,
                rank,
                process.device_id,
                help=phrase(
                    "export ASCEND_DEVICE_ID={}, unless a container numbers devices differently",
                    process.device_id,
                ),
                severity=Severity.WARNING,
            )


def _job_id(context: EnvironmentCheck) -> None:
    if not context.absent("JOB_ID"):
        return
    for name in ("RANK_SIZE", "CM_WORKER_SIZE"):
        if (context.whole(name) or 0) > 1:
            context.report(
                job_id_missing,
                name,
                "{} and no JOB_ID: the distributed optimizers and NPUEstimator need it",
                assigned(name, context.get(name) or ""),
                help="export JOB_ID",
            )
            return


def _devices(context: EnvironmentCheck) -> None:
    if "DEVICE_ID" not in context.environ:
        return
    beaten = "ASCEND_DEVICE_ID" in context.environ
    if not beaten and "ASCEND_DEVICE_ID" in context.used:
        return  # it comes from outside
    context.report(
        old_device_variable,
        "DEVICE_ID",
        "DEVICE_ID has no effect beside ASCEND_DEVICE_ID, except for weight-update sharding"
        if beaten
        else "DEVICE_ID is the old name of ASCEND_DEVICE_ID",
        help=None if beaten else "export ASCEND_DEVICE_ID with the same value",
    )


_COMMON = ("JOB_ID", "RANK_SIZE", *(name for name in CM_NAMES if name != "CM_WORKER_IP"))


def compare(contexts: Mapping[str, EnvironmentCheck], one_server: bool = False) -> None:
    """Check the environments of several processes of one job against each other.

    Args:
        contexts: a name for each process, and its environment; of two that disagree the later
            one has the finding.
        one_server: all run on one server at the same time, each of them a rank.
    """
    owners: Dict[Tuple[str, ...], str] = {}
    chosen = {context.get("ASCEND_DEVICE_ID") for context in contexts.values()}
    one_server = one_server and len(chosen) > 1  # else something else tells the ranks apart
    for name, context in contexts.items():
        for variable in _COMMON:
            _same(context, variable, *next(iter(contexts.items())))
        rank, address = context.get("RANK_ID"), context.get("CM_WORKER_IP")
        device = context.get("ASCEND_DEVICE_ID")
        if context.absent("ASCEND_DEVICE_ID"):
            device = "0"
        if rank is not None and rank.isdecimal():  # a text names a pod, which may have several
            before = owners.setdefault(("rank", rank), name)
            if before != name:
                _twice(context, "RANK_ID", rank, before)
        if address is not None and device is not None:
            before = owners.setdefault(("device", address, device), name)
            if before != name:
                _twice(context, "ASCEND_DEVICE_ID", device, before)
        elif one_server and device is not None and _is_rank(context):
            before = owners.setdefault(("device", "", device), name)
            if before != name:
                _twice(context, "ASCEND_DEVICE_ID", device, before, Severity.WARNING)


def taken_twice(variable: str, text: str, place: Place, before: str, apart: bool) -> Diagnostic:
    """What is said of a launch script that takes the place in a job that another one has.

    Args:
        variable: RANK_ID, or ASCEND_DEVICE_ID in a job without rank table.
        text: what both set it to.
        place: where the script does.
        before: the place in the other one, in words.
        apart: the scripts take different devices, so they are no alternatives.
    """
    sentence = (
        "{} as in {}, with the same rank table; every process of a job has its own"
        if variable == "RANK_ID"
        else "{} as in {}, on the same server; every process of a job has its own"
    )
    return job_environments_differ.diagnostic(
        phrase(sentence, assigned(variable, text), before),
        place,
        None,
        "give each script a value of its own; scripts that are never run together: another JOB_ID",
        None if apart or variable != "RANK_ID" else Severity.WARNING,
    )


def _is_rank(context: EnvironmentCheck) -> bool:
    """Whether this is one of several ranks, with a device that nothing else numbers."""
    several = "RANK_ID" in context.environ and (context.whole("RANK_SIZE") or 0) > 1
    other = any(name == "DEVICE_ID" or "VISIBLE" in name for name in context.environ)
    return several and "ASCEND_DEVICE_ID" in context.environ and not other


def _same(context: EnvironmentCheck, variable: str, first: str, other: EnvironmentCheck) -> None:
    mine, theirs = context.get(variable), other.get(variable)
    unknown = [
        one for one in (context, other) if one.get(variable) is None and not one.absent(variable)
    ]
    if mine == theirs or unknown:
        return
    context.report(
        job_environments_differ,
        variable,
        "{}, but {} in {}; all processes of a job have the same",
        phrase("{} is not set", variable) if mine is None else assigned(variable, mine),
        phrase("it is not set") if theirs is None else phrase('it is "{}"', theirs),
        first,
    )


def _twice(
    context: EnvironmentCheck,
    variable: str,
    text: str,
    before: str,
    severity: Optional[Severity] = None,
) -> None:
    context.report(
        job_environments_differ,
        variable,
        "{} as in {}; every process has its own",
        assigned(variable, text),
        before,
        severity=severity,
    )
