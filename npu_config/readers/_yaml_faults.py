"""What PyYAML says of a text that is no YAML, as diagnostics."""

from typing import Any

import yaml

from npu_config.core.message import phrase
from npu_config.readers import _rules as rules
from npu_config.readers._document import Document
from npu_config.text.words import shown

_SYNTAX_HELP = (
    ("mapping values are not allowed", 'put text that holds ": " in quotes, or check the indent'),
    ("expected <block end>", "indent the keys of one mapping alike"),
    ("expected '<document start>'", "indent the keys of one mapping alike"),
    ("could not find expected ':'", 'write "key: value", with a blank after the colon'),
    ("found unexpected end of stream", "close the quote or the bracket"),
    ("expected ',' or", "close the bracket, or put a comma between the items"),
    ("that cannot start any token", "put the text in quotes"),
)


def _mark(error: yaml.YAMLError) -> Any:
    """The place of the problem; for what does not end or goes on, the place where it starts."""
    problem, context = (getattr(error, name, None) for name in ("problem_mark", "context_mark"))
    what = str(getattr(error, "problem", ""))
    is_late = "end of stream" in what or "could not find expected ':'" in what
    return (context or problem) if is_late else (problem or context)


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
        message = phrase("the character U+{:04X} is not allowed in YAML", character)
        document.report(rules.unparsable_file, start, end, message)
        return
    problem = getattr(error, "problem", None) or str(error)
    message = " ".join(str(problem).split())
    if text[start : start + 1] == "\t" and "cannot start any token" in message:
        indents = not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t")
        message = phrase(
            "a tab cannot be here; YAML indents with blanks" if indents else "a tab cannot be here"
        )
        document.report(rules.yaml_trap, start, end, message, "replace the tab by blanks")
        return
    if "mapping values are not allowed" in message and _report_continued(document, start):
        return
    help = next((words for part, words in _SYNTAX_HELP if part in message), None)
    context = getattr(error, "context", None)
    if context:
        message = phrase("{} ({})", message, " ".join(str(context).split()))
    document.report(rules.unparsable_file, start, end, message, help)


def _report_continued(document: Document, colon: int) -> bool:
    """Report a line that continues the value of the one before, which is seldom meant.

    YAML stops at the colon of the second line and says nothing of the first.
    """
    text = document.source.text
    start = text.rfind("\n", 0, colon) + 1
    key = text[start:colon].strip()
    above = [line for line in text[:start].split("\n") if line.strip()]
    if not above or above[-1].lstrip().startswith("#") or ": " in key:
        return False
    before = above[-1].strip()
    begin = start + text[start:colon].index(key)
    if ": " not in before:
        message = phrase('{} is no "key: value" that this line can follow', shown(before))
        help = 'write "key: value", with a blank after the colon'
    elif begin - start > len(above[-1]) - len(above[-1].lstrip()):
        message = phrase(
            "{} is indented deeper than the line before, which has a value already", shown(key)
        )
        help = "indent it like the line before"
    else:
        return False
    document.report(rules.unparsable_file, begin, colon, message, help)
    return True
