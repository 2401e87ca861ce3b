"""What a syntax tree says by itself: single nodes, also in words, what the statements of a scope
bind, and which of several bindings holds at a place.
"""

import ast
import bisect
import enum
import sys
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Generic,
    Iterable,
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

from npu_config.core.lazy import cached_property

UNCLEAR = object()
"""What :func:`literal` gives for an expression that is not a literal."""

CONSTANTS = frozenset(
    (ast.Constant,)
    if sys.version_info >= (3, 8)
    else (ast.Constant, ast.Num, ast.Str, ast.Bytes, ast.NameConstant)
)
"""The nodes of numbers, texts, True, False and None, which hold their value in the first field."""


def in_brackets(node: ast.Subscript) -> ast.expr:
    """What is in the brackets, which Python before 3.9 wraps."""
    inner: Any = node.slice
    found: ast.expr = inner.value if inner.__class__.__name__ == "Index" else inner
    return found


def literal(node: Optional[ast.AST]) -> Any:
    """The value of a literal; :data:`UNCLEAR` for anything else, and for no node at all."""
    if node.__class__ in CONSTANTS:
        return getattr(node, node._fields[0])  # type: ignore[union-attr]
    try:
        return UNCLEAR if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return UNCLEAR


def literal_text(node: Optional[ast.AST]) -> Optional[str]:
    """The text of a string literal; None for anything else."""
    value = literal(node) if node.__class__ in CONSTANTS else None
    return value if isinstance(value, str) else None


def name_of(node: ast.AST) -> str:
    """The last name of a dotted expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def dotted_parts(node: ast.AST) -> Optional[List[str]]:
    """``a.b.c`` as a list, None for anything that is not a chain of attributes of a name."""
    parts: List[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None


def root_of(node: ast.AST) -> ast.AST:
    """What an attribute is taken of, at the beginning of the chain; else the node itself."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def number_of(node: Optional[ast.AST]) -> Optional[float]:
    """The number of a literal, its sign included; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = number_of(node.operand)
        return None if number is None else -number
    value = literal(node) if node.__class__ in CONSTANTS else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def keyword_of(call: ast.Call, name: str) -> Optional[ast.keyword]:
    """An argument of a call that is given by name."""
    return next((keyword for keyword in call.keywords if keyword.arg == name), None)


def argument(call: ast.Call, name: str, position: int) -> Optional[ast.expr]:
    """An argument of a call by name or position; None when it is not given."""
    keyword = keyword_of(call, name)
    if keyword is not None:
        return keyword.value
    return call.args[position] if position < len(call.args) else None


def arguments(call: ast.Call) -> List[ast.expr]:
    """The values of all arguments of a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def is_open(call: ast.Call) -> bool:
    """True for a call with ``*`` or ``**`` arguments."""
    return any(isinstance(each, ast.Starred) for each in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )


def is_main(test: ast.expr) -> bool:
    """True for ``__name__ == "__main__"``, either way round."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    parts = (test.left, *test.comparators)
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in parts)


def imported(node: ast.AST) -> List[str]:
    """The modules that an import statement names, with a dot for each level."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return ["." * node.level + (node.module or "")] if isinstance(node, ast.ImportFrom) else []


_LONG = 60

_SIGNS: Dict[type, str] = {
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
_PAIRS = (
    *((ast.Eq, ast.NotEq), (ast.Lt, ast.GtE), (ast.Gt, ast.LtE)),
    *((ast.Is, ast.IsNot), (ast.In, ast.NotIn)),
)
_OPPOSITES: Dict[type, type] = dict((*_PAIRS, *((two, one) for one, two in _PAIRS)))


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
    if node.__class__ in CONSTANTS:
        return repr(literal(node))
    spell = _SPELLERS.get(node.__class__)
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


_SPELLERS: Dict[type, Callable[..., str]] = {
    ast.Name: lambda node: node.id,
    ast.Attribute: lambda node: "{}.{}".format(expression(node.value), node.attr),
    ast.Compare: _compare,
    ast.Call: _call,
    ast.Subscript: _index,
    ast.UnaryOp: lambda node: (
        "not " + expression(node.operand)
        if isinstance(node.op, ast.Not)
        else "-" + expression(node.operand)
    ),
    ast.BoolOp: lambda node: (" and " if isinstance(node.op, ast.And) else " or ").join(
        expression(value) for value in node.values
    ),
}


FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef]
ScopeNode = Union[ast.Module, ast.ClassDef, FunctionNode, ast.Lambda, ast.expr]

