"""``npu-config run``: a script for the NPU on this machine, unchanged."""

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Sequence, Tuple

import click

from npu_config.cli._output import Failure, deliver, say
from npu_config.core.message import join, told

if TYPE_CHECKING:
    from npu_config.core.diagnostics import Diagnostic
    from npu_config.runner.report import Seen
    from npu_config.runner.watch import SeenSession


@click.command(
    "run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option(
    "--loops",
    type=click.Choice(("device", "once")),
    default="device",
    show_default=True,
    help="Whether a session.run makes as many steps as on the device, or one.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Stop before the first training step and print what each session is configured with.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("yaml", "json")),
    default="yaml",
    show_default=True,
    help="With --dry-run: how it is printed.",
)
@click.option("--steps", type=click.IntRange(min=1), help="Stop after so many session runs.")
@click.option(
    "--ranks",
    type=click.IntRange(1, 32),
    metavar="N",
    help="Start the script so many times, as the ranks of one job that communicate (1 to 32).",
)
@click.option("--report", metavar="FILE", help="Write what was seen to a JSON file.")
@click.option("--force", is_flag=True, help="Also where the vendor's package is installed.")
@click.argument("script", metavar="SCRIPT")
@click.argument("arguments", metavar="[ARGUMENT...]", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(
    ctx: click.Context,
    loops: str,
    dry_run: bool,
    format_: str,
    steps: Optional[int],
    ranks: Optional[int],
    report: Optional[str],
    force: bool,
    script: str,
    arguments: Tuple[str, ...],
) -> None:
    """Run a training script without an NPU and without the vendor's package.

    npu_bridge and hccl are served by this package, iteration offload makes the loops that the
    device would make, and the configuration of every session is checked.  The exit code is that
    of the script.
    """
    from npu_config.runner.report import as_json, as_yaml
    from npu_config.runner.run import run_path

    if report is not None and os.path.lexists(report):
        raise Failure(told("{} exists; name another file for the report", report))
    report = report and os.path.abspath(report)  # the script may change the directory
    if ranks is not None:
        options = [
            "--loops",
            loops,
            *["--force"] * force,
            *["--dry-run", "--format", "json"][: 3 * dry_run],
        ]
        options += [] if steps is None else ["--steps", str(steps)]
        call = [*options, "--", script, *arguments]
        shown = format_ if dry_run else None
        ctx.exit(_several(ranks, script, call, force, report, shown, steps))
    out = _away() if dry_run else None
    try:
        with _failures():
            files = report is not None or dry_run
            seen = run_path(script, arguments, loops, dry_run, steps, force, files)
    finally:
        if out is not None:
            _back(out)
    say("".join(_summary(seen, dry_run)), err=True)
    if report is not None:
        deliver(as_json(seen.to_dict()), report, False)
    if dry_run:
        deliver((as_yaml if format_ == "yaml" else as_json)(seen.to_dict()), None, False)
    ctx.exit(seen.exit_code)


def _summary(seen: "Seen", dry_run: bool) -> Iterator[str]:
    """What a user should know of a run: findings, variables that were set, why it ended."""
    from npu_config.core.diagnostics import Severity

    if not dry_run:
        found = [finding for session in seen.sessions for finding in _of_the_npu(session)]
        shown = [str(each) for each in found if each.severity is not Severity.INFO]
        yield from (told("npu-config run: {}\n", each) for each in dict.fromkeys(shown))
    if seen.environment:
        pairs = " ".join("{}={}".format(*pair) for pair in sorted(seen.environment.items()))
        yield told("npu-config run: set for one rank: {}\n", pairs)
    if seen.ended == "steps":
        runs = sum(session.runs for session in seen.sessions)
        steps = sum(session.steps for session in seen.sessions)
        text = "npu-config run: stopped after {} session runs with {} training steps\n"
        yield told(text, runs, steps)
    if dry_run and seen.ended == "finished":
        yield told("npu-config run: the script ended before any training step\n")


def _of_the_npu(session: "SeenSession") -> Sequence["Diagnostic"]:
    """The findings of a session, but for one that is meant for the CPU.

    A session without NpuOptimizer that trains lacks it, and nothing else matters; one that does
    not train may be there to read data, or to evaluate.
    """
    missing = [each for each in session.findings if each.rule == "NPU801"]
    return (missing if session.steps else []) if missing else session.findings


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """What keeps a script from being run, as a failure of the command."""
    from npu_config.core.diagnostics import NpuConfigError
    from npu_config.runner.script import CannotRunError

    try:
        yield
    except CannotRunError as error:
        raise Failure(told(str(error))) from None
    except NpuConfigError as error:
        raise Failure(join("; ", [str(each.message) for each in error.diagnostics])) from None


def _several(
    count: int,
    script: str,
    arguments: List[str],
    force: bool,
    report: Optional[str],
    format_: Optional[str],
    steps: Optional[int],
) -> int:
    """Run several ranks; returns the exit code of the job."""
    from npu_config.runner.finder import install_npu_bridge
    from npu_config.runner.ranks import run_ranks
    from npu_config.runner.report import as_json, as_yaml
    from npu_config.runner.script import find

    with _failures():
        find(script)
        install_npu_bridge(force)()
    cores = os.cpu_count() or count
    if count > cores:
        say(told("npu-config run: {} ranks share {} CPU cores\n", count, cores), err=True)
    try:
        seen = run_ranks(count, arguments, say, format_ is not None, bool(steps or format_))
    except OSError as error:
        raise Failure(told("the ranks cannot be started: {}", error.strerror or error)) from None
    if seen.failed is not None:
        last = "".join("    {}\n".format(line) for line in seen.tail)
        text = "npu-config run: rank {} failed first, with exit code {}; it wrote last:\n{}"
        say(told(text, seen.failed, seen.exit_code, last), err=True)
    if report is not None:
        deliver(as_json(seen.to_dict()), report, False)
    if format_ is not None:
        deliver((as_yaml if format_ == "yaml" else as_json)(seen.to_dict()), None, False)
    return seen.exit_code


def _away() -> Any:
    """What the script prints goes to standard error, so that the output holds the result alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept


def _back(kept: int) -> None:
    sys.stdout.flush()
    os.dup2(kept, 1)
    os.close(kept)
