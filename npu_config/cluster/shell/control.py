"""Lists, branches, loops and functions: what is known after them."""

import re
from typing import List, Optional, Sequence, Tuple

from npu_config.cluster.shell.run import (
    COPIED_IN_A_STEP,
    SILENT,
    Run,
    names_in,
    statements,
)
from npu_config.cluster.shell.state import State, Value, join
from npu_config.cluster.shell.syntax import Node
from npu_config.cluster.shell.words import arithmetic, condition, fields_of
from npu_config.core.settings import UNKNOWN

_MOST_ROUNDS = 256
_LEAVES = re.compile(rb"\b(?:break|continue)\b")


def several(run: Run, state: State, node: Node) -> None:
    """Statements one after another."""
    statements(run, state, node.children)


def aside(run: Run, state: State, node: Node) -> None:
    """A process of its own: what it sets is gone afterwards."""
    statements(run, state.copy(), node.children)


def list_(run: Run, state: State, node: Node) -> None:
    """``a && b``, ``a || b``: the second may not run."""
    children = [child for child in node.children if child.is_named]
    statements(run, state, children[:1])
    if len(children) < 2 or state.dead:
        return
    other = state.copy()
    statements(run, other, children[1:])
    state.take(join([other, state]))


def function(run: Run, state: State, node: Node) -> None:
    """``f() { ... }``: kept until it is called."""
    names = [child for child in node.children if child.type == "word"]
    bodies = [child for child in node.children if child.is_named and child.type != "word"]
    if names and bodies:
        state.functions[run.script.text(names[0])] = (bodies[-1], run.script)


def if_(run: Run, state: State, node: Node) -> None:
    """``if``: the branches that may be taken, joined."""
    branches: List[State] = []
    test: Optional[Node] = None
    body: List[Node] = []
    clauses = [child for child in node.children if child.type in ("elif_clause", "else_clause")]
    for child in node.children:
        if child.type in ("if", "then", "fi", ";", "\n") or child in clauses:
            continue
        if child.is_named and child.type not in SILENT:
            if test is None:
                test = child
            else:
                body.append(child)
    arms: List[Tuple[Optional[Node], Sequence[Node]]] = [(test, body)]
    for clause in clauses:
        inner = [child for child in clause.children if child.is_named]
        if clause.type == "elif_clause":
            arms.append((inner[0] if inner else None, inner[1:]))
        else:
            arms.append((None, inner))
    complete = bool(clauses) and clauses[-1].type == "else_clause"
    for number, (test, statements_of_arm) in enumerate(arms):
        run.steps -= len(state.variables) // COPIED_IN_A_STEP
        held: Optional[bool] = None
        if test is None:
            held = True if complete and number == len(arms) - 1 else None
        elif test.type == "test_command":
            held = condition(run.script, state, test)
        else:
            statements(run, state, [test])
        if held is False:
            continue
        branch = state.copy()
        statements(run, branch, statements_of_arm)
        branches.append(branch)
        if held is True:
            break
    else:
        branches.append(state.copy())
    state.take(join(branches))


def case(run: Run, state: State, node: Node) -> None:
    """``case``: every branch, or none of them."""
    branches = [state.copy()]
    for child in node.children:
        if child.type == "case_item":
            run.steps -= len(state.variables) // COPIED_IN_A_STEP
            branch = state.copy()
            body = [part for part in child.children if part.is_named][1:]
            statements(run, branch, [p for p in body if p.type in run.handlers])
            branches.append(branch)
    state.take(join(branches))


