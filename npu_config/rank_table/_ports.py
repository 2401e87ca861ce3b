"""Devices and ports that ranks share, and backup interfaces."""

from functools import partial
from typing import Any, Callable, Dict, Iterable, List, Sequence, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.sidefiles.schema.addresses import pieces
from npu_config.sidefiles.schema.findings import Findings, dotted, shown
from npu_config.sidefiles.schema.kinds import Key
from npu_config.sidefiles.schema.levels import Column, Node
from npu_config.sidefiles.schema.numbers import NumberText
from npu_config.sidefiles.schema.reading import Reader

_SOURCE = (
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a2.md",
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a3.md",
)

_rule = partial(declare, source=_SOURCE)


@_rule(
    "NPU654", Severity.WARNING, facts=("rank-table-file", "hccl-port-single-device-multi-process")
)
def rank_table_shared_device() -> None:
    """Two ranks of one server have the same `device_id`.

    HCCL does not compare the ids when it reads the table.  On atlas_training and
    atlas_300i_duo every device is one rank, and creating a further group fails.  On atlas_a2 and
    atlas_a3 several processes may share one NPU; each should then have a `device_port` of its
    own (or `HCCL_NPU_SOCKET_PORT_RANGE` be set for all cards), otherwise the ports collide and
    the service does not start.  It is silent when the ports differ.

    Wrong: `{"device_id": "0", "rank_id": "0"}` and `{"device_id": "0", "rank_id": "1"}`

    Right: `{"device_id": "0", "rank_id": "0"}` and `{"device_id": "1", "rank_id": "1"}`
    """


@_rule("NPU655", Severity.WARNING, facts=("rank-table-file",))
def rank_table_port() -> None:
    """A port of the host is taken by another device of the same server.

    `host_port` differs for every device of one server, because they share the host's interface.
    A network interface that serves one device as its own and another as the backup needs two
    ports: `backup_device_port` differs from the `device_port` that the same interface has as
    main interface.

    Wrong: `"host_port": "16666"` for two devices of one server

    Right: `"host_port": "16666"` and `"host_port": "16667"`
    """


@_rule("NPU660", Severity.WARNING, facts=("rank-table-file",))
def rank_table_backup() -> None:
    """The backup interface of a device cannot be one.

    `backup_device_ip` is the address of the other die of the same NPU: never the device's
    own, never one of another server, and never the backup of two devices.  It takes effect
    only on atlas_a3 with `HCCL_OP_EXPANSION_MODE="AI_CPU"` and `L2:1` in
    `HCCL_OP_RETRY_ENABLE`; then HCCL refuses the table.  `backup_device_port` without it has no
    effect.

    Wrong: `"device_ip": "10.20.0.2", "backup_device_ip": "10.20.0.2"`

    Right: `"device_ip": "10.20.0.2", "backup_device_ip": "10.20.0.3"`
    """


def check_shared_devices(
    devices: Node,
    servers: Iterable[Sequence[Any]],
    server_of: Callable[[int], Any],
    findings: Findings,
) -> None:
    """Report ranks of one server that have the same ``device_id`` and no ports of their own.

    Args:
        devices: the devices.
        servers: the device ids of each server.
        server_of: what server the device with a number is in.
        findings: where faults are noted.
    """
    if all(len(set(mine)) == len(mine) for mine in set(map(tuple, servers))):
        return
    column = devices["device_id"]
    places = [(server_of(owner), value) for owner, value in zip(column.owners, column.values)]
    ports = dict(zip(devices["device_port"].owners, devices["device_port"].values))
    first: Dict[Tuple[Any, int], int] = {}
    used: Dict[int, Set[int]] = {}
    for index, place in zip(column.owners, places):
        before = first.setdefault(place, index)
        if before == index:
            continue
        taken = used.setdefault(before, {ports[before]} if before in ports else set())
        port = ports.get(index)
        if before in ports and port is not None and port not in taken:
            taken.add(port)
            continue
        findings.wrong_at(
            rank_table_shared_device,
            (*devices.level.path(index), "device_id"),
            "{} is {}, the device of {} too; ranks that share one NPU need a device_port of "
            "their own each",
            shown(devices.level.items[index]["device_id"]),
            dotted(devices.level.path(before)),
            help="give each rank its own device, or its own device_port",
        )


def check_ports(reader: Reader, devices: Node, backups: bool) -> None:
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


def _vnic_ports(reader: Reader, devices: Node) -> None:
    key = Key(NumberText(1, 65535))
    column = devices["device_vnic_port"]
    with_port = frozenset(devices["device_port"].owners if column.values else ())
    for owner, value in zip(column.owners, column.values):
        if owner in with_port:
            reader.value((*devices.level.path(owner), "device_vnic_port"), key, key.kind, value)


def _host_ports(devices: Node, findings: Findings) -> None:
    level, ports = devices.level, devices["host_port"]
    first: Dict[Tuple[int, int], int] = {}
    for owner, port in zip(ports.owners, ports.values):
        before = first.setdefault((level.owner(owner), port), owner)
        if before != owner:
            findings.wrong_at(
                rank_table_port,
                (*level.path(owner), "host_port"),
                "{} is {}, the port of {} too; the devices of one server have different ports",
                shown(level.items[owner]["host_port"]),
                dotted(level.path(before)),
                help="give each device of the server a host_port of its own",
            )


def _texts(column: Column) -> List[Tuple[int, str]]:
    pairs = zip(column.owners, column.values)
    return [(owner, value) for owner, value in pairs if isinstance(value, str)]


def _backups(devices: Node, findings: Findings) -> None:
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
                problem = phrase("the backup of {} already", dotted(level.path(first[address])))
            else:
                continue
            findings.wrong_at(
                rank_table_backup,
                path,
                '{} is "{}", {}; it is the address of the other die of the same NPU',
                address,
                problem,
                help="write the device_ip of the other die",
            )


def _backup_ports(devices: Node, findings: Findings) -> None:
    level = devices.level
    ports = dict(zip(devices["device_port"].owners, devices["device_port"].values))
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
            findings.wrong_at(
                rank_table_backup,
                path,
                "{} has no effect without backup_device_ip",
                help="add backup_device_ip, or remove it",
                severity=Severity.INFO,
            )
            continue
        others = [home[piece] for piece in pieces(backups.get(owner, "")) if piece in home]
        if any(text == str(ports[other]) for other in others):
            findings.wrong_at(
                rank_table_port,
                path,
                '{} is "{}", the device_port of {}, whose interface it is; as backup the '
                "interface needs another port",
                text,
                dotted(level.path(others[0])),
                help="take another port",
            )
