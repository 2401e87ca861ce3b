"""Files to processes, and processes to ranks: who wrote what, and who failed first."""

import itertools
import os
import re
import zlib
from typing import (
    IO,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Pattern,
    Sequence,
    Set,
    Tuple,
    cast,
)

import attr

from npu_config.core.message import phrase
from npu_config.core.paths import is_directory, walk
from npu_config.logs.events import Channel, LogEvent
from npu_config.logs.lines import Copied, UnreadableError, lines, opened, unpacked
from npu_config.logs.records import Record, prefix_of, record

__all__ = ["Growing", "JobLogs", "LoggedProcess", "files_of", "read_job"]

_LOG_NAMES = re.compile(
    r"(?i)(?:.*\.(?:log|txt|out|err|stdout|stderr)|nohup|stdout|stderr|log)(?:\.[0-9]{1,6}"
    r"|\.old)?(?:\.gz)?\Z"
)
_NO_SUFFIX = re.compile(r"[^.]+(?:\.[0-9]{1,6}|\.[oe][0-9]{1,9})?\Z")
"""Names that logs may have, and other files, too."""
_PID = re.compile(r"(?:plog|device)-(?P<pid>\d{1,9})_\d{14}")
_TREE = re.compile(r"(?:(?:debug|run|security)[/\\])?(?:plog|device-\d+)[/\\]?$")
_RANK = re.compile(
    r"(?:^|[/\\_.-])(?:rank[_-]?(\d{1,6})|train_(\d{1,3})(?!\d|-\d\d?(?!\d)))", re.I
)
"""Behind ``train_`` a number of four digits, or two numbers, is a date."""
_DEVICE = re.compile(r"device[_-](?P<device>\d{1,6})")
_JOINS = re.compile(
    r"hcom init by file succe+ss|SetupAgent|hcom init failed|Entry-HcclCommInitRootInfo"
)
_SIZE = re.compile(r"\b(?:rankNum|ranks)\[(\d{1,6})\]")
_OWN_RANK = re.compile(r"\brank\[(\d{1,6})\]")
_SERVER = re.compile(r"\bserver\[([^\]%]*)")
_OWN_DEVICE = re.compile(r"\b(?:device|logicDevId)\[(\d{1,6})\]")
_DESTINATION = re.compile(r"\|\s+[\d.]+\((?P<rank>\d{1,10})\)")
_AWAITED = re.compile(
    r"from remote rank:? ?\[(\d{1,10})\]"
    r"|[Ww]aiting peer rank: ?\[?(\d{1,10})|remote rank:?\[(\d{1,10})\]|dst_rank\[(\d{1,10})\]"
)
_CAME = re.compile(r"connected rankinfo\[LINE \d{1,9}\]: (?P<ranks>[\[\]\d, ]+)")
_NEEDED = re.compile(r"need connect rankNum is \[(\d{1,9})\]")
_ABSENT = re.compile(r'(?:unconnected ranks: "?|Failed to connect agent)\[(?P<ranks>[\d, ]*)\]')
_LOST = re.compile(
    r"rank \[[^\]]{1,99}\]: rank \[(?P<server>[^\]/]{1,60})/(?P<device>\d{1,6})\] status\[LOST\]"
    r"|serverId\[(?P<server2>[^\]]{1,60})\], deviceId\[(?P<device2>\d{1,6})\], Heartbeat Lost"
    r"|Location\[IP/ID\]:\[(?P<server3>[^\]/]{1,60})/(?P<device3>\d{1,6})\].{0,200}Heartbeat Lost"
)
_KILLED = re.compile(r"[Kk]illed? process (\d{1,9})\b")
_NOBODY = 4294967295
_TENSORFLOW = re.compile(r"tensorflow|GeOp\d|GEOP|npu_bridge|tf_adapter", re.I)
_OTHERS = (
    ("mindspore", re.compile(r"mindspore", re.I)),
    ("pytorch", re.compile(r"torch|\bERR\d{5} |ASCEND_LAUNCH_BLOCKING|compiler_depend\.ts", re.I)),
    ("paddle", re.compile(r"paddle", re.I)),
    ("ggml", re.compile(r"\bggml", re.I)),
)
_MOST_FILES = 20_000
_DULL = ("[INFO]", "[DEBUG]", "[EVENT]")


