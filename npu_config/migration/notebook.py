"""Notebooks: their code cells as one script, and edits of it as edits of the file.

Nothing but the lines that change is written anew: outputs, metadata, and the layout of the JSON
stay.  Magics that take Python are read as such; of others that may hold a script it is said that
they were not looked at, and the rest, with shell commands, is passed over.
"""

import ast
import bisect
import json
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import attr

from npu_config.core.diagnostics import Edit
from npu_config.core.message import phrase
from npu_config.migration.engine import Migration
from npu_config.migration.names import CONCERNING
from npu_config.migration.work import MANUAL, Note
from npu_config.python_flow.source import Unparsable, parse
from npu_config.text.json import JsonReading, read
from npu_config.text.source import apply_edits

__all__ = ["Notebook", "open_notebook"]

_MAGIC = re.compile(r"[ \t]*(?:[%!?]|[\w, \t]{1,200}=[ \t]*[!%])|.*[^#\s]\?{1,2}\s*$")
_LINE = re.compile(r"[^\r\n]*\r?\n\Z")
_TRANSPARENT = re.compile(r"%%(?:time|timeit|capture|prun|memit)\b")
"""Magics of a cell whose other lines are Python."""
_TIMED = re.compile(
    r"([ \t]*)(?:%(?:time|timeit|prun|memit)|%%timeit)"
    r"(?:[ \t]{1,8}-[A-Za-z]{1,3}(?:[ \t]?\d{1,9})?)*"
    r"[ \t]{1,80}(?=[^\s-])"
)
"""Magics of a line whose rest is Python."""
_HOLDS_CODE = re.compile(r"%%(?:writefile|file|python\w{0,2}|pypy|script|bash|sh)\b")
_RUNS = re.compile(
    r"[ \t]*(?:[!%]{1,2}(?:run\b|[^#\n]{0,200}?\bpython[\d.]{0,4}\b))"
    r"[^#\n]{0,400}?([\w./-]{1,200}\.py)\b"
)


class Cell(NamedTuple):
    """A cell of code: its number among all, its lines, and whether they are a list."""

    number: int
    lines: List[str]
    is_list: bool


