"""The check of versions 1.0 and 1.2: servers that hold devices."""

from typing import Any, Dict, FrozenSet, List, Optional, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.core.target import Product
from npu_config.rank_table._addresses import check_device_ips
from npu_config.rank_table._common import (
    check_blocks,
    check_count,
    check_names,
    check_rank_ids,
    check_status,
)
from npu_config.rank_table._ports import check_ports, check_shared_devices
from npu_config.rank_table._products import check_balance, check_device_counts
from npu_config.rank_table.dialects import NO_SUPER_DEVICE, SOURCES, servers_schema
from npu_config.sidefiles.schema.findings import Findings, dotted, shown
from npu_config.sidefiles.schema.levels import Node
from npu_config.sidefiles.schema.reading import Reader

_SOURCE = ("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a3.md",)


@declare(
    "NPU658",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=(*_SOURCE, SOURCES["CO"] + ":864-1044"),
)
def rank_table_super_pods() -> None:
    """The super nodes do not agree with the servers.

    Each entry of `super_pod_list` names servers of `server_list`, and every server is in a
    super node; HCCL refuses the table otherwise.  Of a server that two entries name, the later
    one counts (a warning).  The guides want the servers of one super node next to each other in
    `server_list` (a warning).  An entry with an empty `super_pod_id` is passed over in silence.

    Wrong: `server_list` with node_0, node_2, node_1 where node_0 and node_1 are one super node

    Right: `server_list` with node_0, node_1, node_2
    """


@declare(
    "NPU659",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=(*_SOURCE, "cann/hccl:docs/zh/user_guide/fault_diagnosis/cluster_info_verify_fail.md"),
)
def rank_table_super_device_ids() -> None:
    """A device in a super node has no `super_device_id`, or that of another device.

    It is the SDID that `npu-smi info -t spod-info` shows, unique in a super node; HCCL ends
    with EI0014 when it is not.  4294967295 means none.  Without `super_pod_list` HCCL works
    server by server and does not use it.

    Wrong: `"super_device_id": "0"` for two devices of one super node

    Right: `"super_device_id": "0"` and `"super_device_id": "1"`
    """


def check_super_pods(table: Node, findings: Findings) -> Dict[int, int]:
    """Check the super nodes of a table that has them; the super node of each server."""
    servers, pods = table.under("server_list"), table.under("super_pod_list")
    check_names(pods, "super_pod_id", findings)
    pod_of = _assign(servers, pods, findings)
    for index in range(len(servers.level.items)):
        if index not in pod_of:
            findings.wrong_at(
                rank_table_super_pods,
                servers.level.path(index),
                "{} ({}) is in no super node of super_pod_list",
                shown(servers.level.items[index].get("server_id")),
                help="name it in the super_pod_list entry that it belongs to",
            )
    _check_adjacent(servers, pod_of, findings)
    _check_devices(table.under("server_list", "device"), pod_of, findings)
    return pod_of


def _assign(servers: Node, pods: Node, findings: Findings) -> Dict[int, int]:
    """The super node of each server; of two that name it the later one."""
    names = servers["server_id"]
    number = dict(zip(names.values, names.owners))
    ids = dict(zip(pods["super_pod_id"].owners, pods["super_pod_id"].values))
    for owner, name in ids.items():
        if name and "server_list" not in pods.level.items[owner]:
            path = pods.level.path(owner)
            message = phrase("{} has no server_list", dotted(path))
            findings.add(
                rank_table_super_pods, path, message, "name the servers of the super node"
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
                findings.wrong_at(
                    rank_table_super_pods,
                    path,
                    "{} is {}, which is not a server_id of server_list",
                    shown(name),
                    help="name a server of server_list",
                )
        elif passed_over:
            findings.wrong_at(
                rank_table_super_pods,
                path,
                "{} is {}, in an entry with an empty super_pod_id, which HCCL passes over",
                shown(name),
                help="give the super node an id",
                severity=Severity.WARNING,
            )
        else:
            if pod_of.setdefault(index, pod) != pod:
                findings.wrong_at(
                    rank_table_super_pods,
                    path,
                    "{} is {}, which super_pod_list[{}] names too; the later entry counts",
                    shown(name),
                    pod_of[index],
                    help="remove one of the two",
                    severity=Severity.WARNING,
                )
            pod_of[index] = pod
    return pod_of


def _check_adjacent(servers: Node, pod_of: Dict[int, int], findings: Findings) -> None:
    current, done = -1, set()
    for index in sorted(pod_of):
        pod = pod_of[index]
        if pod == current:
            continue
        if pod in done:
            findings.wrong_at(
                rank_table_super_pods,
                servers.level.path(index),
                "{} ({}) is of super_pod_list[{}], but servers of another super node are "
                "between; the guides want those of one super node next to each other",
                shown(servers.level.items[index].get("server_id")),
                pod,
                help="list all servers of one super node, then all of the next",
                severity=Severity.WARNING,
            )
            return
        done.add(pod)
        current = pod


def _check_devices(devices: Node, pod_of: Dict[int, int], findings: Findings) -> None:
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
            findings.wrong_at(
                rank_table_super_device_ids,
                path,
                "{} has no super_device_id, which a table with super_pod_list needs"
                if name is None
                else "{} has no super_device_id (4294967295 means none), which a table with "
                "super_pod_list needs",
                help="write the SDID that npu-smi info -t spod-info shows for this device",
            )
        elif pod is not None:
            before = first.setdefault((pod, name), index)
            if before != index:
                path = (*path, "super_device_id")
                findings.wrong_at(
                    rank_table_super_device_ids,
                    path,
                    "{} is {}, the id of {} in the same super node",
                    shown(item["super_device_id"]),
                    dotted(level.path(before)),
                    help="write the SDID that npu-smi info -t spod-info shows for this device",
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
    check_status(table, findings)
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
