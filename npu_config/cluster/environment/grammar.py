"""What environment variables may hold: small objects that judge a text and describe it.

``why_not(text)`` returns None for a legal text, else what is wrong with it; ``words`` says
what is legal.
"""

import json
import re
from typing import Any, List, Optional, Tuple

import attr

from npu_config.core.message import phrase
from npu_config.sidefiles.schema.addresses import family_of

_WHOLE = re.compile(r"[+-]?[0-9]{1,20}\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_PORTS = re.compile(r"(?P<first>[0-9]{1,5})(?:-(?P<last>[0-9]{1,5}))?\Z")
_NICS = re.compile(r"\^?=?[^\s,=^]+(,[^\s,=^]+)*\Z")


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Grammar:
    """Any text."""

    @property
    def words(self) -> str:
        """What is legal."""
        return "any text"

    def why_not(self, text: str) -> Optional[str]:
        """What is wrong with a text, None when nothing is."""
        return None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Filled(Grammar):
    """Text that is not empty, described by ``what``."""

    what: str = "text"

    @property
    def words(self) -> str:
        """What is legal."""
        return phrase("{}, not empty", self.what)

    def why_not(self, text: str) -> Optional[str]:
        """Only the empty text is wrong."""
        return None if text else "it is empty"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Path(Filled):
    """The path of a ``file`` or a ``directory``, or of something else."""

    what: str = "path"

    @property
    def words(self) -> str:
        """What is legal."""
        return phrase("the path of a {}", self.what)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Whole(Grammar):
    """A whole number within a range; ``also`` names numbers outside it that are legal too."""

    lowest: int = 0
    highest: Optional[int] = None
    also: Tuple[int, ...] = ()

    @property
    def words(self) -> str:
        """What is legal."""
        words = phrase(
            "a whole number from {}{}",
            self.lowest,
            phrase(" on") if self.highest is None else phrase(" to {}", self.highest),
        )
        return words + "".join(phrase(", or {}", number) for number in self.also)

    def why_not(self, text: str) -> Optional[str]:
        """Not a number, or out of range."""
        if _WHOLE.match(text) is None:
            return "it is no whole number"
        number = int(text)
        if number in self.also:
            return None
        if number < self.lowest or (self.highest is not None and number > self.highest):
            return "it is out of range"
        return None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Number(Grammar):
    """A decimal number."""

    @property
    def words(self) -> str:
        """What is legal."""
        return 'a number such as "0.1"'

    def why_not(self, text: str) -> Optional[str]:
        """Not a number."""
        return None if _NUMBER.match(text) else "it is no number"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class OneOf(Grammar):
    """One of a few texts; ``quietly`` are legal too, but not offered."""

    values: Tuple[str, ...]
    quietly: Tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What is legal."""
        return ", ".join(self.values)

    def why_not(self, text: str) -> Optional[str]:
        """Not one of them."""
        if text in self.values or text in self.quietly:
            return None
        close = [value for value in self.values if value.lower() == text.strip().lower()]
        if close:
            return phrase('it is not "{}" letter by letter', close[0])
        return "it is none of them"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Switch(Grammar):
    """One text turns on; what looks as if it did, but is another text, is wrong."""

    on: str = "1"

    @property
    def words(self) -> str:
        """What is legal."""
        return phrase('"{}" turns on, anything else leaves off', self.on)

    def why_not(self, text: str) -> Optional[str]:
        """A text that means on to people only."""
        looks_on = text.strip().lower() in ("1", "true", "on", "yes", "y", "t", "enable")
        return "it leaves off" if looks_on and text != self.on else None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class IpText(Grammar):
    """One IPv4 or IPv6 address."""

    @property
    def words(self) -> str:
        """What is legal."""
        return "an IPv4 or IPv6 address"

    def why_not(self, text: str) -> Optional[str]:
        """No address."""
        return None if family_of(text, zone=False) is not None else "it is not an address"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class PortList(Grammar):
    """``auto``, or ports and ranges of ports joined by commas, without overlap."""

    @property
    def words(self) -> str:
        """What is legal."""
        return '"auto", or ports 1 to 65535 and ranges such as "61000-61050", joined by ","'

    def why_not(self, text: str) -> Optional[str]:
        """Names the first part that is wrong."""
        if text == "auto":
            return None
        taken: List[Tuple[int, int]] = []
        for part in text.split(","):
            match = _PORTS.match(part)
            if match is None:
                return phrase('"{}" is no port and no range', part)
            first = int(match.group("first"))
            last = int(match.group("last") or first)
            if not 1 <= first <= last <= 65535:
                return phrase('"{}" is no range of ports', part)
            if any(first <= end and start <= last for start, end in taken):
                return phrase('"{}" overlaps what stands before it', part)
            taken.append((first, last))
        return None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class NicNames(Grammar):
    """Which host interfaces HCCL takes."""

    @property
    def words(self) -> str:
        """What is legal."""
        return (
            'name prefixes ("eth,enp") or, after "=", whole names ("=eth0"); '
            'a leading "^" excludes them'
        )

    def why_not(self, text: str) -> Optional[str]:
        """Not such a list."""
        return None if _NICS.match(text) else "it is no such list"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class GraphLevels(Grammar):
    """A dump level, or names joined by ``|``."""

    @property
    def words(self) -> str:
        """What is legal."""
        return '1, 2, 3, 4, or names of dump points joined by "|"'

    def why_not(self, text: str) -> Optional[str]:
        """Another number, or an empty name."""
        if re.match(r"-?[0-9]+\Z", text) and text not in ("1", "2", "3", "4"):
            return "it is out of range"
        return None if all(text.split("|")) else "a name is empty"


_LEVELS = {
    "level0": ("NA",),
    "level1": ("NA", "ring", "H-D_R", "NHR", "NHR_V1", "NB", "AHC", "pipeline", "pairwise"),
    "level2": ("NA", "ring", "H-D_R", "NHR", "NHR_V1", "NB", "AHC", "pipeline", "pairwise"),
}
_OPERATORS = (
    "allgather", "reducescatter", "allreduce", "broadcast", "reduce", "scatter", "alltoall",
)  # fmt: skip


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Algorithms(Grammar):
    """The collective algorithms, for all operators or operator by operator."""

    @property
    def words(self) -> str:
        """What is legal."""
        return phrase(
            '"level0:NA;level1:<algorithm>[;level2:<algorithm>]" with {}; or the same for '
            'single operators, "allreduce=...", joined by "/"',
            ", ".join(_LEVELS["level1"][1:]),
        )

    def why_not(self, text: str) -> Optional[str]:
        """Names the first part that is wrong."""
        for entry in text.split("/"):
            operator, sign, levels = entry.rpartition("=")
            if sign and operator not in _OPERATORS:
                return phrase('"{}" is no operator; known: {}', operator, ", ".join(_OPERATORS))
            seen: List[str] = []
            for part in levels.split(";"):
                level, _, algorithm = part.partition(":")
                if level not in _LEVELS or level in seen:
                    return phrase('"{}" is no level, or stands twice', part)
                if algorithm not in _LEVELS[level]:
                    return phrase(
                        '"{}" is no algorithm of {}; known: {}',
                        algorithm,
                        level,
                        ", ".join(_LEVELS[level]),
                    )
                seen.append(level)
        return None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class JsonObject(Grammar):
    """The text of one JSON object."""

    @property
    def words(self) -> str:
        """What is legal."""
        return "one JSON object"

    def why_not(self, text: str) -> Optional[str]:
        """Not JSON, or something else than an object."""
        try:
            value: Any = json.loads(text)
        except ValueError as error:
            return phrase("it is no JSON: {}", str(error)[:1].lower() + str(error)[1:])
        except RecursionError:
            return "it is nested too deeply"
        return None if isinstance(value, dict) else "it is JSON, but no object"


JOB_ID_LONGEST = 128
_JOB_ID = re.compile(r"[A-Za-z0-9_-]+\Z")


@attr.s(frozen=True, slots=True, auto_attribs=True)
class JobId(Grammar):
    """The name of a job."""

    @property
    def words(self) -> str:
        """What is legal."""
        return phrase(
            "1 to {} letters, digits, _ and -, but not digits alone that begin with 0",
            JOB_ID_LONGEST,
        )

    def why_not(self, text: str) -> Optional[str]:
        """Too long, other characters, or digits that begin with 0."""
        if not text:
            return "it is empty"
        if len(text) > JOB_ID_LONGEST:
            return phrase("it has {} characters", len(text))
        if _JOB_ID.match(text) is None:
            return "it has other characters"
        if text.isdigit() and text.startswith("0"):
            return "it is digits alone and begins with 0"
        return None
