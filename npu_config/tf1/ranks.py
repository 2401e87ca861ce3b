"""Which rank this process is, and of how many: the environment and the rank table.

These serve where there is no device to ask; on the NPU host HCCL answers.
"""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

from npu_config.tf1 import vendor
from npu_config.tf1._lazy import errors, rules
from npu_config.tf1.rank_link import ADDRESS


def rank_size_text() -> str:
    """``RANK_SIZE``, else ``CM_WORKER_SIZE``, else ``"1"``, as it is written.

    Raises:
        NpuConfigError: both variables are set.
    """
    with_table, without = os.environ.get("RANK_SIZE"), os.environ.get("CM_WORKER_SIZE")
    if with_table is not None and without is not None:
        raise rules.rank_variables_unusable.error(
            'RANK_SIZE "{}" and CM_WORKER_SIZE "{}" are both set'.format(with_table, without),
            help="keep RANK_SIZE with a rank table, CM_WORKER_SIZE without one",
        )
    return with_table if with_table is not None else without if without is not None else "1"


def rank_size() -> int:
    """The number of ranks of the job; text that is not a number counts as 1, as for the vendor.

    Raises:
        NpuConfigError: ``RANK_SIZE`` and ``CM_WORKER_SIZE`` are both set.
    """
    text = rank_size_text()
    return int(text) if text.isdecimal() else 1


def rank_id() -> int:
    """The rank of this process: ``RANK_ID``, 0 without it.

    Raises:
        NpuConfigError: ``RANK_ID`` is not a whole number.
    """
    text = os.environ.get("RANK_ID", "0")
    try:
        return int(text)
    except ValueError:
        raise rules.rank_variables_unusable.error(
            'RANK_ID must be a whole number from 0, got "{}"'.format(text),
            help="set RANK_ID to the rank of this process, or unset it for one rank",
        ) from None


def job_size() -> int:
    """The number of ranks of the job: of the environment, else of the rank table, else 1.

    Raises:
        NpuConfigError: ``RANK_SIZE`` and ``CM_WORKER_SIZE`` are both set.
    """
    if "RANK_SIZE" in os.environ or "CM_WORKER_SIZE" in os.environ:
        return rank_size()
    table = _rank_table()
    return 1 if table is None else int(table.rank_size)


def local_rank_id() -> int:
    """The rank of this process among those of its server.

    From the rank table; without one, the device that the environment names, else 0.
    """
    neighbours = _neighbours()
    if neighbours:
        return neighbours.index(rank_id())
    text = os.environ.get("ASCEND_DEVICE_ID", os.environ.get("DEVICE_ID", "0"))
    return int(text) if text.isdecimal() else 0


def local_rank_size() -> int:
    """The number of ranks on the server of this process; 1 where no rank table tells."""
    return len(_neighbours()) or 1


def _rank_table() -> Optional[Any]:
    """The rank table that the environment names, when it can be read and is right."""
    path = os.environ.get("RANK_TABLE_FILE")
    if not path:
        return None
    from npu_config.rank_table import load

    return load(path).model


def _neighbours() -> List[int]:
    """The ranks on the server of this process, in order; empty where no rank table tells."""
    mine = rank_id()
    servers: Dict[str, List[int]] = {}
    for process in getattr(_rank_table(), "processes", ()):
        if process.server_id is not None:
            servers.setdefault(process.server_id, []).append(process.rank_id)
    return next((sorted(ranks) for ranks in servers.values() if mine in ranks), [])


def several(what: str, size: Optional[int] = None) -> bool:
    """Whether something has to communicate with other ranks, and can.

    Args:
        what: what needs communication, for the message.
        size: number of ranks; None: as the environment says.

    Returns:
        False for one rank, True in a job that ``npu-config run --ranks`` started.

    Raises:
        VendorError: there are several ranks and nothing that connects them.
    """
    if not os.environ.get(ADDRESS):
        require_one_rank(what, size)
    return (rank_size() if size is None else size) > 1


def require_one_rank(what: str, size: Optional[int] = None) -> None:
    """Refuse to do alone what several ranks have to do together.

    Args:
        what: what needs communication, for the message.
        size: number of ranks; None: as the environment says.

    Raises:
        VendorError: there are several ranks.
    """
    size = rank_size() if size is None else size
    if size > 1:
        raise rules.vendor_library_missing.error(
            '"{}" has to communicate between {} ranks, which needs the Ascend adapter '
            "for TensorFlow 1.15: the package {} is not installed".format(
                what, size, vendor.PACKAGE
            ),
            help="install the adapter, start the ranks with `npu-config run --ranks {}`, "
            "or unset RANK_SIZE and CM_WORKER_SIZE for one rank".format(size),
            kind=errors.VendorError,
        )
