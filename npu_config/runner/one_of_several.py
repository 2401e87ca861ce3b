"""What is otherwise for the sessions of a process that is one of several ranks."""

import os
import sys
from typing import Any


def with_threads(arguments: Any) -> Any:
    """Arguments of a session whose configuration lets a rank wait in many collectives at once.

    A collective holds a thread while it waits; ranks with few threads could wait for each other.

    Args:
        arguments: positional or named ones of a session.
    """
    from npu_config.tf1.rank_frames import ADDRESS

    if not os.environ.get(ADDRESS):
        return arguments
    if isinstance(arguments, dict):
        return {name: _threads(value) for name, value in arguments.items()}
    return tuple(map(_threads, arguments))


def _threads(given: Any) -> Any:
    """A configuration without a number of threads; the environment of the rank has one."""
    if not getattr(given, "inter_op_parallelism_threads", 0):
        return given
    made = type(given)()
    made.CopyFrom(given)
    made.inter_op_parallelism_threads = 0
    return made


def others_stopped() -> bool:
    """Whether another rank of the job was stopped as asked, so that a collective failed here."""
    link = sys.modules.get("npu_config.tf1.rank_link")
    return link is not None and bool(link.stopped())
