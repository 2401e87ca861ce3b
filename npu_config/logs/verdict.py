"""Who failed first: the event of a process that is nearest to its cause, and the rank to blame."""

import re
from typing import Dict, List, Optional, Sequence, Tuple

import attr

from npu_config.logs.events import Channel, LogEvent
from npu_config.logs.facts import ERROR, FOLLOWER, KNOWN, OWN, SIGN, failure_named
from npu_config.logs.jobs import JobLogs, LoggedProcess

__all__ = ["FirstFailure", "judged", "time_of", "trained_behind"]


_GOES_ON = 10
"""Lines of training behind an error after which it is certain that the process went on."""


def survived(process: LoggedProcess) -> List[LogEvent]:
    """Exceptions, and lines of errors, behind which the process came to its regular end."""
    found: List[LogEvent] = []
    for channel in process.channels:
        for event in channel.events:
            if event.form != "exception":
                if _gone_by(event, process) or _of_another(event, channel):
                    found.append(event)
                continue
            end = channel.ended if channel.finished else None
            final = end is not None and "final step" in end.text and end.line > event.line
            if final or channel.closed > event.trained:
                found.append(event)
    return found


def _gone_by(event: LogEvent, process: LoggedProcess) -> bool:
    """Whether the process came to its end behind a line, and it is a sign, or trained between."""
    silent = event.form in ("outside", "shell", "shuffle")
    return (process.end_is_seen and not silent) and any(
        _only_logged(event) or event.form == "program" or event.line < channel.trained_at
        for channel in process.channels
        if channel.file == event.file and event.line < channel.closed_at
    )


def _of_another(event: LogEvent, channel: Channel) -> bool:
    """Whether it is the failure of another program, behind which training began or went on."""
    return event.form == "program" and channel.trained > event.trained


def _only_logged(event: LogEvent) -> bool:
    """Whether it is a line of the script's own that says no more than ERROR."""
    return (
        event.weight <= SIGN
        and (event.failure is None or event.weight == FOLLOWER)
        and event.form not in ("outside", "shell", "crash", "shuffle", "slog", "torch")
    )


_VALIDATION = re.compile(r"(?:val|valid|validation|eval|test)_")


def _lost(process: LoggedProcess) -> List[LogEvent]:
    """Losses that ended as NaN; that of a validation is none where the job came to its end."""
    return [
        event
        for channel in process.channels
        for name, event in channel.lost.items()
        if not (process.end_is_seen and _VALIDATION.match(name))
    ]


def trained_behind(process: LoggedProcess, event: LogEvent) -> bool:
    """Whether lines of training stand behind an event in its log."""
    return any(c.file == event.file and c.trained_at > event.line for c in process.channels)


def _went_on(event: LogEvent, channel: Channel) -> bool:
    """Whether a process trained behind something: it is not what ended it."""
    if event.form not in ("exception", "shell"):
        return False
    least = _GOES_ON if event.form == "exception" else 1
    return channel.trained >= event.trained + least


def first_of(process: LoggedProcess) -> Optional[LogEvent]:
    """The event of a process that is nearest to its cause; None when nothing failed."""
    behind = {id(event) for event in process.survived}
    events = [event for event in process.events if id(event) not in behind]
    went_on = {
        id(event)
        for channel in process.channels
        for event in channel.events
        if _went_on(event, channel)
    }
    left = [event for event in events if id(event) not in went_on]
    if len(left) < len(events):
        found = _first_of(process, left)
        if found is not None and not found.other_side:
            return found
    return _first_of(process, events)


def _first_of(process: LoggedProcess, events: Sequence[LogEvent]) -> Optional[LogEvent]:
    told = [event for event in events if event.form == "outside" and event.weight < KNOWN]
    killed = [event for event in events if event.form == "outside" and event.weight >= KNOWN]
    events = [event for event in events if event.form != "outside"]
    if process.end_is_seen:  # the data of the last step had ended
        events = [each for each in events if not (each.form == "slog" and each.level == "WARNING")]
    failed = [event for event in events if event.weight >= SIGN and not event.weak]
    certain = [event for event in failed if event.weight >= ERROR]
    if killed and not (certain and _before(process, certain[0], killed[0])):
        crashes = [event for event in events if event.form == "crash"]
        crashed = killed[0].failure is not None and killed[0].failure.id == "job-crashed"
        return crashes[0] if crashed and crashes else killed[0]
    found = _of_itself(process, events)
    signs = found is None or (found.weight <= SIGN and found.form not in ("exception", "crash"))
    lost = _lost(process)
    if signs and lost:
        return min(lost, key=lambda event: (event.file, event.line))
    if found is None:
        found = next((c for c in (each.cut_off() for each in process.channels) if c), None)
    if found is None:
        return next((each for each in told if not _after_all(each, process)), None)
    return found


