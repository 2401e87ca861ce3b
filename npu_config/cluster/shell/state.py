"""What a shell knows at one point of a script: variables, functions, arguments."""

import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from npu_config.core.diagnostics import NOWHERE, Place
from npu_config.core.settings import UNKNOWN, Unknown

Value = Union[str, Unknown]


class Variable(NamedTuple):
    """A variable; ``certain`` is False when only some of the paths to here set it."""

    value: Value
    place: Place = NOWHERE
    exported: bool = False
    certain: bool = True


class State:
    """The variables of a shell.

    Attributes:
        variables: by name; beside them the texts of files (:func:`written`) and the elements of
            arrays (:func:`array`).
        unset: the names that are certainly not set: others may come from outside.
        functions: name to body.
        arguments: ``$1`` and what follows; None when they are not known.
        export_all: after ``set -a``.
        changed: the names that were touched since the state was copied from another one.
        dead: ``"exit"`` or ``"return"`` after that; nothing that follows is reached.
    """

    __slots__ = ("arguments", "changed", "dead", "export_all", "functions", "unset", "variables")

    def __init__(self, arguments: Optional[Sequence[Value]] = None) -> None:
        self.variables: Dict[str, Variable] = {}
        self.unset: Set[str] = set()
        self.functions: Dict[str, Any] = {}
        self.arguments: Optional[Tuple[Value, ...]] = None if arguments is None else (*arguments,)
        self.export_all = False
        self.changed: Set[str] = set()
        self.dead = ""

    def copy(self) -> "State":
        """A state of its own with the same content."""
        new = State()
        new.take(self)
        new.variables = dict(self.variables)
        new.unset = set(self.unset)
        new.functions = dict(self.functions)
        new.changed = set()
        return new

    def take(self, other: "State") -> None:
        """Become another state, which nobody uses any more."""
        self.variables = other.variables
        self.unset = other.unset
        self.functions = other.functions
        self.arguments = other.arguments
        self.export_all = other.export_all
        self.dead = other.dead
        self.changed |= other.changed

    def get(self, name: str) -> Value:
        """The value of a variable; UNKNOWN when it is not set here but may be outside."""
        variable = self.variables.get(name)
        if variable is not None:
            return variable.value if variable.certain else UNKNOWN
        return "" if name in self.unset else UNKNOWN

    def set(self, name: str, value: Value, place: Place, export: bool = False) -> None:
        """Assign; a variable that was exported stays so."""
        before = self.variables.get(name)
        exported = export or self.export_all or (before is not None and before.exported)
        self.variables[name] = Variable(value, place, exported)
        self.unset.discard(name)
        self.changed.add(name)
        self._lose(name)

    def _lose(self, name: str) -> None:
        """The elements of an array that was assigned anew are not known."""
        if array(name) in self.variables:
            self.variables[array(name)] = Variable(UNKNOWN)
            self.changed.add(array(name))

    def note(self, name: str, value: Value, place: Place) -> None:
        """What is known of something else than a variable; its name is none of a variable."""
        self.variables[name] = Variable(value, place)
        self.changed.add(name)

    def export(self, name: str, place: Place) -> None:
        """``export NAME``."""
        variable = self.variables.get(name)
        self.changed.add(name)
        if variable is not None:
            self.variables[name] = variable._replace(exported=True)
        elif name not in self.unset:
            self.variables[name] = Variable(UNKNOWN, place, True, False)

    def remove(self, name: str) -> None:
        """``unset NAME``."""
        self.variables.pop(name, None)
        self.unset.add(name)
        self.changed.add(name)
        self._lose(name)

    def forget(self, names: Optional[Iterable[str]] = None) -> None:
        """The values of these variables, or of all, are no longer known."""
        for name in list(self.variables) if names is None else names:
            variable = self.variables.get(name)
            self.unset.discard(name)
            self.changed.add(name)
            if variable is not None:
                self.variables[name] = variable._replace(value=UNKNOWN)
            self._lose(name)

    def environment(self) -> Tuple[Dict[str, Value], Dict[str, Place]]:
        """What a command gets: the exported variables and where they are set."""
        exported = {
            name: variable
            for name, variable in self.variables.items()
            if variable.exported and variable.certain
        }
        return (
            {name: variable.value for name, variable in exported.items()},
            {name: variable.place for name, variable in exported.items()},
        )


BETWEEN = "\x1f"
"""What separates the elements of an array in its text."""


def array(name: str) -> str:
    """The name under which a state keeps the elements of an array."""
    return name + "[]"


def written(path: str) -> str:
    """The name under which a state keeps the text of a file that the script wrote."""
    return "> " + os.path.normpath(path)


def join(states: List[State]) -> State:
    """The first of several paths that came together, with what is known then.

    Those that ended do not count.

    Args:
        states: copies of one state, or that state itself, each changed on its path.
    """
    alive = [state for state in states if not state.dead]
    if not alive:
        return states[0]
    first = alive[0]
    for other in alive[1:]:
        first.changed |= other.changed
        for name in first.changed:
            one, two = first.variables.get(name), other.variables.get(name)
            if one is not two:
                first.variables[name] = _joined(one, two)
        first.unset &= other.unset
        first.functions = {**other.functions, **first.functions}
        if first.arguments != other.arguments:
            first.arguments = None
        first.export_all = first.export_all or other.export_all
    return first


def _joined(one: Optional[Variable], two: Optional[Variable]) -> Variable:
    if one is None or two is None:
        known = one or two
        assert known is not None
        return known._replace(certain=False)
    value = one.value if one.value == two.value else UNKNOWN
    certain = one.certain and two.certain
    return Variable(value, one.place, one.exported or two.exported, certain)
