"""What the text of a script does with a name, where no path through it could follow."""

import ast
from typing import Any, Iterator, List, Optional, Sequence, Set

from npu_config.readers.script.checks._check import Sight, name_of
from npu_config.readers.script.objects import Message
from npu_config.readers.script.scopes import (
    DEFINITIONS,
    FUNCTIONS,
    blocks,
    first_line,
    last_line,
)

_READERS = ("print", "pprint", "str", "repr", "type", "id", "len", "isinstance")
_FILLERS = ("CopyFrom", "MergeFrom", "ParseFromString", "ClearField", "HasField", "Clear")
_SCOPES = (*FUNCTIONS, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def is_handed_on(sight: Sight, message: Message, until: Optional[int] = None) -> bool:
    """True when the name that a message is bound to stands where the message may be used.

    Filling it is no use, nor is printing it; to return it is one where what is returned cannot be
    followed: from functions with decorators, of which properties are the most common.

    Args:
        sight: what the check sees.
        message: the message.
        until: look only at the lines between the message and this one.
    """
    line = message.place.line or 0
    function = sight.script.function_of(line)
    scope: Any = sight.script.tree if function is None else function
    names = _names_of(scope, message)
    decorated = function is not None and bool(function.decorator_list)
    rebound = _rebound_in(scope.body, line, names)
    for node, parent, above in _loads(scope, names):
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


def _names_of(scope: ast.AST, message: Message) -> Set[str]:
    """The names of the statements that bind a message."""
    found: Set[str] = set()
    for node in ast.walk(scope):
        value = getattr(node, "value", None)
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or value is None:
            continue
        if any(part is message.node for part in ast.walk(value)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                found.update(part.id for part in ast.walk(target) if isinstance(part, ast.Name))
    return found


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


def _loads(scope: ast.AST, names: Set[str]) -> Iterator[Any]:
    """Every place where one of the names is read, with the two nodes around it.

    Functions that bind the name themselves mean something else with it.
    """
    pending: List[Any] = [(scope, None, None, names)]
    while pending:
        node, parent, above, visible = pending.pop()
        if isinstance(node, _SCOPES) and node is not scope:
            visible = visible - _bound_in(node)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in visible:
            yield node, parent, above
        if visible:
            pending.extend((child, node, parent, visible) for child in ast.iter_child_nodes(node))


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


def is_in_one_loop(sight: Sight, line: int, other: int) -> bool:
    """True when a loop of the script holds both lines, so that each is before the other."""
    first, last = min(line, other), max(line, other)
    return any(
        isinstance(node, _LOOPS) and node.lineno <= first and last <= last_line(node)
        for node in ast.walk(sight.script.tree)
    )
