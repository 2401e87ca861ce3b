"""What a shell knows at one point of a script: variables, functions, arguments."""

import os
from typing import Any, Dict, Iterable, NamedTuple, Optional, Sequence, Set, Tuple, Union

from npu_config.core.settings import UNKNOWN, Unknown
from npu_config.launch.shell.syntax import Spot

Value = Union[str, Unknown]


class Variable(NamedTuple):
    """A variable; ``certain`` is False when only some of the paths to here set it.

    ``elements`` is an array in one text, the words with :data:`BETWEEN` between them.
    """

    value: Value
    spot: Optional[Spot] = None
    exported: bool = False
    certain: bool = True
    elements: Value = UNKNOWN


NOT_KNOWN = Variable(UNKNOWN)


class Shell:
    """What changes seldom: one object for all paths on which it stays the same.

    Attributes:
        unset: the names that are certainly not set: others may come from outside.
        functions: name to body.
        arguments: ``$1`` and what follows; None when they are not known.
        export_all: after ``set -a``.
    """

    __slots__ = ("arguments", "export_all", "functions", "unset")

    def __init__(
        self,
        unset: Set[str],
        functions: Dict[str, Any],
        arguments: Optional[Tuple[Value, ...]],
        export_all: bool,
    ) -> None:
        self.unset = unset
        self.functions = functions
        self.arguments = arguments
        self.export_all = export_all


class Path(NamedTuple):
    """What became of a state on a path: the variables that it changed (None: not left)."""

    variables: Dict[str, Optional[Variable]]
    shell: Shell
    dead: str = ""


class State:
    """The variables of a shell.

    A path that may not be taken is followed on the state itself: :meth:`fork`, what happens on
    it, :meth:`back`; :meth:`join` then takes what is known after several of them.

    Attributes:
        variables: by name; beside them the texts of files (:func:`written`).
        exported: those that a command certainly gets.
        shell: all else; :meth:`own` before it is changed.
        before: the variables that changed on the path that is followed, as they were before it.
        dead: ``"exit"`` or ``"return"`` after that; nothing that follows is reached.
    """

    __slots__ = ("_shared", "before", "dead", "exported", "shell", "variables")

    def __init__(self, arguments: Optional[Sequence[Value]] = None) -> None:
        self.variables: Dict[str, Variable] = {}
        self.exported: Dict[str, Variable] = {}
        self.shell = Shell(set(), {}, None if arguments is None else (*arguments,), False)
        self.before: Dict[str, Optional[Variable]] = {}
        self.dead = ""
        self._shared = False

    def nothing(self) -> Path:
        """The path on which nothing happens."""
        self._shared = True
        return Path({}, self.shell)

    def fork(self) -> Path:
        """Begin a path that may not be taken; its beginning, for :meth:`back`."""
        begin = Path(self.before, self.shell, self.dead)
        self.before = {}
        self._shared = True
        return begin

    def back(self, begin: Path) -> Path:
        """Undo what happened since :meth:`fork`; the path that was followed."""
        changed = {name: self.variables.get(name) for name in self.before}
        followed = Path(changed, self.shell, self.dead)
        for name, variable in self.before.items():
            self._have(name, variable)
        self.before, self.shell, self.dead = begin
        self._shared = True
        return followed

    def join(self, *paths: Path) -> None:
        """Take what is known where several paths come together; those that ended do not count."""
        alive = [path for path in paths if not path.dead] or paths[:1]
        first = alive[0]
        self.shell, self.dead = first.shell, first.dead
        names = dict(first.variables)
        for path in alive[1:]:
            names.update(path.variables)
            if path.shell is not first.shell:
                self._join_shell(path.shell)
        for name in names:
            here = self.variables.get(name)
            one = first.variables.get(name, here)
            for path in alive[1:]:
                two = path.variables.get(name, here)
                if one is not two:
                    one = _joined(one, two)
            self.put(name, one)

    def _join_shell(self, other: Shell) -> None:
        shell = self.shell
        self.shell = Shell(
            shell.unset & other.unset,
            {**other.functions, **shell.functions},
            shell.arguments if shell.arguments == other.arguments else None,
            shell.export_all or other.export_all,
        )

    def own(self) -> Shell:
        """What changes seldom, to be changed: no other path has it."""
        if self._shared:
            shell = self.shell
            self.shell = Shell(
                set(shell.unset), dict(shell.functions), shell.arguments, shell.export_all
            )
            self._shared = False
        return self.shell

    def get(self, name: str) -> Value:
        """The value of a variable; UNKNOWN when it is not set here but may be outside."""
        variable = self.variables.get(name)
        if variable is not None:
            return variable.value if variable.certain else UNKNOWN
        return "" if name in self.shell.unset else UNKNOWN

    def elements(self, name: str) -> Value:
        """The elements of an array in one text."""
        variable = self.variables.get(name)
        return UNKNOWN if variable is None or not variable.certain else variable.elements

    def put(self, name: str, variable: Optional[Variable]) -> None:
        """Have this variable, or none, under a name."""
        self.before.setdefault(name, self.variables.get(name))
        self._have(name, variable)

    def _have(self, name: str, variable: Optional[Variable]) -> None:
        if variable is None:
            self.variables.pop(name, None)
        else:
            self.variables[name] = variable
        if variable is not None and variable.exported and variable.certain:
            self.exported[name] = variable
        elif name in self.exported:
            del self.exported[name]

    def set(
        self,
        name: str,
        value: Value,
        spot: Optional[Spot],
        export: bool = False,
        elements: Value = UNKNOWN,
    ) -> None:
        """Assign; a variable that was exported stays so."""
        before = self.variables.get(name)
        self.before.setdefault(name, before)
        if self.shell.export_all or (before is not None and before.exported):
            export = True
        variable = self.variables[name] = Variable(value, spot, export, True, elements)
        if export:
            self.exported[name] = variable
        if name in self.shell.unset:
            self.own().unset.discard(name)

    def export(self, name: str, spot: Optional[Spot]) -> None:
        """``export NAME``."""
        variable = self.variables.get(name)
        if variable is not None:
            self.put(name, variable._replace(exported=True))
        elif name not in self.shell.unset:
            self.put(name, Variable(UNKNOWN, spot, True, False))

    def forget_export(self, name: str) -> None:
        """``export -n NAME``."""
        variable = self.variables.get(name)
        if variable is not None:
            self.put(name, variable._replace(exported=False))

    def remove(self, name: str) -> None:
        """``unset NAME``."""
        self.put(name, None)
        self.own().unset.add(name)

    def forget(self, names: Optional[Iterable[str]] = None) -> None:
        """The values of these variables, or of all, are no longer known."""
        for name in list(self.variables) if names is None else names:
            variable = self.variables.get(name)
            if variable is not None:
                self.put(name, variable._replace(value=UNKNOWN, elements=UNKNOWN))
            elif name in self.shell.unset:
                self.own().unset.discard(name)
        if names is None and self.shell.unset:
            self.own().unset.clear()


BETWEEN = "\x1f"
"""What separates the elements of an array in its text."""


def written(path: str) -> str:
    """The name under which a state keeps the text of a file that the script wrote."""
    return "> " + os.path.normpath(path)


def _joined(one: Optional[Variable], two: Optional[Variable]) -> Variable:
    if one is None or two is None:
        known = one or two
        assert known is not None
        return Variable(known.value, known.spot, known.exported, False)
    return Variable(
        one.value if one.value == two.value else UNKNOWN,
        one.spot,
        one.exported or two.exported,
        one.certain and two.certain,
        one.elements if one.elements == two.elements else UNKNOWN,
    )
