"""One configuration from the command line: read it, and say what is wrong with it."""

from typing import Iterable, Optional, Sequence

import attr

from npu_config.cli._output import Failure, read_stdin
from npu_config.cli._report import print_findings
from npu_config.config import NpuConfig
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Report, Severity
from npu_config.core.target import Target
from npu_config.readers import LARGEST, Reading, read
from npu_config.reporters import Unchecked
from npu_config.rules.engine import judge
from npu_config.rules.value import from_settings
from npu_config.rules.versions import not_read

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


def configuration(
    reading: Reading,
    target: Target,
    drop_unknown: bool = False,
    said: Sequence[Diagnostic] = (),
) -> Optional[NpuConfig]:
    """The configuration of a reading; None when it has errors.  Findings go to standard error.

    Beside the options of a ConfigProto only the name of the optimizer is looked at: the rest is
    not carried over.

    Args:
        reading: what was read.
        target: what it is for.
        drop_unknown: leave out what the adapter of the target's version does not read; else it
            is an error, wherever the options come from.
        said: the findings that are printed already.
    """
    if not reading.settings:
        complain(reading.diagnostics, reading)
        return None
    beside = judge(reading.settings[0]._replace(entries={}))
    misnamed = [found for found in beside if found.rule == "NPU801"]
    if misnamed:
        complain(misnamed, reading)
        return None
    settings = reading.settings[0]._replace(session=None)
    unread = [] if target.version is None else not_read(settings, target)
    if unread and drop_unknown:
        names = {found.option for found in unread}
        kept = {name: entry for name, entry in settings.entries.items() if name not in names}
        settings = settings._replace(entries=kept)
        complain((found.but("it is left out", Severity.WARNING) for found in unread), reading)
    elif unread:
        complain((attr.evolve(f, severity=Severity.ERROR) for f in unread), reading)
        return None
    try:
        config = from_settings(NpuConfig, settings, target, found=reading.diagnostics)
    except NpuConfigError as error:
        complain(error.diagnostics, reading)
        return None
    known = {(each.rule, each.place) for each in said}
    remaining = (d for d in config.diagnostics if (d.rule, d.place) not in known)
    complain((d for d in remaining if d.severity is not Severity.INFO), reading)
    return config


def complain(diagnostics: Iterable[Diagnostic], reading: Reading) -> None:
    """Print findings to standard error."""
    found = Report(diagnostics)
    if len(found):
        sources = {} if reading.text is None else {reading.path: reading.text}
        unchecked = (
            [] if reading.unchecked is None else [Unchecked(reading.path or "", reading.unchecked)]
        )
        print_findings(found, sources=sources, unchecked=unchecked, err=True)
