"""fusion_switch.cfg, the file of ``fusion_switch_file``: fusion passes switched on and off.

Source: docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md.
"""

import json
import re
from functools import partial
from typing import Any, Callable, Collection, Dict, Iterator, Mapping, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Report, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.core.versions import Product
from npu_config.sidefiles.format import (
    Format,
    JsonFormat,
    Parsed,
    Sample,
    Table,
    finish_parse,
    logged,
    object_at,
    refuse,
    texts,
)
from npu_config.sidefiles.schema.kinds import (
    BadValueError,
    Items,
    JsonKind,
    Key,
    LimitedText,
    Names,
    Object,
    Schema,
)
from npu_config.sidefiles.schema.reading import FileFindings, Rules
from npu_config.text import json as _json
from npu_config.text.lines import BLANKS, MARK, Line, marked, name_fault
from npu_config.text.source import ANYWHERE, Path, Places, PlaceTable, Source
from npu_config.text.words import near, shown

__all__ = [
    "ALL", "FORMAT", "FUSIONS", "LEVELS", "FusionSwitch", "check", "load", "parse", "render",
    "save",
]  # fmt: skip

_DOC = "docs/en/tfadapter_1/apiref/session_config/accuracy_comparison.md"
PARSER = (
    "cann/ge:compiler/engines/nn_engine/fusion/fusion_config_manager/"
    "fusion_config_parser.cc:560-800"
)

_rule = partial(declare, options=("fusion_switch_file",))


@_rule(
    "NPU725",
    Severity.ERROR,
    facts=("fusion-switch-file", "ge-file-checks-abort"),
    source=(_DOC, PARSER),
    help='write {"Switch": {"GraphFusion": {"PassName": "off"}}}, or lines PassName:off',
)
def fusion_switch_structure() -> None:
    """A fusion switch file has an unknown key, an invalid value or an invalid line.

    The file is a JSON object: `Switch` contains `GraphFusion` and `UBFusion`, which contain the
    passes; beside `Switch` there may be `Priority` and `ExceptionalPassOfO1Level`.  In the old
    syntax each line is `PassName:on` or `PassName:off`; comments and lines with only blanks are
    not allowed.  The graph engine rejects an empty file and any other content, and fails to
    initialise; the adapter then aborts the process.  A key with blanks around it is accepted but
    not read (a warning).

    Wrong:

    ```json
    {"Switch": {"GraphFusions": {"ALL": "off"}}}
    ```

    Right:

    ```json
    {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {}}}
    ```
    """


@_rule(
    "NPU726",
    Severity.ERROR,
    facts=("fusion-switch-file",),
    source=(_DOC, PARSER),
    help='write "on" or "off"',
)
def fusion_switch_value() -> None:
    """The switch of a fusion pass is neither `on` nor `off`.

    The value must be one of these two texts; otherwise the graph engine rejects the whole file.  A
    value with blanks around it (`"on "`) is accepted, but means `off` (a warning).

    Wrong: `{"Switch": {"GraphFusion": {"PoolingFusionPass": true}}}`

    Right: `{"Switch": {"GraphFusion": {"PoolingFusionPass": "on"}}}`
    """


@_rule(
    "NPU727",
    Severity.ERROR,
    facts=("fusion-switch-file",),
    source=(PARSER,),
    help="set one priority for the pass, within the range of Top, Main or Down",
)
def fusion_switch_priority() -> None:
    """The priority of a fusion pass is not an integer, is out of range, or occurs twice.

    A priority must be an integer, written as text: 0 to 999 under `Top`, 1000 to 1999 under
    `Main`, 2000 to 2999 under `Down`.  A pass may appear only once.

    Wrong: `{"Switch": {}, "Priority": {"GraphFusion": {"Top": {"MyPass": 1500}}}}`

    Right: `{"Switch": {}, "Priority": {"GraphFusion": {"Main": {"MyPass": "1500"}}}}`
    """


