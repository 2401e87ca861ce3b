"""Rank tables as typed, frozen values: what every dialect of them says, and how it is written.

:class:`RankTable` is the form of versions 1.0 and 1.2 (servers that hold devices),
:class:`RankTable2` that of version 2.0 (ranks with their network levels); template 2 is in
:mod:`npu_config.rank_table.model`.  The values hold numbers as numbers; how each
dialect spells them is written beside each class.  ``origin`` is the JSON object that a value
was read from; see :mod:`npu_config.sidefiles.schema.records`.
"""

import json
from typing import Any, Dict, Iterator, Mapping, NamedTuple, Optional, Tuple, Union

import attr

from npu_config.core.message import phrase
from npu_config.rank_table.dialects import V2_0, dialect_of
from npu_config.sidefiles.schema.records import (
    RecordField,
    count,
    derived,
    dump,
    load,
    number,
    number_of,
    number_text,
    object_,
    objects,
    origin,
    plain,
    record,
    texts,
)


class Process(NamedTuple):
    """One process of a job: the rank it is and the device it runs on."""

    rank_id: int
    device_id: int
    server_id: Optional[str] = None
    pod_name: Optional[str] = None


@record(number_text("device_id"), plain("device_ip"))
@attr.s(frozen=True, slots=True, auto_attribs=True)
class GroupDevice:
    """One device of a template 2 table."""

    device_id: int
    device_ip: Optional[str] = None
    origin: Mapping[str, Any] = origin()


@record(
    number_text("rank_id"),
    plain("pod_name"),
    plain("server_id"),
    objects("devices", "devices", GroupDevice),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Pod:
    """One pod of a template 2 table; with ``deploy_mode`` one device and its rank."""

    pod_name: Optional[str] = None
    server_id: str = ""
    devices: Tuple[GroupDevice, ...] = ()
    rank_id: Optional[int] = None
    origin: Mapping[str, Any] = origin()


def _devices(group: "RankGroup") -> int:
    return sum(len(instance.devices) for instance in group.instances)


def _has_ranks(group: "RankGroup") -> bool:
    return any(instance.rank_id is not None for instance in group.instances)


def _device_count(group: "RankGroup") -> Optional[str]:
    return None if _has_ranks(group) else str(_devices(group))


def _device_num(group: "RankGroup") -> Optional[str]:
    return str(_devices(group)) if _has_ranks(group) else None


def _server_num(group: "RankGroup") -> Optional[str]:
    names = {instance.server_id for instance in group.instances}
    return str(len(names)) if _has_ranks(group) else None


@record(
    plain("group_name"),
    count("instance_count", lambda group: len(group.instances)),
    derived("device_count", _device_count, number_of),
    derived("device_num", _device_num, number_of),
    derived("server_num", _server_num, lambda _: None),  # not that of the list, on some products
    objects("instance_list", "instances", Pod),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankGroup:
    """One group of a template 2 table; HCCL merges all groups into one."""

    instances: Tuple[Pod, ...]
    group_name: str = "hccl_world_group"
    origin: Mapping[str, Any] = origin()


@record(
    plain("status"),
    plain("deploy_mode"),
    plain("para_plane_nic_location"),
    count("group_count", lambda table: len(table.groups)),
    objects("group_list", "groups", RankGroup),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class GroupTable:
    """Template 2 (``group_list``): of pods, or with ``deploy_mode`` of single devices.

    HCCL counts the ranks of pods over the servers in the order of their ``server_id`` as text
    and the devices of each; with ``deploy_mode`` each instance has its rank.
    """

    groups: Tuple[RankGroup, ...]
    status: str = "completed"
    deploy_mode: Any = None
    para_plane_nic_location: Optional[str] = None
    origin: Mapping[str, Any] = origin()

    @property
    def has_deploy_mode(self) -> bool:
        """Whether the instances have ranks of their own."""
        return self.deploy_mode is not None or "deploy_mode" in self.origin

    @property
    def rank_size(self) -> int:
        """Number of devices, the ``RANK_SIZE`` of the job."""
        return sum(map(_devices, self.groups))

    @property
    def places(self) -> Iterator[Tuple[int, Pod, GroupDevice]]:
        """Every device with its rank and its instance, in the order of the ranks."""
        devices = [
            (instance, device)
            for group in self.groups
            for instance in group.instances
            for device in instance.devices
        ]
        if self.has_deploy_mode:
            devices.sort(key=lambda pair: pair[0].rank_id or 0)
        else:
            devices.sort(
                key=lambda pair: (
                    pair[0].server_id.encode("utf-8", "surrogatepass"),
                    pair[1].device_id,
                )
            )
        for rank, (instance, device) in enumerate(devices):
            yield rank, instance, device

    @property
    def processes(self) -> Iterator[Process]:
        """The processes of the job in the order of the ranks."""
        for rank, instance, device in self.places:
            yield Process(rank, device.device_id, instance.server_id, instance.pod_name)


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
    RecordField(
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
    RecordField(
        "super_pod_list", "super_pods", _super_pods, lambda pods: list(map(dump, pods)), True
    ),
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


def render(table: AnyRankTable) -> str:
    """The text of the file; the same table always has the same text."""
    return layout(to_document(table))


def layout(document: Any) -> str:
    """The text of plain JSON values."""
    return "".join(_write(document, "\n")) + "\n"


def _write(value: Any, line: str) -> Iterator[str]:
    """The pieces of a value; ``line`` is a line end with the blanks before the next line."""
    if _is_flat(value):
        yield json.dumps(value, ensure_ascii=False)
        return
    inner = line + "  "
    mark = "{" if isinstance(value, dict) else "["
    for entry in value:
        yield mark + inner
        mark = ","
        if isinstance(value, dict):
            yield json.dumps(entry, ensure_ascii=False) + ": "
            entry = value[entry]
        yield from _write(entry, inner)
    yield line + ("}" if isinstance(value, dict) else "]")


def _is_flat(value: Any) -> bool:
    """Whether a value is written on one line: it holds no object, at most lists of texts."""
    if isinstance(value, dict):
        return not any(
            isinstance(entry, dict) or (isinstance(entry, list) and not _is_flat(entry))
            for entry in value.values()
        )
    if isinstance(value, list):
        return not any(isinstance(entry, (dict, list)) for entry in value)
    return True
