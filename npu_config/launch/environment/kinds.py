"""What environment variables hold: kinds of the catalogue, read from text.

Those that no option has are here; a kind reads the text of a variable and describes what is legal,
as it does for the value of an option.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

import attr

from npu_config.catalogue.kinds import Choice, FilePath, Int, InvalidValue, Kind, Text, shorten
from npu_config.core.message import listed, phrase
from npu_config.sidefiles.schema.kinds import family_of

_WHOLE = re.compile(r"[+-]?[0-9]{1,20}\Z")
_PORTS = re.compile(r"(?P<first>[0-9]{1,5})(?:-(?P<last>[0-9]{1,5}))?\Z")

JOB_ID_LONGEST = 128

FILE = FilePath("file")
DIRECTORY = FilePath("directory")
TABLE_PATH = Text(
    r"(?s)(?:(?!\.json).)*\.json\Z",
    'the path of a rank table, with ".json" at its end and nowhere else',
)
NUMBER = Text(r"[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z", 'a number such as "0.1"')
NIC_NAMES = Text(
    r"\^?=?[^\s,=^]+(,[^\s,=^]+)*\Z",
    'name prefixes ("eth,enp") or, after "=", whole names ("=eth0"); a leading "^" excludes them',
)
GRAPH_LEVELS = Text(
    r"(?s)[1-4]\Z|(?!-?[0-9]+\Z)[^|]+(\|[^|]+)*\Z",
    '1, 2, 3, 4, or names of dump points joined by "|"',
)
JOB_ID = Text(
    r"(?!0[0-9]*\Z)[A-Za-z0-9_-]{1,128}\Z",
    "1 to 128 letters, digits, _ and -; a name of digits only must not begin with 0",
)


def filled(what: str = "text") -> Kind:
    """Text that is not empty, described by ``what``."""
    return Text(r"(?s).", phrase("{}, not empty", what))


def _refuse(text: str, why: str = "", help: Optional[str] = None) -> InvalidValue:
    problem = phrase('is "{}"{}', shorten(text), phrase(", {}", why) if why else "")
    return InvalidValue("bad-syntax", problem, help)


class Whole(Int):
    """A whole number within a range."""

    def parse(self, value: Any) -> int:
        """The number that a text is."""
        if _WHOLE.match(value) is None:
            raise _refuse(value)
        return super().parse(int(value))


@dataclass(frozen=True)
class Word(Choice):
    """One of a few texts; ``quietly`` are legal too, but not offered."""

    quietly: Tuple[str, ...] = ()

    def parse(self, value: Any) -> str:
        """The text."""
        return str(value) if value in self.quietly else super().parse(value)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Switch(Kind):
    """One text turns on; what looks as if it did, but is another text, is wrong."""

    on: str = "1"

    def describe(self) -> str:
        """Legal values."""
        return phrase('"{}" means on, every other value means off', self.on)

    def parse(self, value: Any) -> bool:
        """Whether the text turns on; raises for one that means so to people only."""
        if value != self.on and value.strip().lower() in _YES:
            raise _refuse(value, "which means off", phrase('write "{}"', self.on))
        return bool(value == self.on)


_YES = ("1", "true", "on", "yes", "y", "t", "enable")


@attr.s(frozen=True, slots=True, auto_attribs=True)
class IpText(Kind):
    """One IPv4 or IPv6 address."""

    words = "an IPv4 or IPv6 address"

    def parse(self, value: Any) -> str:
        """The text."""
        if family_of(value, zone=False) is None:
            raise _refuse(value)
        return str(value)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class PortList(Kind):
    """``auto``, or ports and ranges of ports joined by commas, without overlap."""

    words = '"auto", or ports 1 to 65535 and ranges such as "61000-61050", joined by ","'

    def parse(self, value: Any) -> List[Tuple[int, int]]:
        """The ranges; none for ``auto``."""
        taken: List[Tuple[int, int]] = []
        for part in value.split(",") if value != "auto" else ():
            match = _PORTS.match(part)
            first = int(match.group("first")) if match else 0
            last = int(match.group("last") or first) if match else 0
            if not 1 <= first <= last <= 65535:
                raise _refuse(value, phrase('but "{}" is not a port or a range', part))
            if any(first <= end and start <= last for start, end in taken):
                raise _refuse(value, phrase('but "{}" overlaps an earlier range', part))
            taken.append((first, last))
        return taken


_ALGORITHMS = ("NA", "ring", "H-D_R", "NHR", "NHR_V1", "NB", "AHC", "pipeline", "pairwise")
_LEVELS = {"level0": ("NA",), "level1": _ALGORITHMS, "level2": _ALGORITHMS}
_OPERATORS = (
    "allgather", "reducescatter", "allreduce", "broadcast", "reduce", "scatter", "alltoall",
)  # fmt: skip


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Algorithms(Kind):
    """The collective algorithms, for all operators or operator by operator."""

    words = phrase(
        '"level0:NA;level1:<algorithm>[;level2:<algorithm>]", algorithms: {}; or one such '
        'value per operator, "allreduce=...", joined by "/"',
        listed(_ALGORITHMS[1:]),
    )

    def parse(self, value: Any) -> str:
        """The text; raises for the first part that is wrong."""
        for entry in value.split("/"):
            operator, sign, levels = entry.rpartition("=")
            if sign and operator not in _OPERATORS:
                raise _refuse(
                    value,
                    phrase('but "{}" is not an operator ({})', operator, listed(_OPERATORS)),
                )
            seen: List[str] = []
            for part in levels.split(";"):
                level, _, algorithm = part.partition(":")
                if level not in _LEVELS or level in seen:
                    raise _refuse(value, phrase('but "{}" is not a level, or is repeated', part))
                if algorithm not in _LEVELS[level]:
                    raise _refuse(
                        value,
                        phrase(
                            'but "{}" is not an algorithm of {} ({})',
                            algorithm,
                            level,
                            listed(_LEVELS[level]),
                        ),
                    )
                seen.append(level)
        return str(value)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class JsonObject(Kind):
    """The text of one JSON object."""

    words = "one JSON object"

    def parse(self, value: Any) -> Any:
        """The object."""
        try:
            found = json.loads(value)
        except ValueError as error:
            reason = str(error)[:1].lower() + str(error)[1:]
            raise InvalidValue("bad-syntax", phrase("is not JSON: {}", reason)) from None
        except RecursionError:
            raise InvalidValue("bad-syntax", "is nested too deeply") from None
        if not isinstance(found, dict):
            raise InvalidValue("bad-syntax", "is JSON, but not an object")
        return found
