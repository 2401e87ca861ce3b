"""Which of several bindings of a name holds at a place, by the order of the statements.

Known are statements that certainly run one after the other: those of a module, of its main guard,
of a function, and of ``with`` blocks in them.  A name that is bound under a condition, or in a
loop, has no known order.
"""

import ast
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from npu_config.python_flow.scopes import (
    COMPREHENSIONS,
    DEFINITIONS,
    Scope,
    Store,
    is_main,
    last_line,
)

_Stretch = Tuple[int, int]
"""The first and the last line of a statement."""


class Order:
    """The order of the bindings in scopes."""

    def __init__(self) -> None:
        self._lines: Dict[int, Dict[int, Optional[_Stretch]]] = {}

    def holding(
        self, scope: Scope, where: Scope, stores: Sequence[Store], node: ast.AST
    ) -> Optional[List[Store]]:
        """The binding that holds at a node, none where it comes before all; None: not known.

        Args:
            scope: that of the node.
            where: the scope that binds the name.
            stores: its bindings.
            node: what reads the name.
        """
        line = getattr(node, "lineno", None)
        if line is None:
            return None
        lines = self._statements(where)
        stretches = [lines.get(getattr(store.node, "lineno", 0)) for store in stores]
        ends = [stretch[1] for stretch in stretches if stretch is not None]
        if len(ends) < len(stores) or len(set(ends)) < len(ends):
            return None
        before = [store for store, end in zip(stores, ends) if end < line]
        if len(before) < len(stores) and not _runs_at_once(scope, where):
            return None
        return None if before and before[-1].kind == "other" else before[-1:]

    def _statements(self, where: Scope) -> Dict[int, Optional[_Stretch]]:
        """The stretches of the statements whose order is known, by each of their lines."""
        found = self._lines.get(id(where))
        if found is None:
            found = self._lines[id(where)] = {}
            for first, last in _in_order(where.body):
                for line in range(first, last + 1):
                    # Statements that share a line have no order.
                    found[line] = None if line in found else (first, last)
        return found


def _runs_at_once(scope: Scope, where: Scope) -> bool:
    """True where a scope is run when its text is come to: no function is in between."""
    while scope is not where and scope.parent is not None:
        if not isinstance(scope.node, COMPREHENSIONS):
            return False
        scope = scope.parent
    return True


def _in_order(body: Sequence[Any]) -> Iterator[_Stretch]:
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
