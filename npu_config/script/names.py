"""Names and attributes: what they give on the path that is being followed."""

import ast
import re
from typing import Any, List, Optional

from npu_config.script.builders import Builder
from npu_config.script.constants import is_known
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
from npu_config.script.scopes import Store, Watch
from npu_config.script.source import ScriptSource
from npu_config.script.state import Again, Frame, Run, anonymous, evaluate_in, identity
from npu_config.script.vocabulary import ENUMS, KIND_OF, OWNER_OF


def lookup(run: Run, name: str, line: int = 0) -> Any:
    """What a name is bound to where the path has come to.

    Args:
        run: the path.
        name: the name.
        line: where it is read; a function that binds it in later lines only has no value for it.
    """
    frame: Optional[Frame] = run.frame
    while frame is not None:
        if name in frame.variables:
            value = frame.variables[name]
            if isinstance(value, Unknown) or name not in run.script.global_names:
                return value
            return _local(name, frame) if is_known(value) and value is not None else value
        if frame is not run.module and name in frame.global_names:
            frame = frame.parent
            continue
        stores = frame.stores.get(name)
        if stores and frame is run.frame and frame is not run.module and _are_later(stores, line):
            return _local(name, frame)
        if stores:
            value = _bound_unseen(run, frame, name, stores)
            if value is not None:
                return value
        frame = frame.parent
    return "__main__" if name == "__name__" else run.script.reference(name)


def is_fixed(run: Run, name: str, value: Any) -> bool:
    """True when a name has its value from one import or fixed value, wherever a path goes."""
    if name in run.script.global_names:
        return False
    frame = run.frame
    while frame.parent is not None:
        if name in frame.variables or name in frame.stores or name in frame.scope.parameters:
            return False
        frame = frame.parent
    stores = frame.stores.get(name, ())
    if len(stores) != 1:
        return False
    kind, node, _ = stores[0]
    return kind == "import" or (kind == "value" and run.fixed.get(node) is value)


def _are_later(stores: List[Store], line: int) -> bool:
    """True when everything that binds a name comes after a line."""
    return all(0 < line < getattr(store.node, "lineno", 0) for store in stores)


def _local(name: str, frame: Frame) -> Unknown:
    return Unknown("{}@{}".format(name, frame.serial), (name,))


def _bound_unseen(run: Run, frame: Frame, name: str, stores: List[Store]) -> Any:
    """A binding whose statement was skipped, when there is but one; else unknown."""
    if name in run.script.global_names:
        return _local(name, frame)
    if all(store.kind == "import" for store in stores):
        found = run.script.reference(stores[-1].text)
        if len(stores) == 1:
            frame.variables[name] = found
        return found
    if len(stores) > 1:
        kinds = {store.kind for store in stores} if run.wanting else set()
        if kinds & {"value", "item"} and name not in frame.scope.watched:
            frame.scope.watch(name, Watch.ALL)
            raise Again
        return _local(name, frame)
    kind, node, _ = stores[0]
    if kind == "definition":
        frame.variables[name] = definition(frame, node)
        return frame.variables[name]
    unknown = _local(name, frame)
    if kind != "value":
        return unknown
    frame.variables[name] = unknown
    value = evaluate_in(run, frame, node)
    if isinstance(value, (list, dict)) and _is_changed(run.script.source, name):
        value = unknown
    frame.variables[name] = value
    return value


def _is_changed(source: ScriptSource, name: str) -> bool:
    """True when a list or dict may be changed after it was made."""
    pattern = re.compile(
        r"(?<!\w){}\s*(?:\.\s*(?:append|extend|insert|update|pop|setdefault|clear|remove)\b"
        r"|\[[^\[\]]*\]\s*[-+*/|&]?=(?!=))".format(re.escape(name))
    )
    return any(pattern.search(source.lines[line - 1]) for line in source.mentions(name))


def definition(frame: Frame, node: ast.AST) -> Any:
    """The function or class that a definition makes."""
    if isinstance(node, ast.ClassDef):
        return Class(node, frame.scope.child(node), frame)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return Function(node, frame.scope.child(node), frame)
    return Unknown("definition")


_FIXED = (Unknown, EnumName)


def attribute_of(run: Run, owner: Any, node: ast.Attribute) -> Any:
    """``owner.name``, as an expression says it that is not known to be fixed."""
    found = attribute(run, owner, node.attr, node)
    if node.value in run.fixed and found.__class__ in _FIXED:
        run.fixed[node] = found
    return found


