"""The environment of one process under check, and the variables that place the process in a job.

A job has a rank table or ``CM_`` variables, never both.
"""

from typing import Dict, FrozenSet, List, Mapping, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import NOWHERE, Diagnostic, Place, Rule, Severity
from npu_config.core.message import listed, phrase
from npu_config.core.settings import UNKNOWN, Unknown
from npu_config.core.target import Target
from npu_config.core.versions import Product
from npu_config.launch import _rules as rules
from npu_config.launch.environment.variables import CM_NAMES, RANK_TABLE_NAMES
from npu_config.rank_table.model import AnyRankTable, GroupTable

Value = Union[str, Unknown]


def _places(given: Optional[Mapping[str, Place]]) -> Mapping[str, Place]:
    return given or {}


@attr.s(slots=True, auto_attribs=True, eq=False)
class EnvironmentCheck:
    """One environment under check.

    Attributes:
        environ: the variables that are set; a value that cannot be known is ``UNKNOWN``.
        target: the product and mode, as far as known.
        table: the rank table that ``RANK_TABLE_FILE`` names, when it is at hand.
        places: where variables are set, for environments that come from a file.
        unset: None when every variable that is not in ``environ`` is certainly not set; else the
            names of which that is certain: others may come from outside (a shell script).
        used: names that something is known to read, though no declaration here says so.
        found: the findings.
    """

    environ: Mapping[str, Value]
    target: Target
    table: Optional[AnyRankTable] = None
    places: Mapping[str, Place] = attr.ib(default=None, converter=_places)
    unset: Optional[FrozenSet[str]] = None
    used: FrozenSet[str] = frozenset()
    found: List[Diagnostic] = attr.ib(factory=list, init=False)

    def get(self, name: str) -> Optional[str]:
        """The text of a variable; None when it is not set or not known."""
        text = self.environ.get(name)
        return None if text is UNKNOWN else text

    def absent(self, name: str) -> bool:
        """True when a variable is certainly not set."""
        return name not in self.environ and (self.unset is None or name in self.unset)

    def whole(self, name: str) -> Optional[int]:
        """The number that a variable holds; None when it is not set, not known or not a number."""
        text = self.get(name)
        if text is None or not text.isdecimal() or not text.isascii() or len(text) > 18:
            return None
        return int(text)

    def given(self, *names: str) -> List[str]:
        """Those of the variables that are set."""
        return [name for name in names if name in self.environ]

    def only_on(self, *products: Product) -> bool:
        """True when the job certainly runs on one of the products."""
        return self.target.products <= frozenset(products)

    def report(
        self,
        rule: Rule,
        name: str,
        sentence: str,
        *values: object,
        help: Optional[str] = None,
        severity: Optional[Severity] = None,
    ) -> None:
        """Report a finding about a variable: a sentence, and the values that fill it."""
        message = phrase(sentence, *values) if values else sentence
        place = self.places.get(name, NOWHERE)
        self.found.append(rule.diagnostic(message, place, None, help, severity))


