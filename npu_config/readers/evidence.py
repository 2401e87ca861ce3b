"""Whether a YAML, TOML or JSON text is a configuration of npu_config: the evidence, in one table.

Two mistakes are possible.  A wrong configuration that is passed over is an all-clear that is
false; a file of another program that is taken draws errors that are false, and ``--fix`` writes
into it.  So only what others do not have counts, and only at the top of a file: names of options
(misspelt ones, too) in the proportion that :data:`EVIDENCE` demands, never keys at any depth.
"""

import re
from functools import lru_cache
from typing import Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.catalogue.layout import EXTENDS, GROUP_OF_KEY, HEADER_KEYS, TARGET_KEYS, VERSION
from npu_config.core.lazy import lazy_pattern
from npu_config.text.words import SLIP, is_typo, likeness, near

__all__ = [
    "MOST_KEYS",
    "TOP",
    "TopKey",
    "is_version_alone",
    "outline",
    "COMMON",
    "EVIDENCE",
    "KINDS",
    "Evidence",
    "Signs",
    "signs",
]

TOP = 128 * 1024
"""How many characters of a file are looked at."""

MOST_KEYS = 256
"""How many keys of each level are."""

_SEPARATOR = "[:=\uff1a]"
"""A colon; or what people write in the place of one."""

_YAML_LINE = lazy_pattern(
    r"^(?:(?P<mark>---|\.\.\.)(?=\s|$)|(?P<indent>[ \t]*)(?:"
    r"""(?P<quote>["'])(?P<quoted>[^"'\n]{1,80})(?P=quote)|"""
    r"""(?P<plain>[^\s#"'{}\[\],&*!|>%@?:=\uff1a-][^#"'{}\[\]:=\uff1a\n]{0,79}))"""
    r"[ \t]*" + _SEPARATOR + r"(?!//)[ \t]*(?P<value>[^\n]*))",
    re.M,
)
_TOML_LINE = lazy_pattern(
    r"""^[ \t]*(?:\[\[?(?P<table>[^\]\n]{1,200})\]|(?P<key>[\w"'][\w."' -]{0,200}?)[ \t]*"""
    + _SEPARATOR
    + r"[ \t]*(?P<value>[^\n]*))",
    re.M,
)
_TOKEN = lazy_pattern(
    r'"(?P<double>(?:[^"\\\n]|\\.)*)"?|\'(?P<single>(?:[^\'\\\n]|\\.)*)\'?'
    r"|//[^\n]*|(?P<sign>[{}\[\]:=,\uff1a])|(?P<word>[^\s\"'{}\[\]:=,\uff1a/]+)|[\s/]+"
)
"""Fits at every place, so that no text is tried twice."""


class TopKey(NamedTuple):
    """One key at the top of a file.

    ``value`` is the beginning of what stands behind it, ``inner`` the keys below it; None where
    it has no keys of its own.
    """

    name: str
    value: str = ""
    inner: Optional[Tuple[str, ...]] = None


def outline(text: str, kind: str) -> List[TopKey]:
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


def _of_lines(text: str) -> List[TopKey]:
    """The keys of block mappings: those that are indented as the first, and one step deeper."""
    keys: List[TopKey] = []
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
        if found.group("indent").startswith("\t"):  # which YAML takes for no indentation at all
            indent = max(top, 0)
        if top < 0:
            top = indent
        if indent <= top:
            if len(keys) == MOST_KEYS:
                break
            _close(keys, inner)
            inner, below = [], -1
            flow = _of_braces(value, 0) if value.startswith("{") else None
            keys.append(
                TopKey(name, value[:80], tuple(key.name for key in flow) if flow else None)
            )
        elif keys and _is_empty(keys[-1].value) and len(inner) < MOST_KEYS:
            below = indent if below < 0 else below
            if indent == below:
                inner.append(name)
    _close(keys, inner)
    return keys


def _is_empty(value: str) -> bool:
    """True where nothing stands behind a key but an anchor, a tag or a comment."""
    return all(word[0] in "&!" for word in value.partition("#")[0].split())


def _close(keys: List[TopKey], inner: List[str]) -> None:
    """Give the last key what stands below it."""
    if keys and inner:
        keys[-1] = keys[-1]._replace(inner=tuple(inner))


def _of_tables(text: str) -> List[TopKey]:
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
    return [TopKey(name, value, tuple(below[name]) or None) for name, value in values.items()]


def _dotted(name: str) -> Tuple[str, ...]:
    return tuple(part.strip(" \t\"'") for part in name.split(".") if part.strip(" \t\"'"))


