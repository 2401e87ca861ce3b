"""What reading a file gives, whatever its format."""

from typing import List, Mapping, Optional, Tuple

import attr

from npu_config.core.diagnostics import Diagnostic, NpuConfigError
from npu_config.core.settings import Settings
from npu_config.core.target import Target
from npu_config.rules.engine import judge
from npu_config.text.guard import guarded


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
        text: the content, where it is text.
        encoding: how the text is written back.
        skipped: True when it could not be read or understood at all.
    """

    kind: str
    path: Optional[str]
    settings: Tuple[Settings, ...] = ()
    diagnostics: Tuple[Diagnostic, ...] = ()
    target: Optional[Target] = None
    text: Optional[str] = None
    encoding: str = "utf-8"
    skipped: bool = False

    def judge(
        self,
        target: Optional[Target] = None,
        environ: Optional[Mapping[str, str]] = None,
        on_host: bool = False,
    ) -> List[Diagnostic]:
        """Everything that is wrong with the file; a fault of npu_config's own is a finding.

        Args:
            target: replaces the target that the file names.
            environ: environment variables to judge with; None: they are not looked at.
            on_host: look at the file system, too.
        """
        try:
            with guarded(self.path):
                return self.findings(target, environ, on_host)
        except NpuConfigError as error:
            return [*self.diagnostics, *error.diagnostics]

    def findings(
        self,
        target: Optional[Target],
        environ: Optional[Mapping[str, str]],
        on_host: bool,
    ) -> List[Diagnostic]:
        """What the reader found, and what the rules find in the settings it read."""
        found = list(self.diagnostics)
        for settings in self.settings:
            found.extend(judge(settings, target or self.target, environ, on_host))
        return found
