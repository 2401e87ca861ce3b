"""What the names of a script stand for in TensorFlow, Keras and Horovod, and where they are.

Names are resolved, not matched: aliases, ``from ... import``, conditional imports, shadowing by
parameters, locals, classes and comprehensions, and star imports count.  What does not resolve
with certainty is said to be uncertain.
"""

import ast
import builtins
import enum
import functools
import os
import re
from typing import (
    Any,
    Callable,
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
    TypeVar,
)

from npu_config.core.diagnostics import Diagnostic
from npu_config.migration.names import CONCERNING, TEXT_WORDS, Interest, canonical
from npu_config.python_flow.module import Module, Site, sites
from npu_config.python_flow.scopes import (
    CONSTANTS,
    DEFINITIONS,
    FUNCTIONS,
    Scope,
    Store,
    dotted_parts,
    literal_text,
    name_of,
)
from npu_config.python_flow.source import Undecodable, Unparsable, decode, parse, words_of
from npu_config.text.source import load

__all__ = ["REEXPORTED", "Binding", "Neighbours", "Resolver", "may_borrow"]

_LINE_END = re.compile(r"\r\n|\r|\n")
_Made = TypeVar("_Made")
_KINDS = frozenset((ast.Name, ast.Attribute, ast.keyword, *CONSTANTS))
_TELLING = (
    *("nvidia-smi", "CUDA_VISIBLE_DEVICES", "TF_", "mpirun", "mpiexec", "horovodrun"),
    "NpuOptimizer",
)


class Binding(enum.Enum):
    """How a name is bound where it is used."""

    IMPORT = "import"
    VALUE = "value"
    LOCAL = "local"
    PARAMETER = "parameter"
    UNBOUND = "unbound"
    UNCERTAIN = "uncertain"


class ResolvedName(NamedTuple):
    """What a name stands for; ``name`` is its canonical dotted name, where there is one."""

    binding: Binding
    name: Optional[str] = None


