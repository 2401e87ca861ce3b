"""What a Python text in a launch script sets in its environment: ``python - <<EOF``."""

import ast
import re
import textwrap
import warnings
from typing import Dict, Iterator, List, Optional, Tuple

from npu_config.core.settings import UNKNOWN
from npu_config.launch.shell.syntax import Spot
from npu_config.launch.shell.words import UNKNOWN_PART, ShellVariable, Value
from npu_config.python_flow.source import of_modules

_SETS = re.compile(r"environ|putenv")
_TABS = re.compile(r"^\t+", re.MULTILINE)


def environment_of(
    given: ShellVariable, command: Optional[Spot]
) -> Optional[Tuple[Dict[str, ShellVariable], Optional[str]]]:
    """The variables that a text sets, and the framework it is for; None: it is not understood.

    Args:
        given: the text, and where it stands.
        command: the command that it is given to, the place of what stands in no line of its own.
    """
    text = str(given.value)
    if _SETS.search(text) is None:
        return {}, None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(textwrap.dedent(_TABS.sub("", text.replace(UNKNOWN_PART, "None"))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    variables: Dict[str, ShellVariable] = {}
    modules: List[str] = []
    lines = _lines_of(given.spot, text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules += [each.name.partition(".")[0] for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.append(node.module.partition(".")[0])
        for name, value in _set_by(node):
            line: int = getattr(node, "lineno", 1)
            spot = lines[line - 1] if line <= len(lines) else command
            variables[name] = ShellVariable(value, spot, True)
    return variables, of_modules(modules)


def _set_by(node: ast.AST) -> Iterator[Tuple[str, Value]]:
    """The variables that a statement or a call sets."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _is_environ(target.value):
                index = getattr(target.slice, "value", target.slice)  # ast.Index before 3.9
                name = index if isinstance(index, str) else _text(index)
                if name is not UNKNOWN:
                    yield name, _text(node.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        what = node.func.attr
        if what == "putenv" or (what == "setdefault" and _is_environ(node.func.value)):
            name = _text(node.args[0]) if len(node.args) == 2 else UNKNOWN
            if name is not UNKNOWN:
                yield name, _text(node.args[1])
        elif what == "update" and _is_environ(node.func.value):
            for each in node.keywords:
                if each.arg is not None:
                    yield each.arg, _text(each.value)
            for given in node.args:
                if isinstance(given, ast.Dict):
                    for key, value in zip(given.keys, given.values):
                        name = _text(key)
                        if name is not UNKNOWN:
                            yield name, _text(value)


def _is_environ(node: ast.AST) -> bool:
    return getattr(node, "attr", getattr(node, "id", "")) == "environ"


def _text(node: Optional[ast.AST]) -> Value:
    try:
        value = ast.literal_eval(node)  # type: ignore[arg-type]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return UNKNOWN
    return value if isinstance(value, str) else UNKNOWN


def _lines_of(spot: Optional[Spot], text: str) -> List[Spot]:
    """The lines of a text that stands in a script as it is; none of a text within a line."""
    if spot is None or "\n" not in text:
        return []
    script, begin, end = spot
    lines: List[Spot] = []
    for line in script.source[begin:end].splitlines(True):
        start = begin + len(line) - len(line.lstrip())
        lines.append((script, start, begin + len(line.rstrip())))
        begin += len(line)
    return lines
