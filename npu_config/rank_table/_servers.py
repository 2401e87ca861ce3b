"""The checks of the dialects whose devices stand in servers: versions 1.0 and 1.2, and template 2.

Template 2 has groups of pods, or of single devices with their ranks.
"""

from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.versions import Product
from npu_config.rank_table._common import (
    ADDRESS_HELP,
    address_rule,
    check_balance,
    check_count,
    check_device_counts,
    check_families,
    check_names,
    check_rank_ids,
    check_shared_devices,
    check_status,
    check_unique,
    port_rule,
    rank_table_count,
    repeated,
    table_rule,
)
from npu_config.rank_table.dialects import (
    EVEN,
    NO_SUPER_DEVICE,
    SOURCES,
    cloud_schema,
    deploy_mode_schema,
    servers_schema,
)
from npu_config.sidefiles.schema.kinds import IpAddresses, Key, NumberText, pieces
from npu_config.sidefiles.schema.reading import (
    NO_COLUMN,
    Column,
    FileFindings,
    ObjectTable,
    Path,
    Reader,
    TableNode,
    dotted,
    shown,
)

_SOURCE = ("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a3.md",)


@declare(
    "NPU658",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=(*_SOURCE, SOURCES["CO"] + ":864-1044"),
)
def rank_table_super_pods() -> None:
    """The super nodes do not match the list of servers.

    Each entry of `super_pod_list` must list servers of `server_list`, and every server must be in
    a super node; otherwise HCCL rejects the table.  If two entries list the same server, the later
    entry is used (a warning).  According to the guides, the servers of one super node must be next
    to each other in `server_list` (otherwise a warning).  An entry with an empty `super_pod_id` is
    skipped without any message.

    Wrong: `server_list` with node_0, node_2, node_1 where node_0 and node_1 are one super node

    Right: `server_list` with node_0, node_1, node_2
    """


@declare(
    "NPU659",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=(*_SOURCE, "cann/hccl:docs/zh/user_guide/fault_diagnosis/cluster_info_verify_fail.md"),
    help="write the SDID that npu-smi info -t spod-info shows for this device",
)
def rank_table_super_device_ids() -> None:
    """A device in a super node has no `super_device_id`, or the same as another device.

    `super_device_id` is the SDID that `npu-smi info -t spod-info` shows.  It must be unique in a
    super node; otherwise HCCL fails with EI0014.  The value 4294967295 means that the device has
    no SDID. Without `super_pod_list` HCCL works server by server and does not use the SDID.

    Wrong: `"super_device_id": "0"` for two devices of one super node

    Right: `"super_device_id": "0"` and `"super_device_id": "1"`
    """


@table_rule("NPU651", Severity.WARNING)
def rank_table_interleaved_ranks() -> None:
    """The rank ids of several servers are interleaved.

    According to the guides, the ranks of a server must form one consecutive block.  HCCL accepts
    ranks that interleave between servers, but does not guarantee to support them.

    Wrong: server 1 has the ranks 0, 1, 2, 7 and server 2 has 3, 4, 5, 6

    Right: server 1 has the ranks 0, 1, 2, 3 and server 2 has 4, 5, 6, 7
    """


@address_rule("NPU607", Severity.ERROR)
def rank_table_address_needed() -> None:
    """A device of a table with several servers has no `device_ip`.

    With a single server, no product needs `device_ip`.  With several servers, atlas_a2 needs an
    address for every device; atlas_training and atlas_300i_duo need the key unless the server has
    `host_ip` (with an empty text the table can be read, which is a warning, but the servers cannot
    connect); atlas_a3 does not need it, because the links of a super node do not use it.  Template
    2 needs the key if a group has more than one instance.

    Wrong, with two servers on atlas_training: `{"device_id": "0", "rank_id": "0"}`

    Right: `{"device_id": "0", "rank_id": "0", "device_ip": "10.20.0.2"}`
    """


@address_rule("NPU608", Severity.ERROR)
def rank_table_address_numbers() -> None:
    """Some devices have more addresses than others.

    `device_ip` may contain several addresses, separated by `,`; then every device of the table
    must have the same number of addresses.  A missing or empty `device_ip` counts as one address.

    Wrong: `"device_ip": "10.20.0.2,10.30.0.2"` for device 0, `"device_ip": "10.20.0.3"` for device
    1

    Right: `"device_ip": "10.20.0.3,10.30.0.3"` for device 1
    """


