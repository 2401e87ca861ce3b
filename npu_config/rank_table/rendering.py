"""The canonical text of a rank table: strict JSON, one line for each device or address."""

import json
from typing import Any, Iterator

from npu_config.rank_table.model import (
    AnyRankTable,
    to_document,
)


def render(table: AnyRankTable) -> str:
    """The text of the file; the same table always has the same text."""
    return layout(to_document(table))


def layout(document: Any) -> str:
    """The text of plain JSON values."""
    return "".join(_write(document, "\n")) + "\n"


def _write(value: Any, line: str) -> Iterator[str]:
    """The pieces of a value; ``line`` is a line end with the blanks before the next line."""
    if _is_flat(value):
        yield json.dumps(value, ensure_ascii=False)
        return
    inner = line + "  "
    mark = "{" if isinstance(value, dict) else "["
    for entry in value:
        yield mark + inner
        mark = ","
        if isinstance(value, dict):
            yield json.dumps(entry, ensure_ascii=False) + ": "
            entry = value[entry]
        yield from _write(entry, inner)
    yield line + ("}" if isinstance(value, dict) else "]")


def _is_flat(value: Any) -> bool:
    """Whether a value is written on one line: it holds no object, at most lists of texts."""
    if isinstance(value, dict):
        return not any(
            isinstance(entry, dict) or (isinstance(entry, list) and not _is_flat(entry))
            for entry in value.values()
        )
    if isinstance(value, list):
        return not any(isinstance(entry, (dict, list)) for entry in value)
    return True
