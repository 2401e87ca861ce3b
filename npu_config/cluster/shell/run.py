"""One launch script on its way: the state of the walk, and the walk from statement to statement.

Nothing is executed.  What a command of another program changes is not known, and what is not
known stays so: a variable that a loop or a command sets counts as set, with an unknown value.
"""

import os
import re
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from npu_config.cluster.shell.commands import Launch
from npu_config.cluster.shell.state import State, Value
from npu_config.cluster.shell.syntax import Node, Script
from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.settings import UNKNOWN

LARGEST = 1024 * 1024
DEEPEST = 16
COPIED_IN_A_STEP = 20
_MOST_STEPS = 50_000
_ASSIGNED = re.compile(rb"(?<![\w$\"'./-])([A-Za-z_]\w*)(?:\[[^\]\n]{0,80}\])?\+?=")
SILENT = frozenset(
    ("comment", "file_redirect", "heredoc_redirect", "herestring_redirect", "heredoc_body")
)

Loader = Callable[[str], Optional[str]]
Handler = Callable[[Any, State, Node], None]


class Run:
    """One script on its way.

    Attributes:
        script: the file that is being followed.
        load: the text of a file near it, None when it is not to be had.
        handlers: type of a statement to what follows it.
        launches: what was started.
        loops: the loops that are being followed, the innermost last: a number for each and the
            round it is in.
        background: the loop and round of the command that runs in the background, if any.
        counted: how many loops there were.
        files: the paths of the scripts that are being followed, the innermost last.
        steps: how many statements may still be followed.
        depth: how many functions and files deep.
        faults: what is wrong with a command itself, by its place.
        written: the last parts of the paths that were written, or handed to a program.
        programs: whether a program ran that may have made any file.
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
        "moved",
        "programs",
        "script",
        "steps",
        "written",
    )

    def __init__(self, script: Script, load: Loader, handlers: Mapping[str, Handler]) -> None:
        self.script = script
        self.load = load
        self.handlers = handlers
        self.launches: List[Launch] = []
        self.loops: List[Optional[Tuple[int, int]]] = []
        self.background: Optional[Tuple[int, int]] = None
        self.counted = 0
        self.files: List[Optional[str]] = [script.path]
        self.steps = _MOST_STEPS
        self.depth = 0
        self.faults: Dict[Place, Diagnostic] = {}
        self.written: Set[str] = set()
        self.programs = self.moved = False


def statements(run: Run, state: State, nodes: Sequence[Node]) -> None:
    """Follow statements one after another, as far as they are reached."""
    for number, node in enumerate(nodes):
        if state.dead:
            return
        if not node.is_named or node.type in SILENT:
            continue
        run.steps -= 1
        if run.steps < 0:
            state.forget()
            return
        before = run.background
        follows = nodes[number + 1].type if number + 1 < len(nodes) else ""
        if follows == "&" and run.loops and before is None:
            run.background = run.loops[-1]
        run.handlers.get(node.type, unknown)(run, state, node)
        run.background = before


def unknown(run: Run, state: State, node: Node) -> None:
    """A part that is not understood: what it assigns is not known."""
    for name in names_in(run, node):
        state.set(name, UNKNOWN, run.script.place(node))


def names_in(run: Run, node: Node) -> List[str]:
    """The names that the text of a node assigns."""
    data = run.script.data[node.start_byte : node.end_byte]
    return [match.group(1).decode("ascii") for match in _ASSIGNED.finditer(data)]


def near(run: Run, name: Optional[str]) -> Optional[str]:
    """The path of a file that a script names: beside it, or as it stands."""
    if name is None or os.path.isabs(name) or run.script.path is None:
        return name
    beside = os.path.join(os.path.dirname(run.script.path), name)
    return beside if os.path.exists(beside) else name


def may_be_made(run: Run, path: Value) -> bool:
    """Whether what ran so far may have made a file."""
    if path is UNKNOWN or run.programs:
        return True
    return os.path.basename(path) in run.written or (run.moved and not os.path.isabs(path))


def text(run: Run, state: State, source: str, within: Place) -> None:
    """Follow the text of ``bash -c``, whose places are that of the command."""
    if run.depth >= DEEPEST:
        return
    before, run.script = run.script, Script(source, run.script.path, within)
    run.depth += 1
    statements(run, state, run.script.root.children)
    run.depth -= 1
    run.script = before


def file(run: Run, state: State, path: Optional[str]) -> bool:
    """Follow another file; False when it is not to be had."""
    if path is None or path in run.files or run.depth >= DEEPEST:
        return False
    text = run.load(path)
    if text is None:
        return False
    before, run.script = run.script, Script(text, path)
    run.files.append(path)
    run.depth += 1
    statements(run, state, run.script.root.children)
    state.dead = "" if state.dead == "return" else state.dead
    run.depth -= 1
    run.files.pop()
    run.script = before
    return True
