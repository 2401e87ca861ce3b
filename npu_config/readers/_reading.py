"""What reading a file gives, whatever its format."""

from typing import Optional, Tuple

import attr

from npu_config.diagnostics import Diagnostic
from npu_config.settings import Settings
from npu_config.target import Target


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
