"""Kinds for lists inside one text: steps, devices, engines, names, passes."""

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import attr

from npu_config.catalogue.kinds import (
    INT32_MAX,
    InvalidValue,
    as_int,
    is_bool,
    name_of_type,
    read_text,
    shorten,
    shown,
)
from npu_config.catalogue.kinds.structured import (
    Dim,
    Structured,
    bad_syntax,
    digits,
    either,
    in_bits,
    is_list,
    is_one_of,
    limited_text,
    spelt,
    wrong_type,
)
from npu_config.core.message import join, listed, phrase


class DumpStep(Structured):
    """Steps and ranges of steps: ``[0, 5, (10, 20)]`` for ``0|5|10-20``, at most 100 of them."""

    annotation = "Union[str, int, Sequence[Union[int, Tuple[int, int]]]]"
    most = 100

    def parse(self, value: Any) -> Tuple[Dim, ...]:
        """Accept the text, a step, or a list of steps and (first, last) pairs."""
        if isinstance(value, str):
            steps = tuple(
                self._from_text(part, value)
                for part in limited_text(value, "steps").split("|", self.most + 1)
            )
        elif as_int(value) is not None:
            steps = (self._step(value),)
        elif is_list(value):
            steps = tuple(self._from_value(item) for item in value)
        else:
            raise wrong_type("takes steps such as [0, 5, (10, 20)], got {}", value)
        if not steps:
            raise bad_syntax("names no step", "leave it out to dump every step")
        if len(steps) > self.most:
            raise bad_syntax(
                phrase("holds more than {} steps or ranges", self.most),
                "join neighbours to ranges",
            )
        return steps

    def _from_text(self, part: str, text: str) -> Dim:
        first, dash, last = part.partition("-")
        if not part:
            raise bad_syntax(phrase('is "{}", with an empty step', shorten(text)))
        numbers = [digits(each) for each in ([first, last] if dash else [first])]
        if None in numbers:
            problem = 'is "{}", where "{}" is neither a step nor a range'
            raise bad_syntax(phrase(problem, shorten(text), shorten(part, 30)))
        steps = [self._step(number) for number in numbers]
        return self._range(*steps) if dash else steps[0]

    def _from_value(self, item: Any) -> Dim:
        if isinstance(item, str):
            return self._from_text(item, item)
        if is_list(item):
            if len(item) != 2:
                raise bad_syntax(
                    phrase("holds {}, which is not a (first, last) pair", shown(item, 40))
                )
            return self._range(self._step(item[0]), self._step(item[1]))
        return self._step(item)

    def _step(self, value: Any) -> int:
        number = as_int(value)
        if number is None or number < 0:
            raise bad_syntax(phrase("holds {}, which is not a step number", name_of_type(value)))
        return in_bits(number)

    def _range(self, first: int, last: int) -> Tuple[int, int]:
        if first >= last:
            raise bad_syntax(
                phrase("holds the range {}-{}, which does not rise", first, last),
                meant=str(first) if first == last else "{}-{}".format(last, first),
                piece="{}-{}".format(first, last),
            )
        return (first, last)

    def render(self, value: Any) -> str:
        """``0|5|10-20``."""
        return "|".join(
            "{}-{}".format(*step) if isinstance(step, tuple) else str(step) for step in value
        )

    def describe(self) -> str:
        """Legal values."""
        return phrase(
            'steps and rising ranges joined by "|", at most {}, e.g. "0|5|10-20"', self.most
        )

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        step = {"type": "integer", "minimum": 0, "maximum": INT32_MAX}
        pair = {"type": "array", "items": step, "minItems": 2, "maxItems": 2}
        return either(
            {"type": "string", "pattern": r"^\d+(-\d+)?(\|\d+(-\d+)?){0,99}$"},
            step,
            {
                "type": "array",
                "items": {"anyOf": [step, pair]},
                "minItems": 1,
                "maxItems": self.most,
            },
        )


