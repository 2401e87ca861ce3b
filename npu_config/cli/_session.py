"""The runs of ``check``: files found, read, judged, fixed and counted; what of it is reported.

One for a call; one after another while files change (``--watch``); one for each file that an
editor has open.  They differ in what they remember of the one before.
"""

import functools
import os
import time
from dataclasses import replace
from shlex import quote
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
    TypeVar,
    Union,
    cast,
)

import attr
import click

from npu_config.cli._fix import difference, fixed, rewrite
from npu_config.cli._options import around_of, missing
from npu_config.cli._output import Failure, Unproducible, progress, read_stdin, say
from npu_config.cli._report import STDIN, holds_logs
from npu_config.core.diagnostics import Diagnostic, NpuConfigError, Place, Report, selects
from npu_config.core.message import localized, phrase
from npu_config.core.target import ANY_TARGET
from npu_config.judging import Around, Judgement, judge, judge_if_ours
from npu_config.lint import rules
from npu_config.lint.project import Project, Targets, find_project, id_of_rule
from npu_config.lint.walk import Skipped, of_package, walk
from npu_config.readers import (
    LARGEST,
    NOTHING_OF_NPU,
    RULES_OF_OTHERS,
    SIDE_FILES,
    Ownership,
)
from npu_config.reporters import Unchecked
from npu_config.rulebook import load_all
from npu_config.rules.reading import FAILED
from npu_config.text.rules import json_syntax, nothing_to_check, unparsable_file, unreadable_file
from npu_config.text.source import attempted, guarded, unsaved, unsaved_content

if TYPE_CHECKING:
    from npu_config.editor.files import Checked

__all__ = ["Session"]

EXCLUDED = "excluded in pyproject.toml"


class Candidate(NamedTuple):
    """One file to look at.

    ``content`` is given for what is not in a file; ``root`` for a file that was found in that
    directory.  ``if_ours``: nobody says that it is a file for us.
    """

    path: str
    content: Optional[bytes] = None
    root: Optional[str] = None
    if_ours: bool = False


def candidates(
    paths: Sequence[str],
    project: Project,
    if_ours: bool = False,
    skipped: Optional[List[Skipped]] = None,
) -> Iterator[Candidate]:
    """Every file once: those that are named, and those in directories that are named.

    Args:
        paths: files, directories, ``-``.
        project: what it excludes is left out of directories.
        if_ours: files that are named are treated as those in directories are.
        skipped: gets what is left out, and why.
    """
    seen = set()
    for path in paths:
        if path == "-":
            if path not in seen:
                seen.add(path)
                yield Candidate(STDIN, read_stdin(LARGEST))
            continue
        if os.path.isdir(path):
            found = _files_below(path, project, skipped)
        elif if_ours and (project.excludes(path) or of_package(path)):
            if skipped is not None:
                skipped.append(Skipped(path, of_package(path) or EXCLUDED))
            continue
        else:
            there = os.path.exists(path) or unsaved_content(path) is not None
            found = iter((Candidate(path, if_ours=if_ours and there),))
        for candidate in found:
            name = os.path.abspath(candidate.path)
            if name not in seen:
                seen.add(name)
                doubtful = candidate.if_ours and not project.claims(candidate.path)
                yield candidate._replace(path=_plain(candidate.path), if_ours=doubtful)


def _plain(path: str) -> str:
    """A path without ``./`` before it, as other tools name files."""
    here = os.curdir + os.sep
    while path.startswith(here):
        path = path[len(here) :].lstrip(os.sep)
    return path


def _files_below(
    directory: str, project: Project, skipped: Optional[List[Skipped]]
) -> Iterator[Candidate]:
    """The files of a directory that the project does not leave out."""
    at_top = os.path.abspath(directory) == project.root
    for path in walk(directory, project.exclude if at_top else (), skipped):
        if at_top or not project.excludes(path):
            yield Candidate(path, None, directory, True)
        elif skipped is not None:
            skipped.append(Skipped(path, EXCLUDED))


Keeps = Callable[[Diagnostic], bool]

_ALWAYS = ("NPU701", "NPU702", "NPU703", "NPU708", "NPU830", "NPU831")


