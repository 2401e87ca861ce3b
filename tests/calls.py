"""How much work something is, counted in calls: the same on every machine, however busy."""

import cProfile
import functools
import sys


def calls_of(work):
    """How many functions are called, in Python and in C, while ``work()`` runs."""
    return _counted(work) if hasattr(sys, "monitoring") else _profiled(work)


def _counted(work):
    """From Python 3.12 on events are counted in C: half of what a profile costs."""
    monitoring, events = sys.monitoring, sys.monitoring.events
    count = functools.lru_cache(maxsize=0)("".format)  # any function in C of any arguments
    counted = events.PY_START, events.PY_RESUME, events.C_RETURN, events.C_RAISE
    tool = monitoring.PROFILER_ID
    monitoring.use_tool_id(tool, __name__)
    try:
        for event in counted:
            monitoring.register_callback(tool, event, count)
        monitoring.set_events(tool, events.PY_START | events.PY_RESUME | events.CALL)
        work()
    finally:
        monitoring.set_events(tool, 0)
        for event in counted:
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
    return count.cache_info().misses


def _profiled(work):
    profile = cProfile.Profile()
    profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats())
