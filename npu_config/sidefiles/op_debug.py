"""The file of ``op_debug_config``: debug switches of operator compilation.

Source: docs/en/tfadapter_1/apiref/session_config/debugging.md.
"""

from dataclasses import replace
from functools import partial
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Tuple

import attr

from npu_config.catalogue.kinds import Choice
from npu_config.core.diagnostics import Diagnostic, Severity, declare
from npu_config.core.message import listed, phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles.format import Format, Parsed, Sample, finish_parse, logged, refuse, texts
from npu_config.sidefiles.schema.kinds import Key, LimitedText, Schema
from npu_config.text.lines import MARK, Item, items, marked, name_fault
from npu_config.text.source import ANYWHERE, Places, PlaceTable
from npu_config.text.words import joined, near, shown

SWITCHES: Mapping[str, str] = {
    "oom": "check for out-of-range accesses to global memory (error EZ9999)",
    "dump_cce": "keep the .cce, .o and .json files",
    "dump_loc": "keep the .cce, .o, .json and _loc.json files",
    "ccec_O0": "compile without optimisation",
    "ccec_g": "compile with -g",
    "check_flag": "check that pipeline synchronisation flags match; a mismatch causes a timeout",
}
MC2_TYPES = (
    "MatMulAllReduce",
    "MatMulAllReduceAddRmsNorm",
    "AllGatherMatMul",
    "MatMulReduceScatter",
    "AlltoAllAllGatherBatchMatMul",
    "BatchMatMulReduceScatterAlltoAll",
)
_KEPT_FILES = ("oom", "dump_cce", "dump_loc")
_INTERNAL = ("dump_bin",)
_KEYS = ("op_debug_config", "op_debug_list")
_TYPE = "OpType::"

_DOC = "docs/en/tfadapter_1/apiref/session_config/debugging.md"
_PARSER = "cann/ge:compiler/engines/nn_engine/utils/common/config_parser/op_debug_config_parser.cc"

_rule = partial(declare, options=("op_debug_config",))


@_rule(
    "NPU741",
    Severity.WARNING,
    facts=("op-debug-config-file",),
    source=(_DOC, _PARSER),
    help="write key=value, or remove the line",
)
def op_debug_line() -> None:
    """A line of the operator debug file has no effect.

    A line is `op_debug_config=<value>,...`, `op_debug_list=<operator>,...`, empty, or begins with
    `#`.  If a line has no `=` or no value, the graph engine reports it in its log and continues; a
    line that contains neither key is ignored.

    Wrong:

    ```
    op_debug_config: dump_cce
    op_debuglist=OpType::MatMul
    ```

    Right:

    ```
    op_debug_config=dump_cce
    op_debug_list=OpType::MatMul
    ```
    """


@_rule("NPU742", Severity.WARNING, facts=("op-debug-config-file",), source=(_DOC, _PARSER))
def op_debug_switch() -> None:
    """The operator debug file has an unknown value of `op_debug_config`.

    The graph engine does not check the values and passes unknown ones on: they have no effect.

    Wrong: `op_debug_config=dump_ccs`

    Right: `op_debug_config=dump_cce`
    """


@_rule("NPU743", Severity.ERROR, facts=("op-debug-oom-ccec-o0",), source=(_DOC,))
def op_debug_oom_ccec_o0() -> None:
    """The operator debug file has both `oom` and `ccec_O0`.

    The documentation forbids this combination: it causes an AI Core error at run time.

    Wrong: `op_debug_config=oom,ccec_O0`

    Right: `op_debug_config=oom`
    """


@_rule(
    "NPU744",
    Severity.WARNING,
    facts=("op-debug-config-file",),
    source=(_PARSER,),
    help="keep one of the lines",
)
def op_debug_repeated() -> None:
    """A key occurs twice in the operator debug file.

    The last line is used; the values of the earlier lines are lost.

    Wrong:

    ```
    op_debug_config=dump_cce
    op_debug_config=ccec_g
    ```

    Right:

    ```
    op_debug_config=dump_cce,ccec_g
    ```
    """


