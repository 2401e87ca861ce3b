"""Checks of the life of a configuration: built, filled, handed over, and sessions without one."""

import ast
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Fix, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.python_flow.scopes import (
    DEFINITIONS,
    FUNCTIONS,
    argument,
    blocks,
    children,
    first_line,
    is_main,
    is_open,
    last_line,
    literal,
    name_of,
    root_of,
)
from npu_config.script.checks._check import Context, bindings, check, dotted, fetches, value_of
from npu_config.script.neighbours import any_importer_has
from npu_config.script.objects import Block, Constructed, Message, Unknown, Use
from npu_config.script.reading import (
    as_argument,
    looks_like_npu,
    options_of_run_config,
    written_by_estimator,
)
from npu_config.script.vocabulary import SESSIONS
from npu_config.text.words import is_typo

_READERS = ("print", "pprint", "str", "repr", "type", "id", "len", "isinstance")
_FILLERS = ("CopyFrom", "MergeFrom", "ParseFromString", "ClearField", "HasField", "Clear")
_SCOPES = (*FUNCTIONS, ast.Lambda)


def is_handed_on(context: Context, message: Message, until: Optional[int] = None) -> bool:
    """What :func:`_is_handed_on` says where a message is made, and where a function's is bound."""
    made = [message.node] if until is None or not message.bound else []
    nodes = {id(node): node for node in (*made, *message.bound[-1 if until else 0 :])}
    for node in nodes.values():
        if node is None:
            continue
        key = (context.place(node), until)
        if key not in context.handed_on:
            context.handed_on[key] = _is_handed_on(context, node, until)
        if context.handed_on[key]:
            return True
    return False


def _is_handed_on(context: Context, made: ast.AST, until: Optional[int]) -> bool:
    """True when the name that a message is bound to is read where the message may be used.

    Filling it is no use, nor is printing it; to return it is one where what is returned cannot be
    followed: from functions with decorators, of which properties are the most common.

    Args:
        context: what the check sees.
        made: the expression that gives the message.
        until: look only at the lines between it and this one.
    """
    line = getattr(made, "lineno", 0)
    function = context.script.function_of(line)
    scope: Any = context.script.tree if function is None else function
    names = names_of(context, made)
    decorated = function is not None and bool(function.decorator_list)
    rebound = _rebound_in(scope.body, line, names)
    for node, parent, above in _loads(context, scope, names):
        if until is not None and not line < node.lineno < until:
            continue
        if rebound is not None and node.lineno > rebound:
            continue
        if isinstance(parent, ast.Attribute):
            used = isinstance(above, ast.Call) and above.func is parent
            used = used and parent.attr not in _FILLERS
        elif isinstance(parent, ast.Return):
            used = decorated
        else:
            used = not (isinstance(parent, ast.Call) and name_of(parent.func) in _READERS)
        if used:
            return True
    return False


def names_of(context: Context, made: Optional[ast.AST]) -> Set[str]:
    """The names that the statement around an expression binds."""
    if not isinstance(made, ast.expr):
        return set()
    for statement in context.unread.around(made):
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets: List[ast.expr] = (
                statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            )
            parts = [part for target in targets for part in ast.walk(target)]
            return {part.id for part in parts if isinstance(part, ast.Name)}
    return set()


def _rebound_in(statements: Sequence[Any], line: int, names: Set[str]) -> Optional[int]:
    """The last line of the statement after which the names certainly mean something else.

    Args:
        statements: a body that holds the line at any depth.
        line: where the names are bound for the first time.
        names: the names.
    """
    for number, statement in enumerate(statements):
        if not first_line(statement) <= line <= last_line(statement):
            continue
        for inner in blocks(statement):
            found = _rebound_in(inner, line, names)
            if found is not None:
                return found
        for later in statements[number + 1 :]:
            targets = later.targets if isinstance(later, ast.Assign) else ()
            if any(isinstance(target, ast.Name) and target.id in names for target in targets):
                return last_line(later)
    return None


