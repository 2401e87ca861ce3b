"""Whether anything reads what a call gives, found in the text of a script."""

import ast
from typing import Dict, Iterator, List, Optional, Sequence, Tuple, Union

from npu_config.script.neighbours import any_neighbour_has
from npu_config.script.scopes import DEFINITIONS, FUNCTIONS, children, last_line
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
        self._found: Dict[int, Optional[str]] = {}
        self._around: Dict[int, Parents] = {}

    def around(self, node: ast.expr) -> Parents:
        """The nodes around an expression, the outermost first."""
        found = self._around.get(id(node))
        if found is None:
            found = self._around[id(node)] = _around(self._script.tree, node)
        return found

    def name_of_result(self, call: ast.Call) -> Optional[str]:
        """What certainly nothing reads: the name that is given the result of a call.

        The empty text for a result that is given no name at all, None for one that something
        reads, or may read.
        """
        if id(call) not in self._found:
            self._found[id(call)] = self._name_of_result(call)
        return self._found[id(call)]

    def _name_of_result(self, call: ast.Call) -> Optional[str]:
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
        if scope is parents[0] and self._may_be_imported(name, parents):
            return True
        loop = next((n for n in parents[parents.index(scope) :] if isinstance(n, LOOPS)), None)
        again = None if loop is None else (loop.lineno, last_line(loop))
        mentions = self._script.source.mentions
        lines = sorted({n for word in (name, "global", "nonlocal") for n in mentions(word)})
        for node, inside in _mentions(scope, name, statement, lines):
            if inside or not isinstance(node, ast.Name):
                return True
            if (node.lineno, node.col_offset) > (statement.lineno, statement.col_offset):
                return True
            if again is not None and again[0] <= node.lineno <= again[1]:
                return True
        return False

    def _may_be_imported(self, name: str, parents: Parents) -> bool:
        """True when another script may take a name of the module."""
        source = self._script.source
        if any(isinstance(node, ast.If) and is_main(node.test) for node in parents):
            return False
        return not self._script.is_program or any_neighbour_has(source.path, (name,))

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


def is_main(test: ast.expr) -> bool:
    """True for ``__name__ == "__main__"``."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    parts = (test.left, *test.comparators)
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in parts)


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


def _around(tree: ast.AST, node: ast.expr) -> Parents:
    pending: List[Tuple[ast.AST, Parents]] = [(tree, ())]
    while pending:
        current, path = pending.pop()
        path = (*path, current)
        for child in children(current, (node.lineno,)):
            if child is node:
                return path
            pending.append((child, path))
    return ()


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
