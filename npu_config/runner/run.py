"""One run of a script with the vendor's modules served from this package."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery
import importlib.util
import itertools
import os
import sys
from types import ModuleType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    ContextManager,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    MutableMapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from npu_config.core.message import language, phrase
from npu_config.core.paths import path_name, walk
from npu_config.runner import finder, outside, script
from npu_config.runner.watch import SessionWatch

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic
    from npu_config.core.paths import PathLike
    from npu_config.judging import Judgement, KnownRules
    from npu_config.runner.sessions import SeenSession

ONE_RANK: Mapping[str, str] = {
    "JOB_ID": "npu-config-run",
    "RANK_ID": "0",
    "RANK_SIZE": "1",
    "DEVICE_ID": "0",
    "ASCEND_DEVICE_ID": "0",
    "DEVICE_INDEX": "0",
}
"""A job of one process; without ``RANK_TABLE_FILE``, which one process does not need.

``DEVICE_INDEX`` is no variable of the adapter: launch scripts set it beside ``RANK_ID``, and
training scripts read it.
"""


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


_NAME = "npu_config"


def share(folder: str) -> Callable[[], None]:
    """Let the name of this package stand for the script's module, too, if there is one.

    The script's module runs when a name of it is asked for first.

    Args:
        folder: the folder of the script.

    Returns:
        A function that undoes it.
    """
    ours = sys.modules[_NAME]
    spec = importlib.machinery.PathFinder.find_spec(_NAME, [folder])
    if spec is None or spec.loader is None or _same(spec.origin, ours.__file__):
        return lambda: None
    both = ModuleType(_NAME)
    theirs: Optional[ModuleType] = None

    def look_up(name: str) -> Any:
        nonlocal theirs
        if name != "__all__" and hasattr(ours, name):
            return getattr(ours, name)
        if theirs is None:
            theirs = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(theirs)  # type: ignore[union-attr]
        if name == "__all__":
            return getattr(theirs, name, [each for each in vars(theirs) if each[:1] != "_"])
        return getattr(theirs, name)

    def undo() -> None:
        for name, value in vars(both).items():
            if isinstance(value, ModuleType) and value.__name__ == "{}.{}".format(_NAME, name):
                setattr(ours, name, value)
        sys.modules[_NAME] = ours

    both.__dict__.update(
        __path__=ours.__path__,
        __file__=ours.__file__,
        __spec__=ours.__spec__,
        __package__=ours.__package__,
        __getattr__=look_up,
    )
    sys.modules[_NAME] = both
    return undo


def _same(one: Optional[str], other: Optional[str]) -> bool:
    return bool(one and other and os.path.realpath(one) == os.path.realpath(other))


class Seen(NamedTuple):
    """What was seen of a script.

    Args:
        script: the file.
        exit_code: what ``python`` would have ended with; 0 when it was stopped as asked.
        ended: ``"finished"`` (also where it failed: see ``error``), ``"dry-run"``, ``"steps"``,
            ``"signal"`` or ``"timeout"``.
        loops: ``"device"`` or ``"once"``.
        modules: the vendor's modules that it imported, in the order of their names.
        environment: the variables that were filled in.
        findings: everything that was found, in order of place, whatever Python's warning filters
            say: by sessions, loops and calls of npu_bridge; in a dry run, too, what is wrong with
            the script as it is written, and with the variables of the job.
        sessions: the sessions that it made.
        files: the files below the working directory that are new or changed.
        warnings: message, category, path and line of each warning.
        error: what ended it, e.g. ``"ValueError: ..."``, ``"SIGTERM"`` or ``"timeout of 60 s"``,
            where ``exit_code`` is not 0; else None.
        error_place: the line of the script, or of a module beside it, that led there, or that it
            was at.
        did: of one rank of several, what is compared with the others.
    """

    script: str
    exit_code: int
    ended: str
    loops: str
    modules: Tuple[str, ...]
    environment: Dict[str, str]
    findings: Tuple[Diagnostic, ...]
    sessions: Tuple[SeenSession, ...]
    files: Tuple[str, ...]
    warnings: Tuple[Tuple[str, str, Optional[str], int], ...]
    error: Optional[str] = None
    error_place: Optional[str] = None
    did: Optional[Dict[str, Any]] = None

    def to_dict(self) -> Dict[str, Any]:
        """The object of ``--report`` and of ``--dry-run``."""
        return {
            "version": 1,
            "script": self.script,
            "exit_code": self.exit_code,
            "ended": self.ended,
            "error": self.error,
            "error_place": self.error_place,
            "loops": self.loops,
            "modules": list(self.modules),
            "environment": self.environment,
            "findings": [each.localized(language()).to_dict() for each in self.findings],
            "sessions": [each.to_dict() for each in self.sessions],
            "files": list(self.files),
            "warnings": [
                {"message": message, "category": category, "path": path, "line": line}
                for message, category, path, line in self.warnings
            ],
            **({} if self.did is None else {"did": self.did}),
        }


def run_path(
    path: PathLike,
    arguments: Sequence[str] = (),
    loops: Optional[str] = None,
    dry_run: bool = False,
    steps: Optional[int] = None,
    force: bool = False,
    files: bool = True,
    known_rules: Optional[KnownRules] = None,
    timeout: Optional[float] = None,
    last: Optional[Callable[[Seen], None]] = None,
    overrides: Sequence[str] = (),
) -> Seen:
    """Run a training script as it is, without an NPU and without the vendor's package.

    The script gets its own ``sys.argv``, ``__main__`` and ``sys.path[0]``; what it raises is
    printed as ``python`` prints it.  Variables that a launcher would have set (``RANK_ID``,
    ``JOB_ID`` ...) are filled in for one rank where they are missing.

    Args:
        path: the script, or a directory with a ``__main__.py``.
        arguments: its arguments.
        loops: ``"device"``: a ``session.run`` makes as many steps as on the device;
            ``"once"``: one.  None: what ``NPU_CONFIG_LOOPS`` says, else ``"device"``.
        dry_run: stop before the first run that trains.
        steps: stop after so many runs of sessions; initialisation and broadcast do not count.
        force: serve the modules although the vendor's package is installed.
        files: look which files below the working directory the script writes.
        known_rules: as :func:`npu_config.judging.judge`, for a dry run.
        timeout: seconds after which the run is ended; needs ``last``.
        last: called with what was seen when a signal or the time ends the process, which
            happens right after that.  None: signals are left alone.
        overrides: values that replace those of every session, each ``"NAME=VALUE"``.

    Returns:
        What was seen, with the exit code.

    Raises:
        CannotRunError: there is no such script.
        NpuConfigError: the vendor's package is installed and ``force`` is False.
        ValueError: ``steps`` is below 1, or ``timeout`` is given without ``last``.
    """
    if steps is not None and steps < 1:
        raise ValueError(phrase("steps must be at least 1, got {}", steps))
    if timeout is not None and last is None:
        raise ValueError(
            "timeout requires the argument last: a function that receives the results "
            "recorded until the timeout"
        )
    name = path_name(path)
    found = script.find(name)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_served(force))
        filled = stack.enter_context(_variables(loops, overrides))
        watch = SessionWatch(dry_run, steps, script.files_of(found))
        written = _judged(found, known_rules, overrides) if dry_run else None
        run = _Run(found, watch, filled, written, files)
        watch.start()
        stack.callback(watch.stop)
        stack.callback(share(os.path.dirname(os.path.realpath(found))))
        with run.ended_from_outside(timeout, last):
            end = script.execute(found, arguments, name)
            if "npu_config.records.writing" in sys.modules:  # a session was recorded
                sys.modules["npu_config.records.writing"].set_exit(end.code)
        if watch.stopped:
            return run.seen(end, "dry-run" if dry_run else "steps")
        return run.seen(end, "signal" if end.is_interrupt else "finished")


class _Run:
    """A run of a script, and what there is to say of it at any time."""

    def __init__(
        self,
        path: str,
        watch: SessionWatch,
        filled: Dict[str, str],
        written: Optional[Judgement],
        files: bool,
    ) -> None:
        self._watch = watch
        self._path = path
        self._mine = script.frames_of(path)
        self._loops = os.environ["NPU_CONFIG_LOOPS"]
        self._filled = filled
        self._written = written
        self._folder = os.getcwd() if files else None
        self._before = _stamps(self._folder)

    def ended_from_outside(
        self, timeout: Optional[float], last: Optional[Callable[[Seen], None]]
    ) -> ContextManager[Any]:
        """Inside, a signal and the time end the process after a last call."""
        if last is None:
            return contextlib.ExitStack()
        tell = last

        def finish(why: str, code: int) -> None:
            ended = "timeout" if code == outside.TIMED_OUT else "signal"
            error: Optional[str] = why
            if why == outside.EXITED:
                ended, error = "finished", "{}({})".format(why, code) if code else None
            tell(self.seen(script.ScriptEnd(code, error, script.place_now(self._mine)), ended))

        return outside.ended_from_outside(finish, timeout)

    def seen(self, end: script.ScriptEnd, ended: str) -> Seen:
        """What was seen until now.

        Args:
            end: how the script has ended.
            ended: as of :class:`Seen`.
        """
        return Seen(
            self._path,
            end.code,
            ended,
            self._loops,
            finder.served(),
            self._filled,
            self._findings(end),
            tuple(self._watch.sessions),
            tuple(_changed(self._before, _stamps(self._folder))),
            tuple((text, kind, path or "", n) for text, kind, path, n in self._watch.warnings),
            end.error,
            None if end.place is None else "{}:{}".format(*end.place),
            self._did(),
        )

    def _did(self) -> Optional[Dict[str, Any]]:
        doings = self._watch.doings
        if doings is None:
            return None
        from npu_config.tf1.optimizers import wrapped

        first = next(iter(wrapped), None)
        doings.wrapped = None if first is None else "{}:{}".format(first.path, first.line)
        return doings.to_dict()

    def _findings(self, end: script.ScriptEnd) -> Tuple[Diagnostic, ...]:
        """Every finding, once."""
        findings: List[Diagnostic] = list(self._watch.findings)
        for session in list(self._watch.sessions):
            findings += session.of_the_npu
        if self._written is not None:  # a dry run
            judged = self._written
            said = {(each.rule, each.option) for each in (*judged.found, *judged.silenced)}
            findings = [each for each in findings if (each.rule, each.option) not in said]
            findings += (*judged.found, *check(os.environ, self._filled))
        noted = {(each.rule, each.message) for each in findings}
        raised = [each for each in end.found if (each.rule, each.message) not in noted]
        if not findings and not raised:
            return ()
        from dataclasses import replace

        from npu_config.core.diagnostics import Report

        path, line = end.place or (None, None)
        findings += (
            each if each.path or each.line else replace(each, path=path, line=line)
            for each in raised
        )
        return tuple(Report(findings))


@contextlib.contextmanager
def _served(force: bool) -> Iterator[None]:
    """Inside, the vendor's modules are served, here and to processes that are started."""
    already = finder.installed() is not None
    finder.install_npu_bridge(force)
    sys.path.insert(1, finder.SHIM)  # processes of multiprocessing get this path
    try:
        yield
    finally:
        if finder.SHIM in sys.path:
            sys.path.remove(finder.SHIM)
        if not already:
            finder.uninstall_npu_bridge()


