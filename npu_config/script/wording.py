"""Conditions and expressions in words, much as they are written, for messages of one line."""

import ast
from typing import Callable, Dict

from npu_config.python_flow.scopes import in_brackets

_LONG = 60

_SIGNS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_OPPOSITES = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def condition(node: ast.expr, value: bool) -> str:
    """A condition that holds, or whose opposite holds, shortened to one line."""
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node, value = node.operand, not value
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        kind = type(node.ops[0])
        sign = _SIGNS[kind if value else _OPPOSITES[kind]]
        text = "{} {} {}".format(expression(node.left), sign, expression(node.comparators[0]))
    else:
        text = expression(node) if value else "not " + expression(node)
    return text if len(text) <= _LONG else text[: _LONG - 3] + "..."


def expression(node: ast.AST) -> str:
    """An expression much as it is written, with "..." for what is too intricate."""
    spell = _SPELLERS.get(type(node).__name__)
    return "..." if spell is None else spell(node)


def _compare(node: ast.Compare) -> str:
    parts = [expression(node.left)]
    for sign, right in zip(node.ops, node.comparators):
        parts += [_SIGNS[type(sign)], expression(right)]
    return " ".join(parts)


def _call(node: ast.Call) -> str:
    arguments = [expression(argument) for argument in node.args]
    arguments += [
        "{}={}".format(keyword.arg, expression(keyword.value)) for keyword in node.keywords
    ]
    return "{}({})".format(expression(node.func), ", ".join(arguments))


def _index(node: ast.Subscript) -> str:
    return "{}[{}]".format(expression(node.value), expression(in_brackets(node)))


_SPELLERS: Dict[str, Callable[..., str]] = {
    "Name": lambda node: node.id,
    "Attribute": lambda node: "{}.{}".format(expression(node.value), node.attr),
    "Constant": lambda node: repr(node.value),
    "Num": lambda node: repr(node.n),
    "Str": lambda node: repr(node.s),
    "Bytes": lambda node: repr(node.s),
    "NameConstant": lambda node: repr(node.value),
    "Compare": _compare,
    "Call": _call,
    "Subscript": _index,
    "UnaryOp": lambda node: (
        "not " + expression(node.operand)
        if isinstance(node.op, ast.Not)
        else "-" + expression(node.operand)
    ),
    "BoolOp": lambda node: (" and " if isinstance(node.op, ast.And) else " or ").join(
        expression(value) for value in node.values
    ),
}