def _loads(context: Context, scope: ast.AST, names: Set[str]) -> Iterator[Any]:
    """Every place where one of the names is read, with the two nodes around it.

    Functions that bind the name themselves mean something else with it.
    """
    lines = context.script.source.lines_of(*names)
    pending: List[Any] = [(scope, None, None, names)]
    while pending:
        node, parent, above, visible = pending.pop()
        if isinstance(node, _SCOPES) and node is not scope:
            visible = visible - _bound_in(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in visible:
            yield node, parent, above
        for child in children(node, lines) if visible else ():
            pending.append((child, node, parent, visible))


def _bound_in(function: Any) -> Set[str]:
    """The names that a function binds, functions inside of it included."""
    found: Set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, DEFINITIONS) and node is not function:
            found.add(node.name)
    return found


def is_in_one_loop(context: Context, line: int, other: int) -> bool:
    """True when a loop of the script holds both lines, so that each is before the other."""
    first, last = min(line, other), max(line, other)
    return any(start <= first and last <= end for start, end in context.loops)


_INTRODUCTION = "docs/en/tfadapter_1/apiref/session_config/introduction.md"
_ESTIMATOR = "tf_adapter/python/npu_bridge/estimator/npu/npu_estimator.py"


def _has_options(message: Message) -> bool:
    return any(block.entries and not block.built_in for block in message.blocks)


def _is_local(context: Context, message: Message) -> bool:
    """True for a message that nothing outside of this file can get at."""
    script = context.script
    names = set().union(*(names_of(context, node) for node in (message.node, *message.bound)))
    function = script.function_of(message.place.line or 0)
    if function is not None:
        if not _returns(function, names, message.node):
            return True
        names.add(function.name)
    return script.is_program and not any_importer_has(script.source.path, tuple(sorted(names)))


def _returns(function: ast.AST, names: Set[str], made: Optional[ast.AST]) -> bool:
    """True when a function may return what an expression makes, or what has one of the names."""
    return any(
        part is made or (isinstance(part, ast.Name) and part.id in names)
        for node in ast.walk(function)
        if isinstance(node, (ast.Return, ast.Yield)) and node.value is not None
        for part in ast.walk(node.value)
    )


@check(
    "NPU880",
    Severity.WARNING,
    facts=("custom-op-name",),
    source=(_INTRODUCTION,),
)
def config_never_used(context: Context) -> None:
    """A ConfigProto or a DumpConfig with options is built but never used.

    A session that is opened with another configuration, or without one, does not use these
    options.  The same is true of NPURunConfig, DumpConfig, ProfilingConfig and similar objects
    that are assigned to a name that is never read.

    Wrong:

        config_proto = tf.ConfigProto()
        custom_op = config_proto.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
        with tf.Session(config=config) as sess:

    Right:

        config_proto = tf.ConfigProto()
        custom_op = config_proto.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
        with tf.Session(config=config_proto) as sess:
    """
    _report_unread(context)
    for message in context.run.messages:
        if (
            message.foreign
            or message.parent is not None
            or message.kind != "ConfigProto"
            or message.place in context.once(_replaced)
            or not any(not block.built_in for block in message.blocks)
            or context.uses(message.place)
            or any(context.uses(block.place) for block in message.blocks)
            or not _is_local(context, message)
            or is_handed_on(context, message)
        ):
            continue
        block = next(block for block in message.blocks if not block.built_in)
        context.report(
            block.place,
            "this configuration is never used; its options have no effect"
            if _has_options(message)
            else "this configuration is never used",
            guards=block.path,
            help="pass it to the session: tf.Session(config=...)",
        )


def _replaced(context: Context) -> Set[Place]:
    """Where messages are made that another one takes the place of, on any path: NPU881."""
    return {
        message.place
        for path in context.paths
        for message in path.outcome.messages
        if message.replaced is not None
    }


