"""Checks of sessions that are opened without a configuration beside one that has options."""

import ast
import re
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.checks._names import bindings, dotted, value_of
from npu_config.script.checks._reads import is_main
from npu_config.script.objects import Block
from npu_config.script.scopes import DEFINITIONS, FUNCTIONS
from npu_config.script.syntax import argument, literal, name_of
from npu_config.script.vocabulary import SESSIONS

_INTRODUCTION = "docs/en/tfadapter_1/apiref/session_config/introduction.md"

_OPENED = ("Session", "InteractiveSession", "MonitoredTrainingSession", "managed_session")
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

    The options of a ConfigProto hold for the sessions that are opened with it.  Another session
    of the script, opened with none, does not know of them: precision, dump and the rest are at
    their defaults there, and without npu_init its graph runs on the CPU.  (Found where the session
    restores or initializes variables, or runs what trains or what the other session runs.)

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
    if configured is None or not any(map(_is_bare, context.calls(*_OPENED))):
        return
    sessions = [each for each in _sessions(context) if not _may_be_skipped(each)]
    used = {id(each.call): list(_uses(context, each, sessions)) for each in sessions}
    others = {
        name
        for each in sessions
        if each.is_configured
        for call in used[id(each.call)]
        for name in _fetched(context, call)
    }
    for each in sessions:
        calls = used[id(each.call)]
        if each.is_bare and any(_is_evidence(context, call, others) for call in calls):
            if any(name_of(call.func) in _EXPORTING for call in calls):
                continue
            context.report(
                phrase(
                    "this session is opened without the configuration of line {}; none of its "
                    "options hold here",
                    configured.place.line,
                ),
                context.place(each.call),
                help="give it the configuration: config=...",
            )


class _Session(NamedTuple):
    """A call that opens a session, with the nodes around it, and the name that it is given."""

    call: ast.Call
    around: Tuple[ast.AST, ...]
    name: Optional[ast.expr]
    is_bare: bool
    is_configured: bool


def _configured(context: Context) -> Optional[Block]:
    """An entry whose options certainly hold for a session that the script opens."""
    for block in context.run.blocks:
        root = None if block.message is None else block.message.root
        if root is None or root.foreign or block.path or block.built_in or not block.entries:
            continue
        if any(use.kind == "session" for use in root.uses):
            return block
    return None


def _sessions(context: Context) -> Iterator[_Session]:
    places = {
        use.place
        for message in context.run.messages
        for use in message.uses
        if use.kind == "session"
    }
    for call in context.calls(*_OPENED):
        around = context.unread.around(call)
        if not around or not _is_of_tensorflow(context, call):
            continue
        name = _name_of(call, around)
        yield _Session(call, around, name, _is_bare(call), context.place(call) in places)


def _is_bare(call: ast.Call) -> bool:
    """True for a call that certainly gives no configuration."""
    config = argument(call, "config", SESSIONS[name_of(call.func)])
    is_open = any(keyword.arg is None for keyword in call.keywords) or any(
        isinstance(each, ast.Starred) for each in call.args
    )
    return not is_open and (config is None or literal(config) is None)


def _is_of_tensorflow(context: Context, call: ast.Call) -> bool:
    """True for a session of TensorFlow, as far as the imports say; a Supervisor has its own."""
    if name_of(call.func) == "managed_session":
        return True
    owner = call.func
    while isinstance(owner, ast.Attribute):
        owner = owner.value
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
        for part in _parts(argument(call, "fetches", 0)):
            found = bindings(context, part) if dotted(part) else []
            if found:
                yield dotted(part), tuple(map(id, found))


def _parts(fetches: Optional[ast.expr]) -> List[Any]:
    if isinstance(fetches, (ast.List, ast.Tuple)):
        return fetches.elts
    return fetches.values if isinstance(fetches, ast.Dict) else [fetches]


def _is_evidence(context: Context, call: ast.Call, others: Set[_Name]) -> bool:
    """True for a call that restores or initializes variables, trains, or runs what others run."""
    kind = name_of(call.func)
    if kind == "restore":
        return bool(call.args)
    if kind != "run":
        return False
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    for part in (*_parts(argument(call, "fetches", 0)), owner):
        if part is None:
            continue
        value = value_of(context, part)
        if isinstance(value, ast.Call) and name_of(value.func) in (*_INITIALIZERS, *_TRAINING):
            return True
    return not others.isdisjoint(_fetched(context, call))