def _before(process: LoggedProcess, one: LogEvent, other: LogEvent) -> bool:
    if one.file == other.file:
        return one.line < other.line
    events = process.events
    return events.index(one) < events.index(other)


def _after_all(event: LogEvent, process: LoggedProcess) -> bool:
    """Whether something was only ended when the job had come to its end: a monitor, a pool."""
    return (
        process.finished
        and event.failure is not None
        and event.failure.id in ("job-terminated", "job-cancelled")
    )


def _of_itself(process: LoggedProcess, events: Sequence[LogEvent]) -> Optional[LogEvent]:
    """What a process itself says."""
    extra = [found for found in (channel.collapsed() for channel in process.channels) if found]
    failed = [event for event in events if event.weight >= SIGN and not event.weak]
    followers = [event for event in events if event.weight == FOLLOWER]
    weak = [event for event in events if event.weak and event.weight >= SIGN]
    shuffles = [event for event in weak if event.form == "shuffle"]
    weak = [event for event in weak if event.form != "shuffle"]
    if not failed and not followers:
        weak = [event for event in weak if event.other_side or event.weight >= KNOWN]
    certain = [event for event in failed if event.weight >= ERROR]
    if shuffles and (failed or followers) and all(event.weight < KNOWN for event in certain):
        return shuffles[0]
    if not certain:
        if process.finished and not any(event.form == "exception" for event in failed):
            failed = []
        choice = failed or [event for event in weak if event.other_side] or weak or extra
        if not choice and not process.finished:
            choice = [
                event
                for event in followers
                if event.level in ("ERROR", "FATAL") or event.form == "text"
            ]
        return choice[0] if choice else None
    first = certain[0]
    if first.other_side:
        return next(
            (event for event in certain if event.weight == OWN and event.other_side), first
        )
    local = [event for event in certain if not event.other_side]
    waited = next((event for event in certain if event.other_side and event.weight >= KNOWN), None)
    if waited is not None and all(each.weight < KNOWN and not each.timed for each in local):
        return waited
    code = next((each for each in certain if each.weight == OWN and each.other_side), None)
    if code is not None and all(_told_by(code, each) for each in local):
        return code
    own = next((event for event in local if event.weight == OWN), None)
    failure = next((event for event in local if event.weight == KNOWN), None)
    if own is not None and failure is not None:
        before = events.index(failure) < events.index(own)
        return failure if before and failure.form in ("exception", "tensorflow", "python") else own
    return own or failure or first


def _told_by(code: LogEvent, line: LogEvent) -> bool:
    """Whether a line of which nothing is known comes from what printed the code."""
    return (
        line.weight < KNOWN
        and line.failure is None
        and line.module in _COLLECTIVE
        and _near(line, code)
    )


_COLLECTIVE = ("HCCL", "HCCP", "ROCE")
"""Modules of collective communication, whose codes say that another rank is waited for."""


@attr.s(slots=True, auto_attribs=True, eq=False)
class FirstFailure:
    """Who failed first.

    Attributes:
        process: the process with the first cause; None when nothing failed.
        event: the event.
        rank: the rank that is to blame: that of the process, or one that left nothing.
        ranks: those that failed for the same cause at once.
        missing: the rank that is to blame left no log.
        no_root: every rank only waited for others.
        ended: the rank that is to blame came to its regular end while others went on.
        graphs: the rank that is to blame compiled a graph that the others did not.
    """

    process: Optional[LoggedProcess] = None
    event: Optional[LogEvent] = None
    rank: Optional[int] = None
    ranks: Sequence[int] = ()
    missing: Sequence[int] = ()
    no_root: bool = False
    ended: bool = False
    graphs: bool = False


_TOGETHER = 60.0


def judged(job: JobLogs) -> FirstFailure:
    """Who failed first, and with what."""
    for process in job.processes:
        process.survived = survived(process)
        process.first = first_of(process)
    failed = [process for process in job.processes if process.first is not None]
    if not failed:
        return FirstFailure()
    ours = [process for process in failed if process.first and not process.first.other_side]
    strong = [
        process
        for process in ours
        if process.first
        and (process.first.weight >= ERROR or process.first.form in ("crash", "outside"))
    ]
    strong = [p for p in strong if p.first and p.first.form != "outside"] or strong
    if strong or (ours and len(ours) == len(failed)):
        return _local(strong or ours)
    return _waiting(job, [p for p in failed if p.first and p.first.other_side] or failed)


def _when(process: LoggedProcess) -> Tuple[bool, float, int]:
    event = process.first
    time = event.time if event is not None else None
    return (
        time is None,
        (time or 0.0) - process.shift,
        process.rank if process.rank is not None else 1 << 30,
    )


def time_of(event: LogEvent, process: LoggedProcess) -> Tuple[Optional[float], bool]:
    """When it happened, and whether that is certain, or only that of a line before it.

    A block without a time happened with the first error that has one.
    """
    if event.timed:
        return event.time, True
    times = [each.time for each in process.events if each.timed and each.weight >= ERROR]
    later = [time for time in times if time is not None and time >= (event.time or 0.0)]
    return (later[0], True) if later else (event.time, False)


