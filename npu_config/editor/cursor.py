"""What stands at a place of a text that may be half written: the key, its value, what is around.

No parser is asked: while somebody types, a file is broken most of the time.  A :class:`Slot`
is the word that is written there, and the keys that lead to it.
"""

import functools
from typing import List, NamedTuple, Optional, Tuple

from npu_config.core.lazy import lazy_pattern
from npu_config.readers import kind_by_content, kind_by_suffix

__all__ = ["Slot", "call_at", "kind_of", "slot_at", "word_at"]

_FARTHEST = 1 << 20
"""How far back a text is looked at."""

_YAML_VALUE = lazy_pattern(
    r"""([ \t]*)(?:- +)*["']?([\w$.-]+)["']?[ \t]*:(?=[ \t])(?:[ \t]*(["']))?([^"'#\[{]*)\Z"""
)
_YAML_KEY = lazy_pattern(r"""([ \t]*)(["']?)([\w$.-]*)\Z""")
_YAML_ITEM = lazy_pattern(r"""([ \t]*)-(?: +(["']?)([^\s"'#:\[{][^"'#:\[{]*)?)?\Z""")
_YAML_PARENT = lazy_pattern(r"""([ \t]*)(?:- +)*["']?([\w$.-]+)["']?[ \t]*:[ \t]*(?:#.*)?\Z""")
_TOML_HEADER = lazy_pattern(r"[ \t]*\[+[ \t]*([\w.-]*)\Z")
_TOML_TABLE = lazy_pattern(r"[ \t]*\[+[ \t]*([\w.\"'-]+)[ \t]*\]")
_TOML_VALUE = lazy_pattern(r"""[ \t]*([\w.-]+)[ \t]*=(?:[ \t]*(["']))?([^"'#\[{]*)\Z""")
_TOML_KEY = lazy_pattern(r"[ \t]*([\w.-]*)\Z")
_JSON_TOKEN = lazy_pattern(r'"(?:[^"\\\n]|\\.?)*"?|[{}\[\],:]|[^\s{}\[\],:"]+')
_WORD = lazy_pattern(r"[A-Za-z0-9_$][\w$-]*")
_CALL = lazy_pattern(r"(\.?)\b([A-Za-z_]\w*)[ \t]*\Z")


class Slot(NamedTuple):
    """A word that is being written.

    Args:
        keys: the keys of what is around it, outermost first.
        key: the key whose value it is; None: it is a key itself.
        word: what is written of it, up to the cursor.
        quote: the quote that it stands in; empty for none.
        header: it names a table of TOML.
    """

    keys: Tuple[str, ...]
    key: Optional[str]
    word: str
    quote: str = ""
    header: bool = False


@functools.lru_cache(maxsize=4)
def kind_of(path: str, text: str) -> Optional[str]:
    """The kind that a file is read as; None for one of none."""
    return kind_by_suffix(path) or kind_by_content(text, path)


def slot_at(kind: Optional[str], text: str, offset: int) -> Optional[Slot]:
    """What is written at an offset of a configuration, a side file or a rank table."""
    before = text[max(0, offset - _FARTHEST) : offset]
    line = before[before.rfind("\n") + 1 :]
    if kind == "yaml":
        return _in_yaml(before, line)
    if kind == "toml":
        return _in_toml(before, line)
    return _in_json(before) if text.lstrip("\ufeff \t\r\n")[:1] == "{" else None


def _in_list(line: str) -> Tuple[str, str, str]:
    """What is before a list that is begun on a line, and the quote and word of its last item."""
    head, opened, items = line.partition("[")
    item = items.rpartition(",")[2].lstrip()
    if not opened or "]" in items or "#" in items:
        return "", "", ""
    quote = item[:1] if item[:1] in ("'", '"') else ""
    return head, quote, item[len(quote) :]