_TAKEN_BY = {
    "NPURunConfig": "NPUEstimator(config=...)",
    "DumpConfig": "NPURunConfig(dump_config=...)",
    "ProfilingConfig": "NPURunConfig(profiling_config=...)",
    "MemoryConfig": "NPURunConfig(memory_config=...)",
    "ExperimentalConfig": "NPURunConfig(experimental_config=...)",
    "DynamicInputConfig": "NPURunConfig(dynamic_input_config=...)",
    "GraphMemoryOptimizeConfig": "ExperimentalConfig(graph_memory_optimize_config=...)",
}


def _asks(made: Constructed) -> bool:
    """True when a configuration asks for anything; switches that are off do not."""
    values = [argument.value for argument in made.arguments.values()]
    if made.kind in ("DumpConfig", "ProfilingConfig"):
        return any(value is not None and value is not False for value in values)
    return bool(values)


def _report_unread(context: Context) -> None:
    """Report configurations of npu_bridge that are given a name that nothing reads, or none."""
    for made in context.run.constructed:
        taken_by = _TAKEN_BY.get(made.kind)
        assert isinstance(made.node, ast.Call)
        if taken_by is None or not _asks(made):
            continue
        name = context.unread.name_of_result(made.node)
        if name is not None:
            context.report(
                made.place,
                "this {} is never used{}; it has no effect",
                made.kind,
                phrase(': "{}" is never read', name) if name else "",
                guards=made.path,
                help=phrase("pass it to {}", taken_by),
            )


@check(
    "NPU881",
    Severity.WARNING,
    facts=("custom-op-name",),
    source=(_INTRODUCTION,),
)
def config_overwritten(context: Context) -> None:
    """A ConfigProto with an NpuOptimizer is replaced by another ConfigProto before it was used.

    The options of the first configuration are lost.

    Wrong:

        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as sess:

    Right:

        config = tf.ConfigProto(allow_soft_placement=True)
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        with tf.Session(config=config) as sess:
    """
    for message in context.run.messages:
        if (
            message.replaced is None
            or message.foreign
            or not any(not block.built_in for block in message.blocks)
            or message.uses
            or any(block.uses for block in message.blocks)
            or is_handed_on(context, message, message.replaced.place.line)
        ):
            continue
        context.report(
            message.replaced.place,
            "the configuration of line {} is replaced here before it is used; its options are lost"
            if _loses_options(message, message.replaced.by)
            else "the configuration of line {} is replaced here before it is used",
            message.bound[-1].lineno if message.bound else message.place.line,
            guards=message.path,
            help="set all options on one ConfigProto, and pass this ConfigProto to the session",
        )


def _loses_options(message: Message, by: Message) -> bool:
    """True unless every option of one configuration has the same value in the other."""
    old, new = (
        {(name, e.place, _plain(e.value)) for b in each.blocks for name, e in b.entries.items()}
        for each in (message, by)
    )
    return not old <= new


def _plain(value: object) -> object:
    return value.key if isinstance(value, Unknown) else repr(value)


@check(
    "NPU882",
    Severity.WARNING,
    facts=("session-config-mutated",),
    source=(_INTRODUCTION,),
)
def option_after_session(context: Context) -> None:
    """An option is set on a configuration after a session was opened with it.

    tf.Session copies the configuration when the session is created; an option that is set later
    has no effect on this session.

    Wrong:

        sess = tf.Session(config=config)
        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")

    Right:

        custom_op.parameter_map["precision_mode"].s = tf.compat.as_bytes("allow_mix_precision")
        sess = tf.Session(config=config)
    """
    for block in context.run.blocks:
        message = block.message
        if message is None:
            continue
        opened = _opened(context, message.root)
        if not opened:
            continue
        for entry in block.entries.values():
            if entry.moment < opened[-1].moment or entry.built_in:
                continue
            if opened[-1].moment < (context.run.apart or 0) < entry.moment:
                continue  # the function that sets it may have been called before
            first, last = opened[0].place.line or 0, entry.name_place.line or 0
            if not is_in_one_loop(context, first, last):
                context.report(
                    entry.name_place,
                    '"{}" is set after the session was opened in line {} and has no effect '
                    "on that session",
                    entry.name,
                    opened[-1].place.line,
                    guards=entry.path,
                    option=entry.name,
                    help="set it before the session is opened",
                )


