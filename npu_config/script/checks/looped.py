"""Checks of what the loop runs: its operation, made once and run, and what it is fed."""

import ast
from typing import Any, Iterator, List, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.core.names import ITERATION_OP
from npu_config.script.checks._check import LOOPS, Context, bindings, check, dotted, value_of
from npu_config.script.checks.loops import COUNTS, count_of, counts_loaded, declared, makers
from npu_config.script.scopes import (
    DEFINITIONS,
    argument,
    blocks,
    last_line,
    literal,
    literal_text,
    name_of,
)
from npu_config.script.state import Call

_LOOPS = "docs/en/tfadapter_1/migration/performance_tuning/iteration_offload.md"
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
    """The operation that set_iteration_per_loop gives back is never used.

    It is a new operation, which has to be run in the place of the training operation.  Nothing
    reads the name or the attribute that holds it: the session keeps running the training
    operation itself, and each session.run trains one step.

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
                phrase(
                    "{} gives back the operation to run, but {}; each session.run trains one step",
                    call.name,
                    phrase('nothing reads "{}"', name)
                    if name
                    else phrase("it is given to nothing"),
                ),
                context.place(call.node),
                guards,
                option="iterations_per_loop",
                help=phrase(
                    "run {} in the place of the training operation",
                    '"{}"'.format(name) if name else phrase("it"),
                ),
            )


@check(
    "NPU862",
    Severity.WARNING,
    facts=("iteration-op-name", "iteration-op-once"),
    source=(_LOOPS, _KERNEL),
)
def loop_in_name_scope(context: Context) -> None:
    """The loop is made inside of a name scope.

    The adapter looks for an operation that is called ``IterationOp``, letter by letter.  In a
    scope it is called ``train/IterationOp``, which is not recognised: each session.run trains one
    step.

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
                phrase(
                    'this makes "{}/IterationOp", which is not recognised; the adapter looks for '
                    '"IterationOp"',
                    scope,
                ),
                context.place(call.node),
                guards,
                option="iterations_per_loop",
                help="make the loop outside of every name scope",
            )


def _scope_of(context: Context, node: ast.expr) -> Optional[str]:
    """The name scope that certainly is around an expression."""
    for outer in reversed(context.unread.around(node)):
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
    """The loop is made twice in one function, or again each time round a loop of Python.

    The second operation is called ``IterationOp_1`` in the same graph, which the adapter does not
    recognise: that training operation is not looped.

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
                phrase(
                    "this is done again each time round the loop of line {}; from the second "
                    "time on it makes IterationOp_1, which is not recognised",
                    loop.lineno,
                ),
                context.place(call.node),
                guards,
                option="iterations_per_loop",
                help=phrase("make it once, before line {}", loop.lineno),
            )
        function = context.script.function_of(call.node.lineno)
        if first is None or first[1] is not function:
            first = (call, function)
        elif first[0].node is not call.node and not context.mentions("Graph"):
            context.report(
                phrase(
                    "this makes IterationOp_1, which is not recognised: line {} makes IterationOp "
                    "in the same graph",
                    first[0].node.lineno,
                ),
                context.place(call.node),
                guards,
                help="group the operations and make one loop",
            )


def _loop_around(context: Context, node: ast.expr) -> Optional[ast.stmt]:
    """The loop that certainly runs an expression again, in the same graph, each time round."""
    parents = (*context.unread.around(node), node)
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
