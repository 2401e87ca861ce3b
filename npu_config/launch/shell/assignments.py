"""Assignments and declarations: ``NAME=value``, ``export``, ``declare``, ``unset``."""

import re
from typing import Optional, Tuple

from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell._rules import export_of_no_name
from npu_config.launch.shell.commands import MAKES_NOTHING
from npu_config.launch.shell.plain import Word
from npu_config.launch.shell.run import SILENT, Run, names_in
from npu_config.launch.shell.state import BETWEEN, State, Value
from npu_config.launch.shell.syntax import Node, Spot, place_of
from npu_config.launch.shell.words import LONGEST, NAME, fields_of, filled, together, value_of

_TEXTS = ("string", "concatenation", "simple_expansion", "expansion", "command_substitution")
_PLACEHOLDER = re.compile(r"\{[A-Za-z_]\w*\}|<[A-Za-z_ -]+>")
_SUBSTITUTED = re.compile(r"(?:\$\(|`)\s*([^\s()`]+)")


def assign(run: Run, state: State, given: Tuple[str, Word, bool, Spot]) -> None:
    """``NAME=value`` where the value needs no tree."""
    name, word, export, spot = given
    value: Value = word  # type: ignore[assignment]
    if not isinstance(word, str):
        value = _kept(run, filled(run.script, state, word))
    state.set(name, value, spot, export)


def assignment(run: Run, state: State, node: Node, export: bool = False) -> None:
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


def _elements(run: Run, state: State, node: Optional[Node]) -> Value:
    """The elements of an array in one text."""
    if node is None or node.type != "array":
        return UNKNOWN
    nodes = (
        child
        for child in run.script.exact(node).children
        if child.is_named and child.type not in SILENT
    )
    words = together(fields_of(run.script, state, each) for each in nodes)
    if any(word is UNKNOWN or "[" in word or BETWEEN in word for word in words):
        return UNKNOWN
    return _kept(run, BETWEEN.join(map(str, words)))


def assigned_value(run: Run, state: State, node: Optional[Node]) -> Value:
    """The value of a word in an assignment."""
    if node is not None and node.type == "array":
        return UNKNOWN
    return _kept(run, value_of(run.script, state, node))


def _kept(run: Run, value: Value) -> Value:
    """A value, but not one that another script will write, and none that has grown too long."""
    if value is UNKNOWN or len(value) > LONGEST or _PLACEHOLDER.search(value) is not None:
        return UNKNOWN
    run.steps -= len(value) // 256
    return value


def declaration(run: Run, state: State, node: Node) -> None:
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


def unset(run: Run, state: State, node: Node) -> None:
    """``unset NAME...``."""
    for child in node.children[1:]:
        if child.is_named:
            for name in fields_of(run.script, state, child):
                if name is not UNKNOWN and NAME.match(name):
                    state.remove(name)