def _opened(context: Context, message: Message) -> List[Use]:
    """The sessions that a configuration is given to, when nothing else may take it."""
    opened = [use for use in message.uses if use.kind == "session"]
    kinds = {use.kind for use in message.uses} - {"copy"}
    if opened and kinds == {"session", "attribute"}:
        everywhere = context.uses(message.place)
        kinds = {use.kind for use in everywhere} - {"attribute", "copy"}
        if len({use.place for use in everywhere if use.kind == "session"}) > 1:
            return []  # another method opens a session of its own, later perhaps
    return opened if kinds == {"session"} else []


@check(
    "NPU883",
    Severity.WARNING,
    facts=("run-config-second-custom-op",),
    source=(_ESTIMATOR,),
)
def option_overridden_by_run_config(context: Context) -> None:
    """``session_config`` sets an option that NPURunConfig always overrides.

    NPUEstimator adds its own NpuOptimizer entry after the entry in ``session_config``.  The keys
    that it always writes (``enable_dump``, ``jit_compile``, ``iterations_per_loop`` ...) override
    the keys in ``session_config``, with the value of the argument or its default.  A key that the
    adapter reads only with a switch (``dynamic_graph_execute_mode`` with ``dynamic_input``) is
    overridden only if NPUEstimator writes the switch, too.

    Wrong:

        custom_op.parameter_map["enable_dump_debug"].b = True
        run_config = NPURunConfig(session_config=config)

    Right:

        run_config = NPURunConfig(
            session_config=config,
            dump_config=DumpConfig(enable_dump_debug=True, dump_path="/tmp/overflow"),
        )
    """
    for made in context.run.constructed:
        if made.kind != "NPURunConfig" or made.open:
            continue
        message = made.value("session_config")
        if not isinstance(message, Message):
            continue
        written = options_of_run_config(made)
        for block in message.root.blocks:
            for entry in block.entries.values():
                wins = written_by_estimator(entry.name, written)
                if wins is None or isinstance(entry.value, Unknown):
                    continue
                value, given = wins
                if isinstance(value, Unknown) or value == entry.value:
                    continue
                context.report(
                    entry.name_place,
                    '"{}" is overridden: NPURunConfig in line {} sets it to {} ({})',
                    entry.name,
                    made.place.line,
                    '"{}"'.format(value) if isinstance(value, str) else value,
                    phrase("the value of the argument")
                    if given
                    else phrase("the default of the argument"),
                    guards=entry.path,
                    option=entry.name,
                    help=phrase(
                        "set it only once: pass {} to NPURunConfig"
                        if given
                        else "pass {} to NPURunConfig",
                        as_argument(entry.name, entry.value),
                    ),
                )


@check(
    "NPU897",
    Severity.ERROR,
    facts=("custom-op-name",),
    source=("tf_adapter/util/npu_attrs.cc:917", _INTRODUCTION),
)
def optimizer_misnamed(context: Context) -> None:
    """A ``custom_optimizers`` entry with NPU options is not named ``NpuOptimizer``.

    The adapter looks for exactly the name ``NpuOptimizer``.  The options of an entry with another
    name have no effect.  Unless another entry has this name, or npu_init adds one, the whole graph
    runs on the CPU.  An entry without a name is a warning.

    Wrong:

        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "Npuoptimizer"
        custom_op.parameter_map["use_off_line"].b = True

    Right:

        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["use_off_line"].b = True
    """
    for block in context.run.blocks:
        if (block.is_npu and block.names) or block.message is None:
            continue
        if not block.names:
            if not block.open and not block.uses:
                _report_unnamed(context, block)
        elif looks_like_npu(block):
            name, place = block.names[-1]
            inside = context.script.source.inside(place, name)
            context.report(
                place,
                'the custom optimizer is named "{}", but the adapter looks for "{}"; the '
                "options of this optimizer have no effect"
                if block.entries
                else 'the custom optimizer is named "{}", but the adapter looks for "{}"',
                name,
                NPU_OPTIMIZER,
                guards=block.path,
                help=phrase('set the name of this optimizer to "{}"', NPU_OPTIMIZER),
                fix=Fix.writing(inside, NPU_OPTIMIZER, phrase('rename to "{}"', NPU_OPTIMIZER))
                if inside is not place and _is_misspelt(name, block)
                else None,
            )


