"""ops_info.json, the file of ``modify_mixlist``: operators moved between the precision lists.

Source: docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md,
docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md.
"""

from functools import partial
from typing import (
    Any,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import attr

from npu_config.core.diagnostics import Diagnostic, Place, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.target import ANY_TARGET, Target
from npu_config.sidefiles.format import Format, JsonFormat, Parsed, Sample, object_at, texts
from npu_config.sidefiles.library import OperatorLibrary
from npu_config.sidefiles.schema.kinds import Items, Key, LimitedText, Object, Schema
from npu_config.sidefiles.schema.reading import FileFindings, one_rule
from npu_config.text import json as _json
from npu_config.text.source import ANYWHERE, Path, Places
from npu_config.text.words import joined, near, shown

__all__ = [
    "ACTIONS", "FORMAT", "LEGAL_MOVES", "LISTS", "Mixlist", "Move", "Moves", "check", "load",
    "parse", "render", "save",
]  # fmt: skip

_TUNING = "docs/en/tfadapter_1/apiref/session_config/accuracy_tuning.md"
_MIXED = "docs/en/tfadapter_1/migration/performance_tuning/mixed_precision_training.md"
PARSER = (
    "cann/ge:compiler/engines/nn_engine/utils/common/config_parser/modify_mixlist_config_parser.cc"
)

_rule = partial(declare, options=("modify_mixlist",))


@_rule(
    "NPU720",
    Severity.ERROR,
    facts=("modify-mixlist-file", "ge-file-checks-abort"),
    source=(_TUNING, PARSER),
    help='write e.g. {"black-list": {"to-add": ["ReduceSum"], "to-remove": ["Add"]}}',
)
def mixlist_structure() -> None:
    """The mixed-precision list file has an unknown key or an invalid value.

    The top level is an object with the keys `black-list`, `white-list` and `gray-list`; each
    contains `to-add` and `to-remove`, which are arrays of operator types.  With any other content
    the graph engine fails to initialise, and the adapter aborts the process.

    Wrong:

    ```json
    {"black_list": {"to-add": "ReduceSum"}}
    ```

    Right:

    ```json
    {"black-list": {"to-add": ["ReduceSum"]}}
    ```
    """


@_rule(
    "NPU721",
    Severity.ERROR,
    facts=("modify-mixlist-file",),
    source=(PARSER,),
    help=(
        "keep one to-add entry for the operator type, and at most one to-remove entry, "
        "under the list that contains this type now"
    ),
)
def mixlist_contradiction() -> None:
    """The changes to the mixed-precision lists contradict each other for one operator.

    In the whole file, an operator may be added to one list (and removed from another list at the
    same time), or it may only be removed from the black list or the white list.  The graph engine
    rejects everything else (added to two lists, added to and removed from the same list, only
    removed from the gray list) and fails to initialise.

    Wrong:

    ```json
    {"black-list": {"to-add": ["Conv2D"]}, "white-list": {"to-add": ["Conv2D"]}}
    ```

    Right:

    ```json
    {"black-list": {"to-remove": ["Conv2D"]}, "white-list": {"to-add": ["Conv2D"]}}
    ```
    """


@_rule("NPU722", Severity.WARNING, facts=("modify-mixlist-remove-goes-gray",), source=(_MIXED,))
def mixlist_remove_goes_gray() -> None:
    """An operator is removed from a list, but added to no other list.

    The operator is then in the gray list (it uses the precision of the operator before it), not in
    the opposite list.  To move it to another list, `to-add` in the new list is enough.

    Wrong, if ReduceSum should be computed in lower precision:

    ```json
    {"black-list": {"to-remove": ["ReduceSum"]}}
    ```

    Right:

    ```json
    {"white-list": {"to-add": ["ReduceSum"]}}
    ```
    """


@_rule(
    "NPU723",
    Severity.WARNING,
    source=(_TUNING,),
    help="write an operator type, or remove the entry",
)
def mixlist_operator() -> None:
    """An entry of the mixed precision list is not an operator type of the operator library.

    The lists contain operator types (`Conv2D`, `MatMul`, `ReduceSumD`), not node names of the
    network.  An entry that is not a type (a lower-case name, a name with blanks) has no effect,
    without any message.  Whether a type exists is checked only if an operator library file
    (aic-<soc>-ops-info) is specified.

    Wrong:

    ```json
    {"black-list": {"to-add": ["loss/ReduceSum"]}}
    ```

    Right:

    ```json
    {"black-list": {"to-add": ["ReduceSum"]}}
    ```
    """


@_rule("NPU724", Severity.WARNING, source=(PARSER,))
def mixlist_not_in_list() -> None:
    """An operator is removed from a list that it is not in.

    The graph engine writes a warning and continues.  The operator library decides the list of an
    operator: `precision_reduce` is true for the white list, false for the black list, and absent
    for the gray list.  This is checked only if a library file is specified.

    Wrong, if the library has Pow in the white list: `{"black-list": {"to-remove": ["Pow"]}}`

    Right: `{"white-list": {"to-remove": ["Pow"]}}`
    """


LISTS = ("black-list", "white-list", "gray-list")
ACTIONS = ("to-add", "to-remove")


class Move(NamedTuple):
    """One step of one operator: ``action`` is one of ACTIONS, ``list`` one of LISTS."""

    action: str
    list: str


def _legal_moves() -> FrozenSet[FrozenSet[Move]]:
    add = {name: Move("to-add", name) for name in LISTS}
    remove = {name: Move("to-remove", name) for name in LISTS}
    alone = [{remove["black-list"]}, {remove["white-list"]}, *({move} for move in add.values())]
    both = [{add[new], remove[old]} for new in LISTS for old in LISTS if new != old]
    return frozenset(frozenset(moves) for moves in (*alone, *both))


LEGAL_MOVES = _legal_moves()


def _names(value: Iterable[str]) -> Tuple[str, ...]:
    """Each name once, in order; what is no list stays as it is for the judgement."""
    found = texts(value)
    if isinstance(found, tuple) and all(isinstance(item, str) for item in found):
        return tuple(dict.fromkeys(found))
    return found


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Moves:
    """What happens to one list.

    Args:
        add: operator types that come into the list.
        remove: operator types that leave it.
    """

    add: Tuple[str, ...] = attr.ib(default=(), converter=_names)
    remove: Tuple[str, ...] = attr.ib(default=(), converter=_names)


_NO_MOVES = Moves()


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Mixlist:
    """The content of ops_info.json.

    Args:
        black: changes of the list of operators that keep their precision.
        white: changes of the list of operators whose precision may be reduced.
        gray: changes of the list of operators that take the precision of the operator before them.

    Raises:
        NpuConfigError: with everything that is wrong with the moves.
    """

    black: Moves = _NO_MOVES
    white: Moves = _NO_MOVES
    gray: Moves = _NO_MOVES

    def __attrs_post_init__(self) -> None:
        MIXLIST.refuse(_plain(self))

    @classmethod
    def of(
        cls,
        black_list: Iterable[str] = (),
        white_list: Iterable[str] = (),
        gray_list: Iterable[str] = (),
        remove_from_black: Iterable[str] = (),
        remove_from_white: Iterable[str] = (),
        remove_from_gray: Iterable[str] = (),
    ) -> "Mixlist":
        """The lists by what is to be in them, and what is to leave them.

        Args:
            black_list: operator types that keep their precision.
            white_list: operator types whose precision may be reduced.
            gray_list: operator types that take the precision of the operator before them.
            remove_from_black: operator types that leave the black list.
            remove_from_white: operator types that leave the white list.
            remove_from_gray: operator types that leave the gray list; each has to be added
                to another one.

        Raises:
            NpuConfigError: with everything that is wrong.
        """
        return cls(
            Moves(black_list, remove_from_black),
            Moves(white_list, remove_from_white),
            Moves(gray_list, remove_from_gray),
        )

    def moves(self) -> Iterator[Tuple[str, Move]]:
        """Every operator type with every move of it, in the order of the file."""
        for name, moves in zip(LISTS, (self.black, self.white, self.gray)):
            for operator in moves.add:
                yield operator, Move("to-add", name)
            for operator in moves.remove:
                yield operator, Move("to-remove", name)


def _plain(model: Mixlist) -> Dict[str, Dict[str, Any]]:
    parts = zip(LISTS, (model.black, model.white, model.gray))
    plain = {
        name: {
            action: list(names) if isinstance(names, tuple) else names
            for action, names in zip(ACTIONS, (moves.add, moves.remove))
            if names != ()
        }
        for name, moves in parts
    }
    return {name: actions for name, actions in plain.items() if actions}


def _build(value: Dict[str, Dict[str, List[str]]]) -> Mixlist:
    return Mixlist(
        *(Moves(*(value.get(name, {}).get(action, ()) for action in ACTIONS)) for name in LISTS)
    )


def _judge(value: Any, findings: FileFindings) -> None:
    """Note moves of one operator that do not go together, and names that are not types."""
    steps: Dict[str, Dict[Move, Path]] = {}
    for name in LISTS:
        for action in ACTIONS:
            operators = object_at(value, name).get(action)
            for index, operator in enumerate(operators if isinstance(operators, list) else ()):
                if isinstance(operator, str):
                    moves = steps.setdefault(operator, {})
                    moves.setdefault(Move(action, name), (name, action, index))
    for operator, moves in steps.items():
        _judge_moves(findings, operator, moves)
        _judge_name(findings, operator, next(iter(moves.values())))


def _judge_moves(findings: FileFindings, operator: str, steps: Dict[Move, Path]) -> None:
    moves = list(steps)
    last = steps[moves[-1]]
    if frozenset(moves) in LEGAL_MOVES:
        if all(move.action == "to-remove" for move in moves):
            findings.add(
                mixlist_remove_goes_gray,
                last,
                phrase(
                    '{} is only removed from "{}", which moves the operator type to the gray list',
                    shown(operator),
                    moves[0].list,
                ),
                'add the operator type only to "to-add" of the intended list; no removal is '
                "needed",
            )
        return
    if moves == [Move("to-remove", "gray-list")]:
        message = (
            '{} is only removed from "gray-list"; an operator type removed from this '
            "list must be added to another list"
        )
        findings.add(mixlist_contradiction, last, phrase(message, shown(operator)))
        return
    done = [
        phrase('added to "{}"' if move.action == "to-add" else 'removed from "{}"', move.list)
        for move in moves
    ]
    findings.add(
        mixlist_contradiction,
        last,
        phrase(
            "{} is {}, which is contradictory; legal: added to one list, and removed from at "
            "most one other list",
            shown(operator),
            joined(done),
        ),
    )


def _judge_name(findings: FileFindings, operator: str, path: Path) -> None:
    if not operator.strip():
        findings.add(mixlist_operator, path, "the name of an operator type must not be empty")
    elif "/" in operator:
        findings.add(
            mixlist_operator,
            path,
            phrase(
                "{} looks like the name of a node; the lists hold operator types", shown(operator)
            ),
            meant_type(operator),
        )
    elif operator[:1].islower() or operator != operator.strip() or " " in operator:
        findings.add(
            mixlist_operator,
            path,
            phrase(
                "{} is not a valid name of an operator type: names start with a capital letter "
                "and have no whitespace; the entry has no effect",
                shown(operator),
            ),
            "write the operator type, e.g. ReduceSum",
        )


_MOVES = Schema(
    {action: Key(Items(LimitedText(0)), source=PARSER) for action in ACTIONS}, closed=True
)
MIXLIST: "JsonFormat[Mixlist]" = JsonFormat(
    "the mixed-precision list",
    Schema({name: Key(Object(_MOVES), source=PARSER) for name in LISTS}, closed=True),
    one_rule(mixlist_structure),
    _build,
    _judge,
    one_value=True,
)


def meant_type(name: str) -> Optional[str]:
    """The help for a node name: the operator type that its last part suggests."""
    last = name.rsplit("/", 1)[-1].rstrip("0123456789").rstrip("_")
    return phrase('write the operator type, e.g. "{}"', last) if last else None


def check(
    model: Mixlist,
    target: Target = ANY_TARGET,
    places: Places = ANYWHERE,
    library: Optional[OperatorLibrary] = None,
) -> Tuple[Diagnostic, ...]:
    """What is worth knowing about legal moves.

    Args:
        model: the moves.
        target: not needed here; no finding depends on it.
        places: where the parts stand (``Parsed.places``).
        library: the operators of the machine, to check names and lists with.
    """
    found = MIXLIST.faults(_plain(model), places)
    if library is not None:
        found.extend(_against(model, library, places))
    return tuple(found)


def _against(model: Mixlist, library: OperatorLibrary, places: Places) -> Iterator[Diagnostic]:
    reported = set()
    for operator, move in model.moves():
        place = places.place((move.list, move.action, operator))
        known = library.operators.get(operator)
        if known is None:
            if operator not in reported and "/" not in operator and operator.strip():
                reported.add(operator)
                yield mixlist_operator.diagnostic(
                    phrase("the operator library has no operator type {}", shown(operator)),
                    place,
                    meant=near(operator, library.operators),
                )
        elif move.action == "to-remove" and known.list != move.list:
            yield mixlist_not_in_list.diagnostic(
                phrase(
                    '{} is not in "{}" but in "{}"; the removal is ignored with a warning',
                    shown(operator),
                    move.list,
                    known.list,
                ),
                place,
            )


@attr.s(slots=True, auto_attribs=True, eq=False)
class _NamedPlaces(Places):
    """Places in which an entry of an array is also found by its text."""

    _reading: _json.JsonReading

    def place(self, path: Sequence[Union[str, int]] = ()) -> Place:
        value = self._reading.value
        for step in path[:-1] if len(path) == 3 else ():
            value = value.get(step) if isinstance(value, dict) else None
        if isinstance(value, list) and path[-1] in value:
            path = (*path[:2], value.index(path[-1]))
        return self._reading.place(path)

    def key_place(self, path: Sequence[Union[str, int]]) -> Place:
        return self._reading.key_place(path)


def _parse(text: str, path: Optional[str], target: Target) -> Parsed[Mixlist]:
    parsed = MIXLIST.parse(text, path)
    assert isinstance(parsed.places, _json.JsonReading)
    return attr.evolve(parsed, places=_NamedPlaces(parsed.places))


def render(model: Mixlist) -> str:
    """The canonical text of the file."""
    return _json.write(_plain(model))


def _looks_like(sample: Sample) -> bool:
    keys = {str(key).lower().replace("_", "-") for key in sample.top}
    return any(
        key in ("black-list", "white-list", "gray-list", "grey-list", "blacklist", "whitelist")
        for key in keys
    )


FORMAT: Format[Mixlist] = Format(
    name="mixlist",
    title="changes of the mixed-precision operator lists",
    default_name="ops_info.json",
    options=("modify_mixlist",),
    parser=_parse,
    render=render,
    looks_like=_looks_like,
    marks=r"(?:black|white|gray)[-_]list",
    names=r"ops_info[\w.-]*\.json",
    schema=MIXLIST.schema,
)
parse, load, save = FORMAT.parse, FORMAT.load, FORMAT.save
