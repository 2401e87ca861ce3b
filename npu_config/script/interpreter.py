"""What each statement does on a path, and where paths start: ``STATEMENTS`` and ``run_all``.

A path starts at the module, and at each function with hot lines that the module does not reach.
The work is in proportion to the script: every path from a function begins with the module, whose
statements are run again each time.  Where that comes to more than a script of its length is
worth, each function that is left is run once, by itself.
"""

import ast
import contextlib
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from npu_config.core.message import phrase
from npu_config.python_flow.scopes import (
    UNCLEAR,
    FunctionNode,
    Scope,
    Watch,
    holds,
    in_brackets,
    last_line,
    literal,
)
from npu_config.script import effects, methods, objects
from npu_config.script.conditions import ROUNDS, Condition, Decisions
from npu_config.script.effects import (
    adopt_block,
    bind_unknown,
    interest_in,
    invoke,
    is_changed,
    is_relevant,
    lookup,
    of_class,
)
from npu_config.script.expressions import EXPRESSIONS, truth
from npu_config.script.methods import set_attribute
from npu_config.script.objects import (
    Argument,
    Block,
    BlockList,
    Class,
    Constructed,
    Function,
    Instance,
    Message,
    NotKnown,
    ParameterMap,
    Replaced,
    Subscript,
    Unknown,
    is_known,
)
from npu_config.script.paths import (
    BREAK,
    CONTINUE,
    ON,
    RETURN,
    STOP,
    Again,
    Exhausted,
    Frame,
    Path,
    Run,
    anonymous,
    evaluate,
    execute,
    explore,
    identity,
    used,
)
from npu_config.script.script import Script, leaves_round

_ITEMS = 64


def _expression(run: Run, statement: ast.Expr) -> int:
    evaluate(run, statement.value)
    return ON


def _assign(run: Run, statement: ast.Assign) -> int:
    value = evaluate(run, statement.value)
    for target in statement.targets:
        bind(run, target, value, statement.value)
    return ON


def _annotated(run: Run, statement: ast.AnnAssign) -> int:
    if statement.value is not None:
        bind(run, statement.target, evaluate(run, statement.value), statement.value)
    return ON


def _augmented(run: Run, statement: ast.AugAssign) -> int:
    target = statement.target
    if isinstance(target, ast.Name):
        old, new = lookup(run, target.id), evaluate(run, statement.value)
        value: Any = anonymous(statement)
        if is_known(old) and is_known(new):
            with contextlib.suppress(NotKnown):
                value = objects.binary(type(statement.op), old, new)
        bind(run, target, value, statement.value)
    else:
        evaluate(run, statement.value)
        bind(run, target, anonymous(statement), statement.value)
    return ON


