"""Input pipelines, followed statement by statement: what is a Dataset, and which never ends.

The state of a value is None (not known to be a Dataset), False (a Dataset that may end) or True
(a Dataset that certainly never ends).
"""

import ast
import sys
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from npu_config.migration.dataset_lines import method_lines, relevant_functions
from npu_config.migration.resolve import Frame, Frames, dotted_parts, frames_of, parameters
from npu_config.migration.script import Script
from npu_config.migration.sites import number_of
from npu_config.python_flow.scopes import FunctionNode, holds

__all__ = ["Found", "calls", "line_of"]

State = Optional[bool]
Env = Dict[str, State]

_SOURCES = (
    "tensorflow.data.Dataset.",
    "tensorflow.data.TFRecordDataset",
    "tensorflow.data.TextLineDataset",
    "tensorflow.data.FixedLengthRecordDataset",
    "tensorflow.data.experimental.CsvDataset",
    "tensorflow.data.experimental.SqlDataset",
    "tensorflow.contrib.data.",
)
_PLAIN = frozenset(
    getattr(ast, name)
    for name in ("Constant", "Num", "Str", "NameConstant")
    if sys.version_info < (3, 8) or name == "Constant"
)
_KEEPING = frozenset(
    (
        *("map", "filter", "shuffle", "prefetch", "cache", "batch", "padded_batch", "interleave"),
        *("flat_map", "shard", "skip", "enumerate", "unbatch", "with_options", "window"),
        "map_with_legacy_function",
    )
)
_METHODS = ("batch", "padded_batch", "shard", "shuffle", "map_and_batch", "shuffle_and_repeat")
_TAKING = (
    *("map", "flat_map", "filter", "repeat", "take", "skip", "prefetch", "window", "interleave"),
    *("from_tensors", "from_tensor_slices"),
)
_APPLIED = "tensorflow.data.experimental."
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Found(NamedTuple):
    """A method call of a Dataset, or a function that is given to ``apply``.

    ``method`` is the call of the method: that of ``apply``, or ``call`` itself.
    """

    call: ast.Call
    name: str
    is_dataset: bool
    endless: bool
    frames: Frames
    method: ast.Call


def calls(script: Script) -> List[Found]:
    """Every method call that matters, with the state of its receiver."""
    found: Optional[List[Found]] = script.cache.get("pipelines")
    if found is None:
        found = script.cache["pipelines"] = _Flow(script).run()
    return found


def line_of(script: Script, found: Found) -> int:
    """The line on which the name of the method stands."""
    return script.position(script.span(found.method.func)[1] - 1)[0]


