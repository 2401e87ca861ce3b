"""The IP addresses of a table: each once, all of one family."""

from typing import Dict, Iterable, Tuple

from npu_config.cluster.rank_table._findings import Findings, dotted
from npu_config.cluster.rank_table._levels import Column, Level
from npu_config.cluster.rank_table.values import Address
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_SOURCE = (
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",
    "cann/hccl:docs/zh/user_guide/fault_diagnosis/cluster_info_verify_fail.md",
)

DUPLICATE_ADDRESS = declare(
    "NPU652",
    "rank-table-duplicate-address",
    Severity.ERROR,
    """
    Two devices have the same IP address.

    Every device has a network interface of its own, so `device_ip` is unique in the whole
    table; a copy of a line that was not adapted is the usual cause.  HCCL compares the address
    with that of the interface and ends with `ra rdev init failed, ret[-17]` on the device
    whose address it is not.  Ranks that share one NPU on purpose (same server, same
    `device_id`) share its address too, and differ in `device_port`.

    Wrong: `"device_ip": "10.20.0.2"` for device 0 and for device 1

    Right: `"device_ip": "10.20.0.2"` for device 0, `"device_ip": "10.20.0.3"` for device 1
    """,
    facts=("rank-table-file", "rank-table-device-ip"),
    source=(*_SOURCE, "docs/en/tfadapter_1/migration/faq/hccl_init_ret_-17_error.md"),
)

ADDRESS_FAMILY = declare(
    "NPU653",
    "rank-table-address-family",
    Severity.ERROR,
    """
    Some addresses are IPv4 and some are IPv6.

    All ranks of a job use one version of IP; HCCL ends with `device ip family is not same as
    others`.

    Wrong: `"device_ip": "10.20.0.2"` for device 0, `"device_ip": "fd00::3"` for device 1

    Right: `"device_ip": "fd00::2"` for device 0, `"device_ip": "fd00::3"` for device 1
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)


def check_addresses(
    level: Level,
    key: str,
    addresses: Column,
    findings: Findings,
    same_device: Iterable[Tuple[int, int]] = (),
) -> None:
    """Check that addresses are unique and of one family.

    Args:
        level: the objects that hold ``key``.
        key: ``device_ip`` or ``backup_device_ip``.
        addresses: the addresses in canonical form.
        findings: where faults are noted.
        same_device: pairs of objects that are one device and may share an address.
    """
    distinct = set(addresses.values)
    if len(distinct) != len(addresses.values):
        _duplicates(level, key, addresses, findings, dict(same_device))
    told_apart = not isinstance(addresses.owners, range)
    if told_apart and len(set(map(type, distinct))) > 1:
        _families(level, key, addresses, findings)


def _duplicates(
    level: Level, key: str, addresses: Column, findings: Findings, same: Dict[int, int]
) -> None:
    first: Dict[Address, int] = {}
    for owner, address in zip(addresses.owners, addresses.values):
        before = first.setdefault(address, owner)
        if before == owner or same.get(owner) == before:
            continue
        path = (*level.path(owner), key)
        findings.add(
            DUPLICATE_ADDRESS,
            path,
            '{} is "{}", the address of {}; every device has one of its own'.format(
                dotted(path), level.items[owner][key], dotted(level.path(before))
            ),
            "write the address_N of /etc/hccn.conf on that server, or ask hccn_tool -i N -ip -g",
        )


def _families(level: Level, key: str, addresses: Column, findings: Findings) -> None:
    types = list(map(type, addresses.values))
    minority, majority = sorted((str, bytes), key=types.count)
    owner = addresses.owners[types.index(minority)]
    names = {str: "IPv4", bytes: "IPv6"}
    path = (*level.path(owner), key)
    findings.add(
        ADDRESS_FAMILY,
        path,
        '{} is "{}" ({}), but {:,} of {:,} addresses are {}; all ranks use one version of '
        "IP".format(
            dotted(path),
            level.items[owner][key],
            names[minority],
            types.count(majority),
            len(types),
            names[majority],
        ),
        "give all devices addresses of one version",
    )