def _is_misspelt(name: str, block: Block) -> bool:
    """True for a name that can only be misspelt, where no other entry has the right one."""
    if block.message is None or not is_typo(name, NPU_OPTIMIZER):
        return False
    return all(other.name != NPU_OPTIMIZER for other in block.message.root.blocks)


def _report_unnamed(context: Context, block: Block) -> None:
    context.report(
        block.place,
        "the custom optimizer has no name; its options have no effect"
        if block.entries
        else "the custom optimizer has no name and is ignored",
        guards=block.path,
        help=phrase(
            'set the name of this optimizer to "{}", or remove the optimizer', NPU_OPTIMIZER
        ),
        severity=Severity.WARNING if block.entries else Severity.INFO,
    )


_OPENED = (
    "Session",
    "InteractiveSession",
    "MonitoredTrainingSession",
    "SingularMonitoredSession",
    "managed_session",
)
_INITIALIZERS = (
    "global_variables_initializer",
    "initialize_all_variables",
    "variables_initializer",
)
_TRAINING = ("minimize", "apply_gradients", "set_iteration_per_loop")
_HOST = re.compile(r"cpu|host|gpu", re.I)
_EXPORTING = (
    "convert_variables_to_constants",
    "freeze_graph",
    "write_graph",
    "simple_save",
    "add_meta_graph_and_variables",
    "export_meta_graph",
)
"""What makes a file of a model, which needs no NPU."""


@check(
    "NPU8022",
    Severity.WARNING,
    facts=("custom-op-name",),
    source=(_INTRODUCTION,),
)
def session_without_configuration(context: Context) -> None:
    """A session that trains or uses the model is opened without the configuration.

    The options of a ConfigProto apply only to the sessions that are opened with it.  Another
    session of the script, without a ConfigProto or with one that has no NpuOptimizer entry, does
    not get them: precision, dump and all other options have their defaults there, and without
    npu_init the graph runs on the CPU. (This is reported if the session restores or initialises
    variables, which monitored sessions do themselves, runs a training operation, or runs the
    operations of the other session.)

    Wrong:

        custom_op.parameter_map["precision_mode"].s = b"allow_mix_precision"
        with tf.Session(config=config) as sess:
            sess.run(train_op)
        with tf.Session() as sess:
            saver.restore(sess, path)
            sess.run(accuracy)

    Right:

        custom_op.parameter_map["precision_mode"].s = b"allow_mix_precision"
        with tf.Session(config=config) as sess:
            sess.run(train_op)
        with tf.Session(config=config) as sess:
            saver.restore(sess, path)
            sess.run(accuracy)
    """
    mentions = context.script.source.mentions
    configured = _configured(context) if sum(len(mentions(w)) for w in _OPENED) > 1 else None
    if configured is None:
        return
    if not context.once(_any_bare):
        return
    sessions = context.once(_sessions)
    used = context.once(_used)
    places = {
        use.place
        for message in context.run.messages
        for use in message.uses
        if use.kind == "session"
    }
    others = {
        name
        for each in sessions
        if not each.is_plain and context.place(each.call) in places
        for call in used[id(each.call)]
        for name in _fetched(context, call)
    }
    for each in sessions:
        calls = used[id(each.call)]
        if each.is_bare and any(_is_evidence(context, each, call, others) for call in calls):
            if any(name_of(call.func) in _EXPORTING for call in calls):
                continue
            context.report(
                each.call,
                "this session is opened without the configuration of line {}, whose options "
                "have no effect on it",
                configured.place.line,
                help="pass the configuration: config=...",
            )


