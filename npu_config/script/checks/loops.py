"""Checks of iteration offload: the option, the operation that makes the loop, its count,
and what the loop runs and is fed.
"""

import ast
import re
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.names import ITERATION_OP
from npu_config.python_flow.scopes import (
    DEFINITIONS,
    FUNCTIONS,
    argument,
    blocks,
    is_open,
    last_line,
    literal,
    literal_text,
    name_of,
)
from npu_config.script.checks._check import (
    LOOPS,
    Context,
    bindings,
    check,
    dotted,
    fetches,
    value_of,
)
from npu_config.script.checks.calls import of_plain_estimator
from npu_config.script.neighbours import any_importer_has, named_in
from npu_config.script.objects import Block, Entry, Message, Tracked
from npu_config.script.paths import Call
from npu_config.script.vocabulary import SESSIONS
from npu_config.text.source import load

_LARGEST = 1024 * 1024

COUNTS = {
    "set_iteration_per_loop": ("iterations_per_loop", 2, 1),
    "load_iteration_per_loop_var": ("iterations_per_loop", 1, 1),
    "SetIterationsVarHook": ("iterations_per_loop", 0, None),
}
"""What loads how often a loop runs: the parameter, its position and its default."""


class Declared(NamedTuple):
    """A count above one with which sessions are opened, the path to it, the file that sets it."""

    iterations: int
    place: Place
    guards: Tuple[int, ...]
    file: Optional[str] = None
    by_estimator: bool = False


def declared(context: Context) -> Iterator[Tuple[Block, Entry]]:
    """The blocks that certainly ask for more than one iteration."""
    for block in context.run.blocks:
        entry = block.entries.get("iterations_per_loop")
        if entry is not None and type(entry.value) is int and entry.value > 1:
            yield block, entry


def opens_here(context: Context, block: Block) -> bool:
    """True when this script opens a session with the block's configuration, and nothing else."""
    if block.message is None or block.message.root.foreign:
        return False
    uses = context.uses(block.message.root.place)
    kinds = {use.kind for use in uses} - {"return"}
    return kinds == {"session"}


def asked_for(context: Context) -> Iterator[Declared]:
    """The counts above one of what this script opens sessions with, and nobody else."""
    for block, entry in declared(context):
        root = None if block.message is None else block.message.root
        by_estimator = root is not None and of_plain_estimator(context, root)
        if by_estimator or opens_here(context, block):
            yield Declared(entry.value, entry.place, entry.path, None, by_estimator)
    for builder in context.run.builders:
        setting = builder.entries.get("iterations_per_loop")
        count = None if setting is None else setting.value
        opened = _opened_by(context, builder)
        if setting is not None and type(count) is int and count > 1 and opened:
            yield Declared(count, setting.place, builder.path, None, opened == _ESTIMATOR)
    for loaded in context.run.loaded:
        opened = _opened_by(context, loaded)
        count = _count_in_file(context, loaded.file) if opened else None
        if count is not None and count > 1:
            yield Declared(count, loaded.place, loaded.path, loaded.file, opened == _ESTIMATOR)


_SESSION, _ESTIMATOR = "session", "estimator"


def _opened_by(context: Context, thing: Tracked) -> str:
    """What alone is opened with a configuration of npu_config; empty where there is more."""
    if {use.kind for use in thing.uses} == {"session"}:
        return _SESSION
    protos = (message for message in context.run.messages if message.uses is thing.uses)
    return _ESTIMATOR if any(of_plain_estimator(context, each) for each in protos) else ""


_COUNT_IN_TEXT = re.compile(
    r"(?:^|[{,])[ \t]{0,40}[\"']?iterations_per_loop[\"']?"
    r"[ \t]{0,40}[:=][ \t]{0,40}([0-9]{1,9})\b",
    re.M,
)


def _count_in_file(context: Context, name: str) -> Optional[int]:
    """The count that a configuration file sets, where the script finds it."""
    path = named_in(context.script.source.path, name)
    if path is None:
        return None
    text = load(path, _LARGEST)
    found = (
        None
        if isinstance(text, Diagnostic)
        else _COUNT_IN_TEXT.search(text.decode("utf-8", "replace"))
    )
    return None if found is None else int(found.group(1))


