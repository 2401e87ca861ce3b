"""Rank tables made of others: old ones made new, those of several servers made one.

What the new table has no place for is listed; every other key is kept.
"""

from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Report, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.rank_table.dialects import BY_VERSION
from npu_config.rank_table.judging import check_document
from npu_config.rank_table.model import (
    AnyRankTable,
    Device,
    GroupTable,
    Rank,
    RankTable,
    RankTable2,
    Server,
    SuperPod,
    to_document,
    unknown_keys,
)
from npu_config.sidefiles.format import refuse


@declare(
    "NPU664",
    Severity.ERROR,
    facts=("rank-table-file",),
    source=(
        "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a3.md",
        "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a5.md",
    ),
)
def rank_table_not_convertible() -> None:
    """A rank table cannot be converted to the requested version, or merged with others.

    Template 2 can be converted to version 1.0.  Version 1.0 can be converted to 1.2 if the super
    nodes and the SDID of every device are specified (without super nodes the table stays in server
    mode).  Version 2.0 is for other machines: it needs the network layers, addresses and ports of
    every rank, which older tables do not contain.  A newer version cannot be converted to an older
    one.  Tables can be merged only if they have the same version and different servers.

    Wrong: `npu-config ranktable convert --to 2.0` of a table of version 1.0

    Right: `npu-config ranktable build --layer ...` with the network of the new machines
    """


@declare("NPU668", Severity.WARNING, facts=("rank-table-file",), source=("npu_config",))
def rank_table_not_held() -> None:
    """A field of an old rank table cannot be written to the converted or merged table.

    Version 1.0 has no groups and no pods: `group_name`, `pod_name` and the counts of groups exist
    only in template 2, and after the conversion a process is identified only by `RANK_ID`.  If two
    merged tables have different values for a key, the value of the first table is kept.

    Wrong, after a conversion to version 1.0: `export RANK_ID=ascend8p`

    Right: `export RANK_ID=0`
    """


_READ = frozenset({
    "host_ip", "host_port", "device_port", "device_vnic_port", "net_position", "net_protocol",
    "backup_device_ip", "backup_device_port", "super_device_id", "server_list", "server_count",
    "super_pod_list", "version", "device", "rank_id",
})  # fmt: skip
"""What the versions 1.0 and 1.2 read anywhere, and template 2 does not."""


def convert(
    table: AnyRankTable,
    version: str = "1.0",
    super_pods: Optional[Mapping[str, Sequence[str]]] = None,
    super_device_ids: Optional[Mapping[str, Sequence[str]]] = None,
    target: Target = ANY_TARGET,
) -> RankTable:
    """Make a table of version 1.0 or 1.2 from an older one.

    The ranks of template 2 are numbered as HCCL numbers them.

    Args:
        table: of template 2, or of version 1.0.
        version: ``"1.0"`` or ``"1.2"``.
        super_pods: super node to the servers in it, for version 1.2.
        super_device_ids: server to the SDIDs of its devices in order, for version 1.2.
        target: the product that the new table is checked for.

    Raises:
        NpuConfigError: the table cannot be converted, or the new one would be wrong.
    """
    old = "template 2" if isinstance(table, GroupTable) else table.version
    if version not in ("1.0", "1.2") or (old, version) == ("1.2", "1.0") or old == "2.0":
        raise _not_made(old, version)
    if isinstance(table, GroupTable):
        table = _from_groups(table)
    assert isinstance(table, RankTable)
    if version == "1.2":
        table = _in_super_nodes(table, super_pods or {}, super_device_ids or {})
    refuse(check_document(to_document(table), target))
    return table