@address_rule("NPU609", Severity.ERROR, source=(SOURCES["CO"] + ":89-106, 167-174, 198-214",))
def rank_table_host_network() -> None:
    """The host network is used, but a server has no `host_ip`.

    HCCL connects through the network of the hosts if a rank has `"net_position": "host"`, or if
    rank 0 has no `device_ip` and its server has `host_ip`.  Then every server needs `host_ip`.

    Wrong: `"net_position": "host"` for a device of a server without `host_ip`

    Right: `"host_ip": "10.0.0.1"` for that server, and for all others
    """


@port_rule("NPU655", Severity.WARNING, facts=("rank-table-file",))
def rank_table_port() -> None:
    """Two devices of one server use the same host port.

    Every device of one server needs a different `host_port`, because all devices share the
    interface of the host.  A network interface that is the main interface of one device and the
    backup of another one needs two ports: `backup_device_port` must differ from the `device_port`
    that the same interface has as main interface.

    Wrong: `"host_port": "16666"` for two devices of one server

    Right: `"host_port": "16666"` and `"host_port": "16667"`
    """


@port_rule("NPU660", Severity.WARNING, facts=("rank-table-file",))
def rank_table_backup() -> None:
    """The backup address of a device is not a valid backup.

    `backup_device_ip` must be the address of the other die of the same NPU. It must not be an
    address of the device itself or of another server, or the backup of two devices.  It has an
    effect only on atlas_a3 with `HCCL_OP_EXPANSION_MODE="AI_CPU"` and `L2:1` in
    `HCCL_OP_RETRY_ENABLE`; then HCCL rejects a table with a wrong address.  `backup_device_port`
    has no effect without `backup_device_ip`.

    Wrong: `"device_ip": "10.20.0.2", "backup_device_ip": "10.20.0.2"`

    Right: `"device_ip": "10.20.0.2", "backup_device_ip": "10.20.0.3"`
    """


def check_super_pods(table: TableNode, findings: FileFindings) -> Dict[int, int]:
    """Check the super nodes of a table that has them; the super node of each server."""
    servers, pods = table.under("server_list"), table.under("super_pod_list")
    check_names(pods, "super_pod_id", findings)
    pod_of = _assign(servers, pods, findings)
    for index in range(len(servers.level.items)):
        if index not in pod_of:
            findings.report_at(
                rank_table_super_pods,
                servers.level.path(index),
                "{} ({}) is not in any super node of super_pod_list",
                shown(servers.level.items[index].get("server_id")),
                help="add the server to the entry of its super node in super_pod_list",
            )
    _check_adjacent(servers, pod_of, findings)
    _check_devices(table.under("server_list", "device"), pod_of, findings)
    return pod_of


def _assign(servers: TableNode, pods: TableNode, findings: FileFindings) -> Dict[int, int]:
    """The super node of each server; of two that name it the later one."""
    names = servers["server_id"]
    number = dict(zip(names.values, names.owners))
    ids = dict(pods["super_pod_id"].pairs())
    for owner, name in ids.items():
        if name and "server_list" not in pods.level.items[owner]:
            path = pods.level.path(owner)
            message = phrase("{} has no server_list", dotted(path))
            findings.add(
                rank_table_super_pods,
                path,
                message,
                "add server_list with the servers of the super node",
            )
    members = pods.under("server_list")
    owners, listed = members.level.owners(), members["server_id"].values
    known = [number[name] for name in listed if name in number]
    if len(set(known)) == len(owners) and all(ids.values()):
        return dict(zip(known, owners))
    pod_of: Dict[int, int] = {}
    for owner, name in zip(members["server_id"].owners, listed):
        pod, index = owners[owner], number.get(name)
        passed_over = ids.get(pod) == ""
        path = (*members.level.path(owner), "server_id")
        if index is None:
            if not passed_over:
                findings.report_at(
                    rank_table_super_pods,
                    path,
                    "{} is {}, which is not a server_id of server_list",
                    shown(name),
                    help="write the server_id of a server in server_list",
                )
        elif passed_over:
            findings.report_at(
                rank_table_super_pods,
                path,
                "{} is {}, but HCCL skips this super node because its super_pod_id is empty",
                shown(name),
                help="assign an id to the super node",
                severity=Severity.WARNING,
            )
        else:
            if pod_of.setdefault(index, pod) != pod:
                findings.report_at(
                    rank_table_super_pods,
                    path,
                    "{} is {}, which is also in super_pod_list[{}]; the later entry is used",
                    shown(name),
                    pod_of[index],
                    help="remove one of the two entries",
                    severity=Severity.WARNING,
                )
            pod_of[index] = pod
    return pod_of