def selection(select: Iterable[str], ignore: Iterable[str], where: str = "--ignore") -> Keeps:
    """A function that says whether a finding is reported.

    Args:
        select: ids, beginnings of ids or names, several joined by commas; empty: all.  That a
            file cannot be read is reported in any case, unless it is ignored.
        ignore: the same; wins over ``select``.
        where: where ``ignore`` comes from, for the message.

    Raises:
        click.UsageError: one of them is no rule.
    """
    chosen, dropped = _ids(select, "--select"), _ids(ignore, where)
    if not chosen and not dropped:
        return lambda diagnostic: True
    if chosen:
        chosen.extend(_ALWAYS)

    def keeps(diagnostic: Diagnostic) -> bool:
        if any(selects(id, diagnostic.rule) for id in dropped):
            return False
        return not chosen or any(selects(id, diagnostic.rule) for id in chosen)

    return keeps


def _ids(words: Iterable[str], option: str) -> List[str]:
    """The ids, or beginnings of ids, that words mean."""
    given = [part.strip() for word in words for part in word.split(",") if part.strip()]
    if not given:
        return []
    from npu_config.rulebook import load_all
    from npu_config.text.words import near

    by_name = {rule.name: rule.id for rule in load_all()}
    found = []
    for word in given:
        id = id_of_rule(word, by_name)
        if id is not None:
            found.append(id)
        else:
            close = near(word, [*by_name, *by_name.values()])
            hint = "" if close is None else localized('; did you mean "{}"?', close)
            raise click.UsageError(localized('{}: "{}" is not a rule{}', option, word, hint))
    return found


_Answer = TypeVar("_Answer")
State = Optional[Tuple[int, int, int]]
"""Size of a file, when it was written to, and its number; None where there is none."""

_PAUSE = 0.3
_SHARE = 5
"""The time between two looks at the files, in seconds and in times of what a look takes."""


class Remembered:
    """What was found in files; it holds while neither they nor what was read for it changes."""

    def __init__(self) -> None:
        self._known: Dict[str, Tuple[Any, Mapping[str, State], Any]] = {}
        self._settings: Any = None

    def use(self, settings: Any) -> None:
        """Forget what was found with other settings."""
        if settings != self._settings:
            self._known.clear()
            self._settings = settings

    def answer(self, path: str, check: Callable[[], _Answer], around: Any = None) -> _Answer:
        """What a check of a file gives, or gave with the same around it."""
        known = self._known.get(path)
        if known is not None and known[2] == around and _holds(known[1]):
            found: _Answer = known[0]
            return found
        full = os.path.abspath(path)
        before = _state(full)  # what is written meanwhile is a change
        with unsaved({}) as asked:
            found = check()
        states = {**{name: _state(name) for name in asked}, full: before}
        self._known[path] = found, states, around
        return found

    def checked(self, before: Mapping[str, State]) -> Dict[str, State]:
        """The states that files, and all that was read for them, had when they were checked.

        Args:
            before: the states of the files before the check: what is made or written since then
                is a change.
        """
        self._known = {k: v for k, v in self._known.items() if os.path.abspath(k) in before}
        found: Dict[str, State] = {}
        for _, states, _ in self._known.values():
            found.update(states)
        return {**found, **before}


def _holds(states: Mapping[str, State]) -> bool:
    return all(_state(name) == state for name, state in states.items())


def _state(path: str) -> State:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


MOST_PASSES = 1000
_BROKEN = (unparsable_file.id, json_syntax.id)


_Found = TypeVar("_Found", bound=Union[Judgement, Ownership])


