"""Kinds of IP addresses: one, or several joined by commas."""

import re
import socket
from collections import deque
from itertools import repeat
from typing import Any, List, Optional, Sequence

import attr

from npu_config.core.message import phrase
from npu_config.sidefiles.schema.kinds import BadValueError, Kind


@attr.s(frozen=True, slots=True, auto_attribs=True)
class IpAddress(Kind):
    """One IP address, perhaps with the name of an interface (``%eth0``) after it."""

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
            raise BadValueError(
                "it takes an IPv4 or IPv6 address",
                "give four decimal numbers up to 255 without leading zeros"
                if re.match(r"[0-9.]+\Z", value)
                else None,
            )
        return str(value)


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

    single: bool = False

    def parse(self, value: Any) -> str:
        """The text as it is."""
        for piece in [value] if self.single and value else pieces(value):
            if family_of(piece) is None:
                raise BadValueError(
                    phrase(
                        'it takes IPv4 or IPv6 addresses joined by ",", and "{}" is not one', piece
                    )
                    if "," in value and not self.single
                    else "it takes an IPv4 or IPv6 address",
                    "give four decimal numbers up to 255 without leading zeros"
                    if re.match(r"[0-9.]+\Z", piece)
                    else None,
                )
        return str(value)


def pieces(addresses: str) -> List[str]:
    """The addresses of a list joined by ``,``; one comma at the end says nothing."""
    if not addresses:
        return []
    return (addresses[:-1] if addresses.endswith(",") else addresses).split(",")
