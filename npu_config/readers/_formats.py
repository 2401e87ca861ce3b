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
    may have; a ``binary`` reader takes bytes, the others text.
    """

    kind: str
    suffixes: Tuple[str, ...]
    module: str
    limit: int
    binary: bool = False


FORMATS: Mapping[str, Format] = {
    entry.kind: entry
    for entry in (
        Format("yaml", (".yaml", ".yml"), "yaml_file", _MIB),
        Format("toml", (".toml",), "toml_file", _MIB),
        Format("json", (".json",), "json_file", _MIB),
        Format("pbtxt", (".pbtxt",), "proto_text", 4 * _MIB),
        Format("pb", (".pb",), "proto_bytes", 64 * _MIB, binary=True),
    )
}

LARGEST = 64 * _MIB

_BY_SUFFIX = {suffix: entry.kind for entry in FORMATS.values() for suffix in entry.suffixes}

# The first lines that say what a text is; a comment or a blank line says nothing.
_SIGNS = (
    ("json", re.compile(r"\s*[\[{]")),
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


def kind_by_suffix(path: str) -> Optional[str]:
    """The format that the name of a file promises."""
    dot = path.rfind(".")
    return _BY_SUFFIX.get(path[dot:].lower()) if dot >= 0 else None


def kind_by_content(text: str) -> Optional[str]:
    """The format that a text looks like."""
    for kind, sign in _SIGNS:
        if sign.match(text):
            return kind
    return None


def is_ours(kind: str, content: bytes) -> bool:
    """Whether the content of a file that was only found is meant for this package."""
    if kind in ("pbtxt", "pb"):
        return b"NpuOptimizer" in content
    return _VERSION.search(content) is not None and _option_key().search(content) is not None


_VERSION = re.compile(rb"""^\s*[{]?\s*["']?version["']?\s*[:=]\s*1\b""", re.M)


@functools.lru_cache(maxsize=None)
def _option_key() -> "re.Pattern[bytes]":
    names = "|".join(name for name, option in OPTIONS.items() if option.offered)
    return re.compile(r"""[\s{{,"'](?:{})["']?\s*[:=]""".format(names).encode("ascii"))
