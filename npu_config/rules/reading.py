"""What reading a file gives, whatever its format."""

from typing import Any, FrozenSet, List, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError
from npu_config.core.settings import Settings
from npu_config.core.target import Target
from npu_config.rules.around import ALONE, Around
from npu_config.text.guard import guarded

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
