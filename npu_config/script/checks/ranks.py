"""Checks of distributed training: what depends on the rank, and what every rank needs."""

import ast
import re
from collections import Counter
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from npu_config.core.diagnostics import Severity
from npu_config.python_flow.module import Function, Site, Value, sites, walk
from npu_config.python_flow.scopes import (
    FUNCTIONS,
    Scope,
    argument,
    expression,
    holds,
    is_main,
    last_line,
    literal_text,
    name_of,
)
from npu_config.script.checks._check import Context, recognises
from npu_config.script.checks.network import fetched, is_new_graph, is_run, operator_made
from npu_config.script.meaning import Meaning
from npu_config.script.vocabulary import SESSIONS
from npu_config.situations import ranks

_ASKING = ("get_rank_id", "get_npu_rank_id", "get_local_rank_id", "get_npu_local_rank_id", "rank")
_VARIABLE = "RANK_ID"
_RANKS = (*_ASKING[:-1], _VARIABLE, "hvd")
"""Words of which a condition on the rank has one, or what it asks."""


_DECIDING: Dict[type, Callable[[Any], Sequence[ast.expr]]] = {
    ast.Compare: lambda node: (node.left, *node.comparators),
    ast.BoolOp: lambda node: node.values,
    ast.UnaryOp: lambda node: (node.operand,),
    ast.BinOp: lambda node: (node.left,),
    ast.IfExp: lambda node: (node.test,),
}
"""The parts of an expression of which one that depends on the rank is enough."""


class _Ranks:
    """Which expressions depend on the rank of a process."""

    def __init__(self, context: Context) -> None:
        self._meaning = context.meaning
        self._script = context.script

    def depends(self, scope: Scope, node: ast.AST, depth: int = 0) -> bool:
        """True when the value of an expression is certainly the rank, or a test of it."""
        if depth > 8:
            return False
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return False  # whether there is one is the same on every rank
        parts = _DECIDING.get(node.__class__)
        if parts is not None:
            return any(self.depends(scope, each, depth + 1) for each in parts(node))
        if isinstance(node, ast.Subscript):
            return _VARIABLE in _texts(node) and name_of(node.value) == "environ"
        if isinstance(node, ast.Call):
            name = name_of(node.func)
            if name in ("int", "str", "bool") and len(node.args) == 1:
                return self.depends(scope, node.args[0], depth + 1)
            if name in ("getenv", "get"):
                return bool(node.args) and literal_text(node.args[0]) == _VARIABLE
            if name == "rank" and isinstance(node.func, ast.Attribute):
                return name_of(node.func.value) == "hvd"
            if name in _ASKING[:-1]:
                return True
            found = self._meaning.functions(scope, node.func)
            returned = [(f.scope, each) for f in found for each in f.returned]
            return bool(returned) and all(self.depends(s, r, depth + 3) for s, r in returned)
        if isinstance(node, (ast.Name, ast.Attribute)):
            values = self._meaning.values(scope, node) or self._meaning.property(scope, node)
            return bool(values) and all(
                each is not None and self.depends(each.scope, each.node, depth + 1)
                for each in values
            )
        return False

    def conditions(self) -> Iterator[Site]:
        """The ``if`` statements and expressions that certainly ask for the rank."""
        lines = self._script.source.lines_of(*self._named())
        for site in sites(self._script.module, lines, (ast.If, ast.IfExp)):
            test: ast.expr = site.node.test
            if self.depends(site.scope, test) and not self._is_text(site.scope, test):
                yield site

    def _is_text(self, scope: Scope, node: ast.expr) -> bool:
        """True for the text of the variable, which is no empty one on any rank."""
        if isinstance(node, ast.UnaryOp):
            node = node.operand
        made = self._meaning.value(scope, node)
        return made is not None and (
            isinstance(made.node, ast.Subscript)
            or (isinstance(made.node, ast.Call) and name_of(made.node.func) in ("getenv", "get"))
        )

    def _named(self) -> Set[str]:
        """The words that may stand for the rank: those that ask, and names of what they give."""
        found: Set[str] = set()
        fresh: Set[str] = set(_RANKS)
        for _ in range(3):
            found |= fresh
            lines = self._script.source.lines_of(*fresh)
            fresh = set()
            for site in sites(self._script.module, lines, (ast.Assign, ast.Return, ast.Call)):
                node = site.node
                if isinstance(node, ast.Assign):
                    fresh.update(name_of(target) for target in node.targets)
                elif isinstance(node, ast.Call):
                    for each in self._meaning.functions(site.scope, node.func):
                        fresh.update(argument.arg for argument in each.node.args.args)
                else:
                    function = site.function
                    fresh.add(getattr(function, "name", ""))
            fresh -= {*found, ""}
        return found


