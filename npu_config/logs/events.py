"""Lines to events: blocks of codes, tracebacks, lines of errors; which can be a cause.

A :class:`Channel` is what one process wrote into one file.  It is fed line by line, and keeps
what may be a cause; everything else is counted.
"""

import re
from typing import Dict, List, Optional, Tuple

import attr

from npu_config.logs.facts import (
    DIGITS,
    ERROR,
    FOLLOWER,
    KNOWN,
    LOOKED_AT,
    OTHER_SIDE,
    OWN,
    SIGN,
    EndPhrase,
    KnownFailure,
    code_of,
    end_of,
    failure_named,
    shape,
)
from npu_config.logs.records import CODE, Record, local, seconds

__all__ = ["Channel", "LogEvent"]

MOST_EVENTS = 2_000
"""Of one channel; those behind are counted only.  The first cause is not among the last."""

_MOST_LINES = 60

_TRACEBACK_OF_CODES = re.compile(r"^\s*TraceBack \(most recent call last\):\s*$")
_TRACEBACK = re.compile(r"^\s*(?:\^C)*Traceback \(most recent call last\):\s*$")
_FRAME = re.compile(r'^\s+File "(?P<file>[^"]+)", line (?P<line>\d{1,9})')
_CHAIN = re.compile(
    r"^(?:During handling of the above exception|The above exception was the direct cause)"
)
_EXCEPTION = re.compile(
    r"^(?:\^C)*(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt"
    r"|Exit))(?: \(see above for traceback\))?(?:: ?(?P<text>.*))?$",
    re.S,
)
_CRASH = re.compile(
    r"^(?:Fatal Python error: |(?:\S+: line \d+:\s+\d+ )?(?:Segmentation fault|Aborted|Bus error"
    r"|Illegal instruction)(?:\s|$)|terminate called after throwing|"
    r"\*\*\* (?:Error in|Aborted at)|malloc_consolidate\(\)|free\(\): |double free"
    r"|.*\(core dumped\)|.{0,400}: Assertion `.{1,400}' failed\.?$|Killed$)"
)
_BLOCK = re.compile(
    r"^\s*(?:\[ERROR\] RecentErrMsg: ?)?(?:(?P<code>[EW][A-Z0-9]\d{4})(?:: |:$|  ?(?=\S)"
    r"|(?=\[PID))"
    r"|\[PID: ?\d+\] \d{4}-\S+ [\w ]{0,60}\((?P<titled>[EW][A-Z0-9]\d{4})\):)"
)
_HEAD = re.compile(
    r"^\s*(?:\[ERROR\] RecentErrMsg: ?)?(?:[EW][A-Z0-9]\d{4}(?:: ?|  ?|(?=\[)))?"
    r"(?:\[PID: ?(?P<pid>\d{1,9})\] ?)?"
    r"(?P<time>\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d\.\d{3}(?:\.\d{3})?)? *"
    r"(?:[\w ]{0,60}\([EW][A-Z0-9]\d{4}\):)? *"
)
_HEADLINE = re.compile(
    r"(?:Inner Error[!,]?|Internal error!|Unknown error occurred)[^\[]{0,80}$", re.I
)
_ADVICE = re.compile(r"^\s*(?:Possible Cause|Solution)\s*:", re.I)

_WRAPS = re.compile(
    r"(?:[\w.]*\.)?(?:Runtime|Internal|Unknown|Unavailable|Aborted)(?:Error)|Exception\b"
)
"""Exceptions that frameworks raise with the text of what failed below them."""

_MOST_BETWEEN = 8
_NODE = re.compile(r"^\s*\[\[\{\{node ")
_DEVICE = re.compile(
    r"\b(?:device_id|deviceId|devId|logicDevId|set device|Device"
    r"|device)[ =:\[]{1,3}(?P<device>\d{1,4})\b"
)
_OTHER = re.compile(
    r"get so(?:ck|kc)et timeout|wait socket establish timeout|[Nn]otify [Ww]ait|Heartbeat Lost|"
    r"lost heartbeat|status\[LOST\]|[Ll]inks ?[Ee]stablish ?[Cc]ompleted|"
    r"receive sig ?term|SIGTERM|Wait timeout for sockets recv|\b(?:107020|507046|507048)\b|"
    r"retCode=0x1(?:05|11)\b|Horovod has been shut down|Task from HCCL run failed|LINK_ERROR_INFO"
    r"|topo exchange (?:server|agent)|Failed to connect agent\["
)
_IMPLIED = (
    (re.compile(r"topo exchange server get socket timeout|Failed to connect agent\["), "EI0015"),
    (
        re.compile(
            r"(?:get so(?:ck|kc)et|wait socket establish) timeout"
            r"|[Ll]inks ?[Ee]stablish ?[Cc]ompleted"
        ),
        "EI0006",
    ),
    (re.compile(r"Task from HCCL run failed|[Nn]otify [Ww]ait"), "EI0002"),
)
"""Lines that are printed before a code, or instead of it."""

