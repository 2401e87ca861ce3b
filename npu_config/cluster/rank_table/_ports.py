"""Ports, and ranks that share one NPU."""

from typing import Dict, List, Mapping, Sequence, Set, Tuple

from npu_config.cluster.rank_table._fields import Reader
from npu_config.cluster.rank_table._findings import Findings, dotted, shown
from npu_config.cluster.rank_table._levels import NO_COLUMN, Column, Level
from npu_config.cluster.rank_table.values import Address
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare
from npu_config.core.target import Product

_SOURCE = (
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a2.md",
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a3.md",
)

SHARED_DEVICE = declare(
    "NPU654",
    "rank-table-shared-device",
    Severity.ERROR,
    """
    Two ranks of one server have the same `device_id`.

    On atlas_training and atlas_300i_duo every device is one rank.  On atlas_a2 and atlas_a3
    several processes may share one NPU; each should then have a `device_port` of its own
    (or `HCCL_NPU_SOCKET_PORT_RANGE` be set for all cards), otherwise the ports collide and
    the service does not start.  So it is a warning there, and silent when the ports differ.

    Wrong: `{"device_id": "0", "rank_id": "0"}` and `{"device_id": "0", "rank_id": "1"}`

    Right: `{"device_id": "0", "rank_id": "0"}` and `{"device_id": "1", "rank_id": "1"}`
    """,
    facts=("rank-table-file", "hccl-port-single-device-multi-process"),
    source=_SOURCE,
)

PORT = declare(
    "NPU655",
    "rank-table-port",
    Severity.ERROR,
    """
    A port is reserved, or taken by another device.

    Ports 1 to 1023 belong to the system (a warning).  `host_port` differs for every device
    of one server, because they share the host's interface.  A network interface that serves
    one device as its own and another as the backup needs two ports: `backup_device_port`
    differs from the `device_port` that the same interface has as main interface.

    Wrong: `"host_port": "16666"` for two devices of one server

    Right: `"host_port": "16666"` and `"host_port": "16667"`
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)

BACKUP = declare(
    "NPU660",
    "rank-table-backup",
    Severity.ERROR,
    """
    The backup interface of a device cannot be one.

    `backup_device_ip` is the address of the other die of the same NPU: never the device's
    own, never one of another server, and never the backup of two devices.  It takes effect
    only with `HCCL_OP_EXPANSION_MODE="AI_CPU"` and `L2:1` in `HCCL_OP_RETRY_ENABLE`.
    `backup_device_port` without it says nothing (a warning).

    Wrong: `"device_ip": "10.20.0.2", "backup_device_ip": "10.20.0.2"`

    Right: `"device_ip": "10.20.0.2", "backup_device_ip": "10.20.0.3"`
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)

Columns = Mapping[str, Column]


def shared_devices(reader: Reader, devices: Level, device: Columns) -> List[Tuple[int, int]]:
    """Find and judge the ranks of one server that have the same ``device_id``.

    Returns:
        (number of a device, number of the first with the same id) for each such pair.
    """
    column = device.get("device_id", NO_COLUMN)
    ids = column.values
    if len(ids) == len(devices.items):
        patterns = _patterns(ids, devices)
        if all(len(set(pattern)) == len(pattern) for pattern in patterns):
            return []
    first: Dict[Tuple[int, int], int] = {}
    pairs = []
    for index, device_id in zip(column.owners, ids):
        before = first.setdefault((devices.owner(index), device_id), index)
        if before != index:
            pairs.append((index, before))
    _judge_shared(reader, devices, device, pairs)
    return pairs


