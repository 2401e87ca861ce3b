"""fusion_switch.cfg, the file of ``fusion_switch_file``: fusion passes switched on and off.

Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md.
"""

import json
import re
from typing import Any, Callable, Collection, Dict, Iterator, Mapping, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Report, Severity
from npu_config.core.message import phrase
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.sidefiles import _fusion_rules as rules
from npu_config.sidefiles._convert import texts
from npu_config.sidefiles._frozen import Table
from npu_config.sidefiles._fusion_lines import SWITCH, read_lines
from npu_config.sidefiles._fusion_sections import (
    FUSIONS,
    LEVELS,
    SCHEMA,
    SECTIONS,
    is_read,
    judge,
    priority,
)
from npu_config.sidefiles.declared import Declared
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude, refuse, takes_text
from npu_config.sidefiles.schema.reading import Rules
from npu_config.text import json as _json
from npu_config.text.lines import name_fault
from npu_config.text.source import ANYWHERE, Path, Places, Source
from npu_config.text.words import near, shown

ALL = "ALL"

Switches = Mapping[str, Union[str, bool]]
Levels = Mapping[str, Mapping[str, int]]

_SWITCHED = re.compile(r"[A-Z][A-Za-z0-9_]*\s*:\s*(?i:on|off)\Z")


def _switches(value: Switches) -> Mapping[str, bool]:
    """``"on"`` and ``"off"`` as bools; anything else stays for the judgement."""
    given: Any = value
    if not isinstance(given, Mapping):
        return given  # type: ignore[no-any-return]
    known: Mapping[str, Any] = SWITCH
    return Table(
        (name, known.get(switch.strip(), switch) if isinstance(switch, str) else switch)
        for name, switch in given.items()
    )


def _priorities(value: Levels) -> Levels:
    given: Any = value
    if not isinstance(given, Mapping):
        return given  # type: ignore[no-any-return]
    return Table(
        (level, Table(passes) if isinstance(passes, Mapping) else passes)
        for level, passes in given.items()
        if passes
    )


@attr.s(frozen=True, slots=True, auto_attribs=True)
class FusionSwitch:
    """The content of a fusion switch file.

    Args:
        graph: graph fusion pass, or ``"ALL"``, to ``"on"``/``"off"`` or a bool; a pass that is
            named beats ``"ALL"``.
        ub: the same for UB fusion passes.
        graph_priority: ``"Top"``, ``"Main"`` or ``"Down"`` to pass to priority (0..999,
            1000..1999, 2000..2999).
        ub_priority: the same for UB fusion passes.
        exceptional: the passes of ``ExceptionalPassOfO1Level``.
        passes: pass to switch, of the old syntax, which has one ``pass:on`` a line and does
            not tell graph and UB fusion apart; excludes all others.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    graph: Mapping[str, bool] = attr.ib(factory=Table, converter=_switches)
    ub: Mapping[str, bool] = attr.ib(factory=Table, converter=_switches)
    graph_priority: Levels = attr.ib(factory=Table, converter=_priorities)
    ub_priority: Levels = attr.ib(factory=Table, converter=_priorities)
    exceptional: Tuple[str, ...] = attr.ib(default=(), converter=texts)
    passes: Mapping[str, bool] = attr.ib(factory=Table, converter=_switches)

    def __attrs_post_init__(self) -> None:
        FUSION.refuse(_plain(self), Severity.WARNING)
        refuse(_line_faults(self))

    @classmethod
    def of(cls, graph: Optional[Switches] = None, ub: Optional[Switches] = None) -> "FusionSwitch":
        """The file that switches these passes.

        Args:
            graph: graph fusion pass, or ``"ALL"``, to ``"on"``/``"off"`` or a bool.
            ub: the same for UB fusion passes.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        return cls(graph=_switches(graph or {}), ub=_switches(ub or {}))

    @classmethod
    def off(cls, target: Target = ANY_TARGET) -> "FusionSwitch":
        """The file that switches off every pass that can be (fusion_off.cfg of precision_tool).

        Args:
            target: on ``ascend_950`` UB fusion, which does not exist there, is left out.
        """
        return cls({ALL: False}, {} if target.product is Product.ASCEND_950 else {ALL: False})

    def state(self, name: str, ub: bool = False) -> Optional[bool]:
        """What the file says of a pass: on, off, or nothing (None).

        Args:
            name: the pass.
            ub: True for a UB fusion pass.
        """
        if self.passes:
            return self.passes.get(name)
        switches = self.ub if ub else self.graph
        return switches.get(name, switches.get(ALL))


