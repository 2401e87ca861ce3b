"""Places in a script: a node, the names that it sees, and what it stands in."""

import ast
import sys
from typing import Iterator, List, NamedTuple, Optional, Tuple

from npu_config.migration.resolve import Frames
from npu_config.python_flow.scopes import DEFINITIONS, FUNCTIONS

__all__ = ["TEXTS", "Site", "imported", "is_open", "number_of", "text_of"]

WITHS = (ast.With, ast.AsyncWith)
TEXTS = (ast.Constant,) if sys.version_info >= (3, 8) else (ast.Constant, ast.Str)
"""The nodes of string literals."""


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
    def conditions(self) -> Iterator[ast.expr]:
        """The tests that decide whether the node is reached, innermost first."""
        inner = self.node
        for node in reversed(self.parents):
            if isinstance(node, (ast.If, ast.IfExp)) and inner is not node.test:
                yield node.test
            inner = node

    @property
    def entered(self) -> Iterator[ast.Call]:
        """The calls whose values the with statements around the node enter."""
        for node in self.parents:
            for item in getattr(node, "items", ()) if isinstance(node, WITHS) else ():
                if isinstance(item.context_expr, ast.Call):
                    yield item.context_expr

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


def imported(node: ast.AST) -> List[str]:
    """The modules that an import statement names, with a dot for each level."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return ["." * node.level + (node.module or "")] if isinstance(node, ast.ImportFrom) else []


def is_main_guard(node: ast.If) -> bool:
    """True for ``if __name__ == "__main__":``, either way round."""
    test = node.test
    if not (isinstance(test, ast.Compare) and len(test.comparators) == 1):
        return False
    sides = [test.left, test.comparators[0]]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def text_of(node: Optional[ast.AST]) -> Optional[str]:
    """The text of a string literal."""
    value = getattr(node, "value", None) if isinstance(node, TEXTS) else None
    if value is None:
        value = getattr(node, "s", None) if type(node).__name__ == "Str" else None
    return value if isinstance(value, str) else None


def number_of(node: Optional[ast.AST]) -> Optional[float]:
    """The number of a literal, its sign included; None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = number_of(node.operand)
        return None if number is None else -number
    value = getattr(node, "value", getattr(node, "n", None))
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def is_open(call: ast.Call) -> bool:
    """True for a call with ``*`` or ``**`` arguments."""
    return any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg is None for keyword in call.keywords
    )
