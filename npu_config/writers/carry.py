"""What an output carries of a source: values, comments beside them, and what is lost."""

import contextlib
import os
from typing import Any, Collection, Dict, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue import ALL_OPTIONS, InvalidValue
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Severity
from npu_config.core.message import listed, phrase
from npu_config.core.names import NPU_OPTIMIZER
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind, Stated
from npu_config.core.target import ANY_TARGET, Target
from npu_config.proto import encode
from npu_config.rules.case import Case, judge_case
from npu_config.rules.reading import Below
from npu_config.rules.targets import not_read
from npu_config.rules.unwritten import is_there
from npu_config.rules.value import ConfigValue, SideFile, from_validated, of_judged
from npu_config.text.words import spelled
from npu_config.writers import WITHOUT_COMMENTS, ExtendingFile
from npu_config.writers.shared import Notes, lost_in_output

_KINDS = {
    "yaml": SourceKind.FILE,
    "toml": SourceKind.FILE,
    "json": SourceKind.FILE,
    "pbtxt": SourceKind.PROTO,
    "pb": SourceKind.PROTO,
    "python": SourceKind.SCRIPT,
    "builder": SourceKind.BUILDER,
    "run-config": SourceKind.RUN_CONFIG,
}
"""As what ``check`` judges an output; the variables of ``env`` are no configuration."""

_WITH_TARGET = ("yaml", "toml", "json", "builder")
_INSTEAD = {
    "json": "write yaml or toml, which can hold the unknown value as a comment",
    "pb": "write pbtxt, which can hold the unknown value as a comment",
}
_NOT_READ = ("unknown-option", "wrong-field", "option-not-in-version")
"""The faults of settings that the adapter does not read as they are meant."""

_ORDER = {name: index for index, name in enumerate(ALL_OPTIONS)}

Beside = Dict[str, str]
"""Option to what stands beside it."""


class Carried(NamedTuple):
    """What an output carries.

    Args:
        config: the values; its diagnostics are those of the output.
        notes: what stands beside them.
        lost: what the output can neither carry nor say.
    """

    config: ConfigValue
    notes: Notes
    lost: Tuple[Diagnostic, ...] = ()


def carry(
    source: Stated,
    target: Target,
    to: str,
    own_target: Optional[Target] = None,
    keeps: bool = False,
    folder: Optional[str] = None,
) -> Carried:
    """What an output carries of a source that holds no error.

    What ``check`` would refuse in the output becomes a comment.

    Args:
        source: what is to be written.
        target: what it is for.
        to: the format, one of ``npu_config.writers.FORMATS``.
        own_target: what the source itself says of its target.
        keeps: the output is made from the input, and keeps what is not known in it.
        folder: where the side files of the source will be; None: where the source says.

    Raises:
        NpuConfigError: the output would be refused, whatever becomes a comment.
    """
    settings = source.settings
    left: Beside = {name: phrase("{}: {}", name, said) for name, said in source.words.items()}
    entries = {
        name: setting for name, setting in settings.entries.items() if setting.value is not UNKNOWN
    }
    judged = (
        settings.source_kind is _KINDS.get(to)
        and settings.source_kind is not SourceKind.SCRIPT
        and len(entries) == len(settings.entries)
    )
    case = _case(settings, entries, target, to)
    while True:
        errors = []
        if not judged and to in _KINDS:
            errors = [d for d in judge_case(case) if d.severity is Severity.ERROR]
        refused: Dict[Any, Optional[Diagnostic]] = {
            d.option: d for d in errors if d.option in entries
        }
        if errors and not refused:
            raise NpuConfigError(errors)
        if not refused and not keeps:
            refused = {f.name: _finding(case, f.name) for f in case.faults if f.rule in _NOT_READ}
        if not refused:
            break
        for name, finding in refused.items():
            left[str(name)] = _refused(str(name), entries.pop(str(name)), finding)
        case = _case(settings, entries, target, to)
        judged = False
    config = _in_folder(of_judged(ConfigValue, case, _side_files(case)), folder)
    unused = {name: phrase("{}: {}", name, said) for name, said in source.unused.items()}
    order = sorted({**left, **unused}, key=lambda name: _ORDER.get(name, len(_ORDER)))
    beside = {name: (left.get(name) or unused[name],) for name in order}
    for name, file in config.side_files.items():
        if folder is None and not is_there(file.path):
            beside[name] = (
                phrase("{} does not exist yet; --side-files DIR writes the file", file.path),
            )
    notes = Notes(beside, tuple(_whole(source, to, own_target)))
    if to not in WITHOUT_COMMENTS:
        return Carried(config, notes)
    lost = [_lost(left[name], settings, to, name) for name in order if name in left]
    if source.more is not None:
        lost.append(_lost(source.more, settings, to))
    return Carried(config, notes, tuple(lost))


