"""The JSON Schema of what ``--format json`` prints; the contract is version 1."""

from typing import Any, Dict

from npu_config.core.diagnostics import DOCS_URL, Severity
from npu_config.reporters._summary import Summary

_NUMBER = {"type": ["integer", "null"], "minimum": 1}
_TEXT = {"type": ["string", "null"]}


def schema() -> Dict[str, Any]:
    """The schema, as a document of draft 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": DOCS_URL + "/reference/output.schema.json",
        "title": "Findings of npu-config",
        "description": "While the version is 1, fields are only added, never changed or removed.",
        **_object(
            {
                "version": {"const": 1},
                "diagnostics": {"type": "array", "items": _object(_DIAGNOSTIC)},
                "summary": _object(
                    {
                        name: {"type": "integer", "minimum": 0}
                        for name in Summary._fields
                        if name != "unchecked"
                    }
                ),
                "unchecked": {
                    "type": "array",
                    "description": "the files that were not checked, and why",
                    "items": _object({"path": {"type": "string"}, "why": {"type": "string"}}),
                },
                "job_ends": {
                    "type": "array",
                    "description": "the error codes with which a job ends for some findings",
                    "items": _object(
                        {
                            "code": {"type": "string"},
                            "rules": {"type": "array", "items": {"type": "string"}},
                        }
                    ),
                },
            }
        ),
    }


def _object(properties: Dict[str, Any]) -> Dict[str, Any]:
    """An object that has all of these, and may have others."""
    return {"type": "object", "required": list(properties), "properties": properties}


_EDIT = {
    **{
        name: {"type": "integer", "minimum": 1}
        for name in ("line", "column", "end_line", "end_column")
    },
    "text": {"type": "string", "description": "replaces the characters from start to end"},
}
_DIAGNOSTIC: Dict[str, Any] = {
    "path": {**_TEXT, "description": "the file; null for values that came from no file"},
    "line": {**_NUMBER, "description": "first line, from 1"},
    "column": {**_NUMBER, "description": "first column: characters, from 1"},
    "end_line": {**_NUMBER, "description": "last line"},
    "end_column": {**_NUMBER, "description": "the column after the last character"},
    "rule": {"type": "string", "pattern": "^NPU[1-9][0-9]{2,3}$"},
    "name": {"type": "string", "description": "the rule's name, in kebab-case"},
    "severity": {"enum": [severity.value for severity in Severity]},
    "option": {**_TEXT, "description": "the option that the finding concerns, if there is one"},
    "message": {"type": "string", "description": "what is wrong, and what is legal"},
    "help": {**_TEXT, "description": "what to do"},
    "url": {**_TEXT, "description": "the page of the rule"},
    "fix": {
        "anyOf": [
            {"type": "null"},
            _object(
                {
                    "edits": {"type": "array", "minItems": 1, "items": _object(_EDIT)},
                    "safe": {
                        "type": "boolean",
                        "description": "--fix applies this edit, and changes nothing else",
                    },
                }
            ),
        ]
    },
    "meant": {**_TEXT, "description": "the word that was probably intended"},
    "consequence": {**_TEXT, "description": "how the runtime behaves, where known"},
    "situation": {
        **_TEXT,
        "description": ("the documented training problem that the finding matches"),
    },
}
