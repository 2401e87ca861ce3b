"""A configuration file after its format is gone: a plain value, with places."""

from typing import Any, Dict, Set

from npu_config.core.diagnostics import Place
from npu_config.text.faults import FaultLog, StopReading
from npu_config.text.json import BROKEN
from npu_config.text.source import Path, Places, Source

__all__ = [
    "BROKEN",
    "Document",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_VALUES",
    "Path",
    "StopReading",
    "inside_quotes",
]

MAX_DEPTH = 32
MAX_DIGITS = 400
MAX_VALUES = 20_000


class Document(FaultLog):
    """What a parser of YAML, TOML or JSON found.

    Attributes:
        kind: the format.
        value: dicts, lists and scalars; a part that cannot be read is :data:`BROKEN`.
        places: where each part of the value stands.
        doubts: by path, the plain text of a scalar that the format reads as something which
            its author may not have meant; reported only where the option refuses the value.
        bad_keys: the paths whose key is wrong and reported.
    """

    def __init__(self, kind: str, source: Source, places: Places, value: Any = None) -> None:
        super().__init__(source)
        self.kind = kind
        self.places = places
        self.value = value
        self.doubts: Dict[Path, str] = {}
        self.bad_keys: Set[Path] = set()

    def key_place(self, path: Path) -> Place:
        """Where the key that ends ``path`` stands, without the quotes around it."""
        return inside_quotes(self.source, self.places.key_place(path))


def inside_quotes(source: Source, place: Place) -> Place:
    """The place of a text without its quotes, so that it can be underlined and replaced."""
    _, line, column, end_line, end_column = place
    if line is None or column is None or end_line is None or end_column is None:
        return place
    start, end = source.offset(line, column), source.offset(end_line, end_column)
    text = source.text
    if end - start > 2 and text[start] in "\"'" and text[end - 1] == text[start]:
        return source.place(start + 1, end - 1)
    return place
