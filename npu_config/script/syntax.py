"""What single nodes of a syntax tree say by themselves, on every version of Python."""

import ast
from typing import Any, Optional

UNCLEAR = object()
"""What :func:`literal` gives for an expression that is not a literal."""


def in_brackets(node: ast.Subscript) -> ast.expr:
    """What is in the brackets, which Python before 3.9 wraps."""
    inner: Any = node.slice
    found: ast.expr = inner.value if inner.__class__.__name__ == "Index" else inner
    return found


def literal(node: Optional[ast.AST]) -> Any:
    """The value of a literal; :data:`UNCLEAR` for anything else, and for no node at all."""
    try:
        return UNCLEAR if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return UNCLEAR


def literal_text(node: Optional[ast.AST]) -> Optional[str]:
    """The text of a string literal; None for anything else."""
    value = literal(node)
    return value if isinstance(value, str) else None


def name_of(node: ast.AST) -> str:
    """The last name of a dotted expression."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def argument(call: ast.Call, keyword: str, position: int) -> Optional[ast.expr]:
    """An argument of a call by name or position; None when it is not given."""
    for given in call.keywords:
        if given.arg == keyword:
            return given.value
    return call.args[position] if position < len(call.args) else None