@_rule("NPU728", Severity.ERROR, source=(PARSER,))
def fusion_switch_repeated() -> None:
    """A fusion switch file of the old syntax has two lines for one pass.

    The graph engine rejects the whole file.

    Wrong:

    ```
    PoolingFusionPass:on
    PoolingFusionPass:off
    ```

    Right:

    ```
    PoolingFusionPass:off
    ```
    """


@_rule(
    "NPU729",
    Severity.INFO,
    products=(Product.ASCEND_950,),
    facts=("fusion-ub-950",),
    source=(_DOC,),
)
def fusion_switch_ub_ascend_950() -> None:
    """A fusion switch file for ascend_950 has switches for UB fusion.

    UB fusion does not exist on ascend_950: the section has no effect and can be removed.

    Wrong on ascend_950:

    ```json
    {"Switch": {"GraphFusion": {"ALL": "off"}, "UBFusion": {"ALL": "off"}}}
    ```

    Right: `{"Switch": {"GraphFusion": {"ALL": "off"}}}`
    """


@_rule("NPU730", Severity.INFO, facts=("fusion-switch-unclosable",), source=(_DOC,))
def fusion_switch_unclosable() -> None:
    """A fusion pass is switched off that must stay on.

    Some passes are needed for correct results; they stay on, whatever the file contains, even with
    `"ALL": "off"`.  Which passes these are depends on the CANN version, and there is no documented
    list, so this rule checks only passes that the caller names (`check(model, unclosable=...)`),
    for example from a `fusion_result.json` that shows an effect of a pass that was switched off.

    Wrong, if APass must not be closed: `{"Switch": {"GraphFusion": {"APass": "off"}}}`

    Right: `{"Switch": {"GraphFusion": {}}}`
    """


SWITCH: Mapping[str, bool] = {"on": True, "off": False}


def _read(line: Line, passes: Dict[str, bool], places: PlaceTable) -> Iterator[Diagnostic]:
    """What is wrong with a line; ``passes`` and ``places`` get what it says."""
    head, colon, tail = line.text.partition(":")
    name, state = head.strip(BLANKS), tail.strip(BLANKS)
    removal = line.removal()
    if not colon:
        if name and name[0] not in "#;/":
            message = 'a line must be "PassName:on" or "PassName:off", one pass per line'
            yield fusion_switch_structure.diagnostic(message, line.content())
            return
        yield fusion_switch_structure.diagnostic(
            phrase(
                "{}: the graph engine therefore rejects the whole file",
                phrase("a comment" if name else "a line of whitespace"),
            ),
            line.content(),
            help="remove the line",
            fix=removal,
        )
        return
    switch = line.place(*line.trimmed(len(head) + 1, len(line.text)))
    if state not in SWITCH:
        message = phrase('the switch of {} is {}; legal: "on", "off"', shown(name), shown(state))
        yield fusion_switch_value.diagnostic(message, switch, meant=near(state, SWITCH))
    place = line.place(*line.trimmed(0, len(head)))
    if name in passes:
        first = places.key_place((name,)).line
        message = phrase(
            "{} is already on line {}; the graph engine rejects the whole file", shown(name), first
        )
        yield fusion_switch_repeated.diagnostic(message, place, help="keep one of the two lines")
        return
    places.put((name,), place, switch)
    if name.startswith(MARK):
        yield marked(line, fusion_switch_structure)
        return
    if name and not name.startswith("#"):
        passes[name] = SWITCH.get(state, False)
        if name.startswith("{"):
            message = "the file is not JSON; the line is read as the switch of a pass named {}"
            message = phrase(message, shown(name))
            yield fusion_switch_structure.diagnostic(message, place, severity=Severity.WARNING)
        return
    yield fusion_switch_structure.diagnostic(
        phrase(
            "the line is read as the switch of a pass named {}; this file cannot contain comments",
            shown(name),
        )
        if name
        else "the line has no pass name, so it has no effect",
        line.content(),
        help="remove the line",
        severity=Severity.WARNING,
        fix=removal,
    )


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
class _Switch(JsonKind):
    forms = ({"enum": list(SWITCH)},)

    def parse(self, value: Any) -> str:
        """``on`` or ``off``; with blanks around it is off."""
        if value in SWITCH:
            return str(value)
        if value.strip(BLANKS) in SWITCH:
            raise BadValueError(
                "the graph engine reads a value with whitespace around it as off",
                phrase('write "{}" if this is intended', value.strip()),
                read_as="off",
            )
        raise BadValueError('legal: "on", "off"', meant=near(value, SWITCH))