_TABLE = re.compile(r"\]\s*(?:\|[ -]|__{10})")
"""A row of the table of links, which is a follow-up of the line before the table."""

_LOSS_SCALE = re.compile(r"loss[_ ]scale['\"]?\s*[=:]\s*(?P<value>[0-9.]+(?:e[+-]?\d+)?)", re.I)
_SHUFFLE = re.compile(r"shuffle buffer \(this may take a while\)|Shuffle buffer filled")
_RETURNED = re.compile(
    r"(?:(?:runtime|ge) result = |error code is |errno: ?)(?:[1-5]07\d{3}|[1-5]61\d{3}|50000\d)\b"
)
"""What callers return, where nothing else is there."""

_CALLERS = ("DEVICE", "SESSION", "ME", "MD", "APP", "HCCL_ADPT", "KERNEL_RUNTIME")
"""Modules of frameworks, whose lines repeat what the software below them said."""

_ROOT = re.compile(r"^\s{0,8}\(\d\) [A-Z][\w ]{2,30}: ")
"""What TensorFlow writes below "2 root error(s) found."."""

_REQUEST = re.compile(r"\"[A-Z]{3,9} \S+ HTTP/\d")
"""Of the log of a web server; it is no line of a job."""

_COMPILED = re.compile(
    r"compiled on the Ascend AI processor, current graph id is: ?(?P<graph>\d{1,9})"
)
_FINISHED = re.compile(r"Loss for final step|hcom destroy complete")
_LAST_WORDS = re.compile(
    r"Loss for final step|hcom destroy complete|(?i:\bfinal (?:training|performance|precision)\b"
    r"|\btraining(?: is| has been| job| process)? (?:finished|completed?|done|ended|success)"
    r"|\b(?:finished|completed) training\b|\bend of training\b|\btrain(?:ing)? success"
    r"|\b(?:code|status)[ :=]+0\b(?!\.)|^(?:all )?done[.!]?$|^real[ \t]\d+m)|训练(?:完成|结束)"
)
"""By which jobs, and who started them, say that they came to their end."""

_OF_ENDS = re.compile(r"[Ff]inal|FINAL|rain|RAIN|destroy|ode|tatus|one|ONE|real|训练")
"""What stands in all of those."""

_TRAINED = re.compile(
    r"(?i)\bloss\b['\"]?[ =:]{0,3}-?\d|global_step/sec|\b(?:step|epoch|iter(?:ation)?)s?\b"
    r"[ =:/\[]{1,3}\d|(?:examples|images|samples|it)/s"
)
"""Lines that training prints as long as it goes on."""

_LOSS = re.compile(
    r"(?i)\b(?P<name>\w{0,40}loss(?: for final step)?)\b['\"]?\s{0,3}(?:[=:]|\bis\b|became)?"
    r"\s{0,3}['\"]?(?P<value>-?(?:nan|inf)\b(?!\()|-?\d)"
)
_MOST_LOSSES = 50
_PROCESS = re.compile(
    r"process rank (\d{1,6})|\btask (\d{1,6}):|^(?:horovodrun: )?Process (\d{1,6}) exit"
    r"|on rank (\d{1,6}) in comm|local_rank: (\d{1,6})"
)
_DATA_ENDED = re.compile(r"End of sequence|OutOfRangeError")
_SITE = re.compile(
    r"(?:site|dist)-packages[/\\]|/lib/python\d|[/\\]lib[/\\]python\d|<frozen|^<"
    r"|npu_config[/\\]runner"
)


