"""The syntax tree of a bash script, and what bash refuses; needs tree-sitter (extra ``cli``).

The grammar also stumbles over scripts that bash takes.  So a script that it stumbles over is read
once more, from character to character as bash reads it: quotes, comments, here-documents,
substitutions, and the words that begin and end blocks.  Where this reading is not certain it gives
up, and nothing is reported.  The commands that the grammar does not understand are told by this
reading, too, and hidden from it: they are :attr:`ShellScript.unread`, and what stands around them
is read as bash does.
"""

import functools
import re
import warnings
from collections import Counter
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import NOWHERE, Diagnostic, Place
from npu_config.core.message import phrase
from npu_config.launch import _rules as rules
from npu_config.text.source import Source

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


_TEXTS = {
    "comment",
    "heredoc_body",
    "heredoc_content",
    "raw_string",
    "ansii_c_string",
    "ansi_c_string",
    "string_content",
}


_NOTHING_FOLLOWS = re.compile(rb"\\(?=\n[ \t]*(?:\n|\Z)|\Z)")
_ESCAPED_BLANK = re.compile(rb"(?<!\\)((?:\\\\)*)\\ ")
_LONE_SIGN = re.compile(rb" =[=~](?=[ \t]*(?:[\n;]|\Z))")
_UNQUOTED_PART = rb"[^\s;&|<>()\"'`]"
_QUOTED_PART = rb"\"[^\"\n]*\"|'[^'\n]*'|(?<=[$=])\([^()\n]*\)|`[^`\n]*`"
_ASSIGNS_MORE = re.compile(
    rb"=[^\s;&|<>()\"'`=]*(?:(?:" + _QUOTED_PART + rb")[^\s;&|<>()\"'`=]*)*"
    rb"(?:[ \t]+(?:\w+\+?=|[0-9]*&?[<>])|[<>])"
)
_TOKEN = re.compile(
    rb"[ \t]+|([0-9]*&?[<>])|([;&|()])|((?:" + _UNQUOTED_PART + rb"|" + _QUOTED_PART + rb")+)|."
)
_ASSIGNMENT = re.compile(rb"\w+\+?=")
_BEFORE_COMMAND = (b"then", b"else", b"do", b"{")
_DIVIDES = re.compile(rb"<[^\n;&<]*[;&]")


def _may_swallow(data: bytes) -> bool:
    """Whether the grammar may take the following lines for a part of a command, without an error.

    So it does with several assignments, or one with a redirection, and with a here-document that
    another command stands behind.
    """
    if b"<<" in data and _DIVIDES.search(data) is not None:
        return True
    end = 0
    for each in _ASSIGNS_MORE.finditer(data):
        if each.start() >= end:
            begin, end = data.rfind(b"\n", 0, each.start()) + 1, data.find(b"\n", each.end())
            end = len(data) if end < 0 else end
            if _assigns_alone(data[begin:end]):
                return True
    return False


def _assigns_alone(line: bytes) -> bool:
    """Whether a command of a line is several assignments, or one with a redirection."""
    count, first = 0, True
    for token in _TOKEN.finditer(line):
        redirect, end, word = token.groups()
        if end is not None:
            if count > 1:
                break
            count, first = 0, True
        elif redirect is not None and count:
            return True
        elif word is not None and first and word not in _BEFORE_COMMAND:
            first = _ASSIGNMENT.match(word) is not None
            count = count + 1 if first else 0
    return count > 1


class Joined(NamedTuple):
    """What the grammar takes for something else: ``$a/b:$c/d``; it has what a node has."""

    type: str
    start_byte: int
    end_byte: int
    children: Sequence[Any] = ()
    is_named: bool = True

    @property
    def id(self) -> object:
        """The same for what is made of the same node again."""
        return self.type, self.children[0].id