def _texts(node: ast.AST) -> List[str]:
    return [text for text in map(literal_text, ast.walk(node)) if text]


def _branches(site: Site) -> Tuple[Sequence[ast.AST], Sequence[ast.AST]]:
    """What is done on either side; behind ``return`` the rest of the block is the other side."""
    node = site.node
    if isinstance(node, ast.IfExp):
        return [node.body], [node.orelse]
    assert isinstance(node, ast.If)
    if node.orelse or not isinstance(node.body[-1], (ast.Return, ast.Continue)):
        return node.body, node.orelse
    for field in ("body", "orelse", "finalbody"):
        block: Sequence[ast.AST] = getattr(site.parents[-1], field, ())
        if any(each is node for each in block):
            return node.body, block[block.index(node) + 1 :]
    return node.body, node.orelse


_SUMMARIES = frozenset(
    "summary." + name
    for name in ("merge", "merge_all", "scalar", "histogram", "image", "text", "tensor_summary")
)
_SAVERS = frozenset(("train.SummarySaverHook", "estimator.SummarySaverHook"))


@recognises(ranks.summary_run_on_one_rank, ("summary", "SummarySaverHook"), _RANKS)
def summary_on_one_rank(context: Context) -> None:
    """A summary is run, or its hook made, under a condition on the rank."""
    for site in _Ranks(context).conditions():
        first, second = (
            [_summary_at(context, site.scope, each) for each in part] for part in _branches(site)
        )
        has = [next((n for n in part if n is not None), None) for part in (first, second)]
        where = has[0] or has[1]
        if where is None or None not in has:
            continue
        context.report(
            where,
            "only one rank runs the summary: its graph differs from the graphs of the other "
            "ranks, and the job hangs",
        )


def _summary_at(
    context: Context, scope: Scope, node: ast.AST, depth: int = 0
) -> Optional[ast.AST]:
    """Where a part of the script runs a summary, or makes the hook that does.

    Functions that it calls count; ``depth`` is how many are around it.
    """
    meaning = context.meaning
    for part in walk(scope, node):
        call: ast.AST = part.node
        if (
            isinstance(call, ast.Assign)
            and _is_fetch_of_dict(context, call)
            and _holds_summary(meaning, Value(part.scope, call.value))
        ):
            return call.targets[0]
        if not isinstance(call, ast.Call):
            is_fetched = isinstance(node, ast.expr) and call is node and _is_fetched(context, node)
            if is_fetched and _holds_summary(meaning, part):
                return node
            continue
        if meaning.tf(part.scope, call.func) in _SAVERS:
            return call
        given = fetched(meaning, part.scope, call)
        for function in meaning.functions(part.scope, call.func) if depth < 3 else ():
            inside = [
                _summary_at(context, function.scope, each, depth + 1)
                for each in function.statements
            ]
            if any(inside):
                return next(filter(None, inside))
        if name_of(call.func) in ("append", "extend") and _is_list_of_fetches(context, call):
            given = call.args
        if any(_holds_summary(meaning, Value(part.scope, each)) for each in given):
            return call
    return None


