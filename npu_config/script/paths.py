"""Paths: which way a run goes at a condition that cannot be known, and all the ways there are."""

import ast
import copy
from collections import deque
from typing import (
    Any,
    Callable,
    Deque,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Tuple,
    TypeVar,
)

from npu_config.script.constants import is_known
from npu_config.script.objects import Unknown, origins, substituted
from npu_config.script.scopes import in_brackets

_LONG = 60

_SIGNS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_OPPOSITES = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def condition(node: ast.expr, value: bool) -> str:
    """A condition that holds, or whose opposite holds, shortened to one line."""
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node, value = node.operand, not value
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        kind = type(node.ops[0])
        sign = _SIGNS[kind if value else _OPPOSITES[kind]]
        text = "{} {} {}".format(expression(node.left), sign, expression(node.comparators[0]))
    else:
        text = expression(node) if value else "not " + expression(node)
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."


def expression(node: ast.AST) -> str:
    """An expression much as it is written, with "..." for what is too intricate."""
    spell = _SPELLERS.get(type(node).__name__)
    return "..." if spell is None else spell(node)


def _compare(node: ast.Compare) -> str:
    parts = [expression(node.left)]
    for sign, right in zip(node.ops, node.comparators):
        parts += [_SIGNS[type(sign)], expression(right)]
    return " ".join(parts)


def _call(node: ast.Call) -> str:
    arguments = [expression(argument) for argument in node.args]
    arguments += [
        "{}={}".format(keyword.arg, expression(keyword.value)) for keyword in node.keywords
    ]
    return "{}({})".format(expression(node.func), ", ".join(arguments))


def _index(node: ast.Subscript) -> str:
    return "{}[{}]".format(expression(node.value), expression(in_brackets(node)))


_SPELLERS: Dict[str, Callable[..., str]] = {
    "Name": lambda node: node.id,
    "Attribute": lambda node: "{}.{}".format(expression(node.value), node.attr),
    "Constant": lambda node: repr(node.value),
    "Num": lambda node: repr(node.n),
    "Str": lambda node: repr(node.s),
    "Bytes": lambda node: repr(node.s),
    "NameConstant": lambda node: repr(node.value),
    "Compare": _compare,
    "Call": _call,
    "Subscript": _index,
    "UnaryOp": lambda node: (
        "not " + expression(node.operand)
        if isinstance(node.op, ast.Not)
        else "-" + expression(node.operand)
    ),
    "BoolOp": lambda node: (" and " if isinstance(node.op, ast.And) else " or ").join(
        expression(value) for value in node.values
    ),
}

PATHS = 64
"""The most paths from one starting point; those that deviate least are followed first."""
_DECISIONS = 16_000
"""The most decisions on all paths from one starting point, for scripts with very many."""

_NEGATIVE: Dict[type, type] = {
    ast.NotEq: ast.Eq,
    ast.IsNot: ast.Eq,
    ast.Is: ast.Eq,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.NotIn: ast.In,
}


_ON = ("true", "1", "on", "yes", "y", "t", "enable")


class Condition(Unknown):
    """A condition that cannot be known: ``subject relation other``, or its opposite.

    Conditions with the same ``atom`` hold together, apart from ``positive``.
    """

    __slots__ = ("atom", "other", "positive", "relation", "subject")

    def __init__(
        self,
        subject: str,
        relation: str = "",
        other: Any = None,
        other_key: str = "",
        positive: bool = True,
        parts: Tuple[Any, ...] = (),
    ) -> None:
        atom = "{} {} {}".format(subject, relation, other_key) if relation else subject
        super().__init__(atom, parts=parts)
        self.atom = self.key
        if not positive:
            self.key = "not " + self.atom
        self.subject = subject
        self.relation = relation
        self.other = other
        self.positive = positive

    @classmethod
    def of(cls, value: Unknown) -> "Condition":
        """The condition that a value is true."""
        return value if isinstance(value, Condition) else cls(value.key, parts=(value,))

    @classmethod
    def comparison(
        cls, kind: type, left: Any, right: Any, left_key: str, right_key: str
    ) -> "Condition":
        """``left kind right``."""
        base = _NEGATIVE.get(kind, kind)
        relation = base.__name__ if is_known(right) else base.__name__ + "?"
        positive = base is kind or kind is ast.Is
        return cls(left_key, relation, right, right_key, positive, (left, right))

    @property
    def asks_for(self) -> bool:
        """True when the atom says that something is switched on."""
        if self.relation == "Eq":
            return not isinstance(self.other, bytes) and str(self.other).lower() in _ON
        return not self.relation

    def opposite(self) -> "Condition":
        """The condition that holds when this one does not."""
        result = copy.copy(self)
        result.positive = not self.positive
        result.key = self.atom if result.positive else "not " + self.atom
        return result


