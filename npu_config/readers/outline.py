"""The first two levels of keys of a YAML, TOML or JSON text, whole or broken, in linear time.

Only what is at the top of a file says whose it is, so only that is looked for, with the
patterns below and no parser: a file of another program is passed over in a fraction of the
time that parsing takes, and one of ours with a fault in its syntax still shows its keys.
"""

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

__all__ = ["MOST_KEYS", "TOP", "Key", "outline"]

TOP = 128 * 1024
"""How many characters of a file are looked at."""

MOST_KEYS = 256
"""How many keys of each level are."""

_SEPARATOR = "[:=\uff1a]"
"""A colon; or what people write in the place of one."""

_YAML_LINE = re.compile(
    r"^(?:(?P<mark>---|\.\.\.)(?=\s|$)|(?P<indent>[ \t]*)(?:"
    r"""(?P<quote>["'])(?P<quoted>[^"'\n]{1,80})(?P=quote)|"""
    r"""(?P<plain>[^\s#"'{}\[\],&*!|>%@?:=\uff1a-][^#"'{}\[\]:=\uff1a\n]{0,79}))"""
    r"[ \t]*" + _SEPARATOR + r"(?!//)[ \t]*(?P<value>[^\n]*))",
    re.M,
)
_TOML_LINE = re.compile(
    r"""^[ \t]*(?:\[\[?(?P<table>[^\]\n]{1,200})\]|(?P<key>[\w"'][\w."' -]{0,200}?)[ \t]*"""
    + _SEPARATOR
    + r"[ \t]*(?P<value>[^\n]*))",
    re.M,
)
_TOKEN = re.compile(
    r'"(?P<double>(?:[^"\\\n]|\\.)*)"?|\'(?P<single>(?:[^\'\\\n]|\\.)*)\'?'
    r"|//[^\n]*|(?P<sign>[{}\[\]:=,\uff1a])|(?P<word>[^\s\"'{}\[\]:=,\uff1a/]+)|[\s/]+"
)
"""Fits at every place, so that no text is tried twice."""


class Key(NamedTuple):
    """One key at the top of a file.

    ``value`` is the beginning of what stands behind it, ``inner`` the keys below it; None where
    it has no keys of its own.
    """

    name: str
    value: str = ""
    inner: Optional[Tuple[str, ...]] = None


def outline(text: str, kind: str) -> List[Key]:
    """The keys at the top of a text, each with those below it, as far as they can be seen.

    Args:
        text: the content of the file; a byte order mark and any ends of lines may be in it.
        kind: ``"yaml"``, ``"toml"`` or ``"json"``.
    """
    text = text[:TOP].lstrip("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if kind == "toml":
        for quotes in ('"""', "'''"):
            text = '""'.join(text.split(quotes)[::2])
        return _of_tables(text)
    start = _start(text)
    if text.startswith(("{", "["), start):
        return _of_braces(text, start)
    return _of_lines(text)


def _start(text: str) -> int:
    """Where the first line begins that is neither blank nor a comment."""
    offset = 0
    for line in text.splitlines(True):
        content = line.lstrip()
        if content and not content.startswith(("#", "//", "/*", "*")):
            return offset + len(line) - len(content)
        offset += len(line)
    return offset


def _of_lines(text: str) -> List[Key]:
    """The keys of block mappings: those that are indented as the first, and one step deeper."""
    keys: List[Key] = []
    inner: List[str] = []
    top = -1
    below = -1
    for found in _YAML_LINE.finditer(text):
        if found.group("mark"):
            if keys:
                break
            continue
        name = found.group("quoted") or found.group("plain").rstrip()
        indent, value = len(found.group("indent")), found.group("value").strip()
        if top < 0:
            top = indent
        if indent <= top:
            if len(keys) == MOST_KEYS:
                break
            _close(keys, inner)
            inner, below = [], -1
            flow = _of_braces(value, 0) if value.startswith("{") else None
            keys.append(Key(name, value[:80], tuple(key.name for key in flow) if flow else None))
        elif keys and _is_empty(keys[-1].value) and len(inner) < MOST_KEYS:
            below = indent if below < 0 else below
            if indent == below:
                inner.append(name)
    _close(keys, inner)
    return keys


def _is_empty(value: str) -> bool:
    """True where nothing stands behind a key but an anchor, a tag or a comment."""
    return all(word[0] in "&!" for word in value.partition("#")[0].split())


def _close(keys: List[Key], inner: List[str]) -> None:
    """Give the last key what stands below it."""
    if keys and inner:
        keys[-1] = keys[-1]._replace(inner=tuple(inner))


def _of_tables(text: str) -> List[Key]:
    """The keys before the first table, and the tables; dotted names are taken apart."""
    values: Dict[str, str] = {}
    below: Dict[str, Dict[str, None]] = {}
    table: Tuple[str, ...] = ()
    for found in _TOML_LINE.finditer(text):
        if found.group("table"):
            path = table = _dotted(found.group("table"))
        else:
            path = (*table, *_dotted(found.group("key")))
        if not path or (path[0] not in values and len(values) == MOST_KEYS):
            continue
        value = found.group("value") or ""
        values.setdefault(path[0], value[:80] if len(path) == 1 else "")
        inner = below.setdefault(path[0], {})
        if len(path) > 1 and len(inner) < MOST_KEYS:
            inner[path[1]] = None
        elif len(path) == 1 and value.startswith("{"):
            inner.update((key.name, None) for key in _of_braces(value, 0))
    return [Key(name, value, tuple(below[name]) or None) for name, value in values.items()]


def _dotted(name: str) -> Tuple[str, ...]:
    return tuple(part.strip(" \t\"'") for part in name.split(".") if part.strip(" \t\"'"))


def _of_braces(text: str, start: int) -> List[Key]:
    """The keys of JSON, or of a flow mapping of YAML, up to the brace that closes it."""
    keys: List[Key] = []
    inner: List[str] = []
    open_braces: List[str] = []
    last: Optional[str] = None
    for kind, word in _tokens(text, start):
        if kind != "sign":
            if len(open_braces) == 1 and keys and not keys[-1].value and last == ":":
                keys[-1] = keys[-1]._replace(value=word[:80])
            last = word[:80]
            continue
        if word in "{[":
            if not open_braces and word == "[":
                return []
            open_braces.append(word)
            inner = inner if len(open_braces) > 2 else []
        elif word in "}]":
            if not open_braces:
                break
            open_braces.pop()
            if len(open_braces) == 1:
                _close(keys, inner)
            elif not open_braces:
                break
        elif word != "," and last not in (None, ":", ",", "{"):
            assert last is not None
            if open_braces == ["{"]:
                if len(keys) == MOST_KEYS:
                    break
                keys.append(Key(last))
            elif open_braces == ["{", "{"] and len(inner) < MOST_KEYS:
                inner.append(last)
        last = ":" if word in ":=\uff1a" else word
    if len(open_braces) > 1:
        _close(keys, inner)
    return keys


def _tokens(text: str, start: int) -> Iterator[Tuple[str, str]]:
    for found in _TOKEN.finditer(text, start):
        kind = found.lastgroup
        if kind is not None:
            yield kind, found.group(kind)
