"""What ``tools.mutants`` does inside of pytest: it records what tests run, and chooses tests.

As a plugin this runs only the tests that the plan, which ``COVERING`` names, has ``chosen``, in
their order.
"""

import json
import os
from pathlib import Path
from typing import Any, Dict, Generator, List, Set

import pytest

from tools.covering import STARTED, Watch, leave_at_exit, read_plan


class Recorder:
    """Notes for each test what it runs; what a shared fixture runs counts for all who use it."""

    def __init__(self, plan: Dict[str, Any], watch: Watch) -> None:
        self.plan = plan
        self.watch = watch
        os.environ[STARTED] = "1"
        leave_at_exit(watch, plan["folder"])
        self.shared: Dict[int, Set[str]] = {}
        self.tests: List[Dict[str, Any]] = []
        self.failed: Set[str] = set()

    def taken(self) -> Set[str]:
        """What has run here and in the processes that have ended."""
        ran = self.watch.take()
        for file in Path(self.plan["folder"]).glob("*.ran"):
            ran.update(filter(None, file.read_text("utf-8").split("\n")))
            file.unlink()
        return ran

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, Any, Any]:
        """Lines of a fixture that several tests share."""
        if fixturedef.scope == "function":
            return (yield)
        before = self.taken()
        result = yield
        self.shared.setdefault(id(fixturedef), set()).update(self.taken())
        self.watch.ran.update(before)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, Any]:
        """Lines of one test."""
        self.taken()
        began = sum(os.times()[:4])
        result = yield
        ran = self.taken()
        for fixtures in getattr(item, "_fixtureinfo").name2fixturedefs.values():  # noqa: B009
            for each in fixtures:
                ran |= self.shared.get(id(each), set())
        self.tests.append(
            {
                "test": item.nodeid,
                "seconds": sum(os.times()[:4]) - began,
                "ran": sorted(ran),
                "passed": item.nodeid not in self.failed,
            }
        )
        return result

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test that fails without a fault finds none."""
        if report.failed:
            self.failed.add(report.nodeid)

    def write(self) -> None:
        """Write what was seen."""
        Path(self.plan["record"]).write_text(json.dumps(self.tests), "utf-8")


class Chooser:
    """Runs the chosen tests only, those first that come first."""

    def __init__(self, chosen: List[str]) -> None:
        self.places = {test: place for place, test in enumerate(chosen)}

    def pytest_collection_modifyitems(self, items: List[Any]) -> None:
        """Leave the others out."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.places),
            key=lambda item: self.places[item.nodeid],
        )


def pytest_configure(config: Any) -> None:
    """Run the chosen tests only."""
    config.pluginmanager.register(Chooser(read_plan()["chosen"]), "covering")
