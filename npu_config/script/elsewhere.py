"""Functions of other files of the program: what a script imports, and what that means there.

A file is parsed when one of its functions is asked for, and only where it says what the question
is about.  What is found there is told at the line of the script that names the function.
"""

import ast
import contextlib
import os
import re
from typing import Any, FrozenSet, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.lazy import cached_property
from npu_config.core.message import phrase
from npu_config.python_flow.module import Function, Site, Value
from npu_config.python_flow.scopes import Scope, name_of, root_of
from npu_config.python_flow.source import Unparsable
from npu_config.script.meaning import Meaning
from npu_config.script.neighbours import file_of_module, has, once_for, text_of
from npu_config.script.script import Script

_DEFINING = re.compile(
    r"^[ \t]{0,200}(?:(?:async[ \t]{1,9})?(?:def|class)[ \t]{1,9}\w{1,200}|\w[\w, \t]{0,400}=)",
    re.MULTILINE,
)
_NAME = re.compile(r"[A-Za-z_]\w*")


def _defined(path: str) -> FrozenSet[str]:
    """The names that a file may bind to functions or classes."""
    lines = map(_DEFINING.match, text_of(path).split("\n"))
    return frozenset(name for line in lines if line for name in _NAME.findall(line.group()))


def says(meaning: Meaning, line: Optional[int]) -> str:
    """A line of another file, in words: ``helpers.py, line 3``."""
    return phrase("{}, line {}", os.path.basename(meaning.script.source.path or ""), line)


class Elsewhere(NamedTuple):
    """A function of another file.

    Attributes:
        node: what names it in the script.
        meaning: what names stand for in that file.
        function: the function.
    """

    node: ast.expr
    meaning: Meaning
    function: Function

    def says(self, node: Any) -> str:
        """A place in that file, in words: ``helpers.py, line 3``."""
        return self.says_line(node.lineno)

    def says_line(self, line: Optional[int]) -> str:
        """A line of that file, in words."""
        return says(self.meaning, line)


