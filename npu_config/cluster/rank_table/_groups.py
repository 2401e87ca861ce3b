"""The check of the old template 2: groups of containers."""

from typing import Any, Dict

from npu_config.cluster.rank_table import formats
from npu_config.cluster.rank_table._addresses import check_addresses
from npu_config.cluster.rank_table._counts import check_count, check_names, check_status
from npu_config.cluster.rank_table._fields import Reader
from npu_config.cluster.rank_table._levels import NO_COLUMN, Level
from npu_config.cluster.rank_table._ports import shared_devices
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare
from npu_config.core.target import Product

TEMPLATE_2 = declare(
    "NPU663",
    "rank-table-template-2",
    Severity.INFO,
    """
    The table is of the old template 2 (`group_list`).

    HCCL reads it on atlas_training for the sake of existing jobs; template 1 (version 1.0) is
    recommended for new ones.  Template 2 has no `rank_id`: a process is known by `POD_NAME`
    and `RANK_ID` of its environment, and several groups are merged into `hccl_world_group`.
    `npu-config ranktable convert` writes version 1.0.

    Wrong: `{"status": "completed", "group_count": "1", "group_list": [...]}`

    Right: `{"status": "completed", "version": "1.0", "server_count": "1", "server_list": [...]}`
    """,
    facts=("rank-table-file",),
    source=("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",),
    products=(Product.ATLAS_TRAINING,),
)


def check_groups(document: Dict[str, Any], reader: Reader) -> None:
    """Check a document of template 2.

    Args:
        document: the whole table.
        reader: reads it by the format, and holds the findings.
    """
    findings = reader.findings
    root = Level.root(document)
    table = reader.fields("table", root, formats.TABLE_GROUPS)
    check_status(table, findings)
    groups = reader.children(root, "group_list", table)
    group = reader.fields("group", groups, formats.GROUP)
    check_count(root, "group_count", table, len(groups.items), "group_list", findings)
    instances = reader.children(groups, "instance_list", group)
    instance = reader.fields("instance", instances, formats.INSTANCE)
    check_names(instances, "pod_name", instance, findings)
    devices = reader.children(instances, "devices", instance)
    device = reader.fields("group_device", devices, formats.GROUP_DEVICE)
    shared_devices(reader, devices, device)
    check_addresses(devices, "device_ip", device.get("device_ip", NO_COLUMN), findings)

    sizes = devices.sizes()
    for owner, (start, end) in enumerate(instances.spans()):
        check_count(groups, "instance_count", group, end - start, "instance_list", findings, owner)
        total = sum(sizes[start:end])
        check_count(
            groups, "device_count", group, total, "instance_list", findings, owner, "devices"
        )
