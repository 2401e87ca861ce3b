"""Kinds whose text on the wire hides a structure.

Each reads the text of the wire or friendly Python values into one canonical, immutable
form (tuples), and writes that form back: ``read(write(x)) == x``.
"""

import json
import re
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import attr

from npu_config.catalogue._kinds import (
    INT32_MAX,
    Kind,
    Refused,
    Wire,
    as_int,
    name_of_type,
    read_text,
    shorten,
)

LONGEST_TEXT = 1_000_000
UINT32_MAX = 2**32 - 1

Dim = Union[int, Tuple[int, int]]


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (
        isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray))
    )


def _text(value: Any, takes: str) -> str:
    if not isinstance(value, str):
        raise Refused("wrong-type", "takes {}, got {}".format(takes, name_of_type(value)))
    text = read_text(value)
    if len(text) > LONGEST_TEXT:
        raise Refused("bad-syntax", "is longer than {} characters".format(LONGEST_TEXT))
    return text


def _first_twice(items: Iterable[Any]) -> Any:
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def _syntax(problem: str, help: Optional[str] = None) -> Refused:
    return Refused("bad-syntax", problem, help)


def _digits(text: str, maximum: int = UINT32_MAX) -> Optional[int]:
    """``text`` as a number when it is nothing but ASCII digits and not above ``maximum``."""
    if not re.match(r"[0-9]{1,20}\Z", text):
        return None
    number = int(text)
    return number if number <= maximum else None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Structured(Kind):
    """Base: the wire carries text, the canonical form is not text."""

    wire = "s"
    plain = False

    def write(self, value: Any) -> Wire:
        """The text; a text that could not be read is passed through as it stands."""
        return value if isinstance(value, str) else self.render(value)

    def render(self, value: Any) -> str:
        """The text of a canonical value."""
        raise NotImplementedError

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {"type": ["string", "array"]}


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DumpStep(Structured):
    """Steps and ranges of steps: ``[0, 5, (10, 20)]`` for ``0|5|10-20``, at most 100 of them."""

    most = 100

    def read(self, value: Any) -> Tuple[Dim, ...]:
        """Accept the text, a step, or a list of steps and (first, last) pairs."""
        if isinstance(value, str):
            steps = tuple(
                self._from_text(part, value)
                for part in _text(value, "steps").split("|", self.most + 1)
            )
        elif as_int(value) is not None:
            steps = (self._step(value),)
        elif _is_list(value):
            steps = tuple(self._from_value(item) for item in value)
        else:
            raise Refused(
                "wrong-type",
                "takes steps such as [0, 5, (10, 20)], got {}".format(name_of_type(value)),
            )
        if not steps:
            raise _syntax("names no step", "leave it out to dump every step")
        if len(steps) > self.most:
            raise _syntax(
                "holds more than {} steps or ranges".format(self.most), "join neighbours to ranges"
            )
        return steps

    def _from_text(self, part: str, text: str) -> Dim:
        first, dash, last = part.partition("-")
        if not part:
            raise _syntax('is "{}", with an empty step'.format(shorten(text)))
        numbers = [_digits(first)] + ([_digits(last)] if dash else [])
        if None in numbers:
            raise _syntax(
                'is "{}", where "{}" is no step and no range'.format(
                    shorten(text), shorten(part, 30)
                )
            )
        return self._range(numbers[0], numbers[1]) if dash else self._step(numbers[0])

    def _from_value(self, item: Any) -> Dim:
        if isinstance(item, str):
            return self._from_text(item, item)
        if _is_list(item):
            if len(item) != 2:
                raise _syntax(
                    "holds {}, which is no (first, last) pair".format(shorten(repr(item), 40))
                )
            return self._range(self._step(item[0]), self._step(item[1]))
        return self._step(item)

    def _step(self, value: Any) -> int:
        number = as_int(value)
        if number is None or not 0 <= number <= UINT32_MAX:
            raise _syntax("holds {}, which is no step number".format(name_of_type(value)))
        return number

    def _range(self, first: Any, last: Any) -> Tuple[int, int]:
        if first >= last:
            raise _syntax(
                "holds the range {}-{}, which does not rise".format(first, last),
                "write {}".format(first if first == last else "{}-{}".format(last, first)),
            )
        return (first, last)

    def render(self, value: Any) -> str:
        """``0|5|10-20``."""
        return "|".join(
            "{}-{}".format(*step) if isinstance(step, tuple) else str(step) for step in value
        )

    def describe(self) -> str:
        """Legal values."""
        return 'steps and rising ranges joined by "|", at most {}, e.g. "0|5|10-20"'.format(
            self.most
        )

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        step = {"type": "integer", "minimum": 0}
        pair = {"type": "array", "items": step, "minItems": 2, "maxItems": 2}
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^\d+(-\d+)?(\|\d+(-\d+)?){0,99}$"},
                step,
                {
                    "type": "array",
                    "items": {"anyOf": [step, pair]},
                    "minItems": 1,
                    "maxItems": self.most,
                },
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, int, Sequence[Union[int, Tuple[int, int]]]]"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DeviceList(Structured):
    """Device ids: ``[0, 1, 2]`` for ``0,1,2``."""

    def read(self, value: Any) -> Tuple[int, ...]:
        """Accept the text or a list of integers."""
        if isinstance(value, str):
            text = _text(value, "device ids")
            devices: List[Optional[int]] = [_digits(part, INT32_MAX) for part in text.split(",")]
            shown = 'is "{}"'.format(shorten(text))
        elif _is_list(value):
            devices = [as_int(item) for item in value]
            shown = "is {}".format(shorten(repr(value)))
        else:
            raise Refused(
                "wrong-type", "takes device ids such as [0, 1], got {}".format(name_of_type(value))
            )
        numbers = tuple(
            device for device in devices if device is not None and 0 <= device <= INT32_MAX
        )
        if len(numbers) != len(devices) or not devices:
            raise _syntax(shown)
        if len(set(numbers)) != len(numbers):
            raise _syntax(shown + ", where a device stands twice")
        return numbers

    def render(self, value: Any) -> str:
        """``0,1,2``."""
        return ",".join(str(device) for device in value)

    def describe(self) -> str:
        """Legal values."""
        return 'device ids joined by "," without blanks, e.g. "0,1,2,3"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^\d+(,\d+)*$"},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 0},
                    "minItems": 1,
                    "uniqueItems": True,
                },
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Sequence[int]]"


