"""What of a script is not checked, and why: ways to set options that no path follows.

Whoever sets options in such a way is told so: a check that finds nothing has looked at everything.
"""

import ast
from typing import Dict, Iterator, List, Tuple

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import phrase
from npu_config.python_flow.scopes import (
    UNCLEAR,
    keyword_of,
    last_line,
    literal,
    literal_text,
    name_of,
)
from npu_config.script.effects import UNFOLLOWED
from npu_config.script.neighbours import has, named_in
from npu_config.script.script import Script
from npu_config.text.rules import not_checked_here

_RUNS_TEXT = ("exec", "eval", "compile")
_MAKERS = ("NPURunConfig", "NpuConfigBuilder")
_SETS = ("parameter_map", "custom_optimizers", "NpuConfig", "NPURunConfig")
_HELP = (
    "check it by hand (options that another file sets: npu-config check FILE), or write the "
    "options out; # npu: ignore[NPU784] silences this note"
)


def unfollowed(script: Script) -> List[Diagnostic]:
    """One note for each statement that may set options and is not followed."""
    found: Dict[int, Tuple[ast.AST, str]] = {}
    for node, message in (
        *script.unfollowed.items(),
        *_code(script),
        *_maps(script),
        *_classes(script),
    ):
        found.setdefault(getattr(node, "lineno", 0), (node, message))
    return [
        not_checked_here.diagnostic(message, script.source.place_of(node), help=_HELP)
        for _, (node, message) in sorted(found.items())
    ]


def _code(script: Script) -> Iterator[Tuple[ast.AST, str]]:
    """Code that is a text."""
    if not any(script.source.mentions(word) for word in _RUNS_TEXT):
        return
    for node in script.nodes(*_RUNS_TEXT):
        if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name):
            texts = list(_texts(script, node.args[0])) if node.func.id in _RUNS_TEXT else []
            is_exec = node.func.id == "exec"
            if any(word in text for text in texts for word in _SETS) or (
                is_exec and any(_file_sets(script, text) for text in texts)
            ):
                message = "code in a text is not checked, and this one sets options"
                yield node, phrase(message)


def _file_sets(script: Script, name: str) -> bool:
    """True when a text names a file near the script that sets options."""
    path = named_in(script.source.path, name) if name.endswith(".py") else None
    return path is not None and has(path, _SETS)


def _texts(script: Script, node: ast.expr) -> Iterator[str]:
    """The texts that an expression is made of, those of names of the module among them."""
    for part in ast.walk(node):
        nodes = [part]
        if isinstance(part, ast.Name):
            nodes = [store.node for store in script.module.stores.get(part.id, ())]
        yield from filter(None, map(literal_text, nodes))


def _classes(script: Script) -> Iterator[Tuple[ast.AST, str]]:
    """What makes configurations, where it is not called at once."""
    message = "{} is used here in a way that is not analysed; its arguments are not checked"
    for node in script.nodes(*_MAKERS):
        if isinstance(node, ast.ClassDef):
            values = node.bases
        elif isinstance(node, ast.Call):
            values = node.args
            if name_of(node.func) in ("isinstance", "issubclass"):
                continue
            if name_of(node.func) == "getattr" and len(node.args) > 1:
                text = literal_text(node.args[1])
                if text in _MAKERS:
                    yield node, phrase(message, text)
        elif isinstance(node, ast.Assign):
            values = [node.value] if name_of(node.value) == _MAKERS[1] else []
        else:
            continue
        for value in values:
            if name_of(value) in _MAKERS:
                yield value, phrase(message, name_of(value))


def _maps(script: Script) -> Iterator[Tuple[ast.AST, str]]:
    """Statements with a ``parameter_map`` that no path comes to, or on what is not followed."""
    if not script.source.mentions("parameter_map"):
        return
    nodes = script.nodes("parameter_map")
    dead = [lines for node in nodes for lines in _never_run(node)]
    for node in nodes:
        if isinstance(node, ast.Call) and keyword_of(node, "parameter_map") is not None:
            yield node, UNFOLLOWED
        if not isinstance(node, ast.Attribute) or node.attr != "parameter_map":
            continue
        if node not in script.followed and not any(node.lineno in lines for lines in dead):
            yield node, UNFOLLOWED


def _never_run(node: ast.AST) -> Iterator[range]:
    """The lines below a condition that is a constant and does not hold."""
    if isinstance(node, (ast.If, ast.While)):
        value = literal(node.test)
        body = node.orelse if value else node.body
        if value is not UNCLEAR and body:
            yield range(body[0].lineno, last_line(body[-1]) + 1)
