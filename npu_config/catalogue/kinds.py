"""Kinds: what values an option takes.

A kind reads a user's value (or the text of the wire) into its canonical form, writes
it back for the wire, and describes itself in words, as a JSON Schema and as a type
annotation.  Kinds are strict: True is not 1, "true" is not True.  Kinds whose text
hides a structure live in ``shapes``, ``lists`` and ``modes``.
"""

from __future__ import annotations

import operator
import os
import re
from dataclasses import dataclass
from typing import Any, ClassVar, Container, Dict, Optional, Tuple, Union

from npu_config.core.message import listed, phrase

Wire = Union[bool, int, str]

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
INT32_MAX = 2**31 - 1

PATH_CHARACTERS = r"[A-Za-z0-9_./\-\u4e00-\u9fff]"


class InvalidValue(Exception):  # noqa: N818 - a verdict on a value, caught by whoever asked
    """A value is not of the kind; ``rule`` names the rule that it breaks.

    Args:
        rule: ``"wrong-type"``, ``"value-not-allowed"``, ``"out-of-range"`` or ``"bad-syntax"``.
        problem: what is wrong, without the option's name, e.g. ``'range 5-3 runs backwards'``.
        help: what to do, when it is more than choosing a legal value.
        meant: the legal value that was probably meant; a piece of it where ``piece`` is given.
        piece: the piece of a text that is wrong.
    """

    def __init__(
        self,
        rule: str,
        problem: str,
        help: Optional[str] = None,
        meant: Union[str, int, None] = None,
        piece: Optional[str] = None,
    ) -> None:
        super().__init__(problem)
        self.rule = rule
        self.problem = phrase(problem)
        self.help = help
        self.meant = meant
        self.piece = piece


def name_of_type(value: object) -> str:
    """A value and its type in the user's words: ``the text "x"``, ``the integer 3``."""
    if value is None:
        return "None"
    if is_bool(value):
        return phrase("the boolean {}", bool(value))
    if isinstance(value, str):
        return phrase('the string "{}"', shorten(value))
    if isinstance(value, bytes):
        return phrase("the bytes {}", shown(value))
    if isinstance(value, float):
        return phrase("the number {}", float.__repr__(value))
    number = as_int(value)
    if number is not None:
        return phrase("the integer {}", shown(number))
    kind = type(value).__name__
    return phrase("an {} {}" if kind[0] in "aeioAEIO" else "a {} {}", kind, shown(value))


def shown(value: object, limit: int = 80) -> str:
    """A value as it is written in Python, on one line, shortened; for any object at all."""
    try:
        return shorten(repr(value), limit)
    except Exception:  # its own __repr__, too deep, or an integer of too many digits
        size = phrase(" of {} bits", value.bit_length()) if isinstance(value, int) else ""
        return "<{}{}>".format(type(value).__name__, size)


def shorten(text: str, limit: int = 80) -> str:
    """``text`` on one line, cut in the middle when it is longer than ``limit``."""
    text = text[: 4 * limit]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= limit else text[: limit - 21] + "..." + text[-18:]


def is_bool(value: object) -> bool:
    """True for bool and for numpy's bool (``bool_``, which numpy 2 calls ``bool``)."""
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool_", "bool"))


