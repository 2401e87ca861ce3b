"""One line of a log, whoever wrote it: the forms of lines, and what they hold.

Prefixes of launchers are taken off before anything else.  A form that is not recognised is text.
"""

import json
import re
from typing import NamedTuple, Optional, Pattern, Sequence

__all__ = ["CODE", "Record", "local", "prefix_of", "record", "seconds"]

_STAMP = (
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)(?:\sstd(?:out|err)\s[FP])?"
)
_PREFIX = re.compile(
    r"(?:\[rank ?(?P<rank>\d{1,6})\]:\s?"
    r"|\[(?:\d{1,9},)?(?P<mpi>\d{1,6})\]<std(?:out|err|diag)>:\s?"
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
    return None


def record(text: str, prefix: Optional[Pattern[str]] = None) -> Record:
    """A line taken apart; ``prefix`` is what :func:`prefix_of` found in its log."""
    who, rank, device = "", None, None
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if text.startswith('{"log":'):
        text = _of_docker(text)
    named = prefix.match(text) if prefix is not None else None
    if named is not None:
        is_rank = "rank" in named.re.groupindex
        rank = int(named.group(1)) if is_rank else None
        who = "rank " + str(rank) if is_rank else named.group(1)
        text = text[named.end() :]
    start = text[:200]
    if start[:1] in _STARTS or ".log:" in start or ".txt:" in start or ".py:" in start:
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
    """What a process wrote, of a line of Docker's ``json-file``; another line as it is."""
    try:
        said = json.loads(text)["log"]
    except (ValueError, KeyError, RecursionError):
        return text
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
