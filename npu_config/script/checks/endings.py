"""Checks of the end of a program: what is closed, and when."""

import ast
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.core.message import join, phrase
from npu_config.script.checks._check import Context, check
from npu_config.script.checks._reads import is_main
from npu_config.script.scopes import DEFINITIONS, blocks
from npu_config.script.syntax import name_of

_APPS = (
    "absl.app",
    "tensorflow.app",
    "tensorflow.compat.v1.app",
    "tensorflow.python.platform.app",
)
_LIBRARIES = ("tf", "tf1", "tensorflow", "absl")
_MANAGERS = frozenset(("Session", "InteractiveSession", "as_default", "device", "name_scope"))
"""Context managers that catch nothing."""

_SHUTDOWNS = ("shutdown_resource", "close_session")
_EXITS = ("exit", "_exit", "abort", "quit")


@check(
    "NPU891",
    Severity.WARNING,
    facts=("initialize-system-shutdown", "session-close"),
    source=("tf_adapter/python/npu_bridge/npu_init.py",),
    whole=True,
)
def shutdown_after_app_run(context: Context) -> None:
    """``shutdown_resource`` or ``close_session`` comes after ``tf.app.run`` or ``sys.exit``.

    tf.app.run ends the process when ``main`` returns, as sys.exit does: the lines after it are
    never reached, whatever condition they are under.

    Wrong:

        if __name__ == "__main__":
            (npu_sess, npu_shutdown) = init_resource()
            tf.app.run()
            shutdown_resource(npu_sess, npu_shutdown)

    Right:

        def main(_):
            (npu_sess, npu_shutdown) = init_resource()
            train()
            shutdown_resource(npu_sess, npu_shutdown)
            close_session(npu_sess)

        if __name__ == "__main__":
            tf.app.run()
    """
    if not context.mentions(*_SHUTDOWNS):
        return
    lost: Dict[Tuple[str, int], List[ast.Call]] = {}
    functions = [function.body for function, _ in context.script.function_lines()]
    bodies = [inner for body in (context.script.tree.body, *functions) for inner in _bodies(body)]
    for statements in bodies:
        for number, statement in enumerate(statements):
            end = _end_of(statement, context)
            if end is not None:
                lost.setdefault(end, []).extend(_shutdowns(statements[number + 1 :]))
                break
    seen: Set[int] = set()
    for (name, line), calls in sorted(lost.items(), key=lambda item: item[0][1]):
        calls = sorted((c for c in calls if id(c) not in seen), key=lambda call: call.lineno)
        if not calls:
            continue
        seen.update(id(call) for call in calls)
        names = sorted({name_of(call.func) for call in calls}, key=_SHUTDOWNS.index)
        context.report(
            phrase(
                "{} are never reached: {} in line {} ends the process"
                if len(names) > 1
                else "{} is never reached: {} in line {} ends the process",
                join(" and ", names),
                name,
                line,
            ),
            context.place(calls[0]),
            help=phrase(
                "call them {}" if len(names) > 1 else "call it {}",
                phrase("at the end of main")
                if name == "app.run"
                else phrase("before line {}", line),
            ),
        )


def _shutdowns(statements: Sequence[ast.AST]) -> Iterator[ast.Call]:
    """The calls in statements, those of definitions left out."""
    pending = list(reversed(statements))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call) and name_of(node.func) in _SHUTDOWNS:
            yield node
        if not isinstance(node, (*DEFINITIONS, ast.Lambda)):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def _end_of(statement: ast.AST, context: Context) -> Optional[Tuple[str, int]]:
    """What certainly ends the process in a statement, and its line."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if _is_app_run(function, context):
            return "app.run", statement.lineno
        if _is_exit(function, context):
            return name_of(function), statement.lineno
    elif isinstance(statement, ast.If):
        end = _end_in(statement.body, context)
        if is_main(statement.test) and not statement.orelse:
            return end
        return end if _end_in(statement.orelse, context) else None
    elif isinstance(statement, ast.With):
        managers = [name_of(getattr(item.context_expr, "func", item)) for item in statement.items]
        return _end_in(statement.body, context) if set(managers) <= _MANAGERS else None
    elif isinstance(statement, ast.Try) and not statement.handlers:
        return _end_in(statement.body, context)
    return None


def _end_in(statements: Sequence[ast.stmt], context: Context) -> Optional[Tuple[str, int]]:
    ends = (_end_of(statement, context) for statement in statements)
    return next((end for end in ends if end is not None), None)


def _is_exit(function: ast.expr, context: Context) -> bool:
    """True for ``sys.exit``, ``os._exit``, ``os.abort``, and ``exit`` and ``quit`` of Python."""
    if isinstance(function, ast.Attribute):
        return name_of(function.value) in ("sys", "os") and function.attr in _EXITS
    return name_of(function) in ("exit", "quit") and not any(
        node.name == name_of(function) for node, _ in context.script.function_lines()
    )


def _is_app_run(function: ast.expr, context: Context) -> bool:
    """True for ``tf.app.run`` and absl's ``app.run``; web frameworks have one that returns."""
    if name_of(function) != "run" or not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    if name_of(owner) != "app":
        return False
    if isinstance(owner, ast.Name):
        return not context.script.imported("app").isdisjoint(_APPS)
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return name_of(owner) in _LIBRARIES


def _bodies(body: Sequence[ast.AST]) -> Iterator[Sequence[ast.AST]]:
    """A body, and every body inside of it."""
    yield body
    for statement in body:
        for inner in blocks(statement):
            yield from _bodies(inner)
