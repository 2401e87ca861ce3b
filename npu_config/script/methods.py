"""What is done to the objects that are followed: attributes, fields and items are set, methods
are called.

Source of what an NPURunConfig keeps: what the constructors keep, and under which names, is seen
from outside.
"""

import ast
import re
from typing import Any

from npu_config.catalogue.api import KEPT, PARAMETERS, READ_ONLY
from npu_config.core.diagnostics import Place, Severity
from npu_config.core.message import phrase
from npu_config.core.rule import declare
from npu_config.python_flow.source import spans
from npu_config.script import builders, objects
from npu_config.script.effects import UNFOLLOWED, attribute, call_special, pass_on
from npu_config.script.objects import (
    Argument,
    Block,
    BlockList,
    Constructed,
    Entry,
    Fails,
    Instance,
    Loaded,
    Message,
    NotKnown,
    ParameterMap,
    Record,
    Subscript,
    Tracked,
    Unknown,
    Use,
    clear,
    is_known,
    merge,
    put,
)
from npu_config.script.paths import Call, Run, anonymous, identity, resolved, used
from npu_config.text.words import near


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
    values = call.values
    keywords = call.named
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
    value = call.first
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
        value = call.first
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
    value = call.first
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


@declare(
    "NPU8114",
    Severity.WARNING,
    source=("npu_bridge.estimator.npu.npu_config",),
)
def attribute_without_effect() -> None:
    """An attribute of an NPURunConfig is set that nothing reads, or that cannot be set.

    NPURunConfig keeps most of its arguments under a name of its own, and NPUEstimator reads that:
    a value that is assigned to another name is never read.  What belongs to
    tf.estimator.RunConfig, such as ``model_dir``, cannot be assigned: Python raises
    AttributeError.

    Wrong:

        run_config = NPURunConfig()
        run_config.precision_mode = "allow_mix_precision"

    Right:

        run_config = NPURunConfig(precision_mode="allow_mix_precision")
    """


def set_attribute(
    run: Run, owner: Constructed, name: str, value: Any, node: ast.expr, place: Place
) -> None:
    """``owner.name = value``.

    Args:
        run: the path.
        owner: an NPURunConfig, or an object that it is given.
        name: the attribute.
        value: what it is set to.
        node: what is written for it.
        place: where the name is.
    """
    used(run, value, "attribute")
    kind, argument = owner.kind, name.lstrip("_")
    parameters, kept = PARAMETERS.get(kind, ()), KEPT.get(kind)
    if kept is None:
        owner.open = True
        if argument in parameters:
            run.script.unfollowed[node] = UNFOLLOWED
        return
    if argument in parameters and name.startswith("_") is not (argument in kept):
        owner.arguments[argument] = Argument(value, run.place(node), place, node)
        return
    severity, consequence = Severity.WARNING, "the value is ignored"
    close = None if argument in parameters else near(argument, parameters)
    if name in READ_ONLY and name in parameters:
        severity, consequence = Severity.ERROR, "Python raises AttributeError"
        message = phrase('"{}" of {} cannot be set', name, kind)
    elif close is None and argument not in parameters:
        return
    else:
        message = phrase('nothing reads the attribute "{}" of {}', name, kind)
    run.refuse(
        attribute_without_effect.diagnostic(
            message,
            place,
            severity=severity,
            consequence=consequence,
            help=phrase("give it to the constructor: {}({}=...)", kind, close or argument),
        )
    )


def set_by_name(run: Run, call: Call) -> Any:
    """``setattr(object, name, value)``."""
    if len(call.args) == 3:
        (owner, owner_node), (name, name_node), (value, node) = call.args
        is_named = isinstance(name, str)
        if isinstance(owner, Subscript):
            if is_named:
                target = ast.copy_location(
                    ast.Attribute(owner_node, name, ast.Store()), owner_node
                )
                set_field(run, owner, target, value, node)
            else:
                owner.block.open = True
            return None
        if isinstance(owner, Instance):
            if not call_special(run, owner, "__setattr__", [name, value]) and is_named:
                owner.attributes[name] = value
            return None
        if isinstance(owner, Constructed):
            if is_named:
                set_attribute(run, owner, name, value, node, run.place(name_node))
            else:
                owner.open = True
                run.script.unfollowed[call.node] = UNFOLLOWED
            return None
    pass_on(run, call)
    return None


def get_by_name(run: Run, call: Call) -> Any:
    """``getattr(object, "name")`` of an object that is followed."""
    values = call.values
    if values and isinstance(values[0], builders.Builder):
        values[0].open = True
        run.script.unfollowed[call.node] = UNFOLLOWED
    if len(values) > 1 and isinstance(values[0], Tracked) and isinstance(values[1], str):
        return attribute(run, values[0], values[1], call.node)
    pass_on(run, call)
    named = ", ".join(map(identity, values))
    return Unknown("getattr({})".format(named), parts=(Unknown("getattr"), *values))


_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=[^=]")
_READ = re.compile(
    r"\s*\.\s*[A-Za-z_]\w*\b(?!\s*\()(?!(?:\s*\.\s*\w+)*\s*(?:[-+*/%|&]|//|\*\*)?=(?!=))"
)
"""What follows the name of an object of which an attribute is read."""


def record(run: Run, call: Call) -> Any:
    """``SimpleNamespace(...)``, ``HParams(...)``, ``EasyDict({...})`` of a program.

    Unknown where it is given no name, or more is done with it than to read its attributes.
    """
    source = run.script.source
    name = _NAMED.match(source.lines[call.node.lineno - 1])
    if name is None or call.open or not all(isinstance(each, dict) for each in call.values):
        return anonymous(call.node)
    is_read = all(
        _READ.match(source.lines[number - 1], end)
        for number in source.mentions(name.group(1))
        for _, end in spans(name.group(1), source.lines[number - 1])
        if number != call.node.lineno
    )
    if not is_read or not run.script.is_program:
        return anonymous(call.node)
    return Record({**(call.first or {}), **call.named})


def set_past_the_class(run: Run, call: Call) -> Any:
    """``object.__setattr__(self, "name", value)``."""
    values = call.values
    if len(values) == 3 and isinstance(values[0], Instance) and isinstance(values[1], str):
        used(run, values[2], "attribute")
        values[0].attributes[values[1]] = values[2]
    return None
