"""Simple commands: assignments, exports, calls of functions, built-in commands, programs."""

import functools
import os
import re
from typing import Any, Dict, List, Match, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.assignments import assign, assigned_value
from npu_config.launch.shell.built_in import BUILTINS
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
from npu_config.launch.shell.plain import FILES, Word, word_of, words_of
from npu_config.launch.shell.run import (
    DEEPEST,
    SILENT,
    Handler,
    Run,
    Step,
    file,
    follow_steps,
    lines_at,
    may_be_made,
    names_in,
    near,
    once,
    steps_of,
    text,
)
from npu_config.launch.shell.state import (
    NOT_KNOWN,
    State,
    Value,
    Variable,
    written,
)
from npu_config.launch.shell.syntax import Node, Script, Spot
from npu_config.launch.shell.words import (
    fields,
    fields_of,
    filled,
    heredoc,
    together,
    value_of,
)

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


def _redirected(run: Run, node: Node) -> _Redirected:
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


def redirected(run: Run, state: State, node: Node) -> None:
    """A statement with redirections: the files that it writes, with their text if known."""
    _write(run, state, once(run, node, _redirected))


def _write(run: Run, state: State, given: _Redirected) -> None:
    files, document, steps = given
    for target, alone in files:
        path = target
        if isinstance(target, tuple):
            path = filled(run.script, state, target)
        elif not isinstance(target, str):
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
            state.put(written(path), Variable(content, run.script.spot(document.children[-2])))
        elif run.texts:
            state.put(written(path), NOT_KNOWN)
    follow_steps(run, state, steps)


def read(script: Script, match: Match[str]) -> Tuple[Handler, Any]:
    """What follows a plain statement, and what that is given."""
    keyword, name, value, first, words, files = match.group(1, 2, 3, 4, 5, 6)
    if name is not None:
        spot = (script, match.start(2), match.end(3))
        return assign, (name, word_of(value), keyword == "export", spot)
    spot = (script, match.start(4), match.end(5))
    step: Step = (_quiet, (first, words, spot), False)
    if _may_do_more(first):
        step = (_command_of_words, ([first, *words_of(words)], spot), False)
    if not files:
        return step[:2]
    paths = [(word_of(path), operator == ">") for operator, path in FILES.findall(files)]
    return _write, _Redirected(paths, None, [step])


def _quiet(run: Run, state: State, given: Tuple[str, str, Spot]) -> None:
    """A command that does nothing here, unless it is a function."""
    name, words, spot = given
    if not _is_quiet(run, state, name, words):
        _command_of_words(run, state, ([name, *words_of(words)], spot))


def _is_quiet(run: Run, state: State, name: str, words: str) -> bool:
    """Whether the words of a command do not matter; what it may do is noted then."""
    makes = name in MAKES_ITS_WORDS and (not run.programs or _TABLE.search(words) is not None)
    if makes or run.texts or name in state.shell.functions or "$((" in words:
        return False
    if name not in MAKES_NOTHING and _TABLE.search(words) is not None:
        return False
    run.moved = run.moved or name in MOVES
    run.programs = run.programs or name not in MAKES_NOTHING
    return True


def _command_of_words(run: Run, state: State, given: Tuple[List[Word], Spot]) -> None:
    words, spot = given
    found = together(fields(run.script, state, word) for word in words)
    _apply(run, state, spot, found, {})


def command(run: Run, state: State, node: Node) -> None:
    """A call of a function, a built-in command, or a program."""
    head = _HEAD.match(run.script.source, node.start_byte, node.end_byte)
    quiet = head is not None and not _may_do_more(head[1])
    if quiet and _is_quiet(run, state, head[1], run.script.text(node)):  # type: ignore[index]
        return
    script, start, end = run.script, node.start_byte, node.start_byte
    added: Dict[str, Variable] = {}
    nodes: List[Node] = []
    for child in node.children:
        if child.type == "variable_assignment":
            name = script.text(child.children[0])
            value = child.children[-1] if len(child.children) > 2 else None
            added[name] = Variable(assigned_value(run, state, value), script.spot(child), True)
            end = child.end_byte
        elif child.type == "command_name":
            if added and _LINE_END.search(script.source, end, child.start_byte) is not None:
                # The grammar takes several assignments for a part of what the next line says.
                for name, (value, spot, *_) in added.items():
                    state.set(name, value, spot)
                start, added = child.start_byte, {}
                if start in script.lines:
                    follow_steps(run, state, lines_at(run, start))
                    return
            nodes.append(child.children[0])
        elif child.is_named and child.type not in SILENT:
            nodes.append(child)
    words = together(fields_of(script, state, each) for each in nodes)
    _apply(run, state, (script, start, node.end_byte), words, added)