class DeviceList(Structured):
    """Device ids: ``[0, 1, 2]`` for ``0,1,2``."""

    annotation = "Union[str, Sequence[int]]"

    def parse(self, value: Any) -> Tuple[int, ...]:
        """Accept the text or a list of integers."""
        if isinstance(value, str):
            text = limited_text(value, "device ids")
            devices: List[Optional[int]] = [digits(part) for part in text.split(",")]
            found = phrase('is "{}"', shorten(text))
        elif is_list(value):
            devices = [as_int(item) for item in value]
            found = phrase("is {}", shown(value))
        else:
            raise wrong_type("takes device ids such as [0, 1], got {}", value)
        numbers = tuple(
            in_bits(device) for device in devices if device is not None and device >= 0
        )
        if len(numbers) != len(devices) or not devices:
            raise bad_syntax(found)
        if len(set(numbers)) != len(numbers):
            raise bad_syntax(phrase("{}, where a device is given twice", found))
        return numbers

    def render(self, value: Any) -> str:
        """``0,1,2``."""
        return ",".join(str(device) for device in value)

    def describe(self) -> str:
        """Legal values."""
        return 'device ids joined by "," without blanks, e.g. "0,1,2,3"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return either(
            {"type": "string", "pattern": r"^\d+(,\d+)*$"},
            {
                "type": "array",
                "items": {"type": "integer", "minimum": 0, "maximum": INT32_MAX},
                "minItems": 1,
                "uniqueItems": True,
            },
        )


class StreamLimits(Structured):
    """Parallel streams for each engine: ``{"AIcoreEngine": 4}`` for ``AIcoreEngine:4``."""

    annotation = "Union[str, Mapping[str, int]]"
    engines = ("DNN_VM_AICPU", "AIcoreEngine")

    def parse(self, value: Any) -> Tuple[Tuple[str, int], ...]:
        """Accept the text or a mapping of engine to number."""
        if isinstance(value, str):
            pairs: List[Tuple[Any, Any]] = []
            for part in limited_text(value, "engines").split(","):
                engine, colon, number = part.partition(":")
                pairs.append((engine, digits(number) if colon else None))
            found = phrase('is "{}"', shorten(value))
        else:
            if isinstance(value, Mapping):
                value = list(value.items())
            if not is_list(value) or not all(is_list(item) and len(item) == 2 for item in value):
                raise wrong_type(
                    'takes numbers by engine such as {{"AIcoreEngine": 4}}, got {}', value
                )
            pairs = [(engine, as_int(number)) for engine, number in value]
            found = phrase("is {}", shown(value))
        for engine, number in pairs:
            if not is_one_of(engine, self.engines):
                raise bad_syntax(phrase('{}, where "{}" is not an engine', found, spelt(engine)))
            if number is None or number < 1:
                raise bad_syntax(phrase("{}, where {} has no number from 1 on", found, engine))
            in_bits(number)
        if not pairs or len({engine for engine, _ in pairs}) != len(pairs):
            raise bad_syntax(phrase("{}, where an engine is missing or is given twice", found))
        return tuple((read_text(engine), number) for engine, number in pairs)

    def render(self, value: Any) -> str:
        """``DNN_VM_AICPU:10,AIcoreEngine:1``."""
        return ",".join("{}:{}".format(engine, number) for engine, number in value)

    def describe(self) -> str:
        """Legal values."""
        return phrase(
            'engine:number pairs joined by ",", engines {}, e.g. "DNN_VM_AICPU:10,AIcoreEngine:1"',
            join(" and ", self.engines),
        )

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return either(
            {"type": "string", "pattern": r"^[A-Za-z_]+:[1-9]\d*(,[A-Za-z_]+:[1-9]\d*)*$"},
            {
                "type": "object",
                "propertyNames": {"enum": list(self.engines)},
                "additionalProperties": {"type": "integer", "minimum": 1, "maximum": INT32_MAX},
                "minProperties": 1,
            },
        )


