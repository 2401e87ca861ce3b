"""Kinds whose text hides a structure: lists, shapes, small records, JSON.

Such a kind reads the text of the wire or friendly Python values into one canonical,
immutable form (tuples), and writes that form back: ``parse(render(x)) == x``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import (
    Any,
    Dict,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

from npu_config.catalogue.kinds import (
    INT32_MAX,
    InvalidValue,
    Kind,
    Wire,
    as_int,
    is_bool,
    name_of_type,
    read_text,
    shorten,
    shown,
)
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import join, listed, phrase

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
        raise InvalidValue("bad-syntax", phrase("has more than {} items", LONGEST_LIST))
    return True


def is_one_of(value: Any, words: Sequence[str]) -> bool:
    """True for one of a few texts; False for anything else, also what cannot be compared."""
    return isinstance(value, str) and value in words


def spelt(value: Any) -> str:
    """Text as it is, anything else as it is written in Python; shortened."""
    return shorten(value, 40) if isinstance(value, str) else shown(value, 40)


def as_given(value: Any) -> str:
    """What a value is, in words that go on after the name of its option."""
    text = isinstance(value, str)
    return phrase('is "{}"', shorten(value)) if text else phrase("is {}", shown(value))


def pairs_of(value: Any) -> Optional[Sequence[Any]]:
    """The items of a mapping, or a list that holds pairs only; None for anything else."""
    items = list(value.items()) if isinstance(value, Mapping) else value
    pairs = is_list(items) and all(is_list(item) and len(item) == 2 for item in items)
    return items if pairs else None


def limited_text(value: str) -> str:
    """A text of a sane length; raises :class:`InvalidValue`."""
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


def bad_syntax(
    problem: str,
    *values: object,
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
    return InvalidValue("bad-syntax", phrase(problem, *values), help, meant, piece)


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
        problem = "contains {}; the largest {}-bit number is {}"
        raise bad_syntax(problem, shown(number, 30), bits, largest)
    return number


class Structured(Kind):
    """Base: the wire carries text, the canonical form is not text."""

    wire = "s"
    exact = str
    plain = False

    def to_wire(self, value: Any) -> Wire:
        """The text; a text that could not be read is passed through as it is."""
        return value if isinstance(value, str) else self.render(value)

    def render(self, value: Any) -> str:
        """The text of a canonical value."""
        raise NotImplementedError


def integer(least: int) -> Dict[str, Any]:
    """The JSON Schema of integers from ``least`` on."""
    return {"type": "integer", "minimum": least}


def array(item: Dict[str, Any], least: int = 0, most: Optional[int] = None) -> Dict[str, Any]:
    """The JSON Schema of arrays of so many items."""
    fewest = {"minItems": least} if least else {}
    return {"type": "array", "items": item, **fewest, **({"maxItems": most} if most else {})}


_NATURAL = {**integer(0), "maximum": INT32_MAX}


class DumpStep(Structured):
    """Steps and ranges of steps: ``[0, 5, (10, 20)]`` for ``0|5|10-20``, at most 100 of them."""

    annotation = "Union[str, int, Sequence[Union[int, Tuple[int, int]]]]"
    most = 100
    words = phrase('steps and ascending ranges joined by "|", at most {}, e.g. "0|5|10-20"', most)
    forms = (
        {"type": "string", "pattern": r"^\d+(-\d+)?(\|\d+(-\d+)?){0,99}$"},
        _NATURAL,
        array({"anyOf": [_NATURAL, array(_NATURAL, 2, 2)]}, 1, most),
    )

    def parse(self, value: Any) -> Tuple[Dim, ...]:
        """Accept the text, a step, or a list of steps and (first, last) pairs."""
        if isinstance(value, str):
            steps = tuple(
                self._from_text(part, value)
                for part in limited_text(value).split("|", self.most + 1)
            )
        elif as_int(value) is not None:
            steps = (self._step(value),)
        elif is_list(value):
            steps = tuple(self._from_value(item) for item in value)
        else:
            raise wrong_type("must be steps such as [0, 5, (10, 20)], got {}", value)
        if not steps:
            raise bad_syntax("contains no step", help="remove the option to dump every step")
        if len(steps) > self.most:
            raise bad_syntax(
                "has more than {} steps or ranges",
                self.most,
                help="combine adjacent steps into ranges",
            )
        return steps

    def _from_text(self, part: str, text: str) -> Dim:
        first, dash, last = part.partition("-")
        low = digits(first)
        high = digits(last) if dash else low
        if not part:
            raise bad_syntax('is "{}", with an empty step', shorten(text))
        if low is None or high is None:
            problem = 'is "{}", where "{}" is neither a step nor a range'
            raise bad_syntax(problem, shorten(text), shorten(part, 30))
        return self._range(in_bits(low), in_bits(high)) if dash else in_bits(low)

    def _from_value(self, item: Any) -> Dim:
        if isinstance(item, str):
            return self._from_text(item, item)
        if is_list(item):
            if len(item) != 2:
                raise bad_syntax("contains {}, which is not a (first, last) pair", shown(item, 40))
            return self._range(self._step(item[0]), self._step(item[1]))
        return self._step(item)

    def _step(self, value: Any) -> int:
        number = as_int(value)
        if number is None or number < 0:
            raise bad_syntax("contains {}, which is not a step number", name_of_type(value))
        return in_bits(number)

    def _range(self, first: int, last: int) -> Tuple[int, int]:
        if first >= last:
            raise bad_syntax(
                "has the range {}-{}, which is not ascending",
                first,
                last,
                meant=str(first) if first == last else "{}-{}".format(last, first),
                piece="{}-{}".format(first, last),
            )
        return (first, last)

    def render(self, value: Any) -> str:
        """``0|5|10-20``."""
        return "|".join(
            "{}-{}".format(*step) if isinstance(step, tuple) else str(step) for step in value
        )


class DeviceList(Structured):
    """Device ids: ``[0, 1, 2]`` for ``0,1,2``."""

    annotation = "Union[str, Sequence[int]]"
    words = 'device ids joined by "," without blanks, e.g. "0,1,2,3"'
    forms = (
        {"type": "string", "pattern": r"^\d+(,\d+)*$"},
        {**array(_NATURAL, 1), "uniqueItems": True},
    )

    def parse(self, value: Any) -> Tuple[int, ...]:
        """Accept the text or a list of integers."""
        if isinstance(value, str):
            text = limited_text(value)
            devices: List[Optional[int]] = [digits(part) for part in text.split(",")]
        elif is_list(value):
            devices = [as_int(item) for item in value]
        else:
            raise wrong_type("must be device ids such as [0, 1], got {}", value)
        numbers = tuple(
            in_bits(device) for device in devices if device is not None and device >= 0
        )
        if len(numbers) != len(devices) or not devices:
            raise bad_syntax(as_given(value))
        if len(set(numbers)) != len(numbers):
            raise bad_syntax("{}, where a device occurs twice", as_given(value))
        return numbers

    def render(self, value: Any) -> str:
        """``0,1,2``."""
        return ",".join(str(device) for device in value)


class StreamLimits(Structured):
    """Parallel streams for each engine: ``{"AIcoreEngine": 4}`` for ``AIcoreEngine:4``."""

    annotation = "Union[str, Mapping[str, int]]"
    engines = ("DNN_VM_AICPU", "AIcoreEngine")
    words = phrase(
        'engine:number pairs joined by ",", engines {}, e.g. "DNN_VM_AICPU:10,AIcoreEngine:1"',
        join(" and ", engines),
    )
    forms = (
        {"type": "string", "pattern": r"^[A-Za-z_]+:[1-9]\d*(,[A-Za-z_]+:[1-9]\d*)*$"},
        {
            "type": "object",
            "propertyNames": {"enum": list(engines)},
            "additionalProperties": {**integer(1), "maximum": INT32_MAX},
            "minProperties": 1,
        },
    )

    def parse(self, value: Any) -> Tuple[Tuple[str, int], ...]:
        """Accept the text or a mapping of engine to number."""
        if isinstance(value, str):
            pairs: List[Tuple[Any, Any]] = []
            for part in limited_text(value).split(","):
                engine, colon, number = part.partition(":")
                pairs.append((engine, digits(number) if colon else None))
        else:
            items = pairs_of(value)
            if items is None:
                raise wrong_type(
                    'must be a mapping of engine to number such as {{"AIcoreEngine": 4}}, got {}',
                    value,
                )
            pairs = [(engine, as_int(number)) for engine, number in items]
        for engine, number in pairs:
            if not is_one_of(engine, self.engines):
                raise bad_syntax('{}, where "{}" is not an engine', as_given(value), spelt(engine))
            if number is None or number < 1:
                raise bad_syntax(
                    "{}, where the number for {} is not an integer of 1 or more",
                    as_given(value),
                    engine,
                )
            in_bits(number)
        if not pairs or len({engine for engine, _ in pairs}) != len(pairs):
            raise bad_syntax("{}, where an engine is missing or occurs twice", as_given(value))
        return tuple((read_text(engine), number) for engine, number in pairs)

    def render(self, value: Any) -> str:
        """``DNN_VM_AICPU:10,AIcoreEngine:1``."""
        return ",".join("{}:{}".format(engine, number) for engine, number in value)


def _some(names: Sequence[str]) -> str:
    """A few names in quotes, and how many more there are."""
    shown_names = ['"{}"'.format(shorten(name, 40)) for name in names[:5]]
    more = len(names) - len(shown_names)
    return listed(shown_names) + (phrase(" and {} more", more) if more else "")


@dataclass(frozen=True, eq=False, repr=False)
class NameList(Structured):
    """Names joined by a separator: ``["conv1", "conv2"]``."""

    annotation = "Union[str, Sequence[str]]"
    separator: str = ","
    name: str = r"[^,\s]+"
    what: str = "names"
    known: Tuple[str, ...] = ()
    example: str = ""

    def parse(self, value: Any) -> Tuple[str, ...]:
        """Accept the text or a list of names."""
        if isinstance(value, str):
            text = limited_text(value)
            names: Sequence[Any] = text.split(None if self.separator == " " else self.separator)
        elif is_list(value):
            names = list(value)
        else:
            problem = phrase("must be {}, got {}", self.what, name_of_type(value))
            raise InvalidValue("wrong-type", problem)
        if not names:
            raise bad_syntax(as_given(value))
        for name in names:
            if not isinstance(name, str) or not self._is_name(name.strip()):
                which = phrase(', where "{}" is not a name', spelt(name))
                raise bad_syntax(as_given(value) + (which if len(names) > 1 else ""))
        unknown = [name.strip() for name in names if self.known and name.strip() not in self.known]
        spaced = [name.strip() for name in names if not self._is_name(name)]
        wrong = [_some(unknown)] if unknown else []
        if spaced:
            wrong.append(phrase('whitespace around "{}"', shorten(spaced[0], 40)))
        if wrong:
            rule = "value-not-allowed" if unknown else "bad-syntax"
            help = (
                "write legal names without whitespace"
                if unknown
                else ("write names without whitespace")
            )
            problem = phrase("{}, which contains {}", as_given(value), join(" and ", wrong))
            raise InvalidValue(rule, problem, help if spaced else None)
        return tuple(read_text(name) for name in names)

    def _is_name(self, text: str) -> bool:
        return re.match("(?:{})\\Z".format(self.name), text) is not None

    def render(self, value: Any) -> str:
        """The names joined by the separator."""
        return self.separator.join(value)

    def describe(self) -> str:
        """What the names are, how they are joined, and an example."""
        joined = phrase("blanks") if self.separator == " " else '"{}"'.format(self.separator)
        words = phrase("{} joined by {}", self.what, joined)
        if self.known:
            words = phrase("{}, chosen from {}", words, listed(self.known))
        return phrase('{}, e.g. "{}"', words, self.example) if self.example else words

    def schema(self) -> Dict[str, Any]:
        """A text, or a list of names."""
        text: Dict[str, Any] = {"type": "string", "minLength": 1}
        item = {"type": "string", "enum": list(self.known)} if self.known else text
        return {"anyOf": [text, array(item, 1)]}


class PassSwitches(Structured):
    """Compile passes on or off: ``{"pass1": True}`` for ``pass1:on``."""

    annotation = "Union[str, Mapping[str, bool]]"
    words = 'pass:on or pass:off entries joined by ";", e.g. "pass1:on;pass2:off"'
    forms = (
        {"type": "string", "pattern": r"^[^:;]+:(on|off)(;[^:;]+:(on|off))*;?$"},
        {
            "type": "object",
            "additionalProperties": {"type": "boolean"},
            "minProperties": 1,
        },
    )

    def parse(self, value: Any) -> Tuple[Tuple[str, bool], ...]:
        """Accept the text or a mapping of pass to bool."""
        if isinstance(value, str):
            text = limited_text(value)
            entries = (text[:-1] if text.endswith(";") else text).split(";")
            pairs = []
            for entry in entries:
                match = re.match(r"([^:;]+):(on|off)\Z", entry)
                if match is None:
                    words = ', where "{}" is not a pass:on or pass:off'
                    where = phrase(words, shorten(entry, 40)) if len(entries) > 1 else ""
                    raise bad_syntax("{}{}", as_given(value), where)
                pairs.append((match.group(1), match.group(2) == "on"))
            return tuple(pairs)
        items = pairs_of(value)
        if not items or not all(
            isinstance(name, str) and is_bool(switch) and re.match("[^:;]+\\Z", name)
            for name, switch in items
        ):
            raise wrong_type(
                'must be a mapping of pass to True or False such as {{"pass1": False}}, got {}',
                value,
            )
        return tuple((read_text(name), bool(switch)) for name, switch in items)

    def render(self, value: Any) -> str:
        """``pass1:on;pass2:off``."""
        return ";".join("{}:{}".format(name, "on" if switch else "off") for name, switch in value)


def _number(text: str) -> int:
    """The number that a text of digits is, perhaps after a sign."""
    return (-1 if text.startswith("-") else 1) * (digits(text.lstrip("-")) or 0)


class NamedShape(NamedTuple):
    """One entry of ``input_shape``; a scalar input has the dimensions ``()``."""

    name: str
    dims: Tuple[int, ...]


class InputShape(Structured):
    """Named shapes: ``{"data": [1, -1], "label": [-1]}`` for ``data:1,-1;label:-1``."""

    annotation = "Union[str, Mapping[str, Sequence[int]]]"
    words = (
        'name:dim,dim entries joined by ";" without blanks, each dimension positive or -1, '
        'e.g. "data:1,3,-1,-1;label:-1"'
    )
    forms = (
        {
            "type": "string",
            "pattern": r"^[^;:]+:(-1|\d+)(,(-1|\d+))*(;[^;:]+:(-1|\d+)(,(-1|\d+))*)*$",
        },
        {"type": "object", "additionalProperties": array(integer(-1)), "minProperties": 1},
    )

    def parse(self, value: Any) -> Tuple[NamedShape, ...]:
        """Accept the text, a mapping of name to dimensions, or a list of pairs."""
        if isinstance(value, str):
            shapes = tuple(self._from_text(part, value) for part in limited_text(value).split(";"))
        else:
            pairs = pairs_of(value)
            if pairs is None:
                raise wrong_type('must be shapes such as {{"data": [1, -1]}}, got {}', value)
            shapes = tuple(self._from_pair(name, dims) for name, dims in pairs)
        if not shapes:
            raise bad_syntax("contains no input")
        names = [shape.name for shape in shapes]
        if len(set(names)) != len(names):
            raise bad_syntax('contains the input "{}" twice', shorten(first_twice(names), 40))
        return shapes

    def _from_text(self, part: str, text: str) -> NamedShape:
        name, colon, dims = part.partition(":")
        if not name or not colon or ":" in dims or not re.match(r"-?[0-9]+(,-?[0-9]+)*\Z", dims):
            words = ', where "{}" is not a name:dim,dim'
            where = phrase(words, shorten(part, 40)) if ";" in text else ""
            raise bad_syntax("{}{}", as_given(text), where)
        return self._shape(name, tuple(map(_number, dims.split(","))))

    def _from_pair(self, name: Any, dims: Any) -> NamedShape:
        sizes = [as_int(dim) for dim in dims] if is_list(dims) else []
        if (
            not isinstance(name, str)
            or not name
            or re.search("[;:]", name)
            or not is_list(dims)
            or None in sizes
        ):
            raise bad_syntax("has the invalid entry {}: {}", shown(name, 40), shown(dims, 40))
        return self._shape(
            read_text(name), tuple(size for size in sizes if size is not None) or (0,)
        )

    def _shape(self, name: str, dims: Tuple[int, ...]) -> NamedShape:
        if dims == (0,):
            return NamedShape(name, ())
        for dim in dims:
            if in_bits(dim, 64) < -1 or dim == 0:
                raise bad_syntax(
                    'has the input "{}" with the dimension {}; a dimension is positive or -1',
                    shorten(name, 40),
                    shown(dim, 30),
                )
        return NamedShape(name, dims)

    def render(self, value: Any) -> str:
        """``data:1,-1;label:-1``."""
        return ";".join(
            "{}:{}".format(name, ",".join(map(str, dims or (0,)))) for name, dims in value
        )


class DynamicDims(Structured):
    """Profiles of sizes: ``[[1, 2], [4, 8]]`` for ``1,2;4,8``."""

    annotation = "Union[str, Sequence[Sequence[int]]]"
    most = 256
    words = (
        '2 to 100 different profiles joined by ";" (256 on ascend_950), the sizes of a profile '
        'joined by ",", no blanks, e.g. "64,64;128,128"'
    )
    forms = (
        {"type": "string", "pattern": r"^\d+(,\d+)*(;\d+(,\d+)*)+$"},
        array(array(integer(1), 1), 2, most),
    )

    def parse(self, value: Any) -> Tuple[Tuple[int, ...], ...]:
        """Accept the text or a list of profiles."""
        if isinstance(value, str):
            text = limited_text(value)
            if not re.match(r"[0-9]+([,;][0-9]+)*\Z", text):
                raise bad_syntax(as_given(text))
            profiles = tuple(tuple(map(_number, part.split(","))) for part in text.split(";"))
        elif is_list(value):
            profiles = tuple(self._profile(item) for item in value)
        else:
            raise wrong_type("must be profiles such as [[1, 2], [4, 8]], got {}", value)
        if not all(profiles) or any(
            in_bits(size, 64) < 1 for profile in profiles for size in profile
        ):
            raise bad_syntax("contains a size that is not positive")
        if len(profiles) < 2:
            raise bad_syntax(
                "has {} profile",
                len(profiles),
                help=("set at least two profiles, or fixed shapes"),
            )
        if len(profiles) > self.most:
            raise bad_syntax("has {} profiles", len(profiles))
        if len(set(profiles)) != len(profiles):
            twice = ",".join(map(str, first_twice(profiles)))
            raise bad_syntax("contains the profile {} twice", shorten(twice, 40))
        return profiles

    def _profile(self, item: Any) -> Tuple[int, ...]:
        sizes = [as_int(size) for size in (item if is_list(item) else [item])]
        if None in sizes:
            raise bad_syntax("contains {}, which is not a profile of sizes", shown(item, 40))
        return tuple(size for size in sizes if size is not None)

    def render(self, value: Any) -> str:
        """``1,2;4,8``."""
        return ";".join(",".join(map(str, profile)) for profile in value)


class RangeGroup(NamedTuple):
    """The shape ranges of one kind of input, ``getnext`` or ``data``."""

    kind: str
    shapes: Tuple[Tuple[Dim, ...], ...]


class ShapeRange(Structured):
    """Ranges of shapes: ``{"data": [[-1, (8, 64), 3]]}`` for ``data:[-1,8~64,3]``."""

    annotation = "Union[str, Mapping[str, Sequence[Sequence[Union[int, Tuple[int, int]]]]]]"
    kinds = ("getnext", "data")
    words = (
        'getnext:[dims],... and data:[dims],... joined by ";", each dimension N, A~B or -1, '
        'e.g. "getnext:[32,1~16],[32];data:[-1,8~64,3]"'
    )
    forms = (
        {"type": "string"},
        {"type": "object", "propertyNames": {"enum": list(kinds)}},
    )

    def parse(self, value: Any) -> Tuple[RangeGroup, ...]:
        """Accept the text or a mapping of input kind to shapes."""
        if isinstance(value, str):
            groups = tuple(self._from_text(part, value) for part in limited_text(value).split(";"))
        else:
            pairs = pairs_of(value)
            if pairs is None:
                raise wrong_type(
                    'must be ranges such as {{"data": [[-1, (8, 64)]]}}, got {}', value
                )
            groups = tuple(self._from_pair(kind, shapes) for kind, shapes in pairs)
        if not groups:
            raise bad_syntax("contains no input")
        if len({group.kind for group in groups}) != len(groups):
            raise bad_syntax('contains the group "{}" twice', groups[0].kind)
        return groups

    def _from_text(self, part: str, text: str) -> RangeGroup:
        kind, colon, rest = part.partition(":")
        if (
            not colon
            or kind not in self.kinds
            or not re.match(r"\[[^\[\]]*\](,\[[^\[\]]*\])*\Z", rest)
        ):
            where = phrase(', where "{}" is not a group', shorten(part, 40)) if ";" in text else ""
            raise bad_syntax("{}{}", as_given(text), where)
        return RangeGroup(kind, tuple(self._dims(shape) for shape in rest[1:-1].split("],[")))

    def _dims(self, shape: str) -> Tuple[Dim, ...]:
        if not shape.strip(" "):
            return ()
        dims: List[Dim] = []
        for dim in shape.split(","):
            match = re.match(r" *(?:(-1)|([0-9]+)(?: *~ *([0-9]+))?) *\Z", dim)
            if match is None:
                raise bad_syntax(
                    'contains the dimension "{}"; a dimension is N, A~B or -1', shorten(dim, 30)
                )
            if match.group(1):
                dims.append(-1)
            elif match.group(3):
                first, last = map(_number, match.group(2, 3))
                dims.append(self._range(self._size(first), self._size(last)))
            else:
                dims.append(self._size(_number(match.group(2))))
        return tuple(dims)

    def _from_pair(self, kind: Any, shapes: Any) -> RangeGroup:
        if (
            not is_one_of(kind, self.kinds)
            or not is_list(shapes)
            or not all(is_list(shape) for shape in shapes)
            or not shapes
        ):
            raise bad_syntax("has the invalid entry {}: {}", shown(kind, 40), shown(shapes, 40))
        return RangeGroup(
            read_text(kind), tuple(tuple(self._dim(dim) for dim in shape) for shape in shapes)
        )

    def _dim(self, dim: Any) -> Dim:
        if is_list(dim) and len(dim) == 2:
            return self._range(self._size(dim[0]), self._size(dim[1]))
        return -1 if as_int(dim) == -1 else self._size(dim)

    def _size(self, size: Any) -> int:
        number = as_int(size)
        if number is None or number < 0:
            raise bad_syntax(
                "contains the dimension {}; a dimension is N, (A, B) or -1", shown(size, 30)
            )
        return in_bits(number, 64)

    def _range(self, first: int, last: int) -> Tuple[int, int]:
        if first > last:
            raise bad_syntax(
                "has the range {0}~{1}, which is not ascending",
                first,
                last,
                meant="{1}~{0}".format(first, last),
                piece="{}~{}".format(first, last),
            )
        return (first, last)

    def render(self, value: Any) -> str:
        """``getnext:[32,1~16],[32];data:[-1,8~64,3]``."""
        return ";".join(
            "{}:{}".format(kind, ",".join(self._shape_text(shape) for shape in shapes))
            for kind, shapes in value
        )

    def _shape_text(self, shape: Tuple[Dim, ...]) -> str:
        return "[{}]".format(
            ",".join("{}~{}".format(*dim) if isinstance(dim, tuple) else str(dim) for dim in shape)
        )


class CoreCounts(NamedTuple):
    """Upper bounds of Cube and Vector cores."""

    cube: int
    vector: int


class AicoreNum(Structured):
    """Cube and Vector cores: ``(24, 48)`` for ``24|48``."""

    annotation = "Union[str, Tuple[int, int]]"
    words = 'Cube and Vector core counts joined by "|", each 1 or more, e.g. "24|48"'
    forms = (
        {"type": "string", "pattern": r"^[1-9]\d*\|[1-9]\d*$"},
        array(integer(1), 2, 2),
    )

    def parse(self, value: Any) -> CoreCounts:
        """Accept the text or a pair."""
        if isinstance(value, str):
            parts = limited_text(value).split("|")
            counts = [None if part.startswith("0") else digits(part) for part in parts]
        elif is_list(value):
            counts = [as_int(item) for item in value]
        else:
            raise wrong_type("must be a pair of core counts such as (24, 48), got {}", value)
        numbers = [in_bits(count) for count in counts if count is not None and count > 0]
        if len(counts) != 2 or len(numbers) != 2:
            raise bad_syntax(as_given(value))
        return CoreCounts(*numbers)

    def render(self, value: Any) -> str:
        """``24|48``."""
        return "{}|{}".format(*value)


class AccelerateMode(NamedTuple):
    """Reduced precision for a part of the training; ``ratio`` None leaves the default."""

    precision: str
    trigger: str
    ratio: Optional[float] = None


class AccelerateTrainMode(Structured):
    """``("fast", "step", 0.9)`` for ``fast|step|0.9``."""

    annotation = "Union[str, Tuple[str, str], Tuple[str, str, float]]"
    precisions = ("fast", "fast1")
    ratios = {"step": (0.2, 0.9), "loss": (1.01, 1.5)}
    words = (
        '"fast" or "fast1", "step" or "loss", and a ratio (step 0.2 to 0.9, loss 1.01 to 1.5) '
        'joined by "|", e.g. "fast|step|0.9"'
    )
    forms = (
        {"type": "string", "pattern": r"^(fast|fast1)\|(step|loss)(\|\d*(\.\d+)?)?$"},
        {"type": "array", "minItems": 2, "maxItems": 3},
    )

    def parse(self, value: Any) -> AccelerateMode:
        """Accept the text or (precision, trigger[, ratio])."""
        if isinstance(value, str):
            fields: List[Any] = limited_text(value).split("|")
        elif is_list(value):
            fields = list(value)
        else:
            raise wrong_type('must be a mode such as ("fast", "step", 0.9), got {}', value)
        if len(fields) not in (2, 3):
            raise bad_syntax(as_given(value))
        if not is_one_of(fields[0], self.precisions):
            raise bad_syntax(
                '{}; the first part is "fast" (float16) or "fast1" (bfloat16)', as_given(value)
            )
        if not is_one_of(fields[1], tuple(self.ratios)):
            raise bad_syntax('{}; the second part is "step" or "loss"', as_given(value))
        ratio = self._ratio(fields[2] if len(fields) == 3 else None, value)
        low, high = self.ratios[fields[1]]
        if ratio is not None and not low <= ratio <= high:
            raise bad_syntax(
                "{}; the ratio for {} must be {} to {}", as_given(value), fields[1], low, high
            )
        return AccelerateMode(read_text(fields[0]), read_text(fields[1]), ratio)

    def _ratio(self, field: Any, value: Any) -> Optional[float]:
        if field is None:
            return None
        if isinstance(field, str):
            if not field:
                return None
            if not re.match(r"[0-9]{0,9}(\.[0-9]{0,17})?\Z", field) or not re.search(
                "[0-9]", field
            ):
                raise bad_syntax("{}; the third part is a ratio", as_given(value))
            return float(field)
        if isinstance(field, bool) or not isinstance(field, (int, float)) or abs(field) > 1e9:
            raise bad_syntax("{}; the third part is a ratio", as_given(value))
        return float(field)

    def render(self, value: Any) -> str:
        """``fast|step|0.9``."""
        precision, trigger, ratio = value
        parts = [precision, trigger] + (
            []
            if ratio is None
            else ["{:.17f}".format(ratio).rstrip("0") if "e" in repr(ratio) else repr(ratio)]
        )
        return "|".join(parts)


class StreamMode(NamedTuple):
    """Parallel execution on several streams; ``streams`` None for ``cv``."""

    strategy: str
    streams: Optional[int] = None


class MultistreamMode(Structured):
    """``("LoadBalance", 8)`` for ``LoadBalance:8``, or ``"cv"``."""

    annotation = "Union[str, Tuple[str, int]]"
    strategies = ("LoadBalance", "MainStream")
    most = 64
    words = phrase('"cv", "LoadBalance:n" or "MainStream:n" with n from 1 to {}', most)
    forms = (
        {
            "type": "string",
            "pattern": r"^(cv|(LoadBalance|MainStream):([1-9]|[1-5]\d|6[0-4]))$",
        },
        {"type": "array", "minItems": 1, "maxItems": 2},
    )

    def parse(self, value: Any) -> StreamMode:
        """Accept the text or (strategy, streams)."""
        if isinstance(value, str):
            strategy, colon, number = limited_text(value).partition(":")
            streams = digits(number) if colon else None
            if colon and (streams is None or number != str(streams)):
                streams = 0
        elif is_list(value) and len(value) in (1, 2):
            strategy = value[0]
            streams = as_int(value[1]) if len(value) == 2 and value[1] is not None else None
        else:
            raise wrong_type('must be a mode such as ("LoadBalance", 8), got {}', value)
        if is_one_of(strategy, ("cv",)) and streams is None:
            return StreamMode("cv")
        if not is_one_of(strategy, self.strategies):
            raise bad_syntax(as_given(value))
        if streams is None:
            raise bad_syntax(
                "{}, without a number of streams",
                as_given(value),
                help=phrase('write "{}:8"', strategy),
                meant="{}:8".format(strategy),
            )
        if not 1 <= streams <= self.most:
            raise bad_syntax(
                "{}; the number of streams must be 1 to {}", as_given(value), self.most
            )
        return StreamMode(read_text(strategy), streams)

    def render(self, value: Any) -> str:
        """``LoadBalance:8``."""
        strategy, streams = value
        return str(strategy) if streams is None else "{}:{}".format(strategy, streams)


class NodeRange(NamedTuple):
    """The operators that begin and end one subgraph."""

    inputs: Tuple[str, ...]
    outputs: Tuple[str, ...]


_NODE = r"""(?:'[^'\\]+'|"[^"\\]+")"""
_NODES = r"\[\s*(?:{0}\s*(?:,\s*{0}\s*)*)?\]".format(_NODE)
_PAIR = lazy_pattern(r"\s*\[\s*\[\s*({0})\s*,\s*({0})\s*\]\s*\]\s*\Z".format(_NODES))


