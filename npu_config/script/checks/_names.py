"""Where the text of a script binds the names and attributes that it reads."""

import ast
from typing import Any, List, Optional

from npu_config.script.checks._check import Context
from npu_config.script.scopes import FUNCTIONS
from npu_config.script.syntax import name_of


def dotted(node: Optional[ast.AST]) -> str:
    """A name, or an attribute of a name, as it is written; else the empty text."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return "{}.{}".format(node.value.id, node.attr)
    return node.id if isinstance(node, ast.Name) else ""


def bindings(context: Context, node: ast.expr) -> List[ast.expr]:
    """Where the name or the attribute is bound that a node reads."""
    text = dotted(node)
    found: List[Any] = [
        each
        for each in context.script.nodes(name_of(node))
        if (isinstance(each, ast.arg) and each.arg == text)
        or (
            isinstance(each, (ast.Name, ast.Attribute))
            and dotted(each) == text
            and not isinstance(each.ctx, ast.Load)
        )
    ]
    if isinstance(node, ast.Attribute):
        owner = _class_of(context, node)
        return [each for each in found if owner is not None and _class_of(context, each) is owner]
    function = context.script.function_of(node.lineno)
    own = [each for each in found if context.script.function_of(each.lineno) is function]
    return own or [each for each in found if context.script.function_of(each.lineno) is None]


def _class_of(context: Context, node: ast.expr) -> Optional[ast.AST]:
    """The class around the method that a node is in."""
    parents = context.unread.around(node)
    for outer, inner in zip(parents, parents[1:]):
        if isinstance(outer, ast.ClassDef) and isinstance(inner, FUNCTIONS):
            return outer
    return None


def value_of(context: Context, node: Optional[ast.expr]) -> Optional[ast.expr]:
    """What a name or an attribute is bound to, when that is done once; else the node itself."""
    if node is None or not dotted(node):
        return node
    found = bindings(context, node)
    statement = context.unread.around(found[0])[-1] if len(found) == 1 else None
    is_plain = isinstance(statement, ast.Assign) and found[0] in statement.targets
    return statement.value if is_plain and isinstance(statement, ast.Assign) else None
