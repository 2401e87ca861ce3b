"""How many devices a product wants, and which."""

from collections import Counter
from typing import Any, Callable, Dict, FrozenSet, Sequence

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.rule import Rule, declare
from npu_config.core.target import Product
from npu_config.rank_table.dialects import EVEN
from npu_config.sidefiles.schema.findings import Findings, dotted, listed
from npu_config.sidefiles.schema.levels import Path

_SOURCE = ("docs/en/tfadapter_1/migration/model_training/distributed_training.md",)


@declare(
    "NPU656",
    Severity.ERROR,
    facts=("rank-table-device-count-910",),
    source=_SOURCE,
    products=(Product.ATLAS_TRAINING, Product.ATLAS_300I_DUO),
)
def rank_table_device_count() -> None:
    """The number of devices, or their choice, is not one that atlas_training supports.

    Every server has the same number of devices; HCCL refuses the table otherwise, on
    atlas_300i_duo too.  One server takes 1, 2, 4 or 8 of them.  The devices 0 to 3 and 4 to 7
    are two groups, each with links of its own; 2 or 4 devices stay inside one group.  Other
    choices are not documented, and fail on boards whose devices are linked by HCCS (a warning).

    Wrong: one server with the devices 2, 3, 4 and 5

    Right: one server with the devices 0, 1, 2 and 3
    """


@declare(
    "NPU657",
    Severity.INFO,
    facts=("rank-table-device-count-a2", "rank-table-balance-a3"),
    source=_SOURCE,
    products=(Product.ATLAS_A2, Product.ATLAS_A3),
)
def rank_table_balance() -> None:
    """The devices are not spread evenly.

    atlas_a2 takes any number of devices on one server and 1 to 8 times the number of servers
    in a cluster (more is not documented); the same number on every server is recommended.  On
    atlas_a3 every super node should have the same number of servers and every server the
    same number of devices.  Uneven tables work, but are slower.

    Wrong: 8 devices on the first server and 4 on the second

    Right: 8 devices on each
    """


_HALVES = (frozenset(range(4)), frozenset(range(4, 8)))


def check_device_counts(
    path: Callable[[int], Path],
    devices: Sequence[Sequence[Any]],
    products: FrozenSet[Product],
    findings: Findings,
) -> None:
    """Check the number of devices by what the product wants.

    Args:
        path: where the server with a number is.
        devices: the device ids of each; None for one that is wrong.
        products: the products that the table may be for.
        findings: where faults are noted.
    """
    sizes = [len(mine) for mine in devices]
    if not sizes or 0 in sizes:
        return
    usual = Counter(sizes).most_common(1)[0][0]
    odd = [server for server, size in enumerate(sizes) if size != usual]
    if odd and products <= EVEN:
        _report(
            path(odd[0]),
            phrase(
                "{} has {} device, most servers have {}; HCCL wants the same number on every "
                "server"
                if sizes[odd[0]] == 1
                else "{} has {} devices, most servers have {}; HCCL wants the same number on "
                "every server",
                dotted(path(odd[0])),
                sizes[odd[0]],
                usual,
            ),
            "use the same number of devices on every server",
            rank_table_device_count,
            findings,
        )
    elif odd and len(products) == 1:
        _report(
            path(odd[0]),
            phrase(
                "{} has {} device, most servers have {}; uneven servers are slower"
                if sizes[odd[0]] == 1
                else "{} has {} devices, most servers have {}; uneven servers are slower",
                dotted(path(odd[0])),
                sizes[odd[0]],
                usual,
            ),
            "use the same number of devices on every server",
            rank_table_balance,
            findings,
        )
    if products == frozenset((Product.ATLAS_TRAINING,)):
        for server, mine in enumerate(devices):
            if len(mine) != 8:
                _training(path(server), mine, findings)


def _training(server: Path, devices: Sequence[Any], findings: Findings) -> None:
    size, chosen = len(devices), frozenset(devices)
    if size not in (1, 2, 4, 8):
        message = phrase(
            "{} has {} devices; a server of atlas_training takes 1, 2, 4 or 8",
            dotted(server),
            size,
        )
    elif size == len(chosen) and None not in chosen and not any(map(chosen.issubset, _HALVES)):
        message = phrase(
            "{} has the devices {}; {} devices of a server of atlas_training are all of 0-3 or "
            "all of 4-7",
            dotted(server),
            listed(sorted(chosen)),
            size,
        )
    else:
        return
    help = "choose 1, 2, 4 or 8 devices, 2 and 4 of one half"
    findings.add(rank_table_device_count, server, message, help, Severity.WARNING)


def check_balance(pod_of: Dict[int, int], findings: Findings) -> None:
    """Report super nodes with fewer or more servers than the others."""
    counts = Counter(pod_of.values())
    if len(set(counts.values())) < 2:
        return
    usual = Counter(counts.values()).most_common(1)[0][0]
    odd = min(pod for pod, count in counts.items() if count != usual)
    _report(
        ("super_pod_list", odd),
        phrase(
            "super_pod_list[{}] has {} server, most super nodes have {}; uneven super nodes are "
            "slower"
            if counts[odd] == 1
            else "super_pod_list[{}] has {} servers, most super nodes have {}; uneven super nodes "
            "are slower",
            odd,
            counts[odd],
            usual,
        ),
        "use the same number of servers in every super node",
        rank_table_balance,
        findings,
    )


def _report(path: Path, message: str, help: str, rule: Rule, findings: Findings) -> None:
    findings.add(rule, path, message, help)
