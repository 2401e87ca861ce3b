"""The syntax of protobuf's text format: from text to a tree that knows where it is written.

Which fields there are is not known here, only how they are written: comments, both kinds of
quotes, escapes, adjacent strings, ``field { }``, ``field: < >``, lists, and ``;`` or ``,``
between fields.  After a fault reading goes on behind the line, so that every fault of a text is
found at once.  Time and memory are linear in the text, which may be nested :data:`MAX_DEPTH`
deep.

Source: the text format specification of protobuf.
"""

import re
from typing import Iterator, List, NamedTuple, NoReturn, Optional, Tuple, Union

from npu_config.core.message import phrase
from npu_config.text.source import FaultLog, StopReading
from npu_config.text.words import shown

MAX_DEPTH = 100
MAX_NUMBER = 1000

_TOKEN = re.compile(
    r"[ \t\r\n\v\f]*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<symbol>[{}<>\[\]:;,\-/])"
    r"|(?P<quote>[\"'])"
    r"|(?P<number>\.?[0-9][\w.]*(?:(?<=[eE])[+-][0-9][\w.]*)?)"
    r"|(?P<comment>\#[^\n]*)|(?P<end>\Z)|(?P<other>.))",
    re.ASCII | re.DOTALL,
)
_STRING_STOP = {quote: re.compile(r"[\\\n" + quote + "]") for quote in "\"'"}
_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|[xX](?P<hex>[0-9a-fA-F]{1,2})"
    r"|u(?P<pair>[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})|(?P<letter>.))"
)
_LETTERS = {
    "a": b"\a", "b": b"\b", "f": b"\f", "n": b"\n", "r": b"\r", "t": b"\t", "v": b"\v",
    "?": b"?", "'": b"'", '"': b'"', "\\": b"\\",
}  # fmt: skip
_CLOSING = {"{": "}", "<": ">"}
_INTEGER = re.compile(
    r"-?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0(?P<octal>[0-7]+)|(?P<decimal>0|[1-9][0-9]*))\Z"
)
_FLOAT = re.compile(r"-?(?!0[0-9])(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?\Z")
_SPECIAL_FLOAT = re.compile(r"(-?)(?:(inf)(?:inity)?|(nan))f?\Z", re.IGNORECASE)
_BOOLS = {
    "true": True, "True": True, "t": True, "1": True,
    "false": False, "False": False, "f": False, "0": False,
}  # fmt: skip


class Scalar(NamedTuple):
    """A value: bytes where it was written as a string, else the word or number itself."""

    value: Union[bytes, str]
    start: int
    end: int


class TextField(NamedTuple):
    """A field with the values it is given here, and where its name is written.

    ``is_list`` is True for ``name: [ ... ]``.
    """

    name: str
    values: "List[Union[Scalar, TextBlock]]"
    start: int
    end: int
    is_list: bool


class TextBlock(NamedTuple):
    """The fields between braces; the whole text is one too."""

    fields: List[TextField]
    start: int
    end: int


class _Token(NamedTuple):
    """``kind`` is word, number, quote, other, end, or bad (reported already); a symbol is its
    own kind."""

    kind: str
    text: str
    start: int
    end: int


class _SkipError(Exception):
    """A fault is reported; go on behind the line."""


def parse(log: FaultLog) -> TextBlock:
    """The tree of the text of a log, which gets its faults.

    The tree lacks what could not be read.  ``log.complete`` turns False when brackets do not
    match, for then fields may be missing or in another block than the one that was meant.
    """
    return _TextParser(log).root()


def boolean(text: str) -> Optional[bool]:
    """The value of a word or number as a bool; None when it is none."""
    return _BOOLS.get(text)


def integer(text: str) -> Optional[int]:
    """The value of a word or number as an integer, also octal and hexadecimal, or None."""
    match = _INTEGER.match(text)
    if match is None:
        return None
    base = {"hex": 16, "octal": 8, "decimal": 10}[str(match.lastgroup)]
    number = int(match.group(str(match.lastgroup)), base)
    return -number if text.startswith("-") else number


