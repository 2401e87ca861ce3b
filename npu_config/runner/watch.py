"""The sessions of a script: what they are configured with, what they run, when they are stopped.

TensorFlow is not imported here: its session module is patched right after the script imports it.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import os
import sys
import threading
import warnings
from operator import attrgetter, is_
from types import FrameType
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from npu_config.core import findings
from npu_config.core.message import phrase
from npu_config.runner import script
from npu_config.runner.script import Stopped
from npu_config.tf1.purpose import OTHER, TRAINS, Fetched, fetched, is_lasting, purpose

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic, Place
    from npu_config.runner.calls import Calls, LiveCall
    from npu_config.runner.doings import Doings
    from npu_config.runner.sessions import SeenSession


_FLAT = (list, tuple)


def _is_rank() -> bool:
    """Whether this process is a rank of ``npu-config run --ranks``."""
    from npu_config.tf1.rank_link import ADDRESS

    return bool(os.environ.get(ADDRESS))


def with_threads(arguments: Any) -> Any:
    """Arguments of a session whose configuration lets a rank wait in many collectives at once.

    A collective holds a thread while it waits; ranks with few threads could wait for each other.

    Args:
        arguments: positional or named ones of a session.
    """
    if not _is_rank():
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


def files_below() -> FrozenSet[str]:
    """The files of all frames that run now."""
    files = set()
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        files.add(frame.f_code.co_filename)
        frame = frame.f_back
    return frozenset(files)


def hide(files: FrozenSet[str]) -> Callable[[], None]:
    """Leave frames of files out of the stacks of this thread; TensorFlow is imported.

    Returns:
        A function that undoes it.
    """
    stacks = sys.modules.get("tensorflow_core.python.util.tf_stack") or sys.modules.get(
        "tensorflow.python.util.tf_stack"
    )
    base = getattr(stacks, "StackTraceFilter", None)
    if base is None:
        return lambda: None

    class Hidden(base):  # type: ignore[misc, valid-type]
        def get_filtered_filenames(self) -> Any:
            return files if self.parent is None else files | self.parent.get_filtered_filenames()

    hidden = Hidden()
    hidden.__enter__()
    kept = Hidden._stack_dict[hidden._thread_key]

    def undo() -> None:
        if hidden in kept:
            kept.remove(hidden)

    return undo


SESSION_MODULES = ("tensorflow_core.python.client.session", "tensorflow.python.client.session")


class SessionWatch:
    """Sees every session of the process from :meth:`start` to :meth:`stop`.

    Args:
        dry_run: stop before the first run that trains.
        steps: stop after so many runs.
        is_mine: whether a file is the script, or a module beside it.
    """

    def __init__(
        self,
        dry_run: bool = False,
        steps: Optional[int] = None,
        is_mine: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self.sessions: List[SeenSession] = []
        self.findings: Dict[Diagnostic, None] = {}
        self.warnings: List[Tuple[str, str, Optional[str], int]] = []
        self.stopped = False
        self._below: FrozenSet[str] = frozenset()
        self._is_mine = is_mine
        self._dry_run = dry_run
        self._steps = steps
        self._runs = 0
        self._open: Set[int] = set()
        self._has_forked = False
        self.doings: Optional[Doings] = None
        self._read: Any = None
        self._asked_at: Set[Place] = set()
        self._undo: List[Callable[[], None]] = []
        self._lock = threading.Lock()

    def start(self) -> None:
        """Look out for TensorFlow, for findings and for warnings."""
        self._below = files_below() | {script.__file__}
        loaded = [sys.modules[name] for name in SESSION_MODULES if name in sys.modules]
        if loaded:
            self._patch(loaded[0])
        else:
            hook = _AfterImport(self._patch)
            sys.meta_path.insert(0, hook)
            self._undo.append(hook.remove)
        shown = warnings.showwarning

        def show(message: Any, category: Any, filename: str, lineno: int, *more: Any) -> None:
            self.warnings.append((str(message), category.__name__, filename, lineno))
            shown(message, category, filename, lineno, *more)

        warnings.showwarning = show  # type: ignore[assignment]
        self._undo.append(lambda: setattr(warnings, "showwarning", shown))
        listeners: Tuple[Tuple[List[Any], Any], ...] = (
            (findings.listeners, self._found),
            (findings.rank_listeners, self._asked),
            (fork_listeners, self._forks),
        )
        for told, listener in listeners:
            told.append(listener)
            self._undo.append(functools.partial(told.remove, listener))

    def stop(self) -> None:
        """Leave everything as it was."""
        while self._undo:
            self._undo.pop()()

    def _found(self, finding: Diagnostic) -> None:
        from npu_config.core.calls import placed

        self.findings[placed(finding)] = None

    def _patch(self, module: Any) -> None:
        import inspect

        base = module.BaseSession
        init, run = base.__init__, base.run
        self._read = run
        make, make_from_options = base.make_callable, base._make_callable_from_options

        def again(session: Any) -> Optional[RepeatedRuns]:
            """What needs no look a second time; nothing where every run is counted."""
            ends = self._dry_run or self._steps is not None
            return None if ends else RepeatedRuns(session.graph)

        def made(session: Any, *args: Any, **kwargs: Any) -> None:
            init(session, *with_threads(args), **with_threads(kwargs))
            session._npu_config_seen = self._see(session)
            session._npu_config_again = again(session)
            session._npu_config_last = None

        def ran(
            session: Any,
            fetches: Any,
            feed_dict: Any = None,
            options: Any = None,
            run_metadata: Any = None,
        ) -> Any:
            feeds = feed_dict or {}
            last = session._npu_config_last
            given = fetches if type(fetches) in _FLAT else (fetches,)
            if (  # as the last time: here and not in a function, as most steps cost no more
                last is not None
                and last.graph["_version"] == last.version
                and len(given) == len(last.fetches)
                and len(feeds) == len(last.feeds)
                and all(map(is_, given, last.fetches))
                and all(map(is_, feeds, last.feeds))
                and "run" not in session.__dict__
            ):
                try:
                    result = run(session, fetches, feed_dict, options, run_metadata)
                except Exception:
                    self._end_with_others()
                    raise
                last.call.ran(feeds.values())
                return result
            return looked(session, fetches, feeds, options, run_metadata)

        def looked(session: Any, fetches: Any, feeds: Any, *more: Any) -> Any:
            def call(probes: Any) -> Any:
                if probes:
                    return run(session, [fetches, probes], feeds, *more)
                return run(session, fetches, feeds, *more), ()

            return self._ran("run", session, fetches, feeds, call)

        def callable_of(session: Any, fetches: Any, *args: Any, **kwargs: Any) -> Any:
            call = make(session, fetches, *args, **kwargs)
            keys = (args[0] if args else kwargs.get("feed_list")) or ()
            return self._seen_callable("make_callable", session, fetches, keys, call)

        def callable_of_options(session: Any, options: Any) -> Any:  # Keras trains through these
            call = make_from_options(session, options)
            fetches, keys = [*options.fetch, *options.target], tuple(options.feed)
            name = "_make_callable_from_options"
            return self._seen_callable(name, session, fetches, keys, call)

        made.__wrapped__ = init  # type: ignore[attr-defined]
        made.__signature__ = inspect.signature(init)  # type: ignore[attr-defined]
        self._replace(base, "__init__", made)
        self._replace(base, "run", ran)
        self._replace(base, "make_callable", callable_of)
        self._replace(base, "_make_callable_from_options", callable_of_options)
        close = base.close

        def closed(session: Any) -> None:
            close(session)
            self._open.discard(id(session))

        self._replace(base, "close", closed)
        from npu_config.tf1 import loop_runs

        loop_runs.observers.append(self.observe)
        self._undo.append(lambda: loop_runs.observers.remove(self.observe))
        self._undo.append(hide(self._below))

    def _replace(self, base: Any, name: str, ours: Callable[..., Any]) -> None:
        theirs = getattr(base, name)
        setattr(base, name, ours)
        self._undo.append(lambda: setattr(base, name, theirs))

    def _seen_callable(
        self, name: str, session: Any, fetches: Any, keys: Any, call: Callable[..., Any]
    ) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            def once(probes: Any) -> Any:
                return call(*args, **kwargs), None

            return self._ran(name, session, fetches, dict(zip(keys, args)), once)

        return called

    def _ran(
        self, name: str, session: Any, fetches: Any, feeds: Any, call: Callable[[Any], Any]
    ) -> Any:
        """A call of a method of TensorFlow's class, by the script or in a round of a loop."""
        again: Optional[RepeatedRuns] = session._npu_config_again
        known = None if again is None else again.find(fetches, feeds)
        is_round = name in vars(session)
        if known is None:
            found = fetched(session, fetches)
            live = self._call_of(session, found, feeds)
            step = functools.partial(self._step, live, feeds, call)
            result = step() if is_round else self._observe(session, found, feeds, step)
            self._open.add(id(session))
            if again is not None:
                session._npu_config_last = again.keep(feeds, found, live)
        else:
            live = known.call
            session._npu_config_last = known.as_last
            try:
                result = self._step(live, feeds, call)
            except Exception:
                self._end_with_others(is_round)
                raise
        if is_round and live.seen.purpose != OTHER:
            session._npu_config_seen.rounds += 1
        return result

    def _see(self, session: Any) -> SeenSession:
        from npu_config.runner.sessions import see

        if self.doings is None and _is_rank() and os.environ.get("RANK_SIZE", "1") != "1":
            from npu_config.runner.doings import Doings

            self.doings = Doings(self._read)
        seen = see(session, self._is_mine, self.doings)
        with self._lock:
            self.sessions.append(seen)
        return seen

    def observe(self, session: Any, fetches: Any, call: Callable[[], Any]) -> Any:
        """A loop of runs that is one run of the script; ``call`` does it."""
        found = fetched(session, fetches)
        result = self._observe(session, found, (), call)
        session._npu_config_seen.loops += found.fact(purpose) != OTHER
        return result

    def _observe(self, session: Any, found: Fetched, feeds: Any, call: Callable[[], Any]) -> Any:
        kind = found.fact(purpose)
        if kind == TRAINS:
            session._npu_config_seen.trains = True
        enough = self._steps is not None and self._runs >= self._steps
        if (kind == TRAINS and self._dry_run) or (kind != OTHER and enough):
            self._call_of(session, found, feeds)
            self.stopped = True
            raise Stopped(0)
        try:
            result = call()
        except Exception:
            self._end_with_others()
            raise
        if kind != OTHER:
            with self._lock:
                self._runs += 1
        return result

    def _end_with_others(self, is_round: bool = False) -> None:
        """A run failed: where the others of the job were stopped, that is no failure."""
        from npu_config.tf1.rank_link import stopped

        if not is_round and stopped():
            self.stopped = True
            raise Stopped(0) from None

    def _call_of(self, session: Any, found: Fetched, feeds: Any) -> LiveCall:
        with self._lock:
            calls: Calls = session._npu_config_seen.calls
            return calls.of(session, found, tuple(feeds))

    def _step(self, live: LiveCall, feeds: Any, call: Callable[[Any], Any]) -> Any:
        """One time that TensorFlow runs the graph."""
        if live.number is not None and self.doings is not None:
            with self._lock:
                self.doings.runs(live.number)
        result, probed = call(live.probes)
        live.ran(() if probed is None else (*feeds.values(), *probed))
        return result

    def _asked(self, name: str) -> None:
        """The script asks for ranks; an Estimator has initialised the device by then."""
        if self._open or any("tensorflow_estimator" in path for path in files_below()):
            return
        from npu_config.core.calls import script_place
        from npu_config.situations.ranks import rank_asked_before_initialisation

        place = script_place()
        if place not in self._asked_at:  # a line that asks for rank and size is one finding
            self._asked_at.add(place)
            text = "{} is called before collective communication is initialised"
            findings.tell(rank_asked_before_initialisation.diagnostic(phrase(text, name), place))

    def _forks(self, frame: Optional[FrameType]) -> None:
        """A process is started by fork."""
        if self._has_forked or "tensorflow" not in sys.modules:
            return
        self._has_forked = True
        from npu_config.core.diagnostics import Severity
        from npu_config.situations.host import forked_process_beside_session

        while frame is not None and not self._is_mine(frame.f_code.co_filename):
            frame = frame.f_back
        text = (
            (
                "a process is started by fork while there is a session: the new process inherits "
                "the locks in their current state and may hang"
            )
            if self._open
            else (
                "a process is started by fork after TensorFlow was imported: the new process "
                "inherits the locks in their current state and may hang"
            )
        )
        finding = forked_process_beside_session.diagnostic(
            phrase(text), severity=Severity.ERROR if self._open else None
        )
        if frame is not None:
            from dataclasses import replace

            finding = replace(finding, path=frame.f_code.co_filename, line=frame.f_lineno)
        findings.tell(finding)


