"""The names of dump files and of the folders above them.

A file is called ``TYPE.NAME.TASK.STREAM.TIME``; old releases leave the stream out, FFTS+ adds
four numbers, statistics add ``.csv``.  ``/``, ``.``, ``\\`` and blanks of the real names are
written ``_`` there.

Source: facts dump.yaml, ``paths`` and ``names``.
"""

import re
from typing import NamedTuple, Optional, Sequence, Tuple

_FILE = re.compile(
    r"(?P<type>[A-Za-z0-9_-]+)\.(?P<name>[A-Za-z0-9_-]+)\.(?P<task>[0-9]+)"
    r"(?:\.(?P<stream>[0-9]+))?\.(?P<time>[0-9]{10,})"
    r"(?:\.(?P<kind>[0-9]+)\.(?P<context>[0-9]+)\.(?P<thread>[0-9]+)\.(?P<device>[0-9]+))?"
    r"(?P<csv>\.csv)?\Z"
)
_HASH = re.compile(r"[0-9]{1,20}\Z")
_TIME = re.compile(r"[0-9]{14}\Z")
_DIGITS = re.compile(r"[0-9]+\Z")
_REPLACED = re.compile(r"[ ./\\]")
_LONGEST = 1024
MAPPING = "mapping.csv"
OPDEBUG = "Opdebug"
_ACLNN = 65535


class FileName(NamedTuple):
    """What the name of a dump file says; what it does not say is None.

    ``time`` is in microseconds; ``task_type``, ``context`` and ``thread`` are those of FFTS+.
    """

    op_type: str
    name: str
    task: int
    stream: Optional[int]
    time: int
    task_type: Optional[int]
    context: Optional[int]
    thread: Optional[int]
    is_statistics: bool

    @property
    def is_overflow(self) -> bool:
        """True for the record that overflow detection writes beside the operator's dump."""
        return self.op_type == OPDEBUG


class Folder(NamedTuple):
    """Where a file is in a dump; parts that the path does not have are None."""

    run: Optional[str]
    device: Optional[int]
    model: Optional[str]
    model_id: Optional[int]
    step: Optional[int]


def parse_name(text: str) -> Optional[FileName]:
    """What a file name says; None when it is not the name of a dump."""
    match = _FILE.match(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    kind, name = match.group("type"), match.group("name")
    task, stream = int(match.group("task")), _number(match.group("stream"))
    if task == stream == _ACLNN:  # single operators of aclnn swap the two
        kind, name = name, kind
    return FileName(
        kind,
        name,
        task,
        stream,
        int(match.group("time")),
        _number(match.group("kind")),
        _number(match.group("context")),
        _number(match.group("thread")),
        match.group("csv") is not None,
    )


def is_hash(text: str) -> bool:
    """True for the name of a file whose own name was too long; ``mapping.csv`` has that."""
    return _HASH.match(text) is not None


def parse_folder(parts: Sequence[str]) -> Folder:
    """What the folders above a file say.

    Args:
        parts: their names, outermost first; those above the dump do not matter.
    """
    last = len(parts) - 1
    for index in range(last, -1, -1):
        if _TIME.match(parts[index]) and index < last and _DIGITS.match(parts[index + 1]):
            below = _model(parts[index + 2 :])
            return Folder(parts[index], int(parts[index + 1]), *below)
    tail = list(parts[-4:])
    numeric = [_DIGITS.match(part) is not None for part in tail]
    if numeric == [True, False, True, True]:
        return Folder(None, int(tail[0]), *_model(tail[1:]))
    if numeric[1:] == [False, True, True]:
        return Folder(None, None, *_model(list(parts[-3:])))
    return Folder(None, None, None, None, None)


def _model(parts: Sequence[str]) -> Tuple[Optional[str], Optional[int], Optional[int]]:
    """Model, model id and step; each is there only when it was known."""
    name = parts[0] if parts and not _DIGITS.match(parts[0]) else None
    numbers = [int(part) for part in parts[1 if name else 0 :] if _DIGITS.match(part)][:2]
    if len(numbers) == 2:
        return name, numbers[0], numbers[1]
    if numbers and name is not None:
        return name, numbers[0], None
    return name, None, numbers[0] if numbers else None


def plain(name: str) -> str:
    """The real name of an operator as file names have it."""
    return _REPLACED.sub("_", name)


def _number(text: Optional[str]) -> Optional[int]:
    return None if text is None else int(text)
