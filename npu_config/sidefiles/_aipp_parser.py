"""Protobuf text as far as AIPP configurations use it: blocks of scalar fields."""

import re
from typing import Any, Dict, List, NamedTuple, Optional

from npu_config.core.diagnostics import Diagnostic
from npu_config.core.rule import Rule
from npu_config.sidefiles import _aipp_rules as rules
from npu_config.sidefiles._aipp_fields import FIELDS, Field, Value
from npu_config.text.source import PlaceTable, Source
from npu_config.text.words import did_you_mean, near, shown

MAX_FAULTS = 100

_BLANK = re.compile(r"\s+|\#[^\n]*")
_TOKEN = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fF]?)"
    r"|(?P<text>\"[^\"\\\n]*(?:\\[^\n][^\"\\\n]*)*\"|'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*')"
    r"|(?P<mark>[{}<>:,;])"
    r"|(?P<other>[^\s\#{}<>:,;]+)"
)
_INTEGER = re.compile(
    r"[+-]?(?:(?P<hex>0[xX][0-9a-fA-F]+)|(?P<octal>0[0-7]+)|(?:0|[1-9][0-9]*))\Z"
)
_BOOLS = {"true": True, "false": False, "True": True, "False": False, "t": True, "f": False}
_ESCAPE = re.compile(r"\\(n|r|t|\"|'|\\|[0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.S)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_CLOSER = {"{": "}", "<": ">"}


class Token(NamedTuple):
    """One token."""

    kind: str
    text: str
    start: int
    end: int


class _Stopped(Exception):  # noqa: N818 - it is no error of the caller's
    """Too many faults."""


def _unescaped(text: str) -> str:
    def one(match: "re.Match[str]") -> str:
        code = match.group(1)
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code[0] in "01234567":
            return chr(int(code, 8))
        return _ESCAPES.get(code, code)

    return _ESCAPE.sub(one, text[1:-1])


def unknown(name: object) -> str:
    """The message for a field that is not in the template."""
    return "unknown field {}; legal: the {} fields of the AIPP template".format(
        shown(name), len(FIELDS)
    )


class Reader:
    """Reads a text into blocks.

    Attributes:
        blocks: for each ``aipp_op`` its fields; None for one that has no readable value.
        places: where they stand, by index of the block and name.
        found: what is wrong.
        understood: False when something is not in ``blocks``.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._position = 0
        self._next: Optional[Token] = None
        self.blocks: List[Dict[str, Any]] = []
        self.places = PlaceTable(source.place(0, len(source.text)))
        self.found: List[Diagnostic] = []
        self.understood = True

    def _peek(self) -> Optional[Token]:
        if self._next is None:
            blank = _BLANK.match(self._source.text, self._position)
            while blank is not None:
                self._position = blank.end()
                blank = _BLANK.match(self._source.text, self._position)
            match = _TOKEN.match(self._source.text, self._position)
            if match is not None:
                kind = match.lastgroup or ""
                self._next = Token(kind, match.group(kind), *match.span(kind))
                self._position = match.end()
        return self._next

    def _take(self) -> Optional[Token]:
        token = self._peek()
        self._next = None
        return token

    def _report(
        self, rule: Rule, message: str, token: Optional[Token], help: Optional[str] = None
    ) -> None:
        end = len(self._source.text)
        start, stop = (end, end) if token is None else (token.start, token.end)
        self.found.append(rule.diagnostic(message, self._source.place(start, stop), help=help))
        self.understood = False
        if len(self.found) >= MAX_FAULTS:
            raise _Stopped

    def read(self) -> None:
        """Read the text."""
        try:
            while True:
                token = self._take()
                if token is None:
                    break
                self._block(token)
        except _Stopped:
            return
        if not self.blocks and not self.found:
            self._report(rules.SYNTAX, "the text has no aipp_op { ... }", None)

    def _block(self, name: Token) -> None:
        if name.text in FIELDS:
            message = "{} stands outside of a block; write aipp_op {{ ... }} around the fields"
            self._report(rules.SYNTAX, message.format(name.text), name)
            raise _Stopped
        after = self._peek()
        if after is not None and after.text == ":":
            self._take()
            after = self._peek()
        closer = None if after is None else _CLOSER.get(after.text)
        if name.kind == "mark":
            message = "a block aipp_op {{ ... }} is expected, not {}".format(shown(name.text))
            self._report(rules.SYNTAX, message, name)
            raise _Stopped
        if name.text != "aipp_op":
            message = "a block aipp_op {{ ... }} is expected, not {}".format(shown(name.text))
            self._report(rules.SYNTAX, message, name, did_you_mean(name.text, ("aipp_op",)))
            if closer is None:
                self._skip_line(name)
                return
        elif closer is None:
            self._report(rules.SYNTAX, '"{" is missing after aipp_op', name)
        if closer is not None:
            self._take()
        place = self._source.place(name.start, name.end)
        self.places.put((len(self.blocks),), place, place)
        self.blocks.append({})
        self._fields(closer, name)

    def _fields(self, closer: Optional[str], block: Token) -> None:
        """Read fields up to ``closer``; without an opening bracket up to any, or to the end."""
        while True:
            token = self._take()
            if token is None:
                if closer is not None:
                    self._report(rules.SYNTAX, 'the text ends before "{}"'.format(closer), block)
                return
            if token.text == closer or (closer is None and token.text in _CLOSER.values()):
                return
            if token.text in (",", ";"):
                continue
            if token.kind != "name":
                message = "a field is expected, not {}".format(shown(token.text))
                self._report(rules.SYNTAX, message, token)
                self._skip_line(token)
            else:
                self._field(token)

    def _field(self, name: Token) -> None:
        fields = self.blocks[-1]
        colon = self._peek()
        if colon is None or colon.text != ":":
            message = '":" is missing after {}'.format(shown(name.text))
            self._report(rules.SYNTAX, message, name)
            self._skip_line(name)
            fields.setdefault(name.text, None)
            return
        self._take()
        value = self._peek()
        if value is None or value.kind == "mark":
            message = "{} has no value".format(shown(name.text))
            self._report(rules.SYNTAX, message, name)
            fields.setdefault(name.text, None)
            return
        self._take()
        field = FIELDS.get(name.text)
        if field is None:
            free = [other for other in FIELDS if other not in fields]
            self._report(rules.FIELD, unknown(name.text), name, did_you_mean(name.text, free))
            meant_field = near(name.text, free)
            if meant_field is not None:
                fields[meant_field] = None
        elif fields.get(name.text) is not None:
            message = "{} stands twice in this block".format(shown(name.text))
            self._report(rules.FIELD, message, name)
        else:
            self.places.put(
                (len(self.blocks) - 1, name.text),
                self._source.place(name.start, name.end),
                self._source.place(value.start, value.end),
            )
            found = _value(field, value)
            fields[name.text] = found
            if found is None or not field.accepts(found):
                message = "{} is {}; legal: {}".format(name.text, shown(value.text), field.legal)
                help = did_you_mean(value.text, field.words or ("true", "false"))
                self._report(rules.VALUE, message, value, help)

    def _skip_line(self, token: Token) -> None:
        """Go on with the next line, or with the bracket before it."""
        line = self._source.position(token.start)[0]
        while True:
            following = self._peek()
            if following is None or following.text in ("}", ">"):
                return
            if self._source.position(following.start)[0] != line:
                return
            self._take()


def _value(field: Field, token: Token) -> Optional[Value]:
    """The value of a token; None when it is not of the kind of the field."""
    if field.kind == "bool":
        return _BOOLS.get(token.text)
    if field.kind == "word":
        return token.text if token.kind == "name" else None
    if field.kind == "text":
        return _unescaped(token.text) if token.kind == "text" else None
    if token.kind != "number" or token.end - token.start > 60:
        return None
    written = token.text.rstrip("fF") if "x" not in token.text.lower() else token.text
    if field.kind == "float":
        return None if "x" in written.lower() else float(written)
    match = _INTEGER.match(token.text)
    if match is None:
        return None
    return int(token.text, {"hex": 16, "octal": 8}.get(match.lastgroup or "", 10))