def makers(context: Context) -> Iterator[Tuple[Call, Tuple[int, ...]]]:
    """The calls that make an IterationOp: set_iteration_per_loop makes none for one iteration."""
    for call, _, guards in context.run.calls:
        if call.name == "set_iteration_per_loop":
            if count_of(call) != 1:
                yield call, guards
        elif call.name == "create_iteration_per_loop_var" or is_named(call):
            yield call, guards


def is_named(call: Call) -> bool:
    """True for ``tf.group(train_op, name="IterationOp")`` and whatever else gives the name."""
    return call.name not in COUNTS and call.value("name", _NOWHERE) == ITERATION_OP


_NOWHERE = 99


def count_of(call: Call) -> Any:
    """How many iterations a call loads; None when that is not said."""
    keyword, position, default = COUNTS[call.name]
    given = call.get(keyword, position)
    if given is None:
        return None if call.open else default
    return given[0]


def _place_of_count(call: Call) -> ast.expr:
    """Where a call says how many iterations it loads."""
    keyword, position, _ = COUNTS[call.name]
    given = call.get(keyword, position)
    return call.node if given is None else given[1]


def counts_loaded(context: Context) -> Iterator[Tuple[Call, Any, Tuple[int, ...]]]:
    """The calls that load how often a loop runs, with the number."""
    for call, _, guards in context.run.calls:
        if call.name in COUNTS:
            yield call, count_of(call), guards


def sessions_without(context: Context, call: Call) -> bool:
    """True when this script opens the session of a call, and no session declares a loop."""
    if context.mentions(*_BY_OTHERS):
        return False
    if not context.script.is_program:
        function = context.script.function_of
        own = function(call.node.lineno)
        if own is None or all(function(n.lineno) is not own for n in context.calls(*SESSIONS)):
            return False
    if context.run.loaded or context.run.builders:
        return False
    estimators = _estimators_without(context)
    if estimators is None:
        return False
    messages = {
        use.place: message
        for message in context.run.messages
        for use in message.uses
        if use.kind == "session"
    }
    found = estimators > 0
    for node in context.calls(*SESSIONS, "set_keras_session_npu_config", "init_resource"):
        position = SESSIONS.get(name_of(node.func), 0)
        config = argument(node, "config", position)
        if is_open(node) or (
            config is not None and not _is_without(messages.get(context.place(node)))
        ):
            return False
        found = found or config is not None or context.script.is_patched
    return found


def _estimators_without(context: Context) -> Optional[int]:
    """How many Estimators of TensorFlow declare no loop; None where one of them may."""
    uses = 0
    for made in context.run.constructed:
        if made.kind == "RunConfig":
            message = made.value("session_config")
            without = isinstance(message, Message) and _is_without(message)
            is_patched = context.script.is_patched and "session_config" not in made.arguments
            if made.open or not (without or is_patched):
                return None
            uses += sum(use.kind.endswith("estimator.Estimator") for use in made.uses)
    calls = sum(1 for _ in context.calls("Estimator"))
    return uses if uses == calls else None


_BY_OTHERS = ("NPUEstimator", "NPURunConfig", "slim")
"""What opens sessions where no call of a session shows it."""


def _is_without(message: Optional[Message]) -> bool:
    """True for a configuration that certainly has no ``iterations_per_loop``."""
    return (
        message is not None
        and not message.foreign
        and any(block.is_npu for block in message.blocks)
        and not any(
            block.open or "iterations_per_loop" in block.entries for block in message.blocks
        )
    )


_LOOPS = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"

_HOOK = "SetIterationsVarHook"
_OPERATION = ("set_iteration_per_loop", "create_iteration_per_loop_var", ITERATION_OP)
"""What makes the operation of a loop."""

_COUNT = ("set_iteration_per_loop", "load_iteration_per_loop_var", _HOOK)
"""What loads how often it runs."""

_VARIABLES = "npu_runconfig"
"""What the variables are called that a script may make by itself."""


