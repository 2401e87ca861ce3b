"""The old syntax of fusion switch files: one ``PassName:on`` or ``PassName:off`` a line."""

from contextlib import suppress
from typing import Dict, Iterator, Mapping, NamedTuple, Optional

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.message import phrase
from npu_config.sidefiles import _fusion_rules as rules
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.lines import BLANKS, MARK, Line, marked
from npu_config.text.source import PlaceTable, Source
from npu_config.text.words import near, shown

SWITCH: Mapping[str, bool] = {"on": True, "off": False}


class Switched(NamedTuple):
    """What the lines say: pass to switch, where each is, and what is wrong."""

    passes: Dict[str, bool]
    places: PlaceTable
    log: FaultLog


def read_lines(text: str, path: Optional[str]) -> Switched:
    """Read the lines of a text as the graph engine does: only a line of no length is none."""
    source = Source(text, path)
    log = FaultLog(source, rules.fusion_switch_structure)
    result = Switched({}, PlaceTable(source.place(0, len(text))), log)
    with suppress(StopReading):
        for number, content in enumerate(text.split("\n"), 1):
            if content:
                log.add_all(_read(Line(content, number, path), result))
    return result


def _read(line: Line, result: Switched) -> Iterator[Diagnostic]:
    head, colon, tail = line.text.partition(":")
    name, state = head.strip(BLANKS), tail.strip(BLANKS)
    removal = line.removal()
    if not colon:
        if name and name[0] not in "#;/":
            message = 'a line must be "PassName:on" or "PassName:off", one pass a line'
            yield rules.fusion_switch_structure.diagnostic(message, line.content())
            return
        yield rules.fusion_switch_structure.diagnostic(
            phrase(
                "{}: the graph engine refuses the whole file over it",
                "a comment" if name else "a line of blanks",
            ),
            line.content(),
            help="remove the line",
            fix=removal,
        )
        return
    switch = line.place(*line.trimmed(len(head) + 1, len(line.text)))
    if state not in SWITCH:
        message = phrase('the switch of {} is {}; legal: "on", "off"', shown(name), shown(state))
        yield rules.fusion_switch_value.diagnostic(message, switch, meant=near(state, SWITCH))
    place = line.place(*line.trimmed(0, len(head)))
    if name in result.passes:
        first = result.places.key_place((name,)).line
        message = phrase(
            "{} is on line {} already; the graph engine refuses the whole file", shown(name), first
        )
        yield rules.fusion_switch_repeated.diagnostic(
            message, place, help="keep one of the two lines"
        )
        return
    result.places.put((name,), place, switch)
    if name.startswith(MARK):
        yield marked(line, rules.fusion_switch_structure)
        return
    if name and not name.startswith("#"):
        result.passes[name] = SWITCH.get(state, False)
        if name.startswith("{"):
            message = "the file is no JSON; the line switches a pass with the name {}"
            message = phrase(message, shown(name))
            yield rules.fusion_switch_structure.diagnostic(
                message, place, severity=Severity.WARNING
            )
        return
    yield rules.fusion_switch_structure.diagnostic(
        phrase("the line switches a pass with the name {}; there are no comments", shown(name))
        if name
        else "the line has no name and no effect",
        line.content(),
        help="remove the line",
        severity=Severity.WARNING,
        fix=removal,
    )