class Resolver(Module):
    """A script whose names are resolved, with its interesting places.

    Args:
        text: the script.
        neighbours: the other modules of its project.
        interest: what matters in it, also to know which of several stars brings a name.
        is_concerned: look at it though nothing in it is TensorFlow's.
        path: its file.

    Attributes:
        text: the script.
        words: every word of it, to know quickly what cannot be there.
        sites: names, attributes and string literals that may concern a migration.
        imports: the import statements.
        is_concerned: False where nothing can be TensorFlow's, Keras's or Horovod's.
        cache: what the rules keep with a script.

    Raises:
        Unparsable: for text that is not Python 3.
    """

    def __init__(
        self,
        text: str,
        neighbours: "Optional[Neighbours]",
        interest: Interest,
        is_concerned: bool,
        path: Optional[str] = None,
    ) -> None:
        super().__init__(text, path)
        self.text = text
        self.neighbours = neighbours or Neighbours()
        self.interest = interest
        self.cache: Dict[str, Any] = {}
        self._meanings: Dict[Tuple[Scope, str], ResolvedName] = {}
        self._stored: Dict[Tuple[Scope, str], ResolvedName] = {}
        self._pending: Dict[Tuple[Scope, str], ResolvedName] = {}
        self._members: Dict[ast.AST, Dict[str, List[ast.AST]]] = {}
        self._resolved: Dict[ast.AST, Optional[str]] = {}
        self.words = words_of(text)
        self.imports: List[Site] = []
        self.sites: List[Site] = []
        self.is_concerned = (
            is_concerned
            or not self.words.isdisjoint(CONCERNING)
            or (neighbours is not None and may_borrow(text))
        )
        if self.is_concerned:
            lines = self.source.mentions("import")
            self.imports = list(sites(self.module, lines, (ast.Import, ast.ImportFrom)))
            self.sites = list(self._find_sites())

    # Interesting places

    def _find_sites(self) -> Iterator[Site]:
        members = self.interest.of(self.words)
        names = frozenset(self._names_of_interest())
        lines = {line for word in members | names for line in self._lines_of(word, names)}
        for site in sites(self.module, sorted(lines), _KINDS):
            node = site.node
            if isinstance(node, ast.Name):
                is_telling = node.id in names
            elif isinstance(node, ast.Attribute):
                is_telling = node.attr in members
            elif isinstance(node, ast.keyword):
                is_telling = node.arg in TEXT_WORDS
            else:
                text = literal_text(node) or ""
                is_telling = len(text) < 2000 and any(word in text for word in _TELLING)
            if is_telling:
                yield site

    def _lines_of(self, word: str, names: FrozenSet[str]) -> List[int]:
        if word in names or word in TEXT_WORDS:
            return self.source.mentions(word)
        return self.source.members(word)

    def _names_of_interest(self) -> Iterator[str]:
        """The local names that imports and stores give to what is interesting."""
        for node in (site.node for site in self.imports):
            for alias in () if getattr(node, "level", 0) else node.names:
                first = (getattr(node, "module", None) or alias.name).split(".")[0]
                if first == "horovod" or (
                    isinstance(node, ast.ImportFrom) and alias.name in self.interest.words
                ):
                    is_module = isinstance(node, ast.Import)
                    yield alias.asname or ("horovod" if is_module else alias.name)
        for name in self.words & REEXPORTED:
            if (self.meaning(name, self.module).name or "").startswith("horovod"):
                yield name
        if any(name.startswith("tensorflow") for name in self.stars):
            yield from self.words & self.interest.words

    def sites_of(self, names: Iterable[str]) -> List[Site]:
        """The attributes and names with one of some last parts, in order of the lines."""
        index = self.kept("sites", self._sites_by_name)
        return sorted(
            (site for name in names for site in index.get(name, ())), key=lambda site: site.line
        )

    def _sites_by_name(self) -> Dict[str, List[Site]]:
        index: Dict[str, List[Site]] = {}
        for site in self.sites:
            index.setdefault(name_of(site.node), []).append(site)
        return index

    def kept(self, key: str, make: Callable[[], _Made]) -> _Made:
        """What a rule keeps with the script: made when it is asked for first."""
        if key not in self.cache:
            self.cache[key] = make()
        made: _Made = self.cache[key]
        return made

    def calls_of(self, *names: str) -> List[Site]:
        """The calls of some functions and classes by their canonical names, in order."""
        found = self.sites_of({name.rpartition(".")[2] for name in names})
        return [site for site in found if site.call is not None and self.resolved(site) in names]

    def binds(self, name: str) -> bool:
        """True for a name that the script binds, in any scope."""
        return any(
            (isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load))
            or (isinstance(node, ast.alias) and (node.asname or node.name.split(".")[0]) == name)
            or (isinstance(node, ast.arg) and node.arg == name)
            or (isinstance(node, DEFINITIONS) and node.name == name)
            for node in (self.nodes(name) if name in self.words else ())
        )

    # What names stand for

    @property
    def stars(self) -> List[str]:
        """The modules of which everything is imported, in order; ``?`` for relative ones."""
        return ["?" if node.level else node.module or "" for node in self._star_imports()]

    def _star_imports(self) -> Iterator[ast.ImportFrom]:
        for store in self.module.stores.get("*", []):
            assert isinstance(store.node, ast.ImportFrom)
            yield store.node

    def resolve(self, node: ast.AST, scope: Scope) -> Optional[str]:
        """The canonical dotted name of an expression, None where it is not certain."""
        return self.look_up(node, scope).name

    def resolved(self, site: Site) -> Optional[str]:
        """What the node of a site stands for."""
        if site.node not in self._resolved:
            self._resolved[site.node] = self.resolve(site.node, site.scope)
        return self._resolved[site.node]

    def look_up(self, node: ast.AST, scope: Scope) -> ResolvedName:
        """What an expression stands for, with how its first name is bound."""
        parts = dotted_parts(node)
        if parts is None:
            return ResolvedName(Binding.LOCAL)
        first = self.meaning(parts[0], scope)
        if first.name is None:
            return first
        return ResolvedName(first.binding, canonical(".".join([first.name, *parts[1:]])))

    def meaning(self, name: str, scope: Scope) -> ResolvedName:
        """What a name stands for, seen from a scope."""
        if self._pending:
            return self._seek(name, scope)
        found = self._meanings.get((scope, name))
        if found is None:
            found = self._meanings[scope, name] = self._seek(name, scope)
        return found

    def _seek(self, name: str, scope: Scope) -> ResolvedName:
        for outer in scope.visible():
            if name in outer.parameters:
                is_function = isinstance(outer.node, FUNCTIONS)
                return ResolvedName(Binding.PARAMETER if is_function else Binding.LOCAL)
            if outer is self.module and name in self.global_names:
                break
            if name in outer.stores and name not in outer.global_names:
                return self._of_stores(name, outer)
        if name in self.global_names:
            return self._of_stores(name, self.module)
        return self._from_star(name)

    def _of_stores(self, name: str, scope: Scope) -> ResolvedName:
        key = (scope, name)
        found = self._pending.get(key) or self._stored.get(key)
        if found is None:
            stores = scope.stores.get(name, [])
            if scope is self.module and name in self.global_names:
                stores = [*stores, *self._bound_elsewhere(name)]
            found = self._merge(name, stores, scope) if stores else ResolvedName(Binding.UNCERTAIN)
            self._stored[key] = found
        return found

    def _bound_elsewhere(self, name: str) -> Iterator[Store]:
        """What functions bind a name of the module to, which they say is global."""
        for scope, node in self.functions:
            inner = scope.child(node)
            if name in inner.global_names:
                yield from inner.stores.get(name, ())

    def _merge(self, name: str, stores: List[Store], scope: Scope) -> ResolvedName:
        """The one thing that all stores of a name bind it to.

        A store that names itself (``tf = tf.compat.v1``) sees what the stores before it bind.
        """
        names: Set[Optional[str]] = set()
        binding = Binding.IMPORT
        try:
            for store in stores:
                self._pending[scope, name] = _only(names, binding)
                parts = dotted_parts(store.node) if store.kind == "value" else None
                if store.kind == "import" and self._is_out_of_reach(store):
                    return ResolvedName(Binding.UNCERTAIN)
                if store.kind == "import":
                    names.add(self._imported(store))
                elif store.kind == "value" and getattr(store.node, "value", 0) is None:
                    continue
                elif store.kind == "value" and _imports_by_call(store.node, name):
                    return ResolvedName(Binding.UNCERTAIN)
                elif parts is not None:
                    names.add(self.resolve(store.node, scope))
                    if parts[0] != name:
                        binding = Binding.VALUE
                else:
                    names.add(None)
        finally:
            self._pending.pop((scope, name), None)
        return _only(names, binding)

    def _imported(self, store: Store) -> Optional[str]:
        node = store.node
        if isinstance(node, ast.ImportFrom):
            name = store.text.rsplit(".", 1)[1]
            if name in REEXPORTED:
                bound = self.neighbours.names(node.module or "", node.level)
                dotted = bound.get(name, ()) if bound is not None else ()
                if len(dotted) == 1:
                    return next(iter(dotted)) or None
            if node.level:
                return None
        return canonical(store.text)

    def _is_out_of_reach(self, store: Store) -> bool:
        """True for TensorFlow, by its name, from a module that is neither known nor at hand."""
        node, package = store.node, store.text.partition(".")[0]
        return (
            isinstance(node, ast.ImportFrom)
            and store.text.rpartition(".")[2] in ("tf", "tfv1", "tensorflow")
            and (node.level > 0 or package not in CONCERNING)
            and self.neighbours.path(node.module or "", node.level) is None
        )

    def _from_star(self, name: str) -> ResolvedName:
        """What a name that nothing binds may come from."""
        if hasattr(builtins, name):
            return ResolvedName(Binding.UNBOUND)
        ours = [star for star in self.stars if star.endswith("npu_init")]
        if ours:
            return ResolvedName(
                Binding.IMPORT, "tensorflow" if name == "tf" else ours[0] + "." + name
            )
        is_known = any(canonical(star).startswith("tensorflow") for star in self.stars)
        if not is_known and name not in REEXPORTED:
            return ResolvedName(Binding.UNBOUND)
        last: Optional[str] = None
        for node in reversed(list(self._star_imports())):
            module = node.module or ""
            if not node.level and canonical(module).startswith("tensorflow"):
                dotted = canonical("{}.{}".format(module, name))
                if dotted in self.interest.known:
                    return ResolvedName(Binding.IMPORT, dotted)
                last = last or dotted
                continue
            bound = self.neighbours.names(module, node.level)
            if bound is not None and name in bound:
                return _only({dotted or None for dotted in bound[name]}, Binding.IMPORT)
            if bound is None and module.split(".")[0] not in _WITHOUT:
                return ResolvedName(Binding.UNCERTAIN)
        return ResolvedName(Binding.IMPORT if last else Binding.UNBOUND, last)

    # What values a name has

    def bindings(self, name: str, scope: Scope) -> List[Store]:
        """What binds a name in the innermost scope that does; nothing for a parameter."""
        for outer in scope.visible():
            if name in outer.parameters:
                break
            if name in outer.stores:
                return outer.stores[name]
        return []

    def values(self, node: ast.AST, scope: Scope) -> List[ast.AST]:
        """The values that are bound to a variable, or to a member of ``self``."""
        if isinstance(node, ast.Name):
            return [store.node for store in self.bindings(node.id, scope)]
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self":
            for outer in scope.around():
                if outer.is_class:
                    return self._members_of(outer.node).get(node.attr, [])
        return []

    def _members_of(self, owner: ast.AST) -> Dict[str, List[ast.AST]]:
        """What the methods of a class bind to members of ``self``."""
        found = self._members.get(owner)
        if found is None:
            found = self._members[owner] = {}
            assigned = (node for node in ast.walk(owner) if isinstance(node, ast.Assign))
            for target, value in ((t, node.value) for node in assigned for t in node.targets):
                if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
                    found.setdefault(target.attr, []).append(value)
        return found

    def made_by(self, node: ast.AST, scope: Scope) -> List[str]:
        """What is called to give a value: the calls themselves, or those bound to its name."""
        values = [node, *self.values(node, scope)]
        return [
            self.resolve(value.func, scope) or ""
            for value in values
            if isinstance(value, ast.Call)
        ]

    def origins(self, node: Optional[ast.AST], scope: Scope, depth: int = 8) -> Set[Optional[str]]:
        """What may have been called to give a value, through variables, choices and functions.

        None stands among it for what is not known.
        """
        if node is None or not depth:
            return {None}
        if isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, ast.BoolOp):
            parts = node.values
        elif isinstance(node, ast.Call):
            return self._of_call(node, scope, depth)
        else:
            stores = self.bindings(node.id, scope) if isinstance(node, ast.Name) else []
            known = all(store.kind == "value" for store in stores)
            parts = self.values(node, scope) if known else []  # type: ignore[assignment]
        found: Set[Optional[str]] = set() if parts else {None}
        for part in parts:
            if getattr(part, "value", 0) is not None:
                found |= self.origins(part, scope, depth - 1)
        return found

    def _of_call(self, node: ast.Call, scope: Scope, depth: int) -> Set[Optional[str]]:
        """What a call gives: by its name, or by what a function of the script returns."""
        name = self.resolve(node.func, scope)
        if name is not None:
            return {name}
        if isinstance(node.func, ast.Subscript):
            tables = self.values(node.func.value, scope)
            classes = [one for table in tables for one in getattr(table, "values", [None])]
            return {one and self.resolve(one, scope) for one in classes} or {None}
        parts = dotted_parts(node.func) or [""]
        found: Set[Optional[str]] = set()
        for outer, one in self._definitions(parts, scope):
            if isinstance(one, ast.ClassDef):
                found.update(self.resolve(base, outer) for base in one.bases)
            elif isinstance(one, FUNCTIONS):
                for returned in _returns(one):
                    found |= self.origins(returned, outer.child(one), depth - 1)
        return found or {None}

    def _definitions(self, parts: List[str], scope: Scope) -> Iterator[Tuple[Scope, ast.AST]]:
        """The functions and classes of the script that a name, or a method of self, is."""
        for outer in scope.around():
            is_seen = parts[0] == "self" and len(parts) == 2 if outer.is_class else len(parts) == 1
            for store in outer.stores.get(parts[-1], ()) if is_seen else ():
                if store.kind != "definition":
                    return
                yield outer, store.node
            if is_seen and parts[-1] in outer.stores:
                return

    def constructed(self, node: ast.AST, scope: Scope) -> Optional[str]:
        """The class or function whose call gave a value, where that is certain.

        The value is the call itself, or a variable or member that only such calls are bound to.
        """
        values = [node] if isinstance(node, ast.Call) else self.values(node, scope)
        found = {
            self.resolve(value.func, scope) if isinstance(value, ast.Call) else None
            for value in values
            if getattr(value, "value", 0) is not None
        }
        return next(iter(found)) if len(found) == 1 else None

    # Places

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column, both from 1."""
        return self.source.starts[line - 1] + column - 1

    def position(self, offset: int) -> Tuple[int, int]:
        """The line and column of an offset, both from 1."""
        starts = self.source.starts
        line = self.source.line(offset) if offset < len(self.text) else len(starts)
        line = max(1, min(line, len(starts)))
        return line, offset - starts[line - 1] + 1

    def span(self, node: ast.AST) -> Tuple[int, int]:
        """Where an expression begins and ends, as offsets."""
        _, line, column, end_line, end_column = self.source.place_of(node)
        return self.offset(line, column), self.offset(end_line, end_column)  # type: ignore[arg-type]

    def written(self, node: ast.AST) -> str:
        """An expression as it is written."""
        return self.text[slice(*self.span(node))]

    @property
    def newline(self) -> str:
        """The line end that the script uses."""
        match = _LINE_END.search(self.text)
        return match.group() if match else "\n"

    def line_start(self, line: int) -> int:
        """The offset at which a line begins."""
        return self.source.starts[line - 1]

    def line_end(self, line: int) -> int:
        """The offset behind a line and its line end."""
        starts = self.source.starts
        return starts[line] if line < len(starts) else len(self.text)

    def indent(self, line: int) -> str:
        """The white space before a line."""
        content = self.source.lines[line - 1]
        return content[: len(content) - len(content.lstrip())]


_WITHOUT = frozenset(
    (
        *("collections", "ctypes", "datetime", "enum", "functools", "glob", "itertools", "math"),
        *("matplotlib", "numpy", "os", "pylab", "random", "scipy", "six", "struct", "sys", "time"),
        *("tkinter", "Tkinter", "typing"),
    )
)
"""Packages of which it is known that they bind none of the names that matter."""


def _returns(function: ast.AST) -> Iterator[Optional[ast.expr]]:
    """What a function returns, its inner functions passed over."""
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            yield node.value
        elif not isinstance(node, (*DEFINITIONS, ast.expr)):
            pending += ast.iter_child_nodes(node)


def _imports_by_call(node: ast.AST, bound: str) -> bool:
    """True for a call that gives TensorFlow, or something of it, by its name in a text.

    ``bound`` is the name that it is given: what is called so may be TensorFlow.
    """
    if not isinstance(node, ast.Call):
        return False
    text = (literal_text(node.args[0]) or "") if node.args else ""
    is_import = name_of(node.func) in ("import_module", "__import__")
    return bound in ("tf", "tensorflow") or (is_import and text.split(".")[0] == "tensorflow")


def _only(names: Set[Optional[str]], binding: Binding) -> ResolvedName:
    """What a name stands for that is bound to some things; None is something of the script."""
    if len(names) == 1:
        only = next(iter(names))
        return ResolvedName(Binding.LOCAL) if only is None else ResolvedName(binding, only)
    known = any(one is not None and one.startswith("tensorflow") for one in names)
    return ResolvedName(Binding.UNCERTAIN if known else Binding.LOCAL)


# What the other modules of a project bind

OTHER = ""
"""Stands for whatever is not TensorFlow's, Keras's or Horovod's."""
REEXPORTED = frozenset(("tf", "tfv1", "tensorflow", "hvd", "horovod"))
"""The names for which it is worth reading another module."""

