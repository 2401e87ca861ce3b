"""What the text of a script does with a name, where no path through it could follow."""

import ast
from typing import Any, Iterator, List, Optional, Sequence, Set

from npu_config.script.checks._check import Context
from npu_config.script.objects import Message
from npu_config.script.scopes import (
    DEFINITIONS,
    FUNCTIONS,
    blocks,
    children,
    first_line,
    last_line,
)
from npu_config.script.syntax import name_of

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
    lines = sorted({line for name in names for line in context.script.source.mentions(name)})
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