def real(text: str) -> Optional[float]:
    """The value of a word or number as a float; None when it is none."""
    special = _SPECIAL_FLOAT.match(text)
    if special is not None:
        return float(special.group(1) + (special.group(2) or special.group(3)))
    return None if _FLOAT.match(text) is None else float(text.rstrip("fF"))


class _TextParser:
    def __init__(self, log: FaultLog) -> None:
        self._log = log
        self._text = log.source.text
        self._tokens = self._scan()
        self._token = _Token("other", "", 0, 0)

    def root(self) -> TextBlock:
        fields: List[TextField] = []
        try:
            self._advance()
            self._fields(fields, None, 0)
        except StopReading:
            self._log.complete = False
        return TextBlock(fields, 0, len(self._text))

    def _fail(self, reason: str, start: int, end: int) -> NoReturn:
        self._log.fault(start, end, reason)
        raise _SkipError

    def _unexpected(self, expected: str) -> NoReturn:
        token = self._token
        if token.kind == "bad":
            raise _SkipError
        found = (
            "found the end of the text"
            if token.kind == "end"
            else phrase("found {}", shown(token.text))
        )
        self._fail(phrase("expected {}, but {}", expected, found), token.start, token.end)

    def _scan(self) -> Iterator[_Token]:
        text = self._text
        kind = ""
        position = 1 if text.startswith("\ufeff") else 0
        while kind != "end":
            match = _TOKEN.match(text, position)
            assert match is not None  # there is an alternative for any character
            kind = str(match.lastgroup)
            start, position = match.span(kind)
            if kind == "comment":
                continue
            if kind == "quote":
                position, closed = self._string_end(start)
                if not closed:
                    self._log.fault(start, position, "the string has no closing quote on its line")
                    kind = "bad"
                    self._log.complete &= position < len(text)
            elif kind == "symbol":
                kind = text[start]
            yield _Token(kind, text[start:position], start, position)

    def _string_end(self, start: int) -> Tuple[int, bool]:
        text = self._text
        stop = _STRING_STOP[text[start]]
        match = stop.search(text, start + 1)
        while match is not None and match.group() == "\\" and match.end() < len(text):
            if text[match.end()] == "\n":
                break
            match = stop.search(text, match.end() + 1)
        if match is None:
            return len(text), False
        return (match.end(), True) if match.group() == text[start] else (match.start(), False)

    def _advance(self) -> _Token:
        token = self._token
        self._token = next(self._tokens)
        return token

    def _accept(self, *symbols: str) -> Optional[_Token]:
        return self._advance() if self._token.kind in symbols else None

    def _skip_line(self) -> None:
        """Pass over the rest of the line, and over every block that begins on it."""
        newline, depth = self._text.find("\n", self._token.start), 0
        while self._token.kind != "end":
            kind = self._token.kind
            if depth == 0 and (kind in ("}", ">") or self._token.start > newline >= 0):
                return
            depth += (kind in _CLOSING) - (kind in ("}", ">"))
            self._advance()

    def _fields(self, fields: List[TextField], opened: Optional[_Token], depth: int) -> None:
        """Read fields up to what closes ``opened``, or to the end."""
        closing = "end" if opened is None else _CLOSING[opened.text]
        while self._token.kind != closing:
            try:
                if self._token.kind == "word":
                    self._field(fields, depth)
                    self._accept(";", ",")
                else:
                    self._no_field(opened)
            except _SkipError:
                if self._token.kind in ("}", ">") and self._token.kind != closing:
                    self._log.complete = False
                    if opened is not None:
                        return
                    self._advance()
                self._skip_line()
            if self._token.kind == "end" and opened is not None:
                if self._log.complete:
                    self._unclosed(opened, closing)
                return

    def _unclosed(self, opened: _Token, closing: str) -> None:
        self._log.complete = False
        line = self._log.source.line(opened.start)
        start, end = self._token.start, self._token.end
        reason = 'unexpected end of text: "{}" is missing for the "{}" in line {}'
        self._log.fault(start, end, phrase(reason, closing, opened.text, line))

    def _no_field(self, opened: Optional[_Token]) -> NoReturn:
        token = self._token
        if token.kind == "[":
            reason = "extensions and expanded Any messages are not supported"
            self._fail(reason, token.start, token.end)
        closing = None if opened is None else _CLOSING[opened.text]
        self._unexpected(
            "a field name" if closing is None else phrase('a field name or "{}"', closing)
        )

    def _field(self, fields: List[TextField], depth: int) -> None:
        name = self._advance()
        colon = self._accept(":")
        field = TextField(name.text, [], name.start, name.end, self._accept("[") is not None)
        if not field.is_list:
            field.values.append(self._value(colon, depth))
        elif self._accept("]") is None:
            field.values.append(self._value(colon, depth))
            while self._accept(",") is not None:
                field.values.append(self._value(colon, depth))
            if self._accept("]") is None:
                self._unexpected('"," or "]"')
        fields.append(field)

    def _value(self, colon: Optional[_Token], depth: int) -> Union[Scalar, TextBlock]:
        opened = self._token
        if opened.kind in _CLOSING:
            if depth == MAX_DEPTH:
                reason = phrase("messages are nested more than {} levels deep", MAX_DEPTH)
                self._fail(reason, opened.start, opened.end)
            self._advance()
            inner: List[TextField] = []
            self._fields(inner, opened, depth + 1)
            end = self._token.end
            if self._token.kind != "end":
                self._advance()
            return TextBlock(inner, opened.start, end)
        if colon is None:
            self._unexpected('":" or "{" after the field name')
        if self._token.kind == "quote":
            return self._string()
        minus = self._accept("-")
        if self._token.kind not in ("word", "number"):
            self._unexpected("a value")
        token = self._advance()
        if token.end - token.start > MAX_NUMBER:
            reason = phrase("a word or number of more than {:,} characters", MAX_NUMBER)
            self._fail(reason, token.start, token.end)
        if minus is None:
            return Scalar(token.text, token.start, token.end)
        return Scalar("-" + token.text, minus.start, token.end)

    def _string(self) -> Scalar:
        start = self._token.start
        pieces: List[bytes] = []
        end = start
        while self._token.kind == "quote":
            token = self._advance()
            end = token.end
            self._unescape(token, pieces)
        return Scalar(b"".join(pieces), start, end)

    def _unescape(self, token: _Token, pieces: List[bytes]) -> None:
        body = token.text[1:-1]
        if "\\" not in body:
            pieces.append(self._plain(body, token))
            return
        done = 0
        for match in _ESCAPE.finditer(body):
            pieces.append(self._plain(body[done : match.start()], token))
            done = match.end()
            code = _escaped(match)
            if code is None:
                start = token.start + 1 + match.start()
                reason = phrase("unknown escape {} in the string", shown(match.group()))
                self._fail(reason, start, start + len(match.group()))
            pieces.append(code)
        pieces.append(self._plain(body[done:], token))

    def _plain(self, text: str, token: _Token) -> bytes:
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self._fail("the string contains an unpaired surrogate", token.start, token.end)


def _escaped(match: "re.Match[str]") -> Optional[bytes]:
    kind = match.lastgroup
    text = match.group(str(kind))
    if kind == "letter":
        return _LETTERS.get(text)
    if kind == "pair":
        high, low = int(text[:4], 16), int(text[6:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)).encode("utf-8")
    code = int(text, 8 if kind == "octal" else 16)
    if kind in ("octal", "hex"):
        return bytes((code,)) if code < 256 else None
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return None
    return chr(code).encode("utf-8")
