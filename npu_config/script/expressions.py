"""Expressions: what they give on the path that is being followed."""

import ast
import contextlib
import operator
from functools import partial
from typing import Any, Callable, Dict, List, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.api import CLASSES, PARAMETERS
from npu_config.catalogue.own_api import CONSTRUCTORS
from npu_config.catalogue.precision_tool import ACTIONS, ALWAYS, named_in
from npu_config.core.message import phrase
from npu_config.core.names import ITERATION_OP, NPU_OPTIMIZER
from npu_config.python_flow.scopes import CONSTANTS, Watch, in_brackets, name_of
from npu_config.script import builders, objects
from npu_config.script.builders import is_ours, is_switch, judge_constructor, taken
from npu_config.script.conditions import Condition
from npu_config.script.effects import (
    above,
    adopt,
    adopt_block,
    attribute_of,
    call_special,
    give_away,
    invoke,
    is_fixed,
    is_relevant,
    is_simple,
    lookup,
    of_class,
    part,
    pass_on,
    start,
)
from npu_config.script.methods import (
    call_method,
    copied,
    from_string,
    get_by_name,
    merge_json,
    merge_text,
    read_bytes,
    record,
    set_by_name,
    set_message_field,
    set_past_the_class,
)
from npu_config.script.objects import (
    Argument,
    Block,
    BlockList,
    Class,
    Constructed,
    Entry,
    EnumName,
    Fails,
    Function,
    Instance,
    Message,
    NotKnown,
    ParameterMap,
    Subscript,
    Tracked,
    Unknown,
    Use,
    is_known,
    put,
)
from npu_config.script.paths import (
    Call,
    Run,
    anonymous,
    evaluate,
    identity,
    result_of,
)
from npu_config.script.visits import defined_elsewhere, give, note_made_elsewhere, visit
from npu_config.script.vocabulary import HOLDERS, RUN_CONFIGS, SESSIONS


def _held(run: Run, call: Call) -> Message:
    """The ConfigProto that a helper of npu_bridge is given, or the one that it makes."""
    value = call.value(*HOLDERS[call.name])
    if isinstance(value, Message):
        return value
    if isinstance(value, Unknown):
        note_made_elsewhere(run, value, call.node)
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
        config = value.value("session_config")
        if isinstance(config, Message):
            npu_edits(run, config, call)
            config.uses.append(Use(call.name, run.place(call.node), run.tick()))
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
    put(block, Entry(name, value, wire, place, place, place, run.tick(), built_in=True))


def _message(run: Run, call: Call) -> Message:
    message = run.new_message(call.name, call.node, call.open or bool(call.args))
    for name, (value, node) in call.keywords.items():
        set_message_field(run, message, name, value, node)
        if isinstance(value, Message):
            value.parent = message
            message.blocks += value.blocks
            if value.foreign:
                message.foreign = True
    return message


def _constructed(run: Run, call: Call) -> Constructed:
    place = run.place(call.node)
    made = Constructed(call.node, place, run.tick(), call.name)
    made.path = tuple(run.guards)
    made.open = call.open
    names = PARAMETERS.get(
        call.name, CONSTRUCTORS["Target"].parameters if call.name == "Target" else ()
    )
    for name, (value, node) in zip(names, call.args):
        value = taken(run, value, is_switch(name))
        made.arguments[name] = Argument(value, run.place(node), node=node)
    for name, (value, node) in call.keywords.items():
        value_place = run.place(node)
        value = taken(run, value, is_switch(name))
        made.arguments[name] = Argument(
            value, value_place, run.script.source.keyword_place(name, value_place), node
        )
    run.constructed.append(made)
    if made.open and call.name == "NPURunConfig":
        run.script.unfollowed[call.node] = phrase(
            "the names of the options set here are known only at run time; these options "
            "are not checked"
        )
    for name, argument in made.arguments.items():
        if isinstance(argument.value, Tracked):
            argument.value.uses.append(Use(call.name, place, run.tick()))
        elif call.name not in RUN_CONFIGS or name != "session_config":
            give_away(run, argument.value, "npu_bridge." + call.name)
        else:
            note_made_elsewhere(run, argument.value, argument.node or call.node)
    return made