def attribute(run: Run, owner: Any, name: str, node: ast.AST) -> Any:
    """``owner.name``."""
    if isinstance(owner, Unknown):
        return _of_unknown(run, owner, name, node)
    if isinstance(owner, Message):
        return field(run, owner, name, node)
    if isinstance(owner, Block):
        if name == "parameter_map":
            return ParameterMap(owner)
        return owner.name if name == "name" and owner.names else anonymous(node)
    if isinstance(owner, Instance):
        return _of_instance(run, owner, name)
    if isinstance(owner, Constructed):
        given = owner.arguments.get(name.lstrip("_"))
        return given.value if given else anonymous(node)
    if isinstance(owner, Class):
        return of_class(run, owner, name)
    if name == "side_files" and isinstance(owner, Builder):
        owner.has_writer.append(True)
    return anonymous(node)


def member(owner: Unknown, name: str) -> Unknown:
    """An attribute of an unknown value, or of one that is known by its key alone."""
    path = (*(owner.path or ("",)), name)
    return Unknown("{}.{}".format(owner.key, name), path, (owner,), flag=name)


def _of_unknown(run: Run, owner: Unknown, name: str, node: ast.AST) -> Any:
    kind = OWNER_OF.get(name)
    if kind is not None:
        return field(run, adopt(run, owner, kind, node), name, node)
    if name == "parameter_map":
        return ParameterMap(adopt_block(run, owner, node))
    if name.isupper() and owner.name in ENUMS:
        return EnumName(name)
    return member(owner, name)


def adopt(run: Run, value: Unknown, kind: str, node: ast.AST) -> Message:
    """The message that an unknown value must be, always the same for the same value."""
    found = run.adopted.get(value.key)
    if not isinstance(found, Message):
        found = run.adopted[value.key] = run.new_message(kind, node, foreign=True)
        found.path = ()
        found.uses.append(Use("elsewhere", found.place, found.moment))
    return found


def adopt_block(run: Run, value: Unknown, node: ast.AST) -> Block:
    """The entry of custom_optimizers that an unknown value must be."""
    found = run.adopted.get(value.key)
    if not isinstance(found, Block):
        found = run.adopted[value.key] = run.new_block(None, node)
        found.path = ()
        found.open = True
        found.names.append((Unknown("name"), found.place))
    return found


def field(run: Run, message: Message, name: str, node: ast.AST) -> Any:
    """A field of a message; a part that is not there yet is made."""
    if name == "custom_optimizers":
        return BlockList(message)
    if name in message.fields:
        return message.fields[name]
    kind = KIND_OF.get(name)
    if kind is None:
        unknown = Unknown("{}.{}".format(identity(message), name))
        if name == "optimizers":
            message.fields[name] = unknown
        return unknown
    part = Message(kind, node, message.place, run.tick(), foreign=message.foreign, parent=message)
    message.fields[name] = part
    return part


def part(run: Run, message: Any, name: str, node: ast.AST) -> Optional[Message]:
    """A field of a message that is a message itself; None where it is certainly none."""
    found = field(run, message, name, node) if isinstance(message, Message) else None
    return found if isinstance(found, Message) else None


def _of_instance(run: Run, owner: Instance, name: str) -> Any:
    """``self.name``: what this path assigned, else what one method certainly assigns."""
    unknown = Unknown("{}.{}".format(owner.key, name), ("", name))
    if name in owner.attributes:
        value = owner.attributes[name]
        return unknown if is_known(value) and run.script.times_set(name) > 1 else value
    found = of_class(run, owner.cls, name)
    if isinstance(found, Function):
        bound = Function(found.node, found.scope, found.frame, found.owner)
        bound.receiver = owner
        return bound
    if not isinstance(found, Unknown):
        return found
    stores = run.script.attribute_stores(owner.cls.scope).get(name, [])
    if len(stores) != 1 or stores[0].value is None:
        return unknown
    owner.attributes[name] = unknown
    frame = run.new_frame(stores[0].scope, owner.cls.frame, unknown.key)
    frame.variables[stores[0].receiver] = owner
    for parameter in stores[0].parameters:
        frame.variables[parameter] = Unknown("{}@{}".format(parameter, frame.serial), (parameter,))
    value = evaluate_in(run, frame, stores[0].value)
    owner.attributes[name] = unknown if isinstance(value, Tracked) else value
    return owner.attributes[name]


def of_class(run: Run, cls: Class, name: str) -> Any:
    """``Class.name``."""
    stores = cls.scope.stores.get(name, [])
    if len(stores) == 1:
        frame = run.new_frame(cls.scope, cls.frame, cls.frame.serial)
        if stores[0].kind == "definition":
            found = definition(frame, stores[0].node)
            if isinstance(found, Function):
                found.frame = cls.frame
                found.owner = cls
            return found
        if stores[0].kind == "value" and run.script.times_set(name) == 1:
            return evaluate_in(run, frame, stores[0].node)
    return Unknown("{}.{}".format(cls.node.name, name), (cls.node.name, name))