@check(
    "NPU886",
    Severity.WARNING,
    facts=(
        "iteration-op-name",
        "iteration-estimator-hook",
        "iteration-variables-loaded",
        "iterations-keras",
    ),
    source=(_LOOPS,),
    also=("iterations_per_loop",),
)
def loop_without_iteration_op(context: Context) -> None:
    """``iterations_per_loop`` is set, but the script creates no loop, or only a part of one.

    The loop needs an operation that is called ``IterationOp``, and a variable with the number of
    iterations.  ``set_iteration_per_loop`` creates both.  Other scripts create them separately:
    the operation by ``tf.group(train_op, name="IterationOp")`` or
    ``create_iteration_per_loop_var``, the number by a ``SetIterationsVarHook`` that is passed to
    the session or the Estimator, or by ``load_iteration_per_loop_var``.  If one of them is
    missing, each session.run trains one step.  (The script and the files that it imports are
    searched; if one of these files cannot be found, nothing is reported.) The option may be set on
    a ``parameter_map``, on a NpuConfigBuilder or in a configuration file that the script loads.
    NPUEstimator creates the loop itself, an Estimator of TensorFlow does not, and ``fit`` of Keras
    cannot run a loop: ``keras_to_npu.model_to_npu_estimator`` converts the model.

    Wrong:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        sess.run(train_op)

    Right:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = util.set_iteration_per_loop(sess, train_op, 10)
        sess.run(train_op)

    Wrong:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = tf.group(train_op, name="IterationOp")
        with tf.train.MonitoredTrainingSession(config=config) as sess:
            sess.run(train_op)

    Right:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = tf.group(train_op, name="IterationOp")
        hooks = [SetIterationsVarHook(10)]
        with tf.train.MonitoredTrainingSession(config=config, hooks=hooks) as sess:
            sess.run(train_op)
    """
    found = list(asked_for(context))
    if not found:
        return
    if _is_keras(context):
        _report_keras(context, found)
        return
    named = _is_there(context, _OPERATION)
    counted = _is_there(context, _COUNT) or bool(
        context.script.source.lines_with(_VARIABLES, within=True)
    )
    if named and counted:
        return
    named = named or _is_elsewhere(context, _OPERATION)
    counted = counted or _is_elsewhere(context, (*_COUNT, _VARIABLES))
    for loop in () if named and counted else found:
        _report(context, loop, named, counted)


def _is_keras(context: Context) -> bool:
    """True for a script that trains by ``fit`` of Keras alone."""
    return (
        any(context.calls("fit", "fit_generator", "train_on_batch"))
        and not any(context.calls("run", "train", "train_and_evaluate"))
        and not context.mentions("model_to_npu_estimator")
    )


def _report_keras(context: Context, found: Sequence[Declared]) -> None:
    for loop in found:
        context.report(
            loop.place,
            '"iterations_per_loop" is {}{}, but Keras creates no device loop; each '
            "session.run in fit trains one step",
            loop.iterations,
            _in_file(loop),
            guards=loop.guards,
            option="iterations_per_loop",
            help="convert the model with keras_to_npu.model_to_npu_estimator, or remove "
            '"iterations_per_loop"',
        )


def _in_file(loop: Declared) -> str:
    return "" if loop.file is None else phrase(" in {}", loop.file)


def _report(context: Context, loop: Declared, named: bool, counted: bool) -> None:
    if named:
        lacks = phrase(
            "the number of iterations of the device loop is never set: no "
            "SetIterationsVarHook is used, and load_iteration_per_loop_var is not called"
        )
        help = phrase(
            "pass a SetIterationsVarHook({}) to train(hooks=...)"
            if loop.by_estimator
            else "add SetIterationsVarHook({0}) to the hooks of the session, or call "
            "load_iteration_per_loop_var(sess, {0}) before the first run",
            loop.iterations,
        )
    elif counted:
        lacks = phrase("no operation is named IterationOp, which the device loop needs")
        help = phrase(
            'let model_fn return tf.group(train_op, name="IterationOp")'
            if loop.by_estimator
            else 'run tf.group(train_op, name="IterationOp") in place of the training operation'
        )
    else:
        lacks = phrase(
            "no device loop is created: the script uses neither set_iteration_per_loop nor "
            "SetIterationsVarHook nor IterationOp"
        )
        help = phrase(
            "use NPUEstimator, which creates the loop, or pass a SetIterationsVarHook({}) "
            'to train and let model_fn return tf.group(train_op, name="IterationOp")'
            if loop.by_estimator
            else "call util.set_iteration_per_loop(sess, train_op, {}) "
            "(from npu_bridge.estimator.npu import util)",
            loop.iterations,
        )
    context.report(
        loop.place,
        '"iterations_per_loop" is {}{}, but {}; each session.run trains one step',
        loop.iterations,
        _in_file(loop),
        lacks,
        guards=loop.guards,
        option="iterations_per_loop",
        help=help,
    )


