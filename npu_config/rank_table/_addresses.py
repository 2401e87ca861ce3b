"""The addresses of a table: which devices need one, each address once, all of one family."""

from functools import partial
from typing import Dict, FrozenSet, List, Optional

from npu_config.core.diagnostics import Severity
from npu_config.core.message import listed, phrase
from npu_config.core.rule import declare
from npu_config.core.target import Product
from npu_config.rank_table.dialects import EVEN, SOURCES
from npu_config.sidefiles.schema.addresses import pieces
from npu_config.sidefiles.schema.findings import Findings, dotted
from npu_config.sidefiles.schema.levels import Column, Level, Node

_SOURCE = (
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",
    "cann/hccl:docs/zh/user_guide/fault_diagnosis/cluster_info_verify_fail.md",
    SOURCES["CO"] + ":488-570",
)

_rule = partial(declare, facts=("rank-table-device-ip",), source=_SOURCE)


@_rule(
    "NPU652",
    Severity.ERROR,
    facts=("rank-table-file", "rank-table-device-ip"),
    source=(*_SOURCE, "docs/en/tfadapter_1/migration/faq/hccl_init_ret_-17_error.md"),
)
def rank_table_duplicate_address() -> None:
    """Two devices have the same IP address.

    Every device has a network interface of its own, so `device_ip` is unique in the whole
    table; a copy of a line that was not adapted is the usual cause.  HCCL compares the address
    with that of the interface and ends with `ra rdev init failed, ret[-17]` on the device
    whose address it is not.  The texts are compared: `fd00::9` and `FD00::9` are two.

    Wrong: `"device_ip": "10.20.0.2"` for device 0 and for device 1

    Right: `"device_ip": "10.20.0.2"` for device 0, `"device_ip": "10.20.0.3"` for device 1
    """


@_rule("NPU653", Severity.ERROR, facts=("rank-table-file",))
def rank_table_address_family() -> None:
    """Some addresses are IPv4 and some are IPv6.

    With several servers all `device_ip` are of one version of IP, and so are all `host_ip`;
    HCCL ends with `device ip family is not same as others`.  One server may mix them.  In a table
    with `deploy_mode` whose `server_num` is 1 but which names several servers it is not known
    which of the two counts (a warning).

    Wrong: `"device_ip": "10.20.0.2"` for device 0, `"device_ip": "fd00::3"` for device 1

    Right: `"device_ip": "fd00::2"` for device 0, `"device_ip": "fd00::3"` for device 1
    """


@_rule("NPU607", Severity.ERROR)
def rank_table_address_needed() -> None:
    """A device of a table with several servers has no `device_ip`.

    On one server no product needs it.  With several servers atlas_a2 needs an address for every
    device; atlas_training and atlas_300i_duo need the key unless the server has `host_ip` (an
    empty text passes when the table is read, a warning, and fails when the servers connect);
    atlas_a3 needs none, because the links of a super node do not use it.  Template 2 needs the
    key as soon as a group has more than one instance.

    Wrong, with two servers on atlas_training: `{"device_id": "0", "rank_id": "0"}`

    Right: `{"device_id": "0", "rank_id": "0", "device_ip": "10.20.0.2"}`
    """


@_rule("NPU608", Severity.ERROR)
def rank_table_address_numbers() -> None:
    """Some devices have more addresses than others.

    `device_ip` may be several addresses joined by `,`; then every device of the table has the
    same number of them.  A missing or empty `device_ip` counts as one.

    Wrong: `"device_ip": "10.20.0.2,10.30.0.2"` for device 0, `"device_ip": "10.20.0.3"` for 1

    Right: `"device_ip": "10.20.0.3,10.30.0.3"` for device 1
    """


@_rule("NPU609", Severity.ERROR, source=(SOURCES["CO"] + ":89-106, 167-174, 198-214",))
def rank_table_host_network() -> None:
    """The host network is used, and a server has no `host_ip`.

    HCCL connects through the hosts when a rank has `"net_position": "host"`, or when rank 0 has
    no `device_ip` and its server has `host_ip`.  Then every server needs `host_ip`.

    Wrong: `"net_position": "host"` for a device of a server without `host_ip`

    Right: `"host_ip": "10.0.0.1"` for that server, and for all others
    """


_HELP = "write the address_N of /etc/hccn.conf on that server, or ask hccn_tool -i N -ip -g"


def check_device_ips(
    servers: Node, devices: Node, products: FrozenSet[Product], findings: Findings
) -> None:
    """Check ``device_ip`` and ``host_ip`` of a table of servers."""
    several = len(servers.level.items) > 1
    column = devices["device_ip"]
    different = set(column.values)
    text = "" if column.at_once else "".join(column.values)
    if several:
        if len(column.values) != len(devices.level.items) or "" in different:
            _needed(servers, devices, products, findings)
        check_families(servers.level, "host_ip", servers["host_ip"], findings)
        if ":" in text and "." in text:
            check_families(devices.level, "device_ip", column, findings)
    lists = "," in text
    if lists:
        _numbers(devices, findings)
    if lists or len(different) != len(column.values):
        check_unique(devices.level, "device_ip", column, findings)
    _host_network(servers, devices, findings)


