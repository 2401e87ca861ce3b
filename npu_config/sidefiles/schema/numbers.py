"""Kinds of numbers: as JSON has them, as text, and as HCCL reads what is neither."""

import re
from typing import Any, Optional, Sequence, Tuple

import attr

from npu_config.core.message import phrase
from npu_config.sidefiles.schema.kinds import BadValueError, Kind

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
class NumberText(Kind):
    """A whole number written as text, read as C++ ``stoull`` does.

    Blanks and a sign before the digits and whatever follows them are passed over in silence;
    such a text is a warning.
    """

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
                phrase("it takes a whole number written as text, {}", self._range())
            )
        digits = match.group(2).lstrip("0") or "0"
        number = int(digits) if len(digits) < 11 else _LARGEST + 1
        negative = match.group(1) == "-" and number
        if negative or not self.lowest <= number <= self.highest:
            raise BadValueError(phrase("legal: {}", self._range()))
        if match.group(1) or match.end() != len(value) or not value[0].isdecimal():
            raise BadValueError(
                phrase("HCCL reads it as {}", number),
                phrase('write "{}" if that is meant', number),
                read_as=number,
            )
        return number

    def _range(self) -> str:
        if self.highest == _LARGEST:
            return phrase('"{}" and up', self.lowest)
        return phrase('"{}" to "{}"', self.lowest, self.highest)


@attr.s(frozen=True, slots=True, auto_attribs=True)
class CutInteger(Kind):
    """A whole number as HCCL reads it: ``true`` is 1, fractions are cut off, with a warning.

    ``wraps``: it is read modulo 2^32 before the range is checked.
    """

    python = int
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
                phrase("HCCL reads it as {}", number),
                phrase("write {}", number),
                instead=str(number),
                read_as=number,
            )
        return number