def _is_there(context: Context, words: Tuple[str, ...]) -> bool:
    """True when code of the script names one of these, and does not drop what it gives."""
    return any(not _is_dropped_hook(context, node) for node in _named(context, words))


def _named(context: Context, words: Tuple[str, ...]) -> Iterator[ast.AST]:
    """Where one of the words stands in code: not in an import, nor in a text by itself."""
    idle = set()
    for node in context.script.nodes(*words):
        if isinstance(node, ast.Expr):
            idle.add(id(node.value))
        text = literal_text(node) if id(node) not in idle else None
        if text is not None:
            if any(word in text for word in words):
                yield node
        elif isinstance(node, ast.alias):
            if node.asname is not None and node.name.rpartition(".")[2] in words:
                yield node
        elif name_of(node) in words or (isinstance(node, DEFINITIONS) and node.name in words):
            yield node


def _is_dropped_hook(context: Context, node: ast.AST) -> bool:
    """True for the name in ``hook = SetIterationsVarHook(10)`` where nothing reads the hook."""
    return name_of(node) == _HOOK and any(
        call.func is node and context.unread.name_of_result(call) is not None
        for call in context.calls(_HOOK)
    )


def _is_elsewhere(context: Context, words: Tuple[str, ...]) -> bool:
    """True when a file that the script imports, or one that imports it, may have a word."""
    if context.imports_may_have(*words):
        return True
    script = context.script
    return not script.is_program and any_importer_has(script.source.path, words)


@check(
    "NPU8021",
    Severity.WARNING,
    facts=("iterations-value-equal", "iteration-op-name"),
    source=(_LOOPS,),
    also=("iterations_per_loop",),
)
def loop_without_option(context: Context) -> None:
    """A device loop is created, but no session sets ``iterations_per_loop``.

    The adapter builds the loop only if the option is set; without the option IterationOp is an
    ordinary operation, and each session.run trains one step.

    Wrong:

        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        with tf.Session(config=config) as sess:
            train_op = util.set_iteration_per_loop(sess, train_op, 10)

    Right:

        config = tf.ConfigProto()
        custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["iterations_per_loop"].i = 10
        with tf.Session(config=config) as sess:
            train_op = util.set_iteration_per_loop(sess, train_op, 10)
    """
    for call, count, guards in counts_loaded(context):
        if type(count) is not int or count < 2 or not sessions_without(context, call):
            continue
        context.report(
            call.node,
            "{} sets the iterations per loop to {}, but the session configuration does not "
            'set "iterations_per_loop"; each session.run trains one step',
            call.name,
            count,
            guards=guards,
            option="iterations_per_loop",
            help=phrase(
                'set custom_op.parameter_map["iterations_per_loop"].i = {} in the '
                "configuration of the session",
                count,
            ),
        )


_PASS = "tf_adapter/optimizers/om_partition_subgraphs_pass.cc"


@check(
    "NPU887",
    Severity.ERROR,
    facts=("iterations-value-equal",),
    source=(_LOOPS,),
    also=("iterations_per_loop",),
)
def loop_counts_differ(context: Context) -> None:
    """The option and the loop have different numbers of iterations.

    The option enables iteration offload, and the loop variable sets the number of iterations.  The
    documentation requires both to be equal, but nothing checks them.

    Wrong:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = util.set_iteration_per_loop(sess, train_op, 100)

    Right:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        train_op = util.set_iteration_per_loop(sess, train_op, 10)
    """
    values: Set[Optional[int]] = set()
    for block in context.run.blocks:
        entry = block.entries.get("iterations_per_loop")
        if entry is None:
            if not block.open and not block.built_in:
                values.add(None)
            continue
        if type(entry.value) is not int or entry.value < 1:
            return
        values.add(entry.value)
    if len(values) != 1:
        return
    (value,) = values
    if value is None:
        return
    for call, count, guards in counts_loaded(context):
        if not call.open and type(count) is int and count != value:
            context.report(
                _place_of_count(call),
                '{} sets the iterations per loop to {}, but "iterations_per_loop" is {}; '
                "both must be equal",
                call.name,
                count,
                value,
                guards=guards,
                option="iterations_per_loop",
                help="use the same number for both",
            )


