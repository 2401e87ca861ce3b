"""The rank ids of a table: 0 to n-1, each once, one block for each server."""

from typing import Dict, List, Sequence, Tuple

from npu_config.cluster.rank_table._findings import Findings, dotted, listed
from npu_config.cluster.rank_table._levels import Column, Level
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_SOURCE = (
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",
    "cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_a5.md",
    "docs/en/tfa_env/RANK_ID.md",
)

RANK_IDS = declare(
    "NPU650",
    "rank-table-rank-ids",
    Severity.ERROR,
    """
    The rank ids are not 0 to n-1, each once.

    `rank_id` starts at 0, has no gaps and is unique over all servers; `RANK_SIZE` is the
    number of devices.  With any other numbering HCCL fails when it is initialised, or waits
    for a rank that never comes.

    Wrong, for two devices: `"rank_id": "1"` and `"rank_id": "2"`

    Right: `"rank_id": "0"` and `"rank_id": "1"`
    """,
    facts=("rank-table-file", "rank-id-matches-table"),
    source=_SOURCE,
)

INTERLEAVED = declare(
    "NPU651",
    "rank-table-interleaved-ranks",
    Severity.ERROR,
    """
    The ranks of one server are mixed with those of another.

    The ranks of a server form one consecutive block.  HCCL does not support ranks that
    interleave between servers.

    Wrong: server 1 has the ranks 0, 1, 2, 7 and server 2 has 3, 4, 5, 6

    Right: server 1 has the ranks 0, 1, 2, 3 and server 2 has 4, 5, 6, 7
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)


def check_rank_ids(level: Level, ranks: Column, findings: Findings) -> List[Tuple[int, int]]:
    """Check that the rank ids are 0 to n-1, each once.

    Args:
        level: the objects that hold ``rank_id``.
        ranks: the numbers.
        findings: where faults are noted.

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
    if beyond:
        _beyond(level, ranks, beyond, first, findings)
    return sorted(first.items())


def _legal(count: int) -> str:
    if count == 1:
        return "one device has the rank 0"
    return "{:,} devices have the ranks 0 to {}, each once".format(count, count - 1)


def _duplicate(level: Level, owner: int, rank: int, before: int, findings: Findings) -> None:
    path = (*level.path(owner), "rank_id")
    findings.add(
        RANK_IDS,
        path,
        "{} is {}, as in {} before; {}".format(
            dotted(path), rank, dotted(level.path(before)), _legal(len(level.items))
        ),
        "give every device a rank of its own",
    )


def _beyond(
    level: Level, ranks: Column, beyond: List[int], first: Dict[int, int], findings: Findings
) -> None:
    count = len(level.items)
    free = [rank for rank in range(count) if rank not in first]
    values = dict(zip(ranks.owners, ranks.values))
    excess = sorted(values[owner] for owner in beyond)
    path = (*level.path(beyond[0]), "rank_id")
    findings.add(
        RANK_IDS,
        path,
        "{} is {}; {}; missing: {}; too high: {}".format(
            dotted(path), values[beyond[0]], _legal(count), listed(free), listed(excess)
        ),
        "number the devices from 0 without gaps",
    )


def check_blocks(level: Level, usable: Sequence[Tuple[int, int]], findings: Findings) -> None:
    """Check that the ranks of every server form one block.

    Args:
        level: the devices.
        usable: what :func:`check_rank_ids` returned.
        findings: where faults are noted.
    """
    current, seen = -1, set()
    for rank, index in usable:
        server = level.owner(index)
        if server == current:
            continue
        if server in seen:
            path = (*level.path(index), "rank_id")
            findings.add(
                INTERLEAVED,
                path,
                "{} is {}, but lower ranks of this server come before ranks of "
                "server_list[{}]; the ranks of one server form one block".format(
                    dotted(path), rank, current
                ),
                "number the devices of one server one after another",
            )
            return
        seen.add(server)
        current = server
