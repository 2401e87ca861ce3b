"""Checks that several dialects share: status, counts, names, rank ids, addresses, devices."""

from collections import Counter
from functools import partial
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from npu_config.core.diagnostics import Severity, declare
from npu_config.core.message import phrase
from npu_config.core.versions import Product
from npu_config.rank_table.dialects import EVEN, SOURCES
from npu_config.sidefiles.schema.kinds import pieces
from npu_config.sidefiles.schema.reading import (
    Column,
    FileFindings,
    ObjectTable,
    Path,
    TableNode,
    dotted,
    ranges,
    shown,
)

_GUIDE = "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_{}.md"
_SOURCE = tuple(_GUIDE.format(name) for name in ("910", "a5"))

table_rule = partial(declare, facts=("rank-table-file",), source=_SOURCE)


@table_rule("NPU647", Severity.ERROR, source=(*_SOURCE, SOURCES["GL"] + ":166-188"))
def rank_table_not_completed() -> None:
    """The status of a rank table is not `completed`.

    The graph engine reads the table every second until `status` is `completed`, for 30 minutes at
    most, and then fails.  `initializing` means that the program that writes the table has not
    finished; with any other text (`Completed`, `done`) the graph engine waits, too.

    Wrong: `"status": "initializing"`

    Right: `"status": "completed"`
    """


@table_rule("NPU648", Severity.ERROR)
def rank_table_count() -> None:
    """A count in a rank table differs from the number of entries in its list.

    `server_count`, `rank_count`, `group_count`, `instance_count`, `device_count`, `device_num` and
    `server_num` state the number of entries; HCCL compares the two numbers and fails if they
    differ.  The usual cause is a server that was added or removed without a change of the count.
    npu_config cannot know which number is wrong, so it corrects nothing automatically.

    Wrong: `"server_count": "1"` with two entries in `server_list`

    Right: `"server_count": "2"`
    """


@table_rule("NPU649", Severity.ERROR)
def rank_table_duplicate_name() -> None:
    """Two servers, containers or super nodes have the same name.

    `server_id`, `pod_name` and `super_pod_id` must be unique in a table: HCCL treats devices with
    the same `server_id` as devices of one machine.

    Wrong: `"server_id": "node_0"` twice in `server_list`

    Right: `"server_id": "node_0"` and `"server_id": "node_1"`
    """


@table_rule("NPU650", Severity.ERROR, facts=("rank-table-file", "rank-id-matches-table"))
def rank_table_rank_ids() -> None:
    """The rank ids are not 0 to n-1, each once.

    `rank_id` must start at 0, without gaps, and be unique over all servers; `RANK_SIZE` is the
    number of devices.  With any other numbering HCCL fails to initialise, or waits for a rank that
    does not exist.

    Wrong, for two devices: `"rank_id": "1"` and `"rank_id": "2"`

    Right: `"rank_id": "0"` and `"rank_id": "1"`
    """


def check_status(statuses: Iterable[Any], findings: FileFindings) -> None:
    """Report a status that the graph engine goes on waiting for."""
    for status in statuses:
        if status != "completed":
            findings.add(
                rank_table_not_completed,
                ("status",),
                phrase(
                    'status is {}; the graph engine waits for "completed", for 30 minutes, and '
                    "then fails",
                    shown(status),
                ),
                'write "completed" when the table is complete',
            )


def repeated(pairs: Iterable[Tuple[int, Any]]) -> Iterator[Tuple[int, Any, int]]:
    """Each owner of a value that another one has before, the value, and the first owner."""
    first: Dict[Any, int] = {}
    for owner, value in pairs:
        before = first.setdefault(value, owner)
        if before != owner:
            yield owner, value, before


def is_countable(value: Any, *lists: str, empty: bool = True) -> bool:
    """Whether nested lists are lists; what is in place of one may be meant for any number."""
    found = [value]
    for name in lists:
        entries: List[Any] = []
        for each in found:
            inner = each.get(name) if isinstance(each, dict) else None
            if not isinstance(inner, list) or not (inner or empty):
                return False
            entries.extend(inner)
        found = entries
    return True