def as_int(value: object) -> Optional[int]:
    """``value`` as an int when it is an integer (also numpy's); None when it is not, or a bool."""
    if type(value) is int:
        return value
    if is_bool(value):
        return None
    try:
        return int(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        return None


def written_int(text: str) -> Optional[int]:
    """The integer that a text of at most 18 digits is, else None."""
    return int(text) if re.match(r"-?[0-9]{1,19}\Z", text) else None


class Kind:
    """Base of all kinds.

    ``plain`` says that the canonical form is what goes on the wire; ``exact`` is the type of that
    and of the value in JSON files, a value of it that is in ``legal`` is canonical as it stands;
    ``words`` are the legal values in words, ``forms`` the JSON Schemas of the forms that a
    configuration file may hold, where both are the same for all values of the class.
    """

    wire = ""
    plain = True
    exact: ClassVar[type] = object
    legal: Container[Any] = ()
    words: str
    forms: ClassVar[Tuple[Dict[str, Any], ...]] = ()

    def __repr__(self) -> str:
        return "<{}: {}>".format(type(self).__name__, self.describe())

    def parse(self, value: Any) -> Any:
        """The canonical form of a user's value or of the wire's; raises :class:`InvalidValue`."""
        raise NotImplementedError

    def problem_of(self, value: Any) -> Optional[InvalidValue]:
        """Why a value is not of the kind; None when it is."""
        try:
            self.parse(value)
        except InvalidValue as wrong:
            return wrong
        return None

    def to_wire(self, value: Any) -> Wire:
        """What goes on the wire for a canonical value."""
        result: Wire = value
        return result

    def describe(self) -> str:
        """The legal values in words."""
        return self.words

    def schema(self) -> Dict[str, Any]:
        """The JSON Schema of the values that a config file may hold."""
        return dict(self.forms[0]) if len(self.forms) == 1 else {"anyOf": list(self.forms)}

    @property
    def annotation(self) -> str:
        """The type annotation of the values that the builder takes."""
        raise NotImplementedError


class Bool(Kind):
    """True or False."""

    wire = "b"
    exact = bool
    legal = (True, False)
    annotation = "bool"
    words = "True or False"
    forms = ({"type": "boolean"},)

    def parse(self, value: Any) -> bool:
        """Accept bool and numpy's bool, nothing else."""
        if is_bool(value):
            return bool(value)
        help = meant = None
        if isinstance(value, str) and value.lower() in ("true", "false"):
            help = phrase("write {} without quotes", value.capitalize())
            meant = value.lower() == "true"
        elif as_int(value) in (0, 1):
            help = phrase("write {}", bool(value))
            meant = bool(value)
        raise InvalidValue(
            "wrong-type", phrase("must be True or False, got {}", name_of_type(value)), help, meant
        )


@dataclass(frozen=True, eq=False, repr=False)
class Int(Kind):
    """An integer of 64 bits within a range, or one of a few."""

    wire = "i"
    exact = int
    minimum: int = INT64_MIN
    maximum: int = INT64_MAX
    allowed: Tuple[int, ...] = ()

    @property
    def legal(self) -> Container[int]:  # type: ignore[override]
        """The few numbers, or the range."""
        return self.allowed or range(self.minimum, self.maximum + 1)

    def parse(self, value: Any) -> int:
        """Accept int and numpy's integers; a bool is not an integer."""
        number = value if type(value) is int else as_int(value)
        if number is None:
            help = meant = None
            if isinstance(value, bool) and self._takes(int(value)):
                help = phrase("write {}", int(value))
                meant = int(value)
            elif isinstance(value, str) and self._takes(written_int(value)):
                help = phrase("write {} without quotes", value)
                meant = int(value)
            raise InvalidValue(
                "wrong-type",
                phrase("must be an integer, got {}", name_of_type(value)),
                help,
                meant,
            )
        if self.allowed:
            if number not in self.allowed:
                raise InvalidValue("value-not-allowed", phrase("is {}", shown(number)))
        elif not self._takes(number):
            help = (
                phrase("write {} or more", self.minimum)
                if number < self.minimum
                else phrase("write {} or less", self.maximum)
            )
            raise InvalidValue("out-of-range", phrase("is {}", shown(number)), help)
        return number

    def _takes(self, number: Optional[int]) -> bool:
        return number is not None and number in self.legal

    def describe(self) -> str:
        """The few numbers, or the range."""
        if self.allowed:
            return listed(str(number) for number in self.allowed)
        if self.minimum == INT64_MIN and self.maximum == INT64_MAX:
            return phrase("any 64-bit integer")
        if self.maximum == INT64_MAX:
            return phrase("an integer of {} or more", self.minimum)
        return phrase("an integer from {} to {}", self.minimum, self.maximum)

    def schema(self) -> Dict[str, Any]:
        """An enumeration, or a range."""
        if self.allowed:
            return {"type": "integer", "enum": list(self.allowed)}
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}

    @property
    def annotation(self) -> str:
        """A Literal of the few numbers, or int."""
        if self.allowed:
            return "Literal[{}]".format(", ".join(str(number) for number in self.allowed))
        return "int"


@dataclass(frozen=True, eq=False, repr=False)
class Real(Kind):
    """A number within a range."""

    minimum: float
    maximum: float

    def parse(self, value: Any) -> float:
        """Accept a number; a bool is none."""
        if type(value) is not float and as_int(value) is None:
            raise InvalidValue(
                "wrong-type", phrase("must be a number, got {}", name_of_type(value))
            )
        if not self.minimum <= value <= self.maximum:
            raise InvalidValue("out-of-range", phrase("is {}", shown(value)))
        return float(value)

    def describe(self) -> str:
        """The range."""
        return phrase("a number from {:g} to {:g}", self.minimum, self.maximum)


