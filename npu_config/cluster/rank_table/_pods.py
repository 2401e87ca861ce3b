"""Super nodes: which servers they hold, and the ids of devices inside them."""

from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.cluster.rank_table import formats
from npu_config.cluster.rank_table._counts import check_names
from npu_config.cluster.rank_table._fields import Reader
from npu_config.cluster.rank_table._findings import Findings, dotted, shown
from npu_config.cluster.rank_table._levels import NO_COLUMN, Column, Level
from npu_config.cluster.rank_table.formats import Need
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_SOURCE = ("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a3.md",)

SUPER_PODS = declare(
    "NPU658",
    "rank-table-super-pods",
    Severity.ERROR,
    """
    The super nodes do not agree with the servers.

    Each entry of `super_pod_list` names servers of `server_list`; a server is in one super
    node only, and the servers of one super node stand next to each other in `server_list`:
    first all of one, then all of the next.  HCCL does not support them mixed.  A server in
    no super node is a warning.

    Wrong: `server_list` with node_0, node_2, node_1 where node_0 and node_1 are one super node

    Right: `server_list` with node_0, node_1, node_2
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)

SUPER_DEVICES = declare(
    "NPU659",
    "rank-table-super-device-ids",
    Severity.ERROR,
    """
    Two devices of one super node have the same `super_device_id`.

    It is the SDID that `npu-smi info -t spod-info` shows, unique in a super node; HCCL ends
    with EI0014 when it is not.  Without `super_pod_list` it says nothing: HCCL then works
    server by server (a warning).

    Wrong: `"super_device_id": "0"` for two devices of one super node

    Right: `"super_device_id": "0"` and `"super_device_id": "1"`
    """,
    facts=("rank-table-file",),
    source=(*_SOURCE, "cann/hccl:docs/zh/user_guide/fault_diagnosis/cluster_info_verify_fail.md"),
)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class SuperPods:
    """The super nodes of a table.

    Args:
        known: whether the table has any.
        pod_of: the number of the super node of each server that has one.
        sound: whether every server has exactly one.
    """

    known: bool
    pod_of: Mapping[int, int]
    sound: bool = True

    def _all_different(self, devices: Level, names: Sequence[Optional[str]]) -> bool:
        """Whether every device has a name, and no other device of its super node the same."""
        members: Dict[Optional[int], List[Optional[str]]] = {}
        for server, (start, end) in enumerate(devices.spans()):
            members.setdefault(self.pod_of.get(server), []).extend(names[start:end])
        members.pop(None, None)
        return all(len(set(mine)) == len(mine) for mine in members.values())

    def check_devices(
        self, devices: Level, device: Mapping[str, Column], findings: Findings
    ) -> None:
        """Check ``super_device_id``."""
        column = device.get("super_device_id", NO_COLUMN)
        if not column.values:
            return
        if not self.known:
            path = (*devices.path(column.owners[0]), "super_device_id")
            findings.add(
                SUPER_DEVICES,
                path,
                "{} has no effect without super_pod_list: HCCL works server by server".format(
                    dotted(path)
                ),
                "add super_pod_list, or remove super_device_id",
                Severity.WARNING,
                at_key=True,
            )
            return
        if self._all_different(devices, column.over(len(devices.items))):
            return
        first: Dict[Tuple[int, str], int] = {}
        for owner, name in zip(column.owners, column.values):
            pod = self.pod_of.get(devices.owner(owner))
            if pod is None:
                continue
            before = first.setdefault((pod, name), owner)
            if before != owner:
                path = (*devices.path(owner), "super_device_id")
                findings.add(
                    SUPER_DEVICES,
                    path,
                    "{} is {}, the id of {} in the same super node".format(
                        dotted(path), shown(name), dotted(devices.path(before))
                    ),
                    "write the SDID that npu-smi info -t spod-info shows for this device",
                )


def read_super_pods(
    reader: Reader,
    root: Level,
    table: Mapping[str, Column],
    servers: Level,
    server: Mapping[str, Column],
) -> SuperPods:
    """Read and check ``super_pod_list``; adds to the situation of the reader."""
    pods = reader.children(root, "super_pod_list", table)
    if not pods.items:
        return SuperPods(False, {})
    reader.need(Need.SUPER_NODE)
    if len(pods.items) > 1:
        reader.need(Need.SEVERAL_PODS)
    pod = reader.fields("super_pod", pods, formats.SUPER_POD)
    check_names(pods, "super_pod_id", pod, reader.findings)
    members = reader.children(pods, "server_list", pod)
    member = reader.fields("super_pod_server", members, formats.SUPER_POD_SERVER)
    pod_of = _assign(servers, server, members, member, reader.findings)
    _check_adjacent(servers, pod_of, reader.findings)
    return SuperPods(True, pod_of, len(pod_of) == len(servers.items) == len(members.items))


def _assign(
    servers: Level,
    server: Mapping[str, Column],
    members: Level,
    member: Mapping[str, Column],
    findings: Findings,
) -> Dict[int, int]:
    """The super node of each server."""
    names = server.get("server_id", NO_COLUMN)
    number = dict(zip(names.values, names.owners))
    pod_of: Dict[int, int] = {}
    entries = member.get("server_id", NO_COLUMN).over(len(members.items))
    for pod, (start, end) in enumerate(members.spans()):
        for owner, name in enumerate(entries[start:end], start):
            index = number.get(name)
            if index is not None and index not in pod_of:
                pod_of[index] = pod
            elif name is not None:
                before = None if index is None else pod_of[index]
                _misplaced(members, owner, name, before, findings)
    for index in number.values():
        if index not in pod_of:
            path = servers.path(index)
            findings.add(
                SUPER_PODS,
                path,
                "{} ({}) is in no super node of super_pod_list".format(
                    dotted(path), shown(servers.items[index]["server_id"])
                ),
                "name it in the super_pod_list entry that it belongs to",
                Severity.WARNING,
            )
    return pod_of


def _misplaced(
    members: Level, owner: int, name: str, pod: Optional[int], findings: Findings
) -> None:
    """Note a name that is no server's, or one that the super node ``pod`` has already."""
    path = (*members.path(owner), "server_id")
    if pod is None:
        problem = "is no server_id of server_list"
        help = "name a server of server_list"
    else:
        problem = "stands in super_pod_list[{}] already; a server is in one super node".format(pod)
        help = "remove one of the two"
    message = "{} is {}, which {}".format(dotted(path), shown(name), problem)
    findings.add(SUPER_PODS, path, message, help)


def _check_adjacent(servers: Level, pod_of: Mapping[int, int], findings: Findings) -> None:
    current, done = -1, set()
    for index in sorted(pod_of):
        pod = pod_of[index]
        if pod == current:
            continue
        if pod in done:
            path = servers.path(index)
            findings.add(
                SUPER_PODS,
                path,
                "{} ({}) is of super_pod_list[{}], but servers of another super node stand "
                "between; the servers of one super node stand next to each other".format(
                    dotted(path), shown(servers.items[index]["server_id"]), pod
                ),
                "list all servers of one super node, then all of the next",
            )
            return
        done.add(pod)
        current = pod
