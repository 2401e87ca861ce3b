"""Checks of what a loop is fed."""

import ast
from typing import Any, Iterator, List, Optional

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.checks._loops import COUNTS, count_of, counts_loaded, declared, makers
from npu_config.script.checks._names import bindings, dotted, value_of
from npu_config.script.scopes import last_line
from npu_config.script.state import Call
from npu_config.script.syntax import argument, name_of

_PLACEHOLDERS = ("placeholder", "placeholder_with_default")
_LOOPS = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"


@check(
    "NPU863",
    Severity.WARNING,
    facts=("iterations-need-dataset",),
    source=(_LOOPS,),
)
def feed_in_loop(context: Context) -> None:
    """A batch is fed to a loop of several iterations.

    What is fed stays the same during one session.run: every iteration of the loop trains on the
    same batch.  Iteration offload takes its data from a Dataset with an initializable iterator.
    How often the loop runs is said by the call that makes it, by ``load_iteration_per_loop_var``
    or by a SetIterationsVarHook.

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
                    phrase(
                        '"{}" is fed to a loop of {} iterations (line {}); each of them gets the '
                        "same batch",
                        name_of(key),
                        count,
                        call.node.lineno,
                    ),
                    context.place(key),
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
    fetches = argument(run, "fetches", 0)
    parts: List[Any] = [fetches]
    if isinstance(fetches, (ast.List, ast.Tuple)):
        parts = fetches.elts
    elif isinstance(fetches, ast.Dict):
        parts = fetches.values
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
    for key in feeds.keys if isinstance(feeds, ast.Dict) else ():
        value = value_of(context, key) if dotted(key) else None
        if isinstance(value, ast.Call) and name_of(value.func) in _PLACEHOLDERS:
            shape = argument(value, "shape", 1)
            if isinstance(shape, (ast.List, ast.Tuple)) and shape.elts:
                assert key is not None
                yield key
