"""Old rank tables made new, where what the new format needs is known."""

from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.cluster.rank_table.building import refuse_errors
from npu_config.cluster.rank_table.document import to_document
from npu_config.cluster.rank_table.formats import VERSIONS
from npu_config.cluster.rank_table.judging import check_document
from npu_config.cluster.rank_table.model import (
    AnyRankTable,
    Device,
    GroupTable,
    RankTable,
    Server,
    SuperPod,
)
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Severity
from npu_config.core.rule import declare
from npu_config.core.target import ANY_TARGET, Target

NOT_CONVERTIBLE = declare(
    "NPU664",
    "rank-table-not-convertible",
    Severity.ERROR,
    """
    A rank table cannot be turned into the version that is asked for.

    Template 2 becomes version 1.0, and version 1.0 becomes 1.2 when the super nodes and the
    SDID of every device are given (without super nodes it stays in server mode).  Version
    2.0 is for other machines: it needs the network layers, addresses and ports of every
    rank, which no older table holds.  Newer tables are not made older.

    Wrong: `npu-config ranktable convert --to 2.0` of a table of version 1.0

    Right: `npu-config ranktable build --layer ...` with the network of the new machines
    """,
    facts=("rank-table-file",),
    source=(
        "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a3.md",
        "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a5.md",
    ),
)


def convert(
    table: AnyRankTable,
    version: str = "1.0",
    super_pods: Optional[Mapping[str, Sequence[str]]] = None,
    super_device_ids: Optional[Mapping[str, Sequence[str]]] = None,
    target: Target = ANY_TARGET,
) -> RankTable:
    """Make a table of version 1.0 or 1.2 from an older one.

    Template 2 has no rank ids: they are counted in the order of the table, and containers
    of one server are joined, so that its ranks form one block.

    Args:
        table: of template 2, or of version 1.0.
        version: ``"1.0"`` or ``"1.2"``.
        super_pods: super node to the servers in it, for version 1.2.
        super_device_ids: server to the SDIDs of its devices in order, for version 1.2.
        target: the product that the new table is checked for.

    Raises:
        NpuConfigError: the table cannot be converted, or the new one would be wrong.
    """
    old = _version_of(table)
    if version not in ("1.0", "1.2") or (old, version) == ("1.2", "1.0") or old == "2.0":
        raise NpuConfigError([_refused(old, version)])
    if isinstance(table, GroupTable):
        table = _from_groups(table)
    assert isinstance(table, RankTable)
    if version == "1.2":
        table = _in_super_nodes(table, super_pods or {}, super_device_ids or {})
    refuse_errors(check_document(to_document(table), target))
    return table


def _version_of(table: AnyRankTable) -> str:
    return "template 2" if isinstance(table, GroupTable) else table.version


def _refused(old: str, new: str) -> Diagnostic:
    if new == "2.0":
        problem = (
            "version 2.0 needs the network layers, addresses and ports of every rank, which "
            "{} does not hold".format(old if old == "template 2" else "version " + old)
        )
        help = "build a new table from the network of the new machines"
    elif new not in VERSIONS:
        problem = 'there is no version "{}"; legal: 1.0, 1.2'.format(new)
        help = None
    else:
        problem = "a table of version {} is not made one of version {}".format(old, new)
        help = "keep it, or build a new table"
    return NOT_CONVERTIBLE.diagnostic(problem, help=help)


def _from_groups(table: GroupTable) -> RankTable:
    devices: Dict[str, List[Tuple[int, str]]] = {}
    for group in table.groups:
        for instance in group.instances:
            mine = devices.setdefault(instance.server_id, [])
            mine.extend((device.device_id, device.device_ip) for device in instance.devices)
    servers = []
    rank = 0
    for server_id, mine in devices.items():
        servers.append(
            Server(
                server_id,
                tuple(
                    Device(device_id, rank + index, device_ip)
                    for index, (device_id, device_ip) in enumerate(mine)
                ),
            )
        )
        rank += len(mine)
    return RankTable(tuple(servers), status=table.status)


def _in_super_nodes(
    table: RankTable,
    super_pods: Mapping[str, Sequence[str]],
    super_device_ids: Mapping[str, Sequence[str]],
) -> RankTable:
    pods = tuple(SuperPod(name, tuple(servers)) for name, servers in super_pods.items())
    order = {name: index for index, pod in enumerate(pods) for name in pod.server_ids}
    servers = sorted(table.servers, key=lambda server: order.get(server.server_id, len(order)))
    return attr.evolve(
        table,
        version="1.2",
        servers=tuple(_with_sdids(server, super_device_ids) for server in servers),
        super_pods=pods or table.super_pods,
    )


def _with_sdids(server: Server, super_device_ids: Mapping[str, Sequence[str]]) -> Server:
    sdids = super_device_ids.get(server.server_id)
    if sdids is None:
        return server
    if len(sdids) != len(server.devices):
        raise NpuConfigError(
            [
                NOT_CONVERTIBLE.diagnostic(
                    '"{}" has {} devices, but {} SDIDs are given'.format(
                        server.server_id, len(server.devices), len(sdids)
                    ),
                    help="give one SDID for each device, in the order of the table",
                )
            ]
        )
    devices = zip(server.devices, sdids)
    return attr.evolve(
        server,
        devices=tuple(attr.evolve(device, super_device_id=sdid) for device, sdid in devices),
    )