def not_held(table: AnyRankTable) -> Report:
    """What a table that :func:`convert` makes of another one has no place for."""
    lost: Dict[str, List[str]] = {}
    if isinstance(table, GroupTable):
        first = {id(instance): rank for rank, instance, _ in reversed(list(table.places))}
        for index, group in enumerate(table.groups):
            at = "group_list[{}]".format(index)
            if group.group_name not in ("", "hccl_world_group"):
                lost.setdefault("group_name", []).append(at)
            for key in unknown_keys(group):
                lost.setdefault(key, []).append(at)
            for number, instance in enumerate(group.instances):
                where = "{}.instance_list[{}]".format(at, number)
                if instance.pod_name:
                    lost.setdefault("pod_name", []).append(where)
                if instance.rank_id not in (None, first.get(id(instance))):
                    lost.setdefault("rank_id", []).append(where)
                for key in _colliding_keys(instance):
                    lost.setdefault(key, []).append(where)
                for count, device in enumerate(instance.devices):
                    for key in _colliding_keys(device):
                        lost.setdefault(key, []).append("{}.devices[{}]".format(where, count))
    return Report(
        [
            rank_table_not_held.diagnostic(
                phrase(
                    "{}.{}{} is dropped: the target version has no such field",
                    places[0],
                    key,
                    phrase(" (and {:,} more)", len(places) - 1) if places[1:] else "",
                ),
                help="set the environment variable RANK_ID to the number of the rank"
                if key == "pod_name"
                else None,
            )
            for key, places in lost.items()
        ]
    )


def missing_super_nodes(table: RankTable) -> Report:
    """What a new table of version 1.2 lacks to be more than one of 1.0."""
    if table.version != "1.2" or table.super_pods:
        return Report([])
    message = (
        "no super node is specified: the new table has no super_pod_list, and HCCL groups the "
        "devices by server, as with version 1.0"
    )
    help = (
        "specify every super node with --super-pod and every SDID with --sdid, or keep version 1.0"
    )
    return Report(
        [rank_table_not_convertible.diagnostic(message, help=help, severity=Severity.WARNING)]
    )


def _refusal(message: str, help: Optional[str] = None) -> NpuConfigError:
    return NpuConfigError([rank_table_not_convertible.diagnostic(message, help=help)])


def _not_made(old: str, new: str) -> NpuConfigError:
    help: Optional[str] = None
    if new == "2.0":
        problem = phrase(
            "version 2.0 needs the network layers, addresses and ports of every rank, which {} "
            "does not contain",
            old if old == "template 2" else phrase("version {}", old),
        )
        help = "build a new table from the network of the new machines"
    elif new not in BY_VERSION:
        problem = phrase('there is no version "{}"; legal: 1.0, 1.2', new)
    else:
        problem = phrase("cannot convert version {} to version {}", old, new)
        help = "keep the table, or build a new one"
    return _refusal(problem, help)


def _from_groups(table: GroupTable) -> RankTable:
    """One server for each ``server_id``; keys that nobody reads stay where they are."""
    devices: Dict[str, List[Device]] = {}
    others: Dict[str, Dict[str, Any]] = {}
    for rank, instance, device in table.places:
        own = {"device_id": str(device.device_id)}
        if isinstance(device.device_ip, str) and device.device_ip:
            own["device_ip"] = device.device_ip
        own["rank_id"] = str(rank)
        devices.setdefault(instance.server_id, []).append(
            Device(
                device.device_id,
                rank,
                own.get("device_ip"),
                origin={**own, **_passthrough_keys(device)},
            )
        )
        others.setdefault(instance.server_id, {}).update(_passthrough_keys(instance))
    servers = tuple(
        Server(name, tuple(mine), origin={"server_id": name, "device": [], **others[name]})
        for name, mine in devices.items()
    )
    origin = {"status": table.status, "version": "1.0", "server_count": "", "server_list": []}
    return RankTable(servers, status=table.status, origin={**origin, **_passthrough_keys(table)})


def _passthrough_keys(record: Any) -> Dict[str, Any]:
    """The keys that nobody reads, neither in the old object nor in the new one."""
    return {key: value for key, value in unknown_keys(record).items() if key not in _READ}


def _colliding_keys(record: Any) -> List[str]:
    """The keys that nobody reads in the old object and that would count in the new one."""
    return [key for key in unknown_keys(record) if key in _READ]


def _in_super_nodes(
    table: RankTable,
    super_pods: Mapping[str, Sequence[str]],
    super_device_ids: Mapping[str, Sequence[str]],
) -> RankTable:
    pods = tuple(SuperPod(name, tuple(servers)) for name, servers in super_pods.items())
    order = {name: index for index, pod in enumerate(pods) for name in pod.server_ids}
    known = {server.server_id for server in table.servers}
    strange = [name for name in super_device_ids if name not in known]
    if strange:
        raise _refusal(phrase('"{}" is not a server of the table', strange[0]))
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
        message = '"{}" has {} devices, but {} SDIDs are specified'
        raise _refusal(
            phrase(message, server.server_id, len(server.devices), len(sdids)),
            "list one SDID for each device, in the order of the table",
        )
    devices = zip(server.devices, sdids)
    return attr.evolve(
        server,
        devices=tuple(attr.evolve(device, super_device_id=sdid) for device, sdid in devices),
    )


