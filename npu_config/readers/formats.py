"""The formats that can be read, and how a file is told to be of one.

A format is a module with a function ``read(content, path) -> Reading`` and an entry here.
"""

import functools
import re
from typing import Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue import OPTIONS

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
_OPEN_SUFFIXES = (".json", ".cfg", ".ini")

# The first lines that say what a text is; a comment or a blank line says nothing.
_SIGNS = (
    ("json", re.compile(r"\s*[\[{]")),
    ("script", re.compile(r"#!.*python|(?:[\s\S]*\n)?(?:import|from)[ \t]+\w")),
    (
        "pbtxt",
        re.compile(
            r"(?:\s|#[^\n]*\n)*(?:graph_options|allow_soft_placement|log_device_placement|"
            r"gpu_options|device_count|\w+_op_parallelism_threads)\s*[:{]"
        ),
    ),
    ("toml", re.compile(r"(?:\s|#[^\n]*\n)*(?:\[[\w.\"' -]+\]|[\w.\"'-]+[ \t]*=)")),
    ("yaml", re.compile(r"(?:\s|#[^\n]*\n)*(?:---|%YAML|[\w\"'-]+[ \t]*:(?:\s|\Z))")),
)
_VERSION = re.compile(rb"""^\s*[{]?\s*["']?version["']?\s*[:=]\s*1\b""", re.M)
_SIDE_MARKS = re.compile(
    rb"(?i)(?:black|white|gray)[-_]list|(?:graph|ub)_?fusion|by(?:optype|nodename)"
    rb"|op(?:type|name)::|op_debug_(?:config|list)|aipp_op|max_op_cache|(?:server|rank|group)_list"
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
        if kind is not None:
            return kind
    by_suffix = _BY_SUFFIX.get(suffix_of(path))
    if by_suffix is not None:
        return by_suffix
    for kind, sign in _SIGNS:
        if sign.match(text):
            return kind
    return None


def is_configuration(content: bytes) -> bool:
    """True for text that has a version and sets an option."""
    return _VERSION.search(content) is not None and _option_key().search(content) is not None


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

        if recognise(content[:_MIB].decode("utf-8", "replace"), path) is not None:
            return True
    return suffix in _BY_SUFFIX and is_configuration(content)


@functools.lru_cache(maxsize=None)
def _option_key() -> "re.Pattern[bytes]":
    names = "|".join(name for name, option in OPTIONS.items() if option.offered)
    return re.compile(r"""[\s{{,"'](?:{})["']?\s*[:=]""".format(names).encode("ascii"))