def _local(processes: List[LoggedProcess]) -> FirstFailure:
    processes = sorted(processes, key=_when)
    best = processes[0]
    if best.rank is None and best.first is not None and best.first.weight == ERROR:
        named = [
            p
            for p in processes
            if p.first and p.first.weight > ERROR and _near(p.first, best.first)
        ]
        best = named[0] if named else best
    elif best.key[0] == "file" and best.rank is None and best.first is not None:
        path = best.key[1]  # an output of several: the process that wrote it is another one here
        theirs = [p for p in processes if p.key[:2] == ("pid", path) and p.rank is not None]
        named = [p for p in theirs if p.first and _near(p.first, best.first)]
        best = named[0] if named else best
    assert best.first is not None
    same = [process for process in processes if _same(process.first, best.first)]
    ranks = sorted(process.rank for process in same if process.rank is not None)
    if len(ranks) > 1:
        best = min(same, key=lambda process: process.rank if process.rank is not None else 1 << 30)
        return FirstFailure(best, best.first, None, ranks)
    assert best.first is not None
    told = best.first.rank
    is_told = best.rank is None or (told is not None and best.first.form == "outside")
    return FirstFailure(best, best.first, told if is_told else best.rank)


def _same(one: Optional[LogEvent], other: Optional[LogEvent]) -> bool:
    """Whether two processes failed by the same cause, at about the same time."""
    if one is None or other is None:
        return False
    names = [
        (
            event.code or "",
            event.failure.id if event.failure and not event.code else "",
            event.weight,
        )
        for event in (one, other)
    ]
    if names[0] != names[1] or (not names[0][0] and not names[0][1] and one.text != other.text):
        return False
    return _near(one, other)


def _near(one: LogEvent, other: LogEvent) -> bool:
    return one.time is None or other.time is None or abs(one.time - other.time) <= _TOGETHER


def _other_graphs(processes: Sequence[LoggedProcess]) -> Optional[FirstFailure]:
    """The rank that compiled a graph that no other rank has: it runs what the others do not."""
    ranked = [each for each in processes if each.rank is not None]
    compiled: Dict[str, List[LoggedProcess]] = {}
    for process in ranked:
        for graph in process.graphs:
            compiled.setdefault(graph, []).append(process)
    for process in ranked if len(compiled) > 1 and all(each.graphs for each in ranked) else ():
        own = [event for graph, event in process.graphs.items() if compiled[graph] == [process]]
        if own and len(ranked) > 1:
            return FirstFailure(process, own[0], process.rank, graphs=True)
    return None


def _waiting(job: JobLogs, processes: List[LoggedProcess]) -> FirstFailure:
    """Nobody failed by itself: who is waited for, and left nothing?"""
    processes = sorted(processes, key=_when)
    best = processes[0]
    present = {process.rank for process in job.processes if process.rank is not None}
    missing = set(job.absent)
    if job.came and job.size:
        missing |= set(range(job.size)) - job.came
    if not missing and len(present) > 1:
        awaited = {rank for process in processes for rank in process.waits_for}
        last = max(present | {rank for rank in awaited if rank < 2 * len(present)})
        missing = set(range(job.size or last + 1)) - present
    if missing and len(missing) < max(job.size, len(present), 2):
        if job.came or job.absent:
            best = next((p for p in processes if p.waits_for & missing), best)
        rank = min(missing) if len(missing) == 1 else None
        return FirstFailure(best, best.first, rank, (), sorted(missing))
    if len(job.processes) == 1:
        awaited = best.waits_for
        return FirstFailure(
            best, best.first, min(awaited) if len(awaited) == 1 else best.rank, no_root=True
        )
    ended = [p for p in job.processes if p.first is None and p.ended is not None]
    if ended:
        first = min(ended, key=lambda p: (p.last_time or 0.0) - p.shift)
        assert first.ended is not None
        event = attr.evolve(first.ended, failure=failure_named("py-out-of-range"))
        return FirstFailure(first, event, first.rank, ended=True)
    silent = [p for p in job.processes if p.rank is not None and p.first is None]
    awaited = {rank for process in processes for rank in process.waits_for}
    suspects = [p for p in silent if p.rank in awaited] or (silent if len(silent) == 1 else [])
    if len(suspects) == 1:
        return FirstFailure(best, best.first, suspects[0].rank)
    odd = _other_graphs(job.processes)
    if odd is not None:
        return odd
    ends = [p for p in processes if p.rank in awaited and not p.waits_for and p.rank is not None]
    if len(ends) == 1 and len(awaited) < len(processes):
        return FirstFailure(ends[0], ends[0].first, ends[0].rank)
    return FirstFailure(best, best.first, None, no_root=True)
