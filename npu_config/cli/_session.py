"""One run of ``check``: files read, judged, fixed and counted."""

import os
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence

from npu_config.cli._fix import difference, fixed
from npu_config.cli._select import Keeps
from npu_config.cli._sources import Candidate, candidates
from npu_config.diagnostics import Diagnostic, Place, Report
from npu_config.files import write_atomic
from npu_config.readers import Reading, read, read_if_ours
from npu_config.readers import _rules as rules
from npu_config.target import Target

MOST_PASSES = 10


class Checked(NamedTuple):
    """One file and its findings."""

    reading: Reading
    diagnostics: List[Diagnostic]


class Session:
    """Checks files one after another and remembers what is told at the end.

    Args:
        target_of: from the target that a file names to the one it is checked for.
        keeps: which findings are told.
        on_host: look at the file system and the environment.
        as_kind: read every file as this.

    Attributes:
        files: how many files were looked at.
        skipped: how many of them could not be read or understood at all.
        fixes: how many fixes were applied.
        differences: unified diffs of what fixes would change.
        texts: path to text, for the lines that a report shows.
    """

    def __init__(
        self,
        target_of: Callable[[Optional[Target]], Target],
        keeps: Keeps,
        on_host: bool = False,
        as_kind: Optional[str] = None,
    ) -> None:
        self._target_of = target_of
        self._keeps = keeps
        self._on_host = on_host
        self._as_kind = as_kind
        self._diagnostics: List[Diagnostic] = []
        self.files = 0
        self.skipped = 0
        self.fixes = 0
        self.differences: List[str] = []
        self.texts: Dict[Optional[str], str] = {}

    def report(self) -> Report:
        """Every finding that is told."""
        return Report(self._diagnostics)

    def check(self, paths: Sequence[str], fixing: Optional[str] = None) -> None:
        """Check every file.

        Args:
            paths: files, directories, ``-``.
            fixing: ``"fix"`` to write fixes, ``"diff"`` to remember what they would change.
        """
        if self._on_host:
            from npu_config.cluster.envcheck import check_host

            found = check_host(os.environ, self._target_of(None))
            self._diagnostics.extend(d for d in found if self._keeps(d))
        roots = {path: 0 for path in paths if os.path.isdir(path)}
        for candidate in candidates(paths):
            checked = self._check(candidate)
            if checked is None:
                continue
            if candidate.root is not None:
                roots[candidate.root] += 1
            if fixing is not None:
                checked = self._fix(candidate, checked, fixing)
            self._remember(checked)
        for root, count in roots.items():
            if not count:
                message = "the directory holds nothing that could be checked"
                empty = rules.NOTHING.diagnostic(message, Place(root))
                self._remember(Checked(Reading("", root), [empty]), files=0)

    def _check(self, candidate: Candidate) -> Optional[Checked]:
        look = read if candidate.named else read_if_ours
        reading = look(candidate.path, self._as_kind, candidate.content)
        if reading is None:
            return None
        environ = os.environ if self._on_host else None
        found = reading.judge(self._target_of(reading.target), environ, self._on_host)
        return Checked(reading, [d for d in found if self._keeps(d)])

    def _remember(self, checked: Checked, files: int = 1) -> None:
        self.files += files
        self.skipped += checked.reading.skipped
        if checked.diagnostics:
            self._diagnostics.extend(checked.diagnostics)
            if checked.reading.text is not None:
                self.texts[checked.reading.path] = checked.reading.text

    def _fix(self, candidate: Candidate, checked: Checked, fixing: str) -> Checked:
        """Apply fixes until none is left; what then stands in the file is checked."""
        before = checked.reading.text
        if before is None or candidate.content is not None:
            return checked
        latest, text, count = checked, before, 0
        for _ in range(MOST_PASSES):
            text, done = fixed(text, latest.diagnostics)
            if not done:
                break
            count += done
            content = text.encode(checked.reading.encoding)
            again = self._check(candidate._replace(content=content, named=True))
            if again is None:
                break
            latest = again
        if text == before:
            return checked
        if fixing == "diff":
            self.differences.append(difference(candidate.path, before, text))
            return checked
        reason = _write(candidate.path, before, text, checked.reading.encoding)
        if reason is not None:
            complaint = rules.NOT_WRITTEN.diagnostic(reason, Place(candidate.path))
            return Checked(checked.reading, [*checked.diagnostics, complaint])
        self.fixes += count
        return latest


def _write(path: str, before: str, after: str, encoding: str) -> Optional[str]:
    """Put the fixed text in the place of the old one; why it was not done, if it was not."""
    try:
        with open(path, "rb") as stream:
            if stream.read() != before.encode(encoding):
                return "the file changed while it was checked; it is not written"
        write_atomic(path, after.encode(encoding), overwrite=True)
    except OSError as error:
        return "the file cannot be written: {}".format(error.strerror or error)
    return None


__all__ = ["Checked", "Session"]