def assigned(name: str, text: str) -> str:
    """``NAME="text"``, short and on one line."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return '{}="{}"'.format(name, "".join(c if c.isprintable() else "?" for c in shown))


def check_launch(context: EnvironmentCheck) -> None:
    """Check how the process is placed in the job."""
    table, cm = context.given(*RANK_TABLE_NAMES), context.given(*CM_NAMES)
    if table and cm:
        context.report(
            rules.rank_table_beside_cm_variables,
            cm[0],
            "{} and {} are set together, but a job uses either a rank table or CM_ variables; {}",
            listed(table),
            listed(cm),
            _consequence_of_both(table, cm),
            help=phrase("unset {}", " ".join(cm if _is_of_table(table, cm) else table)),
        )
    else:
        _table_partners(context, table)
        _cm_partners(context, cm)
    if cm and not context.target.products & {Product.ATLAS_TRAINING, Product.ATLAS_A2}:
        assert context.target.product is not None
        context.report(
            rules.cm_variables_product,
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


def _consequence_of_both(table: Sequence[str], cm: Sequence[str]) -> str:
    """What follows where variables of both kinds of jobs are set."""
    if "RANK_SIZE" in table and "CM_WORKER_SIZE" in cm:
        return phrase("get_ranksize raises ValueError")
    if "RANK_TABLE_FILE" in table and "CM_CHIEF_IP" in cm:
        return phrase("the plugin uses neither the rank table nor the CM_ variables")
    if "RANK_SIZE" in table:
        return phrase("the plugin does not read the CM_ variables")
    if "RANK_TABLE_FILE" in table and "CM_WORKER_SIZE" in cm:
        return phrase("the plugin does not read the rank table")
    return phrase("the documentation forbids this combination")


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
                rules.rank_table_variables_incomplete,
                "RANK_TABLE_FILE",
                "RANK_TABLE_FILE is set without {}",
                " and ".join(missing),
                help=phrase("export {}", " and ".join(missing)),
            )
    elif (context.whole("RANK_SIZE") or 0) > 1 and all(
        map(context.absent, ("RANK_TABLE_FILE", *CM_NAMES))
    ):
        context.report(
            rules.rank_table_variables_incomplete,
            "RANK_SIZE",
            "{}, but neither RANK_TABLE_FILE nor CM_ variables are set: collective "
            "communication is not started",
            assigned("RANK_SIZE", context.get("RANK_SIZE") or ""),
            help="export RANK_TABLE_FILE",
        )


def _cm_partners(context: EnvironmentCheck, cm: Sequence[str]) -> None:
    if not cm:
        return
    missing = [name for name in CM_NAMES if context.absent(name)]
    if missing:
        context.report(
            rules.cm_variables_incomplete,
            cm[0],
            "{} is set without {}; all five CM_ variables must be set"
            if len(cm) == 1
            else "{} are set without {}; all five CM_ variables must be set",
            listed(cm),
            listed(missing),
            help=phrase("export {}", " ".join(missing)),
        )
    size = context.whole("CM_WORKER_SIZE")
    if size == 0:
        context.report(
            rules.cm_variables_incomplete,
            "CM_WORKER_SIZE",
            "CM_WORKER_SIZE is 0: the CM_ variables are not used",
            help="write the number of devices of the job",
            severity=Severity.WARNING,
        )
    if (size or 0) > 1 and context.absent("ASCEND_DEVICE_ID") and context.absent("DEVICE_ID"):
        context.report(
            rules.cm_variables_incomplete,
            cm[0],
            "ASCEND_DEVICE_ID is not set: every process of a server uses device 0, unless "
            "the option session_device_id is set",
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
            rules.rank_variables_disagree,
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
            rules.rank_variables_disagree,
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
            rules.rank_variables_disagree,
            "RANK_ID",
            "RANK_ID is {}, but the ranks of the rank table are 0 to {}",
            rank,
            devices - 1,
        )
    elif not isinstance(context.table, GroupTable) or context.table.has_deploy_mode:
        _against_device(context, rank)


def _pod(context: EnvironmentCheck) -> None:
    """A ``RANK_ID`` that is a text names a pod of a template 2 table."""
    text = context.get("RANK_ID")
    if text is None or not isinstance(context.table, GroupTable) or context.table.has_deploy_mode:
        return
    pods = {process.pod_name for process in context.table.processes}
    if text not in pods:
        names = sorted(pod for pod in pods if pod)
        context.report(
            rules.rank_variables_disagree,
            "RANK_ID",
            "{}, but the pods of the rank table are {}",
            assigned("RANK_ID", text),
            listed(names[:8]) or phrase("not named"),
            help="export RANK_ID with the pod_name of this process as the value",
        )


def _against_device(context: EnvironmentCheck, rank: int) -> None:
    assert context.table is not None
    device = context.whole("ASCEND_DEVICE_ID")
    for process in context.table.processes:
        if process.rank_id == rank and device not in (None, process.device_id):
            context.report(
                rules.rank_variables_disagree,
                "ASCEND_DEVICE_ID",
                "ASCEND_DEVICE_ID is {}, but rank {} has device {} in the rank table, and HCCL "
                "uses the rank table",
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
                rules.job_id_missing,
                name,
                "{}, but JOB_ID is not set; the distributed optimizers and NPUEstimator "
                "need JOB_ID",
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
        rules.old_device_variable,
        "DEVICE_ID",
        "DEVICE_ID is ignored when ASCEND_DEVICE_ID is set, except by weight-update sharding"
        if beaten
        else "DEVICE_ID is the old name of ASCEND_DEVICE_ID",
        help=None if beaten else "export ASCEND_DEVICE_ID with the same value",
    )


_COMMON = ("JOB_ID", "RANK_SIZE", *(name for name in CM_NAMES if name != "CM_WORKER_IP"))


def compare(
    contexts: Mapping[str, EnvironmentCheck], one_server: bool = False, alike: bool = False
) -> None:
    """Check the environments of several processes of one job against each other.

    Args:
        contexts: a name for each process, and its environment; of two that disagree the later
            one has the finding.
        one_server: all run on one server at the same time, each of them a rank.
        alike: nothing but ``RANK_ID`` tells them apart, so that one device for all is no choice.
    """
    owners: Dict[Tuple[str, str, Optional[str]], str] = {}
    chosen = {context.get("ASCEND_DEVICE_ID") for context in contexts.values()}
    one_server = one_server and (alike or len(chosen) > 1)  # else something else tells them apart
    for name, context in contexts.items():
        for variable in _COMMON:
            _check_equal(context, variable, *next(iter(contexts.items())))
        rank, address = context.get("RANK_ID"), context.get("CM_WORKER_IP")
        device = context.get("ASCEND_DEVICE_ID")
        if context.absent("ASCEND_DEVICE_ID"):
            device = "0"
        places: List[Tuple[str, str, Optional[str], Optional[Severity]]] = []
        if rank is not None and rank.isdecimal():  # a text names a pod, which may have several
            places.append(("RANK_ID", rank, None, None))
        if address is not None and device is not None:
            places.append(("ASCEND_DEVICE_ID", device, address, None))
        elif one_server and device is not None and _is_rank(context):
            places.append(("ASCEND_DEVICE_ID", device, "", Severity.WARNING))
        for variable, text, server, severity in places:
            before = owners.setdefault((variable, text, server), name)
            if before != name:
                context.report(
                    rules.job_environments_differ,
                    variable,
                    "{}, the same as in {}; every process needs its own value",
                    assigned(variable, text),
                    before,
                    severity=severity,
                )


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
        "{} is also set in {}, with the same rank table; every process of a job needs its "
        "own value"
        if variable == "RANK_ID"
        else "{} is also set in {}, on the same server; every process of a job needs its own value"
    )
    return rules.job_environments_differ.diagnostic(
        phrase(sentence, assigned(variable, text), before),
        place,
        None,
        "set a different value in each script; if the scripts never run together, set a "
        "different JOB_ID",
        None if apart or variable != "RANK_ID" else Severity.WARNING,
    )


def same_in_all(variable: str, text: str, place: Place, processes: int) -> Diagnostic:
    """What is said of a variable that has one value in all processes that one command starts."""
    return rules.job_environments_differ.diagnostic(
        phrase(
            "{} in all {} processes that this command starts; every process of a job needs "
            "its own value",
            assigned(variable, text),
            processes,
        ),
        place,
        None,
        "take the value from the launcher: SLURM_PROCID or OMPI_COMM_WORLD_RANK",
    )


def _is_rank(context: EnvironmentCheck) -> bool:
    """Whether this is one of several ranks, with a device that nothing else numbers."""
    several = "RANK_ID" in context.environ and (context.whole("RANK_SIZE") or 0) > 1
    other = any(name == "DEVICE_ID" or "VISIBLE" in name for name in context.environ)
    return several and "ASCEND_DEVICE_ID" in context.environ and not other


def _check_equal(
    context: EnvironmentCheck, variable: str, first: str, other: EnvironmentCheck
) -> None:
    mine, theirs = context.get(variable), other.get(variable)
    unknown = [
        one for one in (context, other) if one.get(variable) is None and not one.absent(variable)
    ]
    if mine == theirs or unknown:
        return
    context.report(
        rules.job_environments_differ,
        variable,
        "{}, but {} in {}; all processes of a job need the same value",
        *(
            phrase("{} is not set", variable) if each is None else assigned(variable, each)
            for each in (mine, theirs)
        ),
        first,
    )
