"""Kinds for small records inside one text: core counts, modes, a subgraph, JSON."""

import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue.kinds import InvalidValue, Kind, as_int, read_text, shorten, shown
from npu_config.catalogue.kinds.structured import (
    Structured,
    bad_syntax,
    digits,
    either,
    in_bits,
    is_list,
    is_one_of,
    limited_text,
    wrong_type,
)
from npu_config.core.message import phrase
from npu_config.core.patterns import lazy_pattern


class CoreCounts(NamedTuple):
    """Upper bounds of Cube and Vector cores."""

    cube: int
    vector: int


class AicoreNum(Structured):
    """Cube and Vector cores: ``(24, 48)`` for ``24|48``."""

    annotation = "Union[str, Tuple[int, int]]"

    def parse(self, value: Any) -> CoreCounts:
        """Accept the text or a pair."""
        if isinstance(value, str):
            parts = limited_text(value, "two core counts").split("|")
            counts = [None if part.startswith("0") else digits(part) for part in parts]
            found = phrase('is "{}"', shorten(value))
        elif is_list(value):
            counts = [as_int(item) for item in value]
            found = phrase("is {}", shown(value))
        else:
            raise wrong_type("takes a pair of core counts such as (24, 48), got {}", value)
        numbers = [in_bits(count) for count in counts if count is not None and count > 0]
        if len(counts) != 2 or len(numbers) != 2:
            raise bad_syntax(found)
        return CoreCounts(*numbers)

    def render(self, value: Any) -> str:
        """``24|48``."""
        return "{}|{}".format(*value)

    def describe(self) -> str:
        """Legal values."""
        return 'Cube and Vector core counts joined by "|", both from 1 on, e.g. "24|48"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return either(
            {"type": "string", "pattern": r"^[1-9]\d*\|[1-9]\d*$"},
            {
                "type": "array",
                "items": {"type": "integer", "minimum": 1},
                "minItems": 2,
                "maxItems": 2,
            },
        )


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

    def parse(self, value: Any) -> AccelerateMode:
        """Accept the text or (precision, trigger[, ratio])."""
        if isinstance(value, str):
            fields: List[Any] = limited_text(value, "precision|trigger|ratio").split("|")
            found = phrase('is "{}"', shorten(value))
        elif is_list(value):
            fields = list(value)
            found = phrase("is {}", shown(value))
        else:
            raise wrong_type('takes a mode such as ("fast", "step", 0.9), got {}', value)
        if len(fields) not in (2, 3):
            raise bad_syntax(found)
        if not is_one_of(fields[0], self.precisions):
            raise bad_syntax(
                phrase('{}; the first part is "fast" (float16) or "fast1" (bfloat16)', found)
            )
        if not is_one_of(fields[1], tuple(self.ratios)):
            raise bad_syntax(phrase('{}; the second part is "step" or "loss"', found))
        ratio = self._ratio(fields[2] if len(fields) == 3 else None, found)
        low, high = self.ratios[fields[1]]
        if ratio is not None and not low <= ratio <= high:
            raise bad_syntax(
                phrase("{}; the ratio for {} lies in {} to {}", found, fields[1], low, high)
            )
        return AccelerateMode(read_text(fields[0]), read_text(fields[1]), ratio)

    def _ratio(self, field: Any, found: str) -> Optional[float]:
        if field is None:
            return None
        if isinstance(field, str):
            if not field:
                return None
            if not re.match(r"[0-9]{0,9}(\.[0-9]{0,17})?\Z", field) or not re.search(
                "[0-9]", field
            ):
                raise bad_syntax(phrase("{}; the third part is a ratio", found))
            return float(field)
        if isinstance(field, bool) or not isinstance(field, (int, float)) or abs(field) > 1e9:
            raise bad_syntax(phrase("{}; the third part is a ratio", found))
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
        return either(
            {"type": "string", "pattern": r"^(fast|fast1)\|(step|loss)(\|\d*(\.\d+)?)?$"},
            {"type": "array", "minItems": 2, "maxItems": 3},
        )


class StreamMode(NamedTuple):
    """Parallel execution on several streams; ``streams`` None for ``cv``."""

    strategy: str
    streams: Optional[int] = None


