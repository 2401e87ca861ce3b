"""Rank tables as typed, frozen values: what every format of them says.

:class:`RankTable` is the form of versions 1.0 and 1.2 (servers that hold devices),
:class:`RankTable2` that of version 2.0 (ranks with their network levels), and
:class:`GroupTable` the old template 2, kept to be read and converted.  The values hold
numbers as numbers; how each format spells them is the business of
:mod:`npu_config.cluster.rank_table.document`.
"""

from typing import Iterator, NamedTuple, Optional, Tuple, Union

import attr


class Process(NamedTuple):
    """One process of a job: the rank it is and the device it runs on."""

    rank_id: int
    device_id: int
    server_id: Optional[str] = None
    pod_name: Optional[str] = None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Device:
    """One device of a server; it is one rank.

    Args:
        device_id: physical id, the number in ``/dev/davinci*``.
        rank_id: its rank in the job, from 0.
        device_ip: address of its network interface, ``address_N`` of ``/etc/hccn.conf``.
        device_port: port of that interface, 1 to 65535 (atlas_a2, atlas_a3).
        super_device_id: SDID of ``npu-smi info -t spod-info`` (version 1.2).
        backup_device_ip: address of the other die of the same NPU (version 1.2).
        backup_device_port: port on that interface (version 1.2).
        host_port: port of the host's interface (atlas_a3).
    """

    device_id: int
    rank_id: int
    device_ip: Optional[str] = None
    device_port: Optional[int] = None
    super_device_id: Optional[str] = None
    backup_device_ip: Optional[str] = None
    backup_device_port: Optional[int] = None
    host_port: Optional[int] = None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Server:
    """One server of the job.

    Args:
        server_id: unique name, at most 64 characters; often its IP address.
        devices: its devices, in the order of the table.
        host_ip: IPv4 address of the host (atlas_a3, for HCCL's retry).
    """

    server_id: str
    devices: Tuple[Device, ...]
    host_ip: Optional[str] = None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class SuperPod:
    """One super node of a version 1.2 table and the servers that it holds."""

    super_pod_id: str
    server_ids: Tuple[str, ...]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankTable:
    """A rank table of version 1.0 or 1.2.

    Args:
        servers: the servers; those of one super node stand next to each other.
        version: ``"1.0"``, or ``"1.2"`` for super nodes (atlas_a3).
        status: ``"completed"``, or ``"initializing"`` while it is not usable.
        super_pods: the super nodes (version 1.2); empty in server mode.
    """

    servers: Tuple[Server, ...]
    version: str = "1.0"
    status: str = "completed"
    super_pods: Tuple[SuperPod, ...] = ()

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


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Address:
    """One network address of a rank on one level.

    Args:
        addr_type: ``"EID"``, ``"IPV4"`` or ``"IPV6"``.
        addr: the address, at most 256 characters.
        ports: ``"<die>/<port>"`` each, or ``"d2h"`` for a host interface; at most 16.
        plane_id: network plane.
    """

    addr_type: str
    addr: str
    ports: Tuple[str, ...]
    plane_id: str = "0"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Level:
    """One network level of a rank.

    Args:
        net_layer: 0 to 7.
        net_instance_id: which network of that layer, at most 1024 characters.
        net_type: ``"TOPO_FILE_DESC"`` or ``"CLOS"``; layer 0 takes the first only.
        addresses: at most 24.
        net_attr: reserved text.
    """

    net_layer: int
    net_instance_id: str
    net_type: str
    addresses: Tuple[Address, ...] = ()
    net_attr: Optional[str] = None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Rank:
    """One rank of a version 2.0 table.

    Args:
        rank_id: its rank in the job, from 0.
        local_id: number of the NPU within its server, 0 to 64.
        device_id: physical id of the NPU, 0 to 64.
        levels: its network levels in ascending order, at most 8.
        device_port: port of the device's interface.
        host_port: port of the host's interface.
    """

    rank_id: int
    local_id: int
    device_id: int
    levels: Tuple[Level, ...] = ()
    device_port: Optional[int] = None
    host_port: Optional[int] = None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankTable2:
    """A rank table of version 2.0 (ascend_950)."""

    ranks: Tuple[Rank, ...]
    status: Optional[str] = "completed"
    version: str = attr.ib(default="2.0", init=False)

    @property
    def rank_size(self) -> int:
        """Number of ranks, the ``RANK_SIZE`` of the job."""
        return len(self.ranks)

    @property
    def processes(self) -> Iterator[Process]:
        """The processes of the job in the order of the table; the format names no servers."""
        for rank in self.ranks:
            yield Process(rank.rank_id, rank.device_id)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class GroupDevice:
    """One device of a template 2 table; it has no rank id of its own."""

    device_id: int
    device_ip: str


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Instance:
    """One container of a template 2 table."""

    pod_name: str
    server_id: str
    devices: Tuple[GroupDevice, ...]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Group:
    """One group of a template 2 table; HCCL merges all groups into one."""

    instances: Tuple[Instance, ...]
    group_name: Optional[str] = "hccl_world_group"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class GroupTable:
    """The old template 2 (``group_list``) of atlas_training."""

    groups: Tuple[Group, ...]
    status: str = "completed"

    @property
    def rank_size(self) -> int:
        """Number of devices, the ``RANK_SIZE`` of the job."""
        return sum(len(instance.devices) for group in self.groups for instance in group.instances)

    @property
    def processes(self) -> Iterator[Process]:
        """The processes of the job; the format has no rank ids, so they are counted."""
        rank = 0
        for group in self.groups:
            for instance in group.instances:
                for device in instance.devices:
                    yield Process(rank, device.device_id, instance.server_id, instance.pod_name)
                    rank += 1


AnyRankTable = Union[RankTable, RankTable2, GroupTable]