_BORROWING = re.compile(
    r"^[ \t]{0,80}from[ \t]{1,8}(?!npu_)[\w.]{1,200}[ \t]{1,8}import[ \t]{1,8}"
    r"(?:\*|[^\n#]{0,400}\b(?:tf|tfv1|hvd|tensorflow|horovod)\b)",
    re.M,
)
_LARGEST = 4 * 1024 * 1024
_DEEPEST = 6
Names = Mapping[str, FrozenSet[str]]


class Neighbours:
    """The modules that a script can import from its project.

    Args:
        folder: the directory of the script; None for a script that is no file.
        root: the directory of the project.
    """

    def __init__(self, folder: Optional[str] = None, root: Optional[str] = None) -> None:
        self.folder = folder
        self.root = root

    def names(self, module: str, level: int) -> Optional[Names]:
        """What a module binds: each name with the dotted names that it may stand for.

        None for a module that is not of the project, or that cannot be read.
        """
        path = self.path(module, level)
        return None if path is None else _bound(path, self.root, ())

    def path(self, module: str, level: int) -> Optional[str]:
        """The file of a module, None where the project has none."""
        if self.folder is None:
            return None
        base = self.folder
        for _ in range(level - 1):
            base = os.path.dirname(base)
        bases = [base] if level or self.root is None else [base, self.root]
        parts = module.split(".") if module else []
        for one in bases:
            for candidate in (
                os.path.join(one, *parts) + ".py",
                os.path.join(one, *parts, "__init__.py"),
            ):
                if os.path.isfile(candidate):
                    return os.path.abspath(candidate)
        return None


