"""The check of versions 1.0 and 1.2: servers that hold devices."""

from typing import Any, Dict

from npu_config.cluster.rank_table import formats
from npu_config.cluster.rank_table._addresses import check_addresses
from npu_config.cluster.rank_table._counts import check_count, check_names, check_status
from npu_config.cluster.rank_table._fields import Reader
from npu_config.cluster.rank_table._levels import NO_COLUMN, Level
from npu_config.cluster.rank_table._numbering import check_blocks, check_rank_ids
from npu_config.cluster.rank_table._pods import read_super_pods
from npu_config.cluster.rank_table._ports import check_ports, shared_devices
from npu_config.cluster.rank_table._products import check_device_counts
from npu_config.cluster.rank_table.formats import Need


def check_servers(document: Dict[str, Any], reader: Reader) -> None:
    """Check a document of version 1.0 or 1.2.

    Args:
        document: the whole table.
        reader: reads it by the formats that it may be of, and holds the findings.
    """
    findings = reader.findings
    root = Level.root(document)
    table = reader.fields("table", root, formats.TABLE_1)
    check_status(table, findings)
    servers = reader.children(root, "server_list", table)
    if len(servers.items) > 1:
        reader.need(Need.SEVERAL_SERVERS)
    server = reader.fields("server", servers, formats.SERVER)
    check_count(root, "server_count", table, len(servers.items), "server_list", findings)
    check_names(servers, "server_id", server, findings)
    pods = read_super_pods(reader, root, table, servers, server)

    devices = reader.children(servers, "device", server)
    device = reader.fields("device", devices, formats.DEVICE)
    ranks = check_rank_ids(devices, device.get("rank_id", NO_COLUMN), findings)
    check_blocks(devices, ranks, findings)
    same = shared_devices(reader, devices, device)
    check_addresses(devices, "device_ip", device.get("device_ip", NO_COLUMN), findings, same)
    check_ports(devices, device, findings)
    pods.check_devices(devices, device, findings)
    check_device_counts(reader.overlay, devices, device, pods, findings)
