"""What assignments and method calls do to the objects that are followed."""

import ast
from typing import Any

from npu_config.script import builders, constants
from npu_config.script.constants import NotKnown, is_known
from npu_config.script.functions import start
from npu_config.script.objects import (
    Block,
    BlockList,
    Constructed,
    Entry,
    Fails,
    Function,
    Loaded,
    Message,
    ParameterMap,
    Subscript,
    Tracked,
    Unknown,
    Use,
)
from npu_config.script.state import Call, Run, anonymous

_DEPTH = 4
_READERS = frozenset(("print", "str", "repr", "type", "isinstance", "len", "id", "info", "pprint"))
_HARMLESS = frozenset((Unknown, str, bytes, bool, int, float, type(None)))
_LIBRARIES = (
    "tf",
    "tf1",
    "tensorflow",
    "keras",
    "K",
    "slim",
    "session",
    "npu_bridge",
    "estimator",
)


def set_field(
    run: Run, slot: Subscript, target: ast.Attribute, value: Any, node: ast.expr
) -> None:
    """``parameter_map[name].field = value``."""
    name_place = run.place(slot.node)
    place = run.place(node)
    if not isinstance(slot.name, str):
        slot.block.open = True
        return
    value = run.decisions.known(value)
    stored = constants.stored(value, target.attr) if is_known(value) else value
    if isinstance(stored, Fails):
        run.failures.append((node, stored, tuple(run.guards)))
        is_text = target.attr == "s" and isinstance(value, str)
        stored = value if is_text else Unknown(stored.reason)
    source = run.script.source
    end = run.place(target)
    field_place = end._replace(line=end.end_line, column=(end.end_column or 1) - len(target.attr))
    put(
        run,
        slot.block,
        Entry(
            slot.name,
            stored,
            target.attr,
            place,
            source.inside(name_place, slot.name),
            field_place,
            run.tick(),
            path=tuple(run.guards),
            function=run.function,
            raw=value,
            above=run.decisions.above(value),
        ),
    )


def put(run: Run, block: Block, entry: Entry) -> None:
    """Enter an assignment; one that stood there before is overwritten."""
    old = block.entries.get(entry.name)
    if old is not None and old.place != entry.place:
        block.shadowed.append(old._replace(shadowed_by=entry.name_place))
    block.entries[entry.name] = entry


def set_message_field(run: Run, message: Message, name: str, value: Any, node: ast.expr) -> None:
    """``message.name = value``; a part of the message itself, which protobuf refuses, is none."""
    own = isinstance(value, Message) and value.root is message.root
    message.fields[name] = Unknown(name) if own else value
    message.assigned[name] = Use("assigned", run.place(node), run.tick(), tuple(run.guards))


def pass_on(run: Run, call: Call, name: str = "") -> None:
    """Objects go to a function that is not known: it may use and change them."""
    for value, _ in [*call.args, *call.keywords.values()]:
        if value.__class__ not in _HARMLESS:
            give_away(run, value, name or call.name)


def give_away(run: Run, value: Any, name: str, depth: int = 0) -> None:
    """An object is passed to a function that is not known."""
    if value.__class__ in _HARMLESS:
        return
    if isinstance(value, (ParameterMap, Subscript)):
        value = value.block
    if isinstance(value, BlockList):
        value = value.message
    if isinstance(value, Function):
        start(run, value)
    elif isinstance(value, (list, tuple, dict)):
        if depth < _DEPTH:
            for item in value.values() if isinstance(value, dict) else value:
                give_away(run, item, name, depth + 1)
    elif isinstance(value, Tracked) and name.rpartition(".")[2] not in _READERS:
        value.uses.append(Use(name, value.place, run.tick()))
        if isinstance(value, builders.Builder):
            value.has_writer.append(True)
        if name.partition(".")[0] not in _LIBRARIES:
            if isinstance(value, Block):
                value.open = True
            elif isinstance(value, Message):
                for block in value.root.blocks:
                    block.open = True


def call_method(run: Run, owner: Any, call: Call) -> Any:
    """``owner.name(...)`` for an owner that is not an object of the script itself."""
    name = call.name
    if isinstance(owner, BlockList):
        return _call_blocks(run, owner, call)
    if isinstance(owner, (Subscript, ParameterMap)):
        return _call_slot(run, owner, call)
    if isinstance(owner, Message):
        return _call_message(run, owner, call)
    if isinstance(owner, builders.Builder):
        return builders.call_method(run, owner, call)
    if isinstance(owner, Loaded) and name == "to_config_proto":
        return builders.to_config_proto(run, owner, call)
    values = [value for value, _ in call.args]
    keywords = {key: value for key, (value, _) in call.keywords.items()}
    if is_known(owner) and not call.open and is_known(values) and is_known(keywords):
        try:
            return constants.method(owner, name, values, keywords)
        except NotKnown:
            return anonymous(call.node)
    if isinstance(owner, dict) and name in ("items", "values", "keys") and not values:
        return (
            [list(pair) for pair in owner.items()]
            if name == "items"
            else list(getattr(owner, name)())
        )
    if isinstance(owner, dict) and name == "get" and values and is_known(values[0]):
        return owner.get(values[0], values[1] if len(values) > 1 else None)
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
        return block
    if call.name in ("extend", "append", "CopyFrom", "MergeFrom"):
        owner.message.foreign = True
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
    if isinstance(owner, ParameterMap) and call.name in ("pop", "clear"):
        delete(run, owner, value if call.name == "pop" else None)
        return anonymous(call.node)
    if call.name not in _READING:
        owner.block.open = True
    return anonymous(call.node)


_READING = ("HasField", "WhichOneof", "get", "items", "keys", "SerializeToString")


def _call_message(run: Run, owner: Message, call: Call) -> Any:
    if call.name in ("CopyFrom", "MergeFrom"):
        value = call.args[0][0] if call.args else None
        if isinstance(value, Message):
            _merge(owner, value)
        else:
            owner.root.foreign = owner.foreign = True
    elif call.name in ("ParseFromString", "MergeFromString", "Clear", "ClearField"):
        if call.name.startswith("Clear"):
            owner.root.blocks.clear()
        owner.root.foreign = owner.foreign = True
    else:
        owner.root.uses.append(Use(call.name, owner.place, run.tick()))
    return anonymous(call.node)


def _merge(owner: Message, value: Message) -> None:
    """``value`` becomes a part of ``owner``."""
    owner.fields.update(value.fields)
    owner.assigned.update(value.assigned)
    owner.root.blocks += [b for b in value.blocks if b not in owner.root.blocks]
    for block in value.blocks:
        block.message = owner
    owner.foreign = owner.foreign or value.foreign
