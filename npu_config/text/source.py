"""A text and the file that it is in: read without harm, decoded, with its places.

A file is read within limits, and one that an editor holds unsaved has the text of the editor
(:func:`unsaved`).  Every file is read and judged inside of
:func:`guarded`: a fault of npu_config ends no run.  Lines end at ``\\n``; a column counts
characters.  The log of what is wrong with a text has one limit, one way to stop, one way to make
a fix; edits are applied here.  Nothing here knows a format.
"""

import enum
import errno
import os
import stat
import time
from bisect import bisect_right
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate
from typing import (
    IO,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
    Union,
)

from npu_config.core.diagnostics import (
    NOWHERE,
    Diagnostic,
    Edit,
    Fix,
    NpuConfigError,
    Place,
    Rule,
    Severity,
    declare,
)
from npu_config.core.message import phrase
from npu_config.core.paths import is_text, reading
from npu_config.text import rules
from npu_config.text.rules import unparsable_file
from npu_config.text.words import shown

BYTES = "latin-1"
"""The encoding of a text of any bytes: each is one character, and comes back."""

_REASONS = {
    errno.ENOENT: ("the file does not exist", "check the path"),
    errno.EACCES: (
        "this user is not allowed to read the file",
        "check the permissions of the file",
    ),
    errno.EPERM: (
        "this user is not allowed to read the file",
        "check the permissions of the file",
    ),
    errno.EISDIR: ("this is a directory", "pass the path of a file in this directory"),
    errno.ELOOP: ("the link points to itself", None),
    errno.ENOTDIR: ("a part of the path is not a directory", "check the path"),
    errno.ENAMETOOLONG: ("the path is too long for this system", None),
}
_PAUSES = (0.005, 0.02, 0.1, 0)
"""Seconds to wait after each attempt to read a file that is being written."""

_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


class _Unsaved(NamedTuple):
    texts: Mapping[str, bytes]
    asked: Set[str]


_UNSAVED: "ContextVar[Optional[_Unsaved]]" = ContextVar("npu_config_unsaved", default=None)


@contextmanager
def unsaved(texts: Mapping[str, bytes]) -> Iterator[Set[str]]:
    """Inside, files have the content that an editor holds of them, saved or not.

    Args:
        texts: absolute path to content.

    Yields:
        The absolute paths of the files that were asked for, growing.
    """
    asked: Set[str] = set()
    token = _UNSAVED.set(_Unsaved(texts, asked))
    try:
        yield asked
    finally:
        _UNSAVED.reset(token)


def unsaved_content(path: str) -> Optional[bytes]:
    """What an editor holds of a file; None where no editor does."""
    held = _UNSAVED.get()
    if held is None:
        return None
    full = os.path.abspath(path)
    held.asked.add(full)
    return held.texts.get(full)


def load(path: str, limit: int) -> Union[bytes, Diagnostic]:
    """The content of a file, or why there is none.

    A file that another process writes to meanwhile is read again: half of one content and half
    of another is none.

    Args:
        path: the file.
        limit: how many bytes it may have.
    """
    held = unsaved_content(path)
    if held is not None:
        return too_large(path, limit) if len(held) > limit else held
    try:
        for pause in _PAUSES:
            with open(path, "rb", opener=reading) as stream:
                before = state_of(stream)
                data = stream.read(limit + 1)
                if state_of(stream) == before:
                    return too_large(path, limit) if len(data) > limit else data
            time.sleep(pause)
    except (OSError, ValueError) as error:
        return unreadable(path, error)
    message = "the file changed while it was read; it is not checked"
    help = "check the file again after the process that writes it has finished"
    return rules.unreadable_file.diagnostic(message, Place(path), help=help)


def loaded(path: str, limit: int) -> bytes:
    """The content of a file; see :func:`load`.

    Raises:
        NpuConfigError: there is none.
    """
    data = load(path, limit)
    if isinstance(data, Diagnostic):
        raise NpuConfigError([data])
    return data


def text_of(path: str, limit: int) -> str:
    """The text of a file of UTF-8, without a byte order mark.

    Raises:
        NpuConfigError: it cannot be read, or is not UTF-8.
    """
    text, fault = decode(loaded(path, limit), path)
    if fault is not None or text is None:
        raise NpuConfigError([fault] if fault else [])
    return text[1:] if text.startswith("\ufeff") else text