def bind(run: Run, target: ast.expr, value: Any, node: ast.expr) -> None:
    """Assign a value to a target."""
    if isinstance(target, ast.Name):
        _bind_name(run, target.id, value, node)
    elif isinstance(target, ast.Attribute):
        _bind_attribute(run, target, value, node)
    elif isinstance(target, ast.Subscript):
        _bind_item(run, target, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _bind_items(run, target, value, node)
    elif isinstance(target, ast.Starred):
        bind(run, target.value, anonymous(target), node)


def _bind_name(run: Run, name: str, value: Any, node: ast.expr) -> None:
    frame = run.frame
    if frame is not run.module and name in frame.global_names:
        frame = run.module
        used(run, value, "global")
        if run.decisions.loops and is_known(value):
            value = anonymous(node)
    may_change = is_known(value) and (
        len(frame.stores.get(name, ())) > 1
        or (isinstance(value, (list, dict)) and is_changed(run.script.source, name))
    )
    frame.scope.watch(name, Watch.ALL if may_change else interest_in(value))
    if isinstance(value, Function) and (
        frame is not run.module or isinstance(value.node, ast.Lambda)
    ):
        frame.scope.watch(name, Watch.ALL)
    elif isinstance(value, (list, tuple, dict)):
        used(run, value, "container")
    old = frame.variables.get(name)
    if isinstance(value, Message):
        if isinstance(old, Message) and old is not value:
            old.replaced = Replaced(value, run.place(node))
        value.bound.append(node)
    frame.variables[name] = value


def _bind_attribute(run: Run, target: ast.Attribute, value: Any, node: ast.expr) -> None:
    owner = evaluate(run, target.value)
    if isinstance(owner, Subscript):
        methods.set_field(run, owner, target, value, node)
    elif isinstance(owner, Block):
        if target.attr == "name":
            owner.names.append((value, run.place(node)))
    elif isinstance(owner, Message):
        methods.set_message_field(run, owner, target.attr, value, node)
    elif isinstance(owner, Instance):
        used(run, value, "attribute")
        effects.call_special(run, owner, "__setattr__", [target.attr, value])
        owner.attributes[target.attr] = value
    elif isinstance(owner, Constructed) and owner.kind == "AttrValue":
        owner.arguments[target.attr] = Argument(value, run.place(node), node=node)
    elif isinstance(owner, Constructed):
        place = run.script.source.place_of_name(target)
        set_attribute(run, owner, target.attr, value, node, place)
    else:
        used(run, value, "attribute")


def _bind_item(run: Run, target: ast.Subscript, value: Any) -> None:
    used(run, value, "item")
    owner = evaluate(run, target.value)
    if isinstance(owner, ParameterMap):
        return
    index = _index(run, target)
    if isinstance(owner, Instance):
        effects.call_special(run, owner, "__setitem__", [index, value])
        return
    if isinstance(owner, dict) and is_known(index) and not isinstance(index, (list, dict)):
        owner[index] = value
    elif isinstance(owner, (dict, list)) and isinstance(target.value, ast.Name):
        _bind_name(run, target.value.id, anonymous(target), target)


def _index(run: Run, target: ast.Subscript) -> Any:
    """The value in the brackets; None for a slice."""
    inner = in_brackets(target)
    return None if isinstance(inner, ast.Slice) else evaluate(run, inner)


def _bind_items(run: Run, target: Any, value: Any, node: ast.expr) -> None:
    targets = target.elts
    if isinstance(value, (tuple, list)) and len(value) == len(targets):
        values = list(value)
    else:
        key = identity(value)
        values = [
            Unknown("{}[{}]".format(key, index), parts=(value,)) for index in range(len(targets))
        ]
    for part, item in zip(targets, values):
        bind(run, part, item, node)


def _delete(run: Run, statement: ast.Delete) -> int:
    for target in statement.targets:
        if isinstance(target, ast.Name):
            run.frame.variables[target.id] = anonymous(target)
        elif isinstance(target, ast.Subscript):
            owner = evaluate(run, target.value)
            if isinstance(owner, BlockList):
                inner = in_brackets(target)
                is_all = isinstance(inner, ast.Slice) and not any(ast.iter_child_nodes(inner))
                methods.remove(run, owner, None if is_all else (_index(run, target),))
            elif isinstance(owner, ParameterMap):
                methods.delete(run, owner.block, _index(run, target))
            else:
                _bind_item(run, target, anonymous(target))
    return ON


def _if(run: Run, statement: ast.If) -> int:
    if not _any_hot(run, statement.body) and not _any_hot(run, statement.orelse):
        if not leaves_round(statement):
            if _calls_hot(run, statement.test):
                evaluate(run, statement.test)
            return ON
        run.wanting = True
    value, indices = _test(run, statement.test)
    taken, other = statement.body, statement.orelse
    if not value:
        taken, other = other, taken
    depth = len(run.guards)
    run.guards += indices
    left = execute(run, taken)
    if not _ends(other):
        del run.guards[depth:]
    return left


def _assert(run: Run, statement: ast.Assert) -> int:
    """What an assertion without a call says holds from here on."""
    test = statement.test
    for part in test.values if isinstance(test, ast.BoolOp) else [test]:
        if isinstance(test, ast.BoolOp) and not isinstance(test.op, ast.And):
            break
        if not any(isinstance(node, ast.Call) for node in ast.walk(part)):
            value = evaluate(run, part)
            if isinstance(value, Unknown):
                run.decisions.suppose(Condition.of(value), part)
    return ON


def _test(run: Run, test: ast.expr) -> Tuple[bool, List[int]]:
    decisions = run.decisions
    outer, decisions.mark = decisions.mark, len(decisions.touched)
    run.testing = True
    value = truth(run, test)
    run.testing = False
    indices = decisions.touched[decisions.mark :]
    decisions.mark = outer
    return value, indices


def _any_hot(run: Run, statements: Sequence[ast.stmt]) -> bool:
    """True when a body holds a hot statement, other than those that only leave it."""
    return run.script.relevance.any_hot(run.frame.scope, statements)


def _calls_hot(run: Run, test: ast.expr) -> bool:
    """True for a condition with a hot line that calls something."""
    lines = run.script.relevance.lines(run.frame.scope)
    return holds(lines, test.lineno, last_line(test)) and any(
        isinstance(node, ast.Call) for node in ast.walk(test)
    )


def _while(run: Run, statement: ast.While) -> int:
    value = evaluate(run, statement.test)
    if literal(statement.test) is UNCLEAR:
        for _ in range(_ITEMS):
            if not (is_known(value) and value):
                break
            left = _round(run, statement, is_each=True)
            if left not in (ON, CONTINUE):
                return left if left in (RETURN, STOP) else ON
            value = evaluate(run, statement.test)
    if not _is_entered(run, statement, value):
        return execute(run, statement.orelse)
    left = _round(run, statement, is_each=False)
    if left in (RETURN, STOP):
        return left
    return ON if left == BREAK or is_known(value) else _after_rounds(run, statement)


def _for(run: Run, statement: ast.For) -> int:
    value = evaluate(run, statement.iter)
    items = _items(run, value, statement.iter)
    if items is None and not _is_entered(run, statement, value):
        return execute(run, statement.orelse)
    one_of_many = Unknown("{}[]".format(identity(value)), parts=(value,))
    for item in [one_of_many] if items is None else items:
        left = _round(run, statement, items is not None, item)
        if left in (RETURN, STOP):
            return left
        if left == BREAK:
            return ON
    return _after_rounds(run, statement) if items is None else execute(run, statement.orelse)


def _after_rounds(run: Run, statement: Any) -> int:
    """The ``else`` of a loop of unknown rounds, unless one after that which is followed breaks."""
    if statement.orelse and any(isinstance(each, ast.Break) for each in ast.walk(statement)):
        words = phrase("the loop of line {} is left by break", statement.lineno)
        file = run.script.source.path
        if run.decisions.decide(Condition(words), None, usual=False, words=words, file=file):
            return ON
    return execute(run, statement.orelse)


def _is_entered(run: Run, statement: Any, value: Any) -> bool:
    """Whether a loop has a round, by what it runs over, or the condition of its first round."""
    known = bool(value) if is_known(value) else run.decisions.truth(value)
    if known is not None:
        return known
    condition = Condition(identity(value), ROUNDS, parts=(value,))
    words = phrase("the loop of line {} is not entered", statement.lineno)
    file = run.script.source.path
    return not run.decisions.decide(condition, None, usual=False, words=words, file=file)


def _round(run: Run, statement: Any, is_each: bool, item: Any = None) -> int:
    """The body of a loop, once; unless it ``is_each`` of its rounds, for all of them."""
    run.decisions.loops += not is_each
    if not is_each:
        _forget_rounds(run, statement)
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        bind(run, statement.target, item, statement.iter)
    left = execute(run, statement.body)
    run.decisions.loops -= not is_each
    return left


def _forget_rounds(run: Run, statement: Any) -> None:
    """Names that a loop hands from round to round have no known value when one begins."""
    variables, serial = run.frame.variables, run.frame.serial
    for name in run.script.carried(statement):
        if is_known(variables.get(name, statement)):
            variables[name] = Unknown("{}@{}:{}".format(name, serial, statement.lineno), (name,))


def _items(run: Run, value: Any, node: ast.expr) -> Optional[List[Any]]:
    """What a loop runs over, one by one; None where that is not known, or too much."""
    if isinstance(value, (list, tuple, dict)) and len(value) <= _ITEMS:
        return list(value)
    if not isinstance(value, BlockList):
        return None
    items: List[Any] = list(value.message.root.blocks)
    if value.message.root.foreign:
        items.append(adopt_block(run, Unknown("{}[]".format(id(value.message))), node))
    return items


def _with(run: Run, statement: ast.With) -> int:
    for item in statement.items:
        value = evaluate(run, item.context_expr)
        if item.optional_vars is not None:
            bind(run, item.optional_vars, value, item.context_expr)
    return execute(run, statement.body)


def _try(run: Run, statement: ast.Try) -> int:
    left = ON
    handled = any(_any_hot(run, handler.body) for handler in statement.handlers)
    if handled and _fails(run, statement):
        for handler in statement.handlers:
            if _any_hot(run, handler.body):
                left = execute(run, handler.body)
                break
    else:
        left = execute(run, statement.body) or execute(run, statement.orelse)
    final = execute(run, statement.finalbody)
    return final or left


def _fails(run: Run, statement: ast.Try) -> bool:
    words = phrase("line {} raises", statement.lineno)
    file = run.script.source.path
    return run.decisions.decide(Condition(words), None, usual=False, words=words, file=file)


def _match(run: Run, statement: Any) -> int:
    subject = evaluate(run, statement.subject)
    for case in statement.cases:
        key = "{}~{}".format(identity(subject), case.pattern.lineno)
        words = phrase("case at line {}", case.pattern.lineno)
        file = run.script.source.path
        if run.decisions.decide(Condition(key), None, words=words, file=file):
            return execute(run, case.body)
    return ON


def _class(run: Run, statement: ast.ClassDef) -> int:
    """The statements of the body of a class; its methods are run where they are called."""
    outer = run.frame
    frame = run.new_frame(outer.scope.child(statement), outer, outer.serial)
    run.frame = frame
    try:
        execute(run, statement.body)
    finally:
        run.frame = outer
    if frame.variables:
        run.class_bodies[statement] = frame.variables
    return ON


def _import(run: Run, statement: ast.ImportFrom) -> int:
    """A name that something else binds, too, is what is imported from here on."""
    for alias in statement.names:
        name = alias.asname or alias.name
        if len(run.frame.stores.get(name, ())) > 1:
            dotted = "{}.{}".format(statement.module or "", alias.name)
            run.frame.variables[name] = run.script.reference(dotted)
    return ON


def _return(run: Run, statement: ast.Return) -> int:
    value = None if statement.value is None else evaluate(run, statement.value)
    run.returned = value
    return RETURN


def _ends(statements: Sequence[ast.stmt]) -> bool:
    """True when a body never comes to its end."""
    return bool(statements) and isinstance(
        statements[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break)
    )


STATEMENTS: Dict[type, Callable[[Run, Any], int]] = {
    ast.ImportFrom: _import,
    ast.Return: _return,
    ast.Raise: lambda run, statement: STOP,
    ast.Break: lambda run, statement: BREAK,
    ast.Continue: lambda run, statement: CONTINUE,
    ast.Assert: _assert,
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.ClassDef: _class,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
}
for _name, _method in (("TryStar", _try), ("Match", _match)):
    if hasattr(ast, _name):
        STATEMENTS[getattr(ast, _name)] = _method

_AGAIN = 25
_STEPS = 15000
_STEPS_OF_A_LINE = 2
_STEPS_ALONE = 200


def run_all(script: Script, signature: Callable[[Run], object]) -> List[List[Path]]:
    """Every path from every starting point; each path's outcome is the finished :class:`Run`.

    Args:
        script: the script.
        signature: equal for runs that do not differ.
    """
    reached: Set[int] = set()
    groups: List[List[Path]] = []
    if not script.relevance.lines(script.module):  # nothing has to do with options
        return groups
    most = _STEPS + _STEPS_OF_A_LINE * len(script.source.lines)

    def enough() -> bool:
        return script.steps > most

    def explore_from(start: Callable[[Run], None]) -> None:
        limit = _STEPS_ALONE if enough() else most

        def run(decisions: Decisions) -> Run:
            return _run(script, decisions, reached, start, limit)

        groups.append(explore(run, signature, len(groups), enough))

    explore_from(_run_module)
    for scope, node in script.relevance.hot_functions:
        if id(node) not in reached:
            explore_from(partial(_run_function, scope, node, alone=enough()))
    return groups


def _run(
    script: Script,
    decisions: Decisions,
    reached: Set[int],
    start: Callable[[Run], None],
    limit: int,
) -> Run:
    """Follow one path, anew whenever it turns out that more statements matter."""
    schedule = decisions.schedule
    for _ in range(_AGAIN):
        run = Run(script, decisions, EXPRESSIONS, STATEMENTS, limit)
        try:
            start(run)
        except Again:
            run.forget()
            decisions.restart(schedule)
        except Exhausted:
            for block in run.blocks:
                block.open = True
            break
        else:
            break
    reached.update(run.visited)
    run.forget()
    return run


def _run_module(run: Run) -> None:
    execute(run, run.script.tree.body)


def _run_function(scope: Scope, node: FunctionNode, run: Run, alone: bool) -> None:
    """Run the module, unless ``alone``, and then a function with arguments that are not known."""
    if not alone:
        _run_module(run)
    run.apart = run.tick()
    frame = _frame_of(run, scope)
    function = Function(node, scope.child(node), frame)
    if isinstance(scope.node, ast.ClassDef):
        cls = Class(scope.node, scope, frame)
        function.receiver = Instance(cls, "self")
        _construct(run, cls, function.receiver, node)
    run.frame = run.module
    used(run, invoke(run, function, [], {}, True), "return")


def _frame_of(run: Run, scope: Scope) -> Frame:
    """A frame for the scope that a function is defined in, with nothing run in it."""
    if scope is run.script.module:
        return run.module
    assert scope.parent is not None
    parent = _frame_of(run, scope.parent)
    if isinstance(scope.node, ast.ClassDef):
        return parent
    frame = run.new_frame(scope, parent)
    bind_unknown(frame, scope.node)
    return frame


def _construct(run: Run, cls: Class, instance: Instance, node: ast.AST) -> None:
    """Run the constructor of a class, unless it is the starting point itself."""
    found: Any = of_class(run, cls, "__init__")
    if isinstance(found, Function) and found.node is not node and is_relevant(run, found):
        found.receiver = instance
        invoke(run, found, [], {}, True)
