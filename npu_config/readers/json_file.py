"""JSON configuration files: strict JSON, with places."""

from dataclasses import replace
from typing import Optional

from npu_config.core.diagnostics import Severity
from npu_config.readers import _rules as rules
from npu_config.readers._config_file import Document, interpret
from npu_config.rules.reading import Reading
from npu_config.text import json as _json
from npu_config.text import rules as _json_rules


def read(text: str, path: Optional[str] = None) -> Reading:
    """Read a JSON configuration; any text gives a reading."""
    return interpret(parse(text, path))


def parse(text: str, path: Optional[str] = None) -> Document:
    """The value of a JSON text, with places; a key that appears twice is an error here."""
    found = _json.read(text, path)
    document = Document("json", found.source, found, found.value)
    document.complete = found.complete
    if not text.strip("\ufeff \t\r\n"):
        document.value, document.complete = None, True
        return document
    for diagnostic in found.diagnostics:
        if diagnostic.rule == _json_rules.json_duplicate_key.id:
            diagnostic = replace(
                diagnostic,
                rule=rules.duplicate_key.id,
                name=rules.duplicate_key.name,
                severity=Severity.ERROR,
                url=rules.duplicate_key.diagnostic("").url,
            )
        document.diagnostics.append(diagnostic)
    return document
