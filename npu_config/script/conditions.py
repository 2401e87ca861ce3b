"""Conditions that cannot be known, and what those decided on a path say of each other.

No path goes two ways at one question: what :class:`Decisions` have said of a value holds for every
later test of it.
"""

import ast
import contextlib
import copy
import operator
from types import MappingProxyType
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from npu_config.python_flow.scopes import condition
from npu_config.script.objects import Unknown, is_known, origins, substituted

_NEGATIVE: Dict[type, type] = {
    ast.NotEq: ast.Eq,
    ast.IsNot: ast.Eq,
    ast.Is: ast.Eq,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.NotIn: ast.In,
}
_HOLDS: Dict[str, Callable[[Any, Any], Any]] = {
    "": lambda value, other: value,
    "Eq": operator.eq,
    "Lt": operator.lt,
    "Gt": operator.gt,
    "In": lambda value, other: value in other,
}
ROUNDS = "Rounds"
"""The relation of the value, or the condition, of a loop to what is not known of it."""
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

    @property
    def holds_of(self) -> Optional[Callable[[Any, Any], Any]]:
        """Whether the atom holds of a value and ``other``; None where that cannot be said."""
        is_list = isinstance(self.other, (list, tuple))
        if not is_known(self.other) or (self.relation == "In" and not is_list):
            return None
        return _HOLDS.get(self.relation)

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
    ``asserted`` is True for what the script asserts: no path goes the other way.
    ``file`` is the script that asks; None for a text of no file.
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
    asserted: bool = False
    file: Optional[str] = None

    @property
    def atom(self) -> str:
        """What identifies the condition, whichever way it goes."""
        return self.condition.atom

    @property
    def asks_for(self) -> bool:
        """True when it says that something is switched on."""
        return self.holds and self.condition.asks_for

    @property
    def skips(self) -> bool:
        """True for a loop of unknown rounds that has none."""
        return self.holds and self.condition.relation == ROUNDS

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


_NO_SCHEDULE: Mapping[str, bool] = MappingProxyType({})