class Program:
    """The functions that a script imports from files of its program.

    Args:
        meaning: of the script.
        words: a file that holds none of them is not looked at.
    """

    def __init__(self, meaning: Meaning, words: Sequence[str]) -> None:
        self._meaning = meaning
        self._words = words

    def functions(self, scope: Scope, node: Optional[ast.AST]) -> List[Elsewhere]:
        """The function of another file that an expression is, ``partial`` of it included."""
        if isinstance(node, ast.Call) and name_of(node.func) == "partial" and node.args:
            return self.functions(scope, node.args[0])
        if isinstance(node, ast.Call):
            return self._methods(scope, node, node, "__call__")
        if not isinstance(node, (ast.Name, ast.Attribute)) or name_of(node) not in self.names:
            return []
        dotted = self._imported(scope, node)
        if dotted is None and isinstance(node, ast.Attribute):
            return self._methods(scope, node, node.value, node.attr)
        for other, rest in self._named(dotted or ""):
            found = other.functions(other.script.module, ast.parse(rest, mode="eval").body)
            cls = other.class_named(other.script.module, rest)  # making an object calls it
            found = found or ([] if cls is None else other.method(cls, "__init__"))
            if found:
                return [Elsewhere(node, other, each) for each in found]
        return []

    def _methods(
        self, scope: Scope, node: ast.expr, owner: ast.expr, name: str
    ) -> List[Elsewhere]:
        """The method of an object that the script makes of a class of another file."""
        made = self._meaning.value(scope, owner)
        if made is None or not isinstance(made.node, ast.Call):
            return []
        for other, cls in self._classes(made):
            return [Elsewhere(node, other, each) for each in other.method(cls, name)]
        return []

    def given_by(self, scope: Scope, node: ast.expr) -> Iterator[Tuple[Meaning, Value]]:
        """The expressions of another file of which one is what an expression of the script gives.

        What a function returns, an item of it that is unpacked, an attribute of an object.
        """
        meaning, index = self._meaning, None
        if isinstance(node, ast.Name):
            where, stores = meaning.stores(scope, node.id, node)
            if where is None or len(stores) != 1 or stores[0].kind not in ("value", "item"):
                return
            index = int(stores[0].text) if stores[0].kind == "item" else None
            scope, node = where, stores[0].node  # type: ignore[assignment]
        if isinstance(node, ast.Attribute):
            yield from self._attributes(scope, node)
        if not isinstance(node, ast.Call):
            return
        for each in self.functions(scope, node.func):
            for value in each.function.returned:
                items = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
                if index is None or index < len(items):
                    found = value if index is None else items[index]
                    yield each.meaning, Value(each.function.scope, found)

    def _attributes(self, scope: Scope, node: ast.Attribute) -> Iterator[Tuple[Meaning, Value]]:
        """What an attribute may be of an object whose class is of another file."""
        made = self._meaning.value(scope, node.value)
        if made is None or not isinstance(made.node, ast.Call):
            return
        for other, cls in self._classes(made):
            for store in other.script.attribute_stores(cls).get(node.attr, ()):
                if store.value is not None:
                    yield other, Value(store.scope, store.value)
            for function in other.method(cls, node.attr):
                if any(name_of(each) == "property" for each in function.node.decorator_list):
                    for returned in function.returned:
                        yield other, Value(function.scope, returned)

    def _classes(self, made: Value) -> Iterator[Tuple[Meaning, Scope]]:
        """The class of another file that a call makes an object of."""
        for other, rest in self._named(self._imported(made.scope, made.node.func) or ""):
            cls = other.class_named(other.script.module, rest)
            if cls is not None:
                yield other, cls

    def _named(self, dotted: str) -> Iterator[Tuple[Meaning, str]]:
        """The file that a dotted name may lead to, and what is left of the name there."""
        for path, rest in self._files_of(dotted):
            other = self.opened(path)
            if other is not None:
                yield other, rest

    def _files_of(self, dotted: str) -> Iterator[Tuple[str, str]]:
        own, parts = self._meaning.script.source.path, dotted.split(".")
        if own is None or parts[0] == "tensorflow":
            return
        for count in (len(parts) - 1, len(parts) - 2):
            path = file_of_module(own, ".".join(parts[:count])) if count > 0 else None
            if path is not None:
                yield path, ".".join(parts[count:])

    def _imported(self, scope: Scope, node: ast.expr) -> Optional[str]:
        root = root_of(node)
        if not isinstance(root, ast.Name):
            return None
        where, stores = self._meaning.stores(scope, root.id)
        if where is None and root is node:
            return self._of_star(root.id)
        is_import = bool(stores) and all(store.kind == "import" for store in stores)
        return self._meaning.name(scope, node) if is_import else None

    def _of_star(self, name: str) -> Optional[str]:
        """The dotted name of what an import of everything brings from a file of the program."""
        script, own = self._meaning.script, self._meaning.script.source.path
        for module in script.star_imports if own is not None else ():
            path = file_of_module(own or "", module)
            other = None if path is None else self.opened(path)
            if other is not None and other.script.module.stores.get(name):
                return "{}.{}".format(module, name)
        return None

    def opened(self, path: str) -> Optional[Meaning]:
        """What names stand for in a file; None where it holds no word, or is no Python 3."""
        files = self._meaning.others
        if not has(path, self._words):
            return None
        if path not in files:
            files[path] = None
            with contextlib.suppress(Unparsable):  # told where it is checked
                files[path] = Meaning(Script(text_of(path), path))
        return files[path]

    @cached_property
    def files(self) -> List[str]:
        """The files that names of the script may lead to, and that hold one of the words."""
        return [path for path in self._meaning.script.files_named if has(path, self._words)]

    def given(self) -> Iterator[Elsewhere]:
        """What datasets are given, or what is called by that."""
        for scope, node in self._meaning.functions_named if self.files else ():
            yield from self.functions(scope, node)

    def called(self) -> Iterator[Tuple[Site, Elsewhere]]:
        """The calls that the script makes, methods of objects included, in order of the text."""
        if self.names:
            for site in self._meaning.calls(*self.names, ""):
                for each in self.functions(site.scope, site.node.func):
                    yield site, each

    @cached_property
    def names(self) -> FrozenSet[str]:
        """What the script may call functions of those files, by the text of both."""
        defined = {name for path in self.files for name in once_for(path, _DEFINING, _defined)}
        aliases = {new for new, old in self._meaning.aliases.items() if old in defined}
        return frozenset(defined & self._meaning.script.source.words | aliases)

    @staticmethod
    def inside(each: Elsewhere) -> Iterator[Value]:
        """The nodes of a function, and of those of its file that it calls."""
        for function in each.meaning.reached([each.function]):
            yield from each.meaning.body(function)