class Session:
    """Checks files one after another and remembers what is reported at the end.

    Args:
        project: what the project says of its checks.
        around: what the files are checked for, and with which surroundings; by default each is
            for what its own project says.
        keeps: which findings are reported.
        as_kind: read every file as this.
        remembered: what earlier checks found, of files that did not change.

    Attributes:
        files: how many files were looked at.
        unchecked: those of them that were not checked, and why.
        unchecked_named: True when somebody named one of them.
        fixes: how many fixes were applied.
        left_out: what was found and is not looked at, and why.
        differences: unified diffs of what fixes would change.
        texts: path to text, for the lines that a report shows.
    """

    def __init__(
        self,
        project: Project,
        around: Around,
        keeps: Keeps,
        as_kind: Optional[str] = None,
        remembered: Optional[Remembered] = None,
    ) -> None:
        self._remembered = remembered
        self._project = project
        self._around = around
        self._default_of = Targets(load_all)
        self._keeps = keeps
        self._as_kind = as_kind
        self._diagnostics: List[Diagnostic] = list(project.diagnostics)
        self._keeps_of: Dict[Tuple[str, ...], Keeps] = {}
        self._fixed_files: Set[str] = set()
        self.files = 0
        self.unchecked: List[Unchecked] = []
        self.unchecked_named = False
        self.fixes = 0
        self.differences: List[str] = []
        self.left_out: List[Skipped] = []
        self.texts: Dict[Optional[str], str] = {project.path: project.text}

    def report(self) -> Report:
        """Every finding that is reported, also about the tables of other projects.

        What is wrong with a side file is said once, also where an option names it, too.
        """
        others = [each for each in self._default_of.projects if each.path != self._project.path]
        self.texts.update((each.path, each.text) for each in others)
        found = [*self._diagnostics, *(d for each in others for d in each.diagnostics)]
        of_files = {each for each in found if each.option is None}
        return Report(
            each
            for each in found
            if each.option is None or replace(each, option=None) not in of_files
        )

    def check(
        self, paths: Sequence[str], fixing: Optional[str] = None, if_ours: bool = False
    ) -> None:
        """Check every file.

        Args:
            paths: files, directories, ``-``.
            fixing: ``"fix"`` to write fixes, ``"diff"`` to remember what they would change.
            if_ours: pass over named files that are nothing of ours.
        """
        if self._around.on_host:
            self._check_environment()
        found = list(candidates(paths, self._project, if_ours, self.left_out))
        for left in self.left_out:
            if left.unlisted:
                self._diagnostics.append(unreadable_file.diagnostic(left.reason, Place(left.path)))
        scripts = [candidate for candidate in found if self._is_script(candidate)]
        others = [candidate for candidate in found if not self._is_script(candidate)]
        roots = {path: 0 for path in paths if os.path.isdir(path)}
        for candidate in scripts:
            if candidate.root is not None:
                roots[candidate.root] += 1
        with progress(len(found)) as advance:
            launchers: List[Tuple[Candidate, Judgement]] = []
            layered: List[Tuple[Candidate, Judgement]] = []
            for candidate in others:
                unknown = Judgement(candidate.path, (), unchecked=FAILED)
                checked = _guarded(unknown, self._check, candidate)
                advance(1)
                if isinstance(checked, Ownership):
                    left = Skipped(candidate.path, checked.reason, nearly=checked.nearly)
                    self.left_out.append(left)
                else:
                    if candidate.root is not None:
                        wrong = bool(Report(checked.found).errors)
                        roots[candidate.root] += wrong or checked.unchecked is None
                    checked = self._mend(candidate, checked, fixing)
                    if checked.reading is not None and checked.reading.kind == "shell":
                        launchers.append((candidate, checked))
                    elif checked.reading is not None and checked.reading.layers and fixing:
                        layered.append((candidate, checked))
                    else:
                        self._finish(candidate, checked)
            for candidate, checked in layered:  # a file that it extends may have been fixed
                self._finish(candidate, _guarded(checked, self._again, candidate, checked))
            self._check_launchers(launchers)
            self._check_scripts(scripts, fixing, advance)
        for root, count in roots.items():
            if not count:
                message = "the directory contains no file that can be checked"
                help = (
                    "pass the paths of the files to check; --show-skipped lists the skipped files "
                    "with "
                    "the reason"
                )
                if holds_logs(root):
                    help = phrase("these are logs of a job; run: npu-config log {}", quote(root))
                self._diagnostics.append(
                    nothing_to_check.diagnostic(message, Place(root), help=help)
                )

    def _is_script(self, candidate: Candidate) -> bool:
        """True for the files that are checked together."""
        if candidate.content is not None or self._as_kind not in (None, "script"):
            return False
        return candidate.path.endswith(".py") or (
            self._as_kind == "script" and candidate.root is None
        )

    def _check_environment(self) -> None:
        from npu_config.launch.environment.check import check_host

        found: List[Diagnostic] = []
        of_host = attempted(found, None, check_host, os.environ, self._around.target_of())
        self._diagnostics.extend(d for d in (*found, *(of_host or ())) if self._keeps(d))

    def _check_launchers(self, found: Sequence[Tuple[Candidate, Judgement]]) -> None:
        """Check launch scripts beside each other."""
        together = alone = [judged for _, judged in found]
        if len(found) > 1:
            from npu_config.judging.batch import judge_together

            attempt = attempted(
                self._diagnostics, None, judge_together, alone, self._around, load_all
            )
            together = alone if attempt is None else attempt
        for (candidate, before), judged in zip(found, together):
            if judged is not before:
                judged = _guarded(judged, self._reported, judged)
                judged = _guarded(judged, self._promised, candidate, judged)
            self._finish(candidate, judged)

    def _check_scripts(
        self, scripts: Sequence[Candidate], fixing: Optional[str], advance: Callable[[int], None]
    ) -> None:
        if not scripts:
            return
        from npu_config.judging.batch import judge_scripts

        by_path = {candidate.path: candidate for candidate in scripts}
        named = frozenset(name for name, found in by_path.items() if not found.if_ours)
        together = functools.partial(
            judge_scripts,
            around=self._around,
            named=named,
            known_rules=load_all,
            default_of=self._default_of,
        )
        if self._remembered is None:
            found = together(list(by_path), progress=advance)
        else:
            found = self._each(list(by_path), together)
        for judged in found:
            judged = _guarded(judged, self._reported, judged)
            candidate = by_path.pop(judged.path or "")
            if (
                candidate.if_ours
                and candidate.root is None
                and judged.unchecked
                and not judged.found
            ):
                self.left_out.append(Skipped(candidate.path, str(judged.unchecked)))
                continue
            self._finish(candidate, self._mend(candidate, judged, fixing))
        self.left_out.extend(Skipped(path, NOTHING_OF_NPU) for path in by_path)

    def _each(
        self, paths: Sequence[str], judge: Callable[..., Iterator[Judgement]]
    ) -> Iterator[Judgement]:
        """What is said of scripts: of those that changed anew, of the others what was said."""
        for path in paths:
            assert self._remembered is not None
            look = functools.partial(_listed, judge, path)
            yield from self._remembered.answer(path, look, self._default_of(path))

    def _check(self, candidate: Candidate) -> Union[Judgement, Ownership]:
        """Check one file, or say why one that was only found is not for us."""
        if self._remembered is None or candidate.content is not None:
            return self._checked(candidate)
        around = self._default_of(candidate.path)
        return self._remembered.answer(candidate.path, lambda: self._checked(candidate), around)

    def _checked(self, candidate: Candidate) -> Union[Judgement, Ownership]:
        look = judge_if_ours if candidate.if_ours else judge
        around = attr.evolve(self._around, default=self._default_of(candidate.path))
        judged = look(candidate.path, around, self._as_kind, candidate.content, load_all)
        return judged if isinstance(judged, Ownership) else self._reported(judged)

    def _again(self, candidate: Candidate, checked: Judgement) -> Judgement:
        """What is to be said of a file after others were fixed."""
        again = self._check(candidate) if self.fixes and candidate.content is None else checked
        return checked if isinstance(again, Ownership) else self._promised(candidate, again)

    def _reported(self, judged: Judgement) -> Judgement:
        """What neither the project nor the command line silences."""
        found = [each for each in judged.found if self._keeps(each) and self._file_keeps(each)]
        return attr.evolve(judged, found=tuple(found))

    def _file_keeps(self, found: Diagnostic) -> bool:
        """True for what the project does not silence in the file that a finding is in."""
        if not self._project.per_file_ignores or found.path is None:
            return True
        words = self._project.ignored_for(found.path)
        if words not in self._keeps_of:
            self._keeps_of[words] = selection((), words, "per-file-ignores")
        return self._keeps_of[words](found)

    def _mend(self, candidate: Candidate, judged: Judgement, fixing: Optional[str]) -> Judgement:
        """Fix a file, if that is asked for; what is then to be said of it."""
        if fixing is not None and candidate.content is None:
            judged = _guarded(judged, self._fixed, candidate, judged, fixing)
        return _guarded(judged, self._promised, candidate, judged)

    def _finish(self, candidate: Candidate, judged: Judgement) -> None:
        """Remember what is reported of a file."""
        self.files += 1
        self._default_of(candidate.path)  # a script was judged by another process, maybe
        if judged.unchecked is not None:
            self.unchecked.append(Unchecked(candidate.path, str(judged.unchecked), judged.in_part))
            self.unchecked_named |= candidate.root is None
        self._diagnostics.extend(judged.found)
        if judged.found:
            self.texts.update(judged.texts)

    def _fixed(self, candidate: Candidate, checked: Judgement, fixing: str) -> Judgement:
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
            complaint = rules.fix_not_written.diagnostic(reason, Place(candidate.path))
            return attr.evolve(checked, found=(*checked.found, complaint))
        self._fixed_files.add(real)
        self.fixes += count
        return latest

    def _mended(self, candidate: Candidate, checked: Judgement) -> Tuple[Judgement, int]:
        """What a file is after its fixes, and how many were done; none where it stays broken."""
        before = checked.text
        if before is None or not _comes_back(before, checked.encoding):
            return checked, 0
        latest, text, count, seen = checked, before, 0, {before}
        while len(seen) < MOST_PASSES:
            text, done = fixed(text, filter(latest.is_own, latest.found))
            if text in seen or not _comes_back(text, checked.encoding):
                break
            seen.add(text)
            again = self._check(Candidate(candidate.path, text.encode(checked.encoding)))
            if isinstance(again, Ownership):
                break
            latest = attr.evolve(again, texts={**again.texts, again.path: text})
            count += done
        return (checked, 0) if _is_broken(latest) else (latest, count)

    def _promised(self, candidate: Candidate, checked: Judgement) -> Judgement:
        """The findings; a fix that would not be done is none that is safe."""
        text = checked.text
        if text is None or not any(map(_is_safe, filter(checked.is_own, checked.found))):
            return checked
        if not _is_broken(checked) and _comes_back(text, checked.encoding):
            return checked
        if self._mended(candidate, checked)[1]:
            return checked
        found = tuple(
            replace(each, fix=each.fix._replace(safe=False))
            if each.fix is not None and checked.is_own(each)
            else each
            for each in checked.found
        )
        return attr.evolve(checked, found=found)


