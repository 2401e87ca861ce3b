"""Starting points: the module, and the functions with hot lines that it does not reach.

The work is in proportion to the script: every path from a function begins with the module, whose
statements are run again each time.  Where that comes to more than a script of its length is
worth, each function that is left is run once, by itself.
"""

import ast
from functools import partial
from typing import Any, Callable, List, Set

from npu_config.script.attributes import of_class
from npu_config.script.expressions import EXPRESSIONS
from npu_config.script.functions import bind_unknown, invoke, is_relevant
from npu_config.script.objects import Class, Function, Instance
from npu_config.script.paths import Decisions, Path, explore
from npu_config.script.scopes import FunctionNode, Scope
from npu_config.script.script import Script
from npu_config.script.state import Again, Exhausted, Frame, Run, execute, used
from npu_config.script.statements import STATEMENTS

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
