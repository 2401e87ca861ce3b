"""``npu-config migrate``."""

import contextlib
import errno
import glob
import math
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import click

from npu_config.cli._fix import difference, rewrite
from npu_config.cli._options import INPUT
from npu_config.cli._output import DONE, FINDINGS, Failure, progress, read_stdin, say
from npu_config.cli._report import STDIN, refuse_other_kind
from npu_config.core.diagnostics import Place
from npu_config.core.message import localized, phrase
from npu_config.lint.walk import Skipped, walk
from npu_config.migration import IMPORTS, rules
from npu_config.migration.program import EntryPoint, FileOutcome, FileToMigrate
from npu_config.migration.project import LARGEST, is_candidate, migrate_files
from npu_config.migration.report import next_commands, render
from npu_config.text.files import make_directories

_NUMBER = re.compile(r"[-+]?(?:\d{1,40}\.?\d{0,40}(?:[eE][-+]?\d{1,4})?|nan\b|inf\b)")
_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d|\d{1,4}(?::\d\d){1,2}(?:[.,]\d{1,9})?"
    r"|\d{1,40}\.?\d{0,40} ?(?:s|secs?|seconds?|[mun]s|min(?:utes?)?|h|it/s)\b"
)
"""What differs in every run: dates, clocks and how long something took."""
_HEADINGS = re.compile(r"^(?:Epoch \d{1,9}/\d{1,9}|Train on \d{1,12} .{0,80})\r?$", re.M)
"""What Keras prints before it has trained."""
_TOLERANCE = 1e-5
_SHOWN = 3


class PrintedComparison(NamedTuple):
    """Whether two runs print the same numbers; None where one of them cannot be run."""

    path: str
    same: Optional[bool]
    text: str


def compare(path: str, before: str, after: str, steps: int) -> PrintedComparison:
    """Run a script and its migrated copy, and compare the numbers on the lines about losses.

    Args:
        path: how the script is called.
        before: the script.
        after: the copy.
        steps: how many session runs each of them makes.
    """
    outputs: List[List[float]] = []
    for side, script in ((phrase("before"), before), (phrase("after"), after)):
        found = _printed(script, steps)
        if isinstance(found, _Failed):
            text = phrase(
                "not compared: {} the migration the script ends with exit code {}: {}",
                side,
                found.code,
                found.last,
            )
            return PrintedComparison(path, None, text)
        outputs.append(found)
    old, new = outputs
    if not old and not new:
        return PrintedComparison(
            path, None, "not compared: the script prints no numbers in these steps"
        )
    index = _first_difference(old, new)
    if index is None:
        shown = " ".join(map(str, old[:_SHOWN])) + (" ..." if len(old) > _SHOWN else "")
        return PrintedComparison(
            path, True, phrase("the same numbers before and after: {}", shown)
        )
    again = _printed(before, steps)
    if isinstance(again, _Failed) or _first_difference(old, again) is not None:
        return PrintedComparison(path, None, _RANDOM)
    text = phrase("the numbers differ: before {}, after {}", _from(old, index), _from(new, index))
    return PrintedComparison(path, False, text)


_RANDOM = (
    "not compared: even before the migration, the printed numbers differ from run to run; set "
    "the seeds in the script (tf.set_random_seed, numpy.random.seed)"
)


class _Failed(NamedTuple):
    code: int
    last: str


def _printed(script: str, steps: int) -> Union[List[float], _Failed]:
    """The numbers that a script prints, or how it ended."""
    done = subprocess.run(
        _command(steps, script),
        cwd=os.path.dirname(os.path.abspath(script)),
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        return _Failed(done.returncode, last)
    return _numbers(done.stdout.decode("utf-8", "replace"))


def _first_difference(old: Sequence[float], new: Sequence[float]) -> Optional[int]:
    """Where two lists of numbers differ first; None for nowhere."""
    for index, pair in enumerate(zip(old, new)):
        if not _equal(*pair):
            return index
    return None if len(old) == len(new) else min(len(old), len(new))


def _command(steps: int, script: str) -> List[str]:
    name = os.path.basename(script)
    return [sys.executable, "-m", "npu_config", "run", "--steps", str(steps), name]


def _numbers(text: str) -> List[float]:
    """The numbers on the lines about losses; of all lines where none is.  Times are left out."""
    lines = _HEADINGS.sub("", text).split("\n")
    lines = [line for line in lines if "loss" in line.lower()] or lines
    return [float(number) for line in lines for number in _NUMBER.findall(_TIMES.sub(" ", line))]


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_TOLERANCE) or (math.isnan(one) and math.isnan(other))


