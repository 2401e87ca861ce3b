"""How many devices a product wants, and which."""

from collections import Counter
from typing import List, Mapping, Sequence

from npu_config.cluster.rank_table._findings import Findings, dotted, listed
from npu_config.cluster.rank_table._levels import NO_COLUMN, Column, Level
from npu_config.cluster.rank_table._pods import SuperPods
from npu_config.cluster.rank_table.formats import Overlay
from npu_config.core.diagnostics import Severity
from npu_config.core.rule import declare
from npu_config.core.target import Product

_SOURCE = ("docs/en/tfadapter_1/migration/model_training/distributed_training.md",)

TRAINING_DEVICES = declare(
    "NPU656",
    "rank-table-device-count",
    Severity.ERROR,
    """
    The number of devices, or their choice, is not one that atlas_training supports.

    One server takes 1, 2, 4 or 8 devices.  The devices 0 to 3 and 4 to 7 are two groups,
    each with links of its own; 2 or 4 devices stay inside one group.  A cluster of n servers
    takes n, 2n, 4n or 8n devices, the same number on every server.  HCCL does not support
    any other topology.

    Wrong: one server with the devices 2, 3, 4 and 5

    Right: one server with the devices 0, 1, 2 and 3
    """,
    facts=("rank-table-device-count-910",),
    source=_SOURCE,
    products=(Product.ATLAS_TRAINING,),
)

BALANCE = declare(
    "NPU657",
    "rank-table-balance",
    Severity.INFO,
    """
    The devices are not spread evenly.

    atlas_a2 takes any number of devices on one server and 1 to 8 times the number of servers
    in a cluster (more is a warning); the same number on every server is recommended.  On
    atlas_a3 every super node should have the same number of servers and every server the
    same number of devices.  Uneven tables work, but are slower.

    Wrong: 8 devices on the first server and 4 on the second

    Right: 8 devices on each
    """,
    facts=("rank-table-device-count-a2", "rank-table-balance-a3"),
    source=_SOURCE,
    products=(Product.ATLAS_A2, Product.ATLAS_A3),
)

GROUPS = (frozenset(range(4)), frozenset(range(4, 8)))


def check_device_counts(
    overlay: Overlay,
    devices: Level,
    device: Mapping[str, Column],
    pods: SuperPods,
    findings: Findings,
) -> None:
    """Check the number of devices by what the product wants."""
    sizes = devices.sizes()
    if not sizes or 0 in sizes:
        return
    if overlay.only(Product.ATLAS_TRAINING):
        _training_sizes(devices, sizes, findings)
        _training_groups(devices, device.get("device_id", NO_COLUMN), sizes, findings)
    elif overlay.only(Product.ATLAS_A2):
        _a2(devices, sizes, findings)
    elif overlay.only(Product.ATLAS_A3):
        _even(devices, sizes, findings)
        _even_pods(pods, findings)


def _server_path(devices: Level, server: int) -> str:
    return dotted(devices.path(devices.starts[server])[:-2])


def _training_sizes(devices: Level, sizes: Sequence[int], findings: Findings) -> None:
    count = len(sizes)
    usual = Counter(sizes).most_common(1)[0][0]
    for server, size in enumerate(sizes):
        if size in (1, 2, 4, 8) and size == usual:
            continue
        severity = Severity.ERROR
        if size not in (1, 2, 4, 8):
            problem = "a server takes 1, 2, 4 or 8 devices"
        else:
            problem = "most servers have {}; {} servers take {} devices in all".format(
                usual, count, ", ".join(str(each * count) for each in (1, 2, 4, 8))
            )
            if sum(sizes) in [each * count for each in (1, 2, 4, 8)]:
                severity = Severity.WARNING
        path = devices.path(devices.starts[server])[:-1]
        findings.add(
            TRAINING_DEVICES,
            path,
            "{} has {} device{} on atlas_training; {}".format(
                _server_path(devices, server), size, "" if size == 1 else "s", problem
            ),
            "use the same number, 1, 2, 4 or 8, on every server",
            severity,
        )


def _training_groups(
    devices: Level, ids: Column, sizes: Sequence[int], findings: Findings
) -> None:
    if len(ids.values) != len(devices.items):
        return
    for server, (start, end) in enumerate(devices.spans()):
        if sizes[server] not in (2, 4):
            continue
        chosen = frozenset(ids.values[start:end])
        if len(chosen) == end - start and not any(chosen <= group for group in GROUPS):
            findings.add(
                TRAINING_DEVICES,
                devices.path(start)[:-1],
                "{} has the devices {} on atlas_training; {} devices of a server are all of "
                "0-3 or all of 4-7".format(
                    _server_path(devices, server), listed(sorted(chosen)), len(chosen)
                ),
                "choose devices of one group",
                Severity.ERROR if len(sizes) == 1 else Severity.WARNING,
            )


def _a2(devices: Level, sizes: Sequence[int], findings: Findings) -> None:
    if len(sizes) > 1:
        for server, size in enumerate(sizes):
            if size > 8:
                findings.add(
                    BALANCE,
                    devices.path(devices.starts[server])[:-1],
                    "{} has {} devices; in a cluster atlas_a2 takes 1 to 8 for each server".format(
                        _server_path(devices, server), size
                    ),
                    "use at most 8 devices on each server",
                    Severity.WARNING,
                )
    _even(devices, sizes, findings)


def _even(devices: Level, sizes: Sequence[int], findings: Findings) -> None:
    if len(set(sizes)) == 1:
        return
    usual = Counter(sizes).most_common(1)[0][0]
    odd: List[int] = [server for server, size in enumerate(sizes) if size != usual]
    findings.add(
        BALANCE,
        devices.path(devices.starts[odd[0]])[:-1],
        "{} has {} devices, most servers have {}; uneven servers are slower".format(
            _server_path(devices, odd[0]), sizes[odd[0]], usual
        ),
        "use the same number of devices on every server",
    )


def _even_pods(pods: SuperPods, findings: Findings) -> None:
    counts = Counter(pods.pod_of.values())
    if len(set(counts.values())) < 2 or not pods.sound:
        return
    usual = Counter(counts.values()).most_common(1)[0][0]
    odd = min(pod for pod, count in counts.items() if count != usual)
    findings.add(
        BALANCE,
        ("super_pod_list", odd),
        "super_pod_list[{}] has {} servers, most super nodes have {}; uneven super nodes are "
        "slower".format(odd, counts[odd], usual),
        "use the same number of servers in every super node",
    )