def _holds_summary(meaning: Meaning, value: Value) -> bool:
    """True when one of the things that are fetched certainly is a summary."""
    node = value.node
    if isinstance(node, (ast.List, ast.Tuple)):
        return any(_holds_summary(meaning, Value(value.scope, each)) for each in node.elts)
    if isinstance(node, ast.Dict):
        return any(_holds_summary(meaning, Value(value.scope, each)) for each in node.values)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return any(_holds_summary(meaning, Value(value.scope, each)) for each in sides)
    if meaning.makes(value.scope, node, _SUMMARIES) is not None:
        return True
    found = (
        meaning.value(value.scope, node) if isinstance(node, (ast.Name, ast.Attribute)) else None
    )
    if found is not None and isinstance(found.node, (ast.List, ast.Tuple, ast.Dict, ast.BinOp)):
        return _holds_summary(meaning, found)
    return False


def _is_list_of_fetches(context: Context, call: ast.Call) -> bool:
    """True when the list that a call extends is run by a session."""
    if not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Name):
        return False
    name = call.func.value.id
    return any(
        is_run(context.meaning, site.scope, site.node)
        and any(isinstance(a, ast.Name) and a.id == name for a in site.node.args[:1])
        for site in context.meaning.calls("run")
    )


def _is_fetch_of_dict(context: Context, node: ast.Assign) -> bool:
    """True for an item that is put into a dict which a session runs."""
    owners = [each.value for each in node.targets if isinstance(each, ast.Subscript)]
    names = {each.id for each in owners if isinstance(each, ast.Name)}
    return not names.isdisjoint(context.once(_names_run))


def _names_run(context: Context) -> Set[str]:
    """The names of what is run, as far as a name is all that ``run`` is given."""
    given = [each for site in context.meaning.calls("run") for each in site.node.args[:1]]
    return {each.id for each in given if isinstance(each, ast.Name)}


def _is_fetched(context: Context, node: ast.expr) -> bool:
    """True when an expression is a part of what a session runs, or of a name that it runs."""
    around = context.unread.around(node)
    for outer in reversed(around):
        if isinstance(outer, ast.Call):
            return name_of(outer.func) == "run"
        if isinstance(outer, ast.Assign):
            names = context.once(_names_run)
            return any(name_of(target) in names for target in outer.targets)
    return False


_QUIET = (
    *("summary.", "train.Saver", "global_variables_initializer"),
    "local_variables_initializer",
)


@recognises(ranks.graph_differs_by_rank, _RANKS)
def graph_on_one_rank(context: Context) -> None:
    """An operator is made, or a collective is run, under a condition on the rank."""
    meaning = context.meaning
    for site in _Ranks(context).conditions():
        branches = _branches(site)
        if any(_has_own_graph(site.scope, each) for part in branches for each in part):
            continue
        made = [_operators(meaning, site.scope, part) for part in branches]
        counts = [Counter(name for name, _ in part) for part in made]
        if counts[0] != counts[1]:
            more, fewer = (0, 1) if len(made[0]) >= len(made[1]) else (1, 0)
            alone = counts[more] - counts[fewer]
            name, node = next(each for each in made[more] if each[0] in alone)
            context.report(
                node,
                "{} creates an operator on some ranks only: the graphs of the ranks differ",
                name,
            )
            continue
        run = [_collectives(meaning, site.scope, part) for part in branches]
        if not any(run) or _summary_of(context, site):
            continue
        if not all(run):
            context.report(
                (run[0] or run[1])[0],
                "only some ranks run this collective: they wait for the other ranks forever",
            )
            continue
        other = _fetched_alone(meaning, site.scope, run[0][0], run[1][0])
        if other is not None:
            context.report(
                other,
                "{} is run together with a collective on some ranks only: the graphs of the "
                "ranks differ",
                expression(other),
            )


