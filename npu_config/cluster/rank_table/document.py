"""Rank tables as plain JSON values: from the model and back.

The spelling of each format stands here: text for the numbers of versions 1.0 and 1.2 and of
template 2, numbers for those of version 2.0; the order of keys is that of the vendor's
samples.
"""

from typing import Any, Dict, List, Optional, Tuple

from npu_config.cluster.rank_table.formats import ADDRESS
from npu_config.cluster.rank_table.model import (
    Address,
    AnyRankTable,
    Device,
    Group,
    GroupDevice,
    GroupTable,
    Instance,
    Level,
    Rank,
    RankTable,
    RankTable2,
    Server,
    SuperPod,
)

Object = Dict[str, Any]


def to_document(table: AnyRankTable) -> Object:
    """The JSON object of a rank table."""
    if isinstance(table, RankTable2):
        return _without_none(
            status=table.status,
            version=table.version,
            rank_count=table.rank_size,
            rank_list=[_rank(rank) for rank in table.ranks],
        )
    if isinstance(table, GroupTable):
        return {
            "status": table.status,
            "group_count": str(len(table.groups)),
            "group_list": [_group(group) for group in table.groups],
        }
    document: Object = {
        "status": table.status,
        "version": table.version,
        "server_count": str(len(table.servers)),
        "server_list": [_server(server) for server in table.servers],
    }
    if table.super_pods:
        document["super_pod_list"] = [
            {
                "super_pod_id": pod.super_pod_id,
                "server_list": [{"server_id": name} for name in pod.server_ids],
            }
            for pod in table.super_pods
        ]
    return document


def from_document(document: Object) -> AnyRankTable:
    """The rank table of a JSON object in which nothing is wrong."""
    if "group_list" in document and "version" not in document:
        return GroupTable(tuple(map(_read_group, document["group_list"])), document["status"])
    if document["version"] == "2.0":
        return RankTable2(tuple(map(_read_rank, document["rank_list"])), document.get("status"))
    return RankTable(
        tuple(map(_read_server, document["server_list"])),
        document["version"],
        document["status"],
        tuple(map(_read_super_pod, document.get("super_pod_list", ()))),
    )


def _without_none(**values: Any) -> Object:
    return {name: value for name, value in values.items() if value is not None}


def _text(number: Optional[int]) -> Optional[str]:
    return None if number is None else str(number)


def _number(text: Optional[str]) -> Optional[int]:
    return None if text is None else int(text)


def _server(server: Server) -> Object:
    return _without_none(
        server_id=server.server_id,
        host_ip=server.host_ip,
        device=[_device(device) for device in server.devices],
    )


def _device(device: Device) -> Object:
    return _without_none(
        device_id=str(device.device_id),
        super_device_id=device.super_device_id,
        device_ip=device.device_ip,
        device_port=_text(device.device_port),
        backup_device_ip=device.backup_device_ip,
        backup_device_port=_text(device.backup_device_port),
        host_port=_text(device.host_port),
        rank_id=str(device.rank_id),
    )


def _read_server(value: Object) -> Server:
    return Server(
        value["server_id"], tuple(map(_read_device, value["device"])), value.get("host_ip")
    )


def _read_device(value: Object) -> Device:
    if len(value) == 3 and "device_ip" in value:
        return Device(int(value["device_id"]), int(value["rank_id"]), value["device_ip"])
    get = value.get
    return Device(
        int(value["device_id"]),
        int(value["rank_id"]),
        get("device_ip"),
        _number(get("device_port")),
        get("super_device_id"),
        get("backup_device_ip"),
        _number(get("backup_device_port")),
        _number(get("host_port")),
    )


def _read_super_pod(value: Object) -> SuperPod:
    names: Tuple[str, ...] = tuple(entry["server_id"] for entry in value["server_list"])
    return SuperPod(value["super_pod_id"], names)


def _rank(rank: Rank) -> Object:
    return _without_none(
        rank_id=rank.rank_id,
        local_id=rank.local_id,
        device_id=rank.device_id,
        device_port=rank.device_port,
        host_port=rank.host_port,
        level_list=[_level(level) for level in rank.levels],
    )


def _level(level: Level) -> Object:
    return _without_none(
        net_layer=level.net_layer,
        net_instance_id=level.net_instance_id,
        net_type=level.net_type,
        net_attr=level.net_attr,
        rank_addr_list=[_address(address) for address in level.addresses],
    )


def _address(address: Address) -> Object:
    return {
        "addr_type": address.addr_type,
        "addr": address.addr,
        "ports": list(address.ports),
        "plane_id": address.plane_id,
    }


def _read_rank(value: Object) -> Rank:
    return Rank(
        value["rank_id"],
        value["local_id"],
        value["device_id"],
        tuple(map(_read_level, value["level_list"])),
        value.get("device_port"),
        value.get("host_port"),
    )


def _read_level(value: Object) -> Level:
    return Level(
        value["net_layer"],
        value["net_instance_id"],
        value["net_type"],
        tuple(map(_read_address, value["rank_addr_list"])),
        value.get("net_attr"),
    )


def _read_address(value: Object) -> Address:
    return Address(
        ADDRESS["addr_type"].parse(value["addr_type"]),
        value["addr"],
        tuple(value["ports"]),
        value.get("plane_id", "0"),
    )


def _group(group: Group) -> Object:
    instances: List[Object] = [
        {
            "pod_name": instance.pod_name,
            "server_id": instance.server_id,
            "devices": [
                {"device_id": str(device.device_id), "device_ip": device.device_ip}
                for device in instance.devices
            ],
        }
        for instance in group.instances
    ]
    return _without_none(
        group_name=group.group_name,
        instance_count=str(len(instances)),
        device_count=str(sum(len(instance.devices) for instance in group.instances)),
        instance_list=instances,
    )


def _read_group(value: Object) -> Group:
    return Group(tuple(map(_read_instance, value["instance_list"])), value.get("group_name"))


def _read_instance(value: Object) -> Instance:
    devices = (
        GroupDevice(int(device["device_id"]), device["device_ip"]) for device in value["devices"]
    )
    return Instance(value["pod_name"], value["server_id"], tuple(devices))
