"""Expressions: what they give on the path that is being followed."""

import ast
import re
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from npu_config.diagnostics import Place
from npu_config.readers.script import constants
from npu_config.readers.script.constants import NotKnown, is_known
from npu_config.readers.script.objects import (
    Block,
    BlockList,
    Class,
    Constructed,
    EnumName,
    Fails,
    Function,
    Instance,
    Message,
    ParameterMap,
    Slot,
    Tracked,
    Unknown,
)
from npu_config.readers.script.paths import Condition, Decisions
from npu_config.readers.script.scopes import Scope, Store
from npu_config.readers.script.script import Script
from npu_config.readers.script.vocabulary import MESSAGES

_ENUMS = ("RewriterConfig", "OptimizerOptions", "Toggle", "MemOptType", "GlobalJitLevel")
_SAMENESS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
_MESSAGE_FIELDS = {
    "graph_options": "ConfigProto",
    "rewrite_options": "GraphOptions",
    "optimizer_options": "GraphOptions",
    "custom_optimizers": "RewriterConfig",
}


class Frame:
    """The variables of one run of a module or function."""

    __slots__ = ("parent", "scope", "serial", "variables")

    def __init__(self, scope: Scope, parent: Optional["Frame"], serial: str) -> None:
        self.scope = scope
        self.parent = parent
        self.serial = serial
        self.variables: Dict[str, Any] = {}


class Again(Exception):  # noqa: N818 - no error, but a request
    """More statements matter than was known; the path has to be followed anew."""


class Call(NamedTuple):
    """The evaluated arguments of a call; ``open`` is True with ``*args`` or ``**kwargs``."""

    node: ast.Call
    name: str
    args: List[Tuple[Any, ast.expr]]
    keywords: Dict[str, Tuple[Any, ast.expr]]
    open: bool

    def get(self, keyword: str, position: int) -> Optional[Tuple[Any, ast.expr]]:
        """An argument by name or position, None when it is not given."""
        if keyword in self.keywords:
            return self.keywords[keyword]
        return self.args[position] if position < len(self.args) else None