def _from(numbers: Sequence[float], index: int) -> str:
    return " ".join(map(str, numbers[index : index + _SHOWN])) or localized("nothing")


_SHARE = 200
"""How many paths one call of git is given."""


def uncommitted(paths: Sequence[str]) -> Dict[str, str]:
    """The files that git could not give back, with the reason; none where there is no git."""
    found: Dict[str, str] = {}
    for top, files in _by_repository(paths).items():
        names = {os.path.relpath(os.path.realpath(path), top): path for path in files}
        keys = list(names)
        for start in range(0, len(keys), _SHARE):
            for status, name in _status(top, keys[start : start + _SHARE]):
                path = names.get(name.replace("/", os.sep))
                if path is not None:
                    found[path] = (
                        localized(
                            "git does not track this file: add and commit it, or use --force"
                        )
                        if status == "??"
                        else localized(
                            "the file has uncommitted changes: commit or stash them, or use "
                            "--force"
                        )
                    )
    return found


def undo(paths: Sequence[str]) -> List[str]:
    """The commands that take back what was written, as a shell takes them."""
    commands = []
    for top, files in _by_repository(paths).items():
        names = [shlex.quote(os.path.relpath(os.path.realpath(path), top)) for path in files]
        commands.append(" ".join(["git", "-C", shlex.quote(top), "checkout", "--", *names]))
    return commands


def _by_repository(paths: Sequence[str]) -> Dict[str, List[str]]:
    """Paths by the top of their repository, a submodule being one of its own."""
    tops: Dict[str, Optional[str]] = {}
    found: Dict[str, List[str]] = {}
    for path in paths:
        folder = os.path.dirname(os.path.realpath(path))
        if folder not in tops:
            tops[folder] = _top(folder)
        top = tops[folder]
        if top is not None:
            found.setdefault(top, []).append(path)
    return found


