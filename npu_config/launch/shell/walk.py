"""The walk through a launch script: where it is, how it enters other texts, what commands start.

What is started gets variables; other scripts and texts, of Python too, are followed for theirs.
"""

import ast
import os
import re
import textwrap
import warnings
from types import MappingProxyType
from typing import (
    Any,
    Callable,
    Dict,
    FrozenSet,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
)

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN
from npu_config.launch.environment.variables import VARIABLES
from npu_config.launch.shell.commands import (
    MAKES_NOTHING,
    MOVES,
    STDIN,
    Launch,
    Started,
    inner,
)
from npu_config.launch.shell.syntax import Node, ShellScript, Spot, place_of, regrouped
from npu_config.launch.shell.words import (
    CHANGES,
    LONGEST,
    NAME,
    NOT_KNOWN,
    UNKNOWN_PART,
    ShellVariable,
    State,
    Value,
    file_key,
    may_be_several,
    possible,
)
from npu_config.python_flow.source import of_modules

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


class ScriptRun:
    """One script on its way.

    Attributes:
        script: the file that is being followed.
        first: the file that all began with.
        load: the text of a file near it, None when it is not to be had.
        handlers: type of a statement to what follows it, given its node.
        launches: what was started.
        loops: the loops that are being followed, the innermost last: a number for each and the
            round it is in.
        background: the loop and round of the command that runs in the background, if any.
        line: the statements outside of loops that are being followed, one after another.
        joined: those that the next ones belong to, since a function of them is called.
        counted: how many loops and lines of processes there were.
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
        stdin: the text that the command gets which is followed; None where it is not known.
        locals: what the variables were before the functions on the way made them their own, and
            whether they certainly were not set.
        notes: what is not followed, by its place.
        read_spans: the parts of the first script that need no note: read, or certainly not run.
        unsure: whether a part is followed that the grammar does not understand.
        passed: the values of the variables that the words of a command or another text set.
        moved: whether the working directory was changed.
        words: the words of the command that is followed.
    """

    def __init__(self, script: ShellScript, load: Loader, handlers: Mapping[str, Handler]) -> None:
        self.script = script
        self.load = load
        self.handlers = handlers
        self.launches: List[Launch] = []
        self.loops: List[Optional[Tuple[int, int]]] = []
        self.background: Optional[Tuple[int, int]] = None
        self.line: Optional[_Line] = None
        self.joined: Optional[_Line] = None
        self.counted = 0
        self.scripts: Dict[_Named, Optional[ShellScript]] = {}
        self.read: Dict[int, Any] = {}
        self.files: List[Optional[str]] = [script.path]
        self.first = script
        self.steps = _MOST_STEPS
        self.depth = 0
        self.faults: Dict[Place, Diagnostic] = {}
        self.written: Set[str] = set()
        self.made: Set[str] = set()
        self.texts = False
        self.programs = False
        self.near: Dict[Tuple[str, str], str] = {}
        self.moved = False
        self.words: Sequence[Node] = ()
        self.stdin: Optional[ShellVariable] = None
        self.locals: List[Dict[str, Tuple[Optional[ShellVariable], bool]]] = []
        self.notes: Dict[Place, str] = {}
        self.read_spans: List[Tuple[int, int]] = []
        self.unsure = 0
        self.passed: Dict[str, Set[Value]] = {}

    def note(self, spot: Optional[Spot], sentence: str, *values: object) -> None:
        """Note what is not followed."""
        self.notes.setdefault(place_of(spot), phrase(sentence, *values))

    def has_passed(self, name: str, value: Value) -> None:
        """The words of a command, or another text than the first, give a variable a value."""
        if name in VARIABLES:
            self.passed.setdefault(name, set()).add(value)

    def needs_no_note(self, spot: Spot) -> None:
        """A part was read, or is certainly not run."""
        if spot[0] is self.first and not self.unsure:
            self.read_spans.append(spot[1:])


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
        if kind in ("redirected_statement", "pipeline"):
            node = regrouped(node)
            kind = node.type
        if kind in run.handlers:
            steps.append((run.handlers[kind], node, False))
        elif kind == "&" and steps:
            steps[-1] = (*steps[-1][:2], True)
        elif kind not in SILENT and node.is_named:
            steps.append((unknown, node, False))
    return steps


