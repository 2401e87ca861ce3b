"""A launch script followed to its end: the state of the walk, and what follows each statement.

Nothing is executed.  What a command of another program changes is not known, and what is not
known stays so: a variable that a loop or a command sets counts as set, with an unknown value.
"""

import functools
import os
import re
from types import MappingProxyType
from typing import (
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
)

import attr

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell._rules import export_of_no_name
from npu_config.launch.shell.commands import (
    MAKES_ITS_WORDS,
    MAKES_NOTHING,
    MOVES,
    Launch,
    Started,
    inner,
    may_start,
    started,
)
from npu_config.launch.shell.syntax import (
    Node,
    ShellScript,
    Spot,
    place_of,
)
from npu_config.launch.shell.words import (
    ARRAY_SEPARATOR,
    CHANGES,
    LONGEST,
    NAME,
    NOT_KNOWN,
    ShellPath,
    ShellVariable,
    State,
    Value,
    arithmetic,
    condition,
    fields_of,
    file_key,
    heredoc,
    together,
    value_of,
)

LARGEST = 1024 * 1024
DEEPEST = 16
_MOST_STEPS = 50_000
PARSED = 16
"""The steps that a text costs that is parsed on the way."""
_ASSIGNED = re.compile(
    rb"(?<![\w$\"'./-])([A-Za-z_]\w*)(?:\[[^\]\n]{0,80}\])?"
    rb"(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
)
SILENT = frozenset(
    ("comment", "file_redirect", "heredoc_redirect", "herestring_redirect", "heredoc_body")
)

Loader = Callable[[str], Optional[str]]
Handler = Callable[[Any, State, Any], None]
Step = Tuple[Handler, Any, bool]
"""What follows a statement, what it is given, and whether the statement ends with ``&``."""
Read = TypeVar("Read")
_Named = Tuple[str, Optional[Place]]
"""A path; or the text of ``bash -c``, and the place of the command."""


