"""The check of versions 1.0 and 1.2: servers that hold devices."""

from typing import Any, Dict, FrozenSet

from npu_config.core.target import Product
from npu_config.rank_table._addresses import check_device_ips
from npu_config.rank_table._common import (
    check_blocks,
    check_count,
    check_names,
    check_rank_ids,
    check_status,
)
from npu_config.rank_table._pods import check_super_pods
from npu_config.rank_table._ports import check_ports, check_shared_devices
from npu_config.rank_table._products import check_balance, check_device_counts
from npu_config.rank_table.dialects import servers_schema
from npu_config.sidefiles.schema.reading import Reader


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
