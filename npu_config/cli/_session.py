"""One run of ``check``: files read, judged, fixed and counted."""

import os
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
    cast,
)

import attr

from npu_config.cli._fix import difference, fixed
from npu_config.cli._progress import progress
from npu_config.cli._rewrite import rewrite
from npu_config.cli._select import Keeps, selection
from npu_config.cli._sources import Candidate, candidates
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Report
from npu_config.core.target import Target
from npu_config.lint import rules
from npu_config.lint.project import Project
from npu_config.lint.suppress import Suppressions
from npu_config.lint.walk import Skipped
from npu_config.readers import read, read_if_ours
from npu_config.rulebook import load_all
from npu_config.text.guard import guarded
from npu_config.text.json_rules import SYNTAX
from npu_config.text.loading import load
from npu_config.text.rules import NOTHING, UNPARSABLE, UNREADABLE

LARGEST = 1 << 24
MOST_PASSES = 1000
NOT_OURS = "not of a kind that is checked"
_BROKEN = (UNPARSABLE.id, SYNTAX.id)


class Checked(NamedTuple):
    """One file and what is reported of it."""

    path: str
    diagnostics: Sequence[Diagnostic]
    text: Optional[str] = None
    encoding: str = "utf-8"
    skipped: bool = False


_Found = TypeVar("_Found", bound=Optional[Checked])