class NamedShape(NamedTuple):
    """One entry of ``input_shape``; a scalar input has the dimensions ``()``."""

    name: str
    dims: Tuple[int, ...]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class InputShape(Structured):
    """Named shapes: ``{"data": [1, -1], "label": [-1]}`` for ``data:1,-1;label:-1``."""

    def read(self, value: Any) -> Tuple[NamedShape, ...]:
        """Accept the text, a mapping of name to dimensions, or a list of pairs."""
        if isinstance(value, str):
            shapes = tuple(
                self._from_text(part, value) for part in _text(value, "shapes").split(";")
            )
        else:
            if isinstance(value, Mapping):
                value = list(value.items())
            if not _is_list(value) or not all(_is_list(item) and len(item) == 2 for item in value):
                raise Refused(
                    "wrong-type",
                    'takes shapes such as {{"data": [1, -1]}}, got {}'.format(name_of_type(value)),
                )
            shapes = tuple(self._from_pair(name, dims) for name, dims in value)
        if not shapes:
            raise _syntax("names no input")
        names = [shape.name for shape in shapes]
        if len(set(names)) != len(names):
            raise _syntax('names the input "{}" twice'.format(shorten(_first_twice(names), 40)))
        return shapes

    def _from_text(self, part: str, text: str) -> NamedShape:
        name, colon, dims = part.partition(":")
        if (
            not name
            or not colon
            or ":" in dims
            or not re.match(r"-?[0-9]{1,19}(,-?[0-9]{1,19})*\Z", dims)
        ):
            where = (
                ', where "{}" is no name:dim,dim'.format(shorten(part, 40)) if ";" in text else ""
            )
            raise _syntax('is "{}"{}'.format(shorten(text), where))
        return self._shape(name, tuple(int(dim) for dim in dims.split(",")))

    def _from_pair(self, name: Any, dims: Any) -> NamedShape:
        sizes = [as_int(dim) for dim in dims] if _is_list(dims) else []
        if (
            not isinstance(name, str)
            or not name
            or re.search("[;:]", name)
            or not _is_list(dims)
            or None in sizes
        ):
            raise _syntax("holds {}: {}".format(shorten(repr(name), 40), shorten(repr(dims), 40)))
        return self._shape(name, tuple(size for size in sizes if size is not None) or (0,))

    def _shape(self, name: str, dims: Tuple[int, ...]) -> NamedShape:
        if dims == (0,):
            return NamedShape(name, ())
        for dim in dims:
            if dim < -1 or dim == 0 or dim > 2**63 - 1:
                raise _syntax(
                    'gives "{}" the dimension {}; a dimension is positive or -1'.format(
                        shorten(name, 40), dim
                    )
                )
        return NamedShape(name, dims)

    def render(self, value: Any) -> str:
        """``data:1,-1;label:-1``."""
        return ";".join(
            "{}:{}".format(name, ",".join(map(str, dims or (0,)))) for name, dims in value
        )

    def describe(self) -> str:
        """Legal values."""
        return 'name:dim,dim entries joined by ";" without blanks, a dimension positive or -1, e.g. "data:1,3,-1,-1;label:-1"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        dims = {"type": "array", "items": {"type": "integer", "minimum": -1}}
        return {
            "anyOf": [
                {
                    "type": "string",
                    "pattern": r"^[^;:]+:(-1|\d+)(,(-1|\d+))*(;[^;:]+:(-1|\d+)(,(-1|\d+))*)*$",
                },
                {"type": "object", "additionalProperties": dims, "minProperties": 1},
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Mapping[str, Sequence[int]]]"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class DynamicDims(Structured):
    """Profiles of sizes: ``[[1, 2], [4, 8]]`` for ``1,2;4,8``."""

    most = 256

    def read(self, value: Any) -> Tuple[Tuple[int, ...], ...]:
        """Accept the text or a list of profiles."""
        if isinstance(value, str):
            text = _text(value, "profiles")
            if not re.match(r"[0-9]{1,19}([,;][0-9]{1,19})*\Z", text):
                raise _syntax('is "{}"'.format(shorten(text)))
            profiles = tuple(
                tuple(int(size) for size in part.split(",")) for part in text.split(";")
            )
        elif _is_list(value):
            profiles = tuple(self._profile(item) for item in value)
        else:
            raise Refused(
                "wrong-type",
                "takes profiles such as [[1, 2], [4, 8]], got {}".format(name_of_type(value)),
            )
        if any(size < 1 for profile in profiles for size in profile) or not all(profiles):
            raise _syntax("holds a size that is not positive")
        if len(profiles) < 2:
            raise _syntax(
                "holds {} profile".format(len(profiles)), "give at least two, or fixed shapes"
            )
        if len(profiles) > self.most:
            raise _syntax("holds {} profiles".format(len(profiles)))
        if len(set(profiles)) != len(profiles):
            twice = ",".join(map(str, _first_twice(profiles)))
            raise _syntax("holds the profile {} twice".format(shorten(twice, 40)))
        return profiles

    def _profile(self, item: Any) -> Tuple[int, ...]:
        sizes = [as_int(size) for size in (item if _is_list(item) else [item])]
        if None in sizes:
            raise _syntax("holds {}, which is no profile of sizes".format(shorten(repr(item), 40)))
        return tuple(size for size in sizes if size is not None)

    def render(self, value: Any) -> str:
        """``1,2;4,8``."""
        return ";".join(",".join(map(str, profile)) for profile in value)

    def describe(self) -> str:
        """Legal values."""
        return '2 to 100 different profiles joined by ";" (256 on ascend_950), sizes in one joined by ",", no blanks, e.g. "64,64;128,128"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        profile = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1}
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^\d+(,\d+)*(;\d+(,\d+)*)+$"},
                {"type": "array", "items": profile, "minItems": 2, "maxItems": self.most},
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Sequence[Sequence[int]]]"


