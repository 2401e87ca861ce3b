"""``npu-config migrate``."""

import contextlib
import errno
import glob
import os
import shutil
import stat
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import click

from npu_config.cli._compare import PrintedComparison, compare
from npu_config.cli._fix import difference, rewrite
from npu_config.cli._git import uncommitted, undo
from npu_config.cli._options import INPUT
from npu_config.cli._output import DONE, FINDINGS, Failure, progress, read_stdin, say
from npu_config.cli._report import STDIN, refuse_other_kind
from npu_config.core.diagnostics import Place
from npu_config.core.files import make_directories
from npu_config.core.message import localized
from npu_config.lint.walk import Skipped, walk
from npu_config.migration import IMPORTS, rules
from npu_config.migration.program import EntryPoint, FileOutcome, FileToMigrate
from npu_config.migration.project import LARGEST, is_candidate, migrate_files
from npu_config.migration.report import next_commands, render


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
    "--check", is_flag=True, help="Write nothing; exit code 1 where something would change."
)
@click.option(
    "--partial",
    is_flag=True,
    help="Edit what depends on something that is refused, too, where that is not certain.",
)
@click.option("--force", is_flag=True, help="With --write: over changes that git has not seen.")
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
    help="With --run: how many session runs.  [default: 10]",
)
@click.option(
    "--imports",
    type=click.Choice(IMPORTS),
    default=IMPORTS[0],
    show_default=True,
    help="The package whose names are imported.",
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
    """Make training scripts for GPUs or CPUs ones for the NPU, and say what is left to do.

    Takes scripts (.py, - for standard input) and directories; shell scripts (.sh) are reported
    only.  Without --write and --output nothing is written: a diff goes to standard output, and the
    report to standard error; --report json and html print the report alone, to standard output.

    What is not certain is not edited, but reported with its line.  A script that is migrated is
    not reported again, so keep the first report: --write --report html > report.html.

    Exit code 0: nothing is left to do by hand (a directory without Python files is a warning, and
    what is to know asks for nothing); 1: something is; 2: wrong usage.  With --check: 0 where
    nothing would change, either.
    """
    if check and (write or output is not None):
        raise click.UsageError("--check writes nothing: leave out --write and --output")
    if is_run and output is None:
        raise click.UsageError("--run requires --output")
    if steps is not None and not is_run:
        raise click.UsageError("--steps requires --run")
    if force and not write:
        raise click.UsageError("--force requires --write")
    if write and output is not None:
        raise click.UsageError("--write and --output exclude each other")
    if "-" in paths and (write or output is not None):
        raise click.UsageError("standard input is no file to write: name the script")
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
    if check and any(outcome.status == "changed" for outcome in outcomes):
        complete = False
    if write and form == "text" and commands and not complete:
        say(localized("keep this list: a script that is migrated is not reported again\n"))
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
                left_out.append(Skipped(found, "a link out of the directory"))
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
        raise Failure("{} and {} would be one file in the output", other, source)


def _empty_directories(paths: Sequence[str], outcomes: List[FileOutcome]) -> List[FileOutcome]:
    """Say of each directory without Python that nothing is migrated there."""
    roots = {one.target.root for one in outcomes if one.target.path.endswith((".py", ".ipynb"))}
    for path in paths:
        if os.path.isdir(path) and path not in roots:
            found = rules.nothing_to_migrate.diagnostic(
                "there is no Python file in this directory",
                Place(path),
                help="hidden and ignored directories are left out: name the file itself",
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
            raise Failure("{} is inside of {}, which is migrated", output, path)
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
            raise Failure("{} cannot be made: {} is no directory to write to", output, above)


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