@attr.s(frozen=True, slots=True, auto_attribs=True)
class _Priority(JsonKind):
    lowest: int
    highest: int

    def parse(self, value: Any) -> int:
        """The number."""
        number = priority(value)
        if not self.lowest <= number <= self.highest:
            message = "legal: an integer from {} to {}, written as a string"
            raise BadValueError(phrase(message, self.lowest, self.highest))
        return number


def _fusions(kind: JsonKind) -> Schema:
    keys = {fusion: Key(kind, source=PARSER) for fusion in FUSIONS}
    return Schema(keys, closed=True, trimmed=True)


_LEVELS = Schema(
    {
        level: Key(Names(_Priority(*span)), source=PARSER, rule=fusion_switch_priority)
        for level, span in LEVELS.items()
    },
    closed=True,
    trimmed=True,
)
_SWITCHES = Names(_Switch())
SCHEMA = Schema(
    {
        "Switch": Key(Object(_fusions(_SWITCHES)), source=PARSER),
        "Priority": Key(Object(_fusions(Object(_LEVELS))), source=PARSER),
        "ExceptionalPassOfO1Level": Key(Items(LimitedText(0)), source=PARSER),
    },
    closed=True,
    trimmed=True,
)


def judge(value: Any, findings: FileFindings) -> None:
    """Note names that say nothing, and passes with two priorities."""
    for fusion in FUSIONS:
        _judge_names(object_at(value, "Switch", fusion), ("Switch", fusion), findings)
        first: Dict[str, Path] = {}
        for level in object_at(value, "Priority", fusion):
            path = ("Priority", fusion, level)
            passes = object_at(value, *path)
            _judge_names(passes, path, findings)
            _judge_repeated(passes, path, first, findings)


def _judge_names(passes: Dict[str, Any], path: Path, findings: FileFindings) -> None:
    for name in passes:
        if not is_read(name):
            findings.add(
                fusion_switch_structure,
                (*path, name),
                phrase("{} is accepted as the name of a pass, but has no effect", shown(name)),
                "remove the whitespace" if name.strip() else "write the name of the pass",
                Severity.WARNING,
                at_key=True,
            )


def _judge_repeated(
    passes: Dict[str, Any], path: Path, first: Dict[str, Path], findings: FileFindings
) -> None:
    for name in passes:
        other = first.setdefault(name.strip(BLANKS), (*path, name))
        if other != (*path, name):
            findings.add(
                fusion_switch_priority,
                (*path, name),
                phrase(
                    "{} already has a priority, in {}; a pass can have only one",
                    shown(name),
                    shown(other[2]),
                ),
                at_key=True,
            )


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


