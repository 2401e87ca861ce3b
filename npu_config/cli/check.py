"""``npu-config check``."""

import sys
from typing import Optional, Tuple

import click

from npu_config.cli._options import as_option, merged, target_options
from npu_config.cli._output import say, wants_color
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
@click.option("--fix", is_flag=True, help="Apply the fixes that are mechanical and safe.")
@click.option("--diff", is_flag=True, help="Print what --fix would change; change nothing.")
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
    fix: bool,
    diff: bool,
) -> None:
    """Check files and say what is wrong, where, and what to do.

    Takes configurations (.yaml .yml .toml .json .pbtxt .pb), side files and rank tables (known
    by their content), directories, and - for standard input.  RULES are ids, beginnings of
    ids (NPU3) or names, joined by commas.

    Exit code 0: no errors (with --strict: nor warnings); 1: there are some; 2: wrong usage.
    """
    from npu_config.cli._select import selection
    from npu_config.cli._session import Session
    from npu_config.diagnostics import Severity
    from npu_config.reporters import Summary, render

    session = Session(
        target_of=lambda found: merged(found, product, mode),
        keeps=selection(select, ignore),
        on_host=on_host,
        as_kind=as_kind,
    )
    session.check(paths, "diff" if diff else "fix" if fix else None)
    report = session.report()
    failing = Severity.WARNING if strict else Severity.ERROR
    failed = any(diagnostic.severity >= failing for diagnostic in report)
    if diff:
        say("".join(session.differences))
        ctx.exit(1 if session.differences or failed else 0)
    summary = Summary.of(report, session.files, session.skipped)
    color = wants_color(sys.stdout)
    say(render(format_, report, summary, session.texts, color))
    if fix and session.fixes:
        say("{} fixed\n".format(session.fixes), err=True)
    ctx.exit(1 if failed else 0)