class RangeGroup(NamedTuple):
    """The shape ranges of one kind of input, ``getnext`` or ``data``."""

    kind: str
    shapes: Tuple[Tuple[Dim, ...], ...]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ShapeRange(Structured):
    """Ranges of shapes: ``{"data": [[-1, (8, 64), 3]]}`` for ``data:[-1,8~64,3]``."""

    kinds = ("getnext", "data")

    def read(self, value: Any) -> Tuple[RangeGroup, ...]:
        """Accept the text or a mapping of input kind to shapes."""
        if isinstance(value, str):
            groups = tuple(
                self._from_text(part, value) for part in _text(value, "shape ranges").split(";")
            )
        elif isinstance(value, Mapping):
            groups = tuple(self._from_pair(kind, shapes) for kind, shapes in value.items())
        elif _is_list(value) and all(_is_list(item) and len(item) == 2 for item in value):
            groups = tuple(self._from_pair(kind, shapes) for kind, shapes in value)
        else:
            raise Refused(
                "wrong-type",
                'takes ranges such as {{"data": [[-1, (8, 64)]]}}, got {}'.format(
                    name_of_type(value)
                ),
            )
        if not groups:
            raise _syntax("names no input")
        if len({group.kind for group in groups}) != len(groups):
            raise _syntax('names the group "{}" twice'.format(groups[0].kind))
        return groups

    def _from_text(self, part: str, text: str) -> RangeGroup:
        kind, colon, rest = part.partition(":")
        if (
            not colon
            or kind not in self.kinds
            or not re.match(r"\[[^\[\]]*\](,\[[^\[\]]*\])*\Z", rest)
        ):
            where = ', where "{}" is no group'.format(shorten(part, 40)) if ";" in text else ""
            raise _syntax('is "{}"{}'.format(shorten(text), where))
        return RangeGroup(kind, tuple(self._dims(shape) for shape in rest[1:-1].split("],[")))

    def _dims(self, shape: str) -> Tuple[Dim, ...]:
        if not shape.strip(" "):
            return ()
        dims: List[Dim] = []
        for dim in shape.split(","):
            match = re.match(r" *(?:(-1)|([0-9]{1,18})(?: *~ *([0-9]{1,18}))?) *\Z", dim)
            if match is None:
                raise _syntax(
                    'holds the dimension "{}"; a dimension is N, A~B or -1'.format(
                        shorten(dim, 30)
                    )
                )
            if match.group(1):
                dims.append(-1)
            elif match.group(3):
                dims.append(self._range(int(match.group(2)), int(match.group(3))))
            else:
                dims.append(int(match.group(2)))
        return tuple(dims)

    def _from_pair(self, kind: Any, shapes: Any) -> RangeGroup:
        if (
            kind not in self.kinds
            or not _is_list(shapes)
            or not all(_is_list(shape) for shape in shapes)
            or not shapes
        ):
            raise _syntax(
                "holds {}: {}".format(shorten(repr(kind), 40), shorten(repr(shapes), 40))
            )
        return RangeGroup(kind, tuple(tuple(self._dim(dim) for dim in shape) for shape in shapes))

    def _dim(self, dim: Any) -> Dim:
        if _is_list(dim) and len(dim) == 2:
            return self._range(self._size(dim[0]), self._size(dim[1]))
        return -1 if as_int(dim) == -1 else self._size(dim)

    def _size(self, size: Any) -> int:
        number = as_int(size)
        if number is None or number < 0:
            raise _syntax(
                "holds the dimension {}; a dimension is N, (A, B) or -1".format(
                    shorten(repr(size), 30)
                )
            )
        return number

    def _range(self, first: int, last: int) -> Tuple[int, int]:
        if first > last:
            raise _syntax(
                "holds the range {0}~{1}, which runs backwards".format(first, last),
                "write {1}~{0}".format(first, last),
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

    def describe(self) -> str:
        """Legal values."""
        return 'getnext:[dims],... and data:[dims],... joined by ";", a dimension N, A~B or -1, e.g. "getnext:[32,1~16],[32];data:[-1,8~64,3]"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "propertyNames": {"enum": list(self.kinds)}},
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Mapping[str, Sequence[Sequence[Union[int, Tuple[int, int]]]]]]"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class StreamLimits(Structured):
    """Parallel streams for each engine: ``{"AIcoreEngine": 4}`` for ``AIcoreEngine:4``."""

    engines = ("DNN_VM_AICPU", "AIcoreEngine")

    def read(self, value: Any) -> Tuple[Tuple[str, int], ...]:
        """Accept the text or a mapping of engine to number."""
        if isinstance(value, str):
            pairs: List[Tuple[Any, Any]] = []
            for part in _text(value, "engines").split(","):
                engine, colon, number = part.partition(":")
                pairs.append((engine, _digits(number, INT32_MAX) if colon else None))
            shown = 'is "{}"'.format(shorten(value))
        else:
            if isinstance(value, Mapping):
                value = list(value.items())
            if not _is_list(value) or not all(_is_list(item) and len(item) == 2 for item in value):
                raise Refused(
                    "wrong-type",
                    'takes numbers by engine such as {{"AIcoreEngine": 4}}, got {}'.format(
                        name_of_type(value)
                    ),
                )
            pairs = [(engine, as_int(number)) for engine, number in value]
            shown = "is {}".format(shorten(repr(value)))
        for engine, number in pairs:
            if engine not in self.engines:
                raise _syntax(
                    '{}, where "{}" is no engine'.format(shown, shorten(str(engine), 40))
                )
            if number is None or number < 1:
                raise _syntax("{}, where {} has no number from 1 on".format(shown, engine))
        if not pairs or len({engine for engine, _ in pairs}) != len(pairs):
            raise _syntax(shown + ", where an engine is missing or stands twice")
        return tuple((engine, number) for engine, number in pairs)

    def render(self, value: Any) -> str:
        """``DNN_VM_AICPU:10,AIcoreEngine:1``."""
        return ",".join("{}:{}".format(engine, number) for engine, number in value)

    def describe(self) -> str:
        """Legal values."""
        return 'engine:number pairs joined by ",", engines {}, e.g. "DNN_VM_AICPU:10,AIcoreEngine:1"'.format(
            " and ".join(self.engines)
        )

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^[A-Za-z_]+:[1-9]\d*(,[A-Za-z_]+:[1-9]\d*)*$"},
                {
                    "type": "object",
                    "propertyNames": {"enum": list(self.engines)},
                    "additionalProperties": {"type": "integer", "minimum": 1},
                    "minProperties": 1,
                },
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Mapping[str, int]]"


