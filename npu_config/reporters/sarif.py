"""SARIF 2.1.0, for code scanning."""

import json
import os
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import quote

from npu_config.core.diagnostics import (
    DOCS_URL,
    REGISTRY,
    Diagnostic,
    Fix,
    Report,
    Rule,
    Severity,
    rule_url,
)
from npu_config.core.message import localized
from npu_config.core.version import __version__
from npu_config.reporters._summary import PLAIN, Style, Summary

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(
    report: Report,
    summary: Summary,
    sources: Optional[Mapping[Optional[str], str]] = None,
    style: Style = PLAIN,
) -> str:
    """One run with its rules and results (``sources`` and ``style`` do not matter)."""
    known = REGISTRY
    ids = sorted({diagnostic.rule for diagnostic in report})
    index = {rule: number for number, rule in enumerate(ids)}
    names = {diagnostic.rule: diagnostic.name for diagnostic in report}
    document = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "npu-config",
                        "semanticVersion": __version__,
                        "informationUri": DOCS_URL,
                        "rules": [_rule(known.get(id), id, names[id]) for id in ids],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, index) for diagnostic in report],
            }
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=True) + "\n"


def _rule(rule: Optional[Rule], id: str, name: str) -> Dict[str, Any]:
    entry: Dict[str, Any] = {"id": id, "name": name, "helpUri": rule_url(id)}
    if rule is not None:
        entry["shortDescription"] = {"text": localized(rule.summary)}
        entry["fullDescription"] = {"text": rule.page}
        entry["help"] = {"text": rule.page, "markdown": rule.page}
        entry["defaultConfiguration"] = {"level": _LEVELS[rule.severity]}
    return entry


def _result(diagnostic: Diagnostic, index: Mapping[str, int]) -> Dict[str, Any]:
    message = diagnostic.message
    if diagnostic.help is not None:
        message += localized("\nhelp: {}", diagnostic.help)
    result: Dict[str, Any] = {
        "ruleId": diagnostic.rule,
        "ruleIndex": index[diagnostic.rule],
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": message},
    }
    if diagnostic.path is not None:
        location = {"artifactLocation": _artifact(diagnostic.path)}
        if diagnostic.line is not None:
            location["region"] = _region(diagnostic)
        result["locations"] = [{"physicalLocation": location}]
        if diagnostic.fix is not None:
            result["fixes"] = [_fix(diagnostic.path, diagnostic.fix)]
    if diagnostic.option is not None:
        result["properties"] = {"option": diagnostic.option}
    return result


def _artifact(path: str) -> Dict[str, Any]:
    """A URI reference; relative paths stay relative to the directory of the run."""
    uri = quote(path.replace(os.sep, "/").encode("utf-8", "surrogateescape"), safe="/")
    return {"uri": "file://" + uri if os.path.isabs(path) else uri}


def _region(diagnostic: Diagnostic) -> Dict[str, int]:
    found = {
        "startLine": diagnostic.line,
        "startColumn": diagnostic.column,
        "endLine": diagnostic.end_line,
        "endColumn": diagnostic.end_column,
    }
    return {key: value for key, value in found.items() if value is not None}


def _fix(path: str, fix: Fix) -> Dict[str, Any]:
    replacements: List[Dict[str, Any]] = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": edit.text},
        }
        for edit in fix.edits
    ]
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": _artifact(path), "replacements": replacements}],
    }