def merge(
    tables: Iterable[Tuple[str, AnyRankTable]], target: Target = ANY_TARGET
) -> Tuple[AnyRankTable, Report]:
    """Make one table of those of several servers, e.g. of what hccl_tools wrote on each.

    Ranks are numbered table by table, in the order within each.  Super nodes of the same id are
    joined.  Keys that HCCL does not read are kept.

    Args:
        tables: name and table each, all of one version (template 2: convert it first).
        target: the product that the new table is checked for.

    Returns:
        The table, and what it has no place for.

    Raises:
        NpuConfigError: they do not go together, or the new table would be wrong.
    """
    given = list(tables)
    found: List[Diagnostic] = []
    kinds = {table.version for _, table in given if not isinstance(table, GroupTable)}
    for name, table in given:
        if isinstance(table, GroupTable):
            problem = phrase("{} cannot be merged: it is a rank table of template 2", name)
            help: Optional[str] = "convert the table to version 1.0: npu-config ranktable convert"
            found.append(rank_table_not_convertible.diagnostic(problem, help=help))
    if len(kinds) > 1:
        problem = phrase("the tables are of different versions: {}", listed(sorted(kinds)))
        help = None if "2.0" in kinds else "convert the tables to the same version"
        found.append(rank_table_not_convertible.diagnostic(problem, help=help))
    owners: Dict[str, str] = {}
    for name, table in given:
        names = [one.server_id for one in table.servers] if isinstance(table, RankTable) else []
        for server_id in names:
            before = owners.get(server_id)
            owners[server_id] = name
            if before is not None:
                problem = (
                    phrase(
                        'the table {} is specified twice, so the server "{}" occurs twice',
                        name,
                        server_id,
                    )
                    if before == name
                    else phrase('the server "{}" is both in {} and in {}', server_id, before, name)
                )
                help = "specify only one of the two tables"
                found.append(rank_table_not_convertible.diagnostic(problem, help=help))
    if found:
        raise NpuConfigError(found)
    lost = _differences(given)
    models: Any = [table for _, table in given]
    join = _join_ranks if isinstance(models[0], RankTable2) else _join_servers
    joined: AnyRankTable = join(models)
    refuse(check_document(to_document(joined), target))
    return joined, Report(lost)


def _differences(given: Sequence[Tuple[str, AnyRankTable]]) -> List[Diagnostic]:
    """Keys of the top level that the first table has otherwise, or not at all."""
    name, first = given[0]
    mine = unknown_keys(first)
    found = []
    for other, table in given[1:]:
        for key, value in unknown_keys(table).items():
            if key not in mine or mine[key] != value:
                message = phrase(
                    "{} of {} is dropped: {} has a different value for this key"
                    if key in mine
                    else "{} of {} is dropped: {} does not have this key",
                    key,
                    other,
                    name,
                )
                found.append(
                    rank_table_not_held.diagnostic(message, help="add the key by hand if needed")
                )
    return found


def _join_servers(tables: Sequence[RankTable]) -> RankTable:
    servers: List[Server] = []
    pods: Dict[str, SuperPod] = {}
    rank = 0
    for table in tables:
        devices = sorted(d.rank_id for server in table.servers for d in server.devices)
        number = {old: rank + index for index, old in enumerate(devices)}
        rank += len(devices)
        for server in table.servers:
            mine = tuple(attr.evolve(d, rank_id=number[d.rank_id]) for d in server.devices)
            servers.append(attr.evolve(server, devices=mine))
        for pod in table.super_pods:
            before = pods.get(pod.super_pod_id)
            names = (*before.server_ids, *pod.server_ids) if before else pod.server_ids
            pods[pod.super_pod_id] = attr.evolve(before or pod, server_ids=names)
    return attr.evolve(tables[0], servers=tuple(servers), super_pods=tuple(pods.values()))


def _join_ranks(tables: Sequence[RankTable2]) -> RankTable2:
    ranks: List[Rank] = []
    for table in tables:
        before = len(ranks)
        ranks.extend(attr.evolve(one, rank_id=before + one.rank_id) for one in table.ranks)
    return attr.evolve(tables[0], ranks=tuple(ranks))
