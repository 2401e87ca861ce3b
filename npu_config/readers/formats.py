"""The formats that can be read, and how a file is told to be of one.

A format is a module with a function ``read(content, path) -> Reading`` and an entry here.
"""

import functools
import re
from itertools import islice
from typing import Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.readers.others import first_line, other_kind
from npu_config.text.words import near

_MIB = 1024 * 1024


class Format(NamedTuple):
    """One format.

    ``kind`` is its name (``--as``), ``module`` the reader, ``limit`` the bytes that a file
    may have; a ``binary`` reader takes bytes, the others text; one of several kinds is told
    which.
    """

    kind: str
    suffixes: Tuple[str, ...]
    module: str
    limit: int
    binary: bool = False
    one_of_several: bool = False


SIDE_FILES = (
    "mixlist",
    "fusion_switch",
    "op_precision",
    "customize_dtypes",
    "op_debug",
    "profiling",
    "aoe",
    "op_cache",
    "insert_op",
    "hccl_whitelist",
    "job_start",
    "rank-table",
)

LARGEST = 64 * _MIB

FORMATS: Mapping[str, Format] = {
    entry.kind: entry
    for entry in (
        Format("yaml", (".yaml", ".yml"), "npu_config.readers.yaml_file", _MIB),
        Format("toml", (".toml",), "npu_config.readers.toml_file", _MIB),
        Format("json", (".json",), "npu_config.readers.json_file", _MIB),
        Format("pbtxt", (".pbtxt",), "npu_config.readers.proto_text", 4 * _MIB),
        Format("pb", (".pb",), "npu_config.readers.proto_bytes", LARGEST, binary=True),
        Format("script", (".py",), "npu_config.script", LARGEST, binary=True),
        Format("shell", (".sh", ".bash"), "npu_config.readers.shell_file", _MIB),
        *(
            Format(kind, (), "npu_config.readers.side_file", LARGEST, one_of_several=True)
            for kind in SIDE_FILES
        ),
    )
}

_BY_SUFFIX = {suffix: entry.kind for entry in FORMATS.values() for suffix in entry.suffixes}
_OPEN_SUFFIXES = (".json", ".cfg", ".ini", ".txt", ".config", ".aippconfig")

# How the first line begins that is neither blank nor a comment.
_SIGNS = (
    (
        "pbtxt",
        re.compile(
            r"(?:graph_options|allow_soft_placement|log_device_placement|"
            r"gpu_options|device_count|\w{1,30}_op_parallelism_threads) {0,8}[:{]"
        ),
    ),
    ("toml", re.compile(r"\[[\w.\"' -]+\]|[\w.\"'-]+[ \t]*=")),
    ("json", re.compile(r"[\[{]")),
    ("yaml", re.compile(r"---|%YAML|[\w\"'-]+[ \t]*:(?:\s|\Z)")),
)
_SHEBANG = re.compile(r"#![^\n]*python")
_IMPORT = re.compile(r"^(?:import|from)[ \t]+\w", re.M)
_VERSION = re.compile(rb"""^[ \t{]*["']?version["']?[ \t]{0,8}[:=][ \t]{0,8}\d""", re.M)
_KEY = re.compile(rb"""^[ \t{]*["']?(\w{4,60})["']?[ \t]{0,8}[:=]""", re.M)
_TARGET = re.compile(
    rb"""^(?:\[target\]|[ {]{0,4}["']?target["']?[ \t]{0,8}[:=])\s{0,8}.{0,80}"""
    rb"""(?:product|cann|mode)""",
    re.M | re.S,
)
_MOST_KEYS = 200
_SIDE_MARKS = re.compile(
    rb"(?i)(?:black|white|gray)[-_]list|(?:graph|ub)_?fusion|by(?:optype|nodename)"
    rb"|op(?:type|name)::|op_debug_(?:config|list)|aipp_op|max_op_cache|(?:server|rank|group)_list"
    rb"|(?:in|out)putdtype"
)
_NAMES = (
    (re.compile(r"(?:rank_?table|hccl)[\w.-]*\.json\Z"), "rank-table"),
    (re.compile(r"ops_info[\w.-]*\.json\Z"), "mixlist"),
    (re.compile(r"fusion_switch[\w.-]*\.(?:cfg|json)\Z"), "fusion_switch"),
    (re.compile(r"op_precision[\w.-]*\.ini\Z"), "op_precision"),
    (re.compile(r"customize_dtypes[\w.-]*\.(?:cfg|txt)\Z"), "customize_dtypes"),
    (re.compile(r"[\w.-]+\.aippconfig\Z"), "insert_op"),
)


