"""Lists, branches, loops and functions: what is known after them."""

import re
from typing import List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.run import (
    SILENT,
    Run,
    Step,
    follow_steps,
    names_in,
    once,
    several,
    statements,
    steps_of,
    unknown,
)
from npu_config.launch.shell.state import Path, State, Value
from npu_config.launch.shell.syntax import Node
from npu_config.launch.shell.words import arithmetic, condition, fields_of, together

_MOST_ROUNDS = 256
_BODIES = ("do_group", "compound_statement")
_LEAVES = re.compile(rb"\b(?:break|continue)\b")


def aside(run: Run, state: State, node: Node) -> None:
    """A process of its own: what it sets is gone afterwards."""
    begin = state.fork()
    statements(run, state, node.children)
    state.back(begin)


def list_(run: Run, state: State, node: Node) -> None:
    """``a && b``, ``a || b``: the second may not run."""
    children = [child for child in node.children if child.is_named]
    statements(run, state, children[:1])
    if len(children) < 2 or state.dead:
        return
    state.join(_path(run, state, steps_of(run, children[1:])), state.nothing())


def _path(run: Run, state: State, steps: Sequence[Step]) -> Path:
    """Follow statements that may not be reached."""
    begin = state.fork()
    follow_steps(run, state, steps)
    return state.back(begin)


def function(run: Run, state: State, node: Node) -> None:
    """``f() { ... }``: kept until it is called."""
    names = [child for child in node.children if child.type == "word"]
    bodies = [child for child in node.children if child.is_named and child.type != "word"]
    if names and bodies:
        state.own().functions[run.script.text(names[0])] = (bodies[-1], run.script)


def if_(run: Run, state: State, node: Node) -> None:
    """``if``: the branches that may be taken, joined."""
    paths: List[Path] = []
    for test, steps, held in once(run, node, _arms):
        if test is not None and test.type == "test_command":
            held = condition(run.script, state, test)
        elif test is not None:
            statements(run, state, [test])
        if held is False:
            continue
        paths.append(_path(run, state, steps))
        if held is True:
            break
    else:
        paths.append(state.nothing())
    state.join(*paths)


def test(run: Run, state: State, node: Node) -> None:
    """``[[ ... ]]`` does nothing; ``((A++))`` is one, too, for the older grammar."""
    if run.script.text(node).startswith("(("):
        unknown(run, state, node)


_Arm = Tuple[Optional[Node], List[Step], Optional[bool]]
"""A branch: its test, its statements, and True for that of ``else``."""


def _arms(run: Run, node: Node) -> List[_Arm]:
    arms: List[List[Node]] = [[]]
    last = ""
    for child in node.children:
        if child.is_named and child.type not in SILENT:
            last = child.type
            if last in ("elif_clause", "else_clause"):
                arms.append([each for each in child.children if each.is_named])
            else:
                arms[0].append(child)
    others = arms.pop() if last == "else_clause" else None
    found: List[_Arm] = [(*(arm[:1] or [None]), steps_of(run, arm[1:]), None) for arm in arms]
    return found if others is None else [*found, (None, steps_of(run, others), True)]


def case(run: Run, state: State, node: Node) -> None:
    """``case``: every branch, or none of them."""
    paths = [_path(run, state, steps) for steps in once(run, node, _items)]
    state.join(state.nothing(), *paths)


def _items(run: Run, node: Node) -> List[List[Step]]:
    return [
        steps_of(run, [part for part in child.children if part.type in run.handlers])
        for child in node.children
        if child.type == "case_item"
    ]


class _For(NamedTuple):
    """The parts of a loop over words; ``words`` is None for one over the arguments."""

    name: str
    words: Optional[List[Node]]
    body: List[Node]
    leaves_early: bool


def _for(run: Run, node: Node) -> _For:
    body = [child for child in node.children if child.type in _BODIES]
    words: Optional[List[Node]] = None
    for child in node.children[2:]:
        if child.type == "in":
            words = []
        elif words is not None and child.is_named and child not in body:
            words.append(child)
    name = run.script.text(node.children[1])
    return _For(name, words, body, _leaves_early(run, body))


def for_(run: Run, state: State, node: Node) -> None:
    """``for x in ...``: round by round where the words are known."""
    loop = once(run, node, _for)
    words: Sequence[Value] = [UNKNOWN] if state.shell.arguments is None else state.shell.arguments
    if loop.words is not None:
        words = together(fields_of(run.script, state, each) for each in loop.words)
        run.steps -= len(words) // 16
    spot = run.script.spot(node.children[1])
    if UNKNOWN in words or len(words) > _MOST_ROUNDS or loop.leaves_early:
        _loop_of_unknown_rounds(run, state, loop.body, loop.name)
        return
    run.counted += 1
    number = run.counted
    for rounds, word in enumerate(words):
        state.set(loop.name, word, spot)
        _round(run, state, loop.body, (number, rounds))
        if state.dead:
            return


def _leaves_early(run: Run, body: Sequence[Node]) -> bool:
    return any(
        _LEAVES.search(run.script.data[part.start_byte : part.end_byte]) is not None
        for part in body
    )


def _round(
    run: Run, state: State, body: Sequence[Node], number: Optional[Tuple[int, int]]
) -> None:
    run.loops.append(number)
    for part in body:
        several(run, state, part)
    run.loops.pop()


def c_for(run: Run, state: State, node: Node) -> None:
    """``for ((...))``: round by round where the numbers are known."""
    body = [child for child in node.children if child.type in _BODIES]
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
    state.set(name, UNKNOWN if value is None else str(value), run.script.spot(node))


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
    begin = state.fork()
    changed = {changed for part in body for changed in names_in(run.script.spot(part))}
    state.forget(changed)
    if name is not None and body:
        state.set(name, UNKNOWN, run.script.spot(body[0]))
    _round(run, state, body, None)
    kept = changed.intersection(state.variables)
    state.join(state.back(begin), state.nothing())
    for changed_name in kept:
        variable = state.variables.get(changed_name)
        if variable is not None:
            # A loop that exists runs: what it sets counts as set, with an unknown value.
            state.put(changed_name, variable._replace(value=UNKNOWN, certain=True))
