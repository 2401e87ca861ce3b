"""What the calls and assignments that matter do to the objects that are followed."""

import ast
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple

from npu_config.readers.script import builders, constants
from npu_config.readers.script.constants import NotKnown, is_known
from npu_config.readers.script.objects import (
    Argument,
    Block,
    BlockList,
    Constructed,
    Entry,
    EnumName,
    Fails,
    Function,
    Message,
    ParameterMap,
    Slot,
    Tracked,
    Unknown,
    Use,
)
from npu_config.readers.script.vocabulary import (
    HOLDERS,
    OPTIMIZER,
    RUN_CONFIGS,
    SESSIONS,
    SIGNATURES,
)

if TYPE_CHECKING:
    from npu_config.readers.script.evaluator import Call
    from npu_config.readers.script.interpreter import Run

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


# assignments


def set_field(run: "Run", slot: Slot, target: ast.Attribute, value: Any, node: ast.expr) -> None:
    """``parameter_map[name].field = value``."""
    name_place = run.place(slot.node)
    place = run.place(node)
    if not isinstance(slot.name, str):
        slot.block.open = True
        return
    if isinstance(value, Fails):
        run.failures.append((node, value.reason, tuple(run.guards)))
        stored: Any = Unknown(value.reason)
    elif is_known(value):
        stored = constants.stored(value, target.attr)
        if isinstance(stored, Fails):
            run.failures.append((node, stored.reason, tuple(run.guards)))
            stored = Unknown(stored.reason)
            if target.attr == "s" and isinstance(value, str):
                stored = value
    else:
        stored = value
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
        ),
    )


def put(run: "Run", block: Block, entry: Entry) -> None:
    """Enter an assignment; one that stood there before is overwritten."""
    old = block.entries.get(entry.name)
    if old is not None and old.place != entry.place:
        block.shadowed.append(old._replace(shadowed_by=entry.name_place))
    block.entries[entry.name] = entry


def set_message_field(run: "Run", message: Message, name: str, value: Any, node: ast.expr) -> None:
    """``message.name = value``."""
    message.fields[name] = value
    message.assigned[name] = Use("assigned", run.place(node), run.tick(), tuple(run.guards))