def _check_adjacent(servers: TableNode, pod_of: Dict[int, int], findings: FileFindings) -> None:
    for index, pod, _ in _apart((index, pod_of[index]) for index in sorted(pod_of)):
        findings.report_at(
            rank_table_super_pods,
            servers.level.path(index),
            "{} ({}) is in super_pod_list[{}], but servers of another super node are listed "
            "between this server and the others of its super node; according to the guides, "
            "the servers of one super node must be next to each other",
            shown(servers.level.items[index].get("server_id")),
            pod,
            help="list all servers of one super node, then all of the next",
            severity=Severity.WARNING,
        )
        return


def _apart(members: Iterable[Tuple[Any, int]]) -> Iterator[Tuple[Any, int, int]]:
    """Each member that stands apart from its group: the group, and that of the member before."""
    current, done = -1, set()
    for member, group in members:
        if group != current and group in done:
            yield member, group, current
        done.add(group)
        current = group


def _check_devices(devices: TableNode, pod_of: Dict[int, int], findings: FileFindings) -> None:
    level, column = devices.level, devices["super_device_id"]
    names = column.over(len(level.items))
    first: Dict[Tuple[int, int], int] = {}
    members: Dict[Optional[int], List[Any]] = {}
    for server, (start, end) in enumerate(level.spans()):
        members.setdefault(pod_of.get(server), []).extend(names[start:end])
    different = [(set(mine), len(mine)) for mine in members.values()]
    if None not in members and all(
        len(mine) == count and not {None, NO_SUPER_DEVICE} & mine for mine, count in different
    ):
        return
    pods = [pod_of.get(server) for server in level.owners()]
    for index, (pod, name) in enumerate(zip(pods, names)):
        item = level.items[index]
        path = level.path(index)
        if name is None and ("super_device_id" in item or not item):
            continue
        if name is None or name == NO_SUPER_DEVICE:
            findings.report_at(
                rank_table_super_device_ids,
                path,
                "{} has no super_device_id, which a table with super_pod_list needs"
                if name is None
                else "{} has no super_device_id (4294967295 means none), which a table with "
                "super_pod_list needs",
            )
        elif pod is not None:
            before = first.setdefault((pod, name), index)
            if before != index:
                path = (*path, "super_device_id")
                findings.report_at(
                    rank_table_super_device_ids,
                    path,
                    "{} is {}, which is also the id of {} in the same super node",
                    shown(item["super_device_id"]),
                    dotted(level.path(before)),
                )


def check_servers(
    document: Dict[str, Any], version: str, products: FrozenSet[Product], reader: Reader
) -> None:
    """Check a document of version 1.0 or 1.2.

    Args:
        document: the whole table.
        version: which of the two.
        products: the products that it may be for.
        reader: reads it, and holds the findings.
    """
    findings = reader.findings
    given = document.get("server_list")
    several = isinstance(given, list) and len(given) > 1
    hosted = isinstance(given, list) and all("host_ip" in s for s in given if type(s) is dict)
    table = reader.read(document, servers_schema(version, products, several or hosted))
    check_status(table["status"].values, findings)
    servers, devices = table.under("server_list"), table.under("server_list", "device")
    check_count(
        table, "server_count", [len(servers.level.items)], "server", findings, "server_list"
    )
    check_names(servers, "server_id", findings)
    given_ranks = devices["rank_id"]
    lists = ("server_list", "device")
    ranks = check_rank_ids(devices.level, given_ranks, findings, document, *lists)
    check_blocks(devices.level, ranks, findings)
    check_device_ips(servers, devices, products, findings)
    ids = devices.level.split(devices["device_id"].over(len(devices.level)))
    check_shared_devices(devices, ids, devices.level.owner, findings)
    check_ports(reader, devices, Product.ATLAS_A3 in products)
    check_device_counts(servers.level.path, ids, products, findings)
    if table.under("super_pod_list").level.items:
        check_balance(check_super_pods(table, findings), findings)


