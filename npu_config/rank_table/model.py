"""Rank tables as typed, frozen values: what every dialect of them says, and how it is written.

:class:`RankTable` is the form of versions 1.0 and 1.2 (servers that hold devices),
:class:`RankTable2` that of version 2.0 (ranks with their network levels); template 2 is in
:mod:`npu_config.rank_table.group_model`.  The values hold numbers as numbers; how each
dialect spells them is written beside each class.  ``origin`` is the JSON object that a value
was read from; see :mod:`npu_config.sidefiles.schema.records`.
"""

from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

import attr

from npu_config.core.message import phrase
from npu_config.rank_table.dialects import V2_0, dialect_of
from npu_config.rank_table.group_model import GroupTable
from npu_config.rank_table.process import Process
from npu_config.sidefiles.schema.records import (
    Field,
    count,
    derived,
    dump,
    load,
    number,
    number_text,
    object_,
    objects,
    origin,
    plain,
    record,
    texts,
)


@record(
    number_text("device_id"),
    plain("super_device_id"),
    plain("device_ip"),
    number_text("device_port"),
    plain("backup_device_ip"),
    number_text("backup_device_port"),
    number_text("host_port"),
    number_text("rank_id"),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Device:
    """One device of a server; it is one rank.

    Args:
        device_id: physical id, the number in ``/dev/davinci*``.
        rank_id: its rank in the job, from 0.
        device_ip: address of its network interface, ``address_N`` of ``/etc/hccn.conf``, or
            several joined by ``,``.
        device_port: port of that interface, 1 to 65535.
        super_device_id: SDID of ``npu-smi info -t spod-info`` (version 1.2).
        backup_device_ip: address of the other die of the same NPU (atlas_a3).
        backup_device_port: port on that interface (atlas_a3).
        host_port: port of the host's interface.
    """

    device_id: int
    rank_id: int
    device_ip: Optional[str] = None
    device_port: Optional[int] = None
    super_device_id: Optional[str] = None
    backup_device_ip: Optional[str] = None
    backup_device_port: Optional[int] = None
    host_port: Optional[int] = None
    origin: Mapping[str, Any] = origin()


@record(plain("server_id"), plain("host_ip"), objects("device", "devices", Device))
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Server:
    """One server of the job.

    Args:
        server_id: unique name, at most 64 bytes; often its IP address.
        devices: its devices, in the order of the table.
        host_ip: address of the host.
    """

    server_id: str
    devices: Tuple[Device, ...]
    host_ip: Optional[str] = None
    origin: Mapping[str, Any] = origin()


@record(
    plain("super_pod_id"),
    Field(
        "server_list",
        "server_ids",
        lambda members: tuple(member["server_id"] for member in members),
        lambda names: [{"server_id": name} for name in names],
    ),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class SuperPod:
    """One super node of a version 1.2 table and the servers that it holds."""

    super_pod_id: str
    server_ids: Tuple[str, ...]
    origin: Mapping[str, Any] = origin()


def _super_pods(value: Any) -> Tuple[SuperPod, ...]:
    """The super nodes; none where the key is not read and holds something else."""
    try:
        return tuple(load(SuperPod, entry) for entry in value)
    except (KeyError, TypeError):
        return ()


@record(
    plain("status"),
    plain("version"),
    count("server_count", lambda table: len(table.servers)),
    objects("server_list", "servers", Server),
    Field("super_pod_list", "super_pods", _super_pods, lambda pods: list(map(dump, pods)), True),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankTable:
    """A rank table of version 1.0 or 1.2.

    Args:
        servers: the servers; those of one super node are next to each other.
        version: ``"1.0"``, or ``"1.2"`` for super nodes (atlas_a3).
        status: ``"completed"``.
        super_pods: the super nodes (version 1.2); empty in server mode.
    """

    servers: Tuple[Server, ...]
    version: str = "1.0"
    status: str = "completed"
    super_pods: Tuple[SuperPod, ...] = ()
    origin: Mapping[str, Any] = origin()

    @property
    def rank_size(self) -> int:
        """Number of devices, the ``RANK_SIZE`` of the job."""
        return sum(len(server.devices) for server in self.servers)

    @property
    def processes(self) -> Iterator[Process]:
        """The processes of the job in the order of the table."""
        for server in self.servers:
            for device in server.devices:
                yield Process(device.rank_id, device.device_id, server.server_id)


@record(
    plain("addr_type"),
    plain("addr"),
    texts("ports"),
    plain("plane_id"),
    texts("backup_addr", optional=True),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Address:
    """One network address of a rank on one level.

    Args:
        addr_type: ``"EID"``, ``"IPV4"`` or ``"IPV6"``.
        addr: the address; an EID has 32 hexadecimal digits.
        ports: ``"<die>/<port>"`` each, or ``"d2h"`` for a host interface; 1 to 16.
        plane_id: network plane; None: plane 0.
        backup_addr: addresses of the same type, at most 16.
    """

    addr_type: str
    addr: str
    ports: Tuple[str, ...]
    plane_id: Optional[str] = None
    backup_addr: Tuple[str, ...] = ()
    origin: Mapping[str, Any] = origin()


@record(
    number("net_layer"),
    plain("net_instance_id"),
    plain("net_type"),
    plain("net_attr"),
    objects("rank_addr_list", "addresses", Address),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Level:
    """One network level of a rank.

    Args:
        net_layer: 0 to 7.
        net_instance_id: which network of that layer, at most 1024 bytes.
        net_type: ``"TOPO_FILE_DESC"`` or ``"CLOS"``; None: CLOS.
        addresses: at most 24.
        net_attr: reserved text.
    """

    net_layer: int
    net_instance_id: str
    net_type: Optional[str] = None
    addresses: Tuple[Address, ...] = ()
    net_attr: Optional[str] = None
    origin: Mapping[str, Any] = origin()


@record(plain("addr_type"), plain("addr"), number("listen_port"))
@attr.s(frozen=True, slots=True, auto_attribs=True)
class ControlPlane:
    """Where a rank of version 2.0 listens for the others."""

    addr_type: str
    addr: str
    listen_port: int
    origin: Mapping[str, Any] = origin()


@record(
    number("rank_id"),
    number("local_id"),
    number("replaced_local_id"),
    number("device_id"),
    number("device_port"),
    number("host_port"),
    objects("level_list", "levels", Level),
    object_("control_plane", ControlPlane),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Rank:
    """One rank of a version 2.0 table.

    Args:
        rank_id: its rank in the job, from 0.
        local_id: number of the NPU within its server, 0 to 63; 64: the backup rank.
        device_id: physical id of the NPU, 0 to 64.
        levels: its network levels in ascending order, at most 8.
        device_port: port of the device's interface.
        host_port: port of the host's interface.
        replaced_local_id: the NPU that a backup rank replaces.
        control_plane: where it listens for the others.
    """

    rank_id: int
    local_id: int
    device_id: int
    levels: Tuple[Level, ...] = ()
    device_port: Optional[int] = None
    host_port: Optional[int] = None
    replaced_local_id: Optional[int] = None
    control_plane: Optional[ControlPlane] = None
    origin: Mapping[str, Any] = origin()


@record(
    plain("status"),
    plain("version"),
    plain("detour"),
    derived("rank_count", lambda table: len(table.ranks), int),
    objects("rank_list", "ranks", Rank),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankTable2:
    """A rank table of version 2.0 (ascend_950).

    Args:
        ranks: the ranks.
        status: ``"completed"``.
        detour: ``"true"``: detour links are built.
    """

    ranks: Tuple[Rank, ...]
    status: str = "completed"
    detour: Optional[str] = None
    version: str = "2.0"
    origin: Mapping[str, Any] = origin()

    @property
    def rank_size(self) -> int:
        """Number of ranks, the ``RANK_SIZE`` of the job."""
        return len(self.ranks)

    @property
    def processes(self) -> Iterator[Process]:
        """The processes of the job in the order of the table; the dialect names no servers."""
        for rank in self.ranks:
            yield Process(rank.rank_id, rank.device_id)


AnyRankTable = Union[RankTable, RankTable2, GroupTable]


def to_document(table: AnyRankTable) -> Dict[str, Any]:
    """The JSON object of a rank table, with every key that it was read with.

    Raises:
        TypeError: ``table`` is another thing: a path, or all that came of parsing one.
    """
    if not hasattr(table, "rank_size"):
        text = "a rank table is expected, got {}; the model of load(path) is one"
        raise TypeError(phrase(text, type(table).__name__))
    return dump(table)


def from_document(document: Dict[str, Any]) -> AnyRankTable:
    """The rank table of a JSON object in which nothing is wrong."""
    dialect = dialect_of(document)
    if dialect is V2_0:
        return load(RankTable2, document)
    if dialect is not None and dialect.version is None:
        return load(GroupTable, document)
    return load(RankTable, document)
