"""Readers: from a file to settings, whatever its format; which format a file has, and whose it is.

A format is a module with a function ``read(content, path) -> Reading`` and an entry in
:data:`FORMATS`.  A reader never raises for any content: what is wrong is a diagnostic.

Whose a file is that nobody named is one decision for walks, ``--if-ours``, hook and editor:
configurations are decided by :mod:`npu_config.readers.evidence`, scripts by whether they name
something of the NPU, side files by what only they hold, ConfigProtos by NpuOptimizer.
"""

import os
import re
from importlib import import_module
from shlex import quote
from typing import Callable, Iterable, Mapping, NamedTuple, Optional, Tuple, Union

import attr

from npu_config.catalogue import OPTIONS
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.lazy import lazy_pattern
from npu_config.core.message import listed, phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.paths import PathLike, path_name
from npu_config.proto import wire
from npu_config.readers import _rules as rules
from npu_config.readers.evidence import KINDS as CONFIGURATIONS
from npu_config.readers.evidence import TOP, Signs, is_version_alone, signs
from npu_config.rules.reading import ANOTHER_PROGRAM, CANNOT_BE_READ, TEMPLATE, Reading
from npu_config.sidefiles import KINDS as SIDE_FILE_KINDS
from npu_config.sidefiles import MARKS
from npu_config.text.rules import not_checked_here
from npu_config.text.source import BYTES, Source, decode, guarded, load, too_large
from npu_config.text.words import is_typo, shown

__all__ = [
    "Ownership",
    "is_ours",
    "KINDS",
    "LARGEST",
    "NOTHING_OF_NPU",
    "RULES_OF_OTHERS",
    "Reading",
    "read",
    "read_found",
    "read_if_ours",
]

_TOP = 65536
NOTEBOOK = ".ipynb"

_GRAPH_TEXT = lazy_pattern(
    r"(?:node|meta_info_def|graph_def|saver_def|library) {0,8}:? {0,8}[{<]|saved_model_"
)
_FUSION_RESULT = lazy_pattern(r'"(?:session_and_graph_id\w{0,40}|match_times|effect_times)" *:')
_ACL = lazy_pattern(
    r'"(?:dump_(?:list|op_switch|debug|scene|stats|level)|aic(?:ore)?_metrics|switch'
    r'|err_msg_mode)" *:'
)
_ACL_BLOCK = lazy_pattern(r'"(?:dump|profiler)" *: *\{')
_OF_GROUPS = lazy_pattern(r'"server_group_list" *: *\[')
_RANK_TABLE = "pass the rank table instead: npu-config check rank_table.json"
_LOSS = lazy_pattern(r"loss[ _]scal|global_step|step ?[=:] ?\d", re.IGNORECASE)
_LOG = lazy_pattern(
    r"^(?:\[\d{1,6},\d{1,6}\]<std\w{3}>:)?(?:"
    r"\[(?:ERROR|WARNING|INFO|DEBUG|EVENT|TRACE)\] ?[A-Z][A-Z0-9_]{1,20}\(-?\d|"
    r"[EW][A-Z0-9]\d{4}: \S|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: [IWEF] |"
    r"Traceback \(most recent call last\):)",
    re.MULTILINE,
)
_VARIABLE = lazy_pattern(r"(?:export[ \t]+)?([A-Za-z_]\w{0,99})[ \t]*=|unset[ \t]+\w")
_COMPOSE = (
    lazy_pattern(r"^services[ \t]{0,8}:[ \t]{0,8}(?:#|$)", re.M),
    lazy_pattern(r"^[ \t]{1,16}(?:image|build)[ \t]{0,8}:", re.M),
)
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
    base, path = os.path.basename(path), quote(path)
    lower = base.lower()
    if lower.endswith(NOTEBOOK):
        help = phrase("check the exported script: jupyter nbconvert --to script {}", path)
        return Other(phrase("a notebook"), help, False)
    if ".tfevents." in base:
        return Other(
            phrase("a TensorFlow event file"), phrase("run: npu-config loss-scale {}", path)
        )
    if lower.endswith(".pb") and _is_graph(data):
        return _graph(path)
    if lower.endswith((".meta", ".ckpt")):
        return _graph(path)
    if text is None or "\0" in text[:_TOP]:
        return _graph(path) if _is_graph(data) else None
    top = text[:_TOP]
    if lower.startswith("op_summary") and lower.endswith(".csv"):
        return Other(
            phrase("an operator table of the profiler"),
            phrase("run: npu-config op-summary {}", path),
        )
    if lower.endswith((".yaml", ".yml")) and all(key.search(top) for key in _MANIFEST):
        return Other(
            phrase("a Kubernetes manifest"),
            phrase("run: kubectl apply --dry-run=client -f {}", path),
        )
    if lower.endswith((".yaml", ".yml")) and all(key.search(top) for key in _COMPOSE):
        return Other(
            phrase("a Docker Compose file"),
            "write the variables to a file, and run: npu-config env --check FILE",
        )
    if lower in ("makefile", "gnumakefile") or lower.endswith(".mk"):
        return Other(phrase("a makefile"), "check the launch scripts that this file calls")
    if _GRAPH_TEXT.match(first_line(top)) is not None:
        return _graph(path)
    if top.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") and not is_log(top, lower):
        if lower.startswith(("changeinfo", "change_info")):
            return Other(phrase("a change-info file of HCCL, not a rank table"), _RANK_TABLE)
        if _OF_GROUPS.search(top):
            return Other(
                phrase("the global table of an inference cluster, not a rank table"), _RANK_TABLE
            )
        if lower.startswith("fusion_result") or _FUSION_RESULT.search(top):
            return Other(
                phrase("a fusion_result.json, which the compiler writes"),
                phrase("run: npu-config fusion-result {}", path),
            )
        if _ACL_BLOCK.search(top) and _ACL.search(top):
            return Other(
                phrase("an acl.json, the configuration of AscendCL"),
                "TensorFlow does not read this file: set the session options instead, e.g. "
                "enable_dump and dump_path for a dump",
            )
        return None
    if _sets_variables(top, lower):
        return Other(
            phrase("a file of environment variables"),
            phrase("run: npu-config env --check {}", path),
        )
    if is_log(top, lower):
        return Other(phrase("a log"), phrase("run: npu-config log {}", path))
    if lower.endswith((".log", ".out")) and _LOSS.search(top):
        return Other(
            phrase("the log of a training run"), phrase("run: npu-config loss-scale {}", path)
        )
    return None


