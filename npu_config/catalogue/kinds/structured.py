"""What the kinds whose text hides a structure share.

Such a kind reads the text of the wire or friendly Python values into one canonical,
immutable form (tuples), and writes that form back: ``parse(render(x)) == x``.
"""

from typing import Any, Dict, Iterable, Optional, Sequence, Tuple, Union

from npu_config.catalogue.kinds import (
    InvalidValue,
    Kind,
    Wire,
    name_of_type,
    read_text,
    shorten,
    shown,
)
from npu_config.core.message import phrase

LONGEST_TEXT = 1_000_000
LONGEST_LIST = 1_000_000
_MOST_DIGITS = 40

Dim = Union[int, Tuple[int, int]]


def is_list(value: Any) -> bool:
    """True for sequences that are not text; raises :class:`InvalidValue` for one without end."""
    if not isinstance(value, (list, tuple)) and (
        not isinstance(value, Sequence) or isinstance(value, (str, bytes, bytearray, memoryview))
    ):
        return False
    if len(value) > LONGEST_LIST:
        raise InvalidValue("bad-syntax", phrase("holds more than {} items", LONGEST_LIST))
    return True


def is_one_of(value: Any, words: Sequence[str]) -> bool:
    """True for one of a few texts; False for anything else, also what cannot be compared."""
    return isinstance(value, str) and value in words


def spelt(value: Any) -> str:
    """Text as it is, anything else as it is written in Python; shortened."""
    return shorten(value, 40) if isinstance(value, str) else shown(value, 40)


def limited_text(value: Any, takes: str) -> str:
    """``value`` when it is text of a sane length; raises :class:`InvalidValue`."""
    if not isinstance(value, str):
        raise InvalidValue("wrong-type", phrase("takes {}, got {}", takes, name_of_type(value)))
    text = read_text(value)
    if len(text) > LONGEST_TEXT:
        raise InvalidValue("bad-syntax", phrase("is longer than {} characters", LONGEST_TEXT))
    return text


def first_twice(items: Iterable[Any]) -> Any:
    """The first item that was there before, or None."""
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def wrong_type(problem: str, value: Any) -> InvalidValue:
    """The refusal of a value that is no text and stands for none; ``problem`` has a ``{}``."""
    return InvalidValue("wrong-type", phrase(problem, name_of_type(value)))


def either(*schemas: Dict[str, Any]) -> Dict[str, Any]:
    """The JSON Schema of values of one of several forms."""
    return {"anyOf": list(schemas)}


def bad_syntax(
    problem: str,
    help: Optional[str] = None,
    meant: Optional[str] = None,
    piece: Optional[str] = None,
) -> InvalidValue:
    """The refusal of a text that does not follow the grammar.

    Args:
        problem: what is wrong.
        help: what to do; by default to write ``meant``, where it is given.
        meant: what was probably meant in place of ``piece``.
        piece: the piece that is wrong; None: the whole text.
    """
    if help is None and meant is not None:
        help = phrase("write {}", meant)
    return InvalidValue("bad-syntax", problem, help, meant, piece)


def digits(text: str) -> Optional[int]:
    """``text`` as a number when it is nothing but ASCII digits.

    Of a longer number than any limit allows as many digits are read as show that.
    """
    if not (text.isascii() and text.isdecimal()):
        return None
    return int(text.lstrip("0")[:_MOST_DIGITS] or "0")


def in_bits(number: int, bits: int = 32) -> int:
    """The number; raises :class:`InvalidValue` for one above the largest of so many bits."""
    largest = 2 ** (bits - 1) - 1
    if number > largest:
        problem = "holds {}; the largest number of {} bits is {}"
        raise bad_syntax(phrase(problem, shown(number, 30), bits, largest))
    return number


class Structured(Kind):
    """Base: the wire carries text, the canonical form is not text."""

    wire = "s"
    plain = False

    def to_wire(self, value: Any) -> Wire:
        """The text; a text that could not be read is passed through as it is."""
        return value if isinstance(value, str) else self.render(value)

    def render(self, value: Any) -> str:
        """The text of a canonical value."""
        raise NotImplementedError

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {"type": ["string", "array"]}