COMPOUND = {
    ast.If: ("body", "orelse"),
    ast.For: ("body", "orelse"),
    ast.AsyncFor: ("body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.With: ("body",),
    ast.AsyncWith: ("body",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.ExceptHandler: ("body",),
}
for _name, _fields in (
    ("TryStar", ("body", "handlers", "orelse", "finalbody")),
    ("Match", ("cases",)),
    ("match_case", ("body",)),
):
    if hasattr(ast, _name):
        COMPOUND[getattr(ast, _name)] = _fields

_BINDING_NOTHING = frozenset(
    (ast.Expr, ast.Return, ast.Pass, ast.Raise, ast.Assert, ast.Break, ast.Continue)
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def positional(arguments: ast.arguments) -> List[ast.arg]:
    """The parameters that may be given by position."""
    return [*getattr(arguments, "posonlyargs", ()), *arguments.args]


def parameters(arguments: ast.arguments) -> FrozenSet[str]:
    """The names that the parameters of a function bind."""
    found = [*positional(arguments), *arguments.kwonlyargs]
    found += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return frozenset(each.arg for each in found)


def defaults_of(arguments: ast.arguments) -> Dict[str, ast.expr]:
    """The defaults of the parameters that may be given by position, by their names."""
    names = [each.arg for each in positional(arguments)]
    return dict(zip(reversed(names), reversed(arguments.defaults)))


def called_name(scope: "Scope", node: FunctionNode) -> str:
    """The name by which a function is called: that of its class for a constructor."""
    is_constructor = node.name == "__init__" and isinstance(scope.node, ast.ClassDef)
    name: str = scope.node.name if is_constructor else node.name  # type: ignore[union-attr]
    return name


def blocks(statement: ast.AST) -> List[Sequence[ast.AST]]:
    """The bodies that a compound statement holds, definitions excepted.

    They are statements, or the handlers of ``try`` and cases of ``match``, which hold such.
    """
    return [getattr(statement, field) for field in COMPOUND.get(type(statement), ())]


def last_line(statement: Any) -> int:
    """The last line of a statement; Python 3.7 does not say it, so there it is kept."""
    last: Optional[int] = getattr(statement, "end_lineno", None)
    if last is None:
        last = statement.end_lineno = _last_line_before_ends(statement)
    return last


def first_line(statement: Any) -> int:
    """The first line of a statement, decorators included."""
    decorators = statement.decorator_list if type(statement) in DEFINITIONS else ()
    first: int = decorators[0].lineno if decorators else statement.lineno
    return first


def holds(lines: Sequence[int], first: int, last: int) -> bool:
    """True when one of some lines, which are in order, is between two others."""
    index = bisect.bisect_left(lines, first)
    return index < len(lines) and lines[index] <= last


Item = TypeVar("Item")


class Nesting(Generic[Item]):
    """Stretches of lines, each inside of another one or apart from it.

    Args:
        found: the first line, the last line and what they belong to, in any order.
    """

    def __init__(self, found: Iterable[Tuple[int, int, Item]]) -> None:
        self._found = sorted(found, key=lambda stretch: (stretch[0], -stretch[1]))
        self._starts = [first for first, _, _ in self._found]
        self._outer: List[int] = []
        for number, (first, _, _) in enumerate(self._found):
            outer = number - 1
            while outer >= 0 and self._found[outer][1] < first:
                outer = self._outer[outer]
            self._outer.append(outer)

    def around(self, line: int) -> Iterator[Item]:
        """What a line is in, the innermost first."""
        number = bisect.bisect_right(self._starts, line) - 1
        while number >= 0:
            _, last, item = self._found[number]
            if line <= last:
                yield item
            number = self._outer[number]


def in_lines(body: Sequence[ast.AST], lines: Sequence[int]) -> Iterator[ast.AST]:
    """The statements of a body that hold one of some lines, which are in order."""
    number = 0
    index = 0
    while index < len(lines) and number < len(body):
        high = len(body) - 1
        while number < high:
            middle = (number + high) // 2
            if first_line(body[middle + 1]) < lines[index]:
                number = middle + 1
            else:
                high = middle
        first = first_line(body[number])
        if first > lines[index]:
            index = bisect.bisect_left(lines, first, index)
            continue
        if lines[index] <= last_line(body[number]):
            yield body[number]
        number += 1


_NO_PARTS = frozenset((int, str, type(None)))
"""What most fields hold beside parts: names, numbers, nothing."""


class _Fields(Dict[type, Tuple[str, ...]]):
    """The fields of each class of node that may hold parts."""

    def __missing__(self, kind: Any) -> Tuple[str, ...]:
        holding = kind._fields if kind not in CONSTANTS else ()
        found = self[kind] = tuple(name for name in holding if name not in _WITHOUT_PARTS)
        return found


_WITHOUT_PARTS = frozenset(("ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment"))
_FIELDS = _Fields()


def children(node: ast.AST, lines: Optional[Sequence[int]] = None) -> List[ast.AST]:
    """The parts of a node, in order, without those that have none: ``ctx`` and operators.

    Args:
        node: the node.
        lines: statements that hold none of these are left out, too.
    """
    found: List[ast.AST] = []
    for field in _FIELDS[node.__class__]:
        value: Any = getattr(node, field, None)
        kind = value.__class__
        if kind in _NO_PARTS or not value:
            continue
        if kind is list:
            if lines is not None and isinstance(value[0], ast.stmt):
                found += in_lines(value, lines)
            else:
                found += [part for part in value if isinstance(part, ast.AST)]
        elif isinstance(value, ast.AST) and value._fields:
            found.append(value)
    return found


def all_parts(node: ast.AST, lines: Optional[Sequence[int]] = None) -> List[ast.AST]:
    """The parts of a node, their parts and so on, as :func:`children` gives them."""
    found = children(node, lines)
    for part in found:  # it grows
        found += children(part, lines)
    return found


def _last_line_before_ends(statement: ast.AST) -> int:
    inner = [body for body in blocks(statement) if body]
    if isinstance(statement, DEFINITIONS):
        inner = [statement.body]
    if inner:
        return last_line(inner[-1][-1])
    last = 0
    pending: List[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        last = max(last, getattr(node, "lineno", 0))
        for field in _FIELDS[node.__class__]:
            value: Any = getattr(node, field, None)
            part = value[-1] if value.__class__ is list and value else value
            if isinstance(part, ast.AST) and part._fields:
                pending.append(part)
    return last


class Watch(enum.IntEnum):
    """Which mentions of a name are of interest: calls of hot methods, handling, or all."""

    NOT = 0
    METHODS = 1
    HANDLED = 2
    ALL = 3


class Store(NamedTuple):
    """One binding of a name.

    ``kind`` is ``"value"`` (``node`` is the expression), ``"item"`` (an item of the value of
    ``node``), ``"definition"``, ``"import"`` (``text`` is the dotted name) or ``"other"``.
    """

    kind: str
    node: ast.AST
    text: str = ""


class Scope:
    """The statements of a module, class or function, and the names they bind.

    Lambdas and comprehensions have no statements; what they bind are their parameters.

    Args:
        node: the module, class, function, lambda or comprehension.
        parent: the scope that it is in.

    Attributes:
        version: how often something was watched anew.
        starts: the lines on which statements start, once they were looked for.
    """

    def __init__(self, node: ScopeNode, parent: Optional["Scope"]) -> None:
        self.node = node
        self.parent = parent
        self.starts: Optional[List[int]] = None
        self.watched: Dict[str, Watch] = {}
        self.version = 0
        self._history: List[str] = []
        self._globals: Set[str] = set()
        self._owned: Dict[str, Dict[str, List[Store]]] = {}
        self._children: Dict[int, Scope] = {}

    def watch(self, name: str, how: Watch) -> None:
        """Make the lines hot that do something with a name."""
        if self.watched.get(name, Watch.NOT) < how:
            self.watched[name] = how
            self._history.append(name)
            self.version += 1

    def fresh(self, version: int) -> Iterator[Tuple[str, Watch]]:
        """What is watched anew since a version."""
        for name in self._history[version:]:
            yield name, self.watched[name]

    @property
    def body(self) -> List[ast.stmt]:
        """The statements."""
        body = getattr(self.node, "body", None)
        return body if isinstance(body, list) else []

    @property
    def is_class(self) -> bool:
        """True for the body of a class, whose names its methods do not see."""
        return isinstance(self.node, ast.ClassDef)

    def around(self) -> Iterator["Scope"]:
        """This scope and those that it is in, the innermost first."""
        scope: Optional[Scope] = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def visible(self) -> Iterator["Scope"]:
        """The scopes whose names are seen from this one, the innermost first."""
        return (scope for scope in self.around() if scope is self or not scope.is_class)

    @cached_property
    def stores(self) -> Dict[str, List[Store]]:
        """Every binding of every name, in order of the text."""
        self._found: Dict[str, List[Store]] = {}
        self._walk(self.body)
        return self._found

    @cached_property
    def parameters(self) -> FrozenSet[str]:
        """The names of the parameters of a function, or that a comprehension runs over."""
        if isinstance(self.node, (*FUNCTIONS, ast.Lambda)):
            return parameters(self.node.args)
        targets = [part.target for part in getattr(self.node, "generators", ())]
        nodes = (node for target in targets for node in ast.walk(target))
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name))

    @property
    def global_names(self) -> Set[str]:
        """The names that ``global`` or ``nonlocal`` statements take from outside."""
        self.stores  # noqa: B018 - fills both
        return self._globals

    def attributes_of(self, name: str) -> Dict[str, List[Store]]:
        """Every binding of every attribute of a name, in order of the text."""
        self.stores  # noqa: B018 - fills both
        return self._owned.get(name, {})

    def child(self, node: ScopeNode) -> "Scope":
        """The scope of a definition in this one."""
        found = self._children.get(id(node))
        if found is None:
            found = self._children[id(node)] = Scope(node, self)
        return found

    def forget(self) -> None:
        """Let go of the scopes inside, so that none of them is kept alive by another."""
        for scope in self._children.values():
            scope.forget()
        self._children.clear()

    def holding(
        self, stores: Sequence[Store], scope: "Scope", node: ast.AST
    ) -> Optional[List[Store]]:
        """Which of the bindings of a name holds at a node: none where it comes before all.

        Known are statements that certainly run one after the other: those of a module, of its
        main guard, of a function, and of ``with`` blocks in them.  None for a name that is bound
        under a condition, or in a loop.

        Args:
            stores: the bindings.
            scope: that of the node.
            node: what reads the name.
        """
        line = getattr(node, "lineno", None)
        if line is None:
            return None
        stretches = [self._stretches.get(getattr(store.node, "lineno", 0)) for store in stores]
        ends = [stretch[1] for stretch in stretches if stretch is not None]
        if len(ends) < len(stores) or len(set(ends)) < len(ends):
            return None
        before = [store for store, end in zip(stores, ends) if end < line]
        if len(before) < len(stores) and not _runs_at_once(scope, self):
            return None
        return None if before and before[-1].kind == "other" else before[-1:]

    @cached_property
    def _stretches(self) -> Dict[int, Optional[Tuple[int, int]]]:
        """The first and the last lines of the statements in order, by each of their lines."""
        found: Dict[int, Optional[Tuple[int, int]]] = {}
        for first, last in _in_order(self.body):
            for line in range(first, last + 1):
                found[line] = None if line in found else (first, last)  # two on a line: no order
        return found

    def _add(self, name: str, store: Store) -> None:
        self._found.setdefault(name, []).append(store)

    def _walk(self, body: Sequence[ast.AST]) -> None:
        for statement in body:
            kind = type(statement)
            if kind in _BINDING_NOTHING:
                continue
            if kind in COMPOUND:
                self._compound(statement)
            elif isinstance(statement, ast.Assign):
                for target in statement.targets:
                    self._target(target, statement.value)
            elif isinstance(statement, DEFINITIONS):
                self._add(statement.name, Store("definition", statement))
            elif isinstance(statement, ast.Import):
                for alias in statement.names:
                    name = alias.asname or alias.name.split(".")[0]
                    dotted = alias.name if alias.asname else name
                    self._add(name, Store("import", statement, dotted))
            elif isinstance(statement, ast.ImportFrom):
                for alias in statement.names:
                    dotted = "{}.{}".format(statement.module or "", alias.name)
                    self._add(alias.asname or alias.name, Store("import", statement, dotted))
            elif isinstance(statement, ast.AnnAssign):
                if statement.value is not None:
                    self._target(statement.target, statement.value)
                elif isinstance(statement.target, ast.Attribute):
                    self._other(statement.target)
            elif isinstance(statement, ast.AugAssign):
                self._other(statement.target)
            elif isinstance(statement, (ast.Global, ast.Nonlocal)):
                self._globals.update(statement.names)
            elif isinstance(statement, ast.Delete):
                for target in statement.targets:
                    self._other(target)

    def _compound(self, statement: ast.AST) -> None:
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            self._other(statement.target)
        elif isinstance(statement, (ast.With, ast.AsyncWith)):
            for item in statement.items:
                if item.optional_vars is not None:
                    self._target(item.optional_vars, item.context_expr, "with")
        elif isinstance(statement, ast.ExceptHandler) and statement.name:
            self._add(statement.name, Store("other", statement))
        for body in blocks(statement):
            self._walk(body)

    def _target(self, target: ast.expr, value: ast.expr, kind: str = "value") -> None:
        if isinstance(target, ast.Name):
            self._add(target.id, Store(kind, value))
        elif isinstance(target, ast.Attribute):
            self._attribute(target, Store(kind, value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for part, element in zip(target.elts, value.elts):
                    self._target(part, element)
            else:
                for index, part in enumerate(target.elts):
                    if isinstance(part, ast.Name):
                        self._add(part.id, Store("item", value, str(index)))
                    else:
                        self._other(part)
        elif isinstance(target, ast.Starred):
            self._other(target.value)

    def _attribute(self, target: ast.Attribute, store: Store) -> None:
        if isinstance(target.value, ast.Name):
            owned = self._owned.setdefault(target.value.id, {})
            owned.setdefault(target.attr, []).append(store)

    def _other(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._add(target.id, Store("other", target))
        elif isinstance(target, ast.Attribute):
            self._attribute(target, Store("other", target))
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self._other(part)
        elif isinstance(target, ast.Starred):
            self._other(target.value)


def functions(scope: Scope, body: Sequence[ast.AST]) -> List[Tuple[Scope, FunctionNode]]:
    """Every function of a body, at any depth, with the scope that it is defined in."""
    found: List[Tuple[Scope, FunctionNode]] = []
    _collect(scope, body, found)
    return found


def _collect(scope: Scope, body: Sequence[Any], found: List[Tuple[Scope, FunctionNode]]) -> None:
    for number, statement in enumerate(body):
        kind = type(statement)
        if kind in COMPOUND:
            for field in COMPOUND[kind]:
                _collect(scope, getattr(statement, field), found)
        elif kind in DEFINITIONS:
            following = body[number + 1] if number + 1 < len(body) else None
            if not hasattr(statement, "end_lineno") and getattr(following, "col_offset", -1) >= 0:
                # It reaches to the next one, for all that matters; a long text has no column.
                statement.end_lineno = first_line(following) - 1
            if kind is not ast.ClassDef:
                found.append((scope, statement))
            _collect(scope.child(statement), statement.body, found)


def _runs_at_once(scope: Scope, where: Scope) -> bool:
    """True where a scope is run when its text is come to: no function is in between."""
    while scope is not where and scope.parent is not None:
        if not isinstance(scope.node, COMPREHENSIONS):
            return False
        scope = scope.parent
    return True


def _in_order(body: Sequence[Any]) -> Iterator[Tuple[int, int]]:
    for statement in body:
        first = statement.lineno
        if isinstance(statement, (ast.With, ast.AsyncWith)):
            yield first, max(first, statement.body[0].lineno - 1)
            yield from _in_order(statement.body)
        elif isinstance(statement, ast.If) and is_main(statement.test):
            yield from _in_order(statement.body)
        elif isinstance(statement, DEFINITIONS):
            yield first, first
        elif isinstance(statement, _PLAIN):
            yield first, last_line(statement)


_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Delete)