@attr.s(slots=True, auto_attribs=True, eq=False)
class LoggedProcess:
    """One process of a job, with everything that it wrote.

    Attributes:
        channels: what it wrote, by file.
        rank: its number in the job, where something says it.
        waits_for: ranks that it waited for.
        lost: server and device of the process that it lost first.
        started: when it said that it had joined the others, on its own clock.
        shift: how many seconds its clock is ahead of that of most.
        survived: exceptions and lines of errors behind which it came to its regular end.
        first: what is nearest to its cause, once it was judged.
    """

    key: Tuple[str, ...]
    channels: List[Channel] = attr.Factory(list)
    rank: Optional[int] = None
    device: Optional[int] = None
    host: Optional[str] = None
    waits_for: Set[int] = attr.Factory(set)
    lost: Optional[Tuple[str, int]] = None
    survived: Sequence[LogEvent] = ()
    first: Optional[LogEvent] = None
    started: Optional[float] = None
    shift: float = 0.0

    @property
    def ended(self) -> Optional[LogEvent]:
        """The line by which it, or its data, came to an end."""
        found = [channel.ended for channel in self.channels if channel.ended is not None]
        return min(found, key=lambda event: event.failure is None, default=None)

    @property
    def events(self) -> List[LogEvent]:
        """What went wrong in it, in the order of time."""
        found = [event for channel in self.channels for event in channel.events]
        return sorted(found, key=lambda e: (e.time is None, e.time or 0.0, e.file, e.order))

    @property
    def graphs(self) -> Mapping[str, LogEvent]:
        """The graphs that it compiled, by their number, with the lines that say so."""
        return {graph: event for c in self.channels for graph, event in c.graphs.items()}

    @property
    def finished(self) -> bool:
        """Whether it said that it came to its regular end."""
        return any(channel.finished for channel in self.channels)

    @property
    def end_is_seen(self) -> bool:
        """Whether it, its data, or who started it says that it ended, and it trained no more."""
        return self.finished or any(c.closed >= c.trained for c in self.channels if c.closed >= 0)

    @property
    def last_time(self) -> Optional[float]:
        """When it wrote last."""
        return max((c.last_time for c in self.channels if c.last_time is not None), default=None)


@attr.s(slots=True, auto_attribs=True, eq=False)
class JobLogs:
    """Everything that was read.

    Attributes:
        paths: the files, by their number.
        unread: what could not be read, and why.
        framework: tensorflow, or another of ``_OTHERS``; empty where nothing says it.
        size: how many ranks there have to be; 0 where nothing says it.
        came: ranks that another one has seen.
        absent: ranks that another one names as those that did not come.
        copy: what standard input held.
    """

    paths: List[str] = attr.Factory(list)
    unread: List[Tuple[str, str]] = attr.Factory(list)
    processes: List[LoggedProcess] = attr.Factory(list)
    framework: str = ""
    size: int = 0
    came: Set[int] = attr.Factory(set)
    absent: Set[int] = attr.Factory(set)
    copy: Optional[IO[bytes]] = None


def files_of(paths: Iterable[str]) -> Iterator[Tuple[str, bool]]:
    """The files to read, and whether the path itself was named; each once.

    In a folder those are read whose names are those of logs; one that cannot be listed stands
    for its files.
    """
    seen: Set[str] = set()
    for path in paths:
        if path == "-":
            yield path, True
            continue
        named, refused = not is_directory(path), []  # type: bool, List[str]
        found = (
            [path]
            if named
            else sorted(
                os.path.join(folder, name)
                for folder, _, names in walk(path, refused)
                for name in names
                if _LOG_NAMES.match(name) or _NO_SUFFIX.match(name)
            )
        )
        for each in found:
            real = os.path.realpath(each)
            if real not in seen:
                seen.add(real)
                yield each, named
        for folder in refused:
            yield folder, True