def _in_yaml(before: str, line: str) -> Optional[Slot]:
    head, quote, word = _in_list(line)
    match = _YAML_VALUE.match(head)
    if match is not None and not match.group(4).strip():
        return Slot(_yaml_parents(before, len(match.group(1))), match.group(2), word, quote)
    item = _YAML_ITEM.match(line)
    if item is not None:
        keys = _yaml_parents(before, len(item.group(1)) + 1)
        return (
            Slot(keys[:-1], keys[-1], item.group(3) or "", item.group(2) or "") if keys else None
        )
    match = _YAML_VALUE.match(line)
    if match is not None:
        indent, key, quote, word = match.groups()
        return Slot(_yaml_parents(before, len(indent)), key, word.lstrip(), quote or "")
    match = _YAML_KEY.match(line)
    if match is None:
        return None
    indent, quote, word = match.groups()
    return Slot(_yaml_parents(before, len(indent)), None, word, quote)


def _yaml_parents(before: str, indent: int) -> Tuple[str, ...]:
    """The keys that a line of some indent is below."""
    found: List[str] = []
    for line in reversed(before.split("\n")[:-1]):
        if not indent:
            break
        parent = _YAML_PARENT.match(line.rstrip("\r"))
        if parent is not None and len(parent.group(1)) < indent:
            indent = len(parent.group(1))
            found.append(parent.group(2))
    return tuple(reversed(found))


def _in_toml(before: str, line: str) -> Optional[Slot]:
    header = _TOML_HEADER.match(line)
    if header is not None:
        return Slot((), None, header.group(1), header=True)
    table: Tuple[str, ...] = ()
    for each in reversed(before.split("\n")[:-1]):
        found = _TOML_TABLE.match(each)
        if found is not None:
            table = tuple(part.strip("\"'") for part in found.group(1).split("."))
            break
    head, quote, word = _in_list(line)
    match = _TOML_VALUE.match(head)
    if match is not None:
        return Slot(table, match.group(1), word, quote)
    match = _TOML_VALUE.match(line)
    if match is not None:
        return Slot(table, match.group(1), match.group(3).lstrip(), match.group(2) or "")
    match = _TOML_KEY.match(line)
    return None if match is None else Slot(table, None, match.group(1))


def _in_json(before: str) -> Optional[Slot]:
    opened: List[Tuple[str, Optional[str]]] = []
    key: Optional[str] = None
    last, word, quote = "", "", ""
    for match in _JSON_TOKEN.finditer(before):
        token = match.group()
        word, quote = "", ""
        if token in "{[":
            opened.append((token, key))
            key = None
        elif token in "}]":
            key = opened.pop()[1] if opened else None
        elif token == ",":
            key = None if opened and opened[-1][0] == "{" else key
        elif token != ":":
            whole = len(token) > 1 and token[0] == token[-1] == '"'
            if match.end() == len(before) and not whole:
                word, quote = token.strip('"'), token[0] if token[0] == '"' else ""
                break
            if last in "{," and opened and opened[-1][0] == "{":
                key = token.strip('"')
        last = token
    is_key = bool(opened) and opened[-1][0] == "{" and last in "{,"
    if not is_key and last not in (":", "[", ","):
        return None
    keys = tuple(name for _, name in opened if name is not None)
    return Slot(keys, None if is_key else key or (keys[-1] if keys else ""), word, quote)


def word_at(text: str, offset: int) -> Tuple[int, int]:
    """Where the word around an offset begins and ends; the same twice where there is none."""
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    for match in _WORD.finditer(text, start, len(text) if end < 0 else end):
        if match.start() <= offset <= match.end():
            return match.span()
        if match.start() > offset:
            break
    return offset, offset


def call_at(before: str) -> Tuple[str, str, str]:
    """The call of Python that an end of a text is in.

    Returns:
        What it is called (``NPURunConfig``; with a dot before it for a method), the words before
        it, and the text of its arguments so far; all empty outside of calls.
    """
    depth = 0
    top = max(0, len(before) - 20000)
    for at in range(len(before) - 1, top - 1, -1):
        sign = before[at]
        if sign in ")]}":
            depth += 1
        elif sign in "([{":
            depth -= 1
            if depth < 0:
                if sign == "{":
                    depth = 0
                    continue
                match = _CALL.search(before, max(0, at - 80), at)
                if sign == "(" and match is not None:
                    return match.group(1) + match.group(2), before[:at], before[at + 1 :]
                return "", "", ""
    return "", "", ""