def check_count(
    node: TableNode,
    key: str,
    counts: Sequence[int],
    what: str,
    findings: FileFindings,
    *lists: str,
) -> None:
    """Compare the counts under ``key`` with what is really there.

    Which of the two sides is wrong cannot be known, so nothing is corrected.

    Args:
        node: the objects that hold ``key``.
        key: the count.
        counts: how many there are, for each object.
        what: what is counted, in the singular.
        findings: where faults are noted.
        lists: the nested lists that are counted; nothing is said when one of them is none.
    """
    for owner, stated in zip(node[key].owners, node[key].values):
        if stated == counts[owner] or not is_countable(node.level.items[owner], *lists):
            continue
        findings.report_at(
            rank_table_count,
            (*node.level.path(owner), key),
            "{} is {}, but there is {:,} {}"
            if counts[owner] == 1
            else "{} is {}, but there are {:,} {}s",
            shown(node.level.items[owner][key]),
            counts[owner],
            what,
            help="correct the count, or add the missing entries",
        )


def check_names(node: TableNode, key: str, findings: FileFindings) -> None:
    """Check that the names under ``key`` are unique."""
    column, level = node[key], node.level
    if len(set(column.values)) == len(column.values):
        return
    for owner, name, before in repeated(column.pairs()):
        findings.report_at(
            rank_table_duplicate_name,
            (*level.path(owner), key),
            "{} is {}, which is also the name of {}; each needs its own name",
            shown(name),
            dotted(level.path(before)),
            help="rename or merge the entries",
        )


def check_rank_ids(
    level: ObjectTable, ranks: Column, findings: FileFindings, document: Any, *lists: str
) -> List[Tuple[int, int]]:
    """Check that the rank ids are 0 to n-1, each once.

    Args:
        level: the objects that hold ``rank_id``.
        ranks: the numbers.
        findings: where faults are noted.
        document: the whole table.
        lists: its nested lists that hold the objects; when one of them is none or empty, ranks
            are not too high.

    Returns:
        (rank id, number of the object) for every usable id, once each.
    """
    count = len(level.items)
    if ranks.values == range(count) or ranks.values == list(range(count)):
        return []
    legal = phrase("{:,} devices must have the ranks 0 to {}, each once", count, count - 1)
    legal = legal if count > 1 else "the only device must have the rank 0"
    first: Dict[int, int] = {}
    beyond: List[Tuple[int, int]] = []
    for owner, rank in ranks.pairs():
        if rank >= count:
            beyond.append((rank, owner))
        elif first.setdefault(rank, owner) != owner:
            findings.report_at(
                rank_table_rank_ids,
                (*level.path(owner), "rank_id"),
                "{} is {}, which {} already has; {}",
                rank,
                dotted(level.path(first[rank])),
                legal,
                help="assign a unique rank to each device",
            )
    if beyond and is_countable(document, *lists, empty=False):
        rank, owner = beyond[0]
        findings.report_at(
            rank_table_rank_ids,
            (*level.path(owner), "rank_id"),
            "{} is {}; {}; missing: {}; too high: {}",
            rank,
            legal,
            ranges([each for each in range(count) if each not in first]),
            ranges(sorted(each for each, _ in beyond)),
            help="number the devices from 0 without gaps",
        )
    return sorted(first.items())


_ADDRESS_SOURCE = (
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",
    "cann/hccl:docs/zh/user_guide/fault_diagnosis/cluster_info_verify_fail.md",
    SOURCES["CO"] + ":488-570",
)

address_rule = partial(declare, facts=("rank-table-device-ip",), source=_ADDRESS_SOURCE)


@address_rule(
    "NPU652",
    Severity.ERROR,
    facts=("rank-table-file", "rank-table-device-ip"),
    source=(*_ADDRESS_SOURCE, "docs/en/tfadapter_1/migration/faq/hccl_init_ret_-17_error.md"),
)
def rank_table_duplicate_address() -> None:
    """Two devices have the same IP address.

    Every device has its own network interface, so `device_ip` must be unique in the whole table;
    the usual cause is a copied line that was not changed.  HCCL compares the address with that of
    the interface, and fails with `ra rdev init failed, ret[-17]` on the device that has another
    address.  The addresses are compared as text: `fd00::9` and `FD00::9` are different.

    Wrong: `"device_ip": "10.20.0.2"` for device 0 and for device 1

    Right: `"device_ip": "10.20.0.2"` for device 0, `"device_ip": "10.20.0.3"` for device 1
    """


@address_rule("NPU653", Severity.ERROR, facts=("rank-table-file",))
def rank_table_address_family() -> None:
    """Some addresses are IPv4 and some are IPv6.

    With several servers, all `device_ip` must have the same IP version, and so must all `host_ip`;
    otherwise HCCL fails with `device ip family is not same as others`.  A single server may mix
    them.  If a table with `deploy_mode` has a `server_num` of 1 but contains several servers, it
    is not known which of the two HCCL uses (a warning).

    Wrong: `"device_ip": "10.20.0.2"` for device 0, `"device_ip": "fd00::3"` for device 1

    Right: `"device_ip": "fd00::2"` for device 0, `"device_ip": "fd00::3"` for device 1
    """


