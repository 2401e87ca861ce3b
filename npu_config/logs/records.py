"""One line of a log, whoever wrote it: the forms of lines, and what they hold.

Prefixes of launchers are taken off before anything else.  A form that is not recognised is text.
"""

import collections
import json
import re
from typing import NamedTuple, Optional, Pattern, Sequence

__all__ = ["CODE", "Record", "local", "prefix_of", "record", "seconds"]

_STAMP = (
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)(?:\sstd(?:out|err)\s[FP])?"
)
_PREFIX = re.compile(
    r"(?:\[rank ?(?P<rank>\d{1,6})\]:\s?"
    r"|(?:\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})?"  # mpirun --timestamp-output
    r"\[(?:[\w.-]{1,99}@)?(?:\d{1,9},)?(?P<mpi>\d{1,6})\]<std(?:out|err|diag)>:\s?"
    r"|\[default(?P<local>\d{1,6})\]:\s?|\[pod/(?P<pod>[\w./-]{1,199})\]\s|" + _STAMP + r"\s"
    r"|\((?:[\w ]+ )?pid=(?P<pid>\d{1,9})(?:, ip=[\d.]+)?\)\s?|\([\w ]+ TP\d+ pid=\d+\)\s?"
    r"|(?:ERROR|WARNING|INFO) \d\d-\d\d \d\d:\d\d:\d\d \[?[\w/.]{1,99}\.py:\d{1,6}\]\s?|> ?"
    r"|(?P<name>[^\s:\[(]+\.(?:log|txt)):\d+:\s?)"
)
_STARTS = ("[", "(", ">", "2")
_OF_LAUNCHERS = tuple(
    re.compile(form)
    for form in (
        r" {0,4}(?P<rank>\d{1,5}):(?: |\Z)",  # srun -l
        r"\[(?P<rank>\d{1,5})\](?: |\Z)",  # mpiexec -prepend-rank
        r"(?P<name>(?=[\w.-]{0,40}\d)[\w.-]{1,60}) {1,60}\|(?: |\Z)",  # docker compose
        r"(?P<name>(?=[\w.-]{0,40}\d)[A-Za-z][\w.-]{0,60}):(?: |\Z)",  # pdsh
        r"\[(?P<name>[\w.-]{1,60}:\d{1,9})\](?: |\Z)",
        r"\w{3} [ \d]\d [\d:]{8} (?P<name>[\w.-]{1,60} [\w./@-]{1,60})\[\d{1,9}\]:(?: |\Z)",
    )
)
"""Prefixes that stand on the lines of other programs, too: on nearly all of a log they are one."""
_DATE = (
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|(?:\w{3} )?\w{3} [ \d]\d \d\d:\d\d:\d\d(?: \d{4}\b)?|\b\d\d:\d\d:\d\d\b"
)
_LEVEL = r"\b(?:INFO|WARNING|WARN|ERROR|CRITICAL|DEBUG|DEBG|stdout|stderr)\b"
_LONGEST_PREFIX = 160
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TIME = r"\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d(?:\.\d{3}(?:\.?\d{3})?)?"
_SLOG = re.compile(
    r"\[(?P<level>ERROR|WARNING|WARN|INFO|DEBUG|EVENT|TRACE|CRITICAL|EXCEPTION|NULL)\]\s?"
    r"(?P<module>[A-Z][A-Z0-9_]+)\((?P<pid>-?\d{1,9})(?:,(?P<name>[^)]*))?\)"
    r"(?::\s?(?P<time>" + _TIME + r"))?\s?(?P<body>.*)\Z",
    re.S,
)
_SLOG_BODY = re.compile(
    r"\[(?P<file>[\w./+-]+\.(?:cc|cpp|c|h|py|hpp)):(?P<line>\d+)\]\s?(?P<tags>(?:\[[^\]]*\]\s?)*)"
    r"(?:(?P<tid>\d+)\s)?(?:\(tid:\d+\)\s?)?(?:(?P<func>[\w~:()<>]+?):\s?)?"
)
_TENSORFLOW = re.compile(
    r"\[?(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}): (?P<level>[IWEF]) "
    r"(?P<file>[^\s:]+):\d{1,9}\] ?(?P<body>.*)\Z",
    re.S,
)
_ABSL = re.compile(
    r"(?P<level>[IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ (?P<file>[\w./-]+):\d+\] (?P<body>.*)\Z",
    re.S,
)
_TF_PYTHON = re.compile(r"(?P<level>INFO|WARNING|ERROR|FATAL):tensorflow:(?P<body>.*)\Z", re.S)
_TORCH = re.compile(
    r"\[ERROR\] (?P<time>\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d) "
    r"\(PID:(?P<pid>\d{1,9}), Device:(?P<device>-?\d{1,9}), RankID:(?P<rank>-?\d{1,9})\) "
    r"(?P<body>ERR\d{5} .*)\Z",
    re.S,
)
CODE = re.compile(
    r"(?:(?<![\w/.-])|(?<=\\n))(?P<code>[EW][A-Z0-9]\d{4})(?=: |:$|\[PID|  ?\S|\)?: )"
    r"|\((?P<titled>[EW][A-Z0-9]\d{4})\):"
)
"""A code in a message: with a colon, two blanks or parentheses."""