_SAMPLE = 200
"""Lines at the start of a log that tell what a launcher wrote before each of them."""

_OF_PID = "process "
"""Before the number of a process whose lines stand in an output of several."""


class _RankFact(NamedTuple):
    """What a line says of the process that wrote it."""

    rank: int
    device: Optional[int]
    server: Optional[str]
    started: Optional[float]


class _Reader:
    """Reads files into channels, and takes down what they say of ranks."""

    def __init__(self, job: JobLogs) -> None:
        self.job = job
        self.channels: Dict[Tuple[int, str], Channel] = {}
        self.facts: Dict[Tuple[str, int], _RankFact] = {}
        self.waits: Dict[Tuple[int, str], Set[int]] = {}
        self.lost: Dict[Tuple[int, str], Tuple[str, int]] = {}
        self._frameworks: Dict[str, int] = {}

    def read(self, number: int, stream: IO[bytes]) -> None:
        following = lines(stream)
        first = list(itertools.islice(following, _SAMPLE))
        feed = _Writer(self, number, prefix_of([text for _, text in first])).feed
        for line_number, text in itertools.chain(first, following):
            feed(line_number, text)

    def forget(self, number: int) -> None:
        """Forget what was told of a file."""
        for told in (self.channels, self.waits, self.lost):
            for key in [key for key in told if key[0] == number]:
                del told[key]

    def channel(self, number: int, who: str) -> Channel:
        found = self.channels.get((number, who))
        if found is None:
            found = self.channels[number, who] = Channel(number)
        return found

    def learn_framework(self, text: str) -> None:
        if self._frameworks.get("tensorflow"):
            return
        if _TENSORFLOW.search(text):
            self._frameworks["tensorflow"] = 1
        for name, pattern in _OTHERS:
            if pattern.search(text):
                self._frameworks[name] = self._frameworks.get(name, 0) + 1

    def framework(self) -> str:
        if "tensorflow" in self._frameworks:
            return "tensorflow"
        return max(self._frameworks, key=lambda name: self._frameworks[name], default="")

    def learn_ranks(self, number: int, line: Record, tree: str, pid: int, who: str) -> None:
        body, job = line.body, self.job
        if _JOINS.search(body) is not None:
            size, rank = _SIZE.search(body), _OWN_RANK.search(body)
            if size is not None and rank is not None:
                job.size = max(job.size, int(size.group(1)))
                process = (tree, line.pid if line.pid > 0 else pid)
                before = self.facts.get(process, _RankFact(0, None, None, None))
                server, device = _SERVER.search(body), _OWN_DEVICE.search(body)
                joined = "failed" not in body and "Entry" not in body
                self.facts[process] = _RankFact(
                    int(rank.group(1)),
                    int(device.group(1)) if device else before.device,
                    server.group(1) if server else before.server,
                    line.time if joined and before.started is None else before.started,
                )
                return
        lost = _LOST.search(body)
        if lost is not None:
            where, which = [str(group) for group in lost.groups() if group is not None]
            self.lost.setdefault((number, who), (where, int(which)))
        waits = self.waits.setdefault((number, who), set())
        row = _DESTINATION.search(body)  # of its columns the first names who did not answer
        if row is not None:
            waits.add(int(row.group("rank")))
        for match in _AWAITED.finditer(body):
            waits.add(int(next(group for group in match.groups() if group)))
        needed = _NEEDED.search(body)
        if needed is not None:
            job.size = max(job.size, int(needed.group(1)))
        for pattern, ranks in ((_CAME, job.came), (_ABSENT, job.absent)):
            named = pattern.search(body)
            if named is not None:
                ranks.update(map(int, re.findall(r"\d{1,18}", named.group("ranks"))))