class _Session(NamedTuple):
    """A call that opens a session, with the nodes around it, and the name that it is given."""

    call: ast.Call
    around: Tuple[ast.AST, ...]
    name: Optional[ast.expr]
    is_bare: bool
    is_plain: bool


def _configured(context: Context) -> Optional[Block]:
    """An entry whose options certainly hold for a session that the script opens."""
    for block in context.run.blocks:
        root = None if block.message is None else block.message.root
        if root is None or root.foreign or block.path or block.built_in or not block.entries:
            continue
        if any(use.kind == "session" for use in root.uses):
            return block
    return None


def _sessions(context: Context) -> List[_Session]:
    """The sessions that nothing may skip."""
    found: List[_Session] = []
    for call in context.calls(*_OPENED):
        around = context.unread.around(call)
        if around and _is_of_tensorflow(context, call):
            name, is_plain = _name_of(call, around), _is_plain(context, call)
            found.append(_Session(call, around, name, is_plain or _is_bare(call), is_plain))
    return [each for each in found if not _may_be_skipped(each)]


def _any_bare(context: Context) -> bool:
    """True when some call that opens a session gives it no entry."""
    return any(_is_bare(call) or _is_plain(context, call) for call in context.calls(*_OPENED))


def _used(context: Context) -> Dict[int, List[ast.Call]]:
    """The calls that work with each session, by the identity of the call that opens it."""
    sessions = context.once(_sessions)
    return {id(each.call): list(_uses(context, each, sessions)) for each in sessions}


def _is_plain(context: Context, call: ast.Call) -> bool:
    """True for a call that certainly gives a ConfigProto to which nobody adds the entry."""
    config = argument(call, "config", SESSIONS[name_of(call.func)])
    made = value_of(context, config)
    if not isinstance(made, ast.Call) or name_of(made.func) != "ConfigProto":
        return False
    if made.args or not {keyword.arg for keyword in made.keywords} <= _HARMLESS:
        return False
    return not isinstance(config, ast.Name) or all(
        _adds_nothing(context.unread.around(node)[-1])
        for node in context.script.nodes(config.id)
        if isinstance(node, ast.Name) and node.id == config.id and isinstance(node.ctx, ast.Load)
    )


_HARMLESS = {
    "allow_soft_placement",
    "gpu_options",
    "inter_op_parallelism_threads",
    "intra_op_parallelism_threads",
    "log_device_placement",
}
"""What a ConfigProto may be given that is still meant for the NPU, and is not its entry."""


def _adds_nothing(parent: ast.AST) -> bool:
    """True where the name below only sets a part beside the entry, or is given to a session."""
    if isinstance(parent, ast.Attribute):
        return parent.attr in _HARMLESS
    if isinstance(parent, ast.keyword):
        return parent.arg == "config"
    return isinstance(parent, ast.Call) and name_of(parent.func) in SESSIONS


def _is_bare(call: ast.Call) -> bool:
    """True for a call that certainly gives no configuration."""
    config = argument(call, "config", SESSIONS[name_of(call.func)])
    return not is_open(call) and (config is None or literal(config) is None)


def _is_of_tensorflow(context: Context, call: ast.Call) -> bool:
    """True for a session of TensorFlow, as far as the imports say; a Supervisor has its own."""
    if name_of(call.func) == "managed_session":
        return True
    owner = root_of(call.func)
    names = context.script.imported(owner.id) if isinstance(owner, ast.Name) else ()
    return any(name.startswith("tensorflow") for name in names)