def layer_of(
    config: ConfigValue, target: Target, below: Below, extends: Tuple[str, ...]
) -> ExtendingFile:
    """What a file holds that extends others and says what a configuration says.

    Args:
        config: the configuration.
        target: what it is for.
        below: what those files set.
        extends: the files, as the new one names them.
    """
    before = {}
    for name, setting in below.entries.items():
        value = setting.value
        with contextlib.suppress(InvalidValue, KeyError):
            value = ALL_OPTIONS[name].kind.to_wire(ALL_OPTIONS[name].kind.parse(value))
        before[name] = type(value), value
    values = config.to_dict()
    return ExtendingFile(
        extends,
        frozenset(n for n, value in values.items() if before.get(n) != (type(value), value)),
        tuple(name for name in before if name not in values),
        None if target == (below.target or ANY_TARGET) else target,
    )


def _case(settings: Settings, entries: Mapping[str, Setting], target: Target, to: str) -> Case:
    """The settings as those of the output."""
    kind = _KINDS.get(to, settings.source_kind)
    return Case(Settings(entries, kind, place=settings.place), target)


def _finding(case: Case, name: str) -> Optional[Diagnostic]:
    return next((found for found in case.diagnostics if found.option == name), None)


def _refused(name: str, setting: Setting, finding: Optional[Diagnostic]) -> str:
    """What is said of a value that the output must not have."""
    value = phrase("{}: {}", name, spelled(setting.value))
    if setting.place.line is not None:
        value = phrase("{} (line {})", value, setting.place.line)
    if finding is None:
        return phrase("{}; the adapter does not read this option", value)
    return phrase("{}; {} [{}]", value, finding.message, finding.rule)


def _side_files(case: Case) -> Dict[str, SideFile]:
    """The files that came with a builder of the source."""
    return {
        name: SideFile(case.known[name], setting.content)
        for name, setting in case.entries.items()
        if setting.content is not None and isinstance(case.known.get(name), str)
    }


def _in_folder(config: ConfigValue, folder: Optional[str]) -> ConfigValue:
    """The configuration with its side files in a folder."""
    if folder is None or not config.side_files:
        return config
    files = {
        name: file._replace(path=os.path.join(folder, os.path.basename(file.path)))
        for name, file in config.side_files.items()
    }
    options = {
        name: files[name].path if name in files else v for name, v in config.options.items()
    }
    return from_validated(ConfigValue, options, config.target, config.diagnostics, files)


def _whole(source: Stated, to: str, own: Optional[Target]) -> List[str]:
    """The sentences about the output as a whole."""
    found = list(source.remarks)
    if source.more is not None:
        found.append(source.more)
    if source.arguments and to == "run-config":
        names = listed(source.arguments)
        found.append(phrase("not written, because they are not options: {}", names))
    flags = [] if own is None or to in _WITH_TARGET else list(_flags(own))
    if flags:
        found.append(
            phrase(
                "this format cannot hold the target (product, mode, CANN version); check the "
                "output with {}",
                " ".join(flags),
            )
        )
    return found


def _flags(target: Target) -> List[str]:
    """What gives the target to ``npu-config check``."""
    given = {
        "--target": None if target.product is None else target.product.value,
        "--mode": target.mode,
        "--target-cann": target.cann,
    }
    return ["{} {}".format(flag, value) for flag, value in given.items() if value is not None]


def _lost(text: str, settings: Settings, to: str, name: Optional[str] = None) -> Diagnostic:
    """The error about what an output without comments cannot say."""
    setting = None if name is None else settings.entries.get(name)
    return lost_in_output.diagnostic(
        phrase("{} cannot contain comments, so this would be lost: {}", to, text),
        settings.place if setting is None else setting.place,
        name,
        _INSTEAD[to],
    )


def without_unread(source: Stated, target: Target) -> Tuple[Stated, List[Diagnostic]]:
    """The source without what the adapter of the target does not read, and a warning of each."""
    unread = [] if target.version is None else not_read(source.settings, target)
    names = {found.option for found in unread}
    entries = source.settings.entries
    kept = {name: entry for name, entry in entries.items() if name not in names}
    words = {name: said for name, said in source.words.items() if name not in names}
    return source._replace(settings=source.settings._replace(entries=kept), words=words), [
        found.but("the value is left out", Severity.WARNING) for found in unread
    ]


def rewritten(carried: Carried, proto: Any, kept: Collection[str]) -> Tuple[Any, Notes]:
    """The ConfigProto of the input with the values of the output, and what is said of it.

    Args:
        carried: the values.
        proto: the ConfigProto that was read; it stays as it is.
        kept: the options that stay in it.
    """
    message, replaced = encode(carried.config.wire_values(), proto)
    for entry in message.graph_options.rewrite_options.custom_optimizers:
        if entry.name == NPU_OPTIMIZER:
            for name in [each for each in entry.parameter_map if each not in kept]:
                del entry.parameter_map[name]
    changed = [
        phrase("{} is changed from {} to {}, as the NPU requires", each.what, each.old, each.new)
        for each in replaced
        if "." in each.what
    ]
    return message, Notes(carried.notes.options, (*carried.notes.whole, *changed))