class Decision(NamedTuple):
    """One condition that was decided on a path.

    ``holds`` is about the atom, ``node_holds`` about the expression as it is written.  ``guards``
    are the decisions that led to it.  ``is_switch`` is True for a constant that somebody may
    switch, ``supposed`` for its other value: a way that the script as it is does not take.
    ``in_loop`` is True in the body of a loop of unknown rounds, of which one is followed.
    """

    condition: Condition
    holds: bool
    node: Optional[ast.expr]
    node_holds: bool
    words: str
    guards: Tuple[int, ...]
    is_switch: bool = False
    supposed: bool = False
    in_loop: bool = False

    @property
    def atom(self) -> str:
        """What identifies the condition, whichever way it goes."""
        return self.condition.atom

    @property
    def asks_for(self) -> bool:
        """True when it says that something is switched on."""
        return self.holds and self.condition.asks_for

    @property
    def equal_subject(self) -> Optional[str]:
        """What identifies the value that is compared with another one for equality."""
        return self.condition.subject if self.condition.relation == "Eq" else None

    @property
    def text(self) -> str:
        """The condition as it holds, in the words of the script."""
        if self.node is None:
            return self.words
        return condition(self.node, self.node_holds)


class Decisions:
    """The decisions of one path: those of the schedule first, then the usual way.

    Attributes:
        trace: every decision, in order.
        touched: the indices of the decisions that the tests so far rest on; those since ``mark``
            belong to the test that is going on.
        guards: the indices of the decisions that led to the statement that is being run.
    """

    def __init__(self, schedule: Tuple[bool, ...] = ()) -> None:
        self.restart(schedule)

    def restart(self, schedule: Tuple[bool, ...]) -> None:
        """Forget every decision and begin again."""
        self.schedule = schedule
        self.trace: List[Decision] = []
        self.touched: List[int] = []
        self.mark = 0
        self.guards: List[int] = []
        self.loops = 0
        self._atoms: Dict[str, int] = {}
        self._equal: Dict[str, Tuple[Any, int]] = {}
        self._among: Dict[str, Tuple[Any, int]] = {}
        self._unequal: Dict[str, List[Tuple[Any, int]]] = {}

    def decide(
        self,
        condition: Condition,
        node: Optional[ast.expr],
        usual: bool = True,
        words: str = "",
        is_switch: bool = False,
    ) -> bool:
        """Whether the condition holds on this path.

        Args:
            condition: the condition.
            node: the expression, for the words of the path.
            usual: how the first path goes.
            words: what to call it where there is no expression.
            is_switch: it is known to be ``usual``, and the other way is only supposed.
        """
        known = self._entailed(condition)
        if known is None:
            holds = self._take(condition, node, usual, words, is_switch)
        else:
            holds, index = known
            self.touched.append(index)
        return holds is condition.positive

    def known(self, value: Any) -> Any:
        """What a value certainly is on this path, as far as conditions say that it equals it."""
        return substituted(value, self._fact) if self._equal else value

    def above(self, value: Any) -> Optional[int]:
        """A number that a value is certainly greater than on this path."""
        while isinstance(value, Unknown):
            for decision in self.trace:
                condition, bound = decision.condition, decision.condition.other
                if condition.subject == value.key and type(bound) is int:
                    if condition.relation == "Gt" and decision.holds:
                        return bound
                    if condition.relation == "Lt" and not decision.holds:
                        return bound - 1
            value = value.parts[-1] if value.parts and value.key.startswith("int(") else None
        return None

    def _fact(self, value: Unknown) -> Any:
        found = self._equal.get(value.key)
        return value if found is None else found[0]

    def _equal_origin(self, condition: Condition) -> Optional[Tuple[Any, int]]:
        """What the subject of a condition is, since something that it was made of is known."""
        subject = condition.parts[0] if self._equal and condition.parts else None
        if not isinstance(subject, Unknown) or subject.key != condition.subject:
            return None
        value = self.known(subject)
        if isinstance(value, Unknown):
            return None
        for part in origins(subject):
            if part.key in self._equal:
                return value, self._equal[part.key][1]
        return None

    def _about(self, condition: Condition) -> Iterator[Tuple[Condition, int]]:
        """The equations so far whose subject was made of the subject of a condition."""
        for _, index in self._equal.values():
            fact = self.trace[index].condition
            parts = origins(fact.parts[0]) if fact.parts else ()
            if any(part.key == condition.subject and part is not fact for part in parts):
                yield fact, index

    def says(self, value: Unknown) -> bool:
        """True when this path rests on a condition about the value."""
        return any(
            part.key == value.key
            for decision in self.trace
            for part in origins(decision.condition)
        )

    def _take(
        self,
        condition: Condition,
        node: Optional[ast.expr],
        usual: bool,
        words: str,
        is_switch: bool,
    ) -> bool:
        index = len(self.trace)
        holds = self.schedule[index] if index < len(self.schedule) else usual is condition.positive
        self.trace.append(
            Decision(
                condition,
                holds,
                node,
                holds is condition.positive,
                words,
                tuple(self.guards) + tuple(self.touched[self.mark :]),
                is_switch,
                is_switch and holds is not (usual is condition.positive),
                self.loops > 0,
            )
        )
        self.touched.append(index)
        self._atoms[condition.atom] = index
        if condition.relation == "In" and holds and isinstance(condition.other, (list, tuple)):
            self._among[condition.subject] = (condition.other, index)
        if condition.relation == "Eq":
            if holds:
                self._equal[condition.subject] = (condition.other, index)
            else:
                self._unequal.setdefault(condition.subject, []).append((condition.other, index))
        return holds

    def _entailed(self, condition: Condition) -> Optional[Tuple[bool, int]]:
        """What earlier decisions say of the atom, and the one that says it."""
        index = self._atoms.get(condition.atom)
        if index is not None:
            return self.trace[index].holds, index
        relation, other = condition.relation, condition.other
        equal = self._equal.get(condition.subject) or self._equal_origin(condition)
        if equal is not None:
            if relation == "Eq":
                return equal[0] == other, equal[1]
            if relation == "":
                return bool(equal[0]), equal[1]
            if relation == "In" and isinstance(other, (list, tuple)):
                return equal[0] in other, equal[1]
        if relation == "Eq" and is_known(other):
            for fact, index in self._about(condition):
                value = substituted(fact.parts[0], _being(condition.parts[0], other))
                if is_known(value) and value != fact.other:
                    return False, index
        among = self._among.get(condition.subject)
        if relation == "Eq" and among is not None and other not in among[0]:
            return False, among[1]
        if relation == "Eq":
            truth = self._atoms.get(condition.subject)
            if truth is not None and bool(other) is not self.trace[truth].holds:
                return False, truth
        if relation == "":
            for value, decided in self._unequal.get(condition.subject, ()):
                if value is True or value is False:
                    return not value, decided
        return None