def _written(switch: Any) -> Any:
    return "on" if switch is True else "off" if switch is False else switch


def _plain(model: FusionSwitch) -> Dict[str, Any]:
    """The JSON value of the new syntax."""
    switches = zip(FUSIONS, (model.graph, model.ub))
    levels = zip(FUSIONS, (model.graph_priority, model.ub_priority))
    plain: Dict[str, Any] = {
        "Switch": {fusion: _each(passes, _written) for fusion, passes in switches}
    }
    priorities = {fusion: _each(found, _texts) for fusion, found in levels if found}
    if priorities:
        plain["Priority"] = priorities
    if model.exceptional:
        names = model.exceptional
        plain["ExceptionalPassOfO1Level"] = list(names) if isinstance(names, tuple) else names
    return plain


def _each(value: Any, write: Callable[[Any], Any]) -> Any:
    """A mapping with its values as they are written; what is none stays for the judgement."""
    if not isinstance(value, Mapping):
        return value
    return {name: write(inner) for name, inner in value.items()}


def _texts(passes: Any) -> Any:
    return _each(passes, lambda number: str(number) if type(number) is int else number)


def _build(value: Any) -> FusionSwitch:
    """The model of what is read; keys and names with blanks around them are not."""
    value = value or {}
    switch = value.get("Switch", {})
    on = [
        {name: state == "on" for name, state in switch.get(fusion, {}).items() if is_read(name)}
        for fusion in FUSIONS
    ]
    levels = [
        {
            level: {name: priority(text) for name, text in passes.items() if is_read(name)}
            for level, passes in value.get("Priority", {}).get(fusion, {}).items()
            if level in LEVELS
        }
        for fusion in FUSIONS
    ]
    exceptional = value.get("ExceptionalPassOfO1Level", ())
    return FusionSwitch(on[0], on[1], levels[0], levels[1], exceptional)


FUSION: "Declared[FusionSwitch]" = Declared(
    "the fusion switch file",
    SCHEMA,
    Rules(
        rules.fusion_switch_structure,
        rules.fusion_switch_structure,
        rules.fusion_switch_structure,
        rules.fusion_switch_value,
    ),
    _build,
    judge,
    one_value=True,
)


def _line_faults(model: FusionSwitch) -> Iterator[Diagnostic]:
    """What is wrong with the fields of the old syntax."""
    if not model.passes:
        return
    new = (model.graph, model.ub, model.graph_priority, model.ub_priority, model.exceptional)
    if any(new):
        yield rules.fusion_switch_structure.diagnostic(
            'the old syntax (passes) cannot be combined with the new one ("Switch", "Priority")'
        )
    passes: Mapping[Any, Any] = model.passes
    first = [name for name in passes if isinstance(name, str) and not _starts_json(name)]
    for name, state in passes.items():
        if name_fault(name, ":") is not None or name.startswith("#") or not first:
            message = phrase("{} is not the name of a pass", shown(name))
            yield rules.fusion_switch_structure.diagnostic(message)
        if not isinstance(state, bool):
            message = 'the switch of {} is {}; legal: "on", "off"'
            yield rules.fusion_switch_value.diagnostic(phrase(message, shown(name), shown(state)))


def _starts_json(name: str) -> bool:
    return name.startswith("null") or _json_start(name + ":") is not None


def _json_start(content: str) -> Optional[str]:
    """The JSON value at the start of a text, which is then read as JSON, or None."""
    try:
        return content[: _DECODER.raw_decode(content)[1]]
    except (ValueError, RecursionError):
        return None


def _constant(name: str) -> Any:
    raise ValueError(name)


_DECODER = json.JSONDecoder(parse_constant=_constant)


def _read_lines(text: str, path: Optional[str]) -> Parsed[FusionSwitch]:
    """The old syntax."""
    passes, places, log = read_lines(text, path)
    understood = Report(log).ok
    return conclude(
        log, places, (lambda: FusionSwitch(passes=passes)) if understood else None, lambda _: ()
    )