class MultistreamMode(Structured):
    """``("LoadBalance", 8)`` for ``LoadBalance:8``, or ``"cv"``."""

    annotation = "Union[str, Tuple[str, int]]"
    strategies = ("LoadBalance", "MainStream")
    most = 64

    def parse(self, value: Any) -> StreamMode:
        """Accept the text or (strategy, streams)."""
        if isinstance(value, str):
            strategy, colon, number = limited_text(value, "a strategy").partition(":")
            found = phrase('is "{}"', shorten(value))
            streams = digits(number) if colon else None
            if colon and (streams is None or number != str(streams)):
                streams = 0
        elif is_list(value) and len(value) in (1, 2):
            strategy = value[0]
            streams = as_int(value[1]) if len(value) == 2 and value[1] is not None else None
            found = phrase("is {}", shown(value))
        else:
            raise wrong_type('takes a mode such as ("LoadBalance", 8), got {}', value)
        if is_one_of(strategy, ("cv",)) and streams is None:
            return StreamMode("cv")
        if not is_one_of(strategy, self.strategies):
            raise bad_syntax(found)
        if streams is None:
            raise bad_syntax(
                phrase("{}, without a number of streams", found),
                phrase('write "{}:8"', strategy),
                "{}:8".format(strategy),
            )
        if not 1 <= streams <= self.most:
            raise bad_syntax(phrase("{}; the number of streams lies in 1 to {}", found, self.most))
        return StreamMode(read_text(strategy), streams)

    def render(self, value: Any) -> str:
        """``LoadBalance:8``."""
        strategy, streams = value
        return str(strategy) if streams is None else "{}:{}".format(strategy, streams)

    def describe(self) -> str:
        """Legal values."""
        return phrase('"cv", "LoadBalance:n" or "MainStream:n" with n from 1 to {}', self.most)

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return either(
            {
                "type": "string",
                "pattern": r"^(cv|(LoadBalance|MainStream):([1-9]|[1-5]\d|6[0-4]))$",
            },
            {"type": "array", "minItems": 1, "maxItems": 2},
        )


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

    def parse(self, value: Any) -> NodeRange:
        """Accept the text, or (inputs, outputs), or the nested list of the vendor's sample."""
        if isinstance(value, str):
            match = _PAIR.match(limited_text(value, "two lists of operator names"))
            if match is None:
                raise bad_syntax(phrase('is "{}"', shorten(value)))
            names = [[node[1:-1] for node in re.findall(_NODE, part)] for part in match.groups()]
        elif is_list(value):
            for _ in range(2):  # brackets around the pair
                if len(value) == 1 and is_list(value[0]):
                    value = value[0]
            if not is_list(value) or len(value) != 2:
                raise bad_syntax(
                    phrase("is {}; exactly one pair of lists is supported", shown(value))
                )
            names = [self._names(part) for part in value]
        else:
            raise wrong_type("takes two lists of operator names, got {}", value)
        if not names[0] or not names[1]:
            raise bad_syntax("has no operator on one side")
        return NodeRange(tuple(names[0]), tuple(names[1]))

    def _names(self, part: Any) -> List[str]:
        if isinstance(part, str):
            part = [part]
        if not is_list(part) or not all(
            isinstance(name, str) and re.match(r"[^'\"\\]+\Z", name) for name in part
        ):
            raise bad_syntax(
                phrase("holds {}, which is not a list of operator names", shown(part, 40))
            )
        return [read_text(name) for name in part]

    def render(self, value: Any) -> str:
        """``[[['in'], ['out']]]``."""
        return "[[[{}]]]".format(
            "], [".join(", ".join("'{}'".format(name) for name in names) for names in value)
        )

    def describe(self) -> str:
        """Legal values."""
        return "one pair of lists of operator names, e.g. \"[[['net/conv1'], ['net/add']]]\""


class JsonText(Kind):
    """The text of a JSON object inside the option; its keys are checked as a side file."""

    wire = "s"
    annotation = "Union[str, Mapping[str, str]]"

    def parse(self, value: Any) -> str:
        """Accept text, a mapping, or an object with ``to_text()``."""
        if isinstance(value, Mapping):
            import json

            try:
                return limited_text(
                    json.dumps(
                        dict(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False
                    ),
                    "a mapping",
                )
            except (TypeError, ValueError, RecursionError) as error:
                raise InvalidValue(
                    "wrong-type", phrase("holds a value that is not JSON: {}", error)
                ) from None
        if hasattr(value, "to_text"):
            value = value.to_text()
        return limited_text(value, "the text of a JSON object or a mapping")

    def describe(self) -> str:
        """Legal values."""
        return "the text of a JSON object"

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return either(
            {"type": "string"},
            {"type": "object", "additionalProperties": {"type": "string"}},
        )
