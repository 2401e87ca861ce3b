"""The words for one field of a record: what is in it, how many different values, which shape.

``int:10`` is a number from 0 to 9, ``float@100,2`` an array of 100 x 2 numbers between 0 and 1,
``jpeg@32,32,3`` a picture in its file format, ``const:yes`` that text.
"""

import io
import re
from typing import Any, NamedTuple, Tuple

import numpy as np

_FIELD = re.compile(r"(?P<kind>[a-z]+)(:(?P<more>[^@]*))?(@(?P<shape>\d+(,\d+)*))?\Z")
WORDS = tuple(a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in "lnrst")
"""The words that texts are made of."""


class Field(NamedTuple):
    """One field: its kind, what stands after the colon, its shape (empty: one value)."""

    kind: str
    more: str
    shape: Tuple[int, ...]

    @property
    def limit(self) -> int:
        """How many different values there are."""
        return int(self.more or 2)


def parse(text: str) -> Field:
    """A field from its words.

    Raises:
        ValueError: they are not those of a field.
    """
    match = _FIELD.match(text)
    if match is None or match.group("kind") not in _MAKERS:
        raise ValueError(
            "{!r} is no field: {}, with :VALUES and @SHAPE".format(text, ", ".join(_MAKERS))
        )
    shape = match.group("shape")
    sizes = tuple(int(size) for size in shape.split(",")) if shape else ()
    return Field(match.group("kind"), match.group("more") or "", sizes)


def value(field: Field, random: np.random.RandomState, row: int) -> Any:
    """A value of a field: a number, a text, bytes, or an array of numbers."""
    return _MAKERS[field.kind](field, random, row)


def picture(
    random: np.random.RandomState, shape: Tuple[int, ...], name: str, values: int = 256
) -> bytes:
    """A file with a picture: smooth noise, or a grey mask with few values.

    Args:
        random: where it comes from.
        shape: height, width, and 3 for colour.
        name: the format: ``jpeg``, ``png`` or ``bmp``.
        values: how many grey values there are.
    """
    from PIL import Image

    height, width = shape[:2]
    coarse = random.randint(0, values, (max(height // 8, 1), max(width // 8, 1), *shape[2:]))
    pixels = Image.fromarray(coarse.astype(np.uint8)).resize((width, height), Image.NEAREST)
    stream = io.BytesIO()
    pixels.save(stream, name)
    return stream.getvalue()


def sentence(random: np.random.RandomState, words: int) -> str:
    """Words with blanks between them."""
    return " ".join(WORDS[index] for index in random.randint(0, len(WORDS), words))


def _int(field: Field, random: np.random.RandomState, row: int) -> Any:
    return random.randint(0, field.limit, field.shape or None)


def _float(field: Field, random: np.random.RandomState, row: int) -> Any:
    return random.random_sample(field.shape or None) * float(field.more or 1)


def _row(field: Field, random: np.random.RandomState, row: int) -> Any:
    return row % field.limit if field.more else row


def _const(field: Field, random: np.random.RandomState, row: int) -> Any:
    return field.more


def _one(field: Field, random: np.random.RandomState, row: int) -> Any:
    choices = field.more.split("|")
    return choices[random.randint(len(choices))]


def _text(field: Field, random: np.random.RandomState, row: int) -> Any:
    return sentence(random, int(field.more or 8))


def _hash(field: Field, random: np.random.RandomState, row: int) -> Any:
    return "{:08x}".format(random.randint(0, field.limit) * 2654435761 % 2**32)


def _raw(field: Field, random: np.random.RandomState, row: int) -> Any:
    return random.randint(0, 256, field.shape).astype(np.uint8).tobytes()


def _picture(field: Field, random: np.random.RandomState, row: int) -> Any:
    return picture(random, field.shape, field.kind, int(field.more or 256))


_MAKERS = {
    "int": _int,
    "float": _float,
    "row": _row,
    "const": _const,
    "one": _one,
    "text": _text,
    "hash": _hash,
    "raw": _raw,
    "jpeg": _picture,
    "png": _picture,
    "bmp": _picture,
}