def _fetched_alone(
    meaning: Meaning, scope: Scope, one: ast.AST, other: ast.AST
) -> Optional[ast.expr]:
    """What one of two runs fetches, and the other one certainly does not compute."""
    own, others = _fetches(meaning, scope, one), _fetches(meaning, scope, other)
    for fetches, rest in ((own, others), (others, own)):
        computed = {id(part.node) for each in rest for part in meaning.parts(scope, each)}
        for item in fetches if rest else ():
            made = meaning.result(scope, item)
            call = None if made is None else made.node
            if made is None or not isinstance(call, ast.Call) or id(call) in computed:
                continue
            if operator_made(meaning, made.scope, call) is not None:
                return item
    return None


def _fetches(meaning: Meaning, scope: Scope, run: ast.AST) -> List[ast.expr]:
    """What a run fetches, one by one."""
    given = fetched(meaning, scope, run) if isinstance(run, ast.Call) else []
    is_list = bool(given) and isinstance(given[0], (ast.List, ast.Tuple))
    return given[0].elts if is_list else given  # type: ignore[attr-defined]


def _has_own_graph(scope: Scope, node: ast.AST) -> bool:
    """True for a part of the script with a graph, or a session, of its own."""
    return any(isinstance(p.node, ast.Call) and is_new_graph(p.node) for p in walk(scope, node))


def _summary_of(context: Context, site: Site) -> bool:
    return any(
        _summary_at(context, site.scope, each) is not None
        for part in _branches(site)
        for each in part
    )


def _operators(
    meaning: Meaning, scope: Scope, part: Sequence[ast.AST], depth: int = 0
) -> List[Tuple[str, ast.Call]]:
    """What makes operators in a part of the script, or calls a function that certainly does.

    What is only defined there does not count; ``depth`` is how many functions are around.
    """
    found: List[Tuple[str, ast.Call]] = []
    pending = [Value(scope, each) for each in part]
    while pending:
        where, node = pending.pop(0)
        if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(node, ast.Call):
            name = operator_made(meaning, where, node)
            if name is None and _is_collective(meaning, where, node):
                name = "hccl_ops." + name_of(node.func)
            if name is None and meaning.is_npu(where, node.func, *SENDING[:4]):
                name = name_of(node.func)
            if name is not None:
                if not name[3:].startswith(_QUIET):
                    found.append((name, node))
                continue
            for function, certain in _called(meaning, where, node, depth):
                inside = _operators(meaning, function.scope, certain, depth + 1)
                found += [(each, node) for each, _ in inside]
        pending[:0] = [Value(where, each) for each in ast.iter_child_nodes(node)]
    return found


_PLAIN = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.With)
_REDUCING = ("allreduce", "allgather", "reduce_scatter", "broadcast", "alltoallv", "npu_allreduce")


def _collectives(
    meaning: Meaning, scope: Scope, part: Sequence[ast.AST], depth: int = 0
) -> List[ast.AST]:
    """The runs of what depends on a collective, and the calls of functions that certainly do so.

    ``depth`` is how many functions are around.
    """
    found: List[ast.AST] = []
    for where, call in (each for node in part for each in walk(scope, node)):
        if not isinstance(call, ast.Call):
            continue
        runs = any(
            isinstance(p.node, ast.Call)
            and (_is_collective(meaning, p.scope, p.node) or _averages(meaning, p.scope, p.node))
            for given in fetched(meaning, where, call)
            for p in meaning.parts(where, given)
        )
        if runs or any(
            _collectives(meaning, function.scope, certain, depth + 1)
            for function, certain in _called(meaning, where, call, depth)
        ):
            found.append(call)
    return found


def _called(
    meaning: Meaning, scope: Scope, call: ast.Call, depth: int
) -> Iterator[Tuple[Function, List[ast.AST]]]:
    """The functions of a call that have no graph of their own, each with what it certainly does.

    ``depth`` is how many functions are around.
    """
    for function in meaning.functions(scope, call.func) if depth < 3 else ():
        if not any(_has_own_graph(function.scope, each) for each in function.statements):
            yield function, [each for each in function.statements if isinstance(each, _PLAIN)]


