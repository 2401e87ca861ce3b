"""What is done to the objects that are followed: their fields are set, their methods called."""

import ast
from typing import Any

from npu_config.core.diagnostics import Place
from npu_config.core.message import phrase
from npu_config.script import builders, objects
from npu_config.script.effects import UNFOLLOWED, pass_on
from npu_config.script.objects import (
    Block,
    BlockList,
    Constructed,
    Entry,
    Fails,
    Loaded,
    Message,
    NotKnown,
    ParameterMap,
    Subscript,
    Unknown,
    Use,
    clear,
    is_known,
    merge,
    put,
)
from npu_config.script.paths import Call, Run, anonymous, resolved


def set_field(
    run: Run, slot: Subscript, target: ast.Attribute, value: Any, node: ast.expr
) -> None:
    """``parameter_map[name].field = value``."""
    name_place = run.place(slot.node)
    place = run.place(node)
    name = resolved(run, slot.name)
    if not isinstance(name, str):
        slot.block.open = True
        run.script.unfollowed[slot.node] = phrase(
            "the names of the options that are set here are known at run time only; they are not "
            "checked"
        )
        return
    value = builders.taken(run, value, target.attr == "b")
    stored = objects.stored(value, target.attr) if is_known(value) else value
    if isinstance(stored, Fails):
        run.failures.append((node, stored, tuple(run.guards)))
        is_text = target.attr == "s" and isinstance(value, str)
        stored = value if is_text else Unknown(stored.reason)
    source = run.script.source
    path, _, _, line, column = run.place(target)
    field_place = Place(path, line, (column or 1) - len(target.attr), line, column)
    put(
        slot.block,
        Entry(
            name,
            stored,
            target.attr,
            place,
            source.inside(name_place, name),
            field_place,
            run.tick(),
            path=tuple(run.guards),
            function=run.function,
            raw=value,
            above=run.decisions.above(value),
        ),
    )


def set_message_field(run: Run, message: Message, name: str, value: Any, node: ast.expr) -> None:
    """``message.name = value``; a part of the message itself, which protobuf refuses, is none."""
    own = isinstance(value, Message) and value.root is message.root
    message.fields[name] = Unknown(name) if own else value
    message.assigned[name] = Use("assigned", run.place(node), run.tick(), tuple(run.guards))


def call_method(run: Run, owner: Any, call: Call) -> Any:
    """``owner.name(...)`` for an owner that is not an object of the script itself."""
    name = call.name
    if isinstance(owner, BlockList):
        return _call_blocks(run, owner, call)
    if isinstance(owner, (Subscript, ParameterMap)):
        return _call_slot(run, owner, call)
    if isinstance(owner, Message):
        return _call_message(run, owner, call)
    if isinstance(owner, Block):
        return _call_block(run, owner, call)
    if isinstance(owner, builders.Builder):
        return builders.call_method(run, owner, call)
    if isinstance(owner, Loaded) and name == "evolve" and owner.ours:
        return builders.evolve_loaded(run, owner, call)
    if isinstance(owner, Loaded) and name == "to_config_proto":
        return builders.to_config_proto(run, owner, call)
    values = [value for value, _ in call.args]
    keywords = {key: value for key, (value, _) in call.keywords.items()}
    if is_known(owner) and not call.open and is_known(values) and is_known(keywords):
        try:
            return objects.method(owner, name, values, keywords)
        except NotKnown:
            return anonymous(call.node)
    if isinstance(owner, dict) and name in ("items", "values", "keys") and not values:
        return (
            [list(pair) for pair in owner.items()]
            if name == "items"
            else list(getattr(owner, name)())
        )
    if isinstance(owner, dict) and name == "get" and values:
        if is_known(values[0]):
            return owner.get(values[0], values[1] if len(values) > 1 else None)
        return Unknown(anonymous(call.node).key, parts=(owner, *values))
    if isinstance(owner, list) and name == "append" and values:
        owner.append(values[0])
        return None
    pass_on(run, call)
    return anonymous(call.node)


def _call_blocks(run: Run, owner: BlockList, call: Call) -> Any:
    if call.name == "add":
        block = run.new_block(owner.message, call.node)
        name = call.keywords.get("name")
        if name is not None:
            block.names.append((name[0], run.place(name[1])))
        if call.open or set(call.keywords) - {"name"}:
            block.open = True
            run.script.unfollowed[call.node] = UNFOLLOWED
        return block
    if call.name in ("extend", "append", "CopyFrom", "MergeFrom"):
        owner.message.foreign = True
        run.script.unfollowed[call.node] = UNFOLLOWED
    return anonymous(call.node)


def delete(run: Run, owner: Any, key: Any) -> None:
    """``del`` of an entry of a parameter_map, or of entries of custom_optimizers."""
    if isinstance(owner, BlockList):
        owner.message.root.blocks.clear()
    elif isinstance(key, str):
        owner.block.entries.pop(key, None)
    else:
        owner.block.entries.clear()
        owner.block.open = True


def _call_slot(run: Run, owner: Any, call: Call) -> Any:
    value = call.args[0][0] if call.args else None
    if (
        isinstance(owner, Subscript)
        and isinstance(value, Constructed)
        and value.kind == "AttrValue"
    ):
        for wire, argument in value.arguments.items():
            target = ast.Attribute(value=owner.node, attr=wire, ctx=ast.Store())
            target = ast.copy_location(target, owner.node)
            set_field(run, owner, target, argument.value, argument.node or owner.node)
        return None
    if isinstance(owner, ParameterMap) and call.name == "get_or_create" and call.args:
        return Subscript(owner.block, *call.args[0])
    if isinstance(owner, ParameterMap) and call.name in ("pop", "clear"):
        delete(run, owner, value if call.name == "pop" else None)
        return anonymous(call.node)
    if call.name not in _READING:
        owner.block.open = True
        run.script.unfollowed[call.node] = UNFOLLOWED
    return anonymous(call.node)


_READING = ("HasField", "WhichOneof", "get", "items", "keys", "SerializeToString")


def _call_message(run: Run, owner: Message, call: Call) -> Any:
    if call.name in ("CopyFrom", "MergeFrom"):
        value = call.args[0][0] if call.args else None
        if isinstance(value, Message):
            merge(owner, value)
        else:
            owner.root.foreign = owner.foreign = True
            if not (isinstance(value, Unknown) and value.path):
                run.script.unfollowed[call.node] = UNFOLLOWED
    elif call.name in ("Clear", "ClearField"):
        clear(owner)
        owner.root.foreign = owner.foreign = True
    else:
        owner.root.uses.append(Use(call.name, owner.place, run.tick()))
        if call.name == "SerializeToString":
            return Unknown(anonymous(call.node).key, parts=(owner,))
    return anonymous(call.node)


def _call_block(run: Run, owner: Block, call: Call) -> Any:
    value = call.args[0][0] if call.args else None
    if call.name in ("CopyFrom", "MergeFrom") and isinstance(value, Block):
        owner.names += value.names[-1:]
        owner.open = owner.open or value.open
        owner.entries.update(value.entries)
    elif call.name in ("CopyFrom", "MergeFrom"):
        owner.open = True
        run.script.unfollowed[call.node] = UNFOLLOWED
    elif call.name.startswith("Clear"):
        clear(owner)
    return anonymous(call.node)
