"""The helpers of npu_init and of precision_tool: what they do to a configuration."""

import ast
from typing import Any, Optional, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.precision_tool import ACTIONS, ALWAYS, named_in
from npu_config.script.effects import put
from npu_config.script.names import Call, Names
from npu_config.script.objects import (
    Block,
    Constructed,
    Entry,
    EnumName,
    Message,
    Unknown,
    Use,
)
from npu_config.script.vocabulary import HOLDERS, OPTIMIZER


def _held(run: Names, call: Call) -> Message:
    """The ConfigProto that a helper of npu_bridge is given, or the one that it makes."""
    keyword, position = HOLDERS[call.name]
    given = call.get(keyword, position)
    value = None if given is None else given[0]
    if isinstance(value, Message):
        return value
    if isinstance(value, Unknown):
        return run.adopt(value, "ConfigProto", call.node)
    message = Message("ConfigProto", call.node, run.place(call.node), run.tick())
    message.path = tuple(run.guards)
    message.foreign = call.open
    run.messages.append(message)
    return message


def npu_edits(run: Names, message: Message, call: Call) -> None:
    """What the helpers of npu_init do to a ConfigProto."""
    graph = run.field(message, "graph_options", call.node)
    if not isinstance(graph, Message):
        message.foreign = True
        return
    rewrite = run.field(graph, "rewrite_options", call.node)
    optimizer = run.field(graph, "optimizer_options", call.node)
    if not any(block.name == OPTIMIZER for block in message.blocks) and not message.foreign:
        block = Block(message, call.node, run.place(call.node), run.tick())
        block.path = tuple(run.guards)
        block.built_in = True
        block.names.append((OPTIMIZER, block.place))
        message.blocks.append(block)
        run.blocks.append(block)
        if isinstance(rewrite, Message):
            rewrite.fields["memory_optimization"] = EnumName("MANUAL")
    if isinstance(rewrite, Message):
        rewrite.fields["remapping"] = EnumName("OFF")
    if isinstance(optimizer, Message):
        optimizer.fields["global_jit_level"] = EnumName("OFF")
    message.fields["allow_soft_placement"] = True
    message.edited = True


def npu_config_proto(run: Names, call: Call) -> Message:
    """``npu_config_proto(config_proto)``: the same ConfigProto, edited."""
    message = _held(run, call)
    npu_edits(run, message, call)
    return message


def npu_session(run: Names, call: Call) -> Any:
    """Helpers that open a session with an edited ConfigProto."""
    message = _held(run, call)
    npu_edits(run, message, call)
    message.uses.append(Use("session", run.place(call.node), run.tick()))
    run.calls.append((call, run.tick(), tuple(run.guards)))
    return run.anonymous(call.node)


def npu_run_config_init(run: Names, call: Call) -> Any:
    """``npu_run_config_init(run_config)``: its session configuration is edited."""
    given = call.get("run_config", 0)
    value = None if given is None else given[0]
    if isinstance(value, Constructed):
        config = value.arguments.get("session_config")
        if config is not None and isinstance(config.value, Message):
            npu_edits(run, config.value, call)
            config.value.uses.append(Use(call.name, run.place(call.node), run.tick()))
        value.uses.append(Use(call.name, run.place(call.node), run.tick()))
        return value
    run.pass_on(call)
    return run.anonymous(call.node)


def npu_graph_options(run: Names, call: Call) -> Any:
    """``npu_graph_options(graph_options)``: XLA is switched off."""
    given = call.get("graph_options", 0)
    value = None if given is None else given[0]
    if not isinstance(value, Message):
        value = Message("GraphOptions", call.node, run.place(call.node), run.tick())
        run.messages.append(value)
    optimizer = run.field(value, "optimizer_options", call.node)
    if isinstance(optimizer, Message):
        optimizer.fields["global_jit_level"] = EnumName("OFF")
    return value


def session_dump_config(run: Names, call: Call) -> Message:
    """``session_dump_config(session_config, action)`` of precision_tool."""
    message = _held(run, call)
    blocks = [block for block in message.blocks if block.name == OPTIMIZER]
    if blocks:
        block = blocks[-1]
    else:
        block = Block(message, call.node, run.place(call.node), run.tick())
        block.path = tuple(run.guards)
        block.names.append((OPTIMIZER, block.place))
        block.open = message.foreign
        message.blocks.append(block)
        run.blocks.append(block)
    _put_at(run, block, call, "use_off_line", True)
    _apply_action(run, block, call, call.get("action", 1))
    graph = run.field(message, "graph_options", call.node)
    rewrite = (
        run.field(graph, "rewrite_options", call.node) if isinstance(graph, Message) else None
    )
    if isinstance(rewrite, Message):
        rewrite.fields["remapping"] = EnumName("OFF")
    return message


def update_custom_op(run: Names, call: Call) -> Any:
    """``update_custom_op(custom_op, action)`` of precision_tool."""
    given = call.get("custom_op", 0)
    value = None if given is None else given[0]
    if isinstance(value, Block):
        _apply_action(run, value, call, call.get("action", 1))
        return value
    run.pass_on(call)
    return run.anonymous(call.node)


def _apply_action(
    run: Names, block: Block, call: Call, action: Optional[Tuple[Any, ast.expr]]
) -> None:
    """What precision_tool sets for an action."""
    text = None if action is None else action[0]
    for option, value in ALWAYS.items():
        _put_at(run, block, call, option, value)
    if not isinstance(text, str):
        block.open = True
        return
    for name in named_in(text):
        for option, value in ACTIONS[name].items():
            _put_at(run, block, call, option, value)


def _put_at(run: Names, block: Block, call: Call, name: str, value: Any) -> None:
    place = run.place(call.node)
    wire = OPTIONS[name].kind.wire
    if value is None:
        value = Unknown("precision_tool")
    put(run, block, Entry(name, value, wire, place, place, place, run.tick(), built_in=True))
