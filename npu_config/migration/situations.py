"""What ``check`` finds in a script once it is migrated, told and mended in its migration.

The situations are recognised there, and only there: their findings come back to the lines of the
script that is migrated, and so do their fixes.
"""

import bisect
from itertools import accumulate
from typing import List, NamedTuple, Optional, Sequence, Tuple

from npu_config.core.diagnostics import Diagnostic, Severity
from npu_config.core.message import phrase
from npu_config.migration.facts import Fact, facts
from npu_config.migration.resolve import Resolver
from npu_config.migration.work import CHANGED, MANUAL, Note, Replacement, Work

__all__ = ["Back", "found_in", "mend", "tell"]


def found_in(text: str, script: Resolver) -> List[Diagnostic]:
    """The documented troubles in a script that became of another one, or in that itself."""
    from npu_config.script import situations_of

    return situations_of(text, script.source.path, script)


class _Kept(NamedTuple):
    """Characters that a migration leaves: where they begin and end in its text, and before it."""

    start: int
    end: int
    before: int


class Back:
    """From a migrated script back to the one before.

    Args:
        text: the migrated script.
        size: how long the one before is.
        changes: what was replaced in that, in order.
    """

    def __init__(self, text: str, size: int, changes: Sequence[Replacement]) -> None:
        self._lines = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
        self._kept: List[_Kept] = []
        start = before = 0
        for change in [*changes, Replacement(size, size, "")]:
            end = start + change.start - before
            self._kept.append(_Kept(start, end, before))
            start, before = end + len(change.text), change.end
        self._starts = [one.start for one in self._kept]

    def offset(self, line: int, column: int) -> Tuple[int, int]:
        """Where a place was, and the number of the kept characters that it is in or behind."""
        at = self._lines[min(line, len(self._lines)) - 1] + column - 1
        index = bisect.bisect_right(self._starts, at) - 1
        kept = self._kept[index]
        return kept.before + min(at, kept.end) - kept.start, index

    def changes(self, found: Diagnostic) -> Optional[List[Replacement]]:
        """The changes of the script before that fix a finding; None where they meet others."""
        result: List[Replacement] = []
        for edit in found.fix.edits if found.fix is not None and found.fix.safe else ():
            start, first = self.offset(edit.line, edit.column)
            end, last = self.offset(edit.end_line, edit.end_column)
            if first != last:
                return None
            result.append(Replacement(start, end, edit.text))
        return result or None


def mend(work: Work, found: Sequence[Diagnostic], back: Back) -> bool:
    """Make the changes that fix findings, and tell them; False where there are none."""
    is_mended = False
    for one in found:
        changes = back.changes(one)
        if changes is None:
            continue
        is_mended = True
        for change in changes:
            work.replace(*change)
        assert one.fix is not None
        line = _line(work, one, back)
        work.settle(line, one.situation)
        fact = _fact(one)
        work.enter(Note(line, fact.id if fact else one.rule, CHANGED, one.fix.title, found=one))
    return is_mended


def tell(work: Work, found: Sequence[Diagnostic], back: Back) -> None:
    """Enter findings as what is left to do, but for troubles that the report names already."""
    left = [note for note in work.notes if note.kind != CHANGED]
    said = {_SAID.get(note.id, note.situation) for note in left} - {None}
    is_placed = any(note.id == "device" for note in work.notes)
    for one in found:
        if _situation(one) in said or (is_placed and one.situation == _PLACED):
            continue
        line = _line(work, one, back)
        text = one.message if one.help is None else phrase("{}: {}", one.message, one.help)
        fact = _fact(one)
        is_minor = Severity.INFO in (one.severity, fact.severity if fact else None)
        work.enter(Note(line, fact.id if fact else one.rule, MANUAL, text, not is_minor, one))


_PLACED = "device-of-gpu-without-soft-placement"
"""What the import of npu_init switches on, and what is said of a device says so."""
_SAID = {"hvd-broadcast": "variables-not-broadcast"}
"""Facts of a migration whose words say that a trouble is there, too."""
_SAME = {"dataset-argument-from-variable": "dataset-function-captures-variable"}
"""Troubles for which a migration has one fact together with another."""


def _situation(found: Diagnostic) -> Optional[str]:
    """The trouble, as the facts of a migration name it."""
    return _SAME.get(found.situation or "", found.situation)


def _line(work: Work, found: Diagnostic, back: Back) -> int:
    """The line of the script before that a finding is about; the first of one without a place."""
    start, _ = back.offset(found.line or 1, found.column or 1)
    return work.script.position(start)[0]


def _fact(found: Diagnostic) -> Optional[Fact]:
    """The fact of a migration that is about the same trouble."""
    situation = _situation(found)
    known = (fact for fact in facts().values() if fact.situation is not None)
    return next((fact for fact in known if fact.situation == situation), None)
