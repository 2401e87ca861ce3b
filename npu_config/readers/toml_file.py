"""TOML configuration files, with places (tomllib, or tomli below Python 3.11)."""

import importlib
import re
import sys
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from npu_config.catalogue.kinds import shorten
from npu_config.core.diagnostics import Place
from npu_config.core.message import phrase
from npu_config.readers import _rules as rules
from npu_config.readers._config_file import (
    BROKEN,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_VALUES,
    Document,
    Path,
    StopReading,
    interpret,
)
from npu_config.rules.reading import Reading
from npu_config.text.source import PlaceTable, Source, both_places

_BLANK = re.compile(r"[ \t]*")
_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_LINE_END = re.compile(r"[ \t]*(?:#[^\n]*?)?\r?(?:\n|\Z)")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""[^\\"]*(?:(?:\\[\s\S]|"{1,2}(?!"))[^\\"]*)*"{3,5}'
    r"|'''[^']*(?:'{1,2}(?!')[^']*)*'{3,5}"
    r'|"(?!"")[^\\"\n]*(?:\\[^\n][^\\"\n]*)*"'
    r"|'(?!'')[^'\n]*'"
)
_WORD = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[^\s,\]}#]*|[^\s,\[\]{}#\"'=]+")
_REST = re.compile(r"[^\r\n]*")

Loads = Callable[[str], Dict[str, Any]]


class _SkipLine(Exception):  # noqa: N818
    """The rest of the line cannot be understood; the reason is reported."""


class _Part(NamedTuple):
    name: str
    start: int
    end: int


class _Key(NamedTuple):
    parts: Tuple[_Part, ...]

    @property
    def start(self) -> int:
        return self.parts[0].start

    @property
    def end(self) -> int:
        return self.parts[-1].end

    def __str__(self) -> str:
        return ".".join(part.name for part in self.parts)


