"""The check of template 2: groups of pods, or of single devices with their ranks."""

from typing import Any, Dict, FrozenSet, List

from npu_config.core.diagnostics import Severity, declare
from npu_config.core.message import phrase
from npu_config.core.versions import Product
from npu_config.rank_table._common import (
    check_count,
    check_device_counts,
    check_families,
    check_names,
    check_rank_ids,
    check_shared_devices,
    check_status,
    check_unique,
    rank_table_count,
)
from npu_config.rank_table._servers import rank_table_address_needed
from npu_config.rank_table.dialects import (
    EVEN,
    SOURCES,
    cloud_schema,
    deploy_mode_schema,
)
from npu_config.sidefiles.schema.kinds import IpAddresses, Key
from npu_config.sidefiles.schema.reading import (
    NO_COLUMN,
    Column,
    FileFindings,
    Path,
    Reader,
    TableNode,
    dotted,
)


@declare(
    "NPU663",
    Severity.INFO,
    facts=("rank-table-file",),
    source=(
        "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",
        SOURCES["ST"] + ":328-353, 659-663",
    ),
)
def rank_table_template_2() -> None:
    """The table is of the old template 2 (`group_list`).

    HCCL reads it for the sake of existing jobs; template 1 (version 1.0) is recommended for new
    ones.  Without the key `deploy_mode` it holds groups of pods and no `rank_id`: the ranks are
    counted over the `server_id` in the order of their text and the `device_id` of each, and a
    process is known by `RANK_ID` or `POD_NAME`, which is a `pod_name`, and by its device.  With
    that key, whatever its value, each instance holds one device and its `rank_id`.  Several
    groups are merged into one.  `npu-config ranktable convert` writes version 1.0.

    Wrong: `{"status": "completed", "group_count": "1", "group_list": [...]}`

    Right: `{"status": "completed", "version": "1.0", "server_count": "1", "server_list": [...]}`
    """


_PER_SERVER = (1, 2, 4, 8, 16)


def check_groups(
    document: Dict[str, Any], has_deploy_mode: bool, products: FrozenSet[Product], reader: Reader
) -> None:
    """Check a document of template 2.

    Args:
        document: the whole table.
        has_deploy_mode: whether it has the key ``deploy_mode``.
        products: the products that it may be for.
        reader: reads it, and holds the findings.
    """
    findings = reader.findings
    schema = deploy_mode_schema(products) if has_deploy_mode else cloud_schema()
    table = reader.read(document, schema)
    check_status(table, findings)
    groups = table.under("group_list")
    instances = groups.under("instance_list")
    devices = instances.under("devices")
    check_count(table, "group_count", [len(groups.level.items)], "group", findings, "group_list")
    check_names(groups, "group_name", findings)
    sizes, many = devices.level.sizes(), []
    for start, end in instances.level.spans():
        many.append(sum(sizes[start:end]))
    lists = ("instance_list", "devices")
    sizes = instances.level.sizes()
    check_count(groups, "instance_count", sizes, "instance", findings, "instance_list")
    if has_deploy_mode:
        check_count(groups, "device_num", many, "device", findings, *lists)
        ids = instances["rank_id"]
        check_rank_ids(instances.level, ids, findings, document, "group_list", "instance_list")
        addresses = devices["device_ip"]
    else:
        check_count(groups, "device_count", many, "device", findings, *lists)
        check_names(instances, "pod_name", findings)
        addresses = _pod_addresses(reader, instances, devices)
    _check_servers(groups, instances, devices, addresses, products, findings)


def _pod_addresses(reader: Reader, instances: TableNode, devices: TableNode) -> Column:
    """The addresses of pods, which HCCL reads only in a group of several."""
    pods = instances.level
    sizes = pods.sizes()
    read = [sizes[pods.owner(devices.level.owner(i))] > 1 for i in range(len(devices.level))]
    column = devices["device_ip"]
    pairs = [(owner, value) for owner, value in column.pairs() if read[owner]]
    there = {owner for owner, _ in pairs}
    for owner, item in enumerate(devices.level.items):
        if read[owner] and owner not in there and item:
            reader.findings.report_at(
                rank_table_address_needed,
                devices.level.path(owner),
                '{} has no "device_ip"; a group of several pods needs it',
                help="write the address of the device",
            )
    if not pairs:
        return NO_COLUMN
    key = Key(IpAddresses(single=True))
    found = Column([owner for owner, _ in pairs], [value for _, value in pairs])
    return reader.plain(devices.level, "device_ip", key, found)


def _check_servers(
    groups: TableNode,
    instances: TableNode,
    devices: TableNode,
    addresses: Column,
    products: FrozenSet[Product],
    findings: FileFindings,
) -> None:
    names = instances["server_id"].over(len(instances.level))
    servers: Dict[Any, List[Any]] = {}
    paths: List[Path] = []
    ids = devices.level.split(devices["device_id"].over(len(devices.level)))
    for index, mine in enumerate(ids):
        if names[index] not in servers:
            paths.append(instances.level.path(index))
        servers.setdefault(names[index], []).extend(mine)
    check_unique(
        devices.level,
        "device_ip",
        Column(*_given(addresses)),
        findings,
    )
    check_shared_devices(
        devices, servers.values(), lambda index: names[devices.level.owner(index)], findings
    )
    if len(servers) > 1:
        one = sum(groups["server_num"].values) == 1  # which of the two counts is not known
        doubt = Severity.WARNING if one else None
        check_families(devices.level, "device_ip", addresses, findings, doubt)
        _empty(devices, addresses, findings)
    if None in servers:
        return
    if groups["server_num"].values:
        _check_server_num(groups, servers, products, findings)
    else:
        check_device_counts(paths.__getitem__, list(servers.values()), products, findings)


def _given(addresses: Column) -> Any:
    pairs = [pair for pair in addresses.pairs() if pair[1]]
    return [owner for owner, _ in pairs], [value for _, value in pairs]


def _empty(devices: TableNode, addresses: Column, findings: FileFindings) -> None:
    for owner, address in addresses.pairs():
        if not address:
            findings.report_at(
                rank_table_address_needed,
                (*devices.level.path(owner), "device_ip"),
                "{} is empty; the servers cannot connect",
                help="write the address of the device",
                severity=Severity.WARNING,
            )


def _check_server_num(
    groups: TableNode,
    servers: Dict[Any, List[Any]],
    products: FrozenSet[Product],
    findings: FileFindings,
) -> None:
    numbers = groups["device_num"].over(len(groups.level))
    for owner, count in groups["server_num"].pairs():
        path = (*groups.level.path(owner), "server_num")
        number = numbers[owner]
        if not count:
            message = phrase("{} is 0", dotted(path))
        elif number is None or Product.ATLAS_300I_DUO in products:
            continue
        elif number % count or number // count not in _PER_SERVER:
            message = phrase(
                "{} is {} for {} devices; HCCL takes 1, 2, 4, 8 or 16 devices for each server",
                dotted(path),
                count,
                number,
            )
        else:
            continue
        findings.add(rank_table_count, path, message, "write the number of servers")
        return
    stated = sum(groups["server_num"].values)
    if products <= EVEN and stated:
        devices = sum(map(len, servers.values()))
        for name, mine in servers.items():
            if len(mine) * stated != devices:
                findings.add(
                    rank_table_count,
                    (*groups.level.path(0), "server_num"),
                    phrase(
                        'server_num is {} for {} devices, but the server "{}" has {}; every '
                        "server has the same number",
                        stated,
                        devices,
                        name,
                        len(mine),
                    ),
                    "write the number of servers",
                )
                return