class Decisions:
    """The decisions of one path: those of the schedule, else the usual way.

    Attributes:
        trace: every decision, in order.
        touched: the indices of the decisions that the tests so far rest on; those since ``mark``
            belong to the test that is going on.
        guards: the indices of the decisions that led to the statement that is being run.
    """

    def __init__(self, schedule: Mapping[str, bool] = _NO_SCHEDULE) -> None:
        self.restart(schedule)

    def restart(self, schedule: Mapping[str, bool]) -> None:
        """Forget every decision and begin again."""
        self.schedule = schedule
        self.trace: List[Decision] = []
        self.touched: List[int] = []
        self.mark = 0
        self.guards: List[int] = []
        self.loops = 0
        self._atoms: Dict[str, int] = {}
        self._equal: Dict[str, Tuple[Any, int]] = {}
        self._compared: Dict[str, List[int]] = {}

    def decide(
        self,
        condition: Condition,
        node: Optional[ast.expr],
        usual: bool = True,
        words: str = "",
        is_switch: bool = False,
        file: Optional[str] = None,
    ) -> bool:
        """Whether the condition holds on this path.

        Args:
            condition: the condition.
            node: the expression, for the words of the path.
            usual: how the first path goes.
            words: what to call it where there is no expression.
            is_switch: it is known to be ``usual``, and the other way is only supposed.
            file: the script that asks.
        """
        known = self._entailed(condition)
        if known is None:
            holds = self._take(condition, node, usual, words, is_switch, file=file)
        else:
            holds, indices = known
            self.touched += indices
            if holds and condition.relation == "Eq":
                self._equal.setdefault(condition.subject, (condition.other, indices[-1]))
        return holds is condition.positive

    def suppose(self, condition: Condition, node: ast.expr) -> None:
        """Let a condition hold on every path that comes here: the script asserts it."""
        if self._entailed(condition) is None:
            self._take(condition, node, True, "", False, asserted=True)
            self.touched.pop()

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

    def truth(self, value: Any) -> Optional[bool]:
        """Whether a value is certainly true on this path, as far as conditions say so."""
        while isinstance(value, Unknown) and value.convert is bool:
            value = value.parts[-1]
        if not isinstance(value, Unknown):
            return None
        condition = Condition.of(value)
        known = self._entailed(condition)
        return None if known is None else known[0] is condition.positive

    def _fact(self, value: Unknown) -> Any:
        return self._equal.get(value.key, (value, 0))[0]

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
            parts = origins(fact.parts[0]) if fact.parts and fact.relation == "Eq" else ()
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
        asserted: bool = False,
        file: Optional[str] = None,
    ) -> bool:
        index = len(self.trace)
        holds = self.schedule.get(condition.atom, usual is condition.positive)
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
                asserted,
                file,
            )
        )
        self.touched.append(index)
        self._atoms[condition.atom] = index
        if condition.relation == "Eq" and holds:
            self._equal[condition.subject] = (condition.other, index)
        if condition.holds_of is not None:
            self._compared.setdefault(condition.subject, []).append(index)
        return holds

    def _entailed(self, condition: Condition) -> Optional[Tuple[bool, List[int]]]:
        """What earlier decisions say of the atom, and those that say it."""
        index = self._atoms.get(condition.atom)
        if index is not None:
            return self.trace[index].holds, [index]
        holds_of, other = condition.holds_of, condition.other
        if holds_of is None:
            return None
        equal = self._equal.get(condition.subject) or self._equal_origin(condition)
        if equal is not None:
            with contextlib.suppress(TypeError):
                return bool(holds_of(equal[0], other)), [equal[1]]
        if condition.relation == "Eq":
            for fact, index in self._about(condition):
                value = substituted(fact.parts[0], _being(condition.parts[0], other))
                if is_known(value) and value != fact.other:
                    return False, [index]
        indices = self._compared.get(condition.subject, [])
        for some in (*([index] for index in indices), indices[:] if indices[1:] else []):
            found = _agreed(condition, [self.trace[index] for index in some]) if some else None
            if found is not None:
                return found, some
        return None


def _agreed(condition: Condition, facts: Sequence[Decision]) -> Optional[bool]:
    """Whether the atom of a condition holds for every value that its subject may still have.

    Enough to try are the values that the tests name, one beyond and one between any two numbers,
    and two of another kind, a true one and one that is not; what is compared with True or False
    and is taken for its truth is one of them.
    """
    tests = [condition, *(fact.condition for fact in facts)]
    named: List[Any] = []
    for each in tests:
        named += each.other if each.relation == "In" else [each.other] if each.relation else []
    values = [*named, _Other(True), _Other(False)]
    if any(type(each) is bool for each in named) and not all(each.relation for each in tests):
        values = [True, False]
    numbers = sorted(each for each in named if type(each) in (int, float))
    if numbers:
        values += [numbers[0] - 1, numbers[-1] + 1]
        values += [(low + high) / 2 for low, high in zip(numbers, numbers[1:])]
    found = set()
    for value in values:
        with contextlib.suppress(TypeError):
            if all(_holds(fact.condition, value) is fact.holds for fact in facts):
                found.add(_holds(condition, value))
    return found.pop() if len(found) == 1 else None


def _holds(condition: Condition, value: Any) -> bool:
    assert condition.holds_of is not None
    return bool(condition.holds_of(value, condition.other))


class _Other:
    """A value that no test names."""

    def __init__(self, is_true: bool) -> None:
        self._is_true = is_true

    def __bool__(self) -> bool:
        return self._is_true


def _being(subject: Any, other: Any) -> Callable[[Unknown], Any]:
    """What values are if one of them has a certain value."""
    return lambda value: other if value.key == subject.key else value