@check(
    "NPU892",
    Severity.ERROR,
    facts=("iterations-positive",),
    source=("tf_adapter/python/npu_bridge/estimator/npu/util.py",),
    also=("iterations_per_loop",),
)
def loop_count_refused(context: Context) -> None:
    """The number of iterations of the loop is not an integer of 1 or more.

    set_iteration_per_loop raises TypeError or ValueError; SetIterationsVarHook fails when the
    session starts.

    Wrong:

        train_op = util.set_iteration_per_loop(sess, train_op, "10")

    Right:

        train_op = util.set_iteration_per_loop(sess, train_op, 10)
    """
    for call, value, guards in counts_loaded(context):
        is_said = value is None or isinstance(value, (bool, int, float, str, bytes))
        if is_said and not call.open and not (type(value) is int and value >= 1):
            context.report(
                _place_of_count(call),
                "{} needs an integer of at least 1, got {!r}",
                call.name,
                value,
                guards=guards,
                option="iterations_per_loop",
                help='pass the value of "iterations_per_loop", an integer of at least 1',
            )


@check(
    "NPU888",
    Severity.WARNING,
    facts=("iterations-one-shot-iterator", "iterations-need-dataset"),
    source=(_PASS,),
    also=("iterations_per_loop",),
)
def one_shot_iterator_in_loop(context: Context) -> None:
    """A one-shot iterator feeds a loop of several iterations.

    A graph with a OneShotIterator can run only one iteration per session.run; otherwise the
    adapter aborts the process ("iterator_per_loop only support 1 when using OneShotIterator").

    Wrong:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        iterator = dataset.make_one_shot_iterator()

    Right:

        custom_op.parameter_map["iterations_per_loop"].i = 10
        iterator = dataset.make_initializable_iterator()
        sess.run(iterator.initializer)
    """
    for block, entry in declared(context):
        if not opens_here(context, block):
            continue
        if context.mentions("make_initializable_iterator", "Graph"):
            continue
        for node in context.calls("make_one_shot_iterator"):
            context.report(
                node,
                'a one-shot iterator is used with "iterations_per_loop" {} (line {}); the adapter '
                "aborts the process",
                entry.value,
                entry.place.line,
                option="iterations_per_loop",
                help="use make_initializable_iterator and run its initializer",
            )


_KERNEL = "tf_adapter/kernels/geop_npu.cc:1545-1548"

_GRAPHS = ("Graph", "Session", "Supervisor", "as_default", "reset_default_graph", "clear_session")
"""What may bring another graph, in which the operation is the first one again."""

_NAME_SCOPES = ("name_scope", "variable_scope")
_LEAVING = (ast.Break, ast.Continue, ast.Return, ast.Raise)
_CONDITIONAL = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)


@check(
    "NPU861",
    Severity.WARNING,
    facts=("iteration-op-name",),
    source=(_LOOPS, _KERNEL),
)
def loop_never_run(context: Context) -> None:
    """The operation that set_iteration_per_loop returns is never used.

    ``set_iteration_per_loop`` returns a new operation, which must be run in place of the training
    operation.  The script never reads the variable or attribute that holds the new operation: the
    session still runs the training operation itself, and each session.run trains one step.

    Wrong:

        def train(sess, optimizer, loss):
            train_op = util.set_iteration_per_loop(sess, optimizer, 10)
            for step in range(100):
                sess.run([optimizer, loss])

    Right:

        def train(sess, optimizer, loss):
            train_op = util.set_iteration_per_loop(sess, optimizer, 10)
            for step in range(100):
                sess.run([train_op, loss])
    """
    found = list(makers(context))
    own = {id(keyword.value) for call, _ in found for keyword in call.node.keywords}
    if any(
        ITERATION_OP in (literal_text(node) or "") and id(node) not in own
        for node in context.script.nodes(ITERATION_OP)
    ):
        return
    for call, guards in found:
        name = context.unread.name_of_result(call.node)
        if name is not None:
            context.report(
                call.node,
                "{} returns the operation to run, but {}; each session.run trains one step",
                call.name,
                phrase('"{}" is never read', name)
                if name
                else phrase("the script does not use this operation"),
                guards=guards,
                option="iterations_per_loop",
                help=phrase(
                    "run {} in place of the training operation",
                    '"{}"'.format(name) if name else phrase("the returned operation"),
                ),
            )


