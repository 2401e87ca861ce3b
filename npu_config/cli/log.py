"""``npu-config log``."""

import json
import os
import sys
import time
from typing import IO, Any, Callable, Optional, Tuple

import click

from npu_config.cli._options import FILE, INPUT, form_option
from npu_config.cli._output import DONE, FINDINGS, Failure, progress, say, write
from npu_config.core.message import localized

_WORTH_SHOWING = 64 << 20
_PAUSE, _QUIET = 0.2, 1.0


@click.command("log")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=INPUT)
@click.option(
    "--config",
    type=FILE,
    metavar="FILE|SCRIPT",
    help=(
        "The configuration of the job: the report then shows values and locations of the options."
    ),
)
@form_option("How the report is printed.", ("text", "json", "html"))
@click.option(
    "--all", "everything", is_flag=True, help=("Show every cause, rank and line of a message.")
)
@click.option(
    "--redact", is_flag=True, help="Replace addresses, names of hosts and users, and paths."
)
@click.option(
    "--follow",
    is_flag=True,
    help="Wait while the job still runs; report the first cause as soon as it is certain.",
)
@click.option(
    "--bundle",
    metavar="FILE.zip",
    help="Write an archive for support, with names removed; an existing file is never "
    "overwritten.",
)
def command(
    paths: Tuple[str, ...],
    config: Optional[str],
    format_: str,
    everything: bool,
    redact: bool,
    follow: bool,
    bundle: Optional[str],
) -> int:
    """Find the first failure in the logs of a job, its meaning, and what to do.

    PATH is a log, a folder of logs (a tree of plogs, the outputs of ranks), or - for standard
    input.  Compressed logs (.gz) are read, too.

    \b
    npu-config log train_0.log
    npu-config log ~/ascend/log output/ --config train.yaml
    python train.py 2>&1 | npu-config log --follow -

    Exit code 0: no failure is found (if the end of the job is not in the logs, the report says so:
    the job may still have failed); 1: something failed, a file cannot be read, or no file is
    a log; 2: wrong usage.
    """
    from npu_config.logs.redact import Redactor, of_this_machine

    if bundle is not None and os.path.lexists(bundle):
        raise Failure("{} exists; pass another file name", bundle)
    report = _followed(paths) if follow else _read(paths)
    is_unread = not report.files
    if config is not None:
        report, is_read = _with_places(report, config)
        is_unread = is_unread or not is_read
    redactor = Redactor(of_this_machine()) if redact or bundle is not None else None
    if redactor is not None:  # the same name for the same thing, whatever is printed or bundled
        from npu_config.logs.text import text_report

        redactor.document(report.as_json())
        redactor.text(text_report(report, everything=True))
    names: Callable[[str], str] = redactor.text if redact and redactor is not None else str
    if format_ == "json":
        document = report.as_json()
        if redact and redactor is not None:
            document = redactor.document(document)
        say(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        if report.first_cause is None:
            from npu_config.logs.text import no_failure

            say(names("".join(localized(each) + "\n" for each in no_failure(report))), err=True)
    elif format_ == "html":
        from npu_config.logs.text import log_page

        say(log_page(report, names))
    else:
        from npu_config.logs.text import text_report

        say(names(text_report(report, everything)))
    if bundle is not None and redactor is not None:
        from npu_config.logs.bundle import bundle as bundled

        content, contents = bundled(report, config, redactor)
        write(bundle, content, False)
        say(localized("{} written, with names removed:\n", bundle), err=format_ != "text")
        say("".join("  {}\n".format(line) for line in contents), err=format_ != "text")
    return FINDINGS if report.first_cause is not None or report.unread or is_unread else DONE


def _stdin() -> IO[bytes]:
    if sys.stdin is None:
        raise Failure("standard input is closed")
    return sys.stdin.buffer


def _read(paths: Tuple[str, ...]) -> Any:
    from npu_config.logs import read_logs
    from npu_config.logs.jobs import files_of

    total = sum(os.path.getsize(path) for path, _ in files_of(paths) if os.path.isfile(path))
    with progress(total, _WORTH_SHOWING) as advance:
        return read_logs(paths, _stdin() if "-" in paths else None, advance)


def _followed(paths: Tuple[str, ...]) -> Any:
    """The report of logs that grow, when it is certain, or when the input ends."""
    from npu_config.logs.report import Follower

    if "-" in paths and len(paths) > 1:
        raise click.UsageError("--follow cannot combine - (standard input) with files")
    follower = Follower(paths)
    if paths == ("-",):
        for line in _stdin():
            follower.add("-", line)
            if follower.certain(at_once=False):
                break
        return follower.report()
    quiet = 0.0
    while True:
        if follower.grow():
            quiet = 0.0
        else:
            quiet += _PAUSE
            if follower.certain(at_once=quiet >= _QUIET):
                return follower.report()
        time.sleep(_PAUSE)


def _with_places(report: Any, config: str) -> Tuple[Any, bool]:
    """The report with the places in a configuration, and whether all of that could be read."""
    from npu_config.cli._report import complain, read_configuration
    from npu_config.core.diagnostics import Severity
    from npu_config.logs.report import with_places

    reading = read_configuration(config, scripts=True)
    wrong = [each for each in reading.diagnostics if each.severity is Severity.ERROR]
    if reading.unchecked is None and not wrong:
        return with_places(report, reading), True
    complain(wrong or reading.diagnostics, reading)
    return (report if reading.unchecked else with_places(report, reading)), False
