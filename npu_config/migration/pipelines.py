"""Input pipelines, followed statement by statement: what is a Dataset, and which never ends.

The state of a value is None (not known to be a Dataset), False (a Dataset that may end) or True
(a Dataset that certainly never ends).
"""

import ast
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Set

from npu_config.migration.resolve import Resolver
from npu_config.python_flow.scopes import (
    CONSTANTS,
    FUNCTIONS,
    FunctionNode,
    Scope,
    argument,
    arguments,
    dotted_parts,
    holds,
    last_line,
    number_of,
)

__all__ = ["DatasetCall", "calls", "line_of"]

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
_MAKING = (
    *("Dataset", "TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset", "repeat"),
    *("CsvDataset", "SqlDataset"),
)
_APPLIED = "tensorflow.data.experimental."
_APPLIED_KEEPING = (
    *("map_and_batch", "parallel_interleave", "ignore_errors", "prefetch_to_device"),
)
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class DatasetCall(NamedTuple):
    """A method call of a Dataset, or a function that is given to ``apply``.

    ``method`` is the call of the method: that of ``apply``, or ``call`` itself.
    """

    call: ast.Call
    name: str
    is_dataset: bool
    endless: bool
    scope: Scope
    method: ast.Call


def calls(script: Resolver) -> List[DatasetCall]:
    """Every method call that matters, with the state of its receiver."""
    found: Optional[List[DatasetCall]] = script.cache.get("pipelines")
    if found is None:
        found = script.cache["pipelines"] = _Flow(script).run()
    return found


def line_of(script: Resolver, found: DatasetCall) -> int:
    """The line on which the name of the method stands."""
    return script.position(script.span(found.method.func)[1] - 1)[0]


def _method_lines(script: Resolver) -> List[int]:
    """The lines with a method that matters."""
    takes = not script.words.isdisjoint(("Variable", "get_variable"))
    words = script.words.intersection((*_METHODS, *_TAKING) if takes else _METHODS)
    source = script.source
    lines = (source.mentions(w) if "_and_" in w else source.members(w) for w in words)
    return sorted({line for some in lines for line in some})


def _relevant(script: Resolver, lines: Sequence[int]) -> Set[ast.AST]:
    """The functions that hold one of some lines, make a Dataset, or mention such a function."""
    mentions = script.source.mentions
    making = script.words.intersection(_MAKING)
    lines = sorted({*lines, *(line for word in making for line in mentions(word))})
    left = {node for _, node in script.functions}
    found: Set[ast.AST] = set()
    while lines and left:
        fresh = {node for node in left if holds(lines, node.lineno, last_line(node))}
        left -= fresh
        found |= fresh
        lines = sorted(line for node in fresh for line in mentions(node.name))
    return found


