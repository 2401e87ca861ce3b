"""One parsed script: its interesting places with what they stand in, found in one walk."""

import ast
import re
import sys
from typing import (
    Any,
    Dict,
    FrozenSet,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

from npu_config.core.diagnostics import Place
from npu_config.migration.names import INTERESTING, PACKAGES
from npu_config.migration.resolve import Frame, Frames, Resolver, parameters
from npu_config.script.scopes import DEFINITIONS, FUNCTIONS, Scope, blocks, first_line, holds
from npu_config.script.source import ScriptSource, parse

__all__ = ["Script", "Site", "text_of"]

_WORD = re.compile(r"[A-Za-z_]\w*")
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TEXTS = (ast.Constant,) if sys.version_info >= (3, 8) else (ast.Constant, ast.Str)


class Site(NamedTuple):
    """An interesting node with the names that it sees and the nodes around it, outermost first."""

    node: ast.AST
    frames: Frames
    parents: Tuple[ast.AST, ...]

    @property
    def call(self) -> Optional[ast.Call]:
        """The call of which the node is the function."""
        parent = self.parents[-1]
        return parent if isinstance(parent, ast.Call) and parent.func is self.node else None

    @property
    def statement(self) -> ast.stmt:
        """The innermost statement."""
        return next(node for node in reversed(self.parents) if isinstance(node, ast.stmt))

    @property
    def line(self) -> int:
        """The line on which the node begins."""
        line: int = getattr(self.node, "lineno", None) or self.statement.lineno
        return line

    def inside(self, *kinds: type) -> bool:
        """True when one of the nodes around it is of a kind, within the same function."""
        for node in reversed(self.parents):
            if isinstance(node, kinds):
                return True
            if isinstance(node, FUNCTIONS):
                return False
        return False

    @property
    def is_conditional(self) -> bool:
        """True under a condition of the same function, main guards excepted."""
        inner = self.node
        for node in reversed(self.parents):
            if (
                isinstance(node, (ast.If, ast.IfExp))
                and inner is not node.test
                and not (isinstance(node, ast.If) and is_main_guard(node))
            ):
                return True
            if isinstance(node, FUNCTIONS):
                return False
            inner = node
        return False

    @property
    def inside_definition(self) -> bool:
        """True in a function or class."""
        return any(isinstance(node, DEFINITIONS) for node in self.parents)

    @property
    def function(self) -> Optional[ast.AST]:
        """The function that it stands in."""
        for node in reversed(self.parents):
            if isinstance(node, FUNCTIONS):
                return node
        return None


def is_main_guard(node: ast.If) -> bool:
    """True for ``if __name__ == "__main__":``, either way round."""
    test = node.test
    if not (isinstance(test, ast.Compare) and len(test.comparators) == 1):
        return False
    sides = [test.left, test.comparators[0]]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def text_of(node: Optional[ast.AST]) -> Optional[str]:
    """The text of a string literal."""
    value = getattr(node, "value", None) if isinstance(node, _TEXTS) else None
    if value is None:
        value = getattr(node, "s", None) if type(node).__name__ == "Str" else None
    return value if isinstance(value, str) else None


class Script:
    """A script with its interesting places.

    Args:
        text: the script.

    Attributes:
        sites: names, attributes and string literals that may concern a migration.
        imports: the import statements.

    Raises:
        Unparsable: for text that is not Python 3.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse(text)
        self.source = ScriptSource(text)
        self.module = Scope(self.tree, None)
        self.words: FrozenSet[str] = frozenset(_WORD.findall(text))
        self.resolver = Resolver(self.module, text, self.words)
        self.imports: List[Site] = []
        self.sites: List[Site] = []
        self.cache: Dict[str, Any] = {}
        self._resolved: Dict[int, Optional[str]] = {}
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
        self._hot: List[int] = []
        self._names: FrozenSet[str] = frozenset()
        if self.words.isdisjoint(PACKAGES):
            return
        base = (Frame(self.module),)
        self._hot = self.source.mentions("import")
        self._body(self.tree.body, len(self.source.lines), base, (self.tree,))
        words = set(self.words & INTERESTING)
        self._names = frozenset(self._names_of_interest())
        self._hot = sorted({n for word in words | self._names for n in self._lines_of(word)})
        self._seen_imports = True
        self._body(self.tree.body, len(self.source.lines), base, (self.tree,))

    _seen_imports = False

    def _lines_of(self, word: str) -> List[int]:
        if word == "nvidia" or word.startswith("TF_"):
            return self.source.lines_with(word, within=True)
        return self.source.mentions(word)

    def _names_of_interest(self) -> Iterator[str]:
        """The local names that imports and stores give to what is interesting."""
        for site in self.imports:
            node = site.node
            if isinstance(node, ast.ImportFrom):
                if node.level:
                    continue
                module = node.module or ""
                is_horovod = module.split(".")[0] == "horovod"
                for alias in node.names:
                    if alias.name in INTERESTING or is_horovod:
                        yield alias.asname or alias.name
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.split(".")[0] == "horovod":
                        yield alias.asname or "horovod"
        if any(name.startswith("tensorflow") for name in self.resolver.stars):
            yield from self.words & INTERESTING

    # Places

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column, both from 1."""
        return self._starts[line - 1] + column - 1

    def position(self, offset: int) -> Tuple[int, int]:
        """The line and column of an offset, both from 1."""
        line = self.source.line(offset) if offset < len(self.text) else len(self._starts)
        line = max(1, min(line, len(self._starts)))
        return line, offset - self._starts[line - 1] + 1

    def span(self, node: ast.AST) -> Tuple[int, int]:
        """Where an expression begins and ends, as offsets."""
        place: Place = self.source.place_of(node)
        assert place.line
        assert place.column
        assert place.end_line
        assert place.end_column
        return (
            self.offset(place.line, place.column),
            self.offset(place.end_line, place.end_column),
        )

    @property
    def newline(self) -> str:
        """The line end that the script uses."""
        match = _LINE_END.search(self.text)
        return match.group() if match else "\n"

    def line_start(self, line: int) -> int:
        """The offset at which a line begins."""
        return self._starts[line - 1]

    def line_end(self, line: int) -> int:
        """The offset behind a line and its line end."""
        return self._starts[line] if line < len(self._starts) else len(self.text)

    def indent(self, line: int) -> str:
        """The white space before a line."""
        content = self.source.lines[line - 1]
        return content[: len(content) - len(content.lstrip())]

    # The walk

    def _body(
        self, body: Sequence[ast.AST], end: int, frames: Frames, parents: Tuple[ast.AST, ...]
    ) -> None:
        """Visit the statements of a body that reaches at most to a line."""
        hot = self._hot
        count = len(body)
        for index, statement in enumerate(body):
            line = getattr(statement, "lineno", None)
            if line is None:  # a case of match
                self._compound(statement, end, frames, parents)
                continue
            first = first_line(statement)
            last = end
            if index + 1 < count and hasattr(body[index + 1], "lineno"):
                last = max(line, first_line(body[index + 1]) - 1)
            if holds(hot, first, last):
                self._statement(statement, last, frames, parents)

    def _statement(
        self, node: ast.AST, end: int, frames: Frames, parents: Tuple[ast.AST, ...]
    ) -> None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if not self._seen_imports:
                self.imports.append(Site(node, frames, parents))
            return
        if isinstance(node, DEFINITIONS):
            inside = (*parents, node)
            scope = frames[-1].scope
            assert scope is not None
            outer: List[ast.AST] = list(node.decorator_list)
            names: FrozenSet[str] = frozenset()
            if isinstance(node, ast.ClassDef):
                outer += [*node.bases, *node.keywords]
            else:
                outer.append(node.args)
                if node.returns is not None:
                    outer.append(node.returns)
                names = parameters(node.args)
            if self._seen_imports:
                for part in outer:
                    self._node(part, frames, inside)
            self._body(node.body, end, (*frames, Frame(scope.child(node), names)), inside)
            return
        inner = list(blocks(node))
        if inner:
            self._compound(node, end, frames, parents)
        elif self._seen_imports:
            self._node(node, frames, parents)

    def _compound(
        self, node: ast.AST, end: int, frames: Frames, parents: Tuple[ast.AST, ...]
    ) -> None:
        inside = (*parents, node)
        inner = list(blocks(node))
        held = {id(part) for body in inner for part in body}
        if self._seen_imports:
            for child in ast.iter_child_nodes(node):
                if id(child) not in held:
                    self._node(child, frames, inside)
        for body in inner:
            self._body(body, end, frames, inside)

    def _node(self, node: ast.AST, frames: Frames, parents: Tuple[ast.AST, ...]) -> None:
        kind = type(node)
        if kind is ast.Name:
            if node.id in self._names:  # type: ignore[attr-defined]
                self.sites.append(Site(node, frames, parents))
            return
        if kind is ast.Attribute:
            if node.attr in INTERESTING:  # type: ignore[attr-defined]
                self.sites.append(Site(node, frames, parents))
            self._node(node.value, frames, (*parents, node))  # type: ignore[attr-defined]
            return
        if isinstance(node, _TEXTS):
            text = text_of(node)
            if text is not None and _is_telling(text):
                self.sites.append(Site(node, frames, parents))
            return
        inside = (*parents, node)
        if kind is ast.Lambda:
            arguments = node.args  # type: ignore[attr-defined]
            self._node(arguments, frames, inside)
            frames = (*frames, Frame(None, parameters(arguments)))
            self._node(node.body, frames, inside)  # type: ignore[attr-defined]
            return
        if isinstance(node, _COMPREHENSIONS):
            names = {
                target.id
                for part in node.generators
                for target in ast.walk(part.target)
                if isinstance(target, ast.Name)
            }
            frames = (*frames, Frame(None, frozenset(names)))
        for child in ast.iter_child_nodes(node):
            self._node(child, frames, inside)

    # What other parts ask for

    def sites_of(self, names: Iterable[str]) -> Iterator[Site]:
        """The attributes and names with one of some last parts."""
        index: Optional[Dict[str, List[Site]]] = self.cache.get("sites")
        if index is None:
            index = self.cache["sites"] = {}
            for site in self.sites:
                word = getattr(site.node, "attr", None) or getattr(site.node, "id", None)
                if word is not None:
                    index.setdefault(word, []).append(site)
        for name in names:
            yield from index.get(name, ())

    def resolved(self, site: Site) -> Optional[str]:
        """What the node of a site stands for."""
        key = id(site.node)
        if key not in self._resolved:
            self._resolved[key] = self.resolver.resolve(site.node, site.frames)
        return self._resolved[key]

    def constructed(self, node: ast.AST, frames: Frames) -> Optional[str]:
        """The class or function whose call gave a value, where that is certain.

        The value is the call itself, or a name that is only bound to such calls.
        """
        if isinstance(node, ast.Call):
            return self.resolver.resolve(node.func, frames)
        if not isinstance(node, ast.Name):
            return None
        stores = self.stores(node.id, frames)
        found = {
            self.resolver.resolve(value.func, frames) if isinstance(value, ast.Call) else None
            for value in stores
        }
        return next(iter(found)) if len(found) == 1 else None

    def stores(self, name: str, frames: Frames) -> List[ast.AST]:
        """The values that are bound to a name in the innermost scope that binds it."""
        for index in range(len(frames) - 1, -1, -1):
            frame = frames[index]
            if name in frame.names:
                return []
            if frame.scope is None or (frame.is_class and index < len(frames) - 1):
                continue
            found = frame.scope.stores.get(name)
            if found is not None:
                return [store.node for store in found]
        return []

    def keyword(self, call: ast.Call, name: str) -> Optional[ast.keyword]:
        """An argument that is given by name."""
        return next((keyword for keyword in call.keywords if keyword.arg == name), None)

    def argument(self, call: ast.Call, name: str, position: int) -> Optional[ast.expr]:
        """An argument by name or position, None when it is not given."""
        keyword = self.keyword(call, name)
        if keyword is not None:
            return keyword.value
        return call.args[position] if position < len(call.args) else None


_TELLING = ("nvidia-smi", "CUDA_VISIBLE_DEVICES", "TF_", "mpirun", "horovodrun", "NpuOptimizer")


def _is_telling(text: str) -> bool:
    return len(text) < 2000 and any(word in text for word in _TELLING)


def is_open(call: ast.Call) -> bool:
    """True for a call with ``*`` or ``**`` arguments."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )
