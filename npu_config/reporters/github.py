"""Annotations of GitHub Actions: one workflow command for each finding."""

from typing import List, Mapping, Optional, Tuple

from npu_config.core.diagnostics import Diagnostic, Report, Severity
from npu_config.core.message import localized, printable
from npu_config.reporters._summary import PLAIN, Style, Summary

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(
    report: Report,
    summary: Summary,
    sources: Optional[Mapping[Optional[str], str]] = None,
    style: Style = PLAIN,
) -> str:
    """The commands, and the summary as a plain line (``sources``, ``style`` do not matter)."""
    return "".join(_command(diagnostic) + "\n" for diagnostic in report) + "{}\n".format(summary)


def _command(diagnostic: Diagnostic) -> str:
    found: List[Tuple[str, object]] = [
        ("file", diagnostic.path),
        ("line", diagnostic.line),
        ("endLine", diagnostic.end_line),
    ]
    if diagnostic.line == diagnostic.end_line or diagnostic.end_line is None:
        found.append(("col", diagnostic.column))
        found.append(("endColumn", diagnostic.end_column))
    found.append(("title", "{} {}".format(diagnostic.rule, diagnostic.name)))
    properties = ",".join(
        "{}={}".format(key, escape_property(str(value)))
        for key, value in found
        if value is not None
    )
    message = diagnostic.message
    if diagnostic.help is not None:
        message += localized("\nhelp: {}", diagnostic.help)
    command = _COMMANDS[diagnostic.severity]
    return "::{} {}::{}".format(command, properties, escape_data(message))


def escape_data(text: str) -> str:
    """A message in the form that the runner takes apart again."""
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def escape_property(text: str) -> str:
    """The value of a property."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")
