"""Simple commands: assignments, exports, calls of functions, built-in commands, programs."""

import os
import re
from typing import Callable, Dict, List, Optional, Sequence

from npu_config.cluster.shell._rules import NOT_A_NAME
from npu_config.cluster.shell.commands import Launch, Started, inner, may_start, started
from npu_config.cluster.shell.run import (
    DEEPEST,
    SILENT,
    Run,
    file,
    may_be_made,
    names_in,
    near,
    statements,
    text,
    unknown,
)
from npu_config.cluster.shell.state import BETWEEN, State, Value, Variable, array, written
from npu_config.cluster.shell.syntax import Node, Script
from npu_config.cluster.shell.words import arithmetic, fields_of, heredoc, value_of
from npu_config.core.diagnostics import Place
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN

_PLACEHOLDER = re.compile(r"\{[A-Za-z_]\w*\}|<[A-Za-z_ -]+>")
_SUBSTITUTED = re.compile(r"(?:\$\(|`)\s*([^\s()`]+)")
_CALCULATED = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^=\s][^=]*)\Z")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
# Files that set up a toolchain: they leave the variables of a job alone.
_TOOLCHAIN = re.compile(r"set_?env|setvars|bashrc|profile|activate|conda", re.IGNORECASE)


_MOVES = frozenset(("cd", "pushd", "popd"))
# Commands that make no file by themselves, whatever their words are.
_MAKES_NOTHING = _MOVES | {
    "[", ":", "basename", "cat", "date", "dirname", "echo", "false", "hostname", "kill", "ls",
    "mkdir", "npu-smi", "printf", "ps", "pwd", "readlink", "realpath", "rm", "rmdir", "seq",
    "sleep", "test", "trap", "true", "type", "ulimit", "wait", "which",
}  # fmt: skip


def assignment(run: Run, state: State, node: Node, export: bool = False) -> None:
    """``NAME=value``, ``NAME+=value``; elements of arrays are passed over."""
    name_node = node.children[0]
    name = run.script.text(name_node)
    value_node = node.children[-1] if len(node.children) > 2 else None
    elements = _elements(run, state, value_node)
    value = _assigned_value(run, state, value_node)
    if value is UNKNOWN and value_node is not None:
        commands = _SUBSTITUTED.findall(run.script.text(value_node))
        run.programs = run.programs or not _MAKES_NOTHING.issuperset(commands)
    if name_node.type != "variable_name" or _NAME.match(name) is None:
        name = name.partition("[")[0]  # an element of an array
        if array(name) in state.variables:
            state.note(array(name), UNKNOWN, run.script.place(node))
        return
    if len(node.children) > 1 and run.script.text(node.children[1]) == "+=":
        before = state.get(name)
        value = UNKNOWN if UNKNOWN in (before, value) else str(before) + str(value)
    state.set(name, value, run.script.place(node), export)
    if elements is not None and run.script.text(node.children[1]) == "=":
        state.note(array(name), elements, run.script.place(node))


def _elements(run: Run, state: State, node: Optional[Node]) -> Optional[Value]:
    """The elements of an array in one text; None when the value is none."""
    if node is None or node.type != "array":
        return None
    words = [
        word
        for child in node.children
        if child.is_named and child.type not in SILENT
        for word in fields_of(run.script, state, child)
    ]
    if any(word is UNKNOWN or "[" in word or BETWEEN in word for word in words):
        return UNKNOWN
    return BETWEEN.join(map(str, words))


def _assigned_value(run: Run, state: State, node: Optional[Node]) -> Value:
    if node is not None and node.type == "array":
        return UNKNOWN
    value = value_of(run.script, state, node)
    if value is not UNKNOWN and _PLACEHOLDER.search(value) is not None:
        return UNKNOWN  # a template: another script writes the value
    return value


def assignments(run: Run, state: State, node: Node) -> None:
    """Several assignments in one line."""
    for child in node.children:
        if child.type == "variable_assignment":
            assignment(run, state, child)


