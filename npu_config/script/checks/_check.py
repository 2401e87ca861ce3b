"""What a check of a script is, and what all checks ask: what reads a result, what binds a name."""

import ast
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
    Union,
)

from npu_config.core.diagnostics import Diagnostic, Fix, Place, Rule, Severity, declare
from npu_config.core.lazy import asked_once, cached_property
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN
from npu_config.python_flow.module import sites
from npu_config.python_flow.scopes import (
    DEFINITIONS,
    FUNCTIONS,
    argument,
    children,
    is_main,
    last_line,
    name_of,
    root_of,
)
from npu_config.script.elsewhere import Program
from npu_config.script.meaning import Meaning
from npu_config.script.neighbours import (
    any_import_has,
    any_importer_has,
    any_neighbour_has,
    may_import_unread,
)
from npu_config.script.objects import Use, is_known
from npu_config.script.paths import Path, Run
from npu_config.script.reading import options_of_run_config
from npu_config.script.script import Script

_OF_NAMES = ("locals", "globals", "vars", "eval", "exec")
_OF_ATTRIBUTES = ("getattr", "attrgetter", "vars", "__dict__")
"""What reads names, and attributes, without naming them."""

LOOPS = (ast.For, ast.AsyncFor, ast.While)

Parents = Tuple[ast.AST, ...]


class Unread:
    """Finds out what happens to the results of calls.

    Args:
        script: the script.
    """

    def __init__(self, script: Script) -> None:
        self._script = script

    @asked_once
    def around(self, node: ast.expr) -> Parents:
        """The nodes around an expression, the outermost first."""
        places = sites(self._script.module, (node.lineno,), (node.__class__,))
        return next((site.parents for site in places if site.node is node), ())

    @asked_once
    def name_of_result(self, call: ast.Call) -> Optional[str]:
        """What certainly nothing reads: the name that is given the result of a call.

        The empty text for a result that is given no name at all, None for one that something
        reads, or may read.
        """
        parents = self.around(call)
        statement = parents[-1] if parents else None
        if isinstance(statement, ast.Expr):
            return ""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return None if self._may_read(target.id, statement, parents) else target.id
        if isinstance(target, ast.Attribute) and _is_own(target, parents):
            return None if self._may_read_attribute(target, statement) else target.attr
        return None

    def _may_read(self, name: str, statement: ast.Assign, parents: Parents) -> bool:
        """True unless nothing reads a name after a statement that binds it."""
        scope: ast.AST = next(
            (n for n in reversed(parents) if isinstance(n, DEFINITIONS)), parents[0]
        )
        if isinstance(scope, ast.ClassDef) or self._reads_all_names():
            return True
        loop = next((n for n in parents[parents.index(scope) :] if isinstance(n, LOOPS)), None)
        again = None if loop is None else (loop.lineno, last_line(loop))
        lines = self._script.source.lines_of(name, "global", "nonlocal")
        for node, inside in _mentions(scope, name, statement, lines):
            if inside or not isinstance(node, ast.Name):
                return True
            if (node.lineno, node.col_offset) > (statement.lineno, statement.col_offset):
                return True
            if again is not None and again[0] <= node.lineno <= again[1]:
                return True
        return scope is parents[0] and self._may_be_imported(name, parents)

    def _may_be_imported(self, name: str, parents: Parents) -> bool:
        """True when another script may take a name of the module."""
        source = self._script.source
        if any(isinstance(node, ast.If) and is_main(node.test) for node in parents):
            return False
        return not self._script.is_program or any_importer_has(source.path, (name,))

    def _may_read_attribute(self, target: ast.Attribute, statement: ast.Assign) -> bool:
        """True unless nothing reads an attribute of ``self``, here or in a script near it."""
        source = self._script.source
        if not self._script.is_program or any(source.mentions(w) for w in _OF_ATTRIBUTES):
            return True
        own = {id(node) for node in ast.walk(statement)}
        return any(
            isinstance(node, ast.Attribute)
            and node.attr == target.attr
            and isinstance(node.ctx, ast.Load)
            and id(node) not in own
            for node in self._script.nodes(target.attr)
        ) or any_neighbour_has(source.path, ("." + target.attr,))

    def _reads_all_names(self) -> bool:
        """True when something may read a name without naming it."""
        return any(
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _OF_NAMES
            and not (node.func.id == "vars" and node.args)
            for node in self._script.nodes(*_OF_NAMES)
        )


