"""The numbers at the end of a report."""

from typing import NamedTuple

from npu_config.core.diagnostics import Report
from npu_config.core.message import localized


class Summary(NamedTuple):
    """How many files were checked and left out, and how many findings there are."""

    files: int
    errors: int
    warnings: int
    infos: int
    skipped: int

    @classmethod
    def of(cls, report: Report, files: int, skipped: int = 0) -> "Summary":
        """Count the findings of a report."""
        return cls(files, len(report.errors), len(report.warnings), len(report.infos), skipped)

    def __str__(self) -> str:
        found = [
            _count(self.errors, "{} error", "{} errors"),
            _count(self.warnings, "{} warning", "{} warnings"),
            notes(self.infos),
        ]
        text = localized(", ").join(filter(None, found)) or localized("nothing to complain about")
        if self.files > self.skipped:
            text = localized("{} in {}", text, _count(self.files, "{} file", "{} files"))
        if self.skipped:
            text = localized(
                "{}; {} file could not be checked"
                if self.skipped == 1
                else "{}; {} files could not be checked",
                text,
                self.skipped,
            )
        return text


def notes(number: int) -> str:
    """How much information there is, in words."""
    return _count(number, "{} note", "{} notes")


def _count(number: int, one: str, several: str) -> str:
    """A number of things in words; nothing for none."""
    return localized(one if number == 1 else several, number) if number else ""