class CoreCounts(NamedTuple):
    """Upper bounds of Cube and Vector cores."""

    cube: int
    vector: int


@attr.s(frozen=True, slots=True, auto_attribs=True)
class AicoreNum(Structured):
    """Cube and Vector cores: ``(24, 48)`` for ``24|48``."""

    def read(self, value: Any) -> CoreCounts:
        """Accept the text or a pair."""
        if isinstance(value, str):
            match = re.match(
                r"([1-9][0-9]{0,8})\|([1-9][0-9]{0,8})\Z", _text(value, "two core counts")
            )
            if match is None:
                raise _syntax('is "{}"'.format(shorten(value)))
            return CoreCounts(int(match.group(1)), int(match.group(2)))
        if not _is_list(value):
            raise Refused(
                "wrong-type",
                "takes a pair of core counts such as (24, 48), got {}".format(name_of_type(value)),
            )
        counts = [as_int(item) for item in value]
        if len(counts) != 2 or any(
            count is None or not 1 <= count <= 999999999 for count in counts
        ):
            raise _syntax("is {}".format(shorten(repr(value))))
        return CoreCounts(*(int(count or 0) for count in counts))

    def render(self, value: Any) -> str:
        """``24|48``."""
        return "{}|{}".format(*value)

    def describe(self) -> str:
        """Legal values."""
        return 'Cube and Vector core counts joined by "|", both from 1 on, e.g. "24|48"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^[1-9]\d*\|[1-9]\d*$"},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1},
                    "minItems": 2,
                    "maxItems": 2,
                },
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Tuple[int, int]]"