def _some(names: Sequence[str]) -> str:
    """A few names in quotes, and how many more there are."""
    shown_names = ['"{}"'.format(shorten(name, 40)) for name in names[:5]]
    more = len(names) - len(shown_names)
    return listed(shown_names) + (phrase(" and {} more", more) if more else "")


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Names(Structured):
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
            text = limited_text(value, self.what)
            names: Sequence[Any] = text.split(None if self.separator == " " else self.separator)
            found = phrase('is "{}"', shorten(text))
        elif is_list(value):
            names = list(value)
            found = phrase("is {}", shown(value))
        else:
            problem = phrase("takes {}, got {}", self.what, name_of_type(value))
            raise InvalidValue("wrong-type", problem)
        if not names:
            raise bad_syntax(found)
        for name in names:
            if not isinstance(name, str) or not self._is_name(name.strip()):
                which = phrase(', where "{}" is not a name', spelt(name))
                raise bad_syntax(found + (which if len(names) > 1 else ""))
        unknown = [name.strip() for name in names if self.known and name.strip() not in self.known]
        spaced = [name.strip() for name in names if not self._is_name(name)]
        wrong = [_some(unknown)] if unknown else []
        if spaced:
            wrong.append(phrase('a blank beside "{}"', shorten(spaced[0], 40)))
        if wrong:
            rule = "value-not-allowed" if unknown else "bad-syntax"
            help = "write legal names without blanks" if unknown else "write names without blanks"
            problem = phrase("{}, with {}", found, join(" and ", wrong))
            raise InvalidValue(rule, problem, help if spaced else None)
        return tuple(read_text(name) for name in names)

    def _is_name(self, text: str) -> bool:
        return re.match("(?:{})\\Z".format(self.name), text) is not None

    def render(self, value: Any) -> str:
        """The names joined by the separator."""
        return self.separator.join(value)

    def describe(self) -> str:
        """Legal values."""
        joined = "blanks" if self.separator == " " else '"{}"'.format(self.separator)
        words = phrase("{} joined by {}", self.what, joined)
        if self.known:
            words = phrase("{} out of {}", words, listed(self.known))
        return phrase('{}, e.g. "{}"', words, self.example) if self.example else words

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        item: Dict[str, Any] = (
            {"type": "string", "enum": list(self.known)}
            if self.known
            else {"type": "string", "minLength": 1}
        )
        return either(
            {"type": "string", "minLength": 1},
            {"type": "array", "items": item, "minItems": 1},
        )


class PassSwitches(Structured):
    """Compile passes on or off: ``{"pass1": True}`` for ``pass1:on``."""

    annotation = "Union[str, Mapping[str, bool]]"

    def parse(self, value: Any) -> Tuple[Tuple[str, bool], ...]:
        """Accept the text or a mapping of pass to bool."""
        if isinstance(value, str):
            text = limited_text(value, "passes")
            entries = text[:-1].split(";") if text.endswith(";") else text.split(";")
            pairs = []
            for entry in entries:
                match = re.match(r"([^:;]+):(on|off)\Z", entry)
                if match is None:
                    raise bad_syntax(
                        phrase('is "{}"', shorten(text))
                        + (
                            phrase(', where "{}" is not a pass:on or pass:off', shorten(entry, 40))
                            if len(entries) > 1
                            else ""
                        )
                    )
                pairs.append((match.group(1), match.group(2) == "on"))
            return tuple(pairs)
        if isinstance(value, Mapping):
            value = list(value.items())
        if (
            not is_list(value)
            or not value
            or not all(
                is_list(item)
                and len(item) == 2
                and isinstance(item[0], str)
                and is_bool(item[1])
                and re.match("[^:;]+\\Z", item[0])
                for item in value
            )
        ):
            raise wrong_type('takes passes such as {{"pass1": False}}, got {}', value)
        return tuple((read_text(name), bool(switch)) for name, switch in value)

    def render(self, value: Any) -> str:
        """``pass1:on;pass2:off``."""
        return ";".join("{}:{}".format(name, "on" if switch else "off") for name, switch in value)

    def describe(self) -> str:
        """Legal values."""
        return 'pass:on or pass:off entries joined by ";", e.g. "pass1:on;pass2:off"'

    def schema(self) -> Dict[str, Any]:
        """JSON Schema."""
        return either(
            {"type": "string", "pattern": r"^[^:;]+:(on|off)(;[^:;]+:(on|off))*;?$"},
            {
                "type": "object",
                "additionalProperties": {"type": "boolean"},
                "minProperties": 1,
            },
        )