def _is_collective(meaning: Meaning, scope: Scope, call: ast.Call) -> bool:
    """True for a call that makes a collective."""
    name = name_of(call.func)
    is_ours = "npu" in name or "hccl" in (meaning.name(scope, call.func) or "")
    return name in _REDUCING and is_ours


_UPDATING = ("minimize", "apply_gradients")


def _averages(meaning: Meaning, scope: Scope, call: ast.Call) -> bool:
    """True for the update of an optimizer that averages gradients."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in _UPDATING:
        return False
    made = meaning.result(scope, function.value)
    if made is None or not isinstance(made.node, ast.Call):
        return False
    return meaning.is_npu(made.scope, made.node.func, *_WRAPPERS[:2])


_API = (
    *("get_rank_id", "get_rank_size", "get_local_rank_id", "get_local_rank_size"),
    *("get_world_rank_from_group_rank", "get_group_rank_from_world_rank"),
    *("get_npu_rank_id", "get_npu_rank_size", "get_npu_local_rank_id"),
)
_FIRST = ("initialize_system", "init_resource", "npu_resources")
_READY = (
    *(*_FIRST, "run", "train", "fit", "train_and_evaluate"),
    *("Session", "MonitoredTrainingSession", "InteractiveSession", "set_keras_session_npu_config"),
    *("init_rdma", "npu_clear_session", "evaluate", "predict", "init"),
)


@recognises(ranks.rank_asked_before_initialisation, _API)
def rank_asked_first(context: Context) -> None:
    """The rank is asked for by the first statements of a program."""
    meaning = context.meaning
    ready = [line for word in _READY for line in context.script.source.mentions(word)]
    lines = context.script.source.lines
    no_calls = ("import ", "from ", "def ")
    ready = [n for n in sorted(ready) if not lines[n - 1].lstrip().startswith(no_calls)]
    seen: Set[int] = set()
    for site in meaning.calls(*_API):
        call = site.node
        moment = _moment(context, site)
        function = site.function
        end = last_line(function) if function is not None else 0
        first = next((n for n in ready if not site.line < n <= end), None)  # what runs behind it
        if moment is None or not meaning.is_npu(site.scope, call.func, *_API):
            continue
        if (first is not None and first < moment) or site.line in seen:
            continue
        if context.imports_have("init_resource", "initialize_system"):
            continue
        if site.is_conditional or site.inside(ast.Try):
            continue
        seen.add(site.line)
        context.report(
            call,
            "{} is called before collective communication is initialised: the call fails",
            name_of(call.func),
        )


def _moment(context: Context, site: Site, depth: int = 0) -> Optional[int]:
    """The line of the program's start at which a place is come to first; None: not known."""
    function = site.function
    if function is None:
        return site.line
    assert isinstance(function, FUNCTIONS)
    if sum(isinstance(node, FUNCTIONS) for node in site.parents) != 1 or depth > 3:
        return None
    for each in context.script.tree.body if function.name == "main" else ():
        if isinstance(each, ast.If) and is_main(each.test):
            ready = {n for word in _FIRST for n in context.script.source.mentions(word)}
            return None if holds(sorted(ready), each.lineno, last_line(each)) else site.line
    callers = context.meaning.calls_of(function)
    moments = [
        None if each.is_conditional or each.inside(ast.Try) else _moment(context, each, depth + 1)
        for each in callers or ()
    ]
    known = [max(each, site.line) for each in moments if each is not None]
    return min(known) if known and len(known) == len(moments) else None