class AccelerateMode(NamedTuple):
    """Reduced precision for a part of the training; ``ratio`` None leaves the default."""

    precision: str
    trigger: str
    ratio: Optional[float] = None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class AccelerateTrainMode(Structured):
    """``("fast", "step", 0.9)`` for ``fast|step|0.9``."""

    precisions = ("fast", "fast1")
    ratios = {"step": (0.2, 0.9), "loss": (1.01, 1.5)}

    def read(self, value: Any) -> AccelerateMode:
        """Accept the text or (precision, trigger[, ratio])."""
        if isinstance(value, str):
            fields: List[Any] = _text(value, "precision|trigger|ratio").split("|")
            shown = 'is "{}"'.format(shorten(value))
        elif _is_list(value):
            fields = list(value)
            shown = "is {}".format(shorten(repr(value)))
        else:
            raise Refused(
                "wrong-type",
                'takes a mode such as ("fast", "step", 0.9), got {}'.format(name_of_type(value)),
            )
        if len(fields) not in (2, 3):
            raise _syntax(shown)
        if fields[0] not in self.precisions:
            raise _syntax(
                '{}; the first part is "fast" (float16) or "fast1" (bfloat16)'.format(shown)
            )
        if fields[1] not in tuple(self.ratios):
            raise _syntax('{}; the second part is "step" or "loss"'.format(shown))
        ratio = self._ratio(fields[2] if len(fields) == 3 else None, shown)
        low, high = self.ratios[fields[1]]
        if ratio is not None and not low <= ratio <= high:
            raise _syntax(
                "{}; the ratio for {} lies in {} to {}".format(shown, fields[1], low, high)
            )
        return AccelerateMode(fields[0], fields[1], ratio)

    def _ratio(self, field: Any, shown: str) -> Optional[float]:
        if field is None or field == "":
            return None
        if isinstance(field, str):
            if not re.match(r"[0-9]{0,9}(\.[0-9]{0,17})?\Z", field) or not re.search(
                "[0-9]", field
            ):
                raise _syntax("{}; the third part is a ratio".format(shown))
            return float(field)
        if isinstance(field, bool) or not isinstance(field, (int, float)):
            raise _syntax("{}; the third part is a ratio".format(shown))
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

    def describe(self) -> str:
        """Legal values."""
        return (
            '"fast" or "fast1", "step" or "loss", and a ratio (step 0.2 to 0.9, loss 1.01 to 1.5) '
            'joined by "|", e.g. "fast|step|0.9"'
        )

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^(fast|fast1)\|(step|loss)(\|\d*(\.\d+)?)?$"},
                {"type": "array", "minItems": 2, "maxItems": 3},
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Tuple[str, str], Tuple[str, str, float]]"


