"""What the keys of JSON files hold: the kinds of values, and the declaration of a key.

Words, numbers and the like are kinds of the catalogue; here is what only such files have: arrays,
objects, and values that the readers of the vendor take otherwise than they look.

Such a kind reads a whole column of values at once, because a rank table has up to 32,768 devices
and its check may cost no more than reading the JSON did.  ``read_all`` either returns the
column in canonical form or, at the first sign of trouble, None; then the caller asks
``parse`` about each value to learn which is wrong and why.
"""

import json
import re
import socket
from collections import deque
from itertools import repeat
from typing import Any, ClassVar, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import attr

from npu_config.catalogue import kinds as catalogue
from npu_config.core.diagnostics import Rule, Severity
from npu_config.core.message import phrase
from npu_config.text.words import near

NOTHING = object()


@attr.s(auto_attribs=True, auto_exc=True)
class BadValueError(ValueError):
    """A value that its kind does not take as it is: what is wrong, and what to do.

    Args:
        problem: continues "<place> is <value>; ...": what is legal.
        help: what to do.
        instead: the JSON text that is surely meant, where there is one.
        meant: the word that is probably meant.
        read_as: the value that the runtime takes it for; such a value is a warning.
    """

    problem: str
    help: Optional[str] = None
    instead: Optional[str] = None
    read_as: Any = NOTHING
    meant: Optional[str] = None

    @property
    def severity(self) -> Optional[Severity]:
        """A warning for what the runtime takes otherwise than it looks; None: as the rule."""
        return None if self.read_as is NOTHING else Severity.WARNING

    @classmethod
    def of(
        cls, kind: catalogue.Kind, value: Any, refused: catalogue.InvalidValue
    ) -> "BadValueError":
        """What a kind of the catalogue says of a value."""
        sure = refused.meant
        return cls(
            phrase("legal: {}", kind.describe()),
            instead=None if sure is None else json.dumps(sure, ensure_ascii=False),
            meant=near(value, kind.values) if isinstance(kind, catalogue.Choice) else None,
        )


@attr.s(frozen=True, slots=True, auto_attribs=True)
class JsonKind(catalogue.Kind):
    """Base of the kinds.

    A value of another type than ``exact`` is reported as such, unless it is one of ``others``,
    which ``parse`` knows how to take.
    """

    exact: ClassVar[type] = str
    words = "any value"
    others: Tuple[type, ...] = attr.ib(default=(), init=False)

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[Any]]:
        """The column in canonical form, None when any value is wrong; may raise TypeError."""
        return None

    def parse(self, value: Any) -> Any:
        """The canonical form of one value of the right type; raises :class:`BadValueError`."""
        raise NotImplementedError


@attr.s(frozen=True, slots=True, auto_attribs=True)
class LimitedText(JsonKind):
    """Text of some length in bytes of UTF-8; ``(0, None)`` is any text."""

    words = phrase("a string")
    shortest: int = 1
    longest: Optional[int] = None

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[str]]:
        """The column as it is."""
        if set(map(type, values)) != {str} or (self.shortest and not all(values)):
            return None
        longest = self.longest
        if longest is not None and 4 * max(map(len, values)) > longest < max(map(_bytes, values)):
            return None
        return values

    def parse(self, value: Any) -> str:
        """The text as it is."""
        if not value and self.shortest:
            raise BadValueError("the value must not be empty")
        if self.longest is not None and _bytes(value) > self.longest:
            raise BadValueError(
                phrase(
                    "the text has {} bytes, at most {} are allowed", _bytes(value), self.longest
                )
            )
        return str(value)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Anything(JsonKind):
    """Anything at all."""

    exact = object

    def read_all(self, values: Sequence[Any]) -> Sequence[Any]:
        """The column as it is."""
        return values


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Items(JsonKind):
    """An array of plain values.

    Args:
        item: the kind of each.
        fewest: how many there must be.
        most: how many there may be.
        once: whether repeated ones count once.
    """

    exact = list
    item: catalogue.Kind
    fewest: int = 0
    most: Optional[int] = None
    once: bool = False


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Names(JsonKind):
    """An object whose keys are names of the user's, each with a value of one kind."""

    exact = dict
    item: catalogue.Kind


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Object(JsonKind):
    """An object of its own keys."""

    words = phrase("an object")
    exact = dict
    object: "Schema"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Objects(JsonKind):
    """An array of objects of the same keys."""

    words = "a list of objects"
    exact = list
    object: "Schema"
    fewest: int = 1
    most: Optional[int] = None


