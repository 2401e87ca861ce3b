"""What is really in effect: every option with its value and where that comes from.

A value may be set (in a file, in one that it extends, on the command line, in a script, by a call
of the builder), be implied by a task or another option, be replaced by the adapter, or be the
default of the version.
"""

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from npu_config.catalogue import ALL_OPTIONS, known_to
from npu_config.core.diagnostics import Place
from npu_config.core.message import phrase
from npu_config.core.settings import UNKNOWN, Setting, Settings, SourceKind
from npu_config.core.target import ANY_TARGET, Target
from npu_config.rules.case import Case
from npu_config.rules.names import read_instead
from npu_config.rules.overrides import ORIGIN
from npu_config.rules.timeouts import HCCL_UNIT, ROUNDING_PRODUCTS, rounded

__all__ = ["KINDS", "Effective", "Origin", "effective", "origin_of"]


class Origin(NamedTuple):
    """Where a value comes from.

    Args:
        kind: one of :data:`KINDS`.
        path: the file; None where there is none.
        line: the line in it.
        by: what set it there: a call, ``NAME=VALUE``, an option, a version.
    """

    kind: str
    path: Optional[str] = None
    line: Optional[int] = None
    by: Optional[str] = None

    def __str__(self) -> str:
        where = str(Place(self.path, self.line)) if self.path is not None else ""
        return str(_WORDS[self.kind](where, self.by or ""))

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> "Origin":
        """The origin of an object of the JSON output; the kind "record" where it has none."""
        kind, path, line, by = (found.get(name) for name in cls._fields)
        return cls(
            kind if kind in KINDS else "record",
            path if isinstance(path, str) else None,
            line if type(line) is int else None,
            by if isinstance(by, str) else None,
        )


def _said(words: str, by_words: str = "{}") -> Any:
    """How a kind is said: the place, or ``words``, and what set it there."""

    def say(where: str, by: str) -> str:
        said = phrase(by_words, by) if by else ""
        if not where:
            return said or phrase(words)
        return phrase("{}, {}", where, said) if said else where

    return say


_WORDS: Mapping[str, Any] = {
    "file": _said("a file"),
    "extends": lambda where, _: phrase("{} (base file)", where),
    "set": lambda _, by: phrase("--set {}", by),
    "script": _said("the script"),
    "builder": _said("the configuration builder"),
    "implied": _said("implied", "implied by {}"),
    "adapter": lambda _, by: phrase("the adapter: {}", by),
    "default": _said("default", "default of {}"),
    "record": _said("the record of the job"),
}
KINDS: Tuple[str, ...] = tuple(_WORDS)
"""Where a value may come from."""

_OF_SOURCE: Mapping[SourceKind, str] = {
    SourceKind.BUILDER: "builder",
    SourceKind.FILE: "file",
    SourceKind.PROTO: "file",
    SourceKind.SCRIPT: "script",
    SourceKind.RUN_CONFIG: "script",
}


def origin_of(setting: Setting, settings: Settings) -> Origin:
    """Where the value of a setting comes from.

    Args:
        setting: one of ``settings``.
        settings: what was read.
    """
    path, line = setting.place.path, setting.place.line
    if path == ORIGIN:
        return Origin("set", by=setting.by)
    if setting.origin is not None:
        return Origin(*setting.origin)
    kind = _OF_SOURCE[settings.source_kind]
    if setting.is_implied:
        kind = "implied"
    elif kind == "file" and path != settings.place.path:
        kind = "extends"
    elif kind == "script" and settings.source_kind is SourceKind.RUN_CONFIG:
        return Origin(kind, path, line, setting.by or "NPURunConfig")
    elif kind == "file" and path is None:
        return Origin("script", by="ConfigProto")
    return Origin(kind, path, line, setting.by)


class Effective(NamedTuple):
    """One option as it is in effect.

    Args:
        option: its name.
        value: as it goes on the wire; None where it cannot be known here, or the default depends
            on more than the version.
        is_default: nothing sets it.
        origin: where the value comes from.
        given: what was set, where the adapter uses another value.
    """

    option: str
    value: Any
    is_default: bool
    origin: Origin
    given: Any = None

    def to_dict(self) -> Dict[str, Any]:
        """The object of the JSON output."""
        return {
            "option": self.option,
            "value": self.value,
            "is_default": self.is_default,
            "origin": self.origin._asdict(),
        }


def effective(
    settings: Settings, target: Optional[Target] = None, every: bool = False
) -> List[Effective]:
    """The options that are set, implied or replaced, in the order of the catalogue.

    Args:
        settings: what was read.
        target: what it is for; the defaults are those of its version.
        every: those that have their default, too.
    """
    case = Case(settings, target or ANY_TARGET)
    replaced = dict(_replaced(case))
    misplaced = dict(_misplaced(case))
    known = known_to(case.version)
    version = case.target.snapshot
    label = None if version is None else str(version)
    found: List[Effective] = []
    for name in [*known, *(each for each in settings.entries if each not in known)]:
        setting = settings.entries.get(name)
        if setting is not None:
            value, origin = _value(case, name, setting), origin_of(setting, settings)
            if name in misplaced:
                now, why = misplaced[name]
                found.append(
                    Effective(name, now, False, Origin("adapter", *origin[1:3], why), value)
                )
            elif name in replaced and value != replaced[name][0]:
                now, why = replaced[name]
                found.append(
                    Effective(name, now, False, Origin("adapter", *origin[1:3], why), value)
                )
            elif name in ALL_OPTIONS:
                found.append(Effective(name, value, False, origin))
        elif name in replaced:
            now, why = replaced[name]
            found.append(Effective(name, now, False, Origin("adapter", by=why)))
        elif every and known[name].option.is_read:
            default = known[name].option.default
            value = None if default is None else known[name].to_wire(default)
            found.append(Effective(name, value, True, Origin("default", by=label)))
    return found


def _value(case: Case, name: str, setting: Setting) -> Any:
    """The value as it goes on the wire; one that is wrong as it was given."""
    if setting.value is UNKNOWN:
        return None
    if name in case.known:
        return known_to(case.version)[name].to_wire(case.known[name])
    value = setting.value
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _misplaced(case: Case) -> Iterator[Tuple[str, Tuple[Any, str]]]:
    """What is read of the options whose value is in a field that is not read, and why."""
    for fault in case.faults:
        option = ALL_OPTIONS.get(fault.name) if fault.rule == "wrong-field" else None
        if option is not None and option.is_read:
            wire = option.wire_in(case.version)
            yield option.name, read_instead(option, fault.setting, wire)


def _replaced(case: Case) -> Iterator[Tuple[str, Tuple[Any, str]]]:
    """What the adapter or the graph engine uses in place of what is set, and why."""
    seconds = case.get("hccl_timeout")
    if seconds and case.only_on(ROUNDING_PRODUCTS):
        yield "hccl_timeout", (rounded(seconds), phrase("rounded to a multiple of {}", HCCL_UNIT))
    if case.inference():
        yield "enable_small_channel", (1, "graph_run_mode=0")
