"""The syntax of protobuf's text format: from text to a tree that knows where it stands.

Which fields there are is not known here, only how they are written: comments, both
kinds of quotes, escapes, adjacent strings, ``field { }``, ``field: < >``, lists, and
``;`` or ``,`` between fields.  Time and memory are linear in the text, which may have
:data:`MAX_CHARACTERS` and be nested :data:`MAX_DEPTH` deep.

Source: the text format specification of protobuf.
"""

import bisect
import re
from typing import Iterator, List, NamedTuple, NoReturn, Optional, Tuple, Union

from npu_config.proto.faults import Fault, ProtoSyntaxError

MAX_CHARACTERS = 4 * 1024 * 1024
MAX_DEPTH = 100
MAX_NUMBER = 1000

_TOKEN = re.compile(
    r"[ \t\r\n\v\f]*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<symbol>[{}<>\[\]:;,\-/])"
    r"|(?P<quote>[\"'])"
    r"|(?P<number>\.?[0-9][\w.]*(?:(?<=[eE])[+-][0-9][\w.]*)?)"
    r"|(?P<comment>\#[^\n]*)|(?P<end>\Z)|(?P<bad>.))",
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


class Scalar(NamedTuple):
    """A value: bytes where it was written as a string, else the word or number itself."""

    value: Union[bytes, str]
    start: int
    end: int


class Field(NamedTuple):
    """A field with the values it is given here, and where its name stands.

    ``is_list`` is True for ``name: [ ... ]``.
    """

    name: str
    values: "List[Union[Scalar, Block]]"
    start: int
    end: int
    is_list: bool


class Block(NamedTuple):
    """The fields between braces; the whole text is one too."""

    fields: List[Field]
    start: int
    end: int


class _Token(NamedTuple):
    """``kind`` is word, number, quote or end; a symbol is its own kind."""

    kind: str
    text: str
    start: int
    end: int


class Source:
    """A text and its lines; places are counted in characters.

    Args:
        text: the text; bytes are decoded as UTF-8, what is not stays as surrogate
            escapes, which may stand in strings (a bytes field takes any byte).
        limit: how many characters it may have; None: :data:`MAX_CHARACTERS`.

    Raises:
        ProtoSyntaxError: when it is longer than the limit.
    """

    def __init__(self, text: Union[str, bytes], limit: Optional[int] = None) -> None:
        limit = MAX_CHARACTERS if limit is None else limit
        if len(text) > limit:
            reason = "the text has {:,} {}; at most {:,} are read".format(
                len(text), "bytes" if isinstance(text, bytes) else "characters", limit
            )
            raise ProtoSyntaxError([Fault(reason, 1, 1)])
        self.text = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else text
        self._starts: Optional[List[int]] = None

    def span(self, start: int, end: int) -> Tuple[int, int, int, int]:
        """Line, column, end line and end column of a range of offsets."""
        return self._position(start) + self._position(end)

    def fault(self, reason: str, start: int, end: int) -> Fault:
        """A fault that stands at a range of offsets."""
        return Fault(reason, *self.span(start, end))

    def _position(self, offset: int) -> Tuple[int, int]:
        if self._starts is None:
            self._starts = [0] + [match.end() for match in re.finditer("\n", self.text)]
        line = bisect.bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


def parse(source: Source) -> Block:
    """The tree of a text.

    Raises:
        ProtoSyntaxError: at the first place that is not text format.
    """
    return _Parser(source).root()


def shown(text: str) -> str:
    """A token as it is quoted in a reason."""
    short = text if len(text) <= 40 else text[:37] + "..."
    return '"{}"'.format("".join(map(_printable, short)))


def _printable(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")


class _Parser:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = self._scan()
        self._token = next(self._tokens)

    def root(self) -> Block:
        return Block(self._fields("end", None, 0), 0, len(self._source.text))

    def _fail(self, reason: str, start: int, end: int) -> NoReturn:
        raise ProtoSyntaxError([self._source.fault(reason, start, end)])

    def _unexpected(self, expected: str) -> NoReturn:
        token = self._token
        found = "the text ends" if token.kind == "end" else "found " + shown(token.text)
        self._fail("expected {}, {}".format(expected, found), token.start, token.end)

    def _scan(self) -> Iterator[_Token]:
        text = self._source.text
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
                position = self._string_end(start)
            elif kind == "symbol":
                kind = text[start]
            elif kind == "bad":
                reason = "unexpected character {}".format(shown(text[start]))
                self._fail(reason, start, position)
            yield _Token(kind, text[start:position], start, position)

    def _string_end(self, start: int) -> int:
        text = self._source.text
        stop = _STRING_STOP[text[start]]
        match = stop.search(text, start + 1)
        while match is not None and match.group() == "\\" and match.end() < len(text):
            if text[match.end()] == "\n":
                break
            match = stop.search(text, match.end() + 1)
        if match is None or match.group() != text[start]:
            end = len(text) if match is None else match.start()
            self._fail("the string is not closed on its line", start, end)
        return match.end()

    def _advance(self) -> _Token:
        token = self._token
        self._token = next(self._tokens)
        return token

    def _accept(self, *symbols: str) -> Optional[_Token]:
        return self._advance() if self._token.kind in symbols else None

    def _fields(self, closing: str, opened: Optional[_Token], depth: int) -> List[Field]:
        fields: List[Field] = []
        while self._token.kind != closing:
            token = self._token
            if token.kind == "word":
                fields.append(self._field(depth))
                self._accept(";", ",")
            elif token.kind == "end" and opened is not None:
                line = self._source.span(opened.start, opened.end)[0]
                self._unexpected('"{}" for the "{}" in line {}'.format(closing, opened.text, line))
            elif token.kind == "[":
                reason = "extensions and expanded Any messages are not read"
                self._fail(reason, token.start, token.end)
            else:
                self._unexpected("a field name" + (' or "{}"'.format(closing) if opened else ""))
        return fields

    def _field(self, depth: int) -> Field:
        name = self._advance()
        colon = self._accept(":")
        is_list = self._accept("[") is not None
        values: List[Union[Scalar, Block]] = []
        if is_list:
            if self._accept("]") is None:
                values.append(self._value(colon, depth))
                while self._accept(",") is not None:
                    values.append(self._value(colon, depth))
                if self._accept("]") is None:
                    self._unexpected('"," or "]"')
        else:
            values.append(self._value(colon, depth))
        return Field(name.text, values, name.start, name.end, is_list)

    def _value(self, colon: Optional[_Token], depth: int) -> Union[Scalar, Block]:
        opened = self._accept("{", "<")
        if opened is not None:
            if depth == MAX_DEPTH:
                reason = "messages are nested more than {} deep".format(MAX_DEPTH)
                self._fail(reason, opened.start, opened.end)
            fields = self._fields(_CLOSING[opened.text], opened, depth + 1)
            return Block(fields, opened.start, self._advance().end)
        if colon is None:
            self._unexpected('":" or "{" after the field name')
        if self._token.kind == "quote":
            return self._string()
        minus = self._accept("-")
        if self._token.kind not in ("word", "number"):
            self._unexpected("a value")
        token = self._advance()
        if token.end - token.start > MAX_NUMBER:
            reason = "a word or number of more than {:,} characters".format(MAX_NUMBER)
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
                reason = "unknown escape {} in the string".format(shown(match.group()))
                self._fail(reason, start, start + len(match.group()))
            pieces.append(code)
        pieces.append(self._plain(body[done:], token))

    def _plain(self, text: str, token: _Token) -> bytes:
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            self._fail("the string has half a surrogate pair in it", token.start, token.end)


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
