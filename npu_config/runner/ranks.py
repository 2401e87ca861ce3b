"""Several ranks of a job on this machine: started, shown, ended together."""

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from typing import (
    IO,
    Any,
    Callable,
    Deque,
    Dict,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
)

import attr

from npu_config import rank_table
from npu_config.core.diagnostics import Diagnostic, Report
from npu_config.core.message import listed, phrase
from npu_config.launch import table_job
from npu_config.runner.hub import Hub
from npu_config.runner.outside import TIMED_OUT
from npu_config.tf1.rank_link import ADDRESS

MOST = 32
"""Ranks of one server in a rank table that every product takes."""

JOB_ID = "npu-config-run"
_COMMAND = (
    "import sys; sys.path[0] = {!r}; "  # the working directory may hide this package
    "from npu_config.__main__ import main; sys.exit(main())"
).format(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_TAIL = 20
_LONGEST = 70  # the name of a socket has at most 107 bytes
_GRACE = 10.0
_THREADS = "128"
_NOTE_AFTER = 60.0


@attr.s(frozen=True, slots=True, auto_attribs=True)
class SeenRank:
    """What was seen of one rank.

    Args:
        rank: its number.
        exit_code: as a shell gives it: 128 and the signal for one that a signal ended.
        environment: the variables of the job that it was started with.
        seen: the object of its report; None when it did not come to write one.
        waits_in: the collectives, by name, that it waited in when the time was over.
    """

    rank: int
    exit_code: int
    environment: Mapping[str, str]
    seen: Optional[Dict[str, Any]]
    waits_in: Tuple[str, ...] = ()


@attr.s(frozen=True, slots=True, auto_attribs=True)
class SeenRanks:
    """What was seen of the ranks of a job.

    Args:
        exit_code: of the first rank that failed, 128 and the signal that ended the job, 124 when
            its time was over, else 0.
        ended: ``"finished"``, ``"signal"`` or ``"timeout"``.
        failed: the first rank that failed.
        tail: the last lines of its output.
        refused: why its last collective failed, where one did.
        collectives: how many of each kind (``"allreduce"``) the ranks have made together.
        ranks: all ranks, in order.
    """

    exit_code: int
    ended: str
    failed: Optional[int]
    tail: Tuple[str, ...]
    refused: Optional[str]
    collectives: Mapping[str, int]
    ranks: Tuple[SeenRank, ...]

    @property
    def steps(self) -> int:
        """The training steps of all ranks."""
        seen = [one.seen or {} for one in self.ranks]
        return sum(each["steps"] for one in seen for each in one.get("sessions", ()))

    @property
    def findings(self) -> Mapping[Diagnostic, Sequence[int]]:
        """Every finding once, in order of place, with the ranks that it is of."""
        from npu_config.runner.doings import differences

        ranks_of: Dict[Diagnostic, List[int]] = {}
        for one in self.ranks:
            for each in (one.seen or {}).get("findings", ()):
                ranks_of.setdefault(Diagnostic.from_dict(each), []).append(one.rank)
        for each, ranks in differences([one.seen for one in self.ranks]):
            ranks_of.setdefault(each, list(ranks))
        return {each: ranks_of[each] for each in Report(ranks_of)}

    def to_dict(self) -> Dict[str, Any]:
        """The object of ``--report`` and of ``--dry-run``."""
        return {
            "version": 1,
            "exit_code": self.exit_code,
            "ended": self.ended,
            "first_failed": self.failed,
            "collectives": dict(self.collectives),
            "findings": [
                {**each.to_dict(), "ranks": list(ranks)} for each, ranks in self.findings.items()
            ],
            "ranks": [
                {
                    "rank": one.rank,
                    **{name: each for name, each in (one.seen or {}).items() if name != "did"},
                    "exit_code": one.exit_code,
                    "environment": dict(one.environment),
                    "waits_in": list(one.waits_in),
                }
                for one in self.ranks
            ],
        }


@attr.s(slots=True, auto_attribs=True)
class _Rank:
    """A process of the job."""

    number: int
    process: "subprocess.Popen[bytes]"
    variables: Mapping[str, str]
    report: str
    code: Optional[int] = None
    tail: Deque[str] = attr.ib(factory=lambda: deque(maxlen=_TAIL))
    threads: List[threading.Thread] = attr.ib(factory=list)


def run_ranks(
    count: int,
    arguments: Sequence[str],
    show: Callable[[str, bool], None],
    quiet: bool = False,
    stops: bool = False,
    environ: Optional[Mapping[str, str]] = None,
    timeout: Optional[float] = None,
) -> SeenRanks:
    """Run ``npu-config run`` once for each rank of a job on this machine.

    Each rank has its own environment, process group and prefix in the output.  The ranks
    communicate over a socket in a private folder, which holds the rank table, too; no port is
    opened.  The first rank that fails ends the others.

    Args:
        count: number of ranks, 1 to :data:`MOST`.
        arguments: options of ``npu-config run``, the script, and its arguments.
        show: prints text; with True to standard error.
        quiet: leave out what the ranks write to standard output.
        stops: the ranks are stopped on the way, as asked; the first stops them all.
        environ: what the environment of the ranks starts from; None: that of this process.
        timeout: seconds after which all ranks are ended; None: any time.
    """
    room = None if len(tempfile.gettempdir()) < _LONGEST else "/tmp"
    folder = tempfile.mkdtemp(prefix="npu-config-", dir=room)
    try:
        return _Job(folder, show, quiet, stops, timeout).run(
            count, arguments, os.environ if environ is None else environ
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Job:
    """The ranks of one run."""

    def __init__(
        self,
        folder: str,
        show: Callable[[str, bool], None],
        quiet: bool,
        stops: bool,
        timeout: Optional[float],
    ) -> None:
        self._folder = folder
        self._until = None if timeout is None else time.monotonic() + timeout
        self._print = show
        self._printing = threading.Lock()
        self._quiet = quiet
        self._stops = stops
        self._absent: Tuple[str, ...] = ()
        self._unread: Optional[Exception] = None
        self._ranks: List[_Rank] = []
        self._ended: queue.Queue[_Rank] = queue.Queue()

    def run(self, count: int, arguments: Sequence[str], environ: Mapping[str, str]) -> SeenRanks:
        """Start the ranks and wait for their end."""
        hub = Hub(os.path.join(self._folder, "hub"), count)
        failed: Optional[_Rank] = None
        code, ended = 0, "finished"
        waiting: Mapping[int, Sequence[str]] = {}
        try:
            with _signals():
                for number, mine in enumerate(self._variables(count)):
                    self._start(number, arguments, mine, environ)
                failed = self._wait(hub)
                if failed is not None:
                    assert failed.code is not None
                    code = failed.code
                    self._end(signal.SIGTERM)
        except _TimeIsOver:
            code, ended, waiting = TIMED_OUT, "timeout", hub.waiting()
            self._end(signal.SIGTERM)
        except _Interrupted as interrupt:
            code, ended = interrupt.code, "signal"
            hub.end("was interrupted")
            self._end(interrupt.signal)
        finally:
            self._end(signal.SIGKILL)
            hub.close()
        return SeenRanks(
            code,
            ended,
            None if failed is None else failed.number,
            () if failed is None else tuple(failed.tail),
            None if failed is None else hub.refused.get(failed.number),
            hub.finished,
            tuple(
                SeenRank(
                    one.number,
                    one.code or 0,
                    one.variables,
                    _read(one.report),
                    tuple(sorted(waiting.get(one.number, ()))),
                )
                for one in self._ranks
            ),
        )

    def _variables(self, count: int) -> Iterator[Dict[str, str]]:
        """The variables of the job for each rank."""
        table = rank_table.build(["127.0.0.1"], count)
        path = os.path.join(self._folder, "rank_table.json")
        rank_table.save(table, path)
        job = table_job(table, path, JOB_ID)
        self._absent = job.absent
        for process in job.processes:
            device = str(process.device_id)
            yield {**job.variables(process), "DEVICE_ID": device, "DEVICE_INDEX": device}

    def _start(
        self,
        number: int,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        environ: Mapping[str, str],
    ) -> None:
        base = {name: text for name, text in environ.items() if name not in self._absent}
        own = {
            "PYTHONUNBUFFERED": "1",
            "TF_NUM_INTEROP_THREADS": _THREADS,
            **base,
            **variables,
            ADDRESS: "{}:{}".format(number, os.path.join(self._folder, "hub")),
        }
        report = os.path.join(self._folder, "report{}.json".format(number))
        process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, "run", "--report", report, *arguments],
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if self._quiet else subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        one = _Rank(number, process, variables, report)
        self._ranks.append(one)
        jobs: List[Tuple[Callable[..., None], Tuple[Any, ...]]] = [(self._await, (one,))]
        for stream, err in ((process.stdout, False), (process.stderr, True)):
            if stream is not None:
                jobs.append((self._show, (one, stream, err)))
        for function, given in jobs:
            thread = threading.Thread(target=function, args=given, daemon=True)
            thread.start()
            one.threads.append(thread)

    def _await(self, one: _Rank) -> None:
        code = one.process.wait()
        one.code = code if code >= 0 else 128 - code
        self._ended.put(one)

    def _show(self, one: _Rank, stream: IO[bytes], err: bool) -> None:
        """Print what a rank writes, line by line."""
        for line in _lines(stream):
            one.tail.append(line)
            with self._printing:
                try:
                    self._print(phrase("[rank {}] {}\n", one.number, line), err)
                except Exception as error:  # nobody reads any more
                    self._unread = error

    def _wait(self, hub: Hub) -> Optional[_Rank]:
        """Wait until all ranks have ended, or one has failed; returns that.

        Raises:
            _TimeIsOver: before that.
        """
        running = len(self._ranks)
        note = _Waiting(self._print)
        while running:
            try:
                one = self._ended.get(timeout=0.5)
            except queue.Empty:
                if self._unread is not None:
                    raise self._unread from None
                hub.check()
                note.look(hub.waiting())
                if self._until is not None and time.monotonic() >= self._until:
                    raise _TimeIsOver from None
                continue
            if one.code:
                return one
            running -= 1
            hub.left(one.number, "has ended", self._stops)
        return None

    def _end(self, how: "signal.Signals") -> None:
        """Signal what is left of the ranks and of what they have started; wait a while."""
        for one in self._ranks:
            with contextlib.suppress(OSError):
                os.killpg(one.process.pid, how)
        until = time.monotonic() + _GRACE
        for one in self._ranks:
            for thread in one.threads:
                thread.join(max(until - time.monotonic(), 0))


class _Waiting:
    """Says once when ranks wait long for one that computes."""

    def __init__(self, show: Callable[[str, bool], None]) -> None:
        self._show = show
        self._since: Dict[str, float] = {}
        self._told = False

    def look(self, waiting: Mapping[int, Sequence[str]]) -> None:
        """See who waits now."""
        names = {name for each in waiting.values() for name in each}
        now = time.monotonic()
        self._since = {name: self._since.get(name, now) for name in names}
        late = [name for name, since in self._since.items() if now - since > _NOTE_AFTER]
        if late and not self._told:
            self._told = True
            ranks = [str(rank) for rank, each in sorted(waiting.items()) if late[0] in each]
            self._show(
                phrase(
                    'npu-config run: rank {} waits for the others in "{}" for {:.0f} s\n',
                    listed(ranks),
                    late[0],
                    _NOTE_AFTER,
                ),
                True,
            )


class _TimeIsOver(Exception):  # noqa: N818 - nothing is in error
    """The ranks have had the time that they may take."""


class _Interrupted(BaseException):
    """A signal came that ends the job."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.signal = signal.Signals(number)
        self.code = 128 + number


@contextlib.contextmanager
def _signals() -> Iterator[None]:
    """Turn signals that end a process into an exception; only the main thread can."""

    def interrupt(number: int, frame: Any) -> None:
        raise _Interrupted(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [(each, signal.signal(each, interrupt)) for each in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """Lines as they come; a carriage return ends one, too, unless nothing stands before it."""
    rest, returned = b"", False
    while True:
        data = os.read(stream.fileno(), 1 << 16)
        rest += data[1:] if returned and data[:1] == b"\n" else data
        returned = data[-1:] == b"\r"
        *whole, rest = _LINE_END.split(rest.replace(b"\r\n", b"\n"))
        if (not data or len(rest) > 1 << 16) and rest:
            whole += [rest, b"\n"]
            rest = b""
        for line, end in zip(whole[::2], whole[1::2]):
            text = _shown(line.decode("utf-8", "backslashreplace"))
            if text or end == b"\n":
                yield text
        if not data:
            return


_LINE_END = re.compile(rb"([\r\n])")


def _shown(line: str) -> str:
    """What a terminal shows of a line: a backspace goes back, and what follows overwrites."""
    if "\b" not in line:
        return line
    shown: List[str] = []
    at = 0
    for character in line:
        if character == "\b":
            at = max(at - 1, 0)
        else:
            shown[at : at + 1] = character
            at += 1
    return "".join(shown)


def _read(path: str) -> Optional[Dict[str, Any]]:
    try:
        with open(path, encoding="utf-8") as stream:
            found: Dict[str, Any] = json.load(stream)
    except (OSError, ValueError):
        return None
    return found
