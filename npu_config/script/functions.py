"""Functions of the script: binding their parameters and running their bodies."""

import ast
from typing import Any, Dict, List

from npu_config.script.objects import (
    BlockList,
    Function,
    Instance,
    ParameterMap,
    Subscript,
    Tracked,
    Unknown,
)
from npu_config.script.scopes import Watch
from npu_config.script.state import (
    RETURN,
    Frame,
    Run,
    anonymous,
    evaluate_in,
    execute,
    result_of,
    used,
)

_DEPTH = 12


def is_relevant(run: Run, function: Function) -> bool:
    """True for a function with hot lines."""
    return run.script.relevance.is_hot_function(function.node)


def start(run: Run, value: Any) -> None:
    """A function of the script is given to something that will call it."""
    is_new = isinstance(value, Function) and id(value.node) not in run.visited
    if is_new and is_relevant(run, value):
        used(run, invoke(run, value, [], {}, True), "return")


def invoke(
    run: Run, function: Function, args: List[Any], keywords: Dict[str, Any], is_open: bool
) -> Any:
    """Run a function of the script; ``is_open``: other arguments may be given, too."""
    node = function.node
    if len(run.stack) >= _DEPTH or any(active is node for active in run.stack):
        return anonymous(node)
    run.visited[id(node)] = True
    frame = run.new_frame(function.scope, function.frame)
    _bind_parameters(run, function, frame, args, keywords, is_open)
    outer, run.frame = run.frame, frame
    run.stack.append(node)
    try:
        left = execute(run, node.body)
        value = run.returned if left == RETURN else None
    finally:
        run.frame = outer
        run.stack.pop()
        run.returned = None
    if isinstance(value, (Tracked, Instance, Function, tuple, list)) or value is None:
        return value
    used(run, value, "return")
    if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list or not is_simple(node):
        return result_of(Unknown(node.name, (node.name,)), node.name, args)
    return value


def bind_unknown(frame: Frame, node: Any) -> None:
    """Bind the parameters of a function that have no value to what cannot be known."""
    arguments = node.args
    parameters = [*_positional(arguments), *arguments.kwonlyargs]
    for parameter in [*parameters, arguments.vararg, arguments.kwarg]:
        if parameter is not None and parameter.arg not in frame.variables:
            key = "{}@{}".format(parameter.arg, frame.serial)
            frame.variables[parameter.arg] = Unknown(key, (parameter.arg,))


def _positional(arguments: ast.arguments) -> List[ast.arg]:
    return [*getattr(arguments, "posonlyargs", ()), *arguments.args]


def _bind_parameters(
    run: Run,
    function: Function,
    frame: Frame,
    args: List[Any],
    keywords: Dict[str, Any],
    is_open: bool,
) -> None:
    arguments = function.node.args
    if function.receiver is not None and not _is_static(function.node):
        args = [function.receiver, *args]
    names = [parameter.arg for parameter in _positional(arguments)]
    by_keyword = [parameter.arg for parameter in arguments.kwonlyargs]
    given = dict(zip(names, args))
    given.update((name, keywords[name]) for name in names + by_keyword if name in keywords)
    if not is_open:
        defaults = dict(zip(reversed(names), reversed(arguments.defaults)))
        defaults.update(zip(by_keyword, arguments.kw_defaults))
        for name, default in defaults.items():
            if name not in given and default is not None:
                given[name] = evaluate_in(run, function.frame, default)
    if arguments.kwarg is not None and not is_open:
        frame.variables[arguments.kwarg.arg] = {
            name: value for name, value in keywords.items() if name not in given
        }
    for name, value in given.items():
        frame.variables[name] = value
        function.scope.watch(name, interest_in(value))
    bind_unknown(frame, function.node)


def interest_in(value: Any) -> Watch:
    """Which statements matter where a name is bound to a value."""
    if isinstance(value, Tracked):
        return Watch.HANDLED
    if isinstance(value, (BlockList, ParameterMap, Subscript)):
        return Watch.ALL
    return Watch.METHODS if isinstance(value, Instance) else Watch.NOT


def _is_static(node: Any) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)


def is_simple(node: Any) -> bool:
    """True for a function that does nothing but to return a value."""
    body = node.body
    if isinstance(body[0], ast.Expr) and not isinstance(body[0].value, ast.Call):
        body = body[1:]
    return len(body) == 1 and isinstance(body[0], ast.Return)