def regrouped(node: Node) -> Node:
    """A pipeline, or a statement with redirections, as bash reads it.

    For the grammar ``a && b 2>&1 | c`` is ``{ a && b; } 2>&1 | c``.
    """
    chain, inner = [node], node.children[0]
    while inner.type in ("redirected_statement", "pipeline"):
        chain.append(inner)
        inner = inner.children[0]
    if inner.type != "list":
        return node
    last = inner.children[-1]
    for each in reversed(chain):
        parts = (last, *each.children[1:])
        last = Joined(each.type, last.start_byte, each.end_byte, parts)
    return Joined("list", inner.start_byte, node.end_byte, (*inner.children[:-1], last))


def parts_of(node: Node) -> List[Node]:
    """The parts of a command; those without a blank between them are one word."""
    parts: List[Node] = []
    end = -1
    for child in node.children:
        begin, before, end = child.start_byte, end, child.end_byte
        if begin != before or not child.is_named or child.type.endswith("_redirect"):
            parts.append(child)
            continue
        first = parts[-1]
        if first.type != "variable_assignment":
            parts[-1] = Joined("joined", first.start_byte, end)
        elif len(first.children) > 2:
            value = Joined("joined", first.children[2].start_byte, end)
            inside = (*first.children[:2], value)
            parts[-1] = Joined("variable_assignment", first.start_byte, end, inside)
    return parts


def _parsed(data: bytes) -> Node:
    """The root of the grammar's tree of a text."""
    tool = parser()
    assert tool is not None
    return tool.parse(data).root_node


def _of_lines(data: bytes, ends: Sequence[int]) -> Node:
    """As :func:`_parsed`, of a text in parts that are read for themselves, up to each end.

    The grammar may fail on a script of which it understands every command.
    """
    from tree_sitter import Range

    tool: Any = parser()
    here = (0, 0)
    nodes: List[Node] = []

    def restrict(ranges: List[Any]) -> None:
        if hasattr(tool, "set_included_ranges"):  # Python below 3.10
            tool.set_included_ranges(ranges)
        else:
            tool.included_ranges = ranges

    try:
        for begin, end in zip([0, *ends], [*ends, len(data)]):
            if begin < end:
                restrict([Range(here, here, begin, end)])
                nodes += tool.parse(data).root_node.children
    finally:
        restrict([])
    return Joined("program", 0, len(data), nodes)