def _listed(judge: Callable[..., Iterator[Judgement]], path: str) -> Tuple[Judgement, ...]:
    return tuple(judge([path], processes=1))


def _is_safe(found: Diagnostic) -> bool:
    return found.fix is not None and found.fix.safe


def _guarded(known: Judgement, work: Callable[..., _Found], *arguments: Any) -> _Found:
    """What some work on a file gives; a fault of npu_config's own is a finding of the file.

    Args:
        known: what is known of the file when the work fails.
        work: what is done, with its arguments.
    """
    try:
        with guarded(known.path):
            return work(*arguments)
    except NpuConfigError as error:
        found = (*known.found, *error.diagnostics)
        return cast(_Found, attr.evolve(known, found=found))


def _is_broken(judged: Judgement) -> bool:
    """True for a file that cannot be parsed: what a fix made of it is not known.

    Also where a comment silences that.  The text of an option that is not JSON is no fault of
    the file's syntax.
    """
    found = filter(judged.is_own, (*judged.found, *judged.silenced))
    return any(each.rule in _BROKEN and each.option is None for each in found)


def _comes_back(text: str, encoding: str) -> bool:
    """True for a text that its own encoding can write: some only read."""
    try:
        return text.encode(encoding).decode(encoding) == text
    except UnicodeError:
        return False