class _AfterImport:
    """Calls a function with TensorFlow's session module right after it was imported."""

    def __init__(self, then: Callable[[Any], None]) -> None:
        self._then = then

    def remove(self) -> None:
        """Look out no longer."""
        sys.meta_path[:] = [each for each in sys.meta_path if each is not self]

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        """The specification that others find, with a loader that tells of it."""
        if name not in SESSION_MODULES:
            return None
        self.remove()
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader, then = spec.loader, self._then
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            then(module)

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


fork_listeners: List[Callable[[Optional[FrameType]], None]] = []
"""Called with the frame that forks: Python takes back no function that it was given for that."""

_STARTS = os.path.join("multiprocessing", "popen_fork.py")


def _before_fork() -> None:
    if not fork_listeners:
        return
    frame: Optional[FrameType] = sys._getframe(1)
    start = frame
    while frame is not None:
        if frame.f_code.co_filename.endswith(_STARTS):
            for each in list(fork_listeners):
                each(start)
            return
        frame = frame.f_back


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


_MOST = 256
_NESTED = (list, tuple, dict)

Key = Tuple[Tuple[int, ...], Tuple[int, ...]]


class KnownRun:
    """A run that was made before.

    Attributes:
        call: what is kept of it.
        fetches: what was fetched, without the structure around it.
        feeds: the keys of what was fed.
        version: of the graph at that time.
        graph: the attributes of the graph.
    """

    __slots__ = ("call", "feeds", "fetches", "graph", "version")

    def __init__(
        self,
        call: LiveCall,
        fetches: Sequence[Any],
        feeds: Sequence[Any],
        version: int,
        graph: Any,
    ) -> None:
        self.call = call
        self.fetches = fetches
        self.feeds = feeds
        self.version = version
        self.graph: Dict[str, Any] = getattr(graph, "__dict__", {})  # none in TensorFlow 2

    @property
    def as_last(self) -> Optional[KnownRun]:
        """Itself, where a run like it needs no look at anything else."""
        return self if self.call.is_plain and "_version" in self.graph else None


