"""``npu-config check``."""

import os
import sys
from typing import Any, Optional, Tuple

import click

from npu_config.cli._options import as_option, merged, target_options
from npu_config.cli._output import Failure, say, wants_color
from npu_config.core.diagnostics import Report
from npu_config.reporters import FORMATS


@click.command("check")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How the findings are printed.",
)
@target_options
@click.option(
    "--on-host",
    is_flag=True,
    help="This is the training host: look at its paths and its environment, too.",
)
@click.option("--select", multiple=True, metavar="RULES", help="Tell only of these rules.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Do not tell of these rules.")
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
@as_option
@click.option(
    "--if-ours",
    is_flag=True,
    help="Pass over files that are none of ours or excluded, though they are named.",
)
@click.option("--fix", is_flag=True, help="Apply the fixes that are mechanical and safe.")
@click.option("--diff", is_flag=True, help="Print what --fix would change; change nothing.")
@click.option("--baseline", metavar="FILE", help="Tell only of what this file does not allow.")
@click.option(
    "--write-baseline", metavar="FILE", help="Write a baseline that allows what is found now."
)
@click.option("--force", is_flag=True, help="Overwrite the baseline that is there.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: Tuple[str, ...],
    format_: str,
    product: Optional[str],
    mode: Optional[str],
    on_host: bool,
    select: Tuple[str, ...],
    ignore: Tuple[str, ...],
    strict: bool,
    as_kind: Optional[str],
    if_ours: bool,
    fix: bool,
    diff: bool,
    baseline: Optional[str],
    write_baseline: Optional[str],
    force: bool,
) -> None:
    """Check files and say what is wrong, where, and what to do.

    Takes training scripts (.py), configurations (.yaml .yml .toml .json .pbtxt .pb), side files
    and rank tables (known by their content), directories, and - for standard input.  RULES
    are ids, beginnings of ids (NPU3) or names, joined by commas.  The table
    [tool.npu-config] of pyproject.toml holds defaults.

    Exit code 0: no errors (with --strict: nor warnings); 1: there are some; 2: wrong usage.
    """
    from npu_config.cli._select import selection
    from npu_config.cli._session import Session
    from npu_config.core.diagnostics import Severity
    from npu_config.lint.project import find_project
    from npu_config.reporters import Summary, render
    from npu_config.rulebook import load_all

    project = find_project(next((path for path in paths if path != "-"), "."), load_all)
    session = Session(
        project,
        target_of=lambda found: merged(found, product, mode, project.target),
        keeps=selection(select or project.select, ignore or project.ignore),
        on_host=on_host or project.on_host,
        as_kind=as_kind,
    )
    session.check(paths, "diff" if diff else "fix" if fix else None, if_ours)
    report = session.report()
    if write_baseline is not None:
        _write_baseline(report, session, write_baseline, force)
        return
    report = _without_known(report, session, baseline or project.baseline)
    failing = Severity.WARNING if strict or project.strict else Severity.ERROR
    failed = any(diagnostic.severity >= failing for diagnostic in report)
    summary = Summary.of(report, session.files, session.skipped)
    if diff:
        say("".join(session.differences))
        say("{}\n".format(summary), err=True)
        ctx.exit(1 if session.differences or failed else 0)
    if format_ == "sarif":
        load_all()  # declared in the processes that found something, maybe not in this one
    say(render(format_, report, summary, session.texts, wants_color(sys.stdout)))
    if fix and session.fixes:
        say("{} fixed\n".format(session.fixes), err=True)
    ctx.exit(1 if failed else 0)


def _write_baseline(report: Report, session: Any, path: str, force: bool) -> None:
    from npu_config.lint.baseline import Baseline

    known = Baseline.of(report, session.texts, os.path.dirname(os.path.abspath(path)))
    try:
        known.save(path, overwrite=force)
    except FileExistsError:
        raise Failure("{} exists; --force overwrites it".format(path)) from None
    except OSError as error:
        raise Failure("{} cannot be written: {}".format(path, error.strerror or error)) from None
    count = len(known)
    words = "1 finding" if count == 1 else "{} findings".format(count)
    say("{} written to {}\n".format(words, path), err=True)


def _without_known(report: Report, session: Any, path: Optional[str]) -> Report:
    """The findings that a baseline does not allow."""
    if path is None:
        return report
    from npu_config.lint.baseline import Baseline, BaselineError

    try:
        known = Baseline.load(path)
    except BaselineError as error:
        raise Failure("{}: {}".format(path, error.diagnostic.message)) from None
    return Report(known.new(report, session.texts))