class _Flow:
    """The pipelines of one script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.found: Dict[int, Found] = {}
        self.returned: Dict[int, State] = {}
        self.running: Set[int] = set()
        self.relevant: Set[int] = set()
        self.results: List[List[State]] = [[]]
        self.bound_elsewhere: Set[str] = set()

    def run(self) -> List[Found]:
        script = self.script
        lines = method_lines(script)
        if not lines:
            return []
        module = (Frame(script.module),)
        if not script.words.isdisjoint(("global", "nonlocal")):
            self.bound_elsewhere = _bound_elsewhere(script.tree)
        relevant = relevant_functions(script, lines)
        self.relevant = {id(span.node) for span in relevant}
        for span in relevant:
            if holds(lines, span.first, span.last):
                self.function(span.node, frames_of(span.scope, span.node))
        self.body(script.tree.body, {}, module)
        return sorted(
            self.found.values(), key=lambda found: (found.call.lineno, found.call.col_offset)
        )

    def function(self, node: FunctionNode, frames: Frames) -> State:
        """What a function returns."""
        key = id(node)
        known = key in self.returned or key in self.running or key not in self.relevant
        if known or len(self.running) > 20:
            return self.returned.get(key)
        self.running.add(key)
        self.results.append([])
        self.body(node.body, dict.fromkeys(parameters(node.args)), frames)
        states = self.results.pop()
        self.running.discard(key)
        self.returned[key] = _joined(states)
        return self.returned[key]

    # Statements

    def body(self, statements: Sequence[ast.AST], env: Env, frames: Frames) -> bool:
        """Follow some statements; True when they leave the block."""
        return any(self.statement(statement, env, frames) for statement in statements)

    def statement(self, node: ast.AST, env: Env, frames: Frames) -> bool:
        if isinstance(node, ast.Expr):
            self.value(node.value, env, frames)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            if node.value is not None:
                state = self.value(node.value, env, frames)
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    self.bind(target, node.value, state, env, frames)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self.results[-1].append(self.value(node.value, env, frames))
            return True
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if isinstance(node, ast.ClassDef):
                scope = frames[-1].scope
                assert scope is not None
                self.body(node.body, {}, (*frames, Frame(scope.child(node))))
        elif isinstance(node, ast.If):
            self.value(node.test, env, frames)
            return self.branches(env, frames, [node.body, node.orelse])
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            if isinstance(node, ast.While):
                self.value(node.test, env, frames)
            else:
                self.value(node.iter, env, frames)
                self.bind(node.target, node.target, None, env, frames)
            for name in _assigned(node.body) if True in env.values() else ():
                if env.get(name):  # another round may bind it to what ends
                    env[name] = False
            inner = dict(env)
            self.body(node.body, inner, frames)
            _merge(env, [dict(env), inner])
            self.body(node.orelse, env, frames)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self.value(item.context_expr, env, frames)
            return self.body(node.body, env, frames)
        elif isinstance(node, ast.Try):
            before = dict(env)
            left = self.body(node.body, env, frames)
            ends = [] if left else [dict(env)]
            for handler in node.handlers:
                inner = dict(before)
                _merge(inner, [before, env])
                if not self.body(handler.body, inner, frames):
                    ends.append(inner)
            _merge(env, ends or [before])
            self.body(node.orelse, env, frames)
            self.body(node.finalbody, env, frames)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.value(child, env, frames)
            return isinstance(node, _LEAVING)
        return False

    def branches(self, env: Env, frames: Frames, bodies: List[List[ast.stmt]]) -> bool:
        ends = []
        for body in bodies:
            inner = dict(env)
            if not self.body(body, inner, frames):
                ends.append(inner)
        _merge(env, ends)
        return not ends

    def bind(
        self, target: ast.AST, value: ast.AST, state: State, env: Env, frames: Frames
    ) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            values = getattr(value, "elts", None)
            for index, part in enumerate(target.elts):
                known = values is not None and len(values) == len(target.elts)
                one = self.value(values[index], env, frames) if values and known else None
                self.bind(part, part, one, env, frames)
            return
        parts = dotted_parts(target)
        if parts is not None:
            # another function may bind it to what ends, at any time
            elsewhere = state is True and parts[0] in self.bound_elsewhere
            env[".".join(parts)] = False if elsewhere else state

    # Expressions

    def value(self, node: ast.AST, env: Env, frames: Frames) -> State:
        if type(node) in _PLAIN:
            return None
        if isinstance(node, ast.Call):
            return self.call(node, env, frames)
        if isinstance(node, (ast.Name, ast.Attribute)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
                self.value(node.value, env, frames)
                return None
            parts = dotted_parts(node)
            return self.name(".".join(parts), env, frames) if parts else None
        if isinstance(node, ast.IfExp):
            self.value(node.test, env, frames)
            return _joined(
                [self.value(node.body, env, frames), self.value(node.orelse, env, frames)]
            )
        if isinstance(node, ast.Lambda):
            inner = dict(env)
            inner.update(dict.fromkeys(parameters(node.args)))
            self.value(node.body, inner, (*frames, Frame(None, parameters(node.args))))
            return None
        for child in ast.iter_child_nodes(node):
            self.value(child, env, frames)
        return None

    def name(self, name: str, env: Env, frames: Frames) -> State:
        if name in env:
            return env[name]
        scope = self.script.module
        if "." in name or any(name in frame.names for frame in frames):
            return None
        stores = scope.stores.get(name, [])
        if len(frames) > 1 and len(stores) == 1 and stores[0].kind == "value":
            env[name] = None
            env[name] = self.value(stores[0].node, {}, frames[:1])
            return env[name]
        return None

    def call(self, node: ast.Call, env: Env, frames: Frames) -> State:
        function = node.func
        resolver = self.script.resolver
        if isinstance(function, ast.Attribute):
            dotted = resolver.resolve(function, frames)
            if dotted is not None and dotted.startswith("tensorflow."):
                for argument in _arguments(node):
                    self.value(argument, env, frames)
                if dotted.startswith(_SOURCES):
                    self.record(node, function.attr, False, frames)
                    return self.zipped(node, env, frames) if dotted.endswith(".zip") else False
                if dotted == _APPLIED + "map_and_batch":
                    self.record(node, "map_and_batch", None, frames)
                return None
            receiver = self.value(function.value, env, frames)
            return self.method(node, function.attr, receiver, env, frames)
        if isinstance(function, ast.Name):
            dotted = resolver.resolve(function, frames)
            for argument in _arguments(node):
                self.value(argument, env, frames)
            if dotted is not None and dotted.startswith(_SOURCES):
                return False
            if dotted == _APPLIED + "map_and_batch":
                self.record(node, "map_and_batch", None, frames)
            return self.local(function.id, frames)
        for child in ast.iter_child_nodes(node):
            self.value(child, env, frames)
        return None

    def zipped(self, node: ast.Call, env: Env, frames: Frames) -> State:
        parts: Optional[List[ast.expr]] = None
        if node.args:
            parts = getattr(node.args[0], "elts", None)
        states = [self.value(part, env, frames) for part in parts or ()]
        return bool(states) and all(state is True for state in states)

    def local(self, name: str, frames: Frames) -> State:
        """What a function of the script returns."""
        for index in range(len(frames) - 1, -1, -1):
            scope = frames[index].scope
            if scope is None or name not in scope.stores:
                continue
            stores = scope.stores[name]
            only = stores[0].node
            if len(stores) == 1 and isinstance(only, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return self.function(only, frames_of(scope, only))
            return None
        return None

    def method(
        self, node: ast.Call, name: str, receiver: State, env: Env, frames: Frames
    ) -> State:
        if name == "apply" and len(node.args) == 1:
            return self.applied(node, receiver, env, frames)
        for child in _arguments(node):
            self.value(child, env, frames)
        if receiver is not None or name == "padded_batch":
            self.record(node, name, receiver, frames)
        if receiver is None:
            return None
        if name in _KEEPING:
            return receiver
        if name == "repeat":
            return _is_endless_count(self.script.argument(node, "count", 0)) or receiver
        if name == "concatenate":
            other = self.value(node.args[0], env, frames) if node.args else None
            return receiver or other is True
        return False if name in ("take", "apply", "options") else None

    def applied(self, outer: ast.Call, receiver: State, env: Env, frames: Frames) -> State:
        """The Dataset that ``apply`` gives."""
        inner = outer.args[0]
        if not isinstance(inner, ast.Call):
            self.value(inner, env, frames)
            return None if receiver is None else False
        dotted = self.script.resolver.resolve(inner.func, frames) or ""
        for child in _arguments(inner):
            self.value(child, env, frames)
        name = dotted[len(_APPLIED) :] if dotted.startswith(_APPLIED) else ""
        if name in ("map_and_batch", "shuffle_and_repeat"):
            self.record(inner, name, receiver, frames, outer)
        if receiver is None:
            return None
        if name == "shuffle_and_repeat":
            return _is_endless_count(self.script.argument(inner, "count", 1)) or receiver
        keeps = ("map_and_batch", "parallel_interleave", "ignore_errors", "prefetch_to_device")
        return receiver if name in keeps else False

    def record(
        self,
        node: ast.Call,
        name: str,
        receiver: State,
        frames: Frames,
        method: Optional[ast.Call] = None,
    ) -> None:
        known = self.found.get(id(node))
        is_dataset, endless = receiver is not None, receiver is True
        if known is not None:
            is_dataset, endless = known.is_dataset and is_dataset, known.endless and endless
        self.found[id(node)] = Found(node, name, is_dataset, endless, frames, method or node)


def _bound_elsewhere(tree: ast.AST) -> Set[str]:
    """The names that a function binds in a scope around it."""
    declared = (node for node in ast.walk(tree) if isinstance(node, (ast.Global, ast.Nonlocal)))
    return {name for node in declared for name in node.names}


def _assigned(body: Sequence[ast.AST]) -> Set[str]:
    """The names and attributes that some statements bind."""
    found: Set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                found.add(".".join(dotted_parts(node) or ()))
    return found


def _arguments(node: ast.Call) -> List[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _is_endless_count(node: Optional[ast.expr]) -> bool:
    """True for the count of a repeat() that never ends."""
    return node is None or number_of(node) == -1 or getattr(node, "value", 0) is None


def _joined(states: Sequence[State]) -> State:
    if not states or any(state is None for state in states):
        return None
    return all(states)


def _merge(env: Env, ends: Sequence[Mapping[str, State]]) -> None:
    """Make an environment that of several ways to come to one place."""
    if not ends:
        return
    names: Set[str] = set()
    for end in ends:
        names.update(end)
    merged: Tuple[Tuple[str, State], ...] = tuple(
        (name, _joined([end.get(name) for end in ends])) for name in names
    )
    env.clear()
    env.update(merged)
