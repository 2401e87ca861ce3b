"""Logs of failed jobs: what failed first, on which rank, what it means and where it leads.

``read_logs(paths)`` gives a :class:`LogReport`.  The facts of codes are in ``facts``, the forms of
lines in ``records``, blocks and tracebacks in ``events``, processes and ranks in ``jobs``, who
failed first in ``verdict``.
Everything is loaded when it is first used: ``explain`` needs the facts alone.
"""

from typing import TYPE_CHECKING

from npu_config.core.lazy import lazy

if TYPE_CHECKING:
    from npu_config.logs.causes import Cause
    from npu_config.logs.report import LogReport, RankState, read_logs, report_of

__all__ = ["Cause", "RankState", "LogReport", "read_logs", "report_of"]

_HOMES = {
    "Cause": "causes",
    "RankState": "report",
    "LogReport": "report",
    "read_logs": "report",
    "report_of": "report",
}
__getattr__, __dir__ = lazy(__name__, _HOMES)
