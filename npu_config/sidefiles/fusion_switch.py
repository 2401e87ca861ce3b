"""fusion_switch.cfg, the file of ``fusion_switch_file``: fusion passes switched on and off.

Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md.
"""

import re
from typing import Any, Collection, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Report
from npu_config.core.target import ANY_TARGET, Product, Target
from npu_config.sidefiles import _fusion_rules as rules
from npu_config.sidefiles._convert import texts
from npu_config.sidefiles._frozen import Table
from npu_config.sidefiles._fusion_lines import PASS_NAME, SWITCH, read_lines
from npu_config.sidefiles._shape import Shape, is_wrong, refuse
from npu_config.sidefiles.format import Format, Parsed, Sample, conclude
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Path, Places
from npu_config.text.words import did_you_mean, on_line, shown

SECTIONS = ("Switch", "Priority", "ExceptionalPassOfO1Level")
FUSIONS = ("GraphFusion", "UBFusion")
LEVELS = {"Top": (0, 999), "Main": (1000, 1999), "Down": (2000, 2999)}
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
        refuse(_faults(_plain(self), ANYWHERE))
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
    plain: Dict[str, Any] = {
        "Switch": {
            fusion: (
                {name: _written(switch) for name, switch in switches.items()}
                if isinstance(switches, Mapping)
                else switches
            )
            for fusion, switches in zip(FUSIONS, (model.graph, model.ub))
        }
    }
    priorities = {
        fusion: (
            {level: _texts(passes) for level, passes in levels.items()}
            if isinstance(levels, Mapping)
            else levels
        )
        for fusion, levels in zip(FUSIONS, (model.graph_priority, model.ub_priority))
        if levels
    }
    if priorities:
        plain["Priority"] = priorities
    if model.exceptional:
        names = model.exceptional
        plain["ExceptionalPassOfO1Level"] = list(names) if isinstance(names, tuple) else names
    return plain


def _texts(passes: Any) -> Any:
    if not isinstance(passes, Mapping):
        return passes
    return {
        name: str(number) if type(number) is int else number for name, number in passes.items()
    }


def _build(value: Dict[str, Any]) -> FusionSwitch:
    switch = value.get("Switch", {})
    levels = {
        fusion: {
            level: {name: int(number) for name, number in passes.items()}
            for level, passes in value.get("Priority", {}).get(fusion, {}).items()
        }
        for fusion in FUSIONS
    }
    return FusionSwitch(
        switch.get("GraphFusion", {}),
        switch.get("UBFusion", {}),
        levels["GraphFusion"],
        levels["UBFusion"],
        value.get("ExceptionalPassOfO1Level", ()),
    )


def _faults(value: Any, places: Places) -> List[Diagnostic]:
    """What is wrong with the plain value of the new syntax."""
    shape = Shape(rules.STRUCTURE, places)
    top = shape.object(value, (), "the file")
    shape.keys(top, (), SECTIONS, "at the top level")
    switch = shape.object(top.get("Switch", {}), ("Switch",), '"Switch"')
    shape.keys(switch, ("Switch",), FUSIONS, 'in "Switch"')
    for fusion in FUSIONS:
        path: Path = ("Switch", fusion)
        passes = shape.object(switch.get(fusion, {}), path, '"{}"'.format(fusion))
        for name, state in passes.items():
            _judge_name(shape, name, (*path, name))
            _judge_switch(shape, name, state, (*path, name))
    _judge_priorities(shape, top.get("Priority", {}))
    path = ("ExceptionalPassOfO1Level",)
    shape.texts(top.get(path[0], []), path, '"ExceptionalPassOfO1Level"')
    return shape.found


def _judge_name(shape: Shape, name: Any, path: Path) -> None:
    if not isinstance(name, str) or not name.strip():
        message = "{} is not the name of a pass".format(shown(name))
        shape.report(message, shape.places.key_place(path))


def _judge_switch(shape: Shape, name: str, state: Any, path: Path) -> None:
    if state is _json.BROKEN or (isinstance(state, str) and state.strip() in SWITCH):
        return
    told = shown(state) if isinstance(state, str) else _json.kind_of(state)
    shape.report(
        'the switch of {} is {}; legal: "on", "off"'.format(shown(name), told),
        shape.places.place(path),
        did_you_mean(state, SWITCH) if isinstance(state, str) else None,
        rules.VALUE,
    )


def _judge_priorities(shape: Shape, value: Any) -> None:
    scopes = shape.object(value, ("Priority",), '"Priority"')
    shape.keys(scopes, ("Priority",), FUSIONS, 'in "Priority"')
    first: Dict[str, Path] = {}
    for fusion in FUSIONS:
        path: Path = ("Priority", fusion)
        levels = shape.object(scopes.get(fusion, {}), path, '"{}"'.format(fusion))
        shape.keys(levels, path, LEVELS, 'in the "{}" of "Priority"'.format(fusion))
        for level in LEVELS:
            at = (*path, level)
            passes = shape.object(levels.get(level, {}), at, '"{}"'.format(level))
            for name, number in passes.items():
                _judge_name(shape, name, (*at, name))
                if number is not _json.BROKEN:
                    _judge_priority(shape, level, number, (*at, name))
                other = first.setdefault(name, (*at, name))
                if other != (*at, name):
                    shape.report(
                        "{} has a priority already{}; a pass stands once".format(
                            shown(name), on_line(shape.places.key_place(other))
                        ),
                        shape.places.key_place((*at, name)),
                        rule=rules.PRIORITY,
                    )


