"""The numbers of a report."""

from typing import Any, Dict, Iterator, List, NamedTuple, Sequence

from npu_config.core.diagnostics import Report
from npu_config.core.message import localized, printable


class Style(NamedTuple):
    """What matters to the text report only.

    ``color``: use the colours of a terminal.  ``notes``: show findings that are information, and
    not just their number.  ``hints``: end with what can be done next.
    """

    color: bool = False
    notes: bool = True
    hints: bool = False


PLAIN = Style()


_MOST_NAMED = 3


class Unchecked(NamedTuple):
    """A file that was not checked, or only in part, and why."""

    path: str
    why: str
    in_part: bool = False


class Summary(NamedTuple):
    """How many files were looked at and not checked, and how many findings there are."""

    files: int
    errors: int
    warnings: int
    infos: int
    skipped: int
    unchecked: Sequence[Unchecked] = ()

    @classmethod
    def of(
        cls, report: Report, files: int, skipped: int = 0, unchecked: Sequence[Unchecked] = ()
    ) -> "Summary":
        """Count the findings of a report.

        Args:
            report: the findings.
            files: how many files were looked at.
            skipped: how many of them were not checked, where it is not known which.
            unchecked: those that were not checked.
        """
        counts = len(report.errors), len(report.warnings), len(report.infos)
        return cls(files, *counts, skipped or len(unchecked), tuple(unchecked))

    def numbers(self) -> Dict[str, int]:
        """What the contract calls the summary."""
        found: Dict[str, Any] = self._asdict()
        del found["unchecked"]
        return dict(found)

    def __str__(self) -> str:
        found = [
            _count(self.errors, "{} error", "{} errors"),
            _count(self.warnings, "{} warning", "{} warnings"),
            notes(self.infos),
        ]
        text = localized(", ").join(filter(None, found))
        checked = self.files - self.skipped
        if self.skipped:
            looked = localized(self._looked(checked == 1), checked, self.skipped)
            if not text and checked:
                text = localized("no problem found")
            return localized(": ").join((text, looked)) if text else looked
        if not checked:
            return text or localized("no file was checked")
        text = text or localized("no problem found")
        return localized("{} in {}", text, _count(self.files, "{} file", "{} files"))

    def _looked(self, one: bool) -> str:
        """What was looked at, of one file or several."""
        if any(each.in_part for each in self.unchecked):
            if one:
                return "{} file checked, {} not checked in full"
            return "{} files checked, {} not checked in full"
        return "{} file checked, {} not checked" if one else "{} files checked, {} not checked"

    def reasons(self) -> Iterator[str]:
        """Lines that say which files were not checked, and why."""
        files: Dict[str, List[str]] = {}
        for path, why, _ in self.unchecked:
            files.setdefault(why, []).append(printable(path))
        for why, paths in files.items():
            named = localized(", ").join(paths[:_MOST_NAMED])
            if len(paths) > _MOST_NAMED:
                named = localized("{} and {} more", named, len(paths) - _MOST_NAMED)
            yield localized("    not checked ({}): {}", printable(localized(why)), named)


def notes(number: int) -> str:
    """How much information there is, in words."""
    return _count(number, "{} note", "{} notes")


def _count(number: int, one: str, several: str) -> str:
    """A number of things in words; nothing for none."""
    return localized(one if number == 1 else several, number) if number else ""
