"""A rank table as a table that a person can check: ranks, servers, devices, networks."""

from typing import Any, Dict, Iterable, List, Optional, Tuple

from npu_config.core.message import in_columns, localized, phrase
from npu_config.rank_table.model import (
    AnyRankTable,
    GroupTable,
    RankTable,
    RankTable2,
)

Row = Tuple[str, ...]


def facts(table: AnyRankTable) -> Dict[str, Any]:
    """What a table holds, as plain values: its version, counts, columns and rows."""
    heads, rows = _rows(table)
    filled = [index for index, _ in enumerate(heads) if any(row[index] for row in rows)]
    return {
        "version": None if isinstance(table, GroupTable) else table.version,
        "servers": len({process.server_id for process in table.processes} - {None}),
        "ranks": table.rank_size,
        "columns": [heads[index] for index in filled],
        "rows": [[row[index] for index in filled] for row in rows],
    }


def show(table: AnyRankTable) -> str:
    """Lines of text: what the table is, and a row for each rank, in order.

    Servers, super nodes and pods are named; for version 2.0 so are the network levels, each
    with its network and addresses.
    """
    found = facts(table)
    version = found["version"]
    parts = [localized("template 2") if version is None else localized("version {}", version)]
    for what, one, several in (
        ("servers", "{:,} server", "{:,} servers"),
        ("ranks", "{:,} rank", "{:,} ranks"),
    ):
        count = found[what]
        if count:
            parts.append(localized(one if count == 1 else several, count))
    heads = [localized(head) for head in found["columns"]]
    lines = [localized(", ").join(parts), "", *in_columns([heads, *found["rows"]])]
    return "\n".join(lines) + "\n"


def _text(value: Optional[object]) -> str:
    return "" if value is None else str(value)


def _rows(table: AnyRankTable) -> Tuple[Row, List[Row]]:
    if isinstance(table, RankTable):
        return _servers(table)
    if isinstance(table, GroupTable):
        heads: Row = ("rank", phrase("server"), "pod", phrase("device"), phrase("address"))
        return heads, [
            (
                str(rank),
                instance.server_id,
                _text(instance.pod_name),
                str(device.device_id),
                _text(device.device_ip),
            )
            for rank, instance, device in table.places
        ]
    return _ranks(table)


def _servers(table: RankTable) -> Tuple[Row, List[Row]]:
    pod_of = {name: pod.super_pod_id for pod in table.super_pods for name in pod.server_ids}
    devices = [(server, device) for server in table.servers for device in server.devices]
    rows: List[Row] = [
        (
            str(device.rank_id),
            pod_of.get(server.server_id, ""),
            server.server_id,
            _text(server.host_ip),
            str(device.device_id),
            _text(device.super_device_id),
            _text(device.device_ip),
            _text(device.device_port),
        )
        for server, device in sorted(devices, key=lambda pair: pair[1].rank_id)
    ]
    heads = (
        "rank",
        phrase("super node"),
        phrase("server"),
        phrase("host"),
        phrase("device"),
        "sdid",
        phrase("address"),
        phrase("port"),
    )
    return heads, rows


def _ranks(table: RankTable2) -> Tuple[Row, List[Row]]:
    layers = sorted({level.net_layer for rank in table.ranks for level in rank.levels})
    rows: List[Row] = []
    for rank in sorted(table.ranks, key=lambda one: one.rank_id):
        levels = {level.net_layer: level for level in rank.levels}
        local = str(rank.local_id)
        if rank.replaced_local_id is not None:
            local += localized(" (replaces {})", rank.replaced_local_id)
        networks: List[str] = []
        for layer in layers:
            level = levels.get(layer)
            networks.append(
                ""
                if level is None
                else "{}: {}".format(level.net_instance_id, _joined(level.addresses))
            )
        rows.append((str(rank.rank_id), local, str(rank.device_id), *networks))
    layers_ = (phrase("layer {}", one) for one in layers)
    return ("rank", "local", phrase("device"), *layers_), rows


def _joined(addresses: Iterable[Any]) -> str:
    return ", ".join("{} {}".format(one.addr, "+".join(one.ports)) for one in addresses)
