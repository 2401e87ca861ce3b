"""The old syntax of fusion switch files: one ``PassName:on`` or ``PassName:off`` a line."""

import re
from typing import Dict, List, Mapping, NamedTuple, Optional

from npu_config.core.diagnostics import Diagnostic
from npu_config.sidefiles import _fusion_rules as rules
from npu_config.text.lines import Line, lines_until_hopeless
from npu_config.text.source import PlaceTable, Source
from npu_config.text.words import did_you_mean, shown

SWITCH: Mapping[str, bool] = {"on": True, "off": False}
PASS_NAME = re.compile(r"[^\s:{}\"']+\Z")
_LINE = re.compile(r"\s*(?P<name>[^\s:{}\"']+)\s*:\s*(?P<state>\S+)\s*\Z")


class Switched(NamedTuple):
    """What the lines say: pass to switch, where each stands, and what is wrong."""

    passes: Dict[str, bool]
    places: PlaceTable
    found: List[Diagnostic]


def read_lines(text: str, path: Optional[str]) -> Switched:
    """Read the lines of a text; blank ones are passed over."""
    result = Switched({}, PlaceTable(Source(text, path).place(0, len(text))), [])
    for line in lines_until_hopeless(text, path, rules.STRUCTURE, result.found):
        if line.text.strip():
            _read(line, result)
    return result


def _read(line: Line, result: Switched) -> None:
    match = _LINE.match(line.text)
    if match is None:
        message = 'a line must be "PassName:on" or "PassName:off", one pass a line'
        result.found.append(rules.STRUCTURE.diagnostic(message, line.content()))
        return
    name, state = match.group("name"), match.group("state")
    key, value = line.place(*match.span("name")), line.place(*match.span("state"))
    if state not in SWITCH:
        message = 'the switch of {} is {}; legal: "on", "off"'.format(shown(name), shown(state))
        help = did_you_mean(state, SWITCH)
        result.found.append(rules.VALUE.diagnostic(message, value, help=help))
    elif name in result.passes:
        first = result.places.key_place((name,)).line
        message = "{} stands twice, on lines {} and {}".format(shown(name), first, line.number)
        result.found.append(rules.REPEATED.diagnostic(message, key))
    result.places.put((name,), key, value)
    result.passes[name] = SWITCH.get(state, False)
