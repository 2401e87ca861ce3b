"""Counts that must agree with lists, names that must be unique, the status."""

from typing import Dict, Mapping

from npu_config.cluster.rank_table._findings import Findings, dotted, shown
from npu_config.cluster.rank_table._levels import NO_COLUMN, Column, Level
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare

_SOURCE = ("cann/hccl:docs/zh/user_guide/cluster_info_config/rank_table_config_910.md",)

STATUS = declare(
    "NPU647",
    "rank-table-not-completed",
    Severity.WARNING,
    """
    The status of a rank table is not `completed`.

    `completed` says that the table can be used, `initializing` that whoever writes it has
    not finished.  A job that starts with such a table does not get its communication group.

    Wrong: `"status": "initializing"`

    Right: `"status": "completed"`
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)

COUNT = declare(
    "NPU648",
    "rank-table-count",
    Severity.ERROR,
    """
    A count does not agree with the list that it counts.

    `server_count`, `rank_count`, `group_count`, `instance_count` and `device_count` say how
    many entries follow; HCCL compares and fails.  A server that was added or taken away
    without the count is the usual cause.

    Wrong: `"server_count": "1"` with two entries in `server_list`

    Right: `"server_count": "2"`
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)

DUPLICATE_NAME = declare(
    "NPU649",
    "rank-table-duplicate-name",
    Severity.ERROR,
    """
    Two servers, containers or super nodes have the same name.

    `server_id`, `pod_name` and `super_pod_id` are unique in a table: HCCL takes devices with
    the same `server_id` for devices of one machine.

    Wrong: `"server_id": "node_0"` twice in `server_list`

    Right: `"server_id": "node_0"` and `"server_id": "node_1"`
    """,
    facts=("rank-table-file",),
    source=_SOURCE,
)


def check_status(table: Mapping[str, Column], findings: Findings) -> None:
    """Tell when the table is not completed."""
    if "initializing" in table.get("status", NO_COLUMN).values:
        findings.add(
            STATUS,
            ("status",),
            'status is "initializing": the table is not usable yet; a usable one has "completed"',
            "wait until the table is complete",
        )


def check_count(
    level: Level,
    key: str,
    columns: Mapping[str, Column],
    count: int,
    list_key: str,
    findings: Findings,
    owner: int = 0,
    what: str = "entries",
) -> None:
    """Compare the count that one object states with the list that it has.

    Args:
        level: the objects.
        key: where the count stands.
        columns: the columns of the level.
        count: how many there really are.
        list_key: the list that is counted.
        findings: where a fault is noted.
        owner: the number of the object.
        what: what is counted in the list.
    """
    column = columns.get(key, NO_COLUMN)
    if owner not in column.owners or list_key not in level.items[owner]:
        return
    stated = column.values[list(column.owners).index(owner)]
    if stated != count:
        path = (*level.path(owner), key)
        written = level.items[owner][key]
        right = '"{}"'.format(count) if isinstance(written, str) else str(count)
        findings.add(
            COUNT,
            path,
            "{} is {}, but {} has {:,} {}".format(
                dotted(path), shown(written), list_key, count, what
            ),
            "write {}".format(right),
            instead=right,
        )


def check_names(level: Level, key: str, columns: Mapping[str, Column], findings: Findings) -> None:
    """Check that the names under ``key`` are unique."""
    column = columns.get(key, NO_COLUMN)
    if len(set(column.values)) == len(column.values):
        return
    first: Dict[str, int] = {}
    for owner, name in zip(column.owners, column.values):
        before = first.setdefault(name, owner)
        if before != owner:
            path = (*level.path(owner), key)
            findings.add(
                DUPLICATE_NAME,
                path,
                "{} is {}, the name of {}; each has a name of its own".format(
                    dotted(path), shown(name), dotted(level.path(before))
                ),
                "rename one, or join the two entries",
            )