WRAPPERS = (
    "npu_distributed_optimizer_wrapper",
    "NPUDistributedOptimizer",
    "KerasDistributeOptimizer",
)
_WRAPPERS = (*WRAPPERS, "npu_keras_optimizer")
SENDING = (
    *("NPUBroadcastGlobalVariablesHook", "npu_hooks_append", "npu_callbacks_append"),
    *("NPUBroadcastGlobalVariablesCallback", "broadcast", "NPUEstimator"),
    *("broadcast_global_variables", "BroadcastGlobalVariablesHook", "NPUStrategy"),
)


NOT_BROADCAST = (
    "the optimizer averages gradients, but the initial values of the variables are not "
    "broadcast: each rank starts with its own weights"
)


@recognises(
    ranks.variables_not_broadcast,
    WRAPPERS,
    (*SESSIONS, "fit", "fit_generator", "train", "train_on_batch"),
)
def nothing_broadcast(context: Context) -> None:
    """The optimizer is wrapped, and nothing broadcasts the variables."""
    if not context.script.is_program or broadcasts(context):
        return
    text = (
        "the optimizer averages gradients, but no session runs the operations that assign "
        "the broadcast values: each rank starts with its own weights"
        if _assigns(context)
        else "the optimizer averages gradients, but the hook that broadcasts the initial "
        "values is passed to no session: each rank starts with its own weights"
        if _unread_hooks(context)
        else "the optimizer averages gradients, but the broadcast values are never assigned: "
        "each rank starts with its own weights"
        if "broadcast" in _text(context)
        else NOT_BROADCAST
    )
    if context.imports_may_have(*SENDING) or _starts_alike(context):
        return
    for site in context.meaning.calls(*WRAPPERS):
        if not context.meaning.is_npu(site.scope, site.node.func, *_WRAPPERS):
            continue
        function = site.function
        if function is not None and not context.meaning.is_called(function):
            continue
        context.report(site.node, text, severity=Severity.WARNING if has_seed(context) else None)
        return


_COMMENT = re.compile("#.*")
_ASSIGNING = ("assign", "load", "update", "set_value", "set_weights", "_assign", "scatter_update")


def _text(context: Context) -> str:
    return _COMMENT.sub("", context.script.source.text)


def _assigns(context: Context) -> bool:
    """True where something may take values that were broadcast."""
    text = _text(context)
    is_assigning = context.mentions(*_ASSIGNING) or "assign" in text
    return "broadcast" in text.lower() and is_assigning


def broadcasts(context: Context) -> bool:
    """True unless nothing sends the first values, or nothing takes what was sent."""
    text = _text(context)
    unread = _unread_hooks(context)
    mentioned = {
        line
        for word in SENDING
        if word != "broadcast"
        for line in context.script.source.mentions(word)
    }
    if mentioned - unread:
        return True
    if unread:
        lines = text.split("\n")
        return any(
            "broadcast" in line.lower()
            for number, line in enumerate(lines, 1)
            if number not in unread
        )
    meaning = context.meaning
    sent = [
        site
        for site in meaning.calls("broadcast")
        if "hccl" in (meaning.name(site.scope, site.node.func) or "")
    ]
    if not sent or text.lower().count("broadcast") > len(sent):
        return "broadcast" in text.lower()
    return _assigns(context) and not all(_is_never_run(context, site) for site in sent)


def _unread_hooks(context: Context) -> Set[int]:
    """The lines that make a hook which broadcasts, and give it a name that nothing reads."""
    found: Set[int] = set()
    for site in context.meaning.calls("NPUBroadcastGlobalVariablesHook"):
        made = site.statement
        if not isinstance(made, ast.Assign) or len(made.targets) > 1:
            continue
        name, inner = made.targets[0], site.parents[site.parents.index(made) + 1 :]
        lines = range(made.lineno, last_line(made) + 1)
        if (
            isinstance(name, ast.Name)
            and all(isinstance(each, (ast.List, ast.Tuple)) for each in inner)
            and all(line in lines for line in context.script.source.mentions(name.id))
        ):
            found.add(site.line)
    return found


_GATHERING = ("zip", "list", "tuple", "enumerate", "assign", "broadcast")