class ShellScript:
    """A parsed script.

    The grammar's own scanner asks the C library about every character and reads beyond its tables
    for some that are not ASCII.  It gets a letter in place of each of them, one byte for one
    character, so that its offsets are those of the text.

    Attributes:
        path: its file, for the places.
        within: the place of the command whose word the script is, for ``bash -c``.
        source: the text.
        root: the syntax tree.
        data: a byte for each character of ``source``.
        refused: what bash refuses in a text that the grammar does not understand, if anything.
        unread: the program of each command that is not understood, by where it begins: empty
            for assignments, None for several commands.
    """

    __slots__ = (
        "_places",
        "data",
        "path",
        "refused",
        "root",
        "source",
        "unread",
        "within",
    )

    def __init__(self, text: str, path: Optional[str], within: Optional[Place] = None) -> None:
        self.path, self.within = path, within
        self.source = text.replace("\r\n", " \n")
        ascii_only = self.source if self.source.isascii() else _NOT_ASCII.sub("x", self.source)
        self.data = ascii_only.encode("ascii")
        data = self.data
        if b"\\" in data:
            data = _NOTHING_FOLLOWS.sub(b" ", data)
        if b"\\ " in data:  # the grammar passes over those at the beginning of a word
            data = _ESCAPED_BLANK.sub(rb"\1xx", data)
        if b" =" in data:  # and looks for the other side of an operator behind a lone one
            data = _LONE_SIGN.sub(b" xx", data)
        self.root = _parsed(data)
        self.refused: Optional[RefusedError] = None
        self.unread: Dict[int, Optional[str]] = {}
        is_unclear = self.root.has_error or _may_swallow(self.data)
        if is_unclear or not _even(self.data):
            self._read(bytearray(data), is_unclear)
        self._places = Source(self.source, path)

    def _read(self, data: bytearray, is_unclear: bool) -> None:
        """Read the text as bash does, and hide from the grammar what it does not understand."""
        reading = _ShellReading(self.source)
        try:
            reading.commands("")
        except RefusedError as refused:
            self.refused = refused
            return
        except UnsureError:
            return
        if not is_unclear:
            return
        for at, hidden in reading.heads:
            data[at : at + len(hidden)] = hidden
        for begin, end in reading.counted:
            if _parsed(b"for " + bytes(data[begin:end]) + b"; do x; done").has_error:
                data[begin:end] = b"((;;" + b"x" * (end - begin - 6) + b"))"
        for command in reading.simple:
            self._hide(data, command)
        self.root = _parsed(bytes(data))
        is_apart, divided = self.root.has_error, set(reading.divided)
        for line in reading.lines if is_apart else reading.divided:
            begin, end = line
            if line in divided or _parsed(bytes(data[begin:end])).has_error:
                data[begin:end] = b"x" * (end - begin)
                self.unread[begin] = None
        if is_apart:
            self.root = _of_lines(bytes(data), [end for _, end in reading.lines])
        elif divided:
            self.root = _parsed(bytes(data))

    def _hide(self, data: bytearray, command: "_Simple") -> None:
        """Take away from a command what the grammar does not understand: all, if need be."""
        begin, end = command.begin, command.end
        documents, redirects = command.documents, command.redirects
        alone = bytearray(data[begin:end])
        for first, last in documents:
            alone[first - begin : last - begin] = b" " * (last - first)
        swallows = redirects and not command.program  # the grammar takes the next line along
        if not swallows and not _parsed(bytes(alone)).has_error:
            return
        for first, last in redirects:
            alone[first - begin : last - begin] = b" " * (last - first)
        if not alone.strip() or _parsed(bytes(alone)).has_error:
            alone[:] = b"x" * (end - begin)
            self.unread[begin] = command.program
        for first, last in documents:
            alone[first - begin : last - begin] = data[first:last]
        data[begin:end] = alone

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte]

    def texts(self) -> Iterator[Tuple[int, int]]:
        """Where comments and what is quoted begin and end, in order."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            if node.type in _TEXTS:
                yield node.start_byte, node.end_byte
            else:
                pending.extend(reversed(node.children))

    def comments(self) -> Iterator[Tuple[int, int]]:
        """Where comments begin and end."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            if node.type == "comment":
                yield node.start_byte, node.end_byte
            pending.extend(node.children)

    def spot(self, node: Node) -> "Spot":
        """Where a node is."""
        return self, node.start_byte, node.end_byte

    def place(self, begin: int, end: int) -> Place:
        """A part of the source, in characters from 1."""
        return self._places.place(begin, end) if self.within is None else self.within


Spot = Tuple[ShellScript, int, int]
"""A part of a script; a place is made of it when it is asked for."""


def place_of(spot: Optional[Spot]) -> Place:
    """The place of a part of a script."""
    return NOWHERE if spot is None else spot[0].place(spot[1], spot[2])


BLANKS = re.compile(r"(?:[ \t]|\\\n)*")
_LINE = re.compile(r"(?:\s|\\\n|#[^\n]*\n)+")
_PLAIN = re.compile(r"[^ \t\n;&|()<>'\"`$\\]+")
_BACKTICKS = re.compile(r"(?:[^`\\]|\\.)*`", re.DOTALL)
_ANSI = re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL)
_IN_DOUBLE = re.compile(r"[^\"\\`$]+")
_WHOLE_LINE = re.compile(r"([^\n]*)\n?")
_BEFORE_ARRAY = re.compile(r"[A-Za-z_]\w*(?:\[.*\])?\+?=\Z", re.DOTALL)
_LITERAL_QUOTE = re.compile(r"[\w@*#?!-]+:?[-=+?]")
_TEST_ENDS = re.compile(r"\s*\]\](?=[\s;&|)]|\Z)")
_IN_TEST = re.compile(r"[\s()<>|&;]+")
_REDIRECTS = re.compile(r"<<<|<<-?|[<>][<>&|]?")
_QUOTES = re.compile(r"[\\'\"]")