class StreamMode(NamedTuple):
    """Parallel execution on several streams; ``streams`` None for ``cv``."""

    strategy: str
    streams: Optional[int] = None


@attr.s(frozen=True, slots=True, auto_attribs=True)
class MultistreamMode(Structured):
    """``("LoadBalance", 8)`` for ``LoadBalance:8``, or ``"cv"``."""

    strategies = ("LoadBalance", "MainStream")
    most = 64

    def read(self, value: Any) -> StreamMode:
        """Accept the text or (strategy, streams)."""
        if isinstance(value, str):
            strategy, colon, number = _text(value, "a strategy").partition(":")
            shown = 'is "{}"'.format(shorten(value))
            streams = _digits(number) if colon else None
            if colon and (streams is None or number != str(streams)):
                streams = 0
        elif _is_list(value) and len(value) in (1, 2):
            strategy = value[0]
            streams = as_int(value[1]) if len(value) == 2 and value[1] is not None else None
            shown = "is {}".format(shorten(repr(value)))
        else:
            raise Refused(
                "wrong-type",
                'takes a mode such as ("LoadBalance", 8), got {}'.format(name_of_type(value)),
            )
        if strategy == "cv" and streams is None:
            return StreamMode("cv")
        if strategy not in self.strategies:
            raise _syntax(shown)
        if streams is None:
            raise _syntax(shown + ", without a number of streams", 'write "{}:8"'.format(strategy))
        if not 1 <= streams <= self.most:
            raise _syntax("{}; the number of streams lies in 1 to {}".format(shown, self.most))
        return StreamMode(strategy, streams)

    def render(self, value: Any) -> str:
        """``LoadBalance:8``."""
        strategy, streams = value
        return str(strategy) if streams is None else "{}:{}".format(strategy, streams)

    def describe(self) -> str:
        """Legal values."""
        return '"cv", "LoadBalance:n" or "MainStream:n" with n from 1 to {}'.format(self.most)

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {
            "anyOf": [
                {
                    "type": "string",
                    "pattern": r"^(cv|(LoadBalance|MainStream):([1-9]|[1-5]\d|6[0-4]))$",
                },
                {"type": "array", "minItems": 1, "maxItems": 2},
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Tuple[str, int]]"


class NodeRange(NamedTuple):
    """The operators that begin and end one subgraph."""

    inputs: Tuple[str, ...]
    outputs: Tuple[str, ...]


_NODE = r"""(?:'[^'\\]+'|"[^"\\]+")"""
_NODES = r"\[\s*(?:{0}(?:\s*,\s*{0})*)?\s*\]".format(_NODE)
_PAIR = re.compile(r"\s*\[\s*\[\s*({0})\s*,\s*({0})\s*\]\s*\]\s*\Z".format(_NODES))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class InOutPair(Structured):
    """One subgraph: ``(["in"], ["out"])`` for ``[[['in'], ['out']]]``."""

    def read(self, value: Any) -> NodeRange:
        """Accept the text, or (inputs, outputs), or the nested list of the vendor's sample."""
        if isinstance(value, str):
            match = _PAIR.match(_text(value, "two lists of operator names"))
            if match is None:
                raise _syntax('is "{}"'.format(shorten(value)))
            names = [[node[1:-1] for node in re.findall(_NODE, part)] for part in match.groups()]
        elif _is_list(value):
            while _is_list(value) and len(value) == 1:
                value = value[0]
            if not _is_list(value) or len(value) != 2:
                raise _syntax(
                    "is {}; exactly one pair of lists is supported".format(shorten(repr(value)))
                )
            names = [self._names(part) for part in value]
        else:
            raise Refused(
                "wrong-type",
                "takes two lists of operator names, got {}".format(name_of_type(value)),
            )
        if not names[0] or not names[1]:
            raise _syntax("has no operator on one side")
        return NodeRange(tuple(names[0]), tuple(names[1]))

    def _names(self, part: Any) -> List[str]:
        if isinstance(part, str):
            part = [part]
        if not _is_list(part) or not all(
            isinstance(name, str) and re.match(r"[^'\"\\]+\Z", name) for name in part
        ):
            raise _syntax(
                "holds {}, which is no list of operator names".format(shorten(repr(part), 40))
            )
        return list(part)

    def render(self, value: Any) -> str:
        """``[[['in'], ['out']]]``."""
        return "[[[{}]]]".format(
            "], [".join(", ".join("'{}'".format(name) for name in names) for names in value)
        )

    def describe(self) -> str:
        """Legal values."""
        return "one pair of lists of operator names, e.g. \"[[['net/conv1'], ['net/add']]]\""

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Tuple[Sequence[str], Sequence[str]]]"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Names(Structured):
    """Names joined by a separator: ``["conv1", "conv2"]``."""

    separator: str = ","
    name: str = r"[^,\s]+"
    what: str = "names"
    known: Tuple[str, ...] = ()
    example: str = ""

    def read(self, value: Any) -> Tuple[str, ...]:
        """Accept the text or a list of names."""
        if isinstance(value, str):
            text = _text(value, self.what)
            names: Sequence[Any] = (
                text.split() if self.separator == " " else text.split(self.separator)
            )
            shown = 'is "{}"'.format(shorten(text))
        elif _is_list(value):
            names = list(value)
            shown = "is {}".format(shorten(repr(value)))
        else:
            raise Refused("wrong-type", "takes {}, got {}".format(self.what, name_of_type(value)))
        if not names:
            raise _syntax(shown)
        for name in names:
            if not isinstance(name, str) or not re.match("(?:{})\\Z".format(self.name), name):
                raise _syntax(
                    shown
                    if len(names) == 1
                    else '{}, where "{}" is no name'.format(shown, shorten(str(name), 40))
                )
            if self.known and name not in self.known:
                raise Refused(
                    "value-not-allowed", '{}, with "{}"'.format(shown, shorten(name, 40))
                )
        return tuple(names)

    def render(self, value: Any) -> str:
        """The names joined by the separator."""
        return self.separator.join(value)

    def describe(self) -> str:
        """Legal values."""
        joined = "blanks" if self.separator == " " else '"{}"'.format(self.separator)
        words = "{} joined by {}".format(self.what, joined)
        if self.known:
            words += " out of {}".format(", ".join(self.known))
        return '{}, e.g. "{}"'.format(words, self.example) if self.example else words

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        item: Dict[str, Any] = (
            {"type": "string", "enum": list(self.known)}
            if self.known
            else {"type": "string", "minLength": 1}
        )
        return {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": item, "minItems": 1},
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Sequence[str]]"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class PassSwitches(Structured):
    """Compile passes on or off: ``{"pass1": True}`` for ``pass1:on``."""

    def read(self, value: Any) -> Tuple[Tuple[str, bool], ...]:
        """Accept the text or a mapping of pass to bool."""
        if isinstance(value, str):
            text = _text(value, "passes")
            entries = text[:-1].split(";") if text.endswith(";") else text.split(";")
            pairs = []
            for entry in entries:
                match = re.match(r"([^:;]+):(on|off)\Z", entry)
                if match is None:
                    raise _syntax(
                        'is "{}"'.format(shorten(text))
                        + (
                            ', where "{}" is no pass:on or pass:off'.format(shorten(entry, 40))
                            if len(entries) > 1
                            else ""
                        )
                    )
                pairs.append((match.group(1), match.group(2) == "on"))
            return tuple(pairs)
        if isinstance(value, Mapping):
            value = list(value.items())
        if (
            not _is_list(value)
            or not value
            or not all(
                _is_list(item)
                and len(item) == 2
                and isinstance(item[0], str)
                and isinstance(item[1], bool)
                and re.match("[^:;]+\\Z", item[0])
                for item in value
            )
        ):
            raise Refused(
                "wrong-type",
                'takes passes such as {{"pass1": False}}, got {}'.format(name_of_type(value)),
            )
        return tuple((name, switch) for name, switch in value)

    def render(self, value: Any) -> str:
        """``pass1:on;pass2:off``."""
        return ";".join("{}:{}".format(name, "on" if switch else "off") for name, switch in value)

    def describe(self) -> str:
        """Legal values."""
        return 'pass:on or pass:off entries joined by ";", e.g. "pass1:on;pass2:off"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^[^:;]+:(on|off)(;[^:;]+:(on|off))*;?$"},
                {
                    "type": "object",
                    "additionalProperties": {"type": "boolean"},
                    "minProperties": 1,
                },
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Mapping[str, bool]]"


@attr.s(frozen=True, slots=True, auto_attribs=True)
class JsonText(Kind):
    """The text of a JSON object inside the option; the keys are checked by the rules of its side file."""

    wire = "s"

    def read(self, value: Any) -> str:
        """Accept text, a mapping, or an object with ``to_text()``."""
        if isinstance(value, Mapping):
            try:
                return json.dumps(dict(value), separators=(",", ":"), ensure_ascii=False)
            except (TypeError, ValueError) as error:
                raise Refused(
                    "wrong-type", "holds a value that is no JSON: {}".format(error)
                ) from None
        if hasattr(value, "to_text"):
            value = value.to_text()
        return _text(value, "the text of a JSON object or a mapping")

    def describe(self) -> str:
        """Legal values."""
        return "the text of a JSON object"

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]
        }

    def annotation(self) -> str:
        """Type annotation."""
        return "Union[str, Mapping[str, str]]"
