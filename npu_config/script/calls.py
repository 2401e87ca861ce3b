"""Calls: of functions and classes of the script, of what is known by name, and of the rest."""

import ast
import contextlib
from typing import Any, Callable, Dict, List, Tuple

from npu_config.core.names import ITERATION_OP
from npu_config.script import constants
from npu_config.script.attributes import attribute_of, of_class
from npu_config.script.constants import NotKnown, is_known
from npu_config.script.effects import call_method, pass_on
from npu_config.script.functions import invoke, is_relevant, is_simple
from npu_config.script.models import METHODS, MODELS
from npu_config.script.objects import (
    BlockList,
    Class,
    Constructed,
    Function,
    Instance,
    ParameterMap,
    Subscript,
    Tracked,
    Unknown,
)
from npu_config.script.scopes import Watch
from npu_config.script.state import Call, Run, anonymous, evaluate, identity, result_of
from npu_config.script.syntax import name_of

_GET_VARIABLE = frozenset(("os.getenv", "os.environ.get"))
_COMPUTED = frozenset(("type", "isinstance", *_GET_VARIABLE, *constants.FUNCTIONS))


def call(run: Run, node: ast.Call) -> Any:
    """The value of a call, and what it does to the objects that are followed."""
    function = node.func
    callee: Any = run.fixed.get(function)
    owner: Any = None
    if callee is None and isinstance(function, ast.Attribute):
        owner = evaluate(run, function.value)
        if isinstance(owner, (Unknown, Instance, Class, Constructed)):
            callee = attribute_of(run, owner, function)
    elif callee is None:
        callee = evaluate(run, function)
    found = _arguments(run, node, name_of(function))
    if isinstance(callee, Unknown):
        return _of_unknown(run, callee, found)
    if callee is None:
        return call_method(run, owner, found)
    if isinstance(callee, Function):
        return _of_function(run, callee, found)
    if isinstance(callee, Class):
        return _of_class(run, callee, found)
    pass_on(run, found)
    return anonymous(node)


def _arguments(run: Run, node: ast.Call, name: str) -> Call:
    args: List[Tuple[Any, ast.expr]] = []
    keywords: Dict[str, Tuple[Any, ast.expr]] = {}
    is_open = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = evaluate(run, argument.value)
            if isinstance(value, (list, tuple)):
                args += [(item, argument.value) for item in value]
            else:
                is_open = True
        else:
            args.append((evaluate(run, argument), argument))
    for keyword in node.keywords:
        value = evaluate(run, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = (value, keyword.value)
        elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
            keywords.update({key: (item, keyword.value) for key, item in value.items()})
        else:
            is_open = True
    return Call(node, name, args, keywords, is_open)


def _of_unknown(run: Run, callee: Unknown, call: Call) -> Any:
    model = MODELS.get(callee.name) or METHODS.get(callee.path[-2:])
    if model is not None:
        if call.name != callee.name:
            call = call._replace(name=callee.name)
        return model(run, call)
    values = [value for value, _ in call.args]
    known = {key: value for key, (value, _) in call.keywords.items()}
    if callee.key in _COMPUTED:
        with contextlib.suppress(NotKnown):
            return _computed(run, callee.key, values, known, call.open)
    pass_on(run, call, callee.key)
    if known.get("name") == ITERATION_OP:
        run.note(call)
    named = ["{}={}".format(key, identity(value)) for key, value in known.items()]
    key = "{}({})".format(callee.key, ", ".join([*map(identity, values), *named]))
    if not values and not known and callee.name in _OF_TEXT and callee.parts:
        return Unknown(key, (), (callee, callee.parts[0]), convert=_OF_TEXT[callee.name])
    return Unknown(key, parts=(callee, *values, *known.values()))


def _computed(run: Run, name: str, values: List[Any], known: Dict[str, Any], is_open: bool) -> Any:
    """What a builtin or a function of the standard library gives; raises :class:`NotKnown`."""
    if name == "type" and len(values) == 1 and is_known(values[0]):
        return Unknown(type(values[0]).__name__)
    if name == "isinstance" and len(values) == 2 and is_known(values[0]):
        return constants.is_instance(values[0], constants.type_names(values[1]))
    if name in _GET_VARIABLE and values and isinstance(values[0], str):
        text = run.script.environ.get(values[0])
        if text is not None:
            return text
    if is_open or not is_known(values) or not is_known(known):
        raise NotKnown
    return constants.function(name, values, known)


_OF_TEXT: Dict[str, Callable[[Any], Any]] = {
    "lower": str.lower,
    "upper": str.upper,
    "strip": str.strip,
    "title": str.title,
}
"""Methods of text without arguments."""


def _of_class(run: Run, cls: Class, call: Call) -> Any:
    instance = Instance(cls, "{}@{}".format(cls.node.name, call.node.lineno))
    function = of_class(run, cls, "__init__")
    if isinstance(function, Function):
        function.receiver = instance
        arguments = function.node.args.args
        if arguments and is_relevant(run, function):
            function.scope.watch(arguments[0].arg, Watch.ALL)
        _of_function(run, function, call)
    else:
        pass_on(run, call)
    return instance


def _of_function(run: Run, function: Function, call: Call) -> Any:
    args = [value for value, _ in call.args]
    keywords = {key: value for key, (value, _) in call.keywords.items()}
    values = [*args, *keywords.values()]
    if (
        is_relevant(run, function)
        or any(isinstance(v, (Tracked, ParameterMap, Subscript, BlockList)) for v in values)
        or is_simple(function.node)
    ):
        return invoke(run, function, args, keywords, call.open)
    pass_on(run, call)
    name = function.node.name
    return result_of(Unknown(name, (name,)), name, values)