def state_of(stream: IO[bytes]) -> Optional[Tuple[int, int]]:
    """The size of a file, and when it was written to; None for a pipe or a device."""
    status = os.fstat(stream.fileno())
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def unreadable(path: str, error: Exception) -> Diagnostic:
    """What is said of a file that cannot be opened or read.

    Args:
        path: the file.
        error: what opening or reading it raised: an OSError, or the ValueError of a name with
            a NUL character.
    """
    if not isinstance(error, OSError):
        message = "no file can have this name, because it contains a NUL character"
        return rules.unreadable_file.diagnostic(message, Place(path.replace("\0", "\\0")))
    if error.errno in _NO_FILE and is_text(path):
        message = phrase(
            "expected the path of a file, but {} is the content of a file", shown(path)
        )
        return rules.unreadable_file.diagnostic(
            message, help="pass the path of a file with this content"
        )
    reason, help = _REASONS.get(error.errno or 0, (None, None))
    if reason is None:
        reason = phrase("the file cannot be read: {}", error.strerror or error)
    if os.path.isdir(path) and os.access(path, os.R_OK):
        reason, help = _REASONS[errno.EISDIR]
    return rules.unreadable_file.diagnostic(reason, Place(path), help=help)


def too_large(path: Optional[str], limit: int) -> Diagnostic:
    """What is said of a file of more than ``limit`` bytes."""
    message = phrase("the file is larger than {:,} bytes and is not read", limit)
    return rules.file_too_large.diagnostic(message, Place(path))


def decode(data: bytes, path: Optional[str]) -> Tuple[Optional[str], Optional[Diagnostic]]:
    """The text of UTF-8 bytes, or why they are none."""
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        help = "save it as UTF-8"
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            help = "the file seems to be UTF-16; save it as UTF-8"
        elif b"\0" in data:
            help = "the file is binary; pass the path of a text file"
        message = phrase(
            "the file is not UTF-8 text: it contains the byte 0x{:02x}", data[error.start]
        )
        place = Place(path, line, column, line, column + 1)
        return None, rules.unreadable_file.diagnostic(message, place, help=help)


_Result = TypeVar("_Result")


@declare("NPU700", Severity.ERROR, source=("npu_config",))
def internal_fault() -> None:
    """npu_config itself failed on a file.

    The fault is in npu_config, not in the file.  This file is not checked; all other files are.
    The message contains what a bug report needs: the exception and the line that raised it.
    """


def fault(path: Optional[str], error: BaseException) -> Diagnostic:
    """The finding for an exception that should not have been raised.

    Args:
        path: the file that was read or judged; None where no file is known.
        error: the exception.
    """
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = ""
    if frames:
        where = ", {}:{}".format(os.path.basename(frames[-1].filename), frames[-1].lineno)
    return internal_fault.diagnostic(
        phrase(
            "npu_config failed: {}{}: {}"
            if path is None
            else "npu_config failed on this file, which is not checked: {}{}: {}",
            type(error).__name__,
            where,
            str(error)[:200],
        ),
        Place(path),
        help="this is a bug in npu_config: please report it"
        if path is None
        else "this is a bug in npu_config: please report it, with the file if possible",
    )


@contextmanager
def guarded(path: Optional[str]) -> Iterator[None]:
    """Whatever the block raises becomes one finding.

    Args:
        path: the file that the block reads or judges.

    Raises:
        NpuConfigError: what the block raised itself, or with :data:`INTERNAL` for any other
            exception.
    """
    try:
        yield
    except NpuConfigError:
        raise
    except Exception as error:
        raise NpuConfigError([fault(path, error)]) from error


def attempted(
    found: List[Diagnostic], path: Optional[str], work: Callable[..., _Result], *arguments: Any
) -> Optional[_Result]:
    """What some work on a file returns; None where it raises, and ``found`` says why.

    Args:
        found: gets what is wrong.
        path: the file that the work reads or judges.
        work: is called with the arguments.
        arguments: its arguments.
    """
    try:
        with guarded(path):
            return work(*arguments)
    except NpuConfigError as error:
        found.extend(error.diagnostics)
    return None


Path = Tuple[Union[str, int], ...]


class Source:
    """A text and the file it came from.

    Args:
        text: the text.
        path: the file, for the places.
    """

    __slots__ = ("_starts", "path", "text")

    def __init__(self, text: str, path: Optional[str] = None) -> None:
        self.text = text
        self.path = path
        self._starts: Optional[List[int]] = None

    def _line_starts(self) -> List[int]:
        if self._starts is None:
            lines = self.text.split("\n")[:-1]
            self._starts = [0, *accumulate(len(line) + 1 for line in lines)]
        return self._starts

    def position(self, offset: int) -> Tuple[int, int]:
        """Line and column of the character at ``offset``."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, offset: int) -> int:
        """The line of the character at ``offset``."""
        return bisect_right(self._line_starts(), offset)

    def place(self, start: int, end: int) -> Place:
        """The place of ``text[start:end]``."""
        return Place(self.path, *self.position(start), *self.position(end))

    def edit(self, start: int, end: int, text: str) -> Edit:
        """The edit that puts ``text`` in the place of ``text[start:end]``."""
        return Edit(*self.position(start), *self.position(end), text)

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column; what lies outside the text is brought to its end."""
        starts = self._line_starts()
        if line > len(starts):
            return len(self.text)
        return min(starts[line - 1] + column - 1, len(self.text))