def without_known(report: Report, session: Session, path: Optional[str]) -> Report:
    """The findings that a baseline does not allow."""
    if path is None:
        return report
    from npu_config.lint.baseline import Baseline, BaselineError

    try:
        known = Baseline.load(path)
    except BaselineError as error:
        failure = Failure if missing([path]) else Unproducible
        raise failure("{}: {}".format(path, error.diagnostic.message)) from None
    return Report(known.new(report, session.texts))


# again and again


def watch(check: Callable[[Remembered], int], paths: Callable[[], Iterable[str]]) -> int:
    """Check, and again whenever a file changes; returns the last exit code when interrupted.

    Args:
        check: checks and prints; returns its exit code.
        paths: gives the files that are checked.

    Raises:
        KeyboardInterrupt: interrupted before the end of the first check.
    """
    remembered, here = Remembered(), os.getcwd()
    code: Optional[int] = None
    try:
        while True:
            click.clear()
            before = {os.path.abspath(path): _state(path) for path in paths()}
            code = check(remembered)
            say(localized("watching for changes; press Ctrl-C to stop\n"), err=True)
            seen = remembered.checked(before)
            pause = _PAUSE
            while True:
                time.sleep(pause)
                start = time.monotonic()
                _enter(here)
                names = {os.path.abspath(path) for path in paths()}
                if not names <= set(seen) or any(_state(n) != s for n, s in seen.items()):
                    break
                pause = max(_PAUSE, _SHARE * (time.monotonic() - start))
    except KeyboardInterrupt:
        if code is None:
            raise
        return code


