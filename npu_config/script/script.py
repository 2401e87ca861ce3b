"""A script as it is written, before any path through it is followed."""

import ast
import re
from collections import deque
from types import MappingProxyType
from typing import (
    Any,
    Deque,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
)

from npu_config.script.flags import Flags
from npu_config.script.neighbours import any_neighbour_has, has_module
from npu_config.script.objects import Unknown
from npu_config.script.relevance import Relevance
from npu_config.script.scopes import (
    FunctionNode,
    Nesting,
    Scope,
    blocks,
    children,
    functions,
    in_lines,
    last_line,
)
from npu_config.script.source import ScriptSource, parse, spans
from npu_config.script.syntax import literal_text, name_of
from npu_config.script.vocabulary import SESSIONS

_SET = re.compile(r"\s*(?::[^=]*)?(?:=(?!=)|[-+*/|&]=)")
_WORK = ("run", "train", "train_and_evaluate", "fit", "main")
"""What trains, where a module calls it itself."""
_PATCHING = ("npu_bridge.npu_init", "npu_device.compat.v1.npu_init")


class AttributeStore(NamedTuple):
    """One assignment to an attribute of ``self``; ``value`` is None for other than plain ones."""

    value: Optional[ast.expr]
    scope: Scope
    receiver: str
    parameters: Tuple[str, ...]


_NOTHING_KNOWN: Mapping[str, str] = MappingProxyType({})


