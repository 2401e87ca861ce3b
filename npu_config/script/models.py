"""What is known of functions and classes by their name alone."""

import ast
from typing import Any, Callable, Dict, Tuple

from npu_config.catalogue.api import CLASSES, PARAMETERS
from npu_config.catalogue.own_api import CONSTRUCTORS
from npu_config.script import builders, constants, helpers
from npu_config.script.constants import is_known
from npu_config.script.effects import give_away, pass_on, set_field, set_message_field
from npu_config.script.functions import start
from npu_config.script.objects import (
    Argument,
    Constructed,
    Message,
    Subscript,
    Tracked,
    Unknown,
    Use,
)
from npu_config.script.own_calls import is_ours, judge_constructor
from npu_config.script.state import Call, Run, anonymous
from npu_config.script.vocabulary import RUN_CONFIGS, SESSIONS


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
    made = Constructed(call.name, call.node, place, run.tick())
    made.path = tuple(run.guards)
    made.open = call.open
    names = PARAMETERS.get(
        call.name, CONSTRUCTORS["Target"].parameters if call.name == "Target" else ()
    )
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
    run.note(call)
    for value, _ in call.args:
        start(run, value)
    return anonymous(call.node)


def _converted(name: str, value: Unknown, convert: Callable[[Any], Any]) -> Unknown:
    """What a function makes of an unknown text; it comes from the same flag."""
    key = "{}({})".format(name, value.key)
    return Unknown(key, (), (Unknown(name), value), value.flag, convert)


def _text(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _as_bytes(run: Run, call: Call) -> Any:
    given = call.get("bytes_or_text", 0)
    if given is None:
        return anonymous(call.node)
    value, node = given
    if isinstance(value, Unknown):
        if _is_unset_environment(value) and not run.decisions.says(value):
            run.environment.append((node, value, tuple(run.guards)))
        return _converted("as_bytes", value, constants.as_bytes)
    if is_known(value):
        found = constants.as_bytes(value)
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
    value = call.args[0][0] if call.args else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value
    if isinstance(value, Unknown):
        return _converted(call.name, value, _text)
    return anonymous(call.node)


def _str(run: Run, call: Call) -> Any:
    if len(call.args) == 1 and not call.keywords and not call.open:
        value = call.args[0][0]
        if isinstance(value, Unknown):
            return _converted("str", value, str)
        if is_known(value):
            return str(value)
    return anonymous(call.node)


def _noted(run: Run, call: Call) -> Any:
    """A call that rules look at, without an effect of its own."""
    run.note(call)
    pass_on(run, call, "npu_bridge." + call.name)
    return anonymous(call.node)


def _setattr(run: Run, call: Call) -> Any:
    if len(call.args) == 3 and isinstance(call.args[0][0], Subscript):
        (slot, node), (wire, _), (value, value_node) = call.args
        if isinstance(wire, str):
            target = ast.copy_location(ast.Attribute(node, wire, ast.Store()), node)
            set_field(run, slot, target, value, value_node)
        else:
            slot.block.open = True
        return None
    pass_on(run, call)
    return None


MODELS: Dict[str, Callable[[Run, Call], Any]] = {
    "as_bytes": _as_bytes,
    "as_text": _as_text,
    "as_str": _as_text,
    "as_str_any": _as_text,
    "str": _str,
    "setattr": _setattr,
    "npu_config_proto": helpers.npu_config_proto,
    "set_keras_session_npu_config": helpers.npu_session,
    "npu_clear_session": helpers.npu_session,
    "init_resource": helpers.npu_session,
    "npu_run_config_init": helpers.npu_run_config_init,
    "npu_graph_options": helpers.npu_graph_options,
    "session_dump_config": helpers.session_dump_config,
    "update_custom_op": helpers.update_custom_op,
    "RunConfig": _constructed,
    "AttrValue": _constructed,
    "Target": _target,
    "NpuConfigBuilder": builders.make,
    "NpuConfig": builders.from_mapping,
}
METHODS: Dict[Tuple[str, ...], Callable[[Run, Call], Any]] = {
    ("NpuConfig", "from_dict"): builders.from_mapping,
    ("NpuConfig", "load"): builders.load,
}
for _name in ("ConfigProto", "GraphOptions", "RewriterConfig", "OptimizerOptions"):
    MODELS[_name] = _message
for _name in SESSIONS:
    MODELS[_name] = _session
for _name in CLASSES:
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