@attr.s(slots=True, auto_attribs=True, eq=False)
class LogEvent:
    """Something that went wrong, as one place of a log tells it.

    Attributes:
        file: number of the file among those that are read.
        line: number of the line.
        weight: how much it says; one of FOLLOWER to OWN.
        code: as printed, or what the words imply.
        printed: whether the code is printed.
        failure: the known failure that its words are.
        other_side: it only says that another process stopped or is late.
        weak: it is seldom a cause.
        text: its message.
        details: the lines of its block.
        above: how many of them stand above its follow-ups.
        script: file and line of the last frame of a traceback that is in no package.
        timed: its time stands in it, and is not that of a line before it.
        trained: how many lines of training stand before it.
    """

    file: int
    line: int
    time: Optional[float]
    weight: int
    text: str
    level: str = ""
    module: str = ""
    pid: int = 0
    code: str = ""
    printed: bool = False
    failure: Optional[KnownFailure] = None
    other_side: bool = False
    weak: bool = False
    device: Optional[int] = None
    rank: Optional[int] = None
    details: List[str] = attr.Factory(list)
    above: int = 0
    script: Optional[Tuple[str, int]] = None
    form: str = ""
    order: int = 0
    timed: bool = False
    trained: int = 0

    @property
    def inner(self) -> bool:
        """Whether its code is one of a family, whose text below counts."""
        code = code_of(self.code) if self.code else None
        if code is None:
            return self.code[2:] in ("9999", "8888")
        return not code.own


_QUICK = re.compile(
    r"[EW][A-Z0-9]\d{4}|rror|xception|ERROR|FATAL|[Ff]ail|NULL|cqe|does't|should "
    r"|lease ensure|[Ii]nvalid|[Nn]ot |NOT |[Cc]annot"
    r"|Killed|emory|bad_alloc|Interrupt|Aborted|Illegal|"
    r"Traceback|TraceBack|core dump|Segmentation|shuffle buffer|loss[_ ]scale|imed? ?out|"
    r"[Ll]ost|LOST|should be|only support|valid|undefined|corrupt|overflow|NaN|must|exceed|too |"
    r"terminate|malloc|free\(\)|Loss for final|End of sequence|mismatch|unconnected|rankNum"
    r"|device have"
)


