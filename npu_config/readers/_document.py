"""A configuration file after its format is gone: a plain value, with places."""

from typing import Any, Dict, List, Optional, Set

from npu_config.core.diagnostics import Diagnostic, Fix, Place
from npu_config.core.rule import Rule
from npu_config.readers._rules import UNPARSABLE
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
MAX_FAULTS = 100
MAX_VALUES = 20_000


class StopReading(Exception):  # noqa: N818
    """The rest of the text is not read; the reason is reported."""


class Document:
    """What a parser of YAML, TOML or JSON found.

    Attributes:
        kind: the format.
        source: text and path.
        value: dicts, lists and scalars; a part that cannot be read is :data:`BROKEN`.
        places: where each part of the value stands.
        diagnostics: what is wrong with the text.
        doubts: by path, the plain text of a scalar that the format reads as something which
            its author may not have meant; told only where the option refuses the value.
        bad_keys: the paths whose key is wrong and reported.
        complete: False when the rest of the text was not understood.
    """

    __slots__ = (
        "bad_keys",
        "complete",
        "diagnostics",
        "doubts",
        "kind",
        "places",
        "source",
        "value",
    )

    def __init__(self, kind: str, source: Source, places: Places, value: Any = None) -> None:
        self.kind = kind
        self.source = source
        self.places = places
        self.value = value
        self.diagnostics: List[Diagnostic] = []
        self.doubts: Dict[Path, str] = {}
        self.bad_keys: Set[Path] = set()
        self.complete = True

    def key_place(self, path: Path) -> Place:
        """Where the key that ends ``path`` stands, without the quotes around it."""
        return inside_quotes(self.source, self.places.key_place(path))

    def report(
        self,
        rule: Rule,
        start: int,
        end: int,
        message: str,
        help: Optional[str] = None,
        title: str = "",
        replacement: Optional[str] = None,
    ) -> None:
        """Report ``text[start:end]``; ``replacement`` with a title makes it a fix.

        Raises:
            StopReading: after too many faults.
        """
        fix = None
        if replacement is not None:
            fix = Fix(title, (self.source.edit(start, end, replacement),))
        place = self.source.place(start, end)
        self.diagnostics.append(rule.diagnostic(message, place, help=help, fix=fix))
        if len(self.diagnostics) == MAX_FAULTS:
            message = "{} faults; the rest of the text is not read".format(MAX_FAULTS)
            self.diagnostics.append(UNPARSABLE.diagnostic(message, place))
            raise StopReading


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