class Evaluator:
    """Evaluates expressions in frames; ``run`` of statements is added by a subclass.

    Args:
        script: the script.
        decisions: which way to go where a condition cannot be known.
    """

    def __init__(self, script: Script, decisions: Decisions) -> None:
        self.script = script
        self.decisions = decisions
        self.frames: Dict[int, int] = {}
        self.module = self.new_frame(script.module, None)
        self.frame = self.module
        self.moment = 0
        self.testing = False
        self.wanting = False
        self.adopted: Dict[str, Any] = {}
        self.messages: List[Message] = []
        self.blocks: List[Block] = []
        self.constructed: List[Constructed] = []

    # frames and names

    def new_frame(self, scope: Scope, parent: Optional[Frame]) -> Frame:
        """A frame with a serial that is the same in every run that comes the same way."""
        line = getattr(scope.node, "lineno", 0)
        count = self.frames[line] = self.frames.get(line, 0) + 1
        return Frame(scope, parent, str(line) if count == 1 else "{}.{}".format(line, count))

    def tick(self) -> int:
        """A moment later than every one before."""
        self.moment += 1
        return self.moment

    def place(self, node: ast.AST) -> Place:
        """Where a node stands."""
        return self.script.source.place(node)

    def lookup(self, name: str) -> Any:
        """What a name is bound to where the path has come to."""
        frame: Optional[Frame] = self.frame
        while frame is not None:
            if name in frame.variables:
                return frame.variables[name]
            if frame is not self.module and name in frame.scope.global_names:
                frame = frame.parent
                continue
            stores = frame.scope.stores.get(name)
            if stores:
                value = self._lazy(frame, name, stores)
                if value is not None:
                    return value
            frame = frame.parent
        return "__main__" if name == "__name__" else Unknown(name)

    def _lazy(self, frame: Frame, name: str, stores: List[Store]) -> Any:
        """A binding whose statement was skipped, when there is but one; else unknown."""
        unknown = Unknown("{}@{}".format(name, frame.serial))
        if frame is self.module and name in self.script.global_names:
            return unknown
        if len(stores) == 1:
            kind, node, text = stores[0]
            if kind == "import":
                frame.variables[name] = Unknown(text)
                return frame.variables[name]
            if kind == "definition":
                frame.variables[name] = self.definition(frame, node)
                return frame.variables[name]
        kinds = {store.kind for store in stores}
        if kinds == {"import"}:
            return Unknown(stores[-1].text)
        if len(stores) > 1:
            if self.wanting and kinds & {"value", "item"} and name not in frame.scope.watched:
                frame.scope.watch(name, True)
                raise Again
            return unknown
        if kinds - {"value"}:
            return unknown
        frame.variables[name] = unknown
        value = self.in_frame(frame, stores[0].node)
        if isinstance(value, (list, dict)) and self._is_changed(name):
            value = unknown
        frame.variables[name] = value
        return value

    def _is_changed(self, name: str) -> bool:
        """True when a list or dict may be changed after it was made."""
        source = self.script.source
        pattern = re.compile(
            r"(?<!\w){}\s*(?:\.\s*(?:append|extend|insert|update|pop|setdefault|clear|remove)\b"
            r"|\[[^\]]*\]\s*[-+*/|&]?=(?!=))".format(re.escape(name))
        )
        return any(pattern.search(source.lines[line - 1]) for line in source.mentions(name))

    def in_frame(self, frame: Frame, node: ast.AST) -> Any:
        """The value of an expression in another frame."""
        outer, self.frame = self.frame, frame
        try:
            return self.value(node)
        finally:
            self.frame = outer

    def definition(self, frame: Frame, node: ast.AST) -> Any:
        """The function or class that a definition makes."""
        if isinstance(node, ast.ClassDef):
            return Class(node, frame.scope.child(node), frame)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return Function(node, frame.scope.child(node), frame)
        return Unknown("definition")

    # values

    def value(self, node: ast.AST) -> Any:
        """The value of an expression."""
        evaluate = _EVALUATE.get(node.__class__)
        if evaluate is None:
            return self.anonymous(node)
        return evaluate(self, node)

    def anonymous(self, node: ast.AST) -> Unknown:
        """An unknown value that equals no other."""
        return Unknown("?{}:{}".format(getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))

    def key(self, value: Any) -> str:
        """What identifies a value; the same in every run that comes the same way."""
        if isinstance(value, Unknown):
            return value.key
        if isinstance(value, (list, tuple)):
            return "[{}]".format(", ".join([self.key(item) for item in value[:8]]))
        if isinstance(value, dict):
            return "{{{}}}".format(", ".join([self.key(item) for item in list(value)[:8]]))
        if isinstance(value, Tracked):
            return "object {}".format(value.moment)
        if isinstance(value, Instance):
            return value.key
        return repr(value) if is_known(value) else type(value).__name__

    def _name(self, node: ast.Name) -> Any:
        return self.lookup(node.id)

    def _attribute(self, node: ast.Attribute) -> Any:
        return self.attribute(self.value(node.value), node.attr, node)

    def attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        """``owner.name``."""
        if isinstance(owner, Message):
            return self.field(owner, name, node)
        if isinstance(owner, Block):
            if name == "parameter_map":
                return ParameterMap(owner)
            return owner.name if name == "name" and owner.names else self.anonymous(node)
        if isinstance(owner, Instance):
            return self.instance_attribute(owner, name)
        if isinstance(owner, Constructed):
            given = owner.arguments.get(name.lstrip("_"))
            return given.value if given else self.anonymous(node)
        if isinstance(owner, Class):
            return self._class_attribute(owner, name)
        if isinstance(owner, Unknown):
            return self._unknown_attribute(owner, name, node)
        return self.anonymous(node)

    def _unknown_attribute(self, owner: Unknown, name: str, node: ast.AST) -> Any:
        kind = _MESSAGE_FIELDS.get(name)
        if kind is not None:
            return self.field(self.adopt(owner, kind, node), name, node)
        if name == "parameter_map":
            return ParameterMap(self.adopt_block(owner, node))
        if name.isupper() and owner.key.rpartition(".")[2] in _ENUMS:
            return EnumName(name)
        return Unknown("{}.{}".format(owner.key, name), name)

    def adopt(self, value: Unknown, kind: str, node: ast.AST) -> Message:
        """The message that an unknown value must be, always the same for the same value."""
        found = self.adopted.get(value.key)
        if not isinstance(found, Message):
            found = Message(kind, node, self.place(node), self.tick(), foreign=True)
            found.uses.append(_elsewhere(found))
            self.adopted[value.key] = found
            self.messages.append(found)
        return found

    def adopt_block(self, value: Unknown, node: ast.AST) -> Block:
        """The entry of custom_optimizers that an unknown value must be."""
        found = self.adopted.get(value.key)
        if not isinstance(found, Block):
            found = Block(None, node, self.place(node), self.tick())
            found.open = True
            found.names.append((Unknown("name"), found.place))
            self.adopted[value.key] = found
            self.blocks.append(found)
        return found

    def field(self, message: Message, name: str, node: ast.AST) -> Any:
        """A field of a message; a part that is not there yet is made."""
        if name == "custom_optimizers":
            return BlockList(message)
        if name in message.fields:
            return message.fields[name]
        kind = MESSAGES.get(message.kind, {}).get(name)
        if kind is None and name in _MESSAGE_FIELDS:
            kind = {v: k for k, v in _PART_OF.items()}.get(name)
        if kind is None:
            return Unknown("{}.{}".format(self.key(message), name))
        part = Message(
            kind, node, message.place, self.tick(), foreign=message.foreign, parent=message
        )
        message.fields[name] = part
        return part

    def instance_attribute(self, owner: Instance, name: str) -> Any:
        """``self.name``: what this path assigned, else what one method certainly assigns."""
        if name in owner.attributes:
            return owner.attributes[name]
        found = self._class_attribute(owner.cls, name)
        if isinstance(found, Function):
            bound = Function(found.node, found.scope, found.frame, found.owner)
            bound.receiver = owner
            return bound
        unknown = Unknown("{}.{}".format(owner.key, name))
        if not isinstance(found, Unknown):
            return found
        stores = self.script.attribute_stores(owner.cls.scope).get(name, [])
        if len(stores) != 1 or stores[0].value is None:
            return unknown
        owner.attributes[name] = unknown
        serial = "{}.{}".format(owner.key, name)
        frame = Frame(stores[0].scope, owner.cls.frame, serial)
        frame.variables[stores[0].receiver] = owner
        for parameter in stores[0].parameters:
            frame.variables[parameter] = Unknown("{}@{}".format(parameter, frame.serial))
        value = self.in_frame(frame, stores[0].value)
        if isinstance(value, Tracked):
            value = unknown
        owner.attributes[name] = value
        return value

    def _class_attribute(self, cls: Class, name: str) -> Any:
        stores = cls.scope.stores.get(name, [])
        if len(stores) == 1 and stores[0].kind == "definition":
            found = self.definition(Frame(cls.scope, cls.frame, cls.frame.serial), stores[0].node)
            if isinstance(found, Function):
                found.frame = cls.frame
                found.owner = cls
            return found
        if len(stores) == 1 and stores[0].kind == "value":
            return self.in_frame(Frame(cls.scope, cls.frame, cls.frame.serial), stores[0].node)
        return Unknown("{}.{}".format(cls.node.name, name))

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        inner: ast.AST = node.slice
        if inner.__class__.__name__ == "Index":
            inner = inner.value  # type: ignore[attr-defined]
        if isinstance(inner, ast.Slice):
            return self.anonymous(node)
        index = self.value(inner)
        if isinstance(owner, ParameterMap):
            return Slot(owner.block, index, inner)  # type: ignore[arg-type]
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
        if isinstance(value, (Tracked, Function, Class, Instance, Slot, EnumName, Fails)):
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


_CONVERSIONS: Dict[int, Callable[[Any], str]] = {115: str, 114: repr, 97: ascii}
_PART_OF = {
    "GraphOptions": "graph_options",
    "RewriterConfig": "rewrite_options",
    "OptimizerOptions": "optimizer_options",
}


def _elsewhere(message: Message) -> Any:
    from npu_config.readers.script.objects import Use

    return Use("elsewhere", message.place, message.moment)


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
