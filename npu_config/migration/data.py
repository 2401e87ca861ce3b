"""Input pipelines: the last batch, prefetching, iterators, shards, queues, and what is in them."""

import ast
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Set

from npu_config.migration.resolve import Resolver
from npu_config.migration.work import CHANGED, Rules, Work, called, of_calls
from npu_config.python_flow.module import Site
from npu_config.python_flow.scopes import (
    CONSTANTS,
    FUNCTIONS,
    FunctionNode,
    Scope,
    argument,
    arguments,
    dotted_parts,
    holds,
    is_open,
    last_line,
    literal_text,
    name_of,
    number_of,
    parameters,
)
from npu_config.script.vocabulary import TABLES

__all__ = ["RULES", "after", "in_dataset_function"]

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
    return script.kept("pipelines", _Flow(script).run)


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
        for outer in scope.around():
            if name in outer.stores:
                only, *others = (store.node for store in outer.stores[name])
                if not others and isinstance(only, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    return self.function(only, outer.child(only))
                break
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


@called
def _prefetch(work: Work, site: Site, call: ast.Call, name: str) -> None:
    if len(site.parents) < 2:
        return
    device = argument(call, "device", 0) or argument(call, "target_device", 0)
    values = work.script.values(device, site.scope) if device is not None else []
    text = literal_text(values[0] if len(values) == 1 else device)
    if text is None:
        work.refuse(site.line, "prefetch-to-device", "the device is not a constant")
        return
    if "gpu" not in text.lower():
        return
    outer = site.parents[-2]
    is_applied = (
        isinstance(outer, ast.Call)
        and isinstance(outer.func, ast.Attribute)
        and outer.func.attr == "apply"
        and outer.args == [call]
    )
    if not is_applied or is_open(call):
        work.refuse(
            site.line,
            "prefetch-to-device",
            "this is not the only argument of dataset.apply(...): left unchanged",
        )
        return
    assert isinstance(outer, ast.Call)
    assert isinstance(outer.func, ast.Attribute)
    applied, end = (work.script.span(node)[1] for node in (outer.func, outer))
    start = applied - len("apply")
    line = work.script.position(start)[0]
    if name.endswith("copy_to_device"):
        work.replace(work.script.span(outer.func.value)[1], end, "")
        work.changed(line, "prefetch-to-device", "copy_to_device is removed: there is no GPU")
        return
    size = argument(call, "buffer_size", 1)
    if size is None:
        work.replace(start, end, "prefetch(buffer_size=-1)")
    else:
        size_start, size_end = work.script.span(size)
        kept = "".join(work.comments(start, size_start))
        work.replace(start, size_start, "prefetch(" + kept + "buffer_size=")
        work.replace(size_end, end, ")")
    text = "there is no GPU: replaced by an ordinary prefetch of the same size"
    work.changed(line, "prefetch-to-device", text)


@called
def _one_shot(work: Work, site: Site, call: ast.Call, name: str) -> None:
    if _runs_in_loop(work):
        work.manual(
            site.line,
            "one-shot-iterator",
            "no change is needed; only iterations_per_loop above 1 needs "
            "make_initializable_iterator",
        )


def _runs_in_loop(work: Work) -> bool:
    """True when a session is run in a loop, or an Estimator runs one."""
    estimators = ("Estimator", "TPUEstimator", "should_stop")
    return not work.script.words.isdisjoint(estimators) or work.script.kept(
        "loops",
        lambda: any(
            site.call is not None
            and isinstance(site.node, ast.Attribute)
            and site.inside(ast.For, ast.While)
            for site in work.script.sites_of(["run"])
        ),
    )


_THREADS: Mapping[str, int] = {
    "tensorflow.train.batch": 2,
    "tensorflow.train.shuffle_batch": 4,
    "tensorflow.train.maybe_batch": 3,
    "tensorflow.train.maybe_shuffle_batch": 5,
}


@called
def _queue_batch(work: Work, site: Site, call: ast.Call, name: str) -> None:
    threads = argument(call, "num_threads", _THREADS[name])
    if threads is None:
        return
    number = number_of(threads)
    if number is not None and number != 1:
        work.replace_node(threads, "1")
        work.changed(site.line, "train-batch", "several threads are not supported on the NPU")
    elif number != 1:
        work.manual(
            site.line,
            "train-batch",
            "num_threads must be 1 on the NPU, but is not a constant here",
        )


_queue = of_calls(
    "queue-input", "with queues iterations_per_loop must stay 1; a larger value needs a Dataset"
)
_QUEUES = ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue")

RULES: Rules = {
    "tensorflow.data.experimental.prefetch_to_device": _prefetch,
    "tensorflow.data.experimental.copy_to_device": _prefetch,
    "tensorflow.data.make_one_shot_iterator": _one_shot,
    **dict.fromkeys(_THREADS, _queue_batch),
    **{"tensorflow." + name: _queue for name in _QUEUES},
    "tensorflow.train.start_queue_runners": _queue,
}


def after(work: Work) -> None:
    """Methods of Datasets, what flows into them, shapes that make old control flow matter."""
    words = work.script.words
    wanted = (
        "batch",
        "padded_batch",
        "map_and_batch",
        "shard",
        "shuffle",
        "make_one_shot_iterator",
    )
    if not words.isdisjoint(wanted) and not words.isdisjoint(("Dataset", "data")):
        for found in calls(work.script):
            _method(work, found)
    for site in work.script.sites_of(["make_one_shot_iterator"]):
        if isinstance(site.node, ast.Attribute):
            _one_shot(work, site, "")
    _variables(work)
    _tables(work)
    _dynamic_shapes(work)


def _method(work: Work, found: DatasetCall) -> None:
    call, name = found.call, found.name
    if name in ("batch", "padded_batch", "map_and_batch"):
        _batch(work, found)
    elif name == "shard" and found.is_dataset:
        if not _is_rank(work, found):
            work.manual(
                line_of(work.script, found),
                "dataset-shard",
                "for several ranks: use shard(get_npu_rank_size(), get_npu_rank_id()); the "
                "meaning of the current arguments is not known",
            )
    elif name in ("shuffle", "shuffle_and_repeat"):
        size = argument(call, "buffer_size", 0)
        number = _number(work, size, found.scope)
        if number is not None and number > 10000 and found.is_dataset:
            work.manual(
                line_of(work.script, found),
                "shuffle-buffer",
                "a large buffer takes minutes to fill, and the device may time out: use a "
                "smaller buffer, or switch enable_data_pre_proc off",
            )


def _number(work: Work, node: Optional[ast.AST], scope: Scope) -> Optional[float]:
    """The number that an expression of literals and constants of the script stands for."""
    if isinstance(node, ast.Name):
        values = work.script.values(node, scope)
        return number_of(values[0]) if len(values) == 1 else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = (_number(work, side, scope) for side in (node.left, node.right))
        return None if left is None or right is None else left * right
    return number_of(node)


_REMAINDER = {"batch": 1, "padded_batch": 3, "map_and_batch": 3}


def _batch(work: Work, found: DatasetCall) -> None:
    call, name = found.call, found.name
    if not (found.is_dataset or name in ("padded_batch", "map_and_batch")):
        return
    line = line_of(work.script, found)
    if is_open(call):
        work.refuse(line, "drop-remainder", "the call has * or ** arguments: left unchanged")
        return
    given = argument(call, "drop_remainder", _REMAINDER[name])
    if given is not None:
        if getattr(given, "value", None) is not True:
            work.refuse(
                line,
                "drop-remainder",
                "drop_remainder is set here to another value than True: left unchanged",
            )
        return
    if found.endless:
        work.append(call, "drop_remainder=True")
        work.changed(
            line,
            "drop-remainder",
            "the dataset repeats endlessly before this call: no batch is short, and the "
            "shape becomes static",
        )
    else:
        work.refuse(
            line,
            "drop-remainder",
            "the dataset may end: dropping the last batch could change results; on the NPU "
            "a batch with another shape causes a new compilation",
        )


def _is_rank(work: Work, found: DatasetCall) -> bool:
    """True when the arguments of shard are Horovod's size and rank, which are replaced."""
    names = [
        work.script.resolve(value.func, found.scope)
        for value in arguments(found.call)
        if isinstance(value, ast.Call)
    ]
    return sorted(filter(None, names)) == ["horovod.rank", "horovod.size"]


# The functions that Datasets are given, and what must not be in them: variables and tables

_MAPPING = (
    "map",
    "flat_map",
    "filter",
    "interleave",
    "map_and_batch",
    "parallel_interleave",
    "from_generator",
    "group_by_window",
    "map_with_legacy_function",
)


class _Given(NamedTuple):
    """The functions that Dataset methods are given: lambdas, and names of functions.

    ``objects`` are the names of what has them, or is bound to their arguments.
    """

    lambdas: List[ast.Lambda]
    names: Set[str]
    objects: Set[str]


def _given(work: Work) -> _Given:
    return work.script.kept("given", lambda: _find_given(work))


def _find_given(work: Work) -> _Given:
    found = _Given([], set(), set())
    for site in work.script.sites_of(_MAPPING):
        call = site.call
        if call is None or not (
            isinstance(site.node, ast.Attribute) or _is_tensorflow(work, site)
        ):
            continue
        for value in [*call.args[:1], *(k.value for k in call.keywords if k.arg)]:
            _add(work, site, value, found)
    found.names.discard("")
    _follow(work, found)
    return found


def _add(work: Work, site: Site, value: ast.expr, found: _Given) -> None:
    """Enter what a method is given: a lambda, a function, a method, an object that is called."""
    if isinstance(value, ast.Lambda):
        found.lambdas.append(value)
        found.names.update(
            name_of(part.func) for part in ast.walk(value) if isinstance(part, ast.Call)
        )
    elif isinstance(value, ast.Attribute):
        found.names.add(value.attr)
        found.objects.add(name_of(value.value))
    elif isinstance(value, ast.Name):
        found.names.add(value.id)
        found.objects.add(value.id)
        for inner in work.script.values(value, site.scope):
            if isinstance(inner, (ast.Call, ast.Lambda, ast.Attribute)):
                _add(work, site, inner, found)
    elif isinstance(value, ast.Call):
        found.names.update(name_of(part) for part in (value.func, *value.args[:1]))
        found.objects.update(name_of(part) for part in arguments(value))
        for part in value.args[:1]:
            if isinstance(part, ast.Attribute):
                found.objects.add(name_of(part.value))


def _follow(work: Work, found: _Given) -> None:
    """Add the functions of the script that those functions call."""
    script = work.script
    bodies: Dict[str, List[ast.AST]] = {}
    for scope, node in script.functions if found.names else ():
        bodies.setdefault(node.name, []).append(node)
        if node.name == "__call__" and isinstance(scope.node, ast.ClassDef):
            bodies.setdefault(scope.node.name, []).append(node)
    pending = [name for name in found.names if name in bodies]
    while pending:
        for body in bodies[pending.pop()]:
            called = {name_of(n.func) for n in ast.walk(body) if isinstance(n, ast.Call)}
            fresh = (called & set(bodies)) - found.names
            found.names.update(fresh)
            pending += fresh


def _is_tensorflow(work: Work, site: Site) -> bool:
    return (work.script.resolved(site) or "").startswith("tensorflow.")


def in_dataset_function(work: Work, site: Site) -> bool:
    """True inside of a function that a method of Dataset is given."""
    given = _given(work)
    lambdas = {id(node) for node in given.lambdas}
    return any(
        id(node) in lambdas or getattr(node, "name", None) in given.names for node in site.parents
    )


def _holder(site: Site) -> str:
    """The variable that the value of a call is bound to."""
    parent = site.parents[-2] if len(site.parents) > 1 else None
    if isinstance(parent, ast.Assign) and parent.value is site.parents[-1]:
        return name_of(parent.targets[0])
    return ""


def _variables(work: Work) -> None:
    """Variables that are arguments of Dataset methods, or are used in their functions."""
    sites = work.script.calls_of("tensorflow.Variable", "tensorflow.get_variable")
    if not sites or work.script.words.isdisjoint(("Dataset", "data")):
        return
    values = [
        value
        for found in calls(work.script)
        if found.is_dataset
        for value in arguments(found.call)
    ]
    ids = {id(value) for value in values}
    names = {name_of(value) for value in values} | _names_read(work)
    for site in sites:
        if id(site.call) in ids or _holder(site) in names - {""}:
            work.manual(
                site.line,
                "variable-in-preprocessing",
                "a variable in the input pipeline: replace the variable with a constant",
            )


def _called(scope: Scope, node: FunctionNode) -> str:
    """The name by which a function is given: that of its class for what calls its objects."""
    is_caller = node.name == "__call__" and isinstance(scope.node, ast.ClassDef)
    return getattr(scope.node, "name", "") if is_caller else node.name


def _names_read(work: Work) -> Set[str]:
    """The names that the functions read which Dataset methods are given."""
    given = _given(work)
    nodes: List[ast.AST] = list(given.lambdas)
    if given.names:
        found = work.script.functions
        nodes += [node for scope, node in found if _called(scope, node) in given.names]
    return given.objects.union(*map(_names_from_outside, nodes))


def _names_from_outside(function: ast.AST) -> Set[str]:
    """What a function reads and does not bind itself, defaults of its parameters included."""
    defaults = {name_of(value) for value in function.args.defaults}  # type: ignore[attr-defined]
    parts = [n for n in ast.walk(function) if isinstance(n, (ast.Name, ast.Attribute))]
    own = set(parameters(function.args))  # type: ignore[attr-defined]
    own.update(n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return defaults | {
        name_of(part)
        for part in parts
        if isinstance(part.ctx, ast.Load) and not (isinstance(part, ast.Name) and part.id in own)
    }


def _tables(work: Work) -> None:
    if work.script.words.isdisjoint(TABLES):
        return
    read = _names_read(work) - {""}
    for site in work.script.sites_of(TABLES):
        if site.call is None:
            continue
        name = work.script.resolved(site)
        if name is None or not name.startswith("tensorflow."):
            continue
        if in_dataset_function(work, site) or _holder(site) in read:
            work.manual(
                site.line,
                "table-in-preprocessing",
                "a lookup table in the input pipeline: set mix_compile_mode=True and "
                "iterations_per_loop 1",
            )


def _dynamic_shapes(work: Work) -> None:
    """Placeholders of unknown size, where control flow of the old form makes them matter."""
    if not any(note.id == "control-flow-v1" and note.kind != CHANGED for note in work.notes):
        return
    names = ("tensorflow.placeholder", "tensorflow.placeholder_with_default")
    for site in work.script.calls_of(*names):
        shape = argument(site.call, "shape", 1) if site.call is not None else None
        if shape is None or getattr(shape, "value", 0) is None:
            work.manual(site.line, "dynamic-shape", "the shape is not known")
        elif any(
            getattr(element, "value", 0) is None
            for part in ast.walk(shape)
            for element in getattr(part, "elts", ())
        ):
            work.manual(site.line, "dynamic-shape", "one dimension is not known")
