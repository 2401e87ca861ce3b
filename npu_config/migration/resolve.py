"""What a name in a scope stands for: the dotted TensorFlow, Keras or Horovod name, or nothing.

Names are resolved, not matched: aliases, ``from ... import``, conditional imports, shadowing by
parameters, locals, classes and comprehensions, and star imports count.  What does not resolve
with certainty is said to be uncertain.
"""

import ast
import builtins
import enum
import re
from typing import Dict, FrozenSet, Iterator, List, NamedTuple, Optional, Set, Tuple

from npu_config.migration.names import canonical
from npu_config.migration.neighbours import REEXPORTED, Neighbours
from npu_config.python_flow.scopes import FunctionNode, Scope, Store, functions

__all__ = ["Binding", "Frame", "Resolver", "dotted_parts", "frames_of", "last_name", "parameters"]


_GLOBAL = re.compile(r"(?:^|\r)[ \t]{0,200}global[ \t]([\w, \t]+)", re.M)


class Binding(enum.Enum):
    """How a name is bound where it is used."""

    IMPORT = "import"
    VALUE = "value"
    LOCAL = "local"
    PARAMETER = "parameter"
    UNBOUND = "unbound"
    UNCERTAIN = "uncertain"


class Found(NamedTuple):
    """What a name stands for; ``name`` is its canonical dotted name, where there is one."""

    binding: Binding
    name: Optional[str] = None


class Frame(NamedTuple):
    """One level of names: a module, class or function, or a lambda or comprehension."""

    scope: Optional[Scope]
    names: FrozenSet[str] = frozenset()

    @property
    def is_class(self) -> bool:
        """True for the body of a class, whose names its methods do not see."""
        return self.scope is not None and isinstance(self.scope.node, ast.ClassDef)


Frames = Tuple[Frame, ...]


def parameters(arguments: ast.arguments) -> FrozenSet[str]:
    """The names that the parameters of a function bind."""
    found = [argument.arg for argument in arguments.args + arguments.kwonlyargs]
    found += [argument.arg for argument in getattr(arguments, "posonlyargs", [])]
    found += [argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument]
    return frozenset(found)


def frames_of(scope: Scope, node: FunctionNode) -> Frames:
    """The frames of the body of a function that is defined in a scope."""
    frames: List[Frame] = [Frame(scope.child(node), parameters(node.args))]
    current: Optional[Scope] = scope
    while current is not None:
        owner = current.node
        names = (
            parameters(owner.args)
            if isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef))
            else frozenset()
        )
        frames.append(Frame(current, names))
        current = current.parent
    return tuple(reversed(frames))


