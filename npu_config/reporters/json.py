"""JSON for programs; the contract is version 1."""

import json
from typing import Any, Mapping, Optional

from npu_config.core.diagnostics import Report
from npu_config.core.job_ends import ends_of
from npu_config.reporters._summary import PLAIN, Style, Summary


def render(
    report: Report,
    summary: Summary,
    sources: Optional[Mapping[Optional[str], str]] = None,
    style: Style = PLAIN,
) -> str:
    """One object, as the schema says; ``sources`` and ``style`` do not matter."""
    document: Any = {
        "version": 1,
        "diagnostics": [diagnostic.to_dict() for diagnostic in report],
        "summary": summary.numbers(),
        "unchecked": [{"path": each.path, "why": each.why} for each in summary.unchecked],
        "job_ends": [{"code": code, "rules": rules} for code, rules in ends_of(report)],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"