class _Writer:
    """Gives the lines of one file to the channels of those who wrote them."""

    def __init__(self, reader: _Reader, number: int, prefix: Optional[Pattern[str]]) -> None:
        path = reader.job.paths[number]
        self._reader, self._number, self._prefix = reader, number, prefix
        self._tree, self._pid = _tree_of(path), _pid_of(path)
        self._channel: Optional[Channel] = None
        self._who: Optional[str] = None
        self._clock: Optional[float] = None

    def feed(self, line_number: int, text: str) -> bool:
        """The next line that is worth reading; whether something went wrong in it."""
        line, reader = record(text, self._prefix), self._reader
        who = line.who
        if not who and not self._pid and line.pid > 0:
            who = "{}{}".format(_OF_PID, line.pid)
        channel = self._channel
        if channel is None or who != self._who:
            self._who = who
            channel = self._channel = reader.channel(self._number, who)
            if not line.who and self._clock is not None:
                channel.last_time = self._clock
        if any(word in text for word in ("rank", "Lost", "|  ", "agent[")):
            reader.learn_ranks(self._number, line, self._tree, self._pid, who)
        before = len(channel.events) + channel.followers
        channel.feed(line_number, text, line)
        if line.time is not None:
            self._clock = line.time
        reader.learn_framework(text)
        return len(channel.events) + channel.followers != before


class _Grown:
    """How far a file was read, and its first lines as long as they may tell of a launcher."""

    def __init__(self, number: int, writer: _Writer) -> None:
        self.number = number
        self.writer = writer
        self.lines = 0
        self.first: Optional[List[Tuple[int, str]]] = []


_ASKED = (8, 25, 75, _SAMPLE)
"""Behind how many lines it is asked what a launcher wrote before each of them."""


class Growing:
    """A job whose logs are read line by line, as they come."""

    def __init__(self) -> None:
        self._reader = _Reader(JobLogs())
        self._files: Dict[str, _Grown] = {}

    def feed(self, path: str, text: str) -> bool:
        """One more line of a file; whether something went wrong in it."""
        reader = self._reader
        file = self._files.get(path)
        if file is None:
            number = len(reader.job.paths)
            reader.job.paths.append(path)
            file = self._files[path] = _Grown(number, _Writer(reader, number, None))
        file.lines += 1
        if not text.strip() or text.startswith(_DULL):
            return False
        told = file.writer.feed(file.lines, text)
        if file.first is not None:
            file.first.append((file.lines, text))
            if len(file.first) in _ASKED:
                told = self._asked(file, file.first) or told
        return told

    def _asked(self, file: _Grown, first: Sequence[Tuple[int, str]]) -> bool:
        """Read the first lines once more when a launcher wrote something before each of them."""
        prefix = prefix_of([text for _, text in first])
        if prefix is None:
            file.first = None if len(first) >= _SAMPLE else file.first
            return False
        self._reader.forget(file.number)
        file.first, file.writer = None, _Writer(self._reader, file.number, prefix)
        return sum(file.writer.feed(number, text) for number, text in first) > 0

    def job(self) -> JobLogs:
        """The job as far as it is known."""
        self._reader.job.framework = self._reader.framework()
        _assemble(self._reader.job, self._reader)
        return self._reader.job


def _tree_of(path: str) -> str:
    """The folder that holds the logs of one host."""
    return _TREE.sub("", os.path.dirname(path))


def _pid_of(path: str) -> int:
    match = _PID.search(os.path.basename(path))
    return int(match.group("pid")) if match is not None else 0


