"""The commands that are built into bash, as far as they change what is known."""

import re
from functools import partial
from typing import Callable, Dict, Sequence

from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.commands import STDIN
from npu_config.launch.shell.syntax import ShellScript, Spot, place_of
from npu_config.launch.shell.walk import (
    DEEPEST,
    PARSED,
    ScriptRun,
    alias_key,
    arguments_of,
    document,
    file,
    resolve_path,
    text,
)
from npu_config.launch.shell.words import (
    ARRAY_SEPARATOR,
    CHANGES,
    NAME,
    UNKNOWN_PART,
    State,
    Value,
    arithmetic,
    fields_between,
    file_key,
    formatted,
)

_CALCULATED = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^=\s][^=]*)\Z")
_TAKE_A_WORD = ("-d", "-i", "-n", "-N", "-p", "-t", "-u")
# Files that set up a toolchain: they leave the variables of a job alone.
_TOOLCHAIN = re.compile(r"set_?env|setvars|bashrc|profile|activate|conda", re.IGNORECASE)


def _end(how: str, run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    state.dead = how


def _source(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    path = words[0] if words else UNKNOWN
    if path is not UNKNOWN:
        given = run.stdin if path in STDIN else state.variables.get(file_key(path))
        if given is not None and given.certain and given.value is not UNKNOWN:
            document(run, state, given)
            state.dead = "" if state.dead == "return" else state.dead
            return
        if path not in STDIN and file(run, state, resolve_path(run, path)):
            return
    script, begin, end = spot
    if _TOOLCHAIN.search(script.source[begin:end]) is None:
        run.programs = True
        state.forget()
        message = "the file that is read here is not known; the variables it sets are not checked"
        run.note(spot, message)


def _eval(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    known = [word for word in words if word is not UNKNOWN]
    if len(known) == len(words) and run.depth < DEEPEST:
        text(run, state, " ".join(known), place_of(spot))
    elif words[:2] == ["set", "--"]:  # eval set -- "$OPTIONS", of getopt
        state.writable_shell().arguments = None
    else:
        run.programs = True
        state.forget()
        message = "the command that runs here is not known; the variables it sets are not checked"
        run.note(spot, message)


def _read(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    """``read``: the next line of what the command is given."""
    given = None if run.stdin is None else run.stdin.value
    options = [word for word in words if word is not UNKNOWN and word.startswith("-")]
    names = [word for word in words if word not in options]
    letters = set("".join(options)) - {"-"}
    separators = state.separators()
    if (
        run.stdin is None
        or not isinstance(given, str)
        or separators is UNKNOWN
        or (UNKNOWN_PART in given and not set(UNKNOWN_PART).isdisjoint(separators))
        or not ("r" in letters or "\\" not in given)
        or not letters <= {"r", "a"}
        or not names
        or not all(name is not UNKNOWN and NAME.match(name) for name in names)
    ):
        _named(run, state, spot, words)
        return
    line, _, rest = given.partition("\n")
    fields = fields_between(separators, line, None if "a" in letters else len(names))
    if "a" in letters:
        _set_array(state, str(names[0]), fields, spot)
    else:
        for name, field in zip(names, [*fields, *[""] * len(names)]):
            state.set(str(name), UNKNOWN if UNKNOWN_PART in line else field, spot)
    run.stdin = run.stdin._replace(value=rest)


def _mapfile(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    """``mapfile -t NAME``: the lines of what the command is given."""
    given = None if run.stdin is None else run.stdin.value
    if words[:1] == ["-t"] and len(words) == 2 and isinstance(given, str):
        name = words[1]
        if name is not UNKNOWN and NAME.match(name):
            _set_array(state, name, given.splitlines(), spot)
            return
    _named(run, state, spot, words)


def _set_array(state: State, name: str, fields: Sequence[str], spot: Spot) -> None:
    parts = (UNKNOWN_PART, ARRAY_SEPARATOR)
    is_known = fields != [""] and not any(part in each for each in fields for part in parts)
    elements = ARRAY_SEPARATOR.join(fields) if is_known else UNKNOWN
    state.set(name, UNKNOWN, spot, elements=elements)


def _named(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    """A command that gives the variables it names values that are not known."""
    before: Value = ""
    for word in words:
        if word is not UNKNOWN and NAME.match(word):
            state.set(word, UNKNOWN, spot)
        elif word is UNKNOWN and (before is UNKNOWN or before not in _TAKE_A_WORD):
            state.forget()  # any of them may be the one that is read
        before = word


def _printf(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    if words[:1] == ["-v"]:
        name = words[1] if len(words) > 1 else UNKNOWN
        if name is not UNKNOWN and NAME.match(name):
            state.set(name, formatted(words[2:]), spot)
        else:
            _named(run, state, spot, words[1:2])


def _export(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    """``command export NAME=value``; without a command before it, it is a declaration."""
    for word in words:
        name, equals, value = ("", "", "") if word is UNKNOWN else word.partition("=")
        if word is UNKNOWN:
            state.forget()  # any of them may be set
        elif equals and NAME.match(name):
            state.set(name, value, spot, True)
        elif NAME.match(name):
            state.export(name, spot)


def _let(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    script, begin, end = spot
    run.needs_no_note(spot)
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
    """``set``: options, then the arguments."""
    rest, shell = list(words), state.writable_shell()
    while rest:
        word = rest.pop(0)
        if word is UNKNOWN:
            shell.arguments = shell.export_all = None
            break
        if word in ("-", "--") or word[:1] not in ("-", "+"):
            if rest or word != "-":
                given = rest if word in ("-", "--") else [word, *rest]
                shell.arguments, shell.more = arguments_of(run, state, given)
            break
        option = rest.pop(0) if word.endswith("o") and rest else ""
        if "a" in word or option == "allexport":
            shell.export_all = word[0] == "-"


def _shift(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    arguments, by = state.shell.arguments, words[0] if words else "1"
    if by is UNKNOWN or not by.isdecimal():
        state.writable_shell().arguments = None
    elif arguments is not None and int(by[:9]) <= len(arguments):
        state.writable_shell().arguments = arguments[int(by[:9]) :]
    elif state.shell.more:
        state.writable_shell().arguments = None


def _alias(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    """``alias NAME=TEXT``: kept until the name is a command."""
    for word in words:
        name, equals, value = ("", "", "") if word is UNKNOWN else word.partition("=")
        if equals:
            state.set(alias_key(name), value, spot)


def _unalias(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    for word in words:
        if word is not UNKNOWN:
            state.put(alias_key(word), None)


def _shopt(run: ScriptRun, state: State, spot: Spot, words: Sequence[Value]) -> None:
    if "expand_aliases" in words and words[0] in ("-s", "-u"):
        state.writable_shell().expands_aliases = words[0] == "-s"


BUILTINS: Dict[str, Callable[[ScriptRun, State, Spot, Sequence[Value]], None]] = {
    "alias": _alias,
    "exit": partial(_end, "exit"),
    "return": partial(_end, "return"),
    "source": _source,
    ".": _source,
    "eval": _eval,
    "printf": _printf,
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "getopts": _named,
    "export": _export,
    "let": _let,
    "set": _set,
    "shift": _shift,
    "shopt": _shopt,
    "unalias": _unalias,
}