def _enter(folder: str) -> None:
    """Be in the working directory, which may be another one of its name, or come back later."""
    said = False
    while True:
        try:
            os.chdir(folder)
            return
        except OSError as error:
            if not said:
                click.clear()
                say("{}: {}\n".format(folder, error.strerror), err=True)
            said = True
            time.sleep(_PAUSE)


# for an editor


class OpenFileChecker:
    """Checks files as the command does that is called for every file that is opened.

    What an editor holds unsaved is remembered from one call to the next.
    """

    def __init__(self) -> None:
        self._texts: Dict[str, bytes] = {}
        self._here = os.getcwd()

    def __call__(
        self, changes: Mapping[str, Optional[bytes]], path: str, known: Optional[str] = None
    ) -> "Checked":
        """Check one file; see :class:`npu_config.editor.files.Files`."""
        from npu_config.editor.files import Checked

        for name, content in changes.items():
            if content is None:
                self._texts.pop(name, None)
            else:
                self._texts[name] = content
        try:
            os.chdir(self._here)
        except OSError:  # the folder that was opened is gone
            os.chdir(os.sep)
        with unsaved(self._texts) as asked:
            project = find_project(path, load_all)
            try:
                session = _session_of(project)
                session.check([path], if_ours=True)
                if known is not None and session.left_out and not _left_alone(path, project):
                    session = _named(path, project, known) or session
                report = without_known(session.report(), session, project.baseline)
            except (Failure, click.ClickException) as error:  # a baseline or a rule of the project
                message = str(error.args[0]) if error.args else str(error)
                found = unreadable_file.diagnostic(message, Place(project.path))
                return Checked((_absolute(found),), True, frozenset(asked))
        return Checked(tuple(map(_absolute, report)), not session.left_out, frozenset(asked))


def _session_of(project: Project, as_kind: Optional[str] = None) -> Session:
    """A check with the settings of a project."""
    around = around_of(ANY_TARGET, project, project.on_host)
    return Session(project, around, selection(project.select, project.ignore), as_kind)


def _left_alone(path: str, project: Project) -> bool:
    return project.excludes(path) or of_package(path) is not None


def _named(path: str, project: Project, known: str) -> Optional[Session]:
    """The check of a file that is known to be ours, though its text does not say so: as if named.

    None where the text has become that of another program.
    """
    session = _session_of(project, known if known in SIDE_FILES else None)
    session.check([path])
    return None if any(each.rule in RULES_OF_OTHERS for each in session.report()) else session


def _absolute(found: Diagnostic) -> Diagnostic:
    """A finding whose path does not depend on the working directory."""
    path = found.path
    return found if path is None else replace(found, path=os.path.abspath(path))