class Notebook(NamedTuple):
    """The code of a notebook.

    Attributes:
        script: every cell, each ending in a line feed.
        cells: the cells of code.
        starts: the line of the script at which each cell begins, from 0.
        reading: the file.
        unread: what may be a script and was not looked at: the cell, its line, what is said, and
            whether it has to be done.
    """

    script: str
    cells: List[Cell]
    starts: List[int]
    reading: JsonReading
    unread: List[Tuple[Cell, int, str, bool]]

    def migrated(self, migration: Migration) -> Migration:
        """The migration of the file for one of its script."""
        own: Dict[int, List[Edit]] = {}
        for index, edit in self._parts(migration.edits):
            own.setdefault(index, []).append(_behind_magic(edit, self.cells[index].lines))
        edits = [self._edit_of(self.cells[index], own[index]) for index in own]
        notes = []
        for note in migration.notes:
            cell, line = self._place(note.line)
            text = phrase("cell {}: {}", cell.number + 1, note.note) if note.note else ""
            notes.append(note._replace(line=self._line(cell, line), note=text))
        for cell, line, said, asks in self.unread:
            text = phrase("cell {}: {}", cell.number + 1, said)
            notes.append(Note(self._line(cell, line), "import-npu", MANUAL, text, asks))
        text = self.reading.source.text
        return attr.evolve(
            migration,
            text=apply_edits(text, edits) if edits else text,
            edits=tuple(edits),
            notes=tuple(sorted(notes, key=lambda note: note.line)),
        )

    def _index(self, line: int) -> int:
        """Which cell a line of the script is in."""
        return max(bisect.bisect_left(self.starts, line) - 1, 0)

    def _place(self, line: int) -> Tuple[Cell, int]:
        """The cell of a line of the script, and its line there, from 0."""
        index = self._index(line)
        return self.cells[index], line - 1 - self.starts[index]

    def _line(self, cell: Cell, line: int) -> int:
        """The line of the file on which a line of a cell stands."""
        path: Tuple[Union[str, int], ...] = ("cells", cell.number, "source")
        if cell.is_list:
            path = (*path, line)
        return self.reading.place(path).line or 1

    def _parts(self, edits: Sequence[Edit]) -> Iterator[Tuple[int, Edit]]:
        """The edits of each cell, with its number, for those of the script.

        One that goes over several cells removes the ends of all but the last, which has its text:
        only the removal of whole lines touches an edit of the next cell.
        """
        for edit in edits:
            begin = (edit.line - self.starts[self._index(edit.line)], edit.column)
            last = self._index(edit.end_line)
            for index in range(self._index(edit.line), last):
                yield index, Edit(*begin, len(self.cells[index].lines) + 1, 1, "")
                begin = (1, 1)
            end = (edit.end_line - self.starts[last], edit.end_column)
            if begin != end or edit.text:
                yield last, Edit(*begin, *end, edit.text)

    def _edit_of(self, cell: Cell, edits: Sequence[Edit]) -> Edit:
        """The edit of the file for those of a cell."""
        is_open = not cell.lines[-1].endswith("\n")
        before = "".join(cell.lines) + ("\n" if is_open else "")
        after = apply_edits(before, edits)
        return self._edit(cell, _lines(after[:-1] if is_open else after))

    def _edit(self, cell: Cell, lines: List[str]) -> Edit:
        """The edit of the file that gives a cell other lines."""
        path = ("cells", cell.number, "source")
        text = self.reading.source.text
        if not cell.is_list:
            place = self.reading.place(path)
            return Edit(*place[1:], _literal("".join(lines), text))  # type: ignore[arg-type]
        first, old = 0, cell.lines
        while first < min(len(old), len(lines)) and old[first] == lines[first]:
            first += 1
        last = 0
        while last < min(len(old), len(lines)) - first and old[-1 - last] == lines[-1 - last]:
            last += 1
        # what only comes or goes is written with a line beside it: a comma is between all of them
        if lines and first + last == min(len(old), len(lines)):
            first, last = (first - 1, last) if first else (first, last - 1)
        places = [self.reading.place((*path, n)) for n in range(len(old))]
        gap = ", "
        if len(places) > 1:
            offset = self.reading.source.offset
            gap = text[
                offset(places[0].end_line or 1, places[0].end_column or 1) : offset(
                    places[1].line or 1, places[1].column or 1
                )
            ]
        fresh = gap.join(_literal(line, text) for line in lines[first : len(lines) - last])
        begin, end = places[first], places[len(old) - last - 1]
        return Edit(begin.line, begin.column, end.end_line, end.end_column, fresh)  # type: ignore[arg-type]


def _literal(text: str, whole: str) -> str:
    """A text in JSON, its letters escaped where the file escapes them."""
    return json.dumps(text, ensure_ascii=whole.isascii() if hasattr(whole, "isascii") else False)


def _lines(text: str) -> List[str]:
    return [line for line in re.split(r"(?<=\n)", text) if line]


def open_notebook(text: str) -> Union[Notebook, str]:
    """The code of a notebook, or why it cannot be migrated."""
    reading = read(text)
    cells = reading.value.get("cells") if isinstance(reading.value, dict) else None
    if not reading.ok or not isinstance(cells, list):
        return "this is not a notebook of format version 4: open and save it with Jupyter first"
    metadata: Any = reading.value.get("metadata")
    language = _get(_get(metadata, "language_info"), "name")
    language = language or _get(_get(metadata, "kernelspec"), "language")
    if isinstance(language, str) and language.lower() not in ("python", "python3", "ipython"):
        return phrase("the notebook is written in {}, not in Python", language)
    found: List[Cell] = []
    starts: List[int] = []
    script: List[str] = []
    unread: List[Tuple[Cell, int, str, bool]] = []
    for number, cell in enumerate(cells):
        source = _get(cell, "source")
        is_list = isinstance(source, list)
        if _get(cell, "cell_type") != "code" or not source:
            continue
        if not isinstance(source, str) and not (
            is_list and all(isinstance(s, str) for s in source)
        ):
            return phrase("cell {} has no text", number + 1)
        lines = list(source) if is_list else _lines(source)
        if not all(map(_is_line, lines[:-1])) or not _is_line(lines[-1].rstrip("\r\n") + "\n"):
            return phrase(
                "cell {} has several lines in one string: save the notebook with Jupyter",
                number + 1,
            )
        code = _without_magics(lines)
        reason = _why_not_python("".join(code))
        if reason is not None:
            return phrase("cell {} cannot be analysed as Python 3: {}", number + 1, reason)
        starts.append(len(script))
        script += code
        found.append(Cell(number, lines, is_list))
        unread += ((found[-1], *each) for each in _unread(lines))
    return Notebook("".join(script), found, starts, reading, unread)