def both_places(first: Place, second: Place) -> str:
    """Where two things stand, in words: ``lines 3 and 7``."""
    if first.line == second.line:
        return phrase("line {} (columns {} and {})", first.line, first.column, second.column)
    return phrase("lines {} and {}", first.line, second.line)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with every edit done; of two edits that overlap the first is done.

    Args:
        text: the text that the edits were made for.
        edits: in any order.
    """
    source = Source(text)
    spans = sorted(
        (
            source.offset(edit.line, edit.column),
            source.offset(edit.end_line, edit.end_column),
            edit.text,
        )
        for edit in edits
    )
    parts: List[str] = []
    done = 0
    for start, end, replacement in spans:
        if start < done:
            continue
        parts.append(text[done:start])
        parts.append(replacement)
        done = end
    parts.append(text[done:])
    return "".join(parts)


class Places:
    """Where the parts of a value stand, by their path; here: nowhere.

    A path names a part as one would index it: ``("Switch", "GraphFusion", "ALL")``.
    """

    __slots__ = ()

    def place(self, path: Sequence[Union[str, int]] = ()) -> Place:
        """The place of the value at ``path``, or of the nearest part around it that is there."""
        return NOWHERE

    def key_place(self, path: Sequence[Union[str, int]]) -> Place:
        """The place of the key that ends ``path``; of the value where there is no key."""
        return NOWHERE


class PlaceTable(Places):
    """Places of a line format: one pair (key, value) for each path."""

    __slots__ = ("_table", "_whole")

    def __init__(self, whole: Place) -> None:
        self._whole = whole
        self._table: Dict[Path, Tuple[Place, Place]] = {}

    def put(self, path: Path, key: Place, value: Place) -> None:
        """Remember where the key and the value of ``path`` stand; the first entry stays."""
        self._table.setdefault(path, (key, value))

    def _find(self, path: Sequence[Union[str, int]]) -> Optional[Tuple[Place, Place]]:
        for size in range(len(path), 0, -1):
            found = self._table.get(tuple(path[:size]))
            if found is not None:
                return found
        return None

    def place(self, path: Sequence[Union[str, int]] = ()) -> Place:
        """Where the value at ``path`` is."""
        found = self._find(path)
        return self._whole if found is None else found[1]

    def key_place(self, path: Sequence[Union[str, int]]) -> Place:
        """Where the key that ends ``path`` is."""
        found = self._find(path)
        return self._whole if found is None else found[0]


ANYWHERE = Places()

MAX_FAULTS = 1000
"""After so many findings the rest of a text is not read."""


class Broken(enum.Enum):
    """The type of :data:`BROKEN`."""

    BROKEN = "broken"

    def __repr__(self) -> str:
        return "BROKEN"


BROKEN = Broken.BROKEN
"""What stands in a value for a part of the text that could not be read."""


class StopReading(Exception):  # noqa: N818 - it is no error of the caller's
    """The rest of the text is not read; the reason is reported."""


class FaultLog:
    """The findings of one reader about one text.

    Args:
        source: the text.
        rule: says that the rest is not read, and is the rule of :meth:`fault`.

    Attributes:
        diagnostics: the findings, in the order in which they were made.
        complete: False when a part of the text was not understood, so that what seems to be
            missing may be there.
    """

    def __init__(self, source: Source, rule: Rule = unparsable_file) -> None:
        self.source = source
        self.rule = rule
        self.diagnostics: List[Diagnostic] = []
        self.complete = True

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a finding.

        Raises:
            StopReading: it was the last one that is taken.
        """
        self.diagnostics.append(diagnostic)
        if len(self.diagnostics) == MAX_FAULTS:
            self.complete = False
            message = phrase("after {:,} findings, the rest of the text is not read", MAX_FAULTS)
            self.diagnostics.append(self.rule.diagnostic(message, diagnostic.place))
            raise StopReading

    def add_all(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add findings, as many as are taken."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    def report(
        self,
        rule: Rule,
        start: int,
        end: int,
        message: str,
        help: Optional[str] = None,
        title: str = "",
        replacement: Optional[str] = None,
        meant: Optional[str] = None,
    ) -> None:
        """Report ``text[start:end]``; ``replacement`` with a title makes it a fix.

        Raises:
            StopReading: it was the last finding that is taken.
        """
        fix = None
        if replacement is not None:
            fix = Fix(title, (self.source.edit(start, end, replacement),))
        place = self.source.place(start, end)
        self.add(rule.diagnostic(message, place, help=help, fix=fix, meant=meant))

    def fault(self, start: int, end: int, message: str, help: Optional[str] = None) -> None:
        """Report ``text[start:end]`` under the rule of the log.

        Raises:
            StopReading: it was the last finding that is taken.
        """
        self.report(self.rule, start, end, message, help)


def holds_code(text: str) -> bool:
    """Whether a line of a script is more than a comment."""
    return any(line.strip()[:1] not in ("", "#") for line in text.lstrip("\ufeff").splitlines())
