"""The check of version 2.0: ranks with network levels."""

import re
from collections import Counter
from functools import partial
from itertools import chain
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.rank_table._common import check_count, check_rank_ids, check_status
from npu_config.rank_table.dialects import BACKUP_LOCAL_ID, RANKS_SCHEMA, SOURCES
from npu_config.sidefiles.schema.kinds import CutInteger, IpAddress, Key, family_of
from npu_config.sidefiles.schema.reading import (
    FileFindings,
    ObjectTable,
    Reader,
    TableNode,
    dotted,
    shown,
)

_EID = re.compile(r"[0-9a-fA-F]{32}\Z")
_SOURCE = ("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a5.md",)

_rule = partial(declare, facts=("rank-table-file",))


@_rule("NPU661", Severity.ERROR, source=_SOURCE)
def rank_table_layers() -> None:
    """The layers of a rank are out of order, or layer 0 is missing or has the wrong type.

    In version 2.0 the `net_layer` values in `level_list` must be 0 or more and in ascending order;
    gaps are legal.  In the guide, the topology file of the driver describes layer 0, so the
    `net_type` of layer 0 should be `TOPO_FILE_DESC` (a warning; a missing `net_type` means
    `CLOS`).

    Wrong: `{"net_layer": 0, "net_type": "CLOS", ...}`

    Right: `{"net_layer": 0, "net_type": "TOPO_FILE_DESC", ...}`
    """


@_rule("NPU662", Severity.WARNING, source=_SOURCE)
def rank_table_layer_ports() -> None:
    """Two addresses of one network layer use the same port of a rank.

    In version 2.0 an address may have several ports, but within one layer a port must have only
    one address.

    Wrong: `"ports": ["0/4"]` for two addresses of one `rank_addr_list`

    Right: `"ports": ["0/4"]` for one address and `"ports": ["0/5"]` for the other
    """


@_rule(
    "NPU610",
    Severity.ERROR,
    source=(
        SOURCES["R2"] + "/new_rank_info.cc:47-63",
        SOURCES["R2"] + "/rank_table_info.cc:90-144",
    ),
)
def rank_table_local_ids() -> None:
    """The `local_id` values of the ranks are inconsistent.

    In version 2.0 a `local_id` must be unique among the ranks of one net instance of layer 0.  The
    value 64 marks the backup rank: there may be only one, it needs a `replaced_local_id` from 0 to
    63, and no rank of the table may have that `local_id`.

    Wrong: `{"local_id": 64, ...}` without `replaced_local_id`

    Right: `{"local_id": 64, "replaced_local_id": 5, ...}`
    """


@_rule(
    "NPU667",
    Severity.ERROR,
    source=(
        SOURCES["R2"] + "/address_info.cc:39-159",
        SOURCES["R2"] + "/rank_table_info.cc:185-206",
    ),
)
def rank_table_layer_addresses() -> None:
    """An address does not match `addr_type`, or ranks of a network have unequal address counts.

    In version 2.0 `addr` must be 32 hexadecimal digits for `EID`, a dotted address for `IPV4`, and
    an IPv6 address for `IPV6`.  `backup_addr` contains addresses of the same type; `EID` does not
    allow it.  All ranks of one net instance (same `net_layer` and `net_instance_id`) must have the
    same number of addresses.

    Wrong: `{"addr_type": "EID", "addr": "00dfdf0020", ...}`

    Right: `{"addr_type": "EID", "addr": "000000000000002000100000df001001", ...}`
    """


def check_ranks(document: Dict[str, Any], reader: Reader) -> None:
    """Check a document of version 2.0.

    Args:
        document: the whole table.
        reader: reads it, and holds the findings.
    """
    findings = reader.findings
    table = reader.read(document, RANKS_SCHEMA)
    check_status(table["status"].values, findings)
    ranks = table.under("rank_list")
    check_count(table, "rank_count", [len(ranks.level)], "rank", findings, "rank_list")
    check_rank_ids(ranks.level, ranks["rank_id"], findings, document, "rank_list")
    levels = ranks.under("level_list")
    layers = levels["net_layer"].over(len(levels.level))
    names = levels["net_instance_id"].over(len(levels.level))
    _check_layers(levels, layers, findings)
    _check_local_ids(reader, ranks, levels.level, layers, names)
    addresses = levels.under("rank_addr_list")
    _check_numbers(levels.level, addresses.level, layers, names, findings)
    _check_addresses(addresses, findings)
    _check_addresses(ranks.under("control_plane"), findings)
    _check_port_owners(addresses, findings)
    _check_listen_ports(ranks.under("control_plane"), findings)


