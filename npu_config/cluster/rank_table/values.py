"""The kinds of values that rank tables hold.

A kind reads a whole column of values at once, because a table has up to 32,768 devices
and its check may cost no more than reading the JSON did.  ``read_all`` either returns the
column in canonical form or, at the first sign of trouble, None; then the caller asks
``parse`` about each value to learn which is wrong and why.
"""

import re
import socket
from collections import deque
from itertools import repeat
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import attr

_HUNDRED = ", ".join("#{:02d}".format(number) for number in range(100))
_DIGITS = re.compile(r"[0-9]{1,10}\Z")


class BadValueError(ValueError):
    """A value that its kind does not take: what is wrong, and what to do.

    Args:
        problem: continues "<place> is <value>; ...": what is legal.
        help: what to do.
        instead: the JSON text that is surely meant, where there is one.
    """

    def __init__(self, problem: str, help: Optional[str] = None, instead: Optional[str] = None):
        super().__init__(problem)
        self.problem = problem
        self.help = help
        self.instead = instead


Address = Union[str, bytes]
"""An address in canonical form: IPv4 as its text, IPv6 as its 16 bytes."""


def read_address(text: str) -> Optional[Address]:
    """The canonical form of an IP address, None when the text is none.

    An IPv4 address has four decimal numbers without leading zeros, so that its text is its
    canonical form; a zone (``%eth0``) is not part of an address.
    """
    for read_all in (_read_ipv4, _read_ipv6):
        addresses = read_all((text,))
        if addresses is not None:
            return addresses[0]
    return None


def _read_ipv4(texts: Sequence[str]) -> Optional[Sequence[Address]]:
    try:
        deque(map(socket.inet_pton, repeat(socket.AF_INET), texts), 0)
    except (OSError, ValueError):
        return None
    return texts


def _read_ipv6(texts: Sequence[str]) -> Optional[Sequence[Address]]:
    try:
        return list(map(socket.inet_pton, repeat(socket.AF_INET6), texts))
    except (OSError, ValueError):
        return None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Kind:
    """Base of the kinds: ``python`` is the type that JSON gives their values."""

    python = str

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[Any]]:
        """The column in canonical form, None when any value is wrong; may raise TypeError."""
        raise NotImplementedError

    def parse(self, value: Any) -> Any:
        """The canonical form of one value of the right type; raises :class:`BadValueError`."""
        raise NotImplementedError


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Text(Kind):
    """Text that is not empty and not too long."""

    longest: Optional[int] = None
    may_be_empty: bool = False

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[str]]:
        """The column as it is."""
        if set(map(type, values)) != {str} or not (self.may_be_empty or all(values)):
            return None
        if self.longest is not None and max(map(len, values)) > self.longest:
            return None
        return values

    def parse(self, value: Any) -> str:
        """The text as it is."""
        if not value and not self.may_be_empty:
            raise BadValueError("it must not be empty")
        if self.longest is not None and len(value) > self.longest:
            raise BadValueError(
                "it has {} characters, at most {} are allowed".format(len(value), self.longest)
            )
        return str(value)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Choice(Kind):
    """One of a few texts; ``spellings`` maps further accepted spellings to them."""

    allowed: Tuple[str, ...]
    spellings: Tuple[Tuple[str, str], ...] = ()

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[str]]:
        """The column as it is, when no value is one of the further spellings."""
        return values if set(values) <= set(self.allowed) else None

    def parse(self, value: Any) -> str:
        """The text in its first spelling."""
        if value in self.allowed:
            return str(value)
        for spelling, meant in self.spellings:
            if value == spelling:
                return meant
        close = [legal for legal in self.allowed if legal.lower() == value.strip().lower()]
        raise BadValueError(
            "legal: {}".format(", ".join(self.allowed)),
            'write "{}"'.format(close[0]) if close else None,
            '"{}"'.format(close[0]) if close else None,
        )


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


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Decimal(Kind):
    """A whole number written as text, as versions 1.0 and 1.2 want it."""

    lowest: int = 0
    highest: Optional[int] = None

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[int]]:
        """The column as numbers; as a ``range`` when it counts 0, 1, 2 and so on."""
        if not self.lowest and self.highest is None and _counts_up(values):
            return range(len(values))
        numbers: Dict[str, int] = {}
        for value in set(values):
            if _DIGITS.match(value) is None:
                return None
            numbers[value] = int(value)
        if min(numbers.values()) < self.lowest:
            return None
        if self.highest is not None and max(numbers.values()) > self.highest:
            return None
        if len(numbers) == 1:
            return [*numbers.values()] * len(values)
        return list(map(numbers.__getitem__, values))

    def parse(self, value: Any) -> int:
        """The number."""
        if _DIGITS.match(value) is None:
            raise BadValueError(
                "it takes a whole number written as text, {}".format(self._range())
            )
        number = int(value)
        if number < self.lowest or (self.highest is not None and number > self.highest):
            raise BadValueError("legal: {}".format(self._range()))
        return number

    def _range(self) -> str:
        if self.highest is None:
            return '"{}" and up'.format(self.lowest)
        return '"{}" to "{}"'.format(self.lowest, self.highest)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Integer(Kind):
    """A whole number as a JSON number, as version 2.0 wants it."""

    python = int  # type: ignore[assignment]
    lowest: int = 0
    highest: int = 65535

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[int]]:
        """The column as it is."""
        if set(map(type, values)) != {int}:
            return None
        if min(values) < self.lowest or max(values) > self.highest:
            return None
        return values

    def parse(self, value: Any) -> int:
        """The number as it is."""
        if not self.lowest <= value <= self.highest:
            raise BadValueError("legal: {} to {}".format(self.lowest, self.highest))
        return int(value)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class IpAddress(Kind):
    """An IP address; see :data:`Address`."""

    only_ipv4: bool = False

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[Address]]:
        """The column in canonical form, when all are of one family."""
        addresses = _read_ipv4(values)
        return addresses if addresses is not None or self.only_ipv4 else _read_ipv6(values)

    def parse(self, value: Any) -> Address:
        """The canonical form."""
        address = read_address(value)
        if address is None:
            raise BadValueError(
                "it takes an {} address".format("IPv4" if self.only_ipv4 else "IPv4 or IPv6"),
                "give four decimal numbers up to 255 without leading zeros"
                if re.match(r"[0-9.]+\Z", value)
                else None,
            )
        if self.only_ipv4 and isinstance(address, bytes):
            raise BadValueError("it takes an IPv4 address")
        return address


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ListOf(Kind):
    """An array; what it holds is judged where its items are."""

    python = list  # type: ignore[assignment]
    may_be_empty: bool = False
    longest: Optional[int] = None

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[Any]]:
        """The column as it is."""
        if set(map(type, values)) != {list} or (not self.may_be_empty and [] in values):
            return None
        if self.longest is not None and max(map(len, values)) > self.longest:
            return None
        return values

    def parse(self, value: Any) -> Any:
        """The array as it is."""
        if not value and not self.may_be_empty:
            raise BadValueError("it must not be empty")
        if self.longest is not None and len(value) > self.longest:
            raise BadValueError(
                "it has {} entries, at most {} are allowed".format(len(value), self.longest)
            )
        return value
