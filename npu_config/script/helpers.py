"""The helpers of npu_init and of precision_tool: what they do to a configuration."""

from typing import Any

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.precision_tool import ACTIONS, ALWAYS, named_in
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.script.attributes import adopt, part
from npu_config.script.effects import pass_on, put
from npu_config.script.objects import Block, Constructed, Entry, EnumName, Message, Unknown, Use
from npu_config.script.state import Call, Run, anonymous
from npu_config.script.vocabulary import HOLDERS


def _held(run: Run, call: Call) -> Message:
    """The ConfigProto that a helper of npu_bridge is given, or the one that it makes."""
    value = call.value(*HOLDERS[call.name])
    if isinstance(value, Message):
        return value
    if isinstance(value, Unknown):
        return adopt(run, value, "ConfigProto", call.node)
    return run.new_message("ConfigProto", call.node, call.open)


def _npu_entry(run: Run, message: Message, call: Call) -> Block:
    block = run.new_block(message, call.node)
    block.names.append((NPU_OPTIMIZER, block.place))
    return block


def npu_edits(run: Run, message: Message, call: Call) -> None:
    """What the helpers of npu_init do to a ConfigProto."""
    graph = part(run, message, "graph_options", call.node)
    if graph is None:
        message.foreign = True
        return
    rewrite = part(run, graph, "rewrite_options", call.node)
    optimizer = part(run, graph, "optimizer_options", call.node)
    if not any(block.name == NPU_OPTIMIZER for block in message.blocks) and not message.foreign:
        _npu_entry(run, message, call).built_in = True
        if rewrite is not None:
            rewrite.fields["memory_optimization"] = EnumName("MANUAL")
    if rewrite is not None:
        rewrite.fields["remapping"] = EnumName("OFF")
    if optimizer is not None:
        optimizer.fields["global_jit_level"] = EnumName("OFF")
    message.fields["allow_soft_placement"] = True
    message.edited = True


def npu_config_proto(run: Run, call: Call) -> Message:
    """``npu_config_proto(config_proto)``: the same ConfigProto, edited."""
    message = _held(run, call)
    npu_edits(run, message, call)
    return message


def npu_session(run: Run, call: Call) -> Any:
    """Helpers that open a session with an edited ConfigProto."""
    message = npu_config_proto(run, call)
    message.uses.append(Use("session", run.place(call.node), run.tick()))
    run.note(call)
    return anonymous(call.node)


def npu_run_config_init(run: Run, call: Call) -> Any:
    """``npu_run_config_init(run_config)``: its session configuration is edited."""
    value = call.value("run_config", 0)
    if isinstance(value, Constructed):
        config = value.arguments.get("session_config")
        if config is not None and isinstance(config.value, Message):
            npu_edits(run, config.value, call)
            config.value.uses.append(Use(call.name, run.place(call.node), run.tick()))
        value.uses.append(Use(call.name, run.place(call.node), run.tick()))
        return value
    pass_on(run, call)
    return anonymous(call.node)


def npu_graph_options(run: Run, call: Call) -> Any:
    """``npu_graph_options(graph_options)``: XLA is switched off."""
    value = call.value("graph_options", 0)
    if not isinstance(value, Message):
        value = run.new_message("GraphOptions", call.node)
        value.path = ()
    optimizer = part(run, value, "optimizer_options", call.node)
    if optimizer is not None:
        optimizer.fields["global_jit_level"] = EnumName("OFF")
    return value


def session_dump_config(run: Run, call: Call) -> Message:
    """``session_dump_config(session_config, action)`` of precision_tool."""
    message = _held(run, call)
    blocks = [block for block in message.blocks if block.name == NPU_OPTIMIZER]
    if blocks:
        block = blocks[-1]
    else:
        block = _npu_entry(run, message, call)
        block.open = message.foreign
    _put_at(run, block, call, "use_off_line", True)
    _apply_action(run, block, call)
    graph = part(run, message, "graph_options", call.node)
    rewrite = part(run, graph, "rewrite_options", call.node)
    if rewrite is not None:
        rewrite.fields["remapping"] = EnumName("OFF")
    return message


def update_custom_op(run: Run, call: Call) -> Any:
    """``update_custom_op(custom_op, action)`` of precision_tool."""
    value = call.value("custom_op", 0)
    if isinstance(value, Block):
        _apply_action(run, value, call)
        return value
    pass_on(run, call)
    return anonymous(call.node)


def _apply_action(run: Run, block: Block, call: Call) -> None:
    """What precision_tool sets for an action."""
    text = call.value("action", 1)
    for option, value in ALWAYS.items():
        _put_at(run, block, call, option, value)
    if not isinstance(text, str):
        block.open = True
        return
    for name in named_in(text):
        for option, value in ACTIONS[name].items():
            _put_at(run, block, call, option, value)


def _put_at(run: Run, block: Block, call: Call, name: str, value: Any) -> None:
    place = run.place(call.node)
    wire = OPTIONS[name].wire
    if value is None:
        value = Unknown("precision_tool")
    put(run, block, Entry(name, value, wire, place, place, place, run.tick(), built_in=True))
