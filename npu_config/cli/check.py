"""``npu-config check``."""

import os
from typing import TYPE_CHECKING, Any, Iterator, Optional, Set, Tuple

import click

from npu_config.cli._options import (
    ANY_PATH,
    around_of,
    as_option,
    missing,
    selection_options,
    set_option,
    target_options,
)
from npu_config.cli._output import (
    DONE,
    FINDINGS,
    WRONG_CALL,
    say,
    writing,
)
from npu_config.cli._report import fails, format_option, print_findings, strict_option
from npu_config.core.diagnostics import Report
from npu_config.core.message import localized
from npu_config.core.target import Target
from npu_config.text.rules import unreadable_file

if TYPE_CHECKING:
    from npu_config.cli._session import Remembered


@click.command("check")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=ANY_PATH)
@format_option
@target_options
@click.option(
    "--on-host",
    is_flag=True,
    help="This machine is the training host: check its paths and its environment, too.",
)
@set_option
@selection_options
@strict_option
@click.option(
    "--notes",
    is_flag=True,
    help=("Show the notes (information) themselves, not only their number."),
)
@click.option(
    "--show-skipped", is_flag=True, help=("List the files that were not checked, and why.")
)
@as_option
@click.option(
    "--if-ours",
    is_flag=True,
    help="Skip named files that are excluded or of an unsupported type.",
)
@click.option("--fix", is_flag=True, help="Apply the fixes that are mechanical and safe.")
@click.option("--diff", is_flag=True, help="Print what --fix would change; change nothing.")
@click.option(
    "--baseline", metavar="FILE", help="Report only findings that are not in this baseline."
)
@click.option("--write-baseline", metavar="FILE", help="Write all current findings to a baseline.")
@click.option("--force", is_flag=True, help="Overwrite an existing baseline.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes, until Ctrl-C.")
def command(
    paths: Tuple[str, ...],
    format_: str,
    target: Target,
    on_host: bool,
    overrides: Tuple[Any, ...],
    select: Tuple[str, ...],
    ignore: Tuple[str, ...],
    strict: bool,
    notes: bool,
    show_skipped: bool,
    as_kind: Optional[str],
    if_ours: bool,
    fix: bool,
    diff: bool,
    baseline: Optional[str],
    write_baseline: Optional[str],
    force: bool,
    watch: bool,
) -> int:
    """Check files and report what is wrong, where, and what to do.

    Takes training scripts (.py), launch scripts (.sh .bash .sbatch .slurm, or by their first
    line), configurations (.yaml .yml .toml .json .pbtxt .pb), side files and rank tables (known
    by their content), directories, and - for standard input.  RULES are ids, beginnings of ids
    (NPU3) or names, joined by commas.  The table [tool.npu-config] of pyproject.toml holds
    defaults.  Without PATH: the working directory.

    Text output shows errors, warnings and the number of notes; other formats show all findings.

    Exit code 0: no errors (with --strict: no warning either, and every named file was checked);
    1: otherwise; 2: wrong usage, or a named path does not exist.
    """
    from npu_config.cli import _session
    from npu_config.lint.project import find_project, settings_of
    from npu_config.rulebook import load_all

    paths = paths or (os.curdir,)

    def once(remembered: Optional["Remembered"] = None) -> int:
        project = find_project(next((path for path in paths if path != "-"), "."), load_all)
        if remembered is not None:
            remembered.use(project)
        session = _session.Session(
            project,
            around_of(target, project, on_host or project.on_host, overrides),
            _session.selection(select or project.select, ignore or project.ignore),
            as_kind,
            remembered,
        )
        session.check(paths, "diff" if diff else "fix" if fix else None, if_ours)
        if format_ == "text" or show_skipped:
            said = {left[:2] for left in session.left_out if show_skipped or left.nearly}
            if show_skipped:
                said.update(each[:2] for each in session.unchecked)
            lines = [
                localized("skipped {}: {}\n", path, localized(why)) for path, why in sorted(said)
            ]
            say("".join(lines), err=True)
        untold = sum(not left.nearly for left in session.left_out)
        if untold and format_ == "text" and not (if_ours or show_skipped):
            words = localized("1 skipped; --show-skipped shows the reason\n")
            if untold > 1:
                words = localized("{:,} skipped; --show-skipped lists them\n", untold)
            say(words, err=True)
        report = session.report()
        nowhere = {None, *missing(paths)}  # None: it was not a path but the content of a file
        wrong_call = any(
            found.rule == unreadable_file.id and found.path in nowhere for found in report
        )
        if write_baseline is not None:
            _write_baseline(report, session, write_baseline, force)
            return WRONG_CALL if wrong_call else DONE
        report = _session.without_known(report, session, baseline or project.baseline)
        on_warnings = strict or project.strict
        failed = fails(report, on_warnings) or (on_warnings and session.unchecked_named)
        if diff:
            from npu_config.reporters import Summary

            say("".join(session.differences))
            summary = Summary.of(report, session.files, unchecked=session.unchecked)
            lines = [str(summary), *summary.reasons()]
            say("".join(line + "\n" for line in lines), err=True)
            failed = failed or bool(session.differences)
        else:
            if format_ == "sarif":
                load_all()  # declared in the processes that found something, maybe not in this one
            print_findings(
                report,
                format_,
                session.files,
                session.texts,
                session.unchecked,
                notes=notes,
                hints=True,
            )
            if fix and session.fixes:
                say(localized("{} fixed\n", session.fixes), err=True)
        return WRONG_CALL if wrong_call else FINDINGS if failed else DONE

    if not watch:
        return once()
    if format_ != "text" or fix or diff or write_baseline is not None or "-" in paths:
        raise click.UsageError(
            "--watch shows findings as text and cannot be combined with -, fix or baseline"
        )

    def files() -> Iterator[str]:
        project = find_project(paths[0], load_all)
        first = os.path.abspath(paths[0])
        folders: Set[str] = {first if os.path.isdir(first) else os.path.dirname(first)}
        for found in _session.candidates(paths, project, if_ours):
            yield found.path
            folders.add(os.path.dirname(os.path.abspath(found.path)))
        yield from settings_of(folders)

    return _session.watch(once, files)


def _write_baseline(report: Report, session: Any, path: str, force: bool) -> None:
    from npu_config.lint.baseline import Baseline

    known = Baseline.of(report, session.texts, os.path.dirname(os.path.abspath(path)))
    with writing(path):
        known.save(path, overwrite=force)
    count = len(known)
    words = "1 finding" if count == 1 else localized("{} findings", count)
    say(localized("{} written to {}\n", words, path), err=True)