class RepeatedRuns:
    """The runs of one session that need no look when they are made again.

    Training runs the same fetches thousands of times, and nothing about them changes as long as
    the graph does not.  What was found out is kept with the objects that were given, so that
    none of their ids is used for another.
    """

    __slots__ = ("_graph", "_known", "_version", "_version_of")

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        version = "_version" if hasattr(graph, "_version") else "version"  # one of them has a lock
        self._version_of = attrgetter(version)
        self._known: Dict[Key, KnownRun] = {}
        self._version: Optional[int] = None

    def find(self, fetches: Any, feeds: Any) -> Optional[KnownRun]:
        """A run that was made before, of the same fetches and feeds of the same graph."""
        if self._version != self._version_of(self._graph):
            return None
        return self._known.get(_key(tuple(_leaves(fetches)), feeds))

    def keep(self, feeds: Any, found: Fetched, call: LiveCall) -> Optional[KnownRun]:
        """Remember a run that was looked at, where its fetches always mean the same."""
        if not found.operations or not all(map(is_lasting, found.given)):
            return None
        version = self._version_of(self._graph)
        if self._version != version or len(self._known) >= _MOST:
            self._known.clear()
        known = KnownRun(call, tuple(found.given), tuple(feeds), version, self._graph)
        self._known[_key(found.given, feeds)] = known
        self._version = version
        return known.as_last


def _key(fetches: Sequence[Any], feeds: Any) -> Key:
    return tuple(map(id, fetches)), tuple(map(id, feeds))


def _leaves(fetches: Any) -> Iterator[Any]:
    if type(fetches) not in _NESTED:
        yield fetches
        return
    for each in fetches.values() if type(fetches) is dict else fetches:
        yield from _leaves(each)
