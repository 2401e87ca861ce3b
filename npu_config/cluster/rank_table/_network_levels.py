"""The check of version 2.0: ranks with network levels."""

import re
from itertools import chain
from typing import Any, Dict, Mapping, Set

from npu_config.cluster.rank_table import formats
from npu_config.cluster.rank_table._counts import check_count, check_status
from npu_config.cluster.rank_table._fields import VALUE, VALUE_TYPE, Reader
from npu_config.cluster.rank_table._findings import Findings, dotted, shown
from npu_config.cluster.rank_table._levels import NO_COLUMN, Column, Level
from npu_config.cluster.rank_table._numbering import check_rank_ids
from npu_config.cluster.rank_table.values import IpAddress, read_address
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_IPV4 = IpAddress(only_ipv4=True)
_PORT = re.compile(r"(?=.{{1,{}}}\Z)(?:[0-9]+/[0-9]+|d2h)\Z".format(formats.LONGEST_PORT))

_SOURCE = ("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a5.md",)

LAYERS = declare(
    "NPU661",
    "rank-table-layers",
    Severity.ERROR,
    """
    The network layers of a rank are not in order, or layer 0 has the wrong type.

    In version 2.0 the entries of `level_list` have `net_layer` from 0 on, ascending, each
    once.  Layer 0 is described by the topology file of the driver, so its `net_type` is
    `TOPO_FILE_DESC`; higher layers may be `CLOS` too.

    Wrong: `{"net_layer": 0, "net_type": "CLOS", ...}`

    Right: `{"net_layer": 0, "net_type": "TOPO_FILE_DESC", ...}`
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)

LAYER_PORTS = declare(
    "NPU662",
    "rank-table-layer-ports",
    Severity.ERROR,
    """
    A port of a rank belongs to two addresses of one layer.

    In version 2.0 an address may have several ports, but within one layer a port has one
    address.

    Wrong: `"ports": ["0/4"]` for two addresses of one `rank_addr_list`

    Right: `"ports": ["0/4"]` for the one and `"ports": ["0/5"]` for the other
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)


def check_ranks(document: Dict[str, Any], reader: Reader) -> None:
    """Check a document of version 2.0.

    Args:
        document: the whole table.
        reader: reads it by the format, and holds the findings.
    """
    findings = reader.findings
    root = Level.root(document)
    table = reader.fields("table", root, formats.TABLE_2)
    check_status(table, findings)
    ranks = reader.children(root, "rank_list", table)
    rank = reader.fields("rank", ranks, formats.RANK)
    check_count(root, "rank_count", table, len(ranks.items), "rank_list", findings)
    check_rank_ids(ranks, rank.get("rank_id", NO_COLUMN), findings)

    levels = reader.children(ranks, "level_list", rank)
    level = reader.fields("level", levels, formats.LEVEL)
    _check_layers(levels, level, findings)

    addresses = reader.children(levels, "rank_addr_list", level)
    address = reader.fields("address", addresses, formats.ADDRESS)
    _check_address_types(addresses, address, findings)
    _check_ports(addresses, address.get("ports", NO_COLUMN), findings)


def _check_layers(levels: Level, level: Mapping[str, Column], findings: Findings) -> None:
    layers = level.get("net_layer", NO_COLUMN).over(len(levels.items))
    types = level.get("net_type", NO_COLUMN).over(len(levels.items))
    good: Set[Any] = set()
    for start, end in levels.spans():
        mine = tuple(layers[start:end])
        if mine not in good and (None in mine or not _in_order(levels, start, mine, findings)):
            continue
        good.add(mine)
        if mine and types[start] == "CLOS":
            path = (*levels.path(start), "net_type")
            findings.add(
                LAYERS,
                path,
                '{} is "CLOS"; layer 0 takes TOPO_FILE_DESC only'.format(dotted(path)),
                'write "TOPO_FILE_DESC"',
                instead='"TOPO_FILE_DESC"',
            )


def _in_order(levels: Level, start: int, layers: Any, findings: Findings) -> bool:
    """Whether the layers of one rank ascend from 0; notes when they do not."""
    expected = -1
    for offset, layer in enumerate(layers):
        if layer > expected and (offset or layer == 0):
            expected = layer
            continue
        path = (*levels.path(start + offset), "net_layer")
        findings.add(
            LAYERS,
            path,
            "{} is {}; the layers of a rank begin with 0 and ascend, this rank has {}".format(
                dotted(path), layer, ", ".join(map(str, layers))
            ),
            "order the levels by net_layer",
        )
        return False
    return True


def _check_address_types(
    addresses: Level, address: Mapping[str, Column], findings: Findings
) -> None:
    types = address.get("addr_type", NO_COLUMN).over(len(addresses.items))
    texts = address.get("addr", NO_COLUMN).over(len(addresses.items))
    if set(types) == {"IPV4"} and None not in texts and _IPV4.read_all(texts) is not None:
        return
    for owner, (kind, text) in enumerate(zip(types, texts)):
        if kind not in ("IPV4", "IPV6") or text is None:
            continue
        if type(read_address(text)) is not (str if kind == "IPV4" else bytes):
            path = (*addresses.path(owner), "addr")
            findings.add(
                VALUE,
                path,
                "{} is {}, which is no address of addr_type {}".format(
                    dotted(path), shown(text), kind
                ),
                "correct the address or its type",
            )


def _check_ports(addresses: Level, ports: Column, findings: Findings) -> None:
    flat = list(chain.from_iterable(ports.values))
    findings.texts += len(flat)
    if set(map(type, flat)) <= {str} and all(map(_PORT.match, set(flat))):
        _check_port_owners(addresses, ports, findings)
        return
    for owner, mine in zip(ports.owners, ports.values):
        for index, port in enumerate(mine):
            is_text = type(port) is str
            if is_text and _PORT.match(port):
                continue
            path = (*addresses.path(owner), "ports", index)
            findings.add(
                VALUE if is_text else VALUE_TYPE,
                path,
                '{} is {}; a port is "<die>/<port>" such as "0/4", or "d2h", of at most {} '
                "characters".format(dotted(path), shown(port), formats.LONGEST_PORT),
            )


def _check_port_owners(addresses: Level, ports: Column, findings: Findings) -> None:
    lists = ports.over(len(addresses.items))
    good: Set[Any] = set()
    for start, end in addresses.spans():
        if end - start < 2:
            continue
        pattern = tuple(map(tuple, (mine or () for mine in lists[start:end])))
        if pattern in good:
            continue
        if len(set(chain.from_iterable(pattern))) == sum(map(len, pattern)):
            good.add(pattern)
            continue
        first: Dict[str, int] = {}
        for index in range(start, end):
            for position, port in enumerate(lists[index] or ()):
                before = first.setdefault(port, index)
                if before != index:
                    path = (*addresses.path(index), "ports", position)
                    findings.add(
                        LAYER_PORTS,
                        path,
                        "{} is {}, a port of {} too; within a layer a port has one address".format(
                            dotted(path), shown(port), dotted(addresses.path(before))
                        ),
                        "remove it from one of the two",
                    )
