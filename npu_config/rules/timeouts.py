"""601-606: timeouts and devices."""

from __future__ import annotations

import re
from typing import Optional, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.core.diagnostics import Severity, rule
from npu_config.core.message import phrase
from npu_config.core.versions import Product
from npu_config.rules.case import Case, given, writing

_EXCEPTION = "docs/en/tfadapter_1/apiref/session_config/exception_remedy.md"

ROUNDING_PRODUCTS = frozenset((Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO))
UNLIMITED_PRODUCTS = frozenset((Product.ASCEND_950, Product.ATLAS_A3, Product.ATLAS_A2))
HCCL_UNIT = 68
HCCL_DEFAULT: int = OPTIONS["hccl_timeout"].default


@rule(
    "NPU601",
    Severity.WARNING,
    options=("hccl_timeout",),
    products=ROUNDING_PRODUCTS,
    facts=("hccl-timeout-68",),
    source=(_EXCEPTION,),
)
def collective_timeout_rounded(case: Case) -> None:
    """``hccl_timeout`` is not a multiple of 68 on a product that rounds it.

    atlas_training and atlas_300i_duo round the value down to a multiple of 68, at least 68: 600
    becomes 544.

    Wrong:

        target: {product: atlas_training}
        hccl_timeout: 600

    Right:

        target: {product: atlas_training}
        hccl_timeout: 612
    """
    seconds = case.get("hccl_timeout")
    if seconds and seconds % HCCL_UNIT:
        above = -(-seconds // HCCL_UNIT) * HCCL_UNIT
        case.report(
            "hccl_timeout",
            '"hccl_timeout" is {} s, but only {} s take effect (a multiple of {})',
            seconds,
            rounded(seconds),
            HCCL_UNIT,
            help=phrase("write {}", above),
            fix=writing(case, case.entries["hccl_timeout"], above),
        )


def rounded(seconds: int) -> int:
    """The seconds that take effect on a product that rounds them."""
    return max(seconds // HCCL_UNIT * HCCL_UNIT, HCCL_UNIT)


@rule(
    "NPU602",
    Severity.INFO,
    options=("hccl_timeout",),
    products=UNLIMITED_PRODUCTS,
    facts=("hccl-timeout-never",),
    source=(_EXCEPTION,),
)
def collective_timeout_off(case: Case) -> None:
    """``hccl_timeout`` is 0: a collective operation waits without limit.

    If one process dies, the other processes hang.

    Wrong:

        target: {product: atlas_a2}
        hccl_timeout: 0

    Right:

        target: {product: atlas_a2}
        hccl_timeout: 1836
    """
    if case.get("hccl_timeout") == 0:
        case.report(
            "hccl_timeout", '"hccl_timeout" is 0: collective operations wait without limit'
        )


@rule(
    "NPU603",
    Severity.ERROR,
    options=("stream_sync_timeout",),
    also=("hccl_timeout",),
    facts=("stream-sync-gt-hccl",),
    source=(_EXCEPTION,),
)
def stream_timeout_below_collective_timeout(case: Case) -> None:
    """``stream_sync_timeout`` is not longer than the timeout of collective operations.

    In a cluster ``stream_sync_timeout`` must be longer than the timeout of collective operations
    (``hccl_timeout``, else HCCL_EXEC_TIMEOUT, else 1836 s); otherwise the synchronisation fails
    first.  Note the units: milliseconds and seconds.  If it is not known whether the job runs on
    several devices, this is a warning.

    Wrong:

        # environment: RANK_SIZE=8
        stream_sync_timeout: 60000
        hccl_timeout: 1800

    Right:

        # environment: RANK_SIZE=8
        stream_sync_timeout: 1900000
        hccl_timeout: 1800
    """
    limit = case.get("stream_sync_timeout")
    if limit is None or limit < 1:
        return
    cluster = device_count(case) > 1
    collective = _collective_timeout(case, cluster)
    if collective is None or (collective[0] and limit > 1000 * collective[0]):
        return
    seconds, origin = collective
    case.report(
        "stream_sync_timeout",
        '"stream_sync_timeout" is {} ms, {}; in a cluster the first timeout must be longer',
        limit,
        phrase("but {} is {} s", origin, seconds)
        if seconds
        else phrase("but {} has no limit", origin),
        help=phrase("set the timeout to more than {}, or to -1", 1000 * seconds)
        if seconds
        else "set the timeout to -1",
        severity=None if cluster else Severity.WARNING,
    )


def _collective_timeout(case: Case, cluster: bool) -> Optional[Tuple[int, str]]:
    if case.isset("hccl_timeout"):
        seconds, origin = case.get("hccl_timeout"), '"hccl_timeout"'
        if seconds is None:
            return None
    elif not cluster or not case.absent("hccl_timeout"):
        return None
    else:
        text = case.variable("HCCL_EXEC_TIMEOUT") or ""
        known = re.match(r"[0-9]{1,10}\Z", text) is not None
        seconds = int(text) if known else HCCL_DEFAULT
        origin = "HCCL_EXEC_TIMEOUT" if known else "the default timeout of collective operations"
    if seconds and case.only_on(ROUNDING_PRODUCTS):
        seconds = rounded(seconds)
    return seconds, origin


def device_count(case: Case) -> int:
    """The number of devices that the environment names for the job, 0 when it names none."""
    for name in ("RANK_SIZE", "CM_WORKER_SIZE"):
        text = case.variable(name) or ""
        if re.match(r"[0-9]{1,6}\Z", text):
            return int(text)
    return 0


@rule(
    "NPU604",
    Severity.INFO,
    options=("stream_sync_timeout", "event_sync_timeout"),
    facts=("sync-timeout-disabled",),
    source=(_EXCEPTION,),
)
def synchronisation_without_limit(case: Case) -> None:
    """A synchronisation timeout is -1: there is no time limit, and a hang is not reported.

    -1 is the default; it is reported only if the configuration sets it.

    Wrong, where a hang must be noticed:

        stream_sync_timeout: -1

    Right:

        stream_sync_timeout: 1900000
    """
    if case.is_ours:
        for name in ("stream_sync_timeout", "event_sync_timeout"):
            if case.get(name) == -1:
                case.report(
                    name, '"{}" is -1: there is no time limit, and a hang is not reported', name
                )


_NO_LIMIT = ("graph_exec_timeout", "stream_sync_timeout", "event_sync_timeout")
_TIMEOUTS = ("op_wait_timeout", "op_execute_timeout", *_NO_LIMIT)


@rule(
    "NPU605",
    Severity.WARNING,
    options=_TIMEOUTS,
    facts=("sync-timeout-range",),
    source=(_EXCEPTION,),
)
def timeout_without_meaning(case: Case) -> None:
    """A timeout is 0 or negative (some timeouts accept -1: no limit).

    Such a value has no documented meaning, and nothing checks the value.

    Wrong:

        op_execute_timeout: 0

    Right:

        op_execute_timeout: 90
    """
    known = case.known
    for name in case.touched:
        value = known.get(name, 1)
        if value < 1 and not (value == -1 and name in _NO_LIMIT):
            case.report(
                name,
                (
                    '"{}" is {}, which has no documented meaning; legal: 1 or more, or -1 for no '
                    "limit"
                )
                if name in _NO_LIMIT
                else '"{}" is {}, which has no documented meaning; legal: 1 or more',
                name,
                value,
                help="set a number above 0, or remove the option",
            )


@rule(
    "NPU606",
    Severity.WARNING,
    options=("local_rank_id", "local_device_list"),
    facts=("local-rank-pair",),
    source=("docs/en/tfadapter_1/apiref/session_config/data_augmentation.md",),
)
def half_of_data_distribution(case: Case) -> None:
    """One of ``local_rank_id`` and ``local_device_list`` is set without the other.

    Together the two options let one process feed several devices; one without the other has no
    defined effect.

    Wrong:

        local_rank_id: 0

    Right:

        local_rank_id: 0
        local_device_list: "0,1,2,3"
    """
    for name, other in (
        ("local_rank_id", "local_device_list"),
        ("local_device_list", "local_rank_id"),
    ):
        if given(case, name) and case.absent(other):
            case.report(
                name,
                '"{}" is set without "{}"; one without the other has no defined effect',
                name,
                other,
                help=phrase('set "{}" too', other),
            )
