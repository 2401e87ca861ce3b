"""One parsed script: its text, its scopes, and its nodes with what they stand in."""

import ast
import bisect
from typing import (
    Any,
    Collection,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from npu_config.core.lazy import asked_once, cached_property
from npu_config.python_flow.scopes import (
    COMPREHENSIONS,
    CONSTANTS,
    DEFINITIONS,
    FUNCTIONS,
    FunctionNode,
    Nesting,
    Scope,
    all_parts,
    blocks,
    children,
    first_line,
    functions,
    is_main,
    last_line,
)
from npu_config.python_flow.source import HAS_ENDS, ScriptSource, parse

_WITHS = (ast.With, ast.AsyncWith)
_SCOPED = (*DEFINITIONS, ast.Lambda, *COMPREHENSIONS)
LEAVES = frozenset((ast.Name, *CONSTANTS))
"""The nodes below which there is nothing."""

ImportNode = Union[ast.Import, ast.ImportFrom]


class Site(NamedTuple):
    """A node with the scope that it sees and the nodes around it, outermost first."""

    node: Any
    scope: Scope
    parents: Tuple[ast.AST, ...]

    @property
    def call(self) -> Optional[ast.Call]:
        """The call of which the node is the function."""
        parent = self.parents[-1]
        return parent if isinstance(parent, ast.Call) and parent.func is self.node else None

    @property
    def statement(self) -> ast.stmt:
        """The innermost statement, the node itself if it is one."""
        nodes = (self.node, *reversed(self.parents))
        return next(node for node in nodes if isinstance(node, ast.stmt))

    @property
    def line(self) -> int:
        """The line on which the node begins."""
        line: int = getattr(self.node, "lineno", None) or self.statement.lineno
        return line

    @property
    def outwards(self) -> Iterator[Tuple[ast.AST, ast.AST]]:
        """The nodes around it, innermost first, each with the part of it that it is in."""
        return zip(reversed(self.parents), (self.node, *reversed(self.parents)))

    def _up(self) -> Iterator[Tuple[ast.AST, ast.AST]]:
        """The same within its function, that included."""
        for node, inner in self.outwards:
            yield node, inner
            if isinstance(node, FUNCTIONS):
                return

    def inside(self, *kinds: type) -> bool:
        """True when one of the nodes around it is of a kind, within the same function."""
        return any(isinstance(node, kinds) for node, _ in self._up())

    @property
    def conditions(self) -> Iterator[ast.expr]:
        """The tests that decide whether the node is reached, innermost first."""
        for node, inner in self.outwards:
            if isinstance(node, (ast.If, ast.IfExp)) and inner is not node.test:
                yield node.test

    @property
    def is_conditional(self) -> bool:
        """True under a condition of the same function, main guards excepted."""
        return any(
            isinstance(node, (ast.If, ast.IfExp))
            and inner is not node.test
            and not is_main(node.test)
            for node, inner in self._up()
        )

    @property
    def entered(self) -> Iterator[ast.Call]:
        """The calls whose values the with statements around the node enter."""
        for node in self.parents:
            for item in node.items if isinstance(node, _WITHS) else ():
                if isinstance(item.context_expr, ast.Call):
                    yield item.context_expr

    def around(self, *kinds: type) -> Optional[ast.AST]:
        """The innermost node of some kinds around it."""
        return next((node for node in reversed(self.parents) if isinstance(node, kinds)), None)

    @property
    def function(self) -> Optional[ast.AST]:
        """The function that it stands in."""
        return self.around(*FUNCTIONS)


def sites(scope: Scope, lines: Sequence[int], kinds: Collection[type]) -> Iterator[Site]:
    """The nodes of some classes in the statements of a scope that hold one of some lines.

    Args:
        scope: the module, or what is in it.
        lines: the lines, in order.
        kinds: the classes; what is around a node comes before it.
    """
    if not HAS_ENDS:
        lines = _with_starts(scope, lines)
    skipped = LEAVES.difference(kinds)
    pending: List[Tuple[ast.AST, Scope, Tuple[ast.AST, ...]]] = [(scope.node, scope, ())]
    while pending:
        node, outer, parents = pending.pop()
        kind = node.__class__
        if kind in kinds:
            yield Site(node, outer, parents)
        if kind in LEAVES:
            continue
        inner = outer.child(node) if kind in _SCOPED and node is not scope.node else outer  # type: ignore[arg-type]
        parents = (*parents, node)
        for part in reversed(children(node, lines)):
            if part.__class__ in skipped:
                continue
            is_inner = inner is not outer and (
                isinstance(part, ast.stmt) or kind in COMPREHENSIONS or part is node.body  # type: ignore[attr-defined]
            )
            pending.append((part, inner if is_inner else outer, parents))


def _with_starts(scope: Scope, lines: Sequence[int]) -> List[int]:
    """Lines, and those on which their statements start: Python 3.7 does not say where one ends."""
    if scope.starts is None:
        scope.starts = _starts(scope.body)
    starts = scope.starts
    return sorted({*lines, *(starts[bisect.bisect_right(starts, line) - 1] for line in lines)})


def _starts(body: Sequence[ast.AST]) -> List[int]:
    """The lines on which statements start, in order."""
    starts = {0}
    pending = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt):
            starts.add(first_line(node))
        bodies = [node.body] if isinstance(node, DEFINITIONS) else blocks(node)
        pending += [part for parts in bodies for part in parts]
    return sorted(starts)