def _judged(
    path: str, known_rules: Optional[KnownRules], overrides: Sequence[str] = ()
) -> Judgement:
    """What ``npu-config check`` says of a script."""
    from npu_config.judging import Around, judge
    from npu_config.lint.project import in_project
    from npu_config.rules.overrides import overrides_of

    around = in_project(Around(overrides=overrides_of(overrides)), path, known_rules)
    return judge(path, around, "script", known_rules=known_rules)


@contextlib.contextmanager
def _variables(loops: Optional[str], overrides: Sequence[str] = ()) -> Iterator[Dict[str, str]]:
    """Inside, the variables that a launcher sets, and ours, are there; gives the former."""
    filled = fill(os.environ)
    before: Mapping[str, Optional[str]] = {
        **dict.fromkeys(filled),
        **{name: os.environ.get(name) for name in _OURS},
    }
    if loops is not None:
        os.environ["NPU_CONFIG_LOOPS_BY"] = "run"
    os.environ["NPU_CONFIG_LOOPS"] = loops or before["NPU_CONFIG_LOOPS"] or "device"
    os.environ[_RUN] = str(os.getpid())
    if overrides:
        import json

        os.environ[_SET] = json.dumps(list(overrides))
    paths = (finder.SHIM, before["PYTHONPATH"])
    os.environ["PYTHONPATH"] = os.pathsep.join(each for each in paths if each)
    try:
        yield filled
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


_SET = "NPU_CONFIG_SET"
_RUN = "NPU_CONFIG_RUN"
_OURS = ("NPU_CONFIG_LOOPS", "NPU_CONFIG_LOOPS_BY", _RUN, _SET, "PYTHONPATH")


_MOST_FILES = 20_000


def _stamps(folder: Optional[str]) -> Dict[str, Tuple[int, int]]:
    """The files below a folder with their size and time; at most 20,000."""
    return {} if folder is None else dict(itertools.islice(_stamped(folder), _MOST_FILES))


def _stamped(folder: str) -> Iterable[Tuple[str, Tuple[int, int]]]:
    for directory, folders, names in walk(folder):
        folders[:] = [
            each for each in folders if not each.startswith(".") and each != "__pycache__"
        ]
        for name in names:
            path = os.path.join(directory, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue
            yield os.path.relpath(path, folder), (status.st_size, status.st_mtime_ns)


def _changed(before: Dict[str, Tuple[int, int]], after: Dict[str, Tuple[int, int]]) -> List[str]:
    """The files that are new or not as they were."""
    return sorted(path for path, stamp in after.items() if before.get(path) != stamp)