def _being(subject: Any, other: Any) -> Callable[[Unknown], Any]:
    """What values are if one of them has a certain value."""
    return lambda value: other if value.key == subject.key else value


Outcome = TypeVar("Outcome")


class Path:
    """One path: its decisions, what came out, and the number of its starting point.

    Attributes:
        supposed: True for a path that the script as it is does not take.
        literals: the decisions as pairs of atom and value, without those about constants.
    """

    __slots__ = ("literals", "outcome", "start", "supposed", "trace")

    def __init__(self, trace: Tuple[Decision, ...], outcome: Any, start: int = 0) -> None:
        self.trace = trace
        self.outcome = outcome
        self.start = start
        self.supposed = any(decision.supposed for decision in trace)
        self.literals = frozenset((d.atom, d.holds) for d in trace if not d.is_switch)


def explore(
    run: Callable[[Decisions], Outcome],
    signature: Callable[[Outcome], object],
    start: int = 0,
    enough: Callable[[], bool] = lambda: False,
) -> List[Path]:
    """Follow every path, from the usual one outwards.

    A decision that turned out to change nothing is not varied again together with others.

    Args:
        run: follows one path.
        signature: equal for outcomes that do not differ.
        start: the number of the starting point.
        enough: True when no further path is to be followed.
    """
    found: List[Path] = []
    pending: Deque[Tuple[Tuple[bool, ...], Optional[object], FrozenSet[str]]] = deque()
    pending.append(((), None, frozenset()))
    decided = 0
    while pending and len(found) < PATHS and decided < _DECISIONS and not (found and enough()):
        schedule, base, seen = pending.popleft()
        decisions = Decisions(schedule)
        outcome = run(decisions)
        trace = tuple(decisions.trace)
        decided += len(trace)
        found.append(Path(trace, outcome, start))
        sign = signature(outcome)
        inert = base is not None and sign == base
        atoms = frozenset(decision.atom for decision in trace)
        held = tuple(decision.holds for decision in trace)
        for index in range(len(schedule), len(trace)):
            if len(pending) >= PATHS - len(found):
                break  # more would never be followed
            if not inert or trace[index].atom not in seen:
                pending.append(((*held[:index], not held[index]), sign, atoms))
    return found
