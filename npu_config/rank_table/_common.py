"""Checks that several dialects share: status, counts, names, rank ids."""

from functools import partial
from typing import Any, Dict, List, Sequence, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.rank_table.dialects import SOURCES
from npu_config.sidefiles.schema.findings import Findings, dotted, listed, shown
from npu_config.sidefiles.schema.levels import Column, Level, Node

_GUIDE = "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_{}.md"
_SOURCE = tuple(_GUIDE.format(name) for name in ("910", "a5"))

_rule = partial(declare, facts=("rank-table-file",), source=_SOURCE)


@_rule("NPU647", Severity.ERROR, source=(*_SOURCE, SOURCES["GL"] + ":166-188"))
def rank_table_not_completed() -> None:
    """The status of a rank table is not `completed`.

    The graph engine reads the table once a second until `status` is the text `completed`, for 30
    minutes, and then fails.  `initializing` says that whoever writes the table has not finished;
    any other text (`Completed`, `done`) is waited for just the same.

    Wrong: `"status": "initializing"`

    Right: `"status": "completed"`
    """


@_rule("NPU648", Severity.ERROR)
def rank_table_count() -> None:
    """A count does not agree with the list that it counts.

    `server_count`, `rank_count`, `group_count`, `instance_count`, `device_count`, `device_num`
    and `server_num` say how many entries there are; HCCL compares and fails.  A server that was
    added or taken away without the count is the usual cause.  Which side is wrong cannot be
    known, so nothing is corrected automatically.

    Wrong: `"server_count": "1"` with two entries in `server_list`

    Right: `"server_count": "2"`
    """


@_rule("NPU649", Severity.ERROR)
def rank_table_duplicate_name() -> None:
    """Two servers, containers or super nodes have the same name.

    `server_id`, `pod_name` and `super_pod_id` are unique in a table: HCCL takes devices with
    the same `server_id` for devices of one machine.

    Wrong: `"server_id": "node_0"` twice in `server_list`

    Right: `"server_id": "node_0"` and `"server_id": "node_1"`
    """


@_rule("NPU650", Severity.ERROR, facts=("rank-table-file", "rank-id-matches-table"))
def rank_table_rank_ids() -> None:
    """The rank ids are not 0 to n-1, each once.

    `rank_id` starts at 0, has no gaps and is unique over all servers; `RANK_SIZE` is the
    number of devices.  With any other numbering HCCL fails when it is initialised, or waits
    for a rank that never comes.

    Wrong, for two devices: `"rank_id": "1"` and `"rank_id": "2"`

    Right: `"rank_id": "0"` and `"rank_id": "1"`
    """


@_rule("NPU651", Severity.WARNING)
def rank_table_interleaved_ranks() -> None:
    """The ranks of one server are mixed with those of another.

    The guides want the ranks of a server to form one consecutive block.  HCCL does not refuse
    ranks that interleave between servers, but does not promise to support them.

    Wrong: server 1 has the ranks 0, 1, 2, 7 and server 2 has 3, 4, 5, 6

    Right: server 1 has the ranks 0, 1, 2, 3 and server 2 has 4, 5, 6, 7
    """


def check_status(table: Node, findings: Findings) -> None:
    """Report a status that the graph engine goes on waiting for."""
    for status in table["status"].values:
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
    node: Node, key: str, counts: Sequence[int], what: str, findings: Findings, *lists: str
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
        findings.wrong_at(
            rank_table_count,
            (*node.level.path(owner), key),
            "{} is {}, but there is {:,} {}"
            if counts[owner] == 1
            else "{} is {}, but there are {:,} {}s",
            shown(node.level.items[owner][key]),
            counts[owner],
            what,
            help="correct the count, or add what is missing",
        )


def check_names(node: Node, key: str, findings: Findings) -> None:
    """Check that the names under ``key`` are unique."""
    column, level = node[key], node.level
    if len(set(column.values)) == len(column.values):
        return
    first: Dict[str, int] = {}
    for owner, name in zip(column.owners, column.values):
        before = first.setdefault(name, owner)
        if before != owner:
            findings.wrong_at(
                rank_table_duplicate_name,
                (*level.path(owner), key),
                "{} is {}, the name of {}; each has a name of its own",
                shown(name),
                dotted(level.path(before)),
                help="rename one, or join the two entries",
            )


def check_rank_ids(
    level: Level, ranks: Column, findings: Findings, document: Any, *lists: str
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
    first: Dict[int, int] = {}
    beyond: List[int] = []
    for owner, rank in zip(ranks.owners, ranks.values):
        if rank >= count:
            beyond.append(owner)
        elif rank in first:
            _duplicate(level, owner, rank, first[rank], findings)
        else:
            first[rank] = owner
    if beyond and is_countable(document, *lists, empty=False):
        _beyond(level, ranks, beyond, first, findings)
    return sorted(first.items())


def _legal(count: int) -> str:
    if count == 1:
        return "one device has the rank 0"
    return phrase("{:,} devices have the ranks 0 to {}, each once", count, count - 1)


def _duplicate(level: Level, owner: int, rank: int, before: int, findings: Findings) -> None:
    findings.wrong_at(
        rank_table_rank_ids,
        (*level.path(owner), "rank_id"),
        "{} is {}, as in {} before; {}",
        rank,
        dotted(level.path(before)),
        _legal(len(level.items)),
        help="give every device a rank of its own",
    )


def _beyond(
    level: Level, ranks: Column, beyond: List[int], first: Dict[int, int], findings: Findings
) -> None:
    count = len(level.items)
    free = [rank for rank in range(count) if rank not in first]
    values = dict(zip(ranks.owners, ranks.values))
    excess = sorted(values[owner] for owner in beyond)
    findings.wrong_at(
        rank_table_rank_ids,
        (*level.path(beyond[0]), "rank_id"),
        "{} is {}; {}; missing: {}; too high: {}",
        values[beyond[0]],
        _legal(count),
        listed(free),
        listed(excess),
        help="number the devices from 0 without gaps",
    )


def check_blocks(level: Level, usable: Sequence[Tuple[int, int]], findings: Findings) -> None:
    """Check that the ranks of every server form one block.

    Args:
        level: the devices.
        usable: what :func:`check_rank_ids` returned.
        findings: where faults are noted.
    """
    current, seen = -1, set()
    owners = level.owners() if usable else []
    for rank, index in usable:
        server = owners[index]
        if server == current:
            continue
        if server in seen:
            findings.wrong_at(
                rank_table_interleaved_ranks,
                (*level.path(index), "rank_id"),
                "{} is {}, but lower ranks of this server come before ranks of "
                "server_list[{}]; the ranks of one server form one block",
                rank,
                current,
                help="number the devices of one server one after another",
            )
            return
        seen.add(server)
        current = server