def _of_braces(text: str, start: int) -> List[TopKey]:
    """The keys of JSON, or of a flow mapping of YAML, up to the brace that closes it."""
    keys: List[TopKey] = []
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
                keys.append(TopKey(last))
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


KINDS = ("yaml", "toml", "json")
"""The formats of configurations."""

COMMON = frozenset(
    (
        "debug_dir",  # compilers, debuggers
        "deterministic",  # PyTorch Lightning, Ultralytics
        "device_type",  # models of MindSpore
        "dump_path",  # dump tools of PyTorch and MindSpore
        "input_shape",  # descriptions of models
        "jit_compile",  # torch_npu, Keras
        "job",  # CI systems, schedulers
        "task_index",  # clusters of any kind
        "work_path",
    )
)
"""Options whose names other programs use, too: each counts as half a sign."""

_SHORT, _LONG, _CLOSE = 9, 14, 0.9
"""From what length on a name nearly that of an option can only be a slip, and how near a name
must be to one that is not long: ``some_config`` is no ``soc_config``."""


_OF_OTHERS = ("nccl",)
"""How names of other programs begin that look like slips for options: ``nccl_timeout``."""

_MISTAKES, _MISTAKES_BEHIND_VERSION = 2, 8


class Signs(NamedTuple):
    """What the top of a text holds.

    ``options`` are names of options as they are written, or slips for them; ``common`` those
    that are in :data:`COMMON`, or only look somewhat like an option; ``groups`` the groups
    without keys of their own, and the target; ``foreign`` every other key.  ``headed``: a
    version or a target as npu_config has them; ``schema``: npu_config's own is named;
    ``called``: the name of the file says npu_config; ``named``: the user named the file.
    ``misplaced`` is a foreign key that options stand under.
    """

    options: Tuple[str, ...] = ()
    common: Tuple[str, ...] = ()
    groups: Tuple[str, ...] = ()
    foreign: Tuple[str, ...] = ()
    headed: bool = False
    schema: bool = False
    called: bool = False
    named: bool = False
    misplaced: Optional[str] = None

    @property
    def said(self) -> bool:
        """Something outside of the keys says that the file is npu_config's."""
        return self.headed or self.called or self.named

    @property
    def evidence(self) -> "Optional[Evidence]":
        """The first line of :data:`EVIDENCE` that holds; None: not ours."""
        return next((each for each in EVIDENCE if each.holds(self)), None)

    @property
    def is_nearly_ours(self) -> bool:
        """Whether a file that is not taken has so much of one that this is worth saying."""
        return bool(
            self.options
            or self.called
            or self.misplaced
            or (self.common and (self.headed or not self.foreign))
        )

    @property
    def is_foreign(self) -> bool:
        """Whether a file that is named is rather one of another program.

        One or two keys may be mistakes whatever they are; behind a version of ours, more.
        """
        ours = len(self.options) + len(self.common) + len(self.groups)
        mistakes = _MISTAKES_BEHIND_VERSION if self.headed else _MISTAKES
        return self.evidence is None and len(self.foreign) > max(ours, mistakes)


class Evidence(NamedTuple):
    """One reason to take a file for a configuration."""

    reason: str
    holds: Callable[[Signs], bool]


EVIDENCE: Tuple[Evidence, ...] = (
    Evidence(
        "the file refers to the schema of npu_config",
        lambda it: it.schema,
    ),
    Evidence(
        "the file has the name of a configuration of npu_config, and sets options",
        lambda it: it.called and bool(it.options),
    ),
    Evidence(
        "most keys of the file are names of NPU options",
        lambda it: it.said and bool(it.options) and len(it.options) + it.named > len(it.foreign),
    ),
    Evidence(
        "the file has a version or a group of options, and all its keys are keys of npu_config",
        lambda it: it.said and not it.foreign and bool(it.common or it.groups),
    ),
    Evidence(
        "the file sets only NPU options",
        lambda it: not it.foreign and (bool(it.options) or len(it.common) > 1),
    ),
)


_SCHEMA = lazy_pattern(r"npu[-_]config")
_MODELINE = lazy_pattern(
    r"^#(?::schema|[ \t]*yaml-language-server:[ \t]*\$schema=)[ \t]*\S*npu[-_]config", re.M
)
_VERSION = lazy_pattern(r"""["']?v?\d{1,2}(?:\.0)?["']?[ \t]*(?:#.*)?""")
_CONFIGURATION = lazy_pattern(r"\.(?:ya?ml|toml|json)\b|^$|^\[")
_NAMES: Tuple[str, ...] = (*OPTIONS, *GROUP_OF_KEY, *HEADER_KEYS)
_OPTION, _COMMON, _GROUP, _HEADER, _FOREIGN = range(5)


