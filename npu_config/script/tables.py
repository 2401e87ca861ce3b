"""Where an option stands that is entered from elsewhere: a loop over a dict or a list of pairs, a
function that is given the name and the value.  What is wrong with it is mended there.
"""

import ast
from dataclasses import replace
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence

from npu_config.core.diagnostics import Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.python_flow.scopes import UNCLEAR, in_brackets, literal, literal_text
from npu_config.script.objects import Entry, is_known
from npu_config.script.script import Script


class _Row(NamedTuple):
    """A name in the script, and what may be its value there."""

    name: Place
    values: Sequence[ast.expr]


def at_table(diagnostic: Diagnostic, entry: Optional[Entry], script: Script) -> Diagnostic:
    """The finding at the entry of the table, where the script has one such entry.

    Args:
        diagnostic: a finding about an assignment.
        entry: the assignment.
        script: the script.
    """
    if entry is None or entry.built_in or script.source.at(entry.name_place) == entry.name:
        return diagnostic
    rows = list(_rows(script, entry.name))
    beside = [(row, value) for row in rows for value in row.values]
    fitting = [each for each in beside if _is(each[1], entry.raw)]
    fitting = fitting or [each for each in beside if _may_give(each[1])]
    names = {row.name for row, _ in fitting} or {row.name for row in rows}
    if len(names) != 1:
        return diagnostic
    if diagnostic.place == entry.name_place:
        place = names.pop()
    elif len(fitting) == 1 and diagnostic.place == entry.place:
        place = script.source.place_of(fitting[0][1])
    else:
        return diagnostic
    message = phrase("{} (assigned in line {})", diagnostic.message, diagnostic.line)
    return replace(diagnostic, message=message, **place._asdict())


def _rows(script: Script, name: str) -> Iterator[_Row]:
    """Every place of the script where the name stands, with the values beside it."""
    source = script.source
    seen: List[ast.AST] = []
    bare: List[ast.AST] = []
    for node in script.nodes(name):
        for key, values in _pairs(node):
            if literal_text(key) == name:
                seen.append(key)
                yield _Row(source.inside(source.place_of(key), name), values)
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == name:
                place = source.place_of(keyword.value)
                yield _Row(source.keyword_place(name, place), [keyword.value])
        if literal_text(node) == name:
            bare.append(node)
    for node in bare:
        if not any(node is each for each in seen):
            yield _Row(source.inside(source.place_of(node), name), ())


def _pairs(node: Any) -> Iterator[Any]:
    """What may be a name, and what may be its value, in a part of the script."""
    if isinstance(node, ast.Dict):
        yield from ((key, [value]) for key, value in zip(node.keys, node.values) if key)
    elif isinstance(node, (ast.Tuple, ast.List)):
        yield from [(node.elts[0], node.elts[1:])] if node.elts else ()
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        yield in_brackets(node.targets[0]), [node.value]
    elif isinstance(node, ast.Call):
        yield from ((key, [each for each in node.args if each is not key]) for key in node.args)


def _is(node: ast.expr, value: Any) -> bool:
    """True for a literal of a value that is known."""
    written = literal(node)
    return written is not UNCLEAR and is_known(value) and _text(written) == _text(value)


def _may_give(node: ast.expr) -> bool:
    """True for an expression whose value is not written there."""
    is_clear = literal(node) is not UNCLEAR
    return not is_clear and isinstance(node, (ast.Name, ast.Attribute, ast.Call))


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