def read_job(
    paths: Iterable[str],
    stdin: Optional[IO[bytes]] = None,
    progress: Callable[[int], None] = lambda size: None,
) -> JobLogs:
    """Read logs.

    Args:
        paths: files and folders; ``-`` is standard input.
        stdin: standard input.
        progress: is told the number of bytes of each file that has been read.
    """
    job = JobLogs()
    reader = _Reader(job)
    paths = tuple(paths)
    for path in paths:
        if path != "-" and is_directory(path) and not any(files_of([path])):
            job.unread.append((path, phrase("this folder contains no log")))
    for path, named in files_of(paths):
        if len(job.paths) >= _MOST_FILES:
            why = phrase("not read: there are more than {:,} files", _MOST_FILES)
            job.unread.append((path, why))
            break
        number = len(job.paths)
        job.paths.append(path)
        try:
            if path == "-":
                if stdin is not None:
                    kept = Copied(unpacked(stdin))
                    job.copy = kept.copy
                    reader.read(number, cast(IO[bytes], kept))
                continue
            with opened(path) as stream:
                reader.read(number, stream)
            progress(os.path.getsize(path))
        except UnreadableError:
            if not named and not _LOG_NAMES.match(os.path.basename(path)):
                job.paths[number] = ""
                continue
            job.unread.append((path, phrase("this is not a text file")))
        except (EOFError, zlib.error):
            why = phrase("the compressed file is truncated; the available part is read")
            job.unread.append((path, why))
        except OSError as error:
            job.unread.append((path, phrase("cannot be read: {}", error.strerror or error)))
    job.framework = reader.framework()
    _assemble(job, reader)
    return job


def _assemble(job: JobLogs, reader: _Reader) -> None:
    """Give every channel to a process, and every process its rank."""
    by_key: Dict[Tuple[str, ...], LoggedProcess] = {}
    mixed = _mixed(job, reader)
    for (number, who), channel in sorted(
        reader.channels.items(), key=lambda item: (item[0][0], item[0][1] != "")
    ):
        path = job.paths[number]
        tree, pid = _tree_of(path), _pid_of(path)
        rank, device, host = _of_path(path)
        if who.startswith("rank "):
            rank, key = int(who[5:]), ("rank", path, who[5:])
        elif pid:
            key = ("pid", tree, str(pid))
        elif (number, who) in mixed:
            pid, key = int(who[len(_OF_PID) :]), ("pid", path, who)
        else:
            key = ("file", path, "" if who.startswith(_OF_PID) else who)
            own = [number for number in channel.pids if (tree, number) in reader.facts]
            pid = own[0] if len(own) == 1 else 0
        known_rank = reader.facts.get((tree, pid)) if pid else None
        process = by_key.get(key)
        if process is None:
            process = by_key[key] = LoggedProcess(key)
        if known_rank is not None:
            rank, device, host = known_rank.rank, known_rank.device, known_rank.server or host
            process.started = known_rank.started if process.started is None else process.started
        rank = channel.rank if rank is None else rank
        device = channel.device if device is None else device
        process.channels.append(channel)
        process.rank = rank if process.rank is None else process.rank
        process.device = device if process.device is None else process.device
        process.host = host if process.host is None else process.host
        process.waits_for |= reader.waits.get((number, who), set())
        process.lost = process.lost or reader.lost.get((number, who))
    job.processes = _joined(list(by_key.values()))
    if len(job.processes) == 1 and not job.size:
        (alone,) = job.processes
        said = alone.key[0] == "rank" or any(c.rank is not None for c in alone.channels)
        if not said and "rank" not in os.path.basename(job.paths[alone.channels[0].file]):
            alone.rank = None
    _number(job)
    _set_clocks(job.processes)
    of_pids = {pid: fact.rank for (_, pid), fact in reader.facts.items()}
    for event in (each for channel in reader.channels.values() for each in channel.events):
        killed = _KILLED.search(event.text) if event.form == "outside" else None
        if killed is not None and event.rank is None:
            event.rank = of_pids.get(int(killed.group(1)))
    places = {(each.host, each.device): each.rank for each in job.processes}
    for process in job.processes:
        rank = places.get(process.lost) if process.lost is not None else None
        process.waits_for |= set() if rank is None else {rank}
        process.waits_for -= {_NOBODY, process.rank if process.rank is not None else -1}


