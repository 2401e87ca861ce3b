"""The syntax tree of a bash script, by tree-sitter's grammar (extra ``cli``).

Statements of plain words need no tree: what they say stands in their text.  A plain word is made
of letters, ``$name`` and ``${name}``, all of it in double quotes or none.  Lines of such
statements are most of a launch script, and the grammar takes far longer than a regular expression
to say what they are: it gets one word in place of them.
"""

import functools
import re
import warnings
from bisect import bisect_right
from typing import Any, Dict, List, Match, Optional, Tuple, Union

from npu_config.core.diagnostics import NOWHERE, Place
from npu_config.text.source import Source

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


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

Node = Any
"""A node of tree-sitter: ``type``, ``children``, ``start_byte`` and ``end_byte``."""


@functools.lru_cache(maxsize=None)
def parser() -> Optional[Any]:
    """Tree-sitter's parser of bash, when it is installed."""
    try:
        import tree_sitter
        import tree_sitter_bash

        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    except ImportError:
        pass
    try:  # Python below 3.10
        import tree_sitter_languages

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tree_sitter_languages.get_parser("bash")
    except ImportError:
        return None


def _tree(data: bytes) -> Any:
    tool = parser()
    assert tool is not None
    return tool.parse(data)


class Script:
    """A parsed script.

    The grammar's own scanner asks the C library about every character and reads beyond its tables
    for some that are not ASCII.  It gets a letter in place of each of them, one byte for one
    character, so that its offsets are those of the text.

    Attributes:
        path: its file, for the places.
        within: the place of the command whose word the script is, for ``bash -c``.
        source: the text.
        data: what was parsed, a byte for each character of ``source``.
        lines: the plain statements, and where the tree has a word in their place.
    """

    __slots__ = (
        "_begins",
        "_exact",
        "_places",
        "data",
        "lines",
        "path",
        "source",
        "tree",
        "within",
    )

    def __init__(self, text: str, path: Optional[str], within: Optional[Place] = None) -> None:
        self.path, self.within = path, within
        self.source = text.replace("\r\n", " \n")
        ascii_only = self.source if self.source.isascii() else _NOT_ASCII.sub("x", self.source)
        self.data = ascii_only.encode("ascii")
        masked, self.lines = mask(self.source, ascii_only)
        self._exact: Optional[Any] = None
        self.tree = _tree(masked.encode("ascii"))
        if self.lines and self.root.has_error:
            self.tree, self.lines = _tree(self.data), {}
        self._begins = list(self.lines)
        self._places = Source(self.source, path)

    @property
    def root(self) -> Node:
        """The syntax tree."""
        return self.tree.root_node

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte]

    def exact(self, node: Node) -> Node:
        """A node as it is without words in place of lines."""
        begin, end = node.start_byte, node.end_byte
        following = bisect_right(self._begins, begin)
        if following == len(self._begins) or self._begins[following] >= end:
            return node
        if self._exact is None:
            self._exact = _tree(self.data)
        return self._exact.root_node.descendant_for_byte_range(begin, end)

    def spot(self, node: Node) -> "Spot":
        """Where a node is."""
        return self, node.start_byte, node.end_byte

    def place(self, begin: int, end: int) -> Place:
        """A part of the source, in characters from 1."""
        return self._places.place(begin, end) if self.within is None else self.within


Spot = Tuple[Script, int, int]
"""A part of a script; a place is made of it when it is asked for."""


def place_of(spot: Optional[Spot]) -> Place:
    """The place of a part of a script."""
    return NOWHERE if spot is None else spot[0].place(spot[1], spot[2])
