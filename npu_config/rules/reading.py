"""What reading a file gives, whatever its format."""

from dataclasses import replace
from typing import (
    AbstractSet,
    Any,
    FrozenSet,
    Iterable,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import attr

from npu_config.core.diagnostics import REGISTRY, Diagnostic, NpuConfigError, Place
from npu_config.core.message import join, phrase
from npu_config.core.settings import Setting, Settings
from npu_config.core.target import OwnTarget, Target, layered
from npu_config.rules.case import judge
from npu_config.rules.overrides import Override, applied
from npu_config.text.source import guarded

__all__ = ["ALONE", "Around"]


def _is_target(_: object, __: object, value: Any) -> None:
    if value is not None and not isinstance(value, Target):
        raise TypeError(
            phrase('target must be a Target, e.g. Target(product="atlas_a2"), not {!r}', value)
        )


class Load(NamedTuple):
    """A configuration file that is loaded: where, its name, and for which target.

    ``is_part``: what is in it goes into another configuration; ``kind``: what it is read as;
    ``overrides``: values that replace those of the file.
    """

    place: Place
    file: str
    target: OwnTarget
    is_part: bool = False
    kind: Optional[str] = None
    overrides: Tuple[Override, ...] = ()


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Around:
    """What a caller knows of an input that the input does not say itself.

    Args:
        target: replaces what the input says of its target, part by part.
        default: holds where neither ``target`` nor the input says anything.
        environ: environment variables to judge with; None: they are not looked at.
        on_host: look at the file system, too: paths must exist and be usable.
        faults: what is wrong with where ``default`` comes from, e.g. the table of a project.
        overrides: values that replace those of the input.
    """

    target: Optional[Target] = attr.ib(default=None, validator=_is_target)
    default: Optional[Target] = attr.ib(default=None, validator=_is_target)
    environ: Optional[Mapping[str, str]] = None
    on_host: bool = False
    faults: Tuple[Diagnostic, ...] = ()
    overrides: Tuple[Override, ...] = ()

    def target_of(
        self, own: Optional[Target] = None, unknown: AbstractSet[str] = frozenset()
    ) -> Target:
        """What an input is for that says ``own``, and says ``unknown`` parts unreadably."""
        return layered(self.target, own, self.default, unknown)

    def judge(self, settings: Settings, own: Optional[Target] = None) -> List[Diagnostic]:
        """What the rules find in settings whose source says ``own`` of its target."""
        return judge(settings, self.target_of(own), self.environ, self.on_host)


ALONE = Around()
"""Nothing is known."""

CANNOT_BE_READ = "cannot be read"
CANNOT_BE_PARSED = "cannot be parsed"
ANOTHER_PROGRAM = "a file of another program"
TEMPLATE = "a template"
FAILED = "npu_config failed while checking the file"
"""Why a file was not checked."""


class Base(NamedTuple):
    """A file that another one extends: its name, as it is written there, and where."""

    name: str
    place: Place


class Below(NamedTuple):
    """What the files set together that one extends."""

    entries: Mapping[str, Setting]
    target: Optional[Target]


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Reading:
    """What was found in one file.

    Args:
        kind: the format that it was read as, e.g. ``"yaml"``; ``""`` when it is of none.
        path: the file; None for text that came from no file.
        settings: one for a configuration, several for a script with branches, none for a side
            file and for what cannot be read.
        diagnostics: what the reader found; rules have not been applied to the settings yet.
        target: what the file says of the machine it is meant for.
        unreadable: the parts of it that the file says in a way that cannot be read.
        text: the content, where it is text.
        encoding: how the text is written back.
        unchecked: why it could not be read or understood at all, in a few words; None: it could.
        fixable: False where it may be the file of another program: nothing is offered that
            would write into it.
        proto: the ConfigProto that the settings were decoded from.
        bases: the files that it extends, as it names them, and where.
        removed: option name to what to say where a value is missing: in a file of several layers
            that takes the option away.
        layers: the files that the settings come from beside this one, the earliest first.
        below: what those files set together; None where there are none.
    """

    kind: str
    path: Optional[str]
    settings: Tuple[Settings, ...] = ()
    diagnostics: Tuple[Diagnostic, ...] = ()
    target: Optional[Target] = None
    text: Optional[str] = None
    encoding: str = "utf-8"
    unchecked: Optional[str] = None
    fixable: bool = True
    unreadable: FrozenSet[str] = frozenset()
    proto: Optional[Any] = attr.ib(default=None, eq=False, repr=False)
    bases: Tuple["Base", ...] = ()
    removed: Mapping[str, Diagnostic] = attr.ib(factory=dict, eq=False, repr=False)
    layers: Tuple[str, ...] = ()
    below: Optional["Below"] = attr.ib(default=None, eq=False, repr=False)

    @property
    def skipped(self) -> bool:
        """True when it could not be read or understood at all."""
        return self.unchecked is not None

    @property
    def lasting(self) -> Tuple[Settings, ...]:
        """The settings that hold in the end: an assignment of a script may be overwritten."""
        return self.settings

    def loads(self) -> Iterable[Load]:
        """The configuration files that are loaded."""
        return ()

    def judge(self, around: Around = ALONE) -> List[Diagnostic]:
        """Everything that is wrong with the file; a fault of npu_config's own is a finding."""
        try:
            with guarded(self.path):
                found = self.findings(around)
        except NpuConfigError as error:
            found = [*self.diagnostics, *error.diagnostics]
        return found if self.fixable else [replace(each, fix=None) for each in found]

    def findings(self, around: Around) -> List[Diagnostic]:
        """What the reader found, and what the rules find in the settings it read."""
        found = list(self.diagnostics)
        for settings in self.settings:
            judged = around.judge(settings, self.target)
            if self.layers or around.overrides:
                judged = [with_other_layers(each, settings) for each in judged]
            found.extend(judged)
        return found

    def overridden(self, overrides: Sequence[Override]) -> "Reading":
        """What was read, with these values in place of its own."""
        if not overrides or not self.settings:
            return self
        return attr.evolve(self, settings=tuple(applied(s, overrides) for s in self.settings))


def with_other_layers(found: Diagnostic, settings: Settings) -> Diagnostic:
    """A finding about options that come from several files: its help names the other places."""
    rule = REGISTRY.get(found.rule)
    entries = settings.entries
    others = [
        phrase('"{}" is set at {}', name, _where(entries[name].place_of_name))
        for name in (() if rule is None else rule.named)
        if name != found.option
        and name in entries
        and entries[name].place.path not in (found.path, None)
    ]
    if found.option is None or not others:
        return found
    said = join("; ", others)
    return replace(found, help=said if found.help is None else phrase("{}; {}", found.help, said))


def _where(place: Place) -> str:
    return str(place._replace(column=None))