def _replaced(run: Run, owner: Constructed, call: Call) -> Constructed:
    """``run_config.replace(name=value)``: another one, with these arguments in place of others."""
    made = _constructed(run, call)
    made.arguments = {**owner.arguments, **made.arguments}
    made.open = made.open or owner.open
    return made


def _target(run: Run, call: Call) -> Constructed:
    """``Target(...)`` of npu_config."""
    if is_ours(run, call):
        judge_constructor(run, call, "Target")
    return _constructed(run, call)


def _session(run: Run, call: Call) -> Any:
    given = call.get("config", SESSIONS[call.name])
    if given is not None:
        value = given[0]
        if isinstance(value, Message):
            value.uses.append(Use("session", run.place(call.node), run.tick()))
        else:
            give_away(run, value, "tf.Session")
            note_made_elsewhere(run, value, given[1])
    run.note(call)
    for value in call.values:
        start(run, value)
    return anonymous(call.node)


def _converted(name: str, value: Unknown, convert: Callable[[Any], Any]) -> Unknown:
    """What a function makes of an unknown text; it comes from the same flag."""
    key = "{}({})".format(name, value.key)
    return Unknown(key, (), (Unknown(name), value), value.flag, convert)


def _as_bytes(run: Run, call: Call) -> Any:
    given = call.get("bytes_or_text", 0)
    if given is None:
        return anonymous(call.node)
    value, node = given
    if isinstance(value, Unknown):
        if _is_unset_environment(value) and not run.decisions.says(value):
            run.environment.append((node, value, tuple(run.guards)))
        return _converted("as_bytes", value, objects.as_bytes)
    if is_known(value):
        found = objects.as_bytes(value)
        if node in run.fixed and call.node.func in run.fixed:
            run.fixed[call.node] = found
        return found
    return anonymous(call.node)


def _is_unset_environment(value: Unknown) -> bool:
    """True for an environment variable that is asked for without a default."""
    if len(value.parts) != 2 or value.path:
        return False
    function, variable = value.parts
    return (
        isinstance(function, Unknown)
        and function.key in ("os.getenv", "os.environ.get")
        and not (isinstance(variable, Unknown) and not variable.path)
    )


def _as_text(run: Run, call: Call) -> Any:
    value = call.first
    if isinstance(value, (bytes, str)):
        return objects.as_text(value)
    if isinstance(value, Unknown):
        return _converted(call.name, value, objects.as_text)
    return anonymous(call.node)


def _as_type(kind: Callable[[Any], Any], run: Run, call: Call) -> Any:
    """``str(value)`` and ``bool(value)``."""
    if len(call.args) == 1 and not call.keywords and not call.open:
        value = call.args[0][0]
        if isinstance(value, Unknown):
            return _converted(kind.__name__, value, kind)
        if is_known(value):
            return kind(value)
    return anonymous(call.node)


def _noted(run: Run, call: Call) -> Any:
    """One of ``_NOTED``."""
    run.note(call)
    pass_on(run, call, "npu_bridge." + call.name)
    return anonymous(call.node)


_MESSAGES = ("ConfigProto", "GraphOptions", "RewriterConfig", "OptimizerOptions")
_NOTED = (
    *("set_iteration_per_loop", "load_iteration_per_loop_var", "create_iteration_per_loop_var"),
    *("SetIterationsVarHook", "NPUOptimizer", "NPULossScaleOptimizer", "FixedLossScaleManager"),
    *("NPUOutputTensorHook", "TellMeStepOrLossHook", "limit_core_num_scope"),
    *("keep_tensors_dtypes", "shutdown_resource", "close_session"),
)
"""Calls that rules look at, without an effect of their own."""

