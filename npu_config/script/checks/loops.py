"""Checks of iteration offload: the option, the operation that makes the loop, and its count."""

import ast
import os
import re
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Diagnostic, Place, Severity
from npu_config.core.message import phrase
from npu_config.core.names import ITERATION_OP
from npu_config.script.checks._check import Context, check
from npu_config.script.checks.estimators import of_plain_estimator
from npu_config.script.neighbours import any_importer_has
from npu_config.script.objects import Block, Entry, Message, Tracked
from npu_config.script.scopes import DEFINITIONS, argument, literal_text, name_of
from npu_config.script.state import Call
from npu_config.script.vocabulary import SESSIONS
from npu_config.text.loading import load

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
    path = os.path.join(os.path.dirname(context.script.source.path or ""), name)
    if not os.path.isfile(path):
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
        is_open = any(keyword.arg is None for keyword in node.keywords) or any(
            isinstance(each, ast.Starred) for each in node.args
        )
        if is_open or (config is not None and not _is_without(messages.get(context.place(node)))):
            return False
        found = found or config is not None or context.script.is_patched
    return found


def _estimators_without(context: Context) -> Optional[int]:
    """How many Estimators of TensorFlow declare no loop; None where one of them may."""
    uses = 0
    for made in context.run.constructed:
        if made.kind == "RunConfig":
            given = made.arguments.get("session_config")
            message = None if given is None else given.value
            without = isinstance(message, Message) and _is_without(message)
            if made.open or not (without or (given is None and context.script.is_patched)):
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
    """``iterations_per_loop`` is set, and nothing makes the loop, or only a half of it.

    The loop is built around an operation that is called ``IterationOp``, and a variable of the
    session says how often it runs.  ``set_iteration_per_loop`` makes both.  Elsewhere each half
    is made by itself: the operation by ``tf.group(train_op, name="IterationOp")`` or
    ``create_iteration_per_loop_var``, the count by a ``SetIterationsVarHook`` that is given to
    the session or the Estimator, or by ``load_iteration_per_loop_var``.  Without one of them each
    session.run trains one step.  (Looked for in the script and in the files that it imports;
    where one of them cannot be found, nothing is said.)
    The option may be set on a ``parameter_map``, on a NpuConfigBuilder or in a configuration file
    that the script loads.  NPUEstimator makes the loop itself, an Estimator of TensorFlow does
    not, and ``fit`` of Keras cannot run one: ``keras_to_npu.model_to_npu_estimator`` converts the
    model.

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
            phrase(
                '"iterations_per_loop" is {}{}, but Keras makes no loop; each session.run of fit '
                "trains one step",
                loop.iterations,
                _in_file(loop),
            ),
            loop.place,
            loop.guards,
            option="iterations_per_loop",
            help="convert the model with keras_to_npu.model_to_npu_estimator, or drop the option",
        )


def _in_file(loop: Declared) -> str:
    return "" if loop.file is None else phrase(" in {}", loop.file)


def _report(context: Context, loop: Declared, named: bool, counted: bool) -> None:
    if named:
        lacks = phrase(
            "nothing says how often the loop runs: no SetIterationsVarHook that is used, and no "
            "load_iteration_per_loop_var"
        )
        help = phrase(
            "give train(hooks=...) a SetIterationsVarHook({})"
            if loop.by_estimator
            else "give the session a SetIterationsVarHook({0}) in its hooks, or call "
            "load_iteration_per_loop_var(sess, {0}) before the first run",
            loop.iterations,
        )
    elif counted:
        lacks = phrase("no operation is called IterationOp, which is what is looped")
        help = phrase(
            'let model_fn return tf.group(train_op, name="IterationOp")'
            if loop.by_estimator
            else 'run tf.group(train_op, name="IterationOp") in place of the training operation'
        )
    else:
        lacks = phrase(
            "nothing makes the loop: no set_iteration_per_loop, SetIterationsVarHook or "
            "IterationOp"
        )
        help = phrase(
            "use NPUEstimator, which makes the loop, or give train a SetIterationsVarHook({}) "
            'and let model_fn return tf.group(train_op, name="IterationOp")'
            if loop.by_estimator
            else "call util.set_iteration_per_loop(sess, train_op, {}) "
            "(from npu_bridge.estimator.npu import util)",
            loop.iterations,
        )
    context.report(
        phrase(
            '"iterations_per_loop" is {}{}, but {}; each session.run trains one step',
            loop.iterations,
            _in_file(loop),
            lacks,
        ),
        loop.place,
        loop.guards,
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
    """A loop is made, and no session declares ``iterations_per_loop``.

    The option decides whether the adapter builds the loop; without it IterationOp is an ordinary
    operation, and each session.run trains one step.

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
            phrase(
                "{} makes a loop of {}, but the session does not declare "
                '"iterations_per_loop"; each session.run trains one step',
                call.name,
                count,
            ),
            context.place(call.node),
            guards,
            option="iterations_per_loop",
            help=phrase(
                'set custom_op.parameter_map["iterations_per_loop"].i = {} on the configuration '
                "that the session is opened with",
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
    """The option and the loop are given different numbers of iterations.

    The option decides whether to offload, the loop variable how often the loop runs; the
    documentation demands that they are equal, and nothing checks it.

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
    for call, _, guards in context.run.calls:
        if call.name not in COUNTS or call.open:
            continue
        keyword, position, default = COUNTS[call.name]
        given = call.get(keyword, position)
        count = default if given is None else given[0]
        if type(count) is int and count != value:
            context.report(
                phrase(
                    '{} makes a loop of {}, but "iterations_per_loop" is {}; they must be equal',
                    call.name,
                    count,
                    value,
                ),
                context.place(call.node if given is None else given[1]),
                guards,
                option="iterations_per_loop",
                help="give both the same number",
            )


@check(
    "NPU892",
    Severity.ERROR,
    facts=("iterations-positive",),
    source=("tf_adapter/python/npu_bridge/estimator/npu/util.py",),
    also=("iterations_per_loop",),
)
def loop_count_refused(context: Context) -> None:
    """The loop is given a number of iterations that is not a whole number from 1.

    set_iteration_per_loop raises TypeError or ValueError; SetIterationsVarHook fails when the
    session starts.

    Wrong:

        train_op = util.set_iteration_per_loop(sess, train_op, "10")

    Right:

        train_op = util.set_iteration_per_loop(sess, train_op, 10)
    """
    for call, _, guards in context.run.calls:
        if call.name not in COUNTS or call.open:
            continue
        keyword, position, default = COUNTS[call.name]
        given = call.get(keyword, position)
        if given is None and default is not None:
            continue
        value = None if given is None else given[0]
        if value is None and given is not None:
            wrong = True
        else:
            wrong = given is None or (
                isinstance(value, (bool, int, float, str, bytes))
                and not (type(value) is int and value >= 1)
            )
        if wrong:
            context.report(
                phrase("{} takes a whole number from 1, got {!r}", call.name, value),
                context.place(call.node if given is None else given[1]),
                guards,
                option="iterations_per_loop",
                help='give it the value of "iterations_per_loop", a number from 1 on',
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

    A graph with a OneShotIterator may only run one iteration per session.run; otherwise the
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
                phrase(
                    'a one-shot iterator with "iterations_per_loop" {} (line {}); the adapter '
                    "aborts the process",
                    entry.value,
                    entry.place.line,
                ),
                context.place(node),
                option="iterations_per_loop",
                help="use make_initializable_iterator and run its initializer",
            )