def _needed(
    servers: Node, devices: Node, products: FrozenSet[Product], findings: Findings
) -> None:
    hosts = frozenset(servers["host_ip"].owners)
    known = dict(zip(devices["device_ip"].owners, devices["device_ip"].values))
    a2 = products == frozenset((Product.ATLAS_A2,))
    level = devices.level
    if not a2 and not products <= EVEN:
        if len(products) > 1 and not any(known.values()):
            findings.add(
                rank_table_address_needed,
                level.path(0),
                "no device has a device_ip; with several servers every product but atlas_a3 "
                "needs it",
                _HELP,
                Severity.INFO,
            )
        return
    for owner, item in enumerate(level.items):
        address = known.get(owner)
        if address or not item or (not a2 and level.owner(owner) in hosts):
            continue
        path = level.path(owner)
        missing = address is None
        if missing and isinstance(item.get("device_ip"), str):
            continue  # it is wrong, and reported as such
        findings.wrong_at(
            rank_table_address_needed,
            path,
            '{} has no "device_ip"; {} needs it with several servers'
            if missing
            else '{} has an empty "device_ip"; {} needs it with several servers',
            listed(sorted(product.value for product in products)),
            help=_HELP,
            severity=None if missing or a2 else Severity.WARNING,
        )


def check_families(
    level: Level,
    key: str,
    column: Column,
    findings: Findings,
    severity: Optional[Severity] = None,
) -> None:
    """Check that all addresses are of one family."""
    if len({":" in address for address in column.values if address}) < 2:
        return
    families = [address.count(":") > 1 for address in column.values]
    six = 2 * sum(families) < len(families)
    owner = column.owners[families.index(six)]
    path = (*level.path(owner), key)
    names = ("IPv6", "IPv4") if six else ("IPv4", "IPv6")
    findings.wrong_at(
        rank_table_address_family,
        path,
        '{} is "{}" ({}), but {:,} of {:,} are {}; with several servers all are of one family',
        level.items[owner][key],
        names[0],
        len(families) - families.count(six),
        len(families),
        names[1],
        help="give all of them addresses of one family",
        severity=severity,
    )


def check_unique(level: Level, key: str, column: Column, findings: Findings) -> None:
    """Check that no address is there twice; some are several, joined by ``,``."""
    first: Dict[str, int] = {}
    for owner, address in zip(column.owners, column.values):
        for piece in pieces(address):
            before = first.setdefault(piece, owner)
            if before != owner or pieces(address).count(piece) > 1:
                findings.wrong_at(
                    rank_table_duplicate_address,
                    (*level.path(owner), key),
                    '{} is "{}", the address of {}; every device has one of its own',
                    piece,
                    dotted(level.path(before)),
                    help=_HELP,
                )
                break


def _numbers(devices: Node, findings: Findings) -> None:
    sizes: List[int] = [1] * len(devices.level.items)
    for owner, address in zip(devices["device_ip"].owners, devices["device_ip"].values):
        sizes[owner] = len(pieces(address)) or 1
    usual = max(set(sizes), key=sizes.count)
    for owner, size in enumerate(sizes):
        if size != usual:
            findings.wrong_at(
                rank_table_address_numbers,
                devices.level.path(owner),
                "{} has {} address, others have {}; every device has the same number"
                if size == 1
                else "{} has {} addresses, others have {}; every device has the same number",
                size,
                usual,
                help="give every device the same number of addresses",
            )


def _host_network(servers: Node, devices: Node, findings: Findings) -> None:
    given = frozenset(servers["host_ip"].owners)
    level = devices.level
    positions = devices["net_position"]
    hosts = [owner for owner, place in zip(positions.owners, positions.values) if place == "host"]
    reason = '{} has "net_position": "host"'
    if not hosts:
        ranks = devices["rank_id"]
        if 0 not in ranks.values:
            return
        hosts = [ranks.owners[ranks.values.index(0)]]
        if level.owner(hosts[0]) not in given:
            return
        if level.items[hosts[0]].get("device_ip"):
            return
        reason = "{} is rank 0 and has host_ip, but no device_ip"
    lacking = [server for server in range(len(servers.level)) if server not in given]
    if not lacking or any("host_ip" in servers.level.items[server] for server in lacking):
        return
    findings.wrong_at(
        rank_table_host_network,
        servers.level.path(lacking[0]),
        "{} has no host_ip; {}, so every server needs it",
        phrase(reason, dotted(level.path(hosts[0]))),
        help='add "host_ip", the address of the host',
    )