def _check_layers(levels: TableNode, layers: Sequence[Any], findings: FileFindings) -> None:
    types = levels["net_type"].over(len(levels.level))
    items, wrong_type = levels.level.items, 0
    in_order: Set[Any] = set()
    for start, end in levels.level.spans():
        own_layers = tuple(layers[start:end])
        if own_layers not in in_order:
            if None in own_layers or not _in_order(levels.level, start, own_layers, findings):
                continue
            in_order.add(own_layers)
        if own_layers and (types[start] or items[start].get("net_type", "CLOS")) == "CLOS":
            if not wrong_type:
                first = start
            wrong_type += 1
    if wrong_type:
        findings.report_at(
            rank_table_layers,
            levels.level.path(first),
            "{}{} is of type CLOS; for layer 0 the guide allows only TOPO_FILE_DESC",
            phrase(" (and {:,} more)", wrong_type - 1) if wrong_type > 1 else "",
            help='write "net_type": "TOPO_FILE_DESC"',
            severity=Severity.WARNING,
        )


def _in_order(
    levels: ObjectTable, start: int, layers: Sequence[Any], findings: FileFindings
) -> bool:
    """Whether the layers of one rank rise from 0; notes when they do not."""
    expected = -1
    for offset, layer in enumerate(layers):
        if layer > expected and (offset or layer == 0):
            expected = layer
            continue
        findings.report_at(
            rank_table_layers,
            (*levels.path(start + offset), "net_layer"),
            "{} is {}; the layers of a rank must start with 0 and increase, this rank has {}",
            layer,
            listed(map(str, layers)),
            help="order the levels by net_layer, layer 0 first",
        )
        return False
    return True


def _check_local_ids(
    reader: Reader,
    ranks: TableNode,
    levels: ObjectTable,
    layers: Sequence[Any],
    names: Sequence[Any],
) -> None:
    findings, level = reader.findings, ranks.level
    column = ranks["local_id"]
    instance = [
        names[start] if start < end and layers[start] == 0 else None
        for start, end in levels.spans()
    ]
    first: Dict[Tuple[Any, int], int] = {}
    places = zip(map(instance.__getitem__, column.owners), column.values)
    unique = len(set(places)) == len(column.values)
    for owner, local in () if unique else column.pairs():
        name = instance[owner]
        before = owner if name is None else first.setdefault((name, local), owner)
        if before != owner and local != BACKUP_LOCAL_ID:
            findings.report_at(
                rank_table_local_ids,
                (*level.path(owner), "local_id"),
                "{} is {}, the same as in {}; it must be unique in net instance {} of layer 0",
                local,
                dotted(level.path(before)),
                shown(name),
                help="write the number of the NPU in its server",
            )
    if BACKUP_LOCAL_ID in column.values:
        _check_backups(reader, ranks)


def _check_backups(reader: Reader, ranks: TableNode) -> None:
    column, level = ranks["local_id"], ranks.level
    backups = [o for o, local in column.pairs() if local == BACKUP_LOCAL_ID]
    key = Key(CutInteger(0, 63))
    replaced = dict(ranks["replaced_local_id"].pairs())
    for position, owner in enumerate(backups):
        path = level.path(owner)
        problem: Optional[str] = None
        help = 'set "replaced_local_id" to the local_id, 0 to 63, of the NPU that it replaces'
        if position:
            problem = "is a second backup rank (local_id 64); only one is allowed"
            help = "keep one backup rank"
        elif owner not in replaced:
            problem = 'has local_id 64 and no "replaced_local_id"'
        else:
            at = (*path, "replaced_local_id")
            local = reader.value(at, key, key.kind, replaced[owner])
            if local in column.values:
                problem = phrase(
                    "replaces local_id {}, but another rank of the table has this local_id", local
                )
        if problem is not None:
            reader.findings.report_at(
                rank_table_local_ids,
                path,
                "{} {}",
                problem,
                help=help,
            )


