"""Built-in commands of bash that change what is known, or where it ends."""

import re
from typing import Callable, Dict, Sequence

from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.run import PARSED, Run, file, near
from npu_config.launch.shell.state import State, Value
from npu_config.launch.shell.syntax import Script, Spot
from npu_config.launch.shell.words import CHANGES, NAME, arithmetic

_CALCULATED = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^=\s][^=]*)\Z")
_TAKE_A_WORD = ("-d", "-i", "-n", "-N", "-p", "-t", "-u")
# Files that set up a toolchain: they leave the variables of a job alone.
_TOOLCHAIN = re.compile(r"set_?env|setvars|bashrc|profile|activate|conda", re.IGNORECASE)


def _exit(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    state.dead = "exit"


def _return(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    state.dead = "return"


def _source(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    path = words[0] if words else UNKNOWN
    if path is UNKNOWN or (
        not file(run, state, near(run, path)) and _TOOLCHAIN.search(path) is None
    ):
        run.programs = True
        state.forget()


def _eval(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    run.programs = True
    state.forget()


def _read(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    before: Value = ""
    for word in words:
        if word is not UNKNOWN and NAME.match(word):
            state.set(word, UNKNOWN, spot)
        elif word is UNKNOWN and (before is UNKNOWN or before not in _TAKE_A_WORD):
            state.forget()  # any of them may be the one that is read
        before = word


def _printf(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    if words[:1] == ["-v"]:
        _read(run, state, spot, words[1:2])


def _let(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    script, begin, end = spot
    for name in CHANGES.findall(script.source, begin, end):
        state.set(name, UNKNOWN, spot)
    for word in words:
        match = None if word is UNKNOWN else _CALCULATED.match(word)
        if match is not None:
            run.steps -= PARSED
            tree = Script(": $(({}))".format(match.group(2)), None)
            command_node = tree.root.children[0]
            number = arithmetic(tree, state, command_node.children[-1])
            value = UNKNOWN if number is None else str(number)
            state.set(match.group(1), value, spot)


def _set(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    for word in words:
        if word is UNKNOWN:
            continue
        if word in ("-a", "allexport"):
            state.own().export_all = True
        elif word == "+a":
            state.own().export_all = False
        elif word == "--":
            state.own().arguments = None


def _shift(run: Run, state: State, spot: Spot, words: Sequence[Value]) -> None:
    if state.shell.arguments is not None:
        state.own().arguments = state.shell.arguments[1:] if not words else None


BUILTINS: Dict[str, Callable[[Run, State, Spot, Sequence[Value]], None]] = {
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