def _patterns(ids: Sequence[int], devices: Level) -> Set[Tuple[int, ...]]:
    """The different lists of ids that servers have; mostly there is one."""
    spans = devices.spans()
    start, end = next(spans, (0, 0))
    first = list(ids[start:end])
    if first and first * (len(ids) // len(first)) == ids and len(set(devices.sizes())) == 1:
        return {tuple(first)}
    return {tuple(ids[start:end]) for start, end in devices.spans()}


def _judge_shared(
    reader: Reader, devices: Level, device: Columns, pairs: List[Tuple[int, int]]
) -> None:
    alone = reader.overlay.only(Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO)
    column = device.get("device_port", NO_COLUMN)
    ports = dict(zip(column.owners, column.values))
    used: Dict[int, Set[int]] = {}
    for index, before in pairs:
        taken = used.setdefault(before, {ports[before]} if before in ports else set())
        port = ports.get(index)
        if not alone and before in ports and port is not None and port not in taken:
            taken.add(port)
            continue
        path = (*devices.path(index), "device_id")
        reader.findings.add(
            SHARED_DEVICE,
            path,
            "{} is {}, the device of {} too; {}".format(
                dotted(path),
                shown(devices.items[index]["device_id"]),
                dotted(devices.path(before)),
                "every device of a server is one rank"
                if alone
                else "ranks that share one NPU need a device_port of their own each",
            ),
            "give each rank its own device"
            if alone
            else "give each rank its own device, or its own device_port",
            Severity.ERROR if alone else Severity.WARNING,
        )


def check_ports(devices: Level, device: Columns, findings: Findings) -> None:
    """Check ``device_port``, ``host_port`` and the backup interface of every device."""
    for key in ("device_port", "backup_device_port", "host_port"):
        if key in device:
            _reserved(devices, key, device[key], findings)
    if "host_port" in device:
        _host_ports(devices, device["host_port"], findings)
    if "backup_device_ip" in device:
        _backups(devices, device, findings)
    if "backup_device_port" in device:
        _backup_ports(devices, device, findings)


def _reserved(devices: Level, key: str, ports: Column, findings: Findings) -> None:
    if not ports.values or min(ports.values) > 1023:
        return
    owners = [owner for owner, port in zip(ports.owners, ports.values) if port <= 1023]
    path = (*devices.path(owners[0]), key)
    findings.add(
        PORT,
        path,
        "{} is {}{}; the ports 1 to 1023 are reserved".format(
            dotted(path),
            shown(devices.items[owners[0]][key]),
            " (and {:,} more like it)".format(len(owners) - 1) if len(owners) > 1 else "",
        ),
        "take a port from 1024 on",
        Severity.WARNING,
    )


def _host_ports(devices: Level, ports: Column, findings: Findings) -> None:
    first: Dict[Tuple[int, int], int] = {}
    for owner, port in zip(ports.owners, ports.values):
        before = first.setdefault((devices.owner(owner), port), owner)
        if before != owner:
            path = (*devices.path(owner), "host_port")
            findings.add(
                PORT,
                path,
                "{} is {}, the port of {} too; the devices of one server have different "
                "ports".format(
                    dotted(path),
                    shown(devices.items[owner]["host_port"]),
                    dotted(devices.path(before)),
                ),
                "give each device of the server a host_port of its own",
            )


def _backups(devices: Level, device: Columns, findings: Findings) -> None:
    main = device.get("device_ip", NO_COLUMN)
    home = dict(zip(main.values, main.owners))
    own = dict(zip(main.owners, main.values))
    first: Dict[Address, int] = {}
    backups = device["backup_device_ip"]
    for owner, address in zip(backups.owners, backups.values):
        other = home.get(address)
        if own.get(owner) == address:
            problem = "the device's own address"
        elif other is not None and devices.owner(other) != devices.owner(owner):
            problem = "the address of {}, a device of another server".format(
                dotted(devices.path(other))
            )
        elif first.setdefault(address, owner) != owner:
            problem = "the backup of {} already".format(dotted(devices.path(first[address])))
        else:
            continue
        path = (*devices.path(owner), "backup_device_ip")
        findings.add(
            BACKUP,
            path,
            "{} is {}, {}; it is the address of the other die of the same NPU".format(
                dotted(path), shown(devices.items[owner]["backup_device_ip"]), problem
            ),
            "write the device_ip of the other die",
        )


def _backup_ports(devices: Level, device: Columns, findings: Findings) -> None:
    main, ports = device.get("device_ip", NO_COLUMN), device.get("device_port", NO_COLUMN)
    backup = device.get("backup_device_ip", NO_COLUMN)
    port_of = dict(zip(ports.owners, ports.values))
    main_port = {
        address: (owner, port_of[owner])
        for address, owner in zip(main.values, main.owners)
        if owner in port_of
    }
    address_of = dict(zip(backup.owners, backup.values))
    for owner, port in zip(
        device["backup_device_port"].owners, device["backup_device_port"].values
    ):
        path = (*devices.path(owner), "backup_device_port")
        if "backup_device_ip" not in devices.items[owner]:
            findings.add(
                BACKUP,
                path,
                "{} has no effect without backup_device_ip".format(dotted(path)),
                "add backup_device_ip, or remove it",
                Severity.WARNING,
            )
            continue
        other, taken = main_port.get(address_of.get(owner, b""), (owner, -1))
        if port == taken:
            findings.add(
                PORT,
                path,
                "{} is {}, the device_port of {}, whose interface it is; as backup the "
                "interface needs another port".format(
                    dotted(path),
                    shown(devices.items[owner]["backup_device_port"]),
                    dotted(devices.path(other)),
                ),
                "take another port",
            )