class _Line:
    """Statements that are followed one after another, outside of loops.

    Attributes:
        number: tells the processes apart that run at the same time; 0 where none does.
        process: that of the statement that is being followed.
        in_background: whether that statement runs in the background.
    """

    __slots__ = ("_count", "_launched", "in_background", "number", "process")

    def __init__(self) -> None:
        self.number, self._count, self._launched = 0, 0, 0
        self.process: Optional[Tuple[int, int]] = None
        self.in_background = False

    def begin(self, run: ScriptRun, given: Node, in_background: bool) -> None:
        """Before a statement: the processes before it run on, until somebody waits for them.

        Behind one that runs in the foreground they have most likely ended.
        """
        launched = len(run.launches)
        if self.number and (
            (not self.in_background and launched > self._launched)
            or (not in_background and _WAIT.search(run.script.text(given)))
        ):
            self.number = 0
        if in_background and not self.number:
            run.counted += 1
            self.number = run.counted
        self._count += 1
        self._launched, self.in_background = launched, in_background
        self.process = (-self.number, self._count) if self.number else None


_WAIT = re.compile(r"\bwait\b")


def follow_steps(run: ScriptRun, state: State, steps: Sequence[Step]) -> None:
    """Follow statements one after another, as far as they are reached."""
    outer, joined, run.joined = run.line, run.joined, None
    line = None  # in a loop, and where they are a part of one process
    if not run.loops and (outer is None or outer.process is None or joined is not None):
        line = run.line = joined or _Line()
    for number, (handler, given, in_background) in enumerate(steps):
        if state.dead:
            for _, node, _ in steps[number:]:
                run.needs_no_note(run.script.spot(node))
            break
        run.steps -= 1
        if run.steps < 0:
            run.note(
                run.script.spot(given),
                "the rest of the script is not checked: the script is too long",
            )
            run.steps = -(2**31)
            state.forget()
            break
        if line is not None:
            line.begin(run, given, in_background)
        if in_background:  # in a process of its own
            begin, is_first = state.fork(), run.background is None
            run.background = run.loops[-1] if run.loops and is_first else run.background
            handler(run, state, given)
            run.background = None if is_first else run.background
            state.rollback(begin)
        else:
            handler(run, state, given)
    run.line = outer


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
    if node.type == "ERROR" and run.unsure < DEEPEST:
        begin = state.fork()
        run.unsure += 1
        follow_steps(run, state, steps_of(run, [each for each in node.children if each.children]))
        run.unsure -= 1
        state.join(state.rollback(begin), state.empty_branch())
        for name in names_in(spot):
            variable = state.variables.get(name)
            maybe = () if variable is None else possible(variable)
            state.set(name, UNKNOWN, spot)
            state.put(name, state.variables[name]._replace(maybe=maybe))
        return
    for name in names_in(spot) + CHANGES.findall(run.script.text(node)):
        state.set(name, UNKNOWN, spot)


_KNOWN_SO_FAR = MAKES_NOTHING - MOVES | {"", "(("}
"""The programs that change nothing but what stands before ``=`` in their words."""
_ASSIGNS_DEFAULT = re.compile(r"\$\{([A-Za-z_]\w*):?=")
_DEFINES = re.compile(r"(?<![\w.-])(?:function[ \t]+([\w.-]+)|([\w.-]+)[ \t]*\([ \t]*\))")


def unread(run: ScriptRun, state: State, node: Node) -> None:
    """A command that the grammar does not understand: it is known at most what it changes."""
    name = run.script.unread.get(node.start_byte)
    whole = run.script.text(node)
    if name is not None and name.startswith("["):
        state.forget(_ASSIGNS_DEFAULT.findall(whole))
        return
    unknown(run, state, node)
    if name not in _KNOWN_SO_FAR:
        run.programs = True
        state.forget()
        shell = state.writable_shell()
        shell.arguments = None
        if name is None:
            for names in _DEFINES.findall(whole):
                shell.functions["".join(names)] = ((node, run.script),)
        run.note(
            run.script.spot(node), "npu_config does not understand this command; it is not checked"
        )


def names_in(spot: Spot) -> List[str]:
    """The names that a part of a script assigns."""
    script, begin, end = spot
    return [name.decode("ascii") for name in _ASSIGNED.findall(script.data[begin:end])]


def alias_key(name: str) -> str:
    """The name under which a state keeps what an alias is for."""
    return "alias " + name


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
    return path is UNKNOWN or run.programs or is_made_by_script(run, path)