def _top(folder: str) -> Optional[str]:
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def _status(top: str, names: Sequence[str]) -> Iterator[Tuple[str, str]]:
    """The state of files that are not as they were committed; nothing where git fails."""
    command = ["git", "-C", top, "status", "--porcelain", "-z", "--untracked-files=all", "--"]
    try:
        done = subprocess.run(
            [*command, *(":(literal)" + name for name in names)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )
    except OSError:
        return
    entries = iter(os.fsdecode(done.stdout).split("\0") if done.returncode == 0 else ())
    for entry in entries:
        if entry:
            yield entry[:2], entry[3:]
            if entry[0] in "RC":
                next(entries, None)


class _Plan(NamedTuple):
    """The files to migrate, every file of the directories with its name in the output, and what
    is left out of it.
    """

    targets: List[FileToMigrate]
    copies: List[Tuple[str, str]]
    left_out: List[Skipped]


@click.command("migrate")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=INPUT)
@click.option("--write", is_flag=True, help="Write the migrated scripts in place.")
@click.option(
    "--check", is_flag=True, help="Write nothing; exit code 1 if something would change."
)
@click.option(
    "--partial",
    is_flag=True,
    help=(
        "Also edit code that depends on code that is not migrated; the result may be incorrect."
    ),
)
@click.option(
    "--force",
    is_flag=True,
    help=("With --write: also write files with changes that are not committed to git."),
)
@click.option("--output", metavar="DIR", help="Write a migrated copy of the files to DIR.")
@click.option(
    "--run",
    "is_run",
    is_flag=True,
    help="With --output: run the scripts before and after, and compare the losses they print.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    help="With --run: number of session runs.  [default: 10]",
)
@click.option(
    "--imports",
    type=click.Choice(IMPORTS),
    default=IMPORTS[0],
    show_default=True,
    help="The package to import in the migrated scripts.",
)
@click.option(
    "--report",
    "form",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="How the report is printed.",
)
@click.pass_context
def command(
    ctx: click.Context,
    paths: Tuple[str, ...],
    write: bool,
    check: bool,
    partial: bool,
    force: bool,
    output: Optional[str],
    is_run: bool,
    steps: Optional[int],
    imports: str,
    form: str,
) -> None:
    """Migrate training scripts for GPUs or CPUs to the NPU, and list what is left to do.

    Takes scripts (.py, - for standard input) and directories; shell scripts (.sh) are reported
    only.  Without --write and --output nothing is written: a diff goes to standard output, and the
    report to standard error; --report json and html print the report alone, to standard output.

    Code whose migration is not certain is not edited, but reported with its line.  A migrated
    script is not reported again, so keep the first report: --write --report html > report.html.

    Exit code 0: no manual work is left (notes need none; a directory without Python files is a
    warning); 1: manual work is left; 2: wrong usage.  With --check, exit code 0 also requires
    that no file would change.
    """
    writes = write or output is not None
    for is_wrong, text in (
        (check and writes, "--check writes nothing: leave out --write and --output"),
        (is_run and output is None, "--run requires --output"),
        (steps is not None and not is_run, "--steps requires --run"),
        (force and not write, "--force requires --write"),
        (write and output is not None, "--write and --output cannot be combined"),
        (
            "-" in paths and writes,
            "--write cannot write to standard input: pass the path of the script",
        ),
    ):
        if is_wrong:
            raise click.UsageError(text)
    if output is not None:
        _check_output(output, paths)
    files = [path for path in paths if path != "-"]
    plan = _plan(files, output)
    if len(files) < len(paths):
        plan.targets.append(FileToMigrate(STDIN, None, read_stdin(LARGEST)))
    with progress(len(plan.targets)) as advance:
        outcomes = migrate_files(plan.targets, imports, None, advance, partial)
    outcomes = _empty_directories(paths, outcomes)
    if write:
        dirty = {} if force else uncommitted(_changed(outcomes))
        outcomes = [
            _unwritten(outcome, dirty[outcome.target.path])
            if outcome.target.path in dirty
            else _written(outcome)
            for outcome in outcomes
        ]
    elif output is not None:
        outcomes = _copied(plan, outcomes, output)
    elif form == "text" and not check:
        for outcome in outcomes:
            migration = outcome.migration
            if migration is not None and migration.edits and outcome.before is not None:
                say(difference(outcome.target.path, outcome.before, migration.text))
    dry = not write and output is None
    options = ["--write", *(["--imports", imports] if imports != IMPORTS[0] else [])]
    options += ["--partial"] if partial else []
    named = [outcome for outcome in outcomes if outcome.target.content is None]
    commands = next_commands(files, named, output, " ".join(options) if dry else "")
    say(render(form, outcomes, commands), err=dry and not check and form == "text")
    complete = all(
        (not outcome.diagnostics or outcome.has(rules.nothing_to_migrate))
        and (outcome.migration is None or outcome.migration.is_complete)
        for outcome in outcomes
    )
    for left in (one for one in plan.left_out if one.unlisted):
        say(localized("not migrated: {}: {}\n", left.path, localized(left.reason)), err=True)
        complete = False
    if check and any(outcome.status == "changed" for outcome in outcomes):
        complete = False
    if write and form == "text" and commands and not complete:
        say(localized("keep this list: migrated scripts are not reported again\n"))
    if form == "text":
        for taken_back in undo(_changed(outcomes)) if write else ():
            say(localized("to undo: {}\n", taken_back))
        _say_left_out(plan if output is not None else None)
    for compared in (
        _compared(plan, outcomes, output, steps or _STEPS) if is_run and output else ()
    ):
        say(
            localized("run: {}: {}\n", compared.path, localized(compared.text)), err=form != "text"
        )
        complete = complete and compared.same is not False
    ctx.exit(DONE if complete else FINDINGS)


