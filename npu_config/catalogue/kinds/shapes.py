"""Kinds for shapes: named shapes, profiles of sizes, ranges of shapes."""

import re
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

from npu_config.catalogue.kinds import as_int, read_text, shorten, shown
from npu_config.catalogue.kinds.structured import (
    Dim,
    Structured,
    bad_syntax,
    digits,
    either,
    first_twice,
    in_bits,
    is_list,
    is_one_of,
    limited_text,
    wrong_type,
)
from npu_config.core.message import phrase


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

    def parse(self, value: Any) -> Tuple[NamedShape, ...]:
        """Accept the text, a mapping of name to dimensions, or a list of pairs."""
        if isinstance(value, str):
            shapes = tuple(
                self._from_text(part, value) for part in limited_text(value, "shapes").split(";")
            )
        else:
            if isinstance(value, Mapping):
                value = list(value.items())
            if not is_list(value) or not all(is_list(item) and len(item) == 2 for item in value):
                raise wrong_type('takes shapes such as {{"data": [1, -1]}}, got {}', value)
            shapes = tuple(self._from_pair(name, dims) for name, dims in value)
        if not shapes:
            raise bad_syntax("names no input")
        names = [shape.name for shape in shapes]
        if len(set(names)) != len(names):
            raise bad_syntax(phrase('names the input "{}" twice', shorten(first_twice(names), 40)))
        return shapes

    def _from_text(self, part: str, text: str) -> NamedShape:
        name, colon, dims = part.partition(":")
        if not name or not colon or ":" in dims or not re.match(r"-?[0-9]+(,-?[0-9]+)*\Z", dims):
            where = (
                phrase(', where "{}" is not a name:dim,dim', shorten(part, 40))
                if ";" in text
                else ""
            )
            raise bad_syntax(phrase('is "{}"{}', shorten(text), where))
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
            raise bad_syntax(phrase("holds {}: {}", shown(name, 40), shown(dims, 40)))
        return self._shape(
            read_text(name), tuple(size for size in sizes if size is not None) or (0,)
        )

    def _shape(self, name: str, dims: Tuple[int, ...]) -> NamedShape:
        if dims == (0,):
            return NamedShape(name, ())
        for dim in dims:
            if in_bits(dim, 64) < -1 or dim == 0:
                raise bad_syntax(
                    phrase(
                        'gives "{}" the dimension {}; a dimension is positive or -1',
                        shorten(name, 40),
                        shown(dim, 30),
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
        return (
            'name:dim,dim entries joined by ";" without blanks, a dimension positive or -1, '
            'e.g. "data:1,3,-1,-1;label:-1"'
        )

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        dims = {"type": "array", "items": {"type": "integer", "minimum": -1}}
        return either(
            {
                "type": "string",
                "pattern": r"^[^;:]+:(-1|\d+)(,(-1|\d+))*(;[^;:]+:(-1|\d+)(,(-1|\d+))*)*$",
            },
            {"type": "object", "additionalProperties": dims, "minProperties": 1},
        )


class DynamicDims(Structured):
    """Profiles of sizes: ``[[1, 2], [4, 8]]`` for ``1,2;4,8``."""

    annotation = "Union[str, Sequence[Sequence[int]]]"
    most = 256

    def parse(self, value: Any) -> Tuple[Tuple[int, ...], ...]:
        """Accept the text or a list of profiles."""
        if isinstance(value, str):
            text = limited_text(value, "profiles")
            if not re.match(r"[0-9]+([,;][0-9]+)*\Z", text):
                raise bad_syntax(phrase('is "{}"', shorten(text)))
            profiles = tuple(tuple(map(_number, part.split(","))) for part in text.split(";"))
        elif is_list(value):
            profiles = tuple(self._profile(item) for item in value)
        else:
            raise wrong_type("takes profiles such as [[1, 2], [4, 8]], got {}", value)
        if not all(profiles) or any(
            in_bits(size, 64) < 1 for profile in profiles for size in profile
        ):
            raise bad_syntax("holds a size that is not positive")
        if len(profiles) < 2:
            raise bad_syntax(
                phrase("holds {} profile", len(profiles)), "give at least two, or fixed shapes"
            )
        if len(profiles) > self.most:
            raise bad_syntax(phrase("holds {} profiles", len(profiles)))
        if len(set(profiles)) != len(profiles):
            twice = ",".join(map(str, first_twice(profiles)))
            raise bad_syntax(phrase("holds the profile {} twice", shorten(twice, 40)))
        return profiles

    def _profile(self, item: Any) -> Tuple[int, ...]:
        sizes = [as_int(size) for size in (item if is_list(item) else [item])]
        if None in sizes:
            raise bad_syntax(phrase("holds {}, which is not a profile of sizes", shown(item, 40)))
        return tuple(size for size in sizes if size is not None)

    def render(self, value: Any) -> str:
        """``1,2;4,8``."""
        return ";".join(",".join(map(str, profile)) for profile in value)

    def describe(self) -> str:
        """Legal values."""
        return (
            '2 to 100 different profiles joined by ";" (256 on ascend_950), '
            'sizes in one joined by ",", no blanks, e.g. "64,64;128,128"'
        )

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        profile = {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1}
        return either(
            {"type": "string", "pattern": r"^\d+(,\d+)*(;\d+(,\d+)*)+$"},
            {"type": "array", "items": profile, "minItems": 2, "maxItems": self.most},
        )


class RangeGroup(NamedTuple):
    """The shape ranges of one kind of input, ``getnext`` or ``data``."""

    kind: str
    shapes: Tuple[Tuple[Dim, ...], ...]


class ShapeRange(Structured):
    """Ranges of shapes: ``{"data": [[-1, (8, 64), 3]]}`` for ``data:[-1,8~64,3]``."""

    annotation = "Union[str, Mapping[str, Sequence[Sequence[Union[int, Tuple[int, int]]]]]]"
    kinds = ("getnext", "data")

    def parse(self, value: Any) -> Tuple[RangeGroup, ...]:
        """Accept the text or a mapping of input kind to shapes."""
        if isinstance(value, str):
            groups = tuple(
                self._from_text(part, value)
                for part in limited_text(value, "shape ranges").split(";")
            )
        elif isinstance(value, Mapping):
            groups = tuple(self._from_pair(kind, shapes) for kind, shapes in value.items())
        elif is_list(value) and all(is_list(item) and len(item) == 2 for item in value):
            groups = tuple(self._from_pair(kind, shapes) for kind, shapes in value)
        else:
            raise wrong_type('takes ranges such as {{"data": [[-1, (8, 64)]]}}, got {}', value)
        if not groups:
            raise bad_syntax("names no input")
        if len({group.kind for group in groups}) != len(groups):
            raise bad_syntax(phrase('names the group "{}" twice', groups[0].kind))
        return groups

    def _from_text(self, part: str, text: str) -> RangeGroup:
        kind, colon, rest = part.partition(":")
        if (
            not colon
            or kind not in self.kinds
            or not re.match(r"\[[^\[\]]*\](,\[[^\[\]]*\])*\Z", rest)
        ):
            where = phrase(', where "{}" is not a group', shorten(part, 40)) if ";" in text else ""
            raise bad_syntax(phrase('is "{}"{}', shorten(text), where))
        return RangeGroup(kind, tuple(self._dims(shape) for shape in rest[1:-1].split("],[")))

    def _dims(self, shape: str) -> Tuple[Dim, ...]:
        if not shape.strip(" "):
            return ()
        dims: List[Dim] = []
        for dim in shape.split(","):
            match = re.match(r" *(?:(-1)|([0-9]+)(?: *~ *([0-9]+))?) *\Z", dim)
            if match is None:
                raise bad_syntax(
                    phrase(
                        'holds the dimension "{}"; a dimension is N, A~B or -1', shorten(dim, 30)
                    )
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
            raise bad_syntax(phrase("holds {}: {}", shown(kind, 40), shown(shapes, 40)))
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
                phrase("holds the dimension {}; a dimension is N, (A, B) or -1", shown(size, 30))
            )
        return in_bits(number, 64)

    def _range(self, first: int, last: int) -> Tuple[int, int]:
        if first > last:
            raise bad_syntax(
                phrase("holds the range {0}~{1}, which runs backwards", first, last),
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

    def describe(self) -> str:
        """Legal values."""
        return (
            'getnext:[dims],... and data:[dims],... joined by ";", a dimension N, A~B or -1, '
            'e.g. "getnext:[32,1~16],[32];data:[-1,8~64,3]"'
        )

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return either(
            {"type": "string"},
            {"type": "object", "propertyNames": {"enum": list(self.kinds)}},
        )