@attr.s(slots=True, auto_attribs=True, eq=False)
class ScriptRun:
    """One script on its way.

    Attributes:
        script: the file that is being followed.
        load: the text of a file near it, None when it is not to be had.
        handlers: type of a statement to what follows it, given its node.
        launches: what was started.
        loops: the loops that are being followed, the innermost last: a number for each and the
            round it is in.
        background: the loop and round of the command that runs in the background, if any.
        counted: how many loops there were.
        scripts: what was parsed, by path or text; while they are here their nodes have an id each.
        read: what was read of a node, by its id: statements may be followed many times.
        files: the paths of the scripts that are being followed, the innermost last.
        steps: how many statements may still be followed.
        depth: how many functions and files deep.
        faults: what is wrong with a command itself, by its place.
        written: the last parts of the paths that were written.
        made: those of the paths that were copied, moved or made otherwise, maybe with content.
        texts: whether the text of a file was known that the script wrote.
        programs: whether a program ran that may have made any file.
        near: the path of a file that a script names, as far as somebody asked.
        moved: whether the working directory was changed.
    """

    script: ShellScript
    load: Loader
    handlers: Mapping[str, Handler]
    launches: List[Launch] = attr.ib(factory=list, init=False)
    loops: List[Optional[Tuple[int, int]]] = attr.ib(factory=list, init=False)
    background: Optional[Tuple[int, int]] = attr.ib(default=None, init=False)
    counted: int = attr.ib(default=0, init=False)
    scripts: Dict[_Named, Optional[ShellScript]] = attr.ib(factory=dict, init=False)
    read: Dict[int, Any] = attr.ib(factory=dict, init=False)
    files: List[Optional[str]] = attr.ib(init=False)
    steps: int = attr.ib(default=_MOST_STEPS, init=False)
    depth: int = attr.ib(default=0, init=False)
    faults: Dict[Place, Diagnostic] = attr.ib(factory=dict, init=False)
    written: Set[str] = attr.ib(factory=set, init=False)
    made: Set[str] = attr.ib(factory=set, init=False)
    texts: bool = attr.ib(default=False, init=False)
    programs: bool = attr.ib(default=False, init=False)
    near: Dict[Tuple[str, str], str] = attr.ib(factory=dict, init=False)
    moved: bool = attr.ib(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.files = [self.script.path]


def once(run: ScriptRun, node: Node, read: Callable[[ScriptRun, Node], Read]) -> Read:
    """What is read of a node; it is kept where the node may be reached again."""
    if not run.loops and not run.depth:
        return read(run, node)
    found: Optional[Read] = run.read.get(node.id)
    if found is None:
        found = run.read[node.id] = read(run, node)
    return found


def steps_of(run: ScriptRun, nodes: Sequence[Node]) -> List[Step]:
    """The statements among some nodes, each read as far as its text says what it does."""
    steps: List[Step] = []
    for node in nodes:
        kind = node.type
        if kind in run.handlers:
            steps.append((run.handlers[kind], node, False))
        elif kind == "&" and steps:
            steps[-1] = (*steps[-1][:2], True)
        elif kind not in SILENT and node.is_named:
            steps.append((unknown, node, False))
    return steps


def follow_steps(run: ScriptRun, state: State, steps: Sequence[Step]) -> None:
    """Follow statements one after another, as far as they are reached."""
    for handler, given, in_background in steps:
        if state.dead:
            return
        run.steps -= 1
        if run.steps < 0:
            state.forget()
            return
        if in_background and run.loops and run.background is None:
            run.background = run.loops[-1]
            handler(run, state, given)
            run.background = None
        else:
            handler(run, state, given)


def statements(run: ScriptRun, state: State, nodes: Sequence[Node]) -> None:
    """Follow the statements among some nodes."""
    follow_steps(run, state, steps_of(run, nodes))


def several(run: ScriptRun, state: State, node: Node) -> None:
    """Follow the statements of a block."""
    follow_steps(run, state, once(run, node, block))


def block(run: ScriptRun, node: Node) -> List[Step]:
    """The statements of a block."""
    return steps_of(run, node.children)


def unknown(run: ScriptRun, state: State, node: Node) -> None:
    """A part that is not understood: what it assigns is not known."""
    spot = run.script.spot(node)
    for name in names_in(spot) + CHANGES.findall(run.script.text(node)):
        state.set(name, UNKNOWN, spot)


def names_in(spot: Spot) -> List[str]:
    """The names that a part of a script assigns."""
    script, begin, end = spot
    return [name.decode("ascii") for name in _ASSIGNED.findall(script.data[begin:end])]


def resolve_path(run: ScriptRun, name: Optional[str]) -> Optional[str]:
    """The path of a file that a script names: beside it, or as it stands.

    It is written as that of the script, so that what is found in it is found once.
    """
    own = run.script.path
    if name is None or own is None or "\0" in name:
        return name
    if (own, name) not in run.near:
        beside = os.path.normpath(os.path.join(os.path.dirname(own), name))
        if os.path.isabs(name) and not os.path.isabs(own):
            here = os.path.relpath(name)
            beside = name if here.startswith(os.pardir) else here
        run.near[own, name] = beside if os.path.exists(beside) else name
    return run.near[own, name]


def may_be_made(run: ScriptRun, path: Value) -> bool:
    """Whether what ran so far may have made a file."""
    if path is UNKNOWN or run.programs:
        return True
    names = path.split("/")
    if names[-1] in run.written or not run.made.isdisjoint(names):
        return True
    return run.moved and not os.path.isabs(path)


def text(run: ScriptRun, state: State, source: str, within: Place) -> None:
    """Follow the text of ``bash -c``, whose places are that of the command."""
    if run.depth < DEEPEST:
        script = run.scripts.get((source, within))
        if script is None:
            run.steps -= PARSED + len(source) // 256
            script = run.scripts[source, within] = ShellScript(source, run.script.path, within)
        _other(run, state, script)


def file(run: ScriptRun, state: State, path: Optional[str]) -> bool:
    """Follow another file; False when it is not to be had."""
    if path is None or path in run.files or run.depth >= DEEPEST:
        return False
    if (path, None) not in run.scripts:
        text = run.load(path)
        run.scripts[path, None] = None if text is None else ShellScript(text, path)
    script = run.scripts[path, None]
    if script is None:
        return False
    run.files.append(path)
    _other(run, state, script)
    state.dead = "" if state.dead == "return" else state.dead
    run.files.pop()
    return True


def _other(run: ScriptRun, state: State, script: ShellScript) -> None:
    before, run.script = run.script, script
    run.depth += 1
    several(run, state, script.root)
    run.depth -= 1
    run.script = before


_TEXTS = ("string", "concatenation", "simple_expansion", "expansion", "command_substitution")
_PLACEHOLDER = re.compile(r"\{[A-Za-z_]\w*\}|<[A-Za-z_ -]+>")
_SUBSTITUTED = re.compile(r"(?:\$\(|`)\s*([^\s()`]+)")


def assignment(run: ScriptRun, state: State, node: Node, export: bool = False) -> None:
    """``NAME=value``, ``NAME+=value``; elements of arrays are passed over."""
    name_node = node.children[0]
    name = run.script.text(name_node)
    value_node = node.children[-1] if len(node.children) > 2 else None
    elements = _elements(run, state, value_node)
    value = assigned_value(run, state, value_node)
    if value is UNKNOWN and value_node is not None:
        commands = _SUBSTITUTED.findall(run.script.text(value_node))
        run.programs = run.programs or not MAKES_NOTHING.issuperset(commands)
    if name_node.type != "variable_name" or NAME.match(name) is None:
        name = name.partition("[")[0]  # an element of an array
        variable = state.variables.get(name)
        if variable is not None:
            state.put(name, variable._replace(value=UNKNOWN, elements=UNKNOWN))
        return
    if len(node.children) > 1 and run.script.text(node.children[1]) == "+=":
        before = state.get(name)
        if before is UNKNOWN or value is UNKNOWN:
            value = UNKNOWN
        else:
            value = _kept(run, before + value)
        elements = UNKNOWN
    state.set(name, value, run.script.spot(node), export, elements)


def _elements(run: ScriptRun, state: State, node: Optional[Node]) -> Value:
    """The elements of an array in one text."""
    if node is None or node.type != "array":
        return UNKNOWN
    nodes = (child for child in node.children if child.is_named and child.type not in SILENT)
    words = together(fields_of(run.script, state, each) for each in nodes)
    if any(word is UNKNOWN or "[" in word or ARRAY_SEPARATOR in word for word in words):
        return UNKNOWN
    return _kept(run, ARRAY_SEPARATOR.join(map(str, words)))


def assigned_value(run: ScriptRun, state: State, node: Optional[Node]) -> Value:
    """The value of a word in an assignment."""
    if node is not None and node.type == "array":
        return UNKNOWN
    return _kept(run, value_of(run.script, state, node))


def _kept(run: ScriptRun, value: Value) -> Value:
    """A value, but not one that another script will write, and none that has grown too long."""
    if value is UNKNOWN or len(value) > LONGEST or _PLACEHOLDER.search(value) is not None:
        return UNKNOWN
    run.steps -= len(value) // 256
    return value


def declaration(run: ScriptRun, state: State, node: Node) -> None:
    """``export``, ``declare``, ``local``, ``readonly``, ``typeset``."""
    if len(node.children) == 2 and node.children[1].type == "variable_assignment":
        export = node.children[0].type == "export"
        assignment(run, state, node.children[1], export)
        return
    options = "".join(run.script.text(child) for child in node.children if child.type == "word")
    keyword = run.script.text(node.children[0])
    given, taken = (
        options.startswith("-"),
        "+x" in options or (keyword, "-n") == ("export", options),
    )
    export = not taken and (keyword == "export" or (given and "x" in options))
    refers = given and "n" in options and keyword != "export"
    for child in node.children[1:]:
        spot = run.script.spot(child)
        if child.type == "variable_assignment":
            assignment(run, state, child, export)
            if refers or (given and "i" in options):
                _change(state, run.script.text(child.children[0]), spot, refers)
        elif child.type in ("word", "number") and run.script.text(child)[0] in "=0123456789":
            message = phrase('{} "{}": not a name', keyword, run.script.text(child))
            help = "write NAME=value without blanks"
            fault = export_of_no_name.diagnostic(message, place_of(spot), help=help)
            run.faults.setdefault(place_of(run.script.spot(node)), fault)
        elif child.type == "variable_name" and export:
            state.export(run.script.text(child), spot)
        elif child.type == "variable_name" and taken:
            state.forget_export(run.script.text(child))
        elif child.type in _TEXTS:
            text = value_of(run.script, state, child)
            name, equals, value = ("", "", "") if text is UNKNOWN else text.partition("=")
            if equals and NAME.match(name):
                state.set(name, value, spot, export)
            elif text is UNKNOWN:
                names = names_in(spot)
                for name in names:
                    state.set(name, UNKNOWN, spot, export)
                if not names:
                    state.forget()  # any of them may be set: export $(cat job.env)


def _change(state: State, name: str, spot: Spot, refers: bool) -> None:
    """What a number or another name for a variable holds: ``declare -i``, ``declare -n``."""
    value = state.get(name)
    if not refers:
        if value is UNKNOWN or not value.isdecimal():
            state.set(name, UNKNOWN, spot)
    elif value is UNKNOWN:
        state.forget()
    else:
        state.set(value, UNKNOWN, spot)


def unset(run: ScriptRun, state: State, node: Node) -> None:
    """``unset NAME...``."""
    for child in node.children[1:]:
        if child.is_named:
            for name in fields_of(run.script, state, child):
                if name is not UNKNOWN and NAME.match(name):
                    state.remove(name)


_MOST_ROUNDS = 256
_BODIES = ("do_group", "compound_statement")
_LEAVES = re.compile(rb"\b(?:break|continue)\b")


def aside(run: ScriptRun, state: State, node: Node) -> None:
    """A process of its own: what it sets is gone afterwards."""
    begin = state.fork()
    statements(run, state, node.children)
    state.rollback(begin)


def list_(run: ScriptRun, state: State, node: Node) -> None:
    """``a && b``, ``a || b``: the second may not run."""
    children = [child for child in node.children if child.is_named]
    statements(run, state, children[:1])
    if len(children) < 2 or state.dead:
        return
    state.join(_path(run, state, steps_of(run, children[1:])), state.empty_branch())


def _path(run: ScriptRun, state: State, steps: Sequence[Step]) -> ShellPath:
    """Follow statements that may not be reached."""
    begin = state.fork()
    follow_steps(run, state, steps)
    return state.rollback(begin)


def function(run: ScriptRun, state: State, node: Node) -> None:
    """``f() { ... }``: kept until it is called."""
    names = [child for child in node.children if child.type == "word"]
    bodies = [child for child in node.children if child.is_named and child.type != "word"]
    if names and bodies:
        state.writable_shell().functions[run.script.text(names[0])] = (bodies[-1], run.script)


def if_(run: ScriptRun, state: State, node: Node) -> None:
    """``if``: the branches that may be taken, joined."""
    paths: List[ShellPath] = []
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
        paths.append(state.empty_branch())
    state.join(*paths)


def test(run: ScriptRun, state: State, node: Node) -> None:
    """``[[ ... ]]`` does nothing; ``((A++))`` is one, too, for the older grammar."""
    if run.script.text(node).startswith("(("):
        unknown(run, state, node)


_Arm = Tuple[Optional[Node], List[Step], Optional[bool]]
"""A branch: its test, its statements, and True for that of ``else``."""


def _arms(run: ScriptRun, node: Node) -> List[_Arm]:
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


def case(run: ScriptRun, state: State, node: Node) -> None:
    """``case``: every branch, or none of them."""
    paths = [_path(run, state, steps) for steps in once(run, node, _items)]
    state.join(state.empty_branch(), *paths)


def _items(run: ScriptRun, node: Node) -> List[List[Step]]:
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


def _for(run: ScriptRun, node: Node) -> _For:
    body = [child for child in node.children if child.type in _BODIES]
    words: Optional[List[Node]] = None
    for child in node.children[2:]:
        if child.type == "in":
            words = []
        elif words is not None and child.is_named and child not in body:
            words.append(child)
    name = run.script.text(node.children[1])
    return _For(name, words, body, _leaves_early(run, body))


def for_(run: ScriptRun, state: State, node: Node) -> None:
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


def _leaves_early(run: ScriptRun, body: Sequence[Node]) -> bool:
    return any(
        _LEAVES.search(run.script.data[part.start_byte : part.end_byte]) is not None
        for part in body
    )


def _round(
    run: ScriptRun, state: State, body: Sequence[Node], number: Optional[Tuple[int, int]]
) -> None:
    run.loops.append(number)
    for part in body:
        several(run, state, part)
    run.loops.pop()


def c_for(run: ScriptRun, state: State, node: Node) -> None:
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


def _count(run: ScriptRun, state: State, node: Node) -> None:
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


def while_(run: ScriptRun, state: State, node: Node) -> None:
    """``while`` and ``until``."""
    body = [child for child in node.children if child.type == "do_group"]
    run.programs = True  # it may wait for a file that another program makes
    _loop_of_unknown_rounds(run, state, body)


def _loop_of_unknown_rounds(
    run: ScriptRun, state: State, body: Sequence[Node], name: Optional[str] = None
) -> None:
    """Nobody knows how often: what the body sets is not known before it, and maybe set after."""
    begin = state.fork()
    changed = {changed for part in body for changed in names_in(run.script.spot(part))}
    state.forget(changed)
    if name is not None and body:
        state.set(name, UNKNOWN, run.script.spot(body[0]))
    _round(run, state, body, None)
    kept = changed.intersection(state.variables)
    state.join(state.rollback(begin), state.empty_branch())
    for changed_name in kept:
        variable = state.variables.get(changed_name)
        if variable is not None:
            # A loop that exists runs: what it sets counts as set, with an unknown value.
            state.put(changed_name, variable._replace(value=UNKNOWN, certain=True))


_CALCULATED = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^=\s][^=]*)\Z")
_TAKE_A_WORD = ("-d", "-i", "-n", "-N", "-p", "-t", "-u")
# Files that set up a toolchain: they leave the variables of a job alone.
_TOOLCHAIN = re.compile(r"set_?env|setvars|bashrc|profile|activate|conda", re.IGNORECASE)


