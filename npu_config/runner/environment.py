"""The variables that a launcher sets for a process of a job, filled in where they are missing."""

from typing import Dict, Mapping, MutableMapping

ONE_RANK: Mapping[str, str] = {
    "JOB_ID": "npu-config-run",
    "RANK_ID": "0",
    "RANK_SIZE": "1",
    "DEVICE_ID": "0",
    "ASCEND_DEVICE_ID": "0",
}
"""A job of one process; without ``RANK_TABLE_FILE``, which one process does not need."""


def fill(environ: MutableMapping[str, str]) -> Dict[str, str]:
    """Set what is missing; returns what was set."""
    missing = {name: value for name, value in ONE_RANK.items() if name not in environ}
    environ.update(missing)
    return missing
