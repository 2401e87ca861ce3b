"""Expressions: what they give on the path that is being followed."""

import ast
import contextlib
import sys
from typing import Any, Callable, Dict, List

from npu_config.script import constants
from npu_config.script.attributes import Attributes
from npu_config.script.constants import NotKnown, is_known
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

_SAMENESS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
_CONVERSIONS: Dict[int, Callable[[Any], str]] = {115: str, 114: repr, 97: ascii}


def type_names(value: Any) -> List[str]:
    """The keys of a type or of several; raises :class:`NotKnown` for anything else."""
    items = value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(item, Unknown) for item in items):
        raise NotKnown
    return [item.key for item in items]


def in_brackets(node: ast.Subscript) -> ast.AST:
    """What stands in the brackets, which Python before 3.9 wraps."""
    inner: Any = node.slice
    if inner.__class__.__name__ == "Index":
        inner = inner.value
    found: ast.AST = inner
    return found


class Evaluator(Attributes):
    """Evaluates expressions; calls are added by a subclass."""

    def value(self, node: ast.AST) -> Any:
        """The value of an expression."""
        evaluate = _EVALUATE.get(node.__class__)
        if evaluate is None:
            return self.anonymous(node)
        return evaluate(self, node)

    def _name(self, node: ast.Name) -> Any:
        return self.lookup(node.id)

    def _attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.value(node.value), node.attr, node)

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        inner = in_brackets(node)
        if isinstance(inner, ast.Slice):
            return self.anonymous(node)
        index = self.value(inner)
        if isinstance(owner, ParameterMap):
            return Subscript(owner.block, index, inner)  # type: ignore[arg-type]
        if isinstance(owner, BlockList):
            return self._item_of_blocks(owner, index, node)
        if isinstance(owner, (dict, list, tuple, str, bytes)) and is_known(index):
            try:
                return owner[index]
            except (LookupError, TypeError):
                return self.anonymous(node)
        if isinstance(owner, Unknown):
            return Unknown("{}[{}]".format(owner.key, self.key(index)))
        return self.anonymous(node)

    def _item_of_blocks(self, owner: BlockList, index: Any, node: ast.AST) -> Any:
        root = owner.message.root
        count = len(root.blocks)
        if not root.foreign and isinstance(index, int) and -count <= index < count:
            return root.blocks[index]
        return self.adopt_block(Unknown("{}[{}]".format(id(owner.message), self.key(index))), node)

    def _sequence(self, node: Any) -> Any:
        items = [self.value(item) for item in node.elts]
        return tuple(items) if isinstance(node, ast.Tuple) else items

    def _dict(self, node: ast.Dict) -> Any:
        result = {}
        for key, item in zip(node.keys, node.values):
            name = None if key is None else self.value(key)
            if name is None or not is_known(name) or isinstance(name, (list, dict)):
                return self.anonymous(node)
            result[name] = self.value(item)
        return result

    # operators

    def _binary(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if is_known(left) and is_known(right):
            try:
                return constants.binary(type(node.op), left, right)
            except NotKnown:
                return self.anonymous(node)
        sign = type(node.op).__name__
        return Unknown("({} {} {})".format(self.key(left), sign, self.key(right)))

    def _unary(self, node: ast.UnaryOp) -> Any:
        operand = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(operand, Unknown):
                return Condition.of(operand).opposite()
            return not operand if is_known(operand) else False
        if is_known(operand):
            try:
                return constants.unary(type(node.op), operand)
            except NotKnown:
                return self.anonymous(node)
        return Unknown("({} {})".format(type(node.op).__name__, self.key(operand)))

    def _compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        if len(node.ops) != 1:
            keys = [self.key(left)] + [self.key(self.value(part)) for part in node.comparators]
            return Condition("compare " + " ".join(keys))
        kind = type(node.ops[0])
        right = self.value(node.comparators[0])
        if is_known(left) and is_known(right):
            try:
                return bool(constants.compare(kind, left, right))
            except NotKnown:
                return self.anonymous(node)
        if isinstance(left, Unknown) and constants.is_type(left.key):
            with contextlib.suppress(NotKnown):
                names = type_names(right)
                if all(map(constants.is_type, names)):
                    return (left.key in names) is (kind in (ast.Is, ast.Eq, ast.In))
        if right is None and kind in _SAMENESS and not isinstance(left, Unknown):
            return kind in (ast.IsNot, ast.NotEq)
        return Condition.comparison(kind, self.key(left), right, self.key(right))

    def _bool_op(self, node: ast.BoolOp) -> Any:
        stops = isinstance(node.op, ast.Or)
        value: Any = None
        for operand in node.values:
            value = self.value(operand)
            if isinstance(value, Unknown):
                if operand is node.values[-1]:
                    return value
                if self.decide(value, operand) is stops:
                    return value
            elif isinstance(value, (Tracked, Function, Class, Instance)):
                if stops:
                    return value
            elif bool(value) is stops:
                return value
        return value

    def _if_expression(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.truth(node.test) else node.orelse)

    def truth(self, node: ast.expr) -> bool:
        """Whether a condition holds on this path."""
        if isinstance(node, ast.BoolOp):
            stops = isinstance(node.op, ast.Or)
            return stops if any(self.truth(part) is stops for part in node.values) else not stops
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.truth(node.operand)
        value = self.value(node)
        if isinstance(value, Unknown):
            return self.decide(value, node)
        if self.testing and isinstance(node, ast.Name) and isinstance(value, bool):
            return self.decisions.decide(
                Condition("switch {}@{}".format(node.id, self.frame.serial)),
                node,
                usual=value,
                is_switch=True,
            )
        if isinstance(value, (Tracked, Function, Class, Instance, Subscript, EnumName, Fails)):
            return True
        return bool(value)

    def decide(self, value: Unknown, node: ast.expr) -> bool:
        """Which way the path goes at a condition that cannot be known."""
        return self.decisions.decide(Condition.of(value), node)

    # text

    def _joined(self, node: ast.JoinedStr) -> Any:
        parts: List[str] = []
        for part in node.values:
            value = self.value(part)
            if not isinstance(value, str):
                return self.anonymous(node)
            parts.append(value)
        return "".join(parts)

    def _formatted(self, node: ast.FormattedValue) -> Any:
        value = self.value(node.value)
        if node.format_spec is not None or not is_known(value):
            return self.anonymous(node)
        try:
            convert = _CONVERSIONS.get(node.conversion, format)
            return constants.bounded(convert(value))
        except (TypeError, ValueError, NotKnown):
            return self.anonymous(node)

    def _call(self, node: ast.Call) -> Any:
        return self.call(node)

    def call(self, node: ast.Call) -> Any:
        """The value of a call."""
        raise NotImplementedError


_EVALUATE: Dict[type, Callable[[Any, Any], Any]] = {
    ast.Name: Evaluator._name,
    ast.Attribute: Evaluator._attribute,
    ast.Subscript: Evaluator._subscript,
    ast.Call: Evaluator._call,
    ast.Tuple: Evaluator._sequence,
    ast.List: Evaluator._sequence,
    ast.Dict: Evaluator._dict,
    ast.BinOp: Evaluator._binary,
    ast.UnaryOp: Evaluator._unary,
    ast.Compare: Evaluator._compare,
    ast.BoolOp: Evaluator._bool_op,
    ast.IfExp: Evaluator._if_expression,
    ast.JoinedStr: Evaluator._joined,
    ast.FormattedValue: Evaluator._formatted,
    ast.Constant: lambda self, node: node.value,
}
if sys.version_info < (3, 8):
    _EVALUATE[ast.Num] = lambda self, node: node.n
    _EVALUATE[ast.Str] = lambda self, node: node.s
    _EVALUATE[ast.Bytes] = lambda self, node: node.s
    _EVALUATE[ast.NameConstant] = lambda self, node: node.value
