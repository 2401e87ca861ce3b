"""TOML configuration files, with places (tomllib, or tomli below Python 3.11)."""

import importlib
import re
import sys
from typing import Any, Callable, Dict, Optional

from npu_config.readers import _rules as rules
from npu_config.readers._config_file import interpret
from npu_config.readers._document import BROKEN, Document
from npu_config.readers._toml_scan import Scanner
from npu_config.rules.reading import Reading
from npu_config.text.source import PlaceTable, Source

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


def read(text: str, path: Optional[str] = None) -> Reading:
    """Read a TOML configuration; any text gives a reading."""
    return interpret(parse(text, path))


def parse(text: str, path: Optional[str] = None) -> Document:
    """The value of a TOML text, with places."""
    source = Source(text, path)
    table = PlaceTable(source.place(0, 0))
    document = Document("toml", source, table, BROKEN)
    loads = _loads()
    if loads is None:
        document.value, document.complete = None, False
        document.report(
            rules.unparsable_file,
            0,
            0,
            'TOML is read with the package "tomli" on Python below 3.11, and it is not installed',
            "pip install tomli",
        )
        return document
    document.value = Scanner(document, table, loads).run()
    if document.complete and not document.diagnostics:
        try:
            document.value = loads(text[1:] if text.startswith("\ufeff") else text)
        except (ValueError, RecursionError) as error:
            document.complete = False
            _report(document, error)
    if not document.value and document.complete and not document.diagnostics:
        document.value = None
    return document


def _loads() -> Optional[Callable[[str], Dict[str, Any]]]:
    name = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        return getattr(importlib.import_module(name), "loads", None)
    except ImportError:
        return None


def _report(document: Document, error: Exception) -> None:
    """Report what tomllib refuses and the scanner let pass."""
    message = str(error)
    match = _AT.search(message)
    start = len(document.source.text)
    if match is not None:
        message = message[: match.start()]
        if match.group(1):
            start = document.source.offset(int(match.group(1)), int(match.group(2)))
    message = message[:1].lower() + message[1:]
    document.report(
        rules.unparsable_file, start, min(start + 1, len(document.source.text)), message
    )