def read_text(value: Any) -> str:
    """``value`` when it is text that protobuf can carry; raises :class:`InvalidValue`."""
    if type(value) is not str and not isinstance(value, str):
        help = meant = None
        number = as_int(value)
        if isinstance(value, bytes):
            help = "pass a string; npu_config encodes it"
        elif is_bool(value):
            meant = str(value).lower()
        elif number is not None and INT64_MIN <= number <= INT64_MAX:
            meant = str(number)
        if meant is not None:
            help = phrase('write "{}" with quotes', meant)
        problem = phrase("must be a string, got {}", name_of_type(value))
        raise InvalidValue("wrong-type", problem, help, meant)
    if "\0" in value:
        raise InvalidValue(
            "bad-syntax", ("contains a NUL character; the runtime truncates the text there")
        )
    if not value.isascii():
        try:
            value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise InvalidValue(
                "bad-syntax", "contains an unpaired surrogate, which is not text"
            ) from None
    return str.__str__(value)


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Kind):
    """One of a few texts."""

    wire = "s"
    exact = str
    values: Tuple[str, ...]

    @property
    def legal(self) -> Container[str]:  # type: ignore[override]
        """The values."""
        return self.values

    def parse(self, value: Any) -> str:
        """Accept exactly one of the values."""
        text = read_text(value)
        if text in self.values:
            return text
        folded = text.strip().lower()
        meant = next((legal for legal in self.values if legal.lower() == folded), None)
        help = None if meant is None else phrase('write "{}"; case and whitespace matter', meant)
        raise InvalidValue("value-not-allowed", phrase('is "{}"', shorten(text)), help, meant)

    def describe(self) -> str:
        """The texts, in quotes."""
        return listed('"{}"'.format(value) for value in self.values)

    def schema(self) -> Dict[str, Any]:
        """An enumeration."""
        return {"type": "string", "enum": list(self.values)}

    @property
    def annotation(self) -> str:
        """A Literal of the texts."""
        return "Literal[{}]".format(", ".join('"{}"'.format(value) for value in self.values))


@dataclass(frozen=True, eq=False, repr=False)
class Text(Kind):
    """Free text, or text of a simple pattern given with the words that explain it."""

    wire = "s"
    exact = str
    annotation = "str"
    pattern: Optional[str] = None
    words: str = phrase("any string")
    example: str = ""

    def parse(self, value: Any) -> str:
        """Accept text that matches the pattern."""
        text = read_text(value)
        if self.pattern is not None and re.match(self.pattern, text) is None:
            raise InvalidValue("bad-syntax", phrase('is "{}"', shorten(text)))
        return text

    def describe(self) -> str:
        """The words of the declaration, with its example."""
        return phrase('{}, e.g. "{}"', self.words, self.example) if self.example else self.words

    def schema(self) -> Dict[str, Any]:
        """Any string, or those that fit the pattern."""
        schema: Dict[str, Any] = {"type": "string"}
        if self.pattern is not None:
            schema["pattern"] = self.pattern.replace("\\Z", "$")
        return schema


@dataclass(frozen=True, eq=False, repr=False)
class FilePath(Kind):
    """The path of a file or of a directory, as text or ``os.PathLike``.

    What the path points to is looked at on the training host only
    (rules ``path-missing`` and its neighbours).
    """

    wire = "s"
    exact = str
    forms = ({"type": "string", "minLength": 1},)
    annotation = "Union[str, os.PathLike[str]]"
    what: str = "file"
    characters: Optional[str] = None

    def parse(self, value: Any) -> str:
        """Accept text or a path object, not empty."""
        is_path = type(value) is not str and hasattr(value, "__fspath__")
        text = read_text(os.fspath(value) if is_path else value)
        if not text:
            raise InvalidValue("bad-syntax", "is empty")
        if self.characters is not None:
            strange = sorted(set(re.sub(self.characters, "", text)))
            if strange:
                raise InvalidValue(
                    "bad-syntax",
                    phrase(
                        'is "{}", which contains {}',
                        shorten(text),
                        listed('"{}"'.format(shorten(c)) for c in strange),
                    ),
                )
        return text

    def describe(self) -> str:
        """A file or directory, and the characters that its path may have."""
        words = phrase("the path of a {}", phrase(self.what))
        if self.characters is not None:
            words = phrase("{}, of letters, digits, Chinese characters, and _ - . /", words)
        return words
