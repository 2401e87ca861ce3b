"""ConfigProtos that others become: copies, and text, JSON and bytes that a script holds or reads.

The options are those that the text sets, told at the line of the literal that names each.
"""

import ast
import copy
import json
import re
from typing import Any, Iterator, Optional

from npu_config.core.diagnostics import Place
from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.settings import UNKNOWN, Settings
from npu_config.core.target import NO_TARGET
from npu_config.python_flow.scopes import literal_text
from npu_config.script.builders import file_read
from npu_config.script.effects import part, pass_on
from npu_config.script.objects import (
    Block,
    Constructed,
    Entry,
    EnumName,
    Message,
    Unknown,
    Use,
    clear,
    is_known,
    merge,
    put,
)
from npu_config.script.paths import Call, Run, anonymous, result_of


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
        made = Constructed(value.kind, call.node, run.place(call.node), run.tick())
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
        message = Message(value.kind, node, parent.place, run.tick(), value.foreign, parent)
    message.edited = value.edited
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
        clear(target)
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
            "what {} reads here is known at run time only; its options are not checked", call.name
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
        "the text is not checked: it is no {} ({})",
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
                *(name, setting.value, setting.wire or "", place, place, place, run.tick()),
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
        found = [n for n in self._literals(run) if literal_text(n) == text]
        if len(found) == 1:
            self.node = found[0]
        self.place = run.place(self.node)

    @staticmethod
    def _literals(run: Run) -> Iterator[ast.AST]:
        yield from run.script.nodes("parameter_map")

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