_LEVELS = {
    "E": "ERROR",
    "F": "FATAL",
    "W": "WARNING",
    "I": "INFO",
    "CRITICAL": "ERROR",
    "EXCEPTION": "ERROR",
    "WARN": "WARNING",
}


class Record(NamedTuple):
    """A line taken apart.

    Attributes:
        form: ``slog``, ``tensorflow``, ``absl``, ``python`` (TensorFlow's Python logger),
            ``torch``, or ``text``.
        level: INFO, WARNING, ERROR, FATAL; empty for text.
        module: the part of the software (GE, HCCL), or the source file of TensorFlow.
        pid: of the process that wrote it; 0 where the line does not say.
        time: seconds since 1970 as the clock of the host had them, or None.
        body: the message.
        who: the launcher's name of the process: ``rank 3``, ``pid 12``, or a file.
        rank: by the prefix, or by what the line says of itself.
        device: by what the line says of itself.
    """

    form: str
    level: str
    module: str
    pid: int
    time: Optional[float]
    body: str
    who: str
    rank: Optional[int]
    device: Optional[int]


def prefix_of(sample: Sequence[str]) -> Optional[Pattern[str]]:
    """What a launcher wrote before each line of a log, by its first lines.

    It is on nearly all of them, and what it names comes again and again, as no number of a step
    does.
    """
    written = [_COLOUR.sub("", text) for text in sample if text.strip()]
    for form in _OF_LAUNCHERS:
        found = [match.group(1) for match in map(form.match, written) if match is not None]
        if len(found) >= max(3, len(written) * 0.7) and len(set(found)) <= len(found) / 2:
            return form
    return _common(written)


_MASKED = (
    (re.compile(_DATE), "\0", _DATE),
    (re.compile(_LEVEL), "\1", _LEVEL),
    (re.compile(r"\d+"), "\2", r"\d+"),
)


def _common(written: Sequence[str]) -> Optional[Pattern[str]]:
    """What stands before nearly all lines but for times, levels and numbers.

    It is one where only without it any line is of a form, or where it is a time.
    """
    if any(_is_of_a_form(text) for text in written):
        return None
    masked = []
    for text in written:
        text = text[:_LONGEST_PREFIX]
        for pattern, mark, _ in _MASKED:
            text = pattern.sub(mark, text)
        masked.append(text)
    starts = collections.Counter(text[:2] for text in masked).most_common(1)
    same = [text for text in masked if starts and text[:2] == starts[0][0]]
    if len(same) < max(3, len(written) * 0.8):
        return None
    least, most = min(same), max(same)
    size = next((at for at, pair in enumerate(zip(least, most)) if len(set(pair)) > 1), len(least))
    common, time = least[:size], None
    for end in (match.end() for match in re.finditer(r"[ \t]", common)):
        form = _pattern_of(common[:end])
        found = [match for match in map(form.match, written) if match is not None]
        if len({match.group(1) for match in found}) > len(found) / 2:
            return None
        rests = [match.string[match.end() :] for match in found]
        if any(map(_is_of_a_form, rests)):
            return form
        time = form if re.match(r"\W?\0\W*\Z", common[:end]) else time
    return time


