"""``npu-config doctor``."""

import sys
from typing import Optional

import click

from npu_config.cli._options import INPUT, target_options
from npu_config.cli._output import read_stdin, say, wants_color
from npu_config.cli._report import STDIN, findings_option, write_findings
from npu_config.core.message import localized
from npu_config.core.target import Target

_COLORS = {"passed": "\x1b[32m", "advice": "\x1b[1;33m", "failed": "\x1b[1;31m"}
_RESET = "\x1b[0m"


@click.command("doctor")
@click.argument("source", metavar="[CONFIG|SCRIPT]", required=False, type=INPUT)
@target_options
@click.option(
    "--on-host",
    is_flag=True,
    help=("This machine is the training host: report what is missing here as an error."),
)
@findings_option
def command(
    source: Optional[str],
    target: Target,
    on_host: bool,
    findings: Optional[str],
) -> int:
    """Run the checks to do before tuning: passed, advice, failed, or cannot be checked here.

    Checks a configuration (.yaml .toml .json .pbtxt .pb) or a training script (.py; - for
    standard input), the environment and this machine.

    Exit code 0: no check failed; 1: a check failed; 2: wrong usage.
    """
    from npu_config.core.message import printable, width
    from npu_config.diagnosis.doctor import examine
    from npu_config.judging import ALONE
    from npu_config.lint.project import in_project
    from npu_config.readers import LARGEST
    from npu_config.reporters.text import ends
    from npu_config.rulebook import load_all

    content = None
    if source == "-":
        source, content = STDIN, read_stdin(LARGEST)
    checkup = examine(
        source,
        target,
        on_host=True if on_host else None,
        around=ALONE if source is None else in_project(ALONE, source, load_all),
        known_rules=load_all,
        content=content,
    )
    if findings is not None:
        write_findings(findings, checkup.judgement)
    color = wants_color(sys.stdout)
    for check in checkup.checks:
        word = check.outcome.value
        mark = _COLORS.get(word, "") if color else ""
        shown = localized(word) + " " * (22 - width(localized(word)))
        lines = "{}{}{} {:<24} {}\n".format(
            mark, shown, _RESET if mark else "", check.name, printable(localized(check.reason))
        )
        if check.help:
            lines += localized("{:<47} help: {}\n", "", printable(localized(check.help)))
        say(lines, color=color)
    for line in ends(checkup.judgement.found if checkup.judgement is not None else ()):
        say(line + "\n")
    return 0 if checkup.ok else 1
