"""The sections of a fusion switch file: the schema of the new syntax, and what it cannot say."""

import re
from typing import Any, Dict

import attr

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.sidefiles import _fusion_rules as rules
from npu_config.sidefiles._fusion_lines import SWITCH
from npu_config.sidefiles.schema.findings import Findings
from npu_config.sidefiles.schema.kinds import (
    BadValueError,
    Items,
    Key,
    Kind,
    Names,
    Object,
    Schema,
    Text,
)
from npu_config.text.lines import BLANKS
from npu_config.text.source import Path
from npu_config.text.words import near, shown

SECTIONS = ("Switch", "Priority", "ExceptionalPassOfO1Level")
FUSIONS = ("GraphFusion", "UBFusion")
LEVELS = {"Top": (0, 999), "Main": (1000, 1999), "Down": (2000, 2999)}


def is_read(name: str) -> bool:
    """Whether the graph engine reads a pass of this name."""
    return bool(name) and name == name.strip(BLANKS)


def priority(text: str) -> int:
    """The number that digits say, however many zeros lead them; -1 for what is none."""
    match = re.match(r"0*([0-9]{1,9})\Z", text.strip(BLANKS))
    return -1 if match is None else int(match.group(1))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class _Switch(Kind):
    def parse(self, value: Any) -> str:
        """``on`` or ``off``; with blanks around it is off."""
        if value in SWITCH:
            return str(value)
        if value.strip(BLANKS) in SWITCH:
            raise BadValueError(
                "with blanks it means off",
                phrase('write "{}" if that is meant', value.strip()),
                read_as="off",
            )
        raise BadValueError('legal: "on", "off"', meant=near(value, SWITCH))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class _Priority(Kind):
    lowest: int
    highest: int

    def parse(self, value: Any) -> int:
        """The number."""
        number = priority(value)
        if not self.lowest <= number <= self.highest:
            message = "legal: an integer text from {} to {}"
            raise BadValueError(phrase(message, self.lowest, self.highest))
        return number


def _fusions(kind: Kind) -> Schema:
    keys = {fusion: Key(kind, source=rules.PARSER) for fusion in FUSIONS}
    return Schema(keys, closed=True, trimmed=True)


_LEVELS = Schema(
    {
        level: Key(Names(_Priority(*span)), source=rules.PARSER, rule=rules.fusion_switch_priority)
        for level, span in LEVELS.items()
    },
    closed=True,
    trimmed=True,
)
_SWITCHES = Names(_Switch())
SCHEMA = Schema(
    {
        "Switch": Key(Object(_fusions(_SWITCHES)), source=rules.PARSER),
        "Priority": Key(Object(_fusions(Object(_LEVELS))), source=rules.PARSER),
        "ExceptionalPassOfO1Level": Key(Items(Text(0)), source=rules.PARSER),
    },
    closed=True,
    trimmed=True,
)


def judge(value: Any, findings: Findings) -> None:
    """Note names that say nothing, and passes with two priorities."""
    if not isinstance(value, dict):
        return
    for section, kinds in (("Switch", None), ("Priority", LEVELS)):
        for fusion in FUSIONS:
            inner = value.get(section)
            passes = inner.get(fusion) if isinstance(inner, dict) else None
            if not isinstance(passes, dict):
                continue
            if kinds is None:
                _judge_names(passes, (section, fusion), findings)
                continue
            first: Dict[str, Path] = {}
            for level in passes:
                if isinstance(passes[level], dict):
                    path = (section, fusion, level)
                    _judge_names(passes[level], path, findings)
                    _judge_repeated(passes[level], path, first, findings)


def _judge_names(passes: Dict[str, Any], path: Path, findings: Findings) -> None:
    for name in passes:
        if not is_read(name):
            findings.add(
                rules.fusion_switch_structure,
                (*path, name),
                phrase("{} is accepted as the name of a pass and has no effect", shown(name)),
                "remove the blanks" if name.strip() else "name the pass",
                Severity.WARNING,
                at_key=True,
            )


def _judge_repeated(
    passes: Dict[str, Any], path: Path, first: Dict[str, Path], findings: Findings
) -> None:
    for name in passes:
        other = first.setdefault(name.strip(BLANKS), (*path, name))
        if other != (*path, name):
            findings.add(
                rules.fusion_switch_priority,
                (*path, name),
                phrase(
                    "{} has a priority already, in {}; a pass has one",
                    shown(name),
                    shown(other[2]),
                ),
                at_key=True,
            )