class Session:
    """Checks files one after another and remembers what is reported at the end.

    Args:
        project: what the project says of its checks.
        target_of: from the target that a file names to the one it is checked for.
        keeps: which findings are reported.
        on_host: look at the file system and the environment.
        as_kind: read every file as this.

    Attributes:
        files: how many files were looked at.
        skipped: how many of them could not be read or understood at all.
        fixes: how many fixes were applied.
        left_out: what was found and is not looked at, and why.
        differences: unified diffs of what fixes would change.
        texts: path to text, for the lines that a report shows.
    """

    def __init__(
        self,
        project: Project,
        target_of: Callable[[Optional[Target]], Target],
        keeps: Keeps,
        on_host: bool = False,
        as_kind: Optional[str] = None,
    ) -> None:
        self._project = project
        self._target_of = target_of
        self._keeps = keeps
        self._environ = os.environ if on_host else None
        self._on_host = on_host
        self._as_kind = as_kind
        self._diagnostics: List[Diagnostic] = list(project.diagnostics)
        self._known: Tuple[Tuple[str, str], ...] = ()
        self._file_keeps: Dict[Tuple[str, ...], Keeps] = {}
        self._fixed_files: Set[str] = set()
        self.files = 0
        self.skipped = 0
        self.fixes = 0
        self.differences: List[str] = []
        self.left_out: List[Skipped] = []
        self.texts: Dict[Optional[str], str] = {project.path: project.text}

    def report(self) -> Report:
        """Every finding that is reported."""
        return Report(self._diagnostics)

    def check(
        self, paths: Sequence[str], fixing: Optional[str] = None, if_ours: bool = False
    ) -> None:
        """Check every file.

        Args:
            paths: files, directories, ``-``.
            fixing: ``"fix"`` to write fixes, ``"diff"`` to remember what they would change.
            if_ours: pass over named files that are nothing of ours.
        """
        if self._on_host:
            self._check_environment()
        found = list(candidates(paths, self._project, if_ours, self.left_out))
        for left in self.left_out:
            if left.unlisted:
                self._add(left.path, [UNREADABLE.diagnostic(left.reason, Place(left.path))])
        scripts = [candidate for candidate in found if self._is_script(candidate)]
        others = [candidate for candidate in found if not self._is_script(candidate)]
        roots = {path: 0 for path in paths if os.path.isdir(path)}
        for candidate in scripts:
            if candidate.root is not None:
                roots[candidate.root] += 1
        with progress(len(found)) as advance:
            for candidate in others:
                checked = _guarded(
                    Checked(candidate.path, [], skipped=True), self._check, candidate
                )
                advance(1)
                if checked is None:
                    self.left_out.append(Skipped(candidate.path, NOT_OURS))
                else:
                    if candidate.root is not None:
                        roots[candidate.root] += 1
                    self._finish(candidate, checked, fixing)
            self._check_scripts(scripts, fixing, advance)
        for root, count in roots.items():
            if not count:
                message = "the directory holds nothing that could be checked"
                help = "name the files; --show-skipped lists what is left out, and why"
                self._add(root, [NOTHING.diagnostic(message, Place(root), help=help)])

    def _is_script(self, candidate: Candidate) -> bool:
        """True for the files that are checked together."""
        if candidate.content is not None or self._as_kind not in (None, "script"):
            return False
        return candidate.path.endswith(".py") or (
            self._as_kind == "script" and candidate.root is None
        )

    def _check_environment(self) -> None:
        from npu_config.cluster.environment.check import check_host

        found = check_host(os.environ, self._target_of(None))
        self._diagnostics.extend(d for d in found if self._keeps(d))

    def _check_scripts(
        self, scripts: Sequence[Candidate], fixing: Optional[str], advance: Callable[[int], None]
    ) -> None:
        if not scripts:
            return
        from npu_config.script.batch import check_scripts

        by_path = {candidate.path: candidate for candidate in scripts}
        target = self._target_of(None)
        self.files += len(scripts)
        for script in check_scripts(
            list(by_path),
            target,
            self._environ,
            self._on_host,
            named=frozenset(name for name, found in by_path.items() if not found.if_ours),
            progress=advance,
        ):
            checked = Checked(*script)
            checked = _guarded(checked, self._of_script, checked)
            self.files -= 1
            self._finish(by_path[script.path], checked, fixing)

    def _of_script(self, script: Checked) -> Checked:
        reported = self._reported(script.path, script.text, script.diagnostics, True)
        return script._replace(diagnostics=reported)

    def _check(self, candidate: Candidate) -> Optional[Checked]:
        """Check one file; None when it was only found and is not for us."""
        look = read_if_ours if candidate.if_ours else read
        reading = look(candidate.path, self._as_kind, candidate.content)
        if reading is None:
            return None
        target = self._target_of(reading.target)
        found = reading.judge(target, self._environ, self._on_host)
        reported = self._reported(candidate.path, reading.text, found, reading.kind == "script")
        return Checked(candidate.path, reported, reading.text, reading.encoding, reading.skipped)

    def _reported(
        self, path: str, text: Optional[str], found: Iterable[Diagnostic], is_script: bool
    ) -> List[Diagnostic]:
        """What neither a comment, nor the project, nor the command line silences.

        A finding in a file that the checked one names goes by the comments of that file.
        """
        mine: List[Diagnostic] = []
        others: Dict[str, List[Diagnostic]] = {}
        for each in found:
            if each.path is None or each.path == path or self._text_of(each.path) is None:
                mine.append(each)
            else:
                others.setdefault(each.path, []).append(each)
        if text is not None:
            comments = Suppressions(text, path, is_script)
            if comments:
                self._known = self._known or tuple((rule.id, rule.name) for rule in load_all())
                mine = comments.apply(mine, self._known)
        kept = self._kept(path, mine)
        for name, theirs in others.items():
            comments = Suppressions(self._text_of(name) or "", name, name.endswith(".py"))
            kept.extend(self._kept(name, comments.apply(theirs)))
        return kept

    def _text_of(self, path: str) -> Optional[str]:
        """The text of a file that another one names; None where there is no such text."""
        if path not in self.texts and os.path.isfile(path):
            data = load(path, LARGEST)
            if isinstance(data, bytes):
                self.texts[path] = data.decode("utf-8", "replace")
        return self.texts.get(path)

    def _kept(self, path: str, left: Iterable[Diagnostic]) -> List[Diagnostic]:
        """What neither the project nor the command line silences in a file."""
        words = self._project.ignored_for(path) if self._project.per_file_ignores else ()
        if words not in self._file_keeps:
            self._file_keeps[words] = selection((), words, "per-file-ignores")
        keeps = self._file_keeps[words]
        return [diagnostic for diagnostic in left if self._keeps(diagnostic) and keeps(diagnostic)]

    def _finish(self, candidate: Candidate, checked: Checked, fixing: Optional[str]) -> None:
        """Fix a file, if that is asked for, and remember what is reported of it."""
        if fixing is not None and candidate.content is None:
            checked = _guarded(checked, self._fixed, candidate, checked, fixing)
        checked = _guarded(checked, self._promised, candidate, checked)
        self.files += 1
        self.skipped += checked.skipped
        self._add(checked.path, checked.diagnostics, checked.text)

    def _add(
        self, path: Optional[str], diagnostics: Sequence[Diagnostic], text: Optional[str] = None
    ) -> None:
        self._diagnostics.extend(diagnostics)
        if diagnostics and text is not None:
            self.texts[path] = text

    def _fixed(self, candidate: Candidate, checked: Checked, fixing: str) -> Checked:
        """Apply fixes until none is left; what is then in the file is reported."""
        before = checked.text
        latest, count = self._mended(candidate, checked)
        text = latest.text
        if before is None or text is None or not count:
            return checked
        if fixing == "diff":
            mark = "\ufeff" if checked.encoding == "utf-8-sig" else ""
            self.differences.append(difference(candidate.path, mark + before, mark + text))
            return checked
        real = os.path.realpath(candidate.path)
        if real in self._fixed_files:
            return latest
        reason = rewrite(candidate.path, before, text, checked.encoding, candidate.root)
        if reason is not None:
            complaint = rules.NOT_WRITTEN.diagnostic(reason, Place(candidate.path))
            return checked._replace(diagnostics=[*checked.diagnostics, complaint])
        self._fixed_files.add(real)
        self.fixes += count
        return latest

    def _mended(self, candidate: Candidate, checked: Checked) -> Tuple[Checked, int]:
        """What a file is after its fixes, and how many were done; none where it stays broken."""
        before = checked.text
        if before is None or not _comes_back(before, checked.encoding):
            return checked, 0
        latest, text, count, seen = checked, before, 0, {before}
        while len(seen) < MOST_PASSES:
            text, done = fixed(text, latest.diagnostics)
            if text in seen:
                break
            seen.add(text)
            again = self._check(Candidate(candidate.path, text.encode(checked.encoding)))
            if again is None:
                break
            latest, count = again._replace(text=text), count + done
        return (checked, 0) if _is_broken(latest.diagnostics) else (latest, count)

    def _promised(self, candidate: Candidate, checked: Checked) -> Checked:
        """The findings; a fix that would not be done is none that is safe."""
        text = checked.text
        if text is None or not any(map(_is_safe, checked.diagnostics)):
            return checked
        if not _is_broken(checked.diagnostics) and _comes_back(text, checked.encoding):
            return checked
        if self._mended(candidate, checked)[1]:
            return checked
        found = [
            attr.evolve(each, fix=each.fix._replace(safe=False)) if each.fix is not None else each
            for each in checked.diagnostics
        ]
        return checked._replace(diagnostics=found)


def _is_safe(found: Diagnostic) -> bool:
    return found.fix is not None and found.fix.safe


def _guarded(known: Checked, work: Callable[..., _Found], *arguments: Any) -> _Found:
    """What some work on a file gives; a fault of npu_config's own is a finding of the file.

    Args:
        known: what is known of the file when the work fails.
        work: what is done, with its arguments.
    """
    try:
        with guarded(known.path):
            return work(*arguments)
    except NpuConfigError as error:
        found = [*known.diagnostics, *error.diagnostics]
        return cast(_Found, known._replace(diagnostics=found))


def _is_broken(diagnostics: Iterable[Diagnostic]) -> bool:
    """True for a file that cannot be parsed: what a fix made of it is not known.

    The text of an option that is not JSON is no fault of the file's syntax.
    """
    return any(found.rule in _BROKEN and found.option is None for found in diagnostics)


def _comes_back(text: str, encoding: str) -> bool:
    """True for a text that its own encoding can write: some only read."""
    try:
        return text.encode(encoding).decode(encoding) == text
    except UnicodeError:
        return False


__all__ = ["Checked", "Session"]
