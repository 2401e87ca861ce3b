"""Checks of what a loop is fed."""

import ast
from typing import Iterator, List, Optional

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.checks.looped import count_of, makers
from npu_config.script.scopes import last_line
from npu_config.script.syntax import argument, name_of

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
        count = count_of(call)
        name = _name_given(context, call.node)
        if not name or type(count) is not int or count < 2:
            continue
        function = context.script.function_of(call.node.lineno)
        for run in context.calls("run"):
            if run.lineno <= call.node.lineno or not _fetches(run, name):
                continue
            if context.script.function_of(run.lineno) is not function:
                continue
            if _is_bound_between(context, name, call.node, run):
                continue
            for key in _fed(context, run):
                context.report(
                    phrase(
                        '"{}" is fed to a loop of {} iterations (line {}); each of them gets the '
                        "same batch",
                        key.id,
                        count,
                        call.node.lineno,
                    ),
                    context.place(key),
                    option="iterations_per_loop",
                    help="read the data from a Dataset with an initializable iterator",
                )
                break


def _name_given(context: Context, node: ast.expr) -> str:
    """The name that an expression is bound to."""
    parents = context.unread.around(node)
    statement = parents[-1] if parents else None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def _is_bound_between(context: Context, name: str, first: ast.expr, last: ast.expr) -> bool:
    """True when a name may get another value between two lines."""
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and not isinstance(node.ctx, ast.Load)
        and last_line(context.unread.around(first)[-1]) < node.lineno <= last.lineno
        for node in context.script.nodes(name)
    )


def _fetches(run: ast.Call, name: str) -> bool:
    """True for ``session.run`` of what a name holds."""
    fetches = argument(run, "fetches", 0)
    parts = fetches.elts if isinstance(fetches, (ast.List, ast.Tuple)) else [fetches]
    return any(isinstance(part, ast.Name) and part.id == name for part in parts)


def _fed(context: Context, run: ast.Call) -> Iterator[ast.Name]:
    """The placeholders of batches that a run is fed."""
    feeds = argument(run, "feed_dict", 1)
    if isinstance(feeds, ast.Name):
        feeds = _value_of(context, feeds)
    for key in feeds.keys if isinstance(feeds, ast.Dict) else ():
        value = _value_of(context, key) if isinstance(key, ast.Name) else None
        if isinstance(value, ast.Call) and name_of(value.func) == "placeholder":
            shape = argument(value, "shape", 1)
            if isinstance(shape, (ast.List, ast.Tuple)) and shape.elts:
                assert isinstance(key, ast.Name)
                yield key


def _value_of(context: Context, name: ast.Name) -> Optional[ast.expr]:
    """What a name is bound to, when that is done once, in its function or else in the module."""
    for function in (context.script.function_of(name.lineno), None):
        count = 0
        values: List[ast.expr] = []
        for node in context.script.nodes(name.id):
            if not isinstance(node, (ast.Name, ast.arg, ast.Assign)):
                continue
            if context.script.function_of(node.lineno) is not function:
                continue
            if isinstance(node, ast.Assign):
                values += [node.value for target in node.targets if name_of(target) == name.id]
            elif isinstance(node, ast.arg):
                count += node.arg == name.id
            else:
                count += node.id == name.id and not isinstance(node.ctx, ast.Load)
        if count:
            return values[0] if count == len(values) == 1 else None
    return None