ADDRESS_HELP = "write the address_N of /etc/hccn.conf on that server, or ask hccn_tool -i N -ip -g"


def check_families(
    level: ObjectTable,
    key: str,
    column: Column,
    findings: FileFindings,
    severity: Optional[Severity] = None,
) -> None:
    """Check that all addresses are of one family."""
    if len({":" in address for address in column.values if address}) < 2:
        return
    families = [address.count(":") > 1 for address in column.values]
    six = 2 * sum(families) < len(families)
    owner = column.owners[families.index(six)]
    path = (*level.path(owner), key)
    names = ("IPv6", "IPv4") if six else ("IPv4", "IPv6")
    findings.report_at(
        rank_table_address_family,
        path,
        '{} is "{}" ({}), but {:,} of {:,} are {}; with several servers all '
        "addresses must be of one family",
        level.items[owner][key],
        names[0],
        len(families) - families.count(six),
        len(families),
        names[1],
        help="use addresses of one family (IPv4 or IPv6) for all devices",
        severity=severity,
    )


def check_unique(level: ObjectTable, key: str, column: Column, findings: FileFindings) -> None:
    """Check that no address is there twice; some are several, joined by ``,``."""
    first: Dict[str, int] = {}
    for owner, address in column.pairs():
        for piece in pieces(address):
            before = first.setdefault(piece, owner)
            if before != owner or pieces(address).count(piece) > 1:
                findings.report_at(
                    rank_table_duplicate_address,
                    (*level.path(owner), key),
                    '{} is "{}", which is also the address of {}; every device needs its own '
                    "address",
                    piece,
                    dotted(level.path(before)),
                    help=ADDRESS_HELP,
                )
                break


_PORT_SOURCE = (
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a2.md",
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a3.md",
)

port_rule = partial(declare, source=_PORT_SOURCE)


@port_rule(
    "NPU654", Severity.WARNING, facts=("rank-table-file", "hccl-port-single-device-multi-process")
)
def rank_table_shared_device() -> None:
    """Two ranks of one server have the same `device_id`.

    HCCL does not compare the ids when it reads the table.  On atlas_training and atlas_300i_duo
    each device is one rank, and creating another group fails.  On atlas_a2 and atlas_a3 several
    processes may share one NPU; each process should then have its own `device_port` (or
    `HCCL_NPU_SOCKET_PORT_RANGE` should be set for all cards), otherwise the ports collide and the
    service does not start.  If the ports differ, nothing is reported.

    Wrong: `{"device_id": "0", "rank_id": "0"}` and `{"device_id": "0", "rank_id": "1"}`

    Right: `{"device_id": "0", "rank_id": "0"}` and `{"device_id": "1", "rank_id": "1"}`
    """


def check_shared_devices(
    devices: TableNode,
    servers: Iterable[Sequence[Any]],
    server_of: Callable[[int], Any],
    findings: FileFindings,
) -> None:
    """Report ranks of one server that have the same ``device_id`` and no ports of their own.

    Args:
        devices: the devices.
        servers: the device ids of each server.
        server_of: what server the device with a number is in.
        findings: where faults are noted.
    """
    if all(len(set(mine)) == len(mine) for mine in set(map(tuple, servers))):
        return
    column = devices["device_id"]
    places = [(server_of(owner), value) for owner, value in column.pairs()]
    ports = dict(devices["device_port"].pairs())
    first: Dict[Tuple[Any, int], int] = {}
    used: Dict[int, Set[int]] = {}
    for index, place in zip(column.owners, places):
        before = first.setdefault(place, index)
        if before == index:
            continue
        taken = used.setdefault(before, {ports[before]} if before in ports else set())
        port = ports.get(index)
        if before in ports and port is not None and port not in taken:
            taken.add(port)
            continue
        findings.report_at(
            rank_table_shared_device,
            (*devices.level.path(index), "device_id"),
            "{} is {}, which is also the device of {}; ranks that share one NPU each need "
            "their own device_port",
            shown(devices.level.items[index]["device_id"]),
            dotted(devices.level.path(before)),
            help="assign each rank its own device, or its own device_port",
        )