@_rule("NPU745", Severity.INFO, source=(_DOC,))
def op_debug_mc2() -> None:
    """The operator debug file requests debug files for operators that do not keep any.

    With `oom`, `dump_cce` and `dump_loc`, no files are kept for operators that compute and
    communicate at the same time (MatMulAllReduce and similar operators).

    Wrong:

    ```
    op_debug_config=dump_cce
    op_debug_list=OpType::MatMulAllReduce
    ```

    Right:

    ```
    op_debug_config=dump_cce
    op_debug_list=OpType::MatMul
    ```
    """


@attr.s(frozen=True, slots=True, auto_attribs=True)
class OpDebug:
    """The content of an operator debug file.

    Args:
        switches: keys of SWITCHES.
        nodes: names of the nodes that they hold for.
        types: operator types that they hold for; without ``nodes`` and ``types`` they hold
            for all operators, and the compile cache is off.

    Raises:
        NpuConfigError: with everything that is wrong.
    """

    switches: Tuple[str, ...] = attr.ib(default=(), converter=texts)
    nodes: Tuple[str, ...] = attr.ib(default=(), converter=texts)
    types: Tuple[str, ...] = attr.ib(default=(), converter=texts)

    def __attrs_post_init__(self) -> None:
        refuse(_faults(self.switches, self.nodes, self.types))

    @classmethod
    def of(
        cls, switches: Iterable[str], nodes: Iterable[str] = (), types: Iterable[str] = ()
    ) -> "OpDebug":
        """The file with these switches, which have to be known ones.

        Args:
            switches: keys of SWITCHES, e.g. ``["dump_cce", "ccec_g"]``.
            nodes: names of the nodes that they hold for.
            types: operator types that they hold for.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        fields = (texts(switches), texts(nodes), texts(types))
        judged = _judged(fields[0] if isinstance(fields[0], tuple) else (), ANYWHERE)
        wrong = [replace(diagnostic, severity=Severity.ERROR) for diagnostic in judged]
        refuse((*_faults(*fields), *wrong))
        return cls(*fields)

    @property
    def everywhere(self) -> bool:
        """True when the switches hold for all operators, which turns the compile cache off."""
        return not (self.nodes or self.types)


def _faults(switches: Any, nodes: Any, types: Any) -> Iterator[Diagnostic]:
    """What keeps the fields of a model from being written."""
    fields = (("switch", switches), ("node", nodes), ("operator type", types))
    for what, names in fields:
        if not isinstance(names, tuple):
            message = phrase("a list of {} names is required, not {}", what, shown(names))
            yield op_debug_line.diagnostic(message, severity=Severity.ERROR)
            continue
        for name in names:
            fault = name_fault(name, ",")
            if fault is None and "::" in name:
                fault = 'must not contain "::"'
            if fault is not None:
                message = phrase("the {} {} {}", what, shown(name), fault)
                yield op_debug_line.diagnostic(message, severity=Severity.ERROR)


def _judged(switches: Iterable[Any], places: Places) -> Iterator[Diagnostic]:
    """Switches that do not exist, or do not go together."""
    given = tuple(switches)
    for switch in given:
        if switch not in SWITCHES and switch not in _INTERNAL:
            yield op_debug_switch.diagnostic(
                phrase("unknown debug switch {}; legal: {}", shown(switch), listed(SWITCHES)),
                places.place(("op_debug_config", str(switch))),
                meant=near(str(switch), SWITCHES),
            )
    if "oom" in given and "ccec_O0" in given:
        yield op_debug_oom_ccec_o0.diagnostic(
            "oom and ccec_O0 cannot be combined: together they cause an AI Core error at run time",
            places.place(("op_debug_config", "ccec_O0")),
            help="remove one of the two switches",
        )


def _canonical(name: str) -> str:
    """An entry with ``OpType::`` before a type; what stands there is not checked."""
    return _TYPE + name.rpartition("::")[2].strip() if "::" in name else name


def _read(lines: Iterable[Item], last: Dict[str, Item]) -> Iterator[Diagnostic]:
    """What is wrong with the lines; ``last`` gets those that count, by key."""
    for item in lines:
        place = item.line.content()
        key = next((key for key in _KEYS if key in item.content), None)
        if key is None and item.content.startswith(MARK):
            yield marked(item.line, op_debug_line)
        elif not item.value:
            meant = None if item.equals else near(item.content.split(":")[0], _KEYS)
            message = phrase(
                "the line has no {}, so it has no effect",
                phrase("value") if item.equals else '"="',
            )
            yield op_debug_line.diagnostic(message, place, meant=meant)
        elif key is None:
            message = phrase("unknown key {}; legal: {}", shown(item.key), listed(_KEYS))
            yield op_debug_line.diagnostic(message, place, meant=near(item.key, _KEYS))
        else:
            if key in last:
                message = "{} appears again on line {}; the last line is used"
                message = phrase(message, shown(key), item.line.number)
                yield op_debug_repeated.diagnostic(message, last[key].line.content())
            if item.key.lstrip(MARK) != key:
                message = (
                    "{} is not a key; the line is read as {}, because the line contains this key"
                )
                yield op_debug_line.diagnostic(
                    phrase(message, shown(item.key), key), place, meant=key
                )
            last[key] = item


def _values(key: str, item: Optional[Item], places: PlaceTable) -> Iterator[str]:
    """The values of the line that counts."""
    if item is not None:
        places.put((key,), item.line.content(), item.line.content())
        for part, place in item.parts():
            value = _canonical(part) if key == "op_debug_list" else part
            places.put((key, value), place, place)
            yield value


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[OpDebug]:
    last: Dict[str, Item] = {}
    lines = items(text, path, ("#",))
    log, places = logged(text, path, op_debug_line, lambda _: _read(lines, last))
    switches, operators = (list(_values(key, last.get(key), places)) for key in _KEYS)
    nodes = [name for name in operators if not name.startswith(_TYPE)]
    types = [name[len(_TYPE) :] for name in operators if name.startswith(_TYPE)]
    return finish_parse(
        log,
        places,
        lambda: OpDebug(switches, nodes, [name for name in types if name]),
        lambda model: check(model, target, places),
    )


def check(
    model: OpDebug, target: Target = ANY_TARGET, places: Places = ANYWHERE
) -> Tuple[Diagnostic, ...]:
    """Switches that do not exist, or do not go together.

    Args:
        model: the switches.
        target: not needed here; no finding depends on it.
        places: where the parts stand (``Parsed.places``).
    """
    found = list(_judged(model.switches, places))
    keeping = [switch for switch in _KEPT_FILES if switch in model.switches]
    for name in model.types if keeping else ():
        if name in MC2_TYPES:
            message = phrase(
                "no debug files are kept for operators of type {} with {}",
                shown(name),
                joined(keeping),
            )
            place = places.place(("op_debug_list", _TYPE + name))
            found.append(op_debug_mc2.diagnostic(message, place))
    return tuple(found)


def render(model: OpDebug) -> str:
    """The canonical text of the file."""
    operators = [*model.nodes, *(_TYPE + name for name in model.types)]
    rows = []
    if model.switches:
        rows.append("op_debug_config=" + ",".join(model.switches))
    if operators:
        rows.append("op_debug_list=" + ",".join(operators))
    return "".join(row + "\n" for row in rows)


def _looks_like(sample: Sample) -> bool:
    return any(line.lower().startswith(("op_debug_", "op-debug-")) for line in sample.lines())


FORMAT: Format[OpDebug] = Format(
    name="op_debug",
    title="debug switches of operator compilation",
    default_name="op_debug.cfg",
    options=("op_debug_config",),
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    marks=r"op_debug_(?:config|list)",
    any_bytes=True,
    schema=Schema(
        {"op_debug_config": Key(Choice(tuple(SWITCHES))), "op_debug_list": Key(LimitedText())}
    ),
)
parse, load, save = FORMAT.parse, FORMAT.load, FORMAT.save

__all__ = ["FORMAT", "MC2_TYPES", "OpDebug", "SWITCHES", "check", "load", "parse", "render",
           "save"]  # fmt: skip
