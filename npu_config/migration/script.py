"""One parsed script: its interesting places with what they stand in, found in one walk."""

import ast
import bisect
import re
from typing import Any, Dict, FrozenSet, Iterable, Iterator, List, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Place
from npu_config.migration.names import INTERESTING, PACKAGES, TEXT_WORDS, interesting
from npu_config.migration.neighbours import REEXPORTED, Neighbours, may_borrow
from npu_config.migration.resolve import Frame, Frames, Resolver, last_name, parameters
from npu_config.migration.sites import TEXTS, Site, text_of
from npu_config.python_flow.scopes import (
    COMPOUND,
    DEFINITIONS,
    Scope,
    Store,
    blocks,
    children,
    first_line,
)
from npu_config.python_flow.source import ScriptSource, parse

__all__ = ["Script"]

_SIGNS = bytes(
    code if code > 127 or chr(code).isalnum() or chr(code) == "_" else 32 for code in range(256)
)
_LINE_END = re.compile(r"\r\n|\r|\n")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Script:
    """A script with its interesting places.

    Args:
        text: the script.
        neighbours: the other modules of its project.
        known: the names that matter.

    Attributes:
        sites: names, attributes and string literals that may concern a migration.
        imports: the import statements.
        is_concerned: False where nothing can be TensorFlow's, Keras's or Horovod's.

    Raises:
        Unparsable: for text that is not Python 3.
    """

    def __init__(self, text: str, neighbours: Optional[Neighbours], known: FrozenSet[str]) -> None:
        self.text = text
        self.tree = parse(text)
        self.source = ScriptSource(text)
        self.module = Scope(self.tree, None)
        data = text.encode("utf-8", "surrogatepass").translate(_SIGNS)
        self.words: FrozenSet[str] = frozenset(data.decode("utf-8", "surrogatepass").split())
        self.resolver = Resolver(self.module, text, self.words, neighbours, known)
        self.imports: List[Site] = []
        self.sites: List[Site] = []
        self.cache: Dict[str, Any] = {}
        self._resolved: Dict[int, Optional[str]] = {}
        self._starts = self.source.starts
        self._hot: List[int] = []
        self._seen_imports = False
        self._names: FrozenSet[str] = frozenset()
        self._wanted: FrozenSet[str] = frozenset()
        self.is_concerned = not self.words.isdisjoint(PACKAGES) or (
            neighbours is not None and may_borrow(text)
        )
        if not self.is_concerned:
            return
        base = (Frame(self.module),)
        self._hot = self.source.mentions("import")
        self._body(self.tree.body, len(self.source.lines), base, (self.tree,))
        self._wanted = interesting(self.words)
        self._names = frozenset(self._names_of_interest())
        words = self._wanted | self._names
        self._hot = sorted({line for word in words for line in self._lines_of(word)})
        self._seen_imports = True
        self._body(self.tree.body, len(self.source.lines), base, (self.tree,))

    def _lines_of(self, word: str) -> List[int]:
        if word == "nvidia" or word.startswith("TF_"):
            return self.source.lines_with(word, within=True)
        if word in self._names or word in TEXT_WORDS:
            return self.source.mentions(word)
        return self.source.members(word)

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
        base = (Frame(self.module),)
        for name, stores in self.module.stores.items() if "keras" in self.words else ():
            if any(last_name(store.node) in ("Sequential", "Model") for store in stores):
                yield name
        for name in self.words & REEXPORTED:
            if (self.resolver.name(name, base).name or "").startswith("horovod"):
                yield name
        if any(name.startswith("tensorflow") for name in self.resolver.stars):
            yield from self.words & INTERESTING

    def binds(self, name: str) -> bool:
        """True for a name that the script binds, in any scope."""
        lines = self.source.mentions(name) if name in self.words else []
        pending: List[ast.AST] = [self.tree] if lines else []
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name):
                if node.id == name and not isinstance(node.ctx, ast.Load):
                    return True
            elif isinstance(node, ast.alias):
                if (node.asname or node.name.split(".")[0]) == name:
                    return True
            elif (isinstance(node, ast.arg) and node.arg == name) or (
                isinstance(node, DEFINITIONS) and node.name == name
            ):
                return True
            pending += children(node, lines)
        return False

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
        """Visit the statements of a body, which reaches at most to a line, that hold hot lines."""
        if not body or not hasattr(body[0], "lineno"):
            for case in body:  # of match
                self._compound(case, end, frames, parents)
            return
        hot = self._hot
        starts: List[int] = [
            first_line(part) if type(part) in DEFINITIONS else part.lineno  # type: ignore[attr-defined]
            for part in body
        ]
        number, done = bisect.bisect_left(hot, starts[0]), 0
        while number < len(hot) and hot[number] <= end:
            line = hot[number]
            stop = bisect.bisect_right(starts, line)
            first = bisect.bisect_left(starts, line)
            if first == stop or self._shares_line(body[first], line):
                first -= 1
            for index in range(max(first, done), stop):
                last = starts[index + 1] - 1 if index + 1 < len(starts) else end
                last = max(last, line)
                self._statement(body[index], last, frames, parents)
            done = stop
            number = bisect.bisect_right(hot, last)

    def _shares_line(self, statement: ast.AST, line: int) -> bool:
        """True for a statement behind the end of another one on its line."""
        before = self.source.lines[line - 1][: statement.col_offset]  # type: ignore[attr-defined]
        return bool(before) and not before.isspace()

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
            names: FrozenSet[str] = frozenset()
            if not isinstance(node, ast.ClassDef):
                names = parameters(node.args)
            if self._seen_imports:
                self._fields(node, _HEADS, frames, inside)
            self._body(node.body, end, (*frames, Frame(scope.child(node), names)), inside)
        elif type(node) in COMPOUND:
            self._compound(node, end, frames, parents)
        elif self._seen_imports:
            self._node(node, frames, parents)

    def _compound(
        self, node: ast.AST, end: int, frames: Frames, parents: Tuple[ast.AST, ...]
    ) -> None:
        inside = (*parents, node)
        if self._seen_imports:
            self._fields(node, _HEADS, frames, inside)
        for body in blocks(node):
            self._body(body, end, frames, inside)

    def _fields(
        self, node: ast.AST, fields: Sequence[str], frames: Frames, inside: Tuple[ast.AST, ...]
    ) -> None:
        """Visit what some fields of a node hold."""
        for name in fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                for part in value:
                    if isinstance(part, ast.AST):
                        self._node(part, frames, inside)
            elif isinstance(value, ast.AST):
                self._node(value, frames, inside)

    def _node(self, node: ast.AST, frames: Frames, parents: Tuple[ast.AST, ...]) -> None:
        kind = type(node)
        if kind is ast.Name:
            if node.id in self._names:  # type: ignore[attr-defined]
                self.sites.append(Site(node, frames, parents))
            return
        if kind is ast.Attribute:
            if node.attr in self._wanted:  # type: ignore[attr-defined]
                self.sites.append(Site(node, frames, parents))
            self._node(node.value, frames, (*parents, node))  # type: ignore[attr-defined]
            return
        if kind in TEXTS:
            text = text_of(node)
            if text is not None and _is_telling(text):
                self.sites.append(Site(node, frames, parents))
            return
        inside = (*parents, node)
        if kind is ast.keyword and node.arg in TEXT_WORDS:  # type: ignore[attr-defined]
            self.sites.append(Site(node, frames, parents))
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
        fields = _FIELDS.get(kind)
        if fields is None:
            fields = _FIELDS[kind] = [name for name in node._fields if name not in _SIGNS_OF]
        self._fields(node, fields, frames, inside)

    # What other parts ask for

    def sites_of(self, names: Iterable[str]) -> List[Site]:
        """The attributes and names with one of some last parts, in order of the lines."""
        index: Optional[Dict[str, List[Site]]] = self.cache.get("sites")
        if index is None:
            index = self.cache["sites"] = {}
            for site in self.sites:
                index.setdefault(last_name(site.node), []).append(site)
        found = [site for name in names for site in index.get(name, ())]
        found.sort(key=lambda site: site.line)
        return found

    def resolved(self, site: Site) -> Optional[str]:
        """What the node of a site stands for."""
        key = id(site.node)
        if key not in self._resolved:
            self._resolved[key] = self.resolver.resolve(site.node, site.frames)
        return self._resolved[key]

    def constructed(self, node: ast.AST, frames: Frames) -> Optional[str]:
        """The class or function whose call gave a value, where that is certain.

        The value is the call itself, or a variable or member that only such calls are bound to.
        """
        if isinstance(node, ast.Call):
            return self.resolver.resolve(node.func, frames)
        values = self.values(node, frames)
        found = {
            self.resolver.resolve(value.func, frames) if isinstance(value, ast.Call) else None
            for value in values
            if getattr(value, "value", 0) is not None
        }
        return next(iter(found)) if len(found) == 1 else None

    def values(self, node: ast.AST, frames: Frames) -> List[ast.AST]:
        """The values that are bound to a variable, or to a member of ``self``."""
        if isinstance(node, ast.Name):
            return self.stores(node.id, frames)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self":
            for frame in reversed(frames):
                if frame.scope is not None and frame.is_class:
                    return self._members(frame.scope.node).get(node.attr, [])
        return []

    def _members(self, owner: ast.AST) -> Dict[str, List[ast.AST]]:
        """What the methods of a class bind to members of ``self``."""
        key = "members:" + str(id(owner))
        found: Optional[Dict[str, List[ast.AST]]] = self.cache.get(key)
        if found is None:
            found = self.cache[key] = {}
            for node in ast.walk(owner):
                if not isinstance(node, ast.Assign):
                    continue
                for target in node.targets:
                    owner_name = getattr(getattr(target, "value", None), "id", "")
                    if isinstance(target, ast.Attribute) and owner_name == "self":
                        found.setdefault(target.attr, []).append(node.value)
        return found

    def stores(self, name: str, frames: Frames) -> List[ast.AST]:
        """The values that are bound to a name in the innermost scope that binds it."""
        return [store.node for store in self.bindings(name, frames)]

    def bindings(self, name: str, frames: Frames) -> List[Store]:
        """What binds a name in the innermost scope that does; nothing for a parameter."""
        for index in range(len(frames) - 1, -1, -1):
            frame = frames[index]
            if name in frame.names:
                return []
            if frame.scope is None or (frame.is_class and index < len(frames) - 1):
                continue
            found = frame.scope.stores.get(name)
            if found is not None:
                return found
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


_HEADS = (
    *("decorator_list", "bases", "keywords", "args", "returns"),
    *("test", "target", "iter", "items", "type", "subject", "pattern", "guard"),
)
"""The fields of definitions and compound statements that are no bodies."""
_SIGNS_OF = ("ctx", "op", "ops")
_FIELDS: Dict[type, List[str]] = {}
"""The fields that hold something, of the kinds of nodes that were met."""

_TELLING = (
    *("nvidia-smi", "CUDA_VISIBLE_DEVICES", "TF_", "mpirun", "mpiexec", "horovodrun"),
    "NpuOptimizer",
)


def _is_telling(text: str) -> bool:
    return len(text) < 2000 and any(word in text for word in _TELLING)