def declaration(run: Run, state: State, node: Node) -> None:
    """``export``, ``declare``, ``local``, ``readonly``, ``typeset``."""
    options = "".join(run.script.text(child) for child in node.children if child.type == "word")
    keyword = run.script.text(node.children[0])
    export = (keyword == "export" and "-n" not in options) or (
        "x" in options and options.startswith("-")
    )
    for child in node.children[1:]:
        if child.type == "variable_assignment":
            assignment(run, state, child, export)
        elif child.type in ("word", "number") and run.script.text(child)[0] in "=0123456789":
            place = run.script.place(child)
            message = phrase('{} "{}": not a name', keyword, run.script.text(child))
            fault = NOT_A_NAME.diagnostic(message, place, help="write NAME=value without blanks")
            run.faults.setdefault(run.script.place(node), fault)
        elif child.type == "variable_name" and export:
            state.export(run.script.text(child), run.script.place(child))
        elif child.type in ("string", "concatenation", "simple_expansion", "expansion"):
            text = value_of(run.script, state, child)
            name, equals, value = ("", "", "") if text is UNKNOWN else text.partition("=")
            if equals and _NAME.match(name):
                state.set(name, value, run.script.place(child), export)
            elif text is UNKNOWN:
                for name in names_in(run, child):
                    state.set(name, UNKNOWN, run.script.place(child), export)


def unset(run: Run, state: State, node: Node) -> None:
    """``unset NAME...``."""
    for child in node.children[1:]:
        if child.is_named:
            for name in fields_of(run.script, state, child):
                if name is not UNKNOWN and _NAME.match(name):
                    state.remove(name)


def redirected(run: Run, state: State, node: Node) -> None:
    """A statement with redirections: the files that it writes, with their text if known."""
    inner_nodes = [part for child in node.children for part in (child, *child.children)]
    documents = [each for each in inner_nodes if each.type == "heredoc_redirect"]
    body = run.script.text(node.children[0]).strip()
    for redirect in inner_nodes:
        if redirect.type != "file_redirect" or ">" not in run.script.text(redirect):
            continue
        path = value_of(run.script, state, redirect.children[-1])
        if path is UNKNOWN:
            run.programs = True
            continue
        run.written.add(os.path.basename(path))
        whole = body == "cat" and len(documents) == 1 and run.script.text(redirect)[0] == ">"
        whole = whole and not run.script.text(redirect).startswith(">>")
        content = heredoc(run.script, state, documents[0]) if whole else UNKNOWN
        place = run.script.place(documents[0].children[-2] if whole else redirect)
        state.note(written(path), content, place)
    statements(run, state, node.children)


def command(run: Run, state: State, node: Node) -> None:
    """A call of a function, a built-in command, or a program."""
    added: Dict[str, Value] = {}
    places: Dict[str, Place] = {}
    words: List[Value] = []
    for child in node.children:
        if child.type == "variable_assignment":
            name = run.script.text(child.children[0])
            value = child.children[-1] if len(child.children) > 2 else None
            added[name] = _assigned_value(run, state, value)
            places[name] = run.script.place(child)
        elif child.type == "command_name":
            words.extend(fields_of(run.script, state, child.children[0]))
            if words and not _may_matter(state, words[0]):
                run.moved = run.moved or words[0] in _MOVES
                run.programs = run.programs or words[0] not in _MAKES_NOTHING
                if not run.written:
                    return
        elif child.is_named and child.type not in SILENT:
            words.extend(fields_of(run.script, state, child))
    if not words or words[0] is UNKNOWN:
        return
    first = words[0]
    if first in state.functions:
        _call(run, state, first, words[1:])
    elif first in _BUILTINS:
        _BUILTINS[first](run, state, node, words[1:])
    else:
        found = started(words)
        if found is not None:
            _start(run, state, node, found, added, places)
        for word in words:
            if word is not UNKNOWN and written(word) in state.variables:
                state.note(written(word), UNKNOWN, run.script.place(node))
        if found is None or found.kind not in ("shell", "text"):
            run.programs = run.programs or first not in _MAKES_NOTHING


def _may_matter(state: State, name: Value) -> bool:
    """False for a command that changes nothing and starts nothing, whatever its arguments."""
    if name is UNKNOWN:
        return False
    return name in state.functions or name in _BUILTINS or may_start(name)


def _start(
    run: Run,
    state: State,
    node: Node,
    found: Started,
    added: Dict[str, Value],
    added_places: Dict[str, Place],
) -> None:
    place = run.script.place(node)
    environment, places = state.environment()
    run.steps -= len(environment)
    for name, value in {**added, **found.variables}.items():
        environment[name], places[name] = value, added_places.get(name, place)
    table = environment.get("RANK_TABLE_FILE", UNKNOWN)
    launch = Launch(
        found.kind,
        near(run, found.script),
        found.arguments,
        place,
        environment,
        places,
        frozenset(state.unset.difference(environment)),
        run.background,
        may_be_made(run, table),
        None if table is UNKNOWN else _text_of(run, state, table),
    )
    if found.kind in ("shell", "text"):
        _child(run, launch, found)
    elif found.kind == "python" or not _places_itself(run, launch):
        run.launches.append(launch)


