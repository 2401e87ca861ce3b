"""What PyYAML says of a text that is no YAML, as diagnostics."""

from typing import Any

import yaml

from npu_config.readers import _rules as rules
from npu_config.readers._document import Document

_SYNTAX_HELP = (
    ("mapping values are not allowed", 'put text that holds ": " in quotes, or check the indent'),
    ("expected <block end>", "indent the keys of one mapping alike"),
    ("could not find expected ':'", 'write "key: value"'),
    ("found unexpected end of stream", "close the quote or the bracket"),
    ("expected ',' or", "close the bracket, or put a comma between the items"),
    ("that cannot start any token", "put the text in quotes"),
)


def _mark(error: yaml.YAMLError) -> Any:
    return getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)


def fault_offset(document: Document, error: yaml.YAMLError) -> int:
    """Where PyYAML gave up."""
    if isinstance(error, yaml.reader.ReaderError):
        return int(error.position)
    mark = _mark(error)
    return len(document.source.text) if mark is None else int(mark.index)


def report_fault(document: Document, error: yaml.YAMLError, start: int) -> None:
    """Tell in our words why PyYAML gave up."""
    text = document.source.text
    end = min(start + 1, len(text))
    if isinstance(error, yaml.reader.ReaderError):
        character = ord(text[start : start + 1] or "\0")
        message = "the character U+{:04X} is not allowed in YAML".format(character)
        document.report(rules.UNPARSABLE, start, end, message)
        return
    problem = getattr(error, "problem", None) or str(error)
    message = " ".join(str(problem).split())
    if text[start : start + 1] == "\t" and "cannot start any token" in message:
        document.report(
            rules.YAML_TRAP,
            start,
            end,
            "a tab stands here; YAML indents with blanks only",
            "replace the tab by blanks",
        )
        return
    help = next((words for part, words in _SYNTAX_HELP if part in message), None)
    context = getattr(error, "context", None)
    if context:
        message = "{} ({})".format(message, " ".join(str(context).split()))
    document.report(rules.UNPARSABLE, start, end, message, help)
