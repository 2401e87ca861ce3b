"""Tries mutants in copies of one process that has collected the tests: a plugin of pytest.

In a copy the functions that a mutant changes get their new code, and its tests run: no Python is
started and nothing is collected for it, so most take a second or two.  What ran while the tests
were collected has been made already: it is left, as is what is not found here, to
``tools.mutants``, which starts pytest anew.  ``COVERING`` names the plan; what is found goes line
by line to the standard error of the start.
"""

import functools
import gc
import importlib
import json
import os
import select
import signal
import types
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import pytest

from tools import mutants
from tools.covering import Watch, read_plan
from tools.covering_plugin import Recorder

_SAY = os.dup(2)
"""The standard error before pytest takes it."""

Place = Tuple[str, int]


def say(number: Optional[int], result: Any) -> None:
    """Tell ``tools.mutants`` of a mutant."""
    os.write(_SAY, (json.dumps([number, result]) + "\n").encode("utf-8"))


def in_copy(work: Callable[[], Any], seconds: float = 900) -> Any:
    """What a function gives in a copy of this process, or how that ended without a result."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        leave = os._exit  # a recorder puts another there
        os.setsid()
        try:
            os.write(theirs, json.dumps(work()).encode("utf-8"))
        finally:
            leave(0)
    os.close(theirs)
    ready = select.select([ours], [], [], seconds)[0]
    result = os.read(ours, 1 << 16) if ready else b'"hangs"'
    os.close(ours)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(result.decode("utf-8") or '"the process died"')


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code of everything inside of a module."""
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield each
            yield from codes(each)


def place(code: types.CodeType) -> Place:
    """By what the code of one function is known in its module."""
    return code.co_qualname, code.co_firstlineno


def functions_of(paths: Sequence[str]) -> Dict[str, Dict[Place, List[types.FunctionType]]]:
    """Every function that there is of these modules, by file and place."""
    result: Dict[str, Dict[Place, List[types.FunctionType]]] = {path: {} for path in paths}
    files = {os.path.abspath(path): found for path, found in result.items()}
    for path in paths:
        name = path[: -len(".py")].replace("/", ".")
        importlib.import_module(name[: -len(".__init__")] if name.endswith("__init__") else name)
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, types.FunctionType):
            mine = files.get(each.__code__.co_filename)
            if mine is not None:
                mine.setdefault(place(each.__code__), []).append(each)
    gc.freeze()
    return result


class Trier:
    """Tries the mutants of a plan on the tests that were collected."""

    def __init__(self, plan: Dict[str, Any]) -> None:
        self.plan = plan
        self.watch = Watch(plan)
        self.items: Dict[str, Any] = {}
        self.functions: Dict[str, Dict[Place, List[types.FunctionType]]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of running the tests once."""
        self.items = {item.nodeid: item for item in session.items}
        chosen = [mutants.Mutant(*each) for each in self.plan["mutants"]]
        self.functions = functions_of(list(dict.fromkeys(each.path for each in chosen)))
        at_import = self.watch.take()
        in_copy(self.record, 3600)
        self.watch.stop()
        recorded = json.loads(Path(self.plan["record"]).read_text("utf-8"))
        for number, mutant in enumerate(chosen):
            tests = mutants.tests_of(mutant, recorded, self.plan["limit"])
            own = {"{}:{}".format(mutant.path, line) for line in mutants.interest(mutant).own}
            changed = {} if own & at_import else self.changed(mutant)
            say(number, self.found_by(mutant, changed, tests) if changed else None)
        say(None, None)
        return True

    def record(self) -> None:
        """Run every test without a fault, and write what it runs."""
        recorder = Recorder(self.plan, self.watch)
        self.failing(list(self.items), plugin=recorder)
        recorder.write()

    def changed(self, mutant: mutants.Mutant) -> Dict[Place, types.CodeType]:
        """The new code of the functions that there are and that a mutant changes."""
        root = Path(self.plan["root"])
        file = root / mutant.path
        old = {
            place(each): each
            for each in codes(compile(file.read_text("utf-8"), str(file), "exec"))
        }
        with mutants.mutated(root, mutant) as text:
            new = {place(each): each for each in codes(compile(text, str(file), "exec"))}
        return {
            where: code
            for where, code in new.items()
            if where in self.functions[mutant.path] and code != old.get(where)
        }

    def found_by(
        self,
        mutant: mutants.Mutant,
        changed: Dict[Place, types.CodeType],
        tests: Sequence[str],
    ) -> Optional[str]:
        """The test that finds a mutant in a copy; None where that cannot be said."""

        def work(tests: Sequence[str]) -> Optional[str]:
            for where, code in changed.items():
                for function in self.functions[mutant.path][where]:
                    function.__code__ = code
            return self.failing(tests)

        left = list(tests)
        while left:
            with mutants.mutated(Path(self.plan["root"]), mutant):
                failed: Optional[str] = in_copy(functools.partial(work, left))
            if failed not in left:  # none, or the copy hangs or dies
                return None
            if in_copy(functools.partial(self.failing, [failed])) is None:
                return failed
            left.remove(failed)
        return None

    def failing(self, tests: Sequence[str], plugin: Any = None) -> Optional[str]:
        """The first of these tests that fails; with a plugin, all are run."""
        failed: List[str] = []

        class Reports:
            def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
                if report.failed:
                    failed.append(report.nodeid)

        items = [self.items[test] for test in tests]
        for each in items[:1]:
            each.config.pluginmanager.register(plugin or Reports())
        for item, after in zip(items, [*items[1:], None]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            if failed:
                return failed[0]
        return None


def pytest_configure(config: pytest.Config) -> None:
    """Watch from the beginning what the tests run."""
    config.pluginmanager.register(Trier(read_plan()), "mutants")