def _sets_variables(text: str, name: str) -> bool:
    """Whether a text is ``NAME=value`` line by line, with variables that jobs have.

    Of a file whose name says it, some lines may be wrong: ``env --check`` reports them.
    """
    if kind_of_suffix(suffix_of(name)) is not None or text.startswith("#!"):
        return False
    lines = (line.strip() for line in text.splitlines())
    found = [_VARIABLE.match(line) for line in lines if line and not line.startswith("#")]
    if None in found and not name.endswith(".env"):
        return False
    from npu_config.launch.environment.variables import VARIABLES

    return any(match is not None and match.group(1) in VARIABLES for match in found)


def is_log(text: str, name: str) -> bool:
    """Whether the beginning of a file is that of a log: of CANN, of TensorFlow, of a failed job.

    Args:
        text: its beginning.
        name: its name.
    """
    kind = kind_of_suffix(suffix_of(name))
    return (kind is None or name.endswith(".log")) and _LOG.search(text[:_TOP]) is not None


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
    return Other(phrase("a graph"), phrase("run: npu-config diagnose {}", path))


def _is_graph(data: bytes) -> bool:
    """Whether bytes begin as a GraphDef (a node with a name and an operator) or SavedModel.

    A ConfigProto may begin with a field of the same number, but its second part is a number.
    """
    try:
        for number, kind, value in wire.fields(data):
            if number != 1:
                return False
            if kind == wire.VARINT:
                return data[2:3] == b"\x12" and b"\n" in data[:64]
            inner = wire.WireMessage(value)
            return (1, wire.BYTES) in inner and (2, wire.BYTES) in inner
    except wire.WireError:
        pass
    return False


_MIB = 1024 * 1024