class _Flow:
    """The pipelines of one script."""

    def __init__(self, script: Resolver) -> None:
        self.script = script
        self.found: Dict[ast.Call, DatasetCall] = {}
        self.returned: Dict[ast.AST, State] = {}
        self.running: Set[ast.AST] = set()
        self.relevant: Set[ast.AST] = set()
        self.results: List[List[State]] = [[]]

    def run(self) -> List[DatasetCall]:
        script = self.script
        lines = _method_lines(script)
        if not lines:
            return []
        self.relevant = _relevant(script, lines)
        for scope, node in script.functions:
            if holds(lines, node.lineno, last_line(node)):
                self.function(node, scope.child(node))
        self.body(script.tree.body, {}, script.module)
        return sorted(self.found.values(), key=lambda f: (f.call.lineno, f.call.col_offset))

    def function(self, node: FunctionNode, scope: Scope) -> State:
        """What a function returns."""
        known = node in self.returned or node in self.running or node not in self.relevant
        if not known and len(self.running) <= 20:
            self.running.add(node)
            self.results.append([])
            self.body(node.body, dict.fromkeys(scope.parameters), scope)
            self.running.discard(node)
            self.returned[node] = _joined(self.results.pop())
        return self.returned.get(node)

    # Statements

    def body(self, statements: Sequence[ast.AST], env: Env, scope: Scope) -> bool:
        """Follow some statements; True when they leave the block."""
        return any(self.statement(statement, env, scope) for statement in statements)

    def statement(self, node: ast.AST, env: Env, scope: Scope) -> bool:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            state = self.value(node.value, env, scope) if node.value is not None else None
            for target in getattr(node, "targets", None) or [getattr(node, "target", None)]:
                if node.value is not None:
                    self.bind(target, node.value, state, env, scope)
        elif isinstance(node, ast.Try):
            self.attempt(node, env, scope)
        elif isinstance(node, ast.ClassDef):
            self.body(node.body, {}, scope.child(node))
        elif not isinstance(node, FUNCTIONS):
            heads = [item.context_expr for item in getattr(node, "items", ())]
            heads += [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
            target = getattr(node, "target", None)
            states = self.values((part for part in heads if part is not target), env, scope)
            if isinstance(node, ast.Return):
                self.results[-1] += states
            elif isinstance(node, ast.If):
                ends = [dict(env), dict(env)]
                bodies = zip((node.body, node.orelse), ends)
                going = [end for body, end in bodies if not self.body(body, end, scope)]
                _merge(env, going)
                return not going
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
                if not isinstance(node, ast.While):
                    self.bind(node.target, node.target, None, env, scope)
                for name in _assigned(node.body) if True in env.values() else ():
                    if env.get(name):  # another round may bind it to what ends
                        env[name] = False
                inner = dict(env)
                self.body(node.body, inner, scope)
                _merge(env, [dict(env), inner])
                self.body(node.orelse, env, scope)
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                return self.body(node.body, env, scope)
        return isinstance(node, _LEAVING)

    def attempt(self, node: ast.Try, env: Env, scope: Scope) -> None:
        """Follow a try statement; its handlers begin anywhere in its body."""
        before = dict(env)
        ends = [] if self.body(node.body, env, scope) else [dict(env)]
        for handler in node.handlers:
            inner = dict(before)
            _merge(inner, [before, env])
            if not self.body(handler.body, inner, scope):
                ends.append(inner)
        _merge(env, ends or [before])
        self.body(node.orelse, env, scope)
        self.body(node.finalbody, env, scope)

    def bind(self, target: ast.AST, value: ast.AST, state: State, env: Env, scope: Scope) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            values = getattr(value, "elts", ())
            is_known = len(values) == len(target.elts)
            states = self.values(values, env, scope) if is_known else [None] * len(target.elts)
            for part, one in zip(target.elts, states):
                self.bind(part, part, one, env, scope)
            return
        parts = dotted_parts(target)
        if parts is not None:
            # another function may bind it to what ends, at any time
            elsewhere = state is True and parts[0] in self.script.global_names
            env[".".join(parts)] = False if elsewhere else state

    # Expressions

    def values(self, nodes: Iterable[ast.AST], env: Env, scope: Scope) -> List[State]:
        return [self.value(node, env, scope) for node in nodes]

    def value(self, node: ast.AST, env: Env, scope: Scope) -> State:
        if type(node) in CONSTANTS:
            return None
        if isinstance(node, ast.Call):
            return self.call(node, env, scope)
        parts = dotted_parts(node)
        if parts is not None:
            return self.name(".".join(parts), env, scope)
        if isinstance(node, ast.IfExp):
            return _joined(self.values((node.test, node.body, node.orelse), env, scope)[1:])
        if isinstance(node, ast.Lambda):
            inner = scope.child(node)
            self.value(node.body, {**env, **dict.fromkeys(inner.parameters)}, inner)
        elif not isinstance(node, ast.Attribute) or isinstance(node.value, ast.Call):
            self.values(ast.iter_child_nodes(node), env, scope)
        return None

    def name(self, name: str, env: Env, scope: Scope) -> State:
        module = self.script.module
        if name in env or "." in name or any(name in each.parameters for each in scope.around()):
            return env.get(name)
        stores = module.stores.get(name, [])
        if scope is not module and len(stores) == 1 and stores[0].kind == "value":
            env[name] = None
            env[name] = self.value(stores[0].node, {}, module)
            return env[name]
        return None

    def call(self, node: ast.Call, env: Env, scope: Scope) -> State:
        function = node.func
        if not isinstance(function, (ast.Name, ast.Attribute)):
            self.values(ast.iter_child_nodes(node), env, scope)
            return None
        dotted = self.script.resolve(function, scope) or ""
        if isinstance(function, ast.Attribute) and not dotted.startswith("tensorflow."):
            receiver = self.value(function.value, env, scope)
            return self.method(node, function.attr, receiver, env, scope)
        self.values(arguments(node), env, scope)
        if dotted == _APPLIED + "map_and_batch":
            self.record(node, "map_and_batch", None, scope)
        if isinstance(function, ast.Name):
            return False if dotted.startswith(_SOURCES) else self.local(function.id, scope)
        if not dotted.startswith(_SOURCES):
            return None
        self.record(node, function.attr, False, scope)
        return self.zipped(node, env, scope) if dotted.endswith(".zip") else False

    def zipped(self, node: ast.Call, env: Env, scope: Scope) -> State:
        parts = getattr(node.args[0], "elts", ()) if node.args else ()
        states = self.values(parts, env, scope)
        return bool(states) and all(state is True for state in states)

    def local(self, name: str, scope: Scope) -> State:
        """What a function of the script returns."""
        outer = next((each for each in scope.around() if name in each.stores), None)
        stores = outer.stores[name] if outer is not None else ()
        only = stores[0].node if len(stores) == 1 else None
        if outer is not None and isinstance(only, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.function(only, outer.child(only))
        return None

    def method(self, node: ast.Call, name: str, receiver: State, env: Env, scope: Scope) -> State:
        if name == "apply" and len(node.args) == 1:
            return self.applied(node, receiver, env, scope)
        self.values(arguments(node), env, scope)
        if receiver is not None or name == "padded_batch":
            self.record(node, name, receiver, scope)
        if receiver is None:
            return None
        if name in _KEEPING:
            return receiver
        if name == "repeat":
            return _is_endless_count(argument(node, "count", 0)) or receiver
        if name == "concatenate":
            other = self.value(node.args[0], env, scope) if node.args else None
            return receiver or other is True
        return False if name in ("take", "apply", "options") else None

    def applied(self, outer: ast.Call, receiver: State, env: Env, scope: Scope) -> State:
        """The Dataset that ``apply`` gives."""
        inner = outer.args[0]
        if not isinstance(inner, ast.Call):
            self.value(inner, env, scope)
            return None if receiver is None else False
        dotted = self.script.resolve(inner.func, scope) or ""
        self.values(arguments(inner), env, scope)
        name = dotted[len(_APPLIED) :] if dotted.startswith(_APPLIED) else ""
        if name in ("map_and_batch", "shuffle_and_repeat"):
            self.record(inner, name, receiver, scope, outer)
        if receiver is None:
            return None
        if name == "shuffle_and_repeat":
            return _is_endless_count(argument(inner, "count", 1)) or receiver
        return receiver if name in _APPLIED_KEEPING else False

    def record(
        self,
        node: ast.Call,
        name: str,
        receiver: State,
        scope: Scope,
        method: Optional[ast.Call] = None,
    ) -> None:
        known = self.found.get(node)
        is_dataset, endless = receiver is not None, receiver is True
        if known is not None:
            is_dataset, endless = known.is_dataset and is_dataset, known.endless and endless
        self.found[node] = DatasetCall(node, name, is_dataset, endless, scope, method or node)


def _assigned(body: Sequence[ast.AST]) -> Set[str]:
    """The names and attributes that some statements bind."""
    found: Set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                found.add(".".join(dotted_parts(node) or ()))
    return found


def _is_endless_count(node: Optional[ast.expr]) -> bool:
    """True for the count of a repeat() that never ends."""
    return node is None or number_of(node) == -1 or getattr(node, "value", 0) is None


def _joined(states: Sequence[State]) -> State:
    if not states or any(state is None for state in states):
        return None
    return all(states)


def _merge(env: Env, ends: Sequence[Env]) -> None:
    """Make an environment that of several ways to come to one place."""
    if ends:
        names = {name for end in ends for name in end}
        merged = {name: _joined([end.get(name) for end in ends]) for name in names}
        env.clear()
        env.update(merged)