def _is_own(target: ast.Attribute, parents: Parents) -> bool:
    """True for an attribute of ``self`` in a class that inherits from no other."""
    function = next((node for node in reversed(parents) if isinstance(node, FUNCTIONS)), None)
    if function is None or not function.args.args:
        return False
    owner = parents[parents.index(function) - 1]
    if not isinstance(owner, ast.ClassDef) or owner.keywords:
        return False
    if any(not isinstance(base, ast.Name) or base.id != "object" for base in owner.bases):
        return False
    receiver = function.args.args[0].arg
    return isinstance(target.value, ast.Name) and target.value.id == receiver


def _mentions(
    scope: ast.AST, name: str, statement: ast.Assign, lines: Sequence[int]
) -> Iterator[Tuple[Union[ast.Name, ast.stmt], bool]]:
    """Where a scope reads a name, or declares it, and whether in a definition inside of it.

    What the statement itself reads is left out, and what is not on the lines that name it.
    """
    pending: List[Tuple[ast.AST, bool]] = [(scope, False)]
    while pending:
        node, inside = pending.pop()
        for child in children(node, lines):
            if child is statement:
                continue
            if isinstance(child, ast.Name):
                if child.id == name and (
                    isinstance(child.ctx, ast.Load) or isinstance(node, ast.AugAssign)
                ):
                    yield child, inside
            elif isinstance(child, (ast.Global, ast.Nonlocal)):
                if name in child.names:
                    yield child, inside
            else:
                inner = inside or isinstance(child, (*DEFINITIONS, ast.Lambda))
                pending.append((child, inner))