def _is_never_run(context: Context, site: Site, depth: int = 0) -> bool:
    """True for what goes into an operator whose name, or whose function's, is read nowhere."""
    meaning, statement = context.meaning, site.statement
    is_made = all(
        meaning.tf(site.scope, call.func) or name_of(call.func) in _GATHERING
        for call in site.parents
        if isinstance(call, ast.Call)
    )
    if not is_made or depth > 3:
        return False
    if isinstance(statement, ast.Return):
        function = site.function
        callers = None if function is None else meaning.calls_of(function)
        return bool(callers) and all(_is_never_run(context, c, depth + 1) for c in callers or ())
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return False
    name, mentions = statement.targets[0], context.script.source.mentions
    return isinstance(name, ast.Name) and mentions(name.id) == [statement.lineno]


_ALIKE = ("zeros_initializer", "ones_initializer", "constant_initializer")
_LAYERS = ("layers", "keras", "slim", "nn", "rnn_cell", "contrib", "Variable", "hub")


def _starts_alike(context: Context) -> bool:
    """True when each variable is made by get_variable, with an initializer of one value."""
    if context.mentions(*_LAYERS):
        return False
    made = [site.node for site in context.meaning.calls("get_variable")]
    values = [argument(call, "initializer", 3) for call in made]
    return bool(values) and all(
        isinstance(value, ast.Call) and name_of(value.func) in _ALIKE for value in values
    )


def has_seed(context: Context) -> bool:
    """True where the ranks may begin alike without a broadcast."""
    return context.mentions("set_random_seed", "tf_random_seed", "restore")


def _by_hand(meaning: Meaning, scope: Scope, node: ast.AST, every: bool) -> bool:
    """True for what is made of ``tf.gradients``.

    Args:
        meaning: of the script.
        scope: of the expression.
        node: the expression.
        every: names are bound again, to what functions of TensorFlow make of them.
    """
    is_made = False
    for where, part in meaning.parts(scope, node, every=every, until="gradients"):
        if isinstance(part, ast.Call):
            name = meaning.tf(where, part.func)
            is_made = is_made or name == "gradients"
            is_plain = name or name_of(part.func) in _HANDING_ON
            if not is_plain and (every or not meaning.functions(where, part.func)):
                return False  # it may average them
    return is_made


def _of_plain_optimizer(meaning: Meaning, scope: Scope, node: ast.AST) -> bool:
    """True for what an optimizer of TensorFlow itself computes, and nothing averages."""
    for where, part in meaning.parts(scope, node):
        function = part.func if isinstance(part, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr == "compute_gradients":
            made = meaning.result(where, function.value)
            if made is None or not isinstance(made.node, ast.Call):
                return False
            name = meaning.tf(made.scope, made.node.func) or ""
            return name.startswith("train.") and name.endswith("Optimizer")
    return False


_HANDING_ON = ("zip", "list", "tuple", "enumerate", "len", "reversed", "range")


@recognises(ranks.ranks_train_independently, _WRAPPERS[:2], ("apply_gradients",))
def gradients_not_averaged(context: Context) -> None:
    """``tf.gradients`` go to ``apply_gradients`` of a wrapped optimizer."""
    if context.mentions("npu_allreduce", "allreduce"):
        return
    meaning = context.meaning
    for site in meaning.calls("apply_gradients"):
        call = site.node
        given = argument(call, "grads_and_vars", 0)
        if given is None or not _averages(meaning, site.scope, call):
            continue
        if _of_plain_optimizer(meaning, site.scope, given):
            context.report(
                call,
                "the gradients of an unwrapped optimizer are not averaged: the wrapped "
                "optimizer averages only in its own compute_gradients",
            )
        elif any(_by_hand(meaning, site.scope, given, every) for every in (False, True)):
            context.report(
                call,
                "the gradients of tf.gradients are not averaged: the wrapped optimizer "
                "averages only in compute_gradients",
            )
