"""Tables as CSV, which spreadsheets open, too: no text in a cell is a formula to them."""

import csv
import re
from typing import Any, Iterable, List

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?\Z")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV; a text that a spreadsheet would compute has a ``'`` before it.

    Numbers stay as they are, as text, too.  :func:`unguarded` gives back what a cell was.
    """
    lines = _Lines()
    csv.writer(lines).writerows(map(_guarded, rows))  # with "\r\n" it quotes either character
    return "".join(line[:-2] + "\n" for line in lines)


class _Lines(List[str]):
    """What a writer writes, a row each."""

    write = list.append


def _guarded(row: Iterable[Any]) -> List[Any]:
    return ["'" + cell if isinstance(cell, str) and _computes(cell) else cell for cell in row]


def _computes(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMBER.match(text) is None


def unguarded(cell: str) -> str:
    """The text of a cell that :func:`csv_text` wrote."""
    return cell[1:] if _GUARDED.match(cell) else cell