def for_(run: Run, state: State, node: Node) -> None:
    """``for x in ...``: round by round where the words are known."""
    name = run.script.text(node.children[1])
    body = [child for child in node.children if child.type in ("do_group", "compound_statement")]
    words: List[Value] = []
    listed = False
    for child in node.children[2:]:
        if child.type == "in":
            listed = True
        elif listed and child.is_named and child not in body:
            words.extend(fields_of(run.script, state, child))
    if not listed:
        words = [UNKNOWN] if state.arguments is None else list(state.arguments)
    place = run.script.place(node.children[1])
    if UNKNOWN in words or len(words) > _MOST_ROUNDS or _leaves_early(run, body):
        _loop_of_unknown_rounds(run, state, body, name)
        return
    run.counted += 1
    loop = run.counted
    for number, word in enumerate(words):
        state.set(name, word, place)
        _round(run, state, body, (loop, number))
        if state.dead:
            return


def _leaves_early(run: Run, body: Sequence[Node]) -> bool:
    return any(
        _LEAVES.search(run.script.data[part.start_byte : part.end_byte]) is not None
        for part in body
    )


def _round(run: Run, state: State, body: Sequence[Node], number: Tuple[int, int]) -> None:
    run.loops.append(number)
    statements(run, state, body)
    run.loops.pop()


def c_for(run: Run, state: State, node: Node) -> None:
    """``for ((...))``: round by round where the numbers are known."""
    body = [child for child in node.children if child.type in ("do_group", "compound_statement")]
    parts: List[List[Node]] = [[], [], []]
    number = 0
    for child in node.children:
        if child.type == ";" and number < 2:
            number += 1
        elif child.is_named and child not in body:
            parts[number].append(child)
    for child in parts[0]:
        _count(run, state, child)
    run.counted += 1
    loop = run.counted
    for rounds in range(_MOST_ROUNDS):
        held = arithmetic(run.script, state, parts[1][0]) if len(parts[1]) == 1 else None
        if held is None or _leaves_early(run, body):
            break
        if held == 0:
            return
        _round(run, state, body, (loop, rounds))
        if state.dead:
            return
        for child in parts[2]:
            _count(run, state, child)
    _loop_of_unknown_rounds(run, state, body)


def _count(run: Run, state: State, node: Node) -> None:
    """``i=0``, ``i++``, ``i+=2`` in the head of a loop."""
    text = run.script.text(node)
    match = re.match(r"\s*([A-Za-z_]\w*)\s*(\+\+|--|\+=|-=|=)\s*(.*)\Z", text, re.DOTALL)
    if match is None:
        return
    name, operator = match.group(1), match.group(2)
    before = _whole(state.get(name))
    if operator == "=":
        value = arithmetic(run.script, state, node.children[-1])
    else:
        step: Optional[int] = 1
        if operator in ("+=", "-="):
            step = arithmetic(run.script, state, node.children[-1])
        if before is None or step is None:
            value = None
        else:
            value = before + step if operator[0] == "+" else before - step
    state.set(name, UNKNOWN if value is None else str(value), run.script.place(node))


def _whole(value: Value) -> Optional[int]:
    return None if value is UNKNOWN or not re.match(r"-?[0-9]{1,18}\Z", value) else int(value)


def while_(run: Run, state: State, node: Node) -> None:
    """``while`` and ``until``."""
    body = [child for child in node.children if child.type == "do_group"]
    run.programs = True  # it may wait for a file that another program makes
    _loop_of_unknown_rounds(run, state, body)


def _loop_of_unknown_rounds(
    run: Run, state: State, body: Sequence[Node], name: Optional[str] = None
) -> None:
    """Nobody knows how often: what the body sets is not known before it, and maybe set after."""
    before = state.copy()
    changed = {changed for part in body for changed in names_in(run, part)}
    state.forget(changed)
    if name is not None and body:
        state.set(name, UNKNOWN, run.script.place(body[0]))
    run.loops.append(None)
    statements(run, state, body)
    run.loops.pop()
    kept = changed.intersection(state.variables)
    after = join([state, before])
    for changed_name in kept:
        variable = after.variables.get(changed_name)
        if variable is not None:
            # A loop that exists runs: what it sets counts as set, with an unknown value.
            after.variables[changed_name] = variable._replace(value=UNKNOWN, certain=True)
    state.take(after)