def may_borrow(text: str) -> bool:
    """True for a script that may take TensorFlow or Horovod from another module."""
    return ("tf" in text or "hvd" in text) and _BORROWING.search(text) is not None


@functools.lru_cache(maxsize=64)
def _bound(path: str, root: Optional[str], outer: Tuple[str, ...]) -> Optional[Names]:
    data = load(path, _LARGEST)
    if isinstance(data, Diagnostic) or len(outer) > _DEEPEST:
        return None
    try:
        tree = parse(decode(data).text)
    except (Undecodable, Unparsable, RecursionError):
        return None
    stores = Scope(tree, None).stores
    found: Dict[str, Set[str]] = {}
    for name, bindings in stores.items():
        if name == "*":
            for store in bindings:
                inner = _of_module(store, root, (*outer, path))
                if inner is None:
                    return None
                for key, values in inner.items():
                    found.setdefault(key, set()).update(values)
        elif not name.startswith("_"):
            found.setdefault(name, set()).update(
                _of_bindings(bindings, stores, root, (*outer, path))
            )
    return {name: frozenset(values) for name, values in found.items()}


def _of_module(store: Store, root: Optional[str], outer: Tuple[str, ...]) -> Optional[Names]:
    node = store.node
    assert isinstance(node, ast.ImportFrom)
    found = Neighbours(os.path.dirname(outer[-1]), root).path(node.module or "", node.level)
    if found is None or found in outer:
        return {}
    return _bound(found, root, outer)


def _of_bindings(
    bindings: List[Store],
    stores: Mapping[str, List[Store]],
    root: Optional[str],
    outer_files: Tuple[str, ...],
) -> Set[str]:
    found: Set[str] = set()
    for store in bindings:
        name = store.text.rpartition(".")[2]
        if isinstance(store.node, ast.ImportFrom) and name in REEXPORTED:
            inner = _of_module(store, root, outer_files) or {}
            if name in inner:
                found |= inner[name]
                continue
        is_relative = isinstance(store.node, ast.ImportFrom) and store.node.level
        dotted = canonical(store.text) if store.kind == "import" and not is_relative else OTHER
        first, *rest = (dotted_parts(store.node) if store.kind == "value" else None) or [""]
        for outer in stores.get(first, ()):
            if outer.kind == "import":
                dotted = canonical(".".join([outer.text, *rest]))
        known = dotted.split(".")[0] in ("tensorflow", "horovod", "keras")
        found.add(dotted if known else OTHER)
    return found