MODELS: Dict[str, Callable[[Run, Call], Any]] = {
    "as_bytes": _as_bytes,
    "as_text": _as_text,
    "as_str": _as_text,
    "as_str_any": _as_text,
    "str": partial(_as_type, str),
    "bool": partial(_as_type, bool),
    "setattr": set_by_name,
    "getattr": get_by_name,
    "npu_config_proto": npu_config_proto,
    "set_keras_session_npu_config": npu_session,
    "npu_clear_session": npu_session,
    "init_resource": npu_session,
    "npu_run_config_init": npu_run_config_init,
    "npu_graph_options": npu_graph_options,
    "session_dump_config": session_dump_config,
    "update_custom_op": update_custom_op,
    "RunConfig": _constructed,
    "AttrValue": _constructed,
    "Target": _target,
    **dict.fromkeys(("SimpleNamespace", "HParams", "EasyDict", "AttrDict", "Munch"), record),
    "NpuConfigBuilder": builders.make,
    "NpuConfig": builders.from_mapping,
    **dict.fromkeys(_MESSAGES, _message),
    **dict.fromkeys(SESSIONS, _session),
    **dict.fromkeys(CLASSES, _constructed),
    **dict.fromkeys(_NOTED, _noted),
}
METHODS: Dict[Tuple[str, ...], Callable[[Run, Call], Any]] = {
    ("NpuConfig", "from_dict"): builders.from_mapping,
    ("NpuConfig", "load"): builders.load,
    **{("copy", name): copied for name in ("copy", "deepcopy")},
    ("object", "__setattr__"): set_past_the_class,
    **{("text_format", name): merge_text for name in ("Merge", "Parse")},
    **{("json_format", name): merge_json for name in ("Parse", "ParseDict")},
    **{(kind, "FromString"): partial(from_string, kind) for kind in _MESSAGES},
}

_READING = frozenset(("ParseFromString", "MergeFromString"))
_GET_VARIABLE = frozenset(("os.getenv", "os.environ.get"))
_COMPUTED = frozenset(("type", "isinstance", *_GET_VARIABLE, *objects.FUNCTIONS))


def call(run: Run, node: ast.Call) -> Any:
    """The value of a call, and what it does to the objects that are followed."""
    function = node.func
    callee: Any = run.fixed.get(function)
    owner: Any = None
    if callee is None and isinstance(function, ast.Attribute):
        owner = evaluate(run, function.value)
        if isinstance(owner, Constructed) and function.attr == "replace":
            return _replaced(run, owner, _arguments(run, node, owner.kind))
        if isinstance(owner, (Unknown, Instance, Class, Constructed)):
            callee = attribute_of(run, owner, function)
    elif callee is None:
        callee = evaluate(run, function)
    found = _arguments(run, node, name_of(function))
    if isinstance(callee, Unknown):
        return _of_unknown(run, callee, found)
    if isinstance(owner, (Message, Block)) and found.name in _READING:
        return read_bytes(run, owner, found)
    if callee is None:
        return call_method(run, owner, found)
    if isinstance(callee, Function):
        return _of_function(run, callee, found)
    if isinstance(callee, Class):
        return _of_class(run, callee, found)
    values = [value for value, _ in found.args]
    if isinstance(callee, Instance) and call_special(run, callee, "__call__", values):
        return anonymous(node)
    pass_on(run, found)
    return anonymous(node)