def give_away(run: "Run", value: Any, name: str) -> None:
    """An object is passed to a function that is not known."""
    if value.__class__ in _HARMLESS:
        return
    if isinstance(value, (ParameterMap, Slot)):
        value = value.block
    if isinstance(value, BlockList):
        value = value.message
    if isinstance(value, Function):
        run.start(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            give_away(run, item, name)
    elif isinstance(value, dict):
        for item in value.values():
            give_away(run, item, name)
    elif isinstance(value, Tracked) and name.rpartition(".")[2] not in _READERS:
        value.uses.append(Use(name, value.place, run.tick()))
        if name.partition(".")[0] not in _LIBRARIES:
            if isinstance(value, Block):
                value.open = True
            elif isinstance(value, Message):
                for block in value.root.blocks:
                    block.open = True


# methods of objects that are followed


def call_method(run: "Run", owner: Any, call: "Call") -> Any:
    """``owner.name(...)`` for an owner that is no object of the script itself."""
    name = call.name
    if isinstance(owner, BlockList):
        return _call_blocks(run, owner, call)
    if isinstance(owner, (Slot, ParameterMap)):
        return _call_slot(run, owner, call)
    if isinstance(owner, Message):
        return _call_message(run, owner, call)
    if isinstance(owner, builders.Builder):
        return builders.call_method(run, owner, call)
    values = [value for value, _ in call.args]
    keywords = {key: value for key, (value, _) in call.keywords.items()}
    if is_known(owner) and not call.open and is_known(values) and is_known(keywords):
        try:
            return constants.method(owner, name, values, keywords)
        except NotKnown:
            return run.anonymous(call.node)
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
    run.pass_on(call)
    return run.anonymous(call.node)


def _call_blocks(run: "Run", owner: BlockList, call: "Call") -> Any:
    if call.name == "add":
        block = Block(owner.message, call.node, run.place(call.node), run.tick())
        block.path = tuple(run.guards)
        run.blocks.append(block)
        owner.message.root.blocks.append(block)
        name = call.keywords.get("name")
        if name is not None:
            block.names.append((name[0], run.place(name[1])))
        if call.open or set(call.keywords) - {"name"}:
            block.open = True
        return block
    if call.name in ("extend", "append", "CopyFrom", "MergeFrom"):
        owner.message.foreign = True
    return run.anonymous(call.node)


def _call_slot(run: "Run", owner: Any, call: "Call") -> Any:
    value = call.args[0][0] if call.args else None
    if isinstance(owner, Slot) and isinstance(value, Constructed) and value.kind == "AttrValue":
        for wire, argument in value.arguments.items():
            target = ast.Attribute(value=owner.node, attr=wire, ctx=ast.Store())
            target = ast.copy_location(target, owner.node)
            set_field(run, owner, target, argument.value, argument.node or owner.node)
        return None
    if call.name not in ("HasField", "WhichOneof", "get", "items", "keys", "SerializeToString"):
        owner.block.open = True
    return run.anonymous(call.node)


def _call_message(run: "Run", owner: Message, call: "Call") -> Any:
    if call.name in ("CopyFrom", "MergeFrom"):
        value = call.args[0][0] if call.args else None
        if isinstance(value, Message):
            _merge(owner, value)
        else:
            owner.root.foreign = owner.foreign = True
    elif call.name in ("ParseFromString", "MergeFromString", "Clear"):
        owner.root.foreign = owner.foreign = True
    else:
        owner.root.uses.append(Use(call.name, owner.place, run.tick()))
    return run.anonymous(call.node)


def _merge(owner: Message, value: Message) -> None:
    """``value`` becomes a part of ``owner``."""
    owner.fields.update(value.fields)
    owner.assigned.update(value.assigned)
    owner.root.blocks += [b for b in value.blocks if b not in owner.root.blocks]
    for block in value.blocks:
        block.message = owner
    owner.foreign = owner.foreign or value.foreign


# calls by name


def _message(run: "Run", call: "Call") -> Message:
    message = Message(call.name, call.node, run.place(call.node), run.tick())
    message.path = tuple(run.guards)
    message.foreign = call.open or bool(call.args)
    run.messages.append(message)
    for name, (value, node) in call.keywords.items():
        set_message_field(run, message, name, value, node)
        if isinstance(value, Message):
            value.parent = message
            message.blocks += value.blocks
            if value.foreign:
                message.foreign = True
    return message


def _constructed(run: "Run", call: "Call") -> Constructed:
    place = run.place(call.node)
    made = Constructed(call.name, call.node, place, run.tick())
    made.path = tuple(run.guards)
    made.open = call.open
    names = SIGNATURES.get(call.name, ())
    for name, (value, node) in zip(names, call.args):
        made.arguments[name] = Argument(value, run.place(node), node=node)
    for name, (value, node) in call.keywords.items():
        value_place = run.place(node)
        made.arguments[name] = Argument(
            value, value_place, run.script.source.keyword_place(name, value_place), node
        )
    run.constructed.append(made)
    for name, argument in made.arguments.items():
        if isinstance(argument.value, Tracked):
            argument.value.uses.append(Use(call.name, place, run.tick()))
        elif call.name not in RUN_CONFIGS or name != "session_config":
            give_away(run, argument.value, "npu_bridge." + call.name)
    return made


def _session(run: "Run", call: "Call") -> Any:
    given = call.get("config", SESSIONS[call.name])
    if given is not None:
        value = given[0]
        if isinstance(value, Message):
            value.uses.append(Use("session", run.place(call.node), run.tick()))
        else:
            give_away(run, value, "tf.Session")
    run.calls.append((call, run.tick(), tuple(run.guards)))
    for value, _ in call.args:
        if isinstance(value, Function):
            run.start(value)
    return run.anonymous(call.node)


def _held(run: "Run", call: "Call") -> Message:
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


def npu_edits(run: "Run", message: Message, call: "Call") -> None:
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


def _npu_config_proto(run: "Run", call: "Call") -> Message:
    message = _held(run, call)
    npu_edits(run, message, call)
    return message


def _npu_session(run: "Run", call: "Call") -> Any:
    message = _held(run, call)
    npu_edits(run, message, call)
    message.uses.append(Use("session", run.place(call.node), run.tick()))
    run.calls.append((call, run.tick(), tuple(run.guards)))
    return run.anonymous(call.node)


def _npu_run_config_init(run: "Run", call: "Call") -> Any:
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


def _npu_graph_options(run: "Run", call: "Call") -> Any:
    given = call.get("graph_options", 0)
    value = None if given is None else given[0]
    if not isinstance(value, Message):
        value = _message(run, call._replace(name="GraphOptions", args=[], keywords={}))
    optimizer = run.field(value, "optimizer_options", call.node)
    if isinstance(optimizer, Message):
        optimizer.fields["global_jit_level"] = EnumName("OFF")
    return value


def _session_dump_config(run: "Run", call: "Call") -> Message:
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
    _put_at(run, block, call, "use_off_line", "b", True)
    _apply_action(run, block, call, call.get("action", 1))
    graph = run.field(message, "graph_options", call.node)
    rewrite = (
        run.field(graph, "rewrite_options", call.node) if isinstance(graph, Message) else None
    )
    if isinstance(rewrite, Message):
        rewrite.fields["remapping"] = EnumName("OFF")
    return message


def _update_custom_op(run: "Run", call: "Call") -> Any:
    given = call.get("custom_op", 0)
    value = None if given is None else given[0]
    if isinstance(value, Block):
        _apply_action(run, value, call, call.get("action", 1))
        return value
    run.pass_on(call)
    return run.anonymous(call.node)


_TOOL = "precision_data/npu/debug_0"
_ACTIONS: Dict[str, Tuple[Tuple[str, str, Any], ...]] = {
    "overflow": (
        ("enable_dump_debug", "b", True),
        ("dump_debug_mode", "s", "all"),
        ("dump_path", "s", "precision_data/overflow/dump"),
        ("op_debug_level", "i", 4),
    ),
    "dump": (
        ("enable_dump", "b", True),
        ("dump_mode", "s", "all"),
        ("dump_path", "s", _TOOL + "/dump"),
        ("op_debug_level", "i", 4),
        ("dump_step", "s", "0"),
    ),
    "fusion_off": (("fusion_switch_file", "s", None),),
    "fusion_switch": (("fusion_switch_file", "s", None),),
    "prof": (("profiling_mode", "b", True), ("profiling_options", "s", None)),
}


def _apply_action(
    run: "Run", block: Block, call: "Call", action: Optional[Tuple[Any, ast.expr]]
) -> None:
    """What precision_tool sets for an action."""
    text = None if action is None else action[0]
    _put_at(run, block, call, "debug_dir", "s", _TOOL)
    if not isinstance(text, str):
        block.open = True
        return
    chosen = [name for name in ("overflow", "dump") if name in text][:1]
    chosen += [name for name in ("fusion_off", "fusion_switch") if name in text][:1]
    chosen += ["prof"] if "prof" in text else []
    for name in chosen:
        for option, wire, value in _ACTIONS[name]:
            _put_at(run, block, call, option, wire, value)


def _put_at(run: "Run", block: Block, call: "Call", name: str, wire: str, value: Any) -> None:
    place = run.place(call.node)
    if value is None:
        value = Unknown("precision_tool")
    put(run, block, Entry(name, value, wire, place, place, place, run.tick(), built_in=True))


def _as_bytes(run: "Run", call: "Call") -> Any:
    given = call.get("bytes_or_text", 0)
    if given is None:
        return run.anonymous(call.node)
    value, node = given
    if isinstance(value, Unknown):
        if is_unset_environment(value.key) and not run.decisions.says(value.key):
            run.environment.append((node, value.key, tuple(run.guards)))
        return Unknown("as_bytes({})".format(value.key), value.flag)
    if is_known(value):
        return constants.as_bytes(value)
    return run.anonymous(call.node)


def is_unset_environment(key: str) -> bool:
    """True for an environment variable that is asked for without a default."""
    for function in ("os.getenv(", "os.environ.get("):
        if key.startswith(function) and key.endswith(")"):
            return ", " not in key and "(" not in key[len(function) :]
    return False


def _as_text(run: "Run", call: "Call") -> Any:
    value = call.args[0][0] if call.args else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    if isinstance(value, Unknown):
        return Unknown("{}({})".format(call.name, value.key), value.flag)
    return run.anonymous(call.node)


def _str(run: "Run", call: "Call") -> Any:
    if len(call.args) == 1 and not call.keywords and not call.open:
        value = call.args[0][0]
        if isinstance(value, Unknown):
            return Unknown("str({})".format(value.key), value.flag)
        if is_known(value):
            return str(value)
    return run.anonymous(call.node)


def _noted(run: "Run", call: "Call") -> Any:
    """A call that rules look at, without an effect of its own."""
    run.calls.append((call, run.tick(), tuple(run.guards)))
    run.pass_on(call, "npu_bridge." + call.name)
    return run.anonymous(call.node)


def _setattr(run: "Run", call: "Call") -> Any:
    if len(call.args) == 3 and isinstance(call.args[0][0], Slot):
        (slot, node), (wire, _), (value, value_node) = call.args
        if isinstance(wire, str):
            target = ast.copy_location(ast.Attribute(node, wire, ast.Store()), node)
            set_field(run, slot, target, value, value_node)
        else:
            slot.block.open = True
        return None
    run.pass_on(call)
    return None


MODELS: Dict[str, Callable[["Run", "Call"], Any]] = {
    "as_bytes": _as_bytes,
    "as_text": _as_text,
    "as_str": _as_text,
    "as_str_any": _as_text,
    "str": _str,
    "setattr": _setattr,
    "npu_config_proto": _npu_config_proto,
    "set_keras_session_npu_config": _npu_session,
    "npu_clear_session": _npu_session,
    "init_resource": _npu_session,
    "npu_run_config_init": _npu_run_config_init,
    "npu_graph_options": _npu_graph_options,
    "session_dump_config": _session_dump_config,
    "update_custom_op": _update_custom_op,
    "RunConfig": _constructed,
    "AttrValue": _constructed,
    "Target": _constructed,
    "NpuConfigBuilder": builders.make,
}
for _name in ("ConfigProto", "GraphOptions", "RewriterConfig", "OptimizerOptions"):
    MODELS[_name] = _message
for _name in SESSIONS:
    MODELS[_name] = _session
for _name in (
    "NPURunConfig",
    "NPUEstimator",
    "ProfilingConfig",
    "MemoryConfig",
    "DumpConfig",
    "GraphMemoryOptimizeConfig",
    "ExperimentalConfig",
    "DynamicInputConfig",
):
    MODELS[_name] = _constructed
for _name in (
    "set_iteration_per_loop",
    "load_iteration_per_loop_var",
    "create_iteration_per_loop_var",
    "SetIterationsVarHook",
    "NPUOptimizer",
    "NPULossScaleOptimizer",
    "FixedLossScaleManager",
    "NPUOutputTensorHook",
    "TellMeStepOrLossHook",
    "limit_core_num_scope",
    "keep_tensors_dtypes",
    "shutdown_resource",
    "close_session",
):
    MODELS[_name] = _noted