def is_made_by_script(run: ScriptRun, path: str) -> bool:
    """Whether a script may write a file itself, or finds it from where it changed to."""
    names = path.split("/")
    if names[-1] in run.written or not run.made.isdisjoint(names):
        return True
    return run.moved and not os.path.isabs(path)


def text(run: ScriptRun, state: State, source: str, within: Place) -> None:
    """Follow the text of ``bash -c``, whose places are that of the command."""
    if run.depth < DEEPEST:
        key = (source, within)
        if key not in run.scripts:
            run.steps -= PARSED + len(source) // 256
            run.scripts[key] = ShellScript(source, run.script.path, within)
        script = run.scripts[key]
        assert script is not None
        _other(run, state, script)


def document(run: ScriptRun, state: State, given: ShellVariable) -> None:
    """Follow the text of a here-document; its places are those of its lines."""
    assert given.value is not UNKNOWN
    begin = place_of(given.spot)
    if given.spot is None or begin.column != 1 or given.spot[0].within is not None:
        text(run, state, given.value, begin)
        return
    key = (given.value, begin)
    if key not in run.scripts:
        run.steps -= PARSED + len(given.value) // 256 + (begin.line or 0) // 256
        before = "\n" * ((begin.line or 1) - 1)
        run.scripts[key] = ShellScript(before + given.value, begin.path)
    script = run.scripts[key]
    assert script is not None
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


_HANDED_ON = {"#SBATCH": "--export", "#PBS": "-v", "#$": "-v", "#BSUB": "-env"}
"""How the comments begin that schedulers read, and the option that names variables."""


def directives(run: ScriptRun, state: State) -> None:
    """The variables that a scheduler gives a job: ``#SBATCH --export=ALL,NAME=value``."""
    for node in run.script.root.children:
        if node.type != "comment":
            return
        mark, _, words = run.script.text(node).partition(" ")
        _, option, given = " {}".format(words).partition(" " + _HANDED_ON.get(mark, "\n"))
        if option and given[:1] in ("=", " "):
            for each in given[1:].strip("\"' ").split(","):
                name, equals, value = each.strip().partition("=")
                if equals and NAME.match(name):
                    state.set(name, value, run.script.spot(node), True)


def _other(run: ScriptRun, state: State, script: ShellScript) -> None:
    before, run.script = run.script, script
    run.depth += 1
    directives(run, state)
    several(run, state, script.root)
    run.depth -= 1
    run.script = before


_SETS = re.compile(r"environ|putenv")
_TABS = re.compile(r"^\t+", re.MULTILINE)
_NAME = UNKNOWN_PART[2:-1]
"""What stands for a part that is not known in a Python text, in quotes and without."""


