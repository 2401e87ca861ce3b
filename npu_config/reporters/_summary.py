"""The numbers at the end of a report."""

from typing import NamedTuple

from npu_config.core.diagnostics import Report


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
            count(self.errors, "error"),
            count(self.warnings, "warning"),
            count(self.infos, "note"),
        ]
        words = ", ".join(part for part in found if part) or "nothing to complain about"
        text = words + (" in {}".format(count(self.files, "file")) if self.files else "")
        return text + (", {} of them skipped".format(self.skipped) if self.skipped else "")


def count(number: int, one: str) -> str:
    """A number of things in words; nothing for none."""
    return "{} {}{}".format(number, one, "" if number == 1 else "s") if number else ""