FUSION: "JsonFormat[FusionSwitch]" = JsonFormat(
    "the fusion switch file",
    SCHEMA,
    Rules(
        fusion_switch_structure,
        fusion_switch_structure,
        fusion_switch_structure,
        fusion_switch_value,
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
        yield fusion_switch_structure.diagnostic(
            'the old syntax ("passes") cannot be combined with the new syntax ("Switch", '
            '"Priority")'
        )
    passes: Mapping[Any, Any] = model.passes
    first = [name for name in passes if isinstance(name, str) and not _starts_json(name)]
    for name, state in passes.items():
        if name_fault(name, ":") is not None or name.startswith("#") or not first:
            message = phrase("{} is not the name of a pass", shown(name))
            yield fusion_switch_structure.diagnostic(message)
        if not isinstance(state, bool):
            message = 'the switch of {} is {}; legal: "on", "off"'
            yield fusion_switch_value.diagnostic(phrase(message, shown(name), shown(state)))


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
    """The old syntax; to the graph engine only a line of no length is none."""
    passes: Dict[str, bool] = {}
    lines = [Line(line, number, path) for number, line in enumerate(text.split("\n"), 1) if line]
    log, places = logged(
        text,
        path,
        fusion_switch_structure,
        lambda table: (found for line in lines for found in _read(line, passes, table)),
    )
    understood = Report(log).ok
    return finish_parse(
        log, places, (lambda: FusionSwitch(passes=passes)) if understood else None, lambda _: ()
    )


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[FusionSwitch]:
    content = text.lstrip("\ufeff \t\r\n")
    if not content:
        message = 'the file is empty; write at least {"Switch": {}}'
        return Parsed(
            None,
            Report([fusion_switch_structure.diagnostic(message, Place(path, 1, 1, 1, 1))]),
        )
    if content.startswith("null"):
        message = (
            'the file begins with "null": the graph engine then ignores the rest of '
            "the file and switches no fusion pass"
        )
        place = Source(text, path).place(0, len(text))
        found = fusion_switch_structure.diagnostic(message, place, severity=Severity.WARNING)
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
            "the graph engine reads the start of the file, {}, as a JSON value and rejects "
            "the file; the name of a pass cannot start with a digit, a quote, true or false",
            shown(start),
        )
        return Parsed(None, Report([fusion_switch_structure.diagnostic(message, place)]))
    if parsed.model is None:
        return parsed
    model, places = parsed.model, parsed.places
    return finish_parse(
        parsed.diagnostics, places, lambda: model, lambda m: check(m, target, places)
    )


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
        message = "there is no UB fusion on ascend_950; the section has no effect"
        place = places.key_place(("Switch" if model.ub else "Priority", "UBFusion"))
        found.append(
            fusion_switch_ub_ascend_950.diagnostic(message, place, help="remove the section")
        )
    sections: Tuple[Tuple[Path, Mapping[str, bool]], ...] = (
        (("Switch", "GraphFusion"), model.graph),
        (("Switch", "UBFusion"), model.ub),
        ((), model.passes),
    )
    for path, passes in sections:
        for name, state in passes.items():
            if not state and name in unclosable:
                message = phrase("{} cannot be switched off; the pass stays on", shown(name))
                found.append(
                    fusion_switch_unclosable.diagnostic(message, places.place((*path, name)))
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
    """Whether a JSON object is of sections, or has the fusions of one with switches in them.

    The compiler's fusion_result.json has objects of the same names, with counts in them; a table
    of operators has a Switch among others.
    """
    sections = [value for key, value in top.items() if near(str(key), SECTIONS) is not None]
    named = [str(key) for one in sections if isinstance(one, dict) for key in one]
    if sections and (
        2 * len(sections) >= len(top) or any(near(key, FUSIONS) is not None for key in named)
    ):
        return True
    inner = [value for key, value in top.items() if near(str(key), FUSIONS) is not None]
    passes = [state for one in inner if isinstance(one, dict) for state in one.values()]
    return any(isinstance(state, str) and state.strip().lower() in SWITCH for state in passes)


FORMAT: Format[FusionSwitch] = Format(
    name="fusion_switch",
    title="switches of fusion passes",
    default_name="fusion_switch.cfg",
    options=("fusion_switch_file",),
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    marks=r"(?:graph|ub)_?fusion",
    names=r"fusion_switch[\w.-]*\.(?:cfg|json)",
    schema=SCHEMA,
)
parse, load, save = FORMAT.parse, FORMAT.load, FORMAT.save