def is_version_alone(text: str) -> bool:
    """Whether a JSON object has nothing but a version, and one that is not npu_config's.

    Rank tables begin so, and much else.
    """
    keys = outline(text, "json")
    if [key.name for key in keys] != ["version"]:
        return False
    return keys[0].value.rstrip(" ,}") != str(VERSION)


def signs(text: str, kind: str, path: str, named: bool = False) -> Signs:
    """What the top of a text holds.

    Args:
        text: the content.
        kind: one of :data:`KINDS`.
        path: the file.
        named: the user named the file, and a walk did not just find it.
    """
    found: Tuple[List[str], ...] = ([], [], [], [], [])
    headed, misplaced, extends = False, None, None
    keys = outline(text, kind)
    schema = any(key.name == "$schema" and _SCHEMA.search(key.value) for key in keys)
    for key in keys:
        what, name = _meaning(key.name)
        if key.name == "$schema":
            continue
        if what == _HEADER and name == "version":
            headed = headed or _VERSION.fullmatch(key.value) is not None
        elif what == _HEADER and name == EXTENDS:
            extends = key
        elif what == _HEADER:
            headed = _add_target(key, found) or headed
        elif what == _GROUP:
            _add_group(key, found)
        else:
            found[what].append(key.name)
            if what == _FOREIGN and misplaced is None and _holds_options(key):
                misplaced = key.name
    if extends is not None:
        is_ours = headed or _CONFIGURATION.search(extends.value) is not None
        found[_GROUP if is_ours else _FOREIGN].append(extends.name)
    options, common, groups, _, foreign = map(tuple, found)
    base = path.replace("\\", "/").rsplit("/", 1)[-1]
    return Signs(
        options,
        common,
        groups,
        foreign,
        headed,
        schema or _MODELINE.search(text[:TOP]) is not None,
        "-npu-config-" in "-{}-".format(re.sub("[._]", "-", base.lower())),
        named,
        misplaced,
    )


def _add_target(key: TopKey, found: Tuple[List[str], ...]) -> bool:
    """Enter a target; True when it is one as npu_config has it."""
    if key.inner is None:
        return False
    is_ours = any(name in TARGET_KEYS or near(name, TARGET_KEYS) for name in key.inner)
    found[_GROUP if is_ours else _FOREIGN].append(key.name)
    return is_ours


def _add_group(key: TopKey, found: Tuple[List[str], ...]) -> None:
    """Enter a group: its options, and what else stands in it."""
    for name in key.inner or ():
        what, _ = _meaning(name)
        path = "{}.{}".format(key.name, name)
        found[what if what in (_OPTION, _COMMON) else _FOREIGN].append(path)
    if not key.inner:
        found[_GROUP].append(key.name)


def _holds_options(key: TopKey) -> bool:
    """Whether several options, and not just one by chance, stand under a foreign key."""
    return sum(_meaning(name)[0] == _OPTION for name in key.inner or ()) > 1


@lru_cache(maxsize=4096)
def _meaning(key: str) -> Tuple[int, str]:
    """What a key is, and which name of npu_config's it is or was meant to be."""
    if key.lower().startswith(_OF_OTHERS):
        return _FOREIGN, key
    close = key if key in _KNOWN else near(key, _NAMES) if len(key) > 4 else None
    if close is None:
        return _FOREIGN, key
    slip = close == key or (is_typo(key, close) and _is_close(key, close))
    if close not in OPTIONS:
        plural = key.lower() == close + "s"
        what = _GROUP if close in GROUP_OF_KEY else _HEADER
        return (what, close) if slip and not plural else (_FOREIGN, key)
    if close in COMMON:
        return (_COMMON if slip else _FOREIGN), close
    if close == key or (slip and len(close) >= _SHORT):
        return _OPTION, close
    likely = len(close) >= _SHORT and OPTIONS[close].offered
    return (_COMMON if likely else _FOREIGN), close


def _is_close(key: str, close: str) -> bool:
    same_letters = sorted(key.lower().replace("-", "_")) == sorted(close.lower())
    return same_letters or likeness(key, close) >= (SLIP if len(close) >= _LONG else _CLOSE)


_KNOWN = frozenset(_NAMES)