class Value(NamedTuple):
    """An expression and the scope that it is evaluated in."""

    scope: Scope
    node: Any


def walk(scope: Scope, node: ast.AST) -> Iterator[Value]:
    """A node and all that it holds, with the scopes that they are in, in order of the text."""
    pending: List[Tuple[Scope, ast.AST]] = [(scope, node)]
    while pending:
        scope, node = pending.pop()
        yield Value(scope, node)
        if node.__class__ in LEAVES:
            continue
        inner = scope.child(node) if isinstance(node, _SCOPED) else scope
        for part in reversed(children(node)):
            is_inner = inner is not scope and (
                isinstance(node, COMPREHENSIONS) or isinstance(part, ast.stmt) or part is node.body  # type: ignore[attr-defined]
            )
            pending.append((inner if is_inner else scope, part))


class Function(NamedTuple):
    """A function of the script, and the scope of its body."""

    scope: Scope
    node: Any

    @property
    def returned(self) -> List[ast.expr]:
        """What it returns."""
        if isinstance(self.node, ast.Lambda):
            return [self.node.body]
        return list(_returned(self.node.body))

    @property
    def statements(self) -> List[ast.stmt]:
        """Its body; that of a lambda has none."""
        return [] if isinstance(self.node, ast.Lambda) else self.node.body


def _returned(body: Sequence[ast.AST]) -> Iterator[ast.expr]:
    for statement in body:
        if isinstance(statement, ast.Return) and statement.value is not None:
            yield statement.value
        for inner in blocks(statement):
            yield from _returned(inner)


class Module:
    """A parsed script with what is found in it once and for all.

    Args:
        text: the script.
        path: its file, for the places.
        parsed: a module whose text and syntax tree are taken where text and file are the same.

    Attributes:
        scope: the names of the module.

    Raises:
        Unparsable: for text that is not Python 3.
    """

    def __init__(
        self, text: str, path: Optional[str] = None, parsed: Optional["Module"] = None
    ) -> None:
        self.source: ScriptSource
        self.tree: ast.Module
        if parsed is not None and (parsed.source.path, parsed.source.text) == (path, text):
            self.source, self.tree = parsed.source, parsed.tree
        else:
            self.source, self.tree = ScriptSource(text, path), parse(text)
        self.module = Scope(self.tree, None)

    @cached_property
    def import_statements(self) -> List[ImportNode]:
        """Every import statement, in order of the text."""
        lines = self.source.mentions("import")
        found = sites(self.module, lines, (ast.Import, ast.ImportFrom))
        return [site.node for site in found]

    @cached_property
    def functions(self) -> List[Tuple[Scope, FunctionNode]]:
        """Every function, at any depth, with the scope that it is defined in."""
        return functions(self.module, self.module.body)

    @cached_property
    def _nesting(self) -> Nesting[Tuple[Scope, FunctionNode]]:
        stretches = ((node.lineno, last_line(node), (s, node)) for s, node in self.functions)
        return Nesting(stretches)

    def functions_around(self, line: int) -> Iterator[Tuple[Scope, FunctionNode]]:
        """The functions around a line with their scopes, the innermost first."""
        return self._nesting.around(line)

    def function_of(self, line: int) -> Optional[FunctionNode]:
        """The innermost function around a line."""
        return next((node for _, node in self.functions_around(line)), None)

    @cached_property
    def global_names(self) -> FrozenSet[str]:
        """The names that some function assigns with ``global`` or ``nonlocal``."""
        found: Set[str] = set()
        for keyword in ("global", "nonlocal"):
            for line in self.source.mentions(keyword):
                words = self.source.lines[line - 1].replace(",", " ").split()
                if words and words[0] == keyword:
                    found.update(words[1:])
        return frozenset(found)

    @asked_once
    def nodes(self, *words: str) -> Sequence[ast.AST]:
        """The nodes of all statements with one of the words on their lines."""
        lines = self.source.lines_of(*words)
        return all_parts(self.tree, lines) if lines else []
