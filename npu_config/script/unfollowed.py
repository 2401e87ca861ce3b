"""What of a script is not checked, and why: ways to set options that no path follows.

Whoever sets options in such a way is told so: a check that finds nothing has looked at everything.
"""

import ast
from typing import Dict, Iterator, List, Tuple

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.message import phrase
from npu_config.python_flow.scopes import UNCLEAR, last_line, literal, literal_text, name_of
from npu_config.script.script import Script
from npu_config.text.rules import not_checked_here

_RUNS_TEXT = ("exec", "eval", "execfile")
_SETS = ("parameter_map", "custom_optimizers", "NpuConfig", "NPURunConfig")
_HELP = "check it by hand, or write the options out; # npu: ignore[NPU784] takes note of it"


def unfollowed(script: Script) -> List[Diagnostic]:
    """One note for each statement that may set options and is not followed."""
    found: Dict[int, Tuple[ast.AST, str]] = {}
    for node, message in (*script.unfollowed.items(), *_code(script), *_maps(script)):
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
        if isinstance(node, ast.Call) and name_of(node.func) in _RUNS_TEXT and node.args:
            if not isinstance(node.func, ast.Name):
                continue
            text = literal_text(node.args[0])
            if text is not None and any(word in text for word in _SETS):
                message = "code in a text is not checked, and this one sets options"
                yield node, phrase(message)


def _maps(script: Script) -> Iterator[Tuple[ast.AST, str]]:
    """Statements with a ``parameter_map`` that no path comes to, or on what is not followed."""
    if not script.source.mentions("parameter_map"):
        return
    nodes = script.nodes("parameter_map")
    dead = [lines for node in nodes for lines in _never_run(node)]
    for node in nodes:
        if not isinstance(node, ast.Attribute) or node.attr != "parameter_map":
            continue
        if node not in script.followed and not any(node.lineno in lines for lines in dead):
            message = "options are set here in a way that is not followed, and are not checked"
            yield node, phrase(message)


def _never_run(node: ast.AST) -> Iterator[range]:
    """The lines below a condition that is a constant and does not hold."""
    if isinstance(node, (ast.If, ast.While)):
        value = literal(node.test)
        body = node.orelse if value else node.body
        if value is not UNCLEAR and body:
            yield range(body[0].lineno, last_line(body[-1]) + 1)
