"""One configuration from the command line: read it, and say what is wrong with it."""

from typing import Dict, Iterable, Mapping, Optional

from npu_config.cli._output import Failure, read_stdin
from npu_config.cli._report import print_findings
from npu_config.core.diagnostics import Diagnostic, Report
from npu_config.readers import LARGEST, Reading, read
from npu_config.reporters import Unchecked

STDIN = "<stdin>"

_CONFIGURATIONS = ("yaml", "toml", "json", "pbtxt", "pb")


def read_configuration(path: str, as_kind: Optional[str] = None, scripts: bool = False) -> Reading:
    """Read the file of one configuration, or standard input for ``-``.

    Args:
        path: the file.
        as_kind: what to read it as; None: what it is.
        scripts: a training script will do, too.

    Raises:
        Failure: it is a file of another kind.
    """
    content = read_stdin(LARGEST) if path == "-" else None
    reading = read(STDIN if path == "-" else path, as_kind, content)
    if reading.kind == "script" and not scripts:
        raise Failure(
            "{} is a training script; make a configuration of it first: "
            "npu-config generate {} -o config.yaml",
            reading.path,
            path,
        )
    if reading.kind and reading.kind not in _CONFIGURATIONS + (("script",) if scripts else ()):
        raise Failure(
            "{} is not a configuration; legal: {}", reading.path, ", ".join(_CONFIGURATIONS)
        )
    return reading


def complain(
    diagnostics: Iterable[Diagnostic],
    reading: Reading,
    texts: Optional[Mapping[Optional[str], str]] = None,
) -> None:
    """Print findings to standard error, with the lines of the texts of files that are given."""
    found = Report(diagnostics)
    if len(found):
        sources: Dict[Optional[str], str] = (
            {} if reading.text is None else {reading.path: reading.text}
        )
        sources.update(texts or {})
        unchecked = (
            [] if reading.unchecked is None else [Unchecked(reading.path or "", reading.unchecked)]
        )
        print_findings(found, sources=sources, unchecked=unchecked, err=True)
