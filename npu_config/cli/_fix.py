"""The fixes that findings carry, applied to exactly their characters."""

import difflib
from typing import Iterable, List, Optional, Sequence, Tuple

from npu_config.diagnostics import Diagnostic, Edit, Fix
from npu_config.sidefiles._text import apply_edits

Span = Tuple[Tuple[int, int], Tuple[int, int]]


def fixed(text: str, diagnostics: Iterable[Diagnostic]) -> Tuple[str, int]:
    """The text with every fix done that does not touch another one, and how many those are."""
    taken: List[Span] = []
    edits: List[Edit] = []
    done: List[Fix] = []
    for diagnostic in diagnostics:
        fix = diagnostic.fix
        if fix is None or fix in done:
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
    """A unified diff of what the fixes change."""
    lines: Sequence[str] = list(
        difflib.unified_diff(
            before.splitlines(keepends=True),
            after.splitlines(keepends=True),
            "a/{}".format((path or "").lstrip("/")),
            "b/{}".format((path or "").lstrip("/")),
        )
    )
    return "".join(
        line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        for line in lines
    )
