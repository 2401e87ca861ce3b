"""Reporters: from a report to text, JSON, SARIF or annotations.

A reporter is a module with a function ``render(report, summary, sources, style)`` and an entry
in :data:`FORMATS`.
"""

import importlib
from typing import Mapping, Optional, Tuple

from npu_config.core.diagnostics import Report
from npu_config.core.message import language
from npu_config.reporters._summary import PLAIN, Style, Summary, Unchecked

__all__ = ["FORMATS", "PLAIN", "Style", "Summary", "Unchecked", "render"]

FORMATS: Tuple[str, ...] = ("text", "json", "sarif", "github")


def render(
    format: str,
    report: Report,
    summary: Summary,
    sources: Optional[Mapping[Optional[str], str]] = None,
    style: Style = PLAIN,
) -> str:
    """The report in one of :data:`FORMATS`, in the language of :func:`core.message.speaking`.

    Args:
        format: its name.
        report: the findings.
        summary: the numbers of the run.
        sources: path to text, for the formats that show lines.
        style: colours, notes and hints, where the format has any.
    """
    module = importlib.import_module("npu_config.reporters." + format)
    text: str = module.render(report.localized(language()), summary, sources, style)
    return text
