"""What a command starts: its variables, and what other scripts and texts do with them."""

import os
import re
from types import MappingProxyType
from typing import Dict, FrozenSet, Optional

from npu_config.core.settings import UNKNOWN
from npu_config.launch.environment.variables import VARIABLES
from npu_config.launch.shell.commands import STDIN, Launch, Started, inner
from npu_config.launch.shell.python_text import environment_of
from npu_config.launch.shell.syntax import ShellScript, Spot
from npu_config.launch.shell.walk import ScriptRun, document, file, may_be_made, resolve_path, text
from npu_config.launch.shell.words import (
    LONGEST,
    NAME,
    NOT_KNOWN,
    UNKNOWN_PART,
    ShellVariable,
    State,
    file_key,
)


def start(
    run: ScriptRun, state: State, spot: Spot, found: Started, added: Dict[str, ShellVariable]
) -> None:
    """Note what a command starts, with the variables that it gets."""
    variables = {} if found.removed is None else {**state.exported, **added}
    for name in found.removed or ():
        variables.pop(name, None)
    run.steps -= len(state.exported)
    passed = {**_of_files(run, found, spot), **found.variables}
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
            run.note(spot, "the file of variables is not found, and what it sets is not checked")
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
        run.note(launch.spot, "the Python text is not understood, and what it sets is not checked")
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


def _child(run: ScriptRun, state: State, launch: Launch, found: Started) -> None:
    """Another script, started with the exported variables."""
    child = State(found.arguments)
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
