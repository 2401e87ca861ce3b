"""The formats that can be read, and which of them a file is.

A format is a module with a function ``read(content, path) -> Reading`` and an entry here.
"""

import os
import re
from importlib import import_module
from typing import Callable, Iterable, Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue import OPTIONS
from npu_config.core.message import phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.patterns import lazy_pattern
from npu_config.proto.wire import BYTES, VARINT, WireError, fields
from npu_config.readers.evidence import signs
from npu_config.sidefiles import KINDS
from npu_config.text.words import is_typo

_TOP = 65536
NOTEBOOK = ".ipynb"

_GRAPH_TEXT = lazy_pattern(
    r"(?:node|meta_info_def|graph_def|saver_def|library) {0,8}:? {0,8}[{<]|saved_model_"
)
_FUSION_RESULT = lazy_pattern(r'"(?:session_and_graph_id\w{0,40}|match_times|effect_times)" *:')
_ACL = lazy_pattern(
    r'"(?:dump_(?:list|op_switch|debug|scene|stats|level)|aicore_metrics|err_msg_mode)" *:'
)
_ACL_BLOCK = lazy_pattern(r'"(?:dump|profiler)" *: *\{')
_LOSS = lazy_pattern(r"loss[ _]scal|global_step|step ?[=:] ?\d", re.IGNORECASE)
_MANIFEST = (
    lazy_pattern(r"^apiVersion: {0,8}\S", re.MULTILINE),
    lazy_pattern(r"^kind: {0,8}\S", re.MULTILINE),
)
_PLACEHOLDER = lazy_pattern(
    r"\$\{\w{1,60}\}|\{\{ ?[\w.]{1,60} ?\}\}|\{[A-Za-z_]\w{0,60}\}|%\(\w{1,60}\)s|<%= ?\w{1,60}"
)


class Other(NamedTuple):
    """``what`` a file is, and what to do with it; ``is_mistake`` where naming it is one."""

    what: str
    help: str
    is_mistake: bool = True


def other_kind(text: Optional[str], data: bytes, path: str) -> Optional[Other]:
    """The kind of a file that `check` does not take; None when it may be one of ours.

    Args:
        text: the content; None when it is not text.
        data: the content.
        path: the file.
    """
    base = os.path.basename(path)
    lower = base.lower()
    if lower.endswith(NOTEBOOK):
        help = phrase("check what it exports: jupyter nbconvert --to script {}", path)
        return Other("a notebook", help, False)
    if ".tfevents." in base:
        return Other("a TensorFlow event file", phrase("run: npu-config loss-scale {}", path))
    if lower.endswith(".pb") and _is_graph(data):
        return _graph(path)
    if lower.endswith((".meta", ".ckpt")):
        return _graph(path)
    if text is None or "\0" in text[:_TOP]:
        return _graph(path) if _is_graph(data) else None
    top = text[:_TOP]
    if lower.startswith("op_summary") and lower.endswith(".csv"):
        return Other(
            "an operator table of the profiler", phrase("run: npu-config op-summary {}", path)
        )
    if lower.endswith((".yaml", ".yml")) and all(key.search(top) for key in _MANIFEST):
        return Other(
            "a Kubernetes manifest", phrase("run: kubectl apply --dry-run=client -f {}", path)
        )
    if _GRAPH_TEXT.match(first_line(top)) is not None:
        return _graph(path)
    if top.lstrip("\ufeff \t\r\n")[:1] in ("{", "["):
        if lower.startswith(("changeinfo", "change_info")):
            return Other(
                "a change-info file of HCCL, not a rank table",
                "name the rank table: npu-config check rank_table.json",
            )
        if lower.startswith("fusion_result") or _FUSION_RESULT.search(top):
            return Other(
                "a fusion_result.json, which the compiler writes",
                phrase("run: npu-config fusion-result {}", path),
            )
        if _ACL_BLOCK.search(top) and _ACL.search(top):
            return Other(
                "an acl.json, the configuration of AscendCL",
                "TensorFlow does not read it: set the options of the session instead, for a dump "
                "enable_dump and dump_path",
            )
        return None
    if lower.endswith((".log", ".out")) and _LOSS.search(top):
        return Other("the log of a training run", phrase("run: npu-config loss-scale {}", path))
    return None


def placeholder(text: str) -> "Optional[re.Match[str]]":
    """Where a JSON text has a placeholder that a script fills in, outside of its strings."""
    outside = re.sub(r'"[^"\n]{0,4000}"', lambda match: " " * len(match.group()), text[:_TOP])
    return _PLACEHOLDER.search(outside)


def first_line(text: str) -> str:
    """The first line that is neither blank nor a comment, without blanks around it."""
    for line in text.lstrip("\ufeff").splitlines():
        content = line.strip()
        if content and not content.startswith("#"):
            return content
    return ""


def _graph(path: str) -> Other:
    return Other("a graph", phrase("run: npu-config diagnose {}", path))


def _is_graph(data: bytes) -> bool:
    """Whether bytes begin as a GraphDef (a node with a name and an operator) or SavedModel.

    A ConfigProto may begin with a field of the same number, but its second part is a number.
    """
    try:
        for field in fields(data):
            if field.number != 1:
                return False
            if field.kind == VARINT:
                return data[2:3] == b"\x12" and b"\n" in data[:64]
            inner = {part.number: part.kind for part in fields(field.value)}
            return inner.get(1) == BYTES and inner.get(2) == BYTES
    except WireError:
        pass
    return False


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
_TEXT_NAME = lazy_pattern(rb"""\bname[ \t]*:[ \t]*["']([\w -]{1,40})["']""")
_TEXT_KEY = lazy_pattern(rb"""\bkey[ \t]*:[ \t]*["'](\w{1,60})["']""")
_WIRE_NAME = lazy_pattern(rb"\n[\x08-\x10]([A-Za-z_]{8,16})\x12")


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
    return any(is_typo(name.decode(), NPU_OPTIMIZER) for name in names)


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
        lazy_pattern(
            r"(?:graph_options|allow_soft_placement|log_device_placement|"
            r"gpu_options|device_count|\w{1,30}_op_parallelism_threads) {0,8}[:{]"
        ),
    ),
    ("toml", lazy_pattern(r"\[[\w.\"' -]+\]|[\w.\"'-]+[ \t]*=")),
    ("json", lazy_pattern(r"[\[{]")),
    ("yaml", lazy_pattern(r"---|%YAML|[\w\"'-]+[ \t]*:(?:\s|\Z)")),
)
_SHEBANG = lazy_pattern(r"#![^\n]*python")
_SHELL_SHEBANG = lazy_pattern(r"#![^\n]*\b(?:ba|da|k|z|c|tc)?sh\b")
_IMPORT = lazy_pattern(r"^(?:import|from)[ \t]+\w", re.M)


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