def _plan(paths: Sequence[str], output: Optional[str]) -> _Plan:
    targets: Dict[str, FileToMigrate] = {}
    copies: Dict[str, str] = {}
    left_out: List[Skipped] = []
    for path in paths:
        if not os.path.isdir(path):
            refuse_other_kind(path, "script")
            targets.setdefault(os.path.abspath(path), FileToMigrate(path))
            _copy(copies, path, os.path.basename(path))
            continue
        within = "" if len(paths) == 1 else os.path.basename(os.path.abspath(path))
        for found in walk(path, skipped=left_out):
            if is_candidate(found):
                targets.setdefault(os.path.abspath(found), FileToMigrate(found, path))
            if output is not None and _leads_out(found, path):
                left_out.append(Skipped(found, "a link that points outside the directory"))
            elif output is not None:
                _copy(copies, found, os.path.join(within, os.path.relpath(found, path)))
    return _Plan(
        list(targets.values()), [(source, name) for name, source in copies.items()], left_out
    )


def _leads_out(path: str, root: str) -> bool:
    """True for a link that leads out of a directory."""
    inside = os.path.join(os.path.realpath(root), "")
    return os.path.islink(path) and not os.path.realpath(path).startswith(inside)


def _copy(copies: Dict[str, str], source: str, name: str) -> None:
    other = copies.setdefault(name, source)
    if os.path.abspath(other) != os.path.abspath(source):
        raise Failure("{} and {} would be written to the same output file", other, source)


def _empty_directories(paths: Sequence[str], outcomes: List[FileOutcome]) -> List[FileOutcome]:
    """Say of each directory without Python that nothing is migrated there."""
    roots = {one.target.root for one in outcomes if one.target.path.endswith((".py", ".ipynb"))}
    for path in paths:
        if os.path.isdir(path) and path not in roots:
            found = rules.nothing_to_migrate.diagnostic(
                "there is no Python file in this directory",
                Place(path),
                help="hidden and ignored directories are left out: pass the path of the file "
                "itself",
            )
            outcomes = [*outcomes, FileOutcome(FileToMigrate(path), diagnostics=(found,))]
    return outcomes


# Runs

_STEPS = 10


def _compared(
    plan: _Plan, outcomes: Sequence[FileOutcome], output: str, steps: int
) -> Iterator[PrintedComparison]:
    """Run each script that is edited, before and after."""
    names = dict(plan.copies)
    for outcome in outcomes:
        path = outcome.target.path
        is_script = outcome.entry is not None and path.endswith(".py")
        is_edited = outcome.status == "changed" or (outcome.entry or _NO_ENTRY).how == "edited"
        if is_script and is_edited and path in names:
            yield compare(path, path, os.path.join(output, names[path]), steps)


_NO_ENTRY = EntryPoint("")

# Writing


def _changed(outcomes: Sequence[FileOutcome]) -> List[str]:
    return [outcome.target.path for outcome in outcomes if outcome.status == "changed"]


def _say_left_out(plan: Optional[_Plan]) -> None:
    """Say what of the directories is not in the copy; imports of it break there."""
    left_out = [
        one
        for one in (plan.left_out if plan is not None else ())
        if os.path.basename(one.path) not in ("__pycache__", ".git")
    ]
    for one in left_out[:_SHOWN]:
        say(localized("not copied: {} ({})\n", one.path, localized(one.reason)), err=True)
    if len(left_out) > _SHOWN:
        say(localized("not copied: {} more\n", len(left_out) - _SHOWN), err=True)


_SHOWN = 20


def _written(outcome: FileOutcome) -> FileOutcome:
    migration, target = outcome.migration, outcome.target
    if migration is None or not migration.edits or outcome.before is None:
        return outcome
    reason: Optional[str] = None
    try:
        if not os.stat(target.path).st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
            reason = "the file is read-only"
    except OSError as error:
        reason = localized("the file cannot be written: {}", error.strerror or error)
    if reason is None:
        reason = rewrite(
            target.path, outcome.before, migration.text, outcome.encoding, target.root
        )
    return outcome if reason is None else _unwritten(outcome, reason)


def _unwritten(outcome: FileOutcome, reason: str) -> FileOutcome:
    found = rules.migration_not_written.diagnostic(reason, Place(outcome.target.path))
    return outcome._replace(diagnostics=(*outcome.diagnostics, found))


