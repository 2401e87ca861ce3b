"""Checks of what every step pays for: operators in loops, Python on the device, slow forms."""

import ast
import re
from typing import (
    Any,
    Dict,
    FrozenSet,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from npu_config.core.diagnostics import Severity
from npu_config.core.message import phrase
from npu_config.python_flow.module import LEAVES, Function, Site, Value, sites, walk
from npu_config.python_flow.scopes import (
    COMPREHENSIONS,
    CONSTANTS,
    DEFINITIONS,
    Scope,
    argument,
    children,
    keyword_of,
    literal,
    name_of,
)
from npu_config.script.checks._check import LOOPS, Context, items_of, recognises
from npu_config.script.meaning import Meaning, makes_operator
from npu_config.situations import host, shapes

_NEW_GRAPH = ("reset_default_graph", "Graph", "Session", "clear_session", "InteractiveSession")
_MAKING = ("minimize", "apply_gradients", "compute_gradients", "get_next")
_ASSIGNING = ("assign", "assign_add", "assign_sub")


_RUNNING = ("run", "eval")


def fetched(meaning: Meaning, scope: Scope, call: ast.Call) -> List[ast.expr]:
    """What a call runs: ``session.run(x)``, ``x.eval()``, ``x.run()``; else nothing."""
    if not isinstance(call.func, ast.Attribute):
        return []
    if is_run(meaning, scope, call):
        given = argument(call, "fetches", 0)
        return [] if given is None else [given]
    owner = call.func.value
    made = meaning.value(scope, owner) if call.func.attr in _RUNNING else None
    if made is None:
        return []
    is_one = isinstance(made.node, ast.Call) and operator_made(meaning, *made)
    return [owner] if is_one or meaning.is_computed(scope, owner) else []


def is_run(meaning: Meaning, scope: Scope, call: ast.Call) -> bool:
    """True for ``session.run``."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "run":
        return False
    owner = call.func.value
    found = meaning.value(scope, owner)
    if found is not None and isinstance(found.node, ast.Call):
        return "Session" in name_of(found.node.func) or "session" in name_of(found.node.func)
    return "sess" in name_of(owner).lower()


def operator_made(meaning: Meaning, scope: Scope, call: ast.Call) -> Optional[str]:
    """The function that a call certainly makes an operator by."""
    name = meaning.tf(scope, call.func)
    if name is not None:
        return "tf." + name if makes_operator(name) else None
    if not isinstance(call.func, ast.Attribute):
        return None
    owner, method = call.func.value, call.func.attr
    if method in _ASSIGNING and meaning.variable(scope, owner):
        return "." + method
    found = meaning.value(scope, owner) if method in (*_MAKING, "apply") else None
    if found is None or not isinstance(found.node, ast.Call):
        return None
    made = meaning.tf(found.scope, found.node.func) or name_of(found.node.func)
    if method == "apply":
        return ".apply" if made == "train.ExponentialMovingAverage" else None
    if method == "get_next":
        return ".get_next" if "terator" in made else None
    is_optimizer = made.startswith(("train.", "npu", "NPU")) and "ptimizer" in made
    return "." + method if is_optimizer else None


@recognises(shapes.graph_grows_between_runs, _RUNNING, ("for", "while"))
def operator_in_loop(context: Context) -> None:
    """A loop that runs a session makes operators, too."""
    meaning = context.meaning
    seen: Set[int] = set()
    loops: Set[int] = set()
    walked: Dict[int, _Calls] = {}
    made_by: Dict[int, Optional[ast.Call]] = {}
    for site, fetches in _runs(meaning):
        around = list(_loops_around(site))
        for each in fetches if _is_repeated(site) and not around else ():
            _report_made(context, site.scope, each)
        if not around:
            continue
        outermost = around[-1]
        calls = walked.get(id(outermost)) or walked.setdefault(id(outermost), _Calls(outermost))
        for loop in around:
            if id(loop) in loops:
                break  # what is around it was looked at with it
            loops.add(id(loop))
            if any(name_of(call.func) in _NEW_GRAPH for call in calls.of(loop)):
                break
            if _loads_values(meaning, site.scope, loop, calls):
                continue
            for part, name in _made_in(context, site.scope, loop, calls, made_by):
                if id(part) not in seen and not _assigns_to_each(loop, part):
                    seen.add(id(part))
                    _report_growth(context, part, name)


def _runs(meaning: Meaning) -> Iterator[Tuple[Site, List[ast.expr]]]:
    """The runs of sessions with what they run, and the calls of functions that run one once."""
    running: Dict[int, str] = {}
    for site in meaning.calls(*_RUNNING):
        fetches = fetched(meaning, site.scope, site.node)
        if fetches:
            yield site, fetches
            function = site.function
            if function is not None and not any(_loops_around(site)):
                running[id(function)] = getattr(function, "name", "")
    for site in meaning.calls(*sorted({*running.values()} - {""})):
        called = meaning.functions(site.scope, site.node.func)
        if any(id(each.node) in running for each in called):
            yield site, []


def _is_repeated(site: Site) -> bool:
    """True for what a comprehension does with each item."""
    inner = site.node
    for node in reversed(site.parents):
        if isinstance(node, (*DEFINITIONS, ast.Lambda)):
            return False
        if isinstance(node, COMPREHENSIONS) and not isinstance(inner, ast.comprehension):
            return True
        inner = node
    return False


def _report_growth(context: Context, part: ast.expr, name: str) -> None:
    context.report(
        part,
        "{} creates an operator in each iteration of a loop that runs the session: the "
        "graph is compiled again each time",
        name,
    )


def _report_made(context: Context, scope: Scope, node: ast.expr) -> None:
    """Report what makes an operator of what a comprehension runs; it may assign to each."""
    for part in walk(scope, node):
        name = isinstance(part.node, ast.Call) and operator_made(context.meaning, scope, part.node)
        if name and name.rpartition(".")[2] not in _ASSIGNING:
            _report_growth(context, part.node, name)
            return


def _loops_around(site: Site) -> Iterator[ast.AST]:
    """The loops around a node in its function, up to where a session is made."""
    for node in reversed(site.parents):
        if isinstance(node, (*DEFINITIONS, ast.Lambda)):
            return
        if isinstance(node, (ast.With, ast.AsyncWith)):
            calls = [item.context_expr for item in node.items]
            if any(isinstance(c, ast.Call) and is_new_graph(c) for c in calls):
                return
        if isinstance(node, LOOPS):
            yield node


class _Known(NamedTuple):
    """A call, the number of the innermost node that may keep it from being made, the outer one."""

    node: ast.Call
    blocked: int
    outer: int


class _Calls:
    """The calls of a loop and of the loops in it, found by one walk.

    Args:
        outermost: the loop.
    """

    def __init__(self, outermost: ast.AST) -> None:
        self._found: List[_Known] = []
        self._loops: Dict[int, Tuple[int, range, range]] = {}
        self._count = 0
        self._walk(outermost, -1)

    def of(self, loop: ast.AST) -> List[ast.Call]:
        """Every call of a loop."""
        _, whole, _ = self._loops[id(loop)]
        return [self._found[index].node for index in whole]

    def certain_in(self, loop: ast.AST) -> Iterator[Tuple[int, ast.Call, int]]:
        """The calls that each round of a loop makes: a number, the call, and the one around it."""
        number, _, again = self._loops[id(loop)]
        for index in again:
            node, blocked, outer = self._found[index]
            if blocked < number:
                yield index, node, outer

    def _step(self) -> int:
        self._count += 1
        return self._count

    def _walk(self, node: ast.AST, blocked: int) -> None:
        """Statements, and what holds them, are never deep."""
        number, first = self._step(), len(self._found)
        again: List[int] = []
        if isinstance(node, _UNCERTAIN):
            blocked = number
        for field, value in vars(node).items():
            start = len(self._found)
            if field == "body" and isinstance(node, ast.If) and not _comes_again(node.test):
                blocked = number
            for part in value if value.__class__ is list else (value,):
                if not isinstance(part, ast.AST):
                    continue
                if isinstance(part, ast.expr):
                    self._expression(part, blocked)
                else:
                    self._walk(part, blocked)
            if field in ("body", "test"):
                again += [start, len(self._found)]
        if isinstance(node, LOOPS):
            whole = range(first, len(self._found))
            self._loops[id(node)] = number, whole, range(again[0], again[-1])

    def _expression(self, node: ast.AST, blocked: int) -> None:
        pending = [(node, blocked, -1)]
        while pending:
            node, blocked, outer = pending.pop()
            kind = node.__class__
            if kind is ast.Call:
                self._found.append(_Known(node, blocked, outer))  # type: ignore[arg-type]
                outer = len(self._found) - 1
            elif kind in (ast.IfExp, ast.Lambda):
                blocked = self._step()
            for part in reversed(children(node)):
                if part.__class__ not in LEAVES:
                    pending.append((part, blocked, outer))


_UNCERTAIN = (
    *DEFINITIONS,
    *(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name)),
)
"""What may keep its statements from being run."""


def _loads_values(meaning: Meaning, scope: Scope, loop: ast.AST, calls: _Calls) -> bool:
    """True for a loop over variables, or what is loaded, that does no more than assign it."""
    if not isinstance(loop, ast.For):
        return False
    if isinstance(loop.iter, ast.Call) and name_of(loop.iter.func) in ("range", "trange", "count"):
        return False
    return all(
        isinstance(given, ast.Call) and name_of(given.func) == "assign"
        for run in calls.of(loop)
        if is_run(meaning, scope, run)
        for given in run.args[:1]
    )


def _assigns_to_each(loop: ast.AST, call: ast.expr) -> bool:
    """True for an assignment to what a loop goes over: to another variable in each round."""
    if not isinstance(loop, ast.For) or not isinstance(call, ast.Call):
        return False
    if name_of(call.func) != "assign":
        return False
    given = call.args[0] if len(call.args) > 1 else getattr(call.func, "value", None)
    each = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    return isinstance(given, ast.Name) and given.id in each


def is_new_graph(call: ast.Call) -> bool:
    """True for a call that makes a graph or a session, or takes up another graph."""
    name = name_of(call.func)
    return name in _NEW_GRAPH or name.endswith("Session") or name == "as_default"


def _made_in(
    context: Context,
    scope: Scope,
    loop: ast.AST,
    calls: _Calls,
    made_by: Dict[int, Optional[ast.Call]],
) -> Iterator[Tuple[ast.expr, str]]:
    """What certainly makes an operator in each round of a loop, and how that is called."""
    meaning = context.meaning
    certain = list(calls.certain_in(loop))
    runs = {index: fetched(meaning, scope, node) for index, node, _ in certain}
    fetches = [each for part in runs.values() for each in part]
    results = _results(loop, fetches)
    passed: Set[int] = set()
    for each in fetches:
        for item in items_of(each):
            if meaning.is_computed(scope, item):
                yield item, "arithmetic with tensors"
    for index, node, outer in certain:
        if outer in passed:
            passed.add(index)
            continue
        name = operator_made(meaning, scope, node)
        if name is not None:
            passed.add(index)
            yield node, name
            continue
        is_fetched = bool(runs.get(outer)) or id(node) in results
        for function in meaning.functions(scope, node.func):
            key = id(function.node)
            if key not in made_by:
                made_by[key] = _made_by(meaning, function)
            inside = made_by[key]
            if inside is not None:
                yield node, phrase("{} (line {})", name_of(node.func), inside.lineno)
        others = context.program("tensorflow" if is_fetched else "run")
        for other in others.functions(scope, node.func) if others.files else ():
            inside = _made_by(other.meaning, other.function)
            if inside is not None:
                yield node, phrase("{} ({})", name_of(node.func), other.says(inside))


def _results(loop: ast.AST, fetches: Sequence[ast.expr]) -> Set[int]:
    """The calls in the body of a loop whose results it runs under a name."""
    names = {n.id for each in fetches for n in ast.walk(each) if isinstance(n, ast.Name)}
    return {
        id(statement.value)
        for statement in loop.body  # type: ignore[attr-defined]
        if isinstance(statement, ast.Assign)
        and any(name_of(target) in names for target in statement.targets)
    }


def _comes_again(test: ast.expr) -> bool:
    """True for conditions that hold now and then: ``step % 100 == 0``."""
    parts = list(ast.walk(test))
    never = any(n.__class__ in CONSTANTS and literal(n) is False for n in parts)
    return not never and any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in parts)


def _made_by(meaning: Meaning, function: Function, depth: int = 0) -> Optional[ast.Call]:
    """The first operator that a function certainly makes; None where it makes a graph, too.

    Args:
        meaning: of its file.
        function: a loop that runs a session calls it, or a session runs what it returns.
        depth: how many functions are around it.
    """
    first: Optional[ast.Call] = None
    if isinstance(function.node, ast.Lambda) or function.node.decorator_list:
        return None
    for statement in function.node.body:
        if isinstance(statement, (ast.If, ast.For, ast.While, ast.Try, *DEFINITIONS)):
            if any(isinstance(n, ast.Return) for n in ast.walk(statement)):
                break
            continue
        for part in walk(function.scope, statement):
            if isinstance(part.node, ast.Call):
                if is_new_graph(part.node):
                    return None
                given = fetched(meaning, part.scope, part.node) if depth < 3 else []
                if first is None and operator_made(meaning, part.scope, part.node):
                    first = part.node
                for each in given if first is None else ():
                    first = _made_for(meaning, part.scope, each, depth) or first
    return first


def _made_for(meaning: Meaning, scope: Scope, node: ast.expr, depth: int) -> Optional[ast.Call]:
    """The first operator that functions make which give a session what it runs."""
    for where, call in walk(scope, node):
        for function in meaning.functions(where, call.func) if isinstance(call, ast.Call) else ():
            inside = _made_by(meaning, function, depth + 1)
            if inside is not None:
                return inside
    return None


# Python on the device, and slow forms


def _sites(context: Context, names: FrozenSet[str]) -> List[Site]:
    """The calls of functions of TensorFlow that are certainly part of the network."""
    meaning = context.meaning
    words = {name.rpartition(".")[2] for name in names}
    if not context.mentions(*words):
        return []
    return [
        site
        for site in meaning.calls(*words)
        if meaning.called(site) in names and meaning.in_network(site)
    ]


def _report_first(context: Context, sites: Sequence[Site], message: str) -> None:
    """One finding for all places: the first one, and how many lines have the same."""
    if not sites:
        return
    lines = sorted({site.line for site in sites} - {sites[0].line})
    name = "tf." + (context.meaning.called(sites[0]) or "")
    text = phrase(message, name)
    if lines:
        text = phrase("{} (the same in line {})", text, ", ".join(map(str, lines[:8])))
    context.report(sites[0].node, text)


PYTHON = frozenset(("py_func", "numpy_function", "py_function", "contrib.eager.py_func"))


@recognises(shapes.host_function_on_hot_path, ("py_func", "numpy_function", "py_function"))
def python_on_device(context: Context) -> None:
    """``py_func`` in the network."""
    if context.is_offloaded:
        for site in _sites(context, PYTHON):
            context.report(
                site.node,
                "tf.{} calls Python, which the device cannot run",
                context.meaning.called(site),
                option="mix_compile_mode",
            )


_RESIZING = ("resize_bilinear", "resize_images", "resize")
_UPSAMPLING = "keras.layers.UpSampling2D"
TRAINING = (
    *("minimize", "apply_gradients", "Estimator", "NPUEstimator", "EstimatorSpec", "fit"),
    *("create_train_op", "optimize_loss"),
)


@recognises(shapes.slow_resize_bilinear, (*_RESIZING, "UpSampling2D"), TRAINING)
def bilinear_resize(context: Context) -> None:
    """``resize_bilinear`` in the network."""
    names = frozenset((_UPSAMPLING, *("image." + name for name in _RESIZING)))
    found = []
    for site in _sites(context, names):
        call = site.node
        method = argument(call, "method", 2)
        if context.meaning.called(site) == _UPSAMPLING:
            method = argument(call, "interpolation", 2)
            if method is None:
                continue
        if name_of(call.func) != "resize_bilinear" and method is not None:
            text = context.meaning.constant(site.scope, method)
            dotted = context.meaning.tf(site.scope, method) or ""
            if text not in ("bilinear", 0) and not dotted.endswith("ResizeMethod.BILINEAR"):
                continue
        found.append(site)
    _report_first(context, found, "{} in the network may take most of the time of a step")


@recognises(shapes.extract_image_patches, ("extract_image_patches", "extract_patches"))
def image_patches(context: Context) -> None:
    """``extract_image_patches`` in the network."""
    names = ("extract_image_patches", "image.extract_image_patches", "image.extract_patches")
    _report_first(
        context,
        _sites(context, frozenset(names)),
        "{} did not compile for some tensor sizes in the releases of 2020 and 2021",
    )


_DROPOUT = frozenset(("nn.dropout", "keras.backend.dropout"))
_DROPOUT_LAYERS = frozenset(
    (
        *("contrib.layers.dropout", "contrib.slim.dropout"),
        *("layers.dropout", "layers.Dropout", "keras.layers.Dropout"),
        *("keras.layers.SpatialDropout{}D".format(n) for n in (1, 2, 3)),
    )
)


@recognises(host.slow_dropout, [name.rpartition(".")[2] for name in _DROPOUT | _DROPOUT_LAYERS])
def tensorflow_dropout(context: Context) -> None:
    """TensorFlow's dropout."""
    found = [s for s in _sites(context, _DROPOUT | _DROPOUT_LAYERS) if _drops(context, s)]
    word = "npu_convert_dropout"
    if found and (context.mentions(word) or context.imports_have(word)):
        found = [site for site in _sites(context, _DROPOUT) if _drops(context, site)]
    _report_first(
        context,
        found,
        "{} is slower on the NPU than npu_ops.dropout",
    )


def _drops(context: Context, site: Site) -> bool:
    """False for a dropout that certainly keeps everything."""
    call = site.node
    rate = keyword_of(call, "rate")
    is_plain = context.meaning.called(site) == "nn.dropout"
    kept = argument(call, "keep_prob", 1 if is_plain else len(call.args))
    return not (
        context.meaning.constant(site.scope, kept) == 1
        or (rate is not None and context.meaning.constant(site.scope, rate.value) == 0)
    )


@recognises(host.slow_gelu, ("tanh",))
def gelu_by_hand(context: Context) -> None:
    """The constant 0.044715 beside ``tanh``."""
    if ".0447" not in context.script.source.text:
        return
    for site in _sites(context, TANH):
        if is_of_gelu(context.meaning, site.scope, site.node):
            context.report(
                site.node,
                "gelu is computed here by about eight operators; npu_unary_ops.gelu is one "
                "operator",
            )


TANH = frozenset(("tanh", "math.tanh", "nn.tanh", "keras.backend.tanh"))


def is_of_gelu(meaning: Meaning, scope: Scope, call: ast.Call) -> bool:
    """True for a tanh of what the constant 0.044715 is part of."""
    parts = [part for each in call.args[:1] for part in meaning.parts(scope, each)]
    numbers = (meaning.constant(part.scope, part.node) for part in parts)
    return any(isinstance(n, float) and abs(n - 0.044715) < 1e-5 for n in numbers)


_CELLS = frozenset(
    room + name
    for room in ("nn.rnn_cell.", "keras.layers.")
    for name in ("BasicLSTMCell", "LSTMCell", "GRUCell", "LSTMBlockCell", "GRUBlockCellV2")
)


@recognises(host.slow_recurrent_layer, ("dynamic_rnn", "bidirectional_dynamic_rnn"))
def recurrent_loop(context: Context) -> None:
    """``dynamic_rnn`` over an LSTM or GRU cell."""
    names = frozenset(("nn.dynamic_rnn", "nn.bidirectional_dynamic_rnn"))
    for site in _sites(context, names):
        call = site.node
        cell = argument(call, "cell", 0) or argument(call, "cell_fw", 0)
        if cell is not None and (
            _is_cell(context.meaning, site.scope, cell)
            or _is_cell_elsewhere(context, site.scope, cell)
        ):
            context.report(
                call,
                "{} executes the layer as a TensorFlow loop; DynamicRNN and DynamicGRUV2 "
                "of npu_bridge execute the layer as one operator",
                name_of(call.func),
            )


def _is_cell_elsewhere(context: Context, scope: Scope, node: ast.AST) -> bool:
    """True for the result of a function of another file that returns an LSTM or GRU cell."""
    made = context.meaning.value(scope, node)
    if made is None or not isinstance(made.node, ast.Call):
        return False
    return any(
        _is_cell(each.meaning, each.function.scope, returned)
        for each in context.program("LSTM", "GRU").functions(made.scope, made.node.func)
        for returned in each.function.returned
    )


_WRAPPERS = frozenset(
    "nn.rnn_cell." + name
    for name in ("MultiRNNCell", "DropoutWrapper", "ResidualWrapper", "DeviceWrapper")
)


def _is_cell(meaning: Meaning, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
    """True for an LSTM or GRU cell, for such in the wrappers of TensorFlow, and for lists.

    What is bound, or returned, under a condition is one where each of the choices is.
    """
    if depth > 8:
        return False
    choices: List[Optional[Value]] = []
    if isinstance(node, (ast.List, ast.Tuple)):
        choices = [Value(scope, each) for each in node.elts]
    elif isinstance(node, ast.ListComp):
        choices = [Value(scope.child(node), node.elt)]
    elif isinstance(node, ast.IfExp):
        choices = [Value(scope, node.body), Value(scope, node.orelse)]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        choices = [Value(scope, node.left)]
    elif isinstance(node, (ast.Name, ast.Attribute)):
        choices = meaning.values(scope, node)
        added = meaning.added(scope, node)
        if added:
            choices = [v for v in choices if v is None or getattr(v.node, "elts", None) != []]
        choices += added
    elif isinstance(node, ast.Call):
        name = meaning.tf(scope, node.func)
        if name in _CELLS:
            return True
        if name in _WRAPPERS:
            inner = argument(node, "cell", 0) or argument(node, "cells", 0)
            choices = [None if inner is None else Value(scope, inner)]
        else:
            made = meaning.functions(scope, node.func)
            choices = [Value(f.scope, each) for f in made for each in f.returned]
    return bool(choices) and all(
        each is not None and _is_cell(meaning, *each, depth + 1) for each in choices
    )


_ACCUMULATORS = ("ConditionalAccumulator", "SparseConditionalAccumulator")


@recognises(host.accumulators_on_device, (*_ACCUMULATORS, "SyncReplicasOptimizer"))
def accumulators(context: Context) -> None:
    """Conditional accumulators in full offload."""
    if not context.is_offloaded:
        return
    _report_first(
        context,
        _sites(context, frozenset((*_ACCUMULATORS, "train.SyncReplicasOptimizer"))),
        "{} creates accumulators, which are slow on the device",
    )


_MULTIPROCESSING = frozenset(
    (
        *("multiprocessing.Process", "multiprocessing.Pool", "multiprocessing.pool.Pool"),
        *("multiprocessing.process.Process", "concurrent.futures.ProcessPoolExecutor"),
        *("concurrent.futures.process.ProcessPoolExecutor", "multiprocessing.context.Process"),
    )
)
_STARTS = re.compile(
    r"(?:set_start_method|get_context)\s*\(\s*(?:method\s*=\s*)?[^'\")]?(['\"])(\w+)\1"
)


@recognises(
    host.forked_process_beside_session,
    ("multiprocessing", "ProcessPoolExecutor"),
    (
        *("Session", "MonitoredTrainingSession", "InteractiveSession", "NPUEstimator"),
        *("Estimator", "SingularMonitoredSession", "Supervisor"),
    ),
)
def forked_processes(context: Context) -> None:
    """Processes by fork in a program that makes sessions."""
    methods = {match.group(2) for match in _STARTS.finditer(context.script.source.text)}
    chosen = context.mentions("set_start_method", "get_context", "mp_context")
    if chosen and methods != {"fork"}:
        return
    own = _own_processes(context)
    for site in context.meaning.calls("Process", "Pool", "ProcessPoolExecutor", *own):
        call = site.node
        name = context.meaning.name(site.scope, call.func)
        is_one = name in _MULTIPROCESSING or name_of(call.func) in own
        if not is_one and not (chosen and _is_of_context(context, site)):
            continue
        context.report(
            call,
            "{} starts processes by fork in a program with sessions: the program may deadlock",
            name_of(call.func),
        )


def _own_processes(context: Context) -> Set[str]:
    """The classes of the script that are processes."""
    lines = context.script.source.mentions("Process")
    return {
        site.node.name
        for site in sites(context.script.module, lines, (ast.ClassDef,))
        for base in site.node.bases
        if context.meaning.name(site.scope, base) in _MULTIPROCESSING
    }


def _is_of_context(context: Context, site: Site) -> bool:
    owner = getattr(site.node.func, "value", None)
    made = None if owner is None else context.meaning.value(site.scope, owner)
    function = getattr(made and made.node, "func", None)
    return function is not None and name_of(function) == "get_context"


_GPU = re.compile(r"/?(?:device:)?gpu(?::|\Z|%|\{)|/(?:device:)?gpu", re.I)


@recognises(host.device_of_gpu_without_soft_placement, ("device",), ("allow_soft_placement",))
def gpu_without_soft_placement(context: Context) -> None:
    """``tf.device`` of a GPU, and a session whose config forbids soft placement."""
    if not _is_forbidden(context):
        return
    for site in context.meaning.calls("device"):
        call = site.node
        given = argument(call, "device_name_or_function", 0)
        if context.meaning.called(site) != "device" or given is None:
            continue
        text = _beginning(context, Value(site.scope, given))
        if text is not None and _GPU.search(text):
            context.report(
                _first_operator(context, site),
                'tf.device("{}") names a GPU, and allow_soft_placement is False: there is no '
                "such device on the NPU",
                text,
                severity=Severity.INFO if context.script.is_patched else None,
            )


def _is_forbidden(context: Context) -> bool:
    """True when the script says ``allow_soft_placement`` False, and nowhere else."""
    lines = context.script.source.mentions("allow_soft_placement")
    found: List[Any] = []
    for site in sites(context.script.module, lines, (ast.Call, ast.Assign)):
        node = site.node
        value: Optional[ast.AST] = None
        if isinstance(node, ast.Assign):
            names = [name_of(target) for target in node.targets]
            value = node.value if "allow_soft_placement" in names else None
        elif isinstance(node, ast.Call):
            given = keyword_of(node, "allow_soft_placement")
            value = None if given is None else given.value
        if value is not None:
            found.append(context.meaning.constant(site.scope, value))
    return bool(found) and all(each is False for each in found)


def _first_operator(context: Context, site: Site) -> Any:
    """The first operator that is made for a device; the call that names it where none is seen."""
    block = site.parents[-1]
    if isinstance(block, ast.withitem):
        block = site.parents[-2]
    for statement in block.body if isinstance(block, ast.With) else ():
        for part in walk(site.scope, statement):
            if isinstance(part.node, ast.Call) and operator_made(
                context.meaning, part.scope, part.node
            ):
                return part.node
    return site.node


def _beginning(context: Context, value: Value) -> Optional[str]:
    """The text of an expression, or of what stands before the values that are put into it."""
    node = value.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.Add)):
        return _beginning(context, Value(value.scope, node.left))
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr == "format":
        return _beginning(context, Value(value.scope, function.value))
    if isinstance(node, ast.JoinedStr) and node.values:
        return _beginning(context, Value(value.scope, node.values[0]))
    made = context.meaning.result(*value)
    if made is not None and made.node is not node:
        return _beginning(context, made)
    text = context.meaning.constant(value.scope, node)
    return text if isinstance(text, str) else None
