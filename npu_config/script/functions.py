"""Calls: of functions of the script, of what is known by name, and of what is not known."""

import ast
import contextlib
from typing import Any, Dict, List, Optional, Sequence, Tuple

from npu_config.script import constants, effects, models
from npu_config.script.constants import NotKnown, is_known
from npu_config.script.evaluator import Evaluator, type_names
from npu_config.script.names import Call, Frame
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
from npu_config.script.paths import Decisions
from npu_config.script.scopes import Watch
from npu_config.script.script import Script

_DEPTH = 12
_STEPS = 20000

ON = 0
RETURN = 1
LEAVE = 2
STOP = 3
"""How a body is left: at its end, by return, by break or continue, by raise."""


class Exhausted(Exception):  # noqa: N818 - no error, but an end
    """A path has more statements than are worth following."""


class Functions(Evaluator):
    """Evaluates calls; statements are added by a subclass.

    Attributes:
        guards: the decisions that led to the statement that is being run.
        visited: the functions that were run, by id.
        calls: the calls that rules look at, with their moment and their guards.
        builders: the builders of npu_config that were made.
        failures: expressions that raise, and why.
        environment: environment variables that are taken as text without a default.
    """

    def __init__(self, script: Script, decisions: Decisions) -> None:
        super().__init__(script, decisions)
        self.visited: Dict[int, bool] = {}
        self._stack: List[ast.AST] = []
        self._steps = 0
        self._returned: Any = None

    def count_step(self) -> None:
        """Count a statement; too many end the path."""
        self._steps += 1
        self.script.steps += 1
        if self._steps > _STEPS:
            raise Exhausted

    @property
    def function(self) -> Optional[ast.AST]:
        """The function that is being run."""
        return self._stack[-1] if self._stack else None

    def body(self, statements: Sequence[ast.stmt]) -> int:
        """Run statements; says how they were left."""
        raise NotImplementedError

    def call(self, node: ast.Call) -> Any:
        """The value of a call, and what it does to the objects that are followed."""
        function = node.func
        if isinstance(function, ast.Attribute):
            owner = self.value(function.value)
            name = function.attr
            callee = self._method(owner, name, function)
        else:
            owner = None
            callee = self.value(function)
            name = function.id if isinstance(function, ast.Name) else ""
        call = self._arguments(node, name)
        if callee is None:
            return effects.call_method(self, owner, call)
        if isinstance(callee, Function):
            return self._call_function(callee, call)
        if isinstance(callee, Class):
            return self._call_class(callee, call)
        if isinstance(callee, Unknown):
            return self._call_unknown(callee, call)
        self.pass_on(call)
        return self.anonymous(node)

    def _method(self, owner: Any, name: str, node: ast.Attribute) -> Any:
        """The function that is called; None for a method of an object that is followed."""
        if isinstance(owner, (Instance, Class, Unknown, Constructed)):
            return self.attribute(owner, name, node)
        return None

    def _arguments(self, node: ast.Call, name: str) -> Call:
        args: List[Tuple[Any, ast.expr]] = []
        keywords: Dict[str, Tuple[Any, ast.expr]] = {}
        is_open = False
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                value = self.value(argument.value)
                if isinstance(value, (list, tuple)):
                    args += [(item, argument.value) for item in value]
                else:
                    is_open = True
            else:
                args.append((self.value(argument), argument))
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = (value, keyword.value)
            elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
                keywords.update({key: (item, keyword.value) for key, item in value.items()})
            else:
                is_open = True
        return Call(node, name, args, keywords, is_open)

    def _call_unknown(self, callee: Unknown, call: Call) -> Any:
        name = callee.key.rpartition(".")[2].rpartition("@")[0] or callee.key.rpartition(".")[2]
        model = models.MODELS.get(name)
        if model is not None:
            return model(self, call if call.name == name else call._replace(name=name))
        values = [value for value, _ in call.args]
        known = {key: value for key, (value, _) in call.keywords.items()}
        if callee.key == "type" and len(values) == 1 and is_known(values[0]):
            return Unknown(type(values[0]).__name__)
        if callee.key == "isinstance" and len(values) == 2 and is_known(values[0]):
            with contextlib.suppress(NotKnown):
                return constants.is_instance(values[0], type_names(values[1]))
        if not call.open and is_known(values) and is_known(known):
            try:
                return constants.function(callee.key, values, known)
            except NotKnown:
                pass
        self.pass_on(call, callee.key)
        keys = [self.key(value) for value in values]
        keys += ["{}={}".format(key, self.key(value)) for key, value in known.items()]
        return Unknown("{}({})".format(callee.key, ", ".join(keys)))

    def pass_on(self, call: Call, name: str = "") -> None:
        """Objects go to a function that is not known: it may use and change them."""
        name = name or call.name
        for value, _ in call.args:
            effects.give_away(self, value, name)
        for value, _ in call.keywords.values():
            effects.give_away(self, value, name)

    def start(self, value: Any) -> None:
        """A function of the script is given to something that will call it."""
        if (
            isinstance(value, Function)
            and id(value.node) not in self.visited
            and self.script.relevance.is_hot_function(value.node)
        ):
            self.invoke(value, [], {}, True)

    def _call_class(self, cls: Class, call: Call) -> Any:
        instance = Instance(cls, "{}@{}".format(cls.node.name, call.node.lineno))
        function = self._class_attribute(cls, "__init__")
        if isinstance(function, Function):
            function.receiver = instance
            arguments = function.node.args.args
            if arguments and self.script.relevance.is_hot_function(function.node):
                function.scope.watch(arguments[0].arg, Watch.ALL)
            self._call_function(function, call)
        else:
            self.pass_on(call)
        return instance

    def _call_function(self, function: Function, call: Call) -> Any:
        values = [value for value, _ in call.args] + [v for v, _ in call.keywords.values()]
        relevant = (
            self.script.relevance.is_hot_function(function.node)
            or any(isinstance(v, (Tracked, ParameterMap, Subscript, BlockList)) for v in values)
            or _is_simple(function.node)
        )
        if not relevant:
            self.pass_on(call)
            keys = ", ".join(self.key(value) for value in values)
            return Unknown("{}({})".format(function.node.name, keys))
        keywords = {key: value for key, (value, _) in call.keywords.items()}
        return self.invoke(function, [value for value, _ in call.args], keywords, call.open)

    def invoke(
        self, function: Function, args: List[Any], keywords: Dict[str, Any], is_open: bool
    ) -> Any:
        """Run a function of the script; ``is_open``: other arguments may be given, too."""
        node = function.node
        if len(self._stack) >= _DEPTH or any(active is node for active in self._stack):
            return self.anonymous(node)
        self.visited[id(node)] = True
        frame = self.new_frame(function.scope, function.frame)
        self._bind_parameters(function, frame, args, keywords, is_open)
        outer, self.frame = self.frame, frame
        self._stack.append(node)
        try:
            left = self.body(node.body)
            value = self._returned if left == RETURN else None
        finally:
            self.frame = outer
            self._stack.pop()
            self._returned = None
        if isinstance(value, (Tracked, Instance, Function, tuple, list)) or value is None:
            return value
        if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list or not _is_simple(node):
            keys = ", ".join(self.key(argument) for argument in args)
            return Unknown("{}({})".format(node.name, keys))
        return value

    def _bind_unknown(self, frame: Frame, node: Any) -> None:
        arguments = node.args
        parameters = getattr(arguments, "posonlyargs", []) + arguments.args + arguments.kwonlyargs
        for parameter in [*parameters, arguments.vararg, arguments.kwarg]:
            if parameter is not None:
                key = "{}@{}".format(parameter.arg, frame.serial)
                frame.variables[parameter.arg] = Unknown(key)

    def _bind_parameters(
        self,
        function: Function,
        frame: Frame,
        args: List[Any],
        keywords: Dict[str, Any],
        is_open: bool,
    ) -> None:
        arguments = function.node.args
        self._bind_unknown(frame, function.node)
        positional = getattr(arguments, "posonlyargs", []) + arguments.args
        if function.receiver is not None and not _is_static(function.node):
            args = [function.receiver, *args]
        names = [parameter.arg for parameter in positional]
        given = dict(zip(names, args))
        known = names + [parameter.arg for parameter in arguments.kwonlyargs]
        given.update({name: value for name, value in keywords.items() if name in known})
        if not is_open:
            defaults = list(zip(names[len(names) - len(arguments.defaults) :], arguments.defaults))
            defaults += [
                (parameter.arg, default)
                for parameter, default in zip(arguments.kwonlyargs, arguments.kw_defaults)
                if default is not None
            ]
            for name, default in defaults:
                if name not in given:
                    given[name] = self.in_frame(function.frame, default)
        for name, value in given.items():
            frame.variables[name] = value
            function.scope.watch(name, interest_in(value))


def interest_in(value: Any) -> Watch:
    """Which statements matter where a name is bound to a value."""
    if isinstance(value, Tracked):
        return Watch.HANDLED
    if isinstance(value, (BlockList, ParameterMap, Subscript)):
        return Watch.ALL
    return Watch.METHODS if isinstance(value, Instance) else Watch.NOT


def _is_static(node: Any) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)


def _is_simple(node: Any) -> bool:
    """True for a function that does nothing but to return a value."""
    body = node.body
    if (
        len(body) == 2
        and isinstance(body[0], ast.Expr)
        and not isinstance(body[0].value, ast.Call)
    ):
        body = body[1:]
    return len(body) == 1 and isinstance(body[0], ast.Return)
