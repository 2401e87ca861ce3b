"""The old syntax of fusion switch files: one ``PassName:on`` or ``PassName:off`` a line."""

import re
from contextlib import suppress
from typing import Dict, Mapping, NamedTuple, Optional

from npu_config.sidefiles import _fusion_rules as rules
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.lines import Line, lines
from npu_config.text.source import PlaceTable, Source
from npu_config.text.words import did_you_mean, shown

SWITCH: Mapping[str, bool] = {"on": True, "off": False}
PASS_NAME = re.compile(r"[^\s:{}\"']+\Z")
_LINE = re.compile(r"\s*(?P<name>[^\s:{}\"']+)\s*:\s*(?P<state>\S+)\s*\Z")


class Switched(NamedTuple):
    """What the lines say: pass to switch, where each is, and what is wrong."""

    passes: Dict[str, bool]
    places: PlaceTable
    log: FaultLog


def read_lines(text: str, path: Optional[str]) -> Switched:
    """Read the lines of a text; blank ones are passed over."""
    source = Source(text, path)
    log = FaultLog(source, rules.STRUCTURE)
    result = Switched({}, PlaceTable(source.place(0, len(text))), log)
    with suppress(StopReading):
        for line in lines(text, path):
            if line.text.strip():
                _read(line, result)
    return result


def _read(line: Line, result: Switched) -> None:
    match = _LINE.match(line.text)
    if match is None:
        message = 'a line must be "PassName:on" or "PassName:off", one pass a line'
        result.log.add(rules.STRUCTURE.diagnostic(message, line.content()))
        return
    name, state = match.group("name"), match.group("state")
    key, value = line.place(*match.span("name")), line.place(*match.span("state"))
    if state not in SWITCH:
        message = 'the switch of {} is {}; legal: "on", "off"'.format(shown(name), shown(state))
        help = did_you_mean(state, SWITCH)
        result.log.add(rules.VALUE.diagnostic(message, value, help=help))
    elif name in result.passes:
        first = result.places.key_place((name,)).line
        message = "{} appears twice, on lines {} and {}".format(shown(name), first, line.number)
        result.log.add(rules.REPEATED.diagnostic(message, key))
    result.places.put((name,), key, value)
    result.passes[name] = SWITCH.get(state, False)