def dotted_parts(node: ast.AST) -> Optional[List[str]]:
    """``a.b.c`` as a list, None for anything that is not a chain of attributes of a name."""
    parts: List[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return parts[::-1]


def last_name(node: ast.AST) -> str:
    """``c`` of ``a.b.c`` and of ``c``; empty for anything else."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


class Resolver:
    """Resolves names of one module.

    Args:
        module: the scope of the module.
        text: the script.
        words: every word of the text, to know quickly what cannot be there.
        neighbours: the other modules of its project.
        known: the names that matter, to know which of several stars brings one.
    """

    def __init__(
        self,
        module: Scope,
        text: str,
        words: FrozenSet[str],
        neighbours: Optional[Neighbours],
        known: FrozenSet[str],
    ) -> None:
        self.module = module
        self.text = text
        self.words = words
        self.neighbours = neighbours or Neighbours()
        self.known = known
        self._globals: Optional[FrozenSet[str]] = None
        self._known: Dict[Tuple[int, str], Found] = {}
        self._pending: Dict[Tuple[int, str], Found] = {}
        self._seen: Dict[Tuple[int, str], Tuple[Frames, Found]] = {}
        self._stars: Optional[List[str]] = None

    @property
    def stars(self) -> List[str]:
        """The modules of which everything is imported, in order; ``?`` for relative ones."""
        if self._stars is None:
            self._stars = [
                "?"
                if isinstance(store.node, ast.ImportFrom) and store.node.level
                else store.text[:-2]
                for store in self.module.stores.get("*", [])
            ]
        return self._stars

    def resolve(self, node: ast.AST, frames: Frames) -> Optional[str]:
        """The canonical dotted name of an expression, None where it is not certain."""
        return self.look_up(node, frames).name

    def look_up(self, node: ast.AST, frames: Frames) -> Found:
        """What an expression stands for, with how its first name is bound."""
        parts = dotted_parts(node)
        if parts is None:
            return Found(Binding.LOCAL)
        found = self.name(parts[0], frames)
        if found.name is None:
            return found
        return Found(found.binding, canonical(".".join([found.name, *parts[1:]])))

    def name(self, name: str, frames: Frames) -> Found:
        """What a name stands for, seen from the innermost of some frames."""
        if self._pending:
            return self._seek(name, frames)
        key = (id(frames), name)
        known = self._seen.get(key)
        if known is None:
            known = self._seen[key] = (frames, self._seek(name, frames))
        return known[1]

    def _seek(self, name: str, frames: Frames) -> Found:
        for index in range(len(frames) - 1, -1, -1):
            frame = frames[index]
            if name in frame.names:
                return Found(Binding.PARAMETER if frame.scope is not None else Binding.LOCAL)
            scope = frame.scope
            if scope is self.module and name in self.globals:
                break
            if scope is None or name not in scope.stores or name in scope.global_names:
                continue
            if index == len(frames) - 1 or not frame.is_class:
                return self._stored(name, frames[: index + 1])
        if name in self.globals:
            return self._stored(name, frames[:1])
        return self._from_star(name)

    @property
    def globals(self) -> FrozenSet[str]:
        """The names that some function takes from the module, and may bind there."""
        if self._globals is None:
            lines = _GLOBAL.findall(self.text) if "global" in self.words else []
            self._globals = frozenset(name.strip() for line in lines for name in line.split(","))
        return self._globals

    def _stored(self, name: str, frames: Frames) -> Found:
        scope = frames[-1].scope
        assert scope is not None
        key = (id(scope), name)
        found = self._pending.get(key) or self._known.get(key)
        if found is None:
            stores = scope.stores.get(name, [])
            if scope is self.module and name in self.globals:
                stores = [*stores, *self._bound_elsewhere(name)]
            found = Found(Binding.UNCERTAIN)
            if stores:
                found = self._merge(name, stores, frames)
            self._known[key] = found
        return found

    def _bound_elsewhere(self, name: str) -> Iterator[Store]:
        """What functions bind a name of the module to, which they say is global."""
        for scope, node in functions(self.module, self.module.body):
            inner = scope.child(node)
            if name in inner.global_names:
                yield from inner.stores.get(name, ())

    def _merge(self, name: str, stores: List[Store], frames: Frames) -> Found:
        """The one thing that all stores of a name bind it to.

        A store that names itself (``tf = tf.compat.v1``) sees what the stores before it bind.
        """
        key = (id(frames[-1].scope), name)
        names: Set[Optional[str]] = set()
        binding = Binding.IMPORT
        try:
            for store in stores:
                self._pending[key] = _only(names, binding)
                parts = dotted_parts(store.node) if store.kind == "value" else None
                if store.kind == "import":
                    names.add(self._imported(store))
                elif store.kind == "value" and _is_none(store.node):
                    continue
                elif store.kind == "value" and _imports_by_call(store.node):
                    return Found(Binding.UNCERTAIN)
                elif parts is not None:
                    names.add(self.resolve(store.node, frames))
                    if parts[0] != name:
                        binding = Binding.VALUE
                else:
                    names.add(None)
        finally:
            self._pending.pop(key, None)
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

    def _from_star(self, name: str) -> Found:
        """What a name that nothing binds may come from."""
        if hasattr(builtins, name):
            return Found(Binding.UNBOUND)
        stars = self.stars
        known = [star for star in stars if canonical(star).startswith("tensorflow")]
        ours = [star for star in stars if star.endswith("npu_init")]
        if ours:
            return Found(Binding.IMPORT, "tensorflow" if name == "tf" else ours[0] + "." + name)
        if not known and name not in REEXPORTED:
            return Found(Binding.UNBOUND)
        last: Optional[str] = None
        for store in reversed(self.module.stores.get("*", [])):
            node = store.node
            assert isinstance(node, ast.ImportFrom)
            module = node.module or ""
            if not node.level and canonical(module).startswith("tensorflow"):
                dotted = canonical("{}.{}".format(module, name))
                if dotted in self.known:
                    return Found(Binding.IMPORT, dotted)
                last = last or dotted
                continue
            bound = self.neighbours.names(module, node.level)
            if bound is not None and name in bound:
                return _only({dotted or None for dotted in bound[name]}, Binding.IMPORT)
            if bound is None and module.split(".")[0] not in _WITHOUT:
                return Found(Binding.UNCERTAIN)
        return Found(Binding.IMPORT if last else Binding.UNBOUND, last)


_WITHOUT = frozenset(
    (
        *("collections", "ctypes", "datetime", "enum", "functools", "glob", "itertools", "math"),
        *("matplotlib", "numpy", "os", "pylab", "random", "scipy", "six", "struct", "sys", "time"),
        *("tkinter", "Tkinter", "typing"),
    )
)
"""Packages of which it is known that they bind none of the names that matter."""


def _imports_by_call(node: ast.AST) -> bool:
    """True for a call that gives TensorFlow, or something of it, by its name in a text."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    called = last_name(node.func)
    first = node.args[0]
    text = getattr(first, "value", getattr(first, "s", None))
    is_import = called in ("import_module", "__import__")
    return is_import and isinstance(text, str) and text.split(".")[0] == "tensorflow"


def _is_none(node: ast.AST) -> bool:
    return getattr(node, "value", 0) is None


def _only(names: Set[Optional[str]], binding: Binding) -> Found:
    """What a name stands for that is bound to some things; None is something of the script."""
    if len(names) == 1:
        only = next(iter(names))
        return Found(Binding.LOCAL) if only is None else Found(binding, only)
    known = any(one is not None and one.startswith("tensorflow") for one in names)
    return Found(Binding.UNCERTAIN if known else Binding.LOCAL)
