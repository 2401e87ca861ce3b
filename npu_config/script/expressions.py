"""Expressions: what they give on the path that is being followed."""

import ast
import contextlib
from typing import Any, Callable, Dict, List

from npu_config.core.message import phrase
from npu_config.script import calls, constants
from npu_config.script.attributes import adopt_block, attribute_of
from npu_config.script.constants import NotKnown, is_known
from npu_config.script.names import is_fixed, lookup
from npu_config.script.objects import (
    BlockList,
    Class,
    EnumName,
    Fails,
    Function,
    Instance,
    ParameterMap,
    Subscript,
    Tracked,
    Unknown,
)
from npu_config.script.paths import Condition
from npu_config.script.state import Run, anonymous, evaluate, identity
from npu_config.script.syntax import CONSTANTS, in_brackets

_SAMENESS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
_CONVERSIONS: Dict[int, Callable[[Any], str]] = {115: str, 114: repr, 97: ascii}


def _name(run: Run, node: ast.Name) -> Any:
    value = lookup(run, node.id, node.lineno)
    if value.__class__ is Unknown and is_fixed(run, node.id, value):
        run.fixed[node] = value
    return value


def _constant(run: Run, node: Any) -> Any:
    value = getattr(node, node._fields[0])
    if value.__class__ is int and not constants.is_small(value):
        value = anonymous(node)
    run.fixed[node] = value
    return value


def _subscript(run: Run, node: ast.Subscript) -> Any:
    owner = evaluate(run, node.value)
    inner = in_brackets(node)
    if isinstance(inner, ast.Slice):
        return anonymous(node)
    index = evaluate(run, inner)
    if isinstance(owner, ParameterMap):
        return Subscript(owner.block, index, inner)
    if isinstance(owner, BlockList):
        return _item_of_blocks(run, owner, index, node)
    if isinstance(owner, (dict, list, tuple, str, bytes)) and is_known(index):
        try:
            return owner[index]
        except (LookupError, TypeError):
            return anonymous(node)
    if isinstance(owner, Unknown):
        if owner.key == "os.environ" and isinstance(index, str) and index in run.script.environ:
            return run.script.environ[index]
        return Unknown("{}[{}]".format(owner.key, identity(index)), parts=(owner, index))
    return anonymous(node)


def _item_of_blocks(run: Run, owner: BlockList, index: Any, node: ast.AST) -> Any:
    root = owner.message.root
    count = len(root.blocks)
    if not root.foreign and isinstance(index, int) and -count <= index < count:
        return root.blocks[index]
    return adopt_block(run, Unknown("{}[{}]".format(id(owner.message), identity(index))), node)


def _items(run: Run, node: Any) -> List[Any]:
    return [evaluate(run, item) for item in node.elts]


def _dict(run: Run, node: ast.Dict) -> Any:
    result = {}
    for key, item in zip(node.keys, node.values):
        name = None if key is None else evaluate(run, key)
        if name is None or not is_known(name) or isinstance(name, (list, dict)):
            return anonymous(node)
        result[name] = evaluate(run, item)
    return result


def _binary(run: Run, node: ast.BinOp) -> Any:
    left, right = evaluate(run, node.left), evaluate(run, node.right)
    if is_known(left) and is_known(right):
        try:
            return constants.binary(type(node.op), left, right)
        except NotKnown:
            return anonymous(node)
    sign = type(node.op).__name__
    key = "({} {} {})".format(identity(left), sign, identity(right))
    return Unknown(key, parts=(left, right))


def _unary(run: Run, node: ast.UnaryOp) -> Any:
    operand = evaluate(run, node.operand)
    if isinstance(node.op, ast.Not):
        if isinstance(operand, Unknown):
            return Condition.of(operand).opposite()
        return not operand if is_known(operand) else False
    if is_known(operand):
        try:
            return constants.unary(type(node.op), operand)
        except NotKnown:
            return anonymous(node)
    key = "({} {})".format(type(node.op).__name__, identity(operand))
    return Unknown(key, parts=(operand,))


def _compare(run: Run, node: ast.Compare) -> Any:
    left = evaluate(run, node.left)
    if len(node.ops) != 1:
        values = [left, *(evaluate(run, part) for part in node.comparators)]
        return Condition("compare " + " ".join(map(identity, values)), parts=tuple(values))
    kind = type(node.ops[0])
    right = evaluate(run, node.comparators[0])
    if is_known(left) and is_known(right):
        try:
            return bool(constants.compare(kind, left, right))
        except NotKnown:
            return anonymous(node)
    if isinstance(left, Unknown) and constants.is_type(left.key):
        with contextlib.suppress(NotKnown):
            names = constants.type_names(right)
            if all(map(constants.is_type, names)):
                return (left.key in names) is (kind in (ast.Is, ast.Eq, ast.In))
    if right is None and kind in _SAMENESS and not isinstance(left, Unknown):
        return kind in (ast.IsNot, ast.NotEq)
    return Condition.comparison(kind, left, right, identity(left), identity(right))


def _bool_op(run: Run, node: ast.BoolOp) -> Any:
    stops = isinstance(node.op, ast.Or)
    value: Any = None
    for operand in node.values:
        value = evaluate(run, operand)
        if isinstance(value, Unknown):
            if operand is node.values[-1]:
                return value
            if decide(run, value, operand) is stops:
                return value
        elif isinstance(value, (Tracked, Function, Class, Instance)):
            if stops:
                return value
        elif bool(value) is stops:
            return value
    return value


def truth(run: Run, node: ast.expr) -> bool:
    """Whether a condition holds on this path."""
    if isinstance(node, ast.BoolOp):
        stops = isinstance(node.op, ast.Or)
        return stops if any(truth(run, part) is stops for part in node.values) else not stops
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not truth(run, node.operand)
    value = evaluate(run, node)
    if isinstance(value, Unknown):
        return decide(run, value, node)
    if run.testing and isinstance(node, ast.Name) and isinstance(value, bool):
        return run.decisions.decide(
            Condition(phrase("switch {}@{}", node.id, run.frame.serial)),
            node,
            usual=value,
            is_switch=True,
        )
    if isinstance(value, (Tracked, Function, Class, Instance, Subscript, EnumName, Fails)):
        return True
    return bool(value)


def decide(run: Run, value: Unknown, node: ast.expr) -> bool:
    """Which way the path goes at a condition that cannot be known."""
    return run.decisions.decide(Condition.of(value), node)


def _joined(run: Run, node: ast.JoinedStr) -> Any:
    text = ""
    for part in node.values:
        value = evaluate(run, part)
        if not isinstance(value, str) or len(text) > constants.LIMIT:
            return anonymous(node)
        text += value
    return text


def _formatted(run: Run, node: ast.FormattedValue) -> Any:
    value = evaluate(run, node.value)
    if node.format_spec is not None or not is_known(value):
        return anonymous(node)
    try:
        convert = _CONVERSIONS.get(node.conversion, format)
        return constants.bounded(convert(value))
    except (TypeError, ValueError, NotKnown):
        return anonymous(node)


EXPRESSIONS: Dict[type, Callable[[Run, Any], Any]] = {
    ast.Name: _name,
    ast.Attribute: lambda run, node: attribute_of(run, evaluate(run, node.value), node),
    ast.Subscript: _subscript,
    ast.Call: calls.call,
    ast.Tuple: lambda run, node: tuple(_items(run, node)),
    ast.List: lambda run, node: _items(run, node),
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: lambda run, node: evaluate(
        run, node.body if truth(run, node.test) else node.orelse
    ),
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    **dict.fromkeys(CONSTANTS, _constant),
}
"""What gives the value of an expression, by its class."""