_ENDS = {"do": "done", "if": "fi", "case": "esac"}
_NEEDED = {
    "done": "do", "do": "for", "fi": "if", "then": "if", "else": "if", "elif": "if",
    "esac": "case", "}": "{",
}  # fmt: skip
_CLOSE = ("done", "fi", "esac", "}")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=")
_LOOPS = ("for", "while", "until", "select")
_HEADS = (("for", False), ("select", False))
_WORDS = re.compile(rb"[\n;&|({`][ \t]*(do|done|if|fi|case|esac)(?![^\s;&|)<>])")
_LINES = re.compile(r"(?:\s|\\\n|#[^\n]*\n)*(?:#[^\n]*)?")
_EMPTY = re.compile(r"[ \t]*\([ \t]*\)")
_GOES_ON = re.compile(r"\n(?:\s|#[^\n]*\n)*[^\s;&|)]")
_DESCRIPTOR = re.compile(r"(?:[0-9]+|\{\w+\})(?=[<>])")
_LINE_ENDS = re.compile(r"[ \t]*(?:\n|\Z)")
_BEFORE_DO = re.compile(r"[ \t]+(?=do\s)")
_IN = re.compile(r"(?:\s|\\\n|#[^\n]*\n)*in(?=[\s;])")
_FUNCTION = re.compile(r"[ \t]+[^\s(){}]+(?:[ \t]*\([ \t]*\))?")
_COMMENT = re.compile(r"#[^\n]*")
_BRANCH_ENDS = re.compile(r";&?|&")
_PROGRAM = re.compile(r"[ \t]+[^\s<>&;|0-9{]")
_ESAC = re.compile(r"esac(?![^\s;&|()])")
_OPENS = re.compile(r"\(")
_BETWEEN = re.compile(r"(?:[ \t|]|\\\n)+")
_NAMED_COPROC = re.compile(r"[ \t]+\w+[ \t]+(?=[{(])")
_DEEPEST = 50


class _Block(NamedTuple):
    """A block that is open; ``inside`` after ``do``, and before the first pattern of a case."""

    word: str
    begin: int
    inside: bool = False


class RefusedError(Exception):
    """What bash refuses: the message, and the part of the text."""


class UnsureError(Exception):
    """The text is not read as bash reads it."""


class _Simple:
    """A command without others in it: where it is, its here-documents and other redirections."""

    __slots__ = ("begin", "documents", "end", "program", "redirects")

    def __init__(self, begin: int) -> None:
        self.begin, self.end, self.program = begin, begin, ""
        self.documents: List[Tuple[int, int]] = []
        self.redirects: List[Tuple[int, int]] = []