def suffix_of(path: str) -> str:
    """The suffix of a file name, in lower case."""
    dot = path.rfind(".")
    return path[dot:].lower() if dot >= 0 else ""


def kind_by_suffix(path: str) -> Optional[str]:
    """The format that the name of a file promises; None when its content has to say."""
    suffix = suffix_of(path)
    return None if suffix in _OPEN_SUFFIXES else _BY_SUFFIX.get(suffix)


def kind_by_content(text: str, path: str) -> Optional[str]:
    """The format that a text looks like; its name decides where that says nothing."""
    if not is_configuration(text[:_MIB].encode("utf-8", "replace")):
        from npu_config.readers.side_file import recognise

        kind = recognise(text, path)
        kind = kind or kind_by_name(path)
        if kind is not None:
            return kind
    by_suffix = _BY_SUFFIX.get(suffix_of(path))
    if by_suffix is not None:
        return by_suffix
    line = first_line(text[:_MIB])
    if _SHEBANG.match(text) or _IMPORT.search(text[:_MIB]):
        return "script"
    return next((kind for kind, sign in _SIGNS if sign.match(line)), None)


def kind_by_name(path: str) -> Optional[str]:
    """The kind of side file that the usual names of such files promise."""
    base = path.replace("\\", "/").rsplit("/", 1)[-1].lower()
    return next((kind for name, kind in _NAMES if name.match(base)), None)


def is_configuration(content: bytes) -> bool:
    """True for text that is meant to be a configuration of ours, though it may be wrong.

    It sets an option and has a version, or sets two; or it has a version and a key that is
    nearly an option, or a target.
    """
    versioned = _VERSION.search(content) is not None
    keys = islice(_KEY.finditer(content), _MOST_KEYS) if versioned else ()
    options = {match.group(1) for match in islice(_option_key().finditer(content), _MOST_KEYS)}
    if options:
        return versioned or len(options) > 1
    return (versioned and _TARGET.search(content) is not None) or any(
        _is_nearly_ours(match.group(1).decode("ascii", "replace")) for match in keys
    )


def _is_nearly_ours(key: str) -> bool:
    """Whether a key is nearly the distinctive name of an option."""
    return "_" in key and near(key, OPTIONS) is not None


def is_ours(path: str, content: bytes) -> bool:
    """Whether the content of a file that was only found in a directory is meant for us."""
    suffix = suffix_of(path)
    if suffix in (".pbtxt", ".pb"):
        return b"NpuOptimizer" in content
    if suffix == ".py":
        from npu_config.script import may_matter

        return may_matter(content)
    if suffix in (".sh", ".bash"):
        from npu_config.cluster.shell.check import mentions_npu

        return mentions_npu(content)
    if suffix in _OPEN_SUFFIXES and _SIDE_MARKS.search(content) is not None:
        from npu_config.readers.side_file import recognise

        text = content[:_MIB].decode("utf-8", "replace")
        if other_kind(text, content, path) is not None:
            return False
        if recognise(text, path) is not None:
            return True
    return suffix in _BY_SUFFIX and is_configuration(content)


@functools.lru_cache(maxsize=None)
def _option_key() -> "re.Pattern[bytes]":
    names = "|".join(name for name, option in OPTIONS.items() if option.offered)
    return re.compile(r"""(?<![\w.$-])({})["']?[ \t]{{0,8}}[:=]""".format(names).encode("ascii"))
