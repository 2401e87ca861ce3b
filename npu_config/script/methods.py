"""What is done to the objects that are followed: attributes, fields and items are set, methods are
called, and ConfigProtos become others: copies, and text, JSON and bytes that a script holds or
reads, whose options are told at the line of the literal that names each.

Source of what an NPURunConfig keeps: what the constructors keep, and under which names, is seen
from outside.
"""

import ast
import contextlib
import copy
import json
import re
from typing import Any, Callable, Dict, List, Optional, Tuple

from npu_config.catalogue.api import KEPT, PARAMETERS, READ_ONLY
from npu_config.core.diagnostics import Place, Severity, declare
from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.settings import UNKNOWN, Settings
from npu_config.core.target import NO_TARGET
from npu_config.python_flow.scopes import literal_text
from npu_config.python_flow.source import spans
from npu_config.script import builders, objects
from npu_config.script.builders import file_read
from npu_config.script.effects import UNFOLLOWED, attribute, call_special, part, pass_on
from npu_config.script.objects import (
    Argument,
    Block,
    BlockList,
    Constructed,
    Entry,
    EnumName,
    Fails,
    Instance,
    Loaded,
    Message,
    ParameterMap,
    Record,
    Subscript,
    Tracked,
    Unknown,
    Use,
    is_known,
    merge,
    put,
)
from npu_config.script.paths import (
    Call,
    Frame,
    Run,
    anonymous,
    identity,
    resolved,
    result_of,
    used,
)
from npu_config.text.words import near


