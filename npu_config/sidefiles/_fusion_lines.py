"""The old syntax of fusion switch files: one ``PassName:on`` or ``PassName:off`` a line."""

from contextlib import suppress
from typing import Dict, Mapping, NamedTuple, Optional

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.sidefiles import _fusion_rules as rules
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.lines import BLANKS, Line
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
    log = FaultLog(source, rules.STRUCTURE)
    result = Switched({}, PlaceTable(source.place(0, len(text))), log)
    with suppress(StopReading):
        for number, content in enumerate(text.split("\n"), 1):
            if content:
                _read(Line(content, number, path), result)
    return result


def _read(line: Line, result: Switched) -> None:
    head, colon, tail = line.text.partition(":")
    name, state = head.strip(BLANKS), tail.strip(BLANKS)
    log = result.log
    if not colon:
        what = "a line of blanks" if not name else "a comment" if name[0] in "#;/" else None
        log.add(
            rules.STRUCTURE.diagnostic(
                'a line must be "PassName:on" or "PassName:off", one pass a line'
                if what is None
                else phrase("{}: the graph engine refuses the whole file over it", what),
                line.content(),
                help=None if what is None else "remove the line",
                fix=None if what is None else line.removal(),
            )
        )
        return
    start = len(head) + 1
    if state not in SWITCH:
        log.add(
            rules.VALUE.diagnostic(
                phrase('the switch of {} is {}; legal: "on", "off"', shown(name), shown(state)),
                line.place(*line.trimmed(start, len(line.text))),
                meant=near(state, SWITCH),
            )
        )
    place = line.place(*line.trimmed(0, len(head)))
    if name in result.passes:
        first = result.places.key_place((name,)).line
        message = phrase(
            "{} is on line {} already; the graph engine refuses the whole file", shown(name), first
        )
        log.add(rules.REPEATED.diagnostic(message, place, help="keep one of the two lines"))
        return
    result.places.put((name,), place, line.place(*line.trimmed(start, len(line.text))))
    if not name or name.startswith("#"):
        message = (
            phrase("the line switches a pass with the name {}; there are no comments", shown(name))
            if name
            else "the line has no name and no effect"
        )
        log.add(
            rules.STRUCTURE.diagnostic(
                message,
                line.content(),
                help="remove the line",
                severity=Severity.WARNING,
                fix=line.removal(),
            )
        )
    if name and not name.startswith("#"):
        result.passes[name] = SWITCH.get(state, False)
