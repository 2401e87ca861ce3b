"""Launch scripts in bash: what they export is judged as the environment of what they start."""

from typing import List, Mapping, Optional

import attr

from npu_config.cluster.shell.check import check_script
from npu_config.core.diagnostics import Diagnostic
from npu_config.core.target import ANY_TARGET, Target
from npu_config.rules.reading import Reading


@attr.s(frozen=True, slots=True, auto_attribs=True)
class ShellReading(Reading):
    """A launch script; what is wrong with it depends on the target and the files beside it."""

    def judge(
        self,
        target: Optional[Target] = None,
        environ: Optional[Mapping[str, str]] = None,
        on_host: bool = False,
    ) -> List[Diagnostic]:
        """Every finding about the environments of what it starts."""
        found, _ = check_script(self.text or "", self.path, target or ANY_TARGET, on_host)
        return found


def read(text: str, path: Optional[str]) -> Reading:
    """Take a text as a launch script."""
    return ShellReading("shell", path, text=text)