class Key(NamedTuple):
    """One key of an object.

    ``source`` is where its reader is known from, ``since`` the first version of CANN that reads
    it, ``rule`` what a wrong value breaks where that is not the rule for all values, ``severity``
    how bad that is where the rule does not say it, ``needed_by`` who refuses a document without
    it where the vendor's page does not say so.
    """

    kind: catalogue.Kind
    required: bool = False
    source: str = ""
    since: Optional[str] = None
    rule: Optional[Rule] = None
    severity: Optional[Severity] = None
    needed_by: Optional[str] = None


@attr.s(frozen=True, slots=True, auto_attribs=True, eq=False)
class Schema:
    """The keys of one kind of object.

    Args:
        keys: name to declaration, in the order of the vendor's samples.
        elsewhere: keys that this object does not have, to the form in which they are read.
        closed: whether the runtime refuses a key that is not here; else it does not read it.
        trimmed: whether it accepts a key with blanks around it, and then does not read it.
    """

    keys: Mapping[str, Key]
    elsewhere: Mapping[str, str] = attr.ib(factory=dict)
    closed: bool = False
    trimmed: bool = False


_HUNDRED = ", ".join("#{:02d}".format(number) for number in range(100))
_SIZES = frozenset(range(1, 11))
_LED = re.compile(r"[ \t\n\v\f\r]*([+-]?)([0-9]+)")
_LARGEST = 0xFFFFFFFF


def _counts_up(texts: Sequence[str]) -> bool:
    """Whether the texts are 0, 1, 2 and so on."""
    last = len(texts) - 1
    return texts[last] == str(last) and ", ".join(texts) == _counting(len(texts))


def _counting(count: int) -> str:
    """``0, 1, 2`` and so on up to ``count - 1``, written by hundreds."""
    hundreds, rest = divmod(count, 100)
    parts = [", ".join(map(str, range(min(count, 100))))]
    parts.extend(_HUNDRED.replace("#", str(hundred)) for hundred in range(1, hundreds))
    if hundreds and rest:
        parts.append(", ".join(map(str, range(count - rest, count))))
    return ", ".join(parts)


def _repeated(part: Sequence[Any], count: int) -> Sequence[Any]:
    """So many values: those of the part again and again."""
    return (list(part) * -(-count // len(part)))[:count]


def _part(values: Sequence[Any]) -> Sequence[Any]:
    """The beginning of a column that is repeated all over it; the column itself if none is."""
    try:
        part = values[: values.index(values[0], 1)]
    except ValueError:
        return values
    return part if values == _repeated(part, len(values)) else values


@attr.s(frozen=True, slots=True, auto_attribs=True)
class NumberText(JsonKind):
    """A whole number written as text, read as C++ ``stoull`` does.

    Blanks and a sign before the digits and whatever follows them are passed over in silence;
    such a text is a warning.
    """

    words = "a whole number, written as a string"
    lowest: int = 0
    highest: int = _LARGEST

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[int]]:
        """The column as numbers; as a ``range`` when it counts 0, 1, 2 and so on."""
        if not self.lowest and self.highest == _LARGEST and _counts_up(values):
            return range(len(values))
        part = _part(values)
        digits = "".join(part)
        if not (digits.isdecimal() and digits.isascii() and _SIZES.issuperset(map(len, part))):
            return None
        numbers = list(map(int, part))
        if min(numbers) < self.lowest or max(numbers) > self.highest:
            return None
        return _repeated(numbers, len(values))

    def parse(self, value: Any) -> int:
        """The number."""
        match = _LED.match(value)
        if match is None:
            raise BadValueError(
                phrase("the value must be a whole number written as a string, {}", self._range())
            )
        digits = match.group(2).lstrip("0") or "0"
        number = int(digits) if len(digits) < 11 else _LARGEST + 1
        negative = match.group(1) == "-" and number
        if negative or not self.lowest <= number <= self.highest:
            raise BadValueError(phrase("legal: {}", self._range()))
        if match.group(1) or match.end() != len(value) or not value[0].isdecimal():
            raise BadValueError(
                phrase("HCCL reads the value as {}", number),
                phrase('write "{}" if this is intended', number),
                read_as=number,
            )
        return number

    def _range(self) -> str:
        if self.highest == _LARGEST:
            return phrase('"{}" or more', self.lowest)
        return phrase('"{}" to "{}"', self.lowest, self.highest)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class CutInteger(JsonKind):
    """A whole number as HCCL reads it: ``true`` is 1, fractions are cut off, with a warning.

    ``wraps``: it is read modulo 2^32 before the range is checked.
    """

    words = "a whole number"
    exact = int
    others: Tuple[type, ...] = attr.ib(default=(bool, float), init=False)
    lowest: int = 0
    highest: int = 65535
    wraps: bool = False

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[int]]:
        """The column as it is."""
        if set(map(type, values)) != {int}:
            return None
        if min(values) < self.lowest or max(values) > self.highest:
            return None
        return values

    def parse(self, value: Any) -> int:
        """The number that is read."""
        whole = abs(value) < 1e300  # neither an infinity nor beyond what can be cut
        number = int(value) if whole else self.highest + 1
        if self.wraps:
            number %= _LARGEST + 1
        if not self.lowest <= number <= self.highest:
            raise BadValueError(phrase("legal: {} to {}", self.lowest, self.highest))
        if type(value) is not int or number != value:
            raise BadValueError(
                phrase("HCCL reads the value as {}", number),
                phrase("write {}", number),
                instead=str(number),
                read_as=number,
            )
        return number