_OURS = ("npu_bridge", "npu_device", "npu_config")
_Answer = TypeVar("_Answer")


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
        self,
        script: Script,
        paths: Union[Sequence[Path], Callable[[], Sequence[Path]]],
        version: Optional[int] = None,
        meaning: Optional[Meaning] = None,
    ) -> None:
        self.version = version
        self.script = script
        self._paths = paths
        self.path: Optional[Path] = None
        self.run: Run
        self.rule: Optional[Rule] = None
        self.found: List[Found] = []
        self.unread = Unread(script)
        self.handed_on: Dict[Tuple[Place, Optional[int]], bool] = {}
        self._meaning = meaning
        self._once: Dict[Callable[[Context], Any], Any] = {}

    def once(self, question: Callable[["Context"], _Answer]) -> _Answer:
        """The answer to what is the same on every path, so that it is looked for once."""
        if question not in self._once:
            self._once[question] = question(self)
        answer: _Answer = self._once[question]
        return answer

    @property
    def paths(self) -> Sequence[Path]:
        """Every path through the script, followed when somebody asks for them."""
        if callable(self._paths):
            self._paths = self._paths()
        return self._paths

    def place(self, node: ast.AST) -> Place:
        """Where a node is; a call in a chain of several lines is where its method is named."""
        place = self.script.source.place_of(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = self.script.source.place_of_name(node.func)
            if name.line != self.script.source.place_of(node.func).line:
                return place._replace(line=name.line, column=name.column)
        return place

    def report(
        self,
        where: Union[Place, ast.AST],
        sentence: str,
        *values: object,
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

        Args:
            where: its place, or the node that is there.
            sentence: what is wrong, with a ``{}`` for each of ``values``.
            values: what stands in the sentence.
            guards: the conditions that its place is under.
            option: the option that it is about, and so on as in :class:`Diagnostic`.
            named: the one of the guards that the sentence names.
        """
        assert self.rule is not None
        message = phrase(sentence, *values)
        place = self.place(where) if isinstance(where, ast.AST) else where
        diagnostic = self.rule.diagnostic(
            message, place, option, help, severity, fix, meant, consequence
        )
        self.found.append(Found(diagnostic, self.path, guards, named))

    def uses(self, place: Place) -> List[Use]:
        """Everything that any path does with the object that is made at a place."""
        return self._uses.get(place, [])

    @cached_property
    def _uses(self) -> Dict[Place, List[Use]]:
        found: Dict[Place, List[Use]] = {}
        for path in self.paths:
            run = path.outcome
            for thing in run.messages + run.blocks + run.constructed:
                found.setdefault(thing.place, []).extend(thing.uses)
        return found

    @property
    def meaning(self) -> Meaning:
        """What the names of the script stand for."""
        if self._meaning is None:
            self._meaning = Meaning(self.script)
        return self._meaning

    def forget(self) -> None:
        """Let other files go that were asked for: nothing is looked for any more."""
        if self._meaning is not None:
            self._meaning.forget()

    def option(self, name: str) -> Set[Any]:
        """The values that an option has over all paths: None where it is not set, UNKNOWN.

        Empty for a script that configures no session and is no program: another one decides.
        """
        found: Set[Any] = set()
        for path in self.paths:
            run = path.outcome
            blocks = [block for block in run.blocks if block.is_npu]
            for block in blocks:
                entry = block.entries.get(name)
                if entry is not None:
                    found.add(entry.value if is_known(entry.value) else UNKNOWN)
                else:
                    found.add(UNKNOWN if block.open else None)
            for made in run.constructed:
                if made.kind == "NPURunConfig":
                    values = options_of_run_config(made)
                    value = values.get(name, UNKNOWN if made.open else None)
                    found.add(value if is_known(value) else UNKNOWN)
            if run.builders:
                found.add(UNKNOWN)
        if not found and self.script.is_program:
            found.add(None)
        return found

    @property
    def is_offloaded(self) -> bool:
        """True when mixed computing is certainly off, so that the device runs the whole graph."""
        return bool(self.option("mix_compile_mode")) and self.option("mix_compile_mode") <= {
            None,
            False,
        }

    @cached_property
    def loops(self) -> List[Tuple[int, int]]:
        """The first and the last line of every loop."""
        nodes = ast.walk(self.script.tree)
        return [(n.lineno, last_line(n)) for n in nodes if isinstance(n, LOOPS)]

    def mentions(self, *words: str) -> bool:
        """True when one of the words is in the script, comments left out."""
        return any(map(self.script.source.mentions, words))

    @asked_once
    def imports_have(self, *words: str) -> bool:
        """True when a file that the script imports holds one of the words."""
        return any_import_has(self.script.source.path, words)

    def imports_may_have(self, *words: str) -> bool:
        """True when a file that the script imports holds one of the words, or cannot be found."""
        return self._may_import_unread or self.imports_have(*words)

    @cached_property
    def _may_import_unread(self) -> bool:
        return may_import_unread(self.script.source.path, self.script.source.text)

    @asked_once
    def program(self, *words: str) -> Program:
        """The functions that the script imports from files that hold one of the words."""
        return Program(self.meaning, words)

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
        owner = root_of(function)
        if not isinstance(owner, ast.Name):
            return False
        names = self.script.imported(owner.id)
        if owner is function:
            names = frozenset(name for name in names if name.rpartition(".")[2] == kind)
        return bool(names) and all(name.partition(".")[0] not in _OURS for name in names)


Needs = Tuple[Sequence[str], ...]
"""Groups of words, of each of which one is in every script that a check finds something in."""


class Check(NamedTuple):
    """One check: its rule and its function.

    ``is_of_program`` is True for one that looks at functions of other files of the program.
    """

    rule: Rule
    function: Callable[[Context], None]
    whole: bool
    needs: Tuple[FrozenSet[str], ...] = ()
    is_of_program: bool = False

    def may_find(self, words: FrozenSet[str]) -> bool:
        """False where it certainly finds nothing in a script of these words."""
        return not any(map(words.isdisjoint, self.needs))

    @property
    def is_of_situation(self) -> bool:
        """True for what looks for a documented trouble in the whole script."""
        return self.whole and self.rule.situation is not None


CHECKS: List[Check] = []


def _may_find_in(script: Script) -> Iterator[Check]:
    """The checks that may find something in a script."""
    for check in CHECKS:
        if check.may_find(script.source.words) and (not check.is_of_program or script.files_named):
            yield check


def check(
    id: str,
    severity: Severity,
    facts: Tuple[str, ...] = (),
    source: Tuple[str, ...] = (),
    whole: bool = False,
    also: Tuple[str, ...] = (),
    situation: Optional[str] = None,
    needs: Needs = (),
) -> Callable[[Callable[[Context], None]], Callable[[Context], None]]:
    """Enter the decorated function as a check: its name is the rule's, its docstring the page.

    Args:
        id: ``NPU`` and three or four digits.
        severity: of its findings.
        facts: the entries of the fact file that it covers.
        source: where the facts are written down.
        whole: it looks at the script once, not at every path.
        also: the options that its findings are about.
        situation: the documented trouble that it finds, if it is one.
        needs: words, by which to know quickly that it finds nothing.
    """

    def enter(function: Callable[[Context], None]) -> Callable[[Context], None]:
        entry = declare(id, severity, facts, source, also=also, situation=situation)(function)
        CHECKS.append(Check(entry, function, whole, tuple(map(frozenset, needs))))
        return function

    return enter


def items_of(node: ast.expr) -> List[ast.expr]:
    """The items of a written tuple, list or dict, at any depth; or the node itself."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return [each for part in node.elts for each in items_of(part)]
    if isinstance(node, ast.Dict):
        return [each for part in node.values for each in items_of(part)]
    return [node]


def recognises(
    rule: Rule, *needs: Sequence[str], elsewhere: bool = False
) -> Callable[[Callable[[Context], None]], Callable[[Context], None]]:
    """Enter the decorated function as what finds a situation of ``situations/`` in the text.

    Args:
        rule: the situation.
        needs: words, by which to know quickly that it finds nothing.
        elsewhere: it is found in functions of other files of the program.
    """

    def enter(function: Callable[[Context], None]) -> Callable[[Context], None]:
        CHECKS.append(Check(rule, function, True, tuple(map(frozenset, needs)), elsewhere))
        return function

    return enter


def run_checks(
    script: Script, groups: Sequence[Sequence[Path]], version: Optional[int] = None
) -> List[Found]:
    """Every finding of every check.

    ``version`` is the adapter that the script is for (``Target.version``).
    """
    paths = [path for group in groups for path in group]
    context = Context(script, paths, version)
    for check in _may_find_in(script):
        context.rule = check.rule
        if check.whole:
            context.path = None
            check.function(context)
        else:
            for path in paths:
                context.path, context.run = path, path.outcome
                check.function(context)
    context.forget()
    return context.found


def may_find_situations(words: FrozenSet[str]) -> bool:
    """False where a script of these words certainly shows no documented trouble."""
    return any(check.is_of_situation and check.may_find(words) for check in CHECKS)


def find_situations(script: Script, paths: Callable[[], Sequence[Path]]) -> Dict[Diagnostic, None]:
    """What the checks find that look for documented troubles in the whole script."""
    context = Context(script, paths)
    for check in _may_find_in(script):
        if check.is_of_situation:
            context.rule = check.rule
            check.function(context)
    context.forget()
    return dict.fromkeys(found.diagnostic for found in context.found)


def dotted(node: Optional[ast.AST]) -> str:
    """A name, or an attribute of a name, as it is written; else the empty text."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return "{}.{}".format(node.value.id, node.attr)
    return node.id if isinstance(node, ast.Name) else ""


def fetches(run: ast.Call) -> List[Any]:
    """What ``session.run`` is given to fetch, one by one."""
    given = argument(run, "fetches", 0)
    if isinstance(given, (ast.List, ast.Tuple)):
        return given.elts
    return given.values if isinstance(given, ast.Dict) else [given]


def bindings(context: Context, node: ast.expr) -> List[ast.expr]:
    """Where the name or the attribute is bound that a node reads."""
    text = dotted(node)
    found: List[Any] = [
        each
        for each in context.script.nodes(name_of(node))
        if (isinstance(each, ast.arg) and each.arg == text)
        or (
            isinstance(each, (ast.Name, ast.Attribute))
            and dotted(each) == text
            and not isinstance(each.ctx, ast.Load)
        )
    ]
    if isinstance(node, ast.Attribute):
        owner = _class_of(context, node)
        return [each for each in found if owner is not None and _class_of(context, each) is owner]
    function = context.script.function_of(node.lineno)
    own = [each for each in found if context.script.function_of(each.lineno) is function]
    return own or [each for each in found if context.script.function_of(each.lineno) is None]


def _class_of(context: Context, node: ast.expr) -> Optional[ast.AST]:
    """The class around the method that a node is in."""
    parents = context.unread.around(node)
    for outer, inner in zip(parents, parents[1:]):
        if isinstance(outer, ast.ClassDef) and isinstance(inner, FUNCTIONS):
            return outer
    return None


def value_of(context: Context, node: Optional[ast.expr]) -> Optional[ast.expr]:
    """What a name or an attribute is bound to, when that is done once; else the node itself."""
    if node is None or not dotted(node):
        return node
    found = bindings(context, node)
    statement = context.unread.around(found[0])[-1] if len(found) == 1 else None
    is_plain = isinstance(statement, ast.Assign) and found[0] in statement.targets
    return statement.value if is_plain and isinstance(statement, ast.Assign) else None