def set_field(
    run: Run, slot: Subscript, target: ast.Attribute, value: Any, node: ast.expr
) -> None:
    """``parameter_map[name].field = value``; the field is empty where it is not known."""
    name_place = run.place(slot.node)
    place = run.place(node)
    name = resolved(run, slot.name)
    if not isinstance(name, str):
        slot.block.open = True
        run.script.unfollowed[slot.node] = phrase(
            "the names of the options set here are known only at run time; these options "
            "are not checked"
        )
        return
    value = builders.taken(run, value, target.attr == "b")
    source = run.script.source
    stored = objects.stored(value, target.attr) if is_known(value) else value
    if isinstance(stored, Fails):
        run.failures.append((node, stored, tuple(run.guards)))
        is_text = target.attr == "s" and isinstance(value, str)
        stored = value if is_text else Unknown(stored.reason)
    put(
        slot.block,
        Entry(
            name,
            stored,
            target.attr or None,
            place,
            source.inside(name_place, name),
            source.place_of_name(target),
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
    followed = _CALLED.get(owner.__class__)
    if followed is not None:
        return followed(run, owner, call)
    if isinstance(owner, Loaded) and name == "evolve" and owner.ours:
        return builders.evolve_loaded(run, owner, call)
    if isinstance(owner, Loaded) and name == "to_config_proto":
        return builders.to_config_proto(run, owner, call)
    values = call.values
    keywords = call.named
    if name in objects.CHANGING.get(owner.__class__, ()):
        return _change(run, owner, call)
    if is_known(owner) and not call.open and is_known(values) and is_known(keywords):
        return objects.method(owner, name, values, keywords)
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
    pass_on(run, call)
    return anonymous(call.node)


def _change(run: Run, owner: Any, call: Call) -> Any:
    """A method that changes a list or dict; what is not known of it is forgotten."""
    is_known_how = is_known(call.values) or call.name in ("append", "extend", "insert", "update")
    if call.name == "sort" and not is_known(owner):
        is_known_how = False
    if is_known_how and not run.decisions.loops and not call.open:
        with contextlib.suppress(objects.NotKnown):
            return objects.change(owner, call.name, call.values, call.named)
    frame: Optional[Frame] = run.frame
    while frame is not None:
        for name, value in frame.variables.items():
            if value is owner:
                frame.variables[name] = anonymous(call.node)
        frame = frame.parent
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
    elif call.name == "clear":
        remove(run, owner, None)
    elif call.name == "remove":
        remove(run, owner, (call.first,))
    elif call.name == "pop":
        remove(run, owner, (call.first if call.args else -1,))
    return anonymous(call.node)


def remove(run: Run, owner: BlockList, which: Optional[Tuple[Any]]) -> None:
    """Entries of custom_optimizers are deleted: one, by its number or itself, or None for all."""
    root = owner.message.root
    if which is None:
        run.drop(list(root.blocks))
        return
    one, count = which[0], len(root.blocks)
    if not root.foreign and type(one) is int and -count <= one < count:
        one = root.blocks[one]
    if isinstance(one, Block) and one in root.blocks:
        run.drop([one])
        return
    root.foreign = owner.message.foreign = True
    for block in root.blocks:
        block.open = True


def delete(run: Run, block: Block, key: Any = None) -> None:
    """``del`` of an entry of a parameter_map, or all are cleared; not for certain in a loop."""
    if isinstance(key, str):
        block.entries.pop(key, None)
    else:
        block.entries.clear()
    block.open = block.open or not isinstance(key, (str, type(None))) or run.decisions.loops > 0


def _call_map(run: Run, owner: ParameterMap, call: Call) -> Any:
    value = call.first
    if call.name == "get_or_create" and call.args:
        return Subscript(owner.block, *call.args[0])
    if call.name in ("pop", "clear", "Clear"):
        delete(run, owner.block, value if call.name == "pop" else None)
    elif call.name == "MergeFrom" and isinstance(value, ParameterMap):
        _merge_blocks(owner.block, value.block)
    elif call.name not in _READING:
        owner.block.open = True
        run.script.unfollowed[call.node] = UNFOLLOWED
    return anonymous(call.node)


def _merge_blocks(owner: Block, value: Block) -> None:
    owner.open = owner.open or value.open
    owner.entries.update(value.entries)


def _call_slot(run: Run, owner: Subscript, call: Call) -> Any:
    if call.name in ("CopyFrom", "MergeFrom"):
        target = ast.copy_location(ast.Attribute(owner.node, "", ast.Store()), owner.node)
        for target.attr, value, node in _content(call.first) or [("", anonymous(call.node), None)]:
            set_field(run, owner, target, value, node or owner.node)
    elif call.name not in _READING:
        owner.block.open = True
        run.script.unfollowed[call.node] = UNFOLLOWED
    return anonymous(call.node)


def _content(value: Any) -> List[Tuple[str, Any, Optional[ast.expr]]]:
    """The fields of an AttrValue with what they hold, as far as that is known."""
    if isinstance(value, Constructed):
        return [(name, each.value, each.node) for name, each in value.arguments.items()]
    entries = value.block.entries.values() if isinstance(value, Subscript) else ()
    return [(each.wire or "", each.raw, None) for each in entries if each.name == value.name]


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
        _clear(run, owner, call)
    else:
        owner.root.uses.append(Use(call.name, owner.place, run.tick()))
        if call.name == "SerializeToString":
            return Unknown(anonymous(call.node).key, parts=(owner,))
    return anonymous(call.node)


def _call_block(run: Run, owner: Block, call: Call) -> Any:
    value = call.first
    if call.name in ("CopyFrom", "MergeFrom") and isinstance(value, Block):
        owner.names += value.names[-1:]
        _merge_blocks(owner, value)
    elif call.name in ("CopyFrom", "MergeFrom"):
        owner.open = True
        run.script.unfollowed[call.node] = UNFOLLOWED
    elif call.name in ("Clear", "ClearField"):
        _clear(run, owner, call)
    return anonymous(call.node)


_WITH_BLOCKS = ("graph_options", "rewrite_options", "custom_optimizers")
"""The fields from a ConfigProto to the entries."""


def _clear(run: Run, owner: Any, call: Call) -> None:
    """``Clear()``, ``ClearField("name")`` and what ``ParseFromString`` does first."""
    name = call.first if call.name == "ClearField" else None
    if call.name == "ClearField" and not isinstance(name, str):
        blocks = [owner] if isinstance(owner, Block) else owner.root.blocks
        for block in blocks:
            block.open = True
        if isinstance(owner, Message):
            owner.root.foreign = owner.foreign = True
    elif isinstance(owner, Block):
        if name in (None, "parameter_map"):
            delete(run, owner)
        if name in (None, "name"):
            owner.names.clear()
    else:
        for each in list(owner.fields) if name is None else [name]:
            owner.fields.pop(each, None)
            owner.assigned.pop(each, None)
        if name in _WITH_BLOCKS or (name is None and owner.kind != "OptimizerOptions"):
            run.drop(list(owner.root.blocks))
        if name is None and owner.kind == "ConfigProto":
            owner.foreign = False


@declare(
    "NPU8114",
    Severity.WARNING,
    source=("npu_bridge.estimator.npu.npu_config",),
)
def attribute_without_effect() -> None:
    """A script sets an attribute of an NPURunConfig that is ignored or cannot be set.

    NPURunConfig stores most of its arguments under other attribute names, and NPUEstimator reads
    those: a value that is assigned to any other attribute is never read.  An attribute of
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
        message = phrase('the attribute "{}" of {} is never read', name, kind)
    run.refuse(
        attribute_without_effect.diagnostic(
            message,
            place,
            severity=severity,
            consequence=consequence,
            help=phrase("pass it to the constructor: {}({}=...)", kind, close or argument),
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


_CALLED: Dict[type, Callable[[Run, Any, Call], Any]] = {
    BlockList: _call_blocks,
    Subscript: _call_slot,
    ParameterMap: _call_map,
    Message: _call_message,
    Block: _call_block,
    builders.Builder: builders.call_method,
}

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


def copied(run: Run, call: Call) -> Any:
    """``copy.deepcopy(config)`` and ``copy.copy``: another one, with the same options so far."""
    value = call.first
    if is_known(value):
        return copy.deepcopy(value)
    if isinstance(value, Message):
        value.uses.append(Use("copy", value.place, run.tick()))
        return _copy(run, value, call.node, None)
    if isinstance(value, Constructed):
        value.uses.append(Use("copy", value.place, run.tick()))
        made = Constructed(call.node, run.place(call.node), run.tick(), value.kind)
        made.path, made.open = tuple(run.guards), value.open
        made.arguments.update(value.arguments)
        run.constructed.append(made)
        return made
    pass_on(run, call)
    return result_of(Unknown("copy"), "copy", [each for each, _ in call.args])


def _copy(run: Run, value: Message, node: ast.AST, parent: Optional[Message]) -> Message:
    if parent is None:
        message = run.new_message(value.kind, node, value.foreign)
    else:
        message = Message(node, parent.place, run.tick(), value.kind, value.foreign, parent)
    message.assigned.update(value.assigned)
    for name, item in value.fields.items():
        is_part = isinstance(item, Message)
        message.fields[name] = _copy(run, item, node, message) if is_part else item
    for old in value.blocks:
        block = run.new_block(message, node)
        block.names, block.open = list(old.names), old.open
        block.built_in, block.entries = old.built_in, dict(old.entries)
    return message


_AROUND = {
    "GraphOptions": ("graph_options",),
    "RewriterConfig": ("graph_options", "rewrite_options"),
    "Block": ("graph_options", "rewrite_options", "custom_optimizers"),
}
"""The fields that are written around the text of a part of a ConfigProto."""


def merge_text(run: Run, call: Call) -> Any:
    """``text_format.Merge(text, message)`` and ``Parse``: the message, with what the text sets."""
    text, message = call.value("text", 0), call.value("message", 1)
    if not isinstance(message, (Message, Block)):
        return anonymous(call.node)
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    if isinstance(text, str):
        _merge(run, message, text, call)
    else:
        read_at_run_time(run, message, text, call, "pbtxt")
    return message


def merge_json(run: Run, call: Call) -> Any:
    """``json_format.Parse(text, message)`` and ``ParseDict``: the message."""
    value = call.value("js_dict" if call.name == "ParseDict" else "text", 0)
    message = call.value("message", 1)
    if not isinstance(message, (Message, Block)):
        return anonymous(call.node)
    if is_known(value) and isinstance(value, (str, bytes, dict)):
        _read(run, message, json.dumps(value) if isinstance(value, dict) else value, call)
    else:
        read_at_run_time(run, message, None, call)
    return message


def read_bytes(run: Run, target: Any, call: Call) -> Any:
    """``ParseFromString``, ``MergeFromString`` and ``FromString`` of a message."""
    if call.name == "ParseFromString":
        _clear(run, target, call)
    value = call.value("serialized", 0)
    of = value.parts[0] if isinstance(value, Unknown) and value.parts else None
    if isinstance(value, bytes):
        _read(run, target, value, call, is_json=False)
    elif isinstance(of, Message) and isinstance(target, Message):
        merge(target, of)
    else:
        read_at_run_time(run, target, value, call, "pb")
    return target if call.name == "FromString" else anonymous(call.node)


def from_string(kind: str, run: Run, call: Call) -> Any:
    """``ConfigProto.FromString(data)``, and that of a part of it."""
    return read_bytes(run, run.new_message(kind, call.node), call)


def read_at_run_time(
    run: Run, target: Any, value: Any, call: Call, kind: Optional[str] = None
) -> None:
    """A message that is read from what is not known here; a file that is named is checked."""
    if isinstance(target, Block):
        target.open = True
    else:
        target.root.foreign = target.foreign = True
    is_whole = isinstance(target, Message) and target.kind == "ConfigProto"
    name = file_read(run, value) if is_whole else None
    if name is None:
        run.script.unfollowed[call.node] = phrase(
            "the text read by {} is known only at run time; its options are not checked", call.name
        )
        return
    run.load(name, call.node, True, NO_TARGET, kind).is_part = True


def _read(run: Run, target: Any, data: Any, call: Call, is_json: bool = True) -> None:
    """What JSON or bytes set, by way of the text of the same message."""
    from npu_config.proto import parse_bytes, to_text
    from npu_config.proto.faults import Fault, ProtoSyntaxError
    from npu_config.proto.schema import session_message

    kind = "RewriterConfig.CustomGraphOptimizer" if isinstance(target, Block) else target.kind
    message = session_message(kind)
    try:
        if is_json:
            from google.protobuf import json_format

            try:
                message = json_format.Parse(data, message())
            except (json_format.Error, ValueError, RecursionError) as error:
                raise ProtoSyntaxError([Fault(str(error))]) from error
        else:
            message = parse_bytes(data, message)
    except ProtoSyntaxError as error:
        _refused(run, kind, call, error)
    else:
        _merge(run, target, to_text(message), call)


def _refused(run: Run, kind: str, call: Call, error: Any) -> None:
    run.script.unfollowed[call.node] = phrase(
        "the text is not checked: it is not a {} ({})",
        "ConfigProto" if kind == "Block" else kind,
        error.faults[0].reason,
    )


def _merge(run: Run, target: Any, text: str, call: Call) -> None:
    from npu_config.proto import decode, parse_text
    from npu_config.proto.faults import ProtoSyntaxError

    kind = "Block" if isinstance(target, Block) else target.kind
    around = _AROUND.get(kind, ())
    head = "".join(name + "{" for name in around)
    if kind == "Block" and NPU_OPTIMIZER not in text:
        head += 'name:"' + NPU_OPTIMIZER + '" '
    try:
        config = parse_text(head + text + "}" * len(around))
    except ProtoSyntaxError as error:
        _refused(run, kind, call, error)
        return
    settings = decode(config)
    where = _Literal(run, text, call)
    block: Optional[Block] = target if isinstance(target, Block) else None
    for name in (settings.session.optimizers if settings.session else ()) if not block else ():
        made = run.new_block(target, where.node)
        made.names.append((name, where.place))
        block = made if name == NPU_OPTIMIZER else block
    if block is not None:
        for name, setting in settings.entries.items():
            place = where.of(name)
            entry = Entry(
                *(name, setting.value, setting.wire, place, place, place, run.tick()),
                path=tuple(run.guards),
                function=run.function,
                raw=setting.value,
            )
            put(block, entry)
    if isinstance(target, Message):
        _surroundings(run, target, settings, call)


def _surroundings(run: Run, target: Message, settings: Settings, call: Call) -> None:
    """What a text sets around the options."""
    session = settings.session
    graph = part(run, target, "graph_options", call.node) if session is not None else None
    if session is None or graph is None:
        return
    for owner, name, value in (
        ("rewrite_options", "remapping", session.remapping),
        ("rewrite_options", "memory_optimization", session.memory_optimization),
        ("optimizer_options", "global_jit_level", session.global_jit_level),
    ):
        inner = part(run, graph, owner, call.node)
        if inner is not None and value is not UNKNOWN and not str(value).startswith("DEFAULT"):
            inner.fields[name] = EnumName(str(value))
    if session.allow_soft_placement is True:
        target.fields["allow_soft_placement"] = True


class _Literal:
    """Where a text stands in the script, and what it names."""

    def __init__(self, run: Run, text: str, call: Call) -> None:
        self._source = run.script.source
        given = call.get("text", 0)
        self.node: ast.AST = call.node if given is None else given[1]
        found = [n for n in run.script.nodes("parameter_map") if literal_text(n) == text]
        if len(found) == 1:
            self.node = found[0]
        self.place = run.place(self.node)

    def of(self, name: str) -> Place:
        """The place of the name of an option; else that of the whole."""
        first, last = self.place.line or 1, self.place.end_line or self.place.line or 1
        word = re.compile(r"(?<=[\"']){}(?=\\?[\"'])".format(re.escape(name)))
        for line in range(first, last + 1):
            found = word.search(self._source.lines[line - 1])
            if found:
                column, end = found.start() + 1, found.end() + 1
                return Place(self.place.path, line, column, line, end)
        return self.place