class FileFormat(NamedTuple):
    """One format.

    ``kind`` is its name (``--as``), ``module`` the reader, ``limit`` the bytes that a file
    may have; a ``binary`` reader takes bytes, the others text; one of several kinds gets the
    kind, too.  ``matters`` says of the content of a file that nobody named whether it is
    meant for us; None: :mod:`npu_config.readers` looks closer.
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
SIDE_FILES = (*SIDE_FILE_KINDS, "rank-table")


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


FORMATS: Mapping[str, FileFormat] = {
    entry.kind: entry
    for entry in (
        FileFormat("yaml", (".yaml", ".yml"), "npu_config.readers.yaml_file", _MIB),
        FileFormat("toml", (".toml",), "npu_config.readers.toml_file", _MIB),
        FileFormat("json", (".json",), "npu_config.readers.json_file", _MIB),
        FileFormat("record", (), "npu_config.readers.record_file", 16 * _MIB),
        FileFormat(
            "pbtxt",
            (".pbtxt",),
            "npu_config.readers.proto_file",
            4 * _MIB,
            matters=_names_rewriter,
        ),
        FileFormat(
            "pb",
            (".pb",),
            "npu_config.readers.proto_file",
            LARGEST,
            True,
            matters=_holds_rewriter,
        ),
        FileFormat(
            "script",
            (".py",),
            "npu_config.script",
            LARGEST,
            True,
            matters=_asked("npu_config.script.vocabulary"),
        ),
        FileFormat(
            "shell",
            (".sh", ".bash", ".sbatch", ".slurm"),
            "npu_config.readers.shell_file",
            _MIB,
            True,
            matters=_asked("npu_config.launch.shell.check"),
        ),
        *(
            FileFormat(kind, (), "npu_config.readers.side_file", LARGEST, one_of_several=True)
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
    if '"npu_config' in text[:_LINE]:
        from npu_config.readers.record_file import is_record

        if is_record(text):
            return "record"
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


_SIDE_MARKS = lazy_pattern(rb"(?:server|rank|group)_list|" + "|".join(MARKS).encode("ascii"))
"""Searched for in lower case, which takes a third of the time that (?i) does."""

_MOST_NAMES = 3
_MOST_BYTES = 1 << 20


class Ownership(NamedTuple):
    """Whether a file is ours, and why; true in a condition when it is.

    Args:
        ours: it is read and judged.
        reason: what the decision rests on, as half a sentence.
        nearly: it is not ours, and so much like one that this is worth saying.
    """

    ours: bool
    reason: str
    nearly: bool = False

    def __bool__(self) -> bool:
        return self.ours


RULES_OF_OTHERS = tuple(
    rule.id
    for rule in (
        rules.foreign_file,
        rules.unknown_file_kind,
        rules.file_of_another_kind,
        not_checked_here,
    )
)
"""What is said of named files that are not ours: where they are just open they draw nothing."""

NOTHING_OF_NPU = "the file sets no option of the NPU"
_NO_KIND = Ownership(False, "unsupported file type")
_RECORD = Ownership(False, "this file is the record of the options of a job, not a configuration")
_TAKEN = Ownership(True, "the file refers to the NPU")
_SIDE_FILE = Ownership(True, "the content is a rank table or a file that an NPU option refers to")


def is_ours(path: str, content: bytes, named: bool = False) -> Ownership:
    """Decide whether the content of a file is meant for npu_config.

    Args:
        path: the file; its name is evidence, too.
        content: what is in it, in any encoding.
        named: the user named the file, and a walk did not just find it.
    """
    suffix = suffix_of(path)
    if suffix == NOTEBOOK:  # that it is not checked must be said
        return _TAKEN
    kind = kind_of_suffix(suffix) or kind_by_first_line(content, path)
    if kind is None and suffix not in OPEN_SUFFIXES:
        return _NO_KIND
    matters = None if kind is None else FORMATS[kind].matters
    if matters is not None:
        return _TAKEN if matters(content) else Ownership(False, NOTHING_OF_NPU)
    text = _top(content)
    other = other_kind(text, content, path)
    if other is not None:
        return Ownership(False, phrase("this is {}", other.what))
    if b'"npu_config' in content[:_LINE]:
        from npu_config.readers.record_file import is_record

        if is_record(text):
            return _RECORD
    decision = _NO_KIND if kind is None else _of_configuration(signs(text, kind, path, named))
    if decision or suffix not in OPEN_SUFFIXES or not _SIDE_MARKS.search(content.lower()):
        return decision
    from npu_config.readers.side_file import is_unmistakable

    whole = content[:_MOST_BYTES].decode("utf-8", "replace")
    return _SIDE_FILE if is_unmistakable(whole, path) else decision


def _of_configuration(found: Signs) -> Ownership:
    """What the top of a file of YAML, TOML or JSON says."""
    evidence = found.evidence
    if evidence is not None:
        return Ownership(True, evidence.reason)
    if not found.is_nearly_ours:
        return _NO_KIND
    if found.misplaced is not None and not found.options:
        reason = 'the options are under "{}", which is not a group of options'
        return Ownership(False, phrase(reason, found.misplaced), nearly=True)
    names = (*found.options, *found.common)
    if not names:
        reason = "the file has the name of a configuration, but sets no option"
        return Ownership(False, reason, nearly=True)
    if not found.foreign:
        reason = "the file sets only {}, which other programs also use"
        return Ownership(False, phrase(reason, listed(map(shown, names))), nearly=True)
    reason = phrase(
        "the file sets {}, but most of its keys are not names of NPU options: {}",
        listed(map(shown, names[:_MOST_NAMES])),
        listed(map(shown, found.foreign[:_MOST_NAMES])),
    )
    return Ownership(False, reason, nearly=True)


def _top(content: bytes) -> str:
    """The beginning of a text, also of one in an encoding that its reader will refuse."""
    top = content[: 4 * TOP]
    if top.startswith((b"\xff\xfe", b"\xfe\xff")):
        return top.decode("utf-16", "replace")
    if top[1:2] == b"\0" or top[:1] == b"\0":
        return top.decode("utf-16-le" if top[1:2] == b"\0" else "utf-16-be", "replace")
    return top.decode("utf-8", "replace")


KINDS: Tuple[str, ...] = tuple(FORMATS)
"""What a file can be read as."""


def read(
    path: PathLike, as_kind: Optional[str] = None, content: Union[bytes, str, None] = None
) -> Reading:
    """Read one file.

    Args:
        path: the file; with ``content``, only its name in diagnostics.
        as_kind: one of :data:`KINDS`; None: by the suffix, else by the content.
        content: what to read in place of the file.

    Raises:
        ValueError: ``as_kind`` is none of :data:`KINDS`.
    """
    name = path_name(path)
    if as_kind is not None and as_kind not in FORMATS:
        raise ValueError(phrase('unknown kind "{}"; legal: {}', as_kind, listed(KINDS)))
    reading = _alone(name, as_kind, content)
    if not reading.bases:
        return reading
    from npu_config.readers.layers import with_bases

    try:
        with guarded(name):
            return with_bases(reading, _alone)
    except NpuConfigError as error:
        return attr.evolve(reading, diagnostics=(*reading.diagnostics, *error.diagnostics))


def _alone(
    name: str, as_kind: Optional[str] = None, content: Union[bytes, str, None] = None
) -> Reading:
    """What one file says, without those that it extends."""
    try:
        with guarded(name):
            return _read(name, as_kind or kind_by_suffix(name), content, as_kind is None)
    except NpuConfigError as error:
        return _nothing(as_kind, name, *error.diagnostics)


def _read(
    name: str, kind: Optional[str], content: Union[bytes, str, None], guess: bool
) -> Reading:
    if content is None:
        loaded = load(name, LARGEST if kind is None else FORMATS[kind].limit)
        if isinstance(loaded, Diagnostic):
            return _nothing(kind, name, loaded)
        content = loaded
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    text: Optional[str] = None
    if guess and kind not in ("script", "shell"):
        other = other_kind(decode(data[:_TOP], name)[0], data, name)
        if other is not None:
            message = phrase("this is {}, which is not checked here", other.what)
            rule = rules.file_of_another_kind if other.is_mistake else rules.not_checked_here
            diagnostic = rule.diagnostic(message, Place(name), help=other.help)
            return _nothing(None, name, diagnostic, why=other.what)
    if kind is None or not FORMATS[kind].binary:
        text, fault = decode(data, name)
        if kind is None:
            kind = _kind_of(text, data, name)
        if fault is not None and kind is not None and _takes_any_bytes(kind):
            reading = _read_as(FORMATS[kind], data.decode(BYTES), data, name)
            return attr.evolve(reading, encoding=BYTES)
        if kind is None or (fault is not None and not FORMATS[kind].binary):
            if fault is None:
                return _nothing(kind, name, _unknown(name), why="unsupported file type")
            return _nothing(kind, name, fault)
    entry = FORMATS[kind]
    if len(data) > entry.limit:
        return _nothing(kind, name, too_large(name, entry.limit))
    if text is not None and (kind == "json" or (entry.one_of_several and _is_object(text))):
        hole = _template(text)
        if hole is not None:
            message = (
                "this file is a template: a script replaces {} later; check the generated file"
            )
            place = Source(text, name).place(*hole.span())
            note = rules.template.diagnostic(phrase(message, shown(hole.group())), place)
            return Reading(kind, name, diagnostics=(note,), text=text, unchecked=TEMPLATE)
    if guess and text is not None and kind == "json" and is_version_alone(text):
        return _nothing(kind, name, _unknown(name), why="unsupported file type")
    if guess and text is not None and kind in CONFIGURATIONS:
        reading = _read_as(entry, text, data, name)
        if not reading.diagnostics and _sets_options_alone(reading):
            return reading
        found = signs(text, kind, name, named=True)
        if found.is_foreign:
            return _nothing(kind, name, _foreign(found, name), why=ANOTHER_PROGRAM)
        names = (*found.options, *found.common, *found.groups)
        is_ours = bool(found.evidence) or (not found.foreign and bool(names))
        return reading if is_ours else attr.evolve(reading, fixable=False)
    return _read_as(entry, text, data, name)


def read_found(
    path: PathLike, as_kind: Optional[str] = None, content: Optional[bytes] = None
) -> Union[Reading, Ownership]:
    """Read a file that nobody named, found in a directory; or say why it is passed over.

    Args:
        path: the file.
        as_kind: as in :func:`read`.
        content: as in :func:`read`.
    """
    name = path_name(path)
    largest = searched(name)
    if content is None and largest:
        loaded = load(name, largest)
        if isinstance(loaded, Diagnostic):
            return Ownership(False, loaded.message, nearly=largest == LARGEST)
        content = loaded
    decision = is_ours(name, content or b"")
    return read(name, as_kind, content) if decision else decision


def read_if_ours(
    path: PathLike, as_kind: Optional[str] = None, content: Optional[bytes] = None
) -> Optional[Reading]:
    """As :func:`read_found`; None for what is passed over."""
    found = read_found(path, as_kind, content)
    return found if isinstance(found, Reading) else None


def _is_object(text: str) -> bool:
    from npu_config.sidefiles.format import Sample

    return Sample(text).is_json


def _template(text: str) -> "Optional[re.Match[str]]":
    """A placeholder in a text that is not JSON because of it."""
    hole = placeholder(text)
    if hole is not None:
        import json

        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return hole
    return None


def _read_as(entry: FileFormat, text: Optional[str], data: bytes, path: str) -> Reading:
    reader = import_module(entry.module)
    content = data if entry.binary else text
    reading: Reading = (
        reader.read(content, path, entry.kind)
        if entry.one_of_several
        else reader.read(content, path)
    )
    return reading


def _sets_options_alone(reading: Reading) -> bool:
    """Whether a file sets options and nothing else: whose it is need not be asked."""
    names = [name for settings in reading.settings for name in settings.entries]
    return bool(names) and all(name in OPTIONS for name in names)


def _kind_of(text: Optional[str], data: bytes, path: str) -> Optional[str]:
    """The kind of a file whose name does not say it."""
    if text is not None and "\0" not in text:
        return kind_by_content(text, path)
    if b"NpuOptimizer" in data or b"\0" in data:
        return "pb" if b"NpuOptimizer" in data else None
    kind = kind_by_content(data.decode(BYTES), path)
    return kind if kind is not None and _takes_any_bytes(kind) else None


def _takes_any_bytes(kind: str) -> bool:
    """Whether the runtime reads files of this kind byte by byte."""
    from npu_config.readers.side_file import format_of

    return kind in SIDE_FILES and format_of(kind).any_bytes


def _unknown(path: str) -> Diagnostic:
    return rules.unknown_file_kind.diagnostic(
        "the file type cannot be determined from the name or the content",
        Place(path),
        help=phrase("set the type with --as {}", "|".join(KINDS)),
    )


def _foreign(found: Signs, path: str) -> Diagnostic:
    """What is said of a file that is named and looks like one of another program."""
    first = listed(map(shown, found.foreign[:3]))
    ours = (*found.options, *found.common)
    if found.misplaced is not None and not ours:
        message = phrase(
            "{} contains options, but is not a group of options: either the name is wrong, "
            "or this file belongs to another program",
            shown(found.misplaced),
        )
        help = phrase("move the options under {} to a file of their own", shown(found.misplaced))
        return rules.foreign_file.diagnostic(message, Place(path), help=help)
    if ours:
        message = phrase(
            "this file belongs to another program: of its top-level keys only {} can be an "
            "option; others: {}",
            listed(map(shown, ours[:3])),
            first,
        )
    else:
        message = phrase(
            "this file belongs to another program: no top-level key is an option or a group "
            "of options ({})",
            first,
        )
    return rules.foreign_file.diagnostic(message, Place(path))


def _nothing(
    kind: Optional[str], path: str, *diagnostics: Diagnostic, why: str = CANNOT_BE_READ
) -> Reading:
    return Reading(kind or "", path, diagnostics=diagnostics, unchecked=why)
