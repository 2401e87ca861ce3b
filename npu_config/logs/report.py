"""What logs tell of a job: the first cause, the others, the ranks; and its form as JSON.

The logs are read once, or again and again while the job still runs.  With what the job ran with,
causes know where the options stand that they lead to.
"""

import datetime
import io
import os
from typing import IO, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.catalogue import OPTIONS
from npu_config.core.message import localized, phrase
from npu_config.core.paths import reading
from npu_config.core.settings import UNKNOWN, Setting
from npu_config.logs.causes import Cause, CausePlace, explained
from npu_config.logs.events import LogEvent
from npu_config.logs.facts import KNOWN
from npu_config.logs.jobs import Growing, JobLogs, LoggedProcess, files_of, read_job
from npu_config.logs.lines import BLOCK, Copied, decoded, keep
from npu_config.logs.verdict import FirstFailure, judged, time_of
from npu_config.rules.reading import Reading

__all__ = ["Cause", "Follower", "LogReport", "RankState", "read_logs", "report_of", "with_places"]

_MOST_OTHERS = 200


@attr.s(frozen=True, slots=True, auto_attribs=True)
class RankState:
    """What one process of a job shows."""

    rank: Optional[int]
    device: Optional[int]
    host: Optional[str]
    file: str
    first_error: Optional[Cause]
    last_time: Optional[float]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class LogReport:
    """What logs tell of a job.

    Attributes:
        first_cause: None when nothing failed.
        others: other causes: of other ranks, and later ones.
        follow_ups: how many lines only follow from others.
        ranks: the processes.
        unread: what could not be read, and why.
        framework: whose job it was, when the logs say so.
        files: how many logs hold anything.
        verdict: how the first cause was found.
        survived: exceptions behind which a process trained and came to its end.
        endless: logs in which no end of the job is seen.
        foreign: nothing that was read is of a training job.
        copy: what standard input held.
    """

    first_cause: Optional[Cause]
    others: Sequence[Cause]
    follow_ups: int
    ranks: Sequence[RankState]
    unread: Sequence[Tuple[str, str]]
    framework: str
    files: int
    verdict: FirstFailure
    survived: Sequence[Cause] = ()
    endless: Sequence[str] = ()
    foreign: bool = False
    copy: Optional[IO[bytes]] = None

    def as_json(self) -> Dict[str, Any]:
        """The contract of ``npu-config log --format json``.

        Where nothing failed, ``end_not_seen`` says in which logs no end of the job is seen: there
        it is no all-clear.
        """
        document: Dict[str, Any] = {
            "version": 1,
            "first_cause": cause_as_json(self.first_cause),
            "others": [cause_as_json(cause) for cause in self.others],
            "follow_ups": self.follow_ups,
            "ranks": [
                {
                    **{name: getattr(state, name) for name in ("rank", "device", "host", "file")},
                    "first_error": cause_as_json(state.first_error),
                    "last_time": shown_time(state.last_time),
                }
                for state in self.ranks
            ],
            "unread": [{"path": path, "why": localized(why)} for path, why in self.unread],
        }
        if self.first_cause is None:
            document["end_not_seen"] = list(self.endless)
        return document


_AS_IT_IS = (
    *("file", "line", "time", "rank", "device", "component", "code", "pattern"),
    *("class_", "message"),
)


def cause_as_json(cause: Optional[Cause]) -> Optional[Mapping[str, Any]]:
    """A cause by the contract."""
    if cause is None:
        return None
    return {
        **{name.rstrip("_"): getattr(cause, name) for name in _AS_IT_IS},
        "time": shown_time(cause.time),
        "cause": localized(cause.cause),
        "todo": [localized(each) for each in cause.todo],
        "leads_to": {kind: list(names) for kind, names in cause.leads_to.items()},
        "places": [
            {"path": place.path, "line": place.line, "option": place.option}
            for place in cause.places
        ],
    }