@check(
    "NPU862",
    Severity.WARNING,
    facts=("iteration-op-name", "iteration-op-once"),
    source=(_LOOPS, _KERNEL),
)
def loop_in_name_scope(context: Context) -> None:
    """The device loop (``IterationOp``) is created inside a name scope.

    The adapter looks for an operation with exactly the name ``IterationOp``.  In a name scope the
    name becomes ``train/IterationOp``, for example, which the adapter does not recognise: each
    session.run trains one step.

    Wrong:

        with tf.name_scope("train"):
            train_op = util.set_iteration_per_loop(sess, optimizer, 10)
            sess.run(train_op)

    Right:

        with tf.name_scope("train"):
            optimizer = tf.train.AdamOptimizer().minimize(loss)
        train_op = util.set_iteration_per_loop(sess, optimizer, 10)
        sess.run(train_op)
    """
    for call, guards in makers(context):
        scope = _scope_of(context, call.node)
        if scope:
            context.report(
                call.node,
                'this call creates "{}/IterationOp", which the adapter does not recognise; '
                'the name must be "IterationOp"',
                scope,
                guards=guards,
                option="iterations_per_loop",
                help="create the loop outside of every name scope",
            )


def _scope_of(context: Context, node: ast.expr, depth: int = 0) -> Optional[str]:
    """The name scope that certainly is around an expression, or around all calls that come to it.

    ``depth`` is how many functions are around.
    """
    for outer in reversed(context.unread.around(node)):
        if isinstance(outer, FUNCTIONS) and depth < 3:
            calls = [site.node for site in context.meaning.calls_of(outer) or ()]
            scopes = [_scope_of(context, call, depth + 1) for call in calls]
            return scopes[0] if scopes and all(scopes) else None
        if isinstance(outer, (*DEFINITIONS, ast.Lambda)):
            return None
        if not isinstance(outer, (ast.With, ast.AsyncWith)):
            continue
        for item in reversed(outer.items):
            call = item.context_expr
            if isinstance(call, ast.Call) and name_of(call.func) in _NAME_SCOPES:
                return _name_of_scope(call)
            if any(
                isinstance(part, (ast.Name, ast.Attribute)) and name_of(part) in _GRAPHS
                for part in ast.walk(call)
            ):
                return None
    return None


def _name_of_scope(call: ast.Call) -> Optional[str]:
    """The name of a scope that is written out, and that opens a name scope."""
    if any(keyword.arg not in ("default_name", "values", "reuse") for keyword in call.keywords):
        return None
    name = literal_text(call.args[0]) if call.args else None
    return name.strip("/") if name else None


