"""One launch script on its way: the state of the walk, and the walk from statement to statement.

Nothing is executed.  What a command of another program changes is not known, and what is not
known stays so: a variable that a loop or a command sets counts as set, with an unknown value.
"""

import os
import re
from typing import (
    Any,
    Callable,
    Dict,
    List,
    Mapping,
    Match,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
)

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.commands import Launch
from npu_config.launch.shell.plain import STATEMENT
from npu_config.launch.shell.state import State, Value
from npu_config.launch.shell.syntax import Node, Script, Spot
from npu_config.launch.shell.words import CHANGES

LARGEST = 1024 * 1024
DEEPEST = 16
_MOST_STEPS = 50_000
PARSED = 16
"""The steps that a text costs that is parsed on the way."""
_ASSIGNED = re.compile(
    rb"(?<![\w$\"'./-])([A-Za-z_]\w*)(?:\[[^\]\n]{0,80}\])?"
    rb"(?:(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--)"
)
_MAY_BE_PLAIN = frozenset(
    ("command", "variable_assignment", "declaration_command", "redirected_statement")
)
SILENT = frozenset(
    ("comment", "file_redirect", "heredoc_redirect", "herestring_redirect", "heredoc_body")
)

Loader = Callable[[str], Optional[str]]
Handler = Callable[[Any, State, Any], None]
Reader = Callable[[Script, Match[str]], Tuple[Handler, Any]]
Step = Tuple[Handler, Any, bool]
"""What follows a statement, what it is given, and whether the statement ends with ``&``."""
Read = TypeVar("Read")


class Run:
    """One script on its way.

    Attributes:
        script: the file that is being followed.
        load: the text of a file near it, None when it is not to be had.
        handlers: type of a statement to what follows it, given its node.
        plain: chooses what follows a plain statement, and what that is given.
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

    __slots__ = (
        "background",
        "counted",
        "depth",
        "faults",
        "files",
        "handlers",
        "launches",
        "load",
        "loops",
        "made",
        "moved",
        "near",
        "plain",
        "programs",
        "read",
        "script",
        "scripts",
        "steps",
        "texts",
        "written",
    )

    def __init__(
        self,
        script: Script,
        load: Loader,
        handlers: Mapping[str, Handler],
        plain: Reader,
    ) -> None:
        self.script = script
        self.scripts: Dict[Tuple[str, Optional[Place]], Optional[Script]] = {}
        self.read: Dict[int, Any] = {}
        self.load = load
        self.handlers = handlers
        self.plain = plain
        self.launches: List[Launch] = []
        self.loops: List[Optional[Tuple[int, int]]] = []
        self.background: Optional[Tuple[int, int]] = None
        self.counted = 0
        self.files: List[Optional[str]] = [script.path]
        self.steps = _MOST_STEPS
        self.depth = 0
        self.faults: Dict[Place, Diagnostic] = {}
        self.written: Set[str] = set()
        self.made: Set[str] = set()
        self.near: Dict[Tuple[str, str], str] = {}
        self.programs = self.moved = self.texts = False


def once(run: Run, node: Node, read: Callable[[Run, Node], Read]) -> Read:
    """What is read of a node; it is kept where the node may be reached again."""
    if not run.loops and not run.depth:
        return read(run, node)
    found: Optional[Read] = run.read.get(node.id)
    if found is None:
        found = run.read[node.id] = read(run, node)
    return found


def steps_of(run: Run, nodes: Sequence[Node]) -> List[Step]:
    """The statements among some nodes, each read as far as its text says what it does."""
    steps: List[Step] = []
    script = run.script
    for node in nodes:
        kind = node.type
        if kind in _MAY_BE_PLAIN:
            begin = node.start_byte
            if begin in script.lines and kind == "command":
                steps.extend(lines_at(run, begin))
                continue
            match = STATEMENT.match(script.source, begin, node.end_byte)
            if match is not None:
                steps.append((*run.plain(script, match), False))
            else:
                steps.append((run.handlers[kind], node, False))
        elif kind in run.handlers:
            steps.append((run.handlers[kind], node, False))
        elif kind == "&" and steps:
            steps[-1] = (*steps[-1][:2], True)
        elif kind not in SILENT and node.is_named:
            steps.append((unknown, node, False))
    return steps


def lines_at(run: Run, begin: int) -> List[Step]:
    """The plain statements for which the tree has a word that begins here."""
    script, read = run.script, run.plain
    return [(*read(script, line), line[7] == "&") for line in script.lines[begin]]


def follow_steps(run: Run, state: State, steps: Sequence[Step]) -> None:
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


def statements(run: Run, state: State, nodes: Sequence[Node]) -> None:
    """Follow the statements among some nodes."""
    follow_steps(run, state, steps_of(run, nodes))


def several(run: Run, state: State, node: Node) -> None:
    """Follow the statements of a block."""
    follow_steps(run, state, once(run, node, block))


def block(run: Run, node: Node) -> List[Step]:
    """The statements of a block."""
    return steps_of(run, node.children)


def unknown(run: Run, state: State, node: Node) -> None:
    """A part that is not understood: what it assigns is not known."""
    spot = run.script.spot(node)
    for name in names_in(spot) + CHANGES.findall(run.script.text(node)):
        state.set(name, UNKNOWN, spot)


def names_in(spot: Spot) -> List[str]:
    """The names that a part of a script assigns."""
    script, begin, end = spot
    return [name.decode("ascii") for name in _ASSIGNED.findall(script.data[begin:end])]


def near(run: Run, name: Optional[str]) -> Optional[str]:
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


def may_be_made(run: Run, path: Value) -> bool:
    """Whether what ran so far may have made a file."""
    if path is UNKNOWN or run.programs:
        return True
    names = path.split("/")
    if names[-1] in run.written or not run.made.isdisjoint(names):
        return True
    return run.moved and not os.path.isabs(path)


def text(run: Run, state: State, source: str, within: Place) -> None:
    """Follow the text of ``bash -c``, whose places are that of the command."""
    if run.depth < DEEPEST:
        script = run.scripts.get((source, within))
        if script is None:
            run.steps -= PARSED + len(source) // 256
            script = run.scripts[source, within] = Script(source, run.script.path, within)
        _other(run, state, script)


def file(run: Run, state: State, path: Optional[str]) -> bool:
    """Follow another file; False when it is not to be had."""
    if path is None or path in run.files or run.depth >= DEEPEST:
        return False
    if (path, None) not in run.scripts:
        text = run.load(path)
        run.scripts[path, None] = None if text is None else Script(text, path)
    script = run.scripts[path, None]
    if script is None:
        return False
    run.files.append(path)
    _other(run, state, script)
    state.dead = "" if state.dead == "return" else state.dead
    run.files.pop()
    return True


def _other(run: Run, state: State, script: Script) -> None:
    before, run.script = run.script, script
    run.depth += 1
    several(run, state, script.root)
    run.depth -= 1
    run.script = before
