"""A JSON parser that knows places and goes on after a fault: tokens, tree, log of the faults.

It is the slow road: :mod:`npu_config.text.json` takes it when the text is not
strict JSON, or when a place is asked for.  It never recurses and takes time in
proportion to the text.
"""

import json
import re
from math import isinf
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple, Union

import attr

from npu_config.core.diagnostics import Diagnostic, Edit, Fix
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import phrase
from npu_config.text import rules
from npu_config.text.source import BROKEN, FaultLog, Source, StopReading, both_places
from npu_config.text.words import joined


@attr.s(slots=True, auto_attribs=True, eq=False)
class JsonNode:
    """Where an object, an array or a text that is not strict stands.

    Anything else is the offset of its first character alone.  ``parts`` is a list of trees, or
    maps each key to the tree of the key and that of its value.
    """

    start: int
    end: int
    parts: Any


Tree = Union[int, JsonNode]


class ParsedJson(NamedTuple):
    """The value (BROKEN when there is none), its tree, and what was wrong.

    ``complete`` says that all of the text was understood, though not all was right.
    """

    value: Any
    tree: Tree
    complete: bool
    diagnostics: Tuple[Diagnostic, ...]


MAX_ECHOES = 1000
MAX_DIGITS = 400


# Typographic quotes, and the full-width , : { } [ ] of Chinese keyboards.
_QUOTES = "\u201c\u201d\u2018\u2019"
WIDE_MARKS = {
    "\uff0c": ",",
    "\uff1a": ":",
    "\uff5b": "{",
    "\uff5d": "}",
    "\uff3b": "[",
    "\uff3d": "]",
}
_WIDE = _QUOTES + "".join(WIDE_MARKS)
_WORD = r"[^\s{}\[\]:,\"'/" + _WIDE + "]"
TOKEN = lazy_pattern(
    r"[ \t\n\r]*(?:"
    r"(?P<mark>[{}\[\]:,])"
    r"|(?P<text>\")"
    r"|(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+\-]))"
    r"|(?P<comment>//[^\r\n]*|\#[^\r\n]*|/\*)"
    r"|(?P<single>')"
    r"|(?P<wide>[" + _WIDE + "])"
    r"|(?P<word>/|" + _WORD + "+)"
    r"|(?P<blank>[^\S \t\n\r]+)"
    r")"
)
_WORD_REST = lazy_pattern(_WORD + "*")
_CHUNKS = {'"': lazy_pattern(r"[^\"\\\x00-\x1f]*"), "'": lazy_pattern(r"[^'\\\x00-\x1f]*")}
_LITERALS = {"true": True, "false": False, "null": None}
_PYTHON = {"True": ("true", True), "False": ("false", False), "None": ("null", None)}
_NO_VALUES = ("NaN", "Infinity", "-Infinity", "undefined")
_ESCAPES = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_CONTROLS = {"\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
_HEX = lazy_pattern(r"[0-9a-fA-F]{4}")
_NUMERIC = lazy_pattern(r"[+-]?\.?[0-9]")
_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_STRICT = lazy_pattern(
    r"\"[^\"\\\x00-\x1f]*(?:\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4})[^\"\\\x00-\x1f]*)*\""
)


class Log(FaultLog):
    """The faults of one text, and how far the reader can be trusted after them.

    ``lost`` is True while the reader may be out of step, ``unbalanced`` after the first fault
    that may have a bracket too many or too few as its cause.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(source, rules.json_syntax)
        self.lost = False
        self.unbalanced = False
        self._echoes = 0

    def replaced(self, start: int, end: int, message: str, text: str) -> None:
        """Add a fault of syntax that ``text`` in its place repairs."""
        title = phrase("write {}", text if len(text) < 40 else phrase("the text in double quotes"))
        self.report(rules.json_syntax, start, end, message, title, title, text)

    def structure(
        self, start: int, end: int, message: str, help: Optional[str] = None, sure: bool = False
    ) -> None:
        """Add a fault that may put the reader out of step; its echoes are not reported."""
        if self.lost:
            self._echoes += 1
            if self._echoes > MAX_ECHOES:
                raise StopReading
        else:
            self.fault(start, end, message, help)
        if not sure:
            self.lost = True
            self.unbalanced = True
            self.complete = False

    def line(self, offset: int) -> int:
        """The line of an offset."""
        return self.source.line(offset)


def string_end(text: str, start: int) -> int:
    """The offset after the strict string that starts at ``start``, or after its first line."""
    match = _STRICT.match(text, start)
    return line_end(text, start) if match is None else match.end()


def line_end(text: str, start: int) -> int:
    """The offset of the end of the line that ``start`` is in."""
    newline = text.find("\n", start)
    return len(text) if newline < 0 else newline


def _rest(text: str, start: int) -> int:
    match = _WORD_REST.match(text, start)
    return start if match is None else match.end()


def word_end(text: str, start: int, end: int) -> int:
    """The offset after a bare word, which may have slashes in it but no comment."""
    if text[start] == "/":
        end = _rest(text, end)
    while text.startswith("/", end) and not text.startswith(("//", "/*"), end):
        end = _rest(text, end + 1)
    return end


def token_end(text: str, start: int) -> int:
    """The offset after the token that starts at ``start``."""
    match = TOKEN.match(text, start)
    if match is None:
        return start
    if match.lastgroup == "text":
        return string_end(text, start)
    return word_end(text, start, match.end()) if match.lastgroup == "word" else match.end()


class Lexer:
    """Reads single tokens; each method takes an offset and gives a value and what comes after."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._text = log.source.text
        self._surrogates = "\\u" in self._text

    def shown(self, start: int, end: int) -> str:
        """A token for a message: in double quotes, cut when it is long."""
        token = self._text[start : min(end, start + 41)]
        token = token if len(token) <= 40 else token[:40] + "..."
        return token if token.startswith('"') else '"{}"'.format(token)

    def string(self, start: int) -> Tuple[Any, int]:
        """Text in double quotes."""
        match = _STRICT.match(self._text, start)
        if match is None:
            return self._loose(start, '"')
        written, end = match.group(), match.end()
        value = json.loads(written) if "\\" in written else written[1:-1]
        return self._whole(value, start, end), end

    def _whole(self, value: str, start: int, end: int) -> Any:
        """A text; BROKEN for one that no encoding can write."""
        if not self._surrogates or not _SURROGATE.search(value):
            return value
        message = "this text contains an unpaired surrogate"
        self._log.fault(start, end, message, "write the character itself")
        return BROKEN

    def single(self, start: int) -> Tuple[Any, int]:
        """Text in single quotes."""
        value, end = self._loose(start, "'")
        if value is not BROKEN:
            self._log.replaced(
                start,
                end,
                "the text is in single quotes; JSON requires double quotes",
                json.dumps(value, ensure_ascii=False),
            )
        return value, end

    def curly(self, start: int) -> Tuple[Any, int]:
        """Text in typographic quotes."""
        stop = line_end(self._text, start)
        found = [self._text.find(quote, start + 1, stop) for quote in _QUOTES + '"']
        ends = [end for end in found if end >= 0]
        if not ends:
            message = phrase(
                'unexpected "{}"; JSON requires the double quote "', self._text[start]
            )
            self._log.structure(start, start + 1, message)
            return BROKEN, start + 1
        value = self._text[start + 1 : min(ends)]
        self._log.replaced(
            start,
            min(ends) + 1,
            "the text is in typographic quotes; JSON requires double quotes",
            json.dumps(value, ensure_ascii=False),
        )
        return value, min(ends) + 1

    def _loose(self, start: int, quote: str) -> Tuple[Any, int]:
        """A string that is not strict: its value (BROKEN when it does not end), and its end."""
        text, position = self._text, start + 1
        parts: List[str] = []
        while True:
            match = _CHUNKS[quote].match(text, position)
            assert match is not None
            parts.append(match.group())
            position = match.end()
            character = text[position : position + 1]
            if character == quote:
                return self._whole("".join(parts), start, position + 1), position + 1
            if character in ("", "\n") or text.startswith("\r\n", position):
                message = "the text that starts here has no closing quote on its line"
                help = 'add the closing quote; a line break in a text is written "\\n"'
                self._log.structure(start, position, message, help)
                return BROKEN, position
            if character == "\\":
                part, position = self._escape(position, quote)
                parts.append(part)
                continue
            if quote == '"':
                code = ord(character)
                self._log.replaced(
                    position,
                    position + 1,
                    phrase("a string contains a control character (U+{:04X})", code),
                    _CONTROLS.get(character, "\\u{:04x}".format(code)),
                )
            parts.append(character)
            position += 1

    def _escape(self, start: int, quote: str) -> Tuple[str, int]:
        text = self._text
        character = text[start + 1 : start + 2]
        if character in _ESCAPES:
            return _ESCAPES[character], start + 2
        if character == quote:
            return quote, start + 2
        if character == "u":
            match = _HEX.match(text, start + 2)
            if match is not None:
                return chr(int(match.group(), 16)), start + 6
        end = start + 1 if character in ("", "\n", "\r") else start + 2
        self._log.fault(
            start,
            end,
            phrase(
                '"{}" is not an escape of JSON; legal: \\" \\\\ \\/ \\b \\f \\n \\r \\t '
                "\\u and four hexadecimal digits",
                text[start:end],
            ),
            'write "\\\\" for one backslash',
        )
        return text[start:end], end

    def number(self, start: int, end: int) -> Any:
        """A number of JSON."""
        written = self._text[start : min(end, start + MAX_DIGITS + 1)]
        if len(written) > MAX_DIGITS:
            message = phrase("a number of more than {} characters", MAX_DIGITS)
            self._log.fault(start, end, message, "write a shorter number")
            return BROKEN
        if written.lstrip("-").isdecimal():
            return int(written)
        if isinf(float(written)):
            message = phrase("the number {} is too large", written)
            self._log.fault(start, end, message, "write a smaller number")
            return BROKEN
        return float(written)

    def word(self, start: int, end: int) -> Any:
        """A bare word where a value is expected."""
        word = self._text[start:end]
        if word in _LITERALS:
            return _LITERALS[word]
        if word in _PYTHON:
            written, value = _PYTHON[word]
            message = phrase("{} is written {} in JSON", word, written)
            self._log.replaced(start, end, message, written)
            return value
        shown = self.shown(start, end)
        if word in _NO_VALUES:
            message = phrase("{} is not a JSON value", shown)
            self._log.fault(start, end, message, "write a number or a text in double quotes")
            return BROKEN
        if _NUMERIC.match(word):
            message = phrase("{} is not a valid JSON number", shown)
            self._log.fault(start, end, message, "write a decimal number, e.g. 10 or -0.5")
            return BROKEN
        if not self._log.lost:
            message = phrase("the text {} must be in double quotes", shown)
            self._log.report(
                rules.json_syntax, start, end, message, "write it in double quotes", meant=word
            )
        return word

    def bare_key(self, start: int, end: int) -> str:
        """A bare word or number where a key is expected."""
        if not self._log.lost:
            shown = self.shown(start, end)
            self._log.fault(start, end, phrase("the key {} must be in double quotes", shown))
        return self._text[start:end]


MAX_COMMENTS = 10000
"""So many comments of one text are reported."""

Span = Tuple[int, int]

_BLANKS = lazy_pattern(r"[ \t]*")
_REST = lazy_pattern(r"(?P<blanks>[ \t]*)(?:\r\n|\n|\r|\Z)")


def report_comments(log: Log, comments: List[Span]) -> Iterator[Diagnostic]:
    """The finding about the comments between these offsets, where there are any."""
    if not comments:
        return
    lines = sorted({log.line(start) for start, _ in comments})
    shown = [str(line) for line in lines[:10]]
    if len(lines) > 10:
        shown.append(phrase("{} more", len(lines) - 10))
    many = len(comments) > 1
    message = phrase(
        "a comment on line {}: the runtime rejects comments in JSON"
        if not many
        else "comments on line {}: the runtime rejects comments in JSON"
        if len(lines) == 1
        else "comments on lines {}: the runtime rejects comments in JSON",
        joined(shown),
    )
    edits = tuple(_removal(log.source, *span) for span in _joined(log.source.text, comments))
    yield rules.json_comment.diagnostic(
        message,
        log.source.place(*comments[0]),
        help=phrase(
            'remove the comments, e.g. with "--fix" or "npu-config format"'
            if many
            else 'remove the comment, e.g. with "--fix" or "npu-config format"'
        ),
        fix=Fix("remove the comments" if many else "remove the comment", edits),
    )


def _joined(text: str, comments: List[Span]) -> Iterator[Span]:
    """The spans of comments; those with nothing but blanks between them are one."""
    first, last = comments[0]
    for start, end in comments[1:]:
        if _BLANKS.fullmatch(text, last, start):
            last = end
        else:
            yield first, last
            first, last = start, end
    yield first, last


def _removal(source: Source, start: int, end: int) -> Edit:
    """Remove comments with the blanks that they would leave at the end of a line.

    A line that holds nothing else goes as a whole; two words that a comment kept apart stay
    apart.
    """
    text = source.text
    rest = _REST.match(text, end)
    before = start
    while text[before - 1 : before] in (" ", "\t"):
        before -= 1
    if rest is not None:
        begins = text[before - 1 : before] in ("", "\n", "\r", "\ufeff")
        return source.edit(before, rest.end() if begins else rest.end("blanks"), "")
    around = text[max(start - 1, 0) : start] + "|" + text[end : end + 1]
    apart = re.match(r"[\w.+\-]\|[\w.+\-]", around) is not None
    return source.edit(start, end, " " if apart else "")


MAX_DEPTH = 200

_CLOSER = {"{": "}", "[": "]"}
_CLOSERS = lazy_pattern(r"[ \t\r\n}\]]*")

# What a frame waits for.
_FIRST, _ITEM, _COLON, _VALUE, _NEXT = range(5)


class _Frame:
    """An object or array that is being read."""

    __slots__ = ("key", "key_tree", "node", "opener", "state", "value")

    def __init__(self, opener: str, start: int) -> None:
        self.opener = opener
        self.value: Any = {} if opener == "{" else []
        self.node = JsonNode(start, start, {} if opener == "{" else [])
        self.state = _FIRST
        self.key: Optional[str] = None
        self.key_tree: Tree = start


class _JsonParser:
    """One text, read once."""

    def __init__(self, source: Source, limit: Optional[int]) -> None:
        self._text = source.text
        self._limit = limit
        self._log = Log(source)
        self._lexer = Lexer(self._log)
        self._comments: List[Span] = []
        self._frames: List[_Frame] = []
        self._root: Optional[Tuple[Any, Tree]] = None
        self._comma = 0
        self._closers = (0, False)
        self._text_end = -1

    # Entries

    def _put(self, value: Any, tree: Tree) -> None:
        """A value is complete."""
        if value is BROKEN:
            self._log.complete = False
        if not self._frames:
            self._root = (value, tree)
            return
        frame = self._frames[-1]
        frame.state = _NEXT
        if frame.opener == "[":
            frame.value.append(value)
            frame.node.parts.append(tree)
        elif frame.key is not None:
            frame.value[frame.key] = value
            frame.node.parts[frame.key] = (frame.key_tree, tree)

    def _key(self, key: Any, start: int, end: int, tree: Optional[Tree] = None) -> None:
        frame = self._frames[-1]
        frame.state, frame.key_tree = _COLON, start if tree is None else tree
        frame.key = None if key is BROKEN else key
        if frame.key in frame.value:
            first = frame.node.parts[frame.key][0]
            first = first.start if isinstance(first, JsonNode) else first
            source = self._log.source
            self._log.report(
                rules.json_duplicate_key,
                start,
                end,
                phrase(
                    'the key "{}" appears twice, on {}; one of the two values is lost',
                    frame.key,
                    both_places(source.place(first, first), source.place(start, end)),
                ),
                "merge the two entries into one",
            )

    def _before_item(self, start: int, end: int) -> None:
        """A key or value begins; is there room for it?"""
        if not self._frames:
            return
        frame = self._frames[-1]
        if frame.state == _NEXT:
            message = phrase('a "," is missing before {}', self._lexer.shown(start, end))
            self._log.structure(start, end, message, "add it", sure=True)
            frame.state = _ITEM
        elif frame.state == _COLON:
            self._log.structure(start, end, 'a ":" is missing after the key', "add it")
            frame.state = _VALUE

    def _wants_key(self) -> bool:
        if not self._frames:
            return False
        frame = self._frames[-1]
        return frame.opener == "{" and frame.state in (_FIRST, _ITEM, _NEXT)

    def _text_token(self, value: Any, start: int, end: int, strict: bool = False) -> int:
        tree: Tree = start if strict else JsonNode(start, end, [])
        self._before_item(start, end)
        if self._wants_key():
            self._key(value, start, end, tree)
        else:
            self._put(value, tree)
        self._text_end = end
        return end

    def _bare_token(self, kind: str, start: int, end: int) -> int:
        """A number or a word."""
        if start == self._text_end:
            return self._missing_quote(start, end)
        self._before_item(start, end)
        if self._wants_key():
            self._key(self._lexer.bare_key(start, end), start, end)
        elif kind == "number":
            self._put(self._lexer.number(start, end), start)
        else:
            self._put(self._lexer.word(start, end), start)
        return end

    def _missing_quote(self, start: int, end: int) -> int:
        """A word touches the end of a text: quotes are out of step on the rest of the line."""
        self._log.structure(
            start,
            end,
            phrase(
                "a quote is missing near {}, or there is one too many",
                self._lexer.shown(start, end),
            ),
            'write \\" for a quote inside text',
        )
        if self._frames and self._frames[-1].state == _COLON:
            self._frames[-1].key = None
            self._put(BROKEN, start)
        return line_end(self._text, end)

    # Marks

    def _open(self, opener: str, start: int) -> None:
        if self._wants_key() and opener == "{" and self._frames[-1].state == _FIRST:
            return self._log.structure(
                start, start + 1, phrase('unexpected "{}"', opener), "remove it"
            )
        if self._wants_key():
            message = phrase('a key in double quotes is missing before "{}"', opener)
            self._log.structure(start, start + 1, message)
            self._key(BROKEN, start, start + 1)
        else:
            self._before_item(start, start + 1)
        if len(self._frames) == self._limit:
            message = phrase(
                "nesting limit of {} levels exceeded; reading stops here", self._limit
            )
            self._log.fault(start, start + 1, message, "pass the path of the right file")
            raise StopReading
        self._frames.append(_Frame(opener, start))

    def _finish_entry(self, start: int) -> None:
        """A comma or closer comes: has the entry before it a value?"""
        frame = self._frames[-1]
        if frame.state in (_COLON, _VALUE):
            after = "" if frame.key is None else phrase(' after the key "{}"', frame.key)
            message = phrase("a value is missing{}", after)
            self._log.structure(start, start + 1, message, "add it")
            self._put(BROKEN, start)

    def _pop(self, end: int) -> None:
        frame = self._frames.pop()
        frame.node.end = end
        self._put(frame.value, frame.node)

    def _goes_on(self, start: int) -> bool:
        """Whether an entry follows the brackets that close here."""
        if start >= self._closers[0]:
            match = _CLOSERS.match(self._text, start)
            end = start if match is None else match.end()
            self._closers = (end, self._text.startswith(",", end))
        return self._closers[1]

    def _close(self, closer: str, start: int) -> None:
        if len(self._frames) == 1 and self._goes_on(start):
            self._log.lost |= self._log.unbalanced
            message = 'this "{}" closes the whole value, but more text follows'
            return self._log.structure(start, start + 1, phrase(message, closer), "remove it")
        self._finish_entry(start)
        frame = self._frames[-1]
        if frame.state == _ITEM:
            self._drop_comma(self._comma)
        if _CLOSER[frame.opener] != closer:
            outer = any(_CLOSER[other.opener] == closer for other in self._frames)
            message = phrase(
                '"{}" (line {}) is not closed before "{}"'
                if outer
                else '"{}" (line {}) is closed by "{}"',
                frame.opener,
                self._log.line(frame.node.start),
                closer,
            )
            own = _CLOSER[frame.opener]
            help = phrase('add "{}" before it' if outer else 'write "{}"', own)
            self._log.structure(start, start + 1, message, help, sure=True)
            self._log.unbalanced = True
            while outer and _CLOSER[self._frames[-1].opener] != closer:
                self._pop(start)
        self._pop(start + 1)
        self._log.lost = False

    def _drop_comma(self, start: int) -> None:
        if self._log.lost:
            return
        self._log.report(
            rules.json_trailing_comma,
            start,
            start + 1,
            'no entry follows this ",", which strict JSON does not allow',
            "remove it",
            "remove the comma",
            "",
        )

    def _separator(self, start: int) -> None:
        self._finish_entry(start)
        frame = self._frames[-1]
        if frame.state == _NEXT:
            frame.state = _ITEM
            self._comma = start
        else:
            self._drop_comma(start)
        self._log.lost = False

    def _mark(self, mark: str, start: int) -> int:
        if mark in "{[":
            self._open(mark, start)
        elif not self._frames:
            self._log.structure(start, start + 1, phrase('unexpected "{}"', mark), "remove it")
            raise StopReading
        elif mark == ",":
            self._separator(start)
        elif mark != ":":
            self._close(mark, start)
        elif self._frames[-1].state == _COLON:
            self._frames[-1].state = _VALUE
        else:
            self._log.structure(start, start + 1, 'unexpected ":"', "remove it")
        return start + 1

    def _wide(self, start: int) -> int:
        character = self._text[start]
        mark = WIDE_MARKS.get(character)
        if mark is None:
            value, end = self._lexer.curly(start)
            return self._text_token(value, start, end)
        message = phrase(
            'found the full-width "{}" (U+{:04X}) in place of "{}"',
            character,
            ord(character),
            mark,
        )
        self._log.replaced(start, start + 1, message, mark)
        return self._mark(mark, start)

    # The text

    def _step(self, kind: str, start: int, end: int) -> int:
        """Take one token; the offset after it."""
        if kind == "mark":
            return self._mark(self._text[start], start)
        if kind == "text":
            before = len(self._log.diagnostics)
            value, end = self._lexer.string(start)
            return self._text_token(value, start, end, before == len(self._log.diagnostics))
        if kind == "single":
            value, end = self._lexer.single(start)
            return self._text_token(value, start, end)
        if kind == "number":
            return self._bare_token(kind, start, end)
        if kind == "word":
            return self._bare_token(kind, start, word_end(self._text, start, end))
        if kind == "wide":
            return self._wide(start)
        message = phrase(
            "a whitespace character that JSON does not allow (U+{:04X})", ord(self._text[start])
        )
        self._log.replaced(start, end, message, " " * (end - start))
        return end

    def _comment(self, start: int, end: int) -> int:
        if self._text.startswith("/*", start):
            close = self._text.find("*/", start + 2)
            end = len(self._text) if close < 0 else close + 2
        if len(self._comments) < MAX_COMMENTS:
            self._comments.append((start, end))
        return end

    def _read(self, position: int) -> None:
        text, scan = self._text, TOKEN.match
        while True:
            match = scan(text, position)
            if match is None:
                return self._at_end()
            kind = match.lastgroup or ""
            start, end = match.span(kind)
            if kind == "comment":
                position = self._comment(start, end)
            elif self._root is None:
                position = self._step(kind, start, end)
            else:
                return self._after(start, end)

    def _after(self, start: int, end: int) -> None:
        """Something follows the value; after a fault of brackets that is its consequence."""
        self._log.lost = self._log.unbalanced
        if self._text[start] in "}]":
            message = phrase('this "{}" has no matching opening bracket', self._text[start])
            self._log.structure(start, end, message, "remove it")
        else:
            self._log.structure(start, end, "text after the end of the JSON value", "remove it")

    def _at_end(self) -> None:
        if self._frames:
            self._log.lost |= self._log.unbalanced
            self._unclosed()
        elif self._root is None:
            what = "contains only comments" if self._comments else "is empty"
            message = phrase("the text {}; a JSON value is missing", what)
            self._log.structure(
                0, 0, message, "check the path; the file must contain a JSON value"
            )

    def _unclosed(self) -> None:
        openers = [
            phrase('"{}" of line {}', frame.opener, self._log.line(frame.node.start))
            for frame in self._frames
        ]
        if len(openers) > 3:
            openers = [*openers[:2], phrase("{} more", len(openers) - 2)]
        closers = '"{}"'.format(
            "".join(_CLOSER[one.opener] for one in reversed(self._frames[-9:]))
        )
        last = len(self._text.rstrip(" \t\r\n"))
        self._log.structure(
            last - 1,
            last,
            phrase(
                "unexpected end of file: {} is not closed"
                if len(openers) == 1
                else "unexpected end of file: {} are not closed",
                joined(openers),
            ),
            phrase("add {} at the end, or what else is missing there", closers),
        )
        if self._frames[-1].state in (_COLON, _VALUE):
            self._put(BROKEN, last)
        while self._frames:
            self._pop(last)

    def run(self) -> ParsedJson:
        """Read the text."""
        marked = self._text.startswith("\ufeff")
        try:
            if marked:
                self._log.report(
                    rules.json_byte_order_mark,
                    0,
                    1,
                    "the text starts with a byte order mark, which JSON forbids",
                    "save the file as UTF-8 without a byte order mark",
                    "remove the byte order mark",
                    "",
                )
            self._read(1 if marked else 0)
        except StopReading:
            self._root = None
        if self._root is None:
            self._log.complete = False
        value, tree = (BROKEN, 0) if self._root is None else self._root
        found = (*self._log.diagnostics, *report_comments(self._log, self._comments))
        return ParsedJson(value, tree, self._log.complete, found)


def parse(source: Source, limit: Optional[int] = MAX_DEPTH) -> ParsedJson:
    """Read a text: its value, where everything stands, and every fault.

    Args:
        source: the text.
        limit: how many levels of nesting are read; None for all.
    """
    return _JsonParser(source, limit).run()