def _check_numbers(
    levels: ObjectTable,
    addresses: ObjectTable,
    layers: Sequence[Any],
    names: Sequence[Any],
    findings: FileFindings,
) -> None:
    sizes = addresses.sizes()
    found = set(zip(layers, names, sizes))
    instances = Counter((layer, name) for layer, name, _ in found)
    for (layer, name), count in instances.items():
        if count > 1 and name is not None and layer is not None:
            mine = [i for i, pair in enumerate(zip(layers, names)) if pair == (layer, name)]
            odd = next(index for index in mine if sizes[index] != sizes[mine[0]])
            path = levels.path(odd)
            findings.add(
                rank_table_layer_addresses,
                (*path, "rank_addr_list"),
                phrase(
                    "{} has {} addresses, other ranks of net instance {} (layer {}) have {}; "
                    "all must have the same number",
                    dotted(path),
                    sizes[odd],
                    shown(name),
                    layer,
                    sizes[mine[0]],
                ),
                "list the same number of addresses for all ranks of a net instance",
            )


_FITS: Mapping[str, Callable[[str], bool]] = {
    "EID": lambda text: _EID.match(text) is not None,
    "IPV4": lambda text: family_of(text, zone=False) == "IPv4",
    "IPV6": lambda text: family_of(text, zone=False) == "IPv6",
}


def _check_addresses(addresses: TableNode, findings: FileFindings) -> None:
    count = len(addresses.level)
    types = addresses["addr_type"].over(count)
    texts = addresses["addr"].over(count)
    plain = set(types) == {"IPV4"} and None not in texts and IpAddress().read_all(texts)
    if not plain or ":" in texts[0]:
        for owner, (kind, text) in enumerate(zip(types, texts)):
            if kind is None or text is None or _FITS[kind](text):
                continue
            _report_address_mismatch((*addresses.level.path(owner), "addr"), text, kind, findings)
    backups = addresses["backup_addr"]
    for owner, mine in backups.pairs():
        kind = types[owner]
        for index, text in enumerate(mine):
            if kind is None or not isinstance(text, str) or not text:
                continue
            if kind == "EID" or not _FITS[kind](text):
                _report_address_mismatch(
                    (*addresses.level.path(owner), "backup_addr", index), text, kind, findings
                )


def _report_address_mismatch(path: Any, text: str, kind: str, findings: FileFindings) -> None:
    legal = {
        "EID": "requires exactly 32 hexadecimal digits, and no backup_addr",
        "IPV4": "requires four decimal numbers without leading zeros",
        "IPV6": "requires an IPv6 address",
    }
    findings.report_at(
        rank_table_layer_addresses,
        path,
        "{} is {}; addr_type {} {}",
        shown(text),
        kind,
        legal[kind],
        help="correct the address or its type",
    )


def _check_listen_ports(control: TableNode, findings: FileFindings) -> None:
    for owner, port in control["listen_port"].pairs():
        if port == 65536:
            findings.report_at(
                rank_table_layer_addresses,
                (*control.level.path(owner), "listen_port"),
                "{} is 65536, which HCCL accepts although it is not a valid port",
                help="write a port from 1 to 65535",
                severity=Severity.INFO,
            )


def _check_port_owners(addresses: TableNode, findings: FileFindings) -> None:
    level = addresses.level
    lists = [ports or () for ports in addresses["ports"].over(len(level))]
    if not set(map(type, chain.from_iterable(addresses["ports"].values))) <= {str}:
        return
    good: Set[Any] = set()
    for start, end in level.spans():
        if end - start < 2:
            continue
        pattern = tuple(map(tuple, lists[start:end]))
        if pattern in good:
            continue
        if len(set(chain.from_iterable(pattern))) == sum(map(len, pattern)):
            good.add(pattern)
            continue
        first: Dict[str, int] = {}
        for index, ports in zip(range(start, end), pattern):
            for position, port in enumerate(ports):
                before = first.setdefault(port, index)
                if before != index:
                    findings.report_at(
                        rank_table_layer_ports,
                        (*level.path(index), "ports", position),
                        "{} is {}, which is also a port of {}; within a layer, a port can have "
                        "only one address",
                        shown(port),
                        dotted(level.path(before)),
                        help="remove the port from one of the two addresses",
                    )