@attr.s(frozen=True, slots=True, auto_attribs=True)
class IpAddress(JsonKind):
    """One IP address, perhaps with the name of an interface (``%eth0``) after it."""

    words = "an IPv4 or IPv6 address, as a string"
    zone: bool = True

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[str]]:
        """The column as it is, when all are plain and of one family."""
        for family in (socket.AF_INET, socket.AF_INET6):
            try:
                deque(map(socket.inet_pton, repeat(family), values), 0)
            except (OSError, ValueError):
                continue
            return values
        return None

    def parse(self, value: Any) -> str:
        """The text as it is."""
        if family_of(value, self.zone) is None:
            raise _not_an_address(value, "the value must be an IPv4 or IPv6 address")
        return str(value)


def _not_an_address(text: str, problem: str) -> BadValueError:
    is_four = re.match(r"[0-9.]+\Z", text) is not None
    help = "write four decimal numbers up to 255 without leading zeros"
    return BadValueError(problem, help if is_four else None)


def family_of(text: str, zone: bool = True) -> Optional[str]:
    """``"IPv4"`` or ``"IPv6"``, None when a text is not an address.

    Two or more colons make IPv6.  An IPv4 address has four decimal numbers without leading zeros.
    """
    address, percent, interface = text.partition("%")
    if percent and not (zone and interface and address):
        return None
    six = address.count(":") > 1
    try:
        socket.inet_pton(socket.AF_INET6 if six else socket.AF_INET, address)
    except (OSError, ValueError):
        return None
    return "IPv6" if six else "IPv4"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class IpAddresses(IpAddress):
    """IP addresses joined by ``,`` without blanks; none at all is legal.

    ``single``: at most one.
    """

    words = "IPv4 or IPv6 addresses, joined by commas in one string"
    single: bool = False

    def parse(self, value: Any) -> str:
        """The text as it is."""
        for piece in [value] if self.single and value else pieces(value):
            if family_of(piece) is None:
                problem = "the value must be an IPv4 or IPv6 address"
                if "," in value and not self.single:
                    text = (
                        'the value must be IPv4 or IPv6 addresses joined by ",", but "{}" '
                        "is not an IP address"
                    )
                    problem = phrase(text, piece)
                raise _not_an_address(piece, problem)
        return str(value)


def pieces(addresses: str) -> List[str]:
    """The addresses of a list joined by ``,``; one comma at the end says nothing."""
    if not addresses:
        return []
    return (addresses[:-1] if addresses.endswith(",") else addresses).split(",")
