"""What the keys of JSON files hold: the kinds of values, and the declaration of a key.

Words, numbers and the like are kinds of the catalogue; here is what only such files have: arrays,
objects, and values that the readers of the vendor take otherwise than they look.

Such a kind reads a whole column of values at once, because a rank table has up to 32,768 devices
and its check may cost no more than reading the JSON did.  ``read_all`` either returns the
column in canonical form or, at the first sign of trouble, None; then the caller asks
``parse`` about each value to learn which is wrong and why.
"""

import json
from typing import Any, ClassVar, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import attr

from npu_config.catalogue import kinds as catalogue
from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.rule import Rule
from npu_config.text.words import near

NOTHING = object()


class BadValueError(ValueError):
    """A value that its kind does not take as it is: what is wrong, and what to do.

    Args:
        problem: continues "<place> is <value>; ...": what is legal.
        help: what to do.
        instead: the JSON text that is surely meant, where there is one.
        meant: the word that is probably meant.
        read_as: the value that the runtime takes it for; such a value is a warning.
    """

    def __init__(
        self,
        problem: str,
        help: Optional[str] = None,
        instead: Optional[str] = None,
        read_as: Any = NOTHING,
        meant: Optional[str] = None,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.help = help
        self.instead = instead
        self.read_as = read_as
        self.meant = meant

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
class Kind:
    """Base of the kinds.

    ``python`` is the type that JSON gives the values; a value of another type is reported as
    such, unless it is one of ``others``, which ``parse`` knows how to take.
    """

    python: ClassVar[type] = str
    others: Tuple[type, ...] = attr.ib(default=(), init=False)

    def read_all(self, values: Sequence[Any]) -> Optional[Sequence[Any]]:
        """The column in canonical form, None when any value is wrong; may raise TypeError."""
        return None

    def parse(self, value: Any) -> Any:
        """The canonical form of one value of the right type; raises :class:`BadValueError`."""
        raise NotImplementedError


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Text(Kind):
    """Text of some length in bytes of UTF-8; ``(0, None)`` is any text."""

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
            raise BadValueError("it must not be empty")
        if self.longest is not None and _bytes(value) > self.longest:
            raise BadValueError(
                phrase("it has {} bytes, at most {} are allowed", _bytes(value), self.longest)
            )
        return str(value)


AnyKind = Union[Kind, catalogue.Kind]
_PYTHON = {"s": str, "i": int}


def python_of(kind: AnyKind) -> type:
    """The type that JSON gives the values of a kind."""
    return kind.python if isinstance(kind, Kind) else _PYTHON[kind.wire]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Anything(Kind):
    """Anything at all."""

    python = object

    def read_all(self, values: Sequence[Any]) -> Sequence[Any]:
        """The column as it is."""
        return values


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Items(Kind):
    """An array of plain values.

    Args:
        item: the kind of each.
        fewest: how many there must be.
        most: how many there may be.
        once: whether repeated ones count once.
    """

    python = list
    item: AnyKind
    fewest: int = 0
    most: Optional[int] = None
    once: bool = False


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Names(Kind):
    """An object whose keys are names of the user's, each with a value of one kind."""

    python = dict
    item: AnyKind


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Object(Kind):
    """An object of its own keys."""

    python = dict
    schema: "Schema"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Objects(Kind):
    """An array of objects of the same keys."""

    python = list
    schema: "Schema"
    fewest: int = 1
    most: Optional[int] = None


class Key(NamedTuple):
    """One key of an object.

    ``source`` is where its reader is known from, ``since`` the first version of CANN that reads
    it, ``rule`` what a wrong value breaks where that is not the rule for all values, ``severity``
    how bad that is where the rule does not say it, ``needed_by`` who refuses a document without
    it where the vendor's page does not say so.
    """

    kind: AnyKind
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
