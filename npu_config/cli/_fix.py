"""The fixes that findings carry, applied to exactly their characters."""

import re
from typing import Iterable, List, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Edit, Fix
from npu_config.text.source import apply_edits

Span = Tuple[Tuple[int, int], Tuple[int, int]]


def fixed(text: str, diagnostics: Iterable[Diagnostic]) -> Tuple[str, int]:
    """The text with every fix done that does not touch another one, and how many those are."""
    taken: List[Span] = []
    edits: List[Edit] = []
    done: List[Fix] = []
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or not fix.safe or fix in done:
            continue
        spans = [((e.line, e.column), (e.end_line, e.end_column)) for e in fix.edits]
        if not any(_touch(span, other) for span in spans for other in taken):
            taken.extend(spans)
            edits.extend(fix.edits)
            done.append(fix)
    return (apply_edits(text, edits), len(done)) if done else (text, 0)


def _touch(one: Span, other: Span) -> bool:
    """True when two spans share a character, or are insertions at one place."""
    return one == other or (one[0] < other[1] and other[0] < one[1])


def difference(path: Optional[str], before: str, after: str) -> str:
    """A unified diff of what the fixes change, as git and patch read it."""
    from difflib import unified_diff

    lines: Sequence[str] = list(
        unified_diff(
            _lines(before), _lines(after), _header("a", path or ""), _header("b", path or "")
        )
    )
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in lines
    )


def _lines(text: str) -> List[str]:
    """The lines with their ends; only a line feed ends one, as in every tool that reads diffs."""
    return [line for line in re.split(r"(?<=\n)", text) if line]


def _header(side: str, path: str) -> str:
    """The name of a file in a diff: in quotes where it would not be read as one word."""
    name = "{}/{}".format(side, path.lstrip("/"))
    if any(not character.isprintable() or character in '"\\' for character in name):
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        return '"{}"'.format("".join(map(_escaped, quoted)))
    return name + "\t" if " " in name else name


def _escaped(character: str) -> str:
    """A character as git writes it in quotes: bytes that cannot be shown in octal digits."""
    if character.isprintable():
        return character
    return "".join(
        "\\{:03o}".format(byte) for byte in character.encode("utf-8", "surrogateescape")
    )