class Scanner:
    """One text, scanned once.

    Args:
        document: receives places, faults, and the value as far as it can be read.
        table: the places of the document.
        loads: the parser of one scalar.
    """

    def __init__(self, document: Document, table: PlaceTable, loads: Loads) -> None:
        self._document = document
        self._table = table
        self._loads = loads
        self._text = document.source.text
        self._root: Dict[str, Any] = {}
        self._current: Any = self._root
        self._header: Path = ()
        self._defined: Dict[Path, Place] = {}
        self._count = 0

    def run(self) -> Dict[str, Any]:
        """Scan the whole; the value holds BROKEN where something could not be read."""
        position = 1 if self._text.startswith("\ufeff") else 0
        try:
            while position < len(self._text):
                position = self._statement(position)
        except StopReading:
            self._document.complete = False
        return self._root

    def _fault(
        self,
        start: int,
        end: int,
        message: str,
        help: Optional[str] = None,
        title: str = "",
        replacement: Optional[str] = None,
    ) -> None:
        self._document.report(rules.unparsable_file, start, end, message, help, title, replacement)

    def _statement(self, position: int) -> int:
        """One line (with all the lines that its value has); the offset of the next."""
        match = _LINE_END.match(self._text, position)
        if match is not None:
            return match.end()
        position = _match_end(_BLANK, self._text, position)
        try:
            if self._text[position] == "[":
                position = self._table_header(position)
            else:
                position = self._pair(position, self._current, self._header)
            match = _LINE_END.match(self._text, position)
            if match is not None:
                return match.end()
            start = _match_end(_BLANK, self._text, position)
            rest = _match_end(_REST, self._text, start)
            found = shorten(self._text[start:rest], 40)
            self._fault(start, rest, phrase('expected the end of the line, found "{}"', found))
        except _SkipLine:
            self._document.complete = False
        newline = self._text.find("\n", position)
        return len(self._text) if newline < 0 else newline + 1

    # Keys

    def _key(self, start: int) -> _Key:
        text, position, end = self._text, start, start
        parts: List[_Part] = []
        while True:
            position = _match_end(_BLANK, text, position)
            bare = _BARE_KEY.match(text, position)
            string = None if bare else _STRING.match(text, position)
            if bare is not None:
                end = bare.end()
                parts.append(_Part(bare.group(), position, end))
            elif string is not None and not string.group().startswith(('"""', "'''")):
                key = self._scalar(string.group())
                if not isinstance(key, str):
                    self._fault(position, string.end(), "the key is not a valid TOML string")
                    raise _SkipLine
                end = string.end()
                parts.append(_Part(key, position, end))
            else:
                rest = _match_end(_REST, text, position)
                self._fault(
                    position,
                    max(rest, position + 1),
                    phrase("expected a key, found {}", _shown(text[position:rest])),
                )
                raise _SkipLine
            if len(parts) > MAX_DEPTH:
                self._too_deep(start, end)
            position = _match_end(_BLANK, text, end)
            if text[position : position + 1] != ".":
                return _Key(tuple(parts))
            position += 1

    def _too_deep(self, start: int, end: int) -> None:
        message = phrase("nesting limit of {} levels exceeded; the rest is not read", MAX_DEPTH)
        self._document.report(rules.file_too_large, start, end, message)
        raise StopReading

    def _remember(self, path: Path, key: _Key) -> bool:
        """False, and reported, when the path was defined before."""
        place = self._document.source.place(key.start, key.end)
        if path not in self._defined:
            self._defined[path] = place
            return True
        self._document.report(
            rules.duplicate_key,
            key.start,
            key.end,
            phrase(
                'the key "{}" appears twice, on {}',
                shorten(".".join(str(step) for step in path)),
                both_places(self._defined[path], place),
            ),
            "keep one of the two",
        )
        return False

    # Tables

    def _table_header(self, start: int) -> int:
        array = self._text.startswith("[[", start)
        brackets = 2 if array else 1
        key = self._key(start + brackets)
        end = _match_end(_BLANK, self._text, key.end)
        if not self._text.startswith("]" * brackets, end):
            self._fault(
                start, end, phrase('the table header lacks its closing "{}"', "]" * brackets)
            )
            raise _SkipLine
        self._header = ()
        self._current = self._root
        for part in key.parts[:-1]:
            self._descend(part, key)
        name = key.parts[-1].name
        if array:
            self._append(name, key)
        else:
            if isinstance(self._current.get(name, {}), dict):
                self._remember((*self._header, name), key)
            self._descend(key.parts[-1], key)
        return end + brackets

    def _append(self, name: str, key: _Key) -> None:
        items = self._current.setdefault(name, [])
        if not isinstance(items, list):
            self._conflict(name, key)
        path = (*self._header, name)
        self._place(path, key.parts[-1])
        items.append({})
        self._header = (*path, len(items) - 1)
        self._place(self._header, key.parts[-1])
        self._current = items[-1]

    def _descend(self, part: _Part, key: _Key) -> None:
        inner = self._current.setdefault(part.name, {})
        path: Path = (*self._header, part.name)
        if isinstance(inner, list) and inner:
            path = (*path, len(inner) - 1)
            inner = inner[-1]
        if not isinstance(inner, dict):
            self._conflict(part.name, key)
        self._place(path, part)
        self._header, self._current = path, inner

    def _conflict(self, name: str, key: _Key) -> None:
        self._no_table(name, key)
        self._current, self._header = {}, ("\0", key.start)
        raise _SkipLine

    def _no_table(self, name: str, key: _Key) -> None:
        message = phrase('"{}" already has a value and is not a table', shorten(name))
        self._fault(key.start, key.end, message)

    def _place(self, path: Path, key: _Part, value: Optional[Tuple[int, int]] = None) -> None:
        """Remember the place of a key and of its value; a table stands where its key does."""
        source = self._document.source
        place = source.place(key.start, key.end)
        self._table.put(path, place, place if value is None else source.place(*value))

    # Pairs and values

    def _pair(self, start: int, table: Any, path: Path, depth: int = 0) -> int:
        """``key = value``; the offset after the value."""
        text = self._text
        key = self._key(start)
        position = _match_end(_BLANK, text, key.end)
        if text[position : position + 1] != "=":
            end = max(_match_end(_REST, text, position), position + 1)
            found = text[position : position + 1]
            self._fault(
                position,
                end,
                phrase(
                    'expected "=" after the key "{}", found {}',
                    shorten(str(key), 40),
                    _shown(text[position:end]),
                ),
                'write "key = value" in TOML' if found == ":" else None,
            )
            raise _SkipLine
        for part in key.parts[:-1]:
            path = (*path, part.name)
            self._place(path, part)
            table = table.setdefault(part.name, {})
            if not isinstance(table, dict):
                self._no_table(part.name, key)
                table = {}
        last = key.parts[-1]
        path = (*path, last.name)
        fresh = self._remember(path, key)
        start = _match_end(_BLANK, text, position + 1)
        value, end = self._value(start, path, depth)
        if fresh:
            self._place(path, last, (start, end))
            table[last.name] = value
        return end

    def _value(self, start: int, path: Path, depth: int) -> Tuple[Any, int]:
        text = self._text
        self._count += 1
        if self._count > MAX_VALUES:
            message = "the file has more than {:,} values; the rest is not read"
            self._document.report(
                rules.file_too_large, start, start + 1, phrase(message, MAX_VALUES)
            )
            raise StopReading
        character = text[start : start + 1]
        if character in ("[", "{") and character:
            if depth == MAX_DEPTH:
                self._too_deep(start, start + 1)
            container = self._array if character == "[" else self._inline_table
            return container(start, path, depth + 1)
        string = _STRING.match(text, start)
        if string is not None:
            return self._checked(string.group(), start, string.end())
        word = _WORD.match(text, start)
        if word is None:
            rest = max(_match_end(_REST, text, start), start + 1)
            if character in ('"', "'"):
                self._fault(start, rest, "the text that starts here has no closing quote")
            else:
                self._fault(
                    start, rest, phrase("expected a value, found {}", _shown(text[start:rest]))
                )
            raise _SkipLine
        return self._checked(word.group(), start, word.end())

    def _checked(self, written: str, start: int, end: int) -> Tuple[Any, int]:
        value = self._scalar(written)
        if value is not BROKEN:
            return value, end
        shown = shorten(written, 40)
        if written[0] in "\"'":
            self._fault(
                start,
                end,
                phrase("{} contains an escape or a character that TOML does not allow", shown),
                "write two backslashes for each backslash, or put the text in single quotes",
            )
        elif written.lower() in ("true", "false"):
            right = written.lower()
            title = phrase("write {}", right)
            self._fault(start, end, phrase('"{}" is not a TOML value', shown), title, title, right)
        elif written[0] in "+-.0123456789":
            self._fault(start, end, phrase('"{}" is not a TOML number or date', shown))
        else:
            quoted = '"{}"'.format(written)
            help = phrase('write "{}" in quotes', shown)
            title = "put the text in quotes"
            replacement = None if "\\" in written else quoted
            self._fault(
                start, end, phrase('"{}" is not a TOML value', shown), help, title, replacement
            )
        return BROKEN, end

    def _scalar(self, written: str) -> Any:
        if written[0] not in "\"'" and len(written) > MAX_DIGITS:
            return BROKEN
        try:
            return self._loads("v = " + written + "\n")["v"]
        except (ValueError, OverflowError):
            return BROKEN

    def _array(self, start: int, path: Path, depth: int) -> Tuple[List[Any], int]:
        items: List[Any] = []
        position = _match_end(_SPACE, self._text, start + 1)
        while self._text[position : position + 1] != "]":
            inner = (*path, len(items))
            item, end = self._value(position, inner, depth)
            place = self._document.source.place(position, end)
            self._table.put(inner, place, place)
            items.append(item)
            position = self._after_item(start, end, "]")
        return items, position + 1

    def _inline_table(self, start: int, path: Path, depth: int) -> Tuple[Dict[str, Any], int]:
        table: Dict[str, Any] = {}
        position = _match_end(_SPACE, self._text, start + 1)
        while self._text[position : position + 1] != "}":
            end = self._pair(position, table, path, depth)
            position = self._after_item(start, end, "}")
        return table, position + 1

    def _after_item(self, start: int, end: int, closer: str) -> int:
        """The offset of the next item or of the closer."""
        text = self._text
        position = _match_end(_SPACE, text, end)
        if text[position : position + 1] == ",":
            return _match_end(_SPACE, text, position + 1)
        if text[position : position + 1] == closer:
            return position
        if position == len(text):
            self._fault(start, start + 1, phrase('this bracket is not closed by "{}"', closer))
        else:
            self._fault(
                position,
                position + 1,
                phrase('expected "," or "{}", found {}', closer, _shown(text[position])),
            )
        raise _SkipLine