@check(
    "NPU896",
    Severity.WARNING,
    facts=("iteration-op-once",),
    source=(_LOOPS,),
)
def second_iteration_op(context: Context) -> None:
    """The device loop is created twice in one function, or repeatedly in a Python loop.

    The second operation of the graph is called ``IterationOp_1``, which the adapter does not
    recognise: this training operation does not run in a loop.

    Wrong:

        d_op = util.set_iteration_per_loop(sess, d_op, 10)
        g_op = util.set_iteration_per_loop(sess, g_op, 10)

    Right:

        train_op = util.set_iteration_per_loop(sess, tf.group(d_op, g_op), 10)

    Wrong:

        for step in range(100):
            train_op = util.set_iteration_per_loop(sess, optimizer, 10)
            sess.run(train_op)

    Right:

        train_op = util.set_iteration_per_loop(sess, optimizer, 10)
        for step in range(100):
            sess.run(train_op)
    """
    first: Optional[Tuple[Any, Any]] = None
    for call, guards in makers(context):
        loop = _loop_around(context, call.node)
        if loop is not None:
            context.report(
                call.node,
                "this call is repeated by the loop in line {}; the second call creates "
                "IterationOp_1, which the adapter does not recognise",
                loop.lineno,
                guards=guards,
                option="iterations_per_loop",
                help=phrase("call it once, before line {}", loop.lineno),
            )
        function = context.script.function_of(call.node.lineno)
        if first is None or first[1] is not function:
            first = (call, function)
        elif first[0].node is not call.node and not context.mentions("Graph"):
            context.report(
                call.node,
                "this call creates IterationOp_1, which the adapter does not recognise: "
                "line {} creates IterationOp in the same graph",
                first[0].node.lineno,
                guards=guards,
                help="group the operations and create one loop",
            )


def _loop_around(context: Context, node: ast.expr) -> Optional[ast.stmt]:
    """The loop that certainly runs an expression again, in the same graph, each time round."""
    parents = (*context.unread.around(node), node)
    if not any(isinstance(parent, LOOPS) for parent in parents):
        return None
    tests: List[ast.expr] = []
    for outer, inner in zip(reversed(parents[:-1]), reversed(parents)):
        if isinstance(outer, (*DEFINITIONS, *_CONDITIONAL)):
            return None
        if not isinstance(outer, ast.stmt) or not isinstance(inner, ast.stmt):
            if isinstance(outer, (ast.ExceptHandler, *LOOPS)):
                return None
            continue
        if _may_leave(outer, inner):
            return None
        if isinstance(outer, ast.If):
            tests.append(outer.test)
        elif isinstance(outer, LOOPS):
            if inner in outer.orelse or _is_short(outer) or _brings_graph(context, outer):
                return None
            return outer if _are_constant(tests, outer) else None
        elif not isinstance(outer, (ast.With, ast.Try)):
            return None
    return None


def _may_leave(outer: ast.stmt, inner: ast.stmt) -> bool:
    """True when the body may be left before a statement of it, or certainly is left after it."""
    for body in blocks(outer):
        if inner in body:
            index = list(body).index(inner)
            before = [node for part in body[:index] for node in ast.walk(part)]
            return any(isinstance(node, _LEAVING) for node in before) or any(
                isinstance(part, _LEAVING) and not isinstance(part, ast.Continue)
                for part in body[index + 1 :]
            )
    return True


def _is_short(loop: ast.stmt) -> bool:
    """True for a loop that is written to run once at most."""
    if not isinstance(loop, (ast.For, ast.AsyncFor)):
        return False
    items = loop.iter
    if isinstance(items, (ast.List, ast.Tuple)):
        return len(items.elts) < 2
    if isinstance(items, ast.Call) and name_of(items.func) == "range" and len(items.args) == 1:
        rounds = literal(items.args[0])
        return isinstance(rounds, int) and rounds < 2
    return False


def _brings_graph(context: Context, loop: ast.stmt) -> bool:
    first, last = loop.lineno, last_line(loop)
    lines = context.script.source.lines_with
    return any(first <= line <= last for word in _GRAPHS for line in lines(word, within=True))


def _are_constant(tests: Sequence[ast.expr], loop: ast.stmt) -> bool:
    """True when conditions give the same each time round a loop."""
    names: Set[str] = set()
    for test in tests:
        for node in ast.walk(test):
            if isinstance(node, (ast.Name, ast.Attribute)):
                names.add(name_of(node))
            elif isinstance(node, (ast.Call, ast.Subscript)):
                return False
    for node in ast.walk(loop):
        changed: Optional[ast.AST] = None
        if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            changed = node
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed = node.func.value
        if changed is not None and name_of(changed) in names:
            return False
    return True


_PLACEHOLDERS = ("placeholder", "placeholder_with_default")


