"""The variables that a launcher sets for a process of a job, filled in where they are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Mapping, MutableMapping, Tuple

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic

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


def check(environ: Mapping[str, str], filled: Mapping[str, str]) -> Tuple[Diagnostic, ...]:
    """What is wrong with the variables of a job, and with the rank table that they name.

    Args:
        environ: the variables, e.g. ``os.environ``.
        filled: what :func:`fill` set; that is not the user's, and left out.
    """
    from npu_config import rank_table
    from npu_config.core.diagnostics import Severity
    from npu_config.launch import check_environment

    own = {name: text for name, text in environ.items() if filled.get(name) != text}
    table = None
    found: List[Diagnostic] = []
    if own.get("RANK_TABLE_FILE"):
        parsed = rank_table.load(own["RANK_TABLE_FILE"])
        table = parsed.model
        found.extend(parsed.diagnostics)
    found.extend(check_environment(own, table=table))
    return tuple(each for each in found if each.severity is not Severity.INFO)
