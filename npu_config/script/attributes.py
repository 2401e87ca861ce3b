"""Attributes: of messages under construction, of objects of the script, of what is not known."""

import ast
from typing import Any

from npu_config.script.constants import is_known
from npu_config.script.names import Frame, Names
from npu_config.script.objects import (
    Block,
    BlockList,
    Class,
    Constructed,
    EnumName,
    Function,
    Instance,
    Message,
    ParameterMap,
    Tracked,
    Unknown,
    Use,
)
from npu_config.script.vocabulary import MESSAGES

_ENUMS = ("RewriterConfig", "OptimizerOptions", "Toggle", "MemOptType", "GlobalJitLevel")
_MESSAGE_FIELDS = {
    "graph_options": "ConfigProto",
    "rewrite_options": "GraphOptions",
    "optimizer_options": "GraphOptions",
    "custom_optimizers": "RewriterConfig",
}
_PART_OF = {
    "GraphOptions": "graph_options",
    "RewriterConfig": "rewrite_options",
    "OptimizerOptions": "optimizer_options",
}


class Attributes(Names):
    """Evaluates attributes."""

    def attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        """``owner.name``."""
        if isinstance(owner, Unknown):
            return self._unknown_attribute(owner, name, node)
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
            found.uses.append(Use("elsewhere", found.place, found.moment))
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
            unknown = Unknown("{}.{}".format(self.key(message), name))
            if name == "optimizers":
                message.fields[name] = unknown
            return unknown
        part = Message(
            kind, node, message.place, self.tick(), foreign=message.foreign, parent=message
        )
        message.fields[name] = part
        return part

    def instance_attribute(self, owner: Instance, name: str) -> Any:
        """``self.name``: what this path assigned, else what one method certainly assigns."""
        if name in owner.attributes:
            value = owner.attributes[name]
            if is_known(value) and self.script.times_set(name) > 1:
                return Unknown("{}.{}".format(owner.key, name))
            return value
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
        if len(stores) == 1 and stores[0].kind == "value" and self.script.times_set(name) == 1:
            return self.in_frame(Frame(cls.scope, cls.frame, cls.frame.serial), stores[0].node)
        return Unknown("{}.{}".format(cls.node.name, name))