def _apply(
    run: Run, state: State, spot: Spot, words: List[Value], added: Dict[str, Variable]
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
            if path is not UNKNOWN and written(path) in state.variables:
                state.put(written(path), NOT_KNOWN)
        if first not in MAKES_NOTHING and run.background is None:
            _may_write(run, words[1:])
        if first in MAKES_ITS_WORDS:
            _make(run, words[1:])
        elif found is None or found.kind not in ("shell", "text"):
            # What a program makes need not stand in its words: unknown is not wrong.
            run.programs = run.programs or first not in MAKES_NOTHING


def _may_write(run: Run, words: Sequence[Value]) -> None:
    """A program may write the tables that it is given: ``python3 make.py table.json``."""
    for word in words:
        if word is not UNKNOWN and word.endswith(".json"):
            run.written.add(word.rpartition("/")[2])


def _make(run: Run, words: Sequence[Value]) -> None:
    """``cp``, ``mv``, ``tee`` and the like; what they make of a folder's content is not known."""
    for word in words:
        if word is UNKNOWN or "{" in word or word.endswith(("/.", "..")):
            run.programs = True
        elif not word.startswith("-"):
            run.made.add(word.rstrip("/").rpartition("/")[2])


def _start(run: Run, state: State, spot: Spot, found: Started, added: Dict[str, Variable]) -> None:
    variables = {} if found.removed is None else {**state.exported, **added}
    for name in found.removed or ():
        variables.pop(name, None)
    run.steps -= len(state.exported)
    for name, value in found.variables.items():
        variables[name] = Variable(value, added.get(name, Variable(value, spot)).spot, True)
    table = variables.get("RANK_TABLE_FILE", NOT_KNOWN).value
    launch = Launch(
        found.kind,
        near(run, found.script),
        found.arguments,
        spot,
        variables,
        frozenset({*state.shell.unset, *(found.removed or ())}.difference(variables)),
        run.background,
        may_be_made(run, table),
        None if table is UNKNOWN else _text_of(run, state, table),
        found.framework,
    )
    if found.kind in ("shell", "text"):
        _child(run, launch, found)
    elif found.kind == "python":
        run.launches.append(launch)
    else:
        _start_several(run, launch)


def _text_of(run: Run, state: State, path: str) -> Optional[Variable]:
    """The text that the script wrote to a file; None when it wrote none."""
    variable = state.variables.get(written(path)) if run.texts else None
    if variable is not None and variable.certain:
        return variable
    name = os.path.basename(path)
    return NOT_KNOWN if name in run.written or name in run.made else None


def _start_several(run: Run, launch: Launch) -> None:
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


def _child(run: Run, launch: Launch, found: Started) -> None:
    """Another script, started with the exported variables."""
    child = State(found.arguments)
    for name, variable in launch.variables.items():
        child.set(name, variable.value, variable.spot, True)
    for name, value in found.variables.items():
        child.set(name, value, launch.variables.get(name, launch).spot, True)
    child.shell.unset = set(launch.unset.difference(found.variables))
    if found.kind == "shell":
        run.programs = not file(run, child, near(run, found.script)) or run.programs
    elif found.script is not None:
        text(run, child, found.script, launch.place)
    else:
        run.programs = True


def _call(run: Run, state: State, name: str, arguments: Sequence[Value]) -> None:
    body, script = state.shell.functions[name]
    if run.depth >= DEEPEST:
        state.forget()
        return
    run.depth += 1
    before, state.own().arguments = state.shell.arguments, tuple(arguments)
    caller, run.script = run.script, script
    run.handlers[body.type](run, state, body)
    state.dead = "" if state.dead == "return" else state.dead
    if b"return" in script.data[body.start_byte : body.end_byte]:
        for name in names_in(script.spot(body)):
            variable = state.variables.get(name)
            if variable is not None:
                state.put(name, variable._replace(value=UNKNOWN, certain=False))
    state.own().arguments, run.script = before, caller
    run.depth -= 1


@functools.lru_cache(maxsize=1024)
def _may_do_more(name: str) -> bool:
    """False for the name of a program that certainly starts no training."""
    return name in BUILTINS or may_start(name)
