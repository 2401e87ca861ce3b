"""What leads from a text to somewhere else: files that are named there, pages of rules."""

import os
from typing import Iterator, NamedTuple

from npu_config.core.diagnostics import rule_url
from npu_config.core.lazy import lazy_pattern
from npu_config.judging.comments import COMMENT
from npu_config.script.neighbours import named_in

__all__ = ["Link", "links"]

_RULE = lazy_pattern(r"\bNPU\d{3,4}\b")
_FILE = lazy_pattern(
    r"(?<![\w.@+/~-])(?:~?/)?[\w.@+-]+(?:/[\w.@+-]+)*"
    r"\.(?:json|cfg|ini|yaml|yml|toml|pbtxt|pb|py|sh|txt|config|aippconfig)(?![\w/-])"
)
_MOST = 500
"""Names that are looked for on the disk: a list of files is no configuration."""


class Link(NamedTuple):
    """Some characters, and what they lead to: a path, or an address."""

    start: int
    end: int
    target: str
    is_file: bool


def links(path: str, text: str) -> Iterator[Link]:
    """Every link of a text.

    Args:
        path: the file.
        text: its text.
    """
    for comment in COMMENT.finditer(text):
        for rule in _RULE.finditer(text, *comment.span("rules")):
            yield Link(*rule.span(), rule_url(rule.group()), False)
    for number, match in enumerate(_FILE.finditer(text)):
        if number == _MOST:
            return
        found = named_in(path, os.path.expanduser(match.group()))
        if found is not None and os.path.abspath(found) != os.path.abspath(path):
            yield Link(*match.span(), os.path.abspath(found), True)
