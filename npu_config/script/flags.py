"""The flags that a script defines, with ``argparse`` or ``DEFINE_...``, and their defaults."""

import ast
import re
from typing import Any, Dict, NamedTuple, Optional

from npu_config.core.lazy import cached_property
from npu_config.python_flow.scopes import UNCLEAR, argument, keyword_of, literal, literal_text
from npu_config.python_flow.source import ScriptSource

DEFINITION = re.compile(r"\b(?:DEFINE_\w+|add_argument)\s*\(")


class FlagDefault(NamedTuple):
    """The default of a flag and the line of its definition."""

    value: Any
    line: int


class Flags:
    """The flags that a script defines.

    Args:
        source: the script.
    """

    def __init__(self, source: ScriptSource) -> None:
        self._source = source

    def default(self, name: str) -> Optional[FlagDefault]:
        """The default of a flag that is defined once, with a literal default; else None."""
        return self._known.get(name)

    @cached_property
    def _known(self) -> Dict[str, Optional[FlagDefault]]:
        known: Dict[str, Optional[FlagDefault]] = {}
        text = self._source.text
        if "DEFINE_" not in text and "add_argument" not in text:
            return known
        for match in DEFINITION.finditer(text):
            line = self._source.line(match.start())
            if self._source.lines[line - 1].lstrip().startswith("#"):
                continue
            call = _call_at(text, match.end())
            if call is None:
                continue
            name, default = _name_and_default(call, "add_argument" in match.group())
            if name is not None:
                value = literal(default)
                is_clear = name not in known and value is not UNCLEAR
                known[name] = FlagDefault(value, line) if is_clear else None
        return known


def _call_at(text: str, start: int) -> Optional[ast.Call]:
    """The call whose arguments begin at ``start``, found by trying each closing parenthesis."""
    end = start
    for _ in range(12):
        end = text.find(")", end) + 1
        if end == 0 or end - start > 2000:
            return None
        try:
            tree = ast.parse("f(" + text[start:end], mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return tree if isinstance(tree, ast.Call) else None
    return None


def destination(call: ast.Call) -> Optional[str]:
    """The attribute that an argument of argparse becomes."""
    named = keyword_of(call, "dest")
    if named is not None:
        return literal_text(named.value)
    names = [name for name in map(literal_text, call.args) if name]
    long = [name for name in names if name.startswith("--")] or names
    return long[0].lstrip("-").replace("-", "_") if long else None


def _name_and_default(call: ast.Call, argparse: bool) -> Any:
    if argparse:
        default = keyword_of(call, "default")
        return destination(call), None if default is None else default.value
    return literal_text(argument(call, "name", 0)), argument(call, "default", 1)