_TRAINING_SOURCE = ("docs/en/tfadapter_1/migration/model_training/distributed_training.md",)


@declare(
    "NPU656",
    Severity.ERROR,
    facts=("rank-table-device-count-910",),
    source=_TRAINING_SOURCE,
    products=(Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO),
)
def rank_table_device_count() -> None:
    """atlas_training does not support this number or this selection of devices.

    Every server must have the same number of devices; otherwise HCCL rejects the table, on
    atlas_300i_duo too.  A single server can use 1, 2, 4 or 8 devices.  The devices 0 to 3 and the
    devices 4 to 7 form two groups with separate links; 2 or 4 devices must be in one group.  Other
    combinations are not documented, and fail on boards whose devices are connected by HCCS (a
    warning).

    Wrong: one server with the devices 2, 3, 4 and 5

    Right: one server with the devices 0, 1, 2 and 3
    """


@declare(
    "NPU657",
    Severity.INFO,
    facts=("rank-table-device-count-a2", "rank-table-balance-a3"),
    source=_TRAINING_SOURCE,
    products=(Product.ATLAS_A2, Product.ATLAS_A3),
)
def rank_table_balance() -> None:
    """The devices are not distributed evenly over the servers or super nodes.

    On atlas_a2 a single server can use any number of devices.  A cluster can use 1 to 8 times as
    many devices as servers (more is not documented); the same number on every server is
    recommended.  On atlas_a3 every super node should have the same number of servers, and every
    server the same number of devices.  Uneven tables work, but are slower.

    Wrong: 8 devices on the first server and 4 on the second

    Right: 8 devices on each
    """


_HALVES = (frozenset(range(4)), frozenset(range(4, 8)))


def check_device_counts(
    path: Callable[[int], Path],
    devices: Sequence[Sequence[Any]],
    products: FrozenSet[Product],
    findings: FileFindings,
) -> None:
    """Check the number of devices by what the product wants.

    Args:
        path: where the server with a number is.
        devices: the device ids of each; None for one that is wrong.
        products: the products that the table may be for.
        findings: where faults are noted.
    """
    sizes = list(map(len, devices))
    if not sizes or 0 in sizes:
        return
    usual = Counter(sizes).most_common(1)[0][0]
    odd = [server for server, size in enumerate(sizes) if size != usual]
    if odd and (products <= EVEN or len(products) == 1):
        refused, size = products <= EVEN, sizes[odd[0]]
        findings.report_at(
            rank_table_device_count if refused else rank_table_balance,
            path(odd[0]),
            "{} has {}, most servers have {}; {}",
            phrase("{} device" if size == 1 else "{} devices", size),
            usual,
            phrase(
                "HCCL requires the same number on every server"
                if refused
                else "uneven servers are slower"
            ),
            help="use the same number of devices on every server",
        )
    if products == frozenset((Product.ATLAS_TRAINING,)):
        for server, mine in enumerate(devices):
            if len(mine) != 8:
                _training(path(server), mine, findings)


def _training(server: Path, devices: Sequence[Any], findings: FileFindings) -> None:
    size, chosen = len(devices), frozenset(devices)
    if size not in (1, 2, 4, 8):
        message = phrase(
            "{} has {} devices; a server of atlas_training must have 1, 2, 4 or 8",
            dotted(server),
            size,
        )
    elif size == len(chosen) and None not in chosen and not any(map(chosen.issubset, _HALVES)):
        message = phrase(
            "{} has the devices {}; {} devices of an atlas_training server must all be from "
            "0-3 or all from 4-7",
            dotted(server),
            ranges(sorted(chosen)),
            size,
        )
    else:
        return
    help = (
        "use 1, 2, 4 or 8 devices per server; choose 2 or 4 devices all from 0-3 or all from 4-7"
    )
    findings.add(rank_table_device_count, server, message, help, Severity.WARNING)


def check_balance(pod_of: Dict[int, int], findings: FileFindings) -> None:
    """Report super nodes with fewer or more servers than the others."""
    counts = Counter(pod_of.values())
    if len(set(counts.values())) < 2:
        return
    usual = Counter(counts.values()).most_common(1)[0][0]
    odd = min(pod for pod, count in counts.items() if count != usual)
    findings.report_at(
        rank_table_balance,
        ("super_pod_list", odd),
        "{} has {}, most super nodes have {}; uneven super nodes are slower",
        phrase("{} server" if counts[odd] == 1 else "{} servers", counts[odd]),
        usual,
        help="use the same number of servers in every super node",
    )