@check(
    "NPU863",
    Severity.WARNING,
    facts=("iterations-need-dataset",),
    source=(_LOOPS,),
)
def feed_in_loop(context: Context) -> None:
    """A session.run feeds one batch to a loop of several iterations.

    The fed values stay the same during one session.run: every iteration of the loop trains on the
    same batch.  Iteration offload needs data from a Dataset with an initializable iterator.  The
    number of iterations is set by the call that creates the loop, by
    ``load_iteration_per_loop_var`` or by a SetIterationsVarHook.

    Wrong:

        inputs = tf.placeholder(tf.float32, [None, 784])
        train_op = util.set_iteration_per_loop(sess, optimizer, 10)
        sess.run(train_op, feed_dict={inputs: batch})

    Right:

        iterator = dataset.make_initializable_iterator()
        inputs = iterator.get_next()
        train_op = util.set_iteration_per_loop(sess, optimizer, 10)
        sess.run(iterator.initializer)
        sess.run(train_op)
    """
    for call, _ in makers(context):
        count = _count_of_loop(context, call)
        target = _target_of(context, call.node)
        if target is None or type(count) is not int or count < 2:
            continue
        for run in context.calls("run"):
            part = _fetched(run, target)
            if part is None or not _still_holds(context, target, part):
                continue
            for key in _batches(context, run, part):
                context.report(
                    key,
                    '"{}" is fed to a loop of {} iterations (line {}); each iteration gets '
                    "the same batch",
                    name_of(key),
                    count,
                    call.node.lineno,
                    option="iterations_per_loop",
                    help="read the data from a Dataset with an initializable iterator",
                )
                break


def _count_of_loop(context: Context, call: Call) -> Any:
    """How often the loop runs that a call makes; None where that is not said."""
    if call.name in COUNTS:
        return count_of(call)
    loaded = {count if type(count) is int else None for _, count, _ in counts_loaded(context)}
    if None in loaded:
        loaded = {entry.value for _, entry in declared(context)}
    return loaded.pop() if len(loaded) == 1 else None


def _target_of(context: Context, node: ast.expr) -> Optional[ast.expr]:
    """The name, or the attribute of a name, that an expression is bound to."""
    parents = context.unread.around(node)
    statement = parents[-1] if parents else None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0] if dotted(statement.targets[0]) else None
    return None


def _fetched(run: ast.Call, target: ast.expr) -> Optional[ast.expr]:
    """Where ``session.run`` or ``operation.run`` names what a target holds."""
    parts = fetches(run)
    if isinstance(run.func, ast.Attribute):
        parts = [*parts, run.func.value]
    return next((part for part in parts if dotted(part) == dotted(target)), None)


def _still_holds(context: Context, target: ast.expr, part: ast.expr) -> bool:
    """True when what is bound to a target is what another node reads."""
    found = bindings(context, part)
    if not any(each is target for each in found):
        return False
    function = context.script.function_of
    first, last = last_line(context.unread.around(target)[-1]), part.lineno
    if function(target.lineno) is function(last):
        return first < last and not any(first < each.lineno <= last for each in found)
    return all(
        function(each.lineno) is function(target.lineno) and each.lineno <= target.lineno
        for each in found
    )


def _batches(context: Context, run: ast.Call, part: ast.expr) -> Iterator[ast.expr]:
    """The placeholders of batches that a run is fed."""
    is_own = isinstance(run.func, ast.Attribute) and run.func.value is part
    feeds = value_of(context, argument(run, "feed_dict", 0 if is_own else 1))
    if isinstance(feeds, ast.Call):
        feeds = _returned_by(context, run, feeds)
    for key in feeds.keys if isinstance(feeds, ast.Dict) else ():
        value = value_of(context, key) if dotted(key) else None
        if isinstance(value, ast.Call) and name_of(value.func) in _PLACEHOLDERS:
            shape = argument(value, "shape", 1)
            if isinstance(shape, (ast.List, ast.Tuple)) and shape.elts:
                assert key is not None
                yield key


def _returned_by(context: Context, run: ast.Call, call: ast.Call) -> Optional[ast.expr]:
    """What the one function returns that certainly is called to make the feed of a run."""
    scopes = [site.scope for site in context.meaning.calls("run") if site.node is run]
    found = [f for scope in scopes for f in context.meaning.functions(scope, call.func)]
    returned = [each for function in found for each in function.returned]
    return value_of(context, returned[0]) if len(returned) == 1 else None