class Channel:
    """What one process wrote into one file, read from its first line to its last.

    Args:
        file: number of the file.
    """

    def __init__(self, file: int) -> None:
        self.file = file
        self.events: List[LogEvent] = []
        self.followers = 0
        self.last_time: Optional[float] = None
        self.first_time: Optional[float] = None
        self.finished = False
        self.ended: Optional[LogEvent] = None
        self.rank: Optional[int] = None
        self.device: Optional[int] = None
        self.pids: Dict[int, int] = {}
        self._block: Optional[LogEvent] = None
        self._below = False
        self._advised = False
        self._frames: List[Tuple[str, int]] = []
        self._in_traceback = False
        self._ignored = self._ignoring = False
        self._chained = False
        self._seen: Dict[Tuple[str, str], LogEvent] = {}
        self._last_line = 0
        self._scales: List[Tuple[float, int, str]] = []
        self._raised: Optional[LogEvent] = None
        self.graphs: Dict[str, LogEvent] = {}
        self._opened: Optional[Tuple[int, Record]] = None
        self.trained = self.trained_at = 0
        self.closed = -1
        self.closed_at = 0
        self.lost: Dict[str, LogEvent] = {}

    def feed(self, number: int, text: str, line: Record) -> None:
        """The next line.

        Args:
            number: of the line in its file.
            text: the whole line.
            line: the line taken apart.
        """
        if line.form == "torch":
            self.rank = line.rank if self.rank is None else self.rank
            self.device = line.device if self.device is None else self.device
        if line.time is not None:
            self.last_time = line.time
            if self.first_time is None:
                self.first_time = line.time
        if number != self._last_line + 1 and line.form == "text":
            self._block = None
        self._last_line = number
        if line.form != "slog" and line.form != "torch":
            self._goes_on(number, line)
        if line.form == "text":
            self._text(number, line)
        else:
            self._logged(number, line)

    @property
    def of_a_job(self) -> bool:
        """Whether anything in it is of a job: training, its end, lines of the NPU's software."""
        return bool(self.trained or self.pids or self.ended or self.closed >= 0)

    def _goes_on(self, number: int, line: Record) -> None:
        """Whether a line tells that the job trains, that it came to its end, or lost its loss."""
        body = line.body[:LOOKED_AT]
        if _OF_ENDS.search(body) is not None and _LAST_WORDS.search(body) is not None:
            self.closed = self.trained
            if not body.startswith("real"):  # the time of a job that failed is told, too
                self.closed_at = number
        elif _TRAINED.search(body) is not None:
            self.trained, self.trained_at = self.trained + 1, number
        for match in _LOSS.finditer(body) if "oss" in body or "LOSS" in body else ():
            name = match.group("name").lower()
            if match.group("value")[-1:].isdecimal():
                self.lost.pop(name, None)
            elif name not in self.lost and len(self.lost) < _MOST_LOSSES:
                failure = failure_named("py-nan-loss")
                self.lost[name] = self._event(number, line, line.body, KNOWN, failure)

    def _logged(self, number: int, line: Record) -> None:
        """A line that a logger wrote: it ends what was open."""
        self._block = None
        self._in_traceback = False
        body = line.body
        self._ending(number, line)
        if line.pid:
            self.pids[line.pid] = self.pids.get(line.pid, 0) + (line.level == "ERROR")
        if line.form != "slog" and line.level in ("INFO", "WARNING"):
            self._quiet(number, line)
            return
        if line.level not in ("ERROR", "FATAL"):
            if line.form == "slog" and line.level == "WARNING":
                self._warned(number, line)
            return
        if "error report" in body or _TABLE.search(body) is not None:
            self.followers += 1
            return
        if CODE.search(body) is not None and self._coded(number, line, body):
            return
        found = shape(body)
        if found.strength == "harmless":
            return
        if found.strength == "strong":
            self._count(number, line)
            return
        weight, weak = found.weight, found.strength == "weak" or line.form == "torch"
        wraps = line.form != "slog" or line.module in _CALLERS
        if wraps and line.level == "ERROR" and weight < KNOWN:
            weight = SIGN
        text = local(body) if line.form == "slog" else body
        self._add(self._event(number, line, text, weight, found.failure, weak))

    def _warned(self, number: int, line: Record) -> None:
        """A warning of slog: what frameworks quote in one, and a GetNext that has no data."""
        if "Ascend Error Message" in line.body:
            self._coded(number, line, line.body)
        elif "GetNext" in line.body:
            failure = shape(line.body).failure
            if failure is None or failure.id not in ("faq-getnext-timeout", "ms-getnext"):
                return
            slow = "might result" in line.body  # it may go well all the same
            weight = SIGN if slow else KNOWN
            event = self._event(number, line, local(line.body), weight, failure, slow)
            event.form = "shuffle" if slow else event.form
            self._add(event)

    def _ending(self, number: int, line: Record) -> None:
        """Whether a line says that the process came to its regular end, or its data did."""
        if _DATA_ENDED.search(line.body) is not None:
            if self.ended is None or self.ended.failure is None:
                failure = failure_named("py-out-of-range")
                self.ended = self._event(number, line, line.body, FOLLOWER, failure)
        elif _FINISHED.search(line.body) is not None:
            self.finished = True
            if self.ended is None or self.ended.failure is None:
                self.ended = self._event(number, line, line.body, FOLLOWER)

    def _quiet(self, number: int, line: Record) -> None:
        """A line of INFO or a warning: only what is known to be a failure counts."""
        body = line.body
        if _SHUFFLE.search(body) is not None:
            self._shuffle(number, line)
            return
        graph = _COMPILED.search(body)
        if graph is not None:
            self._compiled(number, line, graph.group("graph"))
            return
        if _QUICK.search(body) is None:
            return
        if "loss" in body and self._scaled(number, body):
            return
        found = shape(body)
        if found.weight >= KNOWN and not found.strength and found.failure is not None:
            if line.level == "INFO" and not found.failure.certain:
                return
            self._add(self._event(number, line, body, KNOWN, found.failure))

    def _compiled(self, number: int, line: Record, graph: str) -> None:
        if graph not in self.graphs and len(self.graphs) < MOST_EVENTS:
            failure = failure_named("faq-graph-ids-differ")
            self.graphs[graph] = self._event(number, line, line.body, FOLLOWER, failure)

    def _shuffle(self, number: int, line: Record) -> None:
        """The buffer is a cause only when the job fails before it is full."""
        if "filled" in line.body:
            self.events = [event for event in self.events if event.form != "shuffle"]
        elif not any(event.form == "shuffle" for event in self.events):
            event = self._event(number, line, line.body, SIGN, shape(line.body).failure, True)
            event.form = "shuffle"
            self._add(event)

    def _scaled(self, number: int, body: str) -> bool:
        match = _LOSS_SCALE.search(body)
        if match is None:
            return False
        try:
            value = float(match.group("value"))
        except ValueError:
            return False
        if not self._scales or self._scales[-1][0] != value:
            self._scales.append((value, number, body))
            if len(self._scales) > MOST_EVENTS:
                del self._scales[: MOST_EVENTS // 2]
        return True

    def _text(self, number: int, line: Record) -> None:
        """A line that no logger wrote."""
        body = line.body
        if "HTTP/" in body and _REQUEST.search(body) is not None:
            return
        if not body.strip():
            self._block = None if line.who else self._block
            return
        if self._in_traceback and self._frame(body):
            return
        if not self._in_traceback:
            self._ignoring = self._ignored
        self._ignored = body.startswith("Exception ignored ")
        end = end_of(body[:LOOKED_AT])
        if end is not None and end.kind == "program" and self._block is not None:
            end = None
        if end is not None and self._told(number, line, end):
            return
        if _TRACEBACK.match(body):
            self._block, self._in_traceback, self._frames = None, True, []
            self._opened = number, line
            return
        match = _BLOCK.match(body)
        if match is not None and self._coded(number, line, body):
            self._in_traceback = False
            return
        if self._block is not None and self._continues(number, body):
            return
        if _CHAIN.match(body):
            self._chained = True
            return
        self._plain(number, line)

    def _told(self, number: int, line: Record, end: EndPhrase) -> bool:
        """Somebody else tells that a process ended."""
        raised = _EXCEPTION.match(line.body)
        if raised is not None and (end.kind in ("shell", "program") or self._block is not None):
            return False
        weight = KNOWN if end.kind == "killed" else SIGN
        event = self._event(number, line, line.body, weight, end.failure)
        event.form = end.kind if end.kind in ("shell", "program") else "outside"
        process = _PROCESS.search(line.body)
        if process is not None:
            event.rank = int(next(group for group in process.groups() if group))
        if raised is not None:
            self._with_frames(event)
            self._raised = event
        self._block, self._in_traceback = None, False
        self._add(event)
        return True

    def _frame(self, body: str) -> bool:
        match = _FRAME.match(body)
        if match is not None:
            self._frames.append((match.group("file"), int(match.group("line"))))
            del self._frames[:-200]
            return True
        return body[:1] in " \t"

    def _plain(self, number: int, line: Record) -> None:
        body = line.body
        if _QUICK.search(body) is None and not self._in_traceback:
            return
        if _ROOT.match(body) is not None and self._rooted(number, body):
            return
        raised = _EXCEPTION.match(body)
        ended = self._in_traceback
        self._in_traceback = False
        if raised is not None or ended:
            self._exception(number, line, raised.group("text") or "" if raised else "", ended)
            return
        self._ending(number, line)
        if CODE.search(body) is not None and self._coded(number, line, body):
            return
        if "loss" in body and self._scaled(number, body):
            return
        if "shuffle buffer" in body:
            self._shuffle(number, line)
            return
        found = shape(body)
        if found.strength == "harmless":
            return
        if _CRASH.match(body) is not None:
            weight = KNOWN if found.weight == KNOWN else SIGN
            failure = found.failure or failure_named("job-crashed")
            crash = self._event(number, line, body, weight, failure)
            crash.form = "crash"
            self._add(crash)
        elif found.strength == "strong":
            self._count(number, line)
        elif found.weight == KNOWN:
            certain = found.failure is not None and found.failure.certain
            weight, weak = KNOWN if certain else SIGN, found.strength == "weak"
            self._add(self._event(number, line, body, weight, found.failure, weak))
        elif (
            body.startswith(("ERROR", "[ERROR]", "Error:")) and not found.strength
        ) or _RETURNED.search(body) is not None:
            self._add(self._event(number, line, body, SIGN, found.failure))

    def _rooted(self, number: int, body: str) -> bool:
        """Whether a line says what an exception is that only counts its roots."""
        raised = self._raised
        if raised is None or "root error(s)" not in raised.text or number > raised.line + 4:
            return False
        found = shape(body)
        ended = failure_named("py-out-of-range") if _DATA_ENDED.search(body) else None
        if raised.failure is None:
            raised.failure = found.failure or ended
            raised.weight = max(raised.weight, 0 if found.strength else found.weight)
        self.followers += 1
        return True

    def _exception(self, number: int, line: Record, text: str, traced: bool) -> None:
        body = line.body
        if self._ignoring:  # the interpreter itself says that it went on
            self.followers += 1
            return
        if CODE.search(body) is not None and self._coded(number, line, body):
            self._with_frames(self.events[-1] if self.events else None)
            return
        found = shape(body)
        chained, self._chained = self._chained, False
        if found.strength in ("harmless", "strong"):
            if found.strength == "strong" or traced:
                self._count(number, line)
            event = self._event(number, line, body, FOLLOWER)
            self._with_frames(event)
            self._raised = event
            return
        if chained and self._raised is not None:
            self.followers += 1
            if self._raised.script is None:
                self._with_frames(self._raised)
            return
        weight = KNOWN if found.weight == KNOWN else ERROR
        if not traced and found.weight < KNOWN:
            weight = SIGN
        if body.lstrip("^C").startswith(("KeyboardInterrupt", "SystemExit")):
            weight = SIGN
        event = self._event(number, line, body, weight, found.failure, found.strength == "weak")
        event.form = "exception"
        self._with_frames(event)
        self._raised = event
        self._add(event)

    def _with_frames(self, event: Optional[LogEvent]) -> None:
        if event is None or event.script is not None:
            return
        own = [frame for frame in self._frames if not _SITE.search(frame[0])]
        if own:
            event.script = own[-1]
        elif self._frames and event.form == "exception":
            event.script = self._frames[-1]

    # Blocks

    def _coded(self, number: int, line: Record, body: str) -> bool:
        """A line with a code: a block begins, goes on, or is printed once more."""
        match = _BLOCK.match(body) or CODE.search(body)
        if match is None:
            return False
        code = match.group("code") or match.group("titled")
        fact = code_of(code)
        word = body[max(match.start() - 200, 0) : match.start()].rpartition(" ")[2].lstrip('"(<[')
        if "://" in word or (word.startswith("/") and "?" in word):
            return False  # it is a part of an address
        if fact is None and match.re is CODE and not line.level:
            return False
        if code[2:] == "8888" or "module_name=" + code in body or "error report" in body:
            self._count(number, line)
            return True
        if code[0] == "W" or (fact is not None and fact.warning):
            self._block = None
            return True
        block = self._block
        if block is not None:
            if code == block.code and not self._below:
                self._add_detail(number, body)
                return True
            if self._below:
                self.followers += 1
                self._add_detail(number, body)
                return True
        start = 0 if match.re is _BLOCK else match.start()
        head = _HEAD.match(body[start:])
        text = body[start + head.end() :] if head is not None else body[start:]
        event = self._event(number, line, text.strip() or code, OWN)
        event.form = "block"
        event.code, event.printed = code, True
        if head is not None and head.group("time"):
            event.time, event.timed = seconds(head.group("time")), True
            self.last_time = event.time if self.last_time is None else self.last_time
        if head is not None and head.group("pid"):
            event.pid = int(head.group("pid"))
        if event.inner:
            event.weight = ERROR
        elif fact is None:
            event.weight = KNOWN
        self._judge(event, body)
        if not _HEADLINE.search(text) or not event.inner:
            event.details.append(text.strip())
            event.above = 1
        key = (code, DIGITS.sub("0", text[:300]))
        before = self._seen.get(key)
        if before is not None:
            self.followers += 1
        else:
            self._seen[key] = event
            self._with_frames(event)
            self._unwrap(event)
            self._add(event)
        # of a block that was seen before, the lines are read, and forgotten
        self._block, self._below, self._advised = event, False, False
        return True

    def _unwrap(self, event: LogEvent) -> None:
        """An exception whose text goes on with a block only repeats that something failed."""
        last = self.events[-1] if self.events else None
        if (
            last is not None
            and last is self._raised
            and last.failure is None
            and event.line - last.line <= _MOST_BETWEEN
            and event.form == "block"
            and _WRAPS.match(last.text)
        ):
            last.weight = FOLLOWER
            event.script = event.script or last.script

    def _judge(self, event: LogEvent, text: str) -> None:
        """What the words of one more line of a block say."""
        found = shape(text)
        if found.failure is not None and (
            event.failure is None or (found.failure.first and not event.failure.first)
        ):
            event.failure = found.failure
        if event.inner and found.weight == KNOWN and found.strength != "strong":
            event.weight = max(event.weight, KNOWN)
        if event.code in OTHER_SIDE or (
            event.inner and _OTHER.search(text) and found.weight < KNOWN
        ):
            event.other_side = True
        if event.device is None:
            device = _DEVICE.search(text)
            event.device = int(device.group("device")) if device else None

    def _add_detail(self, number: int, body: str) -> None:
        block = self._block
        assert block is not None
        head = _HEAD.match(body)
        text = (body[head.end() :] if head is not None else body).strip()
        if not text:
            return
        if not block.details and block.inner and not self._below:
            block.line, block.text = number, text
            if head is not None and head.group("time"):
                block.time, block.timed = seconds(head.group("time")), True
        if len(block.details) < _MOST_LINES:
            if not self._below and not self._advised and not (block.inner and block.above):
                block.above += 1
            block.details.append(text)
            if self._below or not self._advised:
                self._judge(block, text)

    def _continues(self, number: int, body: str) -> bool:
        """Whether a line belongs to the block that is open."""
        block = self._block
        assert block is not None
        if _TRACEBACK_OF_CODES.match(body):
            self._below = self._below or bool(block.details)
            return True
        self._advised = self._advised or _ADVICE.match(body) is not None
        if _NODE.match(body) or _CHAIN.match(body):
            self._block = None
            return bool(_NODE.match(body))
        if _CRASH.match(body):
            self._block = None
            return False
        if self._below:
            self.followers += 1
        self._add_detail(number, body)
        return True

    # Events

    def _event(
        self,
        number: int,
        line: Record,
        text: str,
        weight: int,
        failure: Optional[KnownFailure] = None,
        weak: bool = False,
    ) -> LogEvent:
        event = LogEvent(
            self.file,
            number,
            line.time if line.time is not None else self.last_time,
            weight,
            text,
            line.level,
            line.module,
            line.pid,
            failure=failure,
            weak=weak,
            rank=line.rank,
            device=line.device,
            form=line.form,
            timed=line.time is not None,
            trained=self.trained,
        )
        event.other_side = weight < OWN and _OTHER.search(text) is not None
        if event.device is None:
            match = _DEVICE.search(text)
            event.device = int(match.group("device")) if match is not None else None
        if event.other_side:
            event.code = next((code for pattern, code in _IMPLIED if pattern.search(text)), "")
        return event

    def _count(self, number: int, line: Record) -> None:
        self.followers += 1
        if not any(event.weight == FOLLOWER for event in self.events[:1]):
            ended = _DATA_ENDED.search(line.body) is not None
            failure = failure_named("py-out-of-range") if ended else None
            self._add(self._event(number, line, line.body, FOLLOWER, failure), counted=True)

    def _add(self, event: LogEvent, counted: bool = False) -> None:
        if not counted:
            self.followers += 1
        if len(self.events) < MOST_EVENTS:
            event.order = len(self.events)
            self.events.append(event)

    def cut_off(self) -> Optional[LogEvent]:
        """The traceback in the middle of which the log ends."""
        if not self._in_traceback or self._opened is None or self._ignoring:
            return None
        number, line = self._opened
        event = self._event(number, line, line.body, SIGN, failure_named("py-cut-off"))
        self._with_frames(event)
        return event

    def collapsed(self) -> Optional[LogEvent]:
        """The line at which the loss scale was lost, when it ended at 1 or below."""
        values = [value for value, _, _ in self._scales]
        if len(values) < 4 or values[-1] > 1 or max(values) < 16 * max(values[-1], 1e-30):
            return None
        if any(later > earlier for earlier, later in zip(values[-4:], values[-3:])):
            return None
        _value, number, text = next(each for each in self._scales if each[0] <= 1)
        found = shape(text)
        return LogEvent(
            self.file,
            number,
            self.last_time,
            KNOWN,
            text,
            failure=found.failure or failure_named("faq-loss-scale-zero"),
        )
