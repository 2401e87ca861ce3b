"""Checks of loops of which only a part is there: the option, the operation, or its count."""

import ast
from typing import Iterator, Sequence, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.names import ITERATION_OP
from npu_config.script.checks._check import Context, check
from npu_config.script.checks._loops import Declared, asked_for, counts_loaded, sessions_without
from npu_config.script.neighbours import any_importer_has
from npu_config.script.scopes import DEFINITIONS
from npu_config.script.syntax import literal_text, name_of

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