def environment_of(
    given: ShellVariable, command: Optional[Spot]
) -> Optional[Tuple[Dict[str, ShellVariable], Optional[str]]]:
    """The variables that a text sets, and the framework it is for; None: it is not understood.

    Args:
        given: the text, and where it stands.
        command: the command that it is given to, the place of what stands in no line of its own.
    """
    text = str(given.value)
    if _SETS.search(text) is None:
        return {}, None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(textwrap.dedent(_TABS.sub("", text.replace(UNKNOWN_PART, _NAME))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    variables: Dict[str, ShellVariable] = {}
    modules: List[str] = []
    lines = _lines_of(given.spot, text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [each.name.partition(".")[0] for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.append(node.module.partition(".")[0])
        for name, value in _set_by(node):
            line: int = getattr(node, "lineno", 1)
            spot = lines[line - 1] if line <= len(lines) else command
            variables[name] = ShellVariable(value, spot, True)
    return variables, of_modules(modules)


def _set_by(node: ast.AST) -> Iterator[Tuple[str, Value]]:
    """The variables that a statement or a call sets."""
    pairs: List[Sequence[Any]] = []
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _is_environ(target.value):
                index = getattr(target.slice, "value", target.slice)  # ast.Index before 3.9
                pairs.append((index, node.value))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        what = node.func.attr
        if what == "putenv" or (what == "setdefault" and _is_environ(node.func.value)):
            pairs += [node.args] if len(node.args) == 2 else []
        elif what == "update" and _is_environ(node.func.value):
            pairs += [(each.arg, each.value) for each in node.keywords]
            for given in node.args:
                pairs += zip(given.keys, given.values) if isinstance(given, ast.Dict) else ()
    for key, value in pairs:
        name = key if isinstance(key, str) else _text(key)
        if name is not UNKNOWN:
            yield name, _text(value)


def _is_environ(node: ast.AST) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == "environ"


def _text(node: Optional[ast.AST]) -> Value:
    try:
        value = ast.literal_eval(node)  # type: ignore[arg-type]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNKNOWN
    return value if isinstance(value, str) and _NAME not in value else UNKNOWN


def _lines_of(spot: Optional[Spot], text: str) -> List[Spot]:
    """The lines of a text that stands in a script as it is; none of a text within a line."""
    if spot is None or "\n" not in text:
        return []
    script, begin, end = spot
    lines: List[Spot] = []
    for line in script.source[begin:end].splitlines(True):
        start = begin + len(line) - len(line.lstrip())
        lines.append((script, start, begin + len(line.rstrip())))
        begin += len(line)
    return lines


def start(
    run: ScriptRun, state: State, spot: Spot, found: Started, added: Dict[str, ShellVariable]
) -> None:
    """Note what a command starts, with the variables that it gets."""
    variables = {} if found.removed is None else {**state.exported, **added}
    for name in found.removed or ():
        variables.pop(name, None)
    run.steps -= len(state.exported)
    passed = {**(_of_files(run, found, spot) if found.files else {}), **found.variables}
    for name, value in passed.items():
        run.has_passed(name, value.value if isinstance(value, ShellVariable) else value)
        if isinstance(value, ShellVariable):
            variables[name] = value
        elif value is not UNKNOWN or name not in state.exported:
            spot_of = added[name].spot if name in added else _word_of(name, spot)
            variables[name] = ShellVariable(value, spot_of, True)
        else:  # docker run -e NAME
            variables[name] = state.exported[name]
    table = variables.get("RANK_TABLE_FILE", NOT_KNOWN).value
    launch = Launch(
        found.kind,
        resolve_path(run, found.script),
        found.arguments,
        spot,
        variables,
        _unset(state, found).difference(variables),
        run.background or (None if run.line is None else run.line.process),
        may_be_made(run, table),
        None if table is UNKNOWN else _text_of(run, state, table),
        found.framework,
        _doubtful(state, found, added) if state.doubtful or added else MappingProxyType({}),
    )
    if found.kind in ("shell", "text"):
        _child(run, state, launch, found)
    elif found.kind == "python-text":
        _python_text(run, launch, found)
    elif found.kind == "program":
        program(run, state, spot, variables)
    elif found.kind == "python":
        run.launches.append(launch)
    else:
        _start_several(run, state, launch)


def _unset(state: State, found: Started) -> FrozenSet[str]:
    """The variables that certainly are not set for what is started, unless it is given them."""
    if found.bare:
        return frozenset(VARIABLES)
    if found.removed is None:  # a container or another machine has variables of its own
        return frozenset()
    return frozenset({*state.shell.unset, *found.removed})


def _word_of(name: str, spot: Spot) -> Spot:
    """The word of a command of several lines that gives a variable its value, else all of it."""
    script, begin, end = spot
    if name not in VARIABLES or end - begin > LONGEST or "\n" not in script.source[begin:end]:
        return spot
    words = re.compile(
        r"(?<![\w$])" + re.escape(name) + r"=(?:[^\s\\\"']|\"[^\"\n]*\"|'[^'\n]*')*", re.ASCII
    )
    found = list(words.finditer(script.source, begin, end))
    return (script, *found[0].span()) if len(found) == 1 else spot


def _of_files(run: ScriptRun, found: Started, spot: Spot) -> Dict[str, ShellVariable]:
    """The variables of the files that ``docker run --env-file`` names; quotes are none there."""
    variables: Dict[str, ShellVariable] = {}
    for path in found.files:
        near = None if path is UNKNOWN else resolve_path(run, path)
        content = None if near is None else run.load(near)
        if content is None:
            run.note(
                spot,
                "the file of environment variables was not found; the variables it "
                "sets are not checked",
            )
            continue
        source, begin = ShellScript(content, near), 0
        for line in source.source.splitlines(True):
            name, equals, value = line.partition("=")
            if equals and NAME.match(name):
                end = begin + len(line.rstrip())
                variables[name] = ShellVariable(value.rstrip("\n"), (source, begin, end), True)
            begin += len(line)
    return variables


def program(run: ScriptRun, state: State, spot: Spot, variables: Dict[str, ShellVariable]) -> None:
    """A program of which nothing is known: the values of what it is given are judged."""
    given = {name: variable for name, variable in variables.items() if name in VARIABLES}
    if given:
        doubtful = {name: variable for name, variable in given.items() if variable.maybe}
        run.launches.append(
            Launch("program", None, (), spot, given, frozenset(), doubtful=doubtful)
        )


def _python_text(run: ScriptRun, launch: Launch, found: Started) -> None:
    """``python - <<EOF`` and ``python -c``: the variables that the text sets."""
    given = run.stdin if found.script is None else ShellVariable(found.script, launch.spot)
    if given is None or given.value is UNKNOWN:
        return
    read = environment_of(given, launch.spot)
    if read is None:
        run.note(
            launch.spot,
            "the Python code could not be analysed; the variables it sets are not checked",
        )
        return
    variables, framework = read
    if not VARIABLES.keys().isdisjoint(variables):
        for name, variable in variables.items():
            run.has_passed(name, variable.value)
        run.launches.append(
            launch._replace(
                kind="python",
                variables={**launch.variables, **variables},
                framework=framework,
            )
        )


def _doubtful(
    state: State, found: Started, added: Dict[str, ShellVariable]
) -> Dict[str, ShellVariable]:
    """The variables that a command may get, and for which it says nothing itself."""
    if found.removed is None:
        return {}
    said = {*added, *found.variables, *found.removed}
    doubtful = {name: each for name, each in state.doubtful.items() if name not in said}
    doubtful.update((name, each) for name, each in added.items() if each.maybe)
    return doubtful


def _text_of(run: ScriptRun, state: State, path: str) -> Optional[ShellVariable]:
    """The text that the script wrote to a file; None when it wrote none."""
    variable = state.variables.get(file_key(path)) if run.texts else None
    if variable is not None and variable.certain:
        is_known = variable.value is not UNKNOWN and UNKNOWN_PART not in variable.value
        return variable if is_known else NOT_KNOWN
    name = os.path.basename(path)
    return NOT_KNOWN if name in run.written or name in run.made else None


def _start_several(run: ScriptRun, state: State, launch: Launch) -> None:
    """A starter of processes, unless what it starts sets its rank or its device, or may do so."""
    found = inner(launch.arguments)
    if found is None:
        run.launches.append(launch)
    elif found.script is not None:
        before = len(run.launches)
        _child(run, state, launch, found)
        new = run.launches[before:]
        if not any({"RANK_ID", "ASCEND_DEVICE_ID"} & set(one.variables) for one in new):
            script = next((one.script for one in new if one.script is not None), None)
            run.launches[before:] = [launch._replace(script=script)]


def arguments_of(
    run: ScriptRun, state: State, words: Sequence[Value]
) -> Tuple[Tuple[Value, ...], bool]:
    """``$1`` and what follows as far as that is known, and whether there may be more."""
    if UNKNOWN in words and any(may_be_several(run.script, state, each) for each in run.words):
        return tuple(words[: words.index(UNKNOWN)]), True
    return tuple(words), False


def _child(run: ScriptRun, state: State, launch: Launch, found: Started) -> None:
    """Another script, started with the exported variables."""
    child = State(*arguments_of(run, state, found.arguments))
    for name, variable in launch.variables.items():
        child.set(name, variable.value, variable.spot, True)
    for name, value in found.variables.items():
        child.set(name, value, launch.variables.get(name, launch).spot, True)
    for name, variable in launch.doubtful.items():
        child.put(name, variable)
    child.shell.unset = set(launch.unset.difference(found.variables))
    locals, run.locals = run.locals, []
    if found.kind == "shell" and found.script in STDIN:
        given = run.stdin
        if given is None or given.value is UNKNOWN:
            run.programs = True
        else:
            run.stdin = None
            document(run, child, given)
    elif found.kind == "shell":
        written = None if found.script is None else state.variables.get(file_key(found.script))
        if written is not None and written.certain and written.value is not UNKNOWN:
            document(run, child, written)
        elif not file(run, child, resolve_path(run, found.script)):
            run.programs = True
    elif found.script is not None:
        text(run, child, found.script, launch.place)
    else:
        run.programs = True
    run.locals = locals
    if launch.spot is not None:
        program(run, child, launch.spot, child.exported)
