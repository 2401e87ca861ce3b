"""Where the text of an option is written, when the option is given it by name."""

import ast
import re
from typing import Any, List

import attr

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.settings import Settings
from npu_config.script.script import Script

_WORD = re.compile(r"[A-Za-z_]\w*")


def at_literal(diagnostic: Diagnostic, settings: Settings, script: Script) -> Diagnostic:
    """A fault inside a text, at the one literal of the script that holds the text."""
    setting = settings.entries.get(diagnostic.option or "")
    if diagnostic.name != "json-syntax" or setting is None or not isinstance(setting.value, str):
        return diagnostic
    literals = _literals(script, setting.value)
    if len(literals) != 1:
        return diagnostic
    return attr.evolve(diagnostic, **script.source.place_of(literals[0])._asdict())


def _literals(script: Script, text: str) -> List[ast.AST]:
    """The literals of this text, looked for where its longest word is."""
    words = _WORD.findall(text)
    nodes = script.nodes(max(words, key=len)) if words else ()
    return [node for node in nodes if _value(node) == text]


def _value(node: ast.AST) -> Any:
    """What a literal holds; Python 3.7 has a class of its own for text."""
    if isinstance(node, ast.Constant):
        return node.value
    return getattr(node, "s", None)