class InOutPair(Structured):
    """One subgraph: ``(["in"], ["out"])`` for ``[[['in'], ['out']]]``."""

    annotation = "Union[str, Tuple[Sequence[str], Sequence[str]]]"
    words = "one pair of lists of operator names, e.g. \"[[['net/conv1'], ['net/add']]]\""
    forms = ({"type": ["string", "array"]},)

    def parse(self, value: Any) -> NodeRange:
        """Accept the text, or (inputs, outputs), or the nested list of the vendor's sample."""
        if isinstance(value, str):
            match = _PAIR.match(limited_text(value))
            if match is None:
                raise bad_syntax(as_given(value))
            names = [[node[1:-1] for node in re.findall(_NODE, part)] for part in match.groups()]
        elif is_list(value):
            for _ in range(2):  # brackets around the pair
                if len(value) == 1 and is_list(value[0]):
                    value = value[0]
            if not is_list(value) or len(value) != 2:
                raise bad_syntax("is {}; exactly one pair of lists is supported", shown(value))
            names = [self._names(part) for part in value]
        else:
            raise wrong_type("must be two lists of operator names, got {}", value)
        if not names[0] or not names[1]:
            raise bad_syntax("has an empty list of operators")
        return NodeRange(tuple(names[0]), tuple(names[1]))

    def _names(self, part: Any) -> List[str]:
        if isinstance(part, str):
            part = [part]
        if not is_list(part) or not all(
            isinstance(name, str) and re.match(r"[^'\"\\]+\Z", name) for name in part
        ):
            raise bad_syntax("contains {}, which is not a list of operator names", shown(part, 40))
        return [read_text(name) for name in part]

    def render(self, value: Any) -> str:
        """``[[['in'], ['out']]]``."""
        return "[[[{}]]]".format(
            "], [".join(", ".join("'{}'".format(name) for name in names) for names in value)
        )


class JsonText(Structured):
    """The text of a JSON object inside the option; its keys are checked as a side file."""

    plain = True
    annotation = "Union[str, Mapping[str, str]]"
    words = "the text of a JSON object"
    forms = (
        {"type": "string"},
        {"type": "object", "additionalProperties": {"type": "string"}},
    )

    def parse(self, value: Any) -> str:
        """Accept text, a mapping, or an object with ``to_text()``."""
        if isinstance(value, Mapping):
            import json

            try:
                return limited_text(
                    json.dumps(
                        dict(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False
                    )
                )
            except (TypeError, ValueError, RecursionError) as error:
                raise InvalidValue(
                    "wrong-type", phrase("contains a value that is not JSON: {}", error)
                ) from None
        if hasattr(value, "to_text"):
            value = value.to_text()
        if not isinstance(value, str):
            raise wrong_type("must be the text of a JSON object or a mapping, got {}", value)
        return limited_text(value)