def _exit(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    state.dead = "exit"


def _return(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    state.dead = "return"


def _source(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    path = words[0] if words else UNKNOWN
    if path is UNKNOWN or (
        not file(run, state, resolve_path(run, path)) and _TOOLCHAIN.search(path) is None
    ):
        run.programs = True
        state.forget()


def _eval(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    known = [word for word in words if word is not UNKNOWN]
    if len(known) == len(words) and run.depth < DEEPEST:
        text(run, state, " ".join(known), place_of(spot))
    else:
        run.programs = True
        state.forget()


def _read(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    before: Value = ""
    for word in words:
        if word is not UNKNOWN and NAME.match(word):
            state.set(word, UNKNOWN, spot)
        elif word is UNKNOWN and (before is UNKNOWN or before not in _TAKE_A_WORD):
            state.forget()  # any of them may be the one that is read
        before = word


def _printf(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    if words[:1] == ["-v"]:
        _read(run, state, spot, words[1:2])


def _let(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    script, begin, end = spot
    for name in CHANGES.findall(script.source, begin, end):
        state.set(name, UNKNOWN, spot)
    for word in words:
        match = None if word is UNKNOWN else _CALCULATED.match(word)
        if match is not None:
            run.steps -= PARSED
            tree = ShellScript(": $(({}))".format(match.group(2)), None)
            command_node = tree.root.children[0]
            number = arithmetic(tree, state, command_node.children[-1])
            value = UNKNOWN if number is None else str(number)
            state.set(match.group(1), value, spot)


def _set(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    for word in words:
        if word is UNKNOWN:
            continue
        if word in ("-a", "allexport"):
            state.writable_shell().export_all = True
        elif word == "+a":
            state.writable_shell().export_all = False
        elif word == "--":
            state.writable_shell().arguments = None


def _shift(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    if state.shell.arguments is not None:
        state.writable_shell().arguments = state.shell.arguments[1:] if not words else None


BUILTINS: Dict[str, Callable[[ScriptRun, State, Spot, Sequence[Value]], None]] = {
    "exit": _exit,
    "return": _return,
    "source": _source,
    ".": _source,
    "eval": _eval,
    "printf": _printf,
    "read": _read,
    "mapfile": _read,
    "readarray": _read,
    "getopts": _read,
    "let": _let,
    "set": _set,
    "shift": _shift,
}

_HEAD = re.compile(r"([\w./+-]+)(?:[ \t]|\Z)")
_TABLE = re.compile(r"\.json|RANK_TABLE")
_REDIRECTS = re.compile("[<>]")
_LINE_END = re.compile(r"(?<!\\)\n")
_TO_FILE = re.compile(r"(&?[0-9]*>{1,2})[ \t]*([\w./+-]+)\Z")
_COPIES = re.compile(r"[0-9]*>&[ \t]*[0-9-]+\Z")


class _Redirected(NamedTuple):
    """A statement with redirections.

    ``files`` are the paths that it writes to, or their nodes, and whether it writes to nothing
    else; ``document`` is the only here-document of a ``cat``.
    """

    files: List[Tuple[Any, bool]]
    document: Optional[Node]
    steps: List[Step]


def _redirected(run: ScriptRun, node: Node) -> _Redirected:
    redirects: List[Node] = []
    others: List[Node] = []
    for child in node.children:
        if child.type == "file_redirect":
            redirects.append(child)
        else:
            others.append(child)
            if _REDIRECTS.search(run.script.text(child)) is not None:
                redirects.extend((child, *child.children))
    files: List[Tuple[Any, bool]] = []
    documents: List[Node] = []
    for redirect in redirects:
        if redirect.type == "heredoc_redirect":
            documents.append(redirect)
        elif redirect.type == "file_redirect":
            words = run.script.text(redirect)
            match = _TO_FILE.match(words)
            if match is not None:
                files.append((match.group(2), match.group(1) == ">"))
            elif ">" in words and not _COPIES.match(words):
                whole = words[0] == ">" and words[:2] != ">>"
                files.append((redirect.children[-1], whole))
    is_cat = len(documents) == 1 and run.script.text(node.children[0]).strip() == "cat"
    return _Redirected(files, documents[0] if is_cat else None, steps_of(run, others))


def redirected(run: ScriptRun, state: State, node: Node) -> None:
    """A statement with redirections: the files that it writes, with their text if known."""
    files, document, steps = once(run, node, _redirected)
    for target, alone in files:
        path = target
        if not isinstance(target, str):
            path = value_of(run.script, state, target)
        if path is UNKNOWN:
            run.programs = True
            continue
        run.written.add(path.rpartition("/")[2])
        content: Value = UNKNOWN
        if alone and document is not None:
            content = heredoc(run.script, state, document)
        if document is not None and content is not UNKNOWN:
            run.texts = True
            state.put(
                file_key(path), ShellVariable(content, run.script.spot(document.children[-2]))
            )
        elif run.texts:
            state.put(file_key(path), NOT_KNOWN)
    follow_steps(run, state, steps)


def _is_quiet(run: ScriptRun, state: State, name: str, words: str) -> bool:
    """Whether the words of a command do not matter; what it may do is noted then."""
    makes = name in MAKES_ITS_WORDS and (not run.programs or _TABLE.search(words) is not None)
    if makes or run.texts or name in state.shell.functions or "$((" in words:
        return False
    if name not in MAKES_NOTHING and _TABLE.search(words) is not None:
        return False
    run.moved = run.moved or name in MOVES
    run.programs = run.programs or name not in MAKES_NOTHING
    return True


def command(run: ScriptRun, state: State, node: Node) -> None:
    """A call of a function, a built-in command, or a program."""
    head = _HEAD.match(run.script.source, node.start_byte, node.end_byte)
    quiet = head is not None and not _may_do_more(head[1])
    if quiet and _is_quiet(run, state, head[1], run.script.text(node)):  # type: ignore[index]
        return
    script, start, end = run.script, node.start_byte, node.start_byte
    added: Dict[str, ShellVariable] = {}
    nodes: List[Node] = []
    for child in node.children:
        if child.type == "variable_assignment":
            name = script.text(child.children[0])
            value = child.children[-1] if len(child.children) > 2 else None
            added[name] = ShellVariable(
                assigned_value(run, state, value), script.spot(child), True
            )
            end = child.end_byte
        elif child.type == "command_name":
            if added and _LINE_END.search(script.source, end, child.start_byte) is not None:
                # The grammar takes several assignments for a part of what the next line says.
                for name, (value, spot, *_) in added.items():
                    state.set(name, value, spot)
                start, added = child.start_byte, {}
            nodes.append(child.children[0])
        elif child.is_named and child.type not in SILENT:
            nodes.append(child)
    words = together(fields_of(script, state, each) for each in nodes)
    _apply(run, state, (script, start, node.end_byte), words, added)


def _apply(
    run: ScriptRun, state: State, spot: Spot, words: List[Value], added: Dict[str, ShellVariable]
) -> None:
    if not words:
        return
    run.steps -= len(words) // 16
    first = words[0]
    if first is UNKNOWN:
        run.programs = True
        return
    run.moved = run.moved or first in MOVES
    if first in state.shell.functions:
        _call(run, state, first, words[1:])
    elif first in BUILTINS:
        BUILTINS[first](run, state, spot, words[1:])
    else:
        found = started(words)
        if found is not None:
            _start(run, state, spot, found, added)
        for path in words if run.texts else ():
            if path is not UNKNOWN and file_key(path) in state.variables:
                state.put(file_key(path), NOT_KNOWN)
        if first not in MAKES_NOTHING and run.background is None:
            _may_write(run, words[1:])
        if first in MAKES_ITS_WORDS:
            _make(run, words[1:])
        elif found is None or found.kind not in ("shell", "text"):
            # What a program makes need not stand in its words: unknown is not wrong.
            run.programs = run.programs or first not in MAKES_NOTHING


def _may_write(run: ScriptRun, words: Sequence[Value]) -> None:
    """A program may write the tables that it is given: ``python3 make.py table.json``."""
    for word in words:
        if word is not UNKNOWN and word.endswith(".json"):
            run.written.add(word.rpartition("/")[2])


def _make(run: ScriptRun, words: Sequence[Value]) -> None:
    """``cp``, ``mv``, ``tee`` and the like; what they make of a folder's content is not known."""
    for word in words:
        if word is UNKNOWN or "{" in word or word.endswith(("/.", "..")):
            run.programs = True
        elif not word.startswith("-"):
            run.made.add(word.rstrip("/").rpartition("/")[2])


def _start(
    run: ScriptRun, state: State, spot: Spot, found: Started, added: Dict[str, ShellVariable]
) -> None:
    variables = {} if found.removed is None else {**state.exported, **added}
    for name in found.removed or ():
        variables.pop(name, None)
    run.steps -= len(state.exported)
    for name, value in found.variables.items():
        variables[name] = ShellVariable(
            value, added.get(name, ShellVariable(value, spot)).spot, True
        )
    table = variables.get("RANK_TABLE_FILE", NOT_KNOWN).value
    launch = Launch(
        found.kind,
        resolve_path(run, found.script),
        found.arguments,
        spot,
        variables,
        frozenset({*state.shell.unset, *(found.removed or ())}.difference(variables)),
        run.background,
        may_be_made(run, table),
        None if table is UNKNOWN else _text_of(run, state, table),
        found.framework,
        _doubtful(state, found, added) if state.doubtful else MappingProxyType({}),
    )
    if found.kind in ("shell", "text"):
        _child(run, launch, found)
    elif found.kind == "python":
        run.launches.append(launch)
    else:
        _start_several(run, launch)


def _doubtful(
    state: State, found: Started, added: Dict[str, ShellVariable]
) -> Dict[str, ShellVariable]:
    """The variables that a command may get, and for which it says nothing itself."""
    if found.removed is None:
        return {}
    said = {*added, *found.variables, *found.removed}
    return {name: each for name, each in state.doubtful.items() if name not in said}


def _text_of(run: ScriptRun, state: State, path: str) -> Optional[ShellVariable]:
    """The text that the script wrote to a file; None when it wrote none."""
    variable = state.variables.get(file_key(path)) if run.texts else None
    if variable is not None and variable.certain:
        return variable
    name = os.path.basename(path)
    return NOT_KNOWN if name in run.written or name in run.made else None


def _start_several(run: ScriptRun, launch: Launch) -> None:
    """A starter of processes, unless what it starts sets its rank or its device, or may do so."""
    found = inner(launch.arguments)
    if found is None:
        run.launches.append(launch)
    elif found.script is not None:
        before = len(run.launches)
        _child(run, launch, found)
        new = run.launches[before:]
        if not any({"RANK_ID", "ASCEND_DEVICE_ID"} & set(one.variables) for one in new):
            script = next((one.script for one in new if one.script is not None), None)
            run.launches[before:] = [launch._replace(script=script)]


def _child(run: ScriptRun, launch: Launch, found: Started) -> None:
    """Another script, started with the exported variables."""
    child = State(found.arguments)
    for name, variable in launch.variables.items():
        child.set(name, variable.value, variable.spot, True)
    for name, value in found.variables.items():
        child.set(name, value, launch.variables.get(name, launch).spot, True)
    for name, variable in launch.doubtful.items():
        child.put(name, variable)
    child.shell.unset = set(launch.unset.difference(found.variables))
    if found.kind == "shell":
        run.programs = not file(run, child, resolve_path(run, found.script)) or run.programs
    elif found.script is not None:
        text(run, child, found.script, launch.place)
    else:
        run.programs = True


def _call(run: ScriptRun, state: State, name: str, arguments: Sequence[Value]) -> None:
    body, script = state.shell.functions[name]
    if run.depth >= DEEPEST:
        state.forget()
        return
    run.depth += 1
    before, state.writable_shell().arguments = state.shell.arguments, tuple(arguments)
    caller, run.script = run.script, script
    run.handlers[body.type](run, state, body)
    state.dead = "" if state.dead == "return" else state.dead
    if b"return" in script.data[body.start_byte : body.end_byte]:
        for name in names_in(script.spot(body)):
            variable = state.variables.get(name)
            if variable is not None:
                state.put(name, variable._replace(value=UNKNOWN, certain=False))
    state.writable_shell().arguments, run.script = before, caller
    run.depth -= 1


@functools.lru_cache(maxsize=1024)
def _may_do_more(name: str) -> bool:
    """False for the name of a program that certainly starts no training."""
    return name in BUILTINS or may_start(name)


HANDLERS: Dict[str, Handler] = {
    "program": several,
    "do_group": several,
    "compound_statement": several,
    "redirected_statement": redirected,
    "negated_command": several,
    "subshell": aside,
    "pipeline": aside,
    "list": list_,
    "variable_assignment": assignment,
    "variable_assignments": several,
    "declaration_command": declaration,
    "unset_command": unset,
    "command": command,
    "function_definition": function,
    "if_statement": if_,
    "case_statement": case,
    "for_statement": for_,
    "c_style_for_statement": c_for,
    "while_statement": while_,
    "test_command": test,
}


def follow(script: ShellScript, load: Loader) -> Tuple[ScriptRun, State]:
    """Follow a script to its end.

    Args:
        script: the script.
        load: gives the text of a file that the script names, None when it is not to be had.

    Returns:
        What it starts, and what is set at its end.
    """
    run, state = ScriptRun(script, load, HANDLERS), State()
    try:
        several(run, state, script.root)
    except RecursionError:  # nested deeper than any script that a person wrote
        state.forget()
    return run, state