def _judge_priority(shape: Shape, level: str, number: Any, path: Path) -> None:
    low, high = LEVELS[level]
    if isinstance(number, str) and re.match(r"[0-9]{1,9}\Z", number):
        if low <= int(number) <= high:
            return
        told = "is {}".format(number)
    elif isinstance(number, str):
        told = "is {}".format(shown(number))
    else:
        told = "is {}, not text in double quotes".format(_json.kind_of(number))
    shape.report(
        'the priority of {} {}; legal in "{}": an integer text from {} to {}'.format(
            shown(path[-1]), told, level, low, high
        ),
        shape.places.place(path),
        rule=rules.PRIORITY,
    )


def _line_faults(model: FusionSwitch) -> Iterator[Diagnostic]:
    """What is wrong with the fields of the old syntax."""
    if not model.passes:
        return
    new = (model.graph, model.ub, model.graph_priority, model.ub_priority, model.exceptional)
    if any(new):
        yield rules.STRUCTURE.diagnostic(
            'the old syntax (passes) cannot stand beside the new one ("Switch", "Priority")'
        )
    passes: Mapping[Any, Any] = model.passes
    for name, state in passes.items():
        if not isinstance(name, str) or PASS_NAME.match(name) is None:
            message = "{} is not the name of a pass".format(shown(name))
            yield rules.STRUCTURE.diagnostic(message)
        if not isinstance(state, bool):
            message = 'the switch of {} is {}; legal: "on", "off"'
            yield rules.VALUE.diagnostic(message.format(shown(name), shown(state)))


def _read_lines(text: str, path: Optional[str]) -> Parsed[FusionSwitch]:
    """The old syntax."""
    passes, places, log = read_lines(text, path)
    understood = not is_wrong(log)
    return conclude(
        log, places, (lambda: FusionSwitch(passes=passes)) if understood else None, lambda _: ()
    )


def parse(
    text: str, path: Optional[str] = None, target: Target = ANY_TARGET
) -> Parsed[FusionSwitch]:
    """Read a fusion switch file of either syntax.

    Args:
        text: anything.
        path: the file it came from.
        target: what :func:`check` is to know.
    """
    if not text.strip("\ufeff \t\r\n"):
        message = 'the file is empty; write at least {"Switch": {}}'
        return Parsed(None, Report([rules.STRUCTURE.diagnostic(message, Place(path, 1, 1, 1, 1))]))
    if not Sample(text).is_json:
        parsed = _read_lines(text, path)
    else:
        reading = _json.read(text, path)
        found = _faults(reading.value, reading)
        understood = reading.complete and not is_wrong(found)
        parsed = conclude(
            (*reading.diagnostics, *found),
            reading,
            (lambda: _build(reading.value)) if understood else None,
            lambda _: (),
        )
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
        section = "Switch" if model.ub else "Priority"
        found.append(
            rules.UB_950.diagnostic(
                "there is no UB fusion on ascend_950; the section does nothing",
                places.key_place((section, "UBFusion")),
                help="leave it out",
            )
        )
    sections: Tuple[Tuple[Path, Mapping[str, bool]], ...] = (
        (("Switch", "GraphFusion"), model.graph),
        (("Switch", "UBFusion"), model.ub),
        ((), model.passes),
    )
    for path, passes in sections:
        for name, state in passes.items():
            if not state and name in unclosable:
                found.append(
                    rules.UNCLOSABLE.diagnostic(
                        "{} may not be closed; it stays on".format(shown(name)),
                        places.place((*path, name)),
                    )
                )
    return tuple(found)


def render(model: FusionSwitch) -> str:
    """The canonical text of the file, in the syntax of the model."""
    if model.passes:
        return "".join(
            "{}:{}\n".format(name, _written(state)) for name, state in model.passes.items()
        )
    return _json.write(_plain(model))


def _looks_like(sample: Sample) -> bool:
    if sample.is_json:
        return any(did_you_mean(str(key), (*SECTIONS, *FUSIONS)) for key in sample.top)
    content = sample.lines()
    matching = [line for line in content if _SWITCHED.match(line)]
    named = any("Pass" in line for line in matching)
    return named or (bool(matching) and 2 * len(matching) >= len(content))


FORMAT: Format[FusionSwitch] = Format(
    name="fusion_switch",
    title="switches of fusion passes",
    default_name="fusion_switch.cfg",
    options=("fusion_switch_file",),
    parser=parse,
    render=render,
    looks_like=_looks_like,
)
load = FORMAT.load
save = FORMAT.save

__all__ = ["ALL", "FORMAT", "FUSIONS", "LEVELS", "FusionSwitch", "check", "load", "parse",
           "render", "save"]  # fmt: skip
