"""Template 2 of the rank table (``group_list``), kept to be read and converted."""

from typing import Any, Iterator, Mapping, Optional, Tuple

import attr

from npu_config.rank_table.process import Process
from npu_config.sidefiles.schema.records import (
    count,
    derived,
    number_of,
    number_text,
    objects,
    origin,
    plain,
    record,
)


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
class Instance:
    """One pod of a template 2 table; with ``deploy_mode`` one device and its rank."""

    pod_name: Optional[str] = None
    server_id: str = ""
    devices: Tuple[GroupDevice, ...] = ()
    rank_id: Optional[int] = None
    origin: Mapping[str, Any] = origin()


def _devices(group: "Group") -> int:
    return sum(len(instance.devices) for instance in group.instances)


def _has_ranks(group: "Group") -> bool:
    return any(instance.rank_id is not None for instance in group.instances)


def _device_count(group: "Group") -> Optional[str]:
    return None if _has_ranks(group) else str(_devices(group))


def _device_num(group: "Group") -> Optional[str]:
    return str(_devices(group)) if _has_ranks(group) else None


def _server_num(group: "Group") -> Optional[str]:
    names = {instance.server_id for instance in group.instances}
    return str(len(names)) if _has_ranks(group) else None


@record(
    plain("group_name"),
    count("instance_count", lambda group: len(group.instances)),
    derived("device_count", _device_count, number_of),
    derived("device_num", _device_num, number_of),
    derived("server_num", _server_num, lambda _: None),  # not that of the list, on some products
    objects("instance_list", "instances", Instance),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class Group:
    """One group of a template 2 table; HCCL merges all groups into one."""

    instances: Tuple[Instance, ...]
    group_name: str = "hccl_world_group"
    origin: Mapping[str, Any] = origin()


@record(
    plain("status"),
    plain("deploy_mode"),
    plain("para_plane_nic_location"),
    count("group_count", lambda table: len(table.groups)),
    objects("group_list", "groups", Group),
)
@attr.s(frozen=True, slots=True, auto_attribs=True)
class GroupTable:
    """Template 2 (``group_list``): of pods, or with ``deploy_mode`` of single devices.

    HCCL counts the ranks of pods over the servers in the order of their ``server_id`` as text
    and the devices of each; with ``deploy_mode`` each instance has its rank.
    """

    groups: Tuple[Group, ...]
    status: str = "completed"
    deploy_mode: Any = None
    para_plane_nic_location: Optional[str] = None
    origin: Mapping[str, Any] = origin()

    @property
    def laboratory(self) -> bool:
        """Whether the instances have ranks of their own."""
        return self.deploy_mode is not None or "deploy_mode" in self.origin

    @property
    def rank_size(self) -> int:
        """Number of devices, the ``RANK_SIZE`` of the job."""
        return sum(map(_devices, self.groups))

    @property
    def places(self) -> Iterator[Tuple[int, Instance, GroupDevice]]:
        """Every device with its rank and its instance, in the order of the ranks."""
        devices = [
            (instance, device)
            for group in self.groups
            for instance in group.instances
            for device in instance.devices
        ]
        if self.laboratory:
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
