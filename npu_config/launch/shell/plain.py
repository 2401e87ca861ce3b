"""Statements of plain words: what they say stands in their text, and needs no tree.

A plain word is made of letters, ``$name`` and ``${name}``, all of it in double quotes or none.
Lines of such statements are most of a launch script, and the grammar takes far longer than a
regular expression to say what they are: it gets one word in place of them.
"""

import functools
import re
from typing import Dict, List, Match, Optional, Tuple, Union

_BLANK = r"[ \t]+(?:\\\n[ \t]*)*"
_LETTER = r"[\w./:@%,+=-]"
_QUOTED = r'[^"\\`$\n]'
_NAMED = r"\$(?:\{{\w+\}}{0}*|\w+(?:{1}{0}*)?)"
_WORD = '(?:{0}+(?:{1})*|(?:{1})+|"{2}*(?:{3})*")'.format(
    _LETTER,
    _NAMED.format(_LETTER, "[./:@%,+=-]"),
    _QUOTED,
    _NAMED.format(_QUOTED, r'[^\w}"\\`$\n]'),
)
_FILE = r"(?:&?[0-9]*>>?[ \t]*{}|[0-9]*>&[ \t]*[0-9-]+)".format(_WORD)
_NO_COMMANDS = (
    "if|then|elif|else|fi|for|in|do|done|while|until|select|case|esac|function|"
    "export|declare|local|readonly|typeset|unset|unsetenv|let"
)
_STATEMENT = (
    r"(?:(?:(export|declare|local|readonly|typeset)[ \t]+)?([A-Za-z_]\w*)=({word}?)"
    r"|(?!(?:{none})(?:[ \t\n]|\Z))([\w./+-]+)((?:{blank}{word}(?=[ \t\n]|\Z))*)"
    r"((?:{blank}{file}(?=[ \t\n]|\Z))*))"
).format(word=_WORD, none=_NO_COMMANDS, blank=_BLANK, file=_FILE)
_LINE = re.compile(r"(?<!\\)\n[ \t]*" + _STATEMENT + r"[ \t]*(?:([&;])[ \t]*)?(?=\n|\Z)")
STATEMENT = re.compile(_STATEMENT + r"\Z")
"""A keyword, a name and its value; or the first word of a command, the others, redirections."""
FILES = re.compile(r"[ \t\n](&?[0-9]*>>?)[ \t]*(" + _WORD + ")")
"""A redirection to a file: the operator and the word."""
_WORDS = re.compile(r"[ \t\n](" + _WORD + ")")
_WHOLE = re.compile(_WORD + r"?\Z")
_NAMES = re.compile(r"\$\{?(\w+)\}?")
_COMPLETE = (" do", " then", "\ndo", "\nthen", "\nelse", "{", "\nfi", "\ndone", ")", ";;", "esac")

Word = Union[str, Tuple[str, ...]]
"""A word that needs no tree: letters, or the quote around it, a text, a name, a text and so on."""
Lines = Dict[int, List[Match[str]]]
"""The plain statements that one word of a masked text stands for, by where it begins."""


def mask(source: str, text: str) -> Tuple[str, Lines]:
    """A text with one word in place of lines that are plain statements.

    A line has a word of its own where it may be the operand of what stands before it.  Lines
    within quotes have one as well, which leaves the quotes as they are; here-documents end with
    lines: a script that may have one is left alone.

    Args:
        source: the script.
        text: the same in characters that the grammar takes.
    """
    parts: List[str] = []
    lines: Lines = {}
    end, alone = 0, True
    for match in _LINE.finditer(source) if "<<" not in source else ():
        start, stop = match.span()
        if start != end or alone:
            alone = start != end and not source.endswith(_COMPLETE, 0, start)
            parts.append(text[end : start + 1])
            end = start + 1
            statements = lines[end] = []
        statements.append(match)
        parts.append("x" * (stop - end))
        end = stop
    return "".join(parts) + text[end:], lines


def word_of(text: str) -> Optional[Word]:
    """A word; None when it is not plain."""
    return None if _WHOLE.match(text) is None else _word(text)


def words_of(text: str) -> List[Word]:
    """The words of a text in which all are plain."""
    return [_word(each) for each in _WORDS.findall(text)]


def _word(text: str) -> Word:
    return _parts(text) if "$" in text or '"' in text else text


@functools.lru_cache(maxsize=1024)
def _parts(text: str) -> Tuple[str, ...]:
    return ('"' * text.startswith('"'), *_NAMES.split(text.strip('"')))
