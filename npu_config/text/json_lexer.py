"""The tokens of a JSON text, also those that are nearly right, and the log of its faults."""

import json
from math import isinf
from typing import Any, List, Optional, Tuple

from npu_config.core.message import phrase
from npu_config.core.patterns import lazy_pattern
from npu_config.text import json_rules as rules
from npu_config.text.faults import BROKEN, FaultLog, StopReading
from npu_config.text.source import Source

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
        title = phrase("write {}", text if len(text) < 40 else phrase("it in double quotes"))
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
        self._log.fault(start, end, "this text has half of a surrogate pair in it")
        return BROKEN

    def single(self, start: int) -> Tuple[Any, int]:
        """Text in single quotes."""
        value, end = self._loose(start, "'")
        if value is not BROKEN:
            self._log.replaced(
                start,
                end,
                "text is in single quotes; JSON needs double quotes",
                json.dumps(value, ensure_ascii=False),
            )
        return value, end

    def curly(self, start: int) -> Tuple[Any, int]:
        """Text in typographic quotes."""
        stop = line_end(self._text, start)
        found = [self._text.find(quote, start + 1, stop) for quote in _QUOTES + '"']
        ends = [end for end in found if end >= 0]
        if not ends:
            message = phrase('unexpected "{}"; JSON needs "', self._text[start])
            self._log.structure(start, start + 1, message)
            return BROKEN, start + 1
        value = self._text[start + 1 : min(ends)]
        self._log.replaced(
            start,
            min(ends) + 1,
            "text is in typographic quotes; JSON needs double quotes",
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
                self._log.structure(start, position, message)
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
                    phrase("a control character (U+{:04X}) is inside a text", code),
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
            self._log.fault(start, end, message)
            return BROKEN
        if written.lstrip("-").isdecimal():
            return int(written)
        if isinf(float(written)):
            self._log.fault(start, end, phrase("the number {} is too large", written))
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
            self._log.fault(start, end, phrase("{} does not exist in JSON", shown))
            return BROKEN
        if _NUMERIC.match(word):
            self._log.fault(start, end, phrase("{} is not a number of JSON", shown))
            return BROKEN
        if not self._log.lost:
            message = phrase("the text {} needs double quotes", shown)
            self._log.report(
                rules.json_syntax, start, end, message, "write it in double quotes", meant=word
            )
        return word

    def bare_key(self, start: int, end: int) -> str:
        """A bare word or number where a key is expected."""
        if not self._log.lost:
            shown = self.shown(start, end)
            self._log.fault(start, end, phrase("the key {} needs double quotes", shown))
        return self._text[start:end]