def shown_time(time: Optional[float]) -> Optional[str]:
    """A time as logs have it, without a zone: ``2023-05-16 10:01:10.243``."""
    if time is None:
        return None
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=time)
    return moment.isoformat(" ", "milliseconds")


def read_logs(
    paths: Iterable[str],
    stdin: Optional[IO[bytes]] = None,
    progress: Callable[[int], None] = lambda size: None,
) -> LogReport:
    """Read the logs of a job and find what failed first.

    Args:
        paths: files, and folders of them; ``-`` is standard input.
        stdin: standard input, in bytes.
        progress: is told how many bytes of each file have been read.
    """
    return report_of(read_job(paths, stdin, progress))


def report_of(job: JobLogs) -> LogReport:
    """The report of a job that was read."""
    verdict = judged(job)
    ours = job.framework in ("", "tensorflow")

    def cause(
        event: Optional[LogEvent], process: LoggedProcess, rank: Optional[int]
    ) -> Optional[Cause]:
        if event is None:
            return None
        found = explained(event, job.paths, ours, rank, process.device)
        time, timed = time_of(event, process)
        return attr.evolve(found, time=time, timed=timed)

    def causes(events: Sequence[Tuple[LogEvent, LoggedProcess]]) -> List[Cause]:
        found = [cause(event, process, process.rank) for event, process in events]
        return [each for each in found if each is not None]

    first = None
    if verdict.process is not None:
        first = cause(verdict.event, verdict.process, verdict.rank)
        if first is not None:
            device = None if verdict.missing else first.device
            first = attr.evolve(first, rank=verdict.rank, device=device)
    processes = sorted(job.processes, key=lambda p: (p.rank is None, p.rank or 0, p.key))
    states = [
        RankState(
            process.rank,
            process.device,
            process.host,
            job.paths[process.channels[0].file],
            cause(process.first, process, process.rank),
            process.last_time,
        )
        for process in processes
    ]
    followers = sum(channel.followers for p in job.processes for channel in p.channels)
    survived = [(event, process) for process in processes for event in process.survived]
    return LogReport(
        first,
        causes(_others(job, verdict)),
        max(followers - (first is not None), 0),
        states,
        job.unread,
        job.framework,
        len({channel.file for process in job.processes for channel in process.channels}),
        verdict,
        causes(survived),
        _endless(job),
        not job.framework and not any(c.of_a_job for p in job.processes for c in p.channels),
        job.copy,
    )


def _endless(job: JobLogs) -> List[str]:
    """The logs of processes of which no end is seen; plogs count where there is nothing else."""
    outputs = [process for process in job.processes if process.key[0] != "pid"]
    return [
        job.paths[process.channels[0].file]
        for process in outputs or job.processes
        if not process.end_is_seen
    ]


def _others(job: JobLogs, verdict: FirstFailure) -> List[Tuple[LogEvent, LoggedProcess]]:
    """What else says something of its own, each kind once: of other processes, and later ones."""
    first = verdict.event
    if first is None:
        return []
    found: List[Tuple[LogEvent, LoggedProcess]] = []
    seen = {_kind(first)}
    for process in job.processes:
        gone = {id(event) for event in process.survived}
        for event in process.events:
            own = event.weight >= KNOWN or event is process.first
            if _follows(event) and not _follows(first):
                continue
            if event is first or not own or event.weak or event.other_side or id(event) in gone:
                continue
            kind = _kind(event)
            same = process is verdict.process and event.failure is not None
            if kind in seen or (same and event.failure is first.failure):
                continue
            seen.add(kind)
            found.append((event, process))
    found.sort(key=lambda pair: (pair[0].time is None, pair[0].time or 0.0))
    return found[:_MOST_OTHERS]


def _follows(event: LogEvent) -> bool:
    """Whether a launcher only tells that a process of the job failed."""
    told = event.form == "outside" and event.weight < KNOWN
    return told or "ChildFailedError" in event.text


def _kind(event: LogEvent) -> Tuple[str, ...]:
    if event.code and not event.inner:
        return (event.code,)
    if event.failure is not None:
        return (event.failure.id,)
    return (event.module, event.text[:60])