class _ShellReading:
    """A script that is read once.

    Attributes:
        at: where.
        simple: the simple commands, but not those of substitutions.
        lines: whole lines of commands outside of blocks, with their here-documents.
        divided: those of them with a command between a here-document and its text.
        heads: what the grammar reads in place of single signs and words, and where.
        counted: the heads of loops like ``((...))``.
    """

    def __init__(self, text: str) -> None:
        self.text, self.at, self.deep, self.inner = text, 0, 0, 0
        self.documents: List[Tuple[str, bool]] = []
        self.simple: List[_Simple] = []
        self.lines: List[Tuple[int, int]] = []
        self.divided: List[Tuple[int, int]] = []
        self.counted: List[Tuple[int, int]] = []
        self.heads: List[Tuple[int, bytes]] = []

    def skip(self, what: "re.Pattern[str]") -> bool:
        """Pass over what is here; whether it is."""
        match = what.match(self.text, self.at)
        if match is None:
            return False
        self.at = match.end()
        return True

    def here(self, *texts: str) -> bool:
        """Whether one of these comes next."""
        return self.text.startswith(texts, self.at)

    def test(self) -> None:
        """``[[ ... ]]``."""
        while not self.skip(_TEST_ENDS):
            begin = self.at
            if not self.skip(_IN_TEST):
                self.word()
            if self.at == begin:
                raise UnsureError

    def redirection(self) -> None:
        """A redirection."""
        document = self.here("<<") and not self.here("<<<")
        self.skip(_REDIRECTS)
        tabs = self.text[self.at - 1] == "-"
        self.skip(BLANKS)
        word = self.word()
        if document:
            self.documents.append((_QUOTES.sub("", word), tabs))

    def bodies(self) -> None:
        """The here-documents of the line that ended."""
        documents, self.documents = self.documents, []
        for mark, tabs in documents:
            line = ""
            while self.at < len(self.text):
                found = _WHOLE_LINE.match(self.text, self.at)
                assert found is not None
                line, self.at = found.group(1), found.end()
                if (line.lstrip("\t") if tabs else line) == mark:
                    break

    def word(self) -> str:
        """A word with the quotes in it."""
        begin = self.at
        while self.at < len(self.text):
            if self.skip(_PLAIN):
                continue
            mark = self.text[self.at]
            if mark == "(":
                before = self.text[begin : self.at]
                if before[-1:] in ("?", "*", "+", "@", "!"):
                    self.at += 1
                    self.balanced("(", ")")
                elif _BEFORE_ARRAY.match(before):
                    self.array()
                else:
                    break
            elif self.here("<(", ">("):
                self.at += 2
                self.inner += 1
                self.commands(")")
                self.inner -= 1
            elif not self.quoted(mark):
                break
        return self.text[begin : self.at]

    def array(self) -> None:
        """The words of an array."""
        self.at += 1
        self.in_brackets(_LINE)

    def in_brackets(self, between: "re.Pattern[str]") -> None:
        """Words with something between them, and the bracket behind them."""
        while not self.here(")"):
            begin = self.at
            if not self.skip(between):
                self.word()
            if self.at == begin:
                raise UnsureError
        self.at += 1

    def quoted(self, mark: str, in_double: bool = False) -> bool:
        """A quote, a substitution or an escaped character; False when this is none."""
        begin = self.at
        if mark == "\\":
            self.at += 2
        elif mark == "`":
            self.at += 1
            self.closed(self.skip(_BACKTICKS), begin)
        elif mark == "$":
            self.dollar(in_double)
        elif mark == '"':
            self.at += 1
            while not self.here('"'):
                self.closed(self.at < len(self.text), begin)
                self.skip(_IN_DOUBLE)
                if not self.here('"') and self.at < len(self.text):
                    self.quoted(self.text[self.at], True)
            self.at += 1
        elif mark == "'":
            self.at = self.text.find("'", begin + 1) + 1
            self.closed(self.at > 0, begin)
        else:
            return False
        return True

    def closed(self, is_closed: bool, begin: int) -> None:
        """Refuse a quote without an end."""
        if not is_closed:
            message = phrase("the quote {} is never closed", self.text[begin])
            raise RefusedError(message, begin, begin + 1)

    def dollar(self, in_double: bool) -> None:
        """What begins with ``$``."""
        self.at += 1
        if self.here("("):
            self.at += 1
            if not self.arithmetic():
                documents, self.documents = self.documents, []
                self.inner += 1
                self.commands(")")
                self.inner -= 1
                self.documents = documents
        elif self.here("{"):
            self.at += 1
            literal = in_double and _LITERAL_QUOTE.match(self.text, self.at) is not None
            self.balanced("", "}", literal, in_double)
        elif self.here("["):
            self.at += 1
            self.balanced("[", "]")
        elif self.here("'") and not in_double:
            begin = self.at
            self.at += 1
            self.closed(self.skip(_ANSI), begin)
        elif self.here("$", "#"):
            self.at += 1

    def arithmetic(self) -> bool:
        """``((...))`` behind its first parenthesis; False when two shells begin here."""
        begin = self.at
        if self.here("("):
            self.at += 1
            self.balanced("(", ")")
            if self.here(")"):
                self.at += 1
                return True
            self.at = begin
        return False

    def balanced(
        self, opens: str, closes: str, literal: bool = False, in_double: bool = False
    ) -> None:
        """Text up to what closes it."""
        depth = 1
        while depth:
            if self.at >= len(self.text):
                raise UnsureError
            mark = self.text[self.at]
            if mark in "\\`$\"'" and not (literal and mark == "'"):
                self.quoted(mark, in_double and mark == "$")
                continue
            depth += (mark == opens) - (mark == closes)
            self.at += 1

    def commands(self, end: str) -> None:
        """Commands up to the end of the text, or of a parenthesis."""
        self.deep += 1
        if self.deep > _DEEPEST:
            raise UnsureError
        blocks: List[_Block] = []
        first, alone = True, True  # a command begins here; whatever came before it
        simple: Optional[_Simple] = None  # the command that is read
        closed = goes_on = False  # behind a block; behind what another command follows
        line, is_divided = self.at, False
        while True:
            self.skip(BLANKS)
            if blocks and blocks[-1].word == "case" and blocks[-1].inside:
                simple, depth = None, len(blocks)
                self.pattern(blocks)
                first, closed = True, len(blocks) < depth
                continue
            if self.at >= len(self.text):
                if blocks:
                    raise _refusal(blocks)
                if end:
                    raise UnsureError
                self.lines.append((line, self.at))
                break
            begin, mark = self.at, self.text[self.at]
            is_redirection = self.here("<", ">", "&>") and not self.here("<(", ">(")
            if mark in "\n;&|" and not is_redirection:
                if simple is not None and self.is_swallowing(simple):
                    self.heads.append((begin, b";"))
                simple, closed = None, False
            if mark == "\n":
                self.at += 1
                self.bodies()
                first = alone = True
                if self.deep == 1 and not blocks and not goes_on:
                    self.lines.append((line, self.at - 1))
                    if is_divided:
                        self.divided.append(self.lines[-1])
                    line, is_divided = self.at, False
            elif mark == "#":
                self.skip(_COMMENT)
                self.heads.append((begin, b"#" * (self.at - begin)))
            elif is_redirection:
                goes_on = False
                begin = self.descriptor(begin)
                if simple is None and not closed:
                    simple = self.begin(begin)
                is_document = self.here("<<") and not self.here("<<<")
                self.at += mark == "&"
                self.redirection()
                if simple is not None:
                    spans = simple.documents if is_document else simple.redirects
                    spans.append((begin, self.at))
                    simple.end = self.at
                first = False
            elif mark in ";&|":
                self.at += 1
                goes_on = mark == "|" or (mark == "&" and self.here("&"))
                self.at += goes_on and self.here("&", "|")
                if self.documents and not goes_on:
                    if _LINE_ENDS.match(self.text, self.at) is None:
                        is_divided = True
                    else:
                        self.heads.append((begin, b" "))
                first, alone = True, mark == ";" and not self.here(";", "&")
                if mark == ";" and self.here(";", "&"):
                    self.skip(_BRANCH_ENDS)
                    if not blocks or blocks[-1].word != "case":
                        raise _refusal(blocks) if blocks else UnsureError
                    blocks[-1] = blocks[-1]._replace(inside=True)
            elif mark == ")":
                if not end:
                    raise UnsureError
                if blocks:
                    raise _refusal(blocks)
                self.at += 1
                break
            elif mark == "(":
                if not first:
                    raise UnsureError
                self.at += 1
                if self.arithmetic():
                    self.begin(begin).end = self.at
                else:
                    self.commands(")")
                closed, goes_on = True, False
            elif self.skip(_DESCRIPTOR):
                continue
            else:
                word = self.word()
                goes_on = False
                if first:
                    if alone and not (end or blocks) and self.leaves(word):
                        self.lines.append((line, len(self.text)))
                        break
                    first = self.word_of_command(word, begin, blocks)
                    alone = False
                    closed = word in _CLOSE
                    if not first:
                        simple = self.begin(begin)
                if simple is not None:
                    simple.end = self.at
                    simple.program = simple.program or ("" if _ASSIGNED.match(word) else word)
        self.deep -= 1

    def is_swallowing(self, simple: _Simple) -> bool:
        """Whether the grammar takes what is behind assignments for their command."""
        if simple.program or self.documents or simple.end != self.at:
            return False
        return _GOES_ON.match(self.text, self.at) is not None

    def begin(self, at: int) -> _Simple:
        """A simple command that begins here."""
        command = _Simple(at)
        if not self.inner:
            self.simple.append(command)
        return command

    def descriptor(self, at: int) -> int:
        """Where a redirection begins, with the number before its sign."""
        begin = at
        while self.text[begin - 1 : begin].isdecimal():
            begin -= 1
        is_apart = self.text[begin - 1 : begin] in ("", " ", "\t", "\n")
        return begin if is_apart and self.text[begin - 2 : begin - 1] != "\\" else at

    def leaves(self, word: str) -> bool:
        """Whether nothing after a command is read: it may be anything."""
        return word == "exit" or (
            word == "exec" and _PROGRAM.match(self.text, self.at) is not None
        )

    def word_of_command(self, word: str, begin: int, blocks: List[_Block]) -> bool:
        """The first word of a command; whether another command begins behind it."""
        if word in ("if", "while", "until", "{"):
            if word == "{" and blocks and blocks[-1][::2] in _HEADS:
                blocks.pop()  # for x in a b; { ...; }
            blocks.append(_Block(word, begin))
        elif word in ("for", "select"):
            blocks.append(_Block(word, begin))
            self.skip(BLANKS)
            if self.here("(("):
                head = self.at
                self.at += 1
                if not self.arithmetic():
                    raise UnsureError
                self.counted.append((head, self.at))
                return True
            self.word()
            if self.skip(_IN):
                at = self.at
                self.words()
                if self.at == at or self.text[at : self.at].isspace():
                    self.heads.append((at - 2, b"  "))
            elif self.skip(_BEFORE_DO):
                self.heads.append((self.at - 1, b";"))
        elif word == "case":
            self.skip(BLANKS)
            self.word()
            if not self.skip(_IN):
                raise UnsureError
            blocks.append(_Block(word, begin, True))
        elif word in _NEEDED:
            self.behind(word, begin, blocks)
        elif word == "function":
            if not self.skip(_FUNCTION):
                raise UnsureError
        elif word == "coproc":
            self.skip(_NAMED_COPROC)
        elif word == "[[":
            self.test()
            return False
        else:
            return word in ("!", "time") or self.skip(_EMPTY)
        return True

    def words(self) -> None:
        """Words up to the end of a line."""
        self.skip(BLANKS)
        while self.at < len(self.text) and not self.here("\n", ";", "#"):
            if not self.word():
                raise UnsureError
            self.skip(BLANKS)

    def behind(self, word: str, begin: int, blocks: List[_Block]) -> None:
        """A word that ends or divides a block."""
        needed = _NEEDED[word]
        fitting = _LOOPS if needed in ("do", "for") else (needed,)
        if not blocks or blocks[-1].word not in fitting:
            if any(block.word in fitting for block in blocks):
                raise _refusal(blocks)
            text = '"{}" without "{}" before it: bash stops here with a syntax error'
            raise RefusedError(phrase(text, word, needed), begin, self.at)
        if word == "do":
            blocks[-1] = blocks[-1]._replace(inside=True)
        elif word not in ("then", "else", "elif"):
            blocks.pop()

    def pattern(self, blocks: List[_Block]) -> None:
        """The pattern of a branch, or the end of the case."""
        self.skip(_LINES)
        if self.skip(_ESAC):
            blocks.pop()
            return
        if self.at >= len(self.text):
            raise _refusal(blocks)
        self.skip(_OPENS)
        self.in_brackets(_BETWEEN)
        blocks[-1] = blocks[-1]._replace(inside=False)


def syntax_fault(script: ShellScript) -> Optional[Diagnostic]:
    """The first certain syntax error; None when there is none."""
    if script.refused is None:
        return None
    message, begin, end = script.refused.args
    return rules.script_syntax.diagnostic(message, script.place(begin, end))


def _even(data: bytes) -> bool:
    """Whether the words of blocks come in pairs where a command may begin."""
    found = Counter(_WORDS.findall(data))
    return all(found[begin.encode()] == found[end.encode()] for begin, end in _ENDS.items())


def _refusal(blocks: List[_Block]) -> RefusedError:
    """The innermost block has no end."""
    word, begin, _ = blocks[-1]
    end = "done" if word in _LOOPS else "}" if word == "{" else _ENDS[word]
    message = phrase('"{}" without "{}": bash reports a syntax error', word, end)
    return RefusedError(message, begin, begin + len(word))