def _pattern_of(masked: str) -> Pattern[str]:
    """The expression of a prefix whose first group is what stands behind its times."""
    at = masked.rfind("\0") + 1
    forms = []
    for text in (masked[:at], masked[at:]):
        form = re.escape(text)
        for _, mark, expression in _MASKED:
            form = form.replace(re.escape(mark), "(?:" + expression + ")")
        forms.append(form)
    return re.compile("{}({})".format(*forms))


def _is_of_a_form(text: str) -> bool:
    line = record(text)
    return line.form != "text" or line.who != "" or line.body.startswith("Traceback (most")


def record(text: str, prefix: Optional[Pattern[str]] = None) -> Record:
    """A line taken apart; ``prefix`` is what :func:`prefix_of` found in its log."""
    who, rank, device = "", None, None
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if text.startswith('{"'):
        text = _of_docker(text)
    named = prefix.match(text) if prefix is not None else None
    if named is not None:
        is_rank = "rank" in named.re.groupindex
        rank = int(named.group(1)) if is_rank else None
        who = "rank " + str(rank) if is_rank else named.group(1).strip()
        text = text[named.end() :]
    start = text[:200]
    if (
        start[:1] in _STARTS
        or "<std" in start
        or ".log:" in start
        or ".txt:" in start
        or ".py:" in start
    ):
        match = _PREFIX.match(text)
        while match is not None:
            number = match.group("rank") or match.group("mpi") or match.group("local")
            if number:
                rank = int(number)
                who = "rank " + number
            elif match.group("pid"):
                who = "pid " + match.group("pid")
            elif match.group("name") or match.group("pod"):
                who = match.group("name") or match.group("pod")
            text = text[match.end() :]
            match = _PREFIX.match(text)
    logged = _LOGGED.match(text) if text[:2] == "20" else None
    if logged is not None:
        text = text[logged.end() :]
    for form, pattern in _FORMS:
        match = pattern.match(text)
        if match is None:
            continue
        found = match.groupdict()
        level = found["level"] if form != "torch" else "ERROR"
        if form == "torch":
            rank = _natural(found["rank"]) if rank is None else rank
            device = _natural(found["device"])
        return Record(
            form,
            _LEVELS.get(level, level),
            found.get("module") or found.get("file") or "",
            int(found.get("pid") or 0),
            seconds(found["time"]) if found.get("time") else None,
            found["body"],
            who,
            rank,
            device,
        )
    return Record("text", "", "", 0, None, text, who, rank, device)


def _of_docker(text: str) -> str:
    """What a process wrote, of a line of JSON of Docker and the like; another line as it is."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return text
    said = next((told[key] for key in ("log", "message", "msg", "line") if key in told), None)
    return said.rstrip("\r\n") if isinstance(said, str) else text


_LOGGED = re.compile(
    r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:[,.]\d{3})? [\w. :\[\]-]{0,80}?"
    r"\b(?:ERROR|CRITICAL|WARNING)\b\]?(?: -|:)? "
    r"(?=Traceback \(most|  +\S|[A-Za-z_][\w.]*(?:Error|Exception)\b(?::|$))"
)
"""What Python's ``logging`` writes before each line of a traceback that is written by lines."""


_FORMS = (
    ("slog", _SLOG),
    ("tensorflow", _TENSORFLOW),
    ("torch", _TORCH),
    ("absl", _ABSL),
    ("python", _TF_PYTHON),
)


def _natural(text: str) -> Optional[int]:
    return int(text) if text.isdecimal() else None


def local(body: str) -> str:
    """The message of a line of slog without file, line, tags and function before it."""
    match = _SLOG_BODY.match(body)
    return body[match.end() :] if match is not None else body


_TIME_PARTS = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[- ](\d\d):(\d\d):(\d\d)(?:\.(\d{3})(?:\.?(\d{3}))?)?"
)


def seconds(text: str) -> Optional[float]:
    """A time of a log in seconds since 1970, on the clock that wrote it."""
    match = _TIME_PARTS.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, milli, micro = (int(g or 0) for g in match.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    days = _days(year, month, day)
    return days * 86400 + hour * 3600 + minute * 60 + second + milli / 1e3 + micro / 1e6


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of the calendar; no day is refused, as clocks of devices are."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468