def _name_of(call: ast.Call, around: Sequence[ast.AST]) -> Optional[ast.expr]:
    """The name, or the attribute of a name, that holds a session."""
    statement = around[-1]
    target: Optional[ast.expr] = None
    if isinstance(statement, ast.withitem):
        target = statement.optional_vars
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    return target if dotted(target) else None


def _may_be_skipped(session: _Session) -> bool:
    """True for a session that is opened on a condition, or on the host, as its name says."""
    return any(
        isinstance(node, (ast.IfExp, ast.BoolOp, ast.ExceptHandler, ast.Lambda))
        or (isinstance(node, ast.If) and not is_main(node.test))
        or (isinstance(node, DEFINITIONS) and _HOST.search(node.name))
        for node in session.around
    )


def _uses(context: Context, session: _Session, sessions: Sequence[_Session]) -> Iterator[ast.Call]:
    """The calls that certainly work with a session."""
    body, own = _body(session), dotted(session.name)
    names = {dotted(each.name) for each in sessions} - {""}
    for node in ast.walk(body) if body is not None else ():
        if isinstance(node, ast.Call) and _innermost(context, node, sessions) is session:
            named = names.intersection(map(dotted, _parties(node)))
            if not named or own in named:
                yield node
    if body is None and session.name is not None:
        for part in context.script.nodes(name_of(session.name)):
            if isinstance(part, ast.Call) and _names_it(context, part, session.name):
                yield part


def _body(session: _Session) -> Optional[ast.With]:
    """The block for which a session is open; None where it is not opened by ``with``."""
    return next((n for n in session.around[-2:] if isinstance(n, ast.With)), None)


def _innermost(
    context: Context, node: ast.expr, sessions: Sequence[_Session]
) -> Optional[_Session]:
    """The session of the innermost ``with`` around a node."""
    bodies = {id(_body(each)): each for each in sessions if _body(each) is not None}
    for outer in reversed(context.unread.around(node)):
        if isinstance(outer, FUNCTIONS):
            return None
        if id(outer) in bodies:
            return bodies[id(outer)]
        if isinstance(outer, ast.With) and any(
            name_of(item.context_expr.func) in SESSIONS
            for item in outer.items
            if isinstance(item.context_expr, ast.Call)
        ):
            return None
    return None


def _names_it(context: Context, call: ast.Call, name: ast.expr) -> bool:
    """True for ``sess.run(...)`` and ``saver.restore(sess, ...)`` of what a name was bound to."""
    for part in _parties(call):
        if dotted(part) == dotted(name):
            found = bindings(context, part)
            before = [each for each in found if each.lineno <= part.lineno]
            return bool(before or found) and (before or found)[-1] is name
    return False


def _parties(call: ast.Call) -> List[ast.expr]:
    """What may be the session in ``sess.run(...)``, ``saver.restore(sess, ...)`` and the like."""
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [*owner, *call.args[:1], *(keyword.value for keyword in call.keywords)]


_Name = Tuple[str, Tuple[int, ...]]
"""A name as it is written, and where it is bound."""


def _fetched(context: Context, call: ast.Call) -> Iterator[_Name]:
    """The names that ``session.run`` fetches."""
    if name_of(call.func) == "run":
        for part in fetches(call):
            found = bindings(context, part) if dotted(part) else []
            if found:
                yield dotted(part), tuple(map(id, found))


def _is_evidence(context: Context, session: _Session, call: ast.Call, others: Set[_Name]) -> bool:
    """True for a call that restores or initializes variables, trains, or runs what others run.

    Monitored sessions do the former themselves before they run anything.
    """
    kind = name_of(call.func)
    if kind == "restore":
        return bool(call.args)
    if kind != "run":
        return False
    if name_of(session.call.func) not in ("Session", "InteractiveSession"):
        return True
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    for part in (*fetches(call), owner):
        if part is None:
            continue
        value = value_of(context, part)
        if isinstance(value, ast.Call) and name_of(value.func) in (*_INITIALIZERS, *_TRAINING):
            return True
    return not others.isdisjoint(_fetched(context, call))
