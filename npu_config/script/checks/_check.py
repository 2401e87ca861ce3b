"""What a check of a script is: a rule that looks at one path, or at the script as a whole."""

import ast
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from npu_config.core.diagnostics import Diagnostic, Fix, Place, Severity
from npu_config.core.rule import Rule, declare
from npu_config.script.checks._reads import LOOPS, Unread
from npu_config.script.neighbours import any_import_has, may_import_unread
from npu_config.script.objects import Use
from npu_config.script.paths import Path
from npu_config.script.scopes import last_line
from npu_config.script.script import Script
from npu_config.script.state import Call, Run
from npu_config.script.syntax import name_of

_OURS = ("npu_bridge", "npu_device", "npu_config")


class Found(NamedTuple):
    """A finding, the path that it was made on, and the numbers of decisions on that path.

    ``guards`` are those that its place is under, ``named`` is the one that its message names.
    """

    diagnostic: Diagnostic
    path: Optional[Path]
    guards: Tuple[int, ...]
    named: Optional[int]


class Context:
    """What a check sees, and where it puts its findings.

    Attributes:
        script: the script.
        paths: every path through it.
        path: the path that is looked at; None for a check of the whole script.
        run: what happened on the path.
        version: the adapter that the script is for (``Target.version``); None: any.
        unread: finds results of calls that nothing reads.
    """

    def __init__(
        self, script: Script, paths: Sequence[Path], version: Optional[int] = None
    ) -> None:
        self.version = version
        self.script = script
        self.paths = paths
        self.path: Optional[Path] = None
        self.run: Run
        self.rule: Optional[Rule] = None
        self.found: List[Found] = []
        self.unread = Unread(script)
        self.handed_on: Dict[Tuple[Place, Optional[int]], bool] = {}
        self._imports_have: Dict[Tuple[str, ...], bool] = {}
        self._may_import_unread: Optional[bool] = None
        self._uses: Optional[Dict[Place, List[Use]]] = None
        self._loops: Optional[List[Tuple[int, int]]] = None

    def place(self, node: ast.AST) -> Place:
        """Where a node is."""
        return self.script.source.place_of(node)

    def report(
        self,
        message: str,
        place: Place,
        guards: Tuple[int, ...] = (),
        option: Optional[str] = None,
        help: Optional[str] = None,
        severity: Optional[Severity] = None,
        fix: Optional[Fix] = None,
        meant: Optional[str] = None,
        consequence: Optional[str] = None,
        named: Optional[int] = None,
    ) -> None:
        """Report a finding.

        ``guards`` are the conditions that its place is under, ``named`` is the one that the
        message names.
        """
        assert self.rule is not None
        diagnostic = self.rule.diagnostic(
            message, place, option, help, severity, fix, meant, consequence
        )
        self.found.append(Found(diagnostic, self.path, guards, named))

    def uses(self, place: Place) -> List[Use]:
        """Everything that any path does with the object that is made at a place."""
        if self._uses is None:
            self._uses = {}
            for path in self.paths:
                run = path.outcome
                for thing in run.messages + run.blocks + run.constructed:
                    self._uses.setdefault(thing.place, []).extend(thing.uses)
        return self._uses.get(place, [])

    @property
    def loops(self) -> List[Tuple[int, int]]:
        """The first and the last line of every loop."""
        if self._loops is None:
            nodes = ast.walk(self.script.tree)
            self._loops = [(n.lineno, last_line(n)) for n in nodes if isinstance(n, LOOPS)]
        return self._loops

    def mentions(self, *words: str) -> bool:
        """True when one of the words is in the script, comments left out."""
        return any(self.script.source.mentions(word) for word in words)

    def imports_have(self, *words: str) -> bool:
        """True when a file that the script imports holds one of the words."""
        if words not in self._imports_have:
            self._imports_have[words] = any_import_has(self.script.source.path, words)
        return self._imports_have[words]

    def imports_may_have(self, *words: str) -> bool:
        """True when a file that the script imports holds one of the words, or cannot be found."""
        if self._may_import_unread is None:
            source = self.script.source
            self._may_import_unread = may_import_unread(source.path, source.text)
        return self._may_import_unread or self.imports_have(*words)

    def calls(self, *names: str) -> Iterator[ast.Call]:
        """Every call of a function with one of these names, anywhere in the script."""
        for node in self.script.nodes(*names):
            if isinstance(node, ast.Call) and name_of(node.func) in names:
                yield node

    def is_from_elsewhere(self, function: ast.expr, kind: str) -> bool:
        """True for a function that is imported, but not from npu_bridge: its name is chance.

        Args:
            function: what is called.
            kind: the name that it has in npu_bridge.
        """
        owner = function
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if not isinstance(owner, ast.Name):
            return False
        names = self.script.imported(owner.id)
        if owner is function:
            names = frozenset(name for name in names if name.rpartition(".")[2] == kind)
        return bool(names) and all(name.partition(".")[0] not in _OURS for name in names)


class Check(NamedTuple):
    """One check: its rule and its function."""

    rule: Rule
    function: Callable[[Context], None]
    whole: bool


CHECKS: List[Check] = []


def check(
    id: str,
    severity: Severity,
    facts: Tuple[str, ...] = (),
    source: Tuple[str, ...] = (),
    whole: bool = False,
    also: Tuple[str, ...] = (),
) -> Callable[[Callable[[Context], None]], Callable[[Context], None]]:
    """Enter the decorated function as a check: its name is the rule's, its docstring the page.

    Args:
        id: ``NPU`` and three or four digits.
        severity: of its findings.
        facts: the entries of the fact file that it covers.
        source: where the facts are written down.
        whole: it looks at the script once, not at every path.
        also: the options that its findings are about.
    """

    def enter(function: Callable[[Context], None]) -> Callable[[Context], None]:
        entry = declare(id, severity, facts, source, also=also)(function)
        CHECKS.append(Check(entry, function, whole))
        return function

    return enter


def known(call: Call, keyword: str, position: int) -> Any:
    """An argument of a call; None when it is not given."""
    given = call.get(keyword, position)
    return None if given is None else given[0]