def _text_of(run: Run, state: State, path: str) -> Optional[Variable]:
    """The text that the script wrote to a file; None when it wrote none."""
    variable = state.variables.get(written(path))
    if variable is not None and variable.certain:
        return variable
    return Variable(UNKNOWN) if os.path.basename(path) in run.written else None


def _places_itself(run: Run, launch: Launch) -> bool:
    """Whether what a starter starts sets its rank or its device, or may do so."""
    found = inner(launch.arguments)
    if found is None or (found.kind == "text" and found.script is None):
        return found is not None
    before = len(run.launches)
    _child(run, launch, found)
    new = run.launches[before:]
    if any({"RANK_ID", "ASCEND_DEVICE_ID"} & set(one.environment) for one in new):
        return True
    del run.launches[before:]
    return False


def _child(run: Run, launch: Launch, found: Started) -> None:
    """Another script, started with the exported variables."""
    child = State(found.arguments)
    for name, value in {**launch.environment, **found.variables}.items():
        child.set(name, value, launch.places.get(name, launch.place), True)
    child.unset = set(launch.unset.difference(found.variables))
    if found.kind == "shell":
        run.programs = not file(run, child, near(run, found.script)) or run.programs
    elif found.script is not None:
        text(run, child, found.script, launch.place)
    else:
        run.programs = True


def _call(run: Run, state: State, name: str, arguments: Sequence[Value]) -> None:
    body, script = state.functions[name]
    if run.depth >= DEEPEST:
        state.forget()
        return
    run.depth += 1
    before, state.arguments = state.arguments, tuple(arguments)
    caller, run.script = run.script, script
    statements(run, state, [body])
    state.dead = "" if state.dead == "return" else state.dead
    if b"return" in script.data[body.start_byte : body.end_byte]:
        for name in names_in(run, body):
            variable = state.variables.get(name)
            if variable is not None:
                state.variables[name] = variable._replace(value=UNKNOWN, certain=False)
    state.arguments, run.script = before, caller
    run.depth -= 1


# built-in commands


def _exit(run: Run, state: State, node: Node, words: Sequence[Value]) -> None:
    state.dead = "exit"


def _return(run: Run, state: State, node: Node, words: Sequence[Value]) -> None:
    state.dead = "return"


def _source(run: Run, state: State, node: Node, words: Sequence[Value]) -> None:
    path = words[0] if words else UNKNOWN
    if path is UNKNOWN or (
        not file(run, state, near(run, path)) and _TOOLCHAIN.search(path) is None
    ):
        run.programs = True
        state.forget()


def _eval(run: Run, state: State, node: Node, words: Sequence[Value]) -> None:
    run.programs = True
    state.forget()


def _read(run: Run, state: State, node: Node, words: Sequence[Value]) -> None:
    for word in words:
        if word is not UNKNOWN and _NAME.match(word):
            state.set(word, UNKNOWN, run.script.place(node))


def _let(run: Run, state: State, node: Node, words: Sequence[Value]) -> None:
    unknown(run, state, node)
    for child in node.children[1:]:
        text = value_of(run.script, state, child)
        match = None if text is UNKNOWN else _CALCULATED.match(text)
        if match is not None:
            tree = Script(": $(({}))".format(match.group(2)), None)
            command_node = tree.root.children[0]
            number = arithmetic(tree, state, command_node.children[-1])
            value = UNKNOWN if number is None else str(number)
            state.set(match.group(1), value, run.script.place(node))


def _set(run: Run, state: State, node: Node, words: Sequence[Value]) -> None:
    for word in words:
        if word is UNKNOWN:
            continue
        if word in ("-a", "allexport"):
            state.export_all = True
        elif word == "+a":
            state.export_all = False
        elif word == "--":
            state.arguments = None


def _shift(run: Run, state: State, node: Node, words: Sequence[Value]) -> None:
    if state.arguments is not None:
        state.arguments = state.arguments[1:] if not words else None


_BUILTINS: Dict[str, Callable[[Run, State, Node, Sequence[Value]], None]] = {
    "exit": _exit,
    "return": _return,
    "source": _source,
    ".": _source,
    "eval": _eval,
    "read": _read,
    "mapfile": _read,
    "readarray": _read,
    "getopts": _read,
    "let": _let,
    "set": _set,
    "shift": _shift,
}
