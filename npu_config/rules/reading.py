"""What reading a file gives, whatever its format."""

from typing import AbstractSet, Any, FrozenSet, Iterable, List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place
from npu_config.core.message import phrase
from npu_config.core.settings import Settings
from npu_config.core.target import OwnTarget, Target, layered
from npu_config.rules.case import judge
from npu_config.text.loading import guarded

__all__ = ["ALONE", "Around"]


def _is_target(_: object, __: object, value: Any) -> None:
    if value is not None and not isinstance(value, Target):
        raise TypeError(
            phrase('target must be a Target, e.g. Target(product="atlas_a2"), not {!r}', value)
        )


@attr.s(frozen=True, slots=True, auto_attribs=True)
class Around:
    """What a caller knows of an input that the input does not say itself.

    Args:
        target: replaces what the input says of its target, part by part.
        default: holds where neither ``target`` nor the input says anything.
        environ: environment variables to judge with; None: they are not looked at.
        on_host: look at the file system, too: paths must exist and be usable.
        faults: what is wrong with where ``default`` comes from, e.g. the table of a project.
    """

    target: Optional[Target] = attr.ib(default=None, validator=_is_target)
    default: Optional[Target] = attr.ib(default=None, validator=_is_target)
    environ: Optional[Mapping[str, str]] = None
    on_host: bool = False
    faults: Tuple[Diagnostic, ...] = ()

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
FAILED = "npu_config failed on it"
"""Why a file was not checked."""


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

    @property
    def skipped(self) -> bool:
        """True when it could not be read or understood at all."""
        return self.unchecked is not None

    @property
    def lasting(self) -> Tuple[Settings, ...]:
        """The settings that hold in the end: an assignment of a script may be overwritten."""
        return self.settings

    def loads(self) -> Iterable[Tuple[Place, str, OwnTarget]]:
        """The configuration files that are loaded: where, their names, for which target."""
        return ()

    def judge(self, around: Around = ALONE) -> List[Diagnostic]:
        """Everything that is wrong with the file; a fault of npu_config's own is a finding."""
        try:
            with guarded(self.path):
                found = self.findings(around)
        except NpuConfigError as error:
            found = [*self.diagnostics, *error.diagnostics]
        return found if self.fixable else [attr.evolve(each, fix=None) for each in found]

    def findings(self, around: Around) -> List[Diagnostic]:
        """What the reader found, and what the rules find in the settings it read."""
        found = list(self.diagnostics)
        for settings in self.settings:
            found.extend(around.judge(settings, self.target))
        return found