class Script:
    """A parsed script with what is found in it once and for all.

    Args:
        text: the script.
        path: its file, for the places.
        environ: the environment variables that are known; others are not.

    Attributes:
        fixed: expressions with the value that they have on every path.
        references: what dotted names mean that are imported or built in.
        steps: how many statements were run so far, over all paths.
        global_names: the names that some function assigns with ``global`` or ``nonlocal``.

    Raises:
        Unparsable: for text that is not Python 3.
    """

    def __init__(
        self, text: str, path: Optional[str] = None, environ: Mapping[str, str] = _NOTHING_KNOWN
    ) -> None:
        self.source = ScriptSource(text, path)
        self.environ = environ
        self.tree: ast.Module = parse(text)
        self.module = Scope(self.tree, None)
        self.relevance = Relevance(self.source, self.module)
        self.flags = Flags(self.source)
        self.steps = 0
        self.global_names = _global_names(self.source)
        self._attributes: Dict[int, Dict[str, List[AttributeStore]]] = {}
        self._may_be_patched: Optional[bool] = None
        self._is_program: Optional[bool] = None
        self._imported: Dict[str, FrozenSet[str]] = {}
        self._functions: Optional[List[Tuple[FunctionNode, int]]] = None
        self.references: Dict[str, Unknown] = {}
        self.fixed: Dict[ast.AST, Any] = {}
        self._nesting: Optional[Nesting[FunctionNode]] = None

    @property
    def is_patched(self) -> bool:
        """True when it imports npu_init, which makes every session an NPU session."""
        return not self.imported("npu_init").isdisjoint(_PATCHING)

    def may_be_patched(self, line: int) -> bool:
        """True when what a line makes may be used by a program near this script that is patched.

        A script that is a program itself says what it imports.
        """
        if self.function_of(line) is None or self.is_program:
            return False
        if self._may_be_patched is None:
            self._may_be_patched = any_neighbour_has(self.source.path, ("npu_init",))
        return self._may_be_patched

    def has_module(self, name: str) -> bool:
        """True when a file near the script is the module of a name."""
        return has_module(self.source.path, name)

    @property
    def is_program(self) -> bool:
        """True for a script that is run itself: nobody imports what trains when it is imported."""
        if self._is_program is None:
            self._is_program = bool(self.source.mentions("__main__")) or self._works_at_once()
        return self._is_program

    def _works_at_once(self) -> bool:
        """True when statements of the module itself open a session in ``with``, run or train."""
        pending: List[ast.AST] = list(in_lines(self.tree.body, self._lines_of_work()))
        while pending:
            statement = pending.pop()
            if isinstance(statement, (ast.With, ast.AsyncWith)) and any(
                isinstance(item.context_expr, ast.Call)
                and name_of(item.context_expr.func) in SESSIONS
                for item in statement.items
            ):
                return True
            value = getattr(statement, "value", None)
            if isinstance(value, ast.Call) and self._is_work(value.func):
                return True
            pending += [part for body in blocks(statement) for part in body]
        return False

    def _lines_of_work(self) -> List[int]:
        words = (*SESSIONS, *_WORK)
        return sorted({line for word in words for line in self.source.mentions(word)})

    def _is_work(self, function: ast.expr) -> bool:
        """True for ``sess.run``, ``estimator.train``, ``main``; not for functions of modules."""
        if name_of(function) not in _WORK:
            return False
        if isinstance(function, ast.Name):
            return function.id == "main"
        owner = function.value if isinstance(function, ast.Attribute) else function
        bound = self.module.stores.get(name_of(owner), ())
        return name_of(owner) == "app" or all(store.kind != "import" for store in bound)

    @property
    def imports_npu_bridge(self) -> bool:
        """True when it loads the adapter itself."""
        return bool(self.imported("npu_bridge"))

    @property
    def is_of_other_adapter(self) -> bool:
        """True when it loads the adapter of TensorFlow 2, and works in no way of TensorFlow 1."""
        modules = [name for name in self.imported("npu_device") if name.startswith("npu_device")]
        return (
            bool(modules)
            and not any(name.startswith("npu_device.compat") for name in modules)
            and not self.source.mentions("enable_v1")
            and not self.imports_npu_bridge
            and not self.imported("npu_config")
        )

    def imported(self, word: str) -> FrozenSet[str]:
        """The dotted names of all imports, wherever they are, with a word on their lines."""
        found = self._imported.get(word)
        if found is None:
            names = (name for node in self.nodes(word) for name in _names_of_import(node))
            found = self._imported[word] = frozenset(names)
        return found

    def reference(self, text: str) -> Unknown:
        """What a dotted name means that is imported or built in, always the same object."""
        found = self.references.get(text)
        if found is None:
            found = self.references[text] = Unknown(text, tuple(text.split(".")))
        return found

    def times_set(self, name: str) -> int:
        """How often a name is set, as far as the text shows: as a variable or as an attribute."""
        source = self.source
        if source.mentions("setattr") or source.mentions("__dict__"):
            return 2
        lines = (source.lines[number - 1] for number in source.mentions(name))
        return sum(
            _SET.match(line, end) is not None for line in lines for _, end in spans(name, line)
        )

    def nodes(self, *words: str) -> Iterator[ast.AST]:
        """The nodes of all statements with one of the words on their lines."""
        lines = sorted({line for word in words for line in self.source.mentions(word)})
        pending: Deque[ast.AST] = deque([self.tree] if lines else [])
        while pending:
            found = children(pending.popleft(), lines)
            yield from found
            pending += found

    def function_lines(self) -> List[Tuple[FunctionNode, int]]:
        """Every function with its last line."""
        if self._functions is None:
            found = self.relevance.functions
            self._functions = [(node, last_line(node)) for _, node in found]
        return self._functions

    def function_of(self, line: int) -> Optional[FunctionNode]:
        """The innermost function around a line."""
        if self._nesting is None:
            found = self.function_lines()
            self._nesting = Nesting((node.lineno, last, node) for node, last in found)
        return next(self._nesting.around(line), None)

    @property
    def has_star_import(self) -> bool:
        """True when names may come from anywhere."""
        return any("*" in self.source.lines[n - 1] for n in self.source.mentions("import"))

    def attribute_stores(self, cls: Scope) -> Dict[str, List[AttributeStore]]:
        """Every assignment to an attribute of ``self`` in the methods of a class."""
        found = self._attributes.get(id(cls))
        if found is None:
            found = self._attributes[id(cls)] = {}
            for scope, node in functions(cls, cls.body):
                if scope is cls and node.args.args:
                    self._walk(cls.child(node), node, node.body, found)
        return found

    def _walk(
        self,
        scope: Scope,
        method: FunctionNode,
        body: Iterable[ast.AST],
        found: Dict[str, List[AttributeStore]],
    ) -> None:
        receiver = method.args.args[0].arg
        parameters = tuple(argument.arg for argument in method.args.args[1:])
        for statement in body:
            targets: List[ast.expr] = []
            value: Optional[ast.expr] = None
            if isinstance(statement, ast.Assign):
                targets, value = statement.targets, statement.value
            elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
                targets = [statement.target]
                value = statement.value if isinstance(statement, ast.AnnAssign) else None
            elif isinstance(statement, (ast.For, ast.AsyncFor)):
                targets = [statement.target]
            elif isinstance(statement, (ast.With, ast.AsyncWith)):
                targets = [item.optional_vars for item in statement.items if item.optional_vars]
            for target in targets:
                parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                for part in parts:
                    if (
                        isinstance(part, ast.Attribute)
                        and isinstance(part.value, ast.Name)
                        and part.value.id == receiver
                    ):
                        whole = value if part is target else None
                        store = AttributeStore(whole, scope, receiver, parameters)
                        found.setdefault(part.attr, []).append(store)
            for inner in blocks(statement):
                self._walk(scope, method, inner, found)


def _global_names(source: ScriptSource) -> Set[str]:
    found: Set[str] = set()
    for keyword in ("global", "nonlocal"):
        for line in source.mentions(keyword):
            words = source.lines[line - 1].replace(",", " ").split()
            if words and words[0] == keyword:
                found.update(words[1:])
    return found


def _names_of_import(node: ast.AST) -> Iterator[str]:
    """The modules, and the names in them, that a statement imports; or a module named in text."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        yield module
        for alias in node.names:
            yield "{}.{}".format(module, alias.name)
    elif isinstance(node, ast.Call) and node.args:
        yield literal_text(node.args[0]) or ""
