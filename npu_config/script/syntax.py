"""What single nodes of a syntax tree say by themselves, on every version of Python."""

import ast
import sys
from typing import Any, Optional

UNCLEAR = object()
"""What :func:`literal` gives for an expression that is not a literal."""

CONSTANTS = frozenset(
    (ast.Constant,)
    if sys.version_info >= (3, 8)
    else (ast.Constant, ast.Num, ast.Str, ast.Bytes, ast.NameConstant)
)
"""The nodes of numbers, texts, True, False and None, which hold their value in the first field."""


def in_brackets(node: ast.Subscript) -> ast.expr:
    """What is in the brackets, which Python before 3.9 wraps."""
    inner: Any = node.slice
    found: ast.expr = inner.value if inner.__class__.__name__ == "Index" else inner
    return found


def literal(node: Optional[ast.AST]) -> Any:
    """The value of a literal; :data:`UNCLEAR` for anything else, and for no node at all."""
    if node.__class__ in CONSTANTS:
        return getattr(node, node._fields[0])  # type: ignore[union-attr]
    try:
        return UNCLEAR if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return UNCLEAR


def literal_text(node: Optional[ast.AST]) -> Optional[str]:
    """The text of a string literal; None for anything else."""
    value = literal(node) if node.__class__ in CONSTANTS else None
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
