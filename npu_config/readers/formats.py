"""The formats that can be read, and which of them a file is.

A format is a module with a function ``read(content, path) -> Reading`` and an entry here.
"""

import re
from importlib import import_module
from typing import Callable, Iterable, Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.readers.evidence import signs
from npu_config.readers.others import NOTEBOOK, first_line
from npu_config.sidefiles import KINDS
from npu_config.text.words import is_slip

_MIB = 1024 * 1024


class Format(NamedTuple):
    """One format.

    ``kind`` is its name (``--as``), ``module`` the reader, ``limit`` the bytes that a file
    may have; a ``binary`` reader takes bytes, the others text; one of several kinds gets the
    kind, too.  ``matters`` says of the content of a file that nobody named whether it is
    meant for us; None: :mod:`npu_config.readers.ours` looks closer.
    """

    kind: str
    suffixes: Tuple[str, ...]
    module: str
    limit: int
    binary: bool = False
    one_of_several: bool = False
    matters: Optional[Callable[[bytes], bool]] = None


LARGEST = 64 * _MIB
_SMALL = 64 * 1024
_LINE = 200
SIDE_FILES = (*KINDS, "rank-table")


def _asked(module: str) -> Callable[[bytes], bool]:
    """``may_matter`` of a module, which is imported when it is asked."""
    return lambda content: bool(import_module(module).may_matter(content))


_REWRITER = NPU_OPTIMIZER.encode()
_TEXT_NAME = re.compile(rb"""\bname[ \t]*:[ \t]*["']([\w -]{1,40})["']""")
_TEXT_KEY = re.compile(rb"""\bkey[ \t]*:[ \t]*["'](\w{1,60})["']""")
_WIRE_NAME = re.compile(rb"\n[\x08-\x10]([A-Za-z_]{8,16})\x12")


def _names_rewriter(content: bytes) -> bool:
    """Whether a ConfigProto in text form names NpuOptimizer, misspells it, or has its options."""
    if _REWRITER in content:
        return True
    if b"custom_optimizers" not in content or len(content) > _SMALL:
        return False
    return _misspells(_TEXT_NAME.findall(content)) or any(
        key.decode() in OPTIONS for key in _TEXT_KEY.findall(content)
    )


def _holds_rewriter(content: bytes) -> bool:
    """Whether a ConfigProto in bytes names NpuOptimizer, or misspells it."""
    if _REWRITER in content:
        return True
    return len(content) <= _SMALL and _misspells(_WIRE_NAME.findall(content))


def _misspells(names: Iterable[bytes]) -> bool:
    return any(is_slip(name.decode(), NPU_OPTIMIZER) for name in names)


FORMATS: Mapping[str, Format] = {
    entry.kind: entry
    for entry in (
        Format("yaml", (".yaml", ".yml"), "npu_config.readers.yaml_file", _MIB),
        Format("toml", (".toml",), "npu_config.readers.toml_file", _MIB),
        Format("json", (".json",), "npu_config.readers.json_file", _MIB),
        Format(
            "pbtxt",
            (".pbtxt",),
            "npu_config.readers.proto_text",
            4 * _MIB,
            matters=_names_rewriter,
        ),
        Format(
            "pb",
            (".pb",),
            "npu_config.readers.proto_bytes",
            LARGEST,
            True,
            matters=_holds_rewriter,
        ),
        Format(
            "script",
            (".py",),
            "npu_config.script",
            LARGEST,
            True,
            matters=_asked("npu_config.script.vocabulary"),
        ),
        Format(
            "shell",
            (".sh", ".bash", ".sbatch", ".slurm"),
            "npu_config.readers.shell_file",
            _MIB,
            True,
            matters=_asked("npu_config.launch.shell.check"),
        ),
        *(
            Format(kind, (), "npu_config.readers.side_file", LARGEST, one_of_several=True)
            for kind in SIDE_FILES
        ),
    )
}

_BY_SUFFIX = {suffix: entry.kind for entry in FORMATS.values() for suffix in entry.suffixes}
OPEN_SUFFIXES = (".json", ".cfg", ".ini", ".txt", ".config", ".aippconfig")

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
_SHELL_SHEBANG = re.compile(r"#![^\n]*\b(?:ba|da|k|z|c|tc)?sh\b")
_IMPORT = re.compile(r"^(?:import|from)[ \t]+\w", re.M)


def suffix_of(path: str) -> str:
    """The suffix of a file name, in lower case."""
    dot = path.rfind(".")
    return path[dot:].lower() if dot >= 0 else ""


def kind_of_suffix(suffix: str) -> Optional[str]:
    """The format of files with a suffix; of some of them the content may say another."""
    return _BY_SUFFIX.get(suffix)


def kind_by_suffix(path: str) -> Optional[str]:
    """The format that the name of a file promises; None when its content has to say."""
    suffix = suffix_of(path)
    return None if suffix in OPEN_SUFFIXES else _BY_SUFFIX.get(suffix)


def kind_by_content(text: str, path: str) -> Optional[str]:
    """The format that a text looks like; its name decides where that says nothing."""
    if _SHELL_SHEBANG.match(text) is not None:
        return "shell"
    from npu_config.readers.side_file import RANK_TABLE, kind_by_name, recognise

    kind = recognise(text, path) or kind_by_name(path)
    if kind is not None and (
        kind == RANK_TABLE or suffix_of(path) != ".json" or not signs(text, "json", path).evidence
    ):
        return kind
    by_suffix = _BY_SUFFIX.get(suffix_of(path))
    if by_suffix is not None:
        return by_suffix
    line = first_line(text[:_MIB])
    if _SHEBANG.match(text) or _IMPORT.search(text[:_MIB]):
        return "script"
    return next((kind for kind, sign in _SIGNS if sign.match(line)), None)


def kind_by_first_line(content: bytes, path: str) -> Optional[str]:
    """The format of a program whose name has no suffix: its first line names what runs it."""
    if not content.startswith(b"#!") or not _has_no_suffix(path):
        return None
    line = content[:_LINE].decode("utf-8", "replace")
    return "shell" if _SHELL_SHEBANG.match(line) else "script" if _SHEBANG.match(line) else None


def searched(path: str) -> int:
    """The size up to which a file that was only found in a directory is looked at; 0: none."""
    suffix = suffix_of(path)
    if suffix in _BY_SUFFIX or suffix == NOTEBOOK:
        return LARGEST
    return _SMALL if suffix in OPEN_SUFFIXES or _has_no_suffix(path) else 0


def _has_no_suffix(path: str) -> bool:
    return "." not in path.replace("\\", "/").rsplit("/", 1)[-1]