def _match_end(pattern: Any, text: str, position: int) -> int:
    match = pattern.match(text, position)
    return position if match is None else int(match.end())


def _shown(text: str) -> str:
    text = text.rstrip()
    return '"{}"'.format(shorten(text, 40)) if text else "the end of the line"


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


def read(text: str, path: Optional[str] = None) -> Reading:
    """Read a TOML configuration; any text gives a reading."""
    return interpret(parse(text, path))


def parse(text: str, path: Optional[str] = None) -> Document:
    """The value of a TOML text, with places."""
    source = Source(text, path)
    table = PlaceTable(source.place(0, 0))
    document = Document("toml", source, table, BROKEN)
    loads = _loads()
    if loads is None:
        document.value, document.complete = None, False
        document.report(
            rules.unparsable_file,
            0,
            0,
            'TOML is read with the package "tomli" on Python below 3.11, and it is not installed',
            "pip install tomli",
        )
        return document
    document.value = Scanner(document, table, loads).run()
    if document.complete and not document.diagnostics:
        try:
            document.value = loads(text[1:] if text.startswith("\ufeff") else text)
        except (ValueError, RecursionError) as error:
            document.complete = False
            _report(document, error)
    if not document.value and document.complete and not document.diagnostics:
        document.value = None
    return document


def _loads() -> Optional[Callable[[str], Dict[str, Any]]]:
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        return getattr(importlib.import_module(name), "loads", None)
    except ImportError:
        return None


def _report(document: Document, error: Exception) -> None:
    """Report what tomllib refuses and the scanner let pass."""
    message = str(error)
    match = _AT.search(message)
    start = len(document.source.text)
    if match is not None:
        message = message[: match.start()]
        if match.group(1):
            start = document.source.offset(int(match.group(1)), int(match.group(2)))
    message = message[:1].lower() + message[1:]
    document.report(
        rules.unparsable_file, start, min(start + 1, len(document.source.text)), message
    )