_NOT_READ = "the code in {} is not migrated: write it to a file, and migrate this file"
_STARTED = "{} is run by this notebook, but is not migrated with it: migrate this file, too"


def _unread(lines: List[str]) -> Iterator[Tuple[int, str, bool]]:
    """The lines of a cell that hold or run a script which is not looked at, with what is said."""
    first = next((line.strip() for line in lines if line.strip()), "")
    held = _HOLDS_CODE.match(first)
    if held is not None and any(name in line for line in lines for name in CONCERNING):
        yield 0, phrase(_NOT_READ, held.group()), True
    if held is None:
        for number, line in enumerate(lines):
            started = _RUNS.match(line)
            if started is not None:
                yield number, phrase(_STARTED, started.group(1)), False


def _is_line(text: str) -> bool:
    """True for one line with its end, as Jupyter writes the lines of a cell."""
    return _LINE.match(text) is not None


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _without_magics(lines: List[str]) -> List[str]:
    """The lines of a cell with ``pass`` in place of magics and shell commands."""
    first = next((line.strip() for line in lines if line.strip()), "")
    is_other = first.startswith("%%") and _TRANSPARENT.match(first) is None
    found: List[str] = []
    goes_on, indent = False, ""
    for line in lines:
        timed = None if is_other or goes_on else _timed(line)
        if timed is not None:
            found.append(timed)
            continue
        is_magic = is_other or goes_on or (_MAGIC.match(line) is not None and _is_magic(line))
        if not goes_on:
            indent = line[: len(line) - len(line.lstrip(" \t"))]
        goes_on = is_magic and line.rstrip("\n").endswith("\\")
        code = "\n" if is_other else indent + "pass\n" if is_magic else line.rstrip("\n") + "\n"
        found.append(code)
    return found


def _timed(line: str) -> Optional[str]:
    """The Python behind a magic, at its column; None where there is none, or not in one line."""
    match = _TIMED.match(line)
    if match is None:
        return None
    indent = match.group(1)
    code = indent + "0;".ljust(match.end() - len(indent)) + line[match.end() :].rstrip("\n") + "\n"
    try:
        ast.parse(code.strip())
    except (SyntaxError, ValueError):
        return None
    return code


def _behind_magic(edit: Edit, lines: List[str]) -> Edit:
    """An edit that spares the magic of its line: ``pass`` stays for a statement that goes."""
    line = lines[edit.line - 1]
    if (edit.end_line, edit.end_column) == (edit.line, edit.column) or _timed(line) is None:
        return edit
    match = _TIMED.match(line)
    column = edit.column if match is None else match.end() + 1
    if len(match.group(1) if match else "") < edit.column < column:
        return edit._replace(column=column, text=edit.text or "pass")
    return edit


def _is_magic(line: str) -> bool:
    """False for a line that is Python by itself, such as a remainder that goes on from above."""
    try:
        ast.parse(line.strip())
    except (SyntaxError, ValueError):
        return True
    return False


def _why_not_python(text: str) -> Optional[str]:
    try:
        parse(text)
    except Unparsable as error:
        return str(error)
    except RecursionError:
        return "nested too deeply"
    return None