def _arguments(run: Run, node: ast.Call, name: str) -> Call:
    args: List[Tuple[Any, ast.expr]] = []
    keywords: Dict[str, Tuple[Any, ast.expr]] = {}
    is_open = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = evaluate(run, argument.value)
            if isinstance(value, (list, tuple)):
                args += [(item, argument.value) for item in value]
            else:
                is_open = True
        else:
            args.append((evaluate(run, argument), argument))
    for keyword in node.keywords:
        value = evaluate(run, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = (value, keyword.value)
        elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
            keywords.update({key: (item, keyword.value) for key, item in value.items()})
        else:
            is_open = True
    return Call(node, name, args, keywords, is_open)


def _of_unknown(run: Run, callee: Unknown, call: Call) -> Any:
    model = MODELS.get(callee.name) or METHODS.get(callee.path[-2:])
    if model is not None:
        if call.name != callee.name:
            call = call._replace(name=callee.name)
        return model(run, call)
    values = call.values
    known = call.named
    if callee.key in _COMPUTED:
        with contextlib.suppress(NotKnown):
            return _computed(run, callee.key, values, known, call.open)
    followed = defined_elsewhere(run, callee, call)
    if isinstance(followed, Class):
        made = _of_class(run, followed, call)
        made.origin = callee
        return made
    if followed is not None:
        return visit(run, followed, call)
    give(run, callee, call)
    if callee.key == "super":
        scope, names = run.frame.scope, getattr(run.frame.scope.node, "args", None)
        if scope.parent is not None and names is not None and names.args:
            owner = run.frame.variables.get(names.args[0].arg)
            view = above(run, owner, scope.parent)
            if view is not None:
                return view
    if known.get("name") == ITERATION_OP:
        run.note(call)
    named = ["{}={}".format(key, identity(value)) for key, value in known.items()]
    key = "{}({})".format(callee.key, ", ".join([*map(identity, values), *named]))
    if not values and not known and callee.name in _OF_TEXT and callee.parts:
        return Unknown(key, (), (callee, callee.parts[0]), convert=_OF_TEXT[callee.name])
    return Unknown(key, parts=(callee, *values, *known.values()))


def _computed(run: Run, name: str, values: List[Any], known: Dict[str, Any], is_open: bool) -> Any:
    """What a builtin or a function of the standard library gives; raises :class:`NotKnown`."""
    if name == "type" and len(values) == 1 and is_known(values[0]):
        return Unknown(type(values[0]).__name__)
    if name == "isinstance" and len(values) == 2 and is_known(values[0]):
        return objects.is_instance(values[0], objects.type_names(values[1]))
    if name in _GET_VARIABLE and values and isinstance(values[0], str):
        text = run.script.environ.get(values[0])
        if text is not None:
            return text
    if is_open or not is_known(values) or not is_known(known):
        raise NotKnown
    return objects.function(name, values, known)


_OF_TEXT: Dict[str, Callable[[Any], Any]] = {
    "encode": str.encode,
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "title": str.title,
}
"""Methods of text, called without arguments."""


def _of_class(run: Run, cls: Class, call: Call) -> Instance:
    instance = Instance(cls, "{}@{}".format(cls.node.name, call.node.lineno))
    instance.given = call.values, call.named, call.open
    function = of_class(run, cls, "__init__")
    if isinstance(function, Function):
        function.receiver = instance
        arguments = function.node.args.args
        if arguments and is_relevant(run, function):
            function.scope.watch(arguments[0].arg, Watch.ALL)
        _of_function(run, function, call)
    else:
        pass_on(run, call)
    return instance


def _of_function(run: Run, function: Function, call: Call) -> Any:
    values = call.given
    if function.frame.script is not run.script:
        return visit(run, function, call)
    if (
        isinstance(function.node, ast.Lambda)
        or is_relevant(run, function)
        or any(isinstance(v, (Tracked, ParameterMap, Subscript, BlockList)) for v in values)
        or is_simple(function.node)
    ):
        return invoke(run, function, call.values, call.named, call.open)
    pass_on(run, call)
    name = function.node.name
    return result_of(Unknown(name, (name,)), name, values)


_SAMENESS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
_CONVERSIONS: Dict[int, Callable[[Any], str]] = {115: str, 114: repr, 97: ascii}


def _name(run: Run, node: ast.Name) -> Any:
    value = lookup(run, node.id, node.lineno)
    if value.__class__ is Unknown and is_fixed(run, node.id, value):
        run.fixed[node] = value
    return value


def _constant(run: Run, node: Any) -> Any:
    value = getattr(node, node._fields[0])
    if value.__class__ is int and not objects.is_small(value):
        value = anonymous(node)
    run.fixed[node] = value
    return value


def _subscript(run: Run, node: ast.Subscript) -> Any:
    owner = evaluate(run, node.value)
    inner = in_brackets(node)
    if isinstance(inner, ast.Slice):
        ends = (inner.lower, inner.upper, inner.step)
        bounds = [None if each is None else evaluate(run, each) for each in ends]
        return objects.attempt(operator.getitem, owner, slice(*bounds))
    index = evaluate(run, inner)
    if isinstance(owner, ParameterMap):
        return Subscript(owner.block, index, inner)
    if isinstance(owner, Instance):
        getter = of_class(run, owner.cls, "__getitem__")
        if isinstance(getter, Function):
            getter.receiver = owner
            return invoke(run, getter, [index], {}, False)
    if isinstance(owner, BlockList):
        return _item_of_blocks(run, owner, index, node)
    if isinstance(owner, (dict, list, tuple, str, bytes)) and is_known(index):
        return objects.attempt(operator.getitem, owner, index)
    if isinstance(owner, (dict, list, tuple)):
        return Unknown(anonymous(node).key, parts=(owner, index))
    if isinstance(owner, Unknown):
        if owner.key == "os.environ" and isinstance(index, str) and index in run.script.environ:
            return run.script.environ[index]
        return Unknown("{}[{}]".format(owner.key, identity(index)), parts=(owner, index))
    return anonymous(node)


def _item_of_blocks(run: Run, owner: BlockList, index: Any, node: ast.AST) -> Any:
    root = owner.message.root
    count = len(root.blocks)
    if not root.foreign and isinstance(index, int) and -count <= index < count:
        return root.blocks[index]
    return adopt_block(run, Unknown("{}[{}]".format(id(owner.message), identity(index))), node)


def _items(run: Run, node: Any) -> List[Any]:
    return [evaluate(run, item) for item in node.elts]


def _dict(run: Run, node: ast.Dict) -> Any:
    result = {}
    for key, item in zip(node.keys, node.values):
        if key is None:
            spread = evaluate(run, item)
            if not isinstance(spread, dict):
                return anonymous(node)
            result.update(spread)
            continue
        name = evaluate(run, key)
        if name is None or not is_known(name) or isinstance(name, (list, dict)):
            return anonymous(node)
        result[name] = evaluate(run, item)
    return result


def _binary(run: Run, node: ast.BinOp) -> Any:
    left, right = evaluate(run, node.left), evaluate(run, node.right)
    if is_known(left) and is_known(right):
        return objects.binary(type(node.op), left, right)
    sign = type(node.op).__name__
    key = "({} {} {})".format(identity(left), sign, identity(right))
    return Unknown(key, parts=(left, right))


def _unary(run: Run, node: ast.UnaryOp) -> Any:
    operand = evaluate(run, node.operand)
    if isinstance(node.op, ast.Not):
        if isinstance(operand, Unknown):
            return Condition.of(operand).opposite()
        return not operand if is_known(operand) else False
    if is_known(operand):
        return objects.unary(type(node.op), operand)
    key = "({} {})".format(type(node.op).__name__, identity(operand))
    return Unknown(key, parts=(operand,))


def _compare(run: Run, node: ast.Compare) -> Any:
    values = [evaluate(run, part) for part in (node.left, *node.comparators)]
    if all(map(is_known, values)):
        pairs = zip(node.ops, values, values[1:])
        return all(objects.compare(type(sign), *pair) for sign, *pair in pairs)
    if len(node.ops) != 1:
        return Condition("compare " + " ".join(map(identity, values)), parts=tuple(values))
    kind, (left, right) = type(node.ops[0]), values
    if isinstance(left, Unknown) and objects.is_type(left.key):
        with contextlib.suppress(NotKnown):
            names = objects.type_names(right)
            if all(map(objects.is_type, names)):
                return (left.key in names) is (kind in (ast.Is, ast.Eq, ast.In))
    if right is None and kind in _SAMENESS and not isinstance(left, Unknown):
        return kind in (ast.IsNot, ast.NotEq)
    return Condition.comparison(kind, left, right, identity(left), identity(right))


def _bool_op(run: Run, node: ast.BoolOp) -> Any:
    stops = isinstance(node.op, ast.Or)
    value: Any = None
    for operand in node.values:
        value = evaluate(run, operand)
        if isinstance(value, Unknown):
            if operand is node.values[-1]:
                return value
            if decide(run, value, operand) is stops:
                return value
        elif isinstance(value, (Tracked, Function, Class, Instance)):
            if stops:
                return value
        elif bool(value) is stops:
            return value
    return value


def truth(run: Run, node: ast.expr) -> bool:
    """Whether a condition holds on this path."""
    if isinstance(node, ast.BoolOp):
        stops = isinstance(node.op, ast.Or)
        return stops if any(truth(run, part) is stops for part in node.values) else not stops
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not truth(run, node.operand)
    value = evaluate(run, node)
    if isinstance(value, Unknown):
        return decide(run, value, node)
    if run.testing and isinstance(node, ast.Name) and isinstance(value, bool):
        return run.decisions.decide(
            Condition(phrase("switch {}@{}", node.id, run.frame.serial)),
            node,
            usual=value,
            is_switch=True,
            file=run.script.source.path,
        )
    if isinstance(value, (Tracked, Function, Class, Instance, Subscript, EnumName, Fails)):
        return True
    return bool(value)


def decide(run: Run, value: Unknown, node: ast.expr) -> bool:
    """Which way the path goes at a condition that cannot be known."""
    return run.decisions.decide(Condition.of(value), node, file=run.script.source.path)


def _joined(run: Run, node: ast.JoinedStr) -> Any:
    pieces = [evaluate(run, piece) for piece in node.values]
    if all(isinstance(piece, str) for piece in pieces):
        is_short = sum(map(len, pieces)) <= objects.LIMIT
        return "".join(pieces) if is_short else anonymous(node)
    return Unknown(anonymous(node).key, parts=(Unknown("f-string"), *pieces))


def _named(run: Run, node: Any) -> Any:
    """``name := value``."""
    value = run.frame.variables[node.target.id] = evaluate(run, node.value)
    return value


def _lambda(run: Run, node: ast.Lambda) -> Any:
    """A function, where its statement names something of the NPU."""
    return (
        Function(node, run.frame.scope.child(node), run.frame) if run.wanting else anonymous(node)
    )


def _formatted(run: Run, node: ast.FormattedValue) -> Any:
    value = evaluate(run, node.value)
    form = "" if node.format_spec is None else evaluate(run, node.format_spec)
    if isinstance(value, Unknown):
        return value
    if not is_known(value) or not isinstance(form, str) or objects.is_wide(form):
        raise NotKnown
    if node.conversion in _CONVERSIONS:
        value = _CONVERSIONS[node.conversion](value)
    return objects.bounded(objects.attempt(format, value, form))


EXPRESSIONS: Dict[type, Callable[[Run, Any], Any]] = {
    ast.Name: _name,
    ast.Attribute: lambda run, node: attribute_of(run, evaluate(run, node.value), node),
    ast.Subscript: _subscript,
    ast.Call: call,
    ast.Tuple: lambda run, node: tuple(_items(run, node)),
    ast.List: lambda run, node: _items(run, node),
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: lambda run, node: evaluate(
        run, node.body if truth(run, node.test) else node.orelse
    ),
    ast.JoinedStr: _joined,
    ast.Lambda: _lambda,
    ast.FormattedValue: _formatted,
    **dict.fromkeys(CONSTANTS, _constant),
}
"""What gives the value of an expression, by its class."""
if hasattr(ast, "NamedExpr"):
    EXPRESSIONS[ast.NamedExpr] = _named