def _check_output(output: str, paths: Sequence[str]) -> None:
    """Refuse an output that holds something, or that is one of the inputs.

    Raises:
        Failure: with the reason.
    """
    real = os.path.realpath(output)
    for path in paths:
        if os.path.isdir(path) and (real + os.sep).startswith(os.path.realpath(path) + os.sep):
            raise Failure("{} is inside {}, which is being migrated", output, path)
    if os.path.isdir(output):
        try:
            if os.listdir(output):
                raise Failure("{} exists and is not empty", output)
        except OSError as error:
            raise Failure("{} cannot be read: {}", output, error.strerror) from None
    elif os.path.lexists(output):
        raise Failure("{} exists and is not a directory", output)
    else:
        above = os.path.dirname(real)
        while not os.path.lexists(above):
            above = os.path.dirname(above)
        if not (os.path.isdir(above) and os.access(above, os.W_OK)):
            raise Failure("{} cannot be created: {} is not a directory to write to", output, above)


def _copied(plan: _Plan, outcomes: List[FileOutcome], output: str) -> List[FileOutcome]:
    """Write a copy of every file, migrated where it is, whole or not at all.

    It grows beside its place; what a call that was killed has left there is taken away.
    """
    by_path = {os.path.abspath(outcome.target.path): outcome for outcome in outcomes}
    reasons: Dict[str, str] = {}
    real = os.path.realpath(output)
    make_directories(os.path.dirname(real))
    try:
        with _growing(real) as part:
            for source, name in plan.copies:
                outcome = by_path.get(os.path.abspath(source))
                try:
                    _copy_one(source, os.path.join(part, name), outcome)
                except OSError as error:
                    why = error.strerror or error
                    if error.errno in (errno.ENOSPC, errno.EDQUOT):
                        text = localized("nothing is written to {}: {}", output, why)
                        return [_unwritten(outcome, text) for outcome in outcomes]
                    reasons[source] = localized("{} cannot be copied: {}", name, why)
            if os.path.isdir(real):
                os.rmdir(real)
            os.rename(part, real)
    except OSError as error:
        raise Failure("{} cannot be written: {}", output, error.strerror or error) from None
    result = [
        _unwritten(outcome, reasons.pop(outcome.target.path))
        if outcome.target.path in reasons
        else outcome
        for outcome in outcomes
    ]
    return result + [
        _unwritten(FileOutcome(FileToMigrate(path)), why) for path, why in reasons.items()
    ]


@contextlib.contextmanager
def _growing(real: str) -> Iterator[str]:
    """A directory beside the output, which is taken away at the end unless it was renamed.

    It is locked, so that two calls at once do not share one, and what a call that was killed has
    left is known: nobody holds it.
    """
    above, name = os.path.split(real)
    begin = os.path.join(above, "." + name + _PART)
    for left in glob.glob(glob.escape(begin) + "*"):
        with _locked(left) as is_ours:
            if is_ours and left[len(begin) + 1 :].isdecimal():
                shutil.rmtree(left, ignore_errors=True)
    part = "{}-{}".format(begin, os.getpid())
    os.mkdir(part)
    try:
        with _locked(part):
            yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: str) -> Iterator[bool]:
    """Whether a directory could be locked, which it is meanwhile; everywhere but on Windows."""
    try:
        import fcntl
    except ImportError:
        yield False
        return
    with contextlib.ExitStack() as stack:
        try:
            descriptor = os.open(path, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_locked = True
        except OSError:
            is_locked = False
        yield is_locked


_PART = ".npu_config-part"


def _copy_one(source: str, destination: str, outcome: Optional[FileOutcome]) -> None:
    make_directories(os.path.dirname(destination))
    migration = outcome.migration if outcome is not None else None
    if os.path.islink(source) and not os.path.isabs(os.readlink(source)):
        os.symlink(os.readlink(source), destination)
    elif outcome is None or migration is None or not migration.edits:
        shutil.copy2(source, destination)
    else:
        with open(destination, "xb") as stream:
            stream.write(migration.text.encode(outcome.encoding))
        shutil.copymode(source, destination)