def _number(job: JobLogs) -> None:
    """Give outputs that only their names tell apart, as 0.txt to 7.txt do, these numbers."""
    outputs = [each for each in job.processes if each.key[0] == "file" and each.rank is None]
    if len(outputs) < 2 or len(outputs) < len(job.processes):
        return
    for pattern in (r"(\d{1,5})\D*$", r"(\d{1,5})[/\\][^/\\]*$"):
        found = [re.search(pattern, each.key[1]) for each in outputs]
        numbers = [int(match.group(1)) for match in found if match is not None]
        if sorted(numbers) == list(range(len(outputs))):
            for each, number in zip(outputs, numbers):
                each.rank = number
            return


_SAME_CLOCK = 60.0


def _set_clocks(processes: Sequence[LoggedProcess]) -> None:
    """Find clocks that differ: all ranks join the others within seconds, and say so."""
    times = sorted(process.started for process in processes if process.started is not None)
    if len(times) < 2:
        return
    usual = times[len(times) // 2]
    for process in processes:
        if process.started is not None and abs(process.started - usual) > _SAME_CLOCK:
            process.shift = process.started - usual


def _mixed(job: JobLogs, reader: _Reader) -> Set[Tuple[int, str]]:
    """The channels of outputs in which several ranks have written."""
    found: Dict[int, Set[Tuple[int, str]]] = {}
    for number, who in reader.channels:
        if who.startswith(_OF_PID):
            process = _tree_of(job.paths[number]), int(who[len(_OF_PID) :])
            if process in reader.facts:
                found.setdefault(number, set()).add((number, who))
    return {each for channels in found.values() if len(channels) > 1 for each in channels}


def _of_path(path: str) -> Tuple[Optional[int], Optional[int], Optional[str]]:
    """What the names of a file and its folders say: rank, device, host."""
    ranks = [one or other for one, other in _RANK.findall(path)]
    devices = _DEVICE.findall(path)
    host = re.search(r"(?:^|[/\\])(worker[_-]?\d+)(?=[/\\])", path)
    return (
        int(ranks[-1]) if ranks else None,
        int(devices[-1]) if devices else None,
        host.group(1) if host else None,
    )


def _joined(processes: List[LoggedProcess]) -> List[LoggedProcess]:
    """Processes of one rank are one; so are a plog and an output when there is one of each."""
    by_rank: Dict[int, LoggedProcess] = {}
    result: List[LoggedProcess] = []
    for process in processes:
        other = by_rank.get(process.rank) if process.rank is not None else None
        if other is not None:
            _merge(other, process)
            continue
        if process.rank is not None:
            by_rank[process.rank] = process
        result.append(process)
    launched: Dict[str, List[LoggedProcess]] = {}
    for process in result:
        if process.key[0] == "rank":
            launched.setdefault(process.key[1], []).append(process)
    alone = {path: found[0] for path, found in launched.items() if len(found) == 1}
    taken = {each for each in result if each.key[0] == "file" and each.key[1] in alone}
    for process in taken:
        _merge(alone[process.key[1]], process)
    result = [each for each in result if each not in taken]
    outputs = [process for process in result if process.key[0] == "file"]
    others = [process for process in result if process.key[0] == "pid"]
    if len(outputs) == 1 and len(others) == 1:
        result.remove(others[0])
        _merge(outputs[0], others[0])
    return result


def _merge(into: LoggedProcess, other: LoggedProcess) -> None:
    into.channels += other.channels
    into.waits_for |= other.waits_for
    for name in ("rank", "device", "host", "started", "lost"):
        if getattr(into, name) is None:
            setattr(into, name, getattr(other, name))
