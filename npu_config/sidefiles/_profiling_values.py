"""What is wrong with the keys and values of profiling options, as the profiler reads them."""

import re
from typing import Any, List, Optional

from npu_config.core.diagnostics import Diagnostic, Fix, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import Rule
from npu_config.sidefiles import _profiling_rules as rules
from npu_config.sidefiles.profiling_keys import (
    CUSTOM,
    EXCLUDED_BY_INSTR,
    KEYS,
    MAX_REGISTERS,
    Key,
    names,
    registers,
)
from npu_config.text import json as _json
from npu_config.text.source import Path, Places
from npu_config.text.words import joined, listed, near, shown

_NUMBER = re.compile(r"[0-9]{1,18}\Z")
_SIZE = re.compile(r"([0-9]{1,18})MB\Z")
_FORBIDDEN = "\n\f\r\b\t\v\x7f\"'\\%><|&$;`"


class _Found:
    """What is wrong with a value, and where its parts are."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.found: List[Diagnostic] = []

    def report(
        self,
        message: str,
        place: Place,
        help: Optional[str] = None,
        rule: Rule = rules.VALUE,
        meant: Optional[str] = None,
        fix: Optional[Fix] = None,
    ) -> None:
        """Add a finding."""
        self.found.append(rule.diagnostic(message, place, help=help, meant=meant, fix=fix))

    def must_be(
        self, what: str, expected: str, value: Any, path: Path, rule: Rule = rules.VALUE
    ) -> None:
        """Add that a value is of another kind, unless it could not be read."""
        if value is not _json.BROKEN:
            message = phrase("{} must be {}, not {}", what, expected, _json.kind_of(value))
            self.report(message, self.places.place(path), rule=rule)


def faults(value: Any, places: Places) -> List[Diagnostic]:
    """What is wrong with a plain value, whatever the target."""
    shape = _Found(places)
    top = value if isinstance(value, dict) else {}
    if top is not value:
        shape.must_be("the value of profiling_options", "an object", value, (), rules.KEY)
    for name in top:
        if name not in KEYS:
            message = "unknown key {} in the profiling options; legal: {}"
            meant = near(str(name), [other for other in KEYS if other not in top])
            message = phrase(message, shown(name), listed(KEYS))
            shape.report(message, places.key_place((name,)), rule=rules.KEY, meant=meant)
    for name, key in KEYS.items():
        if name not in top:
            continue
        if key.kind == "number":
            _judge_number(shape, name, key, top[name])
        elif isinstance(top[name], str):
            _judge(shape, name, key, top[name])
        else:
            shape.must_be('"{}"'.format(name), "text in double quotes", top[name], (name,))
    if "instr_profiling_freq" in top:
        excluded = [name for name in EXCLUDED_BY_INSTR if top.get(name, "") not in ("", "off")]
        if excluded:
            shape.report(
                phrase("instr_profiling_freq excludes {}", joined(excluded)),
                places.key_place(("instr_profiling_freq",)),
                "collect them in another run",
                rules.EXCLUSIVE,
            )
    tasks = [top.get("task_trace"), top.get("task_time")]
    meanings = {"l1" if task == "on" else task for task in tasks if isinstance(task, str)}
    if len(meanings) == 2:
        shape.report(
            phrase(
                "task_trace ({}) and task_time ({}) are one switch, and disagree",
                shown(top["task_trace"]),
                shown(top["task_time"]),
            ),
            places.place(("task_trace",)),
            "leave task_trace out",
            rules.SAME_SWITCH,
        )
    return shape.found


def _judge(shape: _Found, name: str, key: Key, value: str) -> None:
    place = shape.places.place((name,))
    if key.kind == "path":
        bad = [character for character in _FORBIDDEN if character in value]
        if bad:
            message = "the output path has {}, which the profiler refuses"
            names = [c if c.isprintable() else "U+{:04X}".format(ord(c)) for c in bad]
            shape.report(phrase(message, joined(names)), place, rule=rules.OUTPUT)
    elif key.kind == "word":
        if value not in key.allowed:
            _wrong_word(shape, name, key, value)
    elif key.kind == "words":
        for word in value.split(","):
            if word.strip() not in key.allowed:
                _wrong_word(shape, name, key, word.strip())
    elif key.kind == "metrics":
        if value not in key.allowed:
            _judge_metrics(shape, name, key, value)
    elif key.kind == "size":
        _judge_size(shape, name, key, value)
    if name == "training_trace" and value == "off":
        message = (
            '"training_trace" is "off", which the graph engine refuses; legal: on, or nothing'
        )
        shape.report(message, place, "leave it out")


def _wrong_word(shape: _Found, name: str, key: Key, word: str) -> None:
    message = phrase('"{}" is {}; legal: {}', name, shown(word), _legal(key))
    shape.report(message, shape.places.place((name,)), meant=near(word, key.allowed))


def _legal(key: Key) -> str:
    more = (CUSTOM + "<registers>",) if key.kind == "metrics" else ()
    return listed((*(word or '""' for word in key.allowed), *more))


def _judge_metrics(shape: _Found, name: str, key: Key, value: str) -> None:
    if not value.startswith(CUSTOM):
        message = phrase('"{}" is {}; legal: {}', name, shown(value), _legal(key))
        shape.report(message, shape.places.place((name,)), meant=near(value, key.allowed))
    elif registers(value[len(CUSTOM) :]) is None:
        shape.report(
            phrase(
                '"{}" is {}; legal after "{}": at most {} registers with commas between, each '
                "0x1 to 0x6E",
                name,
                shown(value),
                CUSTOM,
                MAX_REGISTERS,
            ),
            shape.places.place((name,)),
        )


def _judge_number(shape: _Found, name: str, key: Key, value: Any) -> None:
    low, high = key.range
    place = shape.places.place((name,))
    legal = phrase("an integer from {} to {}", low, high)
    if value is _json.BROKEN:
        return
    if type(value) is not int:
        number = _number_in(value)
        sure = str(number) if number is not None and low <= number <= high else None
        message = phrase('"{}" is {}; legal: {}, without quotes', name, _named(value), legal)
        help = None if sure is None else phrase("write {}", sure)
        shape.report(message, place, help, fix=Fix.writing(place, sure))
    elif not low <= value <= max(high, key.wide[1]):
        if key.wide[1]:
            legal += phrase(" ({}: to {})", names(key.wide[0]), key.wide[1])
        message = phrase('"{}" is {}, out of range; legal: {}', name, value, legal)
        shape.report(message, place, rule=rules.RANGE)


def _number_in(value: Any) -> Optional[int]:
    """The number that a text holds."""
    is_number = isinstance(value, str) and _NUMBER.match(value)
    return int(value) if is_number else None


def _named(value: Any) -> str:
    return phrase("the text {}", shown(value)) if isinstance(value, str) else _json.kind_of(value)


def _judge_size(shape: _Found, name: str, key: Key, value: str) -> None:
    low, high = key.range
    number, place = _number_in(value), shape.places.place((name,))
    in_mb = '"{}MB"'.format(number) if number is not None and low <= number <= high else None
    match = _SIZE.match(value)
    if match is not None and low <= int(match.group(1)) <= high:
        return
    shape.found.append(
        rules.RANGE.diagnostic(
            phrase(
                '"{}" is {}; legal: {}MB to {}MB; the profiler passes over it',
                name,
                shown(value),
                low,
                high,
            ),
            place,
            help=None if in_mb is None else phrase("write {}", in_mb),
            severity=Severity.WARNING,
            fix=Fix.writing(place, in_mb),
        )
    )