@takes_text
def parse(
    text: str, path: Optional[str] = None, target: Target = ANY_TARGET
) -> Parsed[FusionSwitch]:
    """Read a fusion switch file of either syntax.

    Args:
        text: anything.
        path: the file it came from.
        target: what :func:`check` is to know.
    """
    content = text.lstrip("\ufeff \t\r\n")
    if not content:
        message = 'the file is empty; write at least {"Switch": {}}'
        return Parsed(
            None,
            Report([rules.fusion_switch_structure.diagnostic(message, Place(path, 1, 1, 1, 1))]),
        )
    if content.startswith("null"):
        message = "the graph engine reads null from the start of the file, and switches nothing"
        place = Source(text, path).place(0, len(text))
        found = rules.fusion_switch_structure.diagnostic(message, place, severity=Severity.WARNING)
        return Parsed(FusionSwitch(), Report([found]))
    start = _json_start(content)
    if start is None:
        parsed = _read_lines(text, path)
        if not parsed.ok and Sample(text).is_json:
            parsed = FUSION.parse(text, path)
    elif start.startswith("{"):
        parsed = FUSION.parse(text, path)
    else:
        place = Source(text, path).place(len(text) - len(content), len(text))
        message = phrase(
            "the graph engine reads the start of the file, {}, as a JSON value and refuses it; "
            "the name of a pass does not begin with a digit, a quote, true or false",
            shown(start),
        )
        return Parsed(None, Report([rules.fusion_switch_structure.diagnostic(message, place)]))
    if parsed.model is None:
        return parsed
    model, places = parsed.model, parsed.places
    return conclude(parsed.diagnostics, places, lambda: model, lambda m: check(m, target, places))


def check(
    model: FusionSwitch,
    target: Target = ANY_TARGET,
    places: Places = ANYWHERE,
    unclosable: Collection[str] = (),
) -> Tuple[Diagnostic, ...]:
    """What the switches do not do.

    Args:
        model: the switches.
        target: on ``ascend_950`` there is no UB fusion.
        places: where the parts stand (``Parsed.places``).
        unclosable: passes that may not be closed, as far as the user knows them.
    """
    found = []
    if target.product is Product.ASCEND_950 and (model.ub or model.ub_priority):
        message = "there is no UB fusion on ascend_950; the section does nothing"
        place = places.key_place(("Switch" if model.ub else "Priority", "UBFusion"))
        found.append(
            rules.fusion_switch_ub_ascend_950.diagnostic(message, place, help="leave it out")
        )
    sections: Tuple[Tuple[Path, Mapping[str, bool]], ...] = (
        (("Switch", "GraphFusion"), model.graph),
        (("Switch", "UBFusion"), model.ub),
        ((), model.passes),
    )
    for path, passes in sections:
        for name, state in passes.items():
            if not state and name in unclosable:
                message = phrase("{} may not be closed; it stays on", shown(name))
                found.append(
                    rules.fusion_switch_unclosable.diagnostic(message, places.place((*path, name)))
                )
    return tuple(found)


def render(model: FusionSwitch) -> str:
    """The canonical text of the file, in the syntax of the model."""
    if model.passes:
        # the start of the file must not be a JSON value
        names = sorted(model.passes, key=_starts_json)
        return "".join("{}:{}\n".format(name, _written(model.passes[name])) for name in names)
    return _json.write(_plain(model))


def _looks_like(sample: Sample) -> bool:
    if sample.is_json:
        return _is_switch_file(sample.top)
    content = sample.lines()
    matching = [line for line in content if _SWITCHED.match(line)]
    named = any("Pass" in line for line in matching)
    return named or (bool(matching) and 2 * len(matching) >= len(content))


def _is_switch_file(top: Dict[str, Any]) -> bool:
    """Whether a JSON object has a section, or the fusions of one with switches in them.

    The compiler's fusion_result.json has objects of the same names, with counts in them.
    """
    if any(near(str(key), SECTIONS) is not None for key in top):
        return True
    inner = [value for key, value in top.items() if near(str(key), FUSIONS) is not None]
    passes = [state for one in inner if isinstance(one, dict) for state in one.values()]
    return any(isinstance(state, str) and state.strip().lower() in SWITCH for state in passes)


FORMAT: Format[FusionSwitch] = Format(
    name="fusion_switch",
    title="switches of fusion passes",
    default_name="fusion_switch.cfg",
    options=("fusion_switch_file",),
    parser=parse,
    render=render,
    looks_like=_looks_like,
    marks=r"(?:graph|ub)_?fusion",
    names=r"fusion_switch[\w.-]*\.(?:cfg|json)",
)
load, save = FORMAT.load, FORMAT.save

__all__ = ["ALL", "FORMAT", "FUSIONS", "LEVELS", "FusionSwitch", "check", "load", "parse",
           "render", "save"]  # fmt: skip
