"""Which lines of interest a process runs: for the plugin by which ``tools.mutants`` chooses tests.

``COVERING`` in the environment names a JSON file: the ``lines`` below ``root``, and the ``folder``
where processes that tests start leave what they ran.  Nothing heavy is imported here.
"""

import atexit
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, NoReturn, Set

VARIABLE = "COVERING"
STARTED = "COVERING_STARTED"
"""Set for the processes that tests start."""

SITE = "from tools import covering\n\ncovering.watch_process()\n"
"""What a process that a test starts imports first."""


class Watch:
    """The lines of interest that have run since they were last taken."""

    def __init__(self, plan: Dict[str, Any]) -> None:
        self.root: str = plan["root"]
        self.lines: Dict[str, Set[int]] = {k: set(v) for k, v in plan["lines"].items()}
        self.ran: Set[str] = set()
        monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - Python 3.12
        self.disable = monitoring.DISABLE
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "covering")
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self.on_line)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)

    def on_line(self, code: Any, line: int) -> Any:
        """Note a line of interest; never ask again about another."""
        name: str = code.co_filename
        if name.startswith(self.root):
            path = name[len(self.root) :].lstrip("/")
            if line in self.lines.get(path, ()):
                self.ran.add("{}:{}".format(path, line))
                return None
        return self.disable

    def stop(self) -> None:
        """See no more."""
        monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 - Python 3.12
        monitoring.set_events(monitoring.COVERAGE_ID, 0)

    def take(self) -> Set[str]:
        """What has run; begin anew."""
        ran, self.ran = self.ran, set()
        return ran

    def leave(self, folder: str) -> None:
        """Write what has run where the process that runs the tests looks."""
        name = "{}-{}.ran".format(os.getpid(), time.monotonic_ns())
        (Path(folder) / name).write_text("\n".join(self.take()), "utf-8")


def read_plan() -> Dict[str, Any]:
    """What the environment asks for."""
    plan: Dict[str, Any] = json.loads(Path(os.environ[VARIABLE]).read_text("utf-8"))
    return plan


def watch_process() -> None:
    """Record what this process runs, for the test that started it."""
    if STARTED not in os.environ:
        return
    plan = read_plan()
    watch = Watch(plan)
    atexit.register(watch.leave, plan["folder"])
    leave_at_exit(watch, plan["folder"])


def leave_at_exit(watch: Watch, folder: str) -> None:
    """Have copies of this process, which end by ``os._exit``, leave what they ran."""
    this, leave = os.getpid(), os._exit

    def left(code: int) -> NoReturn:
        if os.getpid() != this:
            watch.leave(folder)
        leave(code)

    setattr(os, "_exit", left)  # noqa: B010