def check_blocks(
    level: ObjectTable, usable: Sequence[Tuple[int, int]], findings: FileFindings
) -> None:
    """Check that the ranks of every server form one block.

    Args:
        level: the devices.
        usable: what :func:`check_rank_ids` returned.
        findings: where faults are noted.
    """
    owners = level.owners() if usable else []
    for (rank, index), _, between in _apart((each, owners[each[1]]) for each in usable):
        findings.report_at(
            rank_table_interleaved_ranks,
            (*level.path(index), "rank_id"),
            "{} is {}, but ranks of server_list[{}] lie between this rank and the lower ranks "
            "of its server; the ranks of one server must be consecutive",
            rank,
            between,
            help="give the devices of each server consecutive rank ids",
        )
        return


def check_device_ips(
    servers: TableNode, devices: TableNode, products: FrozenSet[Product], findings: FileFindings
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
    servers: TableNode, devices: TableNode, products: FrozenSet[Product], findings: FileFindings
) -> None:
    hosts = frozenset(servers["host_ip"].owners)
    known = dict(devices["device_ip"].pairs())
    a2 = products == frozenset((Product.ATLAS_A2,))
    level = devices.level
    if not a2 and not products <= EVEN:
        if len(products) > 1 and not any(known.values()):
            findings.add(
                rank_table_address_needed,
                level.path(0),
                "no device has a device_ip; with several servers every product but atlas_a3 "
                "needs it",
                ADDRESS_HELP,
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
        findings.report_at(
            rank_table_address_needed,
            path,
            '{} has no "device_ip"; {} needs it with several servers'
            if missing
            else '{} has an empty "device_ip"; {} needs it with several servers',
            listed(sorted(product.value for product in products)),
            help=ADDRESS_HELP,
            severity=None if missing or a2 else Severity.WARNING,
        )


def _numbers(devices: TableNode, findings: FileFindings) -> None:
    sizes: List[int] = [1] * len(devices.level.items)
    for owner, address in devices["device_ip"].pairs():
        sizes[owner] = len(pieces(address)) or 1
    usual = max(set(sizes), key=sizes.count)
    for owner, size in enumerate(sizes):
        if size != usual:
            findings.report_at(
                rank_table_address_numbers,
                devices.level.path(owner),
                "{} has {} address, others have {}; every device must have the same number"
                if size == 1
                else "{} has {} addresses, others have {}; every device must have the same number",
                size,
                usual,
                help="list the same number of addresses for every device",
            )


def _host_network(servers: TableNode, devices: TableNode, findings: FileFindings) -> None:
    given = frozenset(servers["host_ip"].owners)
    level = devices.level
    positions = devices["net_position"]
    hosts = [owner for owner, place in positions.pairs() if place == "host"]
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
    findings.report_at(
        rank_table_host_network,
        servers.level.path(lacking[0]),
        "{} has no host_ip; {}, so every server needs it",
        phrase(reason, dotted(level.path(hosts[0]))),
        help='add "host_ip", the address of the host',
    )


def check_ports(reader: Reader, devices: TableNode, backups: bool) -> None:
    """Check the ports of every device.

    Args:
        reader: the reader of the table.
        devices: the devices.
        backups: whether the product has backup interfaces.
    """
    _vnic_ports(reader, devices)
    _host_ports(devices, reader.findings)
    if backups and devices["backup_device_ip"].values:
        _backups(devices, reader.findings)
    if backups and devices["backup_device_port"].values:
        _backup_ports(devices, reader.findings)


def _vnic_ports(reader: Reader, devices: TableNode) -> None:
    key = Key(NumberText(1, 65535))
    column = devices["device_vnic_port"]
    with_port = frozenset(devices["device_port"].owners if column.values else ())
    for owner, value in column.pairs():
        if owner in with_port:
            reader.value((*devices.level.path(owner), "device_vnic_port"), key, key.kind, value)


def _host_ports(devices: TableNode, findings: FileFindings) -> None:
    level, ports = devices.level, devices["host_port"]
    for owner, _, before in repeated((o, (level.owner(o), port)) for o, port in ports.pairs()):
        findings.report_at(
            rank_table_port,
            (*level.path(owner), "host_port"),
            "{} is {}, which is also the port of {}; the devices of one server need different "
            "ports",
            shown(level.items[owner]["host_port"]),
            dotted(level.path(before)),
            help="assign each device of the server its own host_port",
        )


def _texts(column: Column) -> List[Tuple[int, str]]:
    return [(owner, value) for owner, value in column.pairs() if isinstance(value, str)]


def _backups(devices: TableNode, findings: FileFindings) -> None:
    level = devices.level
    home = {piece: owner for owner, text in _texts(devices["device_ip"]) for piece in pieces(text)}
    first: Dict[str, int] = {}
    for owner, text in _texts(devices["backup_device_ip"]):
        path = (*level.path(owner), "backup_device_ip")
        for address in pieces(text):
            other = home.get(address)
            if other == owner:
                problem = "the device's own address"
            elif other is not None and level.owner(other) != level.owner(owner):
                problem = phrase(
                    "the address of {}, a device of another server", dotted(level.path(other))
                )
            elif first.setdefault(address, owner) != owner:
                problem = phrase(
                    "which is already the backup address of {}", dotted(level.path(first[address]))
                )
            else:
                continue
            findings.report_at(
                rank_table_backup,
                path,
                '{} is "{}", {}; it must be the address of the other die of the same NPU',
                address,
                problem,
                help="write the device_ip of the other die",
            )


def _backup_ports(devices: TableNode, findings: FileFindings) -> None:
    level = devices.level
    ports = dict(devices["device_port"].pairs())
    home = {
        piece: owner
        for owner, text in _texts(devices["device_ip"])
        for piece in pieces(text)
        if owner in ports
    }
    backups = dict(_texts(devices["backup_device_ip"]))
    for owner, text in _texts(devices["backup_device_port"]):
        path = (*level.path(owner), "backup_device_port")
        if "backup_device_ip" not in level.items[owner]:
            findings.report_at(
                rank_table_backup,
                path,
                "{} has no effect without backup_device_ip",
                help="add backup_device_ip, or remove it",
                severity=Severity.INFO,
            )
            continue
        others = [home[piece] for piece in pieces(backups.get(owner, "")) if piece in home]
        if any(text == str(ports[other]) for other in others):
            findings.report_at(
                rank_table_port,
                path,
                '{} is "{}", which is also the device_port of {}, whose address is the '
                "backup; the backup needs a different port",
                text,
                dotted(level.path(others[0])),
                help="use another port",
            )


@declare(
    "NPU663",
    Severity.INFO,
    facts=("rank-table-file",),
    source=(
        "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",
        SOURCES["ST"] + ":328-353, 659-663",
    ),
)
def rank_table_template_2() -> None:
    """The rank table uses the old template 2 (`group_list`).

    HCCL reads template 2 only to support existing jobs; for new jobs template 1 (version 1.0) is
    recommended.  Without the key `deploy_mode`, the table contains groups of pods and no
    `rank_id`: ranks are numbered by `server_id` (sorted as text) and then by `device_id`.  A
    process is identified by its device and by `RANK_ID` or `POD_NAME`, which contains a
    `pod_name`.  With the key `deploy_mode`, whatever its value, each instance contains one device
    and its `rank_id`.  Several groups are merged into one.  `npu-config ranktable convert` writes
    version 1.0.

    Wrong: `{"status": "completed", "group_count": "1", "group_list": [...]}`

    Right: `{"status": "completed", "version": "1.0", "server_count": "1", "server_list": [...]}`
    """


_PER_SERVER = (1, 2, 4, 8, 16)


def check_groups(
    document: Dict[str, Any], has_deploy_mode: bool, products: FrozenSet[Product], reader: Reader
) -> None:
    """Check a document of template 2.

    Args:
        document: the whole table.
        has_deploy_mode: whether it has the key ``deploy_mode``.
        products: the products that it may be for.
        reader: reads it, and holds the findings.
    """
    findings = reader.findings
    schema = deploy_mode_schema(products) if has_deploy_mode else cloud_schema()
    table = reader.read(document, schema)
    check_status(table["status"].values, findings)
    groups = table.under("group_list")
    instances = groups.under("instance_list")
    devices = instances.under("devices")
    check_count(table, "group_count", [len(groups.level.items)], "group", findings, "group_list")
    check_names(groups, "group_name", findings)
    sizes, many = devices.level.sizes(), []
    for start, end in instances.level.spans():
        many.append(sum(sizes[start:end]))
    lists = ("instance_list", "devices")
    sizes = instances.level.sizes()
    check_count(groups, "instance_count", sizes, "instance", findings, "instance_list")
    if has_deploy_mode:
        check_count(groups, "device_num", many, "device", findings, *lists)
        ids = instances["rank_id"]
        check_rank_ids(instances.level, ids, findings, document, "group_list", "instance_list")
        addresses = devices["device_ip"]
    else:
        check_count(groups, "device_count", many, "device", findings, *lists)
        check_names(instances, "pod_name", findings)
        addresses = _pod_addresses(reader, instances, devices)
    _check_servers(groups, instances, devices, addresses, products, findings)


def _pod_addresses(reader: Reader, instances: TableNode, devices: TableNode) -> Column:
    """The addresses of pods, which HCCL reads only in a group of several."""
    pods = instances.level
    sizes = pods.sizes()
    read = [sizes[pods.owner(devices.level.owner(i))] > 1 for i in range(len(devices.level))]
    column = devices["device_ip"]
    pairs = [(owner, value) for owner, value in column.pairs() if read[owner]]
    there = {owner for owner, _ in pairs}
    for owner, item in enumerate(devices.level.items):
        if read[owner] and owner not in there and item:
            reader.findings.report_at(
                rank_table_address_needed,
                devices.level.path(owner),
                '{} has no "device_ip", which every device in a group of several pods needs',
                help="write the address of the device",
            )
    if not pairs:
        return NO_COLUMN
    key = Key(IpAddresses(single=True))
    found = Column([owner for owner, _ in pairs], [value for _, value in pairs])
    return reader.plain(devices.level, "device_ip", key, found)


def _check_servers(
    groups: TableNode,
    instances: TableNode,
    devices: TableNode,
    addresses: Column,
    products: FrozenSet[Product],
    findings: FileFindings,
) -> None:
    names = instances["server_id"].over(len(instances.level))
    servers: Dict[Any, List[Any]] = {}
    paths: List[Path] = []
    ids = devices.level.split(devices["device_id"].over(len(devices.level)))
    for index, mine in enumerate(ids):
        if names[index] not in servers:
            paths.append(instances.level.path(index))
        servers.setdefault(names[index], []).extend(mine)
    check_unique(devices.level, "device_ip", addresses, findings)
    check_shared_devices(
        devices, servers.values(), lambda index: names[devices.level.owner(index)], findings
    )
    if len(servers) > 1:
        one = sum(groups["server_num"].values) == 1  # which of the two counts is not known
        doubt = Severity.WARNING if one else None
        check_families(devices.level, "device_ip", addresses, findings, doubt)
        _empty(devices, addresses, findings)
    if None in servers:
        return
    if groups["server_num"].values:
        _check_server_num(groups, servers, products, findings)
    else:
        check_device_counts(paths.__getitem__, list(servers.values()), products, findings)


def _empty(devices: TableNode, addresses: Column, findings: FileFindings) -> None:
    for owner, address in addresses.pairs():
        if not address:
            findings.report_at(
                rank_table_address_needed,
                (*devices.level.path(owner), "device_ip"),
                "{} is empty; the servers cannot connect",
                help="write the address of the device",
                severity=Severity.WARNING,
            )


def _check_server_num(
    groups: TableNode,
    servers: Dict[Any, List[Any]],
    products: FrozenSet[Product],
    findings: FileFindings,
) -> None:
    numbers = groups["device_num"].over(len(groups.level))
    for owner, count in groups["server_num"].pairs():
        path = (*groups.level.path(owner), "server_num")
        number = numbers[owner]
        if not count:
            message = phrase("{} is 0", dotted(path))
        elif number is None or Product.ATLAS_300I_DUO in products:
            continue
        elif number % count or number // count not in _PER_SERVER:
            message = phrase(
                "{} is {} for {} devices; HCCL requires 1, 2, 4, 8 or 16 devices on each server",
                dotted(path),
                count,
                number,
            )
        else:
            continue
        findings.add(rank_table_count, path, message, "write the number of servers")
        return
    stated = sum(groups["server_num"].values)
    if products <= EVEN and stated:
        devices = sum(map(len, servers.values()))
        for name, mine in servers.items():
            if len(mine) * stated != devices:
                findings.add(
                    rank_table_count,
                    (*groups.level.path(0), "server_num"),
                    phrase(
                        'server_num is {} for {} devices, but the server "{}" has {}; every '
                        "server must have the same number",
                        stated,
                        devices,
                        name,
                        len(mine),
                    ),
                    "write the number of servers",
                )
                return