def with_places(report: LogReport, reading: Reading) -> LogReport:
    """A report whose causes know the values and places of their options.

    Args:
        report: what logs tell.
        reading: the configuration or the script that the job ran with.
    """
    found = _settings(reading)
    is_open = not reading.lasting or any(settings.open for settings in reading.lasting)
    path = reading.path or "-"

    def placed(cause: Optional[Cause]) -> Optional[Cause]:
        if cause is None:
            return None
        places = [
            _place(name, found.get(name), path, is_open) for name in cause.leads_to["options"]
        ]
        commands = [each.replace("SCRIPT", path) for each in cause.leads_to["commands"]]
        leads = {**cause.leads_to, "commands": commands}
        return attr.evolve(cause, places=[*cause.places, *places], leads_to=leads)

    return attr.evolve(
        report,
        first_cause=placed(report.first_cause),
        others=[cause for cause in map(placed, report.others) if cause is not None],
    )


def _settings(reading: Reading) -> Dict[str, Setting]:
    return {name: each for settings in reading.lasting for name, each in settings.entries.items()}


def _place(name: str, setting: Optional[Setting], path: str, is_open: bool) -> CausePlace:
    if setting is not None:
        where = setting.place_of_name
        if setting.value is UNKNOWN:
            text = phrase("sets {} to a value that is known at run time only", name)
        else:
            text = phrase("sets {} to {}", name, _short(setting.value))
        return CausePlace(where.path or path, where.line, name, text)
    option = OPTIONS.get(name)
    if is_open:
        text = phrase("no setting of {} was found; the option may still be set elsewhere", name)
    elif option is None or option.default is None:
        text = phrase("{} is not set", name)
    else:
        text = phrase("{} is not set; its default is {}", name, _short(option.default))
    return CausePlace(path, None, name, text)


def _short(value: object) -> str:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = str(value)
    return text if len(text) <= 80 else text[:80] + "..."


_BEHIND = 60
"""Lines behind an event after which nothing is expected to be added to it."""


class Follower:
    """Reads what files hold more, again and again.

    Args:
        paths: files and folders; ``-`` is fed line by line (:meth:`add`).
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self._job = Growing()
        self._read: Dict[str, Tuple[int, bytes]] = {}
        self._behind = 0
        self._found = False
        self._copy = Copied(io.BytesIO()).copy if "-" in self._paths else None

    def add(self, path: str, raw: bytes) -> None:
        """One more line of a file."""
        if path == "-":
            keep(self._copy, raw)
        if self._job.feed(path, decoded(raw.rstrip(b"\r\n"))):
            self._behind, self._found = 0, True
        else:
            self._behind += 1

    def grow(self) -> bool:
        """Read what is new; whether there was anything."""
        grown = False
        for path, _ in files_of(self._paths):
            at, rest = self._read.get(path, (0, b""))
            try:
                with open(path, "rb", opener=reading) as stream:
                    if os.fstat(stream.fileno()).st_size < at:  # it was written anew
                        at, rest = 0, b""
                    stream.seek(at)
                    block = stream.read(BLOCK)
            except OSError:
                continue
            if not block:
                continue
            grown = True
            *lines, left = (rest + block).split(b"\n")
            self._read[path] = at + len(block), left[:BLOCK]
            for line in lines:
                self.add(path, line)
        return grown

    def certain(self, at_once: bool) -> bool:
        """Whether the first cause is known, and nothing is expected to be added to it.

        Args:
            at_once: nothing was written for a while.
        """
        if not self._found or not (at_once or self._behind >= _BEHIND):
            return False
        verdict = judged(self._job.job())
        event = verdict.event
        return event is not None and event.weight >= KNOWN and not event.other_side

    def report(self) -> LogReport:
        """What is known now."""
        for path, (_, rest) in list(self._read.items()):
            if rest:
                self.add(path, rest)
        job = self._job.job()
        job.copy = self._copy
        return report_of(job)
